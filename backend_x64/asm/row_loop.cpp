// Loops with stores whose lanes go along rows of their own (row_loop.h), out of line: the ordinary
// code in front runs when the addresses do not let iterations and lanes change places. Per chunk:
// what windows hold is loaded, so many iterations run with all accesses in registers' reach, and
// what they have stored goes out. The last iteration, and those for which rows could not be read or
// written ahead, run as they would without.
#include <algorithm>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/walk_fields.h"

namespace wj::x64 {

using asmjit::Imm;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

enum Field : uint32_t {  // slots
    unpaid,              // of the budget, when fewer iterations may change places than are paid for
    left,                // of the iterations that the windows serve
    served,              // of them, have run
    opened,              // 0: the first windows' pages have been looked at
    known,               // 1: nobody has to look at pages
    follows,             // another iteration follows
    field_count
};

constexpr uint8_t patience = 63;  // entries that a loop goes without, where it was refused

}  // namespace

// The addresses of the chunk's lanes, half of them in each part.
Mem BlockCompiler::RowLoopCode::row_lanes(uint32_t walk, uint32_t part) const {
    const size_t at = offsetof(Frame, row_lanes) + walk * sizeof(Frame::row_lanes[0]);
    return x86::ptr(reg::frame, reg::chunk, 1,
                    in_frame(at) + 512 + static_cast<int32_t>(part * c_.width()));
}

Mem BlockCompiler::RowLoopCode::row_slot(uint32_t field) const {
    return c_.home_mem({Home::Slot, c_.row_state_.slots + field}).cloneResized(8);
}

// Where the window's dwords are.
int32_t BlockCompiler::RowLoopCode::window_at(uint32_t window) {
    return in_frame(offsetof(Frame, lane_rows) + window * sizeof(Frame::lane_rows[0]));
}

void BlockCompiler::RowLoopCode::begin() const {
    c_.row_state_.entry = a_.newLabel();
    c_.row_state_.refused = a_.newLabel();
    // Where code lies in its page stays the same, wherever it is loaded.
    c_.row_state_.site = static_cast<uint32_t>(block_->pc / 4 % sizeof(Frame::rows_wait));
    a_.sub(frame_field(offsetof(Frame, rows_wait) + c_.row_state_.site, 1), 1);
    a_.jb(c_.row_state_.entry);
    a_.bind(c_.row_state_.refused);
}

RowOrder BlockCompiler::RowLoopCode::row_order() const {
    RowOrder order;
    order.most = windows().most;
    order.lanes = ~0ull >> (machine::lanes - block_->lanes);
    order.some_lanes = std::ranges::any_of(
        plan_.walks.walks, [*this](const Walks::Walk& w) { return !schedule_.is_full(w.mask); });
    order.walk_count = static_cast<uint32_t>(plan_.walks.walks.size());
    for (uint32_t w = 0; w < order.walk_count; ++w) {
        const Walks::Walk& walk = plan_.walks.walks[w];
        const Mem patterns_at = walk_slot(patterns, w);
        order.walks[w] = {
            *walk.whole_step(), windows().in_windows(w),
            static_cast<uint8_t>(ir::access_bytes(inst(walk.first))),
            static_cast<uint32_t>(patterns_at.offset() + static_cast<int64_t>(frame_bias))};
        if (const int32_t step = order.walks[w].step; step && keeps_base(w))
            order.most = std::min(order.most,
                                  (1u << masked_walk_bits) / static_cast<uint32_t>(std::abs(step)));
    }
    for (Value v = 0; v < block_->insts.size(); ++v)
        if (const auto walk = plan_.walks.of(v))
            order.accesses[order.access_count++] = {
                static_cast<int32_t>(ir::immediate(inst(v))),
                static_cast<uint16_t>(ir::access_bytes(inst(v))), static_cast<uint8_t>(*walk),
                ir::op_info(inst(v).op).cls == ir::Class::LaneStore};
    return order;
}

