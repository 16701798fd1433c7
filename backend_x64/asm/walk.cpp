// Loops whose loads walk through memory (walks.h). Plain iterations learn: when all walks were at
// consecutive or equal addresses in two of them, one behind the other (or in one, of walks whose
// step is a constant), the next ones run a body that looks at no address. What a walk has gone
// since then is in a general register, its chunks' first addresses are in slots.
#include <algorithm>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/asm/reach.h"
#include "backend_x64/asm/walk_fields.h"

namespace wj::x64 {

using asmjit::Imm;
using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

uint32_t bit(uint32_t walk, uint32_t chunk) {
    return 1u << (walk * 4 + chunk);
}

}  // namespace

Mem BlockCompiler::WalkCode::walk_slot(uint32_t field, uint32_t walk, uint32_t chunk) const {
    const bool by_chunk = field == addresses || field == row_steps, bytes = field == patterns,
               bits =
                   field == found || field == found_before || field == learned || field == in_rows;
    const uint32_t each = walk * 4 + chunk;
    const uint32_t slot = loop_.walk_slots + field + (bytes ? each / 8 : by_chunk ? each : walk);
    Mem m = c_.home_mem({Home::Slot, slot}, bytes ? static_cast<int32_t>(each % 8) : 0);
    m.setSize(bytes ? 1 : bits ? 4 : 8);
    return m;
}

