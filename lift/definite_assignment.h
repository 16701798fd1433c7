// Definite assignment: whether code may use bits that nobody has written, as an address, to decide
// a branch, as lanes of EXEC, or to store them. A forward data-flow over the control-flow graph
// that direct branches span; what is computed of unwritten bits is unwritten, and copies are no
// uses. The interpreter's InitCheck finds such uses where this says that there may be some; where
// it says that there is none, InitCheck would find none.
#pragma once

#include "lift/liveness.h"
#include "lift/written_lanes.h"

namespace wj::lift {

// What a wave starts with.
struct AssignedAtStart {
    std::bitset<128> scalars;
    uint32_t rows = 0;   // VGPRs from v0 on
    bool whole = false;  // all lanes are on
    bool operator==(const AssignedAtStart&) const = default;
};

struct UnassignedUse {
    bool possible = true;
    uint64_t begin = 0, end = 0;  // where the code is that tells so
};

// Of code that starts at `pc`; what it loads has been written. Possible where there is an indirect
// branch or a call, registers relative to M0, or too much code.
UnassignedUse find_unassigned_use(const Target& target, const Fetch& fetch, uint64_t pc,
                                  const AssignedAtStart& start);

}  // namespace wj::lift
