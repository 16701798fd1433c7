// Loads and stores of lanes. The common patterns are tested at run time and done inline:
// consecutive lanes (vector load or store, transposed for multi-dword elements), one address for
// all lanes (broadcast), and 32-bit offsets from one base (gather, scatter). Whatever is left goes
// out of line, lane by lane.
#include <algorithm>
#include <bit>

#include "backend_x64/asm/lane_access.h"
#include "backend_x64/column_store.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {
constexpr size_t most_lds_lines = 8;
}

void BlockCompiler::lane_memory(Value v) {
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    LaneAccess m;
    m.v = v;
    m.store = ir::op_info(i.op).cls == ir::Class::LaneStore;
    m.scalar_base = ir::has_scalar_base(i.op);
    m.space = space_of(i.op);
    m.access = ir::aux_access(i.aux);
    m.dwords = std::max(1u, ir::aux_dwords(i.aux));
    m.bytes = element_bytes(m.access, m.dwords);
    m.added = m.space == lds_space ? static_cast<uint32_t>(i.imm >> 32) : 0;
    m.imm = immediate(i);
    const Value addr = m.scalar_base ? a[1] : a[0], mask = m.scalar_base ? a[2] : a[1];
    m.full = schedule_.is_full(mask);
    m.wide = block_->type(addr) == ir::Type::V64;
    m.slow = a_.newLabel();
    m.gather = a_.newLabel();
    m.done = a_.newLabel();
    m.gather_any = a_.newLabel();
    m.scattered = a_.newLabel();

    // Registers are taken before the first branch: taking one may spill another.
    const Value uniform = inst(addr).op == Op::Splat32 ? inst(addr).args[0] : no_value;
    const bool buffer = m.space == buffer_space;
    const bool broadcast = !m.store && m.access == Access::Dwords &&
                           (inst(addr).op == Op::Splat32 || inst(addr).op == Op::Splat64) &&
                           (m.space == lds_space ? m.imm >= 0 && m.imm <= 0x10000
                                                 : m.space == global_space && !options_.checked &&
                                                       m.imm == static_cast<int32_t>(m.imm));
    const bool line = is_line(m, addr);
    if (const auto walk = walks_.of(v); walk && walking_ != Walking::No) {
        m.walk = static_cast<int32_t>(*walk);
        m.walk_chunk = loop_chunk_;
        m.learned_from = walking_ == Walking::Learning && walks_.walks[*walk].first == v;
    }
    const bool walks = m.walk >= 0 && walking_ == Walking::Yes;
    if ((buffer && uniform != no_value) || line || walks)
        m.lo = tmp();  // not often needed
    else if (!broadcast)
        use_address(m, addr);  // else there is no vector of addresses
    if (m.scalar_base) m.base = home_mem(schedule_.uniform_home(a[0]));
    if (buffer) {
        m.base = home_mem(schedule_.uniform_home(a[2]));
        m.limit = home_mem(schedule_.uniform_home(a[3]));
    }
    use_mask(m, mask);
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d) m.data[d] = use(a[4 + d]);
    m.t = tmp();
    m.t2 = tmp();
    // Elements of three dwords are gathered as if they had four, single dwords in two halves.
    const uint32_t parts = m.store ? m.dwords : m.dwords == 3 ? 4 : gathers64(m) ? 2 : m.dwords;
    for (uint32_t d = 0; d < parts; ++d) m.z[d] = tmp();
    if (avx512_) m.tk = tmp_k();
    if (!avx512_ && !m.full) m.first = tmp();
    if (!m.store) {
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const Unit u = schedule_.unit(v, d);
            m.data[d] = dead(u) ? tmp() : def(u);
        }
    }

    skip_inactive_chunk(m);
    if (broadcast) {
        memory_broadcast(m, inst(addr).args[0]);
    } else if (walks) {
        memory_walk(m);
    } else if (line) {
        memory_line(m, addr);
    } else if (buffer) {
        memory_buffer(m, uniform);
    } else if (m.space == scratch_space && uniform != no_value) {
        memory_scratch_row(m, uniform);
    } else if (m.space == scratch_space) {
        memory_scratch(m, m.slow);
        cold(m.slow, [this, m] {
            memory_slow(m);
            a_.jmp(m.done);
        });
    } else {
        memory_patterns(m);
    }
    a_.bind(m.done);
    if (m.store) return;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Unit u = schedule_.unit(v, d);
        if (!dead(u)) define_done(u);
    }
}

void BlockCompiler::use_address(LaneAccess& m, Value addr) {
    if (!m.wide) {
        m.lo = use(addr);
    } else if (schedule_.split(addr)) {
        m.lo = use(inst(addr).args[0]);
        m.hi = use(inst(addr).args[1]);
    } else {
        const Vec x = use(addr, 0), y = use(addr, 1);
        m.lo = tmp();
        m.hi = tmp();
        join64(m.lo, x, y, false);
        join64(m.hi, x, y, true);
    }
}

