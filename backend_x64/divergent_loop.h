// Blocks that branch to themselves while lanes are left in EXEC, and whose chunks of lanes may run
// one after the other, each as long as it has lanes.
#pragma once

#include <optional>
#include <vector>

#include "ir/ir.h"

namespace wj::x64 {

// A register of the wave's size that holds a lane mask and is handed from iteration to iteration.
struct LoopMask {
    uint32_t reg;
    ir::Value get;   // its value when the iteration begins, read as a lane mask only
    ir::Value mask;  // its next value
};

// The mask that a loop of one block hands on in the register that `get` reads, if it reads that as
// a lane mask only and makes the next value itself. `live`: the mask of the lanes that go
// on, if it may also ask which ones are lost.
std::optional<LoopMask> find_loop_mask(const ir::Block& block, ir::Value get,
                                       ir::Value live = ir::no_value);

struct DivergentLoop {
    ir::Value live = ir::no_value;  // lanes that go on: EXEC of the next iteration
    uint64_t exit = 0;
    std::vector<LoopMask> carried;
    // Masks that are looked at behind the loop and are zero after an iteration without lanes; the
    // other ones are then as the last iteration with lanes left them.
    std::vector<ir::Value> fading;
    std::vector<bool> late;       // by value: depends on a mask that the region makes
    bool uniform_varies = false;  // iterations change scalar registers, or load scalars
};

// The loop that a block lifted for any EXEC forms. In an iteration without lanes nothing but the
// scalar registers (alike for all chunks) and the fading masks may change: so a chunk that has run
// out of lanes has no part in the iterations that others still need.
std::optional<DivergentLoop> find_divergent_loop(const ir::Block& block);

// The same where the order between chunks matters: lanes that are on may be moved together, in
// their order, as long as the loop runs (gathered_lanes.h). What it knows of lanes is then what
// rows and masks hold.
struct OrderedLoop {
    struct Mask {
        uint8_t reg;    // of the wave's size
        bool is_empty;  // of lanes that are off, behind the loop; otherwise they stay
    };
    uint64_t exit = 0;
    std::vector<Mask> masks;
    std::vector<uint8_t> written, read;  // rows; `read` without those that are written, too
};
std::optional<OrderedLoop> find_ordered_loop(const ir::Block& block);

}  // namespace wj::x64
