#include "ir/entry_values.h"

#include "ir/pure.h"

namespace wj::ir {

std::optional<uint64_t> EntryValues::of(const Block& block, Value v) {
    if (known_.size() < block.insts.size()) known_.resize(block.insts.size());
    if (!known_[v]) known_[v] = compute(block, block.insts[v]);
    return *known_[v];
}

std::optional<uint64_t> EntryValues::compute(const Block& block, const Inst& i) {
    uint64_t x[3] = {};
    for (size_t a = 0; a < 3; ++a) {
        if (i.args[a] == no_value) continue;
        const auto value = of(block, i.args[a]);
        if (!value) return {};
        x[a] = *value;
    }
    switch (i.op) {
        case Op::Const32:
        case Op::Const64:
        case Op::CodeAddress:
            return i.imm;
        case Op::GetS32:
        case Op::GetMask32:
            return wave_.sgpr[i.imm];
        case Op::GetS64:
            return wave_.s64(static_cast<uint32_t>(i.imm));
        case Op::GetScc:
            return wave_.scc;
        case Op::ScratchBase:
            return wave_.scratch_base;
        case Op::RowLane:
            return i.imm < wave_.vgpr_count
                       ? std::optional(uint64_t{wave_.vgpr[i.imm * machine::lanes + i.aux]})
                       : std::nullopt;
        case Op::ULoad32:
        case Op::ULoad64:
            return read_(x[0] + i.imm, i.op == Op::ULoad32 ? 4 : 8);
        case Op::WavesAhead:
            return 0;
        case Op::BitsOf:
        case Op::GoesOn:
        case Op::Guard:
        case Op::GuardRow:
        case Op::GuardLds:
        case Op::BufferBase:
        case Op::BufferLimit:
            return {};
        default:
            return op_info(i.op).cls == Class::Uniform ? std::optional(pure(i, x[0], x[1], x[2]))
                                                       : std::nullopt;
    }
}

}  // namespace wj::ir
