// Chunks that are two or four rows: in each of them elements that follow one another (or overlap, a
// dword apart), or one for all of its lanes, the rows a uniform step apart. So are arrays of two
// dimensions to work-groups that are narrower than the host's vectors.
#include <bit>
#include <cstdlib>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
namespace x86 = asmjit::x86;

// An access by some lanes only is done lane by lane.
void BlockCompiler::RowCode::memory_rows(const LaneAccess& m, Value line) const {
    const Rows& rows = *m.rows;
    LaneAccess all = m;
    all.full = true;
    if (!m.full) {
        const Label some = a_.newLabel();
        AccessCode(c_).branch_if_some(m, some);
        cold(some, [*this, m, line] {
            copy_lanes_of_line(m, line);
            a_.jmp(m.done);
        });
    }
    if (rows.any_step) a_.mov(x86::edx, home_mem(schedule_.uniform_home(inst(line).args[1])));
    copy_rows(all, rows);
}

// m.address: of the first lane's element.
void BlockCompiler::RowCode::copy_lanes_of_line(const LaneAccess& m, Value line) const {
    AccessCode(c_).find_first_lane(m);
    if (has_row_step(context(), inst(line)))
        load_row_offsets(line, m.t);
    else
        movu(m.t, pool_table(lane_offsets(context(), inst(line)).data()));
    has_row_step(context(), inst(line)) && is_narrow_load(m) ? GatherCode(c_).copy_each(m, m.t)
                                                             : GatherCode(c_).copy_lanes(m, m.t);
}

// How far the chunk's lanes are from its first one, of has_row_step(context(), ).
void BlockCompiler::RowCode::load_row_offsets(Value line, const Vec& to) const {
    const ir::Inst& l = inst(line);
    const auto width = static_cast<uint32_t>(l.aux);
    a_.emit(X::kIdVpbroadcastd, to, home_mem(schedule_.uniform_home(l.args[1])));
    a_.emit(X::kIdVpmulld, to, to, pool_table(lane_offsets(0, 1, width).data()));
    if (const auto stride = static_cast<uint32_t>(l.imm))
        a_.emit(X::kIdVpaddd, to, to, pool_table(lane_offsets(stride, 0, width).data()));
}

// edx or rdx: rows.step, if that is no constant. Changes rax.
void BlockCompiler::RowCode::copy_rows(const LaneAccess& m, const Rows& rows) const {
    const uint32_t count = chunk_lanes() / rows.lanes, row_bytes = rows.lanes * m.bytes;
    if (rows.any_step && count > 2) a_.lea(x86::rax, x86::ptr(m.address, x86::rdx));
    // Of a row, so many bytes from its first element on.
    auto in_row = [&](uint32_t row, uint32_t offset, uint32_t size) {
        const auto at = static_cast<int32_t>(m.imm + offset);
        if (!rows.any_step)
            return x86::ptr(m.address, at + static_cast<int32_t>(row) * rows.step, size);
        if (row == 0) return x86::ptr(m.address, at, size);
        return x86::ptr(row == 3 ? x86::rax : m.address, x86::rdx, row > 1, at, size);
    };
    auto low = [](const Vec& v, uint32_t bytes) {
        return bytes == 16 ? Vec(v.xmm()) : bytes == 32 ? Vec(v.ymm()) : Vec(v.zmm());
    };
    // A part of a vector, from memory or from another one's low bytes.
    auto insert = [&](const Vec& to, uint32_t bytes, uint32_t part, const Operand& from) {
        if (bytes == 32)
            a_.emit(X::kIdVinsertf32x8, to, to, from, Imm(part));
        else
            a_.emit(c_.avx512_ ? X::kIdVinsertf32x4 : X::kIdVinsertf128, to, to, from, Imm(part));
    };
    const uint32_t row_in_vector = rows.lanes * 4;  // of one dword of each lane
    if (!m.dwords_only() && m.store) {
        store_narrow_rows(
            m, [&](uint32_t row) { return in_row(row, 0, 0); }, rows.lanes);
    } else if (rows.kind == Rows::Sliding) {
        for (uint32_t d = 0; d < m.dwords; ++d)
            for (uint32_t row = 0; row < count; ++row) {
                const Mem at = in_row(row, d * 4, row_in_vector);
                if (row)
                    insert(m.data[d], row_in_vector, row, at);
                else
                    movu(low(m.data[d], row_in_vector), at);
            }
    } else if (!m.dwords_only() || rows.kind == Rows::Equal) {
        static constexpr InstId loads[] = {X::kIdVpmovzxbd, X::kIdVpmovsxbd, X::kIdVpmovzxwd,
                                           X::kIdVpmovsxwd};
        const InstId load =
            m.dwords_only() ? X::kIdVbroadcastss : loads[static_cast<int>(m.access)];
        for (uint32_t d = 0; d < m.dwords; ++d)
            for (uint32_t row = 0; row < count; ++row) {
                const Vec part = low(row ? m.t : m.data[d], row_in_vector);
                a_.emit(load, part, in_row(row, d * 4, 0));
                if (row) insert(m.data[d], row_in_vector, row, part);
            }
    } else {
        // In the order of memory.
        const uint32_t size = std::min(row_bytes & -row_bytes, width());
        if (m.store && m.dwords > 1) interleave(m);
        for (uint32_t p = 0; p < m.dwords; ++p)
            for (uint32_t part = 0; part < width() / size; ++part) {
                const Vec& v = m.parts()[p];
                const uint32_t at = p * width() + part * size;
                const Mem mem = in_row(at / row_bytes, at % row_bytes, size);
                if (!part)
                    m.store ? movu(mem, low(v, size)) : movu(low(v, size), mem);
                else if (!m.store)
                    insert(v, size, part, mem);
                else if (size == 32)
                    a_.emit(X::kIdVextractf32x8, mem, v, Imm(part));
                else
                    a_.emit(c_.avx512_ ? X::kIdVextractf32x4 : X::kIdVextractf128, mem, v,
                            Imm(part));
            }
        if (!m.store && m.dwords > 1) deinterleave(m);
    }
}

