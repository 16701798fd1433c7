// Products in a wave: D = A * B + C of 16 rows and columns. EXEC and MODE are ignored. The products
// of one element are added in the order of k, one fused operation of f32 each; 16-bit results are
// rounded once, at the end (coverage.cpp: the hardware's order is not published).
//
// Layout ("How to accelerate AI applications on RDNA 3 using WMMA", and the same of RDNA 4, on
// GPUOpen; AMD's matrix instruction calculator), with waves of n lanes:
//   gfx11  A[i][k]: item k of lane i (lanes from 16 on hold copies), B[k][j] likewise of lane j;
//          D[i][j]: register i / (n/16), lane j + 16 * (i % (n/16)); of 16-bit results one half of
//          it, which OP_SEL names, as it does of C
//   gfx12  A[i][k]: item k % p of lane i + 16 * (k / p), where a lane has p = K / 2 items;
//          D[i][j]: item i % 8 of lane j + 16 * (i / 8)
// gfx12.5's rows and columns lie in the lanes that gfx12's lie in; which k is which item of a lane
// matters to no product, as it is the same for A and B (CDNA5 ISA, 7.12.2).
#include "interpreter/wmma.h"

#include "interpreter/matrix.h"

namespace wj::interp {

namespace {

constexpr u32 edge = 16;

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
    return dword >> bits * (item % per) & ((1u << bits) - 1);
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
// those with odd k.
template <u32 K, Kind E, bool Rdna4, class T>
void load_factor(Wave& w, const Inst& in, u32 source, T (&out)[edge][K]) {
    constexpr u32 per = Rdna4 ? K / 2 : K;
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

struct Place {
    u32 item, lane;
};
template <bool Rdna4>
Place place(const Wave& w, u32 i, u32 j) {
    if (Rdna4) return {i % 8, j + 16 * (i / 8)};
    const u32 rows = w.size / 16;
    return {i / rows, j + 16 * (i % rows)};
}

// The 32 or 16 bits of D[i][j] or C[i][j].
template <bool Rdna4, bool Half>
u32 get(Wave& w, const Inst& in, const Operand& o, Place p) {
    if (!is_vector(o)) return static_cast<u32>(o.value);
    if (!Half) return vrow(w, o, p.item)[p.lane];
    const u32 item = Rdna4 ? p.item / 2 : p.item;
    const bool high = Rdna4 ? p.item % 2 : in.op_sel >> 2 & 1;
    return vrow(w, o, item)[p.lane] >> (high ? 16 : 0) & 0xffff;
}
template <bool Rdna4, bool Half>
void put(Wave& w, const Inst& in, Place p, u32 value) {
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

// Floats: the last operand may be negated, and be its magnitude.
float addend(const Inst& in, Kind kind, u32 raw) {
    float c = float_item(kind, raw);
    if (in.neg_hi >> 2 & 1) c = std::fabs(c);
    return in.neg >> 2 & 1 ? -c : c;
}

u32 encode(Kind kind, float x) {
    return kind == Kind::F32   ? std::bit_cast<u32>(x)
           : kind == Kind::F16 ? gf::to_half(x).bits
                               : to_bf16(x);
}

// gfx12.5: "must be set to zero" are signs of A and B; with FP16_OVFL what becomes too large, or
// was infinite, is the largest number, also of integers (CDNA5 ISA, 7.12).
bool refuse_form(Wave& w, const Inst& in, bool integers) {
    const char* what = FloatMode{w.mode}.fp16_ovfl() ? "products in a wave where MODE has FP16_OVFL"
                       : !integers && ((in.neg | in.neg_hi) & 3) != 0
                           ? "signs of A and B in products of floats"
                           : nullptr;
    if (what) stop(w, ExitKind::Unimplemented, what);
    return what != nullptr;
}

template <u32 K, Kind EA, Kind EB, bool Rdna4, Kind ED, Kind EC = ED>
void multiply(Wave& w, const Inst& in) {
    if (Rdna4 && w.size != 32)
        return stop(w, ExitKind::Unimplemented,
                    "products in waves of 64 lanes: their layout on gfx12 is not published");
    constexpr bool gfx12_5 = K * kind_bits(EA) >= 512;
    if (gfx12_5 && refuse_form(w, in, is_integer(EA))) return;
    if (is_half(EC) && !is_vector(in.src[2]) && in.src[2].value != 0)
        return stop(w, ExitKind::Unimplemented, "a constant other than 0 as 16-bit addend");
    using T = std::conditional_t<is_integer(EA), int32_t, float>;
    T a[edge][K], b[edge][K];
    load_factor<K, EA, Rdna4>(w, in, 0, a);
    load_factor<K, EB, Rdna4>(w, in, 1, b);
    u32 d[edge][edge];
    for (u32 i = 0; i < edge; ++i)
        for (u32 j = 0; j < edge; ++j) {
            const u32 c = get<Rdna4, is_half(EC)>(w, in, in.src[2], place<Rdna4>(w, i, j));
            if constexpr (is_integer(EA)) {
                int64_t sum = static_cast<int32_t>(c);
                for (u32 k = 0; k < K; ++k) sum += int64_t{a[i][k]} * b[j][k];
                if (in.clamp) sum = std::clamp<int64_t>(sum, INT32_MIN, INT32_MAX);
                d[i][j] = static_cast<u32>(sum);
            } else {
                float sum = addend(in, EC, c);
                for (u32 k = 0; k < K; ++k) sum = gf::fma(a[i][k], b[j][k], sum);
                d[i][j] = encode(ED, sum);
            }
        }
    for (u32 i = 0; i < edge; ++i)
        for (u32 j = 0; j < edge; ++j)
            put<Rdna4, is_half(ED)>(w, in, place<Rdna4>(w, i, j), d[i][j]);
}

constexpr bool rdna3 = false, rdna4 = true;
using enum Kind;

// clang-format off
#define WJ_SMALL_PRODUCT(k, a, b, A, B)                                         \
    {Opcode::v_wmma_f32_16x16x##k##_##a##_##b, multiply<k, A, B, rdna4, F32>}, \
    {Opcode::v_wmma_f16_16x16x##k##_##a##_##b, multiply<k, A, B, rdna4, F16>}
#define WJ_SMALL_PRODUCTS(k)                                                            \
    WJ_SMALL_PRODUCT(k, fp8, fp8, Fp8, Fp8), WJ_SMALL_PRODUCT(k, fp8, bf8, Fp8, Bf8), \
    WJ_SMALL_PRODUCT(k, bf8, fp8, Bf8, Fp8), WJ_SMALL_PRODUCT(k, bf8, bf8, Bf8, Bf8)
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
    WJ_SMALL_PRODUCTS(64),
    WJ_SMALL_PRODUCTS(128),
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> wmma_handlers() {
    return table;
}

}  // namespace wj::interp
