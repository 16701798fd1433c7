#include "backend_x64/walks.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "backend_x64/memory_order.h"

namespace wj::x64 {
namespace {

using ir::Class;
using ir::Inst;
using ir::Op;
using ir::Type;
using Sum = Walks::Sum;

// By how much a value changes from an iteration to the next: modulo 2^32 or 2^64, as its type
// says. Always by the same, but it may not be known how that is made from invariant values.
struct Step {
    bool known = true;
    Sum sum;
    std::optional<int32_t> exact = {};  // of 64 bits, if `known` does not say it
    bool none() const { return known && sum.empty(); }
    std::optional<int32_t> constant() const {
        if (!known) return exact;
        if (sum.empty()) return 0;
        if (sum.size() > 1 || sum[0].times != ir::no_value) return {};
        return static_cast<int32_t>(sum[0].factor);
    }
};
using Maybe = std::optional<Step>;

constexpr Step unknown{.known = false, .sum = {}, .exact = {}};

Step exactly(int32_t by) {
    return {.known = false, .sum = {}, .exact = by};
}

// Of a value made from one with this step, by a known amount only if both stay as they are.
Step remade(const Step& x) {
    return x.none() ? x : unknown;
}

constexpr int64_t small = 1 << 20;

// Extended to 64 bits, shifted: a multiple of it, if that is small.
Step multiple(const Step& x, uint64_t by) {
    Step s = remade(x);
    if (const auto c = x.constant();
        !s.known && c && by <= small && std::abs(int64_t{*c}) <= small) {
        const int64_t product = *c * static_cast<int64_t>(by);
        if (std::abs(product) <= small) s.exact = static_cast<int32_t>(product);
    }
    return s;
}

class Finder {
public:
    Finder(const ir::Block& block, const Schedule& schedule,
           const std::optional<DivergentLoop>& divergent)
        : block_(block), schedule_(schedule), divergent_(divergent) {
        for (Value v = 0; v < block.insts.size(); ++v) {
            const Inst& i = inst(v);
            if (i.op == Op::SetV) rows_[i.imm] = rows_[i.imm] == no_value ? v : several;
            if (i.op == Op::SetS32 || i.op == Op::SetMask32)
                scalars_[i.imm] = scalars_[i.imm] == no_value ? v : several;
            if (i.op == Op::SetS64) scalars_[i.imm] = scalars_[i.imm + 1] = several;
        }
    }

    Walks find(bool stores) {
        stores_ = stores;
        Walks out;
        out.number.resize(block_.insts.size());
        for (const Value* v = schedule_.begin(1); v != schedule_.end(1); ++v) {
            const Inst& i = inst(*v);
            const Class cls = ir::op_info(i.op).cls;
            if (cls != Class::LaneLoad && !(cls == Class::LaneStore && stores_)) continue;
            if (spaces(i.op) != in_global) continue;
            const auto like = std::find_if(out.walks.begin(), out.walks.end(), [&](const auto& w) {
                const Inst& x = inst(w.first);
                return x.op == i.op && ir::access_bytes(x) == ir::access_bytes(i) &&
                       ir::address_of(x) == ir::address_of(i) && w.mask == ir::mask_of(i) &&
                       (!ir::has_scalar_base(i.op) || x.args[0] == i.args[0]);
            });
            const auto at = static_cast<size_t>(like - out.walks.begin());
            if (at < out.walks.size() || (at < Walks::most && walk(*v, out)))
                out.number[*v] = static_cast<uint8_t>(at + 1);
        }
        if (!out.walks.empty()) out.inductions = inductions();
        return out;
    }

private:
    static constexpr Value several = no_value - 1;
    static constexpr uint32_t deepest = 12;

    const Inst& inst(Value v) const { return block_.insts[v]; }
    bool is_const(Value v) const { return inst(v).op == Op::Const32 || inst(v).op == Op::Const64; }

