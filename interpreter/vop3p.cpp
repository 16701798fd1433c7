// Packed instructions: two 16-bit or two 32-bit operations per lane, mixed-precision FMA, dot
// products.
#include "interpreter/packed.h"

namespace wj::interp {

namespace {

using u16 = uint16_t;
using i16 = int16_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

// F on both halves; F takes (const FloatMode&, const Inst&, T...).
template <class T, size_t N, auto F, uint32_t Flags>
[[gnu::noinline]] void packed16_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[N];
    alignas(64) T out[2][lanes];
    const u32* s[N];
    for (u32 i = 0; i < N; ++i)
        s[i] = (Flags & addend) && i + 1 == N ? v.dest_row() : v.fetch(i, 0, buf[i]);
    for (u32 h = 0; h < 2; ++h) {
        alignas(64) T a[N][lanes];
        for (u32 i = 0; i < N; ++i) {
            const PackedHalf source(in, i, h, (Flags & addend) && i + 1 == N, gf::is_float<T>);
            for (u32 l = 0; l < lanes; ++l) a[i][l] = source.of<T>(s[i][l]);
            if constexpr (gf::is_float<T>) {
                if (!m.keeps_inputs<T>())
                    for (T& x : a[i]) x = gf::flush(x);
            }
        }
        for (u32 l = 0; l < lanes; ++l) {
            if constexpr (N == 2)
                out[h][l] = F(m, in, a[0][l], a[1][l]);
            else
                out[h][l] = F(m, in, a[0][l], a[1][l], a[2][l]);
        }
        if constexpr (gf::is_float<T>) {
            if (m.fp16_ovfl()) {
                for (u32 l = 0; l < lanes; ++l) {
                    bool inf_in = false;
                    for (u32 i = 0; i < N; ++i) inf_in |= gf::is_inf(a[i][l]);
                    T& x = out[h][l];
                    if (!inf_in && gf::is_inf(x)) x.bits = (x.bits & 0x8000) | 0x7bff;
                }
            }
            if (!m.keeps_outputs<T>())
                for (T& x : out[h]) x = gf::flush(x);
            if (in.clamp)
                for (T& x : out[h]) x = gf::apply_clamp(m, x);
        }
    }
    Row both;
    for (u32 l = 0; l < lanes; ++l)
        both.v[l] = std::bit_cast<u16>(out[0][l]) | u32{std::bit_cast<u16>(out[1][l])} << 16;
    write_row(v.dest_row(), both.v, v.active);
}
template <class T, size_t N, auto F, uint32_t Flags = 0>
void packed16(Wave& w, const Inst& in) {
    with_rounding<T, Flags>(w, in, &packed16_run<T, N, F, Flags>);
}
template <class T, size_t N, auto F>
void packed_int(Wave& w, const Inst& in) {
    packed16_run<T, N, F, 0>(w, in);
}

// Integers saturate with CLAMP.
template <class T>
T narrow(const Inst& in, i64 x) {
    constexpr i64 low = std::is_signed_v<T> ? -32768 : 0,
                  high = std::is_signed_v<T> ? 32767 : 65535;
    if (in.clamp) x = x < low ? low : x > high ? high : x;
    return static_cast<T>(x);
}
#define INT_OP(T, expr) \
    [](const FloatMode&, const Inst& in, T a, T b) { return narrow<T>(in, expr); }
#define F16_OP(expr) \
    []([[maybe_unused]] const FloatMode& m, const Inst&, Half a, Half b) { return expr; }
#define F16_OP3(expr) \
    []([[maybe_unused]] const FloatMode& m, const Inst&, Half a, Half b, Half c) { return expr; }
constexpr i64 shift_right(i64 x, u32 n) {
    return x >> n;
}

// ---- packed f32 (gfx90a)
// -------------------------------------------------------------------------------

template <size_t N, auto F>
[[gnu::noinline]] void packed_f32_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) float out[2][lanes];
    for (u32 h = 0; h < 2; ++h) {
        alignas(64) float s[N][lanes];
        for (u32 i = 0; i < N; ++i) {
            const PackedSingle source(in, i, h);
            const u32 sign = source.sign;
            Row buf;
            const u32* r = v.fetch(i, source.dword, buf);
            const bool flush = !m.keeps_inputs<float>();
            for (u32 l = 0; l < lanes; ++l) {
                u32 b = r[l] ^ sign;
                if (flush && !(b & 0x7f800000u)) b &= 0x80000000u;
                s[i][l] = std::bit_cast<float>(b);
            }
        }
        for (u32 l = 0; l < lanes; l += 8) {
            const auto at = [&](u32 i) { return _mm256_load_ps(s[i] + l); };
            if constexpr (N == 2)
                _mm256_store_ps(out[h] + l, F(at(0), at(1)));
            else
                _mm256_store_ps(out[h] + l, F(at(0), at(1), at(2)));
        }
        if (!m.keeps_outputs<float>() || in.clamp) finish_floats(v, m, out[h]);
    }
    for (u32 h = 0; h < 2; ++h)
        write_row(v.dest_row(h), reinterpret_cast<const u32*>(out[h]), v.active);
}
template <size_t N, auto F>
void packed_f32(Wave& w, const Inst& in) {
    with_rounding<float, 0>(w, in, &packed_f32_run<N, F>);
}

