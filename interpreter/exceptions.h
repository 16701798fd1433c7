// What costs too much where nobody asks for it: exceptions of floating-point instructions, and
// registers that have two names.
#pragma once

#include "interpreter/interpreter.h"

namespace wj::interp {

// Whether the instruction can raise exceptions (docs/reference/float.md, "Exceptions").
bool raises_exceptions(Opcode op);

// The instruction with all of its consequences: raised exceptions stay in TRAPSTS, an enabled one
// stops the wave behind the instruction, and what is written to a register of Wave::sgpr_aliases is
// written to its other name. Like a Handler; the opcode must have one.
void run_whole(machine::Wave& wave, const Inst& inst);

// run_whole if the opcode has a handler, else null.
Handler whole_handler(Opcode op);

// Whether a wave's instructions have such consequences.
inline bool runs_whole(const machine::Wave& wave) {
    return (wave.mode & machine::mode::watches_exceptions) || wave.sgpr_aliases;
}

}  // namespace wj::interp
