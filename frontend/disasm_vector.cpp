#include <algorithm>
#include <array>
#include <span>

#include "frontend/disasm_formats.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/layout.h"

namespace wj {
namespace {

constexpr std::array<std::string_view, 8> sel_names{"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                    "WORD_0", "WORD_1", "DWORD",  ""};
constexpr std::array<std::string_view, 4> unused_names{"UNUSED_PAD", "UNUSED_SEXT",
                                                       "UNUSED_PRESERVE", ""};

bool set(uint32_t bits, unsigned i) {
    return (bits >> i & 1) != 0;
}

bool is_constant(const Operand& operand) {
    return operand.is(Operand::Kind::Const) || operand.is(Operand::Kind::Literal);
}

// neg(1.0) but -v0 and -|1.0|: a minus before a constant would be part of it.
void append_modified(Text& t, Operand operand, bool neg, bool abs, bool sext) {
    // LLVM takes the exponent for a float here, which shows in the constants only.
    if (t.inst.op == Opcode::v_ldexp_f16) operand.type = Type::f16;
    if (operand.is(Operand::Kind::Literal) && operand.reg == 255 &&
        encoding_info(t.inst.op, t.target.family).splat) {
        append_splat_literal(t.out, static_cast<uint32_t>(t.literal() >> 32));
        return;
    }
    std::string body;
    append_operand(body, t.target, operand, t.literal());
    const bool neg_call = neg && !abs && is_constant(operand) && body.substr(0, 4) != "lit(";
    if (sext) t.out += "sext(";
    if (neg) t.out += neg_call ? "neg(" : "-";
    if (abs) t.out += '|';
    t.out += body;
    if (abs) t.out += '|';
    if (neg_call) t.out += ')';
    if (sext) t.out += ')';
}

void append_list(Text& t, const char* name, uint32_t bits, unsigned count) {
    t.out += name;
    for (unsigned i = 0; i < count; ++i) {
        if (i != 0) t.out += ',';
        t.out += set(bits, i) ? '1' : '0';
    }
    t.out += ']';
}

void append_output_modifiers(Text& t) {
    if (t.inst.clamp) t.out += " clamp";
    constexpr std::array<const char*, 4> omods{"", " mul:2", " mul:4", " div:2"};
    t.out += omods[t.inst.omod & 3];
}

void append_sdwa(Text& t, const OpInfo& info) {
    const Inst& i = t.inst;
    if (info.format != Format::VOPC && encoding_info(i.op, t.target.family).sdwa_dst_sel) {
        t.out += " dst_sel:";
        t.out += sel_names[static_cast<unsigned>(i.dst_sel) & 7];
        t.out += " dst_unused:";
        t.out += unused_names[i.dst_unused & 3];
    }
    t.out += " src0_sel:";
    t.out += sel_names[static_cast<unsigned>(i.src_sel[0]) & 7];
    if (info.format == Format::VOP1) return;
    t.out += " src1_sel:";
    t.out += sel_names[static_cast<unsigned>(i.src_sel[1]) & 7];
}

void append_dpp(Text& t) {
    const Inst& i = t.inst;
    t.out += ' ';
    const bool wide = i.src[0].dwords == 2 || i.dst[0].dwords == 2;
    append_dpp_control(t.out, i.dpp_ctrl, t.target, wide && t.target.traits.wide_dpp);
    t.out += " row_mask:";
    append_hex(t.out, i.row_mask);
    t.out += " bank_mask:";
    append_hex(t.out, i.bank_mask);
    if (i.bound_ctrl) t.out += " bound_ctrl:1";
    if (i.fetch_invalid) t.out += " fi:1";
}

void append_dpp8(Text& t) {
    t.out += " dpp8:[";
    for (unsigned lane = 0; lane < 8; ++lane) {
        if (lane != 0) t.out += ',';
        append_decimal(t.out, t.inst.dpp8_lanes >> (3 * lane) & 7);
    }
    t.out += ']';
    if (t.inst.fetch_invalid) t.out += " fi:1";
}

void append_lanes(Text& t) {
    const Variant v = t.inst.variant;
    if (v == Variant::Dpp || v == Variant::E64Dpp) append_dpp(t);
    if (v == Variant::Dpp8 || v == Variant::E64Dpp8) append_dpp8(t);
}

// K of v_fmaak and its like: a wide one as the assembler takes it.
void append_constant_k(Text& t, const Operand& k) {
    const uint64_t bits = t.literal(), high = bits >> 32;
    const bool wide = k.type == Type::f64;
    if (wide && high == 0) t.out += "lit64(";
    append_hex(t.out, wide && (high == 0 || static_cast<uint32_t>(bits) != 0) ? bits : high);
    if (wide && high == 0) t.out += ')';
}

void append_truth_table(Text& t) {
    const uint8_t bits = t.inst.bitop3;
    if (bits == 0) return;
    t.out += " bitop3:";
    if (bits <= 10) {
        append_decimal(t.out, bits);
    } else {
        append_hex(t.out, bits);
    }
}

void append_mnemonic(Text& t, const OpInfo& info) {
    constexpr std::string_view vop3_suffix = "_vop3";
    std::string_view name = t.name();
    if (name.size() > vop3_suffix.size() &&
        name.substr(name.size() - vop3_suffix.size()) == vop3_suffix) {
        name.remove_suffix(vop3_suffix.size());  // v_mul_legacy_f32, which lost its VOP2 form
    }
    t.out += name;
    if (info.dst_count + info.src_count == 0) return;  // v_nop
    if (encoding_info(t.inst.op, t.target.family).plain_name && !is_dpp(t.inst.variant)) return;
    switch (t.inst.variant) {
        case Variant::E64:
            if (has_short_form(t.inst.op, t.target.family)) t.out += "_e64";
            break;
        case Variant::Sdwa:  // LLVM leaves it out for gfx8's compares
            if (info.format != Format::VOPC ||
                find_layout(t.target.family, Suffix::Sdwa).has(Field::sd))
                t.out += "_sdwa";
            break;
        case Variant::Dpp:
        case Variant::Dpp8:  // and compares of gfx11
            if (info.format != Format::VOPC) t.out += "_dpp";
            break;
        case Variant::E64Dpp:
        case Variant::E64Dpp8:
            t.out += "_e64_dpp";
            break;
        case Variant::Base: {
            const Format encoded = find_layout(t.target.family, t.inst.words[0])->format;
            if (info.format == Format::VOPC ||
                ((encoded == Format::VOP1 || encoded == Format::VOP2) &&
                 encoding_info(t.inst.op, t.target.family).e64 && info.dst[0] != Type::sb32)) {
                t.out += "_e32";
            }
            break;
        }
    }
}

}  // namespace

void print_vector(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    const EncodingInfo& e = encoding_info(i.op, t.target.family);
    append_mnemonic(t, info);
    const char* separator = " ";
    const bool hidden_exec =
        t.target.traits.cmpx_writes_exec && effects(i.op).exec != ExecChange::None;
    for (const Operand& dst : i.dst) {
        if (!dst.present() || hidden_exec) continue;
        t.out += separator;
        t.operand(dst);
        separator = ", ";
    }
    for (unsigned n = 0; n < info.src_count; ++n) {
        t.out += separator;
        if (e.k != InlineK::None && n == (e.k == InlineK::Mk ? 1u : 2u)) {
            append_constant_k(t, i.src[n]);
            separator = ", ";
            continue;
        }
        append_modified(t, i.src[n], set(i.neg, n), set(i.abs, n), set(i.sext, n));
        separator = ", ";
    }
    append_truth_table(t);
    if (i.variant == Variant::E64) {  // v_permlane16_swap
        t.flag(" bound_ctrl:1", i.bound_ctrl);
        t.flag(" fi:1", i.fetch_invalid);
    }
    t.number(" scale_sel:", i.scale_select);
    if (e.byte_select != 0) {
        const bool source = e.byte_select == 1;  // halves of the others
        const uint32_t halves = source ? (i.op_sel >> 3 & 1u) << info.src_count : i.op_sel & 3u;
        if (halves != 0 && (is_vop3(i.variant) || info.format == Format::VOP3))
            append_list(t, " op_sel:[", halves, info.src_count + 1);
        const uint32_t bits = e.byte_select == 1 ? i.op_sel : i.op_sel >> 3 | (i.op_sel >> 1 & 2);
        t.number(" byte_sel:", (bits & 1) << 1 | (bits >> 1 & 1));
    }
    const bool vop3_word =
        (is_vop3(i.variant) || info.format == Format::VOP3) && e.byte_select == 0;
    if (vop3_word && i.op_sel != 0 && i.op != Opcode::v_cndmask_b16) {
        // Some rows have a hidden third source (the old destination), which the list counts.
        const bool permlane = t.name().starts_with("v_permlane");
        const bool dpp_compare = is_dpp(i.variant) && info.format == Format::VOPC;
        const bool third = set(e.v3_used, v3::op_sel + 2) || i.op == Opcode::v_fmac_f16;
        const unsigned count = third ? 3 : info.src_count;
        const uint32_t bits =
            (i.op_sel & ((1u << count) - 1)) | static_cast<uint32_t>(i.op_sel >> 3 & 1) << count;
        append_list(t, " op_sel:[", bits, permlane || hidden_exec || dpp_compare ? 2 : count + 1);
    }
    append_output_modifiers(t);
    if (i.variant == Variant::Sdwa && info.src_count > 0) append_sdwa(t, info);
    append_lanes(t);
}

namespace {

void print_matrix(Text& t, const OpInfo& info) {
    const Inst& i = t.inst;
    t.out += t.name();
    t.out += ' ';
    t.operand(i.dst[0]);
    for (unsigned n = 0; n < 3; ++n) {
        t.out += ", ";
        t.operand(i.src[n]);
    }
    if (i.src[3].present()) {
        t.out += ", ";
        t.operand(i.src[3]);
        t.out += ", ";
        t.operand(i.src[4]);
        if (i.op_sel != 0) append_list(t, " op_sel:[", i.op_sel, 3);
        append_list(t, " op_sel_hi:[", i.op_sel_hi, 3);
    }
    t.number(" cbsz:", i.cbsz);
    t.number(" abid:", i.abid);
    // From gfx940 on BLGP of the f64 products negates operands.
    const bool f64_neg = info.src[0] == Type::f64 && t.target.traits.memory_scopes;
    if (f64_neg && i.blgp != 0) {
        append_list(t, " neg:[", i.blgp, 3);
    } else {
        t.number(" blgp:", i.blgp);
    }
}

}  // namespace

namespace {

// Of a product in a wave, as LLVM has it: shows in constants and literals.
Type sum_type(const Text& t) {
    const bool rdna4 = t.target.traits.rdna4_products;
    const bool packed = encoding_info(t.inst.op, t.target.family).packed == PackedClass::WmmaPacked;
    if (!rdna4) return t.inst.dst[0].dwords == 8 ? Type::f64 : Type::f32;
    if (!packed) return Type::f32;
    return t.name().starts_with("v_wmma_bf16") ? Type::bf16 : Type::f16;
}

// gfx12.5: formats of A and B, where their scales are, and whether they are kept.
void append_matrix_formats(Text& t, PackedClass packed) {
    constexpr std::array<std::string_view, 5> formats{"FP8", "BF8", "FP6", "BF6", "FP4"};
    constexpr std::array<std::string_view, 3> scales{"E8", "E5M3", "E4M3"};
    const Inst& i = t.inst;
    const auto named = [&](const char* name, const char* prefix, uint32_t value,
                           std::span<const std::string_view> names) {
        if (value == 0) return;
        t.out += name;
        if (value < names.size()) {
            t.out += prefix;
            t.out += names[value];
        } else {
            append_decimal(t.out, value);
        }
    };
    if (packed == PackedClass::WmmaScaled) {
        named(" matrix_a_fmt:", "MATRIX_FMT_", i.cbsz, formats);
        named(" matrix_b_fmt:", "MATRIX_FMT_", i.blgp, formats);
    }
    t.flag(" matrix_a_scale:MATRIX_SCALE_ROW1", set(i.scale_rows, 0));
    t.flag(" matrix_b_scale:MATRIX_SCALE_ROW1", set(i.scale_rows, 1));
    named(" matrix_a_scale_fmt:", "MATRIX_SCALE_FMT_", i.scale_formats[0], scales);
    named(" matrix_b_scale_fmt:", "MATRIX_SCALE_FMT_", i.scale_formats[1], scales);
    t.flag(" matrix_a_reuse", set(i.matrix_reuse, 0));
    t.flag(" matrix_b_reuse", set(i.matrix_reuse, 1));
}

}  // namespace

void print_vop3p(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    const PackedClass packed = encoding_info(i.op, t.target.family).packed;
    if (packed == PackedClass::Mfma || packed == PackedClass::MfmaScaled ||
        packed == PackedClass::Smfmac) {
        print_matrix(t, info);
        return;
    }
    t.out += t.name();
    if (is_dpp(i.variant)) t.out += "_e64_dpp";
    const char* separator = " ";
    if (i.dst[0].present()) {
        t.out += separator;
        t.operand(i.dst[0]);
        separator = ", ";
    }
    const bool mix = packed == PackedClass::Mix;
    const bool wmma = is_wave_product(packed), sparse = is_sparse(packed);
    const bool rdna4 = t.target.traits.rdna4_products;
    const unsigned count = std::min<unsigned>(info.src_count, 3);  // scales are counted apart
    for (unsigned n = 0; n < count; ++n) {
        t.out += separator;
        separator = ", ";
        if (mix) {
            Operand source = i.src[n];
            source.type = Type::f16;  // as LLVM has it: shows in the literals it prints on gfx950
            append_modified(t, source, set(i.neg, n), set(i.abs, n), false);
        } else if (wmma && !sparse && n == 2 && is_constant(i.src[n])) {
            Operand source = i.src[n];
            source.type = sum_type(t);
            t.operand(source);
        } else {
            t.operand(i.src[n]);
        }
    }
    if (packed == PackedClass::AccRead || packed == PackedClass::AccWrite) return;
    for (unsigned n = 3; n < 5 && wmma && i.src[n].present(); ++n) {  // scales
        t.out += ", ";
        t.operand(i.src[n]);
    }
    if (sparse) t.number(" index_key:", i.op_sel);
    append_matrix_formats(t, packed);
    const bool has_selectors = packed != PackedClass::WmmaLdScale && packed != PackedClass::Dot &&
                               packed != PackedClass::DotSmall &&
                               !(wmma && (rdna4 || packed != PackedClass::WmmaPacked));
    if (has_selectors) {
        const uint32_t mask = (1u << count) - 1;
        const uint32_t default_hi = mix ? 0 : mask;
        if ((i.op_sel & mask) != 0) append_list(t, " op_sel:[", i.op_sel, count);
        if ((i.op_sel_hi & mask) != default_hi) append_list(t, " op_sel_hi:[", i.op_sel_hi, count);
    }
    if (!mix) {
        if (i.neg != 0) append_list(t, " neg_lo:[", i.neg, count);
        if (i.neg_hi != 0) append_list(t, " neg_hi:[", i.neg_hi, count);
    }
    if (i.clamp) t.out += " clamp";
    append_lanes(t);
}

namespace {

void append_attribute(Text& t) {
    t.out += "attr";
    append_decimal(t.out, t.inst.attr);
    t.out += '.';
    t.out += "xyzw"[t.inst.attr_chan & 3];
}

void append_slot(Text& t, uint64_t slot) {
    constexpr std::array<const char*, 3> names{"p10", "p20", "p0"};
    if (slot < names.size()) {
        t.out += names[slot];
    } else {
        t.out += "invalid_param_";
        append_decimal(t.out, static_cast<int64_t>(slot));
    }
}

}  // namespace

void print_interp(Text& t) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(i.op);
    t.out += t.name();
    if (info.format == Format::VOP3 && info.name.find("f32") != std::string_view::npos) {
        t.out += "_e64";
    }
    t.out += ' ';
    t.operand(i.dst[0]);
    t.out += ", ";
    if (i.src[0].is(Operand::Kind::Imm)) {
        append_slot(t, i.src[0].value);
    } else {
        append_modified(t, i.src[0], set(i.neg, 1), set(i.abs, 1), false);
    }
    t.out += ", ";
    append_attribute(t);
    if (i.src[1].present()) {
        t.out += ", ";
        append_modified(t, i.src[1], set(i.neg, 2), set(i.abs, 2), false);
    }
    if (i.attr_high) t.out += " high";
    append_output_modifiers(t);
    if (i.op == Opcode::v_interp_p2_f16 && i.op_sel != 0) append_list(t, " op_sel:[", i.op_sel, 4);
}

void print_vinterp(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    t.out += ' ';
    t.operand(i.dst[0]);
    for (unsigned n = 0; n < 3; ++n) {
        t.out += ", ";
        append_modified(t, i.src[n], set(i.neg, n), false, false);
    }
    if (i.clamp) t.out += " clamp";
    if (i.op_sel != 0) append_list(t, " op_sel:[", i.op_sel, 4);
    t.out += " wait_exp:";
    append_decimal(t.out, i.wait_exp);
}

void print_ldsdir(Text& t) {
    t.out += t.name();
    t.out += ' ';
    t.operand(t.inst.dst[0]);
    if (t.inst.op == Opcode::lds_param_load) {
        t.out += ", ";
        append_attribute(t);
    }
    const bool both = find_layout(t.target.family, t.inst.words[0])->has(Field::wait_vsrc);
    t.out += both ? " wait_va_vdst:" : " wait_vdst:";
    append_decimal(t.out, t.inst.wait_vdst);
    if (!both) return;
    t.out += " wait_vm_vsrc:";
    append_decimal(t.out, t.inst.wait_vsrc);
}

namespace {

// With three sources (VOPD3): signs, and a lane mask or a truth table.
void append_dual3_half(Text& t, Opcode op, unsigned dst, unsigned src) {
    const Inst& i = t.inst;
    t.out += op_name(op, t.target.family);
    t.out += ' ';
    t.operand(i.dst[dst]);
    for (unsigned n = src; n < src + op_info(op).src_count; ++n) {
        t.out += ", ";
        append_modified(t, i.src[n], set(i.neg, n), false, false);
    }
    if (op == Opcode::v_dual_bitop2_b32) append_truth_table(t);
}

void append_dual_half(Text& t, Opcode op, unsigned dst, unsigned src) {
    const Inst& i = t.inst;
    const OpInfo& info = op_info(op);
    const InlineK k = encoding_info(op, t.target.family).k;
    t.out += op_name(op, t.target.family);
    t.out += ' ';
    t.operand(i.dst[dst]);
    for (unsigned n = 0; n < info.src_count; ++n) {
        if (info.src[n] == Type::mask) continue;  // VCC goes without saying
        t.out += ", ";
        if (k != InlineK::None && n == (k == InlineK::Mk ? 1u : 2u))
            append_hex(t.out, i.words[2]);
        else
            t.operand(i.src[src + n]);
    }
}

}  // namespace

void print_vopd(Text& t) {
    const auto append = t.inst.variant == Variant::E64 ? append_dual3_half : append_dual_half;
    append(t, t.inst.op, 0, 0);
    t.out += " :: ";
    append(t, t.inst.op_y, 1, 3);
}

void print_export(Text& t) {
    const Inst& i = t.inst;
    t.out += t.name();
    t.out += ' ';
    append_export_target(t.out, i.exp_target, t.target);
    for (unsigned n = 0; n < 4; ++n) {
        t.out += n == 0 ? " " : ", ";
        if (set(i.exp_enable, n)) {
            t.operand(i.src[i.exp_compressed ? n / 2 : n]);
        } else {
            t.out += "off";
        }
    }
    if (i.exp_done) t.out += " done";
    if (i.exp_compressed) t.out += " compr";
    if (i.exp_vm) t.out += " vm";
    if (i.exp_row) t.out += " row_en";
}

}  // namespace wj
