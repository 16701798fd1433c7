// What fuzzers learn of instructions besides edges (machine/coverage.h).
#pragma once

#include "interpreter/interpreter.h"

namespace wj::interp {

// Of integer compares: reports the operands that the instruction is about to compare to
// Coverage::compared and changes nothing. Null for other instructions.
Handler compare_observer(Opcode op);
// The observer, then the handler; null for other instructions.
Handler observed_compare(Opcode op);
// A jump whose target only the handler knows: runs that and counts the edge.
void covered_jump(machine::Wave& wave, const Inst& inst);

}  // namespace wj::interp
