#include "backend_x64/gathered_lanes.h"

#include <immintrin.h>

#include <bit>

#include "backend_x64/frame.h"

namespace wj::x64 {
namespace {

using machine::Wave;

struct Lanes {
    uint32_t count = 0;
    uint8_t lane[machine::lanes];
};

Lanes lanes_of(uint64_t exec) {
    Lanes out;
    for (; exec; exec &= exec - 1)
        out.lane[out.count++] = static_cast<uint8_t>(std::countr_zero(exec));
    return out;
}

}  // namespace

[[gnu::target("bmi2")]] void gather_lanes(Wave& w, Frame& f, const GatherPlan& plan) {
    GatheredLanes& g = f.gathered;
    g.exec = w.exec();
    g.plan = &plan;
    const uint8_t* at = plan.list;
    for (uint32_t m = 0; m < plan.masks; ++m, at += 2) {
        g.masks[m] = w.s64(at[0]);
        w.set_s64(at[0], _pext_u64(g.masks[m], g.exec));
    }
    const Lanes lanes = lanes_of(g.exec);
    const uint32_t chunks = (lanes.count + plan.chunk_lanes - 1) / plan.chunk_lanes,
                   room = chunks * plan.chunk_lanes;
    g.end = room * 4 - machine::lanes * 4;
    g.unused = machine::lanes - room;
    g.lanes_left = room - plan.chunk_lanes;
    for (const uint8_t* const end = at + plan.written + plan.read; at < end; ++at) {
        const uint32_t* const from = w.vgpr + size_t{*at} * machine::lanes;
        uint32_t* const to = g.rows[*at];
        for (uint32_t l = 0; l < lanes.count; ++l) to[l] = from[lanes.lane[l]];
        // Arithmetic on lanes that are off must not meet what is slow.
        for (uint32_t l = lanes.count; l < room; ++l) to[l] = 0;
    }
}

[[gnu::target("bmi2")]] void spread_lanes(Wave& w, Frame& f) {
    GatheredLanes& g = f.gathered;
    const GatherPlan& plan = *g.plan;
    const uint8_t* at = plan.list;
    for (uint32_t m = 0; m < plan.masks; ++m, at += 2) {
        const uint64_t others = at[1] ? 0 : g.masks[m] & ~g.exec;
        w.set_s64(at[0], others | _pdep_u64(w.s64(at[0]), g.exec));
    }
    const Lanes lanes = lanes_of(g.exec);
    for (const uint8_t* const end = at + plan.written; at < end; ++at) {
        const uint32_t* const from = g.rows[*at];
        uint32_t* const to = w.vgpr + size_t{*at} * machine::lanes;
        for (uint32_t l = 0; l < lanes.count; ++l) to[lanes.lane[l]] = from[l];
    }
    w.exit.lane_mask = _pdep_u64(w.exit.lane_mask, g.exec);
    g.exec = 0;
}

}  // namespace wj::x64
