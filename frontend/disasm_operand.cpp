#include <array>
#include <charconv>

#include "frontend/disasm_text.h"

namespace wj {
namespace {

constexpr uint32_t int_64 = 192, int_minus_16 = 208, float_first = 240, inv_2pi = 248;

constexpr std::array<std::string_view, 8> float_names{"0.5", "-0.5", "1.0", "-1.0",
                                                      "2.0", "-2.0", "4.0", "-4.0"};

bool is_half_int(Type t) {
    return t == Type::i16 || t == Type::u16 || t == Type::b16;
}
bool is_half(Type t) {
    return is_half_int(t) || t == Type::f16 || t == Type::bf16;
}

bool is_wide_scalar(Type t) {
    return t == Type::b64 || t == Type::i64 || t == Type::u64 || t == Type::f64 || t == Type::mask;
}

// Registers with names of their own: single dwords, and pairs by their even register.
std::string_view named_sgpr(const ScalarRegisters& r, uint32_t reg, uint32_t dwords) {
    struct Pair {
        uint32_t first;
        std::array<std::string_view, 3> names;  // low, high, both
    };
    const Pair pairs[] = {
        {r.flat_scratch, {"flat_scratch_lo", "flat_scratch_hi", "flat_scratch"}},
        {r.xnack_mask, {"xnack_mask_lo", "xnack_mask_hi", "xnack_mask"}},
        {106, {"vcc_lo", "vcc_hi", "vcc"}},
        {r.trap_base, {"tba_lo", "tba_hi", "tba"}},
        {r.trap_base == 0 ? 0u : r.trap_base + 2u, {"tma_lo", "tma_hi", "tma"}},
        {126, {"exec_lo", "exec_hi", "exec"}},
    };
    if (reg == 124 && dwords == 1) return "m0";
    for (const Pair& p : pairs) {
        if (p.first == 0 || reg - p.first > 1) continue;
        if (dwords == 1) return p.names[reg - p.first];
        if (dwords == 2 && reg == p.first) return p.names[2];
    }
    return {};
}

std::string_view special_name(uint32_t code) {
    switch (code) {
        case 125:
            return "null";
        case 230:
            return "src_flat_scratch_base_lo";
        case 231:
            return "src_flat_scratch_base_hi";
        case 235:
            return "src_shared_base";
        case 236:
            return "src_shared_limit";
        case 237:
            return "src_private_base";
        case 238:
            return "src_private_limit";
        case 239:
            return "src_pops_exiting_wave_id";
        case 251:
            return "src_vccz";
        case 252:
            return "src_execz";
        case 253:
            return "src_scc";
        case 254:
            return "src_lds_direct";
        default:
            return "src_unknown";
    }
}

void append_tuple(std::string& out, std::string_view prefix, uint32_t first, uint32_t dwords) {
    out += prefix;
    if (dwords <= 1) {
        append_decimal(out, first);
        return;
    }
    out += '[';
    append_decimal(out, first);
    out += ':';
    append_decimal(out, first + dwords - 1);
    out += ']';
}

void append_constant(std::string& out, const Operand& operand) {
    const uint32_t code = operand.reg;
    if (code <= int_64) {
        append_decimal(out, static_cast<int64_t>(code) - 128);
    } else if (code <= int_minus_16) {
        append_decimal(out, static_cast<int64_t>(int_64) - static_cast<int64_t>(code));
    } else if (is_half_int(operand.type)) {
        append_hex(out, operand.value & 0xffff);
    } else if (code < inv_2pi) {
        out += float_names[(code - float_first) & 7];
    } else {
        out += is_wide_scalar(operand.type) && operand.type != Type::mask ? "0.15915494309189532"
                                                                          : "0.15915494";
    }
}

bool inlinable_int(int64_t value) {
    return value >= -16 && value <= 64;
}

constexpr std::array<uint32_t, 9> f32_bits{0x3f000000, 0xbf000000, 0x3f800000,
                                           0xbf800000, 0x40000000, 0xc0000000,
                                           0x40800000, 0xc0800000, 0x3e22f983};
constexpr std::array<uint16_t, 9> f16_bits{0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                           0xc000, 0x4400, 0xc400, 0x3118};

bool inlinable_f32(uint32_t bits) {
    for (const uint32_t b : f32_bits) {
        if (b == bits) return true;
    }
    return false;
}

bool inlinable_f16(uint16_t bits) {
    for (const uint16_t b : f16_bits) {
        if (b == bits) return true;
    }
    return false;
}

// The high halves of the f32 constants.
bool inlinable_bf16(uint16_t bits) {
    for (const uint32_t b : f32_bits) {
        if (b >> 16 == bits) return true;
    }
    return false;
}

void append_lit(std::string& out, uint64_t value) {
    out += "lit(";
    append_hex(out, value);
    out += ')';
}

// A literal that an inline constant could express prints as lit(0x...), since the assembler would
// choose the inline constant.
void append_literal(std::string& out, const Operand& operand, uint32_t raw) {
    if (operand.type == Type::imm32) {
        append_immediate_32(out, raw);
        return;
    }
    if (operand.type == Type::bf16) {
        const uint16_t low = static_cast<uint16_t>(raw);
        if (inlinable_int(static_cast<int16_t>(low)) || inlinable_bf16(low)) {
            append_lit(out, raw);
        } else {
            append_hex(out, raw);
        }
        return;
    }
    if (is_half(operand.type)) {
        const uint16_t low = static_cast<uint16_t>(raw);
        const bool inlinable = is_half_int(operand.type)
                                   ? inlinable_int(static_cast<int32_t>(raw)) || inlinable_f32(raw)
                                   : inlinable_int(static_cast<int16_t>(low)) || inlinable_f16(low);
        if (inlinable) {
            append_lit(out, raw);
        } else {
            append_hex(out, low);
        }
        return;
    }
    if (operand.type == Type::f64) {
        // The literal is the high half: doubles that are inline constants have a zero low half but
        // for 1/(2 pi).
        const uint32_t f64_high[8] = {0x3fe00000, 0xbfe00000, 0x3ff00000, 0xbff00000,
                                      0x40000000, 0xc0000000, 0x40100000, 0xc0100000};
        for (uint32_t i = 0; i < 8; ++i) {
            if (f64_high[i] == raw) {
                out += float_names[i];
                return;
            }
        }
        if (raw == 0) {
            out += "0";
            return;
        }
        append_hex(out, raw);
        return;
    }
    bool inlinable = false;
    if (is_wide_scalar(operand.type)) {
        inlinable = raw <= 64;
    } else if (operand.type == Type::pk_f16) {
        inlinable = inlinable_int(static_cast<int32_t>(raw)) ||
                    (raw <= 0xffff && inlinable_f16(static_cast<uint16_t>(raw)));
    } else if (operand.type == Type::pk_bf16) {
        inlinable = inlinable_int(static_cast<int32_t>(raw)) ||
                    (raw <= 0xffff && inlinable_bf16(static_cast<uint16_t>(raw)));
    } else {
        inlinable = inlinable_int(static_cast<int32_t>(raw)) || inlinable_f32(raw);
    }
    if (inlinable) {
        append_lit(out, raw);
    } else {
        append_hex(out, raw);
    }
}

}  // namespace

void append_decimal(std::string& out, int64_t value) {
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value);
    out.append(text.data(), end.ptr);
}

