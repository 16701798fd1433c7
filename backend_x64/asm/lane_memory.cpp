// Loads and stores of lanes.
#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

Mem frame_field(size_t offset, uint32_t size = 0) { return x86::ptr(reg::frame, static_cast<int32_t>(offset), size); }

uint8_t space_of(Op op) {
    switch (op) {
        case Op::LoadFlat: case Op::StoreFlat: return flat_space;
        case Op::LoadLds: case Op::StoreLds: return lds_space;
        case Op::LoadScratch: case Op::StoreScratch: return scratch_space;
        default: return global_space;
    }
}

}  // namespace

void BlockCompiler::lane_memory(Value v) { memory_out_of_line(v); }

void BlockCompiler::memory_out_of_line(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    const bool store = ir::op_info(i.op).cls == ir::Class::LaneStore;
    const bool scalar_base = i.op == Op::LoadGlobalS || i.op == Op::StoreGlobalS;
    const Value address = scalar_base ? a[1] : a[0], mask = scalar_base ? a[2] : a[1];
    const uint32_t dwords = std::max(1u, ir::aux_dwords(i.aux));
    MemoryOp op;
    op.pc = block_->guest_pcs[i.guest];
    op.offset = static_cast<int64_t>(i.imm);
    op.space = space_of(i.op);
    op.access = static_cast<uint8_t>(ir::aux_access(i.aux));
    op.dwords = static_cast<uint8_t>(dwords);
    op.store = store;
    op.lanes = static_cast<uint8_t>(chunk_lanes());

    const bool full = schedule_.is_full(mask);
    if (block_->type(address) == ir::Type::V64) {
        if (schedule_.split(address)) {
            const ir::Inst& pair = inst(address);
            movu(frame_field(offsetof(Frame, address_lo)), use(pair.args[0]));
            movu(frame_field(offsetof(Frame, address_hi)), use(pair.args[1]));
        } else {
            const Vec x = use(address, 0), y = use(address, 1);
            const Vec t = tmp();
            join64(t, x, y, false);
            movu(frame_field(offsetof(Frame, address_lo)), t);
            join64(t, x, y, true);
            movu(frame_field(offsetof(Frame, address_hi)), t);
        }
        a_.mov(frame_field(offsetof(Frame, address_base), 8), 0);
    } else {
        movu(frame_field(offsetof(Frame, address_lo)), use(address));
        if (scalar_base) {
            const Vec z = zero();
            movu(frame_field(offsetof(Frame, address_hi)), z);
            a_.mov(x86::rax, home_mem(schedule_.uniform_home(a[0])));
            a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
        }
    }
    if (full) {
        a_.mov(frame_field(offsetof(Frame, mask), 4), avx512_ ? 0xffff : 0xff);
    } else if (avx512_) {
        a_.kmovw(frame_field(offsetof(Frame, mask)), use_k(mask));
    } else {
        a_.vmovmskps(x86::eax, use(mask).ymm());
        a_.mov(frame_field(offsetof(Frame, mask)), x86::eax);
    }
    if (store)
        for (uint32_t d = 0; d < dwords; ++d) movu(frame_field(offsetof(Frame, data) + d * 64), use(a[4 + d]));
    const uint32_t at = pool_bytes(&op, sizeof op, 8);
    a_.lea(x86::rax, x86::ptr(pool_label_, static_cast<int32_t>(at)));
    a_.call(frame_field(offsetof(Frame, memory_stub), 8));
    if (store) return;
    release_operands();
    for (uint32_t d = 0; d < dwords; ++d) {
        const Unit u = schedule_.unit(v, d);
        if (dead(u)) continue;
        movu(def(u), frame_field(offsetof(Frame, data) + d * 64));
        define_done(u);
    }
}

}  // namespace wj::x64
