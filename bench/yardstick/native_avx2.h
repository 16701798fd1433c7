// What native_loops.cpp is written in, for AVX2 (x86-64-v3). The words mean what they mean in
// native_avx512.h.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace yardstick::native {
namespace {

constexpr int kLanes = 8;
constexpr int kChains = 8;
constexpr int kGemmRows = 4;
typedef float Floats __attribute__((ext_vector_type(8)));
typedef uint32_t Words __attribute__((ext_vector_type(8)));
using Mask = __m256i;  // lanes of -1 and 0

const Words kLane = {0, 1, 2, 3, 4, 5, 6, 7};

inline void stream(float* p, Floats v) {
    _mm256_stream_ps(p, __m256(v));
}
inline void stream(uint32_t* p, Words v) {
    _mm256_stream_si256(reinterpret_cast<__m256i*>(p), __m256i(v));
}

inline Floats gather_lanes(const float* base, Words index) {
    return Floats(_mm256_i32gather_ps(base, __m256i(index), 4));
}
inline Floats rsqrt_estimate(Floats x) {
    return Floats(_mm256_rsqrt_ps(__m256(x)));
}
inline Floats fma(Floats a, Floats b, Floats c) {
    return Floats(_mm256_fmadd_ps(__m256(a), __m256(b), __m256(c)));
}
inline float sum(Floats v) {
    float r = 0;
    for (int i = 0; i < kLanes; i++) r += v[i];
    return r;
}

inline Words prefix_sums(Words x) {
    __m256i v = __m256i(x);
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));
    const __m256i low_half =
        _mm256_permute2x128_si256(v, v, 0x08);  // in the high half; 0 in the low
    return Words(_mm256_add_epi32(v, _mm256_shuffle_epi32(low_half, 0xff)));
}
inline Words last_lane(Words v) {
    return Words(_mm256_permutevar8x32_epi32(__m256i(v), _mm256_set1_epi32(7)));
}

inline Mask all_lanes() {
    return _mm256_set1_epi32(-1);
}
inline bool any(Mask a, Mask b) {
    const __m256i either = _mm256_or_si256(a, b);
    return !_mm256_testz_si256(either, either);
}
inline Mask at_most(Mask of, Floats v, float limit) {
    const __m256 within = _mm256_cmp_ps(__m256(v), _mm256_set1_ps(limit), _CMP_LE_OQ);
    return _mm256_and_si256(of, _mm256_castps_si256(within));
}
inline Words count(Words counts, Mask lanes) {
    return counts - Words(lanes);
}
inline Mask first_of_two(uint32_t left, int vector) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(int(left)),
                              __m256i(kLane + uint32_t(kLanes * vector)));
}
inline Floats load(Mask lanes, const float* p) {
    return Floats(_mm256_maskload_ps(p, lanes));
}
inline Words load(Mask lanes, const uint32_t* p) {
    return Words(_mm256_maskload_epi32(reinterpret_cast<const int*>(p), lanes));
}
inline Floats gather_lanes(Mask lanes, const float* base, Words index) {
    return Floats(_mm256_mask_i32gather_ps(_mm256_setzero_ps(), base, __m256i(index),
                                           _mm256_castsi256_ps(lanes), 4));
}

inline void transpose_square(const float* in, size_t is, float* out, size_t os) {
    __m256 r[8], t[8];
    for (int i = 0; i < 8; i++) r[i] = _mm256_loadu_ps(in + i * is);
    for (int i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (int i = 0; i < 8; i += 4) {
        r[i] = _mm256_shuffle_ps(t[i], t[i + 2], 0x44);
        r[i + 1] = _mm256_shuffle_ps(t[i], t[i + 2], 0xee);
        r[i + 2] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44);
        r[i + 3] = _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee);
    }
    for (int i = 0; i < 4; i++) {
        _mm256_stream_ps(out + i * os, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
        _mm256_stream_ps(out + (i + 4) * os, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
    }
}

constexpr double (*bf16_products)(uint32_t) = nullptr;

}  // namespace
}  // namespace yardstick::native
