// machine/hooks.h, called in front of an instruction.
#pragma once

#include "machine/hooks.h"
#include "interpreter/interpreter.h"

namespace wj::interp {

// Calls those that the instruction at wave.pc is of interest for, in the order of their
// declaration, until one moves wave.pc. False: one of them stops the wave.
bool call_hooks(machine::Hooks& hooks, machine::Wave& wave, const Inst& inst, bool begins_block);

}  // namespace wj::interp
