// Transcendental functions and division steps. The sequences come from common/transcendental.h,
// which the interpreter evaluates with the same IEEE operations; the division steps follow
// common/guest_float.cpp.
#include "common/transcendental.h"
#include "lift/lane_builder.h"

namespace wj::lift {
namespace {

using Function = Value (*)(LaneBuilder&, Value);

template <Function f>
bool math32(Lifter& l, const Inst& i) {
    LaneBuilder b{l};
    return l.set_f32(i, f(b, l.f32(i, 0)));
}

bool sqrt32(Lifter& l, const Inst& i) {
    return l.set_f32(i, l.emit(Op::FSqrt32, {l.f32(i, 0)}));
}

bool plain64(const Lifter& l, const Inst& i) {
    return l.denorm64() && !i.clamp && !i.omod;
}

template <bool root, bool reciprocal>
bool math64(Lifter& l, const Inst& i) {
    if (!plain64(l, i)) return false;
    Value v = l.f64(i, 0);
    if (root) v = l.emit(Op::FSqrt64, {v});
    if (reciprocal) v = l.emit(Op::FDiv64, {l.c64(0x3ff0000000000000ull), v});
    l.set_v64(i.dst[0], v);
    return true;
}

Value magnitude(Lifter& l, Value v) {
    return l.emit(Op::And32, {v, l.c32(0x7fffffff)});
}
Value exponent(Lifter& l, Value v) {
    return l.emit(Op::Shr32, {magnitude(l, v), l.c32(23)});
}
Value both(Lifter& l, Value a, Value b) {
    return l.emit(Op::MaskAnd, {a, b});
}
Value either(Lifter& l, Value a, Value b) {
    return l.emit(Op::MaskOr, {a, b});
}
Value is_zero(Lifter& l, Value v) {
    return l.emit(Op::CmpEq32, {magnitude(l, v), l.c32(0)});
}
Value quiet(Lifter& l, Value v) {
    return l.emit(Op::Or32, {v, l.c32(0x00400000)});
}
Value is_nan(Lifter& l, Value v) {
    return l.emit(Op::FCmp32, {v, v}, unord_q);
}
Value at_least_inf(Lifter& l, Value v) {
    return l.emit(Op::CmpLeU32, {l.c32(0x7f800000), magnitude(l, v)});
}
// |v| below 2^-126, with zero
Value is_small(Lifter& l, Value v) {
    return l.emit(Op::CmpLtU32, {magnitude(l, v), l.c32(0x00800000)});
}
// 0 < |v| < 2^-126
Value is_denormal(Lifter& l, Value v) {
    return l.emit(Op::CmpLtU32,
                  {l.emit(Op::Sub32, {magnitude(l, v), l.c32(1)}), l.c32(0x007fffff)});
}
Value scale(Lifter& l, Value v, uint32_t factor) {
    return l.emit(Op::FMul32, {v, l.c32(factor)});
}
constexpr uint32_t up64 = 0x5f800000, down64 = 0x1f800000;  // 2^64, 2^-64

bool fract32(Lifter& l, const Inst& i) {
    if (!l.round32()) return false;
    const Value x = l.f32(i, 0), r = l.emit(Op::FSub32, {x, l.emit(Op::FRound32, {x}, 1)});
    return l.set_f32(i,
                     l.s.select(l.emit(Op::CmpEq32, {r, l.c32(0x3f800000)}), l.c32(0x3f7fffff), r));
}

bool med3_32(Lifter& l, const Inst& i) {
    return l.set_f32(i, median_f32(l, l.f32(i, 0), l.f32(i, 1), l.f32(i, 2)));
}

bool frexp_exp32(Lifter& l, const Inst& i) {
    if (i.clamp || i.omod) return false;
    l.set_v32(i, l.emit(Op::FFrexpExp32, {l.f32(i, 0)}));
    return true;
}

bool frexp_mant32(Lifter& l, const Inst& i) {
    return l.set_f32(i, l.emit(Op::FFrexpMant32, {l.f32(i, 0)}));
}

// ---- division: v_div_scale, v_div_fmas, v_div_fixup (f32)
// --------------------------------------------

bool div_scale32(Lifter& l, const Inst& i) {
    if (!l.round32() || l.flush_out32() || i.clamp || i.omod || i.abs) return false;
    if (l.flush_in32() && i.neg) return false;
    // Operands are compared as they are before they are flushed.
    auto bits = [&](uint32_t k) { return l.flush_in32() ? l.raw(i.src[k]) : l.f32(i, k); };
    const Value s0 = bits(0), s1 = bits(1), s2 = bits(2);
    const Value x = l.f32(i, 0), d = l.f32(i, 1), n = l.f32(i, 2);
    const Value is_n = l.emit(Op::CmpEq32, {s0, s2}), is_d = l.emit(Op::CmpEq32, {s0, s1});
    const Value bigger = scale(l, x, up64), smaller = scale(l, x, down64);
    const Value far =
        l.emit(Op::CmpLeS32, {l.c32(96), l.emit(Op::Sub32, {exponent(l, n), exponent(l, d)})});
    const Value denormal = is_denormal(l, d);
    const Value small_r = is_denormal(l, l.emit(Op::FDiv32, {l.c32(0x3f800000), d}));
    const Value quotient = l.emit(Op::FDiv32, {n, d});
    const Value small_q = is_small(l, quotient);
    const Value tiny = l.emit(Op::CmpLeU32, {exponent(l, n), l.c32(23)});
    // From the last case to the first.
    Value r = l.s.select(tiny, bigger, x);
    Value vcc = small_q;
    r = l.s.select(small_q, l.s.select(is_n, bigger, x), r);
    r = l.s.select(small_r, l.s.select(small_q, l.s.select(is_d, smaller, x), smaller), r);
    r = l.s.select(denormal, bigger, r);
    vcc = l.emit(Op::MaskAndNot, {vcc, denormal});
    r = l.s.select(far, l.s.select(is_d, bigger, x), r);
    vcc = either(l, vcc, far);
    const Value special = either(l, at_least_inf(l, n), at_least_inf(l, d));
    r = l.s.select(special, l.s.select(is_nan(l, x), quiet(l, x), x), r);
    vcc = l.emit(Op::MaskAndNot, {vcc, special});
    const Value zero = either(l, is_zero(l, n), is_zero(l, d));
    r = l.s.select(zero, l.c32(0xffc00000), r);
    vcc = either(l, vcc, zero);
    l.set_v32(i, r);
    l.set_mask(i.dst[1], l.active(vcc));
    if (!l.flush_in32()) l.divisions.note_scale(r, x, d, n, vcc);
    return true;
}

// The lanes of VCC are scaled back, rounding a denormal result once.
bool div_fmas32(Lifter& l, const Inst& i) {
    if (!l.round32() || l.flush_out32()) return false;
    const Value a = l.f32(i, 0), b = l.f32(i, 1), c = l.f32(i, 2),
                r = l.emit(Op::FFma32, {a, b, c});
    const Value small = scale(l, r, down64);
    const Value field = exponent(l, r);
    const Value drop = l.emit(Op::Sub32, {l.c32(65), field});
    const Value significand =
        l.emit(Op::Or32, {l.emit(Op::And32, {r, l.c32(0x007fffff)}), l.c32(0x00800000)});
    const Value bit = l.emit(Op::Shl32, {l.c32(1), drop});
    const Value rest = l.emit(Op::And32, {significand, l.emit(Op::Sub32, {bit, l.c32(1)})});
    const Value error = l.emit(Op::FFma32, {a, b, l.emit(Op::FSub32, {c, r})});
    const Value opposite = l.emit(Op::Shr32, {l.emit(Op::Xor32, {error, r}), l.c32(31)});
    const Value kept = l.emit(Op::Add32, {l.emit(Op::Shr32, {significand, drop}),
                                          l.emit(Op::Sub32, {l.c32(1), opposite})});
    const Value corrected = l.emit(Op::Or32, {l.emit(Op::And32, {r, l.c32(0x80000000)}), kept});
    // A tie that the first rounding made: 1 <= drop <= 24, a normal r, an error, and an inexact
    // `small`.
    Value tie = l.emit(Op::CmpLtU32, {l.emit(Op::Sub32, {drop, l.c32(1)}), l.c32(24)});
    tie = both(l, tie, l.emit(Op::CmpEq32, {rest, l.emit(Op::Shr32, {bit, l.c32(1)})}));
    tie = both(l, tie, l.emit(Op::CmpLeU32, {exponent(l, small), l.c32(1)}));
    tie = both(l, tie, l.s.mask_not(is_zero(l, error)));
    tie = both(l, tie, l.emit(Op::CmpNe32, {scale(l, small, up64), r}));
    Value scaled = l.s.select(tie, corrected, small);
    scaled =
        l.s.select(l.emit(Op::CmpLtU32, {l.c32(127), exponent(l, c)}), scale(l, r, up64), scaled);
    const Value vcc = l.s.get_mask(machine::vcc_lo), result = l.s.select(vcc, scaled, r);
    l.divisions.note_fmas(result, a, b, c, vcc);
    return l.set_f32(i, result);
}

bool div_fixup32(Lifter& l, const Inst& i) {
    const Value q = l.f32(i, 0), d = l.f32(i, 1), n = l.f32(i, 2);
    if (const Value whole = l.divisions.quotient(division32, q, d, n); whole != no_value)
        return l.set_f32(i, whole);
    const Value sign = l.emit(Op::And32, {l.emit(Op::Xor32, {d, n}), l.c32(0x80000000)});
    const Value inf_d = l.emit(Op::CmpEq32, {magnitude(l, d), l.c32(0x7f800000)}),
                inf_n = l.emit(Op::CmpEq32, {magnitude(l, n), l.c32(0x7f800000)});
    const Value zero_d = is_zero(l, d), zero_n = is_zero(l, n);
    // A quotient that overflowed is infinity minus infinity by now.
    Value m = l.s.select(is_nan(l, q), l.c32(0x7f800000), magnitude(l, q));
    m = l.s.select(l.emit(Op::CmpLtS32, {l.emit(Op::Sub32, {exponent(l, n), exponent(l, d)}),
                                         l.c32(static_cast<uint32_t>(-150))}),
                   l.c32(0), m);
    m = l.s.select(either(l, inf_d, zero_n), l.c32(0), m);
    m = l.s.select(either(l, zero_d, inf_n), l.c32(0x7f800000), m);
    Value r = l.emit(Op::Or32, {sign, m});
    r = l.s.select(either(l, both(l, zero_d, zero_n), both(l, inf_d, inf_n)), l.c32(0xffc00000), r);
    r = l.s.select(is_nan(l, d), quiet(l, d), r);
    r = l.s.select(is_nan(l, n), quiet(l, n), r);
    return l.set_f32(i, r);
}

constexpr Entry entries[] = {
    {Opcode::v_rcp_f32, math32<trans::rcp_f32<LaneBuilder>>},
    {Opcode::v_rcp_iflag_f32, math32<trans::rcp_f32<LaneBuilder>>},
    {Opcode::v_rsq_f32, math32<trans::rsq_f32<LaneBuilder>>},
    {Opcode::v_sqrt_f32, sqrt32},
    {Opcode::v_exp_f32, math32<trans::exp2_f32<LaneBuilder>>},
    {Opcode::v_log_f32, math32<trans::log2_f32<LaneBuilder>>},
    {Opcode::v_s_rcp_f32, math32<trans::rcp_f32<LaneBuilder>>},
    {Opcode::v_s_rsq_f32, math32<trans::rsq_f32<LaneBuilder>>},
    {Opcode::v_s_sqrt_f32, sqrt32},
    {Opcode::v_s_exp_f32, math32<trans::exp2_f32<LaneBuilder>>},
    {Opcode::v_s_log_f32, math32<trans::log2_f32<LaneBuilder>>},
    {Opcode::v_sin_f32, math32<trans::sin_f32<LaneBuilder>>},
    {Opcode::v_cos_f32, math32<trans::cos_f32<LaneBuilder>>},
    {Opcode::v_rcp_f64, math64<false, true>},
    {Opcode::v_sqrt_f64, math64<true, false>},
    {Opcode::v_rsq_f64, math64<true, true>},
    {Opcode::v_fract_f32, fract32},
    {Opcode::v_med3_f32, med3_32},
    {Opcode::v_frexp_exp_i32_f32, frexp_exp32},
    {Opcode::v_frexp_mant_f32, frexp_mant32},
    {Opcode::v_div_scale_f32, div_scale32},
    {Opcode::v_div_fmas_f32, div_fmas32},
    {Opcode::v_div_fixup_f32, div_fixup32},
};

}  // namespace

std::span<const Entry> vector_math_entries() {
    return entries;
}

}  // namespace wj::lift
