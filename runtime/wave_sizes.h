// An engine for a processor whose kernels choose how many lanes their waves have.
#pragma once

#include <functional>
#include <memory>

#include "common/status.h"
#include "frontend/target.h"
#include "machine/engine.h"

namespace wj::runtime {

using MakeEngine = std::function<Result<std::unique_ptr<machine::Engine>>(const Target&)>;

// What `make` makes of the target; or, where the processor has waves of 32 and of 64 lanes, one
// engine that runs the waves of each size by one of its own. `make`'s errors are returned.
Result<std::unique_ptr<machine::Engine>> engine_for_wave_sizes(const Target& target,
                                                               const MakeEngine& make);
// The reference interpreter, for all sizes of waves.
std::unique_ptr<machine::Engine> interpreter_for_wave_sizes(const Target& target);

}  // namespace wj::runtime
