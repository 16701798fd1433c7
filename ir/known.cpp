#include "ir/known.h"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "machine/wave.h"

namespace wj::ir {

bool is_lost(const Block& block, const Inst& lanes, Value live) {
    const auto inst = [&](Value v) -> const Inst& { return block.insts[v]; };
    if (lanes.op != Op::UAnd64 || inst(lanes.args[1]).op != Op::UXor64) return false;
    const Inst &before = inst(lanes.args[0]), &gone = inst(lanes.args[1]);
    return gets_mask(before.op) && before.imm == machine::exec_lo &&
           inst(gone.args[0]).op == Op::BitsOf && inst(gone.args[0]).args[0] == live &&
           inst(gone.args[1]).op == Op::Const64 && inst(gone.args[1]).imm == block.every_lane();
}

bool of_scalars(const Block& block, Value v, bool loads) {
    // Expressions share parts: each is looked at once, or once for either value of `loads`.
    std::vector<std::pair<Value, bool>> left{{v, loads}};
    std::vector<uint8_t> seen(size_t{v} + 1);
    while (!left.empty()) {
        const auto [at, may_load] = left.back();
        left.pop_back();
        const uint8_t mark = may_load ? 1 : 2;
        if (seen[at] & mark) continue;
        seen[at] |= mark;
        const Inst& i = block.insts[at];
        switch (op_info(i.op).cls) {
            case Class::GetS:
                break;
            case Class::ULoad:  // what pointers in memory lead to may be what waves store
                if (!may_load || (i.aux & of_lanes)) return false;
                left.push_back({i.args[0], false});
                break;
            case Class::Uniform:
                if (i.op == Op::RowLane || i.op == Op::WavesAhead || i.op == Op::BitsOf ||
                    i.op == Op::Guard)
                    return false;
                for (const Value a : i.args)
                    if (a != no_value) left.push_back({a, may_load});
                break;
            default:
                return false;
        }
    }
    return true;
}

uint32_t possible_bits(const Block& block, Value v, uint32_t depth) {
    const Inst& i = block.insts[v];
    if (const auto c = in_all_lanes(block, v)) return *c;
    if (i.op == Op::Elem) {
        const Inst& load = block.insts[i.args[0]];
        if (op_info(load.op).cls != Class::LaneLoad) return ~0u;
        const Access access = aux_access(load.aux);
        return access == Access::U8 ? 0xff : access == Access::U16 ? 0xffff : ~0u;
    }
    if (depth-- == 0) return ~0u;
    auto of = [&](size_t n) { return possible_bits(block, i.args[n], depth); };
    const auto count =
        i.op == Op::Shl32 || i.op == Op::Shr32 ? in_all_lanes(block, i.args[1]) : std::nullopt;
    auto up_to = [](uint64_t largest) {
        return largest > ~0u ? ~0u : static_cast<uint32_t>(std::bit_ceil(largest + 1) - 1);
    };
    switch (i.op) {
        case Op::And32:
            return of(0) & of(1);
        case Op::Or32:
        case Op::Xor32:
            return of(0) | of(1);
        case Op::Select32:
            return of(1) | of(2);
        case Op::MinU32:
            return up_to(std::min(of(0), of(1)));
        case Op::MaxU32:
            return up_to(std::max(of(0), of(1)));
        case Op::Add32:
            return up_to(uint64_t{of(0)} + of(1));
        case Op::Mul32:
            return up_to(uint64_t{of(0)} * of(1));
        case Op::Shl32:
            return count ? of(0) << (*count & 31) : ~0u;
        case Op::Shr32:
            return count ? of(0) >> (*count & 31) : up_to(of(0));
        default:
            return ~0u;
    }
}

uint32_t table_bytes(const Block& block, Access access, uint32_t dwords, Value offset) {
    const bool bytes = access == Access::U8 || access == Access::S8;
    if (!bytes && (access != Access::Dwords || dwords != 1)) return 0;
    const uint32_t bits = possible_bits(block, offset);
    if (bits >= max_table_bytes || (!bytes && bits & 3)) return 0;
    return bits + (bytes ? 1 : 4);
}

}  // namespace wj::ir
