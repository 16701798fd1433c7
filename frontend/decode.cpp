#include "frontend/decode.h"

#include <array>

#include "frontend/decode_formats.h"

namespace wj {
namespace {

using Decoder = bool (*)(DecodeState&, uint32_t);

bool decode_none(DecodeState&, uint32_t) {
    return false;
}

bool decode_vop3_or_vop3p(DecodeState& s, uint32_t w) {
    return field(w, 23, 3) == 7 ? decode_vop3p(s, w) : decode_vop3(s, w);
}

// Indexed by the top nine bits of the first word (Vega ISA, "Microcode formats").
constexpr std::array<Decoder, 512> decoders = [] {
    std::array<Decoder, 512> table{};
    for (uint32_t top = 0; top < 512; ++top) {
        const uint32_t top6 = top >> 3;
        Decoder d = decode_none;
        if (top < 0x100) {
            const uint32_t vop2_op = top >> 2;
            d = vop2_op == 0x3e ? decode_vopc : vop2_op == 0x3f ? decode_vop1 : decode_vop2;
        } else if (top == 0x17d) {
            d = decode_sop1;
        } else if (top == 0x17e) {
            d = decode_sopc;
        } else if (top == 0x17f) {
            d = decode_sopp;
        } else if (top >> 5 == 0xb) {
            d = decode_sopk;
        } else if (top >> 7 == 2) {
            d = decode_sop2;
        } else if (top6 == 0x30) {
            d = decode_smem;
        } else if (top6 == 0x31) {
            d = decode_exp;
        } else if (top6 == 0x34) {
            d = decode_vop3_or_vop3p;
        } else if (top6 == 0x35) {
            d = decode_vintrp;
        } else if (top6 == 0x36) {
            d = decode_ds;
        } else if (top6 == 0x37) {
            d = decode_flat;
        } else if (top6 == 0x38) {
            d = decode_mubuf;
        } else if (top6 == 0x3a) {
            d = decode_mtbuf;
        } else if (top6 == 0x3c) {
            d = decode_mimg;
        }
        table[top] = d;
    }
    return table;
}();

}  // namespace

bool decode(const Target& target, std::span<const uint32_t> words, Inst& out) {
    out = Inst{};
    out.size = 4;
    if (words.empty()) return false;
    DecodeState s{target, words, out};
    out.words[0] = words[0];
    if (decoders[words[0] >> 23](s, words[0])) {
        out.size = static_cast<uint8_t>(s.length * 4);
        return true;
    }
    out = Inst{};
    out.size = 4;
    out.words[0] = words[0];
    return false;
}

}  // namespace wj
