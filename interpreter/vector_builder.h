// The operations of common/transcendental.h on eight lanes. ScalarBuilder gives the same bits one
// lane at a time.
#pragma once

#include "common/transcendental.h"

namespace wj::interp {

struct VectorBuilder {
    using V = __m256i;
    using M = __m256i;
    static __m256 f(V x) { return _mm256_castsi256_ps(x); }
    static V u(__m256 x) { return _mm256_castps_si256(x); }
    V constant(uint32_t bits) { return _mm256_set1_epi32(static_cast<int>(bits)); }
    V fadd(V a, V b) { return u(gf::add(f(a), f(b))); }
    V fsub(V a, V b) { return u(gf::sub(f(a), f(b))); }
    V fmul(V a, V b) { return u(gf::mul(f(a), f(b))); }
    V ffma(V a, V b, V c) { return u(gf::fma(f(a), f(b), f(c))); }
    V fdiv(V a, V b) { return u(gf::div(f(a), f(b))); }
    V fsqrt(V a) { return u(_mm256_sqrt_ps(f(a))); }
    V frsq(V a) {
        const __m256d one = _mm256_set1_pd(1);
        auto half = [&](__m128 x) {
            return _mm256_cvtpd_ps(_mm256_div_pd(one, _mm256_sqrt_pd(_mm256_cvtps_pd(x))));
        };
        return u(_mm256_set_m128(half(_mm256_extractf128_ps(f(a), 1)),
                                 half(_mm256_castps256_ps128(f(a)))));
    }
    V rndne(V a) { return u(_mm256_round_ps(f(a), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)); }
    V cvt_f32_i32(V a) { return u(_mm256_cvtepi32_ps(a)); }
    V cvt_i32_f32(V a) { return _mm256_cvttps_epi32(f(a)); }
    V iadd(V a, V b) { return _mm256_add_epi32(a, b); }
    V isub(V a, V b) { return _mm256_sub_epi32(a, b); }
    V and_(V a, V b) { return _mm256_and_si256(a, b); }
    V or_(V a, V b) { return _mm256_or_si256(a, b); }
    V xor_(V a, V b) { return _mm256_xor_si256(a, b); }
    V shl(V a, uint32_t n) { return _mm256_slli_epi32(a, static_cast<int>(n)); }
    V shr(V a, uint32_t n) { return _mm256_srli_epi32(a, static_cast<int>(n)); }
    V sar(V a, uint32_t n) { return _mm256_srai_epi32(a, static_cast<int>(n)); }
    M fcmp_lt(V a, V b) { return u(_mm256_cmp_ps(f(a), f(b), _CMP_LT_OQ)); }
    M fcmp_unord(V a, V b) { return u(_mm256_cmp_ps(f(a), f(b), _CMP_UNORD_Q)); }
    M ucmp_lt(V a, V b) {
        const V top = constant(0x80000000u);
        return _mm256_cmpgt_epi32(_mm256_xor_si256(b, top), _mm256_xor_si256(a, top));
    }
    V select(M m, V a, V b) { return _mm256_blendv_epi8(b, a, m); }
    // Classes in the order in which one may overrule another.
    V fixup(V r, V x, trans::Fixup table) {
        using trans::FloatClass;
        auto respond = [&](FloatClass c, M m) {
            if (table.of(c) != trans::Response::Keep)
                r = select(m, constant(value_of(table.of(c))), r);
        };
        const V zero = constant(0);
        respond(FloatClass::Negative, _mm256_srai_epi32(x, 31));
        respond(FloatClass::MinusInf, _mm256_cmpeq_epi32(x, constant(0xff800000)));
        respond(FloatClass::PlusInf, _mm256_cmpeq_epi32(x, constant(0x7f800000)));
        respond(FloatClass::Zero, _mm256_cmpeq_epi32(_mm256_add_epi32(x, x), zero));
        if (table.of(FloatClass::QuietNan) == trans::Response::Quiet)
            r = select(fcmp_unord(x, x), or_(x, constant(0x00400000)), r);
        return r;
    }
};

// A function of common/transcendental.h as an operation of alu_vec.
template <__m256i (*F)(VectorBuilder&, __m256i)>
inline constexpr auto eight_lanes = [](__m256 x) {
    VectorBuilder b;
    return VectorBuilder::f(F(b, VectorBuilder::u(x)));
};

}  // namespace wj::interp
