// What is known of a loop before it is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/schedule.h"
#include "backend_x64/walks.h"

namespace wj::x64 {

// How many chunks of the block, which branches to itself, should run together, 1, 2 or 4: where
// each iteration waits for what the one before hands it, the host has room for the iterations of
// other chunks. `divergent` describes the loop if its lanes decide.
uint32_t chunks_that_pay(const ir::Block& block, const Schedule& schedule,
                         const std::optional<DivergentLoop>& divergent, const Walks& walks,
                         bool avx512);
// How far a value moves from an iteration to the next, in its low 32 bits, if it is likely to move
// equally far each time.
std::optional<int32_t> stride_of(const ir::Block& block, Value v);
// The same for where an access goes, its scalar base included.
std::optional<int32_t> step_of(const ir::Block& block, const ir::Inst& access);
// By value: whether it is made of what lanes have loaded, in this iteration or an earlier one.
std::vector<bool> made_of_loads(const ir::Block& block);
// By value: whether in a loop it depends on scalar loads that differ from iteration to iteration.
std::vector<bool> looked_up_values(const ir::Block& block);
// Such a step is longer than a page, where prefetchers stop, or nobody knows how long.
bool steps_far(std::optional<int32_t> step);

}  // namespace wj::x64
