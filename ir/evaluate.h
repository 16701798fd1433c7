// Runs a block of IR in plain C++, operation by operation over all lanes: the model that tests
// compare the translators with. Identity memory only; faults are not modelled.
#pragma once

#include <functional>
#include <optional>

#include "ir/ir.h"

namespace wj::ir {

// What evaluate() returns when the block's guards do not hold; nothing has happened then.
inline constexpr uint64_t guard_failed = ~0ull;

// Executes the block on the wave's state. Returns the address where execution goes on, or `next` of
// an Exit.
uint64_t evaluate(const Block& block, machine::Wave& wave);

// Guest memory of 4 or 8 bytes, or none.
using ReadMemory = std::function<std::optional<uint64_t>(uint64_t address, uint32_t bytes)>;
// The uniform value v for a wave that stands at the block's beginning, if it depends on nothing but
// scalar registers, first lanes of rows, and memory that can be read.
std::optional<uint64_t> value_at_entry(const Block& block, Value v, const machine::Wave& wave,
                                       const ReadMemory& read);

}  // namespace wj::ir
