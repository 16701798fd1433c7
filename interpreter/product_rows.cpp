#include "interpreter/product_rows.h"

#include "common/guest_float.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;

template <ProductStep S>
__m256 add_product(__m256 sum, __m256 a, __m256 b) {
    if constexpr (S == ProductStep::Fused) return gf::fma(a, b, sum);
    if constexpr (S == ProductStep::Rounded) return gf::add(gf::mul(a, b), sum);
    return _mm256_castsi256_ps(
        _mm256_add_epi32(_mm256_castps_si256(sum),
                         _mm256_madd_epi16(_mm256_castps_si256(a), _mm256_castps_si256(b))));
}

// Tiles of four rows, whose sums stay in registers.
template <ProductStep S, bool Sparse>
void sum_rows(const ProductRows& p) {
    constexpr u32 tile = 4;
    const auto floats = [](const void* from) { return static_cast<const float*>(from); };
    for (u32 i = 0; i < p.rows; i += tile) {
        __m256 low[tile], high[tile];
        for (u32 r = 0; r < tile; ++r) {
            low[r] = _mm256_load_ps(floats(p.addends.row(i + r)));
            high[r] = _mm256_load_ps(floats(p.addends.row(i + r) + 8));
        }
        for (u32 k = 0; k < p.steps; ++k) {
            const u32* const factor = p.a[p.rows / 16 * k + i / 16].column + i % 16;
#pragma GCC unroll 4
            for (u32 r = 0; r < tile; ++r) {
                const float* const row =
                    floats(Sparse ? p.b->column + p.of_b[k].column[i + r] : p.b[k].column);
                const __m256 a = _mm256_broadcast_ss(floats(factor + r));
                low[r] = add_product<S>(low[r], a, _mm256_load_ps(row));
                high[r] = add_product<S>(high[r], a, _mm256_load_ps(row + 8));
            }
        }
        for (u32 r = 0; r < tile; ++r) {
            auto* const to = reinterpret_cast<float*>(p.sums.row(i + r));
            _mm256_store_ps(to, low[r]);
            _mm256_store_ps(to + 8, high[r]);
        }
    }
}

template <ProductStep S>
void sum_by(const ProductRows& p) {
    p.of_b ? sum_rows<S, true>(p) : sum_rows<S, false>(p);
}

}  // namespace

void sum_products(const ProductRows& p) {
    using enum ProductStep;
    static constexpr SumProducts forms[] = {sum_by<Fused>, sum_by<Rounded>, sum_by<Pairs>};
    forms[static_cast<size_t>(p.step)](p);
}

}  // namespace wj::interp
