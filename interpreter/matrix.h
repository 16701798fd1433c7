// The multiplication that all matrix instructions share: gather, multiply, scatter. Layout:
// mfma.cpp.
#pragma once

#include "common/guest_float.h"
#include "interpreter/internal.h"

namespace wj::interp {

using u32 = uint32_t;

enum class MatrixElement { F32, F16, Bf16, I8, F64, Xf32, Fp8, Bf8 };

constexpr u32 element_bits(MatrixElement e) {
    switch (e) {
        case MatrixElement::F64:
            return 64;
        case MatrixElement::F32:
        case MatrixElement::Xf32:
            return 32;
        case MatrixElement::F16:
        case MatrixElement::Bf16:
            return 16;
        default:
            return 8;
    }
}

template <MatrixElement E>
using Accumulator = std::conditional_t<E == MatrixElement::F64, double,
                                       std::conditional_t<E == MatrixElement::I8, int32_t, float>>;

// Eight-bit floats as f32 (docs/float.md): gfx940 has the FNUZ formats, gfx950 the OCP ones.
float fp8_to_float(uint32_t bits, bool ocp);
float bf8_to_float(uint32_t bits, bool ocp);
bool uses_ocp_fp8(const Wave& w);

template <MatrixElement E>
Accumulator<E> decode_element(uint64_t raw, [[maybe_unused]] bool ocp) {
    const auto low = static_cast<u32>(raw);
    if constexpr (E == MatrixElement::F64)
        return std::bit_cast<double>(raw);
    else if constexpr (E == MatrixElement::F32)
        return std::bit_cast<float>(low);
    // Ten explicit bits of mantissa: the rest is dropped.
    else if constexpr (E == MatrixElement::Xf32)
        return std::bit_cast<float>(low & 0xffffe000u);
    else if constexpr (E == MatrixElement::F16)
        return gf::to_float(gf::Half{static_cast<uint16_t>(low)});
    else if constexpr (E == MatrixElement::Bf16)
        return std::bit_cast<float>(low << 16);
    else if constexpr (E == MatrixElement::Fp8)
        return fp8_to_float(low & 0xff, ocp);
    else if constexpr (E == MatrixElement::Bf8)
        return bf8_to_float(low & 0xff, ocp);
    else
        return static_cast<int8_t>(low);
}

// Element `item` of an operand in one lane.
template <MatrixElement E>
Accumulator<E> matrix_element(Wave& w, const Operand& o, u32 lane, u32 item, bool ocp) {
    constexpr u32 bits = element_bits(E);
    if constexpr (bits == 64) {
        return decode_element<E>(
            read_lane(w, o, lane, 2 * item) | uint64_t{read_lane(w, o, lane, 2 * item + 1)} << 32,
            ocp);
    } else {
        constexpr u32 per = 32 / bits;
        return decode_element<E>(read_lane(w, o, lane, item / per) >> (bits * (item % per)), ocp);
    }
}

// BLGP: where lane l of the B matrix is read.
inline u32 blgp_lane(u32 blgp, u32 l) {
    switch (blgp) {
        case 1:
            return l & 31;
        case 2:
            return 32 | (l & 31);
        case 3:
            return (l + 16) & 63;
        case 4:
        case 5:
        case 6:
        case 7:
            return 16 * (blgp - 4) + (l & 15);
        default:
            return l;
    }
}

// acc[j] += a * b[j], eight f32 or four f64 at a time where the row is long enough.
template <class T>
void multiply_row(T* acc, T a, const T* b, u32 n) {
    u32 j = 0;
    if constexpr (std::is_same_v<T, float>) {
        for (; j + 8 <= n; j += 8)
            _mm256_storeu_ps(acc + j, gf::fma(_mm256_set1_ps(a), _mm256_loadu_ps(b + j),
                                              _mm256_loadu_ps(acc + j)));
    } else if constexpr (std::is_same_v<T, double>) {
        for (; j + 4 <= n; j += 4)
            _mm256_storeu_pd(acc + j, gf::fma(_mm256_set1_pd(a), _mm256_loadu_pd(b + j),
                                              _mm256_loadu_pd(acc + j)));
    }
    for (; j < n; ++j) {
        if constexpr (std::is_same_v<T, int32_t>)
            acc[j] = static_cast<int32_t>(static_cast<u32>(acc[j]) +
                                          static_cast<u32>(a) * static_cast<u32>(b[j]));
        else
            acc[j] = gf::fma(a, b[j], acc[j]);
    }
}

// Where D[b][i][j] lives.
struct MatrixPlace {
    u32 item, lane;
};
template <u32 M, u32 N, u32 H>
constexpr MatrixPlace result_place(u32 b, u32 i, u32 j) {
    constexpr u32 per_block = N * M / H;
    constexpr u32 b_i = (64 + per_block - 1) / per_block;
    constexpr u32 m_i = 64 / b_i / N;
    constexpr u32 g = M / (H * m_i);
    return {i % H + H * (i / (H * m_i) % g + g * (b / b_i)),
            j + N * (i / H % m_i + m_i * (b % b_i))};
}

// Elements `item` of N lanes from `lane` on, as one row.
template <MatrixElement E, class T>
void load_row(Wave& w, const Operand& o, u32 lane, u32 item, u32 n, bool ocp, T* out) {
    constexpr u32 bits = element_bits(E);
    if constexpr (bits <= 32) {
        constexpr u32 per = 32 / bits;
        if (is_vector(o)) {
            const u32* row = vrow(w, o, item / per) + lane;
            for (u32 j = 0; j < n; ++j)
                out[j] = static_cast<T>(decode_element<E>(row[j] >> (bits * (item % per)), ocp));
            return;
        }
    }
    for (u32 j = 0; j < n; ++j)
        out[j] = static_cast<T>(matrix_element<E>(w, o, lane + j, item, ocp));
}

// Row D[b][i][0..N-1] is N consecutive lanes of one register (pair).
template <class T>
void load_result_row(Wave& w, const Operand& o, MatrixPlace p, u32 n, T* out) {
    for (u32 j = 0; j < n; ++j) {
        if constexpr (sizeof(T) == 8)
            out[j] = std::bit_cast<T>(
                is_vector(o) ? vrow(w, o, 2 * p.item)[p.lane + j] |
                                   uint64_t{vrow(w, o, 2 * p.item + 1)[p.lane + j]} << 32
                             : o.value);
        else
            out[j] = std::bit_cast<T>(is_vector(o) ? vrow(w, o, p.item)[p.lane + j]
                                                   : static_cast<u32>(o.value));
    }
}
template <class T>
void store_result_row(Wave& w, const Operand& o, MatrixPlace p, u32 n, const T* in) {
    for (u32 j = 0; j < n; ++j) {
        if constexpr (sizeof(T) == 8) {
            const auto bits = std::bit_cast<uint64_t>(in[j]);
            vrow(w, o, 2 * p.item)[p.lane + j] = static_cast<u32>(bits);
            vrow(w, o, 2 * p.item + 1)[p.lane + j] = static_cast<u32>(bits >> 32);
        } else {
            vrow(w, o, p.item)[p.lane + j] = std::bit_cast<u32>(in[j]);
        }
    }
}

template <u32 M, u32 N, u32 K, u32 Blocks, MatrixElement EA, MatrixElement EB>
void matrix_multiply(Wave& w, const Inst& in) {
    using T = Accumulator<EA>;
    constexpr u32 k_l = K * M * Blocks / 64;
    constexpr bool f64 = EA == MatrixElement::F64;
    constexpr u32 rows = f64 ? 1 : 4;
    const bool ocp = uses_ocp_fp8(w);
    alignas(64) static thread_local T a[K][M], b[K][N], c[Blocks][M][N];
    // On f64 the BLGP field negates A, B and C.
    const auto negate_if = [&]([[maybe_unused]] u32 bit, [[maybe_unused]] T* row,
                               [[maybe_unused]] u32 n) {
        if constexpr (f64)
            if (in.blgp & bit)
                for (u32 j = 0; j < n; ++j) row[j] = gf::negate(row[j]);
    };
    for (u32 block = 0; block < Blocks; ++block) {
        // CBSZ: groups of 2^cbsz blocks share the A of block ABID of the group.
        const u32 group = u32{1} << in.cbsz;
        const u32 a_block =
            f64 || group > Blocks ? block : (block & ~(group - 1)) | (in.abid & (group - 1));
        for (u32 k = 0; k < K; ++k) {
            load_row<EA>(w, in.src[0], M * (a_block + Blocks * (k / k_l)), k % k_l, M, ocp, a[k]);
            negate_if(1, a[k], M);
            const u32 lane = N * (block + Blocks * (k / k_l));
            if (f64 || in.blgp == 0) {
                load_row<EB>(w, in.src[1], lane, k % k_l, N, ocp, b[k]);
                negate_if(2, b[k], N);
            } else {
                for (u32 j = 0; j < N; ++j)
                    b[k][j] = static_cast<T>(matrix_element<EB>(
                        w, in.src[1], blgp_lane(in.blgp, lane + j), k % k_l, ocp));
            }
        }
        for (u32 i = 0; i < M; ++i) {
            T* row = c[block][i];
            load_result_row(w, in.src[2], result_place<M, N, rows>(block, i, 0), N, row);
            negate_if(4, row, N);
            for (u32 k = 0; k < K; ++k) multiply_row(row, a[k][i], b[k], N);
        }
    }
    // D may overlap A, B or C: it is written last.
    for (u32 block = 0; block < Blocks; ++block)
        for (u32 i = 0; i < M; ++i)
            store_result_row(w, in.dst[0], result_place<M, N, rows>(block, i, 0), N, c[block][i]);
}

}  // namespace wj::interp
