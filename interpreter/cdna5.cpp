// Vector instructions that gfx12.5 added: bfloat16, hyperbolic tangents, additions with a bound,
// permutations in groups of lanes and of small elements.
#include <algorithm>
#include <bit>
#include <cmath>

#include "common/small_float.h"
#include "common/transcendental.h"
#include "interpreter/bit_fields.h"
#include "interpreter/packed.h"

namespace wj::interp {

namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

float from_bf16(u32 b) {
    return std::bit_cast<float>(b << 16);
}
u16 to_bf16(double x) {
    return static_cast<u16>(gf::encode_small(gf::bfloat_format, x, false));
}
// The quiet NaN that `x` is, with the upper bits of its payload.
u16 nan_bf16(float x) {
    return static_cast<u16>(std::bit_cast<u32>(x) >> 16 | 0x40);
}

// MODE as compilers leave it. Which of its fields bfloat16 obeys is not published.
bool plain_mode(Wave& w) {
    constexpr u32 rounding_and_denormals = 0xff, keeps_all = 0xf0;
    if ((w.mode & rounding_and_denormals) == keeps_all) return true;
    stop(w, ExitKind::Unimplemented, "bfloat16 where MODE rounds or flushes");
    return false;
}

// a * b + c, rounded once: the sum in f64 is rounded to odd, so that the second rounding sees
// whether the first one lost anything.
u16 fma_bf16(float a, float b, float c) {
    const double product = double{a} * b, sum = product + c;
    if (std::isnan(sum)) {
        const float nan = gf::fma(a, b, c);
        return nan_bf16(nan);
    }
    if (std::isinf(sum)) return to_bf16(sum);
    const double of_c = sum - product, lost = (product - (sum - of_c)) + (c - of_c);
    auto bits = std::bit_cast<uint64_t>(sum);
    if (lost != 0 && !(bits & 1)) bits += (lost > 0) == (sum > 0) ? 1 : -uint64_t{1};
    return to_bf16(std::bit_cast<double>(bits));
}
u16 exact_bf16(float x) {
    return static_cast<u16>(std::bit_cast<u32>(x) >> 16);
}

constexpr auto fma_op = [](float a, float b, float c) { return fma_bf16(a, b, c); };
constexpr auto add_op = [](float a, float b) { return fma_bf16(a, 1.0f, b); };
// + -0 leaves the product's sign alone.
constexpr auto mul_op = [](float a, float b) {
    const float zero = std::signbit(a) != std::signbit(b) ? -0.0f : 0.0f;
    return fma_bf16(a, b, zero);
};
constexpr auto min_op = [](float a, float b) { return exact_bf16(gf::min_number(a, b)); };
constexpr auto max_op = [](float a, float b) { return exact_bf16(gf::max_number(a, b)); };

template <size_t N, auto F>
void packed_bf16(Wave& w, const Inst& in) {
    if (!plain_mode(w)) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[N], out = {};
    const u32* s[N];
    for (u32 i = 0; i < N; ++i) s[i] = v.fetch(i, 0, buf[i]);
    for (u32 h = 0; h < 2; ++h) {
        const auto source = [&](u32 i, u32 l) {
            return from_bf16(PackedHalf(in, i, h, false, true).of<u16>(s[i][l]));
        };
        for (u32 l = 0; l < lanes; ++l) {
            u16 r;
            if constexpr (N == 2)
                r = F(source(0, l), source(1, l));
            else
                r = F(source(0, l), source(1, l), source(2, l));
            if (in.clamp) r = exact_bf16(gf::apply_clamp(m, from_bf16(r)));
            out.v[l] |= u32{r} << 16 * h;
        }
    }
    write_row(v.dest_row(), out.v, v.active);
}

// v_fma_mix*_bf16: as v_fma_mix, with bfloat16 in place of f16.
template <MixTo To>
void mix_bf16(Wave& w, const Inst& in) {
    if (!plain_mode(w)) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3], out;
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    const u32* old = v.dest_row();
    for (u32 l = 0; l < lanes; ++l) {
        const auto source = [&](u32 i) {
            u32 b = mix_is_half(in, i) ? u32{mix_half(in, i, s[i][l]).bits} << 16 : s[i][l];
            if ((in.neg_hi | in.abs) >> i & 1) b &= 0x7fffffffu;
            if (in.neg >> i & 1) b ^= 0x80000000u;
            return std::bit_cast<float>(b);
        };
        float x = gf::fma(source(0), source(1), source(2));
        if (in.clamp) x = gf::apply_clamp(m, x);
        const u32 half = gf::is_nan(x) ? nan_bf16(x) : to_bf16(x);
        out.v[l] = To == MixTo::F32   ? std::bit_cast<u32>(x)
                   : To == MixTo::Low ? (old[l] & 0xffff0000u) | half
                                      : (old[l] & 0xffff) | half << 16;
    }
    write_row(v.dest_row(), out.v, v.active);
}

