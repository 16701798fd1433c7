// Consecutive lanes: vector loads and stores, transposed for elements of several dwords.
#include <cstdlib>

#include "backend_x64/asm/access_code.h"
#include "backend_x64/loop_estimate.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
namespace x86 = asmjit::x86;

void BlockCompiler::RowCode::memory_consecutive(const LaneAccess& m) const {
    if (in_plain_loop(m))
        PrefetchCode(c_).prefetch_iterations(m);
    else if (c_.loop_.by_chunks && !m.store && m.space == global_space &&
             (c_.loop_plan_.divergent || m.walk < 0))
        PrefetchCode(c_).prefetch_walk(m);
    if (!m.dwords_only()) {
        memory_consecutive_narrow(m);
        return;
    }
    auto part = [*this](const LaneAccess& m, uint32_t p, const Vec& v) {
        const Mem at = m.at(m.imm + p * width());
        if (m.store)
            masked_store(m, p, at, v);
        else
            masked_load(m, p, v, at);
    };
    if (m.dwords == 1) {
        if (m.full || !asks_for_whole_masks(m)) return part(m, 0, m.data[0]);
        const Label some = a_.newLabel();
        AccessCode(c_).branch_if_some(m, some);
        LaneAccess all = m;
        all.full = true;
        part(all, 0, m.data[0]);
        cold(some, [*this, m, part] {
            if (m.may_be_off) AccessCode(c_).skip_inactive_chunk(m);
            part(m, 0, m.data[0]);
            a_.jmp(m.done);
        });
        return;
    }
    if (m.store) interleave(m);
    if (!m.full && c_.avx512_) {
        // A bit per dword of memory.
        static constexpr uint64_t first[] = {0, 0, 0x55555555, 0x249249249249, 0x1111111111111111};
        a_.kmovw(x86::eax, m.mask_k);
        a_.mov(x86::rdx, first[m.dwords]);
        a_.pdep(x86::rax, x86::rax, x86::rdx);
        a_.imul(x86::rax, x86::rax, (1 << m.dwords) - 1);
        a_.kmovq(m.tk, x86::rax);
    }
    for (uint32_t p = 0; p < m.dwords; ++p) {
        part(m, p, m.parts()[p]);
        if (!m.full && c_.avx512_ && p + 1 < m.dwords) a_.kshiftrq(m.tk, m.tk, 16);
    }
    if (!m.store) deinterleave(m);
}

// Masked accesses that miss the caches take twice as long as plain ones, as nothing is prefetched
// for them; and most masks are full.
bool BlockCompiler::RowCode::asks_for_whole_masks(const LaneAccess& m) const {
    return m.dwords_only() && m.dwords == 1 && m.space != lds_space &&
           !(c_.loop_.by_chunks && in_far_steps(context(), m.v)) &&
           ir::mask_of(inst(m.v)) != c_.some_mask_;
}

// A block that repeats itself, all chunks in each iteration: one with stores or atomics.
bool BlockCompiler::RowCode::repeats_plainly() const {
    return !c_.loop_.by_chunks && !is_checked(options_.address_mode) && repeats_itself(*block_);
}

// Stores wait for memory where the host does not see them coming.
bool BlockCompiler::RowCode::in_plain_loop(const LaneAccess& m) const {
    if (!repeats_plainly() || m.space != global_space) return false;
    const Pointer* const pointer = LineCode(c_).pointer_of(inst(m.v));
    return ((pointer && pointer->ahead) || c_.steady_sites_ < Frame::most_steady) &&
           (!m.store || steps_far(step_of(*block_, inst(m.v))));
}

// Part p of the elements in the order of memory, in the active lanes.
void BlockCompiler::RowCode::masked_store(const LaneAccess& m, uint32_t p, const Mem& to,
                                          const Vec& data) const {
    if (m.full) {
        movu(to, data);
    } else if (c_.avx512_) {
        k(m.dwords > 1 ? m.tk : m.mask_k);
        movu(to, data);
    } else {
        // Elements of two dwords are stored as such: the host does not promise more.
        a_.emit(m.dwords == 2 ? X::kIdVmaskmovpd : X::kIdVmaskmovps, to, part_mask(m, p), data);
    }
}

