// Lanes with addresses of their own: a base and 32-bit offsets. Dwords and pairs are gathered,
// bytes and words in the dwords that hold them; copying elements one by one through general
// registers serves every size and checked memory.
// Global dwords and pairs in identity mode need no base (lane_gather64.cpp).
#include <algorithm>
#include <iterator>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using machine::Wave;
namespace x86 = asmjit::x86;

// Ends by falling through where a stub takes what has no pattern here: m.slow is behind it.
void BlockCompiler::GatherCode::memory_gather(const LaneAccess& m) const {
    // Stores differ in their offsets only: code that copies lanes is large.
    const Label copy = a_.newLabel();
    auto take = [&](Pattern pattern) {
        const bool whole = pattern == rows_in_order ||
                           (pattern == strided && c_.avx512_ && row_of_tile(context(), m));
        if (m.store && (m.fewer_lanes || !whole)) {
            store_index(m, pattern);
            if (pattern != offsets) {
                a_.jmp(copy);
                return;
            }
            a_.bind(copy);
            LaneAccess lanes = m;
            AccessCode(c_).add_base(lanes);
            copy_lanes(lanes, m.t);
        } else {
            copy_pattern(m, pattern);
        }
        a_.jmp(m.done);
    };
    if (const auto flag = m.pattern.isValid() ? std::nullopt : AccessCode(c_).lds_table(m)) {
        // One element for all lanes, or one for each: there is code for that (memory_patterns).
        LaneAccess table = m;
        table.by_stub = true;
        AccessCode(c_).find_uneven(table, {m.imm, m.imm}, m.slow, [&](Pattern pattern) {
            if (m.learned_from) WalkCode(c_).learn(m, m.address, Imm(pattern));
            take(pattern);
        });
        a_.mov(*flag, 1);
        a_.jmp(m.scattered);
        return;
    }
    if (!m.pattern.isValid()) {
        AccessCode(c_).find_uneven(m, {m.imm, m.imm}, m.slow, [&](Pattern pattern) {
            if (m.learned_from && pattern <= last_walking_pattern)
                WalkCode(c_).learn(m, m.address, Imm(pattern));
            if (m.in_rows && pattern == offsets)
                a_.mov(frame_field(offsetof(Frame, scattered) + m.site, 1), 1);
            take(pattern);
        });
        if (m.by_stub && !m.in_rows) return;
        if (gathers64(m)) {
            if (!m.by_stub) load_near(m);
            a_.bind(m.gather_any);
            if (m.site >= 0)
                a_.mov(frame_field(offsetof(Frame, scattered) + m.site, 1), c_.scattered_mark());
            a_.bind(m.scattered);
            if (m.in_rows)
                load_from_rows(m);
            else if (m.walks)
                PrefetchCode(c_).prefetch_stream(m);
            if (m.next_index.hasBase()) PrefetchCode(c_).prefetch_elements(m);
            m.by_stub ? AccessCode(c_).memory_slow(m) : gather64(m);
            a_.jmp(m.done);
        }
        return;
    }
    AccessCode(c_).find_first_lane(m);
    auto test = [&](Pattern pattern) {
        const Label other = a_.newLabel();
        a_.cmp(m.pattern, pattern);
        near_if(small_copy(m, pattern)).jne(other);
        take(pattern);
        a_.bind(other);
    };
    if (may_be_same(m) && !m.rows_only && !(m.store && m.by_stub)) test(same);
    if (m.by_stub && !m.learned_from) return;
    for (const Pattern pattern : {rows_in_order, rows_of_equals})
        if (may_find_rows(context(), m, kind_of_rows(pattern), m.fewer_lanes)) test(pattern);
    if (m.by_stub) return;
    if (may_be_strided(context(), m) && (!gathers64(m) || !m.store || row_of_tile(context(), m)))
        test(strided);
    if (may_be_sliding(context(), m)) test(sliding);
    if (gathers64(m)) {
        gather64(m);
        a_.jmp(m.done);
    } else {
        a_.cmp(m.pattern, offsets);
        a_.jne(m.slow);
        take(offsets);
    }
}

