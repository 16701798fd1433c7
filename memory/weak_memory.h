// Global memory in an order as weak as the guest's own waits and cache operations leave it
// (docs/design/memory-model.md).
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "machine/wave.h"

namespace wj::memory {

// Memory as the waves of one work-group see it. Those on one compute unit see each other's stores
// at once; to others a store arrives some time between its instruction and the wait for it, in any
// order with those to other addresses. A load finds what the unit's cache has held since an earlier
// one. A seed says when. One thread runs the dispatch, so that nobody else looks meanwhile.
// Addresses are guest addresses: memory that is mapped twice is two memories.
class WeakMemory {
public:
    // apart: each wave may be on a compute unit of its own.
    void begin(uint32_t waves, bool apart, uint64_t seed);

    // In front of each instruction of a wave: something that is under way may arrive, and a cache
    // may lose what it holds, of any wave's.
    void step(machine::ExecContext& ctx);
    // The wave's next access: `coherent` ones go around the caches, `counted` ones can be waited
    // for.
    void issue(uint32_t wave, bool coherent, bool counted);
    // Of the wave's counted accesses the last `left` may stay under way.
    void wait(machine::ExecContext& ctx, uint32_t wave, uint64_t left);
    // Whether the wave, which is about to end, stays a while longer for what is under way.
    bool stays(machine::ExecContext& ctx, uint32_t wave);
    void empty_cache(uint32_t wave);

    // At most 16 bytes each. False = fault, and nothing has happened.
    bool load(machine::ExecContext& ctx, uint32_t wave, uint64_t address, void* out,
              uint32_t bytes);
    bool store(machine::ExecContext& ctx, uint32_t wave, uint64_t address, const void* in,
               uint32_t bytes);
    // An atomic operation on these bytes is next: it is behind the unit's stores to them, and its
    // cache does not hold them.
    void make_room(machine::ExecContext& ctx, uint32_t wave, uint64_t address, uint32_t bytes);

private:
    struct Store {
        uint64_t address, number;  // of the wave's counted accesses
        uint32_t wave, bytes;
        std::array<uint8_t, 16> data;
    };
    struct Line {
        static constexpr uint32_t bytes = 64;
        std::array<uint32_t, bytes / 4> dwords{};
        uint32_t valid = 0;  // a bit for each
    };
    struct ComputeUnit {
        std::vector<Store> under_way;  // in the order of their instructions
        std::unordered_map<uint64_t, Line> cache;
    };
    struct WaveState {
        uint64_t counted = 0;
        bool coherent = false;
    };

    ComputeUnit& unit_of(uint32_t wave) { return units_[wave % units_.size()]; }
    static void arrive(machine::ExecContext& ctx, ComputeUnit& unit, size_t index);
    template <class Which>
    static void arrive_all(machine::ExecContext& ctx, ComputeUnit& unit, Which which);
    static void arrive_at(machine::ExecContext& ctx, ComputeUnit& unit, uint64_t address,
                          uint32_t bytes);
    static const Line& line_at(machine::ExecContext& ctx, ComputeUnit& unit, uint64_t address);

    std::vector<WaveState> waves_;
    std::vector<ComputeUnit> units_;
    uint64_t random_ = 0;
    uint64_t pace_ = 1;  // a store arrives in one of so many steps
};

}  // namespace wj::memory
