// Loops that run while lanes are left, as LLVM writes them: a lane mask in scalar registers
// collects the lanes that have left, EXEC loses them, and each way out of the loop adds its own
// bookkeeping.
#include "lift/loop_masks.h"

namespace wj::lift {

using ir::Inst;

void LoopMasks::simplify() {
    if (!shape()) return;
    find_collector();
    const Value next = simpler(live_), bits = s_.bits_of(next);
    // Lanes that are off when the loop begins and in the collector are there when it ends; the
    // others are there as soon as they have left.
    if (off_ != no_value) {
        const Value gone = s_.emit(Op::UXor64, {bits, s_.const64(s_.block_.every_lane())});
        replace(collected_,
                s_.emit(Op::UOr64, {collected_before_, s_.emit(Op::UAnd64, {entry_, gone})}));
        s_.append(Op::GuardOff, {}, collector_, 0);
        s_.block_.guarded = true;
    }
    replace(bits_, bits);
    for (uint32_t r = 0; r < machine::exec_lo; ++r) {
        const State::Scalar s = s_.scalars_[r];
        if (s.dirty && s.pair != no_value && s.half != State::upper &&
            s_.inst(s.pair).op == Op::BitsOf)
            replace(s.pair, s_.bits_of(simpler(s_.inst(s.pair).args[0])));
    }
    assume_lanes(next);
}

bool LoopMasks::shape() {
    const Inst cond = s_.inst(term_.cond);
    uint64_t none;
    if ((cond.op != Op::UCmpEq64 && cond.op != Op::UCmpNe64) || !s_.is_const(cond.args[1], none) ||
        none)
        return false;
    bits_ = cond.args[0];
    entry_ = 0;  // State's first value
    if (s_.get_mask_bits(machine::exec_lo) != bits_ || s_.inst(bits_).op != Op::BitsOf ||
        !ir::gets_mask(s_.inst(entry_).op) || s_.inst(entry_).imm != machine::exec_lo)
        return false;
    live_ = s_.inst(bits_).args[0];
    here_ = s_.mask_of(entry_);
    return true;
}

// s[r:r+1] |= lanes that leave; EXEC &= ~s[r:r+1].
void LoopMasks::find_collector() {
    const Inst last = s_.inst(live_);
    if (last.op != Op::MaskAndNot || !s_.covers(last.args[0], here_)) return;
    Value old = no_value;
    if (!collects(last.args[1], old) || old == no_value) return;
    const Inst get = s_.inst(s_.inst(old).args[0]);
    const auto reg = static_cast<uint32_t>(get.imm);
    const State::Scalar& r = s_.scalars_[reg];
    if (!r.dirty || !s_.holds_mask(reg) || s_.inst(r.pair).op != Op::BitsOf ||
        s_.inst(r.pair).args[0] != last.args[1])
        return;
    collector_ = reg;
    collected_ = r.pair;
    collected_before_ = s_.inst(old).args[0];
    off_ = old;
}

// True when m is a register pair as it was (`old`) and lanes that are on.
bool LoopMasks::collects(Value m, Value& old) const {
    if (s_.covers(here_, m)) return true;
    const Inst i = s_.inst(m);
    if (i.op == Op::MaskOr) return collects(i.args[0], old) && collects(i.args[1], old);
    if (i.op != Op::MaskOf || old != no_value) return false;
    const Inst get = s_.inst(i.args[0]);
    if (!ir::gets_mask(get.op) || get.imm >= machine::exec_lo) return false;
    old = m;
    return true;
}

bool LoopMasks::apart(Value x, Value m) const {
    return m == off_ && off_ != no_value && s_.covers(here_, x);
}

// x & ~m
Value LoopMasks::minus(Value x, Value m) {
    if (apart(x, m)) return x;
    if (s_.covers(m, x)) return none();
    const Inst i = s_.inst(m);
    switch (i.op) {
        case Op::MaskOr:
            return minus(minus(x, i.args[0]), i.args[1]);
        case Op::MaskNot:
            return both(x, i.args[0]);
        case Op::MaskAnd:
            if (s_.covers(i.args[0], x)) return minus(x, i.args[1]);
            if (s_.covers(i.args[1], x)) return minus(x, i.args[0]);
            break;
        case Op::MaskAndNot:
            if (s_.covers(i.args[0], x)) return both(x, i.args[1]);
            break;
        default:
            break;
    }
    if (const Value not_m = opposite(i); not_m != no_value) return both(x, not_m);
    return s_.emit(Op::MaskAndNot, {x, m});
}

// x & m
Value LoopMasks::both(Value x, Value m) {
    if (apart(x, m)) return none();
    if (s_.covers(m, x)) return x;
    if (s_.covers(x, m)) return m;
    const Inst i = s_.inst(m);
    switch (i.op) {
        case Op::MaskAnd:
            return both(both(x, i.args[0]), i.args[1]);
        case Op::MaskAndNot:
            return minus(both(x, i.args[0]), i.args[1]);
        case Op::MaskOr:
            if (apart(x, i.args[0])) return both(x, i.args[1]);
            if (apart(x, i.args[1])) return both(x, i.args[0]);
            break;
        default:
            break;
    }
    return s_.emit(Op::MaskAnd, {m, x});
}

// The same mask.
Value LoopMasks::simpler(Value m, uint32_t depth) {
    if (depth-- == 0) return m;
    const Inst i = s_.inst(m);
    switch (i.op) {
        case Op::MaskAnd: {
            const bool second = i.args[1] == here_;
            return both(simpler(i.args[second], depth), i.args[!second]);
        }
        case Op::MaskAndNot:
            return minus(simpler(i.args[0], depth), i.args[1]);
        case Op::MaskOr:
            return s_.emit(Op::MaskOr, {simpler(i.args[0], depth), simpler(i.args[1], depth)});
        default:
            return m;
    }
}

// The compare that is true where this one is not, if the block has it.
Value LoopMasks::opposite(const Inst& compare) const {
    struct Pair {
        Op op, opposite;
        bool swapped;
    };
    static constexpr Pair pairs[] = {
        {Op::FCmp32, Op::FCmp32, false},    {Op::FCmp64, Op::FCmp64, false},
        {Op::CmpEq32, Op::CmpNe32, false},  {Op::CmpNe32, Op::CmpEq32, false},
        {Op::CmpLtU32, Op::CmpLeU32, true}, {Op::CmpLeU32, Op::CmpLtU32, true},
        {Op::CmpLtS32, Op::CmpLeS32, true}, {Op::CmpLeS32, Op::CmpLtS32, true},
        {Op::CmpEq64, Op::CmpNe64, false},  {Op::CmpNe64, Op::CmpEq64, false},
        {Op::CmpLtU64, Op::CmpLeU64, true}, {Op::CmpLeU64, Op::CmpLtU64, true},
        {Op::CmpLtS64, Op::CmpLeS64, true}, {Op::CmpLeS64, Op::CmpLtS64, true},
    };
    for (const Pair& p : pairs) {
        if (p.op != compare.op) continue;
        const bool real = p.op == Op::FCmp32 || p.op == Op::FCmp64;
        return s_.known(p.opposite, {compare.args[p.swapped], compare.args[!p.swapped]},
                        real ? compare.imm ^ opposite_predicate : compare.imm);
    }
    return no_value;
}

// Scalar registers that nobody reads behind the loop have to be right for the next iteration only.
void LoopMasks::assume_lanes(Value next) {
    for (uint32_t r = 0; r < machine::exec_lo; ++r) {
        State::Scalar& s = s_.scalars_[r];
        if (!s.dirty || behind_.scalars[r]) continue;
        if (s.pair == no_value) {
            s.v32 = with_lanes(s.v32, next);
            continue;
        }
        if (s.half == State::alone) {
            s.pair = with_lanes(s.pair, next);
            s.v32 = no_value;
            continue;
        }
        State::Scalar& upper = s_.scalars_[r + 1];
        if (s.half || upper.pair != s.pair || !upper.half || !upper.dirty || behind_.scalars[r + 1])
            continue;
        s.pair = upper.pair = with_lanes(s.pair, next);
        s.v32 = upper.v32 = no_value;
    }
}

// v if a lane of `next` is left: what an arm that all of these have run through gives.
Value LoopMasks::with_lanes(Value v, Value next, uint32_t depth) {
    if (depth-- == 0) return v;
    const Inst i = s_.inst(v);
    switch (i.op) {
        case Op::USelect32:
        case Op::USelect64: {
            const Inst some = s_.inst(i.args[0]);
            uint64_t none;
            const bool left = some.op == Op::UCmpNe64 && s_.is_const(some.args[1], none) && !none &&
                              s_.inst(some.args[0]).op == Op::BitsOf &&
                              s_.covers(s_.inst(some.args[0]).args[0], next);
            return left ? with_lanes(i.args[1], next, depth) : v;
        }
        case Op::UPack64:
            return s_.emit(
                i.op, {with_lanes(i.args[0], next, depth), with_lanes(i.args[1], next, depth)});
        case Op::ULo:
        case Op::UHi:
            return s_.emit(i.op, {with_lanes(i.args[0], next, depth)});
        default:
            return v;
    }
}

Value LoopMasks::none() {
    return s_.mask_of(s_.const64(0));
}

// In the scalar registers, SCC and the branch.
void LoopMasks::replace(Value old, Value now) {
    if (old == now) return;
    for (State::Scalar& r : s_.scalars_)
        if (r.pair == old) r.pair = now, r.v32 = no_value;
    auto condition = [&](Value& v) {
        if (v == no_value) return;
        const Inst i = s_.inst(v);
        if ((i.op == Op::UCmpEq64 || i.op == Op::UCmpNe64) && i.args[0] == old)
            v = s_.emit(i.op, {now, i.args[1]});
    };
    condition(s_.scc_);
    condition(term_.cond);
}

}  // namespace wj::lift
