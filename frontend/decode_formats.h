// One decoder per encoding format; frontend/decode.cpp selects. Internal to frontend/.
#pragma once

#include "frontend/encoding.h"
#include "frontend/operands.h"

namespace wj {

constexpr uint32_t field(uint32_t word, unsigned low, unsigned width) {
    return (word >> low) & ((1u << width) - 1);
}

constexpr bool bit(uint32_t word, unsigned index) {
    return ((word >> index) & 1) != 0;
}

// Takes one more dword than the format has (SDWA, DPP, constants of their own).
inline bool next_word(DecodeState& s, uint32_t& word) {
    if (s.words.size() <= s.length) return false;
    word = s.words[s.length];
    s.out.words[s.length++] = word;
    return true;
}

// The opcode of the encoding that the state's layout describes, as a row of format F.
template <Format F>
Opcode opcode(const DecodeState& s) {
    return lookup_opcode<F>(s.target.family, s.get(Field::op));
}

// Enters the row of `op`; false when there is none.
inline bool begin(DecodeState& s, Opcode op) {
    if (op == Opcode::invalid) return false;
    s.out.op = op;
    s.out.format = op_info(op).format;
    return true;
}

inline constexpr uint16_t vcc_code = 106, exec_code = 126, literal_code = 255,
                          literal_64_code = 254;

// An operand that is VCC or EXEC as a lane mask.
inline void set_mask(const DecodeState& s, uint16_t reg, Operand& out) {
    out.kind = Operand::Kind::Sgpr;
    out.reg = reg;
    out.type = Type::mask;
    out.dwords = static_cast<uint8_t>(s.dwords(Type::mask));
}

inline constexpr Field v3_sources[3] = {Field::src0, Field::src1, Field::src2};

// The modifier bits of a VOP3 word in the order of v3:: (encoding.h).
inline uint32_t v3_modifiers(const DecodeState& s) {
    return s.get(Field::abs) << v3::abs | s.get(Field::op_sel) << v3::op_sel |
           s.get(Field::clamp) << v3::clamp | s.get(Field::omod) << v3::omod |
           s.get(Field::neg) << v3::neg;
}

bool decode_sop1(DecodeState& s);
bool decode_sop2(DecodeState& s);
bool decode_sopk(DecodeState& s);
bool decode_sopc(DecodeState& s);
bool decode_sopp(DecodeState& s);
bool decode_smem(DecodeState& s);
bool decode_vop1(DecodeState& s);
bool decode_vop2(DecodeState& s);
bool decode_vopc(DecodeState& s);
bool decode_vop3(DecodeState& s);
bool decode_vop3_interp(DecodeState& s);
bool decode_vop3p(DecodeState& s);
// Source 0 of a VOP3 instruction whose code for it says that a dword of DPP names it.
bool decode_vop3_dpp(DecodeState& s, const OpInfo& info, uint32_t code);
bool is_dpp_word(const DecodeState& s, uint32_t code);
bool decode_vinterp(DecodeState& s);
bool decode_ldsdir(DecodeState& s);
bool decode_vopd(DecodeState& s);
bool decode_vopd3(DecodeState& s);
bool decode_tensor(DecodeState& s);
bool decode_vintrp(DecodeState& s);
bool decode_exp(DecodeState& s);
bool decode_ds(DecodeState& s);
bool decode_flat(DecodeState& s);
bool decode_mubuf(DecodeState& s);
bool decode_mtbuf(DecodeState& s);
bool decode_mimg(DecodeState& s);

}  // namespace wj
