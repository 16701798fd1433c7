// Packed instructions: two 16-bit or two 32-bit operations per lane, mixed-precision FMA.
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
    {Opcode::v_pk_min_num_f16, packed16<Half, 2, F16_OP(gf::min_number(a, b))>},
    {Opcode::v_pk_max_num_f16, packed16<Half, 2, F16_OP(gf::max_number(a, b))>},
    {Opcode::v_pk_minimum_f16, packed16<Half, 2, F16_OP(gf::minimum(a, b))>},
    {Opcode::v_pk_maximum_f16, packed16<Half, 2, F16_OP(gf::maximum(a, b))>},

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

};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop3p_handlers() {
    return table;
}

}  // namespace wj::interp