void pk_mov_b32(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf[2];
    const u32* low = v.fetch(0, in.op_sel & 1, buf[0]);
    const u32* high = v.fetch(1, in.op_sel >> 1 & 1, buf[1]);
    Row out = {};
    std::memcpy(out.v, high, sizeof out);  // the low write may overlap the source of the high one
    write_row(v.dest_row(0), low, v.active);
    write_row(v.dest_row(1), out.v, v.active);
}

// ---- v_mad_mix, v_fma_mix
// ---------------------------------------------------------------------------------

template <bool Fused, MixTo To>
[[gnu::noinline]] void mix_run(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3];
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    const u32* old = v.dest_row();
    Row out;
    for (u32 l = 0; l < lanes; ++l) {
        const auto source = [&](u32 i) { return mix_source<Fused>(in, i, s[i][l], m); };
        const float a = source(0), b = source(1), c = source(2);
        float x = Fused ? gf::flush_out(m, gf::fma(a, b, c)) : gf::mad(a, b, c);
        if constexpr (To == MixTo::F32) {
            if (in.clamp) x = gf::apply_clamp(m, x);
            out.v[l] = std::bit_cast<u32>(x);
        } else {
            Half h = gf::to_half(x);
            if (m.fp16_ovfl() && gf::is_inf(h) && !gf::is_inf(x))
                h.bits = (h.bits & 0x8000) | 0x7bff;
            h = Fused ? gf::flush_out(m, h) : gf::flush(h);
            if (in.clamp) h = gf::apply_clamp(m, h);
            out.v[l] = To == MixTo::Low ? (old[l] & 0xffff0000u) | h.bits
                                        : (old[l] & 0xffff) | u32{h.bits} << 16;
        }
    }
    write_row(v.dest_row(), out.v, v.active);
}
template <bool Fused, MixTo To>
void mix(Wave& w, const Inst& in) {
    with_rounding<std::conditional_t<To == MixTo::F32, float, Half>, 0>(w, in, &mix_run<Fused, To>);
}

// ---- dot products
// -------------------------------------------------------------------------------------------

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
        if (Kind == Dot::F16 && packed && in.neg >> 2 & 1) addend_value = gf::negate(addend_value);
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

