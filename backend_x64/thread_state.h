// What a thread keeps for translated code: its frame, where blocks that waves start at are, and
// which engine's code it is in. Code memory is reused only when no thread is in it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "backend_x64/code_cache.h"
#include "backend_x64/frame.h"

namespace wj::x64 {

// A block that waves start or resume at; valid while the engine's stamp is the one it was made
// with.
struct KnownEntry {
    uint64_t stamp = 0, pc = 0;
    SpaceKey key;
    bool full = false;
    CodeSpace* space = nullptr;
    const uint8_t* host = nullptr;
};

struct ThreadState {
    ThreadState();
    ~ThreadState();
    ThreadState(const ThreadState&) = delete;
    ThreadState& operator=(const ThreadState&) = delete;

    KnownEntry& entry_of(uint64_t pc, bool full) {
        return entries[(pc | full) * 0x9e3779b97f4a7c15 >> (64 - entry_bits)];
    }

    Frame frame;
    std::atomic<const void*> inside{nullptr};  // the engine that runs waves on this thread
    machine::Wave* wave = nullptr;  // the one that runs: survives the jump out of a guest fault
    static constexpr uint32_t entry_bits = 8;  // a kernel starts behind each of its barriers
    std::array<KnownEntry, 1u << entry_bits> entries;
};

ThreadState& this_thread_state();
bool any_thread_inside(const void* engine);

}  // namespace wj::x64