// Zen 4 has more lines of a stream on their way where each is loaded in two halves.
bool BlockCompiler::RowCode::splits_load(const LaneAccess& m) const {
    return c_.avx512_ && options_.splits_loads && m.dwords == 1 && m.space == global_space &&
           c_.streams_;
}

void BlockCompiler::RowCode::masked_load(const LaneAccess& m, uint32_t p, const Vec& data,
                                         const Mem& from) const {
    if (m.full && splits_load(m)) {
        movu(data.ymm(), from.cloneResized(32));
        a_.vinsertf32x8(data.zmm(), data.zmm(), from.cloneAdjusted(32).cloneResized(32), 1);
    } else if (m.full) {
        movu(data, from);
    } else if (c_.avx512_) {
        k(m.dwords > 1 ? m.tk : m.mask_k, true);
        movu(data, from);
    } else {
        // Zen 1 loads the dwords of vmaskmovps one by one.
        a_.emit(m.dwords == 2 ? X::kIdVmaskmovpd : X::kIdVmaskmovps, data, part_mask(m, p), from);
    }
}

// AVX2: the mask of a part's dwords.
Vec BlockCompiler::RowCode::part_mask(const LaneAccess& m, uint32_t p) const {
    if (m.dwords == 1) return m.mask_v;
    uint32_t table[16] = {};
    for (uint32_t i = 0; i < 8; ++i) table[i] = (8 * p + i) / m.dwords;
    movu(m.t, pool_table(table));
    a_.emit(X::kIdVpermd, m.t, m.t, m.mask_v);
    return m.t;
}

// The only operation of its region: a row of dwords from one that is in memory, by all lanes. A
// loop would take longer than what it does. Where it may fault rbp names the chunk.
bool BlockCompiler::RowCode::store_row(Value v) const {
    const ir::Inst& i = inst(v);
    if (!c_.avx512_ || i.op != ir::Op::StoreGlobalS || !is_row_of_wave(context(), i) ||
        !is_plain_line(context(), i) || inst(i.args[1]).imm != 4 ||
        ir::aux_access(i.aux) != Access::Dwords || ir::aux_dwords(i.aux) != 1 ||
        !schedule_.is_full(ir::mask_of(i)) || schedule_.pair_of(v, 0) != no_value ||
        ir::immediate(i) != int32_t(ir::immediate(i)))
        return false;
    const Source data = source(schedule_.unit(i.args[4]));
    if (data.kind != Source::Full) return false;
    LaneAccess m;
    m.v = v;
    m.store = m.full = true;
    m.space = global_space;
    LineCode(c_).global_base(m.address, i.args[0]);
    if (const auto imm = static_cast<int32_t>(ir::immediate(i))) a_.add(m.address, imm);
    auto chunks = [*this, data, address = m.address](InstId store) {
        for (uint32_t at = 0; at < block_->lanes * 4; at += width()) {
            if (at) a_.add(reg::chunk, width());
            movu(vec(0), data.mem);
            a_.emit(store, x86::ptr(address, static_cast<int32_t>(at)), vec(0));
        }
    };
    c_.begin_chunks(false);
    if (!is_streamed(context(), m)) {
        chunks(X::kIdVmovups);
        return true;
    }
    const Label cached = a_.newLabel(), done = a_.newLabel();
    a_.test(frame_field(offsetof(Frame, not_streamed), 8), m.address);
    a_.jnz(cached);
    chunks(X::kIdVmovntps);
    a_.bind(done);
    cold(cached, [=, *this] {
        chunks(X::kIdVmovups);
        a_.jmp(done);
    });
    return true;
}

