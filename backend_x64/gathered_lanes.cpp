#include "backend_x64/gathered_lanes.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>

#include "backend_x64/frame.h"

namespace wj::x64 {
namespace {

using machine::Wave;

// Lanes of `exec`, 48 at most, of one row to the front of another, and back.
class Movement {
public:
    Movement(uint64_t exec, const GatherPlan& plan) : exec_(exec), wide_(plan.chunk_lanes == 16) {
        for (; exec; exec &= exec - 1)
            lane_[count_++] = static_cast<uint8_t>(std::countr_zero(exec));
    }
    uint32_t count() const { return count_; }

    // The lanes behind them, to the end of their last chunk, become 0: arithmetic on lanes that are
    // off must not meet what is slow.
    void together(uint32_t* to, const uint32_t* from) const {
        if (wide_) return together_avx512(to, from);
        for (uint32_t l = 0; l < count_; ++l) to[l] = from[lane_[l]];
        std::fill_n(to + count_, 8, 0);
    }
    void apart(uint32_t* to, const uint32_t* from) const {
        if (wide_) return apart_avx512(to, from);
        for (uint32_t l = 0; l < count_; ++l) to[lane_[l]] = from[l];
    }

private:
    static constexpr uint32_t vector = 16;
    [[gnu::target("avx512f")]] void together_avx512(uint32_t* to, const uint32_t* from) const {
        for (uint32_t l = 0; l < machine::lanes; l += vector) {
            const auto mask = static_cast<__mmask16>(exec_ >> l);
            _mm512_storeu_si512(to,
                                _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(from + l)));
            to += std::popcount(mask);
        }
        _mm512_storeu_si512(to, _mm512_setzero_si512());
    }
    [[gnu::target("avx512f")]] void apart_avx512(uint32_t* to, const uint32_t* from) const {
        for (uint32_t l = 0; l < machine::lanes; l += vector) {
            const auto mask = static_cast<__mmask16>(exec_ >> l);
            const __m512i old = _mm512_loadu_si512(to + l);
            _mm512_storeu_si512(to + l,
                                _mm512_mask_expand_epi32(old, mask, _mm512_loadu_si512(from)));
            from += std::popcount(mask);
        }
    }

    uint64_t exec_;
    bool wide_;
    uint32_t count_ = 0;
    uint8_t lane_[machine::lanes];
};

}  // namespace

[[gnu::target("bmi2")]] void gather_lanes(Wave& w, Frame& f, const GatherPlan& plan) {
    GatheredLanes& g = f.gathered;
    g.exec = w.exec();
    g.plan = &plan;
    const uint8_t* at = plan.list;
    for (uint32_t m = 0; m < plan.masks; ++m, at += 2) {
        g.masks[m] = w.mask(at[0]);
        w.set_mask(at[0], _pext_u64(g.masks[m], g.exec));
    }
    const Movement lanes(g.exec, plan);
    const uint32_t chunks = (lanes.count() + plan.chunk_lanes - 1) / plan.chunk_lanes,
                   room = chunks * plan.chunk_lanes;
    g.end = room * 4 - machine::lanes * 4;
    g.unused = machine::lanes - room;
    g.lanes_left = room - plan.chunk_lanes;
    for (const uint8_t* const end = at + plan.written + plan.read; at < end; ++at)
        lanes.together(g.rows[*at], w.vgpr + size_t{*at} * machine::lanes);
}

uint32_t regather_lanes(Wave& w, Frame& f, const GatherPlan& plan) {
    uint32_t used = 0;
    for (uint64_t left = w.exec(); left; left >>= plan.together)
        used += (left & machine::first_lanes(plan.together)) != 0;
    const auto lanes = static_cast<uint32_t>(std::popcount(w.exec()));
    const uint32_t sets = (lanes + plan.together - 1) / plan.together;
    if (sets >= used) return 0;
    if (f.gathered.exec) spread_lanes(w, f);
    gather_lanes(w, f, plan);
    return sets;
}

[[gnu::target("bmi2")]] void spread_lanes(Wave& w, Frame& f) {
    GatheredLanes& g = f.gathered;
    const GatherPlan& plan = *g.plan;
    const uint8_t* at = plan.list;
    for (uint32_t m = 0; m < plan.masks; ++m, at += 2) {
        const uint64_t others = at[1] ? 0 : g.masks[m] & ~g.exec;
        w.set_mask(at[0], others | _pdep_u64(w.mask(at[0]), g.exec));
    }
    const Movement lanes(g.exec, plan);
    for (const uint8_t* const end = at + plan.written; at < end; ++at)
        lanes.apart(w.vgpr + size_t{*at} * machine::lanes, g.rows[*at]);
    w.exit.lane_mask = _pdep_u64(w.exit.lane_mask, g.exec);
    g.exec = 0;
}

}  // namespace wj::x64
