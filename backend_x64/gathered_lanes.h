// Loops with lanes off and whose stores keep the order of lanes: the lanes that are on move to the
// front of rows of their own, so that few chunks hold all of them, and back when the loop is over.
#pragma once

#include <cstdint>

#include "machine/wave.h"

namespace wj::x64 {

struct Frame;

// What a loop reads and writes; lives behind the block's code. Lanes of a chunk, and of as many
// chunks as run together. Bytes: registers that hold lane masks, and whether they are then
// empty in lanes that are off; rows that are written, then those that are read only.
struct GatherPlan {
    uint8_t chunk_lanes, together, masks, written, read;
    uint8_t list[];
};

struct GatheredLanes {
    static constexpr uint32_t most_masks = 8;
    uint64_t exec = 0;        // of the wave; 0: no lanes have been moved
    uint32_t end = 0;         // of the chunks' bytes in rows, minus 256
    uint32_t lanes_left = 0;  // that fewer chunks would hold
    uint64_t unused = 0;      // bits of a mask
    const GatherPlan* plan = nullptr;
    uint64_t masks[most_masks] = {};  // as the loop found them
    alignas(64) uint32_t rows[256][machine::lanes] = {};
};

// Some lane is on.
void gather_lanes(machine::Wave& wave, Frame& frame, const GatherPlan& plan);
// The same if they fill fewer sets of chunks then, of lanes that have perhaps been moved before.
// Returns how many sets; 0: nothing was moved.
uint32_t regather_lanes(machine::Wave& wave, Frame& frame, const GatherPlan& plan);
// Also of what wave.exit says of lanes.
void spread_lanes(machine::Wave& wave, Frame& frame);

}  // namespace wj::x64
