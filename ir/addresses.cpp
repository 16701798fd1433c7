// Addresses as a uniform base plus a lane offset: what differs between lanes is then shared by
// accesses with different bases, and the 64-bit additions of each lane's address are not needed.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "ir/known.h"

namespace wj::ir {
namespace {

class Splitter {
public:
    explicit Splitter(Block& block) : block_(block) {}

    bool run() {
        if (std::ranges::none_of(block_.insts, [](const Inst& i) {
                return split_op(i.op) != Op::count_ || i.op == Op::Shl64;
            }))
            return false;
        std::vector<Inst> old;
        old.swap(block_.insts);
        block_.insts.reserve(old.size() + old.size() / 8);
        renamed_.assign(old.size(), no_value);
        std::vector<uint8_t> used(old.size());
        for (const Inst& i : old)
            for (Value arg : used_args(i))
                if (arg != no_value) used[arg] = true;
        for (Value v = 0; v < old.size(); ++v) {
            Inst i = old[v];
            for (Value& arg : used_args(i))
                if (arg != no_value) arg = renamed_[arg];
            guest_ = i.guest;
            // Atomics that are done in a loop want whole addresses.
            const bool loops = i.op == Op::AtomicGlobal && (used[v] || !is_full(block_, i.args[1]));
            if (split_op(i.op) != Op::count_ && !loops) split(i);
            if (i.op == Op::Shl64) shift(i);
            renamed_[v] = add(i);
        }
        if (block_.term.cond != no_value) block_.term.cond = renamed_[block_.term.cond];
        return true;
    }

private:
    // A lane's 64-bit value: `whole`, or two dwords.
    struct Pair {
        Value whole = no_value, lo = no_value, hi = no_value;
    };
    struct Step {
        Value base = no_value;  // U64
        Pair rest;
    };

    const Inst& inst(Value v) const { return block_.insts[v]; }
    // The access at a sum, or Op::count_.
    static Op split_op(Op op) {
        switch (op) {
            case Op::LoadGlobal:
                return Op::LoadGlobalS64;
            case Op::StoreGlobal:
                return Op::StoreGlobalS64;
            case Op::AtomicGlobal:
                return Op::AtomicGlobalS64;
            default:
                return Op::count_;
        }
    }
    Value add(const Inst& i) {
        block_.insts.push_back(i);
        return static_cast<Value>(block_.insts.size() - 1);
    }
    Value emit(Op op, std::initializer_list<Value> args, uint64_t imm = 0) {
        Inst i{.op = op, .guest = guest_, .imm = imm};
        std::copy(args.begin(), args.end(), i.args.begin());
        return add(i);
    }

    void split(Inst& i) {
        const Value mask = i.args[1];
        Pair rest = pair(i.args[0]);
        Value base = no_value;
        auto imm = static_cast<int64_t>(i.imm);
        bool changed = false;
        while (const auto step = peel(rest, mask)) {
            rest = step->rest;
            changed = true;
            if (const auto c = constant(step->base);
                c && imm + *c >= -max_offset && imm + *c <= max_offset)
                imm += *c;
            else
                base = base == no_value ? step->base : emit(Op::UAdd64, {base, step->base});
        }
        if (const Value u = uniform(rest); u != no_value) {
            if (i.op == Op::AtomicGlobal) return;
            // The same address in all lanes.
            i.args[0] = emit(Op::Splat64, {base == no_value ? u : emit(Op::UAdd64, {base, u})});
        } else if (!changed) {
            return;
        } else if (base == no_value) {
            i.args[0] = whole(rest);
        } else if (i.op == Op::LoadGlobal && rest.lo != no_value &&
                   (inst(rest.hi).op == Op::Splat32 || !possible_bits(block_, rest.hi)) &&
                   table_bytes(block_, aux_access(i.aux), aux_dwords(i.aux), rest.lo)) {
            i.op = Op::LoadGlobalS;
            i.args[0] = possible_bits(block_, rest.hi)
                            ? with_upper_half(base, inst(rest.hi).args[0])
                            : base;
            i.args[1] = rest.lo;
            i.args[2] = mask;
        } else {
            i.op = split_op(i.op);
            i.args[0] = base;
            i.args[1] = whole(rest);
            i.args[2] = mask;
        }
        i.imm = static_cast<uint64_t>(imm);
    }

    // base + (upper << 32)
    Value with_upper_half(Value base, Value upper) {
        const Inst& b = inst(base);
        if (b.op == Op::UPack64 && inst(b.args[1]).op == Op::Const32 && !inst(b.args[1]).imm)
            return halves(b.args[0], upper);
        if (b.op == Op::UZext32) return halves(b.args[0], upper);
        const Value zero = emit(Op::Const32, {});
        return emit(Op::UAdd64, {base, halves(zero, upper)});
    }

