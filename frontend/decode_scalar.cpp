#include "frontend/decode_formats.h"
#include "frontend/encoding.h"

// SOP1, SOP2, SOPK, SOPC, SOPP and SMEM: Vega ISA, "Microcode formats", scalar chapters.

namespace wj {
namespace {

bool decode_scalar_dst(DecodeState& s, uint32_t code, Type type) {
    return decode_sgpr(s, code, type, type_dwords(type), s.out.dst[0]);
}

bool decode_scalar_source(DecodeState& s, uint32_t code, Type type, Operand& out) {
    return decode_source(s, code, type, out, true, Slot::Scalar);
}

// Scalar memory data may not be M0 or EXEC.
bool decode_sdata(DecodeState& s, uint32_t code, Type type, Operand& out) {
    if (code == s.target.traits.scalar_registers.m0 || code >= exec_code)
        s.out.illegal_operand = true;
    return decode_sgpr(s, code, type, type_dwords(type), out);
}

bool takes_register(Opcode op) {
    switch (op) {
        case Opcode::s_setpc_b64:
        case Opcode::s_rfe_b64:
        case Opcode::s_movrels_b32:
        case Opcode::s_movrels_b64:
        case Opcode::s_cbranch_join:
            return true;
        default:
            return false;
    }
}

}  // namespace

bool decode_sop2(DecodeState& s) {
    if (!begin(s, opcode<Format::SOP2>(s))) return false;
    const OpInfo& info = op_info(s.out.op);
    // The constant of s_fmaak and s_fmamk is the literal of the other sources, too.
    const InlineK k = encoding_info(s.out.op, s.target.family).k;
    const unsigned second = k == InlineK::Mk ? 2 : 1;
    return (info.dst_count == 0 || decode_scalar_dst(s, s.get(Field::sdst), info.dst[0])) &&
           (k == InlineK::None ||
            decode_scalar_source(s, literal_code, info.src[1], s.out.src[3 - second])) &&
           decode_scalar_source(s, s.get(Field::ssrc0), info.src[0], s.out.src[0]) &&
           decode_scalar_source(s, s.get(Field::ssrc1), info.src[1], s.out.src[second]);
}

bool decode_sop1(DecodeState& s) {
    if (!begin(s, opcode<Format::SOP1>(s))) return false;
    const OpInfo& info = op_info(s.out.op);
    if (info.src_count != 0 && info.src[0] == Type::simm16) {  // s_sendmsg_rtn_*: the message
        s.out.src[0] = immediate_operand(s.get(Field::ssrc0), Type::simm16);
        return decode_scalar_dst(s, s.get(Field::sdst), info.dst[0]);
    }
    return (info.dst_count == 0 || decode_scalar_dst(s, s.get(Field::sdst), info.dst[0])) &&
           (info.src_count == 0 ||
            decode_source(s, s.get(Field::ssrc0), info.src[0], s.out.src[0],
                          !encoding_info(s.out.op, s.target.family).no_literal,
                          takes_register(s.out.op) ? Slot::ScalarRegister : Slot::Scalar));
}

bool decode_sopc(DecodeState& s) {
    if (!begin(s, opcode<Format::SOPC>(s))) return false;
    const OpInfo& info = op_info(s.out.op);
    if (!decode_scalar_source(s, s.get(Field::ssrc0), info.src[0], s.out.src[0])) return false;
    const uint32_t code1 = s.get(Field::ssrc1);
    if (info.src[1] == Type::simm16) {  // s_set_gpr_idx_on: the field is the mode itself
        s.out.src[1] = immediate_operand(code1, Type::simm16);
        return true;
    }
    return decode_scalar_source(s, code1, info.src[1], s.out.src[1]);
}

bool decode_sopk(DecodeState& s) {
    if (!begin(s, opcode<Format::SOPK>(s))) return false;
    const OpInfo& info = op_info(s.out.op);
    const int64_t simm = static_cast<int16_t>(s.get(Field::simm));
    const uint32_t sdst = s.get(Field::sdst);
    uint32_t next = 0;
    if (info.dst_count != 0) {
        if (!decode_scalar_dst(s, sdst, info.dst[0])) return false;
    } else if (info.src[0] != Type::simm16) {
        if (!decode_sgpr(s, sdst, info.src[0], type_dwords(info.src[0]), s.out.src[next++])) {
            return false;
        }
    }
    s.out.src[next++] = immediate_operand(simm, Type::simm16);
    if (next < info.src_count && info.src[next] == Type::imm32) {
        uint32_t word = 0;
        if (!next_word(s, word)) return false;
        s.out.src[next] = immediate_operand(word, Type::imm32);
    }
    return true;
}

bool decode_sopp(DecodeState& s) {
    if (!begin(s, opcode<Format::SOPP>(s))) return false;
    const uint32_t simm = s.get(Field::simm);
    if (op_info(s.out.op).src_count == 0) return simm == 0;
    s.out.src[0] = immediate_operand(static_cast<int16_t>(simm), Type::simm16);
    return true;
}

namespace {

// s_prefetch_*: base or PC, immediate, register, number of cache lines.
bool decode_prefetch(DecodeState& s, const EncodingInfo& encoding) {
    Inst& out = s.out;
    out.nv = out.scale_offset = false;
    out.th = out.scope = 0;
    out.offset = s.get_signed(Field::offset);
    out.src[1] = immediate_operand(s.get(Field::sdst), Type::simm16);
    const Type base = encoding.v_sharp ? Type::b128 : Type::b64;
    return (encoding.pc_relative ||
            decode_sgpr(s, s.get(Field::sbase) * 2, base, type_dwords(base), out.src[3])) &&
           decode_sgpr(s, s.get(Field::soffset), Type::b32, 1, out.src[4]);
}

}  // namespace

namespace {

// A number of dwords, in the instruction or behind it, or an SGPR that counts bytes.
bool decode_dword_offset(DecodeState& s) {
    Inst& out = s.out;
    constexpr uint32_t literal = 255, most = 0x7fffffff / 4;
    uint32_t dwords = s.get(Field::offset);
    if (!out.imm_offset) {
        if (dwords != literal || !s.has(Field::literal))
            return decode_sgpr(s, dwords, Type::b32, 1, out.src[4]);
        if (!next_word(s, dwords)) return false;
        out.imm_offset = true;
        if (dwords > most) s.out.illegal_operand = true;
    }
    out.offset = static_cast<int32_t>(dwords * 4);
    return true;
}

}  // namespace

bool decode_smem(DecodeState& s) {
    if (!begin(s, opcode<Format::SMEM>(s))) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const uint32_t sdata = s.get(Field::sdst);
    out.glc = s.flag(Field::glc);
    out.nv = s.flag(Field::nv);
    out.imm_offset = s.flag(Field::imm);
    out.dlc = s.flag(Field::dlc);
    // gfx10+: both offsets always; null stands for none.
    const bool both = s.has(Field::soffset) && !s.has(Field::soffset_en);
    if (both) out.imm_offset = s.flag(Field::offset);
    out.soffset_en =
        both ? !out.imm_offset || s.get(Field::soffset) != s.target.traits.scalar_registers.null
             : s.flag(Field::soffset_en);
    out.th = static_cast<uint8_t>(s.get(Field::th));
    out.scope = static_cast<uint8_t>(s.get(Field::scope));
    out.scale_offset = s.flag(Field::scale);
    if (out.scale_offset && !s.target.traits.signed_saddr_offsets) out.illegal_operand = true;
    if (s.has(Field::th)) {  // gfx12: the immediate always
        out.imm_offset = true;
        out.soffset_en = s.get(Field::soffset) != s.target.traits.scalar_registers.null;
    }
    const EncodingInfo& encoding = encoding_info(out.op, s.target.family);
    const bool length = encoding.prefetch || encoding.probe;  // five bits of gfx12
    if (s.has(Field::th) &&
        ((length && sdata > 31) || (encoding.v_sharp && s.get_signed(Field::offset) < 0)))
        return false;
    if (encoding.probe) {
        out.scale_offset = out.nv = false;
        out.th = out.scope = 0;
    }
    if (encoding.prefetch) return decode_prefetch(s, encoding);
    if (encoding.no_policy && (out.glc || out.dlc)) return false;
    if (encoding.no_address) {
        if (s.flag(Field::imm)) return false;
        out.imm_offset = out.soffset_en = out.glc = out.dlc = out.nv = out.scale_offset = false;
        out.th = out.scope = 0;
        return info.dst_count == 0 || decode_sdata(s, sdata, info.dst[0], out.dst[0]);
    }
    if (info.returns_if_glc) {
        if (!decode_sdata(s, sdata, info.src[0], out.src[1])) return false;
        if (out.glc) {
            out.dst[0] = out.src[1];
            out.dst[0].type = info.dst[0];
            out.dst[0].dwords = static_cast<uint8_t>(type_dwords(info.dst[0]));
        }
    } else if (info.dst_count != 0) {
        if (!decode_sdata(s, sdata, info.dst[0], out.dst[0])) return false;
    } else if (info.src_count != 0) {
        if (!decode_sdata(s, sdata, info.src[0], out.src[1])) return false;
    } else if (encoding.probe) {
        out.src[1] = immediate_operand(sdata, Type::simm16);
    }
    const Type base_type = encoding.v_sharp ? Type::b128 : Type::b64;
    if (!decode_sgpr(s, s.get(Field::sbase) * 2, base_type, type_dwords(base_type), out.src[3])) {
        return false;
    }
    if (s.layout.dwords == 1) return decode_dword_offset(s);
    // IMM selects the offset; gfx9's is signed, and its SOFFSET_EN an SGPR of its own. With
    // neither, the SGPR's number stands in the low bits of the offset.
    if (out.imm_offset) {
        out.offset = s.has(Field::soffset) ? s.get_signed(Field::offset)
                                           : static_cast<int32_t>(s.get(Field::offset));
        if (!out.soffset_en) return true;
    }
    const uint32_t soffset = out.soffset_en ? s.get(Field::soffset) : s.get(Field::offset) & 0x7f;
    return decode_sgpr(s, soffset, Type::b32, 1, out.src[4]);
}

}  // namespace wj
