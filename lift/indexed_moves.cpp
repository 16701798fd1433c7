// Elements of arrays in registers: LLVM makes `s_set_gpr_idx_on s0, gpr_idx(SRC0)`, moves and
// `s_set_gpr_idx_off` of an access by a uniform index. MODE, by which blocks are translated, is as
// before behind them: they are part of their block. Elsewhere it is a v_movrel.
#include <algorithm>

#include "frontend/decode.h"
#include "lift/lifter.h"

namespace wj::lift {
namespace {

constexpr size_t max_moves = 8;
constexpr uint32_t index_src0 = 1, index_dst = 8;  // s_set_gpr_idx_on's immediate, M0[15:12]

bool is_plain_move(const Inst& i) {
    const Operand& from = i.src[0];
    return (i.variant == Variant::Base || i.variant == Variant::E64) && !i.clamp && !i.omod &&
           !i.neg && !i.abs &&
           (from.is(Operand::Kind::Vgpr) || from.is(Operand::Kind::Sgpr) ||
            from.is(Operand::Kind::Const) || from.is(Operand::Kind::Literal));
}

ir::IndexedMove move_of(Lifter& l, const Inst& i, bool from_indexed, bool to_indexed) {
    using From = ir::IndexedMove::From;
    const Operand &from = i.src[0], &to = i.dst[0];
    ir::IndexedMove move;
    move.from_indexed = from_indexed && from.is(Operand::Kind::Vgpr);
    move.to_indexed = to_indexed;
    move.all_lanes = l.s.is_full(l.s.exec());
    move.kind = from.is(Operand::Kind::Vgpr)   ? From::Row
                : from.is(Operand::Kind::Sgpr) ? From::Scalar
                                               : From::Constant;
    move.from =
        move.kind == From::Constant ? static_cast<uint32_t>(from.value) : uint32_t{from.reg};
    move.to = to.reg;
    const uint32_t highest =
        std::max(move.from_indexed ? move.from : 0u, move.to_indexed ? move.to : 0u);
    move.indices = l.options.vgpr_count - highest;
    return move;
}

template <bool from_indexed, bool to_indexed>
bool movrel(Lifter& l, const Inst& i) {
    if (!is_plain_move(i)) return false;
    l.call(i, true, move_of(l, i, from_indexed, to_indexed));
    return true;
}

constexpr Entry entries[] = {
    {Opcode::v_movreld_b32, movrel<false, true>},
    {Opcode::v_movrels_b32, movrel<true, false>},
    {Opcode::v_movrelsd_b32, movrel<true, true>},
};

}  // namespace

bool Lifter::indexed_moves(const Inst& on) {
    if (options.target->traits.m0_bounds_lds) return false;
    const auto mode = static_cast<uint32_t>(on.src[1].value & 15);
    if (in_arm() || options.mode & machine::mode::changes_vector_code) return false;
    std::vector<std::pair<uint64_t, Inst>> moves;
    uint64_t at = next_pc;
    Inst off;
    for (;; at += off.size) {
        if (at == options.end_before || !decode(*options.target, code_at(at), off) ||
            off.illegal_operand)
            return false;
        if (off.op == Opcode::s_set_gpr_idx_off) break;
        if (off.op != Opcode::v_mov_b32 || !is_plain_move(off) || !registers_ok(off) ||
            moves.size() == max_moves)
            return false;
        moves.emplace_back(at, off);
    }
    if (block.guest_count + moves.size() + 1 > options.max_instructions) return false;

    const Value kept = emit(Op::UAnd32, {s.get32(machine::m0), s.const32(~0xf0ffu)});
    const Value index = emit(Op::UAnd32, {s32(on.src[0]), s.const32(0xff)});
    s.set32(machine::m0, emit(Op::UOr32, {kept, emit(Op::UOr32, {index, s.const32(mode << 12)})}));
    for (const auto& [begin, inst] : moves) {
        enter(begin, inst);
        ir::IndexedMove move = move_of(*this, inst, mode & index_src0, mode & index_dst);
        move.by_mode = true;
        call(inst, true, move);
    }
    enter(at, off);
    return true;
}

std::span<const Entry> indexed_move_entries() {
    return entries;
}

}  // namespace wj::lift
