// Global memory that is not checked, lanes with any addresses: hardware gathers and scatters with
// 64-bit indices, which need no relation between the lanes, or with 32-bit ones from a scalar base.
// (Zen 5, dwords in L1: 0.31 ns a lane against 0.42 for loads of single elements, 0.22 when half of
// the lanes are off.)
#include <bit>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/reach.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
namespace x86 = asmjit::x86;

// A vector of each lane's row is loaded at once, and what iterations want taken from there one
// after the other: a gather in each would touch as many lines as there are lanes. Where what is
// behind a row is not there (emit_row_stub) falls through to the gather.
void BlockCompiler::GatherCode::load_from_rows(const LaneAccess& m) const {
    const Mem count = frame_field(offsetof(Frame, scattered) + static_cast<size_t>(m.site), 1);
    const auto iterations = static_cast<int32_t>(width() / m.bytes);
    const int32_t at = in_frame(offsetof(Frame, lane_rows) +
                                static_cast<size_t>(m.site) * sizeof(Frame::lane_rows[0]));
    const Label fill = a_.newLabel(), filled = a_.newLabel(), apart = a_.newLabel();
    a_.movzx(x86::edx, count);
    a_.dec(x86::edx);
    a_.and_(x86::edx, iterations - 1);
    a_.jz(fill);
    a_.inc(count);  // 256 is "nothing known": looked at anew
    a_.bind(filled);
    take_from_rows(m, at);
    a_.jmp(m.done);

    a_.bind(fill);
    WalkCode(c_).leave_out_of_limits(apart);
    scalar_part(m);
    lane_addresses(m);
    a_.lea(x86::rdx, x86::ptr(reg::frame, at));
    a_.mov(x86::ecx, rows_fetched_ahead);
    a_.call(frame_field(offsetof(Frame, rows_stub), 8));
    a_.test(x86::eax, x86::eax);
    a_.jz(apart);
    if (c_.loop_plan_.row_walks >> m.walk & 1) WalkCode(c_).learn_rows(m, at);
    a_.mov(count, 2);
    a_.xor_(x86::edx, x86::edx);
    a_.jmp(filled);
    a_.bind(apart);
    a_.mov(count, 1);
}

// The element number edx of each lane's row. Changes ecx.
void BlockCompiler::GatherCode::take_from_rows(const LaneAccess& m, int32_t rows) const {
    const uint32_t vector = c_.avx512_ ? 6 : 5;
    if (!m.dwords_only()) {
        const uint32_t up = m.bytes == 1 ? 2 : 1;  // elements of a dword
        a_.mov(x86::ecx, x86::edx);
        a_.and_(x86::ecx, (1 << up) - 1);
        a_.shl(x86::ecx, 5 - up);
        a_.vmovd(m.t.xmm(), x86::ecx);
        a_.shr(x86::edx, up);
    }
    a_.shl(x86::edx, vector + static_cast<uint32_t>(std::countr_zero(m.dwords)));
    for (uint32_t d = 0; d < m.dwords; ++d)
        movu(m.data[d],
             x86::ptr(reg::frame, x86::rdx, 0, rows + static_cast<int32_t>(d * width())));
    if (!m.dwords_only()) take_element(m.access, m.data[0], m.t);
}

// The byte or word of each dword that begins so many bits up.
void BlockCompiler::GatherCode::take_element(ir::Access access, const Vec& data,
                                             const Vec& bits) const {
    const bool is_signed = access == Access::S8 || access == Access::S16;
    const uint32_t unused = 32 - 8 * ir::access_bytes(access, 1);
    a_.emit(X::kIdVpsrld, data, data, bits.xmm());
    a_.emit(X::kIdVpslld, data, data, Imm(unused));
    a_.emit(is_signed ? X::kIdVpsrad : X::kIdVpsrld, data, data, Imm(unused));
}

// Into rcx: what is added to each lane's address.
void BlockCompiler::GatherCode::scalar_part(const LaneAccess& m) const {
    if (m.scalar_base)
        a_.mov(x86::rcx, m.base);
    else
        a_.xor_(x86::ecx, x86::ecx);
}

// Adds rcx to the lanes' 64-bit addresses, which are then what the mode makes of guest addresses.
// Changes t, but for AVX-512 and masked addresses.
static void add_scalar_part(CountingAssembler& a, AddressMode mode, const Vec& x, const Vec& y,
                            const Vec& t) {
    const Mem place = frame_field(offsetof(Frame, lane_hosts), 8);
    const bool from_memory = x.isZmm() && is_masked(mode);  // t may be in use
    if (from_memory) {
        a.mov(place, x86::rcx);
    } else {
        a.vmovq(t.xmm(), x86::rcx);
        a.emit(X::kIdVpbroadcastq, t, t.xmm());
    }
    for (const Vec& v : {x, y})
        from_memory ? a.emit(X::kIdVpaddq, v, v, place._1to8()) : a.emit(X::kIdVpaddq, v, v, t);
    if (!is_masked(mode)) return;
    emit_reach(a, x, y, t);
}

