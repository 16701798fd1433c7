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
           block.insts[m.args[0]].imm == ~uint64_t{0};
}

}  // namespace wj::ir
