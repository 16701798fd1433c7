// Products in a wave: D = A * B + C of 16 rows and columns. EXEC and MODE are ignored. The products
// of one element are added in the order of k, one fused operation of f32 each; 16-bit results are
// rounded once, at the end (coverage.cpp: the hardware's order is not published).
//
// Layout ("How to accelerate AI applications on RDNA 3 using WMMA" on GPUOpen; RDNA4 ISA, 7.12.2;
// AMD's matrix instruction calculator), with waves of n lanes:
//   gfx11  A[i][k]: item k of lane i (lanes from 16 on hold copies), B[k][j] likewise of lane j;
//          D[i][j]: register i / (n/16), lane j + 16 * (i % (n/16)); of 16-bit results one half of
//          it, which OP_SEL names, as it does of C
//   gfx12  A[i][k]: item k % p of lane i + 16 * (k / p), where a lane has p items; D[i][j]:
//          wmma_place
// Which k is which item of a lane matters to no product, as it is the same for A and B; so waves of
// 64 lanes and gfx12.5 are as this says, though the documents number k otherwise.
//
// Sparse products: A has two of each four elements of k, and in C's place a register with their
// positions, two bits for each item of A in the same lane; OP_SEL is the number of the set where
// the register has room for several. A lane's items of A stand for as many fours of B in the lane
// of that number (RDNA4 ISA, 7.12.3; CDNA5 ISA, 7.12.3-5, whose tables of B say so; measured on
// gfx1201 for 8 and 16 bits by a fork of ggml). C is D.
#include "interpreter/wmma.h"

#include "interpreter/matrix.h"

