#include "lift/root.h"

#include <optional>

namespace wj::lift {
namespace {

// Operands of FCmp32.
enum Predicate : uint64_t { less = 0x11, less_equal = 0x12, greater_equal = 0x1d, greater = 0x1e };
constexpr uint32_t sign_bit = 0x80000000;

}  // namespace

bool Roots::is(Value v, uint64_t bits) const {
    uint64_t known;
    return s_.is_const(v, known) && known == bits;
}

// v = x * factor, in either order
bool Roots::is_product(Value v, Value x, uint32_t factor) const {
    const ir::Inst& i = s_.inst(v);
    return i.op == Op::FMul32 &&
           ((i.args[0] == x && is(i.args[1], factor)) || (i.args[1] == x && is(i.args[0], factor)));
}

// n, if mask = x `predicate` n, or the other way around
Value Roots::compared(Value mask, Value x, uint64_t predicate, uint64_t swapped) {
    const ir::Inst& i = s_.inst(s_.among_active(mask));
    if (i.op != Op::FCmp32) return no_value;
    if (i.imm == predicate && i.args[0] == x) return i.args[1];
    return i.imm == swapped && i.args[1] == x ? i.args[0] : no_value;
}

// v = s + step, as integers
bool Roots::is_neighbour(Value v, Value s, uint32_t step) const {
    const ir::Inst& i = s_.inst(v);
    return i.op == Op::Add32 &&
           ((i.args[0] == s && is(i.args[1], step)) || (i.args[1] == s && is(i.args[0], step)));
}

// v = fma(-neighbour, s, a)
bool Roots::is_remainder(Value v, Value neighbour, Value s, Value a) const {
    const ir::Inst& i = s_.inst(v);
    if (i.op != Op::FFma32 || i.args[2] != a) return false;
    const auto is_minus = [&](Value n) {
        const ir::Inst& x = s_.inst(n);
        return x.op == Op::Xor32 && x.args[0] == neighbour && is(x.args[1], sign_bit);
    };
    return (i.args[1] == s && is_minus(i.args[0])) || (i.args[0] == s && is_minus(i.args[1]));
}

Value Roots::root(Value mask, Value a, Value r) {
    constexpr uint64_t zeros_and_infinity = 0x260;
    constexpr uint32_t smallest = 0x0f800000, up = 0x4f800000, down = 0x37800000;
    const auto known = classes_.find(s_.among_active(mask));
    if (known == classes_.end() || known->second.x != a ||
        known->second.classes != zeros_and_infinity)
        return no_value;
    const auto selects = [this](Value v) {
        const ir::Inst i = s_.inst(v);
        return i.op == Op::Select32 ? std::optional(i) : std::nullopt;
    };
    const auto scaled = selects(a), unscaled = selects(r);
    if (!scaled || !unscaled) return no_value;
    const Value x = scaled->args[2], above_or = unscaled->args[2];
    const Value limit = compared(scaled->args[0], x, less, greater);
    if (limit == no_value ||
        s_.among_active(unscaled->args[0]) != s_.among_active(scaled->args[0]) ||
        !is_product(scaled->args[1], x, up) || !is_product(unscaled->args[1], above_or, down))
        return no_value;
    const auto upper = selects(above_or), lower = upper ? selects(upper->args[2]) : std::nullopt;
    if (!lower) return no_value;
    const Value s = lower->args[2], below = lower->args[1], above = upper->args[1];
    if (s_.inst(s).op != Op::FSqrt32 || s_.inst(s).args[0] != a || !is_neighbour(below, s, ~0u) ||
        !is_neighbour(above, s, 1))
        return no_value;
    const Value zero = s_.lane_const(0);
    const Value low = compared(lower->args[0], zero, greater_equal, less_equal),
                high = compared(upper->args[0], zero, less, greater);
    if (low == no_value || high == no_value || !is_remainder(low, below, s, a) ||
        !is_remainder(high, above, s, a))
        return no_value;
    // Loops have it in a register.
    if (!s_.in_bounds(limit, smallest, smallest)) return no_value;
    return s_.emit(Op::FSqrt32, {x});
}

}  // namespace wj::lift