constexpr auto fma32 = [](__m256 a, __m256 b, __m256 c) { return gf::fma(a, b, c); };
constexpr auto mul32 = [](__m256 a, __m256 b) { return gf::mul(a, b); };
constexpr auto add32 = [](__m256 a, __m256 b) { return gf::add(a, b); };
template <class T>
constexpr auto mad16 =
    [](const FloatMode&, const Inst& in, T a, T b, T c) { return narrow<T>(in, i64{a} * b + c); };

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_pk_mad_i16, packed_int<i16, 3, mad16<i16>>},
    {Opcode::v_pk_mad_u16, packed_int<u16, 3, mad16<u16>>},
    {Opcode::v_pk_mul_lo_u16, packed_int<u16, 2, INT_OP(u16, (static_cast<void>(in), u16(u32{a} * b)))>},
    {Opcode::v_pk_add_i16, packed_int<i16, 2, INT_OP(i16, i64{a} + b)>},
    {Opcode::v_pk_sub_i16, packed_int<i16, 2, INT_OP(i16, i64{a} - b)>},
    {Opcode::v_pk_add_u16, packed_int<u16, 2, INT_OP(u16, i64{a} + b)>},
    {Opcode::v_pk_sub_u16, packed_int<u16, 2, INT_OP(u16, i64{a} - b)>},
    {Opcode::v_pk_lshlrev_b16, packed_int<u16, 2, INT_OP(u16, u16(u32{b} << (a & 15)))>},
    {Opcode::v_pk_lshrrev_b16, packed_int<u16, 2, INT_OP(u16, shift_right(b, a & 15))>},
    {Opcode::v_pk_ashrrev_i16, packed_int<i16, 2, INT_OP(i16, shift_right(b, a & 15))>},
    {Opcode::v_pk_max_i16, packed_int<i16, 2, INT_OP(i16, a >= b ? a : b)>},
    {Opcode::v_pk_min_i16, packed_int<i16, 2, INT_OP(i16, a < b ? a : b)>},
    {Opcode::v_pk_max_u16, packed_int<u16, 2, INT_OP(u16, a >= b ? a : b)>},
    {Opcode::v_pk_min_u16, packed_int<u16, 2, INT_OP(u16, a < b ? a : b)>},
    {Opcode::v_pk_fma_f16, packed16<Half, 3, F16_OP3(gf::fma(a, b, c))>},
    {Opcode::v_pk_fmac_f16, packed16<Half, 3, F16_OP3(gf::fma(a, b, c)), addend>},
    {Opcode::v_pk_add_f16, packed16<Half, 2, F16_OP(gf::add(a, b))>},
    {Opcode::v_pk_mul_f16, packed16<Half, 2, F16_OP(gf::mul(a, b))>},
    {Opcode::v_pk_min_f16, packed16<Half, 2, F16_OP(gf::min(m, a, b))>},
    {Opcode::v_pk_max_f16, packed16<Half, 2, F16_OP(gf::max(m, a, b))>},

    {Opcode::v_pk_fma_f32, packed_f32<3, fma32>},
    {Opcode::v_pk_mul_f32, packed_f32<2, mul32>},
    {Opcode::v_pk_add_f32, packed_f32<2, add32>},
    {Opcode::v_pk_mov_b32, pk_mov_b32},

    {Opcode::v_mad_mix_f32, mix<false, MixTo::F32>},
    {Opcode::v_mad_mixlo_f16, mix<false, MixTo::Low>},
    {Opcode::v_mad_mixhi_f16, mix<false, MixTo::High>},
    {Opcode::v_fma_mix_f32, mix<true, MixTo::F32>},
    {Opcode::v_fma_mixlo_f16, mix<true, MixTo::Low>},
    {Opcode::v_fma_mixhi_f16, mix<true, MixTo::High>},

    {Opcode::v_dot2_i32_i16, dot_int<i32, 16, false>},
    {Opcode::v_dot2_u32_u16, dot_int<u32, 16, false>},
    {Opcode::v_dot4_i32_i8, dot_int<i32, 8, false>},
    {Opcode::v_dot4_u32_u8, dot_int<u32, 8, false>},
    {Opcode::v_dot8_i32_i4, dot_int<i32, 4, false>},
    {Opcode::v_dot8_u32_u4, dot_int<u32, 4, false>},
    {Opcode::v_dot2c_i32_i16, dot_int<i32, 16, true>},
    {Opcode::v_dot4c_i32_i8, dot_int<i32, 8, true>},
    {Opcode::v_dot8c_i32_i4, dot_int<i32, 4, true>},
    {Opcode::v_dot2_f32_f16, dot2<Dot::F16, false>},
    {Opcode::v_dot2c_f32_f16, dot2<Dot::F16, true>},
    {Opcode::v_dot2_f32_bf16, dot2<Dot::Bf16AddendLast, false>},
    {Opcode::v_dot2c_f32_bf16, dot2<Dot::Bf16, true>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop3p_handlers() {
    return table;
}

}  // namespace wj::interp
