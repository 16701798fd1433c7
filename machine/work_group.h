// A work-group while it is resident: what its waves have in common.
#pragma once

#include <array>
#include <cstdint>

#include "machine/barrier.h"
#include "machine/wave.h"

namespace wj::memory {
class WeakMemory;
}

namespace wj::machine {

struct GroupShadow;  // machine/group_shadow.h

// A work-group's place in a cluster of several, and what its waves know of that.
struct ClusterMember {
    Cluster* cluster = nullptr;  // null: it is alone
    uint32_t rank = 0;
    uint32_t phase = 0;     // of the cluster's barrier, as far as waves have been told
    uint32_t complete = 0;  // waves that may pass it

    // Waves learn of phases that have been completed.
    void look() {
        const std::lock_guard lock(cluster->mutex);
        const uint32_t now = cluster->barrier.phase();
        if (now != phase) complete = ~0u;
        phase = now;
    }
    bool take(uint32_t wave) {
        look();
        const bool passes = complete >> wave & 1;
        complete &= ~(1u << wave);
        return passes;
    }
};

// Only the thread that runs it touches it, but for the cluster.
struct WorkGroup {
    Wave* waves = nullptr;
    uint32_t wave_count = 0;
    std::array<uint32_t, 3> id{};    // work-group id
    std::array<uint32_t, 3> size{};  // work-items in each dimension; smaller at the grid's end
    uint64_t linear_id = 0;
    GroupShadow* shadow = nullptr;  // with checkers
    memory::WeakMemory* weak =
        nullptr;                     // of dispatches with weak memory: how it sees the global one
    BarrierObject barrier;           // of gfx12, where waves signal and wait apart
    NamedBarriers* named = nullptr;  // null: the kernel has none
    ClusterMember in_cluster;
    uint32_t lds_bytes = 0;  // of its LDS
    uint32_t in_block = 0;   // with hooks: waves in the midst of a block of code, a bit each
    uint32_t dropped = 0;    // waves that have ended and are no members any more, a bit each
    // By the end of wave `misuser`, of the barrier that this number names.
    Misuse misuse = nullptr;
    uint32_t misuser = 0;
    int32_t misused = group_barrier;

    void begin_barriers() {
        barrier = {};
        barrier.init(wave_count);
        dropped = 0;
        misuse = nullptr;
        in_cluster = {};
    }
    // Waves that have ended drop the work-group's barrier: to be called in front of what looks at
    // it.
    void drop_ended() {
        for (uint32_t i = 0; i < wave_count; ++i) {
            const uint32_t bit = 1u << i;
            if (dropped & bit || waves[i].exit.kind != ExitKind::EndProgram) continue;
            dropped |= bit;
            note_misuse(barrier.drop(i), group_barrier, i);
        }
    }
    void note_misuse(Misuse found, int32_t number, uint32_t wave) {
        if (!found || misuse) return;
        misuse = found;
        misused = number;
        misuser = wave;
    }
    // Whether wave `index` may pass the barrier that it waits for (ExitInfo::detail).
    bool pass(uint32_t index, uint32_t barrier_detail) {
        if (barrier_detail == waits_for_cluster) return in_cluster.take(index);
        if (barrier_detail != waits_for_group) return named->objects[barrier_detail].take(index);
        return wave_count == 1 || barrier.take(index);
    }
};

}  // namespace wj::machine
