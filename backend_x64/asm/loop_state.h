// Where the code of a loop is being emitted.
#pragma once

#include <optional>
#include <vector>

#include "backend_x64/asm/registers.h"
#include "backend_x64/plan/loop_plan.h"

namespace wj::x64 {

// What an iteration does about walks (walks.h).
enum class Walking : uint8_t {
    No,
    Noting,    // it tells where the lanes are (row_loop.h)
    Learning,  // it looks where they go
    Yes,
};

struct LoopState {
    bool by_chunks = false;  // the block runs all iterations for some chunks, then for others
    bool lean = false;       // the body leaves out what only the last iteration has to do
    bool scalar_done = false;
    uint32_t part = 0, chunk = 0;  // whose body is emitted
    Walking walking = Walking::No;
    LoopPins pins;               // of the part
    std::vector<int8_t> prefer;  // registers, by unit
    std::vector<Value> merged;   // SetV that the body's operations so far have done themselves
    // Accesses of walks that go through rows that were read ahead.
    struct RowSite {
        uint32_t walk, number;  // in Frame::scattered
    };
    std::vector<RowSite> row_sites;
    uint32_t backup_slot = 0, count_slots = 0, walk_slots = 0;  // the first ones
};

// Of a loop that has code besides for rows of its lanes.
struct RowLoopState {
    Label entry, refused;
    uint32_t site = 0;   // in Frame::rows_wait
    uint32_t slots = 0;  // the first one
};

}  // namespace wj::x64
