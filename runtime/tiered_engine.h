// An engine that interprets what is not worth a translation yet.
#pragma once

#include <memory>

#include "frontend/target.h"
#include "machine/engine.h"

namespace wj::runtime {

// Runs the waves of a kernel (ExecContext::kernel) by the interpreter until that has taken about as
// long as translating what it has met would take, and by the translator from there on, in the
// middle of a wave if it has to be. Kernels whose translation is at hand are not interpreted,
// matrix instructions never are. Threads that would wait for another one's translation interpret
// meanwhile. Everything else is the translator's. Which engine runs an instruction depends on the
// instructions executed before, never on time, as long as one thread runs.
std::unique_ptr<machine::Engine> make_tiered_engine(const Target& target,
                                                    std::unique_ptr<machine::Engine> translator);

}  // namespace wj::runtime