void BlockCompiler::RowCode::memory_consecutive_narrow(const LaneAccess& m) const {
    const Mem at = x86::ptr(m.address, static_cast<int32_t>(m.imm));
    if (!c_.avx512_ && !m.full) {
        const Label lanes = a_.newLabel();
        a_.jmp(lanes);
        cold(lanes, [*this, m] {
            AccessCode(c_).find_first_lane(m);
            movu(m.t, index_table({0}, 16, m.bytes));
            GatherCode(c_).copy_lanes(m, m.t);
            a_.jmp(m.done);
        });
        return;
    }
    if (!m.store) {
        static constexpr InstId loads[] = {X::kIdVpmovzxbd, X::kIdVpmovsxbd, X::kIdVpmovzxwd,
                                           X::kIdVpmovsxwd};
        if (!m.full) k(m.mask_k, true);
        a_.emit(loads[static_cast<int>(m.access)], m.data[0], at);
        return;
    }
    Vec data = m.data[0];
    if (c_.avx512_) {
        if (m.access == Access::U8D16Hi || m.access == Access::U16D16Hi) {
            a_.emit(X::kIdVpsrld, m.t, data, Imm(16));
            data = m.t;
        }
        if (!m.full) k(m.mask_k);
        a_.emit(m.bytes == 1 ? X::kIdVpmovdb : X::kIdVpmovdw, at, data);
        return;
    }
    // The wanted bytes of each 128-bit half in its low dword or qword, then the halves together.
    const uint32_t shift = m.access == Access::U8D16Hi || m.access == Access::U16D16Hi ? 2 : 0;
    uint8_t bytes[64] = {};
    for (uint32_t i = 0; i < 32; ++i)
        bytes[i] = static_cast<uint8_t>(
            i % 16 < 4 * m.bytes ? i % 16 / m.bytes * 4 + i % m.bytes + shift : 0x80);
    a_.emit(X::kIdVpshufb, m.t, data, pool_table(bytes));
    if (m.bytes == 2) {
        a_.emit(X::kIdVpermq, m.t, m.t, Imm(0x08));
        movu(at, m.t.xmm());
    } else {
        a_.emit(X::kIdVextracti128, m.z[0].xmm(), m.t, Imm(1));
        a_.emit(X::kIdVpunpckldq, m.t.xmm(), m.t.xmm(), m.z[0].xmm());
        a_.vmovq(at, m.t.xmm());
    }
}

// ---- elements of several dwords: array of structures <-> one register per dword
// ---------------------

void BlockCompiler::RowCode::deinterleave(const LaneAccess& m) const {
    if (m.in_memory_order) return;
    if (m.of_pairs()) {
        // Halves of pairs are those of each 128 bits of the lower and the upper dwords.
        for (uint32_t half = 0; half < 2; ++half)
            a_.emit(c_.avx512_ ? X::kIdVshuff64x2 : X::kIdVperm2f128, m.data[half], m.z[0], m.z[1],
                    Imm(c_.avx512_ ? (half ? 0xdd : 0x88) : (half ? 0x31 : 0x20)));
    } else if (m.dwords == 3)
        deinterleave3(m);
    else if (c_.avx512_)
        deinterleave_avx512(m);
    else
        deinterleave_avx2(m);
}

void BlockCompiler::RowCode::interleave(const LaneAccess& m) const {
    if (m.in_memory_order) return;
    if (m.of_pairs())
        join_pairs(m);
    else if (m.dwords == 3)
        interleave3(m);
    else if (c_.avx512_)
        interleave_avx512(m);
    else
        interleave_avx2(m);
}