    bool walk(Value v, Walks& out) {
        const Inst& i = inst(v);
        const Value mask = ir::mask_of(i);
        const bool all_lanes = !lanes_become_fewer(mask);
        if (all_lanes && (divergent_ || stores_)) return false;
        mask_ = all_lanes ? no_value : mask;
        limits_.clear();
        const Value address = ir::address_of(i);
        const auto moves = step(address, 0);
        if (!moves) return false;
        const bool extended = block_.type(address) == Type::V32;
        if (extended && !limit(address, *moves, false)) return false;
        const bool varies = ir::has_scalar_base(i.op) && !invariant(i.args[0]);
        out.walks.push_back({.first = v,
                             .mask = mask,
                             .all_lanes = all_lanes,
                             .base_varies = varies,
                             .step = extended ? multiple(*moves, 1).exact : moves->exact});
        if (moves->none()) out.walks.back().step = 0;
        out.walks.back().base_step = varies ? base_step(i.args[0]) : 0;
        for (auto& l : limits_) {
            l.walk = static_cast<uint32_t>(out.walks.size() - 1);
            out.limits.push_back(std::move(l));
        }
        return true;
    }

    // ---- rows

    std::vector<Walks::Induction> inductions() {
        std::vector<Value> get(512, no_value);
        for (Value v = 0; v < block_.insts.size(); ++v)
            if (inst(v).op == Op::GetV && row_set(v) != no_value && row_set(v) != several &&
                schedule_.is_full(inst(row_set(v)).args[1]))
                get[inst(v).imm] = v;
        std::vector<Walks::Induction> out;
        for (const Value low : get) {
            if (low == no_value) continue;
            const Value set = row_set(low), next = inst(set).args[0];
            const auto grows = growth(next, low);
            if (!grows) continue;
            const auto high = std::ranges::find_if(get, [&](Value h) {
                if (h == no_value || h == low) return false;
                const Inst& sum = inst(inst(row_set(h)).args[0]);
                return sum.op == Op::AddCarry32 && inst(sum.args[2]).op == Op::CmpLtU32 &&
                       is_carry(sum.args[2], next) && addend(sum, h);
            });
            if (high == get.end()) {
                out.push_back({set, no_value, *grows, {}});
                continue;
            }
            // The carry is that of one addition: of an invariant value to the row as it was.
            const Value high_set = row_set(*high);
            const auto step = addend(inst(next), low),
                       high_step = addend(inst(inst(high_set).args[0]), *high);
            if (step) out.push_back({set, high_set, *step, *high_step});
        }
        return out;
    }

    // summand(), if it is invariant.
    std::optional<Sum> addend(const Inst& sum, Value row) const {
        const Value more = summand(sum, row);
        return more == no_value ? std::nullopt : value(more);
    }

    // What the sum adds to the row's value at the iteration's beginning, or no_value.
    Value summand(const Inst& sum, Value row) const {
        if (sum.op != Op::Add32 && sum.op != Op::AddCarry32) return no_value;
        for (int n = 0; n < 2; ++n) {
            const Inst& x = inst(sum.args[n]);
            if (x.op == Op::GetV && x.imm == inst(row).imm) return sum.args[1 - n];
        }
        return no_value;
    }

    // ---- masks

    bool lanes_become_fewer(Value mask) const {
        if (schedule_.is_full(mask)) return true;
        const Inst& i = inst(mask);
        if (i.op != Op::MaskOf || !ir::gets_mask(inst(i.args[0]).op)) return false;
        // Loads of a divergent loop have masks that are zero where EXEC is: this is EXEC, and no
        // lane comes back to it (find_divergent_loop).
        return divergent_ || invariant(i.args[0]);
    }

    // All lanes whose addresses matter are in the mask.
    bool covers(Value mask) const {
        if (schedule_.is_full(mask) || mask == mask_) return true;
        if (mask_ == no_value) return false;
        return inst(mask).op == Op::MaskOf && inst(mask_).op == Op::MaskOf &&
               inst(mask).args[0] == inst(mask_).args[0];
    }

    // ---- sums