void append_hex(std::string& out, uint64_t value) {
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, 16);
    out += "0x";
    out.append(text.data(), end.ptr);
}

void append_immediate_32(std::string& out, uint32_t bits) {
    if (inlinable_int(static_cast<int32_t>(bits))) {
        append_decimal(out, static_cast<int32_t>(bits));
        return;
    }
    for (size_t i = 0; i < f32_bits.size(); ++i) {
        if (f32_bits[i] != bits) continue;
        out += i < float_names.size() ? float_names[i] : "0.15915494";
        return;
    }
    append_hex(out, bits);
}

namespace {

// The inline constant of 64 bits with this value; empty: there is none.
std::string_view wide_float_name(uint64_t bits) {
    constexpr std::array<uint16_t, 8> high{0x3fe0, 0xbfe0, 0x3ff0, 0xbff0,
                                           0x4000, 0xc000, 0x4010, 0xc010};
    for (size_t i = 0; i < high.size(); ++i)
        if (uint64_t{high[i]} << 48 == bits) return float_names[i];
    return bits == 0x3fc45f306dc9c882 ? "0.15915494309189532" : "";
}

// As an operand of 16 bits. The assembler's integers must have the whole low dword as their value.
void append_wide_literal_half(std::string& out, Type type, uint32_t low) {
    const auto half = static_cast<uint16_t>(low);
    const auto value = is_half_int(type) ? static_cast<int32_t>(low) : static_cast<int16_t>(half);
    if (inlinable_int(value)) {
        append_decimal(out, value);
        return;
    }
    for (size_t i = 0; i < f16_bits.size(); ++i) {
        if (type != Type::f16 || f16_bits[i] != half) continue;
        out += i < float_names.size() ? float_names[i] : "0.15915494";
        return;
    }
    append_hex(out, type == Type::bf16 ? low : half);
}

// A literal of 64 bits whose high half is 0 prints as lit64(0x...), since the assembler would
// choose one of 32 bits.
void append_wide_literal(std::string& out, Type type, uint64_t bits) {
    const auto low = static_cast<uint32_t>(bits);
    if (bits >> 32 == 0) {
        out += "lit64(";
        append_hex(out, bits);
        out += ')';
    } else if (is_half(type)) {
        append_wide_literal_half(out, type, low);
    } else if (!is_wide_scalar(type)) {
        append_immediate_32(out, low);
    } else if (inlinable_int(static_cast<int64_t>(bits))) {
        append_decimal(out, static_cast<int64_t>(bits));
    } else if (const std::string_view name = wide_float_name(bits); !name.empty()) {
        out += name;
    } else {
        append_hex(out, type == Type::f64 && low == 0 ? bits >> 32 : bits);
    }
}

}  // namespace

