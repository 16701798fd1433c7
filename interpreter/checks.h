// What instructions do, looked at in front of their handlers (machine/checks.h).
#pragma once

#include "interpreter/interpreter.h"

namespace wj::interp {

// May stop the wave in front of the instruction, to yield (memory::watched_from_here).
// Tells the sink of the dispatch what the checkers of accesses, waits and divisions find. Needs
// ExecContext::checks and the work-group's GroupShadow. ds_*_src2_* are not looked at.
void look(machine::Wave& wave, const Inst& inst);

// Of a wave that joins another named barrier now, or has ended.
void check_useless_join(const machine::Wave& wave);

// The look, then the handler; for opcodes that no checker of accesses looks at their handler.
Handler checked_handler(Opcode op);
// The same for all opcodes, and which bits have been written: with machine::checks_of_registers.
Handler watched_handler(Opcode op);

// For code that is translated.
struct TranslatedChecks {
    // The look, in front of what these checkers look at; null for other opcodes.
    Handler (*observer)(Opcode) = nullptr;
    // The same beside compare_observer (observe.h).
    Handler (*observer_of_compares)(Opcode) = nullptr;
    // Of what is not translated: with the look where there was no observer (LDS forms of loads).
    Handler (*handler)(Opcode) = nullptr;
};
TranslatedChecks translated_checks(uint32_t checks);
// Opcodes that any checker looks at.
bool looked_at(Opcode op);

}  // namespace wj::interp