    static Sum add(Sum a, const Sum& b, bool negative = false) {
        for (const auto& t : b) {
            const uint32_t factor = negative ? 0 - t.factor : t.factor;
            const auto same =
                std::find_if(a.begin(), a.end(), [&](const auto& x) { return x.times == t.times; });
            if (same == a.end())
                a.push_back({t.times, factor});
            else
                same->factor += factor;
        }
        std::erase_if(a, [](const auto& t) { return !t.factor; });
        return a;
    }

    static Step add(const Step& a, const Step& b, bool negative = false) {
        if (a.known && b.known) return {true, add(a.sum, b.sum, negative), {}};
        const auto x = a.constant(), y = b.constant();
        Step sum = unknown;
        if (x && y && !negative && std::abs(int64_t{*x}) <= small && std::abs(int64_t{*y}) <= small)
            sum.exact = *x + *y;
        return sum;
    }

    // Of sums of 64 bits made of halves.
    static Step sum_of(const Step& a, const Step& b) {
        const Step s = add(a, b);
        return s.known ? multiple(s, 1) : s;
    }

    static Step scale(Step a, uint32_t by) {
        a.exact.reset();
        for (auto& t : a.sum) t.factor *= by;
        std::erase_if(a.sum, [](const auto& t) { return !t.factor; });
        return a;
    }

    // A uniform value that is the same in every iteration.
    bool invariant(Value u, uint32_t depth = 0) const {
        const Inst& i = inst(u);
        if (is_const(u)) return true;
        if (i.op == Op::GetS32 || i.op == Op::GetMask32) return scalars_[i.imm] == no_value;
        if (i.op == Op::GetS64)
            return scalars_[i.imm] == no_value && scalars_[i.imm + 1] == no_value;
        if (ir::op_info(i.op).cls != Class::Uniform || i.op == Op::BitsOf || depth == deepest)
            return false;
        return std::all_of(i.args.begin(), i.args.end(),
                           [&](Value a) { return a == no_value || invariant(a, depth + 1); });
    }

    // An invariant value itself, as a sum.
    std::optional<Sum> value(Value v, uint32_t depth = 0) const {
        const Inst& i = inst(v);
        if (i.op == Op::Const32)
            return i.imm ? Sum{{no_value, static_cast<uint32_t>(i.imm)}} : Sum{};
        if (i.op == Op::Splat32) return value(i.args[0], depth);
        if (i.op == Op::GetS32 && invariant(v)) return Sum{{v, 1}};
        if (depth == deepest) return {};
        const bool sum = i.op == Op::UAdd32 || i.op == Op::Add32,
                   difference = i.op == Op::USub32 || i.op == Op::Sub32;
        if (sum || difference) {
            const auto a = value(i.args[0], depth + 1), b = value(i.args[1], depth + 1);
            if (!a || !b) return {};
            return add(*a, *b, difference);
        }
        if (i.op == Op::UShl32 || i.op == Op::Shl32) {
            const auto a = value(i.args[0], depth + 1);
            const auto by = constant(i.args[1]);
            if (!a || !by) return {};
            return scale({true, *a, {}}, 1u << (*by & 31)).sum;
        }
        return {};
    }

    std::optional<uint64_t> constant(Value v) const {
        const Inst& i = inst(v);
        if (is_const(v)) return i.imm;
        if (i.op == Op::Splat32 || i.op == Op::Splat64) return constant(i.args[0]);
        return {};
    }

    // What `next`, 32 bits, has more than `now` (a register of the iteration's beginning).
    std::optional<Sum> growth(Value next, Value now, uint32_t depth = 0) const {
        const Inst &i = inst(next), &get = inst(now);
        if (i.op == get.op && i.imm == get.imm && (i.op == Op::GetV || i.op == Op::GetS32))
            return Sum{};
        if (depth == deepest) return {};
        if (i.op == Op::Splat32) return growth(i.args[0], now, depth + 1);
        if (i.op == Op::Add32 || i.op == Op::UAdd32)
            for (const bool swapped : {false, true}) {
                const auto a = growth(i.args[swapped], now, depth + 1);
                const auto b = value(i.args[!swapped]);
                if (a && b) return add(*a, *b);
            }
        if (i.op == Op::Sub32 || i.op == Op::USub32) {
            const auto a = growth(i.args[0], now, depth + 1), b = value(i.args[1]);
            if (a && b) return add(*a, *b, true);
        }
        return {};
    }

