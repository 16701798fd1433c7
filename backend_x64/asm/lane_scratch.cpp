// Private memory (dword-interleaved by lane) and buffers, which usually are private memory.
#include <algorithm>
#include <bit>

#include "backend_x64/asm/access_code.h"
#include "ir/buffer.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using machine::Wave;
namespace x86 = asmjit::x86;

// Loads or stores one row of the arena per dword, at rax + lanes of a wave * offset.
void BlockCompiler::ScratchCode::scratch_rows(const LaneAccess& m, uint32_t offset) const {
    const uint32_t lanes = block_->wave_size;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Mem row = x86::ptr(x86::rax, reg::chunk, 0,
                                 static_cast<int32_t>(256 + d * 4 * lanes + lanes * offset));
        if (!m.store) {
            movu(m.data[d], row);  // inactive lanes exist as well
        } else if (m.full || c_.avx512_) {
            if (!m.full) k(m.mask_k);
            movu(row, m.data[d]);
        } else {
            a_.emit(X::kIdVmaskmovps, row, m.mask_v, m.data[d]);
        }
    }
}

// rax: a private byte offset, the same in all lanes -> its row, if `bytes` bytes of each lane are
// in range.
void BlockCompiler::ScratchCode::scratch_row_at(uint32_t bytes, Label otherwise) const {
    a_.mov(x86::edx, wave_field(offsetof(Wave, scratch_bytes), 4));
    a_.sub(x86::rdx, static_cast<int32_t>(bytes));
    a_.js(otherwise);
    a_.cmp(x86::rax, x86::rdx);
    a_.ja(otherwise);
    a_.test(x86::al, 3);
    a_.jnz(otherwise);
    a_.shl(x86::rax, std::countr_zero(block_->wave_size));
    a_.add(x86::rax, wave_field(offsetof(Wave, scratch), 8));
}

// The dwords at private byte offset rax.
void BlockCompiler::ScratchCode::scratch_uniform(const LaneAccess& m, Label otherwise) const {
    scratch_row_at(m.bytes, otherwise);
    scratch_rows(m);
}

