#include "lift/affine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ir/known.h"
#include "machine/wave.h"

namespace wj::lift {

using Line = Affine::Line;

namespace {

// Wider strides are no use: nobody's neighbours are so far apart.
constexpr int64_t most32 = int64_t{1} << 24, most64 = int64_t{1} << 57;

}  // namespace

// ---- values
// ----------------------------------------------------------------------------------------------

std::optional<uint64_t> Affine::constant(Value v) const {
    uint64_t c;
    if (!s_.is_const(v, c)) return {};
    return c;
}

std::optional<uint64_t> Affine::constant(const Line& line) const {
    return line.flat() ? constant(line.base) : std::nullopt;
}

// A constant as wide as `like`.
Value Affine::number(Value like, int64_t n) {
    return block_.type(like) == ir::Type::U64 ? s_.const64(static_cast<uint64_t>(n))
                                              : s_.const32(static_cast<uint32_t>(n));
}

// An upper bound of a U32 value.
uint32_t Affine::largest(Value v, uint32_t depth) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op == Op::Const32) return static_cast<uint32_t>(i.imm);
    if (depth-- == 0) return ~0u;
    auto of = [&](int n) { return uint64_t{largest(i.args[n], depth)}; };
    uint64_t bound = ~0u;
    switch (i.op) {
        case Op::UAnd32:
        case Op::UMinU32:
            bound = std::min(of(0), of(1));
            break;
        case Op::UAdd32:
            bound = of(0) + of(1);
            break;
        case Op::UMul32:
            bound = of(0) * of(1);
            break;
        case Op::UShl32:
            if (const auto n = constant(i.args[1])) bound = of(0) << (*n & 31);
            break;
        case Op::UShr32:
            if (const auto n = constant(i.args[1])) bound = of(0) >> (*n & 31);
            break;
        case Op::UHi: {  // of a dword, shifted
            const ir::Inst& x = block_.insts[i.args[0]];
            const auto n = x.op == Op::UShl64 ? constant(x.args[1]) : std::nullopt;
            if (n && *n < 32 && block_.insts[x.args[0]].op == Op::UZext32)
                bound = uint64_t{largest(block_.insts[x.args[0]].args[0], depth)} << *n >> 32;
            break;
        }
        default:
            break;
    }
    return static_cast<uint32_t>(std::min<uint64_t>(bound, ~0u));
}

// Low bits of a U32 value that are known to be 0.
uint32_t Affine::zeros(Value v, uint32_t depth) const {
    const ir::Inst& i = block_.insts[v];
    if (i.op == Op::Const32) return static_cast<uint32_t>(std::countr_zero(i.imm | 1ull << 32));
    if (depth-- == 0) return 0;
    auto of = [&](int n) { return zeros(i.args[n], depth); };
    switch (i.op) {
        case Op::UAnd32:
            return std::max(of(0), of(1));
        case Op::UAdd32:
        case Op::USub32:
        case Op::UOr32:
            return std::min(of(0), of(1));
        case Op::UMul32:
            return std::min(of(0) + of(1), 32u);
        case Op::UShl32:
            if (const auto n = constant(i.args[1]))
                return std::min(of(0) + static_cast<uint32_t>(*n & 31), 32u);
            return 0;
        default:
            return 0;
    }
}

// The same of all values of a line.
uint32_t Affine::zeros(const Line& x) const {
    const auto stride = static_cast<uint32_t>(x.stride);
    return std::min({zeros(x.base), zeros(x.step),
                     static_cast<uint32_t>(std::countr_zero(stride | 1ull << 32))});
}

// Known at the block's beginning: made of scalar registers and of memory that nothing has been
// stored to, so that the scheduler puts it into the first segment.
bool Affine::early(Value v) {
    for (Value n = static_cast<Value>(early_.size()); n < block_.insts.size(); ++n) {
        const ir::Inst& i = block_.insts[n];
        bool known = false;
        switch (ir::op_info(i.op).cls) {
            case ir::Class::GetS:
                known = true;
                break;
            case ir::Class::ULoad:
                known = !stored_ && early_[i.args[0]];
                break;
            case ir::Class::Uniform:
                known = true;
                for (Value a : i.args) known &= a == no_value || early_[a];
                break;
            case ir::Class::LaneStore:
            case ir::Class::LaneAtomic:
            case ir::Class::Call:
                stored_ = true;
                break;
            default:
                break;
        }
        early_.push_back(known);
    }
    return early_[v];
}

