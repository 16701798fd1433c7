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

// The next wave is this one but for the bases of lines, which go on (Block::next): nothing else
// that is known of it before its chunks begin has to be found out again.
bool BlockCompiler::goes_on() {
    moving_bases_.clear();
    const machine::NextWaves& waves = block_->next;
    const auto no = [this](std::string_view why) {
        return refuse(options_.decisions, Mechanism::MovingBases, why);
    };
    if (!runs_again(context()))
        return starts_program(*block_) && ends_program(*block_) &&
               refuse(options_.decisions, Mechanism::SuccessiveWaves,
                      "some lanes are off, or registers are left changed");
    take(options_.decisions, Mechanism::SuccessiveWaves);
    if (!waves.waves || waves.waves > 256 || waves.ids_step >= 1 << 24)
        return no("the launch has no waves that differ by a step alone");
    std::map<Value, Steps> next;
    for (const ir::Inst& i : block_->insts)
        if (i.op == Op::GoesOn) {
            const bool ahead = waves.group_sgpr >= 0;
            next.try_emplace(i.args[0], Steps{i.args[1], i.args[ahead ? 2 : 1]});
        }
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (ir::is_guard(i.op) || i.op == Op::GoesOn) continue;
        if (cls == Class::Cross || cls == Class::Fence || cls == Class::SetS || i.op == Op::BitsOf)
            return no("lanes that meet, fences or scalars that are written");
        const bool scalar = cls == Class::Uniform || cls == Class::ULoad || cls == Class::GetS;
        if (scalar && is_const(v)) continue;
        if (scalar && schedule_.position(v) == 0) continue;
        if (scalar) return no("scalar code behind the lanes' begins");
        for (size_t a = 0; a < std::size(i.args); ++a) {
            const Value arg = i.args[a];
            if (arg == no_value || !ir::is_uniform(block_->type(arg)) || is_const(arg)) continue;
            const auto moving = next.find(arg);
            if (moving == next.end()) continue;
            const Steps& by = moving->second;
            if (is_zero(by.wave) && is_zero(by.group)) continue;
            const auto there = [this](Value v) {
                return is_const(v) || schedule_.uniform_home(v).kind == Home::Slot;
            };
            const bool address = is_at_line(context(), i) || i.op == Op::Splat64;
            if (a || !address || schedule_.uniform_home(arg).kind != Home::Slot ||
                !there(by.wave) || !there(by.group))
                return no("what moves is more than the base of a line");
            moving_bases_[arg] = by;
        }
    }
    return true;
}

void BlockCompiler::begin_go_on() {
    if (!goes_on()) return;
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
        cold(group, [this] { move_bases(&Steps::group); });
    }
    move_bases(&Steps::wave);
    a_.bind(none);
}

void BlockCompiler::move_bases(Value Steps::*step) {
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

// Whether this region is all that the waves of go_on() do, whose lines lie behind this one's.
bool BlockCompiler::may_go_together(uint32_t position) const {
    const auto no = [this](std::string_view why) {
        return refuse(options_.decisions, Mechanism::FusedWaves, why);
    };
    if (!goes_on_ || !waves_together_) return false;
    if (block_->lanes < machine::lanes || is_checked(options_.address_mode))
        return no("fewer than 64 lanes, or checked memory");
    for (uint32_t p = 1; p < schedule_.terminator_position(); ++p)
        if (p != position && schedule_.begin(p) != schedule_.end(p))
            return no("more than one lane region");
    const bool in_rows = std::ranges::all_of(block_->insts, [this](const ir::Inst& i) {
        if (!ir::is_lane_access(i) || inst(ir::address_of(i)).op != Op::Line32) return true;
        // Where pointers lead from chunk to chunk, they do from wave to wave.
        const auto moving =
            is_at_line(context(), i) ? moving_bases_.find(i.args[0]) : moving_bases_.end();
        if (moving == moving_bases_.end()) return false;
        const auto [wave, group] = moving->second;
        return is_row_of_wave(context(), i) && wave == group && is_const(wave) &&
               inst(wave).imm == inst(i.args[1]).imm * machine::lanes;
    });
    return in_rows || no("an access whose rows do not follow from wave to wave");
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