namespace wj::interp {

bool refuse_ovfl_product(Wave& w) {
    const bool refused = gf::FloatMode{w.mode}.fp16_ovfl();
    if (refused) stop(w, ExitKind::Unimplemented, "products in a wave where MODE has FP16_OVFL");
    return refused;
}
bool refuse_signed_factors(Wave& w, const Inst& in) {
    const bool refused = ((in.neg | in.neg_hi) & 3) != 0;
    if (refused) stop(w, ExitKind::Unimplemented, "signs of A and B in products of floats");
    return refused;
}

namespace {

constexpr u32 edge = wmma_edge;

enum class Kind : uint8_t { F32, F16, Bf16, Fp8, Bf8, I32, I8, I4 };

constexpr u32 kind_bits(Kind k) {
    constexpr uint8_t bits[] = {32, 16, 16, 8, 8, 32, 8, 4};
    return bits[static_cast<size_t>(k)];
}
constexpr bool is_integer(Kind k) {
    return k >= Kind::I32;
}
constexpr bool is_half(Kind k) {
    return kind_bits(k) == 16;
}

u32 raw_item(Wave& w, const Operand& o, u32 lane, u32 item, u32 bits) {
    const u32 per = 32 / bits, dword = vrow(w, o, item / per)[lane];
    return dword >> bits * (item % per) & (~u32{0} >> (32 - bits));
}

float float_item(Kind kind, u32 raw) {
    switch (kind) {
        case Kind::F32:
            return std::bit_cast<float>(raw);
        case Kind::F16:
            return gf::to_float(gf::Half{static_cast<uint16_t>(raw)});
        case Kind::Bf16:
            return std::bit_cast<float>(raw << 16);
        case Kind::Fp8:
            return fp8_to_float(raw, true);
        default:
            return bf8_to_float(raw, true);
    }
}
int32_t integer_item(Kind kind, u32 raw, bool is_signed) {
    const u32 above = 32 - kind_bits(kind);
    return is_signed ? static_cast<int32_t>(raw << above) >> above : static_cast<int32_t>(raw);
}

// Of A: NEG says that integers are signed, of floats it negates the elements with even k, NEG_HI
// those with odd k. A lane has `per` items.
template <u32 K, Kind E, class T>
void load_factor(Wave& w, const Inst& in, u32 source, u32 per, T (&out)[edge][K]) {
    for (u32 i = 0; i < edge; ++i)
        for (u32 k = 0; k < K; ++k) {
            const u32 raw = raw_item(w, in.src[source], i + 16 * (k / per), k % per, kind_bits(E));
            if constexpr (is_integer(E)) {
                out[i][k] = integer_item(E, raw, in.neg >> source & 1);
            } else {
                const bool negated = (k % 2 ? in.neg_hi : in.neg) >> source & 1;
                const float x = float_item(E, raw);
                out[i][k] = negated ? -x : x;
            }
        }
}

// Items of A or B that a lane of gfx12 has, of `count` in a row: a register of four bits each is
// full in any case (then the upper half of a wave of 64 lanes has none).
u32 items_per_lane(const Wave& w, u32 count, Kind e) {
    return std::max(count * 16 / w.size, 32 / kind_bits(e));
}

// The k of each item of a sparse A.
template <u32 N>
void load_positions(Wave& w, const Inst& in, u32 per, uint8_t (&out)[edge][N]) {
    const u32 first = 2 * per * in.op_sel;
    for (u32 i = 0; i < edge; ++i)
        for (u32 t = 0; t < N; ++t) {
            const u32 bit = first + 2 * (t % per), lane = i + 16 * (t / per);
            const u32 position = vrow(w, in.src[2], bit / 32)[lane] >> bit % 32 & 3;
            out[i][t] = static_cast<uint8_t>(4 * (t / 2) + position);
        }
}
bool refuse_index_set(Wave& w, const Inst& in, u32 per) {
    const char* what =
        2 * per * (in.op_sel + 1u) > 32u * in.src[2].dwords ? "an index key beyond the register"
        : in.op == Opcode::v_swmmac_i32_16x16x32_iu4 && w.size == 64
            ? "32 elements of four bits in waves of 64 lanes: AMD's tables contradict its text"
            : nullptr;
    if (what) stop(w, ExitKind::Unimplemented, what);
    return what != nullptr;
}

template <bool Rdna4>
WmmaPlace place(const Wave& w, u32 i, u32 j) {
    if (Rdna4) return wmma_place(w.size, i, j);
    const u32 rows = w.size / 16;
    return {i / rows, j + 16 * (i % rows)};
}

// The 32 or 16 bits of D[i][j] or C[i][j].
template <bool Rdna4, bool Half>
u32 get(Wave& w, const Inst& in, const Operand& o, WmmaPlace p) {
    if (!is_vector(o)) return static_cast<u32>(o.value);
    if (!Half) return vrow(w, o, p.item)[p.lane];
    const u32 item = Rdna4 ? p.item / 2 : p.item;
    const bool high = Rdna4 ? p.item % 2 : in.op_sel >> 2 & 1;
    return vrow(w, o, item)[p.lane] >> (high ? 16 : 0) & 0xffff;
}
template <bool Rdna4, bool Half>
void put(Wave& w, const Inst& in, WmmaPlace p, u32 value) {
    if (!Half) {
        vrow(w, in.dst[0], p.item)[p.lane] = value;
        return;
    }
    const u32 item = Rdna4 ? p.item / 2 : p.item;
    const bool high = Rdna4 ? p.item % 2 : in.op_sel >> 2 & 1;
    u32& d = vrow(w, in.dst[0], item)[p.lane];
    d = high ? (d & 0xffff) | value << 16 : (d & 0xffff0000) | value;
}

uint32_t to_bf16(float x) {
    const u32 b = std::bit_cast<u32>(x);
    return gf::is_nan(x) ? b >> 16 | 0x40 : (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

u32 encode(Kind kind, float x) {
    return kind == Kind::F32   ? std::bit_cast<u32>(x)
           : kind == Kind::F16 ? gf::to_half(x).bits
                               : to_bf16(x);
}

// N products of each element; those of a sparse A are with N of K = 2 * N elements of B.
template <u32 N, u32 K, Kind EA, Kind EB, bool Rdna4, Kind ED, Kind EC>
void multiply_wave(Wave& w, const Inst& in) {
    constexpr bool sparse = N != K, gfx12_5 = EA == Kind::F32 || N * kind_bits(EA) >= 512;
    if (gfx12_5 && EA != Kind::F32 && refuse_ovfl_product(w)) return;
    if (gfx12_5 && !is_integer(EA) && refuse_signed_factors(w, in)) return;
    if (!sparse && is_half(EC) && !is_vector(in.src[2]) && in.src[2].value != 0)
        return stop(w, ExitKind::Unimplemented, "a constant other than 0 as 16-bit addend");
    const u32 per = Rdna4 ? items_per_lane(w, N, EA) : N;
    uint8_t position[edge][N];
    if constexpr (sparse) {
        if (refuse_index_set(w, in, per)) return;
        load_positions(w, in, per, position);
    }
    using T = std::conditional_t<is_integer(EA), int32_t, float>;
    T a[edge][N], b[edge][K];
    load_factor<N, EA>(w, in, 0, per, a);
    load_factor<K, EB>(w, in, 1, K / N * per, b);
    const Operand& addend = sparse ? in.dst[0] : in.src[2];
    u32 d[edge][edge];
    for (u32 i = 0; i < edge; ++i)
        for (u32 j = 0; j < edge; ++j) {
            const auto factor = [&](u32 n) { return b[j][sparse ? position[i][n] : n]; };
            const u32 c = get<Rdna4, is_half(EC)>(w, in, addend, place<Rdna4>(w, i, j));
            if constexpr (is_integer(EA)) {
                int64_t sum = static_cast<int32_t>(c);
                for (u32 n = 0; n < N; ++n) sum += int64_t{a[i][n]} * factor(n);
                if (in.clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
                d[i][j] = static_cast<u32>(sum);
            } else {
                float sum = wmma_addend(in, float_item(EC, c));
                for (u32 n = 0; n < N; ++n) sum = gf::fma(a[i][n], factor(n), sum);
                d[i][j] = encode(ED, sum);
            }
        }
    for (u32 i = 0; i < edge; ++i)
        for (u32 j = 0; j < edge; ++j)
            put<Rdna4, is_half(ED)>(w, in, place<Rdna4>(w, i, j), d[i][j]);
}

template <u32 K, Kind EA, Kind EB, bool Rdna4, Kind ED, Kind EC = ED>
void multiply(Wave& w, const Inst& in) {
    multiply_wave<K, K, EA, EB, Rdna4, ED, EC>(w, in);
}
template <u32 K, Kind EA, Kind EB, Kind ED, Kind EC = ED>
void multiply_sparse(Wave& w, const Inst& in) {
    multiply_wave<K / 2, K, EA, EB, true, ED, EC>(w, in);
}

constexpr bool rdna3 = false, rdna4 = true;
using enum Kind;

// clang-format off
#define WJ_SMALL_PRODUCT(k, a, b, A, B)                                         \
    {Opcode::v_wmma_f32_16x16x##k##_##a##_##b, multiply<k, A, B, rdna4, F32>}, \
    {Opcode::v_wmma_f16_16x16x##k##_##a##_##b, multiply<k, A, B, rdna4, F16>}
#define WJ_SPARSE_SMALL(k, a, b, A, B)                                                \
    {Opcode::v_swmmac_f32_16x16x##k##_##a##_##b, multiply_sparse<k, A, B, F32>}
#define WJ_SPARSE_SMALL_HALF(k, a, b, A, B)                                           \
    {Opcode::v_swmmac_f16_16x16x##k##_##a##_##b, multiply_sparse<k, A, B, F16>}
#define WJ_EIGHT_BIT_PAIRS(row, k)                                                    \
    row(k, fp8, fp8, Fp8, Fp8), row(k, fp8, bf8, Fp8, Bf8),                           \
    row(k, bf8, fp8, Bf8, Fp8), row(k, bf8, bf8, Bf8, Bf8)
constexpr HandlerEntry table[] = {
    {Opcode::v_wmma_f32_16x16x16_f16, multiply<16, F16, F16, rdna3, F32>},
    {Opcode::v_wmma_f32_16x16x16_bf16, multiply<16, Bf16, Bf16, rdna3, F32>},
    {Opcode::v_wmma_f16_16x16x16_f16, multiply<16, F16, F16, rdna3, F16>},
    {Opcode::v_wmma_bf16_16x16x16_bf16, multiply<16, Bf16, Bf16, rdna3, Bf16>},
    {Opcode::v_wmma_i32_16x16x16_iu8, multiply<16, I8, I8, rdna3, I32>},
    {Opcode::v_wmma_i32_16x16x16_iu4, multiply<16, I4, I4, rdna3, I32>},
    {Opcode::v_wmma_f32_16x16x16_f16_rdna4, multiply<16, F16, F16, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x16_bf16_rdna4, multiply<16, Bf16, Bf16, rdna4, F32>},
    {Opcode::v_wmma_f16_16x16x16_f16_rdna4, multiply<16, F16, F16, rdna4, F16>},
    {Opcode::v_wmma_bf16_16x16x16_bf16_rdna4, multiply<16, Bf16, Bf16, rdna4, Bf16>},
    {Opcode::v_wmma_i32_16x16x16_iu8_rdna4, multiply<16, I8, I8, rdna4, I32>},
    {Opcode::v_wmma_i32_16x16x16_iu4_rdna4, multiply<16, I4, I4, rdna4, I32>},
    {Opcode::v_wmma_i32_16x16x32_iu4, multiply<32, I4, I4, rdna4, I32>},
    {Opcode::v_wmma_f32_16x16x16_fp8_fp8, multiply<16, Fp8, Fp8, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x16_fp8_bf8, multiply<16, Fp8, Bf8, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x16_bf8_fp8, multiply<16, Bf8, Fp8, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x16_bf8_bf8, multiply<16, Bf8, Bf8, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x32_f16, multiply<32, F16, F16, rdna4, F32>},
    {Opcode::v_wmma_f32_16x16x32_bf16, multiply<32, Bf16, Bf16, rdna4, F32>},
    {Opcode::v_wmma_f16_16x16x32_f16, multiply<32, F16, F16, rdna4, F16>},
    {Opcode::v_wmma_bf16_16x16x32_bf16, multiply<32, Bf16, Bf16, rdna4, Bf16>},
    {Opcode::v_wmma_bf16f32_16x16x32_bf16, multiply<32, Bf16, Bf16, rdna4, Bf16, F32>},
    {Opcode::v_wmma_i32_16x16x64_iu8, multiply<64, I8, I8, rdna4, I32>},
    {Opcode::v_wmma_f32_16x16x4_f32, multiply<4, F32, F32, rdna4, F32>},
    WJ_EIGHT_BIT_PAIRS(WJ_SMALL_PRODUCT, 64),
    WJ_EIGHT_BIT_PAIRS(WJ_SMALL_PRODUCT, 128),

    {Opcode::v_swmmac_f32_16x16x32_f16, multiply_sparse<32, F16, F16, F32>},
    {Opcode::v_swmmac_f32_16x16x32_bf16, multiply_sparse<32, Bf16, Bf16, F32>},
    {Opcode::v_swmmac_f16_16x16x32_f16, multiply_sparse<32, F16, F16, F16>},
    {Opcode::v_swmmac_bf16_16x16x32_bf16, multiply_sparse<32, Bf16, Bf16, Bf16>},
    {Opcode::v_swmmac_i32_16x16x32_iu8, multiply_sparse<32, I8, I8, I32>},
    {Opcode::v_swmmac_i32_16x16x32_iu4, multiply_sparse<32, I4, I4, I32>},
    {Opcode::v_swmmac_i32_16x16x64_iu4, multiply_sparse<64, I4, I4, I32>},
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL, 32),
    {Opcode::v_swmmac_f32_16x16x64_f16, multiply_sparse<64, F16, F16, F32>},
    {Opcode::v_swmmac_f32_16x16x64_bf16, multiply_sparse<64, Bf16, Bf16, F32>},
    {Opcode::v_swmmac_f16_16x16x64_f16, multiply_sparse<64, F16, F16, F16>},
    {Opcode::v_swmmac_bf16_16x16x64_bf16, multiply_sparse<64, Bf16, Bf16, Bf16>},
    // The result takes the first half of the registers that the operand has (CDNA5 ISA, 15.10).
    {Opcode::v_swmmac_bf16f32_16x16x64_bf16, multiply_sparse<64, Bf16, Bf16, Bf16, F32>},
    {Opcode::v_swmmac_i32_16x16x128_iu8, multiply_sparse<128, I8, I8, I32>},
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL, 128),
    WJ_EIGHT_BIT_PAIRS(WJ_SPARSE_SMALL_HALF, 128),
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> wmma_handlers() {
    return table;
}

}  // namespace wj::interp