// The host addresses of all lanes in order, with rcx: in m.t and m.t2, and in Frame::lane_hosts.
// m.z[0] is used, and m.z[1] where the addresses have no upper half.
void BlockCompiler::GatherCode::lane_addresses(LaneAccess m) const {
    const Vec low = m.t, high = m.t2, t = m.z[0];
    if (!m.wide) {
        m.hi = m.z[1];
        a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, m.hi, m.hi, m.hi);
    }
    if (m.imm) a_.add(x86::rcx, static_cast<int32_t>(m.imm));
    if (c_.avx512_) {
        pair_addresses(m);
    } else {
        a_.emit(X::kIdVpunpckldq, t, m.lo, m.hi);
        a_.emit(X::kIdVpunpckhdq, high, m.lo, m.hi);
        a_.emit(X::kIdVperm2i128, low, t, high, Imm(0x20));
        a_.emit(X::kIdVperm2i128, high, t, high, Imm(0x31));
    }
    add_scalar_part(a_, m.mode, low, high, t);
    movu(frame_field(offsetof(Frame, lane_hosts)), low);
    movu(frame_field(offsetof(Frame, lane_hosts) + width()), high);
}

void BlockCompiler::GatherCode::gather64(const LaneAccess& m) const {
    scalar_part(m);
    if (!c_.avx512_ && m.store) {  // no such instruction
        lane_addresses(m);
        LaneAccess lanes = m;
        lanes.absolute = true;
        store_lanes(lanes);
        return;
    }
    if (c_.avx512_)
        gather64_avx512(m);
    else
        gather64_avx2(m);
}

// AVX-512: 64-bit addresses of lanes 0 to 7 in m.t, of 8 to 15 in m.t2.
void BlockCompiler::GatherCode::pair_addresses(const LaneAccess& m) const {
    for (uint32_t part = 0; part < 2; ++part) {
        const Vec& to = part ? m.t2 : m.t;
        uint32_t table[16];
        for (uint32_t i = 0; i < 16; ++i) table[i] = part * 8 + i / 2 + (i & 1) * 16;
        movu(to, RowCode(c_).pool_table(table));
        a_.emit(X::kIdVpermi2d, to, m.lo, m.hi);
    }
}

// Where an instruction with 64-bit indices finds the lanes: masked addresses are all in the index.
static Mem gather_place(const AccessPlan& p, const Vec& index) {
    return is_masked(p.mode) ? x86::ptr(x86::rcx, index)
                             : x86::ptr(x86::rcx, index, 0, static_cast<int32_t>(p.imm));
}

// All that is added to masked addresses goes into the indices, and rcx becomes 0.
static void add_to_index(CountingAssembler& a, const AccessPlan& p, const Vec (&index)[2],
                         const Vec& t) {
    if (!is_masked(p.mode)) return;
    if (p.imm) a.add(x86::rcx, static_cast<int32_t>(p.imm));
    add_scalar_part(a, p.mode, index[0], index[1], t);
    a.xor_(x86::ecx, x86::ecx);
}

// All lanes at once where they are within 2 GiB of the scalar base, as most are (Zen 4, dwords in
// L1: 6.0 ns, 8.2 in halves). Else jumps to `far`.
void BlockCompiler::GatherCode::gather_near_base(const LaneAccess& m, Label far) const {
    a_.emit(X::kIdVpsrad, m.t, m.lo, Imm(31));
    if (!m.full) k(m.mask_k);
    a_.emit(X::kIdVpcmpd, m.tk, m.t, m.hi, Imm(cmp_ne));
    a_.kortestw(m.tk, m.tk);
    a_.jnz(far);
    LaneAccess near = m;
    near.address = x86::rcx;
    if (is_masked(m.mode)) emit_reach(a_, near.address);
    gather_scatter(near, m.lo);
}

// Lanes 0 to 7, then 8 to 15.
void BlockCompiler::GatherCode::gather64_avx512(const LaneAccess& m) const {
    if (m.scalar_base) {
        const Label far = a_.newLabel();
        gather_near_base(m, far);
        a_.jmp(m.done);
        a_.bind(far);
    }
    if (m.store && m.dwords == 2) RowCode(c_).interleave(m);
    const Vec index[2] = {m.t, m.t2};
    pair_addresses(m);
    add_to_index(a_, m, index, m.z[0]);
    for (uint32_t part = 0; part < 2; ++part) {
        gather_mask_avx512(m, part != 0);
        const Mem at = gather_place(m, index[part]);
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
        RowCode(c_).deinterleave(m);
    else
        a_.emit(X::kIdVinserti64x4, m.data[0], m.data[0], half(m.z[0]), Imm(1));
}

// Unpacking makes lanes 0, 1, 4, 5, then 2, 3, 6, 7.
void BlockCompiler::GatherCode::gather64_avx2(const LaneAccess& m) const {
    const Vec index[2] = {m.t, m.t2};
    a_.emit(X::kIdVpunpckldq, m.t, m.lo, m.hi);
    a_.emit(X::kIdVpunpckhdq, m.t2, m.lo, m.hi);
    add_to_index(a_, m, index, m.z[0]);
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
        const Mem at = gather_place(m, index[part]);
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
        RowCode(c_).deinterleave(m);
    } else {
        a_.emit(X::kIdVinserti128, m.data[0], to[0], to[1].xmm(), Imm(1));
        a_.emit(X::kIdVpermq, m.data[0], m.data[0], Imm(0xd8));
    }
}

}  // namespace wj::x64