    // ---- steps

    Maybe step(Value v, uint32_t depth) {
        const Inst& i = inst(v);
        const auto& a = i.args;
        if (depth++ == deepest) return {};
        switch (i.op) {
            case Op::LaneId:
                return Step{};
            case Op::Splat32:
            case Op::Splat64:
                return uniform_step(a[0], depth);
            case Op::GetV: {
                const Value set = row_set(v);
                if (set == no_value) return Step{};
                if (set == several) return {};
                if (const auto sum = growth(inst(set).args[0], v)) return Step{true, *sum, {}};
                return {};
            }
            case Op::Add32:
            case Op::Sub32:
            case Op::Add64:
            case Op::Sub64: {
                const auto x = step(a[0], depth), y = step(a[1], depth);
                if (!x || !y) return {};
                return add(*x, *y, i.op == Op::Sub32 || i.op == Op::Sub64);
            }
            case Op::Shl32: {
                const auto x = step(a[0], depth);
                const auto by = constant(a[1]);
                if (!x || !by) return {};
                return scale(*x, 1u << (*by & 31));
            }
            case Op::Shl64: {
                const auto x = step(a[0], depth);
                const auto by = constant(a[1]);
                if (!x || !by) return {};
                return multiple(*x, 1ull << (*by & 63));
            }
            case Op::Pack64:
                return pair(a[0], a[1], depth);
            case Op::MulWideU32:
            case Op::MulWideS32: {
                const auto x = step(a[0], depth), y = step(a[1], depth);
                const bool is_signed = i.op == Op::MulWideS32;
                // The factor must be the same in all lanes.
                if (!x || !y || (!x->none() && !factor(a[1])) || (!y->none() && !factor(a[0])))
                    return {};
                if (!limit(a[0], *x, is_signed) || !limit(a[1], *y, is_signed)) return {};
                return x->none() && y->none() ? Step{} : unknown;
            }
            case Op::Lo: {  // of a sum that is not cut
                const auto x = step(a[0], depth);
                return x ? Maybe(remade(*x)) : Maybe{};
            }
            default:
                break;
        }
        // Anything else that is made of what stays as it is.
        if (ir::op_info(i.op).cls != Class::Lane) return {};
        for (Value x : a) {
            if (x == no_value) continue;
            const Type type = block_.type(x);
            if (type == Type::U32 || type == Type::U64) {
                if (!invariant(x)) return {};
                continue;
            }
            if (type != Type::V32 && type != Type::V64) return {};
            const auto s = step(x, depth);
            if (!s || !s->none()) return {};
        }
        return Step{};
    }

    Maybe uniform_step(Value u, uint32_t depth) const {
        if (invariant(u)) return Step{};
        const Inst& i = inst(u);
        if (depth == deepest) return {};
        if (i.op == Op::GetS32) {
            const Value set = scalars_[i.imm];
            if (set == several || set < u) return {};
            const auto sum = growth(inst(set).args[0], u);
            return sum ? Maybe(Step{true, *sum, {}}) : Maybe{};
        }
        if (i.op == Op::UAdd32 || i.op == Op::USub32) {
            const auto x = uniform_step(i.args[0], depth + 1),
                       y = uniform_step(i.args[1], depth + 1);
            if (!x || !y) return {};
            return add(*x, *y, i.op == Op::USub32);
        }
        if (i.op == Op::UShl32) {
            const auto x = uniform_step(i.args[0], depth + 1);
            const auto by = constant(i.args[1]);
            if (!x || !by) return {};
            return scale(*x, 1u << (*by & 31));
        }
        return {};
    }

