// Execution barriers (AMDGPU usage guide, "Execution Barriers").
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <mutex>

namespace wj::machine {

// What no program may do, as hardware then does anything: static text, or null.
using Misuse = const char*;

// Members are waves of a work-group, or work-groups of a cluster, by their number.
class BarrierObject {
public:
    static constexpr uint32_t most_expected = 127;  // its state has seven bits for each count

    void init(uint32_t expected) {
        expected_ = expected;
        arrived_ = here_ = 0;
        initialised_ = true;
    }
    bool initialised() const { return initialised_; }
    uint32_t expected() const { return expected_; }
    uint32_t arrived() const { return arrived_; }
    uint32_t phase() const { return phase_; }  // how often it has been completed

    // From here on `member` waits for what completes later.
    void join(uint32_t member) { complete_ &= ~(1u << member); }
    Misuse arrive(uint32_t member) {
        ++arrived_;
        here_ |= 1u << member;
        return complete_if_equal();
    }
    Misuse arrive(uint32_t member, uint32_t expected) {
        if (expected <= arrived_) return "a new expected count that is not above the arrive count";
        expected_ = expected;
        return arrive(member);
    }
    // A drop can complete it, too.
    Misuse drop(uint32_t member) {
        if (here_ >> member & 1) return "a drop by who has arrived, before the phase is complete";
        if (!expected_) return "a drop that makes the expected count negative";
        --expected_;
        return complete_if_equal();
    }
    bool has_arrived(uint32_t member) const { return here_ >> member & 1; }
    // Whether it has been completed since the member last waited for it: a wait then is over.
    // Who arrives again before he waits counts in the next phase, and the wait is for the first.
    bool take(uint32_t member) {
        const bool complete = complete_ >> member & 1;
        complete_ &= ~(1u << member);
        return complete;
    }
    // As s_get_barrier_state has it (AMD's pseudo-code).
    uint32_t state() const {
        return initialised_ ? (arrived_ & 127) << 16 | (expected_ & 127) << 4 | 1 : 0;
    }

private:
    Misuse complete_if_equal() {
        if (arrived_ > expected_) return "more arrivals than the expected count";
        if (arrived_ < expected_) return nullptr;
        arrived_ = here_ = 0;
        complete_ = ~0u;
        ++phase_;
        return nullptr;
    }
    uint32_t expected_ = 0, arrived_ = 0, phase_ = 0;
    uint32_t here_ = 0;      // who has arrived in this phase
    uint32_t complete_ = 0;  // for whom it has been completed since the last wait
    bool initialised_ = false;
};

// The numbers by which instructions name barriers; named ones have 1 to NamedBarriers::most.
enum BarrierNumber : int32_t {
    cluster_trap_barrier = -4,
    cluster_barrier = -3,
    trap_barrier = -2,
    group_barrier = -1,
    null_barrier = 0,
};
inline constexpr bool is_group_barrier(uint64_t immediate) {
    return static_cast<int16_t>(immediate) == group_barrier;
}

// ExitInfo::detail of a wave that waits: 0 for the work-group's barrier, as translated code says
// it, the number of a named one, or this.
inline constexpr uint32_t waits_for_group = 0, waits_for_cluster = 17;

// Those of gfx12.5, as many as a kernel's descriptor asks for. A wave waits for the one that it has
// joined last.
struct NamedBarriers {
    static constexpr uint32_t most = 16, most_waves = 32;
    static constexpr int32_t nothing = -1;  // is joined

    explicit NamedBarriers(uint32_t count = 0) : count(count) { joins.fill({}); }
    uint32_t count = 0;
    std::array<BarrierObject, most + 1> objects;  // by number
    struct Join {
        int32_t number = nothing;
        bool waited = false;  // or left
        uint64_t pc = 0;      // of the instruction
    };
    std::array<Join, most_waves> joins;  // by wave
};

// Work-groups that are resident together.
struct Cluster {
    std::mutex mutex;
    BarrierObject barrier;
    uint32_t members = 0;  // work-groups, a bit each
    uint32_t ended = 0;    // of them
    uint32_t stuck = 0;    // nobody can go on before the barrier is complete

    // With the mutex held, as the others. All waves of all its work-groups wait; those of this one
    // since phase `seen` has begun.
    bool deadlocked(uint32_t member, uint32_t seen) {
        if (barrier.phase() != seen) return false;
        stuck |= 1u << member;
        return (stuck | ended) == members;
    }
    Misuse arrive(uint32_t member) {
        if (barrier.has_arrived(member))
            return "a second arrival at the cluster's barrier for one work-group in one phase";
        return settle(barrier.arrive(member));
    }
    // All waves of the work-group have ended.
    Misuse end(uint32_t member) {
        ended |= 1u << member;
        return settle(barrier.drop(member));
    }

private:
    Misuse settle(Misuse misuse) {
        if (!barrier.arrived()) stuck = 0;
        return misuse;
    }
};

}  // namespace wj::machine
