// Loops that run while lanes are left: each chunk runs its iterations until it has no lanes, with
// its rows in vector registers. Scalar registers that iterations change start from the same values
// in every chunk; those of the chunk that ran longest are kept. The budget is charged for the
// longest chunk, and ends all of them in the same iteration.
#include <algorithm>
#include <limits>
#include <set>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

// Sets ZF when no chunk of those that run together has lanes left.
void BlockCompiler::DivergentCode::test_live() const {
    const Unit live = schedule_.unit(plan_.divergent->live);
    int any = -1;
    for (const MaskPin& p : loop_.pins.masks) {
        if (p.next != live) continue;
        int r = p.reg;
        if (r < 0) c_.move_spilled_mask(p.spill, r = any == 1 ? 2 : 1, false);
        if (any >= 0 && c_.avx512_)
            a_.korw(c_.kreg(1), c_.kreg(any), c_.kreg(r));
        else if (any >= 0)
            a_.emit(X::kIdVpor, vec(1), vec(any), vec(r));
        any = any >= 0 ? 1 : r;
    }
    if (any < 0) {
        Mem left = c_.mask_mem(schedule_.unit_home(live));
        left.setSize(loop_.pins.chunks * (c_.avx512_ ? 2 : 1));
        a_.cmp(left, 0);
    } else if (c_.avx512_) {
        a_.kortestw(c_.kreg(any), c_.kreg(any));
    } else {
        a_.emit(X::kIdVptest, vec(any), vec(any));
    }
}

// What iterations kept in registers goes home.
void BlockCompiler::DivergentCode::store_pins() const {
    for_each_chunk([&] {
        for (const MaskPin& p : loop_.pins.masks) {
            if (p.chunk != loop_.chunk) continue;
            const int r = p.reg < 0 ? 1 : p.reg;
            if (p.reg < 0) c_.move_spilled_mask(p.spill, r, false);
            c_.store_bits(c_.mask_mem(schedule_.unit_home(p.next)), r);
        }
        for (const Pin& p : loop_.pins.carried)
            if (p.chunk == loop_.chunk)
                movu(c_.row(static_cast<uint32_t>(inst(p.set).imm)), vec(p.reg));
    });
}

// The scalar registers that iterations change, then the other values of their uniform code that are
// wanted behind the loop.
std::vector<Mem> BlockCompiler::DivergentCode::varying_fields() const {
    std::vector<Mem> varying;
    for (int32_t field : plan_.changed)
        varying.push_back(x86::dword_ptr(reg::wave, in_wave(static_cast<size_t>(field))));
    if (!plan_.divergent->uniform_varies) return varying;
    std::set<uint32_t> slots;  // two halves of a value have one
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const Home& home = schedule_.uniform_home(v);
        if (schedule_.position(v) == 0 && home.kind == Home::Slot &&
            schedule_.last_uniform_use(v) > 1)
            slots.insert(home.index);
    }
    for (const uint32_t slot : slots)
        varying.push_back(c_.home_mem({Home::Slot, slot}).cloneResized(8));
    return varying;
}

