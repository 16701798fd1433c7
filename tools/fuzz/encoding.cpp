#include "tools/fuzz/encoding.h"

#include "frontend/encoding.h"

namespace wj::fuzz {

namespace {

const Layout* layout_of(Family family, Format format) {
    if (format == Format::GLOBAL || format == Format::SCRATCH) format = Format::FLAT;
    for (const Layout& l : layouts())
        if (l.format == format && l.suffix == Suffix::None && l.is_of(family)) return &l;
    return nullptr;
}

}  // namespace

Encoding::Encoding(const Layout& layout) : layout_(&layout), words_(layout.dwords) {
    words_[0] = layout.fixed;
}

Encoding::Encoding(Family family, Format format, uint32_t opcode)
    : layout_(layout_of(family, format)) {
    if (!layout_) return;
    words_.resize(layout_->dwords);
    words_[0] = layout_->fixed;
    set(Field::op, opcode);
    if (has(Field::op_high)) set(Field::op_high, opcode >> layout_->place(Field::op).width);
    if (has(Field::seg))
        set(Field::seg, format == Format::FLAT ? 0 : format == Format::SCRATCH ? 1 : 2);
}

Encoding& Encoding::set(Field f, uint32_t value) {
    if (!has(f)) return *this;
    const FieldPlace p = layout_->place(f);
    const auto mask = static_cast<uint32_t>(((uint64_t{1} << p.width) - 1) << p.low % 32);
    uint32_t& word = words_[p.low / 32];
    word = (word & ~mask) | (value << p.low % 32 & mask);
    return *this;
}

uint32_t end_of_program(const Target& target) {
    for (uint32_t code = 0;; ++code)
        if (lookup_opcode<Format::SOPP>(target.family, code) == Opcode::s_endpgm)
            return Encoding(target.family, Format::SOPP, code).words()[0];
}

}  // namespace wj::fuzz
