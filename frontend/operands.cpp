#include "frontend/operands.h"

#include <array>

namespace wj {
namespace {

// Source encodings: Vega ISA, "Scalar source operands" and "Vector operands".
constexpr uint32_t m0 = 124, null_register = 125;  // of operands
constexpr uint32_t int_zero = 128, int_64 = 192, int_minus_16 = 208;
constexpr uint32_t flat_scratch_base = 230, shared_base = 235, pops_exiting = 239;
constexpr uint32_t float_first = 240, float_last = 248;
constexpr uint32_t vccz = 251, scc = 253, lds_direct = 254, literal_code = 255;
constexpr uint32_t literal_64_code = 254;  // where there are literals of 64 bits

struct FloatConstant {
    uint16_t f16, bf16;
    uint32_t f32;
    uint64_t f64;
};

// 0.5 -0.5 1 -1 2 -2 4 -4 1/(2 pi)
constexpr std::array<FloatConstant, 9> float_constants{{
    {0x3800, 0x3f00, 0x3f000000, 0x3fe0000000000000},
    {0xb800, 0xbf00, 0xbf000000, 0xbfe0000000000000},
    {0x3c00, 0x3f80, 0x3f800000, 0x3ff0000000000000},
    {0xbc00, 0xbf80, 0xbf800000, 0xbff0000000000000},
    {0x4000, 0x4000, 0x40000000, 0x4000000000000000},
    {0xc000, 0xc000, 0xc0000000, 0xc000000000000000},
    {0x4400, 0x4080, 0x40800000, 0x4010000000000000},
    {0xc400, 0xc080, 0xc0800000, 0xc010000000000000},
    {0x3118, 0x3e22, 0x3e22f983, 0x3fc45f306dc9c882},
}};

bool is_64_bit_scalar(Type type) {
    return type == Type::b64 || type == Type::i64 || type == Type::u64 || type == Type::f64 ||
           type == Type::mask;
}

void set_register(Operand& out, Operand::Kind kind, uint32_t reg, Type type, uint32_t dwords) {
    out.kind = kind;
    out.reg = static_cast<uint16_t>(reg);
    out.type = type;
    out.dwords = static_cast<uint8_t>(dwords);
}

// Tuples of vector registers must start at an even register from gfx90a on.
bool decode_vector(DecodeState& s, Operand::Kind kind, uint32_t code, Type type, uint32_t dwords,
                   Operand& out) {
    set_register(out, kind, code, type, dwords);
    if (code + dwords > 256) {  // LLVM prints VGPR tuples that run past v255
        if (kind == Operand::Kind::Agpr) return false;
        s.out.illegal_operand |= s.target.traits.vgpr_msb == VgprMsbRule::None;
    }
    if (dwords > 1 && (code & 1) != 0 && s.target.traits.aligned_vgpr_tuples) {
        s.out.illegal_operand = true;
    }
    return true;
}

// Slots that take registers only print constants as plain numbers.
bool registers_only(Slot slot) {
    return slot == Slot::Vector || slot == Slot::VgprOnly || slot == Slot::ScalarRegister;
}

bool decode_special(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out) {
    if (dwords > 2) return false;
    const bool in_range = (code >= shared_base && code <= pops_exiting) ||
                          (code >= vccz && code <= scc) || (code == lds_direct && dwords == 1) ||
                          code == flat_scratch_base ||
                          (code == flat_scratch_base + 1 && dwords == 1);
    if (!in_range) return false;
    const Traits& traits = s.target.traits;
    const bool scratch = code < shared_base, aperture = !scratch && code <= pops_exiting;
    if ((scratch && !traits.flat_scratch_has_lane) ||
        (aperture && !traits.scalar_registers.has_apertures))
        s.out.illegal_operand = true;
    set_register(out, Operand::Kind::Special, code, type, dwords);
    return true;
}

}  // namespace

uint64_t inline_constant(uint32_t code, Type type) {
    if (code >= float_first && code <= float_last) {
        const FloatConstant& c = float_constants[code - float_first];
        if (type == Type::bf16 || type == Type::pk_bf16) return c.bf16;
        // Packed halves take the f16 constant, packed integers the bits of the f32 one.
        if (is_16_bit(type) || type == Type::pk_f16) return c.f16;
        return is_64_bit_scalar(type) ? c.f64 : c.f32;
    }
    const int64_t value = code <= int_64
                              ? static_cast<int64_t>(code - int_zero)
                              : static_cast<int64_t>(int_64) - static_cast<int64_t>(code);
    if (is_16_bit(type)) return static_cast<uint16_t>(value);
    return is_64_bit_scalar(type) ? static_cast<uint64_t>(value) : static_cast<uint32_t>(value);
}

uint64_t expand_literal(uint32_t literal, Type type) {
    switch (type) {
        case Type::f64:
            return static_cast<uint64_t>(literal) << 32;
        case Type::i64:
            return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(literal)));
        case Type::f16:
        case Type::i16:
        case Type::u16:
        case Type::b16:
        case Type::bf16:
            return literal & 0xffff;
        default:
            return literal;
    }
}

Operand immediate_operand(int64_t value, Type type) {
    Operand out;
    out.kind = Operand::Kind::Imm;
    out.type = type;
    out.value = static_cast<uint64_t>(value);
    return out;
}

