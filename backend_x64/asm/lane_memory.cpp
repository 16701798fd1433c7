// Loads and stores of lanes. The common patterns are tested at run time and done inline:
// consecutive lanes (vector load or store, transposed for multi-dword elements), one address for
// all lanes (broadcast), and 32-bit offsets from one base (gather, scatter). Whatever is left goes
// out of line, lane by lane.
#include <algorithm>
#include <bit>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/reach.h"
#include "backend_x64/column_store.h"

namespace wj::x64 {

using asmjit::Imm;
using ir::Access;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::AccessCode::lane_memory(Value v) const {
    if (c_.loop_.walking == Walking::Noting) return RowLoopCode(c_).note_lanes(v);
    if (c_.loop_.walking == Walking::Yes && c_.row_loop_ && c_.row_loop_->windows.of(v))
        return RowLoopCode(c_).access_window(v);
    const ir::Inst& i = inst(v);
    const auto& a = i.args;
    LaneAccess m(plan_access(context(), v, site_of(v)));
    tell(options_.decisions, m);
    const Value addr = ir::address_of(i), mask = m.mask_value;
    m.slow = a_.newLabel();
    m.gather = a_.newLabel();
    m.done = a_.newLabel();
    m.gather_any = a_.newLabel();
    m.scattered = a_.newLabel();

    // Registers are taken before the first branch: taking one may spill another.
    const Value uniform = inst(addr).op == Op::Splat32 ? inst(addr).args[0] : no_value;
    const bool buffer = m.space == buffer_space;
    if (m.walk >= 0) {
        m.walk_chunk = c_.loop_.chunk;
        m.learned_from = c_.loop_.walking == Walking::Learning &&
                         c_.loop_plan_.walks.walks[static_cast<size_t>(m.walk)].first == v;
    }
    const bool all_lanes_walk =
        m.walk >= 0 && c_.loop_plan_.walks.walks[static_cast<size_t>(m.walk)].all_lanes;
    const bool at_line = m.shape.kind == Shape::Line, walks = m.transfer == Transfer::Walking;
    if ((buffer && uniform != no_value) || at_line || walks)
        m.lo = tmp();  // not often needed
    else if (m.transfer != Transfer::Broadcast)
        use_address(m, addr);  // else there is no vector of addresses
    if (m.base_value != no_value) m.base = home_mem(schedule_.uniform_home(m.base_value));
    if (buffer) m.limit = home_mem(schedule_.uniform_home(a[3]));
    use_mask(m, mask);
    if (m.store)
        for (uint32_t d = 0; d < m.dwords; ++d)
            m.data[d] = m.of_pairs() ? use(m.pairs[0], d) : use(a[4 + d]);
    if (m.second != no_value) {
        m.data[1] = use(inst(m.second).args[4]);
        c_.done_.push_back(m.second);
    }
    m.t = tmp();
    m.t2 = tmp();
    // Elements of three dwords are transposed as if they had four, single dwords gathered in two
    // halves.
    const uint32_t parts = m.dwords == 3                  ? 4
                           : m.store                      ? m.dwords
                           : gathers64(m) || m.rows_ahead ? std::max(2u, m.dwords)
                                                          : m.dwords;
    for (uint32_t d = 0; d < parts; ++d) m.z[d] = tmp();
    if (c_.avx512_) m.tk = tmp_k();
    if (!c_.avx512_ && !m.full) m.first = tmp();
    if (!m.store) {
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const Unit u = loaded_unit(context(), m, d);
            m.data[d] = c_.dead(u) ? tmp() : def(u);
        }
    }