// Dwords that lie within a vector from the first active lane's on, on its page: neighbours whose
// indices are bounded or scaled. Falls through if they do not.
void BlockCompiler::GatherCode::load_near(const LaneAccess& m) const {
    if (m.store || m.dwords > 1 || (!m.full && !c_.avx512_) || !options_.gathers_slowly) return;
    constexpr uint32_t page = 4096;
    const Label apart = a_.newLabel();
    const Operand others = c32(~(width() - 4));  // a distance has none of these bits
    AccessCode(c_).lead(m, m.t2, m.lo);
    a_.emit(X::kIdVpsubd, m.t, m.lo, m.t2);
    if (c_.avx512_) {
        if (!m.full) k(m.mask_k);
        a_.emit(X::kIdVptestmd, m.tk, m.t, others);
        a_.kortestw(m.tk, m.tk);
    } else {
        a_.emit(X::kIdVptest, m.t, others);
    }
    a_.jnz(apart);
    a_.vmovd(x86::eax, m.t2.xmm());
    a_.cmp(x86::eax, -static_cast<int32_t>(width()));  // no lane may wrap around 4 GiB
    a_.ja(apart);
    LaneAccess first = m;
    a_.add(first.address, x86::rax);
    AccessCode(c_).add_base(first);
    const Mem at = x86::ptr(first.address, static_cast<int32_t>(m.imm));
    a_.lea(x86::rdx, at);
    a_.and_(x86::edx, page - 1);
    a_.cmp(x86::edx, page - width());
    a_.ja(apart);
    a_.emit(X::kIdVpsrld, m.t, m.t, Imm(2));
    a_.emit(X::kIdVpermd, m.data[0], m.t, at);
    a_.jmp(m.done);
    a_.bind(apart);
}

// Its code, with a jump behind it, has less than 128 bytes whatever the registers are.
bool BlockCompiler::GatherCode::small_copy(const LaneAccess& m, Pattern pattern) const {
    if (is_checked(options_.address_mode) || m.dwords > 4) return false;
    return pattern == same || (pattern == strided && !m.store && m.bytes == 4);
}

// Into m.t: what is added to m.address to find each lane's element.
void BlockCompiler::GatherCode::store_index(const LaneAccess& m, Pattern pattern) const {
    if (pattern != offsets) {
        movu(m.t, RowCode(c_).index_table({0}, 16, pattern == strided ? stride_bytes : 0));
        return;
    }
    const Vec index = AccessCode(c_).offsets_index(m);
    if (index != m.t) movu(m.t, index);
}

void BlockCompiler::GatherCode::copy_pattern(LaneAccess m, Pattern pattern) const {
    AccessCode(c_).add_base(m);
    if (pattern == offsets) {
        if (is_narrow_load(m) && m.space != lds_space) {
            // Dwords that hold the last bytes have no signed offset from an aligned base.
            AccessCode(c_).branch_if_any(m, m.lo, c32(0xfffffffc), cmp_nle, m.slow);
        }
        copy_lanes(m, AccessCode(c_).offsets_index(m));
    } else if (pattern == rows_in_order || pattern == rows_of_equals) {
        RowCode(c_).find_row_step(m);
        RowCode(c_).copy_rows(m, found_rows(context(), kind_of_rows(pattern)));
    } else if (m.store) {
        store_strided(m);
    } else if (pattern == same) {
        LaneAccess whole = m;
        AccessCode(c_).translate_whole(whole, m.bytes);
        load_same(whole);
    } else if (pattern == strided) {
        m.bytes == 8 ? load_strided_pairs(m) : load_strided(m);
    } else if (m.dwords_only()) {
        LaneAccess part = m;
        part.dwords = 1;
        for (uint32_t d = 0; d < m.dwords; ++d)
            RowCode(c_).masked_load(part, 0, m.data[d], m.at(m.imm + d * 4));
    } else {
        load_sliding_words(m);
    }
}

