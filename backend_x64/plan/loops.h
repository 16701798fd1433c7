// Loops of one block: what must hold for their chunks to run one after the other, and what of them
// stays in registers. (docs/design/uniform-loops.md)
#pragma once

#include <optional>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/plan/plan_context.h"
#include "backend_x64/walks.h"

namespace wj::x64 {

// If chunks may run one after the other: the masks that iterations hand on. Of a loop with stores
// each chunk is done for itself, and there are none.
std::optional<std::vector<LoopMask>> uniform_loop_masks(const PlanContext& c, bool with_stores);
// Whether a loop whose lanes decide may run chunk by chunk.
bool suits(const PlanContext& c, const DivergentLoop& loop);
// Lowerings of more than one instruction take temporaries besides.
bool have_simple_lowerings(const PlanContext& c, const Value* begin, uint32_t count);
// row_walks: AccessSite::row_walks. Each lane's row is a stream: those of one chunk are as many as
// the host follows.
bool only_reads_rows(const PlanContext& c, const Walks& walks, uint32_t row_walks);
// Each of them has a place in Frame::lane_rows for each chunk.
uint32_t count_far_row_walks(const PlanContext& c, const Walks& walks, uint32_t row_walks);

}  // namespace wj::x64
