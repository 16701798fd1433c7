// f64 division steps, frexp and fract, after common/guest_float.cpp. Other rounding modes and
// flushed denormals stay with the interpreter.
#include "lift/lane_builder.h"

namespace wj::lift {
namespace {

// A double as one value and as dwords.
struct Wide {
    Value v, lo, hi;
};

bool suits(const Lifter& l, const Inst& i) {
    return l.round64() && l.denorm64() && !i.clamp && !i.omod;
}

// Short names for one instruction's worth of emission.
struct Emit {
    Lifter& l;

    Wide split(Value v) { return {v, l.emit(Op::Lo, {v}), l.emit(Op::Hi, {v})}; }
    Wide join(Value lo, Value hi) { return {l.s.pack(lo, hi), lo, hi}; }
    Wide source(const Inst& i, uint32_t n) { return split(l.f64(i, n)); }
    Wide constant(uint64_t bits) { return split(l.c64(bits)); }
    Value c(uint32_t v) { return l.c32(v); }

    Value magnitude(const Wide& x) { return l.emit(Op::And32, {x.hi, c(0x7fffffff)}); }
    Value exponent(const Wide& x) { return l.emit(Op::Shr32, {magnitude(x), c(20)}); }
    Value both(Value a, Value b) { return l.emit(Op::MaskAnd, {a, b}); }
    Value either(Value a, Value b) { return l.emit(Op::MaskOr, {a, b}); }
    Value without(Value a, Value b) { return l.emit(Op::MaskAndNot, {a, b}); }
    Value equal(Value a, Value b) { return l.emit(Op::CmpEq32, {a, b}); }
    Value less(Value a, Value b) { return l.emit(Op::CmpLtU32, {a, b}); }
    Value same(const Wide& a, const Wide& b) { return l.emit(Op::CmpEq64, {a.v, b.v}); }
    Value is_zero(const Wide& x) { return equal(l.emit(Op::Or32, {magnitude(x), x.lo}), c(0)); }
    Value is_nan(const Wide& x) { return l.emit(Op::FCmp64, {x.v, x.v}, unord_q); }
    Value at_least_inf(const Wide& x) {
        return l.emit(Op::CmpLeU32, {c(0x7ff00000), magnitude(x)});
    }
    Value is_inf(const Wide& x) {
        return equal(l.emit(Op::Or32, {l.emit(Op::Xor32, {magnitude(x), c(0x7ff00000)}), x.lo}),
                     c(0));
    }
    Value is_denormal(const Wide& x) {
        return without(less(magnitude(x), c(0x00100000)), is_zero(x));
    }
    Wide select(Value m, const Wide& a, const Wide& b) {
        return join(l.s.select(m, a.lo, b.lo), l.s.select(m, a.hi, b.hi));
    }
    Wide quiet(const Wide& x) { return join(x.lo, l.emit(Op::Or32, {x.hi, c(0x00080000)})); }
    Wide negate(const Wide& x) { return join(x.lo, l.emit(Op::Xor32, {x.hi, c(0x80000000)})); }
    Wide op(Op o, const Wide& a, const Wide& b) { return split(l.emit(o, {a.v, b.v})); }
    Wide fma(const Wide& x, const Wide& y, const Wide& z) {
        return split(l.emit(Op::FFma64, {x.v, y.v, z.v}));
    }
    // x * 2^128, x * 2^-128
    Wide up(const Wide& x) { return op(Op::FMul64, x, constant(0x47f0000000000000)); }
    Wide down(const Wide& x) { return op(Op::FMul64, x, constant(0x37f0000000000000)); }
    bool put(const Inst& i, const Wide& x) {
        l.write(i.dst[0], x.lo, 0);
        l.write(i.dst[0], x.hi, 1);
        return true;
    }
};

bool div_scale64(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    Emit e{l};
    const Wide x = e.source(i, 0), d = e.source(i, 1), n = e.source(i, 2);
    const Value is_n = e.same(x, n), is_d = e.same(x, d);
    const Wide bigger = e.up(x), smaller = e.down(x);
    const Value far =
        l.emit(Op::CmpLeS32, {e.c(768), l.emit(Op::Sub32, {e.exponent(n), e.exponent(d)})});
    const Value denormal = e.is_denormal(d);
    const Value small_r = e.is_denormal(e.op(Op::FDiv64, e.constant(0x3ff0000000000000), d));
    const Value small_q = e.less(e.magnitude(e.op(Op::FDiv64, n, d)), e.c(0x00100000));
    const Value tiny = l.emit(Op::CmpLeU32, {e.exponent(n), e.c(53)});
    // From the last case to the first, as in vector_math.cpp.
    Wide r = e.select(tiny, bigger, x);
    Value vcc = small_q;
    r = e.select(small_q, e.select(is_n, bigger, x), r);
    r = e.select(small_r, e.select(small_q, e.select(is_d, smaller, x), smaller), r);
    r = e.select(denormal, bigger, r);
    vcc = e.without(vcc, denormal);
    r = e.select(far, e.select(is_d, bigger, x), r);
    vcc = e.either(vcc, far);
    const Value special = e.either(e.at_least_inf(n), e.at_least_inf(d));
    r = e.select(special, e.select(e.is_nan(x), e.quiet(x), x), r);
    vcc = e.without(vcc, special);
    const Value zero = e.either(e.is_zero(n), e.is_zero(d));
    r = e.select(zero, e.constant(0xfff8000000000000), r);
    vcc = e.either(vcc, zero);
    e.put(i, r);
    l.set_mask(i.dst[1], l.active(vcc));
    l.divisions.note_scale(r.v, x.v, d.v, n.v, vcc);
    return true;
}

// The lanes of VCC are scaled back, rounding a denormal result once.
bool div_fmas64(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    Emit e{l};
    const Wide a = e.source(i, 0), b = e.source(i, 1), c = e.source(i, 2), r = e.fma(a, b, c);
    const Wide small = e.down(r);
    const Value drop = l.emit(Op::Sub32, {e.c(129), e.exponent(r)});
    const Wide significand = e.join(
        r.lo, l.emit(Op::Or32, {l.emit(Op::And32, {r.hi, e.c(0x000fffff)}), e.c(0x00100000)}));
    const Wide one = e.constant(1);
    const Value bit = l.emit(Op::Shl64, {one.v, drop});
    const Wide below = e.split(l.emit(Op::Sub64, {bit, one.v}));
    const Wide rest = e.join(l.emit(Op::And32, {significand.lo, below.lo}),
                             l.emit(Op::And32, {significand.hi, below.hi}));
    const Wide error = e.fma(a, b, e.op(Op::FAdd64, c, e.negate(r)));
    const Value opposite = l.emit(Op::Shr32, {l.emit(Op::Xor32, {error.hi, r.hi}), e.c(31)});
    const Value away = l.emit(Op::Sub32, {e.c(1), opposite});
    const Wide kept = e.split(
        l.emit(Op::Add64, {l.emit(Op::Shr64, {significand.v, drop}), l.s.pack(away, e.c(0))}));
    const Wide corrected =
        e.join(kept.lo, l.emit(Op::Or32, {l.emit(Op::And32, {r.hi, e.c(0x80000000)}), kept.hi}));
    // A tie that the first rounding made: 1 <= drop <= 53, an error, and an inexact `small`.
    Value tie = e.less(l.emit(Op::Sub32, {drop, e.c(1)}), e.c(53));
    tie = e.both(tie, l.emit(Op::CmpEq64, {rest.v, l.emit(Op::Shr64, {bit, e.c(1)})}));
    tie = e.both(tie, l.emit(Op::CmpLeU32, {e.exponent(small), e.c(1)}));
    tie = e.without(tie, e.is_zero(error));
    tie = e.without(tie, e.same(e.up(small), r));
    Wide scaled = e.select(tie, corrected, small);
    scaled = e.select(e.less(e.c(1023), e.exponent(c)), e.up(r), scaled);
    const Value vcc = l.s.get_mask(machine::vcc_lo);
    const Wide result = e.select(vcc, scaled, r);
    l.divisions.note_fmas(result.v, a.v, b.v, c.v, vcc);
    return e.put(i, result);
}

bool div_fixup64(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    Emit e{l};
    const Wide q = e.source(i, 0), d = e.source(i, 1), n = e.source(i, 2);
    if (const Value whole = l.divisions.quotient(division64, q.v, d.v, n.v); whole != no_value)
        return e.put(i, e.split(whole));
    const Value sign = l.emit(Op::And32, {l.emit(Op::Xor32, {d.hi, n.hi}), e.c(0x80000000)});
    const Value inf_d = e.is_inf(d), inf_n = e.is_inf(n), zero_d = e.is_zero(d),
                zero_n = e.is_zero(n);
    const Value low = l.emit(Op::CmpLtS32, {l.emit(Op::Sub32, {e.exponent(n), e.exponent(d)}),
                                            e.c(static_cast<uint32_t>(-1075))});
    // A quotient that overflowed is infinity minus infinity by now.
    const Value infinite = e.either(zero_d, inf_n);
    const Value none = e.either(low, e.either(inf_d, zero_n));
    const Wide zero = e.constant(0), inf = e.constant(0x7ff0000000000000);
    Wide m = e.select(e.is_nan(q), inf, e.join(q.lo, e.magnitude(q)));
    m = e.select(infinite, inf, e.select(none, zero, m));
    Wide r = e.join(m.lo, l.emit(Op::Or32, {m.hi, sign}));
    r = e.select(e.either(e.both(zero_d, zero_n), e.both(inf_d, inf_n)),
                 e.constant(0xfff8000000000000), r);
    r = e.select(e.is_nan(d), e.quiet(d), r);
    return e.put(i, e.select(e.is_nan(n), e.quiet(n), r));
}

// Leading zeros of the 64-bit magnitude.
Value leading_zeros(Emit& e, const Wide& x) {
    const Value hi = e.magnitude(x);
    return e.l.s.select(e.equal(hi, e.c(0)),
                        e.l.emit(Op::Add32, {e.l.emit(Op::Clz32, {x.lo}), e.c(32)}),
                        e.l.emit(Op::Clz32, {hi}));
}

bool frexp_exp64(Lifter& l, const Inst& i) {
    if (!l.denorm64() || i.clamp || i.omod) return false;
    Emit e{l};
    const Wide x = e.source(i, 0);
    const Value normal = l.emit(Op::Sub32, {e.exponent(x), e.c(1022)});
    const Value denormal =
        l.emit(Op::Sub32, {e.c(static_cast<uint32_t>(-1010)), leading_zeros(e, x)});
    const Value r = l.s.select(e.less(e.magnitude(x), e.c(0x00100000)), denormal, normal);
    l.set_v32(i, l.s.select(e.either(e.is_zero(x), e.at_least_inf(x)), e.c(0), r));
    return true;
}

bool frexp_mant64(Lifter& l, const Inst& i) {
    if (!l.denorm64() || i.clamp || i.omod) return false;
    Emit e{l};
    const Wide x = e.source(i, 0), m = e.join(x.lo, e.magnitude(x));
    const Wide shifted =
        e.split(l.emit(Op::Shl64, {m.v, l.emit(Op::Sub32, {leading_zeros(e, x), e.c(11)})}));
    const Wide fraction = e.select(e.less(m.hi, e.c(0x00100000)), shifted, m);
    const Wide half = e.join(
        fraction.lo,
        l.emit(Op::Or32, {l.emit(Op::And32, {fraction.hi, e.c(0x000fffff)}),
                          l.emit(Op::Bitop3, {x.hi, e.c(0x80000000), e.c(0x3fe00000)}, 0xea)}));
    const Wide kept = e.select(e.is_nan(x), e.quiet(x), x);
    return e.put(i, e.select(e.either(e.is_zero(x), e.at_least_inf(x)), kept, half));
}

bool fract64(Lifter& l, const Inst& i) {
    if (!suits(l, i)) return false;
    Emit e{l};
    const Wide x = e.source(i, 0), whole = e.split(l.emit(Op::FRound64, {x.v}, 1));
    const Wide r = e.op(Op::FAdd64, x, e.negate(whole));
    return e.put(
        i, e.select(e.same(r, e.constant(0x3ff0000000000000)), e.constant(0x3fefffffffffffff), r));
}

constexpr Entry entries[] = {
    {Opcode::v_div_scale_f64, div_scale64},   {Opcode::v_div_fmas_f64, div_fmas64},
    {Opcode::v_div_fixup_f64, div_fixup64},   {Opcode::v_frexp_exp_i32_f64, frexp_exp64},
    {Opcode::v_frexp_mant_f64, frexp_mant64}, {Opcode::v_fract_f64, fract64},
};

}  // namespace

std::span<const Entry> vector_math64_entries() {
    return entries;
}

}  // namespace wj::lift
