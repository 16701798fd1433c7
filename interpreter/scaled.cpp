// gfx950 and gfx12.5: v_cvt_scalef32_* and v_cvt_scale_*: conversions between f32, f16, bf16 and 4
// to 8-bit floats with a power-of-two scale (the exponent field of an f32 operand, or a byte that
// is one). Small = wide / scale, wide = small * scale; one rounding. Denormals of f32 follow MODE,
// all others are kept (CDNA4 ISA).
#include "common/small_float.h"
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;

enum class Small { Fp8, Bf8, Fp6, Bf6, Fp4 };
enum class Wide { F32, F16, Bf16 };

constexpr const gf::SmallFormat& format(Small s) {
    switch (s) {
        case Small::Fp8:
            return gf::fp8_ocp;
        case Small::Bf8:
            return gf::bf8_ocp;
        case Small::Fp6:
            return gf::fp6;
        case Small::Bf6:
            return gf::bf6;
        default:
            return gf::fp4;
    }
}
constexpr u32 width(Small s) {
    return s == Small::Fp4 ? 4 : s == Small::Fp6 || s == Small::Bf6 ? 6 : 8;
}

// Element e of a wide operand in one lane.
double wide_element(Wave& w, const Inst& in, u32 source, u32 lane, u32 e, Wide type) {
    const Operand& o = in.src[source];
    u32 b = type == Wide::F32 ? read_lane(w, o, lane, e)
                              : read_lane(w, o, lane, e / 2) >> (16 * (e % 2)) & 0xffff;
    const u32 sign = type == Wide::F32 ? 0x80000000u : 0x8000u;
    if (in.abs >> source & 1) b &= ~sign;
    if (in.neg >> source & 1) b ^= sign;
    switch (type) {
        case Wide::F32:
            return gf::flush_in(FloatMode{w.mode}, std::bit_cast<float>(b));
        case Wide::F16:
            return gf::to_float(Half{static_cast<uint16_t>(b)});
        default:
            return std::bit_cast<float>(b << 16);
    }
}
// Scale as an exponent; 255 stands for NaN.
int scale_of(Wave& w, const Inst& in, u32 source, u32 lane, bool& nan) {
    const u32 field = read_lane(w, in.src[source], lane) >> 23 & 0xff;
    nan = field == 255;
    return static_cast<int>(field) - 127;
}
// The same of a byte. SCALE_SEL is its number; what numbers above 3 name is not published, though
// they can be encoded.
int scale_in_byte(Wave& w, const Inst& in, u32 lane, bool& nan) {
    const u32 field = read_lane(w, in.src[1], lane) >> 8 * in.scale_select & 0xff;
    nan = field == 255;
    return static_cast<int>(field) - 127;
}
u32 prng(u32 x) {
    return x << 1 ^ (x >> 31 ? 197u : 0);
}

// The seeds of stochastic rounding, in the order of elements. gfx12.5's groups of 8 and 16 have
// seeds of 16 bits, two of a number (CDNA5 ISA, 15.14), which here stand for the upper ones of 32:
// where below the last kept bit they are added is not published.
struct Seeds {
    u32 number;
    bool halves;
    u32 of(u32 element) {
        if (halves && element % 2 == 0) return number << 16;
        const u32 seed = halves ? number & 0xffff0000u : number;
        number = prng(number);
        return seed;
    }
};