// Words a byte apart: their lower and their upper bytes.
void BlockCompiler::GatherCode::load_sliding_words(const LaneAccess& m) const {
    const Mem at = x86::ptr(m.address, static_cast<int32_t>(m.imm));
    if (!m.full) k(m.mask_k, true);
    a_.emit(m.access == Access::S16 ? X::kIdVpmovsxbd : X::kIdVpmovzxbd, m.data[0],
            at.cloneAdjusted(1));
    a_.emit(X::kIdVpslld, m.data[0], m.data[0], Imm(8));
    if (!m.full) k(m.mask_k, true);
    a_.emit(X::kIdVpmovzxbd, m.t, at);
    a_.emit(c_.avx512_ ? X::kIdVpord : X::kIdVpor, m.data[0], m.data[0], m.t);
}

void BlockCompiler::GatherCode::load_same(const LaneAccess& m) const {
    const auto imm = static_cast<int32_t>(m.imm);
    if (m.of_pairs()) {
        for (uint32_t d = 0; d < m.dwords; ++d)
            a_.emit(X::kIdVbroadcastsd, m.data[d],
                    x86::qword_ptr(m.address, imm + static_cast<int32_t>(d / 2 * 8)));
        return;
    }
    // One access, as an atomic variable of 64 bits wants it.
    if (m.dwords == 2 && m.space == global_space && block_->loads_in_order) {
        a_.emit(X::kIdVbroadcastsd, m.t, x86::qword_ptr(m.address, imm));
        a_.emit(X::kIdVpshufd, m.data[0], m.t, Imm(0xa0));
        a_.emit(X::kIdVpshufd, m.data[1], m.t, Imm(0xf5));
        return;
    }
    if (m.dwords_only()) {
        for (uint32_t d = 0; d < m.dwords; ++d)
            a_.emit(X::kIdVbroadcastss, m.data[d],
                    x86::dword_ptr(m.address, imm + static_cast<int32_t>(d * 4)));
        return;
    }
    const bool is_signed = m.access == Access::S8 || m.access == Access::S16;
    a_.emit(is_signed ? X::kIdMovsx : X::kIdMovzx, x86::eax, x86::ptr(m.address, imm, m.bytes));
    a_.vmovd(m.data[0].xmm(), x86::eax);
    a_.emit(X::kIdVpbroadcastd, m.data[0], m.data[0].xmm());
}

// The last active lane's element: what the others have stored before it nobody can have seen.
void BlockCompiler::GatherCode::store_same(const LaneAccess& m) const {
    const Label none = a_.newLabel();
    const uint32_t last = chunk_lanes() - 1;
    if (m.full) {
        c_.load_bcast32(m.t, pool32(last));
    } else {
        c_.avx512_ ? a_.kmovw(x86::eax, m.mask_k) : a_.vmovmskps(x86::eax, m.mask_v.ymm());
        a_.bsr(x86::eax, x86::eax);
        a_.jz(none);
        a_.vmovd(m.t.xmm(), x86::eax);
    }
    if (m.dwords == 2) {  // one access, as an atomic variable of 64 bits wants it
        for (uint32_t d = 0; d < 2; ++d) a_.emit(X::kIdVpermd, m.z[d], m.t, m.data[d]);
        a_.emit(X::kIdVpunpckldq, m.z[0].xmm(), m.z[0].xmm(), m.z[1].xmm());
        a_.vmovq(m.at(m.imm), m.z[0].xmm());
        a_.bind(none);
        return;
    }
    const bool upper = m.access == Access::U8D16Hi || m.access == Access::U16D16Hi;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Vec& element = m.z[0];
        a_.emit(X::kIdVpermd, element, m.t, m.data[d]);
        const Mem at = m.at(m.imm + d * 4);
        if (m.bytes >= 4) {
            a_.vmovd(at, element.xmm());
            continue;
        }
        a_.vmovd(x86::eax, element.xmm());
        if (upper) a_.shr(x86::eax, 16);
        a_.emit(X::kIdMov, at, m.bytes == 1 ? Gp(x86::al) : Gp(x86::ax));
    }
    a_.bind(none);
}

