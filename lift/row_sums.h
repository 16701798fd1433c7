// Rows that a program has made as sums of another row and a constant, as the bases of unrolled
// accesses to the LDS are. Found by reading the program from its beginning to its end, whatever way
// it goes: hints, and what relies on one is guarded for it.
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/target.h"
#include "lift/liveness.h"

namespace wj::lift {

class RowSums {
public:
    struct Sum {
        uint32_t row, from, added;  // row = from + added
    };
    using Known = std::vector<Sum>;

    RowSums(const Target& target, uint64_t program, const Fetch& fetch)
        : target_(target), fetch_(fetch), program_(program), next_(program) {}
    // What rows are when code comes to the PC that went straight on until then.
    Known before(uint64_t pc);

private:
    struct Write {
        uint64_t pc;
        uint32_t row, count;
        bool is_sum;
        Sum sum;
    };
    void read_to(uint64_t pc);

    const Target& target_;
    const Fetch& fetch_;
    const uint64_t program_;
    uint64_t next_;
    std::vector<Write> writes_;  // in front of next_
};

}  // namespace wj::lift