// A load from the LDS that has been done lane by lane: rows of dwords become what it makes.
void BlockCompiler::RowCode::rows_as_loaded(const LaneAccess& m) const {
    const bool same = !inst(ir::address_of(inst(m.v))).imm;  // in whatever order
    if (m.in_memory_order && !same) {
        LaneAccess rows = m;
        rows.in_memory_order = false;
        rows.pairs = {no_value, no_value};
        interleave(rows);
        for (uint32_t p = 0; p < m.dwords; ++p) a_.vmovaps(m.data[p], m.z[p]);
    } else if (m.of_pairs()) {
        for (uint32_t d = 0; d < m.dwords; d += 2) {
            a_.vmovaps(m.t, m.data[d]);
            a_.emit(X::kIdVpunpckldq, m.data[d], m.t, m.data[d + 1]);
            a_.emit(X::kIdVpunpckhdq, m.data[d + 1], m.t, m.data[d + 1]);
        }
    }
}

// deinterleave() of pairs, backwards.
void BlockCompiler::RowCode::join_pairs(const LaneAccess& m) const {
    for (uint32_t part = 0; part < 2; ++part) {
        if (!c_.avx512_) {
            a_.emit(X::kIdVperm2f128, m.z[part], m.data[0], m.data[1], Imm(part ? 0x31 : 0x20));
            continue;
        }
        uint64_t table[8];
        for (uint64_t i = 0; i < 8; ++i) table[i] = 4 * part + i / 4 * 2 + i % 2 + i / 2 % 2 * 8;
        movu(m.z[part], pool_table(table));
        a_.emit(X::kIdVpermi2q, m.z[part], m.data[0], m.data[1]);
    }
}

// Dword 3 * lane + d of memory is dword d of a lane.
void BlockCompiler::RowCode::deinterleave3(const LaneAccess& m) const {
    uint32_t table[16] = {}, second[16] = {};
    for (uint32_t d = 0; d < 3; ++d) {
        if (c_.avx512_) {
            for (uint32_t l = 0; l < 16; ++l) {
                const uint32_t e = 3 * l + d;
                table[l] = e & 31;
                second[l] = e < 32 ? l : 16 + (e & 15);
            }
            movu(m.data[d], pool_table(table));
            a_.emit(X::kIdVpermi2d, m.data[d], m.z[0], m.z[1]);
            movu(m.t, pool_table(second));
            a_.emit(X::kIdVpermt2d, m.data[d], m.t, m.z[2]);
            continue;
        }
        // No two lanes want the same place of different parts.
        uint32_t part[3] = {};
        for (uint32_t l = 0; l < 16; ++l) {
            const uint32_t e = 3 * (l & 7) + d;
            table[l] = e & 7;
            part[e / 8] |= 1u << (e & 7);
        }
        a_.emit(X::kIdVpblendd, m.t, m.z[0], m.z[1], Imm(part[1]));
        a_.emit(X::kIdVpblendd, m.t, m.t, m.z[2], Imm(part[2]));
        movu(m.data[d], pool_table(table));
        a_.emit(X::kIdVpermd, m.data[d], m.data[d], m.t);
    }
}

void BlockCompiler::RowCode::interleave3(const LaneAccess& m) const {
    uint32_t table[16] = {}, second[16] = {};
    if (c_.avx512_) {
        for (uint32_t p = 0; p < 3; ++p) {
            for (uint32_t i = 0; i < 16; ++i) {
                const uint32_t l = (16 * p + i) / 3, d = (16 * p + i) % 3;
                table[i] = l + (d == 1 ? 16 : 0);
                second[i] = d == 2 ? 16 + l : i;
            }
            movu(m.z[p], pool_table(table));
            a_.emit(X::kIdVpermi2d, m.z[p], m.data[0], m.data[1]);
            movu(m.t, pool_table(second));
            a_.emit(X::kIdVpermt2d, m.z[p], m.t, m.data[2]);
        }
        return;
    }
    // Each dword's lanes to their places, then the three together.
    const Vec place[3] = {m.t, m.t2, m.z[2]};
    for (uint32_t d = 0; d < 3; ++d) {
        for (uint32_t l = 0; l < 16; ++l) table[(3 * l + d) & 7] = l & 7;
        movu(place[d], pool_table(table));
        a_.emit(X::kIdVpermd, place[d], place[d], m.data[d]);
    }
    for (uint32_t p = 0; p < 3; ++p) {
        uint32_t from[3] = {};
        for (uint32_t i = 0; i < 8; ++i) from[(8 * p + i) % 3] |= 1u << i;
        a_.emit(X::kIdVpblendd, m.z[p], p == 2 ? place[2] : place[0], p == 2 ? place[0] : place[2],
                Imm(p == 2 ? from[0] : from[2]));
        a_.emit(X::kIdVpblendd, m.z[p], m.z[p], place[1], Imm(from[1]));
    }
}

