// Only the functions marked so are compiled for AVX-512: the engine asks for them on hosts that
// have it.
#include "backend_x64/matrix_avx512.h"

#include "backend_x64/host_tuning.h"
#include "interpreter/matrix.h"

#define WJ_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define WJ_BF16 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")))

namespace wj::x64 {
namespace {

using interp::u32;

// sum += a * b; the order of operands is the rule for NaN, as gf::fma.
[[gnu::always_inline]] WJ_AVX512 inline void multiply(__m512& sum, __m512 a, __m512 b) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

// Sixteen lanes of what interp::sum_pairs does.
[[gnu::always_inline]] WJ_AVX512 inline __m512 add_in_order(__m512 a, __m512 b) {
    __m512 r;
    asm("vaddps %2, %1, %0" : "=v"(r) : "v"(a), "v"(b));
    return r;
}
[[gnu::always_inline]] WJ_AVX512 inline __m512 product(const float* a, const float* b) {
    __m512 r = _mm512_setzero_ps();
    multiply(r, _mm512_set1_ps(*a), _mm512_loadu_ps(b));
    return r;
}

// Tiles of eight rows and 32 columns, or of 16 columns when the matrix has no more: the FMA units'
// latency wants at least eight sums.
struct MatrixKernel512 {
    WJ_AVX512 static void load_bf16(const u32* row, u32 shift, float* out) {
        typedef u32 Words __attribute__((vector_size(64)));
        for (u32 j = 0; j < machine::lanes; j += 16) {
            const Words x = Words(_mm512_loadu_si512(row + j));
            _mm512_storeu_si512(out + j, __m512i(shift ? x & 0xffff0000u : x << 16));
        }
    }

