// Global memory in an order as weak as the guest's own waits and cache operations leave it
// (docs/design/memory-model.md).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machine/wave.h"

namespace wj::memory {

// Memory as the waves of one work-group see it. A store arrives some time between its instruction
// and the wait for it, in any order with those to other addresses; a load finds what a cache has
// held since an earlier one. A seed says when. One thread runs the dispatch, so that nobody else
// looks meanwhile. Addresses are guest addresses: memory that is mapped twice is two memories.
class WeakMemory {
public:
    // caches_apart: waves may be on several compute units, each with a cache of its own.
    void begin(uint32_t waves, bool caches_apart, uint64_t seed);

    // In front of each instruction of a wave: something that is under way may arrive, of any wave,
    // and a cache may lose what it holds.
    void step(machine::ExecContext& ctx);
    // The wave's next access: `coherent` ones go around the caches, `counted` ones can be waited
    // for.
    void issue(uint32_t wave, bool coherent, bool counted);
    // Of the wave's counted accesses the last `left` may stay under way.
    void wait(machine::ExecContext& ctx, uint32_t wave, uint64_t left);
    void empty_cache(uint32_t wave);

    // At most 16 bytes each. False = fault, and nothing has happened.
    bool load(machine::ExecContext& ctx, uint32_t wave, uint64_t address, void* out,
              uint32_t bytes);
    bool store(machine::ExecContext& ctx, uint32_t wave, uint64_t address, const void* in,
               uint32_t bytes);
    // An atomic operation on these bytes is next: it is behind the wave's own stores to them, and
    // no cache holds them.
    void make_room(machine::ExecContext& ctx, uint32_t wave, uint64_t address, uint32_t bytes);

private:
    struct Store {
        uint64_t address, number;  // counted accesses up to it
        uint32_t bytes;
        std::array<uint8_t, 16> data;
    };
    struct Line {
        static constexpr uint32_t bytes = 64;
        std::array<uint32_t, bytes / 4> dwords{};
        uint32_t valid = 0;  // a bit for each
    };
    using Cache = std::unordered_map<uint64_t, Line>;
    struct WaveState {
        std::vector<Store> under_way;
        uint64_t counted = 0;
        bool coherent = false;
    };

    Cache& cache_of(uint32_t wave) { return caches_[wave % caches_.size()]; }
    void arrive(machine::ExecContext& ctx, uint32_t wave, size_t index);
    void arrive_at(machine::ExecContext& ctx, uint32_t wave, uint64_t address, uint32_t bytes);
    const Line& line_at(machine::ExecContext& ctx, Cache& cache, uint64_t address);

    std::vector<WaveState> waves_;
    std::vector<Cache> caches_;
    uint64_t random_ = 0;
    uint64_t pace_ = 1;  // a store arrives in one of so many steps
};

}  // namespace wj::memory