// Whole vectors, then one dword out of four.
void BlockCompiler::GatherCode::load_strided(const LaneAccess& m) const {
    auto at = [&](uint32_t part) {
        return x86::ptr(m.address, static_cast<int32_t>(m.imm + part * width()));
    };
    const Vec &d = m.data[0], &z = m.z[0];
    if (c_.avx512_) {
        // The last vector ends with the last lane's dword.
        movu(z, at(0));
        movu(d, RowCode(c_).index_table({0, 16, 0, 16}, 4, 4));
        a_.emit(X::kIdVpermi2d, d, z, at(1));
        movu(z, at(2));
        movu(m.t, RowCode(c_).index_table({0, 19, 0, 19}, 4, 4));
        a_.emit(X::kIdVpermi2d, m.t, z, at(3).cloneAdjusted(-12));
        a_.emit(X::kIdVinserti64x4, d, d, half(m.t), Imm(1));
    } else {
        static constexpr uint32_t order[16] = {0, 4, 1, 5, 2, 6, 3, 7};
        movu(z, at(0));
        a_.emit(X::kIdVunpcklps, z, z, at(1));  // lanes 0 2 | 1 3
        movu(m.t, at(2));
        static constexpr uint32_t five[16] = {~0u, ~0u, ~0u, ~0u, ~0u};
        movu(d, RowCode(c_).pool_table(five));
        a_.emit(X::kIdVmaskmovps, d, d, at(3));
        a_.emit(X::kIdVunpcklps, m.t, m.t, d);  // 4 6 | 5 7
        a_.emit(X::kIdVunpcklpd, z, z, m.t);
        movu(d, RowCode(c_).pool_table(order));
        a_.emit(X::kIdVpermd, d, d, z);
    }
}

// Whole vectors in which one dword out of four is written.
void BlockCompiler::GatherCode::store_strided(const LaneAccess& m) const {
    a_.mov(x86::eax, 0x1111);
    a_.kmovw(m.tk, x86::eax);
    for (uint32_t part = 0; part < 4; ++part) {
        uint32_t table[16];
        for (uint32_t i = 0; i < 16; ++i) table[i] = part * 4 + i / 4;
        movu(m.t, RowCode(c_).pool_table(table));
        a_.emit(X::kIdVpermd, m.t, m.t, m.data[0]);
        k(m.tk);
        movu(x86::ptr(m.address, static_cast<int32_t>(m.imm + part * width())), m.t);
    }
}

// The same for elements of two dwords.
void BlockCompiler::GatherCode::load_strided_pairs(const LaneAccess& m) const {
    auto at = [&](uint32_t part) {
        return x86::ptr(m.address, static_cast<int32_t>(m.imm + part * width()));
    };
    // The last vector ends with the last lane's element.
    movu(m.z[0], at(0));
    a_.emit(X::kIdVunpcklpd, m.z[0], m.z[0], at(1));
    movu(m.z[1], at(2));
    a_.emit(X::kIdVshufpd, m.z[1], m.z[1], at(3).cloneAdjusted(-8), Imm(0xaa));
    for (uint32_t d = 0; d < 2; ++d) {
        if (c_.avx512_) {  // lanes 0 4 1 5 2 6 3 7, and 8 12 ...
            uint32_t table[16];
            for (uint32_t l = 0; l < 16; ++l) table[l] = l / 8 * 16 + l % 4 * 4 + l / 4 % 2 * 2 + d;
            movu(m.data[d], RowCode(c_).pool_table(table));
            a_.emit(X::kIdVpermi2d, m.data[d], m.z[0], m.z[1]);
        } else {  // lanes 0 2 | 1 3 and 4 6 | 5 7
            static constexpr uint32_t order[16] = {0, 4, 1, 5, 2, 6, 3, 7};
            a_.emit(X::kIdVshufps, m.t, m.z[0], m.z[1], Imm(d ? 0xdd : 0x88));
            movu(m.data[d], RowCode(c_).pool_table(order));
            a_.emit(X::kIdVpermd, m.data[d], m.data[d], m.t);
        }
    }
}

