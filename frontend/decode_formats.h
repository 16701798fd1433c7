// One decoder per encoding format; frontend/decode.cpp selects. Internal to frontend/.
#pragma once

#include "frontend/operands.h"

namespace wj {

constexpr uint32_t field(uint32_t word, unsigned low, unsigned width) {
    return (word >> low) & ((1u << width) - 1);
}

constexpr bool bit(uint32_t word, unsigned index) {
    return ((word >> index) & 1) != 0;
}

// Reads the second dword of a 64-bit encoding.
inline bool second_word(DecodeState& s, uint32_t& word) {
    if (s.words.size() < 2) return false;
    word = s.words[1];
    s.out.words[1] = word;
    s.length = 2;
    return true;
}

// Enters the row of `op`; false when there is none.
inline bool begin(DecodeState& s, Opcode op) {
    if (op == Opcode::invalid) return false;
    s.out.op = op;
    s.out.format = op_info(op).format;
    return true;
}

inline constexpr uint32_t vcc_code = 106;

bool decode_sop1(DecodeState& s, uint32_t w);
bool decode_sop2(DecodeState& s, uint32_t w);
bool decode_sopk(DecodeState& s, uint32_t w);
bool decode_sopc(DecodeState& s, uint32_t w);
bool decode_sopp(DecodeState& s, uint32_t w);
bool decode_smem(DecodeState& s, uint32_t w);
bool decode_vop1(DecodeState& s, uint32_t w);
bool decode_vop2(DecodeState& s, uint32_t w);
bool decode_vopc(DecodeState& s, uint32_t w);
bool decode_vop3(DecodeState& s, uint32_t w);
bool decode_vop3_interp(DecodeState& s, uint32_t w, uint32_t w1);
bool decode_vop3p(DecodeState& s, uint32_t w);
bool decode_vintrp(DecodeState& s, uint32_t w);
bool decode_exp(DecodeState& s, uint32_t w);
bool decode_ds(DecodeState& s, uint32_t w);
bool decode_flat(DecodeState& s, uint32_t w);
bool decode_mubuf(DecodeState& s, uint32_t w);
bool decode_mtbuf(DecodeState& s, uint32_t w);
bool decode_mimg(DecodeState& s, uint32_t w);

}  // namespace wj
