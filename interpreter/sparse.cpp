// v_smfmac_*: the A matrix holds two of every four elements, with their positions in a VGPR.
// v_mfma_*_f8f6f4: operands of 4 to 8 bits in formats named by CBSZ (A) and BLGP (B), optionally
// with a scale for every 32 elements of k.
#include "interpreter/matrix.h"
#include "interpreter/mx_elements.h"

namespace wj::interp {

namespace {

// FP16_OVFL, as clamp_overflow of matrix.h: one row, the products as factor and row of B.
template <class T, u32 N, size_t Count>
void clamp_row(const std::array<std::pair<T, const T*>, Count>& products, const T* c, T* sum) {
    for (u32 j = 0; j < N; ++j) {
        if constexpr (std::is_same_v<T, float>) {
            bool finite = std::isinf(sum[j]) && std::isfinite(c[j]);
            for (const auto& [factor, row] : products)
                finite = finite && std::isfinite(factor) && std::isfinite(row[j]);
            if (finite) sum[j] = std::copysign(std::numeric_limits<float>::max(), sum[j]);
        } else {
            int64_t exact = static_cast<int32_t>(c[j]);
            for (const auto& [factor, row] : products)
                exact += int64_t{static_cast<int32_t>(factor)} * static_cast<int32_t>(row[j]);
            sum[j] = static_cast<T>(std::clamp<int64_t>(exact, INT32_MIN, INT32_MAX));
        }
    }
}

// D += A * B. A: per = elements per lane; dense k of a lane's element t is 2*per*group + 4*(t/2) +
// position[t], two bits each. CBSZ = 0: ABID chooses which set of positions of the VGPR is used;
// otherwise the first one.
template <u32 M, u32 N, u32 K, MatrixElement EA, MatrixElement EB>
void smfmac(Wave& w, const Inst& in) {
    using T = Accumulator<EA>;
    constexpr u32 groups = 64 / M, per = K / 2 / groups;
    constexpr u32 set_bits = 2 * per;
    const bool ocp = uses_ocp_fp8(w);
    const u32 set = in.cbsz == 0 && set_bits < 32 ? in.abid % (32 / set_bits) : 0;
    alignas(64) T b[K][N], d[M][N];
    std::array<std::pair<T, const T*>, K / 2> dense;
    T c[N];
    for (u32 k = 0; k < K; ++k)
        for (u32 j = 0; j < N; ++j)
            b[k][j] = static_cast<T>(
                matrix_element<EB>(w, in.src[1], j + N * (k / (2 * per)), k % (2 * per), ocp));
    const bool clamps = traits(w).matrix_obeys_mode && gf::FloatMode{w.mode}.fp16_ovfl();
    for (u32 i = 0; i < M; ++i) {
        for (u32 j = 0; j < N; ++j) {
            const MatrixPlace p = result_place<M, N, 4>(0, i, j);
            d[i][j] = std::bit_cast<T>(vrow(w, in.dst[0], p.item)[p.lane]);
        }
        if (clamps) std::memcpy(c, d[i], sizeof c);
        for (u32 g = 0; g < groups; ++g) {
            const u32 lane = i + M * g;
            const u32 positions = read_lane(w, in.src[2], lane) >> (set * set_bits % 32);
            for (u32 t = 0; t < per; ++t) {
                const u32 k = 2 * per * g + 4 * (t / 2) + (positions >> (2 * t) & 3);
                const auto factor = matrix_element<EA>(w, in.src[0], lane, t, ocp);
                dense[g * per + t] = {static_cast<T>(factor), b[k]};
                multiply_row(d[i], factor, b[k], N);
            }
        }
        if (clamps) clamp_row<T, N>(dense, c, d[i]);
    }
    for (u32 i = 0; i < M; ++i)
        for (u32 j = 0; j < N; ++j) {
            const MatrixPlace p = result_place<M, N, 4>(0, i, j);
            vrow(w, in.dst[0], p.item)[p.lane] = std::bit_cast<u32>(d[i][j]);
        }
}

float mx_scale(Wave& w, const Operand& o, u32 lane, u32 byte) {
    return e8m0(read_lane(w, o, lane) >> (8 * byte) & 0xff);
}

// The scale of k = 32 q ... 32 q + 31 lies in lane group q.
template <u32 M, u32 N, u32 K, bool Scaled>
void f8f6f4(Wave& w, const Inst& in) {
    constexpr u32 groups = 64 / M, per = K / groups;
    static_assert(per == 32);
    const gf::SmallFormat &fa = mx_format(in.cbsz), &fb = mx_format(in.blgp);
    alignas(64) float a[M][K], b[K][N], d[M][N];
    const auto scale = [&](u32 operand, u32 lane) {
        return Scaled ? mx_scale(w, in.src[3 + operand], lane,
                                 (in.op_sel >> operand & 1) | (in.op_sel_hi >> operand & 1) << 1)
                      : 1.0f;
    };
    for (u32 i = 0; i < M; ++i) {
        for (u32 g = 0; g < groups; ++g)
            for (u32 t = 0; t < per; ++t) {
                a[i][mx_k<groups>(fa, g, t)] = mx_element(w, in.src[0], i + M * g, t, fa);
                b[mx_k<groups>(fb, g, t)][i] = mx_element(w, in.src[1], i + M * g, t, fb);
            }
        for (u32 q = 0; q < groups; ++q) {
            const float sa = scale(0, i + M * q), sb = scale(1, i + M * q);
            for (u32 k = 32 * q; k < 32 * (q + 1); ++k) {
                a[i][k] = gf::mul(a[i][k], sa);
                b[k][i] = gf::mul(b[k][i], sb);
            }
        }
    }
    for (u32 i = 0; i < M; ++i) {
        for (u32 j = 0; j < N; ++j) {
            const MatrixPlace p = result_place<M, N, 4>(0, i, j);
            d[i][j] = std::bit_cast<float>(
                read_lane(w, in.src[2], p.lane, is_vector(in.src[2]) ? p.item : 0));
        }
        for (u32 k = 0; k < K; ++k) multiply_row(d[i], a[i][k], b[k], N);
    }
    for (u32 i = 0; i < M; ++i)
        for (u32 j = 0; j < N; ++j) {
            const MatrixPlace p = result_place<M, N, 4>(0, i, j);
            vrow(w, in.dst[0], p.item)[p.lane] = std::bit_cast<u32>(d[i][j]);
        }
}

constexpr auto f16 = MatrixElement::F16;
constexpr auto bf16 = MatrixElement::Bf16;
constexpr auto i8 = MatrixElement::I8;
constexpr auto fp8 = MatrixElement::Fp8;
constexpr auto bf8 = MatrixElement::Bf8;

#define EIGHT_BIT_ROWS(shape, m, n, k)                                         \
    {Opcode::v_smfmac_f32_##shape##_bf8_bf8, smfmac<m, n, k, bf8, bf8>},       \
        {Opcode::v_smfmac_f32_##shape##_bf8_fp8, smfmac<m, n, k, bf8, fp8>},   \
        {Opcode::v_smfmac_f32_##shape##_fp8_bf8, smfmac<m, n, k, fp8, bf8>},   \
        {Opcode::v_smfmac_f32_##shape##_fp8_fp8, smfmac<m, n, k, fp8, fp8>}, { \
        Opcode::v_smfmac_i32_##shape##_i8, smfmac<m, n, k, i8, i8>             \
    }
#define SIXTEEN_BIT_ROWS(shape, m, n, k)                                 \
    {Opcode::v_smfmac_f32_##shape##_f16, smfmac<m, n, k, f16, f16>}, {   \
        Opcode::v_smfmac_f32_##shape##_bf16, smfmac<m, n, k, bf16, bf16> \
    }

// clang-format off
constexpr HandlerEntry table[] = {
    SIXTEEN_BIT_ROWS(16x16x32, 16, 16, 32),
    SIXTEEN_BIT_ROWS(32x32x16, 32, 32, 16),
    SIXTEEN_BIT_ROWS(16x16x64, 16, 16, 64),
    SIXTEEN_BIT_ROWS(32x32x32, 32, 32, 32),
    EIGHT_BIT_ROWS(16x16x64, 16, 16, 64),
    EIGHT_BIT_ROWS(32x32x32, 32, 32, 32),
    EIGHT_BIT_ROWS(16x16x128, 16, 16, 128),
    EIGHT_BIT_ROWS(32x32x64, 32, 32, 64),
    {Opcode::v_mfma_f32_16x16x128_f8f6f4, f8f6f4<16, 16, 128, false>},
    {Opcode::v_mfma_f32_32x32x64_f8f6f4, f8f6f4<32, 32, 64, false>},
    {Opcode::v_mfma_scale_f32_16x16x128_f8f6f4, f8f6f4<16, 16, 128, true>},
    {Opcode::v_mfma_scale_f32_32x32x64_f8f6f4, f8f6f4<32, 32, 64, true>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> sparse_handlers() {
    return table;
}

}  // namespace wj::interp