// Walking::Noting: where the lanes of the access's walk are.
void BlockCompiler::RowLoopCode::note_lanes(Value v) const {
    const ir::Inst& i = inst(v);
    LaneAccess m;
    m.v = v;
    m.scalar_base = ir::has_scalar_base(i.op);
    m.wide = block_->type(ir::address_of(i)) == ir::Type::V64;
    m.mode = c_.options_.address_mode;
    if (m.scalar_base) m.base = c_.home_mem(schedule_.uniform_home(i.args[0]));
    AccessCode(c_).use_address(m, ir::address_of(i));
    m.t = c_.tmp(), m.t2 = c_.tmp();
    m.z[0] = c_.tmp(), m.z[1] = c_.tmp();
    GatherCode(c_).scalar_part(m);
    GatherCode(c_).lane_addresses(m);
    const uint32_t walk = *plan_.walks.of(v);
    movu(row_lanes(walk, 0), m.t);
    movu(row_lanes(walk, 1), m.t2);
}

// The lanes' addresses in the first iteration, and what the order may be: goes on at
// RowLoopState::refused if that is the program's alone. Iterations that may not change places with
// the first ones are not paid for now.
void BlockCompiler::RowLoopCode::enter(bool masks) const {
    const Mem wait = frame_field(offsetof(Frame, rows_wait) + c_.row_state_.site, 1),
              budget = x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, budget)));
    const Label chunk = a_.newLabel(), refused = a_.newLabel();
    backup(true);
    a_.mov(wait, patience);
    for (const Walks::Limit& limit : plan_.walks.limits) {
        if (inst(limit.value).op != ir::Op::GetS32) continue;
        const size_t reg = offsetof(Wave, sgpr) + inst(limit.value).imm * 4;
        a_.mov(x86::eax, x86::dword_ptr(reg::wave, in_wave(reg)));
        if (limit.is_signed) a_.add(x86::eax, 1 << 30);
        a_.test(x86::eax, x86::eax);
        a_.js(refused);
    }
    emit_uniform([] {});
    if (!plan_.walks.limits.empty()) a_.mov(walk_slot(learned), 0);
    c_.begin_chunks(masks);
    a_.bind(chunk);
    loop_.pins = {};
    loop_.walking = Walking::Noting;
    loop_.lean = true;
    enter_body(true);
    c_.region_body();
    loop_.lean = false;
    loop_.walking = Walking::No;
    if (masks) a_.add(reg::bits, c_.avx512_ ? 2 : 1);
    a_.add(reg::chunk, c_.width());
    if (block_->lanes < machine::lanes) compare_chunk();
    a_.jnz(chunk);
    if (!plan_.walks.limits.empty()) {
        a_.test(walk_slot(learned), out_of_limits);
        a_.jnz(refused);
    }
    const RowOrder order = row_order();
    const uint32_t at = c_.pool_bytes(&order, sizeof order, 8);
    a_.lea(x86::rdi, x86::ptr(reg::wave, in_wave(0)));
    a_.lea(x86::rsi, frame_field(0));
    a_.lea(x86::rdx, x86::ptr(c_.pool_label_, static_cast<int32_t>(at)));
    a_.vzeroupper();
    a_.call(frame_field(offsetof(Frame, row_order_stub), 8));
    a_.mov(row_slot(known), x86::rdx);
    backup(false);  // leaves rax
    a_.test(x86::rax, x86::rax);
    a_.jz(c_.row_state_.refused);
    a_.mov(wait, 0);
    // The iteration at hand is paid for.
    a_.dec(x86::rax);
    a_.imul(x86::rax, x86::rax, block_->guest_count);
    a_.xor_(x86::edx, x86::edx);
    a_.mov(x86::rcx, budget);
    a_.sub(x86::rcx, x86::rax);
    a_.cmovns(x86::rdx, x86::rcx);
    a_.sub(budget, x86::rdx);
    a_.mov(row_slot(unpaid), x86::rdx);
    backup(true);
    if (plan_.walks.limits.empty()) return;
    cold(refused, [*this] {
        backup(false);
        a_.jmp(c_.row_state_.refused);
    });
}

// Lanes that are off stay where they are.
void BlockCompiler::RowLoopCode::and_moves(const Vec& more, uint32_t part) const {
    const Mem moves = x86::ptr(
        reg::frame, reg::chunk, 1,
        in_frame(offsetof(Frame, row_moves)) + 512 + static_cast<int32_t>(part * c_.width()));
    a_.emit(c_.avx512_ ? X::kIdVpandq : X::kIdVpand, more, more, moves);
}

