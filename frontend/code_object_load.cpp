// Placing a code object in memory: segments, zeros, relocations.
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>

#include "frontend/code_object.h"
#include "frontend/code_object_bytes.h"

namespace wj {
namespace {

constexpr uint64_t page_size = 4096;

// What a relocation computes and which part of it is stored.
enum class Formula : uint8_t {
    None,
    SymbolAddend,
    SymbolRelative,
    GotRelative,
    BaseAddend,
    Branch16
};
enum class Field : uint8_t { None, Word16, Word32, Low32, High32, Word64 };

struct RelocationRow {
    const char* name;
    uint32_t type;
    Formula formula;
    Field field;
};

// clang-format off
constexpr RelocationRow relocation_rows[] = {
    {"R_AMDGPU_NONE",           0, Formula::None,           Field::None},
    {"R_AMDGPU_ABS32_LO",       1, Formula::SymbolAddend,   Field::Low32},
    {"R_AMDGPU_ABS32_HI",       2, Formula::SymbolAddend,   Field::High32},
    {"R_AMDGPU_ABS64",          3, Formula::SymbolAddend,   Field::Word64},
    {"R_AMDGPU_REL32",          4, Formula::SymbolRelative, Field::Word32},
    {"R_AMDGPU_REL64",          5, Formula::SymbolRelative, Field::Word64},
    {"R_AMDGPU_ABS32",          6, Formula::SymbolAddend,   Field::Word32},
    {"R_AMDGPU_GOTPCREL",       7, Formula::GotRelative,    Field::Word32},
    {"R_AMDGPU_GOTPCREL32_LO",  8, Formula::GotRelative,    Field::Low32},
    {"R_AMDGPU_GOTPCREL32_HI",  9, Formula::GotRelative,    Field::High32},
    {"R_AMDGPU_REL32_LO",      10, Formula::SymbolRelative, Field::Low32},
    {"R_AMDGPU_REL32_HI",      11, Formula::SymbolRelative, Field::High32},
    {"R_AMDGPU_RELATIVE64",    13, Formula::BaseAddend,     Field::Word64},
    {"R_AMDGPU_REL16",         14, Formula::Branch16,       Field::Word16},
};
// clang-format on

const RelocationRow* find_row(uint32_t type) {
    for (const RelocationRow& row : relocation_rows)
        if (row.type == type) return &row;
    return nullptr;
}

constexpr uint32_t field_bytes(Field field) {
    constexpr uint32_t bytes[] = {0, 2, 4, 4, 4, 8};
    return bytes[static_cast<size_t>(field)];
}

class Loader {
public:
    Loader(const CodeObject& object, const ImageLayout& layout, std::span<std::byte> image,
           uint64_t guest_base, const SymbolResolver& resolver)
        : object_(object),
          layout_(layout),
          image_(image),
          guest_base_(guest_base),
          resolver_(resolver) {
        for (const Relocation& r : object.relocations)
            if (const RelocationRow* row = find_row(r.type);
                row && row->formula == Formula::GotRelative)
                got_slots_.emplace(r.symbol, got_slots_.size());
    }

    Status relocate(std::span<const Relocation> relocations, std::vector<Relocation>* unresolved) {
        for (const Relocation& r : relocations) {
            if (unresolved && is_unresolved(r)) {
                unresolved->push_back(r);
                continue;
            }
            Status status = apply(r);
            if (!status) return status;
        }
        return Status::ok();
    }

private:
    uint64_t guest(uint64_t elf_address) const {
        return guest_base_ + (elf_address - layout_.base);
    }
    std::string symbol_text(const Relocation& r) const {
        return r.symbol == no_symbol ? "no symbol"
                                     : "symbol '" + printable(object_.symbols[r.symbol].name) + "'";
    }
    std::string where(const Relocation& r) const {
        const char* name = relocation_name(r.type);
        return "code object: relocation " +
               (name ? std::string(name) : "type " + std::to_string(r.type)) + " at address " +
               hex(r.address) + ", " + symbol_text(r) + ": ";
    }
    Status invalid(const Relocation& r, std::string text) const {
        return {Code::InvalidCodeObject, where(r) + std::move(text)};
    }

    std::optional<uint64_t> resolve(const Symbol& symbol) const {
        return resolver_ ? resolver_(symbol.name) : std::nullopt;
    }
    bool is_unresolved(const Relocation& r) const {
        return r.symbol != no_symbol && object_.symbols[r.symbol].kind == Symbol::Kind::Undefined &&
               !resolve(object_.symbols[r.symbol]);
    }

