// Lines that are made of lines: sums, products, shifts, fields of bits (affine.h).
#include <algorithm>
#include <array>
#include <bit>

#include "lift/affine.h"
#include "machine/wave.h"

namespace wj::lift {

using Line = Affine::Line;

Line Affine::line(Value base, int64_t stride, Value step, uint32_t width, const Motion& next) {
    if (width >= block_.wave_size || number(base, stride * width) == step) width = machine::lanes;
    if (width == machine::lanes) step = number(base, 0);
    return {base, stride, step, width, next};
}

std::optional<Line> Affine::narrowed(const Line& x, uint32_t width) {
    if (x.width == width) return x;
    if (!x.one_row()) return {};
    return Line{x.base, width == 1 ? 0 : x.stride, number(x.base, x.stride * width), width, x.next};
}

// With steps that a uniform factor may be part of, instead of a stride that has to be constant.
Line Affine::stepwise(const Line& x) {
    return x.stride ? narrowed(x, 1).value_or(x) : x;
}

// Where the value's lower bits begin anew every so many lanes: the line in rows of these.
Line Affine::split(const Line& x, uint64_t period) {
    if (!x.one_row() || x.stride <= 0 || period % static_cast<uint64_t>(x.stride)) return x;
    const uint64_t width = period / static_cast<uint64_t>(x.stride);
    if (width < 2 || width >= block_.wave_size) return x;
    return *narrowed(x, static_cast<uint32_t>(width));
}

std::optional<Line> Affine::sum(const Line& a, const Line& b, bool difference) {
    const uint32_t width = std::min(a.width, b.width);
    const auto x = narrowed(a, width), y = narrowed(b, width);
    if (!x || !y) return {};
    const bool wide = block_.type(a.base) == ir::Type::U64;
    const Op op = difference ? wide ? Op::USub64 : Op::USub32 : wide ? Op::UAdd64 : Op::UAdd32;
    return line(both(op, x->base, y->base),
                difference ? x->stride - y->stride : x->stride + y->stride,
                both(op, x->step, y->step), width,
                each(x->next, y->next, [&](Value dx, Value dy) { return both(op, dx, dy); }));
}

// One that is the same in all lanes, and if that may be chosen the one that stays, is what the
// other is multiplied by.
std::optional<Affine::Factors> Affine::factors_of(const Line& a, const Line& b) {
    const bool first = a.flat() && !(b.flat() && moves(a.next));
    const Line &x = first ? b : a, &y = first ? a : b;
    if (!y.flat()) return {};
    const auto factor = static_cast<int64_t>(constant(y).value_or(0));
    const bool small = factor > 0 && factor <= most32;
    const Line stepped = small ? x : stepwise(x);
    if (stepped.stride && !small) return {};
    return Factors{stepped, y, factor, small};
}

std::optional<Line> Affine::product(const Line& a, const Line& b, Found& f) {
    // By the upper half of a number of 64 bits that has 32, as far as the wave shows that is about
    // to run the block.
    for (const Line* factor : {&a, &b}) {
        if (!factor->flat() || constant(*factor) || moves(factor->next)) continue;
        const auto now = now_ ? now_->of(block_, factor->base) : std::nullopt;
        const Value none = s_.const32(0);
        if (now == uint64_t{0} && need_once(factor->base, 0, f)) return flat(none, still(none));
    }
    const auto factors = factors_of(a, b);
    if (!factors) return {};
    const auto& [x, y, factor, small] = *factors;
    return line(both(Op::UMul32, x.base, y.base), x.stride * factor,
                both(Op::UMul32, x.step, y.base), x.width, of_product(x, y));
}

// 64 bits
std::optional<Line> Affine::wide_product(const Line& a, const Line& b, bool is_signed, Found& f) {
    const auto factors = factors_of(a, b);
    if (!factors) return {};
    const auto& [x, y, factor, small] = *factors;
    if ((!x.flat() || moves(x.next)) && !at_most(x, is_signed ? 0x7fffffff : ~0u, f)) return {};
    auto times = [&](Value v) {
        if (!is_signed || (small && !x.flat())) return both(Op::UMulWideU32, v, y.base);
        return both(Op::UPack64, both(Op::UMul32, v, y.base), both(Op::UMulHiS32, v, y.base));
    };
    auto motion = [&](Value dx, Value dy) {
        constexpr uint32_t most = 1 << 24;
        const bool rises = largest(dx) <= most || need_once(dx, most, f);
        return rises && is_zero(dy) ? times(dx) : no_value;
    };
    return line(times(x.base), x.stride * factor, times(x.step), x.width,
                each(x.next, y.next, motion));
}

Line Affine::shifted_up(const Line& x, uint32_t n) {
    if (n == 0) return x;
    const Value count = s_.const32(n);
    return line(both(Op::UShl32, x.base, count), x.stride * (int64_t{1} << n),
                both(Op::UShl32, x.step, count), x.width,
                each(x.next, [&](Value d) { return both(Op::UShl32, d, count); }));
}

// Strides and steps that are multiples of 2^n are shifted, too; the others change only bits that
// are shifted out.
std::optional<Line> Affine::shifted_down(Line x, uint32_t n, bool is_signed, Found& f) {
    const int64_t period = int64_t{1} << n;
    const Value count = s_.const32(n), none = s_.const32(0);
    if (n == 0) return x;
    if (is_signed && n == 31 && at_most(x, 0x7fffffff, f))
        return flat(none, each(x.next, [&](Value) { return none; }));
    x = split(x, static_cast<uint64_t>(period));
    const bool columns = x.stride % period == 0, rows = zeros(x.step) >= n;
    const Value below = both(Op::UAnd32, x.base, s_.const32(static_cast<uint32_t>(period - 1)));
    // What goes on by less than the period stays below it, or is not known.
    const auto whole = [&](Value d) { return zeros(d) >= n; };
    const Motion next = each(x.next, [&](Value d) { return whole(d) ? d : none; });
    if (!at_most({below, columns ? 0 : x.stride, rows ? none : x.step, x.width,
                  each(x.next, [&](Value d) { return whole(d) ? none : d; })},
                 static_cast<uint32_t>(period - 1), f))
        return {};
    const Line above{x.base, columns ? x.stride : 0, rows ? x.step : none, x.width, next};
    const bool even = !above.stride && is_zero(above.step) && is_still(next);
    if (!even && !at_most(above, is_signed ? 0x7fffffff : ~0u, f)) return {};
    return line(both(is_signed ? Op::USar32 : Op::UShr32, above.base, count), above.stride / period,
                both(Op::UShr32, above.step, count), x.width,
                each(next, [&](Value d) { return both(Op::USar32, d, count); }));
}

// The value modulo 2^n.
std::optional<Line> Affine::low_bits(Line x, uint32_t n, Found& f) {
    const uint32_t mask = (1u << n) - 1;
    const int64_t period = int64_t{1} << n;
    x = split(x, static_cast<uint64_t>(period));
    const Value base =
        largest(x.base) <= mask ? x.base : both(Op::UAnd32, x.base, s_.const32(mask));
    const Line y{base, x.stride % period ? x.stride : 0,
                 zeros(x.step) >= n ? s_.const32(0) : x.step, x.width,
                 each(x.next, [&](Value d) { return zeros(d) >= n ? s_.const32(0) : d; })};
    if (!at_most(y, mask, f)) return {};
    return line(y.base, y.stride, y.step, y.width, y.next);
}

// x & bits, where these follow one another.
std::optional<Line> Affine::masked(const Line& x, uint32_t bits, Found& f) {
    if (!bits) return flat(s_.const32(0), still(s_.const32(0)));
    const auto low = static_cast<uint32_t>(std::countr_zero(bits)),
               count = static_cast<uint32_t>(std::bit_width(bits >> low));
    if (!std::has_single_bit(uint64_t{bits >> low} + 1)) return {};
    auto y = shifted_down(x, low, false, f);
    if (y && low + count < 32) y = low_bits(*y, count, f);
    if (!y) return {};
    return shifted_up(*y, low);
}

// x & bits, where these are all or none of those that differ between the lanes.
std::optional<Line> Affine::masked_by(const Line& x, Value bits, Found& f) {
    if (!x.one_row() || x.stride <= 0) return {};
    const size_t needs = f.needs.size();
    const Reach reach = f.reach;
    const auto extent = static_cast<uint64_t>(x.stride) * (x.row_lanes(block_.wave_size) - 1);
    const auto differ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(extent)) - 1);
    const Value some = both(Op::UAnd32, bits, s_.const32(differ)),
                others = both(Op::UXor32, some, s_.const32(differ));
    if (!need_once(both(Op::UAnd32, x.base, s_.const32(differ)),
                   differ - static_cast<uint32_t>(extent), f))
        return {};
    const Value base = both(Op::UAnd32, x.base, bits);
    if (need_once(others, 0, f)) return line(base, x.stride, no_value, x.width, {});
    if (need_once(some, 0, f)) return flat(base, {});
    f.needs.resize(needs);
    f.reach = reach;
    return {};
}

