// Vector instructions that gfx940 and gfx950 added: small floats without a scale, bfloat16, minimum
// and maximum. With them what gfx12.5 added to the conversions.
#include "common/small_float.h"
#include "interpreter/matrix.h"
#include "interpreter/valu.h"

namespace wj::interp {

// gfx950 reads the eight-bit formats as OCP defines them, gfx940-942 as FNUZ.
bool uses_ocp_fp8(const Wave& w) {
    return traits(w).ocp_small_floats;
}

const gf::SmallFormat& fp8_format(bool ocp) {
    return ocp ? gf::fp8_ocp : gf::fp8_fnuz;
}
const gf::SmallFormat& bf8_format(bool ocp) {
    return ocp ? gf::bf8_ocp : gf::bf8_fnuz;
}
float fp8_to_float(uint32_t b, bool ocp) {
    return static_cast<float>(gf::decode_small(fp8_format(ocp), b));
}
float bf8_to_float(uint32_t b, bool ocp) {
    return static_cast<float>(gf::decode_small(bf8_format(ocp), b));
}

namespace {

using u16 = uint16_t;

const gf::SmallFormat& eight_bit(const Wave& w, bool bf8) {
    return bf8 ? bf8_format(uses_ocp_fp8(w)) : fp8_format(uses_ocp_fp8(w));
}

// f32 and f16 have all values of the eight-bit formats.
template <class To, bool Bf8>
To widened(const Wave& w, u32 code) {
    const double x = gf::decode_small(eight_bit(w, Bf8), code & 0xff);
    if constexpr (std::is_same_v<To, Half>)
        return gf::to_half(x);
    else
        return static_cast<float>(x);
}
// Whether a denormal of f16 is kept where MODE flushes them is not published. Of E4M3 none is.
template <class To, bool Bf8>
bool refuse_flushing(Wave& w) {
    if (!Bf8 || !std::is_same_v<To, Half> || FloatMode{w.mode}.keeps_outputs<Half>()) return false;
    stop(w, ExitKind::Unimplemented, "bf8 to f16 where MODE flushes denormals");
    return true;
}

// On gfx12.5 CLAMP says that fp8 is E5M3, of which no sign is published (CDNA5 ISA, 7.12.6).
bool refuse_e5m3(Wave& w, const Inst& in) {
    const bool refused = in.clamp && traits(w).rdna4_products;
    if (refused) stop(w, ExitKind::Unimplemented, "conversions of E5M3");
    return refused;
}

template <class To, bool Bf8>
void cvt_from_small(Wave& w, const Inst& in) {
    if (refuse_flushing<To, Bf8>(w) || refuse_e5m3(w, in)) return;
    Valu v(w, in);
    Row buf;
    alignas(64) To out[lanes];
    const u32* s = v.fetch(0, 0, buf);  // SDWA has selected the byte, or gfx12's OP_SEL does
    const u32 shift = 16 * (in.op_sel & 1) + 8 * (in.op_sel >> 1 & 1);
    for (u32 l = 0; l < lanes; ++l) out[l] = widened<To, Bf8>(w, s[l] >> shift);
    store<preserve_high | raw_result>(v, FloatMode{w.mode}, out);
}
template <class To, bool Bf8>
void cvt_pk_from_small(Wave& w, const Inst& in) {
    if (refuse_flushing<To, Bf8>(w)) return;
    using Pair = std::conditional_t<std::is_same_v<To, Half>, u32, uint64_t>;
    Valu v(w, in);
    Row buf;
    alignas(64) Pair out[lanes];
    const u32* s = v.fetch(0, 0, buf);
    for (u32 l = 0; l < lanes; ++l) {
        const u32 x = s[l] >> (in.variant != Variant::Sdwa && in.op_sel & 1 ? 16 : 0);
        const auto at = [&](u32 b) { return Pair{gf::to_bits(widened<To, Bf8>(w, b))}; };
        out[l] = at(x) | at(x >> 8) << 4 * sizeof(Pair);
    }
    store<raw_result>(v, FloatMode{w.mode}, out);
}

// Puts `width` bits at op_sel's place in the old destination: words by op_sel[3], bytes by
// op_sel[3:2].
u32 insert(const Inst& in, u32 old, u32 value, u32 width) {
    const u32 shift = width == 16 ? (in.op_sel >> 3 & 1) * 16 : (in.op_sel >> 2 & 3) * 8;
    const u32 mask = ((1u << width) - 1) << shift;
    return (old & ~mask) | (value << shift & mask);
}

template <bool Bf8>
void cvt_pk_small_f32(Wave& w, const Inst& in) {
    if (refuse_e5m3(w, in)) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) float a_buf[lanes], b_buf[lanes];
    const float* a = load<float>(v, 0, a_buf, m, true, false);
    const float* b = load<float>(v, 1, b_buf, m, true, false);
    const u32* old = v.dest_row();
    const gf::SmallFormat& f = eight_bit(w, Bf8);
    Row out;
    for (u32 l = 0; l < lanes; ++l)
        out.v[l] = insert(in, old[l],
                          gf::encode_small(f, a[l], m.fp16_ovfl()) |
                              gf::encode_small(f, b[l], m.fp16_ovfl()) << 8,
                          16);
    v.store32(out.v);
}

// The two halves of one source, whose modifiers are of both (CDNA5 ISA, 15.14).
template <bool Bf8>
void cvt_pk_small_f16(Wave& w, const Inst& in) {
    if (in.clamp || in.op_sel & 1)
        return stop(w, ExitKind::Unimplemented, "CLAMP or OP_SEL of a packed source");
    Valu v(w, in);
    const bool saturate = FloatMode{w.mode}.fp16_ovfl();
    const gf::SmallFormat& f = eight_bit(w, Bf8);
    Row buf, out;
    const u32* s = v.fetch(0, 0, buf);
    const u32* old = v.dest_row();
    for (u32 l = 0; l < lanes; ++l) {
        u32 x = s[l];
        if (in.abs & 1) x &= 0x7fff7fffu;
        if (in.neg & 1) x ^= 0x80008000u;
        const auto code = [&](u32 bits) {
            return gf::encode_small(f, gf::to_float(Half{static_cast<u16>(bits)}), saturate);
        };
        out.v[l] = insert(in, old[l], code(x) | code(x >> 16) << 8, 16);
    }
    v.store32(out.v);
}

enum class Sr { Fp8, Bf8, F16, Bf16 };
// Stochastic rounding: the upper bits of src1 are added below the last kept bit
// (docs/reference/errata.md).
template <Sr To, class From = float>
void cvt_sr(Wave& w, const Inst& in) {
    if (refuse_e5m3(w, in)) return;
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) From a_buf[lanes];
    Row buf, out;
    const From* a = load<From>(v, 0, a_buf, m, true, false);
    const u32* random = v.fetch(1, 0, buf);
    const u32* old = v.dest_row();
    const gf::SmallFormat& f = To == Sr::F16    ? gf::half_format
                               : To == Sr::Bf16 ? gf::bfloat_format
                                                : eight_bit(w, To == Sr::Bf8);
    for (u32 l = 0; l < lanes; ++l)
        out.v[l] = insert(in, old[l],
                          gf::encode_small(f, gf::to_float(a[l]), m.fp16_ovfl(), true, random[l]),
                          static_cast<u32>(f.width()));
    v.store32(out.v);
}

