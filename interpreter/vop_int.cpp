// Integer vector instructions of 16 and 32 bits.
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

// Named, because ">>" inside a template argument list ends it for some compilers.
template <class T>
constexpr T shr(T x, u32 n) {
    return static_cast<T>(x >> n);
}
constexpr u32 u24(u32 x) {
    return x & 0xffffff;
}
constexpr i32 i24(u32 x) {
    return static_cast<i32>(x << 8) >> 8;
}
constexpr u32 byte(u32 x, u32 i) {
    return x >> (8 * i) & 0xff;
}
constexpr u32 absdiff(u32 a, u32 b) {
    return a > b ? a - b : b - a;
}

constexpr u32 sad_u8(u32 a, u32 b) {
    u32 sum = 0;
    for (u32 i = 0; i < 4; ++i) sum += absdiff(byte(a, i), byte(b, i));
    return sum;
}
constexpr u32 lerp(u32 a, u32 b, u32 c) {
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i) r |= ((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1) << (8 * i);
    return r;
}
// v_perm_b32: byte numbers 0-3 are of S1, 4-7 of S0.
constexpr u32 perm_byte(u64 data, u32 sel) {
    if (sel >= 13) return 0xff;
    if (sel == 12) return 0;
    if (sel >= 8) return data >> ((sel - 8) * 16 + 15) & 1 ? 0xff : 0;
    return static_cast<u32>(data >> (8 * sel)) & 0xff;
}
constexpr u32 perm(u32 a, u32 b, u32 s) {
    const u64 data = u64{a} << 32 | b;
    u32 r = 0;
    for (u32 i = 0; i < 4; ++i) r |= perm_byte(data, byte(s, i)) << (8 * i);
    return r;
}
constexpr u32 reverse(u32 x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    return __builtin_bswap32(x);
}
// Two signed halves as bytes.
constexpr u32 sat_pk_u8(u32 a) {
    const auto sat = [](i16 x) { return static_cast<u32>(x < 0 ? 0 : x > 255 ? 255 : x); };
    return sat(static_cast<i16>(a)) | sat(static_cast<i16>(a >> 16)) << 8;
}
template <class T>
constexpr T med3(T a, T b, T c) {
    const T lo = a < b ? a : b, hi = a < b ? b : a;
    return c < lo ? lo : c > hi ? hi : c;
}
template <class T>
constexpr T min2(T a, T b) {
    return a < b ? a : b;
}
template <class T>
constexpr T max2(T a, T b) {
    return a < b ? b : a;
}

template <class T>
inline constexpr auto min3_op = [](T a, T b, T c) { return min2(min2(a, b), c); };
template <class T>
inline constexpr auto max3_op = [](T a, T b, T c) { return max2(max2(a, b), c); };
template <class T>
inline constexpr auto med3_op = [](T a, T b, T c) { return med3(a, b, c); };
template <class T>
inline constexpr auto min_op = [](T a, T b) { return min2(a, b); };
template <class T>
inline constexpr auto max_op = [](T a, T b) { return max2(a, b); };

constexpr auto plus = [](auto a, auto b) { return a + b; };
constexpr auto minus = [](auto a, auto b) { return a - b; };
constexpr auto minus_rev = [](auto a, auto b) { return b - a; };
constexpr auto times = [](auto a, auto b) { return a * b; };
constexpr auto mul_add = [](auto a, auto b, auto c) { return a * b + c; };
constexpr auto mad_u24 = [](auto a, auto b, auto c) { return (a & 0xffffff) * (b & 0xffffff) + c; };
template <class T>
constexpr T sext24(T x) {
    if constexpr (sizeof(T) == 4)
        return static_cast<T>(i24(static_cast<u32>(x)));
    else
        return static_cast<T>(i24(static_cast<u32>(static_cast<u64>(x))));
}
constexpr auto mad_i24 = [](auto a, auto b, auto c) { return sext24(a) * sext24(b) + c; };
constexpr auto mul_u24 = [](auto a, auto b) { return (a & 0xffffff) * (b & 0xffffff); };
constexpr auto mul_i24 = [](auto a, auto b) { return sext24(a) * sext24(b); };

// v_mad_u32_u16, v_mad_i32_i16: 16-bit factors, 32-bit addend.
template <class N, class W>
void mad_16(Wave& w, const Inst& in) {
    if (!in.clamp)
        return alu<[](N a, N b, u32 c) { return static_cast<u32>(W{a} * W{b}) + c; }>(w, in);
    alu<[](N a, N b, W c) {
        const i64 x = i64{a} * b + c, top = std::is_signed_v<W> ? 0x7fffffff : 0xffffffff;
        return static_cast<W>(x > top ? top : x < -top - 1 ? -top - 1 : x);
    }>(w, in);
}