    Status symbol_value(const Relocation& r, uint64_t& value) const {
        if (r.symbol == no_symbol) {  // S of the null symbol is 0 (ELF)
            value = 0;
            return Status::ok();
        }
        const Symbol& symbol = object_.symbols[r.symbol];
        if (symbol.kind == Symbol::Kind::Lds)
            return {Code::Unimplemented,
                    where(r) + "LDS variables are placed by the static linker, not here"};
        if (symbol.kind != Symbol::Kind::Undefined) {
            value = symbol.absolute ? symbol.address : guest(symbol.address);
            return Status::ok();
        }
        if (auto found = resolve(symbol))
            value = *found;
        else if (symbol.weak)
            value = 0;
        else
            return {Code::NotFound, where(r) +
                                        "the symbol is undefined; load the code object that "
                                        "defines it, too, or define it as an external variable"};
        return Status::ok();
    }

    uint64_t got_slot(const Relocation& r) const {
        return layout_.got + got_slots_.at(r.symbol) * 8;
    }

    Status apply(const Relocation& r) {
        const RelocationRow* row = find_row(r.type);
        if (!row)
            return {Code::Unimplemented,
                    where(r) + "unknown relocation type; link the object with LLVM's ld.lld"};
        if (row->formula == Formula::None) return Status::ok();
        if (row->formula == Formula::BaseAddend && r.symbol != no_symbol)
            return invalid(r, "it must not name a symbol");
        uint32_t size = field_bytes(row->field);
        uint64_t offset = r.address - layout_.base;
        if (r.address < layout_.base || offset > layout_.got || size > layout_.got - offset)
            return invalid(r, "its place is outside the loaded image");
        uint64_t value = 0;
        if (row->formula != Formula::BaseAddend) {
            Status status = symbol_value(r, value);
            if (!status) return status;
        }
        uint64_t place = guest(r.address);
        uint64_t addend = static_cast<uint64_t>(r.addend);
        switch (row->formula) {
            case Formula::None:
                break;
            case Formula::SymbolAddend:
                value += addend;
                break;
            case Formula::SymbolRelative:
                value += addend - place;
                break;
            case Formula::GotRelative: {
                uint64_t slot = got_slot(r);
                std::memcpy(image_.data() + slot, &value, 8);
                value = guest_base_ + slot + addend - place;
                break;
            }
            case Formula::BaseAddend:
                value = guest_base_ - layout_.base + addend;
                break;
            case Formula::Branch16:
                value = (value + addend - place - 4) / 4;
                break;
        }
        if (row->field == Field::High32) value >>= 32;
        std::memcpy(image_.data() + offset, &value, size);  // any alignment
        return Status::ok();
    }

    const CodeObject& object_;
    const ImageLayout& layout_;
    std::span<std::byte> image_;
    uint64_t guest_base_;
    const SymbolResolver& resolver_;
    std::map<uint32_t, uint64_t> got_slots_;  // by symbol; the same whenever the object is linked
};

}  // namespace

const char* relocation_name(uint32_t type) {
    const RelocationRow* row = find_row(type);
    return row ? row->name : nullptr;
}

Result<ImageLayout> layout_code_object(const CodeObject& object) {
    if (!object.loadable || object.segments.empty())
        return Status(
            Code::InvalidCodeObject,
            "code object: a relocatable object cannot be loaded: link it with ld.lld -shared");
    ImageLayout layout;
    layout.align = page_size;
    for (const Segment& s : object.segments) layout.align = std::max(layout.align, s.align);
    layout.base = object.segments.front().address / layout.align * layout.align;
    const Segment& last = object.segments.back();
    uint64_t end = (last.address + last.memory_size + 7) / 8 * 8;
    layout.got = end - layout.base;
    uint64_t slots = std::ranges::count_if(object.relocations, [](const Relocation& r) {
        const RelocationRow* row = find_row(r.type);
        return row && row->formula == Formula::GotRelative;
    });
    layout.size = (layout.got + slots * 8 + page_size - 1) / page_size * page_size;
    if (layout.size > max_image_size)
        return Status(Code::OutOfRange, "code object: its segments span " + hex(layout.size) +
                                            " bytes, at most " + hex(max_image_size) +
                                            " are loaded");
    return layout;
}

Status load_code_object(const CodeObject& object, const ImageLayout& layout,
                        std::span<std::byte> image, uint64_t guest_base,
                        const SymbolResolver& resolver, std::vector<Relocation>* unresolved) {
    if (image.size() < layout.size || layout.align == 0 || guest_base % layout.align)
        return {Code::InvalidArgument,
                "code object: the image needs " + std::to_string(layout.size) +
                    " bytes at an address aligned to " + std::to_string(layout.align)};
    for (const Segment& s : object.segments)
        if (s.file_size)
            std::memcpy(image.data() + (s.address - layout.base),
                        object.file.data() + s.file_offset, s.file_size);
    return Loader(object, layout, image, guest_base, resolver)
        .relocate(object.relocations, unresolved);
}

Status link_code_object(const CodeObject& object, const ImageLayout& layout,
                        std::span<std::byte> image, uint64_t guest_base,
                        const SymbolResolver& resolver, std::span<const Relocation> unresolved) {
    return Loader(object, layout, image, guest_base, resolver).relocate(unresolved, nullptr);
}

}  // namespace wj
