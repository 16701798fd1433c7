// Accesses at lines (lift/affine.h): how far apart the lanes' elements are is known, so that
// nothing but the bounds of the LDS is looked at. What is wanted later is fetched ahead.
#include <algorithm>
#include <bit>

#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {
constexpr size_t most_lds_lines = 8;
}

// How far apart the lanes' elements are is known without a look at them.
bool BlockCompiler::is_line(const LaneAccess& m, Value addr) const {
    if (inst(addr).op != Op::Line32) return false;
    if (m.space == lds_space) return is_short_lds_offset(m.imm);
    return m.space == global_space && !options_.checked && m.imm == static_cast<int32_t>(m.imm);
}

// eax = LDS address of the chunk's first lane. Jumps, with the host address in m.address, when the
// lanes from the first active one to the last are in range: as at the ends of arrays, where the
// others are masked.
void BlockCompiler::lds_range_of_active(const LaneAccess& m, uint32_t stride, Label in_range) {
    const Label not_all = a_.newLabel();
    if (avx512_)
        a_.kmovw(x86::ecx, m.mask_k);
    else
        a_.vmovmskps(x86::ecx, m.mask_v.ymm());
    a_.movsxd(x86::rax, x86::eax);
    a_.tzcnt(x86::edx, x86::ecx);
    a_.imul(x86::edx, x86::edx, static_cast<int32_t>(stride));
    a_.add(x86::rdx, x86::rax);
    a_.js(not_all);
    a_.bsr(x86::ecx, x86::ecx);
    a_.imul(x86::ecx, x86::ecx, static_cast<int32_t>(stride));
    a_.lea(x86::rcx, x86::ptr(x86::rcx, x86::rax, 0, static_cast<int32_t>(m.imm + m.bytes)));
    a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
    a_.cmp(x86::rcx, x86::rdx);
    a_.ja(not_all);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    a_.jmp(in_range);
    a_.bind(not_all);
}

// m.address = host address of the chunk's first element in the LDS, whose distance from the LDS's
// beginning is in eax. Jumps when the chunk's elements are not all in range.
void BlockCompiler::lds_line_address(const LaneAccess& m, Value line, int64_t max_imm,
                                     Label out_of_range, bool always) {
    const auto stride = static_cast<int32_t>(inst(line).imm),
               span =
                   static_cast<int32_t>(chunk_lanes() - 1) * stride + static_cast<int32_t>(m.bytes);
    line_at_chunk(line, always);
    a_.mov(m.address, wave_field(offsetof(Wave, lds), 8));
    a_.add(m.address, x86::rax);
    a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
    a_.sub(x86::edx, static_cast<int32_t>(max_imm) + span);
    a_.jb(out_of_range);
    a_.cmp(x86::eax, x86::edx);
    a_.ja(out_of_range);
}

// Lines of one dimension that the region is the first to use in the LDS: their elements are looked
// for once, for all chunks.
void BlockCompiler::place_lds_lines(const Value* begin, uint32_t count) {
    for (uint32_t n = 0; n < count; ++n) {
        const ir::Inst& first = inst(begin[n]);
        if (first.op != Op::LoadLds && first.op != Op::StoreLds) continue;
        const Value line = first.args[0];
        const ir::Inst& l = inst(line);
        if (l.op != Op::Line32 || l.aux != machine::lanes || l.imm % 4 || l.imm > 32 ||
            !std::has_single_bit(l.imm) || lds_lines_.size() == most_lds_lines ||
            std::any_of(lds_lines_.begin(), lds_lines_.end(),
                        [&](const LdsLine& x) { return x.line == line; }))
            continue;
        int64_t end = 0;
        for (const ir::Inst& x : block_->insts)
            if ((x.op == Op::LoadLds || x.op == Op::StoreLds) && x.args[0] == line &&
                is_short_lds_offset(immediate(x)))
                end = std::max(end, immediate(x) + ir::access_bytes(x));
        if (!end) continue;
        const auto stride = static_cast<int32_t>(l.imm);
        const Mem slot = home_mem({Home::Slot, extra_slots_});
        const Label out = a_.newLabel(), done = a_.newLabel();
        if (is_const(l.args[0]))
            a_.mov(x86::eax, static_cast<uint32_t>(inst(l.args[0]).imm));
        else
            a_.mov(x86::eax, home_mem(schedule_.uniform_home(l.args[0])));
        a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
        a_.sub(x86::edx, static_cast<int32_t>(end) + int32_t{machine::lanes - 1} * stride);
        a_.jb(out);
        a_.cmp(x86::eax, x86::edx);
        a_.ja(out);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
        a_.add(x86::rax, 64 * stride);  // reg::chunk is 4 * lane - 256
        a_.bind(done);
        a_.mov(slot, x86::rax);
        cold(out, [this, done] {
            a_.xor_(x86::eax, x86::eax);
            a_.jmp(done);
        });
        lds_lines_.push_back({line, extra_slots_++, static_cast<uint32_t>(end)});
    }
    failed_ |= extra_slots_ > slot_count;
}