// The seed of either result is half of src2, as many bits as are dropped (CDNA5 ISA, 15.14).
void cvt_sr_pk_bf16(Wave& w, const Inst& in) {
    if (in.clamp || in.omod)
        return stop(w, ExitKind::Unimplemented, "CLAMP or OMOD of a stochastic conversion");
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) float a_buf[lanes], b_buf[lanes];
    Row buf, out;
    const float* a = load<float>(v, 0, a_buf, m, true, false);
    const float* b = load<float>(v, 1, b_buf, m, true, false);
    const u32* random = v.fetch(2, 0, buf);
    for (u32 l = 0; l < lanes; ++l) {
        const auto code = [&](float x, u32 seed) {
            return gf::encode_small(gf::bfloat_format, x, m.fp16_ovfl(), true, seed);
        };
        out.v[l] = code(a[l], random[l] << 16) | code(b[l], random[l] & 0xffff0000u) << 16;
    }
    v.store32(out.v);
}

u32 to_bfloat(float x) {
    const u32 b = gf::to_bits(x);
    if (gf::is_nan(x)) return b >> 16 | 0x40;
    return (b + 0x7fff + (b >> 16 & 1)) >> 16;
}

template <bool Max, class T>
constexpr auto minimum3 =
    [](T a, T b, T c) { return gf::min_max_nan<Max>(gf::min_max_nan<Max>(a, b), c); };

