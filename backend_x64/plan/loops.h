// Loops of one block: what must hold for their chunks to run one after the other, and what of them
// stays in registers. (docs/design/uniform-loops.md)
#pragma once

#include <optional>
#include <span>
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
// Parts of the body that share no value and no row may run one after the other, each with all its
// iterations: what one part hands on then fits the registers, where all of it would not (a row that
// goes through memory costs a store and a load in every iteration's critical path), and if possible
// what it only reads, too.
struct LoopParts {
    std::vector<uint8_t> of;  // by index into the region; empty: one part
    uint32_t count = 1;
    bool is_other(uint32_t i, uint32_t part) const { return !of.empty() && of[i] != part; }
};
LoopParts split_loop(const PlanContext& c);
// How many vectors the region's values fill at once. Of a loop: `reads` tells the rows that it
// reads, a value that becomes such a row's next one is assumed to take the old one's place, and
// what others become is not wanted.
int alive_at_once(const PlanContext& c, std::span<const Value> region,
                  std::span<const uint8_t> reads, const LoopParts& parts, uint32_t part);
// Lowerings of more than one instruction take temporaries besides.
bool have_simple_lowerings(const PlanContext& c, const Value* begin, uint32_t count);
// row_walks: AccessSite::row_walks. Each lane's row is a stream: those of one chunk are as many as
// the host follows.
bool only_reads_rows(const PlanContext& c, const Walks& walks, uint32_t row_walks);
// Each of them has a place in Frame::lane_rows for each chunk.
uint32_t count_far_row_walks(const PlanContext& c, const Walks& walks, uint32_t row_walks);

}  // namespace wj::x64