const BlockCompiler::LdsLine* BlockCompiler::placed_lds_line(const LaneAccess& m,
                                                             Value line) const {
    for (const LdsLine& x : lds_lines_)
        if (x.line == line && m.imm + m.bytes <= x.end) return &x;
    return nullptr;
}

// The address, for one access or for all that share it; then each of these looks for itself when
// not all of them are in range.
void BlockCompiler::lds_line(LaneAccess& m, Value line) {
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    const Label in_range = a_.newLabel();
    const LdsLine* const placed = placed_lds_line(m, line);
    const AddressFacts* const shared = placed ? nullptr : shared_facts(m);
    if (placed) {
        a_.mov(m.address, home_mem({Home::Slot, placed->slot}));
        a_.test(m.address, m.address);
        a_.jz(m.slow);
        if (stride == 4)
            a_.add(m.address, reg::chunk);
        else
            a_.lea(m.address, x86::ptr(m.address, reg::chunk,
                                       static_cast<uint32_t>(std::countr_zero(stride / 4))));
    } else if (shared) {
        m.address = shared->address;
        a_.test(shared->pattern, shared->pattern);
        a_.jnz(m.slow);
    } else {
        lds_line_address(m, line, m.imm, m.slow, m.full);
    }
    a_.bind(in_range);
    cold(m.slow, [this, m, line, stride, in_range, again = shared || placed] {
        const Label outside = a_.newLabel();
        if (again) {
            lds_line_address(m, line, m.imm, outside, false);
            a_.jmp(in_range);
            a_.bind(outside);
        }
        if (!m.full) lds_range_of_active(m, stride, in_range);
        load_line(line, m.lo, false);
        memory_slow(m);
        a_.jmp(m.done);
    });
}

// Later work-groups go on where this one does, in all likelihood.
void BlockCompiler::prefetch_ahead(const LaneAccess& m, uint32_t stride) {
    const auto shift = static_cast<uint32_t>(std::bit_width(stride) - 1);
    a_.mov(x86::rdx, frame_field(offsetof(Frame, prefetch_items), 8));
    if (shift > 3) a_.shl(x86::rdx, shift - 3);
    for (uint32_t p = 0; p < stride / 4; ++p) {
        const Mem at = x86::ptr(m.address, x86::rdx, std::min(shift, 3u),
                                static_cast<int32_t>(m.imm + p * width()));
        m.store ? a_.prefetchw(at) : a_.prefetcht0(at);
    }
}

// Rows of 16 bytes per lane: the first access of the block to them prefetches for all.
bool BlockCompiler::first_of_tile(const LaneAccess& m, Value line) const {
    if (inst(line).imm != stride_bytes) return false;
    return std::none_of(block_->insts.begin(), block_->insts.begin() + m.v, [&](const ir::Inst& x) {
        const ir::Class cls = ir::op_info(x.op).cls;
        return (cls == ir::Class::LaneLoad || cls == ir::Class::LaneStore) &&
               space_of(x.op) == global_space && ir::address_of(x) == line &&
               x.args[0] == inst(m.v).args[0] &&
               std::abs(immediate(x) - m.imm) < static_cast<int64_t>(stride_bytes);
    });
}

void BlockCompiler::memory_line(LaneAccess& m, Value line) {
    const auto stride = static_cast<uint32_t>(inst(line).imm);
    if (m.space == lds_space) {
        lds_line(m, line);
    } else {
        a_.mov(m.address, m.base);
        if (options_.mask_addresses) {
            a_.mov(x86::rdx, wave_field(offsetof(Wave, ctx), 8));
            a_.and_(m.address,
                    x86::qword_ptr(x86::rdx, offsetof(machine::ExecContext, address_mask)));
        }
        const ir::Inst& i = inst(line);
        if (i.aux == machine::lanes && stride == m.bytes && m.bytes % 4 == 0 &&
            std::has_single_bit(m.bytes) && is_const(i.args[0]) && !inst(i.args[0]).imm) {
            const auto shift = static_cast<uint32_t>(std::countr_zero(m.bytes / 4));
            a_.lea(m.address,
                   x86::ptr(m.address, reg::chunk, shift, static_cast<int32_t>(64 * m.bytes)));
        } else {
            line_at_chunk(line, m.full);
            a_.add(m.address, x86::rax);
        }
    }
    if (m.space == global_space && (stride == m.bytes ? !m.store : first_of_tile(m, line)))
        prefetch_ahead(m, stride);
    if (stride == m.bytes) {
        streamed(m) ? memory_streamed(m) : memory_consecutive(m);
    } else if (stride == 0 && !m.store) {
        load_same(m);
    } else if (stride == stride_bytes && m.full && m.dwords_only() &&
               (m.store ? m.bytes == 4 && avx512_ && row_of_tile(m) : m.bytes <= 8)) {
        copy_pattern(m, strided);
    } else if (stride == 4 && may_be_sliding(m)) {
        copy_pattern(m, sliding);
    } else {
        find_first_lane(m);
        movu(m.t, index_table({0}, 16, stride));
        copy_lanes(m, m.t);
    }
}

}  // namespace wj::x64
