// What several source files of the lifter emit: the operations of common/transcendental.h, medians.
#pragma once

#include "common/fixup.h"
#include "lift/lifter.h"

namespace wj::lift {

enum Predicate : uint32_t { eq_oq = 0, unord_q = 3, lt_oq = 17 };  // vcmpps

// Emits the operations of common/transcendental.h.
struct LaneBuilder {
    using V = Value;
    using M = Value;
    Lifter& l;
    V constant(uint32_t bits) { return l.c32(bits); }
    V fadd(V a, V b) { return l.emit(Op::FAdd32, {a, b}); }
    V fsub(V a, V b) { return l.emit(Op::FSub32, {a, b}); }
    V fmul(V a, V b) { return l.emit(Op::FMul32, {a, b}); }
    V ffma(V a, V b, V c) { return l.emit(Op::FFma32, {a, b, c}); }
    V fdiv(V a, V b) { return l.emit(Op::FDiv32, {a, b}); }
    V fsqrt(V a) { return l.emit(Op::FSqrt32, {a}); }
    V frsq(V a) { return l.emit(Op::FRsq32, {a}); }
    V rndne(V a) { return l.emit(Op::FRound32, {a}, 0); }
    V cvt_f32_i32(V a) { return l.emit(Op::CvtI32ToF32, {a}); }
    V cvt_i32_f32(V a) { return l.emit(Op::CvtF32ToI32, {a}); }
    V iadd(V a, V b) { return l.emit(Op::Add32, {a, b}); }
    V isub(V a, V b) { return l.emit(Op::Sub32, {a, b}); }
    V and_(V a, V b) { return l.emit(Op::And32, {a, b}); }
    V or_(V a, V b) { return l.emit(Op::Or32, {a, b}); }
    V xor_(V a, V b) { return l.emit(Op::Xor32, {a, b}); }
    V shl(V a, uint32_t n) { return l.emit(Op::Shl32, {a, l.c32(n)}); }
    V shr(V a, uint32_t n) { return l.emit(Op::Shr32, {a, l.c32(n)}); }
    V sar(V a, uint32_t n) { return l.emit(Op::Sar32, {a, l.c32(n)}); }
    M fcmp_lt(V a, V b) { return l.emit(Op::FCmp32, {a, b}, lt_oq); }
    M fcmp_unord(V a, V b) { return l.emit(Op::FCmp32, {a, b}, unord_q); }
    M ucmp_lt(V a, V b) { return l.emit(Op::CmpLtU32, {a, b}); }
    V select(M m, V a, V b) { return l.s.select(m, a, b); }
    V fixup(V r, V x, trans::Fixup table) { return l.emit(Op::FFixup32, {r, x}, table.table); }
};

// Minimum or maximum (op) of IEEE 754-2019: a NaN wins, the first signalling one before others.
template <Op op>
Value nan_or(Lifter& l, Value a, Value b) {
    constexpr uint32_t quiet_bit = 0x00400000;
    const auto nan = [&](Value x) { return l.emit(Op::FCmp32, {x, x}, unord_q); };
    const auto quiet = [&](Value x) { return l.emit(Op::Or32, {x, l.c32(quiet_bit)}); };
    const auto is_quiet = [&](Value x) {
        return l.emit(Op::CmpNe32, {l.emit(Op::And32, {x, l.c32(quiet_bit)}), l.c32(0)});
    };
    // a, unless it is a quiet NaN and b a signalling one.
    const Value b_signals = l.emit(Op::MaskAndNot, {nan(b), is_quiet(b)});
    const Value b_first = l.emit(Op::MaskAnd, {b_signals, is_quiet(a)});
    const Value number = l.emit(op, {a, b}, ir::minmax_plain);
    const Value other = l.s.select(nan(b), quiet(b), number);
    return l.s.select(l.emit(Op::MaskAndNot, {nan(a), b_first}), quiet(a), other);
}

// The median with the NaN rules of common/guest_float.h.
inline Value median_f32(Lifter& l, Value a, Value b, Value c) {
    auto max = [&](Value x, Value y) { return l.emit(Op::FMax32, {x, y}, l.ieee()); };
    auto min = [&](Value x, Value y) { return l.emit(Op::FMin32, {x, y}, l.ieee()); };
    auto compare = [&](Value x, Value y, Predicate p) { return l.emit(Op::FCmp32, {x, y}, p); };
    const Value top = max(max(a, b), c);
    const Value other = l.s.select(compare(top, b, eq_oq), max(a, c), max(a, b));
    const Value median = l.s.select(compare(top, a, eq_oq), max(b, c), other);
    const Value nan = l.emit(Op::MaskOr, {compare(a, b, unord_q), compare(c, c, unord_q)});
    return l.s.select(nan, min(min(a, b), c), median);
}

}  // namespace wj::lift
