// Conversions between number formats.
#include <cmath>

#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u8 = uint8_t;
using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;

// Byte n as f32.
template <u32 N>
constexpr auto ubyte =
    [](u32 a) { return static_cast<float>(static_cast<i32>((a / (1u << (8 * N))) & 0xff)); };

// [-1, 1] or [0, 1] to the integer range, rounded to nearest even; NaN is 0.
template <class I, class T>
I normalise(T x) {
    if (gf::is_nan(x)) return 0;
    double d;
    if constexpr (std::is_same_v<T, Half>)
        d = gf::to_float(x);
    else
        d = x;
    constexpr double low = std::is_signed_v<I> ? -1.0 : 0.0,
                     scale = std::is_signed_v<I> ? 32767.0 : 65535.0;
    d = d < low ? low : d > 1.0 ? 1.0 : d;
    return static_cast<I>(gf::rndne(d * scale));
}
u32 pack(u16 low, u16 high) {
    return low | u32{high} << 16;
}

// f32 to u8 by the host's rounding mode, saturated; NaN is 0.
u32 to_u8(float x) {
    if (gf::is_nan(x)) return 0;
    const float r = _mm_cvtss_f32(
        _mm_round_ss(_mm_set_ss(x), _mm_set_ss(x), _MM_FROUND_CUR_DIRECTION | _MM_FROUND_NO_EXC));
    return r <= 0 ? 0 : r >= 255 ? 255 : static_cast<u32>(r);
}
constexpr auto pk_u8 = [](float a, u32 b, u32 c) {
    const u32 shift = 8 * (b & 3);
    return (c & ~(0xffu << shift)) | to_u8(a) << shift;
};
// Rounds by MODE although its result is an integer.
void cvt_pk_u8(Wave& w, const Inst& in) {
    with_rounding<float, 0>(w, in, &alu_run<pk_u8, 0>);
}
void cvt_pkaccum_u8(Wave& w, const Inst& in) {
    with_rounding<float, 0>(w, in, &alu_run<pk_u8, addend>);
}

u16 half_bits(const FloatMode& m, Half h) {
    return gf::to_bits(gf::flush_out(m, h));
}

i32 floor_to_int(double x) {
    return gf::to_int_sat<i32>(gf::floor(x));
}

template <class T>
constexpr auto int_to_half =
    [](T a) { return gf::to_half(static_cast<float>(static_cast<i32>(a))); };

constexpr auto f32_to_f16 = [](float a) { return gf::to_half(a); };
constexpr auto f16_to_f32 = [](Half a) { return gf::to_float(a); };

