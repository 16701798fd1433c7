// What native_loops.cpp is written in, for AVX-512 (x86-64-v4).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace yardstick::native {
namespace {

constexpr int kLanes = 16;
constexpr int kChains = 16;   // accumulators that fit in registers beside two operands
constexpr int kGemmRows = 8;  // of two vectors each
typedef float Floats __attribute__((ext_vector_type(16)));
typedef uint32_t Words __attribute__((ext_vector_type(16)));
using Mask = __mmask16;

const Words kLane = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

// Outputs far larger than the caches go around them (streaming stores), as a tuned host loop would.
inline void stream(float* p, Floats v) {
    _mm512_stream_ps(p, __m512(v));
}
inline void stream(uint32_t* p, Words v) {
    _mm512_stream_si512(reinterpret_cast<__m512i*>(p), __m512i(v));
}

inline Floats gather_lanes(const float* base, Words index) {
    return Floats(_mm512_i32gather_ps(__m512i(index), base, 4));
}
inline Floats rsqrt_estimate(Floats x) {
    return Floats(_mm512_rsqrt14_ps(__m512(x)));
}
inline Floats fma(Floats a, Floats b, Floats c) {
    return Floats(_mm512_fmadd_ps(__m512(a), __m512(b), __m512(c)));
}
inline float sum(Floats v) {
    return _mm512_reduce_add_ps(__m512(v));
}

// Lane i: the sum of lanes 0 to i.
inline Words prefix_sums(Words x) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i v = __m512i(x);
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 15));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 14));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 12));
    v = _mm512_add_epi32(v, _mm512_alignr_epi32(v, zero, 8));
    return Words(v);
}
inline Words last_lane(Words v) {
    return Words(_mm512_permutexvar_epi32(_mm512_set1_epi32(15), __m512i(v)));
}

inline Mask all_lanes() {
    return 0xffff;
}
inline bool any(Mask a, Mask b) {
    return a | b;
}
// Those lanes of `of` whose value is at most the limit.
inline Mask at_most(Mask of, Floats v, float limit) {
    return _mm512_mask_cmp_ps_mask(of, __m512(v), _mm512_set1_ps(limit), _CMP_LE_OQ);
}
inline Words count(Words counts, Mask lanes) {
    return Words(
        _mm512_mask_add_epi32(__m512i(counts), lanes, __m512i(counts), _mm512_set1_epi32(1)));
}
// The first `left` of two vectors' lanes: the part that is in vector 0 or 1.
inline Mask first_of_two(uint32_t left, int vector) {
    return Mask(_bzhi_u32(~0u, left) >> (16 * vector));
}
inline Floats load(Mask lanes, const float* p) {
    return Floats(_mm512_maskz_loadu_ps(lanes, p));
}
inline Words load(Mask lanes, const uint32_t* p) {
    return Words(_mm512_maskz_loadu_epi32(lanes, p));
}
inline Floats gather_lanes(Mask lanes, const float* base, Words index) {
    return Floats(_mm512_mask_i32gather_ps(_mm512_setzero_ps(), lanes, __m512i(index), base, 4));
}

// A square of kLanes rows.
inline void transpose_square(const float* in, size_t is, float* out, size_t os) {
    __m512 r[16], t[16];
    for (int i = 0; i < 16; i++) r[i] = _mm512_loadu_ps(in + i * is);
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        auto pd = [](__m512 a, __m512 b, bool hi) {
            __m512d x = _mm512_castps_pd(a), y = _mm512_castps_pd(b);
            return _mm512_castpd_ps(hi ? _mm512_unpackhi_pd(x, y) : _mm512_unpacklo_pd(x, y));
        };
        r[i] = pd(t[i], t[i + 2], false);
        r[i + 1] = pd(t[i], t[i + 2], true);
        r[i + 2] = pd(t[i + 1], t[i + 3], false);
        r[i + 3] = pd(t[i + 1], t[i + 3], true);
    }
    for (int j = 0; j < 4; j++) {
        t[j] = _mm512_shuffle_f32x4(r[j], r[j + 4], 0x88);
        t[j + 4] = _mm512_shuffle_f32x4(r[j], r[j + 4], 0xdd);
        t[j + 8] = _mm512_shuffle_f32x4(r[j + 8], r[j + 12], 0x88);
        t[j + 12] = _mm512_shuffle_f32x4(r[j + 8], r[j + 12], 0xdd);
    }
    for (int j = 0; j < 8; j++) {
        _mm512_stream_ps(out + j * os, _mm512_shuffle_f32x4(t[j], t[j + 8], 0x88));
        _mm512_stream_ps(out + (j + 8) * os, _mm512_shuffle_f32x4(t[j], t[j + 8], 0xdd));
    }
}

// Not every host with AVX-512 has these products: the caller asks.
__attribute__((target("avx512bf16"))) double bf16_products(uint32_t iters) {
    constexpr int chains = 16;
    const __m512bh factor = (__m512bh)_mm512_set1_epi16(0x3f80);
    __m512 x[chains];
    for (int k = 0; k < chains; k++) x[k] = _mm512_setzero_ps();
    for (uint32_t i = 0; i < iters; i++)
#pragma clang loop unroll(full)
        for (int k = 0; k < chains; k++) x[k] = _mm512_dpbf16_ps(x[k], factor, factor);
    __m512 s = _mm512_setzero_ps();
    for (int k = 0; k < chains; k++) s = s + x[k];
    return s[0] == 2.0f * iters * chains ? 64.0 * iters * chains : 0;
}

}  // namespace
}  // namespace yardstick::native
