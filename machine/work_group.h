// A work-group while it is resident: what its waves have in common.
#pragma once

#include <array>
#include <cstdint>

#include "machine/checks.h"
#include "machine/wave.h"

namespace wj::machine {

// gfx12's barrier of a work-group, which waves signal and wait for apart (AMD's pseudo-code of
// S_BARRIER_SIGNAL and S_BARRIER_WAIT). Only the thread that runs the work-group touches it.
struct SplitBarrier {
    uint32_t signals = 0;   // so far; as many as there are waves complete it
    uint32_t complete = 0;  // of each wave a bit: it has been completed since the wave last waited
};

// The number that names it in these instructions.
inline constexpr uint32_t group_barrier = 0xffff;
inline constexpr bool is_group_barrier(uint64_t immediate) {
    return (immediate & 0xffff) == group_barrier;
}

struct WorkGroup {
    Wave* waves = nullptr;
    uint32_t wave_count = 0;
    std::array<uint32_t, 3> id{};    // work-group id
    std::array<uint32_t, 3> size{};  // work-items in each dimension; smaller at the grid's end
    uint64_t linear_id = 0;
    LdsShadow* shadow = nullptr;  // with checks of LDS (checks.h)
    SplitBarrier barrier;

    // Its waves that have not ended: those that have are members of the barrier no more.
    uint32_t members() const {
        uint32_t count = 0;
        for (uint32_t i = 0; i < wave_count; ++i)
            count += waves[i].exit.kind != ExitKind::EndProgram;
        return count;
    }
    // To be called when a wave has signalled or may have ended.
    void complete_barrier() {
        if (!barrier.signals || barrier.signals < members()) return;
        barrier = {.signals = 0, .complete = ~0u};
    }
};

}  // namespace wj::machine