// gfx6 and gfx7 keep denormals of f16 here whatever MODE says; gfx6 rounds as MODE says of f32.
template <Handler Run, bool RoundsAsF32 = false>
void half_conversion(Wave& w, const Inst& in) {
    const u32 mode = w.mode;
    w.mode = FloatMode{mode}.with_half_denormals(RoundsAsF32).bits;
    Run(w, in);
    w.mode = mode;
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_cvt_i32_f64, alu<[](double a) { return gf::to_int_sat<i32>(a); }>},
    {Opcode::v_cvt_u32_f64, alu<[](double a) { return gf::to_int_sat<u32>(a); }>},
    {Opcode::v_cvt_i32_f32, alu<[](float a) { return gf::to_int_sat<i32>(a); }>},
    {Opcode::v_cvt_u32_f32, alu<[](float a) { return gf::to_int_sat<u32>(a); }>},
    {Opcode::v_cvt_f64_i32, alu<[](i32 a) { return static_cast<double>(a); }>},
    {Opcode::v_cvt_f64_u32, alu<[](u32 a) { return static_cast<double>(a); }>},
    {Opcode::v_cvt_f32_i32, alu<[](i32 a) { return gf::from_int(a); }>},
    {Opcode::v_cvt_f32_u32, alu<[](u32 a) { return gf::from_uint(a); }>},
    {Opcode::v_cvt_f16_f32, alu<f32_to_f16>},
    {Opcode::v_cvt_f32_f16, alu<f16_to_f32>},
    {Opcode::v_cvt_f16_f32_denorm, half_conversion<alu<f32_to_f16>>},
    {Opcode::v_cvt_f16_f32_single, half_conversion<alu<f32_to_f16>, true>},
    {Opcode::v_cvt_f32_f16_denorm, half_conversion<alu<f16_to_f32>>},
    {Opcode::v_cvt_f32_f64, alu<[](double a) { return gf::to_float(a); }>},
    {Opcode::v_cvt_f64_f32, alu<[](float a) { return gf::to_double(a); }>},
    // The sum with 1/2 is exact here: in f32 it would round 0.49999997 up.
    {Opcode::v_cvt_rpi_i32_f32, alu<[](float a) { return floor_to_int(static_cast<double>(a) + 0.5); }>},
    {Opcode::v_cvt_flr_i32_f32, alu<[](float a) { return floor_to_int(a); }>},
    // Four bits as a signed number of sixteenths.
    {Opcode::v_cvt_off_f32_i4, alu<[](u32 a) { return static_cast<float>(static_cast<i32>((a & 15) ^ 8) - 8) * 0.0625f; }>},
    {Opcode::v_cvt_f32_ubyte0, alu<ubyte<0>>},
    {Opcode::v_cvt_f32_ubyte1, alu<ubyte<1>>},
    {Opcode::v_cvt_f32_ubyte2, alu<ubyte<2>>},
    {Opcode::v_cvt_f32_ubyte3, alu<ubyte<3>>},
    {Opcode::v_cvt_f16_u16, alu<int_to_half<u16>>},
    {Opcode::v_cvt_f16_i16, alu<int_to_half<i16>>},
    {Opcode::v_cvt_u16_f16, alu<[](Half a) { return gf::to_int_sat<u16>(a); }>},
    {Opcode::v_cvt_i16_f16, alu<[](Half a) { return gf::to_int_sat<i16>(a); }>},
    {Opcode::v_cvt_norm_i16_f16, alu<[](Half a) { return normalise<i16>(a); }>},
    {Opcode::v_cvt_norm_u16_f16, alu<[](Half a) { return normalise<u16>(a); }>},
    {Opcode::v_cvt_pknorm_i16_f32, alu<[](float a, float b) { return pack(static_cast<u16>(normalise<i16>(a)), static_cast<u16>(normalise<i16>(b))); }>},
    {Opcode::v_cvt_pknorm_u16_f32, alu<[](float a, float b) { return pack(normalise<u16>(a), normalise<u16>(b)); }>},
    {Opcode::v_cvt_pknorm_i16_f16, alu<[](Half a, Half b) { return pack(static_cast<u16>(normalise<i16>(a)), static_cast<u16>(normalise<i16>(b))); }>},
    {Opcode::v_cvt_pknorm_u16_f16, alu<[](Half a, Half b) { return pack(normalise<u16>(a), normalise<u16>(b)); }>},
    {Opcode::v_cvt_pk_i16_f32, alu<[](float a, float b) { return pack(static_cast<u16>(gf::to_int_sat<i16>(a)), static_cast<u16>(gf::to_int_sat<i16>(b))); }>},
    {Opcode::v_cvt_pk_u16_f32, alu<[](float a, float b) { return pack(gf::to_int_sat<u16>(a), gf::to_int_sat<u16>(b)); }>},
    {Opcode::v_cvt_i32_i16, alu<[](i16 a) { return i32{a}; }>},
    {Opcode::v_cvt_u32_u16, alu<[](u16 a) { return u32{a}; }>},
    {Opcode::v_cvt_pkrtz_f16_f32, alu<[](const FloatMode& m, float a, float b) {
         return pack(half_bits(m, gf::to_half_rtz(a)), half_bits(m, gf::to_half_rtz(b)));
     }>},
    {Opcode::v_cvt_pk_f16_f32, alu<[](const FloatMode& m, float a, float b) {
         return pack(half_bits(m, gf::to_half(a)), half_bits(m, gf::to_half(b)));
     }>},
    {Opcode::v_pack_b32_f16, alu<[](Half a, Half b) { return pack(a.bits, b.bits); }>},
    {Opcode::v_cvt_pk_u8_f32, cvt_pk_u8},
    {Opcode::v_cvt_pkaccum_u8_f32, cvt_pkaccum_u8},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_cvt_handlers() {
    return table;
}

}  // namespace wj::interp
