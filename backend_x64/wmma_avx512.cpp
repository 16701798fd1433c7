// The interpreter's sums of products in a wave, a row of 16 columns in a register. Only what is
// marked so is compiled for AVX-512: the engine asks for it on hosts that have it.
#include <immintrin.h>

#include "backend_x64/matrix_avx512.h"

#define WJ_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")))

namespace wj::x64 {
namespace {

using interp::ProductRows;
using interp::ProductStep;
using u32 = uint32_t;

// The order of operands is the rule for NaN, as in gf.
template <ProductStep S>
[[gnu::always_inline]] WJ_AVX512 inline void add_product(__m512& sum, __m512 a, __m512 b) {
    if constexpr (S == ProductStep::Fused) {
        asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    } else if constexpr (S == ProductStep::Rounded) {
        __m512 product;
        asm("vmulps %2, %1, %0" : "=v"(product) : "v"(a), "v"(b));
        asm("vaddps %0, %1, %0" : "+v"(sum) : "v"(product));
    } else {
        asm("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    }
}

template <ProductStep S, bool Sparse>
WJ_AVX512 void sum_rows(const ProductRows& p) {
    constexpr u32 tile = 16;
    for (u32 block = 0; block < p.rows / tile; ++block) {
        __m512 sum[tile];
#pragma GCC unroll 16
        for (u32 r = 0; r < tile; ++r) sum[r] = _mm512_load_ps(p.addends.row(tile * block + r));
        for (u32 k = 0; k < p.steps; ++k) {
            const u32* const factor = p.a[p.rows / tile * k + block].column;
#pragma GCC unroll 16
            for (u32 r = 0; r < tile; ++r) {
                const u32* const row = Sparse ? p.b->column + p.of_b[k].column[r] : p.b[k].column;
                const __m512 a = _mm512_castsi512_ps(_mm512_set1_epi32(int(factor[r])));
                add_product<S>(sum[r], a, _mm512_load_ps(row));
            }
        }
#pragma GCC unroll 16
        for (u32 r = 0; r < tile; ++r) _mm512_store_ps(p.sums.row(tile * block + r), sum[r]);
    }
}

template <ProductStep S>
void sum_by(const ProductRows& p) {
    p.of_b ? sum_rows<S, true>(p) : sum_rows<S, false>(p);
}

}  // namespace

void sum_products_avx512(const ProductRows& p) {
    using enum ProductStep;
    static constexpr interp::SumProducts forms[] = {sum_by<Fused>, sum_by<Rounded>, sum_by<Pairs>};
    forms[static_cast<size_t>(p.step)](p);
}

}  // namespace wj::x64
