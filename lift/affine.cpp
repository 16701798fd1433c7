#include "lift/affine.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "ir/known.h"
#include "machine/wave.h"

namespace wj::lift {

using Line = Affine::Line;

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
            if (mask.op == Op::CmpLeU32) return remainder(i, f);
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
            if (!x->flat() && !y->flat()) return {};
            if (const auto z = x->flat() ? masked_by(*y, x->base, f) : masked_by(*x, y->base, f))
                return z;
            return x->flat() ? unmasked(a[1], a[0], f) : unmasked(a[0], a[1], f);
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
