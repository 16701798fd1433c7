#include "frontend/decode_formats.h"
#include "frontend/encoding.h"

// VOP3P (packed math, dot products, matrix operations), interpolation and exports.

namespace wj {
namespace {

// Which of the 13 modifier bits (numbered as v3:: does, op_sel_hi in place of omod) are used and
// which must be zero, per class and number of sources.
struct PackedBits {
    uint16_t used, zero;
};

PackedBits packed_bits(PackedClass packed, unsigned sources) {
    const uint32_t per_source = (1u << sources) - 1;
    const uint32_t missing = 7u & ~per_source;
    const uint32_t lists = per_source << v3::abs | per_source << v3::neg;
    const uint32_t lists_zero = missing << v3::abs | missing << v3::neg;
    switch (packed) {
        case PackedClass::Dot:
            return {static_cast<uint16_t>(lists | 1u << v3::clamp),
                    static_cast<uint16_t>(7u << v3::op_sel)};
        case PackedClass::AccRead:
        case PackedClass::AccWrite:
            return {0, 0x1c3f};
        case PackedClass::LdScale:
            return {static_cast<uint16_t>(3u << v3::op_sel | 3u << v3::omod),
                    static_cast<uint16_t>(4u << v3::abs | 4u << v3::op_sel | 4u << v3::neg)};
        default:
            return {static_cast<uint16_t>(lists | per_source << v3::op_sel |
                                          (sources == 3 ? 8u << v3::op_sel : 0) | 1u << v3::clamp |
                                          3u << v3::omod),
                    static_cast<uint16_t>(lists_zero | missing << v3::op_sel)};
    }
}

bool decode_packed_modifiers(DecodeState& s, uint32_t w, uint32_t w1, PackedClass packed,
                             unsigned sources) {
    Inst& out = s.out;
    const uint32_t modifiers = field(w, 8, 8) | field(w1, 27, 5) << 8;
    const PackedBits bits = packed_bits(packed, sources);
    if ((modifiers & bits.zero) != 0) return false;
    const uint32_t present = modifiers & bits.used;
    const uint8_t high = static_cast<uint8_t>(field(present, v3::abs, 3));
    if (packed == PackedClass::Mix) {
        out.abs = high;
    } else {
        out.neg_hi = high;
    }
    out.neg = static_cast<uint8_t>(field(present, v3::neg, 3));
    out.op_sel = static_cast<uint8_t>(field(present, v3::op_sel, 3));
    out.op_sel_hi =
        static_cast<uint8_t>(field(present, v3::omod, 2) | field(present, v3::op_sel + 3, 1) << 2);
    out.clamp = bit(present, v3::clamp);
    return true;
}

// Dwords of an A or B operand of the f8f6f4 instructions, by its format (CBSZ, BLGP): fp8 and bf8
// take eight, fp6 and bf6 six, fp4 four.
uint32_t f8f6f4_dwords(uint32_t format) {
    return format == 4 ? 4 : format == 2 || format == 3 ? 6 : 8;
}

// A matrix operand: accumulation register or VGPR, by an extra bit.
bool decode_matrix_source(DecodeState& s, uint32_t code, bool acc, Type type, uint32_t dwords,
                          Operand& out) {
    if (code >= 256) {
        return acc ? decode_agpr(s, code - 256, type, dwords, out)
                   : decode_vgpr(s, code - 256, type, dwords, out);
    }
    if (!decode_source(s, code, type, out, false, Slot::Vector)) return false;
    if (out.is(Operand::Kind::Sgpr)) out.dwords = static_cast<uint8_t>(dwords);
    return true;
}

bool decode_accumulator(DecodeState& s, uint32_t code, bool acc, Type type, bool is_f64,
                        Operand& out) {
    const uint32_t dwords = type_dwords(type);
    if (code >= 256) return decode_matrix_source(s, code, acc, type, dwords, out);
    if (!decode_source(s, code, type, out, false)) return false;
    if (out.kind == Operand::Kind::Const) {
        if (is_f64) {
            out.type = Type::f64;
            out.value = inline_constant(code, Type::f64);
        }
    } else {
        s.out.illegal_operand = true;
        if (is_f64 && out.kind == Operand::Kind::Literal) out.type = Type::f64;
    }
    return true;
}

bool decode_mfma(DecodeState& s, uint32_t w, uint32_t w1, PackedClass packed, bool with_scale) {
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const bool smfmac = packed == PackedClass::Smfmac;
    out.cbsz = static_cast<uint8_t>(field(w, 8, 3));
    out.abid = static_cast<uint8_t>(field(w, 11, 4));
    out.blgp = static_cast<uint8_t>(field(w1, 29, 3));
    const uint32_t a_full = type_dwords(info.src[0]), b_full = type_dwords(info.src[1]);
    uint32_t a_dwords = a_full, b_dwords = b_full;
    if (packed == PackedClass::MfmaScaled) {
        if (out.abid != (with_scale ? 1 : 0)) return false;
        out.abid = 0;
        if (out.cbsz > 4 || out.blgp > 4) out.illegal_operand = true;
        a_dwords = f8f6f4_dwords(out.cbsz);
        b_dwords = f8f6f4_dwords(out.blgp);
    }
    if (smfmac && out.blgp != 0) return false;
    // gfx908 accumulates in AccVGPRs only and ignores the bit.
    const bool acc_cd = s.before_gfx90a() || bit(w, 15);
    const uint32_t dst_dwords = type_dwords(info.dst[0]);
    const uint32_t vdst = field(w, 0, 8);
    if (!(acc_cd ? decode_agpr(s, vdst, info.dst[0], dst_dwords, out.dst[0])
                 : decode_vgpr(s, vdst, info.dst[0], dst_dwords, out.dst[0])) ||
        !decode_matrix_source(s, field(w1, 0, 9), bit(w1, 27), info.src[0], a_full, out.src[0]) ||
        !decode_matrix_source(s, field(w1, 9, 9), bit(w1, 28), info.src[1], b_full, out.src[1])) {
        return false;
    }
    out.src[0].dwords = static_cast<uint8_t>(a_dwords);  // LLVM checks the range of the full size
    out.src[1].dwords = static_cast<uint8_t>(b_dwords);
    const uint32_t c = field(w1, 18, 9);
    if (smfmac) return decode_matrix_source(s, c, false, info.src[2], 1, out.src[2]);
    return decode_accumulator(s, c, acc_cd, info.src[2], info.src[0] == Type::f64, out.src[2]);
}

// The 16-byte encoding: the scales in the first two words, the product in the others.
bool decode_mfma_scale(DecodeState& s, uint32_t w, uint32_t w1) {
    if (s.words.size() < 4) return false;
    const uint32_t w2 = s.words[2], w3 = s.words[3];
    const uint32_t top = w2 >> 16;
    Opcode op = Opcode::invalid;
    if (top == 0xd3ad) op = Opcode::v_mfma_scale_f32_16x16x128_f8f6f4;
    if (top == 0xd3ae) op = Opcode::v_mfma_scale_f32_32x32x64_f8f6f4;
    if (!begin(s, op) || !decode_mfma(s, w2, w3, PackedClass::MfmaScaled, true)) return false;
    Inst& out = s.out;
    out.words[2] = w2;
    out.words[3] = w3;
    s.length = 4;
    out.op_sel = static_cast<uint8_t>(field(w, 11, 2));
    out.op_sel_hi = static_cast<uint8_t>(field(w1, 27, 2));
    return decode_source(s, field(w1, 0, 9), Type::b32, out.src[3], false, Slot::VgprOnly) &&
           decode_source(s, field(w1, 9, 9), Type::b32, out.src[4], false, Slot::VgprOnly);
}

bool decode_acc_move(DecodeState& s, uint32_t w, uint32_t w1, PackedClass packed) {
    Inst& out = s.out;
    const uint32_t vdst = field(w, 0, 8), code = field(w1, 0, 9);
    if (packed == PackedClass::AccWrite) {
        return decode_agpr(s, vdst, Type::b32, 1, out.dst[0]) &&
               decode_source(s, code, Type::b32, out.src[0], false);
    }
    return decode_vgpr(s, vdst, Type::b32, 1, out.dst[0]) &&
           decode_matrix_source(s, code, true, Type::b32, 1, out.src[0]);
}

}  // namespace

bool decode_vop3p(DecodeState& s, uint32_t w) {
    const Opcode op = lookup_opcode<Format::VOP3P>(s.target.column, field(w, 16, 7));
    uint32_t w1 = 0;
    if (!begin(s, op) || !second_word(s, w1)) return false;
    const OpInfo& info = op_info(op);
    const PackedClass packed = encoding_info(op).packed;
    if (packed == PackedClass::Mfma || packed == PackedClass::MfmaScaled ||
        packed == PackedClass::Smfmac) {
        return decode_mfma(s, w, w1, packed, false);
    }
    if (packed == PackedClass::LdScale) {
        if (decode_mfma_scale(s, w, w1)) return true;
        s.out = Inst{};
        s.out.words = {w, w1, 0, 0};
        s.length = 2;
        begin(s, op);
        if (field(w, 0, 8) != 0 || bit(w, 15)) return false;
    }
    if (!decode_packed_modifiers(s, w, w1, packed, info.src_count)) return false;
    if (packed == PackedClass::AccRead || packed == PackedClass::AccWrite) {
        return decode_acc_move(s, w, w1, packed);
    }
    Inst& out = s.out;
    if (info.dst_count != 0 &&
        !decode_vgpr(s, field(w, 0, 8), info.dst[0], type_dwords(info.dst[0]), out.dst[0])) {
        return false;
    }
    for (unsigned i = 0; i < 3; ++i) {
        const uint32_t code = field(w1, 9 * i, 9);
        if (i >= info.src_count) break;
        Type type = info.src[i];
        // Mixed precision: op_sel_hi selects a half as source, else the source is a full float.
        if (packed == PackedClass::Mix && bit(out.op_sel_hi, i)) type = Type::f16;
        if (!decode_source(s, code, type, out.src[i], false)) return false;
    }
    return true;
}

bool decode_vop3_interp(DecodeState& s, uint32_t w, uint32_t w1) {
    Inst& out = s.out;
    if (!decode_vgpr(s, field(w, 0, 8), Type::f32, 1, out.dst[0])) return false;
    out.attr = static_cast<uint8_t>(field(w1, 0, 6));
    out.attr_chan = static_cast<uint8_t>(field(w1, 6, 2));
    out.attr_high = bit(w1, 8);
    if (out.attr_high && !encoding_info(out.op).high) return false;
    const uint32_t code1 = field(w1, 9, 9), code2 = field(w1, 18, 9);
    if (out.op == Opcode::v_interp_mov_f32) {
        out.src[0] = immediate_operand(code1, Type::imm32);
        return true;
    }
    if (!decode_source(s, code1, Type::f32, out.src[0], false, Slot::VgprOnly)) return false;
    const bool third = out.op == Opcode::v_interp_p1lv_f16 || out.op == Opcode::v_interp_p2_f16 ||
                       out.op == Opcode::v_interp_p2_legacy_f16;
    if (!third) return true;
    return decode_source(s, code2, Type::f32, out.src[1], false, Slot::VgprOnly);
}

bool decode_vintrp(DecodeState& s, uint32_t w) {
    if (!begin(s, lookup_opcode<Format::VINTRP>(s.target.column, field(w, 16, 2)))) return false;
    Inst& out = s.out;
    out.attr_chan = static_cast<uint8_t>(field(w, 8, 2));
    out.attr = static_cast<uint8_t>(field(w, 10, 6));
    if (!decode_vgpr(s, field(w, 18, 8), Type::f32, 1, out.dst[0])) return false;
    if (out.op == Opcode::v_interp_mov_f32_e32) {
        out.src[0] = immediate_operand(field(w, 0, 8), Type::imm32);
        return true;
    }
    return decode_vgpr(s, field(w, 0, 8), Type::f32, 1, out.src[0]);
}

bool decode_exp(DecodeState& s, uint32_t w) {
    uint32_t w1 = 0;
    if (!begin(s, lookup_opcode<Format::EXP>(s.target.column, 0)) || !second_word(s, w1)) {
        return false;
    }
    Inst& out = s.out;
    out.exp_enable = static_cast<uint8_t>(field(w, 0, 4));
    out.exp_target = static_cast<uint8_t>(field(w, 4, 6));
    out.exp_compressed = bit(w, 10);
    out.exp_done = bit(w, 11);
    out.exp_vm = bit(w, 12);
    for (unsigned i = 0; i < 4; ++i) {
        if (!decode_vgpr(s, field(w1, 8 * i, 8), Type::b32, 1, out.src[i])) return false;
    }
    return true;
}

}  // namespace wj
