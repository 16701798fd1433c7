// Elements of arrays in registers: LLVM makes `s_set_gpr_idx_on s0, gpr_idx(SRC0)`, moves and
// `s_set_gpr_idx_off` of an access by a uniform index. MODE, by which blocks are translated, is as
// before behind them: they are part of their block.
#include <algorithm>

#include "frontend/decode.h"
#include "lift/lifter.h"

namespace wj::lift {
namespace {

constexpr size_t max_moves = 8;
constexpr uint32_t index_src0 = 1, index_dst = 8;  // s_set_gpr_idx_on's immediate, M0[15:12]

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
        const bool plain = off.op == Opcode::v_mov_b32 &&
                           (off.variant == Variant::Base || off.variant == Variant::E64);
        const Operand& from = off.src[0];
        const bool known = from.is(Operand::Kind::Vgpr) || from.is(Operand::Kind::Sgpr) ||
                           from.is(Operand::Kind::Const) || from.is(Operand::Kind::Literal);
        if (!plain || !known || off.clamp || off.omod || off.neg || off.abs || !registers_ok(off) ||
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
        const Operand &from = inst.src[0], &to = inst.dst[0];
        ir::IndexedMove move;
        move.from_indexed = mode & index_src0 && from.is(Operand::Kind::Vgpr);
        move.to_indexed = mode & index_dst;
        move.all_lanes = s.is_full(s.exec());
        move.kind = from.is(Operand::Kind::Vgpr)   ? ir::IndexedMove::From::Row
                    : from.is(Operand::Kind::Sgpr) ? ir::IndexedMove::From::Scalar
                                                   : ir::IndexedMove::From::Constant;
        move.from = move.kind == ir::IndexedMove::From::Constant ? static_cast<uint32_t>(from.value)
                                                                 : uint32_t{from.reg};
        move.to = to.reg;
        const uint32_t highest =
            std::max(move.from_indexed ? move.from : 0u, move.to_indexed ? move.to : 0u);
        move.indices = options.vgpr_count - highest;
        call(inst, true, move);
    }
    enter(at, off);
    return true;
}

}  // namespace wj::lift