void BlockCompiler::use_mask(LaneAccess& m, Value mask) {
    if (m.full) return;
    if (avx512_)
        m.mask_k = use_k(mask);
    else
        m.mask_v = use(mask);
}

// A chunk without active lanes touches nothing; the tests of its addresses would take leftovers for
// an address.
void BlockCompiler::skip_inactive_chunk(const LaneAccess& m) {
    if (m.full) return;
    if (avx512_)
        a_.kortestw(m.mask_k, m.mask_k);
    else
        a_.emit(X::kIdVptest, m.mask_v, m.mask_v);
    if (m.learned_from)
        walk_learn_no_lanes(m);
    else
        a_.jz(m.done);
}

// A load from an address that is known to be the same in all lanes.
void BlockCompiler::memory_broadcast(LaneAccess m, Value uniform) {
    const Home& home = schedule_.uniform_home(uniform);
    const Gp address = gp(0, wide(uniform));
    if (is_const(uniform))
        a_.mov(address,
               wide(uniform) ? inst(uniform).imm : static_cast<uint32_t>(inst(uniform).imm));
    else
        a_.mov(address, home_mem(home));
    if (m.space == lds_space) {
        a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
        a_.sub(x86::edx, static_cast<int32_t>(m.imm) + static_cast<int32_t>(m.bytes));
        a_.jb(m.slow);
        a_.cmp(x86::eax, x86::edx);  // in range without wrapping

        a_.ja(m.slow);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
        m.lo = m.z[0];
        cold(m.slow, [this, m, uniform, home] {
            // Out of range for all lanes; the general path knows what that means.
            a_.emit(X::kIdVbroadcastss, m.lo,
                    is_const(uniform) ? pool32(static_cast<uint32_t>(inst(uniform).imm))
                                      : home_mem(home));
            memory_slow(m);
            a_.jmp(m.done);
        });
    } else {
        a_.bind(m.slow);
        if (m.scalar_base) a_.add(x86::rax, m.base);
        if (options_.mask_addresses) {
            if (m.imm) a_.add(x86::rax, static_cast<int32_t>(m.imm));
            a_.mov(x86::rdx, wave_field(offsetof(Wave, ctx), 8));
            a_.and_(x86::rax,
                    x86::qword_ptr(x86::rdx, offsetof(machine::ExecContext, address_mask)));
            m.imm = 0;
        }
    }
    a_.bind(m.gather);
    for (uint32_t d = 0; d < m.dwords; ++d)
        a_.emit(
            X::kIdVbroadcastss, m.data[d],
            x86::dword_ptr(x86::rax, static_cast<int32_t>(m.imm) + static_cast<int32_t>(d * 4)));
}

// How far apart the lanes' elements are is known without a look at them.
bool BlockCompiler::is_line(const LaneAccess& m, Value addr) const {
    if (inst(addr).op != Op::Line32) return false;
    if (m.space == lds_space) return m.imm >= 0 && m.imm <= 0x10000;
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
                immediate(x) >= 0 && immediate(x) <= 0x10000)
                end = std::max(end,
                               immediate(x) + element_bytes(ir::aux_access(x.aux),
                                                            std::max(1u, ir::aux_dwords(x.aux))));
        if (!end) continue;
        const auto stride = static_cast<int32_t>(l.imm);
        const Mem slot = home_mem({Home::Slot, extra_slots_});
        const Label out = a_.newLabel(), done = a_.newLabel();
        if (is_const(l.args[0]))
            a_.mov(x86::eax, static_cast<uint32_t>(inst(l.args[0]).imm));
        else
            a_.mov(x86::eax, home_mem(schedule_.uniform_home(l.args[0])));
        a_.mov(x86::edx, wave_field(offsetof(Wave, lds_size), 4));
        a_.sub(x86::edx, static_cast<int32_t>(end) + 63 * stride);
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