// ---- one element at a time
// ----------------------------------------------------------------------------------------

// Loads or stores the active lanes' elements at m.address + index + imm. `index` may be m.t.
void BlockCompiler::GatherCode::copy_lanes(const LaneAccess& m, const Vec& index) const {
    if (!is_checked(m.mode) && m.dwords_only() && m.dwords <= 2 && (c_.avx512_ || !m.store)) {
        gather_scatter(m, index);
        return;
    }
    if (!is_checked(m.mode) && is_narrow_load(m)) {
        gather_narrow(m, index);
        return;
    }
    copy_each(m, index);
}

void BlockCompiler::GatherCode::copy_each(const LaneAccess& m, const Vec& index) const {
    index_to_frame(m, index);
    LaneAccess lanes = m;
    if (is_checked(m.mode)) {
        AccessCode(c_).translate_lanes(m);
        lanes.absolute = true;
    }
    if (m.store)
        store_lanes(lanes);
    else
        load_lanes(lanes);
}

// The address of a lane's element, given its number or the register that holds it.
Mem BlockCompiler::GatherCode::lane_address(const LaneAccess& m, uint32_t lane) const {
    if (m.absolute) {
        a_.mov(x86::rax, frame_field(offsetof(Frame, lane_hosts) + lane * 8, 8));
        return x86::ptr(x86::rax);
    }
    a_.movsxd(x86::rax, frame_field(offsetof(Frame, address_lo) + lane * 4, 4));
    return x86::ptr(m.address, x86::rax, 0, static_cast<int32_t>(m.imm));
}

Mem BlockCompiler::GatherCode::lane_address(const LaneAccess& m, const Gp& lane) const {
    if (m.absolute) {
        a_.mov(x86::rax,
               x86::qword_ptr(reg::frame, lane, 3, in_frame(offsetof(Frame, lane_hosts))));
        return x86::ptr(x86::rax);
    }
    a_.movsxd(x86::rax, x86::dword_ptr(reg::frame, lane, 2, in_frame(offsetof(Frame, address_lo))));
    return x86::ptr(m.address, x86::rax, 0, static_cast<int32_t>(m.imm));
}

// Gathers and scatters with 32-bit indices: as fast as copying elements one by one, or faster, and
// much smaller.
void BlockCompiler::GatherCode::gather_scatter(const LaneAccess& m, const Vec& index) const {
    if (m.store && m.dwords == 2) RowCode(c_).interleave(m);
    for (uint32_t part = 0; part < m.dwords; ++part) {
        const bool upper = part != 0;
        if (c_.avx512_)
            gather_mask_avx512(m, upper);
        else
            gather_mask_avx2(m, upper);
        // Pairs: half of the lanes at a time.
        Vec lanes = m.dwords == 2 ? half(index) : index;
        if (upper) {
            lanes = half(m.t2);
            a_.emit(c_.avx512_ ? X::kIdVextracti64x4 : X::kIdVextracti128, lanes, index, Imm(1));
        }
        const Mem at = x86::ptr(m.address, lanes, 0, static_cast<int32_t>(m.imm));
        const Vec& data = m.dwords == 2 ? m.z[part] : m.data[0];
        if (m.store) {
            k(m.tk);
            a_.emit(m.dwords == 2 ? X::kIdVpscatterdq : X::kIdVpscatterdd, at, data);
            continue;
        }
        // Lanes that are off keep what the register holds: nothing that must be waited for.
        a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, data, data, data);
        const InstId gather = m.dwords == 2 ? X::kIdVpgatherdq : X::kIdVpgatherdd;
        if (c_.avx512_) {
            k(m.tk);
            a_.emit(gather, data, at);
        } else {
            a_.emit(gather, data, at, m.dwords == 2 ? m.data[0] : m.t2);
        }
    }
    if (!m.store && m.dwords == 2) RowCode(c_).deinterleave(m);
}

