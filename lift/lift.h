// Guest basic block -> IR: the only code that sees both the front-end and the IR.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string_view>

#include "common/status.h"
#include "frontend/inst.h"
#include "frontend/target.h"
#include "ir/ir.h"
#include "lift/affine.h"
#include "lift/liveness.h"
#include "machine/coverage.h"

namespace wj::lift {

struct Options {
    const Target* target = nullptr;
    uint32_t mode = 0;       // MODE at entry; part of the code cache key
    bool exec_full = false;  // EXEC is known to be the first `lanes` at entry
    uint32_t lanes = machine::lanes;
    // Registers beyond these end the wave with IllegalInstruction; sgpr_count 0: not checked.
    uint32_t vgpr_count = 256, agpr_count = 0, sgpr_count = 0;
    // Of addresses, the bits that count (ExecContext::reach).
    uint64_t address_mask = ~uint64_t{0};
    // Others may look at memory while the wave runs: the order of accesses matters
    // (memory_order.h).
    bool observed = true;
    uint32_t max_instructions = 320;
    uint64_t end_before = 0;  // the block ends where it comes to this PC, if not at its beginning
    // The interpreter's handler of an opcode, for instructions that are not lowered; null =
    // refused.
    void (*(*handler)(Opcode))(machine::Wave&, const Inst&) = nullptr;
    // Opcodes that are left to their handlers, which do more than a lowering would; null = none.
    bool (*by_handler)(Opcode) = nullptr;
    // What the numbers of registers in the code stand for, as the wave has it at entry.
    struct Names {
        uint8_t sgpr_aliases = 0, vgpr_msb = 0;  // Wave's; vgpr_msb is part of the code cache key
    } names;
    // Blocks end where the guest's do, and are lifted for any wave: what is counted in them, or
    // timed, is the same on every host.
    bool plain = false;
    // Edges are counted; the block is plain, too. An opcode's observer is called in front of its
    // instructions; null = there is none.
    const machine::Coverage* coverage = nullptr;
    void (*(*observer)(Opcode))(machine::Wave&, const Inst&) = nullptr;
    // For jumps to addresses that only their handler knows, instead of it.
    void (*covered_jump)(machine::Wave&, const Inst&) = nullptr;
    // Bitwise operations on scalar register pairs are lane mask operations, done chunk by chunk.
    bool lane_masks = false;
    // The block may be guarded (ir::Block::guarded) for what makes it simpler: scalars in bounds,
    // and if it is a loop that runs while lanes are left, its masks (loop_masks.h).
    bool may_guard = false;
    // If set, the block is lifted for rows and values that are lines (affine.h), where that helps;
    // it is guarded then.
    RowLines row_lines;
    RowSumsBefore row_sums;      // of the program, or null
    uint32_t vector_lanes = 16;  // lanes of the host's vectors
    // The wave that is about to run the block, or null, and how to read its memory.
    const machine::Wave* now = nullptr;
    ir::ReadMemory read_memory;
    machine::NextWaves next;  // behind it
    bool at_edge = false;     // for waves that have any lanes, if some, left by a grid's bounds
    // Called behind each pass that changed the block, with its name; null = nobody asks.
    std::function<void(std::string_view pass, const ir::Block& block)> passed;
    // Leaves out writes that nobody reads; null = every register is written.
    Liveness* liveness = nullptr;
};

// Guest instructions that calls refer to; must outlive the translated code. Addresses are stable.
using InstStore = std::deque<Inst>;

// Never fails: undecodable bytes become an Exit terminator (IllegalInstruction), code that cannot
// be fetched (an empty span) a MemoryFault with Access::Execute.
ir::Block lift_block(const Options& options, uint64_t pc, const Fetch& fetch, InstStore& store);

}  // namespace wj::lift