// N elements of a small format, packed. Layouts: one element or two in a byte or word chosen by
// op_sel; 32 in 192 bits. Two sources of sixteen f32 (2xpk16) are interleaved.
template <Small To, Wide From, u32 N, bool Stochastic, bool TwoSources = false>
void to_small(Wave& w, const Inst& in) {
    constexpr u32 bits = width(To), total = bits * N;
    constexpr bool pair =
        N == 2 && From == Wide::F32 && !Stochastic;  // the elements are src0 and src1
    constexpr u32 scale_source = Stochastic || pair || TwoSources ? 2 : 1;
    const bool saturate = FloatMode{w.mode}.fp16_ovfl();
    for_each_lane(w.exec(), [&](u32 l) {
        bool nan;
        const int scale = scale_of(w, in, scale_source, l, nan);
        Seeds seeds{Stochastic ? read_lane(w, in.src[1], l) : 0, N == 8 || N == 16};
        u32 packed[7] = {};
        for (u32 e = 0; e < N; ++e) {
            double x;
            if constexpr (pair)
                x = wide_element(w, in, e, l, 0, From);
            else if constexpr (TwoSources)
                x = wide_element(w, in, e & 1, l, e / 2, From);
            else
                x = wide_element(w, in, 0, l, N == 1 && From != Wide::F32 ? in.op_sel & 1 : e,
                                 From);
            x = nan ? std::bit_cast<double>(uint64_t{0x7ff8} << 48) : gf::ldexp(x, -scale);
            const uint64_t code =
                gf::encode_small(format(To), x, saturate, Stochastic, seeds.of(e));
            const uint64_t placed = code << (bits * e % 32);
            packed[bits * e / 32] |= static_cast<u32>(placed);
            packed[bits * e / 32 + 1] |= static_cast<u32>(placed >> 32);
        }
        u32* d = vrow(w, in.dst[0]);
        if constexpr (total > 16) {
            for (u32 i = 0; i < total / 32; ++i) vrow(w, in.dst[0], i)[l] = packed[i];
        } else {
            const u32 shift = total == 16 ? (in.op_sel >> 3 & 1) * 16 : (in.op_sel >> 2 & 3) * 8;
            const u32 mask = ((1u << total) - 1) << shift;
            d[l] = (d[l] & ~mask) | (packed[0] << shift & mask);
        }
    });
}

u32 wide_bits(const FloatMode& m, double x, Wide type) {
    if (type == Wide::F32) return gf::to_bits(gf::flush_out(m, gf::to_float(x)));
    if (type == Wide::F16) return gf::to_half(x).bits;
    return gf::encode_small(gf::bfloat_format, x, false);
}

template <Small From, Wide To, u32 N, bool Byte = false>
void from_small(Wave& w, const Inst& in) {
    if (Byte && in.scale_select > 3) return stop(w, ExitKind::Unimplemented, "SCALE_SEL above 3");
    constexpr u32 bits = width(From), total = bits * N;
    const FloatMode m{w.mode};
    for_each_lane(w.exec(), [&](u32 l) {
        bool nan;
        const int scale = Byte ? scale_in_byte(w, in, l, nan) : scale_of(w, in, 1, l, nan);
        u32 source[7] = {};
        for (u32 i = 0; i < (total + 31) / 32; ++i) source[i] = read_lane(w, in.src[0], l, i);
        if constexpr (total == 16)
            source[0] >>= (in.op_sel & 1) * 16;
        else if constexpr (total == 8)
            source[0] >>= (in.op_sel & 3) * 8;
        u32 out[32] = {};
        for (u32 e = 0; e < N; ++e) {
            const uint64_t raw = source[bits * e / 32] | uint64_t{source[bits * e / 32 + 1]} << 32;
            const auto code = static_cast<u32>(raw >> (bits * e % 32)) & ((1u << bits) - 1);
            double x = gf::decode_small(format(From), code);
            x = nan ? std::bit_cast<double>(uint64_t{0x7ff8} << 48) : gf::ldexp(x, scale);
            if constexpr (To == Wide::F32)
                out[e] = wide_bits(m, x, To);
            else
                out[e / 2] |= wide_bits(m, x, To) << (16 * (e % 2));
        }
        if constexpr (N == 1 && To != Wide::F32) {
            u32& d = vrow(w, in.dst[0])[l];
            const bool high = in.op_sel >> 3 & 1;
            d = high ? (d & 0xffff) | out[0] << 16 : (d & 0xffff0000u) | out[0];
        } else {
            constexpr u32 dwords = To == Wide::F32 ? N : (N + 1) / 2;
            for (u32 i = 0; i < dwords; ++i) vrow(w, in.dst[0], i)[l] = out[i];
        }
    });
}