// Bytes in the aligned dwords that hold them, words in these or from a byte before them, so that no
// page is touched that holds nothing of the element. `index` is below 2^31 - 3.
void BlockCompiler::GatherCode::gather_narrow(const LaneAccess& m, const Vec& index) const {
    const Vec &t = m.t, &before = m.z[0];
    a_.lea(x86::rax, x86::ptr(m.address, static_cast<int32_t>(m.imm)));
    a_.mov(x86::edx, x86::eax);
    a_.and_(x86::edx, 3);
    a_.and_(x86::rax, -4);
    a_.vmovd(before.xmm(), x86::edx);
    a_.emit(X::kIdVpbroadcastd, before, before.xmm());
    a_.emit(X::kIdVpaddd, t, index, before);
    // How many bytes before the element: 0, 1, 2 or 3; for words 0, 1, 2 or 1.
    const Vec& data = m.data[0];
    a_.emit(c_.avx512_ ? X::kIdVpandd : X::kIdVpand, before, t, c32(3));
    if (m.bytes == 2) {
        a_.emit(X::kIdVpaddd, data, before, before);
        a_.emit(c_.avx512_ ? X::kIdVpandnd : X::kIdVpandn, before, data, before);
    }
    a_.emit(X::kIdVpsubd, t, t, before);
    a_.emit(X::kIdVpslld, before, before, Imm(3));
    a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, data, data, data);
    if (c_.avx512_) {
        gather_mask_avx512(m, false);
        k(m.tk);
        a_.emit(X::kIdVpgatherdd, data, x86::ptr(x86::rax, t));
    } else {
        gather_mask_avx2(m, false);
        a_.emit(X::kIdVpgatherdd, data, x86::ptr(x86::rax, t), m.t2);
    }
    a_.emit(X::kIdVpsrlvd, data, data, before);
    const bool is_signed = m.access == Access::S8 || m.access == Access::S16;
    const uint32_t bits = 32 - 8 * m.bytes;
    a_.emit(X::kIdVpslld, data, data, Imm(bits));
    a_.emit(is_signed ? X::kIdVpsrad : X::kIdVpsrld, data, data, Imm(bits));
}

void BlockCompiler::GatherCode::load_bytes(const LaneAccess& m, const ByteRow& row) const {
    const Vec& data = m.data[0];
    for (uint32_t part = 0; part < chunk_lanes() / 4; ++part)
        load_sixteen(a_, c_.avx512_, data, part, RowCode(c_).element_at(m, row.from[part]));
    a_.emit(X::kIdVpshufb, data, data, RowCode(c_).pool_table(row.bytes.data()));
    extend_sign(m);
}

void BlockCompiler::GatherCode::store_bytes(const LaneAccess& m, const ByteScatter& row) const {
    a_.mov(x86::rax, row.written);
    a_.kmovq(m.tk, x86::rax);
    movu(m.t, RowCode(c_).pool_table(row.from.data()));
    a_.emit(X::kIdVpermb, m.t, m.t, m.data[0]);
    k(m.tk);
    a_.emit(X::kIdVmovdqu8, x86::ptr(m.address, static_cast<int32_t>(m.imm)), m.t);
}

// Bytes or words at known distances.
void BlockCompiler::GatherCode::store_byte_lanes(const LaneAccess& m,
                                                 const LaneOffsets& offsets) const {
    const uint32_t high = m.access == Access::U8D16Hi || m.access == Access::U16D16Hi ? 2 : 0;
    for (uint32_t lane = 0; lane < chunk_lanes(); ++lane) {
        const uint32_t part = lane / 4;
        if (part && lane % 4 == 0)
            a_.emit(c_.avx512_ ? X::kIdVextracti32x4 : X::kIdVextracti128, m.t.xmm(), m.data[0],
                    Imm(part));
        a_.emit(m.bytes == 1 ? X::kIdVpextrb : X::kIdVpextrw,
                RowCode(c_).element_at(m, offsets[lane]), (part ? m.t : m.data[0]).xmm(),
                Imm((lane % 4 * 4 + high) / m.bytes));
    }
}

