// The correctly rounded square root that compilers write out, recognised as a whole. LLVM expands
// `sqrt` of f32 (HIP's default), denormals kept, as
//
//   small = x < 2^-96
//   a = small ? x * 2^32 : x
//   s = v_sqrt(a)
//   below, above = the numbers on both sides of s
//   r = fma(-below, s, a) <= 0 ? below : s
//   r = fma(-above, s, a) > 0 ? above : r
//   r = small ? r * 2^-16 : r
//   v_cmp_class(a, zeros and +infinity) ? a : r
//
// v_sqrt is correctly rounded here (docs/reference/float.md), so that neither of the neighbours is
// nearer: sqrt(a) > s - ulp / 2 makes a - s (s - ulp) positive, and a - s (s + ulp), less than
// ulp^2 / 4 but a multiple of ulp^2, is not. What is left is the root of x, which is exact in its
// scaling.
#pragma once

#include <unordered_map>

#include "lift/state.h"

namespace wj::lift {

// Values are pure and shared, as Divisions says.
class Roots {
public:
    explicit Roots(State& s) : s_(s) {}

    // mask = v_cmp_class_f32(x, classes), for all lanes
    void note_class(Value mask, Value x, uint64_t classes) { classes_[mask] = {x, classes}; }
    // The root, if (mask ? a : r) ends the sequence, else no_value.
    Value root(Value mask, Value a, Value r);

private:
    struct Class {
        Value x;
        uint64_t classes;
    };
    bool is(Value v, uint64_t bits) const;
    bool is_product(Value v, Value x, uint32_t factor) const;
    Value compared(Value mask, Value x, uint64_t predicate, uint64_t swapped);
    bool is_neighbour(Value v, Value s, uint32_t step) const;
    bool is_remainder(Value v, Value neighbour, Value s, Value a) const;

    State& s_;
    std::unordered_map<Value, Class> classes_;
};

}  // namespace wj::lift
