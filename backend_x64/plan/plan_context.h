// What the functions of plan/ decide by: the block, the order its code will have, and what is known
// of the host and the launch. They emit nothing, and the same context gives the same plan.
#pragma once

#include "backend_x64/compiled_block.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

struct PlanContext {
    const ir::Block& block;
    const Schedule& schedule;
    const CompileOptions& options;

    const ir::Inst& inst(Value v) const { return block.insts[v]; }
    bool is_const(Value v) const {
        const ir::Op op = inst(v).op;
        return op == ir::Op::Const32 || op == ir::Op::Const64;
    }
    bool is_wide(Value v) const { return block.type(v) == ir::Type::U64; }
    // AVX-512: all accesses may be masked, elements scattered, and two vectors permuted at once.
    bool has_masks() const { return options.has_masks(); }
    uint32_t width() const { return options.vector_bytes(); }
    uint32_t chunk_lanes() const { return width() / 4; }
};

}  // namespace wj::x64
