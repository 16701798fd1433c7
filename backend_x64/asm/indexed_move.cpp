// Moves between rows whose numbers M0 is added to (ir::IndexedMove). All registers are in memory in
// front of them, as of every call of a handler; the handler itself reports indices that are out of
// bounds.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using From = ir::IndexedMove::From;
namespace x86 = asmjit::x86;

namespace {

Mem mode_field() {
    return x86::dword_ptr(reg::wave, in_wave(offsetof(machine::Wave, mode)));
}

}  // namespace

void BlockCompiler::indexed_move(const ir::Call& call) {
    const ir::IndexedMove& move = *call.move;
    const Label handler = a_.newLabel(), done = a_.newLabel();
    const Gp index = utmp();
    const bool stays_inside = move.by_mode && move.indices >= 256;
    if (move.by_mode)
        a_.movzx(index.r32(), scalar_field(machine::m0, 1));
    else
        a_.mov(index.r32(), scalar_field(machine::m0, 4));
    if (!stays_inside) {
        a_.cmp(index.r32(), move.indices);
        a_.jae(handler);
    }
    a_.shl(index.r32(), 8);  // bytes of a row
    auto row = [&](uint32_t number, bool indexed, uint32_t lane) {
        Mem m = row_at(number, lane);
        if (indexed) m.setIndex(index);
        return m;
    };
    const Vec value = vec(0), lanes = vec(1);
    if (move.kind == From::Scalar)
        a_.emit(X::kIdVbroadcastss, value, scalar_field(move.from, 4));
    else if (move.kind == From::Constant)
        load_bcast32(value, pool32(move.from));
    for (uint32_t lane = 0; lane < block_->lanes; lane += chunk_lanes()) {
        if (move.kind == From::Row) movu(value, row(move.from, move.from_indexed, lane));
        const Mem to = row(move.to, move.to_indexed, lane);
        const Mem exec =
            exec_field(*block_).cloneAdjusted(lane / 8).cloneResized(chunk_lanes() / 8);
        if (move.all_lanes) {
            movu(to, value);
        } else if (avx512_) {
            a_.kmovw(x86::k1, exec);
            a_.k(x86::k1).vmovups(to, value.as<x86::Zmm>());
        } else {
            a_.emit(X::kIdVpbroadcastb, lanes, exec);
            lanes_of_bits(lanes);
            a_.emit(X::kIdVmaskmovps, to, lanes, value);
        }
    }
    a_.bind(done);
    gp_temps_ = 0;
    if (stays_inside) return;
    cold(handler, [=, this] {
        if (move.by_mode) a_.or_(mode_field(), machine::mode::gpr_idx_en);
        call_handler(call);
        if (move.by_mode) a_.and_(mode_field(), ~machine::mode::gpr_idx_en);
        a_.jmp(done);
    });
}

}  // namespace wj::x64
