// Checked mode: guest addresses become host addresses through the thread's TLB. Whatever misses it,
// crosses the end of a page or of an allocation, or faults goes out of line.
#include "backend_x64/asm/access_code.h"

namespace wj::x64 {

using machine::ExecContext;
using machine::TlbEntry;
using machine::Wave;
namespace x86 = asmjit::x86;

static_assert(sizeof(TlbEntry) == 32);

namespace {
constexpr uint32_t page_bits = 12, page_size = 1u << page_bits;
}  // namespace

// `address` from guest to host, for `bytes` bytes in one TLB entry. `entry` and `t` are
// overwritten.
void BlockCompiler::AccessCode::translate_address(const Gp& address, uint32_t bytes, bool store,
                                                  const Gp& entry, const Gp& t, Label miss) const {
    const size_t tlb = store ? offsetof(ExecContext, write_tlb) : offsetof(ExecContext, read_tlb);
    auto field = [&](size_t offset) {
        return x86::qword_ptr(entry, static_cast<int32_t>(tlb + offset));
    };
    if (bytes > page_size) {
        a_.jmp(miss);
        return;
    }
    a_.mov(entry, address);  // machine::tlb_index
    a_.shr(entry, page_bits);
    a_.imul(entry.r32(), entry.r32(), static_cast<int32_t>(machine::tlb_hash));
    a_.shr(entry.r32(), 32 - machine::tlb_bits);
    a_.shl(entry.r32(), 5);
    a_.add(entry, wave_field(offsetof(Wave, ctx), 8));
    a_.mov(t, address);
    a_.sub(t, field(offsetof(TlbEntry, begin)));
    a_.jb(miss);
    a_.add(t, static_cast<int32_t>(bytes));
    a_.jc(miss);
    a_.cmp(t, field(offsetof(TlbEntry, bytes)));
    a_.ja(miss);
    a_.add(address, field(offsetof(TlbEntry, delta)));
}

// `bytes` bytes at m.address + m.imm: what is left is m.address.
void BlockCompiler::AccessCode::translate_whole(LaneAccess& m, uint32_t bytes) const {
    if (!is_checked(m.mode)) return;
    if (m.imm) a_.add(m.address, static_cast<int32_t>(m.imm));
    m.imm = 0;
    translate_address(m.address, bytes, m.store, x86::rax, x86::rdx, m.slow);
    m.mode = AddressMode::Identity;
}

// The elements at m.address + m.imm + offsets, which are in the frame.
void BlockCompiler::AccessCode::translate_lanes(const LaneAccess& m) const {
    const Gp lane = m.address.id() == x86::r8.id() ? x86::r10 : x86::r8;
    const Label next = a_.newLabel(), miss = a_.newLabel();
    const Gp entry = x86::rdi, t = x86::rdx;
    a_.push(lane);
    a_.push(entry);
    a_.mov(lane.r32(), chunk_lanes() - 1);
    a_.bind(next);
    a_.movsxd(x86::rax, x86::dword_ptr(reg::frame, lane, 2, in_frame(offsetof(Frame, address_lo))));
    a_.lea(x86::rax, x86::ptr(m.address, x86::rax, 0, static_cast<int32_t>(m.imm)));
    translate_address(x86::rax, m.bytes, m.store, entry, t, miss);
    a_.mov(x86::qword_ptr(reg::frame, lane, 3, in_frame(offsetof(Frame, lane_hosts))), x86::rax);
    a_.dec(lane.r32());
    a_.jns(next);
    a_.pop(entry);
    a_.pop(lane);
    cold(miss, [*this, m, entry, lane] {
        a_.pop(entry);
        a_.pop(lane);
        a_.jmp(m.slow);
    });
}

}  // namespace wj::x64