    // Of a scalar base: where it is a constant.
    std::optional<int32_t> base_step(Value u, uint32_t depth = 0) {
        const Inst& i = inst(u);
        if (invariant(u)) return 0;
        if (depth++ == deepest) return {};
        switch (i.op) {
            case Op::UPack64:
                return stepping_pair(i.args[0], i.args[1]);
            case Op::UShl64: {
                const auto x = base_step(i.args[0], depth);
                const auto by = constant(i.args[1]);
                return x && by ? multiple(exactly(*x), 1ull << (*by & 63)).exact : std::nullopt;
            }
            case Op::UAdd64: {
                const auto x = base_step(i.args[0], depth), y = base_step(i.args[1], depth);
                return x && y ? add(exactly(*x), exactly(*y)).exact : std::nullopt;
            }
            case Op::USext32:
            case Op::UZext32: {
                // Of scalars only row loops look at limits.
                const auto x = stores_ ? uniform_step(i.args[0], depth) : Maybe{};
                if (!x || !x->constant() || inst(i.args[0]).op != Op::GetS32) return {};
                limits_.push_back({i.args[0], 0, i.op == Op::USext32, x->sum});
                return multiple(*x, 1).exact;
            }
            default:
                return {};
        }
    }

    // Two scalar registers that grow by a constant, with its carry.
    std::optional<int32_t> stepping_pair(Value lo, Value hi) const {
        const Inst &l = inst(lo), &h = inst(hi);
        if (l.op != Op::GetS32 || h.op != Op::GetS32) return {};
        const Value set = scalars_[l.imm], set_high = scalars_[h.imm];
        if (set == no_value || set == several || set < lo || set_high == no_value ||
            set_high == several || set_high < hi)
            return {};
        const Value next = inst(set).args[0];
        const auto by = growth(next, lo);
        if (!by || by->size() != 1 || (*by)[0].times != no_value) return {};
        const auto step = static_cast<int32_t>((*by)[0].factor);
        // In either order: the carry, and the upper half of the step.
        const auto is_carry_of = [&](Value v) {
            const Inst& c = inst(v);
            return c.op == Op::UCmpLtU32 && c.args[0] == next && is_summand(next, c.args[1]);
        };
        Inst sum = inst(inst(set_high).args[0]);
        if (sum.op != Op::UAdd32) return {};
        if (is_carry_of(sum.args[0])) std::swap(sum.args[0], sum.args[1]);
        if (!is_carry_of(sum.args[1])) return {};
        const auto upper = growth(sum.args[0], hi);
        const Sum wanted = step < 0 ? Sum{{no_value, ~0u}} : Sum{};
        if (upper != wanted || std::abs(int64_t{step}) > small) return {};
        return step;
    }
    bool is_summand(Value sum, Value v) const {
        const Inst& i = inst(sum);
        return i.op == Op::UAdd32 && (i.args[0] == v || i.args[1] == v);
    }

    bool factor(Value v) const { return inst(v).op == Op::Splat32 && invariant(inst(v).args[0]); }

    // What writes the row behind the reading of it; no_value: nothing does, several: unclear.
    Value row_set(Value get) const {
        const Value set = rows_[inst(get).imm];
        if (set == no_value || set == several) return set;
        return set > get && covers(inst(set).args[1]) ? set : several;
    }

    // The V32 value, which the load's address extends, stays in bounds for a number of iterations.
    bool limit(Value v, const Step& step, bool is_signed) {
        if (step.none()) return true;
        if (!step.known) return false;
        limits_.push_back({v, 0, is_signed, step.sum});
        return true;
    }

    // The carry of the addition, in the lanes that the load reads.
    bool is_carry(Value mask, Value sum) const {
        const Inst& c = inst(mask);
        if (c.op == Op::MaskAnd)
            return (covers(c.args[1]) && is_carry(c.args[0], sum)) ||
                   (covers(c.args[0]) && is_carry(c.args[1], sum));
        return ir::sum_that_carries(block_, mask) == sum;
    }

