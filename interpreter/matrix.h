// The multiplication that all matrix instructions share: gather, multiply, scatter. Layout:
// mfma.cpp.
#pragma once

#include <algorithm>
#include <array>

#include "common/guest_float.h"
#include "interpreter/matrix_layout.h"
#include "interpreter/matrix_sums.h"

namespace wj::interp {

enum class MatrixElement { F32, F16, Bf16, I8, F64, Xf32, Fp8, Bf8, I32, I4 };

constexpr u32 element_bits(MatrixElement e) {
    switch (e) {
        case MatrixElement::F64:
            return 64;
        case MatrixElement::F32:
        case MatrixElement::I32:
        case MatrixElement::Xf32:
            return 32;
        case MatrixElement::F16:
        case MatrixElement::Bf16:
            return 16;
        case MatrixElement::I4:
            return 4;
        default:
            return 8;
    }
}

template <MatrixElement E>
using Accumulator = std::conditional_t<E == MatrixElement::F64, double,
                                       std::conditional_t<E == MatrixElement::I8, int32_t, float>>;

// Eight-bit floats as f32 (docs/reference/float.md): gfx940 has the FNUZ formats, gfx950 the OCP
// ones.
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

// Element `item` of all lanes.
template <MatrixElement E, class Kernel, class T>
void load_items(Wave& w, const Operand& o, u32 item, bool ocp, T* out) {
    constexpr u32 bits = element_bits(E);
    if constexpr (bits <= 32) {
        if (is_vector(o)) {
            constexpr u32 per = 32 / bits;
            const u32* row = vrow(w, o, item / per);
            const u32 shift = bits * (item % per);
            if constexpr (E == MatrixElement::F16) {
                for (u32 j = 0; j < lanes; j += 8) {
                    __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row + j));
                    x = shift ? _mm256_srli_epi32(x, 16)
                              : _mm256_and_si256(x, _mm256_set1_epi32(0xffff));
                    _mm256_storeu_ps(
                        out + j, _mm256_cvtph_ps(_mm_packus_epi32(_mm256_castsi256_si128(x),
                                                                  _mm256_extracti128_si256(x, 1))));
                }
            } else if constexpr (E == MatrixElement::Bf16) {
                Kernel::load_bf16(row, shift, out);
            } else {
                for (u32 j = 0; j < lanes; ++j)
                    out[j] = static_cast<T>(decode_element<E>(row[j] >> shift, ocp));
            }
            return;
        }
    }
    for (u32 j = 0; j < lanes; ++j) out[j] = static_cast<T>(matrix_element<E>(w, o, j, item, ocp));
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

// Eight or four elements of a row.
template <class T, u32 Lanes>
struct RowPart {
    typedef T V __attribute__((vector_size(Lanes * sizeof(T))));
    V v;
    static RowPart load(const T* p) {
        RowPart r;
        std::memcpy(&r.v, p, sizeof r.v);
        return r;
    }
    void store(T* p) const { std::memcpy(p, &v, sizeof v); }
    // this += a * b in each element; the order of operands is the rule for NaN, as gf::fma.
    void add(const T* a, const RowPart& b) {
        if constexpr (std::is_same_v<T, float>) {
            V x;
            asm("vbroadcastss %1, %0" : "=x"(x) : "m"(*a));
            asm("vfmadd231ps %2, %1, %0" : "+x"(v) : "x"(x), "x"(b.v));
        } else if constexpr (std::is_same_v<T, double>) {
            __m256d x = _mm256_broadcast_sd(a);
            asm("vfmadd231pd %2, %1, %0" : "+x"(v) : "x"(x), "x"(b.v));
        } else if constexpr (Lanes == 8) {
            // Bytes in dwords; the upper half of a is 0, so that one of the two products is.
            v += V(_mm256_madd_epi16(_mm256_set1_epi32(static_cast<int>(*a)), __m256i(b.v)));
        } else {
            v += V(_mm_madd_epi16(_mm_set1_epi32(static_cast<int>(*a)), __m128i(b.v)));
        }
    }
};