// F of an f32, rounded to bfloat16.
template <auto F>
void unary_bf16(Wave& w, const Inst& in) {
    if (!plain_mode(w)) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) u16 buf[lanes];
    const u16* a = load<u16>(v, 0, buf, m, true, false);
    Row out;
    for (u32 l = 0; l < lanes; ++l) {
        u32 b = a[l];
        if (in.abs & 1) b &= 0x7fff;
        if (in.neg & 1) b ^= 0x8000;
        const float x = F(from_bf16(b));
        out.v[l] = gf::is_nan(x) ? nan_bf16(x) : to_bf16(x);
    }
    v.store16(out.v, true);
}

// Rounded from f64, which no library's accuracy shows in.
float tanh_of(float x) {
    return gf::is_nan(x) ? gf::add(x, x) : static_cast<float>(std::tanh(double{x}));
}
float sqrt_of(float x) {
    return gf::sqrt(x);
}

// max(a + b, c) and the like. What CLAMP does is not published.
template <class T, bool Max>
constexpr T bounded_sum(T a, T b, T c) {
    using U = std::make_unsigned_t<T>;
    const auto sum = static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
    return Max ? std::max(sum, c) : std::min(sum, c);
}
bool without_clamp(Wave& w, const Inst& in) {
    if (in.clamp) stop(w, ExitKind::Unimplemented, "CLAMP of a bounded addition");
    return !in.clamp;
}
template <class T, bool Max>
void add_bounded(Wave& w, const Inst& in) {
    if (without_clamp(w, in))
        alu<[](T a, T b, T c) { return bounded_sum<T, Max>(a, b, c); }>(w, in);
}

// F on both halves of integers.
template <class T, auto F>
void packed_int3(Wave& w, const Inst& in) {
    if (!without_clamp(w, in)) return;
    Valu v(w, in);
    Row buf[3], out = {};
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    for (u32 h = 0; h < 2; ++h) {
        const auto source = [&](u32 i, u32 l) {
            return PackedHalf(in, i, h, false, false).of<T>(s[i][l]);
        };
        for (u32 l = 0; l < lanes; ++l) {
            const T r = F(source(0, l), source(1, l), source(2, l));
            out.v[l] |= u32{static_cast<u16>(r)} << 16 * h;
        }
    }
    write_row(v.dest_row(), out.v, v.active);
}
template <class T, bool Max>
constexpr auto sum_op = [](T a, T b, T c) { return bounded_sum<T, Max>(a, b, c); };
template <class T>
constexpr auto min3_op = [](T a, T b, T c) { return std::min(std::min(a, b), c); };
template <class T>
constexpr auto max3_op = [](T a, T b, T c) { return std::max(std::max(a, b), c); };

template <bool Max>
void packed_num3(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3], out = {};
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    for (u32 h = 0; h < 2; ++h) {
        const auto source = [&](u32 i, u32 l) {
            return gf::flush_in(m, PackedHalf(in, i, h, false, true).of<Half>(s[i][l]));
        };
        for (u32 l = 0; l < lanes; ++l) {
            const auto pick = [](Half a, Half b) {
                return Max ? gf::max_number(a, b) : gf::min_number(a, b);
            };
            Half r = gf::flush_out(m, pick(pick(source(0, l), source(1, l)), source(2, l)));
            if (in.clamp) r = gf::apply_clamp(m, r);
            out.v[l] |= u32{r.bits} << 16 * h;
        }
    }
    write_row(v.dest_row(), out.v, v.active);
}