template <bool Max>
void pk_minimum3(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    Row buf[3], out;
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    for (u32 l = 0; l < lanes; ++l) {
        out.v[l] = 0;
        for (u32 h = 0; h < 2; ++h) {
            Half x[3];
            for (u32 i = 0; i < 3; ++i) {
                const bool upper = (h ? in.op_sel_hi : in.op_sel) >> i & 1;
                x[i].bits = static_cast<u16>((upper ? s[i][l] >> 16 : s[i][l]) ^
                                             ((h ? in.neg_hi : in.neg) >> i & 1 ? 0x8000 : 0));
                x[i] = gf::flush_in(m, x[i]);
            }
            Half r = minimum3<Max, Half>(x[0], x[1], x[2]);
            if (in.clamp) r = gf::apply_clamp(m, r);
            out.v[l] |= u32{r.bits} << (16 * h);
        }
    }
    write_row(v.dest_row(), out.v, v.active);
}

template <class T>
void bitop3(Wave& w, const Inst& in) {
    Valu v(w, in);
    const FloatMode m{w.mode};
    alignas(64) T buf[3][lanes], out[lanes];
    const T* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = load<T>(v, i, buf[i], m, true, false);
    for (u32 l = 0; l < lanes; ++l) {
        u32 r = 0;
        for (u32 k = 0; k < 8; ++k) {
            if (!(in.bitop3 >> k & 1)) continue;
            const u32 a = s[0][l], b = s[1][l], c = s[2][l];
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
        }
        out[l] = static_cast<T>(r);
    }
    store<preserve_high>(v, m, out);
}

template <int Low, int High>
void ashr_pk(Wave& w, const Inst& in) {
    Valu v(w, in);
    Row buf[3], out;
    const u32* s[3];
    for (u32 i = 0; i < 3; ++i) s[i] = v.fetch(i, 0, buf[i]);
    for (u32 l = 0; l < lanes; ++l) {
        const auto sat = [&](u32 x) {
            const int32_t y = static_cast<int32_t>(x) >> (s[2][l] & 31);
            return static_cast<u32>(y < Low ? Low : y > High ? High : y) & 0xff;
        };
        out.v[l] = sat(s[0][l]) | sat(s[1][l]) << 8;
    }
    v.store16(out.v, true);
}

