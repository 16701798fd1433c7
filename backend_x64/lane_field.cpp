#include "backend_x64/lane_field.h"

#include "ir/known.h"

namespace wj::x64 {
namespace {

using ir::Block;
using ir::Inst;
using ir::Op;
using ir::Value;

constexpr uint32_t most_up = 3;           // scales of x86's addresses
constexpr int64_t most_offset = 1 << 16;  // in the LDS; sums with it do not wrap around

// Made again where they are used.
bool never_stored(Op op) {
    return op == Op::Splat32 || op == Op::Line32 || op == Op::LaneId;
}

struct Operands {
    Value value = ir::no_value;
    uint32_t constant = 0;
};
// Those of the operation, if `v` is its result and one is a constant.
Operands with_constant(const Block& block, Value v, Op op) {
    const Inst& i = block.insts[v];
    if (i.op != op) return {};
    if (const auto c = in_all_lanes(block, i.args[1])) return {i.args[0], *c};
    if (const auto c = in_all_lanes(block, i.args[0]); c && op == Op::And32) return {i.args[1], *c};
    return {};
}

LaneField field_of(const Block& block, Value v) {
    LaneField f{.source = v};
    const Operands mask = with_constant(block, v, Op::And32);
    const bool masked = mask.value != ir::no_value;
    if (masked) f.most = mask.constant;
    const Value above = masked ? mask.value : v;
    const Operands shift = with_constant(block, above, Op::Shr32);
    const bool shifted = shift.value != ir::no_value && shift.constant < 32;
    if (shifted) f.most &= ~0u >> shift.constant;
    const uint32_t first = shifted ? shift.constant : 0;
    for (uint32_t width : {8u, 16u})
        if (f.most == ~0u >> (32 - width) && first % width == 0) {
            f.source = shifted ? shift.value : above;
            f.first = first;
            f.width = width;
        }
    return f;
}

std::optional<LaneField> field32(const Block& block, Value v) {
    const Operands index = with_constant(block, v, Op::Shl32);
    const bool scaled = index.value != ir::no_value && index.constant <= most_up;
    LaneField f = field_of(block, scaled ? index.value : v);
    if (scaled) f.up = index.constant;
    if (f.source == v || f.most > ~0u >> f.up) return {};  // nothing may be shifted out
    return f;
}

}  // namespace

std::optional<LaneField> scaled_index(const Block& block, Value v) {
    const Inst& pair = block.insts[v];
    if (pair.op != Op::Pack64) return {};
    if (in_all_lanes(block, pair.args[1]) == 0u) return field_of(block, pair.args[0]);
    const bool is_signed = block.insts[pair.args[1]].op == Op::Sar32;
    const Operands low = with_constant(block, pair.args[0], Op::Shl32),
                   high = with_constant(block, pair.args[1], is_signed ? Op::Sar32 : Op::Shr32);
    if (low.value == ir::no_value || low.value != high.value || low.constant > most_up ||
        low.constant + high.constant != 32)
        return {};
    LaneField f = field_of(block, low.value);
    f.up = low.constant;
    // A field that has the sign is all there is.
    if (is_signed && f.most >> 31) f = {.source = low.value, .up = low.constant, .is_signed = true};
    return f;
}

bool is_direct(ir::AtomicOp op) {
    return op == ir::AtomicOp::Add || op == ir::AtomicOp::Sub || op == ir::AtomicOp::And ||
           op == ir::AtomicOp::Or || op == ir::AtomicOp::Xor;
}

std::optional<LaneField> find_lane_field(const Block& block, const Inst& atomic, bool full,
                                         bool returns, const MemoryTraits& memory) {
    const bool lds = atomic.op == Op::AtomicLds,
               global = atomic.op == Op::AtomicGlobalS || atomic.op == Op::AtomicGlobalS64;
    if (!full || returns || ir::aux_dwords(atomic.aux) != 1 ||
        ir::aux_atomic_flags(atomic.aux) & (ir::half_words | ir::new_values) ||
        !is_direct(ir::aux_atomic(atomic.aux)) ||
        !(lds || (global && memory.exclusive && memory.direct)))
        return {};
    const auto imm = static_cast<int64_t>(atomic.imm);
    const Value address = ir::address_of(atomic);
    const auto f =
        atomic.op == Op::AtomicGlobalS64 ? scaled_index(block, address) : field32(block, address);
    constexpr uint32_t aligned = 2;
    if (!f || f->up < aligned || imm % 4 || never_stored(block.insts[f->source].op)) return {};
    if (lds && (imm < 0 || imm > most_offset || f->most > ~0u >> 16)) return {};
    if (imm != static_cast<int32_t>(imm)) return {};
    return f;
}

}  // namespace wj::x64
