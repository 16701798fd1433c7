// Dot products of narrow elements, added to a sum.
#include "common/small_float.h"
#include "interpreter/packed.h"

namespace wj::interp {

namespace {

using u16 = uint16_t;
using u32 = uint32_t;
using i32 = int32_t;
using i64 = int64_t;

// Sum over 32/Width-bit fields plus the addend; CLAMP saturates the 32-bit result. op_sel matters
// for 16-bit fields only.
template <class T, u32 Width, bool Accumulate>
void dot_int(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf[3], out;
    const u32* a = v.fetch(0, 0, buf[0]);
    const u32* b = v.fetch(1, 0, buf[1]);
    const u32* c = Accumulate ? v.dest_row() : v.fetch(2, 0, buf[2]);
    const bool packed = in.format == Format::VOP3P && Width == 16;
    using Field = std::conditional_t<Width == 16, i64, i32>;
    const auto field = [&](u32 i, u32 x, u32 n) -> Field {
        if (packed) n = (n ? in.op_sel_hi : in.op_sel) >> i & 1;
        const u32 bits = x >> (Width * n) << (32 - Width);
        if constexpr (std::is_signed_v<T>)
            return static_cast<i32>(bits) >> (32 - Width);
        else
            return static_cast<Field>(bits >> (32 - Width));
    };
    // Products of narrow fields fit in 32 bits, which the compiler does for several lanes at once.
    alignas(64) Field products[lanes] = {};
    for (u32 n = 0; n < 32 / Width; ++n)
        for (u32 l = 0; l < lanes; ++l) products[l] += field(0, a[l], n) * field(1, b[l], n);
    for (u32 l = 0; l < lanes; ++l) {
        i64 sum = static_cast<T>(c[l]) + i64{products[l]};
        if (in.clamp) {
            constexpr i64 low = std::is_signed_v<T> ? INT32_MIN : 0,
                          high = std::is_signed_v<T> ? INT32_MAX : i64{UINT32_MAX};
            sum = sum < low ? low : sum > high ? high : sum;
        }
        out.v[l] = static_cast<u32>(sum);
    }
    write_row(v.dest_row(), out.v, v.active);
}

float bf16_to_float(u16 b) {
    return std::bit_cast<float>(u32{b} << 16);
}

// v_dot2_f32_f16 and relatives. Products of f16 or bf16 are exact in f32, so that order is the only
// choice: the addend first, then element 0, then element 1 (AMD pseudo-code); v_dot2_f32_bf16 adds
// its addend last. "Floating-point V_DOT2 do not support denormal or rounding modes and flush
// denormals" (CDNA3 and CDNA4 ISA, 6.4): rounding is to nearest even, addend and result are
// flushed. 16-bit sources are flushed on gfx90a only, whatever MODE says (measured:
// llvm-project#205101). In the VOP2 forms ABS negates the upper half (CDNA4 ISA, V_DOT2C_F32_BF16).
enum class Dot { F16, Bf16, Bf16AddendLast };

template <Dot Kind, bool Accumulate>
void dot2(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3], out;
    const u32* a = v.fetch(0, 0, buf[0]);
    const u32* b = v.fetch(1, 0, buf[1]);
    const u32* c = Accumulate ? v.dest_row() : v.fetch(2, 0, buf[2]);
    const bool packed = in.format == Format::VOP3P;
    [[maybe_unused]] const bool flushes = traits(w).dot2_flushes_sources;
    const auto element = [&](u32 i, u32 x, u32 n) {
        const bool upper = packed ? (n ? in.op_sel_hi : in.op_sel) >> i & 1 : n;
        auto bits = static_cast<u16>(upper ? x >> 16 : x);
        if ((n ? (packed ? in.neg_hi : in.abs) : in.neg) >> i & 1) bits ^= 0x8000;
        if constexpr (Kind == Dot::F16)
            return gf::to_float(flushes ? gf::flush(Half{bits}) : Half{bits});
        else
            return bf16_to_float(bits);
    };
    for (u32 l = 0; l < lanes; ++l) {
        float addend_value = std::bit_cast<float>(c[l]);
        if (Kind != Dot::Bf16AddendLast && packed && in.neg >> 2 & 1)
            addend_value = gf::negate(addend_value);
        addend_value = gf::flush(addend_value);
        float x;
        if constexpr (Kind == Dot::Bf16AddendLast) {
            x = gf::mul(element(0, a[l], 0), element(1, b[l], 0));
            x = gf::add(x, gf::mul(element(0, a[l], 1), element(1, b[l], 1)));
            x = gf::add(x, addend_value);
        } else {
            x = gf::fma(element(0, a[l], 0), element(1, b[l], 0), addend_value);
            x = gf::fma(element(0, a[l], 1), element(1, b[l], 1), x);
        }
        x = gf::flush(x);
        if (in.clamp) x = gf::apply_clamp(m, x);
        out.v[l] = std::bit_cast<u32>(x);
    }
    write_row(v.dest_row(), out.v, v.active);
}

// v_dot4_i32_iu8, v_dot8_i32_iu4: NEG says which of the two sources is signed.
template <u32 Width>
void dot_iu(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf[3], out;
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    const auto field = [&](u32 i, u32 x, u32 n) {
        const u32 bits = x << (32 - Width * (n + 1));
        return in.neg >> i & 1 ? static_cast<i32>(bits) >> (32 - Width)
                               : static_cast<i32>(bits >> (32 - Width));
    };
    for (u32 l = 0; l < lanes; ++l) {
        i64 sum = static_cast<i32>(s[2][l]);
        for (u32 n = 0; n < 32 / Width; ++n) sum += field(0, s[0][l], n) * field(1, s[1][l], n);
        if (in.clamp) sum = sum < INT32_MIN ? INT32_MIN : sum > INT32_MAX ? INT32_MAX : sum;
        out.v[l] = static_cast<u32>(sum);
    }
    write_row(v.dest_row(), out.v, v.active);
}

// v_dot4_f32_*: products of eight-bit floats, which are exact, added to S2 one after the other.
template <bool Bf8A, bool Bf8B>
void dot4_small(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf[3], out;
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    const auto element = [](bool bf8, u32 byte) {
        return static_cast<float>(gf::decode_small(bf8 ? gf::bf8_ocp : gf::fp8_ocp, byte & 0xff));
    };
    for (u32 l = 0; l < lanes; ++l) {
        float x = std::bit_cast<float>(s[2][l]);
        if (in.neg_hi >> 2 & 1) x = gf::absolute(x);
        if (in.neg >> 2 & 1) x = gf::negate(x);
        x = gf::flush(x);
        for (u32 n = 0; n < 4; ++n)
            x = gf::fma(element(Bf8A, s[0][l] >> 8 * n), element(Bf8B, s[1][l] >> 8 * n), x);
        out.v[l] = std::bit_cast<u32>(gf::flush(x));
    }
    write_row(v.dest_row(), out.v, v.active);
}

// v_dot2_f16_f16, v_dot2_bf16_bf16: each addition is rounded to 16 bits. What NEG and ABS of a packed
// source mean is not documented.
template <bool Bf16>
void dot2_16(Wave& w, const Inst& in) {
    if ((in.neg | in.abs) & 3)
        return stop(w, ExitKind::Unimplemented, "v_dot2 with NEG or ABS of a packed source");
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[2], out;
    const u32* a = v.fetch(0, 0, buf[0]);
    const u32* b = v.fetch(1, 0, buf[1]);
    alignas(64) Half c_buf[lanes];
    const Half* c = load<Half>(v, 2, c_buf, m, true, false);
    for (u32 l = 0; l < lanes; ++l) {
        u16 sum = c[l].bits;
        for (u32 n = 0; n < 2; ++n) {
            const auto x = static_cast<u16>(a[l] >> 16 * n), y = static_cast<u16>(b[l] >> 16 * n);
            if constexpr (Bf16) {
                const double exact = gf::fma(double{bf16_to_float(x)}, double{bf16_to_float(y)},
                                             double{bf16_to_float(sum)});
                sum = static_cast<u16>(gf::encode_small(gf::bfloat_format, exact, false));
            } else {
                sum = gf::fma(Half{x}, Half{y}, Half{sum}).bits;
            }
        }
        out.v[l] = sum;
    }
    v.store16(out.v, true);
}

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_dot2_i32_i16, dot_int<i32, 16, false>},
    {Opcode::v_dot2_u32_u16, dot_int<u32, 16, false>},
    {Opcode::v_dot4_i32_i8, dot_int<i32, 8, false>},
    {Opcode::v_dot4_u32_u8, dot_int<u32, 8, false>},
    {Opcode::v_dot8_i32_i4, dot_int<i32, 4, false>},
    {Opcode::v_dot8_u32_u4, dot_int<u32, 4, false>},
    {Opcode::v_dot2c_i32_i16, dot_int<i32, 16, true>},
    {Opcode::v_dot4c_i32_i8, dot_int<i32, 8, true>},
    {Opcode::v_dot8c_i32_i4, dot_int<i32, 4, true>},
    {Opcode::v_dot4_i32_iu8, dot_iu<8>},
    {Opcode::v_dot8_i32_iu4, dot_iu<4>},
    {Opcode::v_dot4_f32_fp8_fp8, dot4_small<false, false>},
    {Opcode::v_dot4_f32_fp8_bf8, dot4_small<false, true>},
    {Opcode::v_dot4_f32_bf8_fp8, dot4_small<true, false>},
    {Opcode::v_dot4_f32_bf8_bf8, dot4_small<true, true>},
    {Opcode::v_dot2_f32_f16, dot2<Dot::F16, false>},
    {Opcode::v_dot2c_f32_f16, dot2<Dot::F16, true>},
    {Opcode::v_dot2_f32_bf16, dot2<Dot::Bf16AddendLast, false>},
    {Opcode::v_dot2_f32_bf16_rdna3, dot2<Dot::Bf16, false>},
    {Opcode::v_dot2c_f32_bf16, dot2<Dot::Bf16, true>},
    {Opcode::v_dot2_f16_f16, dot2_16<false>},
    {Opcode::v_dot2_bf16_bf16, dot2_16<true>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> dot_handlers() {
    return table;
}

}  // namespace wj::interp
