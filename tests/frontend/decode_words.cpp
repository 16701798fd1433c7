#include "tests/frontend/decode_words.h"

#include "frontend/encoding.h"
#include "frontend/layout.h"

namespace wj_test {
namespace {

using wj::Field;
using wj::Format;

// An encoding to fill: a layout, and the format whose opcodes it takes (a segment of FLAT's layout
// is another format).
struct Encoding {
    const wj::Layout* layout;
    Format format;
    uint32_t segment;
};

std::vector<Encoding> encodings(const wj::Target& target) {
    std::vector<Encoding> out;
    for (const wj::Layout& l : wj::layouts()) {
        if (l.suffix != wj::Suffix::None || !l.is_of(target.family)) continue;
        out.push_back({&l, l.format, 0});
        if (!l.has(Field::seg)) continue;
        out.push_back({&l, Format::SCRATCH, 1});
        out.push_back({&l, Format::GLOBAL, 2});
    }
    return out;
}

uint32_t mask_of(const wj::Layout& l, Field field) {
    const wj::FieldPlace p = l.place(field);
    return p.width == 0 || p.low >= 32 ? 0 : ((1u << p.width) - 1) << p.low;
}

uint32_t placed(const wj::Layout& l, Field field, uint32_t value) {
    return value << l.place(field).low & mask_of(l, field);
}

// All ones, half, a quarter, an eighth of the bits, or none.
uint32_t sparse(Random& random) {
    uint32_t word = random.word();
    switch (random.below(6)) {
        case 0:
            return 0;
        case 1:
            return word;
        case 2:
            return word & random.word();
        case 3:
            return word & random.word() & random.word();
        case 4:
            return word & random.word() & random.word() & random.word();
        default:
            return word & 0xff;
    }
}

uint32_t source_code(Random& random) {
    switch (random.below(8)) {
        case 0:
            return random.below(512);
        case 1:
            return random.below(128);
        case 2:
            return 128 + random.below(128);
        default:
            return 256 + random.below(256);
    }
}

// The second word: sparse bits, three 9-bit sources, or bytes as memory formats have them.
uint32_t second(Random& random, Format format) {
    uint32_t word = sparse(random);
    if (format == Format::VOP3 || format == Format::VOP3P) {
        const uint32_t modifiers = random.below(2) == 0 ? 0 : sparse(random);
        const uint32_t sources = random.below(4);
        word = modifiers & 0xf8000000;
        for (uint32_t i = 0; i < sources; ++i) word |= source_code(random) << (9 * i);
        constexpr uint32_t dpp[] = {233, 234, 250};
        if (random.below(8) == 0) word = (word & ~0x1ffu) | dpp[random.below(3)];
    } else if (format == Format::VOP1 || format == Format::VOP2 || format == Format::VOPC) {
        if (random.below(2) == 0) {  // SDWA and DPP words with plausible selectors
            word = random.below(256) | random.below(7) << 8 | random.below(3) << 11 |
                   random.below(7) << 16 | random.below(7) << 24 |
                   (random.below(2) == 0 ? 0 : sparse(random) & 0xf8f8e000);
        }
    } else {
        word = 0;
        const uint32_t present = random.below(16);
        for (uint32_t i = 0; i < 4; ++i) {
            if ((present >> i & 1) != 0) word |= random.below(256) << (8 * i);
        }
        if (format == Format::DS && random.below(4) == 0) word &= 0xff;
        if (format != Format::DS && random.below(3) == 0) {  // SADDR: none
            const uint32_t none[] = {0x7f, 0x7d, 0x7c};
            word = (word & 0xff80ffff) | none[random.below(3)] << 16;
        }
    }
    return word;
}

Words encode(const Encoding& bits, uint32_t code, Random& random) {
    const wj::Layout& l = *bits.layout;
    const uint32_t fixed =
        l.mask | mask_of(l, Field::op) | mask_of(l, Field::op_high) | mask_of(l, Field::seg);
    uint32_t first = l.fixed | placed(l, Field::op, code) |
                     placed(l, Field::op_high, code >> l.place(Field::op).width) |
                     placed(l, Field::seg, bits.segment);
    uint32_t fill = sparse(random);
    if (bits.format == Format::VOP1 || bits.format == Format::VOP2 || bits.format == Format::VOPC) {
        fill &= ~0x1ffu;
        switch (random.below(7)) {
            case 6:
                fill |= 233 + random.below(2);  // DPP8
                break;
            case 0:
                fill |= 249;
                break;
            case 1:
                fill |= 250;
                break;
            case 2:
                fill |= 255;
                break;
            default:
                fill |= source_code(random);
                break;
        }
    }
    if ((bits.format == Format::VOP3 || bits.format == Format::VOP3P) && random.below(2) == 0) {
        fill &= bits.format == Format::VOP3P ? 0x40ff : 0xff;
    }
    if (bits.format == Format::DS && random.below(2) == 0)
        fill = placed(l, Field::gds, random.below(2));
    if (bits.format == Format::VOP3 && random.below(4) == 0)
        fill = (fill & ~0xffu) | 0x7e;  // EXEC, which v_cmpx of gfx10 asks for
    first |= fill & ~fixed;
    const bool rays = bits.format == Format::MIMG && l.has(Field::dim) && random.below(4) == 0;
    if (rays) {  // tests of rays
        const uint32_t a16 = first & mask_of(l, Field::a16), nsa = random.word();
        first = (first & fixed) | a16 | placed(l, Field::nsa, nsa) | mask_of(l, Field::dmask) |
                mask_of(l, Field::unorm) | mask_of(l, Field::r128);
    }
    Words words{first, second(random, bits.format), sparse(random), random.word(), random.word()};
    for (const Field f : {Field::ssamp, Field::d16, Field::tfe, Field::lwe, Field::th}) {
        const wj::FieldPlace p = l.place(f);
        if (rays && p.width != 0) words[p.low / 32] &= ~(((1u << p.width) - 1) << p.low % 32);
    }
    if (bits.format == Format::VOP3P && random.below(2) == 0) {  // OP_SEL_HI, as it mostly is
        words[0] |= mask_of(l, Field::op_sel_hi2);
        words[1] |= 3u << 27;
    }
    if (l.has(Field::th) && random.below(2) == 0)  // no SADDR, and few unused registers
        words[0] = (words[0] & ~placed(l, Field::saddr, 0x7f)) | placed(l, Field::saddr, 0x7c);
    if (bits.format == Format::TENSOR && random.below(4) != 0) {  // fields that have one value
        words[0] = (words[0] & (fixed | 0x98)) | placed(l, Field::dmask, 1) | 1;
        words[1] = (words[1] & 0x7c0000) | 0x7c000000;
    }
    if (bits.format == Format::VOPD3) {  // mostly two sources, and few signs
        if (random.below(2) == 0) words[1] &= 0xff81ff;
        if (random.below(2) == 0) words[2] &= 0xff00ffff;
    }
    // gfx12.5's 16-byte encodings join the scales and a product.
    if (first >> 16 == 0xcc35 || first >> 16 == 0xcc3a) {
        if (random.below(4) != 0) words[1] = (words[1] & 0xfa03ffff) | 0x04000000;
        if (random.below(4) == 0) words[0] &= 0xffff0000;
        words[2] = random.below(2) == 0 ? 0xcc330000 | (random.word() & 0x7cff)
                                        : 0xcc884000 | (random.word() & 0x4ff);
        words[3] = (random.word() & 0x9fffffff) |
                   (random.below(2) == 0 ? 0 : 0x1c020100 | random.word() << 31);
    }
    // gfx950's 16-byte encoding joins v_mfma_ld_scale_b32 and a product.
    if (first >> 16 == 0xd3ac && random.below(4) != 0) {
        words[2] = (0xd3ad0800 + random.below(2) * 0x10000) | (random.word() & 0x87ff);
        words[3] = random.word() | (random.below(2) == 0 ? 0 : 0x04020100);
    }
    return words;
}

}  // namespace

std::vector<Words> row_words(const wj::Target& target, unsigned fillings, Random& random) {
    std::vector<Words> out;
    const auto& slots = wj::opcode_slots[static_cast<size_t>(target.family)];
    for (const Encoding& bits : encodings(target)) {
        const unsigned base = wj::format_base(bits.format);
        for (unsigned code = 0; code < wj::format_slots[static_cast<size_t>(bits.format)]; ++code) {
            if (slots[base + code] == wj::Opcode::invalid) continue;
            for (unsigned i = 0; i < fillings; ++i) out.push_back(encode(bits, code, random));
        }
    }
    return out;
}

std::vector<Words> uniform_words(size_t count, Random& random) {
    std::vector<Words> out(count);
    for (Words& words : out)
        words = {random.word(), random.word(), random.word(), random.word(), random.word()};
    return out;
}

std::vector<Words> biased_words(const wj::Target& target, size_t count, Random& random) {
    std::vector<Words> out;
    out.reserve(count);
    const std::vector<Encoding> all = encodings(target);
    while (out.size() < count) {
        const Encoding& bits = all[random.below(static_cast<uint32_t>(all.size()))];
        const uint32_t slots = wj::format_slots[static_cast<size_t>(bits.format)];
        out.push_back(encode(bits, random.below(slots), random));
    }
    return out;
}

}  // namespace wj_test
