// ExecContext::reach as host code.
#pragma once

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

inline Mem reach_field(size_t offset) {
    return frame_field(offsetof(Frame, reach) + offset, 8);
}

inline void emit_reach(CountingAssembler& a, const Gp& address) {
    a.and_(address, reach_field(offsetof(machine::ExecContext::Reach, mask)));
    a.or_(address, reach_field(offsetof(machine::ExecContext::Reach, base)));
}

// The same of addresses in the lanes of two vectors. AVX2 changes t, too.
inline void emit_reach(CountingAssembler& a, const Vec& x, const Vec& y, const Vec& t) {
    const auto apply = [&](InstId avx512, InstId avx2, const Mem& value) {
        if (!x.isZmm()) a.emit(X::kIdVpbroadcastq, t, value);
        for (const Vec& v : {x, y})
            x.isZmm() ? a.emit(avx512, v, v, value._1to8()) : a.emit(avx2, v, v, t);
    };
    apply(X::kIdVpandq, X::kIdVpand, reach_field(offsetof(machine::ExecContext::Reach, mask)));
    apply(X::kIdVporq, X::kIdVpor, reach_field(offsetof(machine::ExecContext::Reach, base)));
}

}  // namespace wj::x64
