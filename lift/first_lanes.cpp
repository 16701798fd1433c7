// Blocks for waves of which the first lanes only are on (ir::Block::lanes): what has others, or
// asks for them, is lifted for all lanes instead.
#include <algorithm>

#include "lift/lifter.h"

namespace wj::lift {
namespace {

constexpr uint32_t deepest = 8;

// Whether a mask, or its bits, have none of the other lanes. What compares say of lanes that are
// off is not known to the block, which makes no bits of it.
bool within(const ir::Block& block, Value v, uint32_t depth = deepest) {
    const ir::Inst& i = block.insts[v];
    auto of = [&](int arg) {
        return depth && within(block, i.args[static_cast<size_t>(arg)], depth - 1);
    };
    switch (i.op) {
        case Op::Const64:
            return !(i.imm & ~block.whole_exec());
        case Op::MaskOf:
        case Op::BitsOf:
        case Op::MaskAndNot:
            return of(0);
        case Op::MaskAnd:
        case Op::UAnd64:
            return of(0) || of(1);
        case Op::MaskOr:
        case Op::MaskXor:
        case Op::UOr64:
        case Op::UXor64:
            return of(0) && of(1);
        case Op::USelect64:
            return of(1) && of(2);
        case Op::MaskNot:
            return false;
        default:
            return block.type(v) == ir::Type::M;  // compares
    }
}

}  // namespace

bool has_first_lanes_only(const ir::Block& block, Value mask) {
    return block.lanes == block.wave_size || within(block, mask);
}

bool Lifter::keeps_lanes() {
    if (block.lanes == block.wave_size) return true;
    // Lanes that are asked for by number, or written: what writes the row later would be taken for
    // all of it.
    for (; looked_at_ < block.insts.size(); ++looked_at_) {
        const Op op = block.insts[looked_at_].op;
        if (ir::op_info(op).cls == ir::Class::Cross && op != Op::ReadFirst && op != Op::BitsOf)
            return false;
    }
    const uint64_t lanes = block.whole_exec();
    const Value exec = s.get_mask_bits(machine::exec_lo);
    if (within(block, exec)) return true;
    // Lanes come back from a register that was written in another block.
    const ir::Inst either = s.inst(exec);
    if (either.op != Op::UOr64) return false;
    for (int n : {0, 1}) {
        const Value saved = either.args[static_cast<size_t>(n)],
                    now = either.args[static_cast<size_t>(1 - n)];
        uint64_t on;
        if (!ir::gets_mask(s.inst(saved).op) || !s.is_const(now, on) || on != lanes) continue;
        auto at_most = [&](uint64_t half, uint64_t most) {
            const Value dword = emit(Op::GetS32, {}, s.inst(saved).imm + half);
            return s.in_bounds(s.splat(dword), 0, static_cast<uint32_t>(most));
        };
        if ((s.inst(saved).op == Op::GetS64 && !at_most(1, lanes >> 32)) ||
            !at_most(0, lanes & 0xffffffff))
            return false;
        s.set_mask_bits(machine::exec_lo, s.const64(lanes));
        return true;
    }
    return false;
}

// Of the whole block: masks that become scalars.
bool Lifter::concerns_first_lanes() const {
    return std::ranges::none_of(block.insts, [this](const ir::Inst& i) {
        return i.op == Op::BitsOf && !has_first_lanes_only(block, i.args[0]);
    });
}

}  // namespace wj::lift
