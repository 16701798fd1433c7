#include "lift/division.h"

namespace wj::lift {
namespace {

struct Walk {
    const State& s;
    const DivisionOps& ops;

    // v = fma(x, y, base), the factors in either order. Which NaN an fma hands on depends on that
    // order, but v_div_fixup looks at none of q.
    bool is_fma(Value v, Value x, Value y, Value base) const {
        const ir::Inst& i = s.inst(v);
        return i.op == ops.fma && i.args[2] == base && has_factors(i, x, y);
    }
    bool is_product(Value v, Value x, Value y) const {
        const ir::Inst& i = s.inst(v);
        return i.op == ops.mul && has_factors(i, x, y);
    }
    // v = fma(error, by, base) in either order: error and base, no_value if v is something else.
    struct Step {
        Value error = no_value, base = no_value;
    };
    Step step(Value v, Value by) const {
        const ir::Inst& i = s.inst(v);
        if (i.op != ops.fma) return {};
        if (by == no_value) by = i.args[2];
        if (i.args[1] == by) return {i.args[0], i.args[2]};
        if (i.args[0] == by) return {i.args[1], i.args[2]};
        return {};
    }

private:
    static bool has_factors(const ir::Inst& i, Value x, Value y) {
        return (i.args[0] == x && i.args[1] == y) || (i.args[0] == y && i.args[1] == x);
    }
};

// As Lifter::f32 and f64 negate.
Value negated(State& s, const DivisionOps& ops, Value v) {
    const Value sign = s.lane_const(0x80000000);
    if (!ops.wide) return s.emit(Op::Xor32, {v, sign});
    return s.pack(s.emit(Op::Lo, {v}), s.emit(Op::Xor32, {s.emit(Op::Hi, {v}), sign}));
}

// The numerator is a constant for which the steps give the quotient of IEEE division, whatever the
// denominator is (backend_x64/asm/lane_division.cpp says for which they do not).
bool divides_exactly(const State& s, const DivisionOps& ops, Value n) {
    uint64_t bits;
    if (!s.is_const(n, bits)) return false;
    // f64: a power of two. Its quotient is the middle of two denormals only if the denominator is
    // one, too, whose reciprocal has no error.
    return ops.wide ? bits << 12 == 0 : (bits >> 23 & 255) != 24;
}

}  // namespace

// The same bits. Signs are changed by modifiers here and by instructions there, whose operands may
// stand in the other order.
bool Divisions::same(Value a, Value b, uint32_t depth) const {
    if (a == b) return true;
    const ir::Inst &x = s_.inst(a), &y = s_.inst(b);
    if (x.op != y.op || depth-- == 0) return false;
    if (x.op == Op::Pack64)
        return same(x.args[0], y.args[0], depth) && same(x.args[1], y.args[1], depth);
    if (x.op != Op::And32 && x.op != Op::Or32 && x.op != Op::Xor32) return false;
    return (same(x.args[0], y.args[0], depth) && same(x.args[1], y.args[1], depth)) ||
           (same(x.args[0], y.args[1], depth) && same(x.args[1], y.args[0], depth));
}

const Divisions::Scaled* Divisions::scaled(Value v, Value x, Value d, Value n) const {
    const auto it = scaled_.find(v);
    if (it == scaled_.end()) return nullptr;
    const Scaled& i = it->second;
    return same(i.x, x) && same(i.d, d) && same(i.n, n) ? &i : nullptr;
}

Value Divisions::quotient(const DivisionOps& ops, Value q, Value d, Value n) {
    const auto last = fused_.find(q);
    if (last == fused_.end()) return no_value;
    const Fused fmas = last->second;
    const Walk walk{s_, ops};

    // From the reciprocal back to the denominator.
    std::array<Walk::Step, 2> steps;
    Value r = fmas.b;
    for (uint32_t k = 0; k < ops.reciprocal_steps; ++k) {
        steps[k] = walk.step(r, no_value);
        if (steps[k].base == no_value) return no_value;
        r = steps[k].base;
    }
    const ir::Inst rcp = s_.inst(r);
    uint64_t numerator;
    if (rcp.op != ops.div || !s_.is_const(rcp.args[0], numerator) || numerator != ops.one)
        return no_value;
    const Value ds = rcp.args[1], one = rcp.args[0];
    if (!scaled(ds, d, d, n)) return no_value;
    const Value minus_ds = negated(s_, ops, ds);
    for (uint32_t k = 0; k < ops.reciprocal_steps; ++k)
        if (!walk.is_fma(steps[k].error, minus_ds, steps[k].base, one)) return no_value;

    // From the quotient back to the numerator, which every remainder names.
    const ir::Inst remainder = s_.inst(fmas.a);
    if (remainder.op != ops.fma) return no_value;
    const Value ns = remainder.args[2];
    const Scaled* scale = scaled(ns, n, d, n);
    if (!scale || s_.among_active(fmas.vcc) != s_.among_active(scale->vcc)) return no_value;
    Value partial = fmas.c, error = fmas.a;
    for (uint32_t k = 0; k < ops.quotient_steps; ++k) {
        if (!walk.is_fma(error, minus_ds, partial, ns)) return no_value;
        const Walk::Step step = walk.step(partial, fmas.b);
        if (step.base == no_value) return no_value;
        partial = step.base;
        error = step.error;
    }
    if (!walk.is_fma(error, minus_ds, partial, ns) || !walk.is_product(partial, ns, fmas.b))
        return no_value;
    if (divides_exactly(s_, ops, n)) return s_.emit(ops.div, {n, d});
    return s_.emit(ops.quotient, {n, d, s_.exec()});
}

}  // namespace wj::lift
