// Runs a block of IR in plain C++, operation by operation over all lanes: the model that tests
// compare the translators with. Identity memory only; faults are not modelled.
#pragma once

#include "ir/ir.h"

namespace wj::ir {

// What evaluate() returns when the block's guards do not hold; nothing has happened then.
inline constexpr uint64_t guard_failed = ~0ull;

// Executes the block on the wave's state. Returns the address where execution goes on, or `next` of
// an Exit.
uint64_t evaluate(const Block& block, machine::Wave& wave);

}  // namespace wj::ir