// ---- lines from lines
// ----------------------------------------------------------------------------------------------

Line Affine::line(Value base, int64_t stride, Value step, uint32_t width, const Motion& next) {
    if (width != machine::lanes && number(base, stride * width) == step) width = machine::lanes;
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
    if (width < 2 || width >= machine::lanes) return x;
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
    const auto extent = static_cast<uint64_t>(x.stride) * (x.width - 1);
    const auto differ = static_cast<uint32_t>((uint64_t{1} << std::bit_width(extent)) - 1);
    const Value some = both(Op::UAnd32, bits, s_.const32(differ)),
                others = both(Op::UXor32, some, s_.const32(differ));
    if (!need_once(both(Op::UAnd32, x.base, s_.const32(differ)),
                   differ - static_cast<uint32_t>(extent), f))
        return {};
    const Value base = both(Op::UAnd32, x.base, bits);
    if (need_once(others, 0, f)) return line(base, x.stride, no_value, x.width, {});
    if (need_once(some, 0, f)) return flat(base, {});
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

// ---- lines of values
// ----------------------------------------------------------------------------------------------

const Affine::Found& Affine::find(Value v) {
    if (const auto it = found_.find(v); it != found_.end()) return it->second;
    Found f;
    f.line = block_.type(v) == ir::Type::V64 ? compute64(v, f) : compute(v, f);
    if (f.line && (std::abs(f.line->stride) > (block_.type(v) == ir::Type::V64 ? most64 : most32) ||
                   (f.line->width < ir::RowLine::least_width && f.line->width > 1 &&
                    !constant(f.line->step))))
        f.line.reset();
    return found_.emplace(v, std::move(f)).first->second;
}

std::optional<Line> Affine::part(Value v, Found& f) {
    const Found& of = find(v);
    if (of.line) f.from.push_back(v);
    return of.line;
}

std::optional<Line> Affine::read_row(uint32_t row, Found& f) {
    if (row < 256) f.row = rows_(row);
    if (!f.row || (f.row->width < ir::RowLine::least_width && f.row->any_step)) return {};
    const Value first = s_.emit(Op::RowLane, {}, row);
    const Value step = f.row->any_step
                           ? both(Op::USub32, s_.emit(Op::RowLane, {}, row, f.row->width), first)
                           : s_.const32(f.row->step);
    Motion next;
    if (next_.waves) next = {s_.const32(row == 0 ? next_.ids_step : 0), s_.const32(0)};
    return line(first, f.row->stride, step, f.row->width, next);
}

std::optional<Line> Affine::low_half(Value v, Found& f) {
    // The lower half of sums and products is that of the lower halves. The others are often what
    // nobody has written: v_mad_u64_u32 as a 32-bit multiply-add.
    const ir::Inst i = block_.insts[v];
    if (i.op == Op::Add64 || i.op == Op::Sub64) {
        const auto x = part(s_.emit(Op::Lo, {i.args[0]}), f),
                   y = part(s_.emit(Op::Lo, {i.args[1]}), f);
        if (x && y)
            if (const auto z = sum(*x, *y, i.op == Op::Sub64)) return z;
    }
    if (i.op == Op::MulWideU32 || i.op == Op::MulWideS32) {
        const auto x = part(i.args[0], f), y = part(i.args[1], f);
        if (x && y)
            if (const auto z = product(*x, *y, f)) return z;
    }
    if (const auto x = part(v, f))
        return line(s_.emit(Op::ULo, {x->base}), static_cast<int32_t>(x->stride),
                    s_.emit(Op::ULo, {x->step}), x->width,
                    each(x->next, [&](Value d) { return s_.emit(Op::ULo, {d}); }));
    return {};
}

std::optional<Line> Affine::high_half(Value v, Found& f) {
    const auto x = part(v, f);
    if (!x) return {};
    const Value high = s_.emit(Op::UHi, {x->base}), low_step = s_.emit(Op::ULo, {x->step}),
                high_step = s_.emit(Op::UHi, {x->step});
    if (!(x->stride & 0xffffffff) && is_zero(low_step))
        return line(high, x->stride >> 32, high_step, x->width, upper_half(x->next));
    const Motion low_next = each(x->next, [&](Value d) {
        const auto c = constant(d);
        const bool small =
            c ? *c <= static_cast<uint64_t>(most32) : need_once(s_.emit(Op::UHi, {d}), 0, f);
        return small ? s_.emit(Op::ULo, {d}) : no_value;
    });
    if (x->stride > most32 || !need_small(x->step, f) ||
        !no_wrap({s_.emit(Op::ULo, {x->base}), x->stride, low_step, x->width, low_next}, f))
        return {};
    return flat(high, each(low_next, [&](Value) { return s_.const32(0); }));
}

// A dword that all lanes load from the same address, as a scalar: before anything is stored, and
// not in front of a load that others are to wait for.
std::optional<Line> Affine::loaded_once(Value elem, Found& f) {
    const ir::Inst of = block_.insts[elem], load = block_.insts[of.args[0]];
    if (load.op != Op::LoadGlobal || block_.loads_in_order ||
        ir::aux_access(load.aux) != ir::Access::Dwords || !s_.is_full(ir::mask_of(load)))
        return {};
    const ir::Inst at = block_.insts[ir::address_of(load)];
    if (at.op != Op::Splat64) return {};
    const Value dword = s_.emit(Op::ULoad32, {at.args[0]}, load.imm + 4 * of.imm, ir::of_lanes);
    block_.insts[dword].guest = load.guest;  // that faults
    if (!early(dword)) return {};
    return flat(dword, of_scalar(dword, f));
}

// One of two scalars, by a condition of scalars: where nobody can say what the next wave has, as
// with what lanes load, that is better than a guard for what this one has.
std::optional<Line> Affine::chosen(Value bits, Value if_set, Value if_clear, Found& f) {
    const ir::Inst select = block_.insts[bits];
    if (!is_all_or_none(select)) return {};
    const auto x = part(if_set, f), y = part(if_clear, f);
    if (!x || !y || !x->flat() || !y->flat()) return {};
    const ir::Inst condition = block_.insts[select.args[0]];
    const bool known = x->next.wave != no_value && y->next.wave != no_value &&
                       std::ranges::all_of(ir::used_args(condition), [&](Value v) {
                           return v == no_value || of_scalar(v, f).wave != no_value;
                       });
    if (known) return {};
    return flat(s_.emit(Op::USelect32, {select.args[0], x->base, y->base}), Motion{});
}

std::optional<Line> Affine::compute(Value v, Found& f) {
    const ir::Inst i = block_.insts[v];  // a copy: the vector grows
    const auto& a = i.args;
    switch (i.op) {
        case Op::GetV:
            return read_row(static_cast<uint32_t>(i.imm), f);
        case Op::LaneId:
            return line(s_.const32(0), 1, no_value, machine::lanes, still(s_.const32(0)));
        case Op::Splat32:
            return flat(a[0], of_scalar(a[0], f));
        case Op::Lo:
            return low_half(a[0], f);
        case Op::Hi:
            return high_half(a[0], f);
        case Op::Elem:
            return loaded_once(v, f);
        case Op::AddCarry32: {
            const auto x = part(a[0], f), y = part(a[1], f);
            if (!x || !y) return {};
            const Value c = carry(a[2], f);
            if (c == no_value) return {};
            const auto without = sum(*x, *y);
            return without ? sum(*without, flat(c, constant(c) ? still(c) : Motion{}))
                           : std::nullopt;
        }
        case Op::Select32: {
            const ir::Inst mask = block_.insts[a[0]];
            if (mask.op != Op::MaskOf) return {};
            if (const auto x = chosen(mask.args[0], a[1], a[2], f)) return x;
            const auto first = settled(mask.args[0], f);
            return first ? part(a[*first ? 1 : 2], f) : std::nullopt;
        }
        case Op::Add32:
        case Op::Sub32:
        case Op::Mul32:
        case Op::MulHiU32:
        case Op::MulHiS32:
        case Op::And32:
        case Op::Or32:
        case Op::Xor32:
        case Op::Shl32:
        case Op::Shr32:
        case Op::Sar32:
        case Op::MinU32:
        case Op::MaxU32:
        case Op::MinS32:
        case Op::MaxS32:
            break;
        default:
            return {};
    }
    const auto x = part(a[0], f), y = part(a[1], f);
    if (!x || !y) return {};
    if (i.op == Op::Add32 || i.op == Op::Sub32) return sum(*x, *y, i.op == Op::Sub32);
    const auto c = constant(*y);
    const auto n = static_cast<uint32_t>(c.value_or(0) & 31);
    if (x->flat() && y->flat()) {
        std::optional<Line> moving;
        if (i.op == Op::Mul32 && (moves(x->next) || moves(y->next)))
            moving = product(*x, *y, f);
        else if (c && moves(x->next))
            moving = i.op == Op::Shl32               ? shifted_up(*x, n)
                     : i.op == Op::Shr32             ? shifted_down(*x, n, false, f)
                     : i.op == Op::Sar32             ? shifted_down(*x, n, true, f)
                     : i.op == Op::And32             ? masked(*x, static_cast<uint32_t>(*c), f)
                     : i.op == Op::Xor32 && c == ~0u ? sum(*y, *x, true)
                                                     : std::nullopt;
        if (moving) return moving;
        Motion next = unmoved(*x, *y);
        if (i.op == Op::And32 && next.wave == no_value)
            next = moves(y->next) ? of_masked(*y, *x, f) : of_masked(*x, *y, f);
        return flat(both(State::uniform_of(i.op), x->base, y->base), next);
    }
    switch (i.op) {
        case Op::Mul32:
            return product(*x, *y, f);
        case Op::Xor32:  // ~x = -1 - x
            if (c == ~0u) return sum(*y, *x, true);
            if (constant(*x) == ~0u) return sum(*x, *y, true);
            return either(*x, *y, f);
        case Op::Or32:
            return either(*x, *y, f);
        case Op::And32:
            if (c) return masked(*x, static_cast<uint32_t>(*c), f);
            if (const auto left = constant(*x)) return masked(*y, static_cast<uint32_t>(*left), f);
            if (x->flat()) return masked_by(*y, x->base, f);
            if (y->flat()) return masked_by(*x, y->base, f);
            return {};
        case Op::MinU32:
        case Op::MaxU32:
        case Op::MinS32:
        case Op::MaxS32:
            return extreme(i, *x, *y, f);
        case Op::Shl32:
            if (!c || n > 24) return {};
            return shifted_up(*x, n);
        case Op::Shr32:
        case Op::Sar32:
            if (!c) return {};
            return shifted_down(*x, n, i.op == Op::Sar32, f);
        default:
            return {};
    }
}

// lo and hi as a sum or difference of pairs: the second operation takes the carry of the first.
std::optional<Line> Affine::sum_of_pairs(Value lo, Value hi, Found& f) {
    const ir::Inst l = block_.insts[lo], h = block_.insts[hi];
    if (l.op == Op::Sub32 && h.op == Op::SubBorrow32) {
        const ir::Inst& borrow = block_.insts[h.args[2]];
        if (borrow.op != Op::CmpLtU32 || borrow.args[0] != l.args[0] || borrow.args[1] != l.args[1])
            return {};
        const auto x = part(s_.pack(l.args[0], h.args[0]), f),
                   y = part(s_.pack(l.args[1], h.args[1]), f);
        return x && y ? sum(*x, *y, true) : std::nullopt;
    }
    if (h.op != Op::AddCarry32 || ir::sum_that_carries(block_, h.args[2]) != lo) return {};
    // Which upper half belongs to which lower one does not matter but to who may find a line, and
    // how it goes on; halves that were made together do not have to be looked at one by one.
    const auto made_together = [&](Value low, Value high) {
        const ir::Inst pair = block_.insts[s_.pack(low, high)], &h = block_.insts[high];
        return pair.op != Op::Pack64 ||
               (h.op == Op::AddCarry32 && ir::sum_that_carries(block_, h.args[2]) == low);
    };
    const auto together = [&](bool crossed) {
        return made_together(l.args[0], h.args[crossed]) +
               made_together(l.args[1], h.args[!crossed]);
    };
    const bool likely = together(true) > together(false);
    std::optional<Line> found;
    Found found_by;
    for (const bool crossed : {likely, !likely}) {
        Found by;
        const auto x = part(s_.pack(l.args[0], h.args[crossed]), by),
                   y = part(s_.pack(l.args[1], h.args[!crossed]), by);
        const auto whole = x && y ? sum(*x, *y) : std::nullopt;
        if (!whole) continue;
        const bool goes_on = !next_.waves || whole->next.wave != no_value;
        if (!found || goes_on) found = whole, found_by = std::move(by);
        if (goes_on) break;
    }
    f.from.insert(f.from.end(), found_by.from.begin(), found_by.from.end());
    return found;
}

std::optional<Line> Affine::compute64(Value v, Found& f) {
    const ir::Inst i = block_.insts[v];
    const auto& a = i.args;
    if (i.op == Op::Pack64)
        if (const auto sum = sum_of_pairs(a[0], a[1], f)) return sum;
    switch (i.op) {
        case Op::Splat64:
            return flat(a[0], of_scalar(a[0], f));
        case Op::Pack64:
        case Op::Add64:
        case Op::Sub64:
        case Op::Shl64:
        case Op::Shr64:
        case Op::Sar64:
        case Op::MulWideU32:
        case Op::MulWideS32:
            break;
        default:
            return {};
    }
    const auto x = part(a[0], f), y = part(a[1], f);
    if (!x || !y) return {};
    switch (i.op) {
        case Op::Pack64: {
            const Value base = both(Op::UPack64, x->base, y->base), none = s_.const32(0);
            if (!x->flat() && !y->flat()) return {};
            if ((!x->flat() || moves(x->next)) && !no_wrap(*x, f)) return {};
            const Motion next =
                each(extended(x->next),
                     each(y->next, [&](Value d) { return both(Op::UPack64, none, d); }),
                     [&](Value dx, Value dy) { return both(Op::UAdd64, dx, dy); });
            if (x->flat())
                return line(base, y->stride * (int64_t{1} << 32), both(Op::UPack64, none, y->step),
                            y->width, next);
            return line(base, x->stride, both(Op::UPack64, x->step, none), x->width, next);
        }
        case Op::Add64:
        case Op::Sub64:
            return sum(*x, *y, i.op == Op::Sub64);
        case Op::MulWideU32:
        case Op::MulWideS32:
            return wide_product(*x, *y, i.op == Op::MulWideS32, f);
        default:
            break;
    }
    // Shifts
    const auto c = constant(*y);
    const bool are_flat = x->flat() && y->flat();
    auto without_motion = [&]() -> std::optional<Line> {
        if (!are_flat) return {};
        return flat(both(State::uniform_of(i.op), x->base, y->base), unmoved(*x, *y));
    };
    if (!c || (are_flat && !moves(x->next))) return without_motion();
    const auto n = static_cast<uint32_t>(*c & 63);
    if (i.op == Op::Shl64) {
        if (std::abs(x->stride) > most64 >> n) return {};
        return line(both(Op::UShl64, x->base, y->base), x->stride * (int64_t{1} << n),
                    both(Op::UShl64, x->step, y->base), x->width,
                    each(x->next, [&](Value d) { return both(Op::UShl64, d, y->base); }));
    }
    // An index in the upper half, shifted down to a scaled 64-bit one.
    const Motion high_next = upper_half(x->next);
    if (n > 32 || (x->stride & 0xffffffff) || !is_zero(s_.emit(Op::ULo, {x->step})) ||
        !at_most({s_.emit(Op::UHi, {x->base}), x->stride >> 32, s_.emit(Op::UHi, {x->step}),
                  x->width, high_next},
                 i.op == Op::Sar64 ? 0x7fffffff : ~0u, f))
        return without_motion();
    const Value none = s_.const32(0);
    return line(both(State::uniform_of(i.op), x->base, y->base), x->stride >> n,
                both(Op::UShr64, x->step, y->base), x->width, each(high_next, [&](Value d) {
                    return both(Op::USar64, both(Op::UPack64, none, d), y->base);
                }));
}

}  // namespace wj::lift