// The first access of the block to these 16 bytes of each lane prefetches for all.
bool BlockCompiler::first_of_tile(const LaneAccess& m, Value line) const {
    if (m.space != global_space) return false;
    for (Value v = 0; v < m.v; ++v) {
        const ir::Inst& x = inst(v);
        const ir::Class cls = ir::op_info(x.op).cls;
        if ((cls == ir::Class::LaneLoad || cls == ir::Class::LaneStore) &&
            space_of(x.op) == global_space && ir::address_of(x) == line &&
            (!m.scalar_base || x.args[0] == inst(m.v).args[0]) &&
            std::abs(immediate(x) - m.imm) < static_cast<int64_t>(stride_bytes))
            return false;
    }
    return true;
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
    if (stride == m.bytes) {
        if (!m.store && m.space == global_space) prefetch_ahead(m, m.bytes);
        streamed(m) ? memory_streamed(m) : memory_consecutive(m);
    } else if (stride == 0 && !m.store) {
        load_same(m);
    } else if (stride == stride_bytes && m.full && m.dwords_only() &&
               (m.store ? m.bytes == 4 && avx512_ && row_of_tile(m) : m.bytes <= 8)) {
        if (first_of_tile(m, line)) prefetch_ahead(m, stride);
        copy_pattern(m, strided);
    } else if (stride == 4 && may_be_sliding(m)) {
        copy_pattern(m, sliding);
    } else {
        if (stride == stride_bytes && first_of_tile(m, line)) prefetch_ahead(m, stride);
        find_first_lane(m);
        movu(m.t, index_table({0}, 16, stride));
        copy_lanes(m, m.t);
    }
}

// A store whose end no later instruction of its wave waits for.
bool BlockCompiler::ends_unordered(Value v) const {
    const ir::Terminator& t = block_->term;
    return inst(v).guest >= block_->unordered_from && t.kind == ir::Terminator::Kind::Exit &&
           t.exit == machine::ExitKind::EndProgram;
}

// A store that may go around the caches when the launch writes more than they hold: whole lines
// that the block does not read, with nothing behind it that another wave could take for a sign of
// their being there.
bool BlockCompiler::streamed(const LaneAccess& m) const {
    if (!m.store || !m.full || m.space != global_space || !m.dwords_only() || m.dwords == 3 ||
        !ends_unordered(m.v))
        return false;
    return std::none_of(block_->insts.begin(), block_->insts.end(), [&](const ir::Inst& i) {
        const ir::Class cls = ir::op_info(i.op).cls;
        return cls == ir::Class::LaneAtomic || cls == ir::Class::Call ||
               (cls == ir::Class::LaneLoad && ir::has_scalar_base(i.op) &&
                i.args[0] == inst(m.v).args[0]);
    });
}

void BlockCompiler::memory_streamed(const LaneAccess& m) {
    const Label cached = a_.newLabel();
    if (m.dwords > 1) interleave(m);
    if (m.imm) a_.add(m.address, static_cast<int32_t>(m.imm));
    a_.test(frame_field(offsetof(Frame, not_streamed), 8), m.address);
    a_.jnz(cached);
    auto part = [=, this](uint32_t p) {
        return x86::ptr(m.address, static_cast<int32_t>(p * width()));
    };
    cold(cached, [=, this] {
        for (uint32_t p = 0; p < m.dwords; ++p) movu(part(p), m.dwords > 1 ? m.z[p] : m.data[p]);
        a_.jmp(m.done);
    });
    for (uint32_t p = 0; p < m.dwords; ++p)
        a_.emit(X::kIdVmovntps, part(p), m.dwords > 1 ? m.z[p] : m.data[p]);
}

// ---- columns (column_store.h)
// ----------------------------------------------------------------------------------------

// The only operation of its region: a store of dwords at any addresses by all lanes, with
// everything in rows of memory.
bool BlockCompiler::may_store_columns(Value v) {
    const ir::Inst& i = inst(v);
    if ((i.op != Op::StoreGlobal && i.op != Op::StoreGlobalS64) || options_.checked ||
        options_.mask_addresses || ir::aux_access(i.aux) != Access::Dwords ||
        ir::aux_dwords(i.aux) != 1 || !schedule_.is_full(ir::mask_of(i)))
        return false;
    // What the chunks' addresses look like must not be wanted by later accesses.
    for (const ir::Inst& other : block_->insts) {
        const ir::Class cls = ir::op_info(other.op).cls;
        if (&other != &i && (cls == ir::Class::LaneLoad || cls == ir::Class::LaneStore) &&
            ir::address_of(other) == ir::address_of(i))
            return false;
    }
    return std::ranges::all_of(column_rows(v),
                               [](const Source& s) { return s.kind == Source::Full; });
}

// Nothing behind the store touches memory, nor does anything tell another wave that it is done.
bool BlockCompiler::is_last_access(Value v) const {
    if (!ends_unordered(v)) return false;
    return std::all_of(block_->insts.begin() + v + 1, block_->insts.end(), [](const ir::Inst& i) {
        using enum ir::Class;
        const ir::Class cls = ir::op_info(i.op).cls;
        return cls != LaneLoad && cls != LaneStore && cls != LaneAtomic && cls != Call &&
               cls != ULoad;
    });
}

