#include "frontend/decode_formats.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"

// VOP1, VOP2, VOPC with their SDWA and DPP forms, and VOP3.

namespace wj {
namespace {

constexpr uint32_t sdwa_code = 249, dpp_code = 250, dpp8_code = 233, dpp8_fi_code = 234;

// Sources that must be registers of one kind; everything else admits all encodings.
Slot source_slot(Opcode op, uint32_t index) {
    switch (op) {
        case Opcode::v_swap_b32:
        case Opcode::v_swap_b16:
        case Opcode::v_permlane64_b32:
        case Opcode::v_permlane16_var_b32:
        case Opcode::v_permlanex16_var_b32:
        case Opcode::v_movrels_b32:
        case Opcode::v_movrelsd_b32:
        case Opcode::v_movrelsd_2_b32:
        case Opcode::v_swaprel_b32:
        case Opcode::v_permlane16_swap_b32:
        case Opcode::v_permlane32_swap_b32:
            return Slot::VgprOnly;
        case Opcode::v_readfirstlane_b32:
            return Slot::Vector;
        case Opcode::v_cvt_scalef32_sr_pk_fp4_f32:
            return index == 0 ? Slot::VgprOnly : Slot::Any;
        case Opcode::v_permlane16_b32:
        case Opcode::v_permlanex16_b32:
        case Opcode::v_permlane_bcast_b32:
        case Opcode::v_permlane_up_b32:
        case Opcode::v_permlane_down_b32:
        case Opcode::v_permlane_xor_b32:
        case Opcode::v_permlane_idx_gen_b32:
        case Opcode::v_readlane_b32:
            return index == 0 ? Slot::Vector : Slot::Scalar;
        case Opcode::v_writelane_b32:
            return Slot::Scalar;
        default:
            return Slot::Any;
    }
}

void set_vcc(const DecodeState& s, Operand& out) {
    set_mask(s, vcc_code, out);
}

// v_cmpx of gfx10 and later, whose destination is EXEC and stands nowhere in the encoding.
bool writes_exec_alone(const DecodeState& s) {
    return s.target.traits.cmpx_writes_exec && effects(s.out.op).exec != ExecChange::None;
}

// A VGPR of the short encodings: seven bits and the half, where the operand is one.
bool decode_short_vgpr(DecodeState& s, uint32_t code, Type type, Operand& out) {
    if (!s.is_half(type)) return decode_vgpr(s, code, type, type_dwords(type), out);
    out.half = bit(code, 7) ? Operand::Half::High : Operand::Half::Low;
    return decode_vgpr(s, code & 127, type, 1, out);
}

bool decode_short_source(DecodeState& s, uint32_t code, Type type, Operand& out,
                         Slot slot = Slot::Any) {
    if (code >= 256) {
        if (slot == Slot::Scalar) s.out.illegal_operand = true;
        return decode_short_vgpr(s, code - 256, type, out);
    }
    if (!decode_source(s, code, type, out, true, slot)) return false;
    if (out.is(Operand::Kind::Const) && encoding_info(s.out.op, s.target.family).splat)
        out.value = (out.value & 0xffff) * 0x10001;
    return true;
}

// VOP3's OP_SEL names the half.
void set_half(const DecodeState& s, unsigned op_sel_bit, Operand& out) {
    if (s.is_half(out.type) && out.is(Operand::Kind::Vgpr))
        out.half = bit(s.out.op_sel, op_sel_bit) ? Operand::Half::High : Operand::Half::Low;
}

// Of a source as the family has it.
Type source_type(const DecodeState& s, unsigned i) {
    const OpInfo& info = op_info(s.out.op);
    const uint8_t half = encoding_info(s.out.op, s.target.family).half_operand;
    if (half != i + 1 || !s.target.traits.true16) return info.src[i];
    return i < 2 ? Type::f16 : Type::b16;  // as LLVM reads constants there
}

// Of the destination.
Type result_type(const DecodeState& s) {
    const bool half = encoding_info(s.out.op, s.target.family).half_operand == 4;
    return half && s.target.traits.true16 ? Type::b16 : op_info(s.out.op).dst[0];
}

bool decode_vdst(DecodeState& s, uint32_t code, Type type) {
    if (type == Type::sb32) {  // LLVM reads VOP3's eight bits as a source, constants included
        const bool exec = code >= exec_code && op_info(s.out.op).src_count == 1 &&
                          op_info(s.out.op).format == Format::VOP3;  // v_s_*
        if (code >= 128 || code == s.target.traits.scalar_registers.m0 || exec)
            s.out.illegal_operand = true;
        return decode_source(s, code, type, s.out.dst[0],
                             s.out.format == Format::VOP1 || s.target.traits.vop3_literals);
    }
    return decode_vgpr(s, code, type, type_dwords(type), s.out.dst[0]);
}

// Destinations of the 32-bit encodings: the VGPR, then VCC for carry-out; VCC alone for compares.
bool decode_short_dst(DecodeState& s, const OpInfo& info, uint32_t vdst) {
    if (info.dst_count == 0) return vdst == 0;
    if (info.format == Format::VOPC) {
        set_mask(s, writes_exec_alone(s) ? exec_code : vcc_code, s.out.dst[0]);
        return true;
    }
    if (info.dst_count == 2) set_vcc(s, s.out.dst[1]);
    const Type type = result_type(s);
    if (s.is_half(type)) return decode_short_vgpr(s, vdst, type, s.out.dst[0]);
    return decode_vdst(s, vdst, type);
}

bool used(const EncodingInfo& e, unsigned index) {
    return bit(e.v3_used, index);
}

bool decode_sdwa_source(DecodeState& s, uint32_t code, bool scalar, Type type, Operand& out) {
    if (!scalar) return decode_vgpr(s, code, type, 1, out);
    if (code == 255) return false;
    return decode_source(s, code, type, out, false);
}

// Selector and modifiers of one SDWA source. Floats
// have neg and abs, integers sext; the others must be zero.
bool decode_sdwa_modifiers(DecodeState& s, const EncodingInfo& e, uint32_t sel, uint32_t modifiers,
                           unsigned index, Type type) {
    Inst& out = s.out;
    if (sel > 6) return false;
    out.src_sel[index] = static_cast<SdwaSel>(sel);
    const bool sext = bit(modifiers, 0), neg = bit(modifiers, 1), abs = bit(modifiers, 2);
    if (type == Type::pk_f16) return !sext;
    const bool is_float = used(e, v3::abs + index);
    if (is_float ? sext : (neg || abs)) return false;
    out.sext |= static_cast<uint8_t>(sext << index);
    out.neg |= static_cast<uint8_t>(neg << index);
    out.abs |= static_cast<uint8_t>(abs << index);
    return true;
}

bool is_float_type(Type t) {
    return t == Type::f16 || t == Type::f32 || t == Type::f64 || t == Type::bf16 ||
           t == Type::pk_f16 || t == Type::pk_f32;
}

// The dword behind a short encoding.
struct SuffixWord {
    const Layout& layout;
    uint32_t word = 0;

