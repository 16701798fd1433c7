// 64-bit operations whose upper halves nobody reads: compilers write v_mad_u64_u32 for 32-bit
// products and sums, too.
#include <array>
#include <optional>

#include "ir/ir.h"

namespace wj::ir {
namespace {

// The operation that makes the lower half from lower halves; Pack64 has it already.
std::optional<Op> lower_half_of(const Block& block, const Inst& i) {
    switch (i.op) {
        case Op::Add64:
            return Op::Add32;
        case Op::Sub64:
            return Op::Sub32;
        case Op::MulWideU32:
        case Op::MulWideS32:
            return Op::Mul32;
        case Op::Shl64: {
            const Inst& count = block.insts[i.args[1]];
            if (count.op != Op::Splat32) return {};
            const Inst& constant = block.insts[count.args[0]];
            if (constant.op != Op::Const32 || (constant.imm & 63) > 31) return {};
            return Op::Shl32;
        }
        case Op::Pack64:
            return Op::Pack64;
        default:
            return {};
    }
}

}  // namespace

bool narrow_pairs(Block& block) {
    const auto count = static_cast<Value>(block.insts.size());
    // By value: somebody reads the upper half, or it is not made from lower halves alone.
    std::vector<bool> whole(count);
    if (block.term.cond != no_value) whole[block.term.cond] = true;
    bool any = false;
    for (Value v = count; v-- > 0;) {
        const Inst& i = block.insts[v];
        const bool pair = block.type(v) == Type::V64;
        if (pair && !lower_half_of(block, i)) whole[v] = true;
        if (pair && !whole[v]) any = true;
        if (i.op == Op::Lo || (pair && !whole[v])) continue;
        for (Value a : i.args)
            if (a != no_value) whole[a] = true;
    }
    if (!any) return false;

    std::vector<Inst> made;
    made.reserve(count + 16);
    std::vector<Value> renamed(count, no_value), lower(count, no_value);
    auto make = [&](Op op, Value of, uint16_t guest) {
        Inst i;
        i.op = op;
        i.args[0] = of;
        i.guest = guest;
        made.push_back(i);
        return static_cast<Value>(made.size() - 1);
    };
    auto lower_half = [&](Value a, uint16_t guest) {
        if (block.type(a) != Type::V64) return renamed[a];
        if (lower[a] == no_value) {
            const Inst& pair = block.insts[a];
            lower[a] = pair.op == Op::Splat64
                           ? make(Op::Splat32, make(Op::ULo, renamed[pair.args[0]], guest), guest)
                           : make(Op::Lo, renamed[a], guest);
        }
        return lower[a];
    };
    for (Value v = 0; v < count; ++v) {
        Inst i = block.insts[v];
        const bool narrows = block.type(v) == Type::V64 && !whole[v];
        if (i.op == Op::Lo || (narrows && i.op == Op::Pack64)) {
            const Value half = lower_half(i.args[0], i.guest);
            renamed[v] = lower[v] = half;
            continue;
        }
        for (Value& a : i.args)
            if (a != no_value) a = narrows ? lower_half(a, i.guest) : renamed[a];
        if (narrows) i.op = *lower_half_of(block, block.insts[v]);
        renamed[v] = static_cast<Value>(made.size());
        if (narrows) lower[v] = renamed[v];
        made.push_back(i);
    }
    if (block.term.cond != no_value) block.term.cond = renamed[block.term.cond];
    block.insts = std::move(made);
    return true;
}

}  // namespace wj::ir