std::array<BlockCompiler::Source, 3> BlockCompiler::column_rows(Value v) {
    const ir::Inst& i = inst(v);
    const Value address = ir::address_of(i);
    const Source data = source(schedule_.unit(i.args[4]));
    if (!schedule_.split(address))
        return {source(schedule_.unit(address, 0)), source(schedule_.unit(address, 1)), data};
    const auto& halves = inst(address).args;
    return {source(schedule_.unit(halves[0])), source(schedule_.unit(halves[1])), data};
}

void BlockCompiler::column_store(Value v, Label otherwise, Label done) {
    const ir::Inst& i = inst(v);
    ColumnStore store;
    store.pc = block_->guest_pcs[i.guest];
    store.offset = static_cast<int64_t>(i.imm);
    store.qwords = !schedule_.split(ir::address_of(i));
    // Where code lies in its page stays the same, wherever it is loaded.
    store.site = static_cast<uint16_t>(store.pc / 4 % sizeof(Frame::columns_wait));
    store.last = is_last_access(v);
    column_site_ = store.site;
    const auto rows = column_rows(v);
    const bool has_base = ir::has_scalar_base(i.op);
    const Mem base = has_base ? home_mem(schedule_.uniform_home(i.args[0])) : Mem();
    const Label attempt = a_.newLabel();
    a_.sub(frame_field(offsetof(Frame, columns_wait) + store.site, 1), 1);
    a_.jb(attempt);
    cold(attempt, [=, this] {
        const uint32_t at = pool_bytes(&store, sizeof store, 8);
        relocate(at + offsetof(ColumnStore, pc), Relocation::Kind::Code, store.pc);
        if (has_base)
            a_.mov(x86::rax, base);
        else
            a_.xor_(x86::eax, x86::eax);
        a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
        const Gp to[] = {x86::rcx, x86::r8, x86::r9};
        for (size_t r = 0; r < rows.size(); ++r) a_.lea(to[r], rows[r].mem);
        a_.mov(x86::rdi, reg::wave);
        a_.mov(x86::rsi, reg::frame);
        a_.lea(x86::rdx, x86::ptr(pool_label_, static_cast<int32_t>(at)));
        a_.vzeroupper();
        a_.call(frame_field(offsetof(Frame, column_stub), 8));
        a_.test(x86::al, x86::al);
        a_.jnz(done);
        a_.jmp(otherwise);
    });
}

// ---- lane by lane
// ----------------------------------------------------------------------------------------

void BlockCompiler::memory_slow(const LaneAccess& m) {
    MemoryOp op;
    op.pc = block_->guest_pcs[inst(m.v).guest];
    op.offset = m.imm - m.added;
    op.space = m.space;
    op.access = static_cast<uint8_t>(m.access);
    op.dwords = static_cast<uint8_t>(m.dwords);
    op.store = m.store;
    op.lanes = static_cast<uint8_t>(chunk_lanes());
    if (m.added) {
        a_.mov(x86::eax, m.added);
        a_.vmovd(m.t.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpaddd, m.t, m.t, m.lo);
        movu(frame_field(offsetof(Frame, address_lo)), m.t);
    } else {
        movu(frame_field(offsetof(Frame, address_lo)), m.lo);
    }
    if (m.wide) {
        movu(frame_field(offsetof(Frame, address_hi)), m.hi);
        if (m.scalar_base) {
            a_.mov(x86::rax, m.base);
            a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
        } else {
            op.flags |= no_base;
        }
    } else if (m.space == buffer_space) {
        a_.mov(x86::rax, m.base);
        a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
        a_.mov(x86::rax, m.limit);
        a_.mov(frame_field(offsetof(Frame, buffer_limit)), x86::rax);
    } else if (m.scalar_base) {
        op.flags |= no_upper_halves;
        a_.mov(x86::rax, m.base);
        a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
    }
    if (m.full) {
        op.flags |= all_lanes;
    } else if (avx512_) {
        a_.kmovw(frame_field(offsetof(Frame, mask)), m.mask_k);
    } else {
        a_.vmovmskps(x86::eax, m.mask_v.ymm());
        a_.mov(frame_field(offsetof(Frame, mask)), x86::eax);
    }
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d)
            movu(frame_field(offsetof(Frame, data) + d * 64), m.data[d]);
    call_memory_op(op);
    if (m.store) return;
    for (uint32_t d = 0; d < m.dwords; ++d)
        movu(m.data[d], frame_field(offsetof(Frame, data) + d * 64));
}

void BlockCompiler::call_memory_op(const MemoryOp& op) {
    const uint32_t at = pool_bytes(&op, sizeof op, 8);
    relocate(at + offsetof(MemoryOp, pc), Relocation::Kind::Code, op.pc);
    a_.lea(x86::rax, x86::ptr(pool_label_, static_cast<int32_t>(at)));
    a_.call(frame_field(offsetof(Frame, memory_stub), 8));
}

}  // namespace wj::x64