// V_SCREEN_PARTITION_4SE_B32: TABLE[S0.u[7:0]], Vega ISA manual. One digit an entry, 16 a row.
constexpr char screen_partition[] =
    "137f5fff7fffffff"
    "f26efafffbffffff"
    "df4cff5fffdfffff"
    "9bf8fffafffeffff"
    "ffff4cdf6fffefff"
    "fffff89bf99ffdff"
    "ffff7f13ff9fffbf"
    "ffff6ef26ff6fff7"
    "bfffffff23bfafff"
    "f7fffffff19df5ff"
    "ffefffffef8cffaf"
    "fffdffff67f4fff5"
    "9fffdfffffff8cef"
    "f66ffefffffff467"
    "ff6fff7fffffbf23"
    "9ff9fffbffff9df1";

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_mov_b32, alu<[](u32 a) { return a; }>},
    {Opcode::v_not_b32, alu<[](u32 a) { return ~a; }>},
    {Opcode::v_mov_b16, alu<[](u16 a) { return a; }>},
    {Opcode::v_not_b16, alu<[](u16 a) { return static_cast<u16>(~a); }>},
    {Opcode::v_and_b16, alu<[](u16 a, u16 b) { return static_cast<u16>(a & b); }>},
    {Opcode::v_or_b16, alu<[](u16 a, u16 b) { return static_cast<u16>(a | b); }>},
    {Opcode::v_xor_b16, alu<[](u16 a, u16 b) { return static_cast<u16>(a ^ b); }>},
    {Opcode::v_bfrev_b32, alu<[](u32 a) { return reverse(a); }>},
    {Opcode::v_ffbh_u32, alu<[](u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : ~0u; }>},
    {Opcode::v_ffbl_b32, alu<[](u32 a) { return a ? static_cast<u32>(__builtin_ctz(a)) : ~0u; }>},
    {Opcode::v_ffbh_i32, alu<[](u32 a) {
         const u32 x = a ^ static_cast<u32>(shr(static_cast<i32>(a), 31));
         return x ? static_cast<u32>(__builtin_clz(x)) : ~0u;
     }>},

    {Opcode::v_screen_partition_4se_b32, alu<[](u32 a) {
         const char digit = screen_partition[a & 255];
         return static_cast<u32>(digit <= '9' ? digit - '0' : digit - 'a' + 10);
     }>},

    {Opcode::v_add_u32, alu_sat<u32, 2, plus>},
    {Opcode::v_sub_u32, alu_sat<u32, 2, minus>},
    {Opcode::v_subrev_u32, alu_sat<u32, 2, minus_rev>},
    {Opcode::v_add_i32, alu_sat<i32, 2, plus>},
    {Opcode::v_sub_i32, alu_sat<i32, 2, minus>},
    {Opcode::v_add_u16, alu_sat<u16, 2, plus>},
    {Opcode::v_sub_u16, alu_sat<u16, 2, minus>},
    {Opcode::v_subrev_u16, alu_sat<u16, 2, minus_rev>},
    {Opcode::v_mul_lo_u16, alu_sat<u16, 2, times>},
    {Opcode::v_add_i16, alu_sat<i16, 2, plus, preserve_high>},
    {Opcode::v_sub_i16, alu_sat<i16, 2, minus, preserve_high>},
    {Opcode::v_mad_u16, alu_sat<u16, 3, mul_add, preserve_high>},
    {Opcode::v_mad_i16, alu_sat<i16, 3, mul_add, preserve_high>},
    {Opcode::v_mad_legacy_u16, alu_sat<u16, 3, mul_add>},
    {Opcode::v_mad_legacy_i16, alu_sat<i16, 3, mul_add>},
    {Opcode::v_mul_i32_i24, alu_sat<i32, 2, mul_i24>},
    {Opcode::v_mul_u32_u24, alu_sat<u32, 2, mul_u24>},
    {Opcode::v_mad_i32_i24, alu_sat<i32, 3, mad_i24>},
    {Opcode::v_mad_u32_u24, alu_sat<u32, 3, mad_u24>},
    {Opcode::v_mul_hi_i32_i24, alu<[](u32 a, u32 b) { return static_cast<i32>(shr(i64{i24(a)} * i24(b), 32)); }>},
    {Opcode::v_mul_hi_u32_u24, alu<[](u32 a, u32 b) { return static_cast<u32>(shr(u64{u24(a)} * u24(b), 32)); }>},
    {Opcode::v_mul_lo_u32, alu<[](u32 a, u32 b) { return a * b; }>},
    {Opcode::v_mul_lo_i32, alu<[](u32 a, u32 b) { return a * b; }>},
    {Opcode::v_mul_hi_u32, alu<[](u32 a, u32 b) { return static_cast<u32>(shr(u64{a} * b, 32)); }>},
    {Opcode::v_mul_hi_i32, alu<[](i32 a, i32 b) { return static_cast<i32>(shr(i64{a} * b, 32)); }>},
    {Opcode::v_mad_u32, alu<[](u32 a, u32 b, u32 c) { return a * b + c; }>},
    {Opcode::v_mad_u32_u16, mad_16<u16, u32>},
    {Opcode::v_mad_i32_i16, mad_16<i16, i32>},

    {Opcode::v_min_i32, alu<min_op<i32>>},
    {Opcode::v_max_i32, alu<max_op<i32>>},
    {Opcode::v_min_u32, alu<min_op<u32>>},
    {Opcode::v_max_u32, alu<max_op<u32>>},
    {Opcode::v_min_i16, alu<min_op<i16>>},
    {Opcode::v_max_i16, alu<max_op<i16>>},
    {Opcode::v_min_u16, alu<min_op<u16>>},
    {Opcode::v_max_u16, alu<max_op<u16>>},
    {Opcode::v_min3_i32, alu<min3_op<i32>>},
    {Opcode::v_max3_i32, alu<max3_op<i32>>},
    {Opcode::v_med3_i32, alu<med3_op<i32>>},
    {Opcode::v_min3_u32, alu<min3_op<u32>>},
    {Opcode::v_max3_u32, alu<max3_op<u32>>},
    {Opcode::v_med3_u32, alu<med3_op<u32>>},
    {Opcode::v_min3_i16, alu<min3_op<i16>, preserve_high>},
    {Opcode::v_max3_i16, alu<max3_op<i16>, preserve_high>},
    {Opcode::v_med3_i16, alu<med3_op<i16>, preserve_high>},
    {Opcode::v_min3_u16, alu<min3_op<u16>, preserve_high>},
    {Opcode::v_max3_u16, alu<max3_op<u16>, preserve_high>},
    {Opcode::v_med3_u16, alu<med3_op<u16>, preserve_high>},

    {Opcode::v_minmax_i32, alu<[](i32 a, i32 b, i32 c) { return max2(min2(a, b), c); }>},
    {Opcode::v_maxmin_i32, alu<[](i32 a, i32 b, i32 c) { return min2(max2(a, b), c); }>},
    {Opcode::v_minmax_u32, alu<[](u32 a, u32 b, u32 c) { return max2(min2(a, b), c); }>},
    {Opcode::v_maxmin_u32, alu<[](u32 a, u32 b, u32 c) { return min2(max2(a, b), c); }>},

    {Opcode::v_lshr_b32, alu<[](u32 a, u32 b) { return shr(a, b & 31); }>},
    {Opcode::v_ashr_i32, alu<[](i32 a, u32 b) { return shr(a, b & 31); }>},
    {Opcode::v_lshl_b32, alu<[](u32 a, u32 b) { return a << (b & 31); }>},
    {Opcode::v_lshrrev_b32, alu<[](u32 a, u32 b) { return shr(b, a & 31); }>},
    {Opcode::v_ashrrev_i32, alu<[](u32 a, i32 b) { return shr(b, a & 31); }>},
    {Opcode::v_lshlrev_b32, alu<[](u32 a, u32 b) { return b << (a & 31); }>},
    {Opcode::v_lshlrev_b16, alu<[](u16 a, u16 b) { return static_cast<u16>(u32{b} << (a & 15)); }>},
    {Opcode::v_lshrrev_b16, alu<[](u16 a, u16 b) { return shr(b, a & 15); }>},
    {Opcode::v_ashrrev_i16, alu<[](u16 a, i16 b) { return shr(b, a & 15); }>},
    {Opcode::v_and_b32, alu<[](u32 a, u32 b) { return a & b; }>},
    {Opcode::v_or_b32, alu<[](u32 a, u32 b) { return a | b; }>},
    {Opcode::v_xor_b32, alu<[](u32 a, u32 b) { return a ^ b; }>},
    {Opcode::v_xor3_b32, alu<[](u32 a, u32 b, u32 c) { return a ^ b ^ c; }>},
    {Opcode::v_xnor_b32, alu<[](u32 a, u32 b) { return ~(a ^ b); }>},
    {Opcode::v_and_or_b32, alu<[](u32 a, u32 b, u32 c) { return (a & b) | c; }>},
    {Opcode::v_or3_b32, alu<[](u32 a, u32 b, u32 c) { return a | b | c; }>},
    {Opcode::v_add3_u32, alu<[](u32 a, u32 b, u32 c) { return a + b + c; }>},
    {Opcode::v_xad_u32, alu<[](u32 a, u32 b, u32 c) { return (a ^ b) + c; }>},
    {Opcode::v_lshl_add_u32, alu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) + c; }>},
    {Opcode::v_add_lshl_u32, alu<[](u32 a, u32 b, u32 c) { return (a + b) << (c & 31); }>},
    {Opcode::v_lshl_or_b32, alu<[](u32 a, u32 b, u32 c) { return (a << (b & 31)) | c; }>},
    {Opcode::v_bfe_u32, alu<[](u32 a, u32 b, u32 c) { return shr(a, b & 31) & ((1u << (c & 31)) - 1); }>},
    {Opcode::v_bfe_i32, alu<[](i32 a, u32 b, u32 c) {
         const u32 width = c & 31;
         const u32 x = static_cast<u32>(shr(a, b & 31));
         return width ? shr(static_cast<i32>(x << (32 - width)), 32 - width) : 0;
     }>},
    {Opcode::v_bfi_b32, alu<[](u32 a, u32 b, u32 c) { return (a & b) | (~a & c); }>},
    {Opcode::v_bfm_b32, alu<[](u32 a, u32 b) { return ((1u << (a & 31)) - 1) << (b & 31); }>},
    {Opcode::v_bcnt_u32_b32, alu<[](u32 a, u32 b) { return b + static_cast<u32>(__builtin_popcount(a)); }>},
    {Opcode::v_alignbit_b32, alu<[](u32 a, u32 b, u32 c) { return static_cast<u32>(shr(u64{a} << 32 | b, c & 31)); }>},
    {Opcode::v_alignbyte_b32, alu<[](u32 a, u32 b, u32 c) { return static_cast<u32>(shr(u64{a} << 32 | b, 8 * (c & 3))); }>},
    {Opcode::v_perm_b32, alu<[](u32 a, u32 b, u32 c) { return perm(a, b, c); }>},
    {Opcode::v_lerp_u8, alu<[](u32 a, u32 b, u32 c) { return lerp(a, b, c); }>},
    {Opcode::v_sad_u8, alu_sat<u32, 3, [](auto a, auto b, auto c) { return sad_u8(static_cast<u32>(a), static_cast<u32>(b)) + c; }>},
    {Opcode::v_sad_hi_u8, alu_sat<u32, 3, [](auto a, auto b, auto c) { return (sad_u8(static_cast<u32>(a), static_cast<u32>(b)) << 16) + c; }>},
    {Opcode::v_sad_u16, alu_sat<u32, 3, [](auto x, auto y, auto c) {
         const u32 a = static_cast<u32>(x), b = static_cast<u32>(y);
         return absdiff(a & 0xffff, b & 0xffff) + absdiff(shr(a, 16), shr(b, 16)) + c;
     }>},
    {Opcode::v_sad_u32, alu_sat<u32, 3, [](auto a, auto b, auto c) { return absdiff(static_cast<u32>(a), static_cast<u32>(b)) + c; }>},
    {Opcode::v_msad_u8, alu_sat<u32, 3, [](auto x, auto y, auto c) {
         const u32 a = static_cast<u32>(x), b = static_cast<u32>(y);
         u32 sum = 0;
         for (u32 i = 0; i < 4; ++i) sum += byte(b, i) ? absdiff(byte(a, i), byte(b, i)) : 0;
         return sum + c;
     }>},
    {Opcode::v_sat_pk_u8_i16, alu<[](u32 a) { return sat_pk_u8(a); }>},
    {Opcode::v_sat_pk_u8_i16_half, alu<[](u32 a) { return static_cast<u16>(sat_pk_u8(a)); }>},
    {Opcode::v_cvt_pk_u16_u32, alu<[](u32 a, u32 b) { return min2(a, 0xffffu) | min2(b, 0xffffu) << 16; }>},
    {Opcode::v_cvt_pk_i16_i32, alu<[](i32 a, i32 b) {
         const auto sat = [](i32 x) { return static_cast<u32>(x < -32768 ? -32768 : x > 32767 ? 32767 : x) & 0xffff; };
         return sat(a) | sat(b) << 16;
     }>},
    {Opcode::v_prng_b32, alu<[](u32 a) { return a << 1 ^ (shr(a, 31) ? 197u : 0u); }>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_int_handlers() {
    return table;
}

}  // namespace wj::interp
