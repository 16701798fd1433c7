// What an atomic does with one lane's element.
#include "backend_x64/asm/lane_atomic.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::AtomicOp;
using namespace atomic_loop;
namespace x86 = asmjit::x86;

// Operand `operand` (0 data, 1 data2) of the lane; new_value is overwritten.
void BlockCompiler::AtomicCode::atomic_load(const LaneAtomic& m, const Gp& to,
                                            uint32_t operand) const {
    const uint32_t row = operand * m.dwords;
    if (m.dwords == 1) {
        a_.mov(to.r32(), lane_dword(offsetof(Frame, data), row));
        return;
    }
    a_.mov(to.r32(), lane_dword(offsetof(Frame, data), row + 1));
    a_.shl(to, 32);
    a_.mov(new_value.r32(), lane_dword(offsetof(Frame, data), row));
    a_.or_(to, new_value);
}

// Element `at` takes its new value; old_value gets the old one unless the operation is direct.
void BlockCompiler::AtomicCode::atomic_update(const LaneAtomic& m, const Mem& at) const {
    const Gp old = m.sized(old_value), d = m.sized(data), next = m.sized(new_value);
    if (m.direct()) {
        const InstId id = m.op == AtomicOp::Add   ? X::kIdAdd
                          : m.op == AtomicOp::Sub ? X::kIdSub
                          : m.op == AtomicOp::And ? X::kIdAnd
                          : m.op == AtomicOp::Or  ? X::kIdOr
                                                  : X::kIdXor;
        if (!m.plain) a_.lock();
        a_.emit(id, at, d);
        return;
    }
    if (m.plain) {
        a_.mov(old, at);
        atomic_new_value(m);
        a_.mov(at, next);
        return;
    }
    switch (m.op) {
        case AtomicOp::Add:
        case AtomicOp::Sub:
            a_.mov(old, d);
            if (m.op == AtomicOp::Sub) a_.neg(old);
            a_.lock().xadd(at, old);
            return;
        case AtomicOp::Swap:
            a_.xchg(at, d);
            a_.mov(old, d);
            return;
        case AtomicOp::CmpSwap:
            atomic_load(m, old_value, 1);
            a_.lock().cmpxchg(at, d);
            return;
        default: {
            const Label again = a_.newLabel();
            a_.mov(old, at);
            a_.bind(again);
            atomic_new_value(m);
            a_.lock().cmpxchg(at, next);
            a_.jnz(again);
            return;
        }
    }
}

// new_value from old_value and data, which stay.
void BlockCompiler::AtomicCode::atomic_new_value(const LaneAtomic& m) const {
    const Gp old = m.sized(old_value), d = m.sized(data), next = m.sized(new_value),
             t = m.sized(scratch);
    const Vec x = m.t.xmm(), y = m.z[0].xmm();
    const bool wide = m.dwords == 2;
    auto choose = [&](InstId cmov) {  // data, when it compares so with the old value
        a_.mov(next, old);
        a_.cmp(d, old);
        a_.emit(cmov, next, d);
    };
    auto combine = [&](InstId id) {
        a_.mov(next, old);
        a_.emit(id, next, d);
    };
    auto to_vector = [&](const Vec& v, const Gp& r) {
        a_.emit(wide ? X::kIdVmovq : X::kIdVmovd, v, r);
    };
    switch (m.op) {
        case AtomicOp::Swap:
            a_.mov(next, d);
            break;
        case AtomicOp::CmpSwap:
            atomic_load(m, scratch, 1);
            a_.mov(next, old);
            a_.cmp(old, t);
            a_.cmove(next, d);
            break;
        case AtomicOp::Add:
            combine(X::kIdAdd);
            break;
        case AtomicOp::Sub:
            combine(X::kIdSub);
            break;
        case AtomicOp::RSub:
            a_.mov(next, d);
            a_.sub(next, old);
            break;
        case AtomicOp::SMin:
            choose(X::kIdCmovl);
            break;
        case AtomicOp::SMax:
            choose(X::kIdCmovg);
            break;
        case AtomicOp::UMin:
            choose(X::kIdCmovb);
            break;
        case AtomicOp::UMax:
            choose(X::kIdCmova);
            break;
        case AtomicOp::And:
            combine(X::kIdAnd);
            break;
        case AtomicOp::Or:
            combine(X::kIdOr);
            break;
        case AtomicOp::Xor:
            combine(X::kIdXor);
            break;
        case AtomicOp::Inc:
            a_.lea(next, x86::ptr(old_value, 1));
            a_.xor_(t, t);
            a_.cmp(old, d);
            a_.cmovae(next, t);
            break;
        case AtomicOp::Dec:
            a_.mov(next, old);
            a_.sub(next, 1);
            a_.cmovb(next, d);
            a_.cmp(old, d);
            a_.cmova(next, d);
            break;
        case AtomicOp::MskOr:
            atomic_load(m, scratch, 1);
            a_.mov(next, d);
            a_.not_(next);
            a_.and_(next, old);
            a_.or_(next, t);
            break;
        case AtomicOp::Wrap:
            atomic_load(m, scratch, 1);
            a_.add(t, old);
            a_.mov(next, old);
            a_.sub(next, d);
            a_.cmovb(next, t);
            break;
        case AtomicOp::FAdd:
            a_.mov(next, old);
            if (m.flush_in) {
                atomic_flush(m, next);
                atomic_flush(m, d);
            }
            to_vector(x, next);
            to_vector(y, d);
            a_.emit(wide ? X::kIdVaddsd : X::kIdVaddss, x, m.data_first ? y : x,
                    m.data_first ? x : y);
            a_.emit(wide ? X::kIdVmovq : X::kIdVmovd, next, x);
            if (m.flush_out) atomic_flush(m, next);
            break;
        case AtomicOp::PkAddF16:
            to_vector(x, old);
            to_vector(y, d);
            a_.emit(X::kIdVcvtph2ps, x, x);
            a_.emit(X::kIdVcvtph2ps, y, y);
            a_.emit(X::kIdVaddps, x, x, y);
            a_.emit(X::kIdVcvtps2ph, x, x, Imm(4));  // rounded as MXCSR says: to nearest even
            a_.emit(X::kIdVmovd, next, x);
            break;
        default:  // not native
            break;
    }
}

// A denormal becomes a zero of its sign.
void BlockCompiler::AtomicCode::atomic_flush(const LaneAtomic& m, const Gp& x) const {
    const Label normal = a_.newLabel();
    if (m.dwords == 1) {
        a_.test(x, 0x7f800000);
        a_.jnz(normal);
        a_.and_(x, 0x80000000);
    } else {
        a_.mov(scratch, x);
        a_.shl(scratch, 1);
        a_.shr(scratch, 53);
        a_.jnz(normal);
        a_.shr(x, 63);
        a_.shl(x, 63);
    }
    a_.bind(normal);
}

}  // namespace wj::x64
