#include "ir/dword_atomic.h"

#include <fmt/format.h>

#include <algorithm>

namespace wj::ir {
namespace {

using enum AtomicType;
using enum AtomicSources;

constexpr DwordAtomic table[] = {
    {"ADD", 0b00000, AtomicOp::Add, Unsigned, Data},
    {"SUB", 0b00001, AtomicOp::Sub, Unsigned, Data},
    {"INC", 0b00010, AtomicOp::Add, Unsigned, None},
    {"DEC", 0b00011, AtomicOp::Sub, Unsigned, None},
    {"MIN", 0b00100, AtomicOp::UMin, Unsigned, Data},
    {"MAX", 0b00101, AtomicOp::UMax, Unsigned, Data},
    {"XCHG", 0b00110, AtomicOp::Swap, Unsigned, Data},
    {"CMPXCHG", 0b00111, AtomicOp::CmpSwap, Unsigned, Exchange},
    {"AND", 0b01000, AtomicOp::And, Unsigned, Data},
    {"OR", 0b01001, AtomicOp::Or, Unsigned, Data},
    {"XOR", 0b01010, AtomicOp::Xor, Unsigned, Data},
    {"IMIN", 0b01011, AtomicOp::SMin, Signed, Data},
    {"IMAX", 0b01100, AtomicOp::SMax, Signed, Data},
    {"PREDEC", 0b01101, AtomicOp::Sub, Signed, None, true},
    {"FMAX", 0b10000, AtomicOp::FMax, Float, Data},
    {"FMIN", 0b10001, AtomicOp::FMin, Float, Data},
    {"FCMPWR", 0b10010, AtomicOp::FCmpSwap, Float, Compare},
};

constexpr uint8_t code_bits = 0x1f, half_bit = 0x20;

bool has_dwords(const std::array<Value, 2>& source, uint32_t dwords) {
    return source[0] != no_value && (source[1] != no_value) == (dwords == 2);
}
bool is_null(const std::array<Value, 2>& source) {
    return source[0] == no_value && source[1] == no_value;
}

std::string fault_of(const DwordAtomicMessage& m, const DwordAtomic* row) {
    if (!row) return fmt::format("operation {:#x} of DWORD_ATOMIC is reserved", m.op);
    // The document's table gives PREDEC signed types, its notes unsigned ones.
    if (m.type != row->type && !(row->new_value && m.type == Unsigned))
        return fmt::format("{}: operands of the wrong type", row->name);
    const bool local = m.surface == static_cast<uint8_t>(AtomicSurface::SharedLocalMemory);
    if (!local && m.surface != static_cast<uint8_t>(AtomicSurface::Stateless))
        return fmt::format("{}: surface {} is neither shared local memory (0) nor stateless (5)",
                           row->name, m.surface);
    if (m.quad && (local || m.op & half_bit || m.type == Float))
        return fmt::format("{}: 64 bits are for integers of the stateless surface", row->name);
    if (local != (m.base == no_value))
        return fmt::format("{}: the stateless surface has a base, shared local memory none",
                           row->name);
    const uint32_t dwords = m.quad ? 2 : 1;
    const bool has_src0 = row->sources != None,
               has_src1 = row->sources == Exchange || row->sources == Compare;
    // PREDEC takes no operand; that it be null is asked of INC and DEC only.
    if (has_src0 ? !has_dwords(m.src0, dwords) : !is_null(m.src0) && !row->new_value)
        return fmt::format("{}: src0 must {} null", row->name, has_src0 ? "not be" : "be");
    if (has_src1 ? !has_dwords(m.src1, dwords) : !is_null(m.src1))
        return fmt::format("{}: src1 must {} null", row->name, has_src1 ? "not be" : "be");
    return {};
}

Value add(Block& block, Inst inst) {
    inst.guest = static_cast<uint16_t>(block.guest_pcs.size() - 1);
    block.insts.push_back(inst);
    return static_cast<Value>(block.insts.size() - 1);
}

// `value` in all lanes.
Value constant(Block& block, uint32_t value) {
    const Value number = add(block, {.op = Op::Const32, .imm = value});
    Inst splat{.op = Op::Splat32};
    splat.args[0] = number;
    return add(block, splat);
}

}  // namespace

std::span<const DwordAtomic> dword_atomics() {
    return table;
}

std::string append(Block& block, const DwordAtomicMessage& m, Value& result) {
    const auto* const row = std::ranges::find(
        table, m.op & ~(code_bits | half_bit) ? uint8_t{0xff} : uint8_t(m.op & code_bits),
        &DwordAtomic::code);
    const bool known = row != std::end(table);
    if (std::string fault = fault_of(m, known ? row : nullptr); !fault.empty()) return fault;

    const uint32_t dwords = m.quad ? 2 : 1;
    std::array<Value, 2> data = m.src0, data2 = m.src1;
    if (row->sources == Compare) std::swap(data, data2);
    if (row->sources == None) data = {constant(block, 1), m.quad ? constant(block, 0) : no_value};
    uint32_t flags = 0;
    if (m.op & half_bit) flags |= half_words;
    if (row->new_value) flags |= new_values;
    const bool local = m.base == no_value;
    Inst atomic{.op = local ? Op::AtomicLds : Op::AtomicGlobalS,
                .aux = make_atomic_aux(row->op, dwords, flags)};
    auto head = atomic.args.begin();
    if (!local) *head++ = m.base;
    *head++ = m.offsets;
    *head++ = m.mask;
    std::copy_n(data.begin(), dwords, atomic.args.begin() + 4);
    if (atomic_operands(row->op) == 2)
        std::copy_n(data2.begin(), dwords, atomic.args.begin() + 4 + dwords);
    result = add(block, atomic);
    return {};
}

std::optional<uint64_t> dword_atomic_lanes(uint8_t exec_size, uint32_t channels,
                                           uint32_t predicate) {
    const uint32_t log_lanes = exec_size & 7, first = (exec_size >> 4 & 7) * 4;
    const bool no_mask = exec_size >> 7;
    if (log_lanes > 5 || exec_size & 8 || first + (1u << log_lanes) > 32) return {};
    const uint64_t lanes = (uint64_t{1} << (1u << log_lanes)) - 1;
    return lanes & (no_mask ? ~0u : channels >> first) & predicate >> first;
}

}  // namespace wj::ir
