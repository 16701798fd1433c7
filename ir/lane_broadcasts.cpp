// Scalar loads that only lanes want, and only if some lane of a mask is on: as loads of one dword
// by these lanes. Nobody waits for the mask of the whole wave then, and each chunk may go on alone.
#include <algorithm>
#include <vector>

#include "ir/ir.h"

namespace wj::ir {
namespace {

class Broadcasts {
public:
    explicit Broadcasts(Block& block) : block_(block), users_(block.insts.size()) {
        for (Value v = 0; v < block.insts.size(); ++v)
            for (Value a : used_args(inst(v)))
                if (a != no_value) users_[a].push_back(v);
        if (block.term.cond != no_value) users_[block.term.cond].push_back(no_value);
    }

    bool find() {
        bool any = false;
        for (Value v = 0; v < block_.insts.size(); ++v) {
            const Value mask = wanted_by(v);
            if (mask == no_value || !std::ranges::all_of(users_[v], [&](Value load) {
                    return load != no_value && is_for_lanes(load);
                }))
                continue;
            any = true;
            inst(v) = made(v, Op::Splat64, {inst(v).args[1]});
            for (const Value load : users_[v]) replace(load, v, mask);
        }
        return any;
    }

private:
    Inst& inst(Value v) { return block_.insts[v]; }

    Inst made(Value at, Op op, std::initializer_list<Value> args) {
        Inst i;
        i.op = op;
        i.guest = inst(at).guest;
        std::ranges::copy(args, i.args.begin());
        return i;
    }

    // The mask, if the value is an address that is another one where none of its lanes is on.
    Value wanted_by(Value v) {
        if (inst(v).op != Op::USelect64 || inst(inst(v).args[2]).op != Op::CodeAddress)
            return no_value;
        const Inst& any = inst(inst(v).args[0]);
        if (any.op != Op::UCmpNe64 || inst(any.args[0]).op != Op::BitsOf) return no_value;
        return inst(any.args[0]).args[0];
    }

    bool only_broadcast(Value v) {
        return std::ranges::all_of(
            users_[v], [&](Value u) { return u != no_value && inst(u).op == Op::Splat32; });
    }

    bool is_for_lanes(Value load) {
        if (inst(load).op == Op::ULoad32) return only_broadcast(load);
        if (inst(load).op != Op::ULoad64) return false;
        return std::ranges::all_of(users_[load], [&](Value half) {
            return half != no_value && (inst(half).op == Op::ULo || inst(half).op == Op::UHi) &&
                   only_broadcast(half);
        });
    }

    void replace(Value load, Value address, Value mask) {
        const bool pair = inst(load).op == Op::ULoad64;
        const uint64_t imm = inst(load).imm;
        inst(load) = made(load, Op::LoadGlobal, {address, mask});
        inst(load).imm = imm;
        inst(load).aux = make_aux(Access::Dwords, pair ? 2 : 1);
        auto take = [&](Value from, uint64_t dword) {
            for (const Value splat : users_[from]) {
                inst(splat) = made(splat, Op::Elem, {load});
                inst(splat).imm = dword;
            }
        };
        if (!pair) return take(load, 0);
        for (const Value half : users_[load]) {
            take(half, inst(half).op == Op::UHi);
            inst(half) = made(half, Op::Const32, {});  // that nobody reads
        }
    }

    Block& block_;
    std::vector<std::vector<Value>> users_;
};

}  // namespace

bool broadcast_by_lanes(Block& block) {
    return Broadcasts(block).find();
}

}  // namespace wj::ir