// The addresses of the window's lanes, to Frame::lane_hosts; rdx: its dwords. Between iterations no
// value is in the first two vectors: plan_pins() leaves them.
void BlockCompiler::RowLoopCode::row_window(uint32_t window) const {
    const RowLoop::Window& w = windows().windows[window];
    const Vec lanes = vec(0), begin = vec(1);
    const bool full = schedule_.is_full(plan_.walks.walks[w.walk].mask);
    for (uint32_t part = 0; part < 2; ++part) {
        movu(lanes, row_lanes(w.walk, part));
        if (w.begin && (!part || !full))
            a_.emit(X::kIdVpbroadcastq, begin, c_.pool64(static_cast<uint64_t>(int64_t{w.begin})));
        if (w.begin && !full) and_moves(begin, part);
        if (w.begin) a_.emit(X::kIdVpaddq, lanes, lanes, begin);
        movu(frame_field(offsetof(Frame, lane_hosts) + part * c_.width()), lanes);
    }
    a_.lea(x86::rdx, x86::ptr(reg::frame, window_at(window)));
}

// In the direction of the window's walk.
int64_t BlockCompiler::RowLoopCode::fetched_ahead(uint32_t window, int32_t bytes) const {
    return *plan_.walks.walks[windows().windows[window].walk].whole_step() > 0 ? bytes : -bytes;
}

void BlockCompiler::RowLoopCode::open_windows(Label failed) const {
    for (uint32_t n = 0; n < windows().windows.size(); ++n) {
        const bool store = windows().windows[n].store;
        const Label good = a_.newLabel();
        if (store) {
            a_.cmp(row_slot(known), 0);
            a_.jne(good);
        }
        row_window(n);
        if (store)
            a_.mov(x86::ecx, row_slot(opened).cloneResized(4));
        else
            a_.mov(x86::rcx, fetched_ahead(n, rows_fetched_ahead));
        a_.call(
            frame_field(store ? offsetof(Frame, open_rows_stub) : offsetof(Frame, rows_stub), 8));
        a_.test(x86::eax, x86::eax);
        a_.jz(failed);
        a_.bind(good);
    }
    a_.mov(row_slot(opened), 0);
}

// So many iterations as `served` says have run: what they have stored goes out.
void BlockCompiler::RowLoopCode::close_windows() const {
    const uint32_t iterations = windows().iterations;
    for (uint32_t n = 0; n < windows().windows.size(); ++n) {
        const RowLoop::Window& w = windows().windows[n];
        if (!w.store) continue;
        const int32_t step = *plan_.walks.walks[w.walk].whole_step(), each = std::abs(step) / 4;
        uint32_t all = 0;  // in the order of the row
        for (uint32_t i = 0; i < iterations; ++i)
            all |= w.dwords << i * static_cast<uint32_t>(each);
        row_window(n);
        if (step > 0) {
            a_.mov(x86::ecx, row_slot(served).cloneResized(4));
        } else {
            a_.mov(x86::ecx, iterations);
            a_.sub(x86::ecx, row_slot(served).cloneResized(4));
        }
        if (each > 1) a_.imul(x86::ecx, x86::ecx, each);
        a_.mov(x86::eax, -1);
        a_.shlx(x86::eax, x86::eax, x86::ecx);
        a_.mov(x86::ecx, all);
        if (step > 0)
            a_.andn(x86::ecx, x86::eax, x86::ecx);
        else
            a_.and_(x86::ecx, x86::eax);
        a_.mov(x86::rax, fetched_ahead(n, rows_stored_ahead));
        a_.call(frame_field(offsetof(Frame, store_rows_stub), 8));
    }
}

// Walks go on behind so many iterations as `served` says.
void BlockCompiler::RowLoopCode::go_on() const {
    const Vec more = vec(0), lanes = vec(1);
    for (uint32_t w = 0; w < plan_.walks.walks.size(); ++w) {
        if (!windows().in_windows(w)) {
            a_.add(walk_slot(addresses, w), walk_distance(w));
            continue;
        }
        a_.imul(x86::eax, row_slot(served).cloneResized(4), *plan_.walks.walks[w].whole_step());
        a_.movsxd(x86::rax, x86::eax);
        a_.vmovq(more.xmm(), x86::rax);
        a_.emit(X::kIdVpbroadcastq, more, more.xmm());
        const bool full = schedule_.is_full(plan_.walks.walks[w].mask);
        for (uint32_t part = 0; part < 2; ++part) {
            mov(lanes, more);
            if (!full) and_moves(lanes, part);
            a_.emit(X::kIdVpaddq, lanes, lanes, row_lanes(w, part));
            movu(row_lanes(w, part), lanes);
        }
    }
}

