// What instructions do with LDS, looked at in front of their handlers (machine/checks.h).
#pragma once

#include "interpreter/interpreter.h"

namespace wj::interp {

// False: the wave has been stopped with what was found (ExitInfo::detail has the check). Needs
// ExecContext::checks and the work-group's LdsShadow; does nothing for other instructions.
// ds_*_src2_* are not looked at.
bool check_lds(machine::Wave& wave, const Inst& inst);

// The look, then the handler; for opcodes that never use LDS their handler.
Handler checked_handler(Opcode op);

// Opcodes whose purpose may be an access to LDS: translated code leaves them to checked_handler.
// (LDS forms of other loads are left to their handlers anyway.)
bool looks_at_lds(Opcode op);

}  // namespace wj::interp