// D = A * B + C of one block, in tiles of four rows whose sums stay in registers.
//   A[i][k] is a[i + at], B[k][j] b[j + at] with `at` from matrix_offset; row i of C is at
//   c + c_row[i], of D at d + d_row[i]. C and D may be the same rows, else they do not overlap.
struct MatrixKernel {
    static void load_bf16(const u32* row, u32 shift, float* out) {
        for (u32 j = 0; j < lanes; ++j) out[j] = std::bit_cast<float>(row[j] >> shift << 16);
    }
    template <u32 M, u32 N, u32 K, u32 Blocks, u32 Group, bool Flush>
    static void pairs(const float* a, const float* b, const float* c, const uint16_t* c_row,
                      float* d, const uint16_t* d_row) {
        sum_pairs<M, N, K, Blocks, Group, Flush>(a, b, c, c_row, d, d_row);
    }
    template <class T, u32 M, u32 N, u32 K, u32 Blocks>
    static void run(const T* a, const T* b, const T* c, const uint16_t* c_row, T* d,
                    const uint16_t* d_row) {
        constexpr u32 lanes = N * sizeof(T) < 32 ? N : 32 / sizeof(T);
        constexpr bool wide = N % (2 * lanes) == 0;
        using Part = RowPart<T, lanes>;
        for (u32 j = 0; j < N; j += wide ? 2 * lanes : lanes) {
            for (u32 i = 0; i < M; i += 4) {
                const auto at = [&](u32 r, u32 n) {
                    return Part::load(c + c_row[i + r] + j + n * lanes);
                };
                Part s00 = at(0, 0), s10 = at(1, 0), s20 = at(2, 0), s30 = at(3, 0);
                Part s01, s11, s21, s31;
                if constexpr (wide) s01 = at(0, 1), s11 = at(1, 1), s21 = at(2, 1), s31 = at(3, 1);
                for (u32 k = 0; k < K; ++k) {
                    const T* const factor = a + matrix_offset(M, K, Blocks, k) + i;
                    const T* const row = b + matrix_offset(N, K, Blocks, k) + j;
                    const Part low = Part::load(row);
                    s00.add(factor, low);
                    s10.add(factor + 1, low);
                    s20.add(factor + 2, low);
                    s30.add(factor + 3, low);
                    if constexpr (wide) {
                        const Part high = Part::load(row + lanes);
                        s01.add(factor, high);
                        s11.add(factor + 1, high);
                        s21.add(factor + 2, high);
                        s31.add(factor + 3, high);
                    }
                }
                const auto put = [&](u32 r, u32 n, const Part& sum) {
                    sum.store(d + d_row[i + r] + j + n * lanes);
                };
                put(0, 0, s00), put(1, 0, s10), put(2, 0, s20), put(3, 0, s30);
                if constexpr (wide) put(0, 1, s01), put(1, 1, s11), put(2, 1, s21), put(3, 1, s31);
            }
        }
    }
};

// Where the rows of D[b] start, in dwords from the first register.
template <u32 M, u32 N, u32 Blocks, u32 H>
constexpr auto result_rows = [] {
    std::array<std::array<uint16_t, M>, Blocks> rows{};
    for (u32 b = 0; b < Blocks; ++b)
        for (u32 i = 0; i < M; ++i) {
            const MatrixPlace p = result_place<M, N, H>(b, i, 0);
            rows[b][i] = static_cast<uint16_t>(p.item * 64 + p.lane);
        }
    return rows;
}();

// FP16_OVFL: infinite sums of finite numbers become the largest number, integers saturate. Operands
// as in MatrixKernel; C and D do not overlap.
template <u32 M, u32 N, u32 K, u32 Blocks, class T>
void clamp_overflow(const T* a, const T* b, const T* c, const uint16_t* c_row, T* d,
                    const uint16_t* d_row) {
    for (u32 i = 0; i < M; ++i)
        for (u32 j = 0; j < N; ++j) {
            T& sum = d[d_row[i] + j];
            const T addend = c[c_row[i] + j];
            const auto factors = [&](u32 k) {
                return std::pair(a[matrix_offset(M, K, Blocks, k) + i],
                                 b[matrix_offset(N, K, Blocks, k) + j]);
            };
            if constexpr (std::is_same_v<T, float>) {
                bool finite = std::isinf(sum) && std::isfinite(addend);
                for (u32 k = 0; finite && k < K; ++k)
                    finite = std::isfinite(factors(k).first) && std::isfinite(factors(k).second);
                if (finite) sum = std::copysign(std::numeric_limits<float>::max(), sum);
            } else {
                int64_t exact = static_cast<int32_t>(addend);
                for (u32 k = 0; k < K; ++k)
                    exact += int64_t{static_cast<int16_t>(factors(k).first)} *
                             static_cast<int32_t>(factors(k).second);
                sum = static_cast<T>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
            }
        }
}