    uint32_t get(Field f) const { return layout.get({&word, 1}, f); }
    bool flag(Field f) const { return get(f) != 0; }
};

bool decode_sdwa(DecodeState& s) {
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const EncodingInfo& e = encoding_info(out.op, s.target.family);
    if (!e.sdwa || !has_layout(s.target.family, Suffix::Sdwa)) return false;
    SuffixWord sdwa{find_layout(s.target.family, Suffix::Sdwa)};
    if (!next_word(s, sdwa.word)) return false;
    out.variant = Variant::Sdwa;
    if (info.src_count == 0) {  // v_nop: modifiers must be zero
        return (sdwa.word & 0xbf3fe000) == 0 && decode_short_dst(s, info, s.get(Field::vdst));
    }
    if (info.format == Format::VOPC) {
        if (sdwa.flag(Field::sd)) {
            if (writes_exec_alone(s) || !decode_sgpr(s, sdwa.get(Field::sdst), Type::mask,
                                                     s.dwords(Type::mask), out.dst[0]))
                return false;
        } else {
            decode_short_dst(s, info, 0);
        }
        out.clamp = !sdwa.layout.has(Field::sdst) && sdwa.flag(Field::clamp);
    } else {
        const uint32_t dst_sel = sdwa.get(Field::dst_sel);
        out.dst_unused = static_cast<uint8_t>(sdwa.get(Field::dst_unused));
        if (!e.sdwa_dst_sel) {
            if (dst_sel != 6) return false;
            out.dst_unused = 0;
        }
        if (dst_sel > 6 || out.dst_unused == 3) return false;
        out.dst_sel = static_cast<SdwaSel>(dst_sel);
        out.clamp = sdwa.flag(Field::clamp);
        out.omod = static_cast<uint8_t>(sdwa.get(Field::omod));
        if (out.omod != 0 && !is_float_type(info.dst[0])) return false;
        if (!decode_short_dst(s, info, s.get(Field::vdst))) return false;
    }
    const bool two = s.layout.format != Format::VOP1;
    if (!decode_sdwa_source(s, sdwa.get(Field::src0), sdwa.flag(Field::s0), info.src[0],
                            out.src[0]) ||
        !decode_sdwa_modifiers(s, e, sdwa.get(Field::sel0), sdwa.get(Field::modifiers0), 0,
                               info.src[0])) {
        return false;
    }
    const uint32_t sel1 = sdwa.get(Field::sel1), modifiers1 = sdwa.get(Field::modifiers1);
    if (!two) return sel1 == 0 && modifiers1 == 0 && !sdwa.flag(Field::s1);
    if (info.src_count > 2) set_vcc(s, out.src[2]);
    return decode_sdwa_source(s, s.get(Field::vsrc1), sdwa.flag(Field::s1), info.src[1],
                              out.src[1]) &&
           decode_sdwa_modifiers(s, e, sel1, modifiers1, 1, info.src[1]);
}

bool legal_dpp_control(const Target& target, uint32_t ctrl, bool wide) {
    const bool newbcast = ctrl >= 0x150 && ctrl <= 0x15f && target.traits.wide_dpp;
    if (wide || newbcast) return newbcast;
    const bool in_row = ctrl <= 0xff || (ctrl >= 0x101 && ctrl <= 0x12f && (ctrl & 0xf) != 0) ||
                        ctrl == 0x140 || ctrl == 0x141;
    if (target.traits.row_share) return in_row || (ctrl >= 0x150 && ctrl <= 0x16f);
    return ctrl <= 0xff || (ctrl >= 0x101 && ctrl <= 0x12f && (ctrl & 0xf) != 0) || ctrl == 0x130 ||
           ctrl == 0x134 || ctrl == 0x138 || ctrl == 0x13c || (ctrl >= 0x140 && ctrl <= 0x143);
}

bool is_dpp8(uint32_t code) {
    return code == dpp8_code || code == dpp8_fi_code;
}

// Whether the instruction has forms with DPP; no operand may be a pair where DPP cannot move pairs.
bool takes_dpp(const DecodeState& s, const OpInfo& info, bool pairs = false) {
    const auto pair = [](Type t) { return t != Type::mask && type_dwords(t) > 1; };
    if (info.format == Format::VOPC ? !s.target.traits.vop3_dpp
                                    : !encoding_info(s.out.op, s.target.family).dpp)
        return false;
    return (pairs && info.format != Format::VOPC) ||
           !(pair(info.dst[0]) || pair(info.src[0]) || pair(info.src[1]) || pair(info.src[2]));
}

// Whether an operand is a half of its register.
bool has_halves(const DecodeState& s, const OpInfo& info) {
    if (info.dst[0] == Type::sb32) return false;  // scalars
    bool any = info.dst_count != 0 && s.is_half(result_type(s));
    for (unsigned i = 0; i < info.src_count; ++i) any = any || s.is_half(source_type(s, i));
    return any;
}

// The operands of a short encoding whose source 0 the word behind it names.
bool decode_dpp_operands(DecodeState& s, const OpInfo& info, uint32_t src0) {
    Inst& out = s.out;
    if (!decode_short_dst(s, info, s.layout.format == Format::VOPC ? 0 : s.get(Field::vdst)))
        return false;
    if (info.src_count == 0) return true;
    if (!decode_short_vgpr(s, src0, source_type(s, 0), out.src[0])) return false;
    if (s.layout.format == Format::VOP1) return true;
    if (info.src_count > 2) set_vcc(s, out.src[2]);
    return decode_short_vgpr(s, s.get(Field::vsrc1), source_type(s, 1), out.src[1]);
}

// The word of DPP8 or DPP; false where it is missing. `src0` becomes the register that it names.
bool read_dpp8(DecodeState& s, uint32_t code, uint32_t& src0) {
    Inst& out = s.out;
    SuffixWord dpp{find_layout(s.target.family, Suffix::Dpp8)};
    if (!next_word(s, dpp.word)) return false;
    out.fetch_invalid = code == dpp8_fi_code;
    out.dpp8_lanes = dpp.get(Field::lanes);
    src0 = dpp.get(Field::src0);
    return true;
}

bool read_dpp(DecodeState& s, SuffixWord& dpp) {
    Inst& out = s.out;
    if (!next_word(s, dpp.word)) return false;
    out.dpp_ctrl = static_cast<uint16_t>(dpp.get(Field::dpp_ctrl));
    out.bound_ctrl = dpp.flag(Field::bound_ctrl);
    out.fetch_invalid = dpp.flag(Field::fi);
    out.bank_mask = static_cast<uint8_t>(dpp.get(Field::bank_mask));
    out.row_mask = static_cast<uint8_t>(dpp.get(Field::row_mask));
    return true;
}

bool decode_dpp8(DecodeState& s, uint32_t code) {
    const OpInfo& info = op_info(s.out.op);
    uint32_t src0 = 0;
    if (!takes_dpp(s, info) || !has_layout(s.target.family, Suffix::Dpp8) ||
        !read_dpp8(s, code, src0))
        return false;
    s.out.variant = Variant::Dpp8;
    return decode_dpp_operands(s, info, src0);
}

bool decode_dpp(DecodeState& s) {
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const EncodingInfo& e = encoding_info(out.op, s.target.family);
    if (!has_layout(s.target.family, Suffix::Dpp)) return false;
    SuffixWord dpp{find_layout(s.target.family, Suffix::Dpp)};
    if (!takes_dpp(s, info, s.target.traits.dpp_pairs) || !read_dpp(s, dpp)) return false;
    out.variant = Variant::Dpp;
    const bool carry = info.dst_count == 2;
    for (unsigned i = 0; i < 2; ++i) {
        const uint32_t modifiers = dpp.get(i == 0 ? Field::modifiers0 : Field::modifiers1);
        const bool neg = bit(modifiers, 0), abs = bit(modifiers, 1);
        if (used(e, v3::abs + i)) {
            out.neg |= static_cast<uint8_t>(neg << i);
            out.abs |= static_cast<uint8_t>(abs << i);
        } else if (i < info.src_count && has_halves(s, info)) {
            continue;
        } else if ((neg && (carry || bit(e.v3_zero, v3::neg + i))) ||
                   (abs && (carry || bit(e.v3_zero, v3::abs + i)))) {
            return false;
        }
    }
    const bool pair = type_dwords(info.src[0]) == 2 || type_dwords(info.dst[0]) == 2;
    const bool wide = pair && info.src_count != 0 && s.target.traits.wide_dpp;
    if (!legal_dpp_control(s.target, out.dpp_ctrl, wide)) out.illegal_operand = true;
    return decode_dpp_operands(s, info, dpp.get(Field::src0));
}

// v_madmk and v_madak: the constant is the dword after the instruction and may also be source 0.
bool decode_inline_k(DecodeState& s, const OpInfo& info, InlineK k) {
    Inst& out = s.out;
    // K of f64 has 64 bits, of f16 the low half counts.
    const unsigned k_at = k == InlineK::Mk ? 1 : 2;
    const uint32_t code = info.src[1] == Type::f64 ? literal_64_code : literal_code;
    return decode_source(s, code, info.src[1], out.src[k_at], true) &&
           decode_short_dst(s, info, s.get(Field::vdst)) &&
           decode_short_source(s, s.get(Field::src0), info.src[0], out.src[0]) &&
           decode_short_vgpr(s, s.get(Field::vsrc1), info.src[1], out.src[3 - k_at]);
}

}  // namespace

bool decode_vop1(DecodeState& s) {
    const Opcode op = opcode<Format::VOP1>(s);
    if (!begin(s, op)) return false;
    const uint32_t code = s.get(Field::src0);
    const EncodingInfo& e = encoding_info(op, s.target.family);
    const bool sdwa = code == sdwa_code && e.sdwa;
    if (sdwa || (code == dpp_code && e.dpp)) {
        if (sdwa ? decode_sdwa(s) : decode_dpp(s)) return true;
        if (op != Opcode::v_nop) return false;
        s.out = Inst{};  // v_nop ignores its source field, so the first word is one by itself
        s.out.words[0] = s.words[0];
        s.length = 1;
        return begin(s, op) && decode_short_dst(s, op_info(op), s.get(Field::vdst));
    }
    if (is_dpp8(code) && has_layout(s.target.family, Suffix::Dpp8) && e.dpp && decode_dpp8(s, code))
        return true;
    const OpInfo& info = op_info(op);
    if (op == Opcode::v_accvgpr_mov_b32) {
        if (code < 256) s.out.illegal_operand = true;
        return decode_agpr(s, s.get(Field::vdst), Type::b32, 1, s.out.dst[0]) &&
               (code < 256 ? decode_source(s, code, Type::b32, s.out.src[0], true, Slot::Vector)
                           : decode_agpr(s, code - 256, Type::b32, 1, s.out.src[0]));
    }
    if (!decode_short_dst(s, info, s.get(Field::vdst))) return false;
    if (info.src_count == 0) return true;
    return decode_short_source(s, code, source_type(s, 0), s.out.src[0], source_slot(op, 0));
}

bool decode_vop2(DecodeState& s) {
    const Opcode op = opcode<Format::VOP2>(s);
    if (!begin(s, op)) return false;
    const uint32_t code = s.get(Field::src0);
    if (code == sdwa_code) return decode_sdwa(s);
    if (code == dpp_code) return decode_dpp(s);
    if (is_dpp8(code)) return decode_dpp8(s, code);
    const OpInfo& info = op_info(op);
    const InlineK k = encoding_info(op, s.target.family).k;
    if (k != InlineK::None) return decode_inline_k(s, info, k);
    if (info.src_count > 2) set_vcc(s, s.out.src[2]);
    return decode_short_dst(s, info, s.get(Field::vdst)) &&
           decode_short_source(s, code, info.src[0], s.out.src[0], source_slot(op, 0)) &&
           (source_slot(op, 1) == Slot::Scalar  // the lane of v_readlane and v_writelane
                ? decode_source(s, s.get(Field::vsrc1), info.src[1], s.out.src[1], false,
                                Slot::Scalar)
                : decode_short_vgpr(s, s.get(Field::vsrc1), info.src[1], s.out.src[1]));
}

bool decode_vopc(DecodeState& s) {
    const Opcode op = opcode<Format::VOPC>(s);
    if (!begin(s, op)) return false;
    const uint32_t code = s.get(Field::src0);
    if (code == sdwa_code) return decode_sdwa(s);
    if (code == dpp_code) return decode_dpp(s);
    if (is_dpp8(code)) return decode_dpp8(s, code);
    const OpInfo& info = op_info(op);
    return decode_short_dst(s, info, 0) &&
           decode_short_source(s, code, info.src[0], s.out.src[0]) &&
           decode_short_vgpr(s, s.get(Field::vsrc1), source_type(s, 1), s.out.src[1]);
}

namespace {

constexpr uint32_t op_sel_bits = 15u << v3::op_sel;

// ABS and NEG of the sources, which instructions with halves ignore where they have no meaning.
uint32_t source_modifiers(const OpInfo& info) {
    uint32_t sources = (1u << info.src_count) - 1;
    for (unsigned i = 0; i < info.src_count; ++i)
        if (info.src[i] == Type::mask) sources &= ~(1u << i);
    return sources << v3::abs | sources << v3::neg;
}

// OP_SEL's bits where it names halves: those of operands of 16 bits. 0 where the row says which.
uint32_t half_bits(const DecodeState& s, const OpInfo& info, const EncodingInfo& e) {
    if (((e.v3_used | e.v3_zero) & op_sel_bits) != 0 || !has_halves(s, info)) return 0;
    uint32_t bits = 0;
    for (unsigned i = 0; i < info.src_count; ++i)
        bits |= uint32_t{s.is_half(source_type(s, i))} << (v3::op_sel + i);
    return bits | uint32_t{s.is_half(result_type(s))} << (v3::op_sel + 3);
}

}  // namespace

bool is_dpp_word(const DecodeState& s, uint32_t code) {
    return s.target.traits.vop3_dpp && (code == dpp_code || is_dpp8(code));
}

// VOP3 with DPP: a third dword names source 0 and where its lanes come from.
bool decode_vop3_dpp(DecodeState& s, const OpInfo& info, uint32_t code) {
    Inst& out = s.out;
    uint32_t src0 = 0;
    if (is_dpp8(code)) {
        out.variant = Variant::E64Dpp8;
        if (!read_dpp8(s, code, src0)) return false;
    } else {
        out.variant = Variant::E64Dpp;
        SuffixWord dpp{find_layout(s.target.family, Suffix::Dpp)};
        if (!read_dpp(s, dpp)) return false;
        src0 = dpp.get(Field::src0);
        if (!legal_dpp_control(s.target, out.dpp_ctrl, false)) out.illegal_operand = true;
    }
    return decode_vgpr(s, src0, source_type(s, 0), type_dwords(info.src[0]), out.src[0]);
}

bool decode_vop3(DecodeState& s) {
    const Opcode op = opcode<Format::VOP3>(s);
    if (!begin(s, op)) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(op);
    const EncodingInfo& e = encoding_info(op, s.target.family);
    if (info.format != Format::VOP3 || has_short_form(op, s.target.family))
        out.variant = Variant::E64;

    uint32_t modifiers = v3_modifiers(s);
    const uint32_t halves = half_bits(s, info, e), clamp_bit = 1u << v3::clamp;
    uint32_t zero = e.v3_zero | (halves != 0 ? ~halves & op_sel_bits : 0u);
    if (s.layout.place(Field::clamp).low < 15) {           // gfx7-: of floats alone
        if (info.dst_count == 2) modifiers &= ~clamp_bit;  // a bit of SDST stands there
        if (!is_float_type(info.dst[0])) zero |= clamp_bit;
    }
    if (has_halves(s, info)) zero &= ~source_modifiers(info);
    if ((modifiers & zero) != 0) return false;
    const uint32_t present = modifiers & (e.v3_used | halves);
    out.abs = static_cast<uint8_t>(field(present, v3::abs, 3));
    out.op_sel = static_cast<uint8_t>(field(present, v3::op_sel, 4));
    out.clamp = bit(present, v3::clamp);
    out.omod = static_cast<uint8_t>(field(present, v3::omod, 2));
    out.neg = static_cast<uint8_t>(field(present, v3::neg, 3));
    if (op == Opcode::v_bitop3_b16 || op == Opcode::v_bitop3_b32) {
        out.bitop3 = static_cast<uint8_t>(out.neg | out.abs << 3 | out.omod << 6);
        out.neg = out.abs = out.omod = 0;
    } else if (op == Opcode::v_permlane16_swap_b32 || op == Opcode::v_permlane32_swap_b32) {
        out.fetch_invalid = bit(out.op_sel, 0);
        out.bound_ctrl = bit(out.op_sel, 1);
        out.op_sel = 0;
    }
    if (e.scale_select) {
        out.scale_select = out.op_sel;
        out.op_sel = 0;
    }
    if (encoding_info(op, s.target.family).interp) return decode_vop3_interp(s);

    const bool dpp_word = info.src_count != 0 && is_dpp_word(s, s.get(Field::src0));
    if (dpp_word && (!takes_dpp(s, info) || !decode_vop3_dpp(s, info, s.get(Field::src0))))
        return false;
    const uint32_t vdst = s.get(Field::vdst);
    if (info.dst_count == 0) {
        if (vdst != 0) return false;
    } else if (writes_exec_alone(s)) {
        set_mask(s, exec_code, out.dst[0]);
    } else if (info.dst[0] == Type::mask) {
        // LLVM reads the eight bits as a source, so it also prints constants as destination.
        if (vdst >= 128) out.illegal_operand = true;
        if (!decode_source(s, vdst, Type::mask, out.dst[0], s.target.traits.vop3_literals))
            return false;
    } else if (!decode_vdst(s, vdst, result_type(s))) {
        return false;
    }
    if (info.dst_count == 2 &&
        !decode_sgpr(s, s.get(Field::sdst), Type::mask, s.dwords(Type::mask), out.dst[1])) {
        return false;
    }
    set_half(s, 3, out.dst[0]);
    for (unsigned i = 0; i < 3; ++i) {
        if (i >= info.src_count) break;  // the fields of missing sources are ignored
        const uint32_t code = s.get(v3_sources[i]);
        Slot slot = source_slot(op, i);
        if (type_dwords(info.src[i]) > 2) slot = Slot::Vector;
        if (e.scale_select && i == 0) slot = Slot::VgprOnly;
        if (info.format == Format::VOP3 && info.dst[0] == Type::sb32 &&
            op != Opcode::v_readlane_b32)
            slot = Slot::Scalar;  // v_s_*
        if (info.src[i] == Type::mask) {
            slot = Slot::Scalar;
            if (code >= 128) out.illegal_operand = true;
        }
        if ((i != 0 || !dpp_word) && !decode_source(s, code, source_type(s, i), out.src[i],
                                                    s.target.traits.vop3_literals, slot))
            return false;
        if (dpp_word && i == 1 && code < 256 && !s.target.traits.dpp_scalar_source)
            out.illegal_operand = true;
        if (slot != Slot::Scalar) set_half(s, i, out.src[i]);
    }
    // LLVM reads a literal beside the word of DPP, which the hardware does not.
    if (dpp_word && s.has_literal) out.illegal_operand = true;
    return true;
}

}  // namespace wj