// ---- found at run time ----

// As those of find_uneven(). Where the chunk is rows and a walk learns, the step is noted.
void BlockCompiler::RowCode::find_rows(const LaneAccess& m, Pattern pattern,
                                       const std::function<void(Pattern)>& found) const {
    if (!may_find_rows(context(), m, kind_of_rows(pattern), m.fewer_lanes)) return;
    const uint32_t width = options_.row_lanes, stride = pattern == rows_in_order ? m.bytes : 0;
    const Label other = a_.newLabel();
    LaneAccess all = m;
    all.full = true;
    if (!m.full) AccessCode(c_).branch_if_some(m, other);
    // Where would each row's first lane be? Its lanes must agree.
    Vec firsts = m.lo;
    if (stride) {
        firsts = m.t;
        a_.emit(X::kIdVpsubd, firsts, m.lo, pool_table(lane_offsets(stride, 0, width).data()));
    }
    movu(m.t2, pool_table(lane_offsets(0, width, width).data()));
    a_.emit(X::kIdVpermd, m.t2, m.t2, firsts);
    AccessCode(c_).branch_if_any(all, firsts, m.t2, cmp_ne, other);
    // No row may wrap around 4 GiB.
    if (stride) AccessCode(c_).branch_if_any(all, m.t2, c32(0u - width * stride), cmp_nle, other);
    find_row_step(m);
    if (chunk_lanes() / width > 2) {
        // The last of four is not beyond 4 GiB, nor below 0.
        a_.vmovd(x86::eax, firsts.xmm());
        a_.lea(x86::rax, x86::ptr(x86::rax, x86::rdx, 1));
        a_.add(x86::rax, x86::rdx);
        a_.shr(x86::rax, 32);
        a_.jnz(other);
        a_.vmovd(m.t.xmm(), x86::edx);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpmulld, m.t, m.t, pool_table(lane_offsets(0, 1, width).data()));
        a_.emit(X::kIdVpsubd, m.t2, m.t2, m.t);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t2.xmm());
        AccessCode(c_).branch_if_any(all, m.t, m.t2, cmp_ne, other);
    }
    a_.vmovd(x86::eax, m.lo.xmm());
    a_.add(m.address, x86::rax);
    if (m.learned_from) a_.mov(WalkCode(c_).row_step(m), x86::rdx);
    found(pattern);
    a_.bind(other);
}

// rdx = the distance of the chunk's second row from its first one. Changes eax.
void BlockCompiler::RowCode::find_row_step(const LaneAccess& m) const {
    const uint32_t lane = options_.row_lanes;
    a_.emit(c_.avx512_ ? X::kIdVextracti32x4 : X::kIdVextracti128, m.z[0].xmm(), m.lo,
            Imm(lane / 4));
    a_.vmovd(x86::edx, m.z[0].xmm());
    a_.vmovd(x86::eax, m.lo.xmm());
    a_.sub(x86::rdx, x86::rax);
}

// AVX-512. Bytes or words of each row.
void BlockCompiler::RowCode::store_narrow_rows(const LaneAccess& m,
                                               const std::function<Mem(uint32_t)>& row_at,
                                               uint32_t lanes) const {
    Vec data = m.data[0];
    if (m.access == Access::U8D16Hi || m.access == Access::U16D16Hi) {
        a_.emit(X::kIdVpsrld, m.t, data, Imm(16));
        data = m.t;
    }
    const Vec whole = m.bytes == 1 ? Vec(m.t.xmm()) : Vec(m.t.ymm());
    a_.emit(m.bytes == 1 ? X::kIdVpmovdb : X::kIdVpmovdw, whole, data);
    const uint32_t size = lanes * m.bytes;
    for (uint32_t row = 0; row < chunk_lanes() / lanes; ++row) {
        const uint32_t at = row * size;
        const Vec from = at < 16 ? m.t.xmm() : m.t2.xmm();
        if (at == 16) a_.emit(X::kIdVextracti32x4, m.t2.xmm(), m.t.ymm(), Imm(1));
        if (size == 16)
            movu(row_at(row), from);
        else if (size == 8)
            a_.emit(at % 16 ? X::kIdVmovhps : X::kIdVmovlps, row_at(row), from);
        else
            a_.emit(X::kIdVpextrd, row_at(row), from, Imm(at / 4));
    }
}

}  // namespace wj::x64
