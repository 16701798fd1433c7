// Elements of several dwords, one lane's behind the other's in memory, that need not be taken apart
// into rows of dwords.
#include <algorithm>
#include <numeric>

#include "backend_x64/schedule.h"

namespace wj::x64 {

using ir::Class;
using ir::Inst;
using ir::Op;
using ir::Type;

namespace {

// Does the same to each lane, whichever one it is.
bool is_elementwise(Op op) {
    switch (op) {
        case Op::Add64:
        case Op::Sub64:
        case Op::FAdd64:
        case Op::FMul64:
        case Op::FFma64:
            return true;
        default:
            return false;
    }
}

}  // namespace

// A load or a store whose lanes' elements of two to four dwords are a line without gaps; or a load
// that gives all lanes of a vector the same, or of pairs and those behind them.
Schedule::TupleLine Schedule::tuple_line(const Inst& i) const {
    const bool lds = i.op == Op::LoadLds;
    if ((i.op != Op::LoadGlobalS && i.op != Op::StoreGlobalS && !lds) ||
        ir::aux_access(i.aux) != ir::Access::Dwords || ir::aux_dwords(i.aux) < 2 ||
        ir::immediate(i) != static_cast<int32_t>(ir::immediate(i)))
        return TupleLine::No;
    const Inst& line = inst(ir::address_of(i));
    if (line.op != Op::Line32 || line.aux < chunk_lanes_) return TupleLine::No;
    if (lds) {
        if (ir::immediate(i) < 0 || ir::immediate(i) > 0x10000) return TupleLine::No;
        if (!line.imm && ir::aux_dwords(i.aux) != 3) return TupleLine::Same;
        return line.imm == 8 && ir::aux_dwords(i.aux) == 2 ? TupleLine::Consecutive : TupleLine::No;
    }
    const Inst& first = inst(line.args[0]);
    if (first.op != Op::Const32 || first.imm) return TupleLine::No;
    if (i.op == Op::LoadGlobalS && line.imm == 8 && ir::aux_dwords(i.aux) == 4)
        return TupleLine::Neighbours;
    return line.imm == ir::access_bytes(i) ? TupleLine::Consecutive : TupleLine::No;
}

// Of which load's dwords, all of them in order, the values are; or no_value.
Value Schedule::whole_tuple(const Value* dwords, uint32_t count) const {
    const Value load = inst(dwords[0]).args[0];
    for (uint32_t d = 0; d < count; ++d) {
        const Inst& elem = inst(dwords[d]);
        if (elem.op != Op::Elem || elem.imm != d || elem.args[0] != load) return no_value;
    }
    return ir::aux_dwords(inst(load).aux) == count ? load : no_value;
}

// Of which load's dwords, two of them from an even one on, a Pack64 is made; or no_value.
Value Schedule::half_tuple(const Inst& pack) const {
    const Inst &lo = inst(pack.args[0]), &hi = inst(pack.args[1]);
    return lo.op == Op::Elem && hi.op == Op::Elem && lo.args[0] == hi.args[0] && lo.imm % 2 == 0 &&
                   hi.imm == lo.imm + 1
               ? lo.args[0]
               : no_value;
}

bool Schedule::makes_pairs(Value load) const {
    return pairs_[load][0] != no_value || pairs_[load][1] != no_value;
}

void Schedule::find_pairs() {
    const auto n = static_cast<Value>(block_->insts.size());
    std::vector<TupleLine> tuples(n);
    bool any = false;
    for (Value v = 0; v < n; ++v) {
        tuples[v] = tuple_line(inst(v));
        any |= tuples[v] != TupleLine::No;
        if (ir::op_info(inst(v).op).cls == Class::Call) return;  // no register survives it
    }
    if (!any) return;

    // Loads all of whose dwords go into pairs, or nowhere but to memory.
    std::vector<bool> apart(n), copied(n);  // the dwords are wanted one by one; stored
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        if (i.op == Op::Elem) continue;
        if (i.op == Op::Pack64 && interleaved_[v]) {
            const Value load = half_tuple(i);
            if (load != no_value && tuples[load] != TupleLine::No &&
                (tuples[load] != TupleLine::Consecutive || ir::aux_dwords(inst(load).aux) == 2)) {
                Value& pair = pairs_[load][inst(i.args[0]).imm / 2];
                if (pair != no_value || copied[load]) apart[load] = true;
                pair = v;
                continue;
            }
        } else if (tuples[v] != TupleLine::No && i.op == Op::StoreGlobalS) {
            const Value load = whole_tuple(i.args.data() + 4, ir::aux_dwords(i.aux));
            if (load != no_value && tuples[load] == TupleLine::Consecutive) {
                if (makes_pairs(load)) apart[load] = true;
                copied[load] = true;
                continue;
            }
        }
        const bool of_pair = (i.op == Op::Lo || i.op == Op::Hi) && inst(i.args[0]).op == Op::Pack64;
        const Inst& read = of_pair ? inst(i.args[0]) : i;
        for (Value a : read.args)
            if (a != no_value && inst(a).op == Op::Elem) apart[inst(a).args[0]] = true;
    }
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        if (tuples[v] == TupleLine::No) continue;
        if (i.op != Op::StoreGlobalS) {
            if (apart[v]) pairs_[v] = {no_value, no_value};
            in_memory_order_[v] = copied[v] && !apart[v];
            for (Value pair : pairs_[v])
                if (pair != no_value) loaded_by_[pair] = v;
            continue;
        }
        const Value whole = whole_tuple(i.args.data() + 4, ir::aux_dwords(i.aux));
        if (whole != no_value) {
            in_memory_order_[v] = in_memory_order_[whole];
            continue;
        }
        const Value lo = i.args[4], hi = i.args[5], pair = inst(lo).args[0];
        if (ir::aux_dwords(i.aux) != 2 || inst(lo).op != Op::Lo || inst(hi).op != Op::Hi ||
            inst(hi).args[0] != pair || use_count_[lo] != 1 || use_count_[hi] != 1 ||
            inst(pair).op == Op::Pack64)
            continue;
        pairs_[v][0] = pair;
        fused_[lo] = fused_[hi] = 1;
    }
    order_pairs();
}

