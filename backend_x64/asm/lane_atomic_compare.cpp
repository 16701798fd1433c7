// Compare-and-swap by lanes of one address: what compilers make of sums of floats (HIP's
// atomicAdd). In each turn of such a loop one lane finds what it expects and all others do not.
#include "backend_x64/asm/lane_atomic.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::AtomicOp;
using namespace atomic_loop;
namespace x86 = asmjit::x86;

// What is in memory is compared with what all lanes expect at once; only those that find it are
// done one by one, lowest first. Goes to `differ` if there are several addresses, else, out of
// line, to `over`.
void BlockCompiler::AtomicCode::atomic_compare_same(const LaneAtomic& m, Label differ,
                                                    Label over) const {
    if (m.op != AtomicOp::CmpSwap || m.field) return;
    atomic_leave_unless_same(m, differ);
    const Label same = a_.newLabel();
    a_.jmp(same);
    cold(same, [=, *this] {
        const Label attempt = a_.newLabel(), loop = a_.newLabel(), done = a_.newLabel();
        const Gp old = m.sized(old_value), left = lanes_left.r32(), matches = lane.r32();
        // Old values by dword; AVX2: the lanes that are left.
        const Vec* const result = m.z;
        const Vec &t = m.t, &lanes = m.t2;
        // The old value is that of all lanes that are left. Changes old_value.
        auto note = [&] {
            if (c_.avx512_) a_.kmovw(m.tk, left);
            for (uint32_t d = 0; d < m.dwords; ++d) {
                if (d) a_.shr(old_value, 32);
                if (c_.avx512_) {
                    k(m.tk);
                    a_.emit(X::kIdVpbroadcastd, result[d], old_value.r32());
                } else {
                    a_.vmovd(t.xmm(), old_value.r32());
                    a_.emit(X::kIdVpbroadcastd, t, t.xmm());
                    a_.emit(X::kIdVpblendvb, result[d], result[d], t, lanes);
                }
            }
        };
        if (!c_.avx512_) {
            if (m.full)
                a_.emit(X::kIdVpcmpeqd, lanes, lanes, lanes);
            else
                mov(lanes, m.mask_v);
        }
        a_.tzcnt(lane.r32(), left);
        a_.lea(offset, atomic_element(m));

        a_.bind(attempt);
        atomic_load(m, data, 0);
        atomic_load(m, old_value, 1);
        if (!m.plain) a_.lock();
        a_.cmpxchg(x86::ptr(offset, 0, m.bytes), m.sized(data));
        a_.jnz(loop);
        note();
        // This lane is done, and those below it.
        if (!c_.avx512_) {
            a_.lea(x86::eax, x86::ptr(lane, 1));
            a_.vmovd(t.xmm(), x86::eax);
            a_.emit(X::kIdVpbroadcastd, t, t.xmm());
            a_.emit(X::kIdVpcmpgtd, t, t, frame_field(offsetof(Frame, lane_id), 32));
            a_.emit(X::kIdVpandn, lanes, t, lanes);
        }
        a_.mov(x86::eax, -2);
        a_.shlx(x86::eax, x86::eax, lane.r32());
        a_.and_(left, x86::eax);
        a_.jz(done);

        a_.bind(loop);
        a_.mov(old, x86::ptr(offset, 0, m.bytes));
        note();
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const Vec& expected = m.data[m.dwords + d];
            if (c_.avx512_) {
                k(m.tk);
                a_.emit(X::kIdVpcmpeqd, m.tk, expected, result[d]);
                continue;
            }
            a_.emit(X::kIdVpcmpeqd, t, expected, result[d]);
            a_.emit(X::kIdVpand, t, t, lanes);
            a_.vmovmskps(d ? new_value.r32() : matches, t.ymm());
            if (d) a_.and_(matches, new_value.r32());
        }
        if (c_.avx512_) a_.kmovw(matches, m.tk);
        a_.tzcnt(lane.r32(), matches);
        a_.jnc(attempt);  // there is one
        a_.bind(done);
        for (uint32_t d = 0; d < m.dwords; ++d)
            if (m.live[d]) movu(frame_field(offsetof(Frame, data) + d * 64), result[d]);
        a_.jmp(over);
    });
}

}  // namespace wj::x64
