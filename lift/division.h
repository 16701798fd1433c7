// The correctly rounded division that compilers write out, recognised as a whole. LLVM expands
// `fdiv` (HIP's default for a / b) as
//
//   ds = v_div_scale(d, d, n)           the denominator, scaled if it or the quotient is extreme
//   ns, vcc = v_div_scale(n, d, n)      the numerator; VCC: the quotient must be scaled back
//   r = v_rcp(ds)
//   r = fma(fma(-ds, r, 1), r, r)       f64: twice
//   q = ns * r
//   q = fma(fma(-ds, q, ns), r, q)      f32 only
//   q = v_div_fmas(fma(-ds, q, ns), r, q)
//   v_div_fixup(q, d, n)
//
// which is n / d but for a few operands: docs/design/sequences.md, tests/jit/division_test.cpp.
#pragma once

#include <unordered_map>

#include "lift/state.h"

namespace wj::lift {

// The operations of one float type.
struct DivisionOps {
    Op mul, fma, div, quotient;
    uint64_t one;
    uint32_t reciprocal_steps, quotient_steps;
    bool wide;
};
constexpr DivisionOps division32{Op::FMul32, Op::FFma32, Op::FDiv32, Op::FQuot32,
                                 0x3f800000, 1,          1,          false};
constexpr DivisionOps division64{Op::FMul64,         Op::FFma64, Op::FDiv64, Op::FQuot64,
                                 0x3ff0000000000000, 2,          0,          true};

// Values are pure and shared, so a value says how it was computed, whatever registers it went
// through and whatever EXEC was. What v_div_scale and v_div_fmas make is too long to be looked
// through again: it is noted. Only for rounding to nearest even and denormals that are kept.
class Divisions {
public:
    explicit Divisions(State& s) : s_(s) {}

    // result = v_div_scale(x, d, n), vcc: its mask, for all lanes
    void note_scale(Value result, Value x, Value d, Value n, Value vcc) {
        scaled_[result] = {x, d, n, vcc};
    }
    // result = v_div_fmas(a, b, c) with VCC as `vcc`
    void note_fmas(Value result, Value a, Value b, Value c, Value vcc) {
        fused_[result] = {a, b, c, vcc};
    }
    // n / d, if v_div_fixup(q, d, n) ends the sequence, else no_value.
    Value quotient(const DivisionOps& ops, Value q, Value d, Value n);

private:
    struct Scaled {
        Value x, d, n, vcc;
    };
    struct Fused {
        Value a, b, c, vcc;
    };
    const Scaled* scaled(Value v, Value x, Value d, Value n) const;
    bool same(Value a, Value b, uint32_t depth = 4) const;

    State& s_;
    std::unordered_map<Value, Scaled> scaled_;
    std::unordered_map<Value, Fused> fused_;
};

}  // namespace wj::lift
