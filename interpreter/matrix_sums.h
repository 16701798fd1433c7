// How the matrix cores of each generation add products up, as measured on hardware: Xie et al.,
// "Bit-Accurate Modeling of GPU Matrix Multiply-Accumulate Units" (arXiv 2511.10909), whose model
// agrees with CDNA1, CDNA2 and CDNA3 bit by bit. docs/reference/float.md has the rules in words.
// f32 and f64 products, and everything on gfx950, which was not measured, are fused one by one
// (matrix.h).
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "interpreter/matrix_layout.h"

namespace wj::interp {

// ---- gfx908, gfx90a: groups of products are added pairwise
// ----------------------------------------------------------------------

// a + b; the order of operands is the rule for NaN.
inline __m256 add_in_order(__m256 a, __m256 b) {
    __m256 r;
    asm("vaddps %2, %1, %0" : "=x"(r) : "x"(a), "x"(b));
    return r;
}
// a * b, a zero becoming +0: the hardware adds the product to one.
inline __m256 product(__m256 a, __m256 b) {
    __m256 r = _mm256_setzero_ps();
    asm("vfmadd231ps %2, %1, %0" : "+x"(r) : "x"(a), "x"(b));
    return r;
}

inline float flush_to_zero(float x, float smallest) {
    return x < smallest && x > -smallest ? 0.0f : x;
}
inline __m256 flush_to_zero(__m256 x) {
    const __m256 magnitude = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
    const __m256 tiny =
        _mm256_cmp_ps(magnitude, _mm256_set1_ps(std::numeric_limits<float>::min()), _CMP_LT_OQ);
    return _mm256_andnot_ps(tiny, x);
}

// Operands as in MatrixKernel (matrix.h). D may be C. Rows of N floats; arrays are readable 8
// floats beyond them. Flush: inputs are flushed here and by the caller, results by MXCSR.
template <u32 M, u32 N, u32 K, u32 Blocks, u32 Group, bool Flush>
[[gnu::noinline]] void sum_pairs(const float* a, const float* b, const float* c,
                                 const uint16_t* c_row, float* d, const uint16_t* d_row) {
    static_assert(Group == 2 || Group == 4);
    constexpr u32 width = std::min(N, 8u), rows = 4;
    for (u32 j = 0; j < N; j += width) {
        for (u32 i = 0; i < M; i += rows) {
            __m256 sum[rows];
            for (u32 r = 0; r < rows; ++r) {
                const float* from = c + c_row[i + r] + j;
                if constexpr (width == 8)
                    sum[r] = _mm256_loadu_ps(from);
                else
                    sum[r] = _mm256_zextps128_ps256(_mm_loadu_ps(from));
                if constexpr (Flush) sum[r] = flush_to_zero(sum[r]);
            }
#pragma GCC unroll 8
            for (u32 k = 0; k < K; k += Group) {
                __m256 column[Group];
                for (u32 q = 0; q < Group; ++q)
                    column[q] = _mm256_loadu_ps(b + matrix_offset(N, K, Blocks, k + q) + j);
#pragma GCC unroll 4
                for (u32 r = 0; r < rows; ++r) {
                    const float* const factors = a + i + r;
                    const auto p = [&](u32 q) {
                        return product(
                            _mm256_broadcast_ss(factors + matrix_offset(M, K, Blocks, k + q)),
                            column[q]);
                    };
                    __m256 group = add_in_order(p(0), p(1));
                    if constexpr (Group == 4) group = add_in_order(group, add_in_order(p(2), p(3)));
                    sum[r] = add_in_order(sum[r], group);
                }
            }
            for (u32 r = 0; r < rows; ++r) {
                float* const to = d + d_row[i + r] + j;
                if constexpr (width == 8)
                    _mm256_storeu_ps(to, sum[r]);
                else
                    _mm_storeu_ps(to, _mm256_castps256_ps128(sum[r]));
            }
        }
    }
}

// ---- gfx942: groups of products are aligned to the largest exponent and added as integers
// ----------------------------------------------------------------------

// A number as significand * 2^exponent, the significand between 1 and 2; denormals of the operand's
// format keep the exponent of its smallest normal number. Infinities and NaNs stand in the
// significand, with the exponent `special`.
inline constexpr int32_t special = 512;
inline void split_float(float x, int32_t least, float& significand, int32_t& exponent) {
    const auto field = static_cast<int32_t>(std::bit_cast<uint32_t>(x) >> 23 & 0xff);
    const int32_t e = std::max(std::max(field, 1) - 127, least);
    // 2^-e, from two factors because 2^-127 is denormal.
    const float up = std::bit_cast<float>(static_cast<uint32_t>(127 - e / 2) << 23);
    const float rest = std::bit_cast<float>(static_cast<uint32_t>(127 - (e - e / 2)) << 23);
    significand = field == 255 ? x : x * up * rest;
    exponent = field == 255 ? special : x == 0 ? -126 : e;
}

inline double power_of_two(int32_t e) {
    return std::bit_cast<double>(static_cast<uint64_t>(1023 + e) << 52);
}

struct AlignedSum {
    int64_t units;     // of 2^(exponent - 24)
    int32_t exponent;  // the largest of the products
};

// Adds c: the sum is cut towards minus infinity 31 bits below the larger exponent, c 24 bits below.
inline float add_addend(AlignedSum s, float c, bool small) {
    const auto field = static_cast<int32_t>(std::bit_cast<uint32_t>(c) >> 23 & 0xff);
    const int32_t ec = std::max(field, 1) - 127, top = std::max(s.exponent, ec);
    const double sum =
        std::floor(static_cast<double>(s.units) * power_of_two(7 + s.exponent - top));
    const double addend =
        small && ec < top - 25 ? 0 : std::floor(static_cast<double>(c) * power_of_two(24 - top));
    return static_cast<float>((sum + addend * 128) * power_of_two(top - 31));
}

// One result, whatever the operands are. `step` 2: every other product (8-bit formats).
template <u32 Group, bool Small>
[[gnu::noinline]] float sum_aligned_one(const float* sa, const int32_t* ea, const float* sb,
                                        const int32_t* eb, float c) {
    double total = 0;
    bool high = false, low = false;
    for (u32 k = 0; k < Group; ++k) {
        const auto value = [](float s, int32_t e) {
            return e == special ? static_cast<double>(s) : std::ldexp(static_cast<double>(s), e);
        };
        const double p = value(sa[k], ea[k]) * value(sb[k], eb[k]);
        total += p;
        high = high || p >= 0x1p128;
        low = low || p <= -0x1p128;
    }
    total += c;
    const float nan = std::bit_cast<float>(gf::default_nan<float>);
    if (std::isnan(total) || (high && low)) return nan;
    if (std::isinf(total)) return static_cast<float>(total);
    if (high || low) return high ? INFINITY : -INFINITY;
    AlignedSum part[2];
    constexpr u32 parts = Small ? 2 : 1;
    for (u32 p = 0; p < parts; ++p) {
        int32_t top = INT32_MIN;
        for (u32 k = p; k < Group; k += parts) top = std::max(top, ea[k] + eb[k]);
        part[p] = {0, top};
        for (u32 k = p; k < Group; k += parts)
            part[p].units += static_cast<int64_t>(
                std::trunc(static_cast<double>(sa[k]) * sb[k] *
                           power_of_two(std::max(24 + ea[k] + eb[k] - top, -100))));
    }
    AlignedSum s = part[0];
    if constexpr (Small) {
        const int32_t top = std::max(part[0].exponent, part[1].exponent);
        const auto shifted = [&](AlignedSum x) {
            return x.units >> std::min(63, top - x.exponent);
        };
        s = {shifted(part[0]) + shifted(part[1]), top};
    }
    return add_addend(s, c, Small);
}

// Significands and exponents of an operand, as matrix_multiply has its elements.
struct SplitOperand {
    const float* significand;
    const int32_t* exponent;
};

// 8 results of one row: products k ... k + Group - 1 of row i.
template <u32 M, u32 N, u32 K, u32 Blocks, u32 Group, bool Small>
inline void sum_aligned_part(const SplitOperand& a, const SplitOperand& b, u32 i, u32 j, u32 first,
                             float* row) {
    constexpr u32 parts = Small ? 2 : 1;
    const auto at_a = [&](u32 k) { return matrix_offset(M, K, Blocks, first + k) + i; };
    const auto at_b = [&](u32 k) { return matrix_offset(N, K, Blocks, first + k) + j; };
    const auto exponents = [&](u32 k) {
        return _mm256_add_epi32(
            _mm256_set1_epi32(a.exponent[at_a(k)]),
            _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b.exponent + at_b(k))));
    };
    const __m256i c_bits = _mm256_load_si256(reinterpret_cast<const __m256i*>(row));
    const __m256i field = _mm256_and_si256(_mm256_srli_epi32(c_bits, 23), _mm256_set1_epi32(0xff));
    __m256i top[2], units[2];
    for (u32 p = 0; p < parts; ++p) {
        top[p] = exponents(p);
        for (u32 k = p + parts; k < Group; k += parts)
            top[p] = _mm256_max_epi32(top[p], exponents(k));
    }
    const __m256i largest = Small ? _mm256_max_epi32(top[0], top[1]) : top[0];
    // Infinities, NaNs and products that may overflow go one by one.
    const __m256i rare = _mm256_or_si256(_mm256_cmpgt_epi32(largest, _mm256_set1_epi32(126)),
                                         _mm256_cmpeq_epi32(field, _mm256_set1_epi32(0xff)));
    if (!_mm256_testz_si256(rare, rare)) [[unlikely]] {
        for (u32 l = 0; l < 8; ++l) {
            float sa[Group], sb[Group];
            int32_t ea[Group], eb[Group];
            for (u32 k = 0; k < Group; ++k) {
                sa[k] = a.significand[at_a(k)], ea[k] = a.exponent[at_a(k)];
                sb[k] = b.significand[at_b(k) + l], eb[k] = b.exponent[at_b(k) + l];
            }
            row[l] = sum_aligned_one<Group, Small>(sa, ea, sb, eb, row[l]);
        }
        return;
    }
    for (u32 p = 0; p < parts; ++p) {
        units[p] = _mm256_setzero_si256();
        for (u32 k = p; k < Group; k += parts) {
            const __m256i below =
                _mm256_max_epi32(_mm256_sub_epi32(exponents(k), top[p]), _mm256_set1_epi32(-100));
            const __m256 scale = _mm256_castsi256_ps(
                _mm256_slli_epi32(_mm256_add_epi32(below, _mm256_set1_epi32(127 + 24)), 23));
            const __m256 p_k = _mm256_mul_ps(_mm256_set1_ps(a.significand[at_a(k)]),
                                             _mm256_loadu_ps(b.significand + at_b(k)));
            units[p] = _mm256_add_epi32(units[p], _mm256_cvttps_epi32(_mm256_mul_ps(p_k, scale)));
        }
    }
    __m256i sum = units[0];
    if constexpr (Small) {
        const auto shifted = [&](u32 p) {
            return _mm256_srav_epi32(units[p], _mm256_sub_epi32(largest, top[p]));
        };
        sum = _mm256_add_epi32(shifted(0), shifted(1));
    }
    // As add_addend, four at a time.
    const __m256i ec =
        _mm256_sub_epi32(_mm256_max_epi32(field, _mm256_set1_epi32(1)), _mm256_set1_epi32(127));
    const __m256i upper = _mm256_max_epi32(largest, ec);
    __m256 c = _mm256_castsi256_ps(c_bits);
    if constexpr (Small)
        c = _mm256_andnot_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(
                                 _mm256_sub_epi32(upper, _mm256_set1_epi32(25)), ec)),
                             c);
    const auto power = [](__m128i e) {
        return _mm256_castsi256_pd(_mm256_slli_epi64(
            _mm256_add_epi64(_mm256_cvtepi32_epi64(e), _mm256_set1_epi64x(1023)), 52));
    };
    const auto half = [&](__m128i s, __m128i e, __m128i t, __m128 addend) {
        const __m256d a_sum = _mm256_floor_pd(_mm256_mul_pd(
            _mm256_cvtepi32_pd(s), power(_mm_add_epi32(_mm_sub_epi32(e, t), _mm_set1_epi32(7)))));
        const __m256d a_c = _mm256_floor_pd(
            _mm256_mul_pd(_mm256_cvtps_pd(addend), power(_mm_sub_epi32(_mm_set1_epi32(24), t))));
        const __m256d both = _mm256_add_pd(a_sum, _mm256_mul_pd(a_c, _mm256_set1_pd(128)));
        return _mm256_cvtpd_ps(_mm256_mul_pd(both, power(_mm_sub_epi32(t, _mm_set1_epi32(31)))));
    };
    _mm_store_ps(row, half(_mm256_castsi256_si128(sum), _mm256_castsi256_si128(largest),
                           _mm256_castsi256_si128(upper), _mm256_castps256_ps128(c)));
    _mm_store_ps(row + 4,
                 half(_mm256_extracti128_si256(sum, 1), _mm256_extracti128_si256(largest, 1),
                      _mm256_extracti128_si256(upper, 1), _mm256_extractf128_ps(c, 1)));
}

template <u32 M, u32 N, u32 K, u32 Blocks, u32 Group, bool Small>
void sum_aligned(const SplitOperand& a, const SplitOperand& b, const float* c,
                 const uint16_t* c_row, float* d, const uint16_t* d_row) {
    constexpr u32 width = std::min(N, 8u);
    for (u32 i = 0; i < M; ++i) {
        for (u32 j = 0; j < N; j += width) {
            alignas(32) float row[8] = {};
            std::memcpy(row, c + c_row[i] + j, width * 4);
            for (u32 k = 0; k < K; k += Group)
                sum_aligned_part<M, N, K, Blocks, Group, Small>(a, b, i, j, k, row);
            std::memcpy(d + d_row[i] + j, row, width * 4);
        }
    }
}

}  // namespace wj::interp