// Elements of four dwords at known distances. Lanes i, i + 4, ... share a vector: what is left of
// the transposition stays in 128 bits. Memory is touched in the order of lanes, as prefetchers
// expect.
void BlockCompiler::RowCode::load_quads(const LaneAccess& m, const LaneOffsets& offsets) const {
    for (uint32_t lane = 0; lane < chunk_lanes(); ++lane)
        load_sixteen(a_, c_.avx512_, m.data[lane % 4], lane / 4, element_at(m, offsets[lane]));
    transpose_fours(a_, m.data, m.z);
}

// Elements of three dwords as if they had four, but for the last one: the fourth dword lies in
// front of the next element, and no page is touched that holds no element.
void BlockCompiler::RowCode::load_triples(LaneAccess m, const LaneOffsets& offsets) const {
    m.data[3] = m.t;
    const uint32_t last = chunk_lanes() - 1;
    for (uint32_t lane = 0; lane < last; ++lane)
        load_sixteen(a_, c_.avx512_, m.data[lane % 4], lane / 4, element_at(m, offsets[lane]));
    GatherCode(c_).load_element(m, m.t2.xmm(), 0, element_at(m, offsets[last]));
    a_.emit(c_.avx512_ ? X::kIdVinserti32x4 : X::kIdVinserti128, m.t, m.t, m.t2.xmm(),
            Imm(last / 4));
    transpose_fours(a_, m.data, m.z);
}

void BlockCompiler::RowCode::store_triples(LaneAccess m, const LaneOffsets& offsets) const {
    m.data[3] = m.data[2];
    quads_of_lanes(m, [&](uint32_t lane, const Vec& v) {
        const Mem at = element_at(m, offsets[lane]);
        Vec x = v;
        if (const uint32_t part = lane / 4) {
            x = m.z[0];  // free by now
            a_.emit(c_.avx512_ ? X::kIdVextracti32x4 : X::kIdVextracti128, x.xmm(), v, Imm(part));
        }
        a_.emit(X::kIdVmovlps, at, x.xmm());
        a_.emit(X::kIdVextractps, at.cloneAdjusted(8).cloneResized(4), x.xmm(), Imm(2));
    });
}

// The element so many bytes behind m.address, which a displacement reaches.
Mem BlockCompiler::RowCode::element_at(const LaneAccess& m, uint32_t offset) {
    return x86::ptr(m.address, static_cast<int32_t>(m.imm) + static_cast<int32_t>(offset));
}

void BlockCompiler::RowCode::store_quads(const LaneAccess& m, const LaneOffsets& offsets) const {
    quads_of_lanes(m, [&](uint32_t lane, const Vec& v) {
        const Mem at = element_at(m, offsets[lane]);
        if (lane < 4)
            movu(at, v.xmm());
        else
            a_.emit(c_.avx512_ ? X::kIdVextracti32x4 : X::kIdVextracti128, at, v, Imm(lane / 4));
    });
}