// The lanes of a gather or scatter, which uses its mask up: m.tk.
void BlockCompiler::GatherCode::gather_mask_avx512(const LaneAccess& m, bool upper) const {
    if (m.full)
        a_.kxnorw(m.tk, m.tk, m.tk);
    else if (upper)
        a_.kshiftrw(m.tk, m.mask_k, Imm(8));
    else
        a_.kmovw(m.tk, m.mask_k);
}

// Single dwords: in m.t2. Pairs: in m.data[0], a qword each.
void BlockCompiler::GatherCode::gather_mask_avx2(const LaneAccess& m, bool upper) const {
    const Vec& mask = m.dwords == 2 ? m.data[0] : m.t2;
    if (m.full) {
        a_.emit(X::kIdVpcmpeqd, mask, mask, mask);
    } else if (m.dwords == 1) {
        movu(mask, m.mask_v);
    } else {
        if (upper) a_.emit(X::kIdVextracti128, mask.xmm(), m.mask_v, Imm(1));
        a_.emit(X::kIdVpmovsxdq, mask, (upper ? mask : m.mask_v).xmm());
    }
}

// For load_lanes and store_lanes. Lanes that are off will load what the first active one does.
void BlockCompiler::GatherCode::index_to_frame(const LaneAccess& m, const Vec& index) const {
    if (m.full || (m.store && !is_checked(m.mode))) {
        put_dwords(offsetof(Frame, address_lo), index);
    } else {
        AccessCode(c_).lead(m, m.t2, index);
        if (c_.avx512_) {
            k(m.mask_k);
            a_.emit(X::kIdVmovdqa32, m.t2, index);
        } else {
            a_.emit(X::kIdVblendvps, m.t2, m.t2, index, m.mask_v);
        }
        put_dwords(offsetof(Frame, address_lo), m.t2);
    }
}

// Where general registers will look at the lanes one by one. In halves: loads of the upper 32 bytes
// of a 64-byte store that is still in the store buffer take longer (Golden Cove).
void BlockCompiler::GatherCode::put_dwords(size_t frame_offset, const Vec& v) const {
    movu(frame_field(frame_offset), v.ymm());
    if (c_.avx512_) a_.emit(X::kIdVextracti64x4, frame_field(frame_offset + 32), v, Imm(1));
}

// Registers are filled in the order of memory, 16 bytes at a time.
void BlockCompiler::GatherCode::load_lanes(const LaneAccess& m) const {
    const uint32_t per_sixteen = m.bytes > 8 ? 1 : m.bytes == 8 ? 2 : 4;
    const uint32_t per_vector = width() / 16 * per_sixteen;
    const bool direct = m.bytes <= 4;  // one register is all there is
    for (uint32_t lane = 0; lane < chunk_lanes(); ++lane) {
        const uint32_t part = lane % per_vector / per_sixteen, at = lane % per_sixteen;
        const Vec& whole = direct ? m.data[0] : m.z[lane / per_vector];
        const Vec x = (part ? m.t : whole).xmm();
        load_element(m, x, at, lane_address(m, lane));
        if (part && at + 1 == per_sixteen) {
            if (c_.avx512_)
                a_.emit(X::kIdVinserti32x4, whole, whole, x, Imm(part));
            else
                a_.emit(X::kIdVinserti128, whole, whole, x, Imm(part));
        }
    }
    if (!direct) {
        const uint32_t dwords = m.dwords;
        if (dwords == 3) {  // loaded into four
            LaneAccess four = m;
            four.dwords = 4;
            four.data[3] = m.t2;
            RowCode(c_).deinterleave(four);
        } else {
            RowCode(c_).deinterleave(m);
        }
    } else {
        extend_sign(m);
    }
}

