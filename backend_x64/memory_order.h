// Which accesses of a block may be done in another order than the program's.
#pragma once

#include <cstdint>

#include "ir/ir.h"

namespace wj::x64 {

enum SpaceBits : uint32_t { in_global = 1, in_lds = 2, in_scratch = 4 };
// Where a load, store or atomic may go.
uint32_t spaces(ir::Op op);

// Atomics of one kind without results may be done in any order: their kind, else 0. `uses`: of the
// result.
uint32_t merging_atomic(const ir::Inst& i, uint32_t uses);

// Whether anything may write to the LDS.
bool writes_lds(const ir::Block& block);
// All accesses to the LDS are at one line, whose lanes have elements of their own there.
bool own_elements_in_lds(const ir::Block& block);

// Stores at one line of addresses, but so far apart that no lane's element meets another lane's.
bool never_overlap(const ir::Block& block, const ir::Inst& x, const ir::Inst& y);

}  // namespace wj::x64
