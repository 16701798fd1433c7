// How many chunks of a loop should run together: where each iteration waits for what the one before
// hands it, the host has room for the iterations of other chunks.
#pragma once

#include <cstdint>
#include <optional>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/schedule.h"

namespace wj::x64 {

// 1, 2 or 4. The block branches to itself; `divergent` describes it if its lanes decide.
uint32_t chunks_that_pay(const ir::Block& block, const Schedule& schedule,
                         const std::optional<DivergentLoop>& divergent, bool avx512);

}  // namespace wj::x64
