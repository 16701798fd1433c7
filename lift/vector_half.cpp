// f16 arithmetic: widened to f32, which is exact for one add, subtract, multiply, divide or square
// root followed by rounding (24 >= 2 * 11 + 2 significand bits). Fused multiply-adds round the f32
// sum to odd first. docs/reference/float.md has the rules; other rounding modes and FP16_OVFL stay
// with the interpreter.
#include "common/transcendental.h"
#include "lift/lane_builder.h"

namespace wj::lift {
namespace {

enum Flags : uint32_t {
    preserve_high = 1,  // new in gfx9: the other half of the destination keeps its value
    nearest = 2,        // ignores MODE's rounding
    no_ovfl = 4,        // FP16_OVFL does not apply
};

bool suits(const Lifter& l, const Inst& i, uint32_t flags = 0) {
    return ((flags & nearest) || l.round64()) && !i.omod &&
           ((flags & no_ovfl) || !(l.options.mode & machine::mode::fp16_ovfl));
}

Value or32(Lifter& l, Value a, Value b) {
    return l.emit(Op::Or32, {a, b});
}
Value and32(Lifter& l, Value a, uint32_t b) {
    return l.emit(Op::And32, {a, l.c32(b)});
}
Value shl(Lifter& l, Value a, uint32_t n) {
    return l.emit(Op::Shl32, {a, l.c32(n)});
}
Value shr(Lifter& l, Value a, uint32_t n) {
    return l.emit(Op::Shr32, {a, l.c32(n)});
}

bool flush_out(const Lifter& l) {
    return !(l.options.mode >> 7 & 1);
}

// ---- sources: halves in the low 16 bits, what is above them does not matter

constexpr uint32_t addend = Lifter::addend;

// One half of a packed source: op_sel and neg for the low result, op_sel_hi and neg_hi for the high
// one. v_pk_fmac_f16 (VOP2) has no op_sel.
Value packed_half(Lifter& l, const Inst& i, uint32_t n, bool high) {
    Value v = n == addend ? l.raw(i.dst[0]) : l.raw(i.src[n]);
    const bool plain = i.format == Format::VOP2 || n == addend;
    if (plain ? high : (high ? i.op_sel_hi : i.op_sel) >> n & 1) v = shr(l, v, 16);
    return l.f16_modified(v, n != addend && ((high ? i.neg_hi : i.neg) >> n & 1), false);
}

Value widen(Lifter& l, Value half) {
    return l.emit(Op::CvtF16ToF32, {half});
}
Value narrow(Lifter& l, Value f32) {
    return l.emit(Op::CvtF32ToF16, {f32});
}

// ---- results: the upper 16 bits are 0, or from gfx10 on the VGPR's own

Value finished(Lifter& l, const Inst& i, Value h) {
    if (flush_out(l)) h = l.f16_flush(h);
    if (!i.clamp) return h;
    // -0 and below give +0, NaN 0 with DX10_CLAMP and itself without.
    const Value nan = l.emit(Op::CmpLtU32, {l.c32(0x7c00), and32(l, h, 0x7fff)});
    Value r = l.s.select(l.emit(Op::CmpLtU32, {l.c32(0x7fff), h}), l.c32(0),
                         l.emit(Op::MinU32, {h, l.c32(0x3c00)}));
    return l.s.select(nan, l.options.mode & machine::mode::dx10_clamp ? l.c32(0) : h, r);
}

bool store_bits(Lifter& l, const Inst& i, Value h, uint32_t flags) {
    const Operand& d = i.dst[0];
    if (i.variant == Variant::Sdwa)
        l.set_v32(i, h);
    else if (i.op_sel >> 3 & 1)
        l.write(d, or32(l, and32(l, l.raw(d), 0xffff), shl(l, h, 16)));
    else if (l.is_vector(d) && (flags & preserve_high || l.options.target->traits.keeps_high_half))
        l.write(d, or32(l, and32(l, l.raw(d), 0xffff0000), h));
    else
        l.write(d, h);
    return true;
}

bool store(Lifter& l, const Inst& i, Value h, uint32_t flags) {
    return store_bits(l, i, finished(l, i, h), flags);
}

// ---- operations on halves that were widened to f32; the result is f32 and rounded once

Value round_to_odd(Lifter& l, Value product, Value c, Value sum) {
    // The exact error of product + c (Knuth); NaN when the sum is not finite.
    const Value part = l.emit(Op::FSub32, {sum, product});
    const Value error =
        l.emit(Op::FAdd32, {l.emit(Op::FSub32, {product, l.emit(Op::FSub32, {sum, part})}),
                            l.emit(Op::FSub32, {c, part})});
    const Value too_big = shr(l, l.emit(Op::Xor32, {error, sum}), 31);
    const Value odd = or32(l, l.emit(Op::Sub32, {sum, too_big}), l.c32(1));
    return l.s.select(l.emit(Op::FCmp32, {error, l.c32(0)}, 12 /* NEQ_OQ */), odd, sum);
}

Value fma(Lifter& l, Value a, Value b, Value c) {
    const Value x = widen(l, a), y = widen(l, b), z = widen(l, c);
    return round_to_odd(l, l.emit(Op::FMul32, {x, y}), z, l.emit(Op::FFma32, {x, y, z}));
}

// Two roundings; the product's denormals follow MODE.
Value mad(Lifter& l, Value a, Value b, Value c) {
    Value product = narrow(l, l.emit(Op::FMul32, {widen(l, a), widen(l, b)}));
    if (flush_out(l)) product = l.f16_flush(product);
    return l.emit(Op::FAdd32, {widen(l, product), widen(l, c)});
}

template <Op op, bool swap = false>
bool bin(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    const Value x = widen(l, l.f16_bits(i, swap)), y = widen(l, l.f16_bits(i, !swap));
    return store(l, i, narrow(l, l.emit(op, {x, y})), 0);
}

using Ternary = Value (*)(Lifter&, Value, Value, Value);
template <Ternary f, uint32_t flags = 0, uint32_t third = 2>
bool tri(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    const Value r = f(l, l.f16_bits(i, 0), l.f16_bits(i, 1), l.f16_bits(i, third));
    return store(l, i, narrow(l, r), flags);
}

template <Op op>
bool packed(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    Value r[2];
    for (bool high : {false, true})
        r[high] = finished(l, i,
                           narrow(l, l.emit(op, {widen(l, packed_half(l, i, 0, high)),
                                                 widen(l, packed_half(l, i, 1, high))})));
    l.write(i.dst[0], or32(l, r[0], shl(l, r[1], 16)));
    return true;
}

template <uint32_t third>
bool packed_fma(Lifter& l, const Inst& i) {
    if (!suits(l, i) || i.variant == Variant::Sdwa) return false;
    Value r[2];
    for (bool high : {false, true})
        r[high] = finished(l, i,
                           narrow(l, fma(l, packed_half(l, i, 0, high), packed_half(l, i, 1, high),
                                         packed_half(l, i, third, high))));
    l.write(i.dst[0], or32(l, r[0], shl(l, r[1], 16)));
    return true;
}

// ---- minimum, maximum, median: on f32 numbers in the same order as the halves. Unlike a
// conversion this keeps signalling NaN, which only these instructions tell apart.

Value ordered(Lifter& l, Value h) {
    const Value m = shl(l, and32(l, h, 0x7fff), 13);
    const Value special = l.emit(Op::CmpLeU32, {l.c32(0x7c00u << 13), m});
    return or32(l, l.s.select(special, or32(l, m, l.c32(0x7f800000)), m),
                shl(l, and32(l, h, 0x8000), 16));
}
Value unordered(Lifter& l, Value v) {
    return or32(l, and32(l, shr(l, v, 13), 0x7fff), and32(l, shr(l, v, 16), 0x8000));
}

// Where both are NaN, which the operation leaves as they are: the first one, quiet.
template <Op op>
Value number(Lifter& l, Value a, Value b) {
    const Value r = l.emit(op, {a, b}, ir::minmax_plain);
    return l.s.select(l.emit(Op::FCmp32, {r, r}, unord_q), or32(l, a, l.c32(0x00400000)), r);
}

template <Op op>
Value number2(Lifter& l, Value a, Value b, Value) {
    return number<op>(l, a, b);
}
template <Op first, Op second>
Value number3(Lifter& l, Value a, Value b, Value c) {
    return number<second>(l, number<first>(l, a, b), c);
}

template <Op op>
Value nan_or2(Lifter& l, Value a, Value b, Value) {
    return nan_or<op>(l, a, b);
}
template <Op first, Op second>
Value nan_or3(Lifter& l, Value a, Value b, Value c) {
    return nan_or<second>(l, nan_or<first>(l, a, b), c);
}

template <Op op>
Value pick2(Lifter& l, Value a, Value b, Value) {
    return l.emit(op, {a, b}, l.ieee());
}
template <Op first, Op second = first>
Value pick3(Lifter& l, Value a, Value b, Value c) {
    return l.emit(second, {l.emit(first, {a, b}, l.ieee()), c}, l.ieee());
}

template <Ternary f, uint32_t count, uint32_t flags = 0>
bool pick(Lifter& l, const Inst& i) {
    if (!suits(l, i, nearest)) return false;
    Value v[3] = {no_value, no_value, no_value};
    for (uint32_t n = 0; n < count; ++n) v[n] = ordered(l, l.f16_bits(i, n));
    return store(l, i, unordered(l, f(l, v[0], v[1], v[2])), flags);
}

template <Ternary f>
bool packed_pick(Lifter& l, const Inst& i) {
    if (!suits(l, i, nearest)) return false;
    Value r[2];
    for (bool high : {false, true})
        r[high] = finished(l, i,
                           unordered(l, f(l, ordered(l, packed_half(l, i, 0, high)),
                                          ordered(l, packed_half(l, i, 1, high)), no_value)));
    l.write(i.dst[0], or32(l, r[0], shl(l, r[1], 16)));
    return true;
}

// ---- one operand

using Function = Value (*)(LaneBuilder&, Value);
template <Function f, uint32_t flags>
bool math(Lifter& l, const Inst& i) {
    if (!suits(l, i, flags)) return false;
    LaneBuilder b{l};
    return store(l, i, narrow(l, f(b, widen(l, l.f16_bits(i, 0)))), 0);
}
Value square_root(LaneBuilder& b, Value x) {
    return b.fsqrt(x);
}

template <uint32_t mode>
bool round_to(Lifter& l, const Inst& i) {
    if (!suits(l, i, nearest)) return false;
    return store(l, i, narrow(l, l.emit(Op::FRound32, {widen(l, l.f16_bits(i, 0))}, mode)), 0);
}

bool fract(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    const Value x = widen(l, l.f16_bits(i, 0));
    const Value r = narrow(l, l.emit(Op::FSub32, {x, l.emit(Op::FRound32, {x}, 1)}));
    return store(l, i, l.s.select(l.emit(Op::CmpEq32, {r, l.c32(0x3c00)}), l.c32(0x3bff), r), 0);
}

Value sext16(Lifter& l, Value v) {
    return l.emit(Op::Sar32, {shl(l, v, 16), l.c32(16)});
}
// An integer source of 16 bits.
Value int16(Lifter& l, const Inst& i, uint32_t n, bool is_signed) {
    const Value v = l.v32(i, n);
    return is_signed ? sext16(l, v) : and32(l, v, 0xffff);
}

bool ldexp(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    const Value x = widen(l, l.f16_bits(i, 0)), n = int16(l, i, 1, true);
    return store(l, i, narrow(l, l.emit(Op::FLdexp32, {x, n})), 0);
}

// ---- conversions

bool f32_to_f16(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    return store(l, i, narrow(l, l.f32(i, 0)), 0);
}

bool f16_to_f32(Lifter& l, const Inst& i) {
    return l.set_f32(i, widen(l, l.f16_bits(i, 0)));
}

bool upper_to_f32(Lifter& l, const Inst& i) {
    return l.set_f32(i, widen(l, l.f16_modified(shr(l, l.raw(i.src[0]), 16), false, false)));
}

template <bool is_signed>
bool int_to_f16(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    return store(l, i, narrow(l, l.emit(Op::CvtI32ToF32, {int16(l, i, 0, is_signed)})), 0);
}

template <bool is_signed>
bool f16_to_int(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    Value r = l.emit(Op::CvtF32ToI32, {widen(l, l.f16_bits(i, 0))});
    r = l.emit(Op::MaxS32, {r, l.c32(is_signed ? 0xffff8000 : 0)});
    r = l.emit(Op::MinS32, {r, l.c32(is_signed ? 0x7fff : 0xffff)});
    return store_bits(l, i, and32(l, r, 0xffff), 0);
}

bool cndmask16(Lifter& l, const Inst& i) {
    const Value a = l.f16_bits(i, 0, true), b = l.f16_bits(i, 1, true);
    return store_bits(l, i, and32(l, l.s.select(l.mask(i.src[2]), b, a), 0xffff), preserve_high);
}

bool pack(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    const Value lo = and32(l, l.f16_bits(i, 0), 0xffff);
    l.set_v32(i, or32(l, lo, shl(l, l.f16_bits(i, 1), 16)));
    return true;
}

bool pkrtz(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    Value r[2];
    for (uint32_t n : {0u, 1u}) {
        r[n] = l.emit(Op::CvtF32ToF16, {l.f32(i, n)}, 3);
        if (flush_out(l)) r[n] = l.f16_flush(r[n]);
    }
    l.set_v32(i, or32(l, r[0], shl(l, r[1], 16)));
    return true;
}

// ---- v_fma_mix, v_mad_mix: op_sel_hi says that source n is f16, op_sel which half; neg_hi is abs;
// denormals as interpreter/vop3p.cpp says

template <bool fused>
Value mix_source(Lifter& l, const Inst& i, uint32_t n) {
    Value v = l.raw(i.src[n]);
    const bool is_half = i.op_sel_hi >> n & 1;
    if (is_half) {
        if (i.op_sel >> n & 1) v = shr(l, v, 16);
        v = widen(l, fused && !l.flush_in32() ? v : l.f16_flush(v));
    }
    if ((i.neg_hi | i.abs) >> n & 1) v = and32(l, v, 0x7fffffff);
    if (i.neg >> n & 1) v = l.emit(Op::Xor32, {v, l.c32(0x80000000)});
    return !is_half && l.flush_in32() ? l.emit(Op::FFlush32, {v}) : v;
}

enum class MixTo { F32, Low, High };
template <bool fused, MixTo to>
bool mix(Lifter& l, const Inst& i) {
    if (to == MixTo::F32 ? !l.round32() || i.omod : !suits(l, i)) return false;
    const Value a = mix_source<fused>(l, i, 0), b = mix_source<fused>(l, i, 1),
                c = mix_source<fused>(l, i, 2);
    auto flush = [&](Value v) { return l.emit(Op::FFlush32, {v}); };
    Value r;
    if (fused) {
        r = l.emit(Op::FFma32, {a, b, c});
        if (l.flush_out32()) r = flush(r);
    } else {
        const Value product = flush(l.emit(Op::FMul32, {flush(a), flush(b)}));
        r = flush(l.emit(Op::FAdd32, {product, flush(c)}));
    }
    if (to == MixTo::F32) return l.set_f32(i, r);
    const Value narrowed = narrow(l, r);
    const Value h = finished(l, i, fused ? narrowed : l.f16_flush(narrowed)), old = l.raw(i.dst[0]);
    l.write(i.dst[0], to == MixTo::Low ? or32(l, and32(l, old, 0xffff0000), h)
                                       : or32(l, and32(l, old, 0xffff), shl(l, h, 16)));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_add_f16, bin<Op::FAdd32>},
    {Opcode::v_sub_f16, bin<Op::FSub32>},
    {Opcode::v_subrev_f16, bin<Op::FSub32, true>},
    {Opcode::v_mul_f16, bin<Op::FMul32>},
    {Opcode::v_mac_f16, tri<mad, 0, addend>},
    {Opcode::v_madmk_f16, tri<mad>},
    {Opcode::v_madak_f16, tri<mad>},
    {Opcode::v_mad_f16, tri<mad, preserve_high>},
    {Opcode::v_mad_legacy_f16, tri<mad>},
    {Opcode::v_fma_f16, tri<fma, preserve_high>},
    {Opcode::v_fma_legacy_f16, tri<fma>},
    {Opcode::v_fmac_f16, tri<fma, 0, addend>},
    {Opcode::v_fmamk_f16, tri<fma>},
    {Opcode::v_fmaak_f16, tri<fma>},
    {Opcode::v_min_f16, pick<pick2<Op::FMin32>, 2>},
    {Opcode::v_max_f16, pick<pick2<Op::FMax32>, 2>},
    {Opcode::v_min3_f16, pick<pick3<Op::FMin32>, 3, preserve_high>},
    {Opcode::v_max3_f16, pick<pick3<Op::FMax32>, 3, preserve_high>},
    {Opcode::v_med3_f16, pick<median_f32, 3, preserve_high>},
    {Opcode::v_minmax_f16, pick<pick3<Op::FMin32, Op::FMax32>, 3>},
    {Opcode::v_maxmin_f16, pick<pick3<Op::FMax32, Op::FMin32>, 3>},
    {Opcode::v_min_num_f16, pick<number2<Op::FMin32>, 2>},
    {Opcode::v_max_num_f16, pick<number2<Op::FMax32>, 2>},
    {Opcode::v_min3_num_f16, pick<number3<Op::FMin32, Op::FMin32>, 3>},
    {Opcode::v_max3_num_f16, pick<number3<Op::FMax32, Op::FMax32>, 3>},
    {Opcode::v_minmax_num_f16, pick<number3<Op::FMin32, Op::FMax32>, 3>},
    {Opcode::v_maxmin_num_f16, pick<number3<Op::FMax32, Op::FMin32>, 3>},
    {Opcode::v_minimum_f16, pick<nan_or2<Op::FMin32>, 2>},
    {Opcode::v_maximum_f16, pick<nan_or2<Op::FMax32>, 2>},
    {Opcode::v_minimum3_f16, pick<nan_or3<Op::FMin32, Op::FMin32>, 3>},
    {Opcode::v_maximum3_f16, pick<nan_or3<Op::FMax32, Op::FMax32>, 3>},
    {Opcode::v_minimummaximum_f16, pick<nan_or3<Op::FMin32, Op::FMax32>, 3>},
    {Opcode::v_maximumminimum_f16, pick<nan_or3<Op::FMax32, Op::FMin32>, 3>},
    {Opcode::v_cndmask_b16, cndmask16},
    {Opcode::v_ldexp_f16, ldexp},
    {Opcode::v_floor_f16, round_to<1>},
    {Opcode::v_ceil_f16, round_to<2>},
    {Opcode::v_trunc_f16, round_to<3>},
    {Opcode::v_rndne_f16, round_to<0>},
    {Opcode::v_fract_f16, fract},
    {Opcode::v_rcp_f16, math<trans::rcp_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_rsq_f16, math<trans::rsq_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_sqrt_f16, math<square_root, nearest | no_ovfl>},
    {Opcode::v_exp_f16, math<trans::exp2_f32<LaneBuilder>, nearest>},
    {Opcode::v_log_f16, math<trans::log2_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_sin_f16, math<trans::sin_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_cos_f16, math<trans::cos_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_pk_add_f16, packed<Op::FAdd32>},
    {Opcode::v_pk_mul_f16, packed<Op::FMul32>},
    {Opcode::v_pk_fma_f16, packed_fma<2>},
    {Opcode::v_pk_fmac_f16, packed_fma<addend>},
    {Opcode::v_pk_min_f16, packed_pick<pick2<Op::FMin32>>},
    {Opcode::v_pk_max_f16, packed_pick<pick2<Op::FMax32>>},
    {Opcode::v_pk_min_num_f16, packed_pick<number2<Op::FMin32>>},
    {Opcode::v_pk_max_num_f16, packed_pick<number2<Op::FMax32>>},
    {Opcode::v_pk_minimum_f16, packed_pick<nan_or2<Op::FMin32>>},
    {Opcode::v_pk_maximum_f16, packed_pick<nan_or2<Op::FMax32>>},
    {Opcode::v_cvt_f16_f32, f32_to_f16},
    {Opcode::v_cvt_f32_f16, f16_to_f32},
    {Opcode::v_cvt_f16_u16, int_to_f16<false>},
    {Opcode::v_cvt_f16_i16, int_to_f16<true>},
    {Opcode::v_cvt_u16_f16, f16_to_int<false>},
    {Opcode::v_cvt_i16_f16, f16_to_int<true>},
    {Opcode::v_pack_b32_f16, pack},
    {Opcode::v_cvt_pkrtz_f16_f32, pkrtz},
    {Opcode::v_fma_mix_f32, mix<true, MixTo::F32>},
    {Opcode::v_fma_mixlo_f16, mix<true, MixTo::Low>},
    {Opcode::v_fma_mixhi_f16, mix<true, MixTo::High>},
    {Opcode::v_mad_mix_f32, mix<false, MixTo::F32>},
    {Opcode::v_mad_mixlo_f16, mix<false, MixTo::Low>},
    {Opcode::v_mad_mixhi_f16, mix<false, MixTo::High>},

