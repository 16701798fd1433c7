// What is plain to see of values.
#pragma once

#include <optional>

#include "ir/ir.h"

namespace wj::ir {

// The constant that a V32 value is in all lanes.
inline std::optional<uint32_t> in_all_lanes(const Block& block, Value v) {
    const Inst& splat = block.insts[v];
    if (splat.op != Op::Splat32 || block.insts[splat.args[0]].op != Op::Const32) return {};
    return static_cast<uint32_t>(block.insts[splat.args[0]].imm);
}

// Whether the mask has all lanes, as a constant.
inline bool is_full(const Block& block, Value mask) {
    const Inst& m = block.insts[mask];
    return m.op == Op::MaskOf && block.insts[m.args[0]].op == Op::Const64 &&
           !(~block.insts[m.args[0]].imm & block.whole_exec());
}

// The lanes that EXEC has lost in a loop (lift/loop_masks.h): those of its value at the loop's
// beginning, as seen behind the loop, that are not in the mask `live` of the next iteration.
bool is_lost(const Block& block, const Inst& lanes, Value live);

// Whether the uniform value is the same in waves that begin with the same scalar registers, as
// those of a work-group do: made of these, and of memory that they point to (`loads`).
bool of_scalars(const Block& block, Value v, bool loads = true);

// The bits that may be set in some lane. From loads of bytes and words, masks, shifts and sums.
uint32_t possible_bits(const Block& block, Value v, uint32_t depth = 6);

// A table of few elements that lanes choose from: single dwords or bytes whose offsets from a
// scalar are small. How many bytes it may have, at most max_table_bytes, or 0.
inline constexpr uint32_t max_table_bytes = 256;
uint32_t table_bytes(const Block& block, Access access, uint32_t dwords, Value offset);

}  // namespace wj::ir
