// Loops that run while lanes are left: each chunk runs its iterations until it has no lanes, with
// its rows in vector registers. Scalar registers that iterations change start from the same values
// in every chunk; those of the chunk that ran longest are kept. The budget is charged for the
// longest chunk, and ends all of them in the same iteration.
#include <algorithm>
#include <limits>
#include <set>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

// Sets ZF when no chunk of those that run together has lanes left.
void BlockCompiler::divergent_test_live() {
    const Unit live = schedule_.unit(divergent_->live);
    int any = -1;
    for (const MaskPin& p : loop_.masks) {
        if (p.next != live) continue;
        int r = p.reg;
        if (r < 0) move_spilled_mask(p.spill, r = any == 1 ? 2 : 1, false);
        if (any >= 0 && avx512_)
            a_.korw(kreg(1), kreg(any), kreg(r));
        else if (any >= 0)
            a_.emit(X::kIdVpor, vec(1), vec(any), vec(r));
        any = any >= 0 ? 1 : r;
    }
    if (any < 0) {
        Mem left = mask_mem(schedule_.unit_home(live));
        left.setSize(loop_.chunks * (avx512_ ? 2 : 1));
        a_.cmp(left, 0);
    } else if (avx512_) {
        a_.kortestw(kreg(any), kreg(any));
    } else {
        a_.emit(X::kIdVptest, vec(any), vec(any));
    }
}