// Four bytes as numbers of four bits.
template <class T>
u16 saturate_four(u32 x) {
    constexpr int low = std::is_signed_v<T> ? -8 : 0, high = std::is_signed_v<T> ? 7 : 15;
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i)
        r |= (static_cast<u32>(std::clamp<int>(static_cast<T>(x >> 8 * i), low, high)) & 15)
             << 4 * i;
    return static_cast<u16>(r);
}

// Sixteen elements of 4, 6 or 8 bits out of a table of as many, S1 below S0, by numbers of four
// bits (CDNA5 ISA, 15.14).
template <u32 Bits>
void permute_pk16(Wave& w, const Inst& in) {
    constexpr u32 dwords = Bits / 2, upper = Bits == 8 ? 2 : 1;
    for_each_lane(w.exec(), [&](u32 l) {
        u32 table[dwords], out[dwords + 1] = {};
        for (u32 i = 0; i < dwords; ++i) {
            const bool low = i < dwords - upper;
            table[i] = read_lane(w, in.src[low], l, low ? i : i - (dwords - upper));
        }
        for (u32 e = 0; e < 16; ++e) {
            const u32 number = read_lane(w, in.src[2], l, e / 8) >> 4 * (e % 8) & 15;
            const u32 to = Bits * e;
            const uint64_t placed = uint64_t{get_field(table, Bits * number, Bits)} << to % 32;
            out[to / 32] |= static_cast<u32>(placed);
            out[to / 32 + 1] |= static_cast<u32>(placed >> 32);
        }
        for (u32 i = 0; i < dwords; ++i) vrow(w, in.dst[0], i)[l] = out[i];
    });
}