void BlockCompiler::DivergentCode::emit() const {
    begin_region();
    c_.mark(schedule_.begin(1)[0]);
    const DivergentLoop& d = *plan_.divergent;
    const Gp left = x86::r15;  // of the budget
    const Mem budget = budget_field();

    // Scalar registers that iterations change: the values before the loop, and those of the chunk
    // that ran longest. Of that one also what iterations work out for what is done behind the loop.
    const std::vector<Mem> varying = varying_fields();
    const auto registers = static_cast<uint32_t>(plan_.changed.size()),
               all = static_cast<uint32_t>(varying.size());
    auto slot = [&](uint32_t at) { return c_.home_mem({Home::Slot, at}); };
    const GatheredCode gathered(c_);
    const auto slices =
        plan_.compacted ? gathered.begin_slices() : std::optional<GatheredCode::Slices>();
    const uint32_t least = c_.extra_slots_, start = least + 1, longest = start + registers,
                   lane_slots = longest + all;
    c_.extra_slots_ = lane_slots + LaneLoopCode::own_slots;
    if (c_.extra_slots_ > slot_count) {
        c_.failed_ = true;
        return;
    }
    auto copy = [&](uint32_t count, uint32_t slots, bool save) {
        for (uint32_t i = 0; i < count; ++i) {
            Mem kept = slot(slots + i);
            kept.setSize(varying[i].size());
            const Gp via = varying[i].size() == 8 ? Gp(x86::rax) : Gp(x86::eax);
            a_.mov(via, save ? varying[i] : kept);
            a_.mov(save ? kept : varying[i], via);
        }
    };
    copy(registers, start, true);
    a_.mov(x86::rax, std::numeric_limits<int64_t>::max());
    a_.mov(slot(least), x86::rax);
    for (const LoopMask& m : d.carried) {
        a_.mov(mask_register(*block_, x86::rax), c_.home_mem(schedule_.uniform_home(m.get)));
        a_.mov(c_.home_mem(schedule_.unit_home(schedule_.unit(m.mask))), x86::rax);
    }
    if (!d.uniform_varies) c_.segment(0);
    const Label each_lane = a_.newLabel(), all_done = a_.newLabel();
    if (plan_.lanes) {
        const LaneLoopCode lanes(c_);
        lanes.test_streams(*plan_.lanes, each_lane);
        cold(each_lane, [=, *this] {
            lanes.emit(*plan_.lanes, least, lane_slots);
            a_.jmp(all_done);
        });
    }
    if (!plan_.walks.walks.empty()) reserve_walks();
    loop_.pins = plan_.pins[0];
    if (slices) gathered.set_slices(*slices);
    c_.begin_chunks(true);

    const Label chunk = a_.newLabel(), done = a_.newLabel(), empty = a_.newLabel(),
                run = a_.newLabel(), next = a_.newLabel();
    auto of_chunks = [*this](const Home& home) {
        return c_.mask_mem(home).cloneResized(loop_.pins.chunks * (c_.avx512_ ? 2 : 1));
    };
    auto fade = [=, *this, fading = d.fading] {
        for (Value v : fading) a_.mov(of_chunks(schedule_.unit_home(schedule_.unit(v))), 0);
    };
    a_.bind(chunk);
    a_.cmp(of_chunks({Home::Wave, offsetof(Wave, sgpr) + machine::exec_lo * 4}), 0);
    a_.je(empty);
    cold(empty, [=, *this] {
        a_.cmp(exec_field(*block_), 0);
        a_.je(run);  // no chunk has lanes: all of them run an iteration
        fade();
        a_.jmp(next);
    });
    a_.bind(run);
    a_.mov(left, budget);
    if (slices) a_.sub(left, slot(slices->floor));
    load_pins();
    reset();

    LoopControl control;
    if (d.uniform_varies) control.ahead = [this](Label, Label) { emit_uniform([] {}); };
    control.behind = [&](Label no) {
        test_live();
        a_.je(no);
        a_.sub(left, block_->guest_count);
    };
    run_iterations(left, done, done, control);

    a_.bind(done);
    store_pins();
    const Label kept = a_.newLabel();
    a_.cmp(left, slot(least));
    a_.jge(kept);
    a_.mov(slot(least), left);
    copy(all, longest, true);
    if (!d.fading.empty()) {  // the chunks so far ended before this one
        a_.lea(x86::ecx, x86::ptr(reg::bits, 8));
        a_.shl(x86::ecx, 3);
        a_.mov(x86::rax, -1);
        a_.shlx(x86::rax, x86::rax, x86::rcx);
        for (Value v : d.fading)
            a_.and_(c_.home_mem(schedule_.unit_home(schedule_.unit(v))), x86::rax);
    }
    a_.bind(kept);
    if (!d.fading.empty()) {
        const Label longest_yet = a_.newLabel();
        a_.cmp(left, slot(least));
        a_.je(longest_yet);
        fade();
        a_.bind(longest_yet);
    }
    copy(registers, start, false);
    a_.bind(next);
    step_chunk(static_cast<int>(loop_.pins.chunks));
    a_.jnz(chunk);

    a_.bind(all_done);
    a_.mov(x86::rax, slot(least));
    if (slices) a_.add(x86::rax, slot(slices->floor));
    a_.mov(budget, x86::rax);
    copy(all, longest, false);
    c_.segment(2);
    c_.ufree_all();
    a_.cmp(exec_field(*block_), 0);
    if (slices) {
        const Label lanes_left = a_.newLabel();
        a_.jne(lanes_left);
        cold(lanes_left, [=, slices = *slices] { gathered.end_slice(slices); });
        gathered.spread_if_gathered();
    } else {
        a_.jne(c_.over_label_);  // the next iteration is charged and has not run
    }
    c_.jump_to(d.exit, true);
}

}  // namespace wj::x64