// Walking::Yes: the access in its window.
void BlockCompiler::RowLoopCode::access_window(Value v) const {
    const ir::Inst& i = inst(v);
    const uint32_t window = *windows().of(v);
    const RowLoop::Window& w = windows().windows[window];
    const auto offset = static_cast<int32_t>(ir::immediate(i)) - w.begin;
    if (ir::aux_access(i.aux) != ir::Access::Dwords) return access_narrow(v, offset);
    const int32_t first = offset / 4;
    for (uint32_t d = 0; d < ir::aux_dwords(i.aux); ++d) {
        const int32_t at = window_at(window) +
                           (first + static_cast<int32_t>(d)) * static_cast<int32_t>(c_.width());
        const Mem dword = x86::ptr(reg::frame, walk_distance(w.walk), 0, at);
        if (w.store) {
            movu(dword, c_.use(i.args[4 + d]));
        } else if (const Unit u = schedule_.unit(v, d); !c_.dead(u)) {
            movu(c_.def(u), dword);
            c_.define_done(u);
        }
    }
}

// A load of bytes or words, `offset` bytes behind where the iteration is.
void BlockCompiler::RowLoopCode::access_narrow(Value v, int32_t offset) const {
    if (c_.dead(schedule_.unit(v))) return;
    const uint32_t window = *windows().of(v);
    const Vec count = c_.tmp(), data = c_.def(v);
    // In the window each dword takes the lanes' number of times its place in a row.
    const auto lanes = static_cast<int32_t>(c_.chunk_lanes());
    a_.lea(x86::eax, x86::ptr(walk_distance(windows().windows[window].walk), offset * lanes));
    a_.mov(x86::ecx, x86::eax);
    a_.and_(x86::eax, -static_cast<int32_t>(c_.width()));
    a_.and_(x86::ecx, c_.width() - 1);
    if (lanes > 8) a_.shr(x86::ecx, lanes / 16);  // 8 bits a byte
    a_.vmovd(count.xmm(), x86::ecx);
    movu(data, x86::ptr(reg::frame, x86::rax, 0, window_at(window)));
    GatherCode(c_).take_element(ir::aux_access(inst(v).aux), data, count);
    c_.define_done(schedule_.unit(v));
}