// What groups of another number of lanes do is not published.
bool refuse_width(Wave& w, u32 width) {
    const bool refused = !std::has_single_bit(width) || width > w.size;
    if (refused) stop(w, ExitKind::Unimplemented, "v_permlane: groups of no power of two of lanes");
    return refused;
}
// v_permlane_bcast_b32 and the like: each lane reads one of its group of so many lanes, or itself
// (HIP's __shfl, __shfl_up, __shfl_down and __shfl_xor say what they do).
using LaneOf = u32 (*)(u32 lane, u32 number, u32 width);
template <LaneOf From>
void permute_group(Wave& w, const Inst& in) {
    const u32 number = read_s32(w, in.src[1]), width = read_s32(w, in.src[2]);
    if (refuse_width(w, width)) return;
    const u32* from = vrow(w, in.src[0]);
    Row out = {};
    for (u32 l = 0; l < w.size; ++l) out.v[l] = from[From(l, number, width)];
    write_row(vrow(w, in.dst[0]), out.v, w.exec());
}
u32 broadcast(u32 lane, u32 number, u32 width) {
    return (lane & ~(width - 1)) + (number & (width - 1));
}
u32 lane_above(u32 lane, u32 number, u32 width) {
    return (lane & (width - 1)) < number ? lane : lane - number;
}
u32 lane_below(u32 lane, u32 number, u32 width) {
    return number >= width || (lane & (width - 1)) + number >= width ? lane : lane + number;
}
u32 lane_across(u32 lane, u32 number, u32 width) {
    const u32 group_end = (lane & ~(width - 1)) + width;
    return (lane ^ number) >= group_end ? lane : lane ^ number;
}
// The address for which ds_bpermute_b32 reads the lane of this number in one's group (CDNA5 ISA,
// 15.14).
void permute_index(Wave& w, const Inst& in) {
    const u32 width = read_s32(w, in.src[1]);
    if (refuse_width(w, width)) return;
    const u32* number = vrow(w, in.src[0]);
    Row out;
    for (u32 l = 0; l < lanes; ++l) out.v[l] = 4 * broadcast(l, number[l], width);
    write_row(vrow(w, in.dst[0]), out.v, w.exec());
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_pk_fma_bf16, packed_bf16<3, fma_op>},
    {Opcode::v_pk_add_bf16, packed_bf16<2, add_op>},
    {Opcode::v_pk_mul_bf16, packed_bf16<2, mul_op>},
    {Opcode::v_pk_min_num_bf16, packed_bf16<2, min_op>},
    {Opcode::v_pk_max_num_bf16, packed_bf16<2, max_op>},
    {Opcode::v_fma_mix_f32_bf16, mix_bf16<MixTo::F32>},
    {Opcode::v_fma_mixlo_bf16, mix_bf16<MixTo::Low>},
    {Opcode::v_fma_mixhi_bf16, mix_bf16<MixTo::High>},
    {Opcode::v_rcp_bf16, unary_bf16<trans::rcp>},
    {Opcode::v_rsq_bf16, unary_bf16<trans::rsq>},
    {Opcode::v_sqrt_bf16, unary_bf16<sqrt_of>},
    {Opcode::v_log_bf16, unary_bf16<trans::log2>},
    {Opcode::v_exp_bf16, unary_bf16<trans::exp2>},
    {Opcode::v_sin_bf16, unary_bf16<trans::sin>},
    {Opcode::v_cos_bf16, unary_bf16<trans::cos>},
    {Opcode::v_tanh_bf16, unary_bf16<tanh_of>},
    {Opcode::v_tanh_f32, alu<[](float a) { return tanh_of(a); }, nearest>},
    {Opcode::v_tanh_f16, alu<[](Half a) { return gf::to_half(tanh_of(gf::to_float(a))); }, nearest | no_ovfl>},
    {Opcode::v_add_max_i32, add_bounded<i32, true>},
    {Opcode::v_add_max_u32, add_bounded<u32, true>},
    {Opcode::v_add_min_i32, add_bounded<i32, false>},
    {Opcode::v_add_min_u32, add_bounded<u32, false>},
    {Opcode::v_pk_add_max_i16, packed_int3<i16, sum_op<i16, true>>},
    {Opcode::v_pk_add_max_u16, packed_int3<u16, sum_op<u16, true>>},
    {Opcode::v_pk_add_min_i16, packed_int3<i16, sum_op<i16, false>>},
    {Opcode::v_pk_add_min_u16, packed_int3<u16, sum_op<u16, false>>},
    {Opcode::v_pk_min3_i16, packed_int3<i16, min3_op<i16>>},
    {Opcode::v_pk_min3_u16, packed_int3<u16, min3_op<u16>>},
    {Opcode::v_pk_max3_i16, packed_int3<i16, max3_op<i16>>},
    {Opcode::v_pk_max3_u16, packed_int3<u16, max3_op<u16>>},
    {Opcode::v_pk_min3_num_f16, packed_num3<false>},
    {Opcode::v_pk_max3_num_f16, packed_num3<true>},
    {Opcode::v_sat_pk4_i4_i8, alu<[](u32 a) { return saturate_four<int8_t>(a); }, preserve_high>},
    {Opcode::v_sat_pk4_u4_u8, alu<[](u32 a) { return saturate_four<uint8_t>(a); }, preserve_high>},
    {Opcode::v_perm_pk16_b4_u4, permute_pk16<4>},
    {Opcode::v_perm_pk16_b6_u4, permute_pk16<6>},
    {Opcode::v_perm_pk16_b8_u4, permute_pk16<8>},
    {Opcode::v_permlane_idx_gen_b32, permute_index},
    {Opcode::v_permlane_bcast_b32, permute_group<broadcast>},
    {Opcode::v_permlane_up_b32, permute_group<lane_above>},
    {Opcode::v_permlane_down_b32, permute_group<lane_below>},
    {Opcode::v_permlane_xor_b32, permute_group<lane_across>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> cdna5_handlers() {
    return table;
}

}  // namespace wj::interp
