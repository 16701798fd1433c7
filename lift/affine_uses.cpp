// Uses of lines: addresses, rows, masks, accesses that may run chunk by chunk.
#include <algorithm>
#include <bit>
#include <unordered_set>

#include "ir/known.h"
#include "lift/affine.h"
#include "machine/wave.h"

namespace wj::lift {

using Line = Affine::Line;

namespace {

// Of accesses, so that no lane's offset from the first one wraps around 32 bits.
constexpr int64_t most_apart = 1 << 16;
constexpr int64_t most_back =
    64;  // downwards: elements as large as they may be, one after the other
constexpr uint32_t most_step = 1u << 28;
// Of lines with a step from lane to lane: what is closer together may have a pattern that is found
// at run time.
constexpr uint32_t least_lane_step = 65, most_lane_step = 1u << 24;

}  // namespace

std::optional<Line> Affine::address(Value v, bool in_order) {
    Found f;
    const auto l = part(v, f);
    if (!l || (in_order && !no_wrap(*l, f))) return {};
    const bool wide = block_.type(l->base) == ir::Type::U64;
    if (l->width == 1) {
        if (!wide && !in_order) return {};
        if (!need_far_apart(l->step, f)) return {};
    } else if (!l->flat()) {
        if (l->stride > most_apart || l->stride < (l->one_row() ? -most_back : 0)) return {};
        if (wide && !need_small(l->step, f)) return {};
        // Of the LDS.
        if (!wide && !in_order && l->width < vector_lanes_ && !constant(l->step)) return {};
    }
    commit(f);
    all_ &= reach_of(l->next);
    ++profit_;
    return l;
}

// A U64 step is at most most_step.
bool Affine::need_small(Value step, Found& f) {
    uint32_t most = most_step;
    if (const ir::Inst i = block_.insts[step]; i.op == Op::UShl64)
        if (const auto n = constant(i.args[1]))
            if (is_zero(s_.emit(Op::UHi, {i.args[0]})))
                step = i.args[0], most = static_cast<uint32_t>(uint64_t{most} >> (*n & 63));
    return need_once(s_.emit(Op::UHi, {step}), 0, f) &&
           need_once(s_.emit(Op::ULo, {step}), most, f);
}

// The step from lane to lane.
bool Affine::need_far_apart(Value step, Found& f) {
    if (block_.type(step) == ir::Type::U64) {
        if (!need_once(s_.emit(Op::UHi, {step}), 0, f)) return false;
        step = s_.emit(Op::ULo, {step});
    }
    const Value above = both(Op::USub32, step, s_.const32(least_lane_step));
    return now_ && now_->of(block_, above) && need_once(above, most_lane_step - least_lane_step, f);
}

// Lane operations that make the value, counting none of them only once; not counting beyond the
// limit.
uint32_t Affine::cost(Value v, uint32_t limit) const {
    const ir::Inst& i = block_.insts[v];
    if (ir::op_info(i.op).cls != ir::Class::Lane || i.op == Op::Splat32 || i.op == Op::Splat64 ||
        i.op == Op::MaskOf || i.op == Op::LaneId || i.op == Op::Elem)
        return 0;
    uint32_t sum = 1;
    for (Value a : i.args)
        if (a != no_value && sum < limit) sum += cost(a, limit - sum);
    return sum;
}

// Lane operations that are worth as many scalar ones.
constexpr uint32_t few_operations = 4;

// Whether a row that is the line takes few operations of each chunk.
bool Affine::made_by_scalars(const Line& l) const {
    return l.width >= vector_lanes_ || (l.width > 1 && constant(l.step));
}

void Affine::will_write(Value v) {
    Found f;
    const auto l = part(v, f);
    if (l && made_by_scalars(*l) && cost(v, few_operations) >= few_operations) commit(f);
}

State::Written Affine::written(Value v) {
    Found f;
    const auto l = part(v, f);
    if (!l || l->width == 1) return {v, 0};
    const uint8_t known = shape(*l);
    const bool as_it_is = !made_by_scalars(*l) || cost(v, few_operations) < few_operations;
    if (as_it_is && (!known || !holds(f))) return {v, 0};
    commit(f);
    if (as_it_is) return {v, known};
    const Value base = s_.splat(l->base);
    if (l->flat()) return {base, known};
    const Value lanes = as_operand({s_.const32(0), l->stride, l->step, l->width});
    return {s_.emit(Op::Add32, {lanes, base}), known};
}

// As the translator sees it in a row (RowLines).
uint8_t Affine::shape(const Line& x) const {
    if (x.stride < 0 || x.stride > 0xffff) return 0;
    ir::RowLine line{.stride = static_cast<uint32_t>(x.stride), .width = x.width};
    const auto step = constant(x.step);
    line.any_step =
        !step || !ir::RowLine::keeps_step(x.width, static_cast<uint32_t>(*step), vector_lanes_);
    if (!line.any_step) line.step = static_cast<uint32_t>(*step);
    if (x.one_row()) line.any_step = false;
    return line.shape();
}

// All that it needs is guarded already, or will hold as long as the rows look as they do: scalars
// may change from one iteration of a loop to the next. A row that is the same in all lanes now may
// be anything.
bool Affine::holds(const Found& f) const {
    const auto is_bound = [&](const std::pair<Value, uint32_t>& need) {
        const auto known = bounds_.find(need.first);
        return (known != bounds_.end() && known->second <= need.second) || of_rows(need.first);
    };
    std::vector<const Found*> left{&f};
    std::unordered_set<Value> seen;
    while (!left.empty()) {
        const Found& at = *left.back();
        left.pop_back();
        if (at.committed) continue;
        if (at.row && !at.row->stride) return false;
        if (!std::ranges::all_of(at.needs, is_bound)) return false;
        for (const Value v : at.from)
            if (seen.insert(v).second) left.push_back(&found_.at(v));
    }
    return true;
}

// Made of nothing but rows and constants.
bool Affine::of_rows(Value v) const {
    std::vector<Value> left{v};
    std::unordered_set<Value> seen;
    while (!left.empty()) {
        const ir::Inst& i = block_.insts[left.back()];
        left.pop_back();
        if (i.op == Op::RowLane) continue;
        if (ir::op_info(i.op).cls != ir::Class::Uniform) return false;
        for (const Value a : i.args)
            if (a != no_value && seen.insert(a).second) left.push_back(a);
    }
    return true;
}

Value Affine::as_operand(const Line& line) {
    if (line.flat()) return s_.splat(line.base);
    return s_.emit(Op::Line32, {line.base, line.step}, static_cast<uint64_t>(line.stride),
                   line.width);
}

std::optional<Value> Affine::lane_0(Value v, bool only_flat) {
    Found f;
    const auto l = part(v, f);
    if (!l || (only_flat && !l->flat())) return {};
    commit(f);
    motions_.try_emplace(l->base, l->next);
    return l->base;
}

// The lesser of two is above a number if both are: `min(x, y) > 0`, as compilers write tests for
// the edges of grids.
std::optional<Value> Affine::bits_of_extreme(const ir::Inst& compare, uint32_t arg, Found& f) {
    const ir::Inst extreme = block_.insts[compare.args[arg]];
    const bool is_unsigned = extreme.op == Op::MinU32 || extreme.op == Op::MaxU32,
               least = extreme.op == Op::MinU32 || extreme.op == Op::MinS32;
    if (!is_unsigned && extreme.op != Op::MinS32 && extreme.op != Op::MaxS32) return {};
    bool both_are = false;
    switch (compare.op) {
        case Op::CmpEq32:
        case Op::CmpNe32:
            if (extreme.op != Op::MinU32 || compare.args[!arg] != s_.splat(s_.const32(0)))
                return {};
            both_are = compare.op == Op::CmpNe32;
            break;
        case Op::CmpLtU32:
        case Op::CmpLeU32:
            if (!is_unsigned) return {};
            both_are = least == (arg == 1);
            break;
        default:
            if (is_unsigned) return {};
            both_are = least == (arg == 1);
            break;
    }
    std::optional<Value> each[2];
    for (uint32_t n = 0; n < 2; ++n) {
        auto args = compare.args;
        args[arg] = extreme.args[n];
        each[n] = bits(s_.emit(compare.op, {args[0], args[1]}), f);
        if (!each[n]) return {};
    }
    return s_.emit(both_are ? Op::UAnd64 : Op::UOr64, {*each[0], *each[1]});
}

std::optional<Value> Affine::bits(Value mask) {
    Found f;
    const auto found = bits(mask, f);
    if (found) commit(f);
    return found;
}

// All lanes or none: of values that are the same in all of them.
Value Affine::compare_flat(Op op, const Line& x, const Line& y, Found& f) {
    const Value holds = both(op, x.base, y.base);
    const Value lanes = s_.emit(Op::USelect64, {holds, s_.const64(~0ull), s_.const64(0)});
    extents_[lanes] = {holds, holds};
    f.reach &= reach_of(x.next);
    f.reach &= reach_of(y.next);
    if (!moves(x.next) && !moves(y.next)) return lanes;
    const bool swapped = moves(y.next);
    const Line& rising = swapped ? y : x;
    const bool is_signed = op == Op::UCmpLtS32 || op == Op::UCmpLeS32;
    if (op == Op::UCmpEq32 || op == Op::UCmpNe32 || moves((swapped ? x : y).next) ||
        !at_most(rising, is_signed ? 0x7fffffff : ~0u, f)) {
        f.reach = {false, false};
        return lanes;
    }
    const Value last = highest(rising.base, rising.next, f);
    const Value last_holds = swapped ? both(op, x.base, last) : both(op, last, y.base);
    extents_[lanes] = swapped ? Extent{holds, last_holds} : Extent{last_holds, holds};
    return lanes;
}

bool Affine::is_all_or_none(const ir::Inst& bits) const {
    return bits.op == Op::USelect64 && constant(bits.args[1]) == ~0ull && is_zero(bits.args[2]);
}

// Of a compare that was made by scalars.
void Affine::find_extent(Value bits) {
    const ir::Inst select = block_.insts[bits];
    if (!next_.waves || extents_.contains(bits) || !is_all_or_none(select)) return;
    const ir::Inst compare = block_.insts[select.args[0]];
    if (compare.op < Op::UCmpEq32 || compare.op > Op::UCmpLeS32) return;
    Found f;
    const Line x = flat(compare.args[0], of_scalar(compare.args[0], f)),
               y = flat(compare.args[1], of_scalar(compare.args[1], f));
    compare_flat(compare.op, x, y, f);
    commit(f);
}

// Numbers of 64 bits that have 32, as `size_t` indices have, are compared as such.
std::optional<Value> Affine::bits_of_pairs(const ir::Inst& compare, Found& f) {
    using enum Op;
    static constexpr std::pair<Op, Op> of_dwords[] = {{CmpEq64, CmpEq32},   {CmpNe64, CmpNe32},
                                                      {CmpLtU64, CmpLtU32}, {CmpLeU64, CmpLeU32},
                                                      {CmpLtS64, CmpLtU32}, {CmpLeS64, CmpLeU32}};
    const auto narrow = std::ranges::find(of_dwords, compare.op, &std::pair<Op, Op>::first);
    if (narrow == std::end(of_dwords)) return {};
    for (const Value v : {compare.args[0], compare.args[1]}) {
        const auto high = part(s_.emit(Hi, {v}), f);
        if (!high || !high->flat() || !need(high->base, 0, f)) return {};
        f.reach &= {is_zero(high->next.wave), is_zero(high->next.group)};
    }
    return bits(
        s_.emit(narrow->second, {s_.emit(Lo, {compare.args[0]}), s_.emit(Lo, {compare.args[1]})}),
        f);
}

std::optional<Value> Affine::bits(Value mask, Found& f) {
    const ir::Inst i = block_.insts[mask];
    if (i.op >= Op::CmpEq64 && i.op <= Op::CmpLeS64) return bits_of_pairs(i, f);
    Op op = State::uniform_of(i.op);
    if (op < Op::UCmpEq32 || op > Op::UCmpLeS32) return {};
    for (uint32_t arg = 0; arg < 2; ++arg)
        if (const auto found = bits_of_extreme(i, arg, f)) return found;
    auto x = part(i.args[0], f), y = part(i.args[1], f);
    if (!x || !y) return {};
    if ((op == Op::UCmpEq32 || op == Op::UCmpNe32) && constant(*x) == uint64_t{0}) std::swap(x, y);
    // Of unsigned numbers: which is it in the waves ahead, too?
    if (next_.waves && constant(*y) == uint64_t{0} && !constant(*x)) {
        if (op == Op::UCmpEq32) op = Op::UCmpLeU32;
        if (op == Op::UCmpNe32) op = Op::UCmpLtU32, std::swap(x, y);
    }
    if (x->flat() && y->flat()) return compare_flat(op, *x, *y, f);
    const Value none = s_.const64(0), all = s_.const64(~0ull);
    const bool swapped = x->flat();
    if (swapped) std::swap(x, y);
    if (!y->flat()) return {};
    f.reach &= reach_of(x->next);
    f.reach &= {is_zero(y->next.wave), is_zero(y->next.group)};
    // Numbers `base + stride * k`: of rows, whose lanes are equal, or of the lanes of each row.
    const bool by_rows = !x->stride;
    const auto down = constant(x->step);
    if (by_rows ? !down : !x->one_row() && down != uint64_t{0}) return {};
    const int64_t stride = by_rows ? static_cast<int32_t>(*down) : x->stride;
    const uint32_t count = by_rows ? x->rows(block_.wave_size) : x->row_lanes(block_.wave_size);
    if (stride <= 0 || !std::has_single_bit(static_cast<uint64_t>(stride))) return {};
    const Value row_shift = s_.const32(static_cast<uint32_t>(std::countr_zero(x->width)));
    // A row's bits, for every row.
    auto for_all_rows = [&](Value bits) {
        if (by_rows || x->one_row()) return bits;
        Value row = s_.emit(Op::ULo, {bits});
        if (x->width < 32) row = both(Op::UMul32, row, s_.const32(~0u / ((1u << x->width) - 1)));
        return both(Op::UPack64, row, row);
    };
    // From here on: those in relation to n.
    const Value base = x->base, n = y->base, distance = s_.emit(Op::USub32, {n, base});
    if (op == Op::UCmpEq32 || op == Op::UCmpNe32) {
        if (stride != 1) return {};
        const Value one = by_rows ? both(Op::UShl64, s_.const64((1ull << x->width) - 1),
                                         both(Op::UShl32, distance, row_shift))
                                  : both(Op::UShl64, s_.const64(1), distance);
        const Value equal = for_all_rows(s_.emit(
            Op::USelect64, {s_.emit(Op::UCmpLtU32, {distance, s_.const32(count)}), one, none}));
        return op == Op::UCmpEq32 ? equal : s_.emit(Op::UXor64, {equal, all});
    }
    const bool is_signed = op == Op::UCmpLtS32 || op == Op::UCmpLeS32;
    const bool less = op == Op::UCmpLtU32 || op == Op::UCmpLtS32;
    if (!at_most(*x, is_signed ? 0x7fffffff : ~0u, f)) return {};
    // x < n, x <= n; n < x and n <= x are what x <= n and x < n are not.
    const bool strict = less != swapped;
    const auto shift = static_cast<uint32_t>(std::countr_zero(static_cast<uint64_t>(stride)));
    const Value any = s_.emit(strict ? (is_signed ? Op::UCmpLtS32 : Op::UCmpLtU32)
                                     : (is_signed ? Op::UCmpLeS32 : Op::UCmpLeU32),
                              {base, n});
    // The last one that belongs, if any does.
    const Value room = strict ? s_.emit(Op::USub32, {distance, s_.const32(1)}) : distance;
    const Value last = s_.emit(Op::UShr32, {room, s_.const32(shift)});
    Value belong =
        s_.emit(Op::UAdd32, {s_.emit(Op::UMinU32, {last, s_.const32(count - 1)}), s_.const32(1)});
    if (by_rows) belong = both(Op::UShl32, belong, row_shift);
    const Value lanes =
        for_all_rows(s_.emit(Op::USelect64, {any, s_.emit(Op::ULowBits, {belong}), none}));
    const Value last_one =
        highest(both(Op::UAdd32, base, s_.const32(static_cast<uint32_t>((count - 1) * stride))),
                x->next, f);
    const Value result = swapped ? s_.emit(Op::UXor64, {lanes, all}) : lanes;
    extents_[result] = swapped ? Extent{both(op, n, base), both(op, n, last_one)}
                               : Extent{both(op, last_one, n), both(op, base, n)};
    return result;
}

// All bits are set, or none is.
bool Affine::need_bits(Value mask, bool all, Found& f) {
    const auto conditions = conditions_of(mask, all ? Op::UAnd64 : Op::UOr64);
    return std::ranges::all_of(conditions, [&](Value bits) {
        find_extent(bits);
        const Value number = s_.const64(all ? ~0ull : 0);
        const auto known = extents_.find(bits);
        if (known == extents_.end()) f.reach &= reach_of(bits, f);
        const Value otherwise = known == extents_.end() ? both(Op::UCmpNe64, bits, number)
                                : all ? both(Op::UXor32, known->second.all, s_.const32(1))
                                      : known->second.any;
        return need(otherwise, 0, f);
    });
}

// What a mask of bits is in most waves, as far as the one shows that is about to run the block: the
// edges of grids and images are few.
std::optional<bool> Affine::settled(Value bits, Found& f) {
    const auto now = now_ ? now_->of(block_, bits) : std::nullopt;
    if (!now || (*now && ~*now)) return {};
    return need_bits(bits, *now, f) ? std::optional(*now != 0) : std::nullopt;
}

std::optional<bool> Affine::settled(Op compare, Value x, Value y, Found& f) {
    const auto lanes = bits(s_.emit(compare, {x, y}), f);
    return lanes ? settled(*lanes, f) : std::nullopt;
}

// x & (2^k - 1) where that is x: coordinates of a grid whose ends meet, but for those at its edges.
std::optional<Line> Affine::unmasked(Value x, Value bits, Found& f) {
    const Value mask = part(bits, f)->base,
                above = both(Op::UAnd32, mask, both(Op::UAdd32, mask, s_.const32(1)));
    if (settled(Op::CmpLeU32, x, bits, f) != true || !need_once(above, 0, f)) return {};
    return part(x, f);
}

// x % n as compilers write it for an n that is the same in all lanes, where x is less than n or
// 2 n: coordinates of a grid whose ends meet. With m the reciprocal, x - mulhi(x, m) * n is x or
// x - n if m * n < 2^32, as mulhi(x, m) is at most x / n; two steps take n from what is not less.
std::optional<Line> Affine::remainder(const ir::Inst& select, Found& f) {
    // Of min(r, r - n), unsigned, that r, and n.
    using Pair = std::pair<Value, Value>;
    auto step = [&](const ir::Inst& s) -> std::optional<Pair> {
        if (s.op != Op::Select32) return {};
        const ir::Inst &mask = block_.insts[s.args[0]], &less = block_.insts[s.args[1]];
        const Value r = s.args[2], n = mask.args[0];
        if (mask.op != Op::CmpLeU32 || mask.args[1] != r || less.op != Op::Sub32 ||
            less.args[0] != r || less.args[1] != n)
            return {};
        return Pair{r, n};
    };
    // The other factor.
    auto factor = [&](const ir::Inst& product, Op op, Value known) {
        if (product.op != op) return no_value;
        return product.args[0] == known   ? product.args[1]
               : product.args[1] == known ? product.args[0]
                                          : no_value;
    };
    const auto last = step(select), first = last ? step(block_.insts[last->first]) : std::nullopt;
    if (!first || first->second != last->second) return {};
    const Value n = last->second;
    const ir::Inst rest = block_.insts[first->first];
    if (rest.op != Op::Sub32) return {};
    const Value x = rest.args[0], q = factor(block_.insts[rest.args[1]], Op::Mul32, n);
    const Value m = q == no_value ? q : factor(block_.insts[q], Op::MulHiU32, x);
    if (m == no_value) return {};
    const auto divisor = part(n, f), reciprocal = part(m, f);
    if (!divisor || !reciprocal || !divisor->flat() || !reciprocal->flat()) return {};
    const Value by = divisor->base;
    if (!need_once(both(Op::UMulHiU32, reciprocal->base, by), 0, f)) return {};
    const Reach reach = f.reach;
    if (settled(Op::CmpLtU32, x, n, f) == true) return part(x, f);
    f.reach = reach;
    const Value y = s_.emit(Op::Sub32, {x, n});
    if (!need_once(both(Op::UShr32, by, s_.const32(31)), 0, f) ||
        settled(Op::CmpLtU32, y, n, f) != true)
        return {};
    return part(y, f);
}

// The lesser or greater one of lines, as of coordinates that are kept within an image.
std::optional<Line> Affine::extreme(const ir::Inst& i, const Line& x, const Line& y, Found& f) {
    const bool is_signed = i.op == Op::MinS32 || i.op == Op::MaxS32,
               least = i.op == Op::MinS32 || i.op == Op::MinU32;
    // Magnitudes are max(-x, x): which one it is, x against 0 says.
    auto negates = [&](Value a, Value b) {
        const ir::Inst& m = block_.insts[a];
        return is_signed && m.op == Op::Sub32 && m.args[1] == b &&
               ir::in_all_lanes(block_, m.args[0]) == 0u;
    };
    Value a = i.args[0], b = i.args[1];
    if (negates(a, b)) a = s_.lane_const(0);
    if (negates(b, a)) b = s_.lane_const(0);
    const auto first = settled(is_signed ? Op::CmpLeS32 : Op::CmpLeU32, a, b, f);
    if (!first) return {};
    return *first == least ? x : y;
}

}  // namespace wj::lift
