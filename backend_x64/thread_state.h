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

// At the beginning of a page, see runtime::GroupContext.
struct alignas(4096) ThreadState {
    ThreadState();
    ~ThreadState();
    ThreadState(const ThreadState&) = delete;
    ThreadState& operator=(const ThreadState&) = delete;

    // The entry for (pc, full), or one that may be made it: which was filled longest ago of its
    // set.
    KnownEntry& entry_of(uint64_t pc, bool full) {
        EntrySet& set = set_of(pc, full);
        for (KnownEntry& e : set.ways)
            if (e.pc == pc && e.full == full) return e;
        return set.ways[set.next];
    }
    void fill(const KnownEntry& entry) {
        EntrySet& set = set_of(entry.pc, entry.full);
        KnownEntry& e = entry_of(entry.pc, entry.full);
        if (&e == &set.ways[set.next]) set.next = (set.next + 1) % set.ways.size();
        e = entry;
    }

    Frame frame;
    std::atomic<const void*> inside{nullptr};  // the engine that runs waves on this thread
    machine::Wave* wave = nullptr;  // the one that runs: survives the jump out of a guest fault
    struct EntrySet {
        std::array<KnownEntry, 4> ways;
        uint32_t next = 0;
    };
    static constexpr uint32_t set_bits = 6;  // a kernel starts behind each of its barriers
    std::array<EntrySet, 1u << set_bits> entries;

private:
    EntrySet& set_of(uint64_t pc, bool full) {
        return entries[(pc | full) * 0x9e3779b97f4a7c15 >> (64 - set_bits)];
    }
};

ThreadState& this_thread_state();
bool any_thread_inside(const void* engine);

}  // namespace wj::x64
