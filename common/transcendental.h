// v_exp_f32, v_log_f32, v_rcp_f32, v_rsq_f32, v_sin_f32, v_cos_f32 as sequences of IEEE operations,
// written once over a builder: ScalarBuilder computes them, the lifter's builder emits IR. The bits
// are the same by construction. Errors are measured over all of f32 in docs/reference/float.md.
//
// A builder has a value type V (32 bits, f32 or integer by use), a mask type M and
//   constant(bits) fadd fsub fmul ffma(a,b,c) fdiv fsqrt frsq (1 / sqrt, rounded once) rndne
//   cvt_f32_i32(i32 -> f32) cvt_i32_f32(f32 -> i32, exact values only) iadd isub and_ or_ xor_
//   shl(v,n) shr(v,n) sar(v,n) n: plain number fcmp_lt(a,b) fcmp_unord(a,b) ucmp_lt(a,b) -> M,
//   select(M, if_true, if_false), fixup(result, x, table of common/fixup.h)
// Rounding is to nearest whatever MODE says; denormals are kept: callers flush by MODE around it.
#pragma once

#include <bit>
#include <cstdint>

#include "common/fixup.h"
#include "common/guest_float.h"

namespace wj::trans {

struct ScalarBuilder {
    using V = uint32_t;
    using M = bool;
    static float f(V x) { return std::bit_cast<float>(x); }
    static V u(float x) { return std::bit_cast<uint32_t>(x); }
    V constant(uint32_t bits) { return bits; }
    V fadd(V a, V b) { return u(gf::add(f(a), f(b))); }
    V fsub(V a, V b) { return u(gf::sub(f(a), f(b))); }
    V fmul(V a, V b) { return u(gf::mul(f(a), f(b))); }
    V ffma(V a, V b, V c) { return u(gf::fma(f(a), f(b), f(c))); }
    V fdiv(V a, V b) { return u(gf::div(f(a), f(b))); }
    V fsqrt(V a) { return u(gf::sqrt(f(a))); }
    V frsq(V a) {
        // Rounding twice is exact here: no root is that close to the middle of two floats (tried
        // for all mantissas of both parities of the exponent).
        return u(gf::to_float(gf::div(1.0, gf::sqrt(gf::to_double(f(a))))));
    }
    V rndne(V a) { return u(gf::rndne(f(a))); }
    V cvt_f32_i32(V a) { return u(static_cast<float>(static_cast<int32_t>(a))); }
    V cvt_i32_f32(V a) { return static_cast<uint32_t>(static_cast<int32_t>(f(a))); }
    V iadd(V a, V b) { return a + b; }
    V isub(V a, V b) { return a - b; }
    V and_(V a, V b) { return a & b; }
    V or_(V a, V b) { return a | b; }
    V xor_(V a, V b) { return a ^ b; }
    V shl(V a, uint32_t n) { return a << n; }
    V shr(V a, uint32_t n) { return a >> n; }
    V sar(V a, uint32_t n) { return static_cast<uint32_t>(static_cast<int32_t>(a) >> n); }
    M fcmp_lt(V a, V b) { return f(a) < f(b); }
    M fcmp_unord(V a, V b) { return gf::is_nan(f(a)) || gf::is_nan(f(b)); }
    M ucmp_lt(V a, V b) { return a < b; }
    V select(M m, V a, V b) { return m ? a : b; }
    V fixup(V r, V x, Fixup table) { return apply(table, r, x); }
};

// Horner: c[0] + x (c[1] + x (c[2] + ...)).
template <class B, size_t N>
typename B::V polynomial(B& b, typename B::V x, const uint32_t (&c)[N]) {
    auto r = b.constant(c[N - 1]);
    for (size_t i = N - 1; i-- > 0;) r = b.ffma(r, x, b.constant(c[i]));
    return r;
}

template <class B>
typename B::V quiet_nan(B& b, typename B::V x, typename B::V result) {
    return b.fixup(result, x, quiet_nans);
}

// 1 / x, correctly rounded.
template <class B>
typename B::V rcp_f32(B& b, typename B::V x) {
    return b.fdiv(b.constant(0x3f800000), x);
}

// 1 / sqrt(x), correctly rounded.
template <class B>
typename B::V rsq_f32(B& b, typename B::V x) {
    return b.frsq(x);
}

// 2^x = 2^n * 2^f, n to nearest, |f| <= 1/2. The scale is applied in two factors, which covers
// denormals.
template <class B>
typename B::V exp2_f32(B& b, typename B::V x) {
    using V = typename B::V;
    static constexpr uint32_t c[] = {0x3f800000, 0x3f317218, 0x3e75fdee, 0x3d6357bd,
                                     0x3c1d96ea, 0x3aaf84a5, 0x3920bc43};
    const V top = b.constant(0x43200000), bottom = b.constant(0xc3200000);  // +-160
    V z = b.select(b.fcmp_lt(x, top), x, top);
    z = b.select(b.fcmp_lt(bottom, z), z, bottom);
    const V n = b.rndne(z);
    const V p = polynomial(b, b.fsub(z, n), c);
    const V i = b.cvt_i32_f32(n);
    const V half = b.sar(i, 1);
    const V bias = b.constant(127);
    const V scale1 = b.shl(b.iadd(half, bias), 23);
    const V scale2 = b.shl(b.iadd(b.isub(i, half), bias), 23);
    return quiet_nan(b, x, b.fmul(b.fmul(p, scale1), scale2));
}

// log2(x) = k + log2(m), m in [sqrt(1/2), sqrt(2)); log2(1+f) = f*C + f^2*Q(f) with C in two parts.
template <class B>
typename B::V log2_f32(B& b, typename B::V x) {
    using V = typename B::V;
    static constexpr uint32_t c[] = {0xbf38aa3b, 0x3ef63845, 0xbeb8aa59, 0x3e93bf69, 0xbe763806,
                                     0x3e520d75, 0xbe378185, 0x3e2feab0, 0xbe2b8538, 0x3dc43123};
    const auto denormal = b.ucmp_lt(x, b.constant(0x00800000));
    const V z = b.select(denormal, b.fmul(x, b.constant(0x4b000000)), x);  // * 2^23
    const V base = b.select(denormal, b.constant(static_cast<uint32_t>(-23)), b.constant(0));
    const V shifted = b.iadd(z, b.constant(0x3f800000 - 0x3f3504f3));
    const V ki = b.iadd(b.isub(b.shr(shifted, 23), b.constant(127)), base);
    const V m = b.iadd(b.and_(shifted, b.constant(0x007fffff)), b.constant(0x3f3504f3));
    const V f = b.fsub(m, b.constant(0x3f800000));
    const V high = b.constant(0x3fb8aa3b), low = b.constant(0x32a57060);  // 1/ln 2
    const V r = b.fmul(f, high);
    const V first = b.ffma(f, low, b.ffma(f, high, b.xor_(r, b.constant(0x80000000))));
    const V tail = b.ffma(b.fmul(f, f), polynomial(b, f, c), first);
    const V k = b.cvt_f32_i32(ki);
    const V sum = b.fadd(k, r);
    const V lost = b.fsub(r, b.fsub(sum, k));
    return b.fixup(b.fadd(sum, b.fadd(lost, tail)), x, logarithm);
}

namespace detail {

// sin(2 pi (x + turns/4)). Beyond 256 turns the hardware gives the value at 0.
template <class B>
typename B::V sin_turns(B& b, typename B::V x, uint32_t turns) {
    using V = typename B::V;
    static constexpr uint32_t s[] = {0x40c90fdb, 0xc2255e0d, 0x42a3469c, 0xc29eebeb, 0x42ef102d};
    static constexpr uint32_t c[] = {0x3f800000, 0xc19de9e6, 0x4281e0d7, 0xc2aad88b, 0x426a2f17};
    const V magnitude = b.and_(x, b.constant(0x7fffffff));
    const auto out = b.ucmp_lt(b.constant(0x43800000), magnitude);  // > 256, infinity, NaN
    const V z = b.select(out, b.constant(0), x);
    const V t = b.fsub(z, b.rndne(z));  // exact, |t| <= 1/2
    const V quarter = b.rndne(b.fmul(t, b.constant(0x40800000)));
    const V r = b.ffma(quarter, b.constant(0xbe800000), t);  // exact, |r| <= 1/8
    const V rr = b.fmul(r, r);
    const V sine = b.fmul(r, polynomial(b, rr, s));
    const V cosine = polynomial(b, rr, c);
    const V q = b.iadd(b.cvt_i32_f32(quarter), b.constant(turns));
    const auto odd = b.ucmp_lt(b.constant(0), b.and_(q, b.constant(1)));
    const V sign = b.shl(b.and_(q, b.constant(2)), 30);
    const V y = b.xor_(b.select(odd, cosine, sine), sign);
    const auto infinite = b.ucmp_lt(b.constant(0x7f7fffff), magnitude);
    return quiet_nan(b, x, b.select(infinite, b.constant(0xffc00000), y));
}

}  // namespace detail

// sin and cos of 2 pi x.
template <class B>
typename B::V sin_f32(B& b, typename B::V x) {
    // -0 gives -0: the sum and the reduction lose the sign of zero.
    const auto zero = b.ucmp_lt(b.and_(x, b.constant(0x7fffffff)), b.constant(1));
    return b.select(zero, x, detail::sin_turns(b, x, 0));
}
template <class B>
typename B::V cos_f32(B& b, typename B::V x) {
    return detail::sin_turns(b, x, 1);
}

inline float rcp(float x) {
    ScalarBuilder b;
    return b.f(rcp_f32(b, b.u(x)));
}
inline float rsq(float x) {
    ScalarBuilder b;
    return b.f(rsq_f32(b, b.u(x)));
}
inline float exp2(float x) {
    ScalarBuilder b;
    return b.f(exp2_f32(b, b.u(x)));
}
inline float log2(float x) {
    ScalarBuilder b;
    return b.f(log2_f32(b, b.u(x)));
}
inline float sin(float x) {
    ScalarBuilder b;
    return b.f(sin_f32(b, b.u(x)));
}
inline float cos(float x) {
    ScalarBuilder b;
    return b.f(cos_f32(b, b.u(x)));
}

}  // namespace wj::trans
