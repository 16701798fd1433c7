// Global memory in identity mode, lanes with any addresses: hardware gathers and scatters with
// 64-bit indices, which need no relation between the lanes. (Zen 5, dwords in L1: 0.31 ns a lane
// against 0.42 for loads of single elements, 0.22 when half of the lanes are off.)
#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
namespace x86 = asmjit::x86;

bool BlockCompiler::gathers64(const LaneAccess& m) const {
    return m.wide && m.space == global_space && !options_.checked && !options_.mask_addresses &&
           m.dwords_only() && m.dwords <= 2 && (avx512_ || !m.store);
}

// Does a load walk through memory, and in which direction (-1, 1)? Lanes that each go a way of
// their own are more streams than the host follows.
int32_t BlockCompiler::walking_direction(const LaneAccess& m) const {
    if (!loop_lean_ || m.store) return 0;
    const auto step = step_of(*block_, inst(m.v));
    return !step || !*step ? 0 : *step > 0 ? 1 : -1;
}

// Of a load that walks, one lane is served in an iteration: the count of the gathers says which.
// What it reaches next, and what lanes of later chunks may: streams often follow one another, as
// the rows of a matrix.
void BlockCompiler::prefetch_stream(const LaneAccess& m) {
    const Mem count = frame_field(offsetof(Frame, scattered) + static_cast<size_t>(m.site), 1);
    a_.movzx(x86::eax, count);
    a_.inc(count);
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    a_.emit(X::kIdVpermd, m.t2, m.t, m.lo);
    a_.emit(X::kIdVpermd, m.t, m.t, m.hi);
    a_.vmovd(x86::eax, m.t2.xmm());
    a_.vmovd(x86::ecx, m.t.xmm());
    a_.shl(x86::rcx, 32);
    a_.add(x86::rcx, x86::rax);
    if (m.scalar_base) a_.add(x86::rcx, m.base);
    const auto at = static_cast<int32_t>(m.imm);
    a_.prefetcht0(x86::ptr(x86::rcx, at + m.walks * 128));
    a_.prefetcht1(x86::ptr(x86::rcx, at + m.walks * 2048));
}

// Indices that the wave has loaded from consecutive memory, in a program whose waves start each
// other: the next one's are behind them.
void BlockCompiler::find_next_index(LaneAccess& m) const {
    const ir::Inst& load = inst(m.v);
    if (load.op != Op::LoadGlobalS64 || !(load.aux & ir::from_afar) || !m.full || !runs_again())
        return;
    const auto field = scaled_index(*block_, load.args[1]);
    if (!field || field->width != 32 || inst(field->source).op != Op::Elem) return;
    const ir::Inst& from = inst(inst(field->source).args[0]);
    if (from.op != Op::LoadGlobalS || ir::aux_dwords(from.aux) != 1 ||
        ir::aux_access(from.aux) != Access::Dwords)
        return;
    const Pointer* const at = pointer_of(from.args[0], from.args[1]);
    const ir::Inst& line = inst(from.args[1]);
    if (!at || line.aux != machine::lanes || line.imm != 4) return;
    m.next_index = x86::dword_ptr(at->reg, static_cast<int32_t>(from.imm) + machine::lanes * 4);
    m.next_up = field->up;
}

// The next wave's elements, into the second-level cache: what the first-level one waits for at once
// are fewer lines than a wave gathers. Indices on another page may not be readable.
void BlockCompiler::prefetch_elements(const LaneAccess& m) {
    const Label over = a_.newLabel();
    constexpr uint32_t page = 4096, wave = machine::lanes * 4;
    a_.lea(x86::rdx, m.next_index);
    a_.lea(x86::rax, m.next_index.cloneAdjusted(chunk_lanes() * 4 - 1));
    a_.lea(x86::rcx, m.next_index.cloneAdjusted(-int64_t{wave}));
    a_.xor_(x86::rax, x86::rcx);
    a_.cmp(x86::rax, page);
    a_.jae(over);
    a_.mov(x86::rcx, m.base);
    for (uint32_t l = 0; l < chunk_lanes(); ++l) {
        a_.mov(x86::eax, x86::dword_ptr(x86::rdx, static_cast<int32_t>(l * 4)));
        a_.prefetcht1(x86::ptr(x86::rcx, x86::rax, m.next_up, static_cast<int32_t>(m.imm)));
    }
    a_.bind(over);
}

