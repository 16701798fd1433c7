// What an embedder is told before a wave executes an instruction.
#pragma once

#include <array>
#include <cstdint>

#include "machine/wave.h"

namespace wj::machine {

enum class Space : uint8_t {
    Global,
    Lds,      // addresses are bytes in the work-group's LDS
    Private,  // bytes in a work-item's private segment
    Scalar    // global memory, by a scalar instruction
};

// What the lanes of a wave access of one space, each at one address.
struct LaneAccesses {
    Space space = Space::Global;
    Access access = Access::None;
    uint32_t bytes = 0;      // in each lane; 0: a buffer's format says how many
    uint64_t lane_mask = 0;  // 0: a scalar access, at addresses[0]
    std::array<uint64_t, lanes> addresses;
};

// Called with the wave in front of the instruction at wave.pc, by the thread that runs it, outside
// of what catches faults. They may change the wave's registers and its LDS; with another wave.pc
// the wave goes on there. False stops it in front of the instruction.
class Hooks {
public:
    virtual ~Hooks() = default;
    // At its first instruction, and at each one behind a branch of any kind, taken or not.
    virtual bool at_block(Wave& wave) = 0;
    virtual bool at_instruction(Wave& wave) = 0;
    virtual bool at_access(Wave& wave, const LaneAccesses& accesses) = 0;
    virtual bool at_barrier(Wave& wave) = 0;
    // Whether at_access() is to be called: addresses cost something.
    virtual bool wants_accesses() const = 0;
};

}  // namespace wj::machine
