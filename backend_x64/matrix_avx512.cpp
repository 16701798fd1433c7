// Only the functions marked so are compiled for AVX-512: the engine asks for them on hosts that
// have it.
#include "backend_x64/matrix_avx512.h"

#include "backend_x64/host_tuning.h"
#include "interpreter/matrix.h"
#include "interpreter/wmma.h"

#define WJ_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))

namespace wj::x64 {
namespace {

using interp::u32;

// GCC warns of what its header leaves undefined in shifts and conversions without masks.
typedef u32 Words __attribute__((vector_size(64)));

// sum += a * b; the order of operands is the rule for NaN, as gf::fma.
[[gnu::always_inline]] WJ_AVX512 inline void multiply(__m512& sum, __m512 a, __m512 b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

// Tiles of eight rows and 32 columns, or of 16 columns when the matrix has no more: the FMA units'
// latency wants at least eight sums.
struct MatrixKernel512 : interp::MatrixKernel {
    WJ_AVX512 static void load_bf16(const u32* row, u32 shift, float* out) {
        for (u32 j = 0; j < machine::lanes; j += 16) {
            const Words x = Words(_mm512_loadu_si512(row + j));
            _mm512_storeu_si512(out + j, __m512i(shift ? x & 0xffff0000u : x << 16));
        }
    }

    template <class T, u32 M, u32 N, u32 K, u32 Blocks>
    WJ_AVX512 static void run(const T* a, const T* b, const T* c, const uint16_t* c_row, T* d,
                              const uint16_t* d_row) {
        constexpr bool wide = N == 32;
        for (u32 i = 0; i < M; i += 8) {
            __m512 s00 = _mm512_loadu_ps(c + c_row[i]), s10 = _mm512_loadu_ps(c + c_row[i + 1]),
                   s20 = _mm512_loadu_ps(c + c_row[i + 2]), s30 = _mm512_loadu_ps(c + c_row[i + 3]),
                   s40 = _mm512_loadu_ps(c + c_row[i + 4]), s50 = _mm512_loadu_ps(c + c_row[i + 5]),
                   s60 = _mm512_loadu_ps(c + c_row[i + 6]), s70 = _mm512_loadu_ps(c + c_row[i + 7]);
            __m512 s01, s11, s21, s31, s41, s51, s61, s71;
            if constexpr (wide) {
                s01 = _mm512_loadu_ps(c + c_row[i] + 16);
                s11 = _mm512_loadu_ps(c + c_row[i + 1] + 16);
                s21 = _mm512_loadu_ps(c + c_row[i + 2] + 16);
                s31 = _mm512_loadu_ps(c + c_row[i + 3] + 16);
                s41 = _mm512_loadu_ps(c + c_row[i + 4] + 16);
                s51 = _mm512_loadu_ps(c + c_row[i + 5] + 16);
                s61 = _mm512_loadu_ps(c + c_row[i + 6] + 16);
                s71 = _mm512_loadu_ps(c + c_row[i + 7] + 16);
            }
#pragma GCC unroll 8
            for (u32 k = 0; k < K; ++k) {
                const T* const f = a + interp::matrix_offset(M, K, Blocks, k) + i;
                const T* const row = b + interp::matrix_offset(N, K, Blocks, k);
                const __m512 low = _mm512_loadu_ps(row);
                const __m512 high = wide ? _mm512_loadu_ps(row + 16) : low;
#define WJ_ROW(r)                                            \
    {                                                        \
        const __m512 factor = _mm512_set1_ps(f[r]);          \
        multiply(s##r##0, factor, low);                      \
        if constexpr (wide) multiply(s##r##1, factor, high); \
    }
                WJ_ROW(0) WJ_ROW(1) WJ_ROW(2) WJ_ROW(3) WJ_ROW(4) WJ_ROW(5) WJ_ROW(6) WJ_ROW(7)
#undef WJ_ROW
            }
#define WJ_ROW(r)                                \
    _mm512_storeu_ps(d + d_row[i + r], s##r##0); \
    if constexpr (wide) _mm512_storeu_ps(d + d_row[i + r] + 16, s##r##1);
            WJ_ROW(0) WJ_ROW(1) WJ_ROW(2) WJ_ROW(3) WJ_ROW(4) WJ_ROW(5) WJ_ROW(6) WJ_ROW(7)
#undef WJ_ROW
        }
    }
};

// ---- f16 and bf16 sums of gfx908 and gfx90a ----------------------------------------------------
//
// interp::sum_pairs adds products in pairs, each after a zero has been added to it. Products are
// exact in f32, so that a fused multiplication of the second factors, added to the first product,
// rounds once, as the addition of the pair does; vdpbf16ps with a sum of zero does both, in
// whatever order a host adds. What would differ does not arise from finite f16, whose products are
// multiples of 2^-48 below 2^32, nor from bf16 that are 0 or within [2^-55, 2^60]: multiples of
// 2^-124 below 2^120. There is nothing to flush but sums that are added to, and results.

using Element = interp::MatrixElement;

// Whether the factors of an operand are such: `rows` x 64 lanes, two in each.
template <Element E>
[[gnu::always_inline]] WJ_AVX512 inline bool in_range(const u32* row, u32 rows) {
    // Without their signs, shifted up.
    constexpr unsigned smallest = E == Element::F16 ? 1 : (127 - 55) << 8,
                       beyond = E == Element::F16 ? 0xf800 : (127 + 60) << 8;
    const __m512i one = _mm512_set1_epi16(1);
    __m512i least = _mm512_set1_epi16(-1), greatest = _mm512_setzero_si512();
#pragma GCC unroll 8
    for (u32 j = 0; j < rows * machine::lanes; j += 16) {
        const __m512i size = _mm512_slli_epi16(_mm512_loadu_si512(row + j), 1);
        least = _mm512_min_epu16(least, _mm512_sub_epi16(size, one));  // 0 is no small number
        greatest = _mm512_max_epu16(greatest, size);
    }
    return !(_mm512_cmplt_epu16_mask(least, _mm512_set1_epi16(short(smallest - 1))) |
             _mm512_cmpge_epu16_mask(greatest, _mm512_set1_epi16(short(beyond))));
}

// Dwords of two bf16, or numbers in f32: a row of 64 lanes for each product or two.
enum class Factors { Bf16Pairs, Floats };

// Of two rows of floats, or one of pairs: a[0] * b[0] + a[1] * b[1].
template <Factors F>
[[gnu::always_inline]] WJ_AVX512 inline __m512 pair_of_products(const __m512* a, const __m512* b,
                                                                u32 next_b) {
    __m512 sum = _mm512_setzero_ps();
    if constexpr (F == Factors::Bf16Pairs) {
        asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(*a), "v"(*b));
    } else {
        multiply(sum, a[0], b[0]);
        multiply(sum, a[1], b[next_b]);
    }
    return sum;
}

// Operands as in MatrixKernel, with rows of Factors. Out of line: the caller changes MXCSR.
template <u32 M, u32 N, u32 Blocks, u32 Groups, u32 Rows, Factors F>
[[gnu::noinline]] WJ_AVX512 void sum_in_pairs(const float* a, const float* b, const float* c,
                                              const uint16_t* c_row, float* d,
                                              const uint16_t* d_row, u32 block) {
    constexpr u32 columns = N / 16, of_pair = F == Factors::Floats ? 2 : 1;
    __m512 factor[Groups][Rows][columns];
#pragma GCC unroll 8
    for (u32 g = 0; g < Groups; ++g)
#pragma GCC unroll 8
        for (u32 r = 0; r < Rows; ++r)
#pragma GCC unroll 8
            for (u32 j = 0; j < columns; ++j)
                factor[g][r][j] =
                    _mm512_loadu_ps(b + machine::lanes * r + N * (block + Blocks * g) + 16 * j);
#pragma GCC unroll 4
    for (u32 i = 0; i < M; ++i) {
        __m512 sum[columns];
#pragma GCC unroll 8
        for (u32 j = 0; j < columns; ++j) sum[j] = _mm512_loadu_ps(c + c_row[i] + 16 * j);
#pragma GCC unroll 8
        for (u32 g = 0; g < Groups; ++g) {
            const u32 lane = i + M * (block + Blocks * g);
            __m512 own[Rows];
#pragma GCC unroll 8
            for (u32 r = 0; r < Rows; ++r) own[r] = _mm512_set1_ps(a[machine::lanes * r + lane]);
#pragma GCC unroll 8
            for (u32 j = 0; j < columns; ++j) {
                __m512 group = pair_of_products<F>(own, &factor[g][0][j], columns);
                if constexpr (Rows == 2 * of_pair)
                    group = _mm512_add_ps(
                        group, pair_of_products<F>(own + of_pair, &factor[g][of_pair][j], columns));
                sum[j] = _mm512_add_ps(sum[j], group);
            }
        }
#pragma GCC unroll 8
        for (u32 j = 0; j < columns; ++j) _mm512_storeu_ps(d + d_row[i] + 16 * j, sum[j]);
    }
}

// Of the lower halves.
[[gnu::always_inline]] WJ_AVX512 inline __m512 floats(Words halves) {
    const __mmask16 all = 0xffff;
    return _mm512_maskz_cvtph_ps(all, _mm512_maskz_cvtepi32_epi16(all, __m512i(halves)));
}

// Two rows of floats for each of pairs.
template <Element E>
WJ_AVX512 void widen(const u32* from, u32 rows, bool flush, float* out) {
    for (u32 j = 0; j < rows * machine::lanes; j += 16) {
        const Words x = Words(_mm512_loadu_si512(from + j));
        __m512 low, high;
        if constexpr (E == Element::F16) {
            low = floats(x);
            high = floats(x >> 16);
            if (flush) {
                const __m512 smallest = _mm512_set1_ps(0x1p-14f);
                for (__m512* f : {&low, &high})
                    *f = _mm512_maskz_mov_ps(
                        _mm512_cmp_ps_mask(_mm512_abs_ps(*f), smallest, _CMP_GE_OQ), *f);
            }
        } else {
            low = __m512(x << 16);
            high = __m512(x & 0xffff0000u);
        }
        float* const to = out + j / machine::lanes * 2 * machine::lanes + j % machine::lanes;
        _mm512_storeu_ps(to, low);
        _mm512_storeu_ps(to + machine::lanes, high);
    }
}

struct Entry {
    Opcode op;
    interp::Handler handler, with_dot = nullptr;
};
template <u32 M, u32 N, u32 K, u32 Blocks, Element E>
void mfma(machine::Wave& w, const Inst& in) {
    interp::matrix_multiply<M, N, K, Blocks, E, E, MatrixKernel512>(w, in);
}

template <u32 M, u32 N, u32 K, u32 Blocks, Element E, Factors F>
WJ_AVX512 void mfma_in_pairs(machine::Wave& w, const Inst& in) {
    constexpr u32 items = K * M * Blocks / 64, groups = K / items, rows = items / 2;
    constexpr u32 sum_rows = M * N * Blocks / 64;
    const auto general = [&] { mfma<M, N, K, Blocks, E>(w, in); };
    const MatrixSum rule = w.ctx->target ? w.ctx->target->traits.matrix_sum : MatrixSum::Ascending;
    if ((rule != MatrixSum::Pairs && rule != MatrixSum::PairsFlushed) || in.cbsz || in.blgp ||
        !interp::is_vector(in.src[0]) || !interp::is_vector(in.src[1]))
        return general();
    const u32* const a = interp::vrow(w, in.src[0]);
    const u32* const b = interp::vrow(w, in.src[1]);
    u32* const d = interp::vrow(w, in.dst[0]);
    const auto overlaps = [&](const u32* row, u32 n) {
        return row < d + sum_rows * machine::lanes && d < row + n * machine::lanes;
    };
    alignas(64) u32 constant[N];
    const u32* c = constant;
    const bool adds_rows = interp::is_vector(in.src[2]);
    if (adds_rows)
        c = interp::vrow(w, in.src[2]);
    else
        std::ranges::fill(constant, static_cast<u32>(in.src[2].value));
    if (overlaps(a, rows) || overlaps(b, rows) || (c != d && overlaps(c, sum_rows)) ||
        !in_range<E>(a, rows) || !in_range<E>(b, rows))
        return general();
    const bool flush = rule == MatrixSum::PairsFlushed;
    const float *factors_a = reinterpret_cast<const float*>(a),
                *factors_b = reinterpret_cast<const float*>(b);
    alignas(64) float wide[F == Factors::Floats ? 2 * items * machine::lanes : 1];
    if constexpr (F == Factors::Floats) {
        factors_a = wide, factors_b = wide + items * machine::lanes;
        widen<E>(a, rows, flush, wide);
        widen<E>(b, rows, flush, wide + items * machine::lanes);
    }
    const u32 mxcsr = _mm_getcsr();
    if (flush) _mm_setcsr(mxcsr | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
    static constexpr std::array<uint16_t, M> one_row{};
    for (u32 block = 0; block < Blocks; ++block) {
        const uint16_t* const d_row = interp::result_rows<M, N, Blocks, 4>[block].data();
        sum_in_pairs<M, N, Blocks, groups, F == Factors::Floats ? items : rows, F>(
            factors_a, factors_b, reinterpret_cast<const float*>(c),
            adds_rows ? d_row : one_row.data(), reinterpret_cast<float*>(d), d_row, block);
    }
    if (flush) _mm_setcsr(mxcsr);
}
template <u32 M, u32 N, u32 K, u32 Blocks>
constexpr interp::Handler f16 = mfma_in_pairs<M, N, K, Blocks, Element::F16, Factors::Floats>;
template <u32 M, u32 N, u32 K, u32 Blocks>
constexpr interp::Handler bf16 = mfma_in_pairs<M, N, K, Blocks, Element::Bf16, Factors::Floats>;
template <u32 M, u32 N, u32 K, u32 Blocks>
constexpr interp::Handler dot = mfma_in_pairs<M, N, K, Blocks, Element::Bf16, Factors::Bf16Pairs>;

// clang-format off
constexpr Entry entries[] = {
    {Opcode::v_mfma_f32_32x32x1f32, mfma<32, 32, 1, 2, Element::F32>},
    {Opcode::v_mfma_f32_16x16x1f32, mfma<16, 16, 1, 4, Element::F32>},
    {Opcode::v_mfma_f32_32x32x2f32, mfma<32, 32, 2, 1, Element::F32>},
    {Opcode::v_mfma_f32_16x16x4f32, mfma<16, 16, 4, 1, Element::F32>},
    {Opcode::v_mfma_f32_32x32x4f16, f16<32, 32, 4, 2>},
    {Opcode::v_mfma_f32_16x16x4f16, f16<16, 16, 4, 4>},
    {Opcode::v_mfma_f32_32x32x8f16, f16<32, 32, 8, 1>},
    {Opcode::v_mfma_f32_16x16x16f16, f16<16, 16, 16, 1>},
    {Opcode::v_mfma_f32_32x32x2bf16, bf16<32, 32, 2, 2>, dot<32, 32, 2, 2>},
    {Opcode::v_mfma_f32_16x16x2bf16, bf16<16, 16, 2, 4>, dot<16, 16, 2, 4>},
    {Opcode::v_mfma_f32_32x32x4bf16, bf16<32, 32, 4, 1>, dot<32, 32, 4, 1>},
    {Opcode::v_mfma_f32_16x16x8bf16, bf16<16, 16, 8, 1>, dot<16, 16, 8, 1>},
    {Opcode::v_mfma_f32_32x32x4bf16_1k, bf16<32, 32, 4, 2>, dot<32, 32, 4, 2>},
    {Opcode::v_mfma_f32_16x16x4bf16_1k, bf16<16, 16, 4, 4>, dot<16, 16, 4, 4>},
    {Opcode::v_mfma_f32_32x32x8bf16_1k, bf16<32, 32, 8, 1>, dot<32, 32, 8, 1>},
    {Opcode::v_mfma_f32_16x16x16bf16_1k, bf16<16, 16, 16, 1>, dot<16, 16, 16, 1>},
};
// clang-format on

void wmma(machine::Wave& w, const Inst& in) {
    interp::multiply_in_wave(w, in, sum_products_avx512);
}
void wmma_scaled(machine::Wave& w, const Inst& in) {
    interp::multiply_scaled_in_wave(w, in, sum_products_avx512);
}

}  // namespace

interp::Handler handler_avx512_with(Opcode op, bool bf16_products) {
    for (const Entry& e : entries)
        if (e.op == op) return e.with_dot && bf16_products ? e.with_dot : e.handler;
    const interp::Handler common = interp::handler(op);
    return common == interp::wmma ? wmma : common == interp::wmma_scaled ? wmma_scaled : common;
}

interp::Handler handler_avx512(Opcode op) {
    static const bool bf16_products = has_bf16_products();
    return handler_avx512_with(op, bf16_products);
}

}  // namespace wj::x64