void BlockCompiler::gather64(const LaneAccess& m) {
    if (m.scalar_base)
        a_.mov(x86::rcx, m.base);
    else
        a_.xor_(x86::ecx, x86::ecx);
    if (avx512_)
        gather64_avx512(m);
    else
        gather64_avx2(m);
}

// Lanes 0 to 7, then 8 to 15.
void BlockCompiler::gather64_avx512(const LaneAccess& m) {
    if (m.store && m.dwords == 2) interleave(m);
    const Vec index[2] = {m.t, m.t2};
    for (uint32_t part = 0; part < 2; ++part) {
        uint32_t table[16];
        for (uint32_t i = 0; i < 16; ++i) table[i] = part * 8 + i / 2 + (i & 1) * 16;
        movu(index[part], pool_table(table));
        a_.emit(X::kIdVpermi2d, index[part], m.lo, m.hi);
    }
    for (uint32_t part = 0; part < 2; ++part) {
        gather_mask_avx512(m, part != 0);
        const Mem at = x86::ptr(x86::rcx, index[part], 0, static_cast<int32_t>(m.imm));
        if (m.store && m.dwords == 1) {
            if (part) a_.emit(X::kIdVextracti64x4, half(m.z[0]), m.data[0], Imm(1));
            k(m.tk);
            a_.emit(X::kIdVpscatterqd, at, half(part ? m.z[0] : m.data[0]));
        } else if (m.store) {
            k(m.tk);
            a_.emit(X::kIdVpscatterqq, at, m.z[part]);
        } else {
            // Lanes that are off keep what the register holds: nothing that must be waited for.
            const Vec& to = m.dwords == 2 ? m.z[part] : part ? m.z[0] : m.data[0];
            a_.emit(X::kIdVpxord, to, to, to);
            k(m.tk);
            if (m.dwords == 2)
                a_.emit(X::kIdVpgatherqq, to, at);
            else
                a_.emit(X::kIdVpgatherqd, half(to), at);
        }
    }
    if (m.store) return;
    if (m.dwords == 2)
        deinterleave(m);
    else
        a_.emit(X::kIdVinserti64x4, m.data[0], m.data[0], half(m.z[0]), Imm(1));
}

// Unpacking makes lanes 0, 1, 4, 5, then 2, 3, 6, 7.
void BlockCompiler::gather64_avx2(const LaneAccess& m) {
    const Vec index[2] = {m.t, m.t2};
    a_.emit(X::kIdVpunpckldq, m.t, m.lo, m.hi);
    a_.emit(X::kIdVpunpckhdq, m.t2, m.lo, m.hi);
    const Vec mask = m.data[0], to[2] = {m.z[0], m.z[1]};  // a gather uses its mask up
    for (uint32_t part = 0; part < 2; ++part) {
        if (m.full) {
            a_.emit(X::kIdVpcmpeqd, mask, mask, mask);
        } else if (m.dwords == 2) {
            a_.emit(part ? X::kIdVpunpckhdq : X::kIdVpunpckldq, mask, m.mask_v, m.mask_v);
        } else {
            a_.emit(X::kIdVpermq, mask, m.mask_v, Imm(0xd8));
            if (part) a_.emit(X::kIdVextracti128, mask.xmm(), mask, Imm(1));
        }
        const Mem at = x86::ptr(x86::rcx, index[part], 0, static_cast<int32_t>(m.imm));
        a_.emit(X::kIdVpxor, to[part], to[part], to[part]);
        if (m.dwords == 2)
            a_.emit(X::kIdVpgatherqq, to[part], at, mask);
        else
            a_.emit(X::kIdVpgatherqd, to[part].xmm(), at, mask.xmm());
    }
    if (m.dwords == 2) {
        a_.emit(X::kIdVperm2i128, m.t, to[0], to[1], Imm(0x20));
        a_.emit(X::kIdVperm2i128, to[1], to[0], to[1], Imm(0x31));
        movu(to[0], m.t);
        deinterleave(m);
    } else {
        a_.emit(X::kIdVinserti128, m.data[0], to[0], to[1].xmm(), Imm(1));
        a_.emit(X::kIdVpermq, m.data[0], m.data[0], Imm(0xd8));
    }
}

}  // namespace wj::x64
