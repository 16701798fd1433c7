#include "tests/frontend/decode_words.h"

#include "frontend/encoding.h"

namespace wj_test {
namespace {

using wj::Format;

struct FormatBits {
    Format format;
    uint32_t base;        // fixed bits of the first word
    unsigned code_shift;  // where the opcode number stands
};

constexpr FormatBits format_bits[] = {
    {Format::SOP1, 0xBE800000, 8},     {Format::SOP2, 0x80000000, 23},
    {Format::SOPK, 0xB0000000, 23},    {Format::SOPC, 0xBF000000, 16},
    {Format::SOPP, 0xBF800000, 16},    {Format::SMEM, 0xC0000000, 18},
    {Format::VOP1, 0x7E000000, 9},     {Format::VOP2, 0x00000000, 25},
    {Format::VOPC, 0x7C000000, 17},    {Format::VOP3, 0xD0000000, 16},
    {Format::VOP3P, 0xD3800000, 16},   {Format::VINTRP, 0xD4000000, 16},
    {Format::DS, 0xD8000000, 17},      {Format::MUBUF, 0xE0000000, 18},
    {Format::MTBUF, 0xE8000000, 15},   {Format::MIMG, 0xF0000000, 18},
    {Format::FLAT, 0xDC000000, 18},    {Format::GLOBAL, 0xDC008000, 18},
    {Format::SCRATCH, 0xDC004000, 18}, {Format::EXP, 0xC4000000, 0},
};

// Bits that an encoding format leaves to operands and modifiers.
uint32_t free_bits(Format format) {
    switch (format) {
        case Format::SOP1:
            return 0x007f00ff;
        case Format::SOP2:
            return 0x007fffff;
        case Format::SOPK:
            return 0x007fffff;
        case Format::SOPC:
        case Format::SOPP:
            return 0x0000ffff;
        case Format::SMEM:
            return 0x0003ffff;
        case Format::VOP1:
            return 0x01fe01ff;
        case Format::VOP2:
            return 0x01ffffff;
        case Format::VOPC:
            return 0x0001ffff;
        case Format::VOP3:
        case Format::VOP3P:
            return 0x0000ffff;
        case Format::VINTRP:
            return 0x03fcffff;
        case Format::DS:
            return 0x0201ffff;
        case Format::MUBUF:
            return 0x0203ffff;
        case Format::MTBUF:
            return 0x03f87fff;
        case Format::MIMG:
            return 0x0203fffe;
        case Format::FLAT:
        case Format::GLOBAL:
        case Format::SCRATCH:
            return 0x02033fff;
        case Format::EXP:
            return 0x03ffffff;
    }
    return 0;
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
        if (format != Format::DS && random.below(4) == 0) word = (word & 0xff80ffff) | 0x007f0000;
    }
    return word;
}

Words encode(const FormatBits& bits, uint32_t code, Random& random) {
    const bool mimg = bits.format == Format::MIMG;
    uint32_t first = bits.base;
    first |= mimg ? (code & 0x7f) << bits.code_shift | code >> 7 : code << bits.code_shift;
    uint32_t fill = sparse(random);
    if (bits.format == Format::VOP1 || bits.format == Format::VOP2 || bits.format == Format::VOPC) {
        fill &= ~0x1ffu;
        switch (random.below(6)) {
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
    if (bits.format == Format::DS && random.below(2) == 0) fill = random.below(2) << 16;
    first |= fill & free_bits(bits.format);
    Words words{first, second(random, bits.format), sparse(random), random.word()};
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
    const auto& slots = wj::opcode_slots[static_cast<size_t>(target.column)];
    for (const FormatBits& bits : format_bits) {
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
    for (Words& words : out) words = {random.word(), random.word(), random.word(), random.word()};
    return out;
}

std::vector<Words> biased_words(const wj::Target&, size_t count, Random& random) {
    std::vector<Words> out;
    out.reserve(count);
    while (out.size() < count) {
        const FormatBits& bits = format_bits[random.below(std::size(format_bits))];
        const uint32_t slots = wj::format_slots[static_cast<size_t>(bits.format)];
        out.push_back(encode(bits, random.below(slots), random));
    }
    return out;
}

}  // namespace wj_test
