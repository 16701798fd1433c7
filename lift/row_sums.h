// Rows that a program has made as sums of another row and a constant, as the bases of unrolled
// accesses to the LDS are. Found by reading the program from its beginning to its end, whatever way
// it goes: hints, and what relies on one is guarded for it.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "frontend/target.h"
#include "lift/liveness.h"

namespace wj::lift {

class RowSums {
public:
    struct Sum {
        uint32_t from, added;  // a row, and what is added to it
    };

    RowSums(const Target& target, uint64_t program, const Fetch& fetch);
    // What rows are when code comes to the PC that went straight on until then.
    std::map<uint32_t, Sum> before(uint64_t pc) const;

private:
    struct Write {
        uint64_t pc;
        uint32_t row, count;
        bool is_sum;
        Sum sum;
    };
    std::vector<Write> writes_;
};

}  // namespace wj::lift