    if (m.learned_from && all_lanes_walk) {
        WalkCode(c_).learn_all_lanes(m);
        m.learned_from = false;
    }
    m.may_be_off = walks && all_lanes_walk && RowCode(c_).asks_for_whole_masks(m);
    if (!m.may_be_off && mask != c_.some_mask_) skip_inactive_chunk(m);
    if (at_line) {
        LineCode(c_).memory_line(m, addr);
    } else {
        switch (m.transfer) {
            case Transfer::Broadcast:
                memory_broadcast(m, inst(addr).args[0]);
                break;
            case Transfer::Walking:
                WalkCode(c_).access(m);
                break;
            case Transfer::Table:
                GatherCode(c_).memory_table(m);
                break;
            case Transfer::BufferRange:
                ScratchCode(c_).memory_buffer(m, uniform);
                break;
            case Transfer::PrivateRow:
                ScratchCode(c_).memory_scratch_row(m, uniform);
                break;
            case Transfer::PrivateLanes:
                ScratchCode(c_).memory_scratch(m, m.slow);
                cold(m.slow, [*this, m] {
                    memory_slow(m);
                    a_.jmp(m.done);
                });
                break;
            case Transfer::OutOfLine:
                memory_slow(m);
                a_.bind(m.slow);
                a_.bind(m.gather);
                break;
            default:
                memory_patterns(m);
        }
    }
    a_.bind(m.done);
    if (m.store) return;
    for (uint32_t d = 0; d < m.dwords; ++d) {
        const Unit u = loaded_unit(context(), m, d);
        if (!c_.dead(u)) define_done(u);
        if (m.is_tile() && m.tile[d] != v) c_.done_.push_back(m.tile[d]);
    }
    for (Value pair : m.pairs)
        if (pair != no_value) c_.done_.push_back(pair);
}

AccessSite BlockCompiler::AccessCode::site_of(Value v) const {
    AccessSite site;
    site.full = is_full(ir::mask_of(inst(v)));
    site.in_loop = c_.loop_.by_chunks;
    site.learns =
        c_.loop_.walking == Walking::Learning && c_.loop_.lean && !c_.loop_plan_.divergent;
    site.walks = c_.loop_.walking == Walking::Yes;
    if (c_.loop_.walking != Walking::No) site.loop_walks = &c_.loop_plan_.walks;
    site.row_walks = c_.loop_plan_.row_walks;
    site.behind = {schedule_.begin(c_.position_) + c_.at_ + 1, schedule_.end(c_.position_)};
    if (space_of(inst(v).op) == lds_space)
        if (const PlacedLine* const line =
                LineCode(c_).placed_line(no_value, ir::address_of(inst(v))))
            site.line_end = line->end;
    return site;
}

void BlockCompiler::AccessCode::use_address(LaneAccess& m, Value addr) const {
    if (!m.wide) {
        m.lo = use(addr);
    } else if (schedule_.split(addr)) {
        m.lo = use(inst(addr).args[0]);
        m.hi = use(inst(addr).args[1]);
    } else {
        const Vec x = use(addr, 0), y = use(addr, 1);
        m.lo = tmp();
        m.hi = tmp();
        c_.join64(m.lo, x, y, false);
        c_.join64(m.hi, x, y, true);
    }
}

void BlockCompiler::AccessCode::use_mask(LaneAccess& m, Value mask) const {
    if (m.full) return;
    if (c_.avx512_)
        m.mask_k = use_k(mask);
    else
        m.mask_v = use(mask);
}

// A chunk without active lanes touches nothing; the tests of its addresses would take leftovers for
// an address. What is computed from leftovers nobody wants, but denormals among them take Intel's
// processors 150 cycles each time: there loads have zeros.
void BlockCompiler::AccessCode::skip_inactive_chunk(const LaneAccess& m) const {
    if (m.full) return;
    const bool loads = ir::op_info(inst(m.v).op).cls == ir::Class::LaneLoad;
    if (loads && !m.learned_from && feeds_floats(context(), m.v))
        for (uint32_t d = 0; d < m.dwords; ++d) {
            const Vec x = m.data[d].xmm();
            a_.emit(x.id() < 16 ? X::kIdVpxor : X::kIdVpxord, x, x, x);
        }
    if (c_.avx512_)
        a_.kortestw(m.mask_k, m.mask_k);
    else
        a_.emit(X::kIdVptest, m.mask_v, m.mask_v);
    if (m.learned_from)
        WalkCode(c_).learn_no_lanes(m);
    else
        a_.jz(m.done);
}