// Slots for what iterations find out about walks.
void BlockCompiler::WalkCode::reserve_walks() const {
    loop_.walk_slots = c_.extra_slots_;
    c_.extra_slots_ += has_narrow_rows(context()) ? walk_field_count_with_rows : walk_field_count;
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

// Behind iterations that walked: the rows that were left as they are.
void BlockCompiler::WalkCode::catch_up() const {
    const Vec more = vec(0), high = vec(1), carry = vec(2), one = vec(3);
    auto for_pins = [&](Value set, auto f) {
        for (const Pin& p : loop_.pins.carried)
            if (p.set == set) f(vec(p.reg), p.chunk);
    };
    auto broadcast = [&](const Vec& to) {
        a_.vmovd(to.xmm(), x86::eax);
        a_.emit(X::kIdVpbroadcastd, to, to.xmm());
    };
    for (const Walks::Induction& i : loop_.pins.idle) {
        add_up(i.high_step);
        a_.mov(x86::ecx, x86::eax);
        a_.shl(x86::rcx, 32);
        add_up(i.step);
        a_.or_(x86::rax, x86::rcx);
        a_.imul(x86::rax, walk_slot(iterations));
        broadcast(more);
        for_pins(i.set, [&](const Vec& row, uint32_t) { a_.emit(X::kIdVpaddd, row, row, more); });
        if (i.high == no_value) continue;
        a_.shr(x86::rax, 32);
        broadcast(high);
        a_.emit(X::kIdVpbroadcastd, one, c_.pool32(1));
        for_pins(i.high, [&](const Vec& row, uint32_t chunk) {
            // The smaller of the sum and what was added is the latter, unless the sum was cut.
            for_pins(i.set, [&](const Vec& low, uint32_t of) {
                if (of == chunk) a_.emit(X::kIdVpminud, carry, low, more);
            });
            // 0 where it was not; else at least 1.
            a_.emit(c_.avx512_ ? X::kIdVpxord : X::kIdVpxor, carry, carry, more);
            a_.emit(X::kIdVpminud, carry, carry, one);
            a_.emit(X::kIdVpaddd, row, row, high);
            a_.emit(X::kIdVpaddd, row, row, carry);
        });
    }
}

bool BlockCompiler::WalkCode::goes_through_rows(uint32_t walk) const {
    return std::ranges::any_of(loop_.row_sites,
                               [&](const LoopState::RowSite& s) { return s.walk == walk; });
}

// By how much each iteration moves on is in a slot.
bool BlockCompiler::WalkCode::goes_in_steps(uint32_t walk) const {
    return !plan_.walks.walks[walk].step || goes_through_rows(walk);
}

// Nothing is known yet, but for what was read ahead.
void BlockCompiler::WalkCode::forget() const {
    for (const WalkField field : {found, found_before, learned}) a_.mov(walk_slot(field), 0);
    if (plan_.row_walks) a_.mov(walk_slot(in_rows), 0);
}

void BlockCompiler::WalkCode::reset() const {
    if (plan_.walks.walks.empty()) return;
    forget();
    // What was read ahead for other chunks (load_from_rows) is of no use to these.
    a_.mov(frame_field(offsetof(Frame, scattered), 8), 0);
}

// To the next iteration, which learns, too.
void BlockCompiler::WalkCode::learn_next() const {
    a_.mov(x86::eax, walk_slot(found));
    a_.mov(walk_slot(found_before), x86::eax);
    a_.mov(walk_slot(found), 0);
    // A step is that of two iterations within the limits.
    a_.mov(x86::eax, walk_slot(learned));
    a_.shr(x86::eax, 1);
    a_.and_(x86::eax, out_of_limits >> 1);
    a_.mov(walk_slot(learned), x86::eax);
    if (plan_.row_walks) a_.mov(walk_slot(in_rows), 0);
}

// The first of the rows that were read ahead (load_from_rows) is this iteration's: the next ones
// walk through what is behind it.
void BlockCompiler::WalkCode::learn_rows(const LaneAccess& m, int32_t rows) const {
    const auto walk = static_cast<uint32_t>(m.walk);
    a_.lea(x86::rax, x86::ptr(reg::frame, rows - static_cast<int32_t>(m.imm)));
    if (adds_base(m)) a_.sub(x86::rax, m.base);
    a_.mov(walk_slot(addresses, walk, m.walk_chunk), x86::rax);
    a_.or_(walk_slot(in_rows), bit(walk, m.walk_chunk));
}

// Where addresses are masked: once, with a base that moves evenly, too. The next iterations stay
// within 2^masked_walk_bits bytes of there.
bool BlockCompiler::WalkCode::keeps_base(uint32_t walk) const {
    return is_masked(c_.options_.address_mode) && plan_.walks.walks[walk].base_step;
}

// Whether addresses of the walk are kept without the base, which comes in with each access.
bool BlockCompiler::WalkCode::adds_base(const LaneAccess& m) const {
    const auto walk = static_cast<uint32_t>(m.walk);
    if (keeps_base(walk)) return false;
    return m.base_apart() || plan_.walks.walks[walk].base_varies;
}

// Of a walk with a constant step: what its distance grows by.
int32_t BlockCompiler::WalkCode::step(uint32_t walk) const {
    const Walks::Walk& w = plan_.walks.walks[walk];
    return keeps_base(walk) ? *w.whole_step() : *w.step;
}

// From one iteration's row to the next one's, without what the base moves on by itself.
int32_t BlockCompiler::WalkCode::row_distance(uint32_t walk) const {
    const auto all = static_cast<int32_t>(c_.width());
    return keeps_base(walk) ? all : all - *plan_.walks.walks[walk].base_step;
}

// Behind iterations that walked: which row comes next.
void BlockCompiler::WalkCode::count_rows() const {
    for (const LoopState::RowSite& site : loop_.row_sites) {
        const Mem count = frame_field(offsetof(Frame, scattered) + site.number, 1);
        const Label other = a_.newLabel();
        a_.cmp(count, 0);
        a_.je(other);
        // Divided by the distance from row to row; there are no more than a vector's elements.
        constexpr uint32_t up = 16;
        const auto each = static_cast<uint32_t>(row_distance(site.walk));
        a_.imul(x86::eax, walk_distance(site.walk).r32(), ((1u << up) + each - 1) / each);
        a_.shr(x86::eax, up);
        a_.dec(x86::eax);
        a_.add(count, x86::al);
        a_.bind(other);
    }
}

// eax = the sum.
void BlockCompiler::WalkCode::add_up(const Walks::Sum& sum) const {
    a_.xor_(x86::eax, x86::eax);
    for (const auto& t : sum) {
        if (t.times == no_value) {
            a_.add(x86::eax, static_cast<int32_t>(t.factor));
            continue;
        }
        const size_t field = offsetof(Wave, sgpr) + inst(t.times).imm * 4;
        a_.imul(x86::edx, x86::dword_ptr(reg::wave, in_wave(field)),
                static_cast<int32_t>(t.factor));
        a_.add(x86::eax, x86::edx);
    }
}

// In front of the region's operation `at`: values that it is the first to read, and that the walks
// extend, may grow for as long as `walk_loop` lets them.
void BlockCompiler::WalkCode::check_limits(uint32_t at) const {
    for (const Walks::Limit& limit : plan_.walks.limits) {
        if (inst(limit.value).op == ir::Op::GetS32) continue;  // row_loop_enter()
        const Unit u = schedule_.unit(limit.value);
        auto reads = [&](uint32_t i) {
            return std::any_of(c_.use_records_.begin() + c_.use_start_[i],
                               c_.use_records_.begin() + c_.use_start_[i + 1],
                               [&](const UseRecord& r) { return r.unit == u; });
        };
        if (!reads(at)) continue;
        bool first = true;
        for (uint32_t i = 0; i < at && first; ++i) first = c_.skip_[i] || !reads(i);
        if (!first) continue;
        const Vec x = c_.use(u), t = c_.tmp();
        const Walks::Walk& walk = plan_.walks.walks[limit.walk];
        const Value mask = walk.mask;
        const bool full = walk.all_lanes || schedule_.is_full(mask);
        const Label beyond = a_.newLabel(), back = a_.newLabel();
        // Signed: from -2^30 to 2^30; unsigned: below 2^31.
        constexpr uint32_t quarter = 1u << 30;
        if (limit.is_signed)
            a_.emit(X::kIdVpaddd, t, x, c_.c32(quarter));
        else
            mov(t, x);
        if (c_.avx512_) {
            const KReg k = c_.tmp_k();
            if (!full) c_.k(c_.use_k(mask));
            a_.emit(X::kIdVptestmd, k, t, c_.c32(sign_bit));
            a_.kortestw(k, k);
        } else {
            if (!full) a_.emit(X::kIdVpand, t, t, c_.use(mask));
            a_.vmovmskps(x86::eax, t.ymm());
            a_.test(x86::eax, x86::eax);
        }
        a_.jnz(beyond);
        a_.bind(back);
        cold(beyond, [*this, back] {
            a_.or_(walk_slot(learned), out_of_limits);
            a_.jmp(back);
        });
    }
}

// Jumps if a value that walks extend may not grow any more: the next addresses may be elsewhere.
void BlockCompiler::WalkCode::leave_out_of_limits(Label out) const {
    if (plan_.walks.limits.empty()) return;
    a_.test(walk_slot(learned), out_of_limits);
    a_.jnz(out);
}

Mem BlockCompiler::WalkCode::row_step(const LaneAccess& m) const {
    return walk_slot(row_steps, static_cast<uint32_t>(m.walk), m.walk_chunk);
}

// The chunk's addresses have one of the walking patterns; `pattern` is a constant or a register
// that may hold others.
void BlockCompiler::WalkCode::learn(const LaneAccess& m, const Gp& address,
                                    const Operand& pattern) const {
    const auto walk = static_cast<uint32_t>(m.walk);
    const Mem last = walk_slot(patterns, walk, m.walk_chunk),
              at = walk_slot(addresses, walk, m.walk_chunk);
    const Label first = a_.newLabel(), done = a_.newLabel();
    auto find = [*this, m, address] {
        a_.mov(x86::rax, address);
        // The base comes in with each access, in case it varies.
        if (keeps_base(static_cast<uint32_t>(m.walk))) {
            if (m.base_apart()) a_.add(x86::rax, m.base);
            emit_reach(a_, x86::rax);
        } else if (plan_.walks.walks[static_cast<uint32_t>(m.walk)].base_varies &&
                   !m.base_apart()) {
            a_.sub(x86::rax, m.base);
        }
    };
    const bool one_is_enough = plan_.walks.walks[walk].step.has_value();
    const uint32_t own = bit(walk, m.walk_chunk);
    if (!pattern.isImm()) {
        a_.emit(X::kIdCmp, pattern, last_walking_pattern);
        a_.ja(done);
    }
    const Operand now = pattern.isImm() ? pattern : Operand(pattern.as<Gp>().r8());
    if (one_is_enough) {
        a_.emit(X::kIdMov, last, now);
        find();
        a_.mov(at, x86::rax);
        a_.or_(walk_slot(learned), own);
        a_.bind(done);
        return;
    }
    a_.or_(walk_slot(found), own);
    a_.emit(X::kIdCmp, last, now);
    a_.emit(X::kIdMov, last, now);
    a_.jne(first);
    a_.test(walk_slot(found_before), own);
    a_.jz(first);
    find();
    a_.mov(x86::rdx, at);
    a_.mov(at, x86::rax);
    a_.sub(x86::rax, x86::rdx);
    a_.mov(walk_slot(steps, walk), x86::rax);
    a_.or_(walk_slot(learned), own);
    a_.bind(done);
    cold(first, [=, *this] {
        find();
        a_.mov(at, x86::rax);
        a_.jmp(done);
    });
}

// Where the mask is another one in each iteration: whether all lanes are at consecutive addresses,
// on or off.
void BlockCompiler::WalkCode::learn_all_lanes(const LaneAccess& m) const {
    const Label apart = a_.newLabel();
    LaneAccess all = m;
    all.full = true;
    AccessCode(c_).find_pattern(all, m.imm, apart, apart);
    learn(all, m.address, Imm(consecutive));
    a_.bind(apart);
}

// Behind a test of the mask: a chunk without lanes will not have any later on.
void BlockCompiler::WalkCode::learn_no_lanes(const LaneAccess& m) const {
    const Label none = a_.newLabel();
    a_.jz(none);
    cold(none, [*this, m] {
        a_.or_(walk_slot(learned), bit(static_cast<uint32_t>(m.walk), m.walk_chunk));
        a_.jmp(m.done);
    });
}

void BlockCompiler::WalkCode::access(const LaneAccess& m) const {
    const auto walk = static_cast<uint32_t>(m.walk);
    a_.mov(m.address, walk_slot(addresses, walk, m.walk_chunk));
    a_.add(m.address, walk_distance(walk));
    if (adds_base(m)) {
        a_.add(m.address, m.base);
        if (is_masked(m.mode)) emit_reach(a_, m.address);
    }
    const Label one = a_.newLabel();
    if (m.store) {  // no other pattern is let through (rows_in_any_order)
        RowCode(c_).memory_consecutive(m);
        return;
    }
    a_.cmp(walk_slot(patterns, walk, m.walk_chunk), static_cast<uint32_t>(consecutive));
    a_.jne(one);
    RowCode(c_).memory_consecutive(m);
    cold(one, [*this, m, walk] {
        for (const Pattern rows : {rows_in_order, rows_of_equals}) {
            if (!may_find_rows(context(), m, c_.kind_of_rows(rows), m.fewer_lanes)) continue;
            const Label other = a_.newLabel();
            a_.cmp(walk_slot(patterns, walk, m.walk_chunk), static_cast<uint32_t>(rows));
            a_.jne(other);
            a_.mov(x86::rdx, row_step(m));
            RowCode(c_).copy_rows(m, found_rows(context(), c_.kind_of_rows(rows)));
            a_.jmp(m.done);
            a_.bind(other);
        }
        GatherCode(c_).load_same(m);
        a_.jmp(m.done);
    });
}

// Which walks go through rows: all chunks of one, or none of them.
void BlockCompiler::WalkCode::choose_rows(Label not_yet) const {
    for (uint32_t w = 0; w < plan_.walks.walks.size(); ++w) {
        if (!goes_through_rows(w)) continue;
        const Label straight = a_.newLabel();
        uint32_t own = 0;
        for (uint32_t c = 0; c < loop_.pins.chunks; ++c) own |= bit(w, c);
        a_.mov(walk_slot(steps, w), step(w));
        a_.mov(x86::eax, walk_slot(in_rows));
        a_.and_(x86::eax, own);
        a_.jz(straight);
        a_.cmp(x86::eax, own);
        a_.jne(not_yet);
        a_.mov(walk_slot(steps, w), row_distance(w));
        Mem all = walk_slot(patterns, w);
        all.setSize(4);
        a_.mov(all, consecutive * 0x01010101u);
        a_.bind(straight);
    }
}

// If walks go through rows, cuts the budget to as many iterations as are there, and adds to rdx
// what is left of it: the loop's last iteration walks, too.
void BlockCompiler::WalkCode::cut_to_rows(const Gp& budget) const {
    const Label whole = a_.newLabel();
    a_.cmp(walk_slot(in_rows), 0);
    a_.je(whole);
    a_.mov(x86::rcx, budget);
    a_.sub(x86::rcx, static_cast<int32_t>((c_.width() / 4 - 2) * block_->guest_count));
    a_.jle(whole);
    a_.add(x86::rdx, x86::rcx);
    a_.sub(budget, x86::rcx);
    a_.bind(whole);
}

// ecx: two more than the binary logarithm of how many iterations may walk. They become so few that
// no walk that keeps its base goes further than it may.
void BlockCompiler::WalkCode::cut_to_reach() const {
    for (uint32_t w = 0; w < plan_.walks.walks.size(); ++w) {
        if (!keeps_base(w)) continue;
        if (goes_in_steps(w))
            a_.mov(x86::rax, walk_slot(steps, w));
        else
            a_.mov(x86::rax, step(w));
        a_.mov(x86::rdx, x86::rax);
        a_.neg(x86::rdx);
        a_.cmovs(x86::rdx, x86::rax);
        a_.emit(X::kIdLzcnt, x86::rax, x86::rdx);
        a_.sub(x86::eax, 64 - masked_walk_bits - 2);
        a_.cmp(x86::eax, x86::ecx);
        a_.cmovl(x86::ecx, x86::eax);
    }
}

// Iterations from the plain bodies on. `plain`: where a plain iteration begins, `resume`: where it
// goes on when the budget was not used up; `ended`: behind the loop, or, if nothing is decided
// behind the bodies, in front of the last iteration, and `finished` behind that one. The budget is
// cut to as many iterations as the limits allow.
void BlockCompiler::WalkCode::walk_loop(const Gp& budget, Label plain, Label resume, Label ended,
                                        Label finished, const LoopControl& control) const {
    const Label walk = a_.newLabel(), learned_all = a_.newLabel(), last = a_.newLabel(),
                over = a_.newLabel(), not_yet = a_.newLabel(), counted = a_.newLabel();
    const bool counts = !control.behind && plan_.counted;
    const auto count = static_cast<uint32_t>(plan_.walks.walks.size());
    loop_.walking = Walking::Learning;
    emit_bodies(true);
    loop_.walking = Walking::No;
    if (control.behind) {
        control.behind(ended);
        a_.js(ended);
    }
    uint32_t all = 0;
    for (uint32_t w = 0; w < count; ++w)
        for (uint32_t c = 0; c < loop_.pins.chunks; ++c) all |= bit(w, c);
    if (loop_.row_sites.empty()) {
        a_.cmp(walk_slot(learned), all);
    } else {
        a_.mov(x86::eax, walk_slot(in_rows));
        a_.or_(x86::eax, walk_slot(learned));
        a_.cmp(x86::eax, all);
    }
    a_.je(learned_all);
    a_.bind(not_yet);
    learn_next();
    a_.jmp(plain);

    cold(learned_all, [=, *this] {
        a_.mov(walk_slot(learned), 0);
        if (!loop_.row_sites.empty()) choose_rows(not_yet);
        a_.xor_(x86::edx, x86::edx);
        if (!plan_.walks.limits.empty() || is_masked(c_.options_.address_mode)) {
            // 2^30 divided by the longest step, rounded down to a power of two.
            a_.mov(x86::ecx, 32);
            for (const Walks::Limit& limit : plan_.walks.limits) {
                add_up(limit.step);
                a_.mov(x86::edx, x86::eax);
                a_.neg(x86::edx);
                if (limit.is_signed)
                    a_.cmovs(x86::edx, x86::eax);
                else
                    a_.jns(not_yet);  // backwards, or not at all
                a_.emit(X::kIdLzcnt, x86::eax, limit.is_signed ? x86::edx : x86::eax);
                a_.cmp(x86::eax, x86::ecx);
                a_.cmovb(x86::ecx, x86::eax);
            }
            cut_to_reach();
            a_.sub(x86::ecx, 2);
            a_.js(not_yet);
            a_.mov(x86::eax, block_->guest_count);
            a_.shlx(x86::rax, x86::rax, x86::rcx);
            a_.xor_(x86::edx, x86::edx);
            a_.mov(x86::rcx, budget);
            a_.sub(x86::rcx, x86::rax);
            a_.cmovns(x86::rdx, x86::rcx);
            a_.sub(budget, x86::rdx);
        }
        if (!loop_.row_sites.empty()) cut_to_rows(budget);
        a_.mov(walk_slot(rest), x86::rdx);
        if (!loop_.pins.idle.empty()) a_.mov(walk_slot(iterations), 0);
        for (uint32_t w = 0; w < count; ++w) {
            if (goes_in_steps(w))
                a_.mov(walk_distance(w), walk_slot(steps, w));
            else
                a_.mov(walk_distance(w), step(w));
        }
        if (counts) {
            count_iterations(budget, counted);
            if (!loop_.pins.idle.empty()) a_.mov(walk_slot(iterations), budget);
        }
        a_.jmp(walk);
    });

    a_.bind(walk);
    const size_t facts_limit = c_.facts_limit_;
    c_.facts_limit_ = (6 - count) / 2;
    for (uint32_t w = 0; w < count; ++w) c_.gp_reserved_ |= 1u << walk_distance(w).id();
    c_.uniforms_.assign(block_->insts.size(), {});
    if (counts)
        count_uniform();
    else if (control.ahead)
        control.ahead(last, over);
    loop_.walking = Walking::Yes;
    emit_bodies(true);
    loop_.walking = Walking::No;
    if (control.behind) {
        control.behind(last);
        a_.js(over);
    }
    for (uint32_t w = 0; w < count; ++w) {
        if (goes_in_steps(w))
            a_.add(walk_distance(w), walk_slot(steps, w));
        else if (const int32_t by = step(w))
            a_.add(walk_distance(w), by);
    }
    if (counts) {
        a_.dec(budget);
        a_.jnz(walk);
        count_end(budget);
        a_.bind(counted);
        control.ahead(last, over);
    } else {
        if (!loop_.pins.idle.empty()) a_.inc(walk_slot(iterations));
        a_.jmp(walk);
    }

    // Iterations are left that only the limits ended, or that nobody counted?
    a_.bind(over);
    catch_up();
    a_.add(budget, walk_slot(rest));
    a_.js(ended);
    a_.mov(walk_slot(rest), 0);
    if (loop_.row_sites.empty()) {
        reset();
    } else {
        count_rows();
        forget();
    }
    a_.jmp(resume);
    a_.bind(last);
    catch_up();
    a_.add(budget, walk_slot(rest));
    if (control.behind) {
        a_.jmp(ended);
    } else {
        loop_.walking = Walking::Yes;
        emit_bodies(false);
        loop_.walking = Walking::No;
        a_.jmp(finished);
    }
    c_.gp_reserved_ = 0;
    c_.facts_limit_ = facts_limit;
}

// All iterations of the chunks at hand.
void BlockCompiler::WalkCode::run_iterations(const Gp& budget, Label ended, Label finished,
                                             const LoopControl& control) const {
    const bool walks = !plan_.walks.walks.empty();
    const Label iteration = a_.newLabel(), bodies = a_.newLabel();
    if (plan_.counted && !walks) {
        const Label counted = a_.newLabel();
        count_iterations(budget, iteration);
        a_.bind(counted);
        count_uniform();
        emit_bodies(true);
        a_.dec(budget);
        a_.jnz(counted);
        count_end(budget);
    }
    a_.bind(iteration);
    if (control.ahead) control.ahead(ended, ended);
    a_.bind(bodies);
    if (walks)
        return walk_loop(budget, iteration, control.behind ? iteration : bodies, ended, finished,
                         control);
    emit_bodies(true);
    if (!control.behind) {
        a_.jmp(iteration);
        return;
    }
    control.behind(ended);
    a_.jns(iteration);
}

}  // namespace wj::x64
