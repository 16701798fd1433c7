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
#include <utility>
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
    // The same for reads and writes of several lanes at once, whether they are silent or not.
    // False: somebody else's access has no order with this one; what was noted of it may be noted
    // once more.
    bool access_in_order(Agent& agent, uint32_t pc, Kind kind, uint64_t address, uint32_t bytes,
                         const uint8_t* data);
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
        bool known = false;  // what the writer stored
    };
    // One cell until others than whole lines are accessed, then one for each dword, or for each
    // byte.
    struct Line {
        static constexpr uint32_t bytes = 64;
        uint32_t shift = 6;
        Cell whole;
        std::unique_ptr<Cell[]> parts;
        std::array<uint8_t, bytes> stored{};

        Cell& cell(uint32_t byte) { return parts ? parts[byte >> shift] : whole; }
        // So that accesses may begin and end where `edges` has bits.
        void split(uint32_t edges);
    };
    static constexpr uint32_t page_bytes = 4096;
    using Page = std::array<Line, page_bytes / Line::bytes>;

    Page& page(uint64_t address);
    // Calls f(cell, its bytes in Line::stored, their number, their distance from the address) until
    // it returns false.
    template <class F>
    bool each_cell(uint64_t address, uint32_t bytes, F&& f);
    void note(const Agent& agent, const Who& me, Kind kind, Cell& cell) const;
    void release(Agent& agent, uint64_t address);
    void learn_from(Agent& agent, const Known& other);
    void learn_releases(Agent& agent, uint64_t address, bool of_group);
    bool ordered(const Agent& agent, const Who& who) const;

    static uint64_t key(uint32_t group, uint32_t wave) { return uint64_t{group} << 32 | wave; }

    std::mutex mutex_;
    uint32_t now_ = 1;
    std::unordered_map<uint64_t, std::unique_ptr<Agent>> agents_;
    std::unordered_map<uint64_t, Page> pages_;             // by address / page_bytes
    std::array<std::pair<uint64_t, Page*>, 64> recent_{};  // of them, by the low bits
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