// A load from an address that is known to be the same in all lanes.
void BlockCompiler::AccessCode::memory_broadcast(LaneAccess m, Value uniform) const {
    const Home& home = schedule_.uniform_home(uniform);
    const Gp address = c_.gp(0, c_.wide(uniform));
    if (is_const(uniform))
        a_.mov(address,
               c_.wide(uniform) ? inst(uniform).imm : static_cast<uint32_t>(inst(uniform).imm));
    else
        a_.mov(address, home_mem(home));
    if (m.space == lds_space) {
        LineCode(c_).lds_bound(Imm(static_cast<uint32_t>(m.imm) + m.bytes), m.slow);
        a_.add(x86::rax, wave_field(offsetof(Wave, lds), 8));
        m.lo = m.z[0];
        cold(m.slow, [*this, m, uniform, home] {
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
        if (is_masked(m.mode)) {
            if (m.imm) a_.add(x86::rax, static_cast<int32_t>(m.imm));
            emit_reach(a_, x86::rax);
            m.imm = 0;
        }
    }
    a_.bind(m.gather);
    m.address = x86::rax;
    GatherCode(c_).load_same(m);
}

void BlockCompiler::AccessCode::memory_streamed(LaneAccess m) const {
    const Label cached = a_.newLabel();
    if (m.dwords > 1) RowCode(c_).interleave(m);
    if (m.imm) {
        a_.lea(x86::rcx, x86::ptr(m.address, static_cast<int32_t>(m.imm)));
        m.address = x86::rcx;
    }
    a_.test(frame_field(offsetof(Frame, not_streamed), 8), m.address);
    a_.jnz(cached);
    auto part = [=, *this](uint32_t p) {
        return x86::ptr(m.address, static_cast<int32_t>(p * width()));
    };
    cold(cached, [=, *this] {
        for (uint32_t p = 0; p < m.dwords; ++p) movu(part(p), m.parts()[p]);
        a_.jmp(m.done);
    });
    for (uint32_t p = 0; p < m.dwords; ++p) a_.emit(X::kIdVmovntps, part(p), m.parts()[p]);
}

// ---- columns (column_store.h)
// ----------------------------------------------------------------------------------------

// The only operation of its region: a store that may be a column's, with everything in rows of
// memory.
bool BlockCompiler::AccessCode::may_store_column(Value v) const {
    return may_be_column(context(), v) && std::ranges::all_of(column_rows(v), [](const Source& s) {
               return s.kind == Source::Full;
           });
}

std::array<BlockCompiler::Source, 3> BlockCompiler::AccessCode::column_rows(Value v) const {
    const ir::Inst& i = inst(v);
    const Value address = ir::address_of(i);
    const Source data = source(schedule_.unit(i.args[4]));
    if (has_lane_step(context(), inst(address))) {
        const Mem step = home_mem(schedule_.uniform_home(inst(address).args[1]));
        return {Source{Source::Full, step}, {Source::Full, step}, data};
    }
    if (!schedule_.split(address))
        return {source(schedule_.unit(address, 0)), source(schedule_.unit(address, 1)), data};
    const auto& halves = inst(address).args;
    return {source(schedule_.unit(halves[0])), source(schedule_.unit(halves[1])), data};
}

void BlockCompiler::AccessCode::column_store(Value v, Label otherwise, Label done) const {
    const ir::Inst& i = inst(v);
    ColumnStore store;
    store.pc = block_->guest_pcs[i.guest];
    store.offset = static_cast<int64_t>(i.imm);
    store.form = has_lane_step(context(), inst(ir::address_of(i))) ? ColumnStore::Form::Step
                 : schedule_.split(ir::address_of(i))              ? ColumnStore::Form::Halves
                                                                   : ColumnStore::Form::Qwords;
    // Where code lies in its page stays the same, wherever it is loaded.
    store.site = static_cast<uint16_t>(store.pc / 4 % sizeof(Frame::columns_wait));
    store.last = is_last_access(*block_, v);
    store.wide = c_.avx512_;
    take(options_.decisions, Mechanism::Columns, v);
    const auto rows = column_rows(v);
    const bool has_base = ir::has_scalar_base(i.op);
    const Mem base = has_base ? home_mem(schedule_.uniform_home(i.args[0])) : Mem();
    const Label attempt = a_.newLabel();
    a_.sub(frame_field(offsetof(Frame, columns_wait) + store.site, 1), 1);
    a_.jb(attempt);
    cold(attempt, [=, *this] {
        const uint32_t at = c_.pool_bytes(&store, sizeof store, 8);
        c_.relocate(at + offsetof(ColumnStore, pc), Relocation::Kind::Code, store.pc);
        if (has_base)
            a_.mov(x86::rax, base);
        else
            a_.xor_(x86::eax, x86::eax);
        if (store.last && store.form == ColumnStore::Form::Step) add_to_held(store, at, rows, done);
        a_.mov(frame_field(offsetof(Frame, address_base)), x86::rax);
        const Gp to[] = {x86::rcx, x86::r8, x86::r9};
        for (size_t r = 0; r < rows.size(); ++r) a_.lea(to[r], rows[r].mem);
        a_.lea(x86::rdi, x86::ptr(reg::wave, in_wave(0)));
        a_.lea(x86::rsi, frame_field(0));
        a_.lea(x86::rdx, x86::ptr(c_.pool_label_, static_cast<int32_t>(at)));
        a_.vzeroupper();
        a_.call(frame_field(offsetof(Frame, column_stub), 8));
        a_.test(x86::al, x86::al);
        a_.jnz(done);
        a_.jmp(otherwise);
    });
}

// Goes on with a column that is held, but for its last row. rax: address of the first lane's column
// without the store's offset.
void BlockCompiler::AccessCode::add_to_held(const ColumnStore& store, uint32_t at,
                                            const std::array<Source, 3>& rows, Label done) const {
    const auto held = [&](size_t field, uint32_t size = 8) {
        return frame_field(offsetof(Frame, held) + field, size);
    };
    const Label otherwise = a_.newLabel();
    a_.lea(x86::rcx, x86::ptr(c_.pool_label_, static_cast<int32_t>(at)));
    a_.cmp(held(offsetof(HeldColumns, store)), x86::rcx);
    a_.jne(otherwise);
    a_.lea(x86::rcx, x86::ptr(x86::rax, static_cast<int32_t>(store.offset)));
    if (is_masked(options_.address_mode)) emit_reach(a_, x86::rcx);
    a_.cmp(held(offsetof(HeldColumns, next)), x86::rcx);
    a_.jne(otherwise);
    a_.mov(x86::edx, rows[0].mem);
    a_.cmp(held(offsetof(HeldColumns, step)), x86::rdx);
    a_.jne(otherwise);
    a_.mov(x86::ecx, held(offsetof(HeldColumns, waves), 4));
    a_.lea(x86::edx, x86::ptr(x86::rcx, 1));
    a_.cmp(x86::edx, held(offsetof(HeldColumns, most), 4));
    a_.jae(otherwise);
    const uint32_t row = block_->wave_size * sizeof HeldColumns::data[0];
    a_.shl(x86::ecx, std::countr_zero(row));
    Mem to = held(offsetof(HeldColumns, data), 0);
    to.setIndex(x86::rcx);
    for (uint32_t at = 0; at < row; at += width()) {
        movu(vec(0), rows[2].mem.cloneAdjusted(at));
        movu(to.cloneAdjusted(at), vec(0));
    }
    a_.mov(held(offsetof(HeldColumns, waves), 4), x86::edx);
    if (block_->wave_size == machine::lanes) {
        a_.add(held(offsetof(HeldColumns, next)), 4);
    } else {
        for (size_t n = 0; n < 2; ++n)
            a_.mov(n ? x86::rcx : x86::rax, held(offsetof(HeldColumns, ahead) + 8 * n));
        a_.add(held(offsetof(HeldColumns, next)), x86::rax);
        for (size_t n = 0; n < 2; ++n)
            a_.mov(held(offsetof(HeldColumns, ahead) + 8 * n), n ? x86::rax : x86::rcx);
    }
    a_.mov(frame_field(offsetof(Frame, columns_wait) + store.site, 1), 0);
    a_.jmp(done);
    a_.bind(otherwise);
}

// ---- lane by lane
// ----------------------------------------------------------------------------------------

MemoryOp BlockCompiler::AccessCode::memory_op(const LaneAccess& m) const {
    MemoryOp op;
    op.pc = block_->guest_pcs[inst(m.v).guest];
    op.offset = m.imm - m.added;
    op.space = m.space;
    op.access = static_cast<uint8_t>(m.access);
    op.dwords = static_cast<uint8_t>(m.dwords);
    op.store = m.store;
    op.registers.lo = static_cast<uint8_t>(m.lo.id());
    if (m.wide)
        op.registers.hi = static_cast<uint8_t>(m.hi.id());
    else
        op.flags |= no_upper_halves;
    if (m.full)
        op.flags |= all_lanes;
    else
        op.registers.mask = static_cast<uint8_t>(c_.avx512_ ? m.mask_k.id() : m.mask_v.id());
    for (uint32_t d = 0; d < m.dwords; ++d)
        op.registers.data[d] = static_cast<uint8_t>(m.data[d].id());
    return op;
}

void BlockCompiler::AccessCode::memory_slow(LaneAccess m) const {
    if (m.added) {
        a_.mov(x86::eax, m.added);
        a_.vmovd(m.t.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, m.t, m.t.xmm());
        a_.emit(X::kIdVpaddd, m.t, m.t, m.lo);
        m.lo = m.t;
    }
    if (m.space == buffer_space) {
        a_.mov(x86::rax, m.limit);
        a_.mov(frame_field(offsetof(Frame, buffer_limit)), x86::rax);
    }
    if (m.scalar_base || m.space == buffer_space)
        a_.mov(x86::rcx, m.base);
    else if (m.space != lds_space)
        a_.xor_(x86::ecx, x86::ecx);
    const MemoryOp op = memory_op(m);
    m.by_stub ? call_memory_stub(op) : call_memory_op(op, sizeof op);
}

// The same for an address in the LDS that is a line: C++ knows where it begins.
void BlockCompiler::AccessCode::lds_line_slow(const LaneAccess& m, Value line) const {
    LineOp op;
    static_cast<MemoryOp&>(op) = memory_op(m);
    op.flags |= of_line | no_upper_halves;
    op.offset = m.imm;
    const ir::Inst& i = inst(line);
    auto place = [*this](Value v, uint32_t& value) {
        value = static_cast<uint32_t>(inst(v).imm);
        if (is_const(v)) return LineOp::Constant;
        const Home& home = schedule_.uniform_home(v);
        const bool of_wave = home.kind == Home::Wave;
        value = of_wave ? home.index : static_cast<uint32_t>(slot_offset(home));
        return of_wave ? LineOp::InWave : LineOp::InFrame;
    };
    op.base_place = place(i.args[0], op.base);
    op.step_place = place(i.args[1], op.step);
    op.stride = static_cast<uint32_t>(i.imm);
    op.width = static_cast<uint8_t>(i.aux);
    call_memory_op(op, sizeof op);
}

// Changes eax.
void BlockCompiler::AccessCode::mask_to_frame(const LaneAccess& m) const {
    if (c_.avx512_) {
        a_.kmovw(frame_field(offsetof(Frame, mask)), m.mask_k);
    } else {
        a_.vmovmskps(x86::eax, m.mask_v.ymm());
        a_.mov(frame_field(offsetof(Frame, mask)), x86::eax);
    }
}

// size: of the operation that `op` is the beginning of.
void BlockCompiler::AccessCode::call_memory_op(const MemoryOp& op, uint32_t size) const {
    const uint32_t at = c_.pool_bytes(&op, size, 8);
    c_.relocate(at + offsetof(MemoryOp, pc), Relocation::Kind::Code, op.pc);
    a_.lea(x86::rax, x86::ptr(c_.pool_label_, static_cast<int32_t>(at)));
    a_.call(frame_field(offsetof(Frame, memory_stub), 8));
}

}  // namespace wj::x64
