// The memory part of evaluate().
#pragma once

#include <array>
#include <vector>

#include "ir/ir.h"

namespace wj::ir {

// A value: uniform values and masks use element [0][0]; lane values one 64-bit element a lane,
// tuples four.
struct Cell {
    std::array<std::array<uint64_t, machine::lanes>, 4> e{};
    uint64_t& u() { return e[0][0]; }
};
using Cells = std::vector<Cell>;  // by Value

// A lane load or store; a lane atomic, lowest lane first.
void evaluate_memory(const Inst& inst, machine::Wave& wave, Cells& values, Cell& result);
void evaluate_atomic(const Inst& inst, machine::Wave& wave, Cells& values, Cell& result);

}  // namespace wj::ir
