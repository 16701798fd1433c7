// VOPD: two vector operations in one instruction, taken apart.
#pragma once

#include "frontend/inst.h"

namespace wj {

// The VOP1, VOP2 or VOP3 row that does the same as a row of VOPD; any other row itself.
Opcode single_operation(Opcode op);

inline bool is_dual(const Inst& inst) {
    return inst.op_y != Opcode::invalid;
}

// One of the two operations of a VOPD as an instruction of its own. Who runs both must see to it
// that the one that comes second reads what was there before the first.
Inst dual_half(const Inst& inst, bool second);

// Whether `inst`, one of the halves, reads a register that the other half writes.
bool reads_result(const Inst& inst, const Inst& other);

}  // namespace wj
