// Loops that count: a scalar register grows by a constant and is compared with what iterations
// leave alone, so that it is known beforehand how often at least the loop goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_x64/schedule.h"

namespace wj::x64 {

struct CountedLoop {
    enum class Relation : uint8_t { Below, NotAbove, Different };

    Value set;           // SetS32 of the counter, whose old value is read by GetS32 only
    int32_t step;        // its magnitude is a power of two
    bool next;           // the value that is compared is the one that `set` writes
    Value bound;         // Const32, or GetS32 of a register that the loop does not write
    Relation goes_on;    // while this holds between counter and bound, or the other way round
    bool counter_first;  // counter below bound; else bound below counter
    bool is_signed;
    // Of the uniform code, by value: what has to run in each iteration that is known to go on.
    // Anything else is what the last iteration's code finds again.
    std::vector<bool> needed;
    bool counter_needed() const { return needed[set]; }
};

// Of the block, which branches to itself and has one region.
std::optional<CountedLoop> find_counter(const ir::Block& block, const Schedule& schedule);

}  // namespace wj::x64
