// Operations without state, on one lane's elements or on uniform values, in plain C++.
#pragma once

#include "ir/ir.h"

namespace wj::ir {

// x, y, z: the arguments. 0 for operations that are not of this kind.
uint64_t pure(const Inst& i, uint64_t x, uint64_t y, uint64_t z);

}  // namespace wj::ir