template <u32 M, u32 N, u32 K, MatrixElement A, MatrixElement B>
void mfma8(Wave& w, const Inst& in) {
    matrix_multiply<M, N, K, 1, A, B>(w, in);
}
constexpr auto fp8 = MatrixElement::Fp8;
constexpr auto bf8 = MatrixElement::Bf8;

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_cvt_f32_fp8, cvt_from_small<float, false>},
    {Opcode::v_cvt_f32_bf8, cvt_from_small<float, true>},
    {Opcode::v_cvt_pk_f32_fp8, cvt_pk_from_small<float, false>},
    {Opcode::v_cvt_pk_f32_bf8, cvt_pk_from_small<float, true>},
    {Opcode::v_cvt_f16_fp8, cvt_from_small<Half, false>},
    {Opcode::v_cvt_f16_bf8, cvt_from_small<Half, true>},
    {Opcode::v_cvt_pk_f16_fp8, cvt_pk_from_small<Half, false>},
    {Opcode::v_cvt_pk_f16_bf8, cvt_pk_from_small<Half, true>},
    {Opcode::v_cvt_pk_fp8_f32, cvt_pk_small_f32<false>},
    {Opcode::v_cvt_pk_bf8_f32, cvt_pk_small_f32<true>},
    {Opcode::v_cvt_sr_fp8_f32, cvt_sr<Sr::Fp8>},
    {Opcode::v_cvt_sr_bf8_f32, cvt_sr<Sr::Bf8>},
    {Opcode::v_cvt_pk_fp8_f16, cvt_pk_small_f16<false>},
    {Opcode::v_cvt_pk_bf8_f16, cvt_pk_small_f16<true>},
    {Opcode::v_cvt_sr_fp8_f16, cvt_sr<Sr::Fp8, Half>},
    {Opcode::v_cvt_sr_bf8_f16, cvt_sr<Sr::Bf8, Half>},
    {Opcode::v_cvt_sr_pk_bf16_f32, cvt_sr_pk_bf16},
    {Opcode::v_cvt_sr_f16_f32, cvt_sr<Sr::F16>},
    {Opcode::v_cvt_sr_bf16_f32, cvt_sr<Sr::Bf16>},
    {Opcode::v_cvt_f32_bf16, alu<[](u16 a) { return u32{a} << 16; }>},
    {Opcode::v_cvt_pk_bf16_f32, alu<[](float a, float b) { return to_bfloat(a) | to_bfloat(b) << 16; }, raw_floats>},
    {Opcode::v_minimum3_f32, alu<minimum3<false, float>>},
    {Opcode::v_maximum3_f32, alu<minimum3<true, float>>},
    {Opcode::v_minimum3_f16, alu<minimum3<false, Half>>},
    {Opcode::v_maximum3_f16, alu<minimum3<true, Half>>},
    {Opcode::v_pk_minimum3_f16, pk_minimum3<false>},
    {Opcode::v_pk_maximum3_f16, pk_minimum3<true>},
    {Opcode::v_bitop3_b16, bitop3<u16>},
    {Opcode::v_bitop3_b32, bitop3<u32>},
    {Opcode::v_ashr_pk_i8_i32, ashr_pk<-128, 127>},
    {Opcode::v_ashr_pk_u8_i32, ashr_pk<0, 255>},

    {Opcode::v_mfma_f32_16x16x8_xf32, mfma8<16, 16, 8, MatrixElement::Xf32, MatrixElement::Xf32>},
    {Opcode::v_mfma_f32_32x32x4_xf32, mfma8<32, 32, 4, MatrixElement::Xf32, MatrixElement::Xf32>},
    {Opcode::v_mfma_f32_16x16x32_bf8_bf8, mfma8<16, 16, 32, bf8, bf8>},
    {Opcode::v_mfma_f32_16x16x32_bf8_fp8, mfma8<16, 16, 32, bf8, fp8>},
    {Opcode::v_mfma_f32_16x16x32_fp8_bf8, mfma8<16, 16, 32, fp8, bf8>},
    {Opcode::v_mfma_f32_16x16x32_fp8_fp8, mfma8<16, 16, 32, fp8, fp8>},
    {Opcode::v_mfma_f32_32x32x16_bf8_bf8, mfma8<32, 32, 16, bf8, bf8>},
    {Opcode::v_mfma_f32_32x32x16_bf8_fp8, mfma8<32, 32, 16, bf8, fp8>},
    {Opcode::v_mfma_f32_32x32x16_fp8_bf8, mfma8<32, 32, 16, fp8, bf8>},
    {Opcode::v_mfma_f32_32x32x16_fp8_fp8, mfma8<32, 32, 16, fp8, fp8>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> cdna3_handlers() {
    return table;
}

}  // namespace wj::interp