    Maybe pair(Value lo, Value hi, uint32_t depth) {
        const Inst &l = inst(lo), &h = inst(hi);
        if (depth++ == deepest) return {};
        if (l.op == Op::Lo && h.op == Op::Hi && l.args[0] == h.args[0])
            return step(l.args[0], depth);
        if (h.op == Op::AddCarry32 && is_carry(h.args[2], lo)) {
            for (const bool crossed : {false, true}) {
                const size_t before = limits_.size();
                const auto x = pair(l.args[0], h.args[crossed], depth);
                const auto y = x ? pair(l.args[1], h.args[!crossed], depth) : Maybe{};
                if (y) return sum_of(*x, *y);
                limits_.resize(before);
            }
            return {};
        }
        if (l.op == Op::GetV && h.op == Op::GetV) {
            const Value set = row_set(lo), set_high = row_set(hi);
            if (set != no_value && set != several && set_high != no_value && set_high != several) {
                const Inst &next = inst(inst(set).args[0]), &high = inst(inst(set_high).args[0]);
                if (high.op != Op::AddCarry32 || !is_carry(high.args[2], inst(set).args[0]))
                    return {};
                const Value more = summand(next, lo), more_high = summand(high, hi);
                if (more == no_value || !factor(more) || more_high == no_value ||
                    !factor(more_high))
                    return {};
                Step s = unknown;
                const auto low = constant(more), upper = constant(more_high);
                if (low && upper &&
                    static_cast<int32_t>(*upper) == static_cast<int32_t>(*low) >> 31)
                    s.exact = static_cast<int32_t>(*low);
                return s;
            }
        }
        // A pair that was shifted?
        const auto by = l.op == Op::Shl32 ? constant(l.args[1]) : std::nullopt;
        if (by && h.op == Op::Fshr32 && h.args[1] == l.args[0] && constant(h.args[2]) == 32 - *by) {
            const auto whole = pair(l.args[0], h.args[0], depth);
            return whole ? Maybe(multiple(*whole, 1ull << *by)) : Maybe{};
        }
        if (by && (h.op == Op::Shr32 || h.op == Op::Sar32) && h.args[0] == l.args[0] &&
            constant(h.args[1]) == 32 - *by) {
            const auto index = step(l.args[0], depth);
            if (!index || !limit(l.args[0], *index, h.op == Op::Sar32)) return {};
            return multiple(*index, 1ull << *by);
        }
        const auto x = step(lo, depth);
        if (!x) return {};
        // The sign of lo? Of scalars only row loops look at limits.
        if (stores_ && l.op == Op::Splat32 && h.op == Op::Splat32 &&
            inst(l.args[0]).op == Op::GetS32) {
            const Inst& sign = inst(h.args[0]);
            if (sign.op != Op::USar32 || sign.args[0] != l.args[0] ||
                constant(sign.args[1]) != uint64_t{31} || !x->known)
                return {};
            limits_.push_back({l.args[0], 0, true, x->sum});
            return multiple(*x, 1);
        }
        if (h.op == Op::Sar32 && h.args[0] == lo && constant(h.args[1]) == uint64_t{31}) {
            if (!limit(lo, *x, true)) return {};
            return multiple(*x, 1);
        }
        const auto y = step(hi, depth);
        if (!y || !y->none() || !limit(lo, *x, false)) return {};
        return multiple(*x, 1);
    }

    const ir::Block& block_;
    const Schedule& schedule_;
    const std::optional<DivergentLoop>& divergent_;
    // What writes them, if it is one operation.
    std::vector<Value> rows_ = std::vector<Value>(512, no_value),
                       scalars_ = std::vector<Value>(132, no_value);
    bool stores_ = false;
    Value mask_ = no_value;  // of the load that is looked at; no_value: all lanes
    std::vector<Walks::Limit> limits_;
};

}  // namespace

Walks find_walks(const ir::Block& block, const Schedule& schedule,
                 const std::optional<DivergentLoop>& divergent, bool stores) {
    return Finder(block, schedule, divergent).find(stores);
}

}  // namespace wj::x64
