// Elements of matrices as rows of 16, as they lie side by side in the lanes of a register.
#pragma once

#include "common/small_float.h"
#include "interpreter/matrix.h"
#include "interpreter/product_rows.h"

namespace wj::interp {

// Half of a row, as a vector of the host.
template <class T>
using Part [[gnu::vector_size(32)]] = T;
using Words = Part<uint32_t>;
inline constexpr uint32_t part_columns = 8;

template <class T = uint32_t>
Part<T> load_part(const void* from) {
    Part<T> x;
    std::memcpy(&x, from, sizeof x);
    return x;
}
template <class V>
void store_part(void* to, const V& x) {
    std::memcpy(to, &x, sizeof x);
}

inline void copy_row(const uint32_t* from, uint32_t* to) {
    for (uint32_t j = 0; j < 16; j += part_columns) store_part(to + j, load_part(from + j));
}

// Numbers of f16 in the lower and in the upper halves of eight dwords.
struct HalvesAsFloats {
    __m256 low, high;
    template <class V>
    explicit HalvesAsFloats(const V& dwords) {
        // Lower halves, then upper ones, of each four dwords.
        const __m256i order = _mm256_broadcastsi128_si256(
            _mm_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15));
        const __m256i x =
            _mm256_permute4x64_epi64(_mm256_shuffle_epi8(__m256i(dwords), order), 0b11'01'10'00);
        low = _mm256_cvtph_ps(_mm256_castsi256_si128(x));
        high = _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1));
    }
};

// A factor with `items` elements of k for each of 16 rows (of B: columns): element k of row i is
// item k % per_lane of lane i + 16 * (k / per_lane).
struct FactorRows {
    const Operand& from;
    MatrixElement element;
    uint32_t items, per_lane;
};

// A row of f32 for each item.
void load_float_rows(Wave& w, const FactorRows& f, ElementRow* out);
// A row for each item, or for two of them, each a 16-bit half of a dword: the same two for A and B.
void load_integer_rows(Wave& w, const FactorRows& f, bool is_signed, bool pairs, ElementRow* out);

// Halves of 16 dwords, F16 or Bf16, as f32: the lower and the upper ones, null where not wanted.
void widen_halves(MatrixElement e, const uint32_t* from, ElementRow* low, ElementRow* high);
// f32 as codes of F16 or Bf16, to nearest even, in the lower halves.
Words half_codes(MatrixElement e, const Words& x);

// Codes of a format of at most 8 bits, in both halves of eight dwords, as f32. NaN is 0x7fc00000.
// To be called with a constant format, on which the shifts depend.
[[gnu::always_inline]] inline void widen_small(const gf::SmallFormat& f, Words codes, void* low,
                                               void* high) {
    const int bits = f.exponent_bits + f.mantissa_bits;
    const auto magnitude = static_cast<int16_t>((1u << bits) - 1);
    const auto max = static_cast<int16_t>(f.max_code), inf = static_cast<int16_t>(f.inf_code);
    // As codes of f16, whose numbers are 2^(bias - 15) times as large.
    const auto x = Part<int16_t>(codes);
    const auto size = x & magnitude, sign = x ^ size;
    const auto number = sign << (15 - bits) | size << (10 - f.mantissa_bits);
    const auto nan = Part<int16_t>{} + int16_t{0x7e00};
    const HalvesAsFloats floats((size > max) & (size != inf) ? nan : number);
    const float unit = std::bit_cast<float>(static_cast<uint32_t>(127 + 15 - f.bias) << 23);
    store_part(low, Part<float>(floats.low) * unit);
    store_part(high, Part<float>(floats.high) * unit);
}

}  // namespace wj::interp
