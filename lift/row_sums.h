// Which rows a program makes as sums of another row and a constant, as the bases of unrolled
// accesses to the LDS are. Found by reading the program from its beginning to its end, whatever way
// it goes: hints, and what relies on one is guarded for it.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "frontend/target.h"
#include "lift/liveness.h"

namespace wj::lift {

struct RowSum {
    uint32_t row, from, added;  // row = from + added
};
using RowSums = std::function<const std::vector<RowSum>&()>;

std::vector<RowSum> find_row_sums(const Target& target, uint64_t program, const Fetch& fetch);

}  // namespace wj::lift
