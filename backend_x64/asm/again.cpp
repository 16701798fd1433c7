// Programs of one block start their next waves by themselves (machine::WaveSource::again).
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "backend_x64/plan/lines.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::run_again() {
    if (goes_on_ && !out_->together_offset) go_on();
    a_.mov(x86::edx, block_->guest_count);
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, again_stub))));
    if (options_.variant == Variant::Edge) {  // the rest of the work-group is at the edge, too
        a_.cmp(x86::al, Frame::next_in_group);
        a_.je(again_label_);
    }
    a_.test(x86::al, x86::al);
    if (options_.variant == Variant::Full) {
        a_.jnz(again_label_);
    } else {  // it may be as most are; the program's beginning charges for itself
        const Label next = a_.newLabel();
        a_.jnz(next);
        cold(next, [this] {
            a_.add(budget_field(), block_->guest_count);
            jump_linked(block_->pc, Variant::Full);
        });
    }
}

// ---- what one wave has found out serves the next ones ----

void BlockCompiler::begin_go_on() {
    const auto bases = plan_moving_bases(context());
    if (!bases) return;
    moving_bases_ = *bases;
    const machine::NextWaves& next = block_->next;
    const Label begin = a_.newLabel();
    go_on_label_ = a_.newLabel();
    fewer_label_ = a_.newLabel();
    goes_on_ = true;
    take(options_.decisions, Mechanism::MovingBases);
    a_.bind(begin);
    a_.mov(x86::edx, next.ids_step << 8 | (next.waves - 1));
    if (next.group_sgpr >= 0)
        a_.lea(x86::rdi, x86::ptr(reg::wave, in_wave(offsetof(Wave, sgpr)) + 4 * next.group_sgpr));
    else
        a_.xor_(x86::edi, x86::edi);
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, ahead_stub))));
    cold(fewer_label_, [=, this] {  // not for so many, perhaps
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, fewer_stub))));
        a_.jnz(begin);
        a_.jmp(unguarded_label_);
    });
}

void BlockCompiler::go_on() {
    const Label none = a_.newLabel();
    a_.call(
        x86::qword_ptr(reg::frame, in_frame(reads_ids(context()) ? offsetof(Frame, step_ids_stub)
                                                                 : offsetof(Frame, step_stub))));
    a_.js(none);
    const bool alike = std::ranges::all_of(
        moving_bases_, [](const auto& m) { return m.second.wave == m.second.group; });
    if (!alike) {
        const Label group = a_.newLabel();
        a_.jnz(group);
        cold(group, [this] { move_bases(&BaseSteps::group); });
    }
    move_bases(&BaseSteps::wave);
    a_.bind(none);
}

void BlockCompiler::move_bases(Value BaseSteps::*step) {
    for (const auto& [base, steps] : moving_bases_) {
        const Value by = steps.*step;
        const Mem at = home_mem(schedule_.uniform_home(base)).cloneResized(8);
        const auto c = static_cast<int64_t>(inst(by).imm);
        if (is_const(by) && c == static_cast<int32_t>(c)) {
            if (c) a_.add(at, c);
            continue;
        }
        if (is_const(by))
            a_.mov(x86::rax, c);
        else
            a_.mov(x86::rax, home_mem(schedule_.uniform_home(by)).cloneResized(8));
        a_.add(at, x86::rax);
    }
    a_.jmp(go_on_label_);
}

// Where a chunk's place is in registers alone, the waves that follow go on in them: they are more
// chunks. The code that is out of line since `colds` must do the same.
void BlockCompiler::waves_together(Label loop, size_t colds) {
    take(options_.decisions, Mechanism::FusedWaves);
    for (size_t i = colds; i < colds_.size(); ++i) colds_[i].together = true;
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, together_stub))));
    a_.jnz(loop);
    out_->together_offset = static_cast<uint32_t>(code_.labelOffset(loop));
}

}  // namespace wj::x64
