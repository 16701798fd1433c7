#include <algorithm>

#include "frontend/decode_formats.h"
#include "frontend/effects.h"
#include "frontend/encoding.h"

// VOP3P (packed math, dot products, matrix operations), interpolation and exports.

namespace wj {
namespace {

// Which of the 13 modifier bits (numbered as v3:: does, op_sel_hi in place of omod) are used and
// which must be zero, per class and number of sources.
struct PackedBits {
    uint16_t used, zero;
};

// The same of gfx12's products in a wave. Bits without a meaning must be 0.
PackedBits wave_product_bits(PackedClass packed, unsigned index_bits) {
    constexpr uint32_t both = 3u << v3::abs | 3u << v3::neg, sum = 4u << v3::abs | 4u << v3::neg;
    constexpr uint32_t integer = 3u << v3::neg | 1u << v3::clamp;
    uint32_t used = both | sum;
    if (packed == PackedClass::WmmaInt || packed == PackedClass::SwmmacInt) used = integer;
    if (packed == PackedClass::WmmaSmall || packed == PackedClass::WmmaScaled) used = sum;
    if (packed == PackedClass::WmmaF32) used = sum | 3u << v3::neg;
    if (packed == PackedClass::Swmmac) used = both;
    if (packed == PackedClass::SwmmacSmall) used = 0;
    used |= ((1u << index_bits) - 1) << v3::op_sel;
    constexpr uint32_t all = (1u << v3::count) - 1, op_sel_hi = 8u << v3::op_sel | 3u << v3::omod;
    return {static_cast<uint16_t>(used), static_cast<uint16_t>(all & ~used & ~op_sel_hi)};
}

// How many bits select the part of the register that has a sparse matrix's indices.
unsigned index_bits(const DecodeState& s, PackedClass packed) {
    if (!is_sparse(packed)) return 0;
    const unsigned wide = s.target.traits.wave_size == 64 ? 1 : 0;
    if (s.out.op == Opcode::v_swmmac_i32_16x16x64_iu4) return wide;
    return s.out.op == Opcode::v_swmmac_i32_16x16x32_iu4 ? 1 : 1 + wide;
}

PackedBits packed_bits(PackedClass packed, unsigned sources) {
    const uint32_t per_source = (1u << sources) - 1;
    const uint32_t missing = 7u & ~per_source;
    const uint32_t lists = per_source << v3::abs | per_source << v3::neg;
    const uint32_t lists_zero = missing << v3::abs | missing << v3::neg;
    switch (packed) {
        case PackedClass::DotSmall:
            return {static_cast<uint16_t>(4u << v3::abs | 4u << v3::neg),
                    static_cast<uint16_t>(3u << v3::abs | 3u << v3::neg | 7u << v3::op_sel |
                                          1u << v3::clamp)};
        case PackedClass::Dot:
        case PackedClass::WmmaInt:
            return {static_cast<uint16_t>(lists | 1u << v3::clamp),
                    static_cast<uint16_t>(7u << v3::op_sel)};
        case PackedClass::AccRead:
        case PackedClass::AccWrite:
            return {0, 0x1c3f};
        case PackedClass::PackedPlain:
            return {15u << v3::op_sel | 1u << v3::clamp | 3u << v3::omod, 0};
        case PackedClass::Wmma:
            return {static_cast<uint16_t>(lists),
                    static_cast<uint16_t>(7u << v3::op_sel | 1u << v3::clamp)};
        case PackedClass::LdScale:
            return {static_cast<uint16_t>(3u << v3::op_sel | 3u << v3::omod),
                    static_cast<uint16_t>(4u << v3::abs | 4u << v3::op_sel | 4u << v3::neg)};
        case PackedClass::WmmaPacked:
            return {static_cast<uint16_t>(lists | 15u << v3::op_sel | 3u << v3::omod),
                    static_cast<uint16_t>(1u << v3::clamp)};
        default:
            return {static_cast<uint16_t>(lists | per_source << v3::op_sel |
                                          (sources == 3 ? 8u << v3::op_sel : 0) | 1u << v3::clamp |
                                          3u << v3::omod),
                    static_cast<uint16_t>(lists_zero | missing << v3::op_sel)};
    }
}

bool decode_packed_modifiers(DecodeState& s, PackedClass packed, unsigned sources) {
    Inst& out = s.out;
    uint32_t modifiers = s.get(Field::neg_hi) << v3::abs | s.get(Field::op_sel) << v3::op_sel |
                         s.get(Field::op_sel_hi2) << (v3::op_sel + 3) |
                         s.get(Field::clamp) << v3::clamp | s.get(Field::op_sel_hi) << v3::omod |
                         s.get(Field::neg) << v3::neg;
    const bool rdna4 = s.target.traits.rdna4_products;
    const bool product = is_wave_product(packed);
    const PackedBits bits = rdna4 && product ? wave_product_bits(packed, index_bits(s, packed))
                                             : packed_bits(packed, sources);
    const EncodingInfo& encoding = encoding_info(out.op, s.target.family);
    if (encoding.matrix_reuse) {
        out.matrix_reuse =
            static_cast<uint8_t>(s.get(Field::op_sel) >> 2 | s.get(Field::op_sel_hi2) << 1);
        modifiers &= ~(4u << v3::op_sel);
    }
    if (packed == PackedClass::WmmaScaled) {  // formats of A and B
        out.cbsz = static_cast<uint8_t>(s.get(Field::op_sel));
        out.blgp = static_cast<uint8_t>(s.get(Field::op_sel_hi) | s.get(Field::op_sel_hi2) << 2);
        modifiers &= ~(7u << v3::op_sel);
    }
    // gfx12 has no OP_SEL_HI where halves are not selected.
    const bool no_selector =
        (product && packed != PackedClass::WmmaScaled) || packed == PackedClass::DotSmall;
    if (rdna4 && no_selector &&
        (s.get(Field::op_sel_hi) != 3 || (!encoding.matrix_reuse && s.get(Field::op_sel_hi2) != 1)))
        return false;
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

// Dwords of an A or B operand of gfx950's f8f6f4 instructions, by its format (CBSZ, BLGP): fp8 and
// bf8 take eight, fp6 and bf6 six, fp4 four.
uint32_t f8f6f4_dwords(uint32_t format) {
    return format == 4 ? 4 : format == 2 || format == 3 ? 6 : 8;
}

// A source of several dwords, or a constant.
bool decode_wide_source(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Slot slot,
                        Operand& out) {
    if (code >= 256) return decode_vgpr(s, code - 256, type, dwords, out);
    if (code < 128) {
        s.out.illegal_operand = true;
        return decode_sgpr(s, code, type, dwords, out);
    }
    const bool special = code >= 230 && code < 240;
    if ((special || code > 250) && code != literal_code)
        type = dwords == 1 ? Type::b32 : dwords == 2 ? Type::b64 : type;
    return decode_source(s, code, type, out, s.target.traits.vop3_literals, slot);
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

bool decode_mfma(DecodeState& s, PackedClass packed, bool with_scale) {
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    const bool smfmac = packed == PackedClass::Smfmac;
    out.cbsz = static_cast<uint8_t>(s.get(Field::cbsz));
    out.abid = static_cast<uint8_t>(s.get(Field::abid));
    out.blgp = static_cast<uint8_t>(s.get(Field::blgp));
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
    const bool acc_cd = !s.has(Field::acc_cd) || s.flag(Field::acc_cd);
    const uint32_t dst_dwords = type_dwords(info.dst[0]);
    const uint32_t vdst = s.get(Field::vdst), acc = s.get(Field::acc);
    if (!(acc_cd ? decode_agpr(s, vdst, info.dst[0], dst_dwords, out.dst[0])
                 : decode_vgpr(s, vdst, info.dst[0], dst_dwords, out.dst[0])) ||
        !decode_matrix_source(s, s.get(Field::src0), bit(acc, 0), info.src[0], a_full,
                              out.src[0]) ||
        !decode_matrix_source(s, s.get(Field::src1), bit(acc, 1), info.src[1], b_full,
                              out.src[1])) {
        return false;
    }
    out.src[0].dwords = static_cast<uint8_t>(a_dwords);  // LLVM checks the range of the full size
    out.src[1].dwords = static_cast<uint8_t>(b_dwords);
    const uint32_t c = s.get(Field::src2);
    if (smfmac) return decode_matrix_source(s, c, false, info.src[2], 1, out.src[2]);
    return decode_accumulator(s, c, acc_cd, info.src[2], info.src[0] == Type::f64, out.src[2]);
}

// The 16-byte encoding: the scales in the first two words, the product in the others.
bool decode_mfma_scale(DecodeState& s) {
    if (s.words.size() < 4) return false;
    const uint32_t opcode_bits = s.layout.get(s.words.subspan(2), Field::op);
    Opcode op = Opcode::invalid;
    if ((s.words[2] & s.layout.mask) == s.layout.fixed) {
        if (opcode_bits == 0x2d) op = Opcode::v_mfma_scale_f32_16x16x128_f8f6f4;
        if (opcode_bits == 0x2e) op = Opcode::v_mfma_scale_f32_32x32x64_f8f6f4;
    }
    Inst& out = s.out;
    DecodeState product{s.target, s.words.subspan(2), s.layout, out, 2};
    if (!begin(s, op) || !decode_mfma(product, PackedClass::MfmaScaled, true)) return false;
    out.words[2] = s.words[2];
    out.words[3] = s.words[3];
    s.length = 4;
    out.op_sel = static_cast<uint8_t>(s.get(Field::op_sel) & 3);
    out.op_sel_hi = static_cast<uint8_t>(s.get(Field::op_sel_hi));
    return decode_source(s, s.get(Field::src0), Type::b32, out.src[3], false, Slot::VgprOnly) &&
           decode_source(s, s.get(Field::src1), Type::b32, out.src[4], false, Slot::VgprOnly);
}

// gfx12.5's have twice as many, in waves of half as many lanes.
uint32_t scaled_dwords(const Inst& inst, unsigned source) {
    return 2 * f8f6f4_dwords(source == 0 ? inst.cbsz : inst.blgp);
}

// Products in a wave: A and B in VGPRs. A lane of a wave of 64 has half of the elements of C and D
// that a lane of 32 has, on gfx12 of A and B, too.
bool decode_wmma(DecodeState& s, const OpInfo& info, bool sparse) {
    Inst& out = s.out;
    const Traits& traits = s.target.traits;
    const auto dwords = [&](Type type, bool split) {
        const uint32_t of_32 = type_dwords(type);
        return split && traits.wave_size == 64 ? std::max(of_32 / 2, 1u) : of_32;
    };
    if (!decode_vgpr(s, s.get(Field::vdst), info.dst[0], dwords(info.dst[0], true), out.dst[0]))
        return false;
    for (unsigned i = 0; i < 3; ++i) {
        const bool split = i == 2 ? !sparse : traits.rdna4_products;
        const Slot slot = i == 2 && !sparse ? Slot::Any : Slot::VgprOnly;
        if (!decode_wide_source(s, s.get(v3_sources[i]), info.src[i], dwords(info.src[i], split),
                                slot, out.src[i]))
            return false;
    }
    if (encoding_info(out.op).packed != PackedClass::WmmaScaled) return true;
    if (out.cbsz > 4 || out.blgp > 4) {
        out.illegal_operand = true;
        return true;
    }
    for (unsigned i = 0; i < 2; ++i)
        out.src[i].dwords = static_cast<uint8_t>(scaled_dwords(out, i));
    return true;
}

// Rows and formats of the scales of gfx12.5's products.
bool read_scales(DecodeState& s) {
    Inst& out = s.out;
    const uint32_t row_a = s.get(Field::op_sel) & 3, row_b = s.get(Field::op_sel_hi);
    const uint32_t format_a = s.get(Field::neg), format_b = s.get(Field::neg_hi);
    if (row_a > 1 || row_b > 1 || format_a > 3 || format_b > 3 || s.flag(Field::clamp) ||
        s.get(Field::src2) != 256)
        return false;
    out.scale_rows = static_cast<uint8_t>(row_a | row_b << 1);
    out.scale_formats = {static_cast<uint8_t>(format_a), static_cast<uint8_t>(format_b)};
    out.matrix_reuse =
        static_cast<uint8_t>(s.get(Field::op_sel) >> 2 | s.get(Field::op_sel_hi2) << 1);
    return true;
}

// The 16-byte encoding of gfx12.5: the scales in the first two words, the product in the others.
bool decode_scaled_wmma(DecodeState& s) {
    struct Pair {
        Opcode scale, product, both;
    };
    constexpr Pair pairs[] = {
        {Opcode::v_wmma_ld_scale_paired_b32, Opcode::v_wmma_f32_16x16x128_f8f6f4,
         Opcode::v_wmma_scale_f32_16x16x128_f8f6f4},
        {Opcode::v_wmma_ld_scale16_paired_b64, Opcode::v_wmma_f32_16x16x128_f8f6f4,
         Opcode::v_wmma_scale16_f32_16x16x128_f8f6f4},
        {Opcode::v_wmma_ld_scale_paired_b32, Opcode::v_wmma_f32_32x16x128_f4,
         Opcode::v_wmma_scale_f32_32x16x128_f4},
        {Opcode::v_wmma_ld_scale16_paired_b64, Opcode::v_wmma_f32_32x16x128_f4,
         Opcode::v_wmma_scale16_f32_32x16x128_f4},
    };
    Inst& out = s.out;
    if (s.words.size() < 4 || (s.words[2] & s.layout.mask) != s.layout.fixed) return false;
    DecodeState product{s.target, s.words.subspan(2), s.layout, out, 2};
    const Opcode op = opcode<Format::VOP3P>(product);
    const auto pair = std::find_if(std::begin(pairs), std::end(pairs), [&](const Pair& p) {
        return p.scale == out.op && p.product == op;
    });
    if (pair == std::end(pairs) || !begin(product, op) ||
        !decode_packed_modifiers(product, encoding_info(op).packed, 3) ||
        !decode_wmma(product, op_info(op), false) || product.has_literal)
        return false;
    begin(s, pair->both);
    read_scales(s);
    out.words[2] = s.words[2];
    out.words[3] = s.words[3];
    s.length = 4;
    const Type scale = op_info(out.op).src[3];
    return decode_source(s, s.get(Field::src0), scale, out.src[3], true) &&
           decode_source(s, s.get(Field::src1), scale, out.src[4], true);
}

// The scales alone.
bool decode_scales(DecodeState& s) {
    const OpInfo& info = op_info(s.out.op);
    return decode_source(s, s.get(Field::src0), info.src[0], s.out.src[0], true) &&
           decode_source(s, s.get(Field::src1), info.src[1], s.out.src[1], true);
}

bool decode_acc_move(DecodeState& s, PackedClass packed) {
    Inst& out = s.out;
    const uint32_t vdst = s.get(Field::vdst), code = s.get(Field::src0);
    if (packed == PackedClass::AccWrite) {
        return decode_agpr(s, vdst, Type::b32, 1, out.dst[0]) &&
               decode_source(s, code, Type::b32, out.src[0], false);
    }
    return decode_vgpr(s, vdst, Type::b32, 1, out.dst[0]) &&
           decode_matrix_source(s, code, true, Type::b32, 1, out.src[0]);
}

}  // namespace

bool decode_vop3p(DecodeState& s) {
    const Opcode op = opcode<Format::VOP3P>(s);
    if (!begin(s, op)) return false;
    const OpInfo& info = op_info(op);
    const PackedClass packed = encoding_info(op, s.target.family).packed;
    if (packed == PackedClass::Mfma || packed == PackedClass::MfmaScaled ||
        packed == PackedClass::Smfmac) {
        return decode_mfma(s, packed, false);
    }
    if (packed == PackedClass::LdScale) {
        if (decode_mfma_scale(s)) return true;
        s.out = Inst{};
        s.out.words = {s.words[0], s.words[1]};
        s.length = 2;
        begin(s, op);
        if (s.flag(Field::vdst) || s.flag(Field::acc_cd)) return false;
    }
    if (packed == PackedClass::WmmaLdScale) {
        if (!read_scales(s)) return false;
        if (decode_scaled_wmma(s)) return true;
        s.out = Inst{};
        s.out.words = {s.words[0], s.words[1]};
        s.length = 2;
        s.has_literal = false;
        begin(s, op);
        return !s.flag(Field::vdst) && read_scales(s) && decode_scales(s);
    }
    if (!decode_packed_modifiers(s, packed, info.src_count)) return false;
    if (packed == PackedClass::AccRead || packed == PackedClass::AccWrite) {
        return decode_acc_move(s, packed);
    }
    if (is_wave_product(packed)) return decode_wmma(s, info, is_sparse(packed));
    Inst& out = s.out;
    const bool dpp = is_dpp_word(s, s.get(Field::src0)) &&
                     (packed == PackedClass::Mix || packed == PackedClass::DotPacked ||
                      packed == PackedClass::DotSmall);
    if (info.dst_count != 0 &&
        !decode_vgpr(s, s.get(Field::vdst), info.dst[0], type_dwords(info.dst[0]), out.dst[0])) {
        return false;
    }
    for (unsigned i = 0; i < 3; ++i) {
        if (i >= info.src_count) break;
        const uint32_t code = s.get(v3_sources[i]);
        Type type = info.src[i];
        // Mixed precision: op_sel_hi selects a half as source, else the source is a full float.
        if (packed == PackedClass::Mix && bit(out.op_sel_hi, i)) type = Type::f16;
        if (dpp && i == 0) {
            if (!decode_vop3_dpp(s, info, code)) return false;
        } else if (!decode_source(s, code, type, out.src[i], s.target.traits.vop3_literals)) {
            return false;
        }
        if (dpp && s.has_literal) out.illegal_operand = true;
        if (dpp && i != 0 && code < 256 && packed != PackedClass::DotPacked)
            out.illegal_operand = true;
    }
    return true;
}

bool decode_vinterp(DecodeState& s) {
    if (!begin(s, opcode<Format::VINTERP>(s))) return false;
    Inst& out = s.out;
    const OpInfo& info = op_info(out.op);
    out.wait_exp = static_cast<uint8_t>(s.get(Field::wait_exp));
    out.clamp = s.flag(Field::clamp);
    out.neg = static_cast<uint8_t>(s.get(Field::neg));
    const auto half = [&](unsigned op_sel_bit, Operand& operand) {
        if (!s.is_half(operand.type)) return;
        const uint32_t op_sel = s.get(Field::op_sel);
        out.op_sel = static_cast<uint8_t>(op_sel);
        operand.half = bit(op_sel, op_sel_bit) ? Operand::Half::High : Operand::Half::Low;
    };
    if (!decode_vgpr(s, s.get(Field::vdst), info.dst[0], 1, out.dst[0])) return false;
    half(3, out.dst[0]);
    for (unsigned i = 0; i < 3; ++i) {
        uint32_t code = s.get(v3_sources[i]);
        if (s.is_half(info.src[i]) && code < 256) {  // LLVM reads a register of eight bits
            out.illegal_operand = true;
            code += 256;
        }
        if (!decode_source(s, code, info.src[i], out.src[i], true, Slot::VgprOnly)) return false;
        half(i, out.src[i]);
    }
    return true;
}

bool decode_ldsdir(DecodeState& s) {
    if (!begin(s, opcode<Format::LDSDIR>(s))) return false;
    Inst& out = s.out;
    out.wait_vdst = static_cast<uint8_t>(s.get(Field::wait_vdst));
    out.wait_vsrc = static_cast<uint8_t>(s.get(Field::wait_vsrc));
    out.attr = static_cast<uint8_t>(s.get(Field::attr));
    out.attr_chan = static_cast<uint8_t>(s.get(Field::attr_chan));
    return decode_vgpr(s, s.get(Field::vdst), Type::b32, 1, out.dst[0]);
}

namespace {

// Where one of VOPD's operations has its fields and its operands.
struct DualHalf {
    Opcode op;
    Field src0, vsrc1;
    uint32_t vdst;
    unsigned dst, src;
};

bool takes_sign(Type type) {
    return type == Type::f32 || type == Type::f64 || type == Type::pk_f16 || type == Type::pk_bf16;
}

bool decode_dual_half(DecodeState& s, const DualHalf& h) {
    Inst& out = s.out;
    const OpInfo& info = op_info(h.op);
    const InlineK k = encoding_info(h.op, s.target.family).k;
    if (!decode_vgpr(s, h.vdst, info.dst[0], 1, out.dst[h.dst]) ||
        !decode_source(s, s.get(h.src0), info.src[0], out.src[h.src], true))
        return false;
    if (info.src_count == 1) return !s.flag(h.vsrc1);
    if (effects(h.op).partial) out.src[h.src + 2] = out.dst[h.dst];
    if (info.src[2] == Type::mask) set_mask(s, vcc_code, out.src[h.src + 2]);
    const unsigned k_at = k == InlineK::Mk ? 1 : 2, other = k == InlineK::Mk ? 2 : 1;
    // K of either operation and the literal are one dword.
    if (k != InlineK::None &&
        !decode_source(s, literal_code, Type::f32, out.src[h.src + k_at], true))
        return false;
    return decode_vgpr(s, s.get(h.vsrc1), info.src[1], 1, out.src[h.src + other]);
}

}  // namespace

bool decode_vopd(DecodeState& s) {
    Inst& out = s.out;
    const Opcode x = opcode<Format::VOPD>(s);
    const Opcode y = lookup_opcode<Format::VOPD>(s.target.family, s.get(Field::op_y));
    // Waves of 64 lanes have none.
    if (y == Opcode::invalid || s.target.traits.wave_size != 32 || !begin(s, x)) return false;
    out.op_y = y;
    const uint32_t vdst = s.get(Field::vdst);
    // One destination is an even register, the other an odd one.
    const uint32_t vdst_y = s.get(Field::vdst_y) << 1 | (~vdst & 1);
    return decode_dual_half(s, {x, Field::src0, Field::vsrc1, vdst, 0, 0}) &&
           decode_dual_half(s, {y, Field::src0_y, Field::vsrc1_y, vdst_y, 1, 3});
}

namespace {

// VOPD3's half: three sources, of which the third may be a lane mask or a truth table.
bool decode_dual3_half(DecodeState& s, const DualHalf& h, uint32_t vsrc2, uint32_t neg) {
    Inst& out = s.out;
    const OpInfo& info = op_info(h.op);
    const auto vgpr = [&](uint32_t code, Type type, Operand& operand) {
        return decode_vgpr(s, code, type, type_dwords(type), operand);
    };
    const bool selects = h.op == Opcode::v_dual_cndmask_b32;
    uint32_t signs = 0;  // sources that may be negated
    for (unsigned i = 0; i < info.src_count; ++i)
        signs |= uint32_t{takes_sign(info.src[i]) || (selects && i < 2)} << i;
    if ((neg & ~signs) != 0) return false;
    out.neg |= static_cast<uint8_t>(neg << h.src);
    if (!vgpr(h.vdst, info.dst[0], out.dst[h.dst]) ||
        !decode_source(s, s.get(h.src0), info.src[0], out.src[h.src], true))
        return false;
    if (out.src[h.src].is(Operand::Kind::Literal)) out.illegal_operand = true;
    if (info.src_count == 1) return !s.flag(h.vsrc1) && vsrc2 == 0;
    if (!vgpr(s.get(h.vsrc1), info.src[1], out.src[h.src + 1])) return false;
    if (selects)
        return decode_source(s, vsrc2, Type::mask, out.src[h.src + 2], false, Slot::ScalarRegister);
    if (info.src_count == 3) return vgpr(vsrc2, info.src[2], out.src[h.src + 2]);
    if (effects(h.op).partial) out.src[h.src + 2] = out.dst[h.dst];
    if (h.op == Opcode::v_dual_bitop2_b32) {
        out.bitop3 = static_cast<uint8_t>(vsrc2);
        return true;
    }
    return vsrc2 == 0;
}

}  // namespace

bool decode_vopd3(DecodeState& s) {
    Inst& out = s.out;
    const Opcode x = opcode<Format::VOPD3>(s);
    const Opcode y = lookup_opcode<Format::VOPD3>(s.target.family, s.get(Field::op_y));
    if (y == Opcode::invalid || !begin(s, x) || encoding_info(x).second_only ||
        encoding_info(y).first_only)
        return false;
    out.op_y = y;
    out.variant = Variant::E64;
    return decode_dual3_half(s, {x, Field::src0, Field::vsrc1, s.get(Field::vdst), 0, 0},
                             s.get(Field::vsrc2), s.get(Field::neg)) &&
           decode_dual3_half(s, {y, Field::src0_y, Field::vsrc1_y, s.get(Field::vdst_y), 1, 3},
                             s.get(Field::vsrc2_y), s.get(Field::neg_y));
}

bool decode_vop3_interp(DecodeState& s) {
    Inst& out = s.out;
    if (!decode_vgpr(s, s.get(Field::vdst), Type::f32, 1, out.dst[0])) return false;
    out.attr = static_cast<uint8_t>(s.get(Field::attr));
    out.attr_chan = static_cast<uint8_t>(s.get(Field::attr_chan));
    out.attr_high = s.flag(Field::attr_high);
    if (out.attr_high && !encoding_info(out.op, s.target.family).high) return false;
    const uint32_t code1 = s.get(Field::src1), code2 = s.get(Field::src2);
    if (out.op == Opcode::v_interp_mov_f32) {
        out.src[0] = immediate_operand(code1, Type::imm32);
        return true;
    }
    if (!decode_source(s, code1, Type::f32, out.src[0], s.target.traits.vop3_literals,
                       Slot::VgprOnly))
        return false;
    const bool third = out.op == Opcode::v_interp_p1lv_f16 || out.op == Opcode::v_interp_p2_f16 ||
                       out.op == Opcode::v_interp_p2_legacy_f16;
    if (!third) return true;
    return decode_source(s, code2, Type::f32, out.src[1], s.target.traits.vop3_literals,
                         Slot::VgprOnly);
}

bool decode_vintrp(DecodeState& s) {
    if (!begin(s, opcode<Format::VINTRP>(s))) return false;
    Inst& out = s.out;
    out.attr_chan = static_cast<uint8_t>(s.get(Field::attr_chan));
    out.attr = static_cast<uint8_t>(s.get(Field::attr));
    if (!decode_vgpr(s, s.get(Field::vdst), Type::f32, 1, out.dst[0])) return false;
    if (out.op == Opcode::v_interp_mov_f32_e32) {
        out.src[0] = immediate_operand(s.get(Field::vsrc), Type::imm32);
        return true;
    }
    return decode_vgpr(s, s.get(Field::vsrc), Type::f32, 1, out.src[0]);
}

bool decode_exp(DecodeState& s) {
    if (!begin(s, lookup_opcode<Format::EXP>(s.target.family, 0))) return false;
    Inst& out = s.out;
    out.exp_enable = static_cast<uint8_t>(s.get(Field::en));
    out.exp_target = static_cast<uint8_t>(s.get(Field::target));
    out.exp_compressed = s.flag(Field::compr);
    out.exp_done = s.flag(Field::done);
    out.exp_vm = s.flag(Field::vm);
    out.exp_row = s.flag(Field::row);
    constexpr Field sources[4] = {Field::vsrc0, Field::vsrc1, Field::vsrc2, Field::vsrc3};
    for (unsigned i = 0; i < 4; ++i) {
        if (!decode_vgpr(s, s.get(sources[i]), Type::b32, 1, out.src[i])) return false;
    }
    return true;
}

}  // namespace wj
