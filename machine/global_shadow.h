// What the waves of a dispatch have done to global memory, for the race checker: two accesses of
// one byte, one of them a store, race unless the first happens before the second. Barriers order
// the waves of a work-group; an atomic or coherent access followed by an invalidation of the caches
// orders a wave behind all who released that address before, which every store and atomic does. So
// a release that is missing is not found, and what is found has no order whatever the timing.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace wj::machine {

class GlobalShadow {
public:
    // A wave at some time. Times are numbers of releases and barriers in the dispatch.
    struct Who {
        uint32_t group = 0, wave = 0, time = 0;
        uint32_t pc = 0;  // low half of the instruction's address; 0: nobody
    };
    enum class Kind : uint8_t { Read, Write, Atomic, Coherent };

    // A wave of the dispatch, for as long as the shadow lives.
    class Agent;
    Agent& agent(uint32_t group, uint32_t wave);

    // An access of `agent` to a range of bytes. Returns who has accessed one of them before without
    // order (pc 0: nobody did), and whether he wrote. `silent`: a store of what is there already,
    // which nobody can tell from none. `data`: the bytes that are stored, or null; what the last
    // writer stores may be on its way to memory still.
    struct Race {
        Who other;
        bool wrote = false;
    };
    Race access(Agent& agent, uint32_t pc, Kind kind, uint64_t address, uint32_t bytes, bool silent,
                const uint8_t* data = nullptr);
    // The agent's caches are invalid: it sees what was released to addresses it looked at.
    void acquire(Agent& agent);
    // It has waited for all waves of the dispatch.
    void acquire_everything(Agent& agent);
    // All waves of the work-group have arrived at a barrier.
    void barrier(uint32_t group, uint32_t waves);

    // For the length of one instruction.
    std::mutex& mutex() { return mutex_; }

private:
    // Everything that happened before. Of a wave: what it did until `own`, and what all of its
    // work-group did until `all`.
    struct Known {
        uint32_t group, wave, own, all;
    };
    struct Knowledge {
        uint32_t everything = 0;  // whatever anybody did until then
        std::vector<Known> waves;
        void learn(const Known& known);
        void learn(const Knowledge& other);
        bool knows(const Who& who) const;
    };
    struct Cell {
        Who writer, readers[2];
        std::array<uint8_t, 4> stored{};  // by the writer, if known
        bool known = false;
    };
    // Of 4 KiB. A cell for each dword until smaller or misaligned accesses come, then for each
    // byte.
    struct Page {
        uint32_t shift = 2;
        std::vector<Cell> cells;
    };

    Page& page(uint64_t address, uint32_t first, uint32_t end);
    void release(Agent& agent, uint64_t address);
    void learn_from(Agent& agent, const Known& other);
    void learn_releases(Agent& agent, uint64_t address, bool of_group);
    bool ordered(const Agent& agent, const Who& who) const;

    static uint64_t key(uint32_t group, uint32_t wave) { return uint64_t{group} << 32 | wave; }

    std::mutex mutex_;
    uint32_t now_ = 1;
    std::unordered_map<uint64_t, std::unique_ptr<Agent>> agents_;
    std::unordered_map<uint64_t, Page> pages_;  // by address / 4096
    // Whose atomics have released an address; after too many of them only when the last one did.
    struct Releases {
        std::vector<Known> agents;
        uint32_t everything = 0;
    };
    std::unordered_map<uint64_t, Releases> releases_;  // by address / 4
};

class GlobalShadow::Agent {
    friend class GlobalShadow;
    uint32_t group = 0, wave = 0;
    uint32_t time = 0, barrier = 0;  // now; of the last barrier
    Knowledge known;
    std::unordered_set<uint64_t> looked_at;  // addresses / 4, since the last acquire
};

}  // namespace wj::machine
