// Where walks (walk.cpp, row_loop.cpp) keep what they know.
#pragma once

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

// Slots of the frame, 8 bytes each, behind LoopState::walk_slots.
enum WalkField : uint32_t {
    addresses = 0,                           // by walk and chunk
    steps = addresses + Walks::most * 4,     // by walk
    patterns = steps + Walks::most,          // a byte by walk and chunk: that was found last
    found = patterns + Walks::most * 4 / 8,  // a bit by walk and chunk: in this iteration
    found_before,                            // and in the one before
    learned,                                 // the same in both
    rest,                                    // of the budget
    iterations,                              // that walked
    in_rows,  // like `learned`: what was read ahead in this iteration (load_from_rows)
    walk_field_count,
    // By walk and chunk, of narrow rows: from each to the next one.
    row_steps = walk_field_count,
    walk_field_count_with_rows = row_steps + Walks::most * 4
};

// A walk's distance from its first addresses. The first pairs of registers for shared addresses
// (shared_facts) stay free.
inline const Gp& walk_distance(uint32_t walk) {
    static const Gp registers[Walks::most] = {asmjit::x86::r11, asmjit::x86::r10, asmjit::x86::r9,
                                              asmjit::x86::r8};
    return registers[walk];
}

// How many bytes walks go on from an address that was masked, as a power of two: far less than
// memory::Window::unused, so that what is in the window is found where masks would lead.
inline constexpr uint32_t masked_walk_bits = 30;

// Of `learned`: a value that walks extend may not grow any more.
inline constexpr uint32_t out_of_limits = 1u << 31;

}  // namespace wj::x64