// Where nobody can tell the lanes apart from the load to the store, they stay as they are in
// memory: values that are made of each other, and of nothing else, all of them or none.
void Schedule::order_pairs() {
    const auto n = static_cast<Value>(block_->insts.size());
    std::vector<Value> leader(n);
    std::iota(leader.begin(), leader.end(), 0);
    const auto find = [&](Value v) {
        while (leader[v] != v) v = leader[v] = leader[leader[v]];
        return v;
    };
    // Of one load, if lanes' differ.
    for (Value v = 0; v < n; ++v)
        if (const auto [x, y] = pairs_[v];
            x != no_value && y != no_value && inst(ir::address_of(inst(v))).imm)
            leader[find(x)] = find(y);
    std::vector<bool> told_apart(n);
    for (Value v = 0; v < n; ++v) {
        const Inst& i = inst(v);
        const bool makes = block_->type(v) == Type::V64 && i.op != Op::Splat64;
        if (makes && !is_elementwise(i.op) && loaded_by_[v] == v) told_apart[v] = true;
        if (fused_[v] && (i.op == Op::Lo || i.op == Op::Hi)) continue;
        for (Value a : i.args) {
            if (a == no_value || block_->type(a) != Type::V64 || inst(a).op == Op::Splat64)
                continue;
            if (is_elementwise(i.op))
                leader[find(a)] = find(v);
            else
                told_apart[a] = true;
        }
    }
    std::vector<bool> ordered(n, true);  // by leader
    for (Value v = 0; v < n; ++v)
        if (told_apart[v]) ordered[find(v)] = false;
    for (Value v = 0; v < n; ++v) {
        const auto [x, y] = pairs_[v];
        if (const Value pair = x != no_value ? x : y; pair != no_value)
            in_memory_order_[v] = ordered[find(pair)];
    }
}

}  // namespace wj::x64