// Looks once for all accesses of the block whether they are in range.
void BlockCompiler::ScratchCode::place_scratch(const Value* begin, uint32_t count) const {
    for (uint32_t n = 0; n < count; ++n) {
        const auto place = private_place(context(), inst(begin[n]));
        if (!place || std::ranges::find(c_.placed_scratch_, place->base, &PlacedScratch::base) !=
                          c_.placed_scratch_.end())
            continue;
        PlacedScratch p{place->base, 0, c_.extra_slots_++};
        for (const ir::Inst& x : block_->insts)
            if (const auto other = private_place(context(), x); other && other->base == p.base)
                p.end = std::max(p.end, other->offset + ir::access_bytes(x));
        c_.placed_scratch_.push_back(p);
        const Label none = a_.newLabel(), done = a_.newLabel();
        if (p.base == no_value) {
            a_.xor_(x86::eax, x86::eax);
        } else {
            const Mem home = home_mem(schedule_.uniform_home(p.base));
            if (!c_.wide(p.base)) {
                a_.mov(x86::eax, home);
            } else {
                a_.mov(x86::rax, home);
                a_.bt(x86::rax, 63);
                a_.jnc(none);
                a_.mov(x86::eax, x86::eax);
            }
        }
        scratch_row_at(p.end, none);
        a_.bind(done);
        a_.mov(home_mem({Home::Slot, p.slot}).cloneResized(8), x86::rax);
        cold(none, [*this, done] {
            a_.xor_(x86::eax, x86::eax);
            a_.jmp(done);
        });
    }
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

bool BlockCompiler::ScratchCode::placed_scratch_row(const LaneAccess& m, Label otherwise) const {
    const auto place = private_place(context(), inst(m.v));
    if (!place) return false;
    const auto p = std::ranges::find(c_.placed_scratch_, place->base, &PlacedScratch::base);
    if (p == c_.placed_scratch_.end()) return false;
    a_.mov(x86::rax, home_mem({Home::Slot, p->slot}).cloneResized(8));
    a_.test(x86::rax, x86::rax);
    a_.jz(otherwise);
    scratch_rows(m, place->offset);
    return true;
}

// Private memory at a constant or broadcast offset.
void BlockCompiler::ScratchCode::memory_scratch_row(const LaneAccess& m, Value uniform) const {
    if (!m.dwords_only()) {
        memory_scratch(m, m.slow);
    } else if (!placed_scratch_row(m, m.slow)) {
        if (is_const(uniform))
            a_.mov(x86::eax, static_cast<uint32_t>(inst(uniform).imm));
        else
            a_.mov(x86::eax, home_mem(schedule_.uniform_home(uniform)));
        a_.add(x86::rax, static_cast<int32_t>(m.imm));
        scratch_uniform(m, m.slow);
    }
    cold_if_used(m.slow, [*this, m] {
        AccessCode(c_).memory_slow(m);
        a_.jmp(m.done);
    });
}

// m.lo + imm without wrapping; jumps to `otherwise` unless the active lanes' elements lie below the
// size in eax. Returns m.lo or m.t2.
Vec BlockCompiler::ScratchCode::offset_in_range(const LaneAccess& m, Label otherwise) const {
    const auto imm = static_cast<int32_t>(m.imm);
    a_.sub(x86::eax, static_cast<int32_t>(m.bytes) + std::max(imm, 0));
    a_.jl(otherwise);
    Vec offset = m.lo;
    if (imm) {
        a_.emit(X::kIdVpaddd, m.t2, m.lo, c32(static_cast<uint32_t>(imm)));
        offset = m.t2;
    }
    a_.vmovd(m.t.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
    AccessCode(c_).branch_if_any(m, imm < 0 ? offset : m.lo, m.t, cmp_nle, otherwise);
    return offset;
}

// Private memory at m.lo + imm.
void BlockCompiler::ScratchCode::memory_scratch(const LaneAccess& m, Label otherwise) const {
    a_.mov(x86::eax, wave_field(offsetof(Wave, scratch_bytes), 4));
    a_.cmp(x86::eax, max_private_bytes);
    a_.ja(otherwise);
    scratch_lanes(m, offset_in_range(m, otherwise), otherwise);
}

// Flat addresses that all lie in one of the apertures.
void BlockCompiler::ScratchCode::memory_aperture(const LaneAccess& m, Label otherwise) const {
    const Label shared = a_.newLabel();
    AccessCode(c_).find_first_lane(m);
    AccessCode(c_).lead(m, m.t, m.hi);
    AccessCode(c_).branch_if_any(m, m.hi, m.t, cmp_ne, otherwise);
    a_.vmovd(x86::eax, m.t.xmm());
    a_.cmp(x86::eax, static_cast<uint32_t>(machine::private_aperture >> 32));
    a_.jne(shared);
    memory_scratch(m, otherwise);
    a_.jmp(m.done);
    a_.bind(shared);
    a_.cmp(x86::eax, static_cast<uint32_t>(machine::shared_aperture >> 32));
    a_.jne(otherwise);
    a_.mov(x86::eax, wave_field(offsetof(Wave, lds_size), 4));
    const Vec offset = offset_in_range(m, otherwise);
    movu(m.t, offset);
    LaneAccess lds = m;
    lds.address = x86::rcx;
    lds.space = lds_space;
    lds.mode = AddressMode::Identity;
    lds.imm = 0;
    a_.mov(x86::rcx, wave_field(offsetof(Wave, lds), 8));
    GatherCode(c_).copy_lanes(lds, m.t);
    a_.jmp(m.done);
}

// Private memory at `offset`, which is in range: m.lo or m.t2.
void BlockCompiler::ScratchCode::scratch_lanes(const LaneAccess& m, const Vec& offset,
                                               Label otherwise) const {
    const Label differ = a_.newLabel();
    AccessCode(c_).find_first_lane(m);
    AccessCode(c_).lead(m, m.t, offset);
    if (m.dwords_only()) {
        AccessCode(c_).branch_if_any(m, offset, m.t, cmp_ne, differ);
        a_.vmovd(x86::eax, m.t.xmm());
        scratch_uniform(m, otherwise);
        const Label done = a_.newLabel();
        a_.jmp(done);
        a_.bind(differ);
        scratch_elements(m, offset, otherwise);
        a_.bind(done);
        return;
    }
    scratch_elements(m, offset, otherwise);
}

// Each lane's dwords lie a row apart; a byte or short is a part of one dword.
void BlockCompiler::ScratchCode::scratch_elements(const LaneAccess& m, const Vec& offset,
                                                  Label otherwise) const {
    const uint32_t align = m.dwords_only() ? 3 : m.bytes - 1;
    const InstId and_id = c_.avx512_ ? X::kIdVpandd : X::kIdVpand;
    if (align) {
        a_.emit(and_id, m.t, offset, c32(align));
        if (c_.avx512_) {
            if (!m.full) k(m.mask_k);
            a_.emit(X::kIdVptestmd, m.tk, m.t, m.t);
            a_.kortestw(m.tk, m.tk);
        } else {
            a_.emit(X::kIdVptest, m.full ? m.t : m.mask_v, m.t);
        }
        a_.jnz(otherwise);
    }
    // lanes of a wave * (offset - low bits) + low bits + 4 * lane
    a_.emit(and_id, m.t, offset, c32(~3u));
    a_.emit(X::kIdVpslld, m.t, m.t, Imm(std::countr_zero(block_->wave_size)));
    if (!m.dwords_only()) {
        a_.emit(and_id, m.t2, offset, c32(3));
        a_.emit(X::kIdVpaddd, m.t, m.t, m.t2);
    }
    a_.emit(X::kIdVpaddd, m.t, m.t, RowCode(c_).index_table({0}, 16, 4));
    GatherCode(c_).index_to_frame(m, m.t);
    LaneAccess element = m;
    element.address = x86::rcx;
    a_.mov(x86::rcx, wave_field(offsetof(Wave, scratch), 8));
    a_.add(x86::rcx, reg::chunk);
    element.dwords = 1;
    element.bytes = m.dwords_only() ? 4 : m.bytes;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        element.imm = 256 + d * 4 * block_->wave_size;
        element.data[0] = m.data[d];
        if (m.store)
            GatherCode(c_).store_lanes(element);
        else
            GatherCode(c_).load_lanes(element);
    }
}

// Of a buffer that is private memory; jumps if it is another one.
void BlockCompiler::ScratchCode::memory_private_buffer(const LaneAccess& m, Value uniform,
                                                       Label otherwise) const {
    a_.mov(x86::rax, m.base);
    a_.btr(x86::rax, 63);
    a_.jnc(otherwise);
    // In private memory sums wrap around, and then are out of range or not.
    if (uniform != no_value && m.dwords_only()) {
        if (is_const(uniform))
            a_.add(x86::eax, static_cast<int32_t>(inst(uniform).imm));
        else
            a_.add(x86::eax, home_mem(schedule_.uniform_home(uniform)));
        scratch_uniform(m, m.slow);
        return;
    }
    if (uniform != no_value) splat_offset(m, uniform);
    a_.vmovd(m.t2.xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.t2, m.t2.xmm());
    a_.emit(X::kIdVpaddd, m.t2, m.t2, m.lo);
    a_.mov(x86::eax, wave_field(offsetof(Wave, scratch_bytes), 4));
    a_.cmp(x86::eax, max_private_bytes);
    a_.ja(m.slow);
    LaneAccess sum = m;
    sum.lo = m.t2;
    scratch_lanes(m, offset_in_range(sum, m.slow), m.slow);
}

// MUBUF. `uniform`: the broadcast value that the offset is, or no_value.
void BlockCompiler::ScratchCode::memory_buffer(LaneAccess m, Value uniform) const {
    const Label global = a_.newLabel(), other = a_.newLabel();
    if (placed_scratch_row(m, other)) {
        cold(other, [*this, m, global] {
            a_.bt(m.base.cloneResized(8), 63);
            a_.jc(m.slow);
            a_.jmp(global);
        });
    } else {
        memory_private_buffer(m, uniform, global);
    }
    const Label wide_slow = a_.newLabel();
    cold(global, [*this, m, uniform, wide_slow] {
        if (uniform != no_value) splat_offset(m, uniform);
        // In range and not swizzled, in all lanes: else the slow path.
        a_.mov(x86::rax, m.limit);
        a_.mov(x86::rdx, ir::buffer_swizzle | ir::buffer_add_tid);
        a_.test(x86::rax, x86::rdx);
        a_.jnz(wide_slow);
        a_.shl(x86::rax, 64 - ir::buffer_limit_bits);
        a_.sar(x86::rax, 64 - ir::buffer_limit_bits);
        a_.sub(x86::rax, m.bytes);
        a_.js(wide_slow);
        a_.vmovd(m.t.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        AccessCode(c_).branch_if_any(m, m.lo, m.t, cmp_nle, wide_slow);
        LaneAccess flat = m;
        flat.space = global_space;
        flat.mode = options_.address_mode;
        flat.slow = wide_slow;
        AccessCode(c_).find_pattern(flat, 0, m.gather, wide_slow);
        LaneAccess whole = flat;
        AccessCode(c_).translate_whole(whole, chunk_lanes() * m.bytes);
        RowCode(c_).memory_consecutive(whole);
        a_.jmp(m.done);
        a_.bind(m.gather);
        GatherCode(c_).memory_gather(flat);
    });
    cold(m.slow, [*this, m, uniform, wide_slow] {
        if (uniform != no_value) splat_offset(m, uniform);
        a_.bind(wide_slow);
        AccessCode(c_).memory_slow(m);
        a_.jmp(m.done);
    });
}

void BlockCompiler::ScratchCode::splat_offset(const LaneAccess& m, Value uniform) const {
    a_.emit(X::kIdVbroadcastss, m.lo,
            is_const(uniform) ? pool32(static_cast<uint32_t>(inst(uniform).imm))
                              : home_mem(schedule_.uniform_home(uniform)));
}

}  // namespace wj::x64