    // Of scalars
    {Opcode::s_add_f16, bin<Op::FAdd32>},
    {Opcode::s_sub_f16, bin<Op::FSub32>},
    {Opcode::s_mul_f16, bin<Op::FMul32>},
    {Opcode::s_fmac_f16, tri<fma, 0, addend>},
    {Opcode::s_min_f16, pick<pick2<Op::FMin32>, 2>},
    {Opcode::s_max_f16, pick<pick2<Op::FMax32>, 2>},
    {Opcode::s_min_num_f16, pick<number2<Op::FMin32>, 2>},
    {Opcode::s_max_num_f16, pick<number2<Op::FMax32>, 2>},
    {Opcode::s_minimum_f16, pick<nan_or2<Op::FMin32>, 2>},
    {Opcode::s_maximum_f16, pick<nan_or2<Op::FMax32>, 2>},
    {Opcode::s_floor_f16, round_to<1>},
    {Opcode::s_ceil_f16, round_to<2>},
    {Opcode::s_trunc_f16, round_to<3>},
    {Opcode::s_rndne_f16, round_to<0>},
    {Opcode::s_cvt_f16_f32, f32_to_f16},
    {Opcode::s_cvt_f32_f16, f16_to_f32},
    {Opcode::s_cvt_hi_f32_f16, upper_to_f32},
    {Opcode::s_cvt_pk_rtz_f16_f32, pkrtz},
    {Opcode::v_s_rcp_f16, math<trans::rcp_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_s_rsq_f16, math<trans::rsq_f32<LaneBuilder>, nearest | no_ovfl>},
    {Opcode::v_s_sqrt_f16, math<square_root, nearest | no_ovfl>},
    {Opcode::v_s_exp_f16, math<trans::exp2_f32<LaneBuilder>, nearest>},
    {Opcode::v_s_log_f16, math<trans::log2_f32<LaneBuilder>, nearest | no_ovfl>},
};

}  // namespace

std::span<const Entry> vector_half_entries() {
    return entries;
}

}  // namespace wj::lift