bool decode_sgpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out) {
    if (code > 127) return false;
    const ScalarRegisters& r = s.target.traits.scalar_registers;
    if (code == r.null) {
        if (!r.has_null) s.out.illegal_operand = true;
        set_register(out, Operand::Kind::Special, null_register, type, dwords);
        return true;
    }
    if (code == r.m0) {
        if (dwords > 1) return false;
        set_register(out, Operand::Kind::Sgpr, m0, type, dwords);
        return true;
    }
    const bool ttmp = code >= r.ttmp && code < r.ttmp + uint32_t{r.ttmp_count};
    // LLVM has no SGPR tuples of these sizes and prints shorter ones; illegal where this happens.
    if (dwords > 16) dwords = 16;
    if (dwords == 6) dwords = code >= r.ttmp ? 8 : 5;
    if (dwords == 3 && code >= r.ttmp) {
        dwords = 8;
        s.out.illegal_operand = true;
    }
    // Misaligned tuples lose the low bits, of pairs one and of longer ones two. 102-103 end
    // s[100:103].
    const uint32_t align_mask = dwords == 1 ? 0 : dwords == 2 ? 1 : 3;
    if (code < r.count) {
        const uint32_t first = code & ~align_mask;
        const uint32_t limit = dwords <= 2 ? r.count : dwords == 5 ? 105 : 104;
        if (first + dwords > limit) return false;
        set_register(out, Operand::Kind::Sgpr, first, type, dwords);
        return true;
    }
    if (ttmp) {
        const uint32_t first = (code - r.ttmp) & ~align_mask;
        if (first + dwords > 16) return false;
        if (first + dwords > r.ttmp_count) s.out.illegal_operand = true;
        set_register(out, Operand::Kind::Sgpr, r.ttmp + first, type, dwords);
        return true;
    }
    if (dwords > 2 || (dwords == 2 && (code & 1) != 0)) return false;
    constexpr uint32_t vcc = 106;
    const auto names = [&](uint32_t pair) { return pair != 0 && code - pair < 2; };
    if (code < vcc && !names(r.flat_scratch) && !names(r.xnack_mask)) s.out.illegal_operand = true;
    set_register(out, Operand::Kind::Sgpr, code, type, dwords);
    return true;
}

bool decode_vgpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out) {
    return decode_vector(s, Operand::Kind::Vgpr, code, type, dwords, out);
}

bool decode_agpr(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out) {
    if (!s.target.traits.has_agprs) s.out.illegal_operand = true;
    return decode_vector(s, Operand::Kind::Agpr, code, type, dwords, out);
}

namespace {

// The literal behind the instruction, which all sources share: the first one says how wide it is.
bool read_literal(DecodeState& s, bool wide) {
    if (s.has_literal) return true;
    const uint32_t dwords = wide ? 2 : 1;
    constexpr uint32_t longest = 4;  // dwords of an instruction where literals may be wide
    if (wide && s.length + dwords > longest) return false;
    if (s.length + dwords > s.words.size()) return false;
    for (uint32_t i = 0; i < dwords; ++i, ++s.length) s.out.words[s.length] = s.words[s.length];
    s.has_literal = true;
    s.wide_literal = wide;
    return true;
}

bool decode_literal(DecodeState& s, uint32_t code, Type type, uint32_t dwords, Operand& out) {
    if (!read_literal(s, code == literal_64_code)) return false;
    const uint64_t value = s.literal();
    const bool whole = s.wide_literal && is_64_bit_scalar(type) && type != Type::mask;
    set_register(out, Operand::Kind::Literal, s.wide_literal ? literal_64_code : literal_code, type,
                 dwords);
    // Of a wide one an operand of 32 bits takes the low half; a short one may be the high half.
    out.value = whole ? value : expand_literal(static_cast<uint32_t>(value), type);
    // Instructions of one dword have wide ones; none has both kinds.
    if ((code == literal_64_code) != s.wide_literal || (s.wide_literal && s.layout.dwords > 1))
        s.out.illegal_operand = true;
    return true;
}

}  // namespace

bool decode_source(DecodeState& s, uint32_t code, Type type, Operand& out, bool literal_allowed,
                   Slot slot) {
    const uint32_t dwords = s.dwords(type);
    if (code >= 256) {
        if (slot == Slot::Scalar) s.out.illegal_operand = true;
        return decode_vgpr(s, code - 256, type, dwords, out);
    }
    if (slot == Slot::Vector || slot == Slot::VgprOnly) s.out.illegal_operand = true;
    if (code < int_zero) return decode_sgpr(s, code, type, dwords, out);
    const bool is_int = code <= int_minus_16;
    if (is_int || (code >= float_first && code <= float_last)) {
        set_register(out, Operand::Kind::Const, code, type, dwords);
        out.value = inline_constant(code, type);
        if (code == float_last && !s.target.traits.scalar_registers.has_inv_2pi) return false;
        // gfx6 and gfx7 have no halves among their constants, only f32.
        if (is_16_bit(type) && !s.target.traits.scalar_registers.has_inv_2pi)
            s.out.illegal_operand = true;
        if (registers_only(slot)) {
            s.out.illegal_operand = true;
            out.type = Type::imm32;
        }
        return true;
    }
    const bool literal_64 = code == literal_64_code && s.target.traits.wide_literals;
    if (code != literal_code && !literal_64) {
        if (code == lds_direct && (slot == Slot::Scalar || slot == Slot::ScalarRegister))
            s.out.illegal_operand = true;
        if (slot == Slot::ScalarRegister) s.out.illegal_operand = true;
        return decode_special(s, code, type, dwords, out);
    }
    if (!literal_allowed) {
        // gfx9 has no literals here. LLVM fails to read one (and on some versions crashes) except
        // where its instruction size limit, 16 bytes on gfx950, leaves room.
        if (s.target.family != Family::g950 && !literal_64) return false;
        s.out.illegal_operand = true;
    }
    if (!decode_literal(s, code, type, dwords, out)) return false;
    if (registers_only(slot) || type == Type::mask || type == Type::sb32) {
        s.out.illegal_operand = true;
        out.type = Type::imm32;
    }
    return true;
}

}  // namespace wj
