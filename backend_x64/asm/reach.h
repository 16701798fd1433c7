// ExecContext::reach as host code.
#pragma once

#include "backend_x64/asm/counting_assembler.h"
#include "backend_x64/asm/registers.h"

namespace wj::x64 {

// Changes `context`.
inline void emit_reach(CountingAssembler& a, const Gp& address, const Gp& context) {
    namespace x86 = asmjit::x86;
    a.mov(context, x86::qword_ptr(reg::wave, in_wave(offsetof(machine::Wave, ctx))));
    a.and_(address, x86::qword_ptr(context, offsetof(machine::ExecContext, reach.mask)));
    a.or_(address, x86::qword_ptr(context, offsetof(machine::ExecContext, reach.base)));
}

// The same of addresses in the lanes of two vectors. AVX2 changes t, too.
inline void emit_reach(CountingAssembler& a, const Vec& x, const Vec& y, const Vec& t,
                       const Gp& context) {
    namespace x86 = asmjit::x86;
    a.mov(context, x86::qword_ptr(reg::wave, in_wave(offsetof(machine::Wave, ctx))));
    const auto apply = [&](InstId avx512, InstId avx2, size_t field) {
        const Mem value = x86::qword_ptr(context, static_cast<int32_t>(field));
        if (!x.isZmm()) a.emit(X::kIdVpbroadcastq, t, value);
        for (const Vec& v : {x, y})
            x.isZmm() ? a.emit(avx512, v, v, value._1to8()) : a.emit(avx2, v, v, t);
    };
    apply(X::kIdVpandq, X::kIdVpand, offsetof(machine::ExecContext, reach.mask));
    apply(X::kIdVporq, X::kIdVpor, offsetof(machine::ExecContext, reach.base));
}

}  // namespace wj::x64
