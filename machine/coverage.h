// Coverage of guest code: a counter of 8 bits for each edge that waves take, where a fuzzer looks
// for them.
//
// An edge goes from a branch (of any kind: s_branch, s_cbranch_*, s_call_b64, s_setpc_b64,
// s_swappc_b64, and so on) to the instruction that is executed next, be it the target or the one
// behind the branch; s_endpgm has one to nowhere. Each wave that takes it counts once. All engines
// count the same edges, as these do not depend on how they cut code into blocks.
//
// With `divergence`, edges that a wave takes with some of the lanes that it began with on, others
// off, have counters of their own; with `lanes` one for each of some ranges of how many are on.
// With all lanes off an edge is an ordinary one: all lanes agree.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include "machine/wave.h"

namespace wj::machine {

struct Coverage {
    static constexpr uint64_t nowhere = 0;  // where s_endpgm leads

    uint8_t* counters = nullptr;  // first: translated code reads it
    uint32_t size = 0;            // how many there are
    bool divergence = false, lanes = false;
    // A number for a place in guest code that is the same in all processes: it knows the code
    // object and the offset in it, not the address.
    uint64_t (*place)(const void* places, uint64_t pc) = nullptr;
    const void* places = nullptr;
    // Told of the operands of integer compares, of `bits` each, in one or two of the lanes; null:
    // nobody is. constant: `a` stands in the code.
    void (*compared)(uint32_t bits, uint64_t a, uint64_t b, bool constant) = nullptr;

    // Of 1, 2, 3 to 4, 5 to 8, 9 to 16, 17 to 32, 33 to 63 lanes that are some of the wave's.
    static constexpr uint32_t lane_ranges = 7;
    static uint32_t range_of(uint32_t lanes) {
        return static_cast<uint32_t>(std::bit_width(lanes - 1));
    }

    // The counters of the edge from the branch that ends at `from`: for waves whose lanes go
    // together and, with divergence another one, for those of which only some are on; with lanes
    // the first of as many as there are ranges.
    using Edge = std::array<uint32_t, 2>;
    Edge edge(uint64_t from, uint64_t to) const {
        const uint64_t end = to == nowhere ? 0 : place(places, to);
        const uint64_t hash = mix(place(places, from) * 0x9e3779b97f4a7c15 + end);
        const uint32_t together = counter_of(hash, size);
        if (!splits()) return {together, together};
        return {together, counter_of(mix(hash), lanes ? size - lane_ranges + 1 : size)};
    }
    bool splits() const { return divergence || lanes; }
    // Where a wave counts that stands at the edge.
    uint32_t counter(const Edge& edge, const Wave& wave) const {
        const uint64_t exec = splits() ? wave.exec() : 0;
        if (!exec || exec == wave.s64(Wave::first_exec)) return edge[0];
        return edge[1] + (lanes ? range_of(static_cast<uint32_t>(std::popcount(exec))) : 0);
    }
    // Counters stay at 255. Threads that count at the same time may lose one of their counts.
    void count(uint32_t edge) const {
        const std::atomic_ref<uint8_t> counter(counters[edge]);
        const uint8_t now = counter.load(std::memory_order_relaxed);
        if (now != 255) counter.store(now + 1, std::memory_order_relaxed);
    }

    // One of so many.
    static uint32_t counter_of(uint64_t hash, uint32_t count) {
        return static_cast<uint32_t>((hash >> 32) * count >> 32);
    }

    // The finalizer of splitmix64.
    static constexpr uint64_t mix(uint64_t x) {
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
        x = (x ^ x >> 27) * 0x94d049bb133111eb;
        return x ^ x >> 31;
    }
};

}  // namespace wj::machine