    // An index times the size of an element, dword by dword: what uses it wants dwords, mostly. The
    // upper ones of an extended index are shifted out of it.
    void shift(Inst& i) {
        const Inst& x = inst(i.args[0]);
        const uint32_t count = in_all_lanes(block_, i.args[1]).value_or(0);
        if (x.op != Op::Pack64 || !count || count >= 32) return;
        const Value lo = x.args[0], hi = x.args[1];
        const Value rest = emit(Op::Splat32, {emit(Op::Const32, {}, 32 - count)});
        const Inst& h = inst(hi);
        Value upper;
        if (in_all_lanes(block_, hi) == 0u)
            upper = emit(Op::Shr32, {lo, rest});
        else if (h.op == Op::Sar32 && h.args[0] == lo && in_all_lanes(block_, h.args[1]) == 31u)
            upper = emit(Op::Sar32, {lo, rest});
        else
            upper = emit(Op::Fshr32, {hi, lo, rest});
        const Value lower = emit(Op::Shl32, {lo, i.args[1]});
        i = {.op = Op::Pack64, .guest = i.guest};
        i.args[0] = lower;
        i.args[1] = upper;
    }

    Pair pair(Value v) const {
        const Inst& i = inst(v);
        return i.op == Op::Pack64 ? two(i.args[0], i.args[1]) : Pair{.whole = v};
    }
    Pair two(Value lo, Value hi) const {
        if (inst(lo).op == Op::Lo && inst(hi).op == Op::Hi && inst(lo).args[0] == inst(hi).args[0])
            return pair(inst(lo).args[0]);
        return {.lo = lo, .hi = hi};
    }
    Value whole(const Pair& p) {
        if (p.whole != no_value) return p.whole;
        Value& known = packed_.try_emplace({p.lo, p.hi}, no_value).first->second;
        if (known == no_value) known = emit(Op::Pack64, {p.lo, p.hi});
        return known;
    }

    // The value as one uniform one, or no_value.
    Value uniform(const Pair& p) {
        if (p.whole != no_value)
            return inst(p.whole).op == Op::Splat64 ? inst(p.whole).args[0] : no_value;
        if (inst(p.lo).op != Op::Splat32 || inst(p.hi).op != Op::Splat32) return no_value;
        return halves(inst(p.lo).args[0], inst(p.hi).args[0]);
    }
    Value halves(Value lo, Value hi) {
        const Inst &l = inst(lo), &h = inst(hi);
        if (l.op == Op::ULo && h.op == Op::UHi && l.args[0] == h.args[0]) return l.args[0];
        const uint64_t bits = static_cast<uint32_t>(l.imm) | h.imm << 32;
        const bool constants = l.op == Op::Const32 && h.op == Op::Const32;
        Value& known = halves_.try_emplace({lo, hi}, no_value).first->second;
        if (known == no_value)
            known = constants ? emit(Op::Const64, {}, bits) : emit(Op::UPack64, {lo, hi});
        return known;
    }
    std::optional<int64_t> constant(Value v) const {
        if (inst(v).op != Op::Const64) return {};
        return static_cast<int64_t>(inst(v).imm);
    }

    // Takes a uniform summand off.
    std::optional<Step> peel(const Pair& p, Value mask) {
        if (p.whole != no_value) {
            const Inst& sum = inst(p.whole);
            if (sum.op != Op::Add64) return {};
            for (uint32_t n = 0; n < 2; ++n)
                if (inst(sum.args[n]).op == Op::Splat64)
                    return Step{inst(sum.args[n]).args[0], pair(sum.args[1 - n])};
            return {};
        }
        const Inst &lo = inst(p.lo), &hi = inst(p.hi);
        if (lo.op != Op::Add32 || hi.op != Op::AddCarry32) return {};
        // The carry may have been masked as the access is: other lanes do not matter.
        const Inst* carry = &inst(hi.args[2]);
        if (carry->op == Op::MaskAnd) {
            if (carry->args[1] != mask && carry->args[0] != mask) return {};
            carry = &inst(carry->args[carry->args[1] == mask ? 0 : 1]);
        }
        if (carry->op != Op::CmpLtU32 || carry->args[0] != p.lo ||
            (carry->args[1] != lo.args[0] && carry->args[1] != lo.args[1]))
            return {};
        for (uint32_t n = 0; n < 2; ++n)
            for (uint32_t m = 0; m < 2; ++m) {
                const Inst &l = inst(lo.args[n]), &h = inst(hi.args[m]);
                if (l.op != Op::Splat32 || h.op != Op::Splat32) continue;
                const Value low = l.args[0], high = h.args[0];
                const Pair rest = two(lo.args[1 - n], hi.args[1 - m]);
                return Step{halves(low, high), rest};
            }
        return {};
    }

    static constexpr int64_t max_offset = 1 << 30;

    Block& block_;
    uint16_t guest_ = 0;
    std::vector<Value> renamed_;
    std::map<std::pair<Value, Value>, Value> packed_, halves_;
};

}  // namespace

bool split_addresses(Block& block) {
    return Splitter(block).run();
}

}  // namespace wj::ir