// Exponent of the smallest normal number.
constexpr int32_t least_exponent(MatrixElement e) {
    switch (e) {
        case MatrixElement::F16:
            return -14;
        case MatrixElement::Fp8:
            return -7;
        case MatrixElement::Bf8:
            return -15;
        default:
            return -126;
    }
}

// The sums of one block by the rule of the wave's processor; what the operands need for it is
// prepared once.
template <u32 M, u32 N, u32 K, u32 Blocks, MatrixElement EA, MatrixElement EB, class Kernel>
class MatrixSummation {
    static constexpr u32 a_items = K * M * Blocks / 64, b_items = K * N * Blocks / 64;
    static constexpr bool half = EA == MatrixElement::F16 || EA == MatrixElement::Bf16;
    static constexpr bool small = element_bits(EA) == 8 && EA != MatrixElement::I8;
    static constexpr bool aligned = half || small || EA == MatrixElement::Xf32;

public:
    template <class T>
    MatrixSummation(const Wave& w, T* a, T* b) {
        if constexpr (half || aligned) {
            rule_ = traits(w).matrix_sum;
            if (half && rule_ == MatrixSum::PairsFlushed) {
                for (u32 x = 0; x < a_items * lanes; ++x)
                    a[x] = flush_to_zero(a[x], std::ldexp(1.0f, least_exponent(EA)));
                for (u32 x = 0; x < b_items * lanes; ++x)
                    b[x] = flush_to_zero(b[x], std::ldexp(1.0f, least_exponent(EB)));
            }
            if (rule_ == MatrixSum::Aligned) {
                for (u32 x = 0; x < a_items * lanes; ++x)
                    split_float(a[x], least_exponent(EA), a[x], a_exponents_[x]);
                for (u32 x = 0; x < b_items * lanes; ++x)
                    split_float(b[x], least_exponent(EB), b[x], b_exponents_[x]);
                a_ = a, b_ = b;
            }
        }
    }
    template <class T>
    void block(const T* a, const T* b, const T* c, const uint16_t* c_row, T* d,
               const uint16_t* d_row) const {
        if constexpr (half) {
            // As many products as a lane holds (up to 4 on the processors that have the rule).
            constexpr u32 group = std::min(a_items, 4u);
            if (rule_ == MatrixSum::Pairs)
                return Kernel::template pairs<M, N, K, Blocks, group, false>(a, b, c, c_row, d,
                                                                             d_row);
            if (rule_ == MatrixSum::PairsFlushed) {
                const uint32_t mxcsr = _mm_getcsr();
                _mm_setcsr(mxcsr | _MM_FLUSH_ZERO_ON);
                Kernel::template pairs<M, N, K, Blocks, group, true>(a, b, c, c_row, d, d_row);
                return _mm_setcsr(mxcsr);
            }
        }
        if constexpr (aligned) {
            // Twice as many.
            if (rule_ == MatrixSum::Aligned)
                return sum_aligned<M, N, K, Blocks, std::min(K, 2 * a_items), small>(
                    {a, a_exponents_ + (a - a_)}, {b, b_exponents_ + (b - b_)}, c, c_row, d, d_row);
        }
        Kernel::template run<T, M, N, K, Blocks>(a, b, c, c_row, d, d_row);
    }

private:
    MatrixSum rule_ = MatrixSum::Ascending;
    const float *a_ = nullptr, *b_ = nullptr;
    alignas(32) int32_t a_exponents_[aligned ? a_items * lanes : 1];
    alignas(32) int32_t b_exponents_[aligned ? b_items * lanes + 8 : 1];
};

// Kernel: MatrixKernel, or one that gives the same bits.
template <u32 M, u32 N, u32 K, u32 Blocks, MatrixElement EA, MatrixElement EB,
          class Kernel = MatrixKernel>