// A chunk's iterations. Leaves the chunk behind it as the one at hand.
void BlockCompiler::RowLoopCode::emit_chunk(const Gp& budget) const {
    const auto count = static_cast<uint32_t>(plan_.walks.walks.size());
    const Label counting = a_.newLabel(), strip = a_.newLabel(), iteration = a_.newLabel(),
                plain = a_.newLabel(), ended = a_.newLabel(), last = a_.newLabel(),
                bodies = a_.newLabel(), finished = a_.newLabel(), failed = a_.newLabel();
    for (uint32_t w = 0; w < count; ++w) {
        if (windows().in_windows(w)) continue;
        const ir::Inst& access = inst(plan_.walks.walks[w].first);
        const bool apart = !keeps_base(w) && ir::has_scalar_base(access.op) &&
                           block_->type(ir::address_of(access)) == ir::Type::V64;
        a_.mov(x86::rax, row_lanes(w, 0).cloneResized(8));
        if (apart) a_.sub(x86::rax, c_.home_mem(schedule_.uniform_home(access.args[0])));
        a_.mov(walk_slot(addresses, w), x86::rax);
    }
    a_.mov(row_slot(opened), 15);
    if (!loop_.pins.idle.empty()) a_.mov(walk_slot(iterations), 0);

    // In front of an iteration's uniform code.
    a_.bind(counting);
    if (plan_.counted) count_iterations(budget, plain);
    a_.bind(strip);
    open_windows(failed);
    a_.mov(x86::eax, windows().iterations);
    if (plan_.counted) {
        a_.cmp(x86::rax, budget);
        a_.cmovg(x86::rax, budget);
        a_.sub(budget, x86::rax);
    }
    a_.mov(row_slot(left), x86::rax);
    a_.mov(row_slot(served), x86::rax);
    if (plan_.counted && !loop_.pins.idle.empty()) a_.add(walk_slot(iterations), x86::rax);
    for (uint32_t w = 0; w < count; ++w) {
        const Gp& distance = walk_distance(w);
        a_.xor_(distance.r32(), distance.r32());
        c_.gp_reserved_ |= 1u << distance.id();
    }
    const size_t facts_limit = c_.facts_limit_;
    c_.facts_limit_ = (6 - count) / 2;
    a_.bind(iteration);
    c_.uniforms_.assign(block_->insts.size(), {});
    if (plan_.counted)
        count_uniform();
    else
        decide_next(budget, ended, ended);
    loop_.walking = Walking::Yes;
    emit_bodies(true);
    loop_.walking = Walking::No;
    for (uint32_t w = 0; w < count; ++w) {
        const int32_t step = *plan_.walks.walks[w].whole_step();
        const int32_t each = windows().in_windows(w) ? static_cast<int32_t>(c_.chunk_lanes()) : 1;
        if (step) a_.add(walk_distance(w), step * each);
    }
    if (!plan_.counted && !loop_.pins.idle.empty()) a_.inc(walk_slot(iterations));
    a_.dec(row_slot(left));
    a_.jnz(iteration);
    c_.gp_reserved_ = 0;
    c_.facts_limit_ = facts_limit;
    close_windows();
    go_on();
    if (!plan_.counted) {
        a_.jmp(strip);
    } else {
        a_.test(budget, budget);
        a_.jnz(strip);
        count_end(budget);
    }

    // Without windows; what is counted is given back in front of it.
    if (!plan_.counted) a_.bind(failed);
    a_.bind(plain);
    a_.mov(row_slot(follows), 1);
    c_.uniforms_.assign(block_->insts.size(), {});
    decide_next(budget, last, last);
    a_.jmp(bodies);
    if (plan_.counted) {
        a_.bind(failed);
        count_stop(budget);
        a_.jmp(plain);
    } else {
        a_.bind(ended);
        a_.mov(x86::rax, row_slot(served));
        a_.sub(x86::rax, row_slot(left));
        a_.mov(row_slot(served), x86::rax);
        a_.jz(last);
        close_windows();
    }
    a_.bind(last);
    a_.mov(row_slot(follows), 0);
    a_.bind(bodies);
    c_.guest_ = ~0u;
    catch_up();
    if (!loop_.pins.idle.empty()) a_.mov(walk_slot(iterations), 0);
    emit_bodies(false);
    a_.cmp(row_slot(follows), 0);
    a_.je(finished);
    step_chunk(-1);
    load_pins();
    a_.mov(row_slot(served), 1);
    for (uint32_t w = 0; w < count; ++w)
        if (!windows().in_windows(w)) a_.mov(walk_distance(w), *plan_.walks.walks[w].whole_step());
    go_on();
    a_.jmp(counting);
    a_.bind(finished);
}

// Behind all other code of the block.
void BlockCompiler::RowLoopCode::emit() const {
    a_.bind(c_.row_state_.entry);
    std::swap(c_.schedule_, c_.row_loop_->schedule);
    c_.extra_slots_ = std::max(c_.extra_slots_, schedule_.slots_used());
    c_.loop_plan_ = c_.row_loop_->loop;
    loop_ = {};
    loop_.by_chunks = true;
    c_.facts_cross_regions_ = false;
    c_.forget_facts();
    c_.uniforms_.assign(block_->insts.size(), {});
    c_.units_.assign(schedule_.unit_count(), {});
    begin_region();
    const bool masks = schedule_.uses_mask_slots(1);
    const Gp budget = x86::r15;
    const Mem wave_budget = x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, budget)));
    reserve_backup();
    reserve_count();
    reserve_walks();
    c_.row_state_.slots = c_.extra_slots_;
    c_.extra_slots_ += field_count;
    c_.failed_ |= c_.extra_slots_ > slot_count;
    if (c_.failed_) return;
    enter(masks);

    loop_.pins = plan_.pins[0];
    each_chunk(masks, [&] {
        a_.mov(budget, wave_budget);
        begin_chunk();
        emit_chunk(budget);
        compare_chunk();
    });
    a_.mov(wave_budget, budget);
    a_.mov(x86::rax, row_slot(unpaid));
    a_.add(wave_budget, x86::rax);
    const Label more = a_.newLabel();
    leave(more);
    a_.bind(more);
    a_.cmp(wave_budget, 0);
    a_.js(c_.over_label_);
    a_.jmp(c_.body_label_);
}

}  // namespace wj::x64
