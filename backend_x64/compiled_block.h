// What the emitter hands to the code cache.
#pragma once

#include <cstdint>
#include <vector>

#include "backend_x64/plan/address_mode.h"
#include "backend_x64/plan/decisions.h"

namespace wj::x64 {

class HostCounters;

// What is known of a wave that enters a block. Who has all lanes on enters Full, which may be
// guarded (ir::Block::guarded); if it is, and the guards do not hold, Unguarded goes on from there.
// At the beginning of a program Edge comes in between, for waves whose lanes the bounds of the grid
// leave otherwise. Loops that are lifted for any EXEC go on in UnguardedPartial.
enum class Variant : uint8_t { Partial, Full, Unguarded, UnguardedPartial, Edge };
inline constexpr size_t variant_count = 5;
inline constexpr bool is_entered(Variant v) {  // by who knows of EXEC only
    return v == Variant::Partial || v == Variant::Full;
}
inline constexpr bool is_unguarded(Variant v) {
    return v == Variant::Unguarded || v == Variant::UnguardedPartial;
}
inline constexpr Variant variant_for(bool exec_full) {
    return exec_full ? Variant::Full : Variant::Partial;
}

struct CompileOptions {
    bool avx512 = false;
    AddressMode address_mode = AddressMode::Identity;
    bool exclusive = false;       // atomics need not be atomic
    bool fetches_streams = true;  // HostTuning::fetches_streams
    bool gathers_slowly = true;   // HostTuning::gathers_slowly
    bool splits_loads = false;    // HostTuning::splits_loads
    uint32_t row_lanes = 64;      // machine::row_lanes() of the launch
    uint32_t whole_lanes = 64;    // ExecContext::whole_lanes
    // Accesses look for all patterns themselves, without memory stubs: code that is run often.
    bool all_patterns = false;
    uint32_t loop_chunks = 0;          // run together; 0: as many as pay
    uint32_t slice_iterations = 0;     // of divergent loops; 0: the usual number
    Variant variant = Variant::Full;   // of blocks for waves with all lanes on
    HostCounters* counters = nullptr;  // count what is executed (hot_blocks.h)
    Decisions* decisions = nullptr;    // what is decided is told (plan/decisions.h)

    bool has_masks() const { return avx512; }
    uint32_t vector_bytes() const { return avx512 ? 64 : 32; }
};

// Host instructions that are executed together, without the counter in front of them.
struct CountedRun {
    uint32_t begin, end;  // offsets
    uint64_t* counter;    // times executed
    uint32_t instructions = 0;
    bool call = false;  // it ends with a call of C++ code
};

struct PcEntry {
    uint32_t offset;  // first host byte of the instruction's code
    uint32_t guest;   // index into the block's guest PCs
};

// A direct jump through a data slot behind the code.
struct LinkSite {
    uint32_t return_offset;  // behind the call of the link stub that an unlinked slot leads to
    uint32_t cold_offset;    // that call
    uint32_t slot_offset;
    uint64_t target;
    Variant variant;
};

// Eight bytes behind the code whose value holds in this process only. Nothing else in a block does:
// code reaches constants by offsets from itself and stubs through the frame.
struct Relocation {
    enum class Kind : uint8_t {
        Code,         // address of guest code; value = that address
        Instruction,  // host address of the decoded instruction at guest address `value`
        Host,         // function or text of wavejit's own; value = its address
    } kind = Kind::Code;
    uint32_t offset = 0;
    uint64_t value = 0;
};

struct CompiledBlock {
    const uint8_t* code = nullptr;     // in the emitter's buffer until the next compilation
    uint32_t size = 0, code_size = 0;  // code_size: without constants and slots
    uint32_t hot_size = 0;             // without the code that is out of line, too
    uint32_t body_offset = 0;          // behind the budget check
    uint32_t budget_return_offset = 0;
    // Not 0: from here on global memory is accessed in a loop only that may run the chunks of
    // several waves; rbp is minus the bytes of a row that are left of all of them.
    uint32_t together_offset = 0;
    std::vector<PcEntry> pcs;  // by offset
    std::vector<LinkSite> links;
    std::vector<Relocation> relocations;
    uint64_t memory_stubs = 0;     // a bit for each that is called
    std::vector<CountedRun> runs;  // with CompileOptions::counters
};

}  // namespace wj::x64
