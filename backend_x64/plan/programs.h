// What a block is as a whole: a program, a loop, and what its accesses are to each other.
#pragma once

#include <span>

#include "backend_x64/plan/plan_context.h"

namespace wj::x64 {

bool starts_program(const ir::Block& block);
bool ends_program(const ir::Block& block);
// A program that is this block, and leaves every register as it was, starts its next wave by
// itself.
bool runs_again(const PlanContext& c);
// Whether it stores to global memory otherwise than in rows (LaneLoad: loads from there).
bool scatters(const PlanContext& c, ir::Class access);
// Whether regions read v0, not only what is known of it.
bool reads_ids(const PlanContext& c);
// The block branches to itself or jumps to itself.
bool repeats_itself(const ir::Block& block);

// The block branches to itself or out, whatever its lanes do.
bool is_uniform_loop(const PlanContext& c);
bool uses_accumulators(const ir::Block& block);
// Iterations leave what the guards have found as it is: loops that run chunk by chunk test them
// once. (One without lanes in common with EXEC gets those that EXEC loses: lift/loop_masks.h.)
bool guards_stay(const ir::Block& block);

// Whether a region that does nothing outside of the mask gains by code for whole chunks: its
// accesses would each ask whether all lanes are on.
bool gains_by_whole_chunks(const ir::Block& block, Value mask, std::span<const Value> region);

// What the block leaves in EXEC, if it writes it once, and as a whole; else no_value.
Value last_exec(const ir::Block& block);

// A store whose end no later instruction of its wave waits for.
bool ends_unordered(const ir::Block& block, Value store);
// Nothing behind such a store touches memory, nor does anything tell another wave that it is done.
bool is_last_access(const ir::Block& block, Value store);
// Whether floating-point arithmetic reads what the load loads.
bool feeds_floats(const PlanContext& c, Value load);

}  // namespace wj::x64
