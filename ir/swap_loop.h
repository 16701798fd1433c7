// Loops of compare-and-swap that add to memory, as compilers write float additions for memory
// without them: lanes that find another value than they expected try again with it.
#pragma once

#include <functional>

#include "ir/ir.h"

namespace wj::ir {

// A block that branches to itself while lanes are left, if it is such a loop and nothing else: it
// becomes an atomic addition that all lanes are done with at once, as if each had expected what it
// found. The lanes' order is the same if those that add to one place expect the same there, as they
// do that have loaded it together: the lowest comes first. Else it is another one that there may
// be. False if it is none. `is_read`: whether somebody reads a row behind the loop.
// eliminate_dead() removes what is then not needed.
bool swap_at_once(Block& block, const std::function<bool(uint64_t row)>& is_read);

}  // namespace wj::ir