void append_splat_literal(std::string& out, uint32_t raw) {
    const auto low = static_cast<uint16_t>(raw);
    const bool both = raw >> 16 == low;
    if (inlinable_int(static_cast<int32_t>(raw)) ||
        (both && (inlinable_int(static_cast<int16_t>(low)) || inlinable_f16(low))))
        append_lit(out, raw);
    else
        append_hex(out, raw);
}

void append_operand(std::string& out, const Target& target, const Operand& operand,
                    uint64_t raw_literal) {
    const ScalarRegisters& registers = target.traits.scalar_registers;
    switch (operand.kind) {
        case Operand::Kind::None:
            break;
        case Operand::Kind::Sgpr:
            if (const std::string_view name = named_sgpr(registers, operand.reg, operand.dwords);
                !name.empty()) {
                out += name;
            } else if (operand.reg >= registers.ttmp && operand.reg < 124) {
                append_tuple(out, "ttmp", operand.reg - uint32_t{registers.ttmp}, operand.dwords);
            } else {
                append_tuple(out, "s", operand.reg, operand.dwords);
            }
            break;
        case Operand::Kind::Vgpr:
            append_tuple(out, "v", operand.reg, operand.dwords);
            if (operand.half != Operand::Half::None)
                out += operand.half == Operand::Half::High ? ".h" : ".l";
            break;
        case Operand::Kind::Agpr:
            append_tuple(out, "a", operand.reg, operand.dwords);
            break;
        case Operand::Kind::Const:
            append_constant(out, operand);
            break;
        case Operand::Kind::Literal:
            if (operand.reg == 254)
                append_wide_literal(out, operand.type, raw_literal);
            else
                append_literal(out, operand, static_cast<uint32_t>(raw_literal >> 32));
            break;
        case Operand::Kind::Special:
            out += special_name(operand.reg);
            break;
        case Operand::Kind::Imm:
            append_decimal(out, static_cast<int64_t>(operand.value));
            break;
        case Operand::Kind::Off:
            out += "off";
            break;
    }
}

}  // namespace wj