void BlockCompiler::divergent_block() {
    collectors_.clear();
    facts_limit_ = 3;
    const DivergentLoop& d = *divergent_;
    mark(schedule_.begin(1)[0]);
    divergent_masks_.clear();
    for (const ir::Inst& i : block_->insts) {
        if (i.op != Op::BitsOf) continue;
        const Unit u = schedule_.unit(i.args[0]);
        if (std::find(divergent_masks_.begin(), divergent_masks_.end(), u) ==
            divergent_masks_.end())
            divergent_masks_.push_back(u);
    }
    const Gp left = x86::r15;  // of the budget
    const Mem budget = budget_field();

    // Scalar registers that iterations change: the values before the loop, and those of the chunk
    // that ran longest. Of that one also what iterations work out for what is done behind the loop.
    std::vector<int32_t> changed;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        if (ir::op_info(i.op).cls != Class::SetS || schedule_.position(v) != 0) continue;
        const auto field = static_cast<int32_t>(
            i.op == Op::SetScc ? offsetof(Wave, scc) : offsetof(Wave, sgpr) + i.imm * 4);
        changed.push_back(field);
        if (i.op == Op::SetS64) changed.push_back(field + 4);
    }
    std::sort(changed.begin(), changed.end());
    changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
    std::vector<Mem> varying;  // registers, then the other values
    for (int32_t field : changed)
        varying.push_back(x86::dword_ptr(reg::wave, in_wave(static_cast<size_t>(field))));
    if (d.uniform_varies) {
        std::set<uint32_t> slots;  // two halves of a value have one
        for (Value v = 0; v < block_->insts.size(); ++v) {
            const Home& home = schedule_.uniform_home(v);
            if (schedule_.position(v) == 0 && home.kind == Home::Slot &&
                schedule_.last_uniform_use(v) > 1)
                slots.insert(home.index);
        }
        for (const uint32_t slot : slots)
            varying.push_back(home_mem({Home::Slot, slot}).cloneResized(8));
    }
    const auto registers = static_cast<uint32_t>(changed.size()),
               all = static_cast<uint32_t>(varying.size());
    auto slot = [&](uint32_t at) { return home_mem({Home::Slot, at}); };
    const auto slices = begin_slices();
    const uint32_t least = extra_slots_, start = least + 1, longest = start + registers,
                   lane_slots = longest + all;
    extra_slots_ = lane_slots + lane_slot_count;
    if (extra_slots_ > slot_count) {
        failed_ = true;
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
        a_.mov(mask_register(*block_, x86::rax), home_mem(schedule_.uniform_home(m.get)));
        a_.mov(home_mem(schedule_.unit_home(schedule_.unit(m.mask))), x86::rax);
    }
    if (!d.uniform_varies) segment(0);
    const Label each_lane = a_.newLabel(), all_done = a_.newLabel();
    if (options_.address_mode == AddressMode::Identity)
        if (const auto program = find_lane_program(*block_, d);
            program && schedule_.temp_row_count() + 2 * program->inputs.size() <= temp_rows) {
            take(options_.decisions, Mechanism::LaneProgram);
            lane_streams_test(*program, each_lane);
            cold(each_lane, [this, program = *program, least, lane_slots, all_done] {
                lane_by_lane(program, least, lane_slots);
                a_.jmp(all_done);
            });
        }
    walk_plan();
    loop_pin();
    if (slices) set_slices(*slices);
    begin_chunks(true);

    const Label chunk = a_.newLabel(), iteration = a_.newLabel(), done = a_.newLabel(),
                empty = a_.newLabel(), run = a_.newLabel(), next = a_.newLabel();
    auto of_chunks = [this](const Home& home) {
        return mask_mem(home).cloneResized(loop_.chunks * (avx512_ ? 2 : 1));
    };
    auto fade = [=, this, fading = d.fading] {
        for (Value v : fading) a_.mov(of_chunks(schedule_.unit_home(schedule_.unit(v))), 0);
    };
    a_.bind(chunk);
    a_.cmp(of_chunks({Home::Wave, offsetof(Wave, sgpr) + machine::exec_lo * 4}), 0);
    a_.je(empty);
    cold(empty, [=, this] {
        a_.cmp(exec_field(*block_), 0);
        a_.je(run);  // no chunk has lanes: all of them run an iteration
        fade();
        a_.jmp(next);
    });
    a_.bind(run);
    a_.mov(left, budget);
    if (slices) a_.sub(left, slot(slices->floor));
    loop_load_pins();
    walk_reset();

    auto uniform_code = [&](Label, Label) { loop_uniform([] {}); };
    a_.bind(iteration);
    if (d.uniform_varies) uniform_code(done, done);
    if (!walks_.walks.empty()) {
        const std::function<void(Label, Label)> ahead = uniform_code;
        walk_loop(iteration, iteration, done, done, left, d.uniform_varies ? ahead : nullptr,
                  [&](Label no, Label over) {
                      divergent_test_live();
                      a_.je(no);
                      a_.sub(left, block_->guest_count);
                      a_.js(over);
                  });
    } else {
        loop_bodies(true);
        divergent_test_live();
        a_.je(done);
        a_.sub(left, block_->guest_count);
        a_.jns(iteration);
    }

    a_.bind(done);
    for_each_chunk([&] {
        for (const MaskPin& p : loop_.masks) {
            if (p.chunk != loop_chunk_) continue;
            const int r = p.reg < 0 ? 1 : p.reg;
            if (p.reg < 0) move_spilled_mask(p.spill, r, false);
            store_bits(mask_mem(schedule_.unit_home(p.next)), r);
        }
        for (const Pin& p : loop_.carried)
            if (p.chunk == loop_chunk_)
                movu(row(static_cast<uint32_t>(inst(p.set).imm)), vec(p.reg));
    });
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
            a_.and_(home_mem(schedule_.unit_home(schedule_.unit(v))), x86::rax);
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
    loop_step(static_cast<int>(loop_.chunks));
    a_.jnz(chunk);

    a_.bind(all_done);
    a_.mov(x86::rax, slot(least));
    if (slices) a_.add(x86::rax, slot(slices->floor));
    a_.mov(budget, x86::rax);
    copy(all, longest, false);
    segment(2);
    ufree_all();
    a_.cmp(exec_field(*block_), 0);
    if (slices) {
        const Label lanes_left = a_.newLabel();
        a_.jne(lanes_left);
        cold(lanes_left, [this, slices = *slices] { end_slice(slices); });
        spread_if_gathered();
    } else {
        a_.jne(over_label_);  // the next iteration is charged and has not run
    }
    jump_to(d.exit, true);
}

}  // namespace wj::x64