// x | y, x ^ y, where no lane has a bit in both.
std::optional<Line> Affine::either(const Line& x, const Line& y, Found& f) {
    if (constant(x) == uint64_t{0}) return y;
    if (constant(y) == uint64_t{0}) return x;
    // A constant whose bits lie above those that differ between the lanes of the other.
    for (const auto& [bits, other] : {std::pair(&x, &y), std::pair(&y, &x)}) {
        const auto c = constant(*bits);
        if (!c) continue;
        const auto up_to = static_cast<uint32_t>((1ull << std::bit_width(*c)) - 1),
                   below = (1u << std::countr_zero(*c)) - 1;
        Line low = *other;
        low.base = both(Op::UAnd32, low.base, s_.const32(up_to));
        if (at_most(low, below, f)) return sum(x, y);
    }
    for (const auto& [high, low] : {std::pair(&x, &y), std::pair(&y, &x)})
        if (const uint32_t n = zeros(*high); n && at_most(*low, (1u << n) - 1, f)) {
            Line whole = *high;
            whole.next = each(whole.next, [&](Value d) { return zeros(d) >= n ? d : no_value; });
            return sum(whole, *low);
        }
    // A constant below the strides and steps of the other.
    const Line &high = x.flat() ? y : x, &low = x.flat() ? x : y;
    const auto c = constant(low);
    if (!c) return {};
    const auto mask = static_cast<uint32_t>((1ull << std::bit_width(*c)) - 1);
    if ((static_cast<uint32_t>(high.stride) & mask) ||
        zeros(high.step) < static_cast<uint32_t>(std::bit_width(*c)) ||
        !need_once(both(Op::UAnd32, high.base, s_.const32(mask)), 0, f))
        return {};
    return sum(high, low);
}

// The carry in all lanes (0 or 1) of an addition of 32 bits, or no_value.
Value Affine::carry(Value mask, Found& f) {
    const ir::Inst m = block_.insts[mask];
    uint64_t c;
    if (m.op == Op::MaskOf && s_.is_const(m.args[0], c) && (c == 0 || c == ~0ull))
        return s_.const32(c & 1);
    if (m.op != Op::CmpLtU32) return no_value;
    const Value sum = m.args[0], addend = m.args[1];
    if (sum == addend) return s_.const32(0);
    const ir::Inst a = block_.insts[sum];
    if (a.op != Op::Add32 || (a.args[0] != addend && a.args[1] != addend)) return no_value;
    const auto x = part(addend, f), y = part(a.args[a.args[0] == addend], f), z = part(sum, f);
    if (!x || !y || !z || !no_wrap(*x, f) || !no_wrap(*y, f) || !no_wrap(*z, f)) return no_value;
    return s_.emit(Op::UCmpLtU32, {z->base, x->base});
}

}  // namespace wj::lift