    template <u32 M, u32 N, u32 K, u32 Blocks, u32 Group, bool Flush>
    [[gnu::noinline]] WJ_AVX512 static void pairs(const float* a, const float* b, const float* c,
                                                  const uint16_t* c_row, float* d,
                                                  const uint16_t* d_row) {
        const auto at_a = [](u32 k) { return interp::matrix_offset(M, K, Blocks, k); };
        const auto at_b = [](u32 k) { return interp::matrix_offset(N, K, Blocks, k); };
        for (u32 j = 0; j < N; j += 16) {
            for (u32 i = 0; i < M; ++i) {
                __m512 sum = _mm512_loadu_ps(c + c_row[i] + j);
                if constexpr (Flush)
                    sum = _mm512_maskz_mov_ps(
                        _mm512_cmp_ps_mask(_mm512_abs_ps(sum),
                                           _mm512_set1_ps(std::numeric_limits<float>::min()),
                                           _CMP_NLT_UQ),
                        sum);
#pragma GCC unroll 8
                for (u32 k = 0; k < K; k += Group) {
                    __m512 group = add_in_order(product(a + at_a(k) + i, b + at_b(k) + j),
                                                product(a + at_a(k + 1) + i, b + at_b(k + 1) + j));
                    if constexpr (Group == 4)
                        group = add_in_order(
                            group, add_in_order(product(a + at_a(k + 2) + i, b + at_b(k + 2) + j),
                                                product(a + at_a(k + 3) + i, b + at_b(k + 3) + j)));
                    sum = add_in_order(sum, group);
                }
                _mm512_storeu_ps(d + d_row[i] + j, sum);
            }
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

// ---- bf16 sums of gfx908 and gfx90a by dot products --------------------------------------------
//
// interp::sum_pairs adds products in pairs. Products of bf16 are exact in f32, so that vdpbf16ps
// with a sum of zero rounds once, as the addition of the pair does, in whatever order a host adds;
// the zero is the one that the hardware adds to each product. What keeps hosts apart, denormals and
// infinities in between, does not arise from factors that are 0 or within [2^-55, 2^60]: products
// and their sums are multiples of 2^-124, and below 2^123.

// Whether the factors of an operand are in range: `rows` x 64 lanes, two in each.
[[gnu::always_inline]] WJ_BF16 inline bool in_range(const u32* row, u32 rows) {
    constexpr unsigned smallest = (127 - 55) << 8, beyond = (127 + 60) << 8;  // without signs
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

// Columns of 16 lanes times one factor pair: a[0] * b[0] + a[1] * b[1].
[[gnu::always_inline]] WJ_BF16 inline __m512 pair_of_products(__m512i a, __m512i b) {
    return _mm512_dpbf16_ps(_mm512_setzero_ps(), __m512bh(a), __m512bh(b));
}

// Out of line: the caller changes MXCSR.
template <u32 M, u32 N, u32 Blocks, u32 Groups, u32 Rows>
[[gnu::noinline]] WJ_BF16 void sum_bf16(const u32* a, const u32* b, const float* c,
                                        const uint16_t* c_row, float* d, const uint16_t* d_row,
                                        u32 block) {
    constexpr u32 columns = N / 16;
    __m512i factor[Groups][Rows][columns];
#pragma GCC unroll 8
    for (u32 g = 0; g < Groups; ++g)
#pragma GCC unroll 8
        for (u32 r = 0; r < Rows; ++r)
#pragma GCC unroll 8
            for (u32 j = 0; j < columns; ++j)
                factor[g][r][j] =
                    _mm512_loadu_si512(b + machine::lanes * r + N * (block + Blocks * g) + 16 * j);
#pragma GCC unroll 4
    for (u32 i = 0; i < M; ++i) {
        __m512 sum[columns];
#pragma GCC unroll 8
        for (u32 j = 0; j < columns; ++j) sum[j] = _mm512_loadu_ps(c + c_row[i] + 16 * j);
#pragma GCC unroll 8
        for (u32 g = 0; g < Groups; ++g) {
            const u32 lane = i + M * (block + Blocks * g);
            __m512i pair[Rows];
#pragma GCC unroll 8
            for (u32 r = 0; r < Rows; ++r)
                pair[r] = _mm512_set1_epi32(int(a[machine::lanes * r + lane]));
#pragma GCC unroll 8
            for (u32 j = 0; j < columns; ++j) {
                __m512 group = pair_of_products(pair[0], factor[g][0][j]);
                if constexpr (Rows == 2)
                    group = _mm512_add_ps(group, pair_of_products(pair[1], factor[g][1][j]));
                sum[j] = _mm512_add_ps(sum[j], group);
            }
        }
#pragma GCC unroll 8
        for (u32 j = 0; j < columns; ++j) _mm512_storeu_ps(d + d_row[i] + 16 * j, sum[j]);
    }
}

struct Entry {
    Opcode op;
    interp::Handler handler, with_bf16 = nullptr;
};
using Element = interp::MatrixElement;
template <u32 M, u32 N, u32 K, u32 Blocks, Element E>
void mfma(machine::Wave& w, const Inst& in) {
    interp::matrix_multiply<M, N, K, Blocks, E, E, MatrixKernel512>(w, in);
}

template <u32 M, u32 N, u32 K, u32 Blocks>
WJ_BF16 void mfma_bf16(machine::Wave& w, const Inst& in) {
    constexpr u32 items = K * M * Blocks / 64, groups = K / items, rows = items / 2;
    constexpr u32 sum_rows = M * N * Blocks / 64;
    const auto general = [&] { mfma<M, N, K, Blocks, Element::Bf16>(w, in); };
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
        !in_range(a, rows) || !in_range(b, rows))
        return general();
    // Flushing sums that are added to is all that sum_pairs flushes besides results.
    const u32 mxcsr = _mm_getcsr();
    if (rule == MatrixSum::PairsFlushed)
        _mm_setcsr(mxcsr | _MM_FLUSH_ZERO_ON | _MM_DENORMALS_ZERO_ON);
    static constexpr std::array<uint16_t, M> one_row{};
    for (u32 block = 0; block < Blocks; ++block) {
        const uint16_t* const d_row = interp::result_rows<M, N, Blocks, 4>[block].data();
        sum_bf16<M, N, Blocks, groups, rows>(a, b, reinterpret_cast<const float*>(c),
                                             adds_rows ? d_row : one_row.data(),
                                             reinterpret_cast<float*>(d), d_row, block);
    }
    if (rule == MatrixSum::PairsFlushed) _mm_setcsr(mxcsr);
}

// clang-format off
constexpr Entry entries[] = {
    {Opcode::v_mfma_f32_32x32x1f32, mfma<32, 32, 1, 2, Element::F32>},
    {Opcode::v_mfma_f32_16x16x1f32, mfma<16, 16, 1, 4, Element::F32>},
    {Opcode::v_mfma_f32_32x32x2f32, mfma<32, 32, 2, 1, Element::F32>},
    {Opcode::v_mfma_f32_16x16x4f32, mfma<16, 16, 4, 1, Element::F32>},
    {Opcode::v_mfma_f32_32x32x4f16, mfma<32, 32, 4, 2, Element::F16>},
    {Opcode::v_mfma_f32_16x16x4f16, mfma<16, 16, 4, 4, Element::F16>},
    {Opcode::v_mfma_f32_32x32x8f16, mfma<32, 32, 8, 1, Element::F16>},
    {Opcode::v_mfma_f32_16x16x16f16, mfma<16, 16, 16, 1, Element::F16>},
    {Opcode::v_mfma_f32_32x32x2bf16, mfma<32, 32, 2, 2, Element::Bf16>, mfma_bf16<32, 32, 2, 2>},
    {Opcode::v_mfma_f32_16x16x2bf16, mfma<16, 16, 2, 4, Element::Bf16>, mfma_bf16<16, 16, 2, 4>},
    {Opcode::v_mfma_f32_32x32x4bf16, mfma<32, 32, 4, 1, Element::Bf16>, mfma_bf16<32, 32, 4, 1>},
    {Opcode::v_mfma_f32_16x16x8bf16, mfma<16, 16, 8, 1, Element::Bf16>, mfma_bf16<16, 16, 8, 1>},
    {Opcode::v_mfma_f32_32x32x4bf16_1k, mfma<32, 32, 4, 2, Element::Bf16>, mfma_bf16<32, 32, 4, 2>},
    {Opcode::v_mfma_f32_16x16x4bf16_1k, mfma<16, 16, 4, 4, Element::Bf16>, mfma_bf16<16, 16, 4, 4>},
    {Opcode::v_mfma_f32_32x32x8bf16_1k, mfma<32, 32, 8, 1, Element::Bf16>, mfma_bf16<32, 32, 8, 1>},
    {Opcode::v_mfma_f32_16x16x16bf16_1k, mfma<16, 16, 16, 1, Element::Bf16>, mfma_bf16<16, 16, 16, 1>},
};
// clang-format on

}  // namespace

interp::Handler handler_avx512(Opcode op) {
    for (const Entry& e : entries)
        if (e.op == op) return e.with_bf16 && has_bf16_products() ? e.with_bf16 : e.handler;
    return interp::handler(op);
}

}  // namespace wj::x64
