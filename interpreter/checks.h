// What instructions do, looked at in front of their handlers (machine/checks.h).
#pragma once

#include "interpreter/interpreter.h"

namespace wj::interp {

// Tells the sink of the dispatch what the checkers of accesses, waits and divisions find. Needs
// ExecContext::checks and the work-group's GroupShadow. ds_*_src2_* are not looked at.
void look(machine::Wave& wave, const Inst& inst);

// The look, then the handler; for opcodes that no checker of accesses looks at their handler.
Handler checked_handler(Opcode op);
// The same for all opcodes, and which bits have been written: with machine::checks_of_registers.
Handler watched_handler(Opcode op);

// Opcodes that these checkers look at: translated code leaves them to checked_handler. (LDS forms
// of other loads are left to their handlers anyway.)
bool (*looks_at(uint32_t checks))(Opcode);

}  // namespace wj::interp