// store: of a lane, whose quad is part lane / 4 of the vector.
void BlockCompiler::RowCode::quads_of_lanes(
    const LaneAccess& m, const std::function<void(uint32_t, const Vec&)>& store) const {
    const Vec *z = m.z, *d = m.data;
    a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // x0 y0 x1 y1
    a_.emit(X::kIdVunpcklps, z[1], d[2], d[3]);  // z0 w0 z1 w1
    a_.emit(X::kIdVunpckhps, z[2], d[0], d[1]);
    a_.emit(X::kIdVunpckhps, z[3], d[2], d[3]);
    const Vec lanes[4] = {m.t, z[1], m.t2, z[3]};
    a_.emit(X::kIdVunpcklpd, lanes[0], z[0], z[1]);
    a_.emit(X::kIdVunpckhpd, lanes[1], z[0], z[1]);
    a_.emit(X::kIdVunpcklpd, lanes[2], z[2], z[3]);
    a_.emit(X::kIdVunpckhpd, lanes[3], z[2], z[3]);
    for (uint32_t lane = 0; lane < chunk_lanes(); ++lane) store(lane, lanes[lane % 4]);
}

// A constant as wide as a register: the frame's, or once per block.
Operand BlockCompiler::RowCode::pool_table(const void* bytes) const {
    Mem from;
    if (const uint32_t table = find_table(bytes, width()); table < table_count) {
        from = frame_field(offsetof(Frame, tables) + table * sizeof(Frame::tables[0]));
    } else {
        const std::string key(static_cast<const char*>(bytes), width());
        auto [it, added] = c_.tables_.try_emplace(key, 0);
        if (added) it->second = c_.pool_bytes(bytes, width(), 8);
        from = x86::ptr(c_.pool_label_, static_cast<int32_t>(it->second));
    }
    if (const auto kept = c_.constant_register(from, width())) return *kept;
    return from;
}

Operand BlockCompiler::RowCode::index_table(std::initializer_list<uint32_t> start, uint32_t run,
                                            uint32_t step) const {
    uint32_t table[16];
    for (uint32_t i = 0; i < 16; ++i) table[i] = start.begin()[i / run] + i % run * step;
    return pool_table(table);
}

// z[] holds memory order. data[d] = dword d of each lane.
void BlockCompiler::RowCode::deinterleave_avx512(const LaneAccess& m) const {
    if (m.dwords == 2) {
        for (uint32_t d = 0; d < 2; ++d) {
            movu(m.data[d], index_table({d}, 16, 2));
            a_.emit(X::kIdVpermi2d, m.data[d], m.z[0], m.z[1]);
        }
        return;
    }
    // data[0] = x and y of lanes 0..7, data[1] = z and w; data[2], data[3] the same of lanes 8..15.
    for (uint32_t d = 0; d < 4; ++d) {
        movu(m.data[d], index_table({d % 2 * 2, d % 2 * 2 + 1}, 8, 4));
        a_.emit(X::kIdVpermi2d, m.data[d], m.z[d / 2 * 2], m.z[d / 2 * 2 + 1]);
    }
    a_.emit(X::kIdVshuff64x2, m.z[0], m.data[0], m.data[2], Imm(0x44));
    a_.emit(X::kIdVshuff64x2, m.z[1], m.data[0], m.data[2], Imm(0xee));
    a_.emit(X::kIdVshuff64x2, m.z[2], m.data[1], m.data[3], Imm(0x44));
    a_.emit(X::kIdVshuff64x2, m.data[3], m.data[1], m.data[3], Imm(0xee));
    for (uint32_t d = 0; d < 3; ++d) movu(m.data[d], m.z[d]);
}