// Signed bytes and words, loaded as unsigned.
void BlockCompiler::GatherCode::extend_sign(const LaneAccess& m) const {
    if (m.access != Access::S8 && m.access != Access::S16) return;
    const uint32_t bits = 32 - 8 * m.bytes;
    a_.emit(X::kIdVpslld, m.data[0], m.data[0], Imm(bits));
    a_.emit(X::kIdVpsrad, m.data[0], m.data[0], Imm(bits));
}

// Element number `at` of 16 bytes.
void BlockCompiler::GatherCode::load_element(const LaneAccess& m, const Vec& x, uint32_t at,
                                             const Mem& from) const {
    switch (m.bytes) {
        case 1:
        case 2:
            if (!at) a_.emit(x.id() < 16 ? X::kIdVpxor : X::kIdVpxord, x, x, x);
            a_.emit(m.bytes == 1 ? X::kIdVpinsrb : X::kIdVpinsrw, x, x, from,
                    Imm(at * 4 / m.bytes));
            break;
        case 4:
            if (at)
                a_.emit(X::kIdVpinsrd, x, x, from, Imm(at));
            else
                a_.emit(X::kIdVmovd, x, from);
            break;
        case 8:
            if (at)
                a_.emit(X::kIdVmovhps, x, x, from);
            else
                a_.emit(X::kIdVmovq, x, from);
            break;
        case 12:
            a_.emit(X::kIdVmovq, x, from);
            a_.emit(X::kIdVpinsrd, x, x, from.cloneAdjusted(8), Imm(2));
            break;
        default:
            movu(x, from);
            break;
    }
}

// Through the frame: elements in the order of memory. All lanes, or a loop over the active ones.
void BlockCompiler::GatherCode::store_lanes(const LaneAccess& m) const {
    constexpr size_t data = offsetof(Frame, data);
    if (m.dwords > 1) RowCode(c_).interleave(m);
    for (uint32_t p = 0; p < m.dwords; ++p)
        movu(frame_field(data + p * width()), m.dwords > 1 ? m.z[p] : m.data[0]);
    const uint32_t high = m.access == Access::U8D16Hi || m.access == Access::U16D16Hi ? 2 : 0;
    const x86::Xmm x = m.z[0].xmm();
    auto copy = [&](const Mem& to, const Mem& from) {
        switch (m.bytes) {
            case 1:
            case 2:
                a_.emit(X::kIdMovzx, x86::edx, from.cloneResized(m.bytes));
                a_.emit(X::kIdMov, to, m.bytes == 1 ? Gp(x86::dl) : Gp(x86::dx));
                break;
            case 4:
                a_.vmovd(x, from);
                a_.vmovd(to, x);
                break;
            case 8:
            case 12:
                a_.vmovq(x, from);
                a_.vmovq(to, x);
                if (m.bytes == 8) break;
                a_.vmovd(x, from.cloneAdjusted(8));
                a_.vmovd(to.cloneAdjusted(8), x);
                break;
            default:
                movu(x, from);
                movu(to, x);
                break;
        }
    };
    const uint32_t stride = m.dwords * 4;
    if (m.full) {
        for (uint32_t lane = 0; lane < chunk_lanes(); ++lane) {
            const Mem to = lane_address(m, lane);
            copy(to, frame_field(data + high + lane * stride));
        }
        return;
    }
    const Gp left = m.address.id() == x86::r8.id() ? x86::r10d : x86::r8d;
    a_.push(left.r64());
    if (c_.avx512_)
        a_.kmovw(left, m.mask_k);
    else
        a_.vmovmskps(left, m.mask_v.ymm());
    const Label next = a_.newLabel();
    a_.bind(next);
    a_.tzcnt(x86::edx, left);
    const Mem to = lane_address(m, x86::rdx);
    if (m.dwords == 3) a_.lea(x86::edx, x86::ptr(x86::rdx, x86::rdx, 1));
    if (m.dwords == 4) a_.shl(x86::edx, 2);
    copy(to, x86::ptr(reg::frame, x86::rdx, m.dwords == 2 ? 3 : 2, in_frame(data + high)));
    a_.blsr(left, left);
    a_.jnz(next);
    a_.pop(left.r64());
}

}  // namespace wj::x64