void matrix_multiply(Wave& w, const Inst& in) {
    using Sum = Accumulator<EA>;
    constexpr bool is_int = EA == MatrixElement::I8;
    using T = std::conditional_t<is_int, u32, Sum>;  // sums wrap
    constexpr u32 a_items = K * M * Blocks / 64, b_items = K * N * Blocks / 64;
    constexpr bool f64 = EA == MatrixElement::F64;
    const bool ocp = uses_ocp_fp8(w);
    // D may overlap A and B: these are read first.
    alignas(64) T a[a_items][lanes], b[b_items + 1][lanes];  // a row more: see sum_pairs
    // On f64 the BLGP field negates A, B and C.
    const auto negate_if = [&]([[maybe_unused]] u32 bit, [[maybe_unused]] T* row,
                               [[maybe_unused]] u32 n) {
        if constexpr (f64)
            if (in.blgp & bit)
                for (u32 j = 0; j < n; ++j) row[j] = gf::negate(row[j]);
    };
    for (u32 item = 0; item < a_items; ++item) {
        load_items<EA, Kernel>(w, in.src[0], item, ocp, a[item]);
        negate_if(1, a[item], lanes);
        if constexpr (is_int)
            for (T& x : a[item]) x &= 0xffff;  // see RowPart
    }
    for (u32 item = 0; item < b_items; ++item) {
        load_items<EB, Kernel>(w, in.src[1], item, ocp, b[item]);
        negate_if(2, b[item], lanes);
        if (f64 || in.blgp == 0) continue;
        T moved[lanes];
        for (u32 l = 0; l < lanes; ++l) moved[l] = b[item][blgp_lane(in.blgp, l)];
        std::memcpy(b[item], moved, sizeof moved);
    }
    const gf::FloatMode mode{w.mode};
    const bool obeys_mode = traits(w).matrix_obeys_mode;
    if constexpr (EA == MatrixElement::F32)
        if (obeys_mode && !mode.keeps_inputs<float>()) {
            for (u32 x = 0; x < a_items * lanes; ++x) a[0][x] = gf::flush(a[0][x]);
            for (u32 x = 0; x < b_items * lanes; ++x) b[0][x] = gf::flush(b[0][x]);
        }
    const MatrixSummation<M, N, K, Blocks, EA, EB, Kernel> sums(w, a[0], b[0]);
    // CBSZ: groups of 2^cbsz blocks share the A of block ABID of the group.
    const u32 group = u32{1} << in.cbsz;
    const auto a_of = [&](u32 block) {
        if (!f64 && group <= Blocks) block = (block & ~(group - 1)) | (in.abid & (group - 1));
        return a[0] + M * block;
    };
    if constexpr (f64) {  // a row of C and D is split over two registers
        alignas(64) T c[Blocks][M][N];
        static constexpr auto local = [] {
            std::array<uint16_t, M> rows{};
            for (u32 i = 0; i < M; ++i) rows[i] = static_cast<uint16_t>(i * N);
            return rows;
        }();
        for (u32 block = 0; block < Blocks; ++block)
            for (u32 i = 0; i < M; ++i) {
                load_result_row(w, in.src[2], result_place<M, N, 1>(block, i, 0), N, c[block][i]);
                negate_if(4, c[block][i], N);
            }
        for (u32 block = 0; block < Blocks; ++block) {
            T* const d = c[block][0];
            sums.block(a_of(block), b[0] + N * block, d, local.data(), d, local.data());
            for (u32 i = 0; i < M; ++i)
                store_result_row(w, in.dst[0], result_place<M, N, 1>(block, i, 0), N, c[block][i]);
        }
    } else {
        static constexpr auto& rows = result_rows<M, N, Blocks, 4>;
        const bool clamps = obeys_mode && mode.fp16_ovfl();
        constexpr u32 registers = M * N * Blocks / 64;
        u32* const d = vrow(w, in.dst[0]);
        alignas(64) T copy[registers * 64];
        const T* c = copy;
        static constexpr std::array<uint16_t, M> one_row{};
        if (!is_vector(in.src[2])) {
            for (u32 j = 0; j < N; ++j)
                copy[j] = std::bit_cast<T>(static_cast<u32>(in.src[2].value));
        } else if (const u32* from = vrow(w, in.src[2]); (clamps || from != d) &&
                                                         from < d + registers * 64 &&
                                                         d < from + registers * 64) {
            std::memcpy(copy, from, sizeof copy);
        } else {
            c = reinterpret_cast<const T*>(from);
        }
        for (u32 block = 0; block < Blocks; ++block) {
            const uint16_t* const c_row =
                is_vector(in.src[2]) ? rows[block].data() : one_row.data();
            T* const to = reinterpret_cast<T*>(d);
            sums.block(a_of(block), b[0] + N * block, c, c_row, to, rows[block].data());
            if (clamps) [[unlikely]]
                clamp_overflow<M, N, K, Blocks>(a_of(block), b[0] + N * block, c, c_row, to,
                                                rows[block].data());
        }
    }
}

}  // namespace wj::interp