#define TO(name, small, wide, n, sr) \
    { Opcode::v_cvt_scalef32_##name, to_small<Small::small, Wide::wide, n, sr> }
#define FROM(name, small, wide, n) \
    { Opcode::v_cvt_scalef32_##name, from_small<Small::small, Wide::wide, n> }
#define FROM_BYTE(name, small, wide, n) \
    { Opcode::v_cvt_scale_##name, from_small<Small::small, Wide::wide, n, true> }

// clang-format off
constexpr HandlerEntry table[] = {
    TO(pk_fp8_f32, Fp8, F32, 2, false), TO(pk_bf8_f32, Bf8, F32, 2, false),
    TO(sr_fp8_f32, Fp8, F32, 1, true), TO(sr_bf8_f32, Bf8, F32, 1, true),
    TO(pk_fp8_f16, Fp8, F16, 2, false), TO(pk_bf8_f16, Bf8, F16, 2, false),
    TO(sr_fp8_f16, Fp8, F16, 1, true), TO(sr_bf8_f16, Bf8, F16, 1, true),
    TO(pk_fp8_bf16, Fp8, Bf16, 2, false), TO(pk_bf8_bf16, Bf8, Bf16, 2, false),
    TO(sr_fp8_bf16, Fp8, Bf16, 1, true), TO(sr_bf8_bf16, Bf8, Bf16, 1, true),
    TO(pk_fp4_f32, Fp4, F32, 2, false), TO(pk_fp4_f16, Fp4, F16, 2, false), TO(pk_fp4_bf16, Fp4, Bf16, 2, false),
    TO(sr_pk_fp4_f32, Fp4, F32, 2, true), TO(sr_pk_fp4_f16, Fp4, F16, 2, true), TO(sr_pk_fp4_bf16, Fp4, Bf16, 2, true),
    {Opcode::v_cvt_scalef32_2xpk16_fp6_f32, to_small<Small::Fp6, Wide::F32, 32, false, true>},
    {Opcode::v_cvt_scalef32_2xpk16_bf6_f32, to_small<Small::Bf6, Wide::F32, 32, false, true>},
    TO(sr_pk32_fp6_f32, Fp6, F32, 32, true), TO(sr_pk32_bf6_f32, Bf6, F32, 32, true),
    TO(pk32_fp6_f16, Fp6, F16, 32, false), TO(pk32_fp6_bf16, Fp6, Bf16, 32, false),
    TO(pk32_bf6_f16, Bf6, F16, 32, false), TO(pk32_bf6_bf16, Bf6, Bf16, 32, false),
    TO(sr_pk32_fp6_f16, Fp6, F16, 32, true), TO(sr_pk32_fp6_bf16, Fp6, Bf16, 32, true),
    TO(sr_pk32_bf6_f16, Bf6, F16, 32, true), TO(sr_pk32_bf6_bf16, Bf6, Bf16, 32, true),
    TO(pk8_fp4_f32, Fp4, F32, 8, false), TO(pk8_fp4_f16, Fp4, F16, 8, false), TO(pk8_fp4_bf16, Fp4, Bf16, 8, false),
    TO(pk8_fp8_f32, Fp8, F32, 8, false), TO(pk8_fp8_f16, Fp8, F16, 8, false), TO(pk8_fp8_bf16, Fp8, Bf16, 8, false),
    TO(pk8_bf8_f32, Bf8, F32, 8, false), TO(pk8_bf8_f16, Bf8, F16, 8, false), TO(pk8_bf8_bf16, Bf8, Bf16, 8, false),
    TO(pk16_fp6_f32, Fp6, F32, 16, false), TO(pk16_fp6_f16, Fp6, F16, 16, false), TO(pk16_fp6_bf16, Fp6, Bf16, 16, false),
    TO(pk16_bf6_f32, Bf6, F32, 16, false), TO(pk16_bf6_f16, Bf6, F16, 16, false), TO(pk16_bf6_bf16, Bf6, Bf16, 16, false),
    TO(sr_pk8_fp4_f32, Fp4, F32, 8, true), TO(sr_pk8_fp4_f16, Fp4, F16, 8, true), TO(sr_pk8_fp4_bf16, Fp4, Bf16, 8, true),
    TO(sr_pk8_fp8_f32, Fp8, F32, 8, true), TO(sr_pk8_fp8_f16, Fp8, F16, 8, true), TO(sr_pk8_fp8_bf16, Fp8, Bf16, 8, true),
    TO(sr_pk8_bf8_f32, Bf8, F32, 8, true), TO(sr_pk8_bf8_f16, Bf8, F16, 8, true), TO(sr_pk8_bf8_bf16, Bf8, Bf16, 8, true),
    TO(sr_pk16_fp6_f32, Fp6, F32, 16, true), TO(sr_pk16_fp6_f16, Fp6, F16, 16, true), TO(sr_pk16_fp6_bf16, Fp6, Bf16, 16, true),
    TO(sr_pk16_bf6_f32, Bf6, F32, 16, true), TO(sr_pk16_bf6_f16, Bf6, F16, 16, true), TO(sr_pk16_bf6_bf16, Bf6, Bf16, 16, true),

    FROM(pk_f32_fp8, Fp8, F32, 2), FROM(pk_f32_bf8, Bf8, F32, 2), FROM(f32_fp8, Fp8, F32, 1), FROM(f32_bf8, Bf8, F32, 1),
    FROM(pk_f32_fp4, Fp4, F32, 2), FROM(pk_f16_fp8, Fp8, F16, 2), FROM(pk_f16_bf8, Bf8, F16, 2),
    FROM(f16_fp8, Fp8, F16, 1), FROM(f16_bf8, Bf8, F16, 1), FROM(pk_f16_fp4, Fp4, F16, 2), FROM(pk_bf16_fp4, Fp4, Bf16, 2),
    FROM(pk_bf16_fp8, Fp8, Bf16, 2), FROM(pk_bf16_bf8, Bf8, Bf16, 2),
    FROM(pk32_f32_fp6, Fp6, F32, 32), FROM(pk32_f32_bf6, Bf6, F32, 32),
    FROM(pk32_f16_fp6, Fp6, F16, 32), FROM(pk32_bf16_fp6, Fp6, Bf16, 32),
    FROM(pk32_f16_bf6, Bf6, F16, 32), FROM(pk32_bf16_bf6, Bf6, Bf16, 32),
    FROM_BYTE(pk8_f32_fp4, Fp4, F32, 8), FROM_BYTE(pk8_f16_fp4, Fp4, F16, 8), FROM_BYTE(pk8_bf16_fp4, Fp4, Bf16, 8),
    FROM_BYTE(pk8_f32_fp8, Fp8, F32, 8), FROM_BYTE(pk8_f16_fp8, Fp8, F16, 8), FROM_BYTE(pk8_bf16_fp8, Fp8, Bf16, 8),
    FROM_BYTE(pk8_f32_bf8, Bf8, F32, 8), FROM_BYTE(pk8_f16_bf8, Bf8, F16, 8), FROM_BYTE(pk8_bf16_bf8, Bf8, Bf16, 8),
    FROM_BYTE(pk16_f32_fp6, Fp6, F32, 16), FROM_BYTE(pk16_f16_fp6, Fp6, F16, 16), FROM_BYTE(pk16_bf16_fp6, Fp6, Bf16, 16),
    FROM_BYTE(pk16_f32_bf6, Bf6, F32, 16), FROM_BYTE(pk16_f16_bf6, Bf6, F16, 16), FROM_BYTE(pk16_bf16_bf6, Bf6, Bf16, 16),
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> scaled_handlers() {
    return table;
}

}  // namespace wj::interp