void BlockCompiler::RowCode::interleave_avx512(const LaneAccess& m) const {
    auto pairs = [&](const Vec& to, const Vec& x, const Vec& y,
                     uint32_t first) {  // x[first], y[first], x[first+1], ...
        uint32_t table[16];
        for (uint32_t i = 0; i < 16; ++i) table[i] = first + i / 2 + (i & 1 ? 16 : 0);
        movu(to, pool_table(table));
        a_.emit(X::kIdVpermi2d, to, x, y);
    };
    if (m.dwords == 2) {
        pairs(m.z[0], m.data[0], m.data[1], 0);
        pairs(m.z[1], m.data[0], m.data[1], 8);
        return;
    }
    pairs(m.z[0], m.data[0], m.data[1], 0);  // xy of lanes 0..7
    pairs(m.z[1], m.data[2], m.data[3], 0);  // zw
    pairs(m.z[2], m.data[0], m.data[1], 8);
    pairs(m.z[3], m.data[2], m.data[3], 8);
    auto join = [&](const Vec& to, const Vec& xy, const Vec& zw, uint64_t first) {
        uint64_t table[8];
        for (uint64_t i = 0; i < 8; ++i) table[i] = first + i / 2 + (i & 1 ? 8 : 0);
        movu(to, pool_table(table));
        a_.emit(X::kIdVpermi2q, to, xy, zw);
    };
    for (uint32_t half = 0; half < 4; half += 2) {
        join(m.t, m.z[half], m.z[half + 1], 0);
        join(m.t2, m.z[half], m.z[half + 1], 4);
        movu(m.z[half], m.t);
        movu(m.z[half + 1], m.t2);
    }
}

void BlockCompiler::RowCode::deinterleave_avx2(const LaneAccess& m) const {
    if (m.dwords == 2) {
        for (uint32_t d = 0; d < 2; ++d) {
            a_.emit(X::kIdVshufps, m.data[d], m.z[0], m.z[1], Imm(d ? 0xdd : 0x88));
            a_.emit(X::kIdVpermq, m.data[d], m.data[d], Imm(0xd8));
        }
        return;
    }
    const Vec *z = m.z, *d = m.data;
    a_.emit(X::kIdVperm2f128, d[0], z[0], z[2], Imm(0x20));  // lanes 0 | 4
    a_.emit(X::kIdVperm2f128, d[1], z[0], z[2], Imm(0x31));  // 1 | 5
    a_.emit(X::kIdVperm2f128, d[2], z[1], z[3], Imm(0x20));  // 2 | 6
    a_.emit(X::kIdVperm2f128, d[3], z[1], z[3], Imm(0x31));  // 3 | 7
    transpose_fours(a_, m.data, m.z);
}

void BlockCompiler::RowCode::interleave_avx2(const LaneAccess& m) const {
    const Vec *z = m.z, *d = m.data;
    if (m.dwords == 2) {
        a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // lanes 0 1 | 4 5
        a_.emit(X::kIdVunpckhps, m.t, d[0], d[1]);   // 2 3 | 6 7
        a_.emit(X::kIdVperm2f128, z[1], z[0], m.t, Imm(0x31));
        a_.emit(X::kIdVperm2f128, z[0], z[0], m.t, Imm(0x20));
        return;
    }
    a_.emit(X::kIdVunpcklps, z[0], d[0], d[1]);  // x0 y0 x1 y1 | lanes 4, 5
    a_.emit(X::kIdVunpcklps, z[1], d[2], d[3]);  // z0 w0 z1 w1
    a_.emit(X::kIdVunpckhps, z[2], d[0], d[1]);  // x2 y2 x3 y3
    a_.emit(X::kIdVunpckhps, z[3], d[2], d[3]);
    for (uint32_t half = 0; half < 4; half += 2) {
        a_.emit(X::kIdVunpckhpd, m.t, z[half], z[half + 1]);      // lane 1 | 5 (or 3 | 7)
        a_.emit(X::kIdVunpcklpd, z[half], z[half], z[half + 1]);  // lane 0 | 4 (or 2 | 6)
        a_.emit(X::kIdVperm2f128, z[half + 1], z[half], m.t, Imm(0x31));
        a_.emit(X::kIdVperm2f128, z[half], z[half], m.t, Imm(0x20));
    }
    // Now z[0] = lanes 0 1, z[1] = 4 5, z[2] = 2 3, z[3] = 6 7.
    movu(m.t, z[1]);
    movu(z[1], z[2]);
    movu(z[2], m.t);
}

}  // namespace wj::x64
