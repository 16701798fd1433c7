// Programs of one block start their next waves by themselves (machine::WaveSource::again).
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"
#include "ir/known.h"

namespace wj::x64 {

using ir::Class;
using ir::Op;
namespace x86 = asmjit::x86;

// A program that is this block, and leaves every register as it was, starts its next wave by
// itself.
bool BlockCompiler::runs_again() const {
    if (!ends_program() || !block_->exec_full || !starts_program()) return false;
    return std::none_of(block_->insts.begin(), block_->insts.end(), [this](const ir::Inst& i) {
        const Class cls = ir::op_info(i.op).cls;
        const bool same_exec = i.op == Op::SetS64 && i.imm == machine::exec_lo &&
                               is_const(i.args[0]) && inst(i.args[0]).imm == ~0ull;
        // The next wave does not pass the guards; its work-group's number may differ.
        return i.op == Op::GuardAtMost || cls == Class::Call || cls == Class::SetV ||
               (cls == Class::SetS && !same_exec);
    });
}

// Whether it stores to global memory otherwise than in rows (LaneLoad: loads from there).
bool BlockCompiler::scatters(Class access) const {
    return std::ranges::any_of(block_->insts, [this, access](const ir::Inst& i) {
        if (ir::op_info(i.op).cls != access || ir::has_own_space(i.op)) return false;
        const ir::Inst& address = inst(ir::address_of(i));
        return address.op != Op::Line32 || has_lane_step(address);
    });
}

void BlockCompiler::run_again() {
    // Waves that scatter what they store are faster one by one (transposes 15 to 40 %, Zen 5);
    // those that store columns are not.
    const Label alone = a_.newLabel();
    if (scatters(Class::LaneStore)) {
        if (column_site_ < 0) return;
        a_.cmp(x86::byte_ptr(reg::frame, in_frame(offsetof(Frame, columns_wait)) + column_site_),
               0);
        a_.jne(alone);
    }
    if (go_on_slot_ && !out_->together_offset) go_on();
    a_.mov(x86::edx, block_->guest_count);
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, again_stub))));
    a_.test(x86::al, x86::al);
    a_.jnz(again_label_);
    a_.bind(alone);
}

bool BlockCompiler::starts_program() const {
    constexpr uint64_t program_alignment = 256;  // SEED-ELF-47
    return block_->pc % program_alignment == 0;
}

bool BlockCompiler::ends_program() const {
    const ir::Terminator& t = block_->term;
    return t.kind == ir::Terminator::Kind::Exit && t.exit == machine::ExitKind::EndProgram;
}

// ---- what one wave has found out serves the next ones ----

// An access whose lanes' elements follow one another.
bool BlockCompiler::is_row_of_wave(const ir::Inst& i) const {
    if (i.op != Op::LoadGlobalS && i.op != Op::StoreGlobalS) return false;
    const ir::Inst& line = inst(i.args[1]);
    return line.op == Op::Line32 && line.aux == machine::lanes && is_const(line.args[0]);
}

// The next wave is this one but for the bases of lines, which go on (Block::waves_in_row): nothing
// else that is known of it before its chunks begin has to be found out again.
bool BlockCompiler::goes_on() {
    moving_bases_.clear();
    if (block_->waves_in_row == 1 || !runs_again()) return false;
    for (Value v = 0; v < block_->insts.size(); ++v) {
        const ir::Inst& i = inst(v);
        const Class cls = ir::op_info(i.op).cls;
        if (i.op == Op::GuardRow || i.op == Op::Guard || i.op == Op::GuardLds) continue;
        if (cls == Class::Cross || cls == Class::SetS || i.op == Op::BitsOf) return false;
        const bool scalar = cls == Class::Uniform || cls == Class::ULoad || cls == Class::GetS;
        if (scalar && is_const(v)) continue;
        if (scalar && schedule_.position(v) == 0) continue;
        if (scalar) return false;
        for (size_t a = 0; a < std::size(i.args); ++a) {
            const Value arg = i.args[a];
            if (arg == no_value || !ir::is_uniform(block_->type(arg)) ||
                ir::of_scalars(*block_, arg))
                continue;
            if (a || !is_row_of_wave(i) || schedule_.uniform_home(arg).kind != Home::Slot)
                return false;
            const uint64_t stride = inst(i.args[1]).imm;
            if (moving_bases_.try_emplace(arg, stride).first->second != stride) return false;
        }
    }
    return true;
}

// The slot: how many waves may go on behind this one, and for how many of them it has been found
// out that they are next.
void BlockCompiler::begin_go_on() {
    if (!goes_on()) return;
    go_on_label_ = a_.newLabel();
    go_on_slot_ = extra_slots_++;
    a_.mov(home_mem({Home::Slot, *go_on_slot_}).cloneResized(8), block_->waves_in_row - 1);
}

// Edx: how many waves go on, in a run if there is one.
void BlockCompiler::take_going_on(size_t stub) {
    const Mem left = home_mem({Home::Slot, *go_on_slot_}).cloneResized(4);
    a_.mov(x86::edx, left);
    a_.and_(left, 0);
    a_.call(x86::qword_ptr(reg::frame, in_frame(stub)));
}

void BlockCompiler::go_on() {
    const Mem next = home_mem({Home::Slot, *go_on_slot_}).cloneResized(4).cloneAdjusted(4);
    const Label found = a_.newLabel(), none = a_.newLabel();
    a_.sub(next, 1);
    a_.jns(found);
    take_going_on(offsetof(Frame, going_on_stub));
    a_.jz(none);
    a_.dec(x86::edx);
    a_.mov(next, x86::edx);
    a_.bind(found);
    a_.call(x86::qword_ptr(reg::frame, in_frame(reads_ids() ? offsetof(Frame, step_ids_stub)
                                                            : offsetof(Frame, step_stub))));
    for (const auto& [base, stride] : moving_bases_)
        a_.add(home_mem(schedule_.uniform_home(base)).cloneResized(8),
               static_cast<int32_t>(stride * machine::lanes));
    a_.jmp(go_on_label_);
    a_.bind(none);
}

// Whether regions read v0, not only what is known of it.
bool BlockCompiler::reads_ids() {
    for (uint32_t p = 1; p < schedule_.terminator_position(); p += 2)
        for (const Value* v = schedule_.begin(p); v != schedule_.end(p); ++v) {
            scratch_units_.clear();
            schedule_.units_read(*v, scratch_units_);
            for (const Unit u : scratch_units_) {
                const ir::Inst& from = inst(schedule_.producer(u));
                if (from.op == Op::GetV && from.imm == 0) return true;
            }
        }
    return false;
}

// Whether this region is all that the waves of go_on() do.
bool BlockCompiler::may_go_together(uint32_t position) const {
    if (!go_on_slot_ || !waves_together_ || options_.checked) return false;
    for (uint32_t p = 1; p < schedule_.terminator_position(); ++p)
        if (p != position && schedule_.begin(p) != schedule_.end(p)) return false;
    return true;
}

// Where a chunk's place is in registers alone, the waves that follow in the row go on in them: they
// are more chunks. The code that is out of line since `colds` must do the same.
void BlockCompiler::waves_together(Label loop, size_t colds) {
    for (size_t i = colds; i < colds_.size(); ++i) colds_[i].together = true;
    take_going_on(offsetof(Frame, together_stub));
    a_.jnz(loop);
    out_->together_offset = static_cast<uint32_t>(code_.labelOffset(loop));
}

}  // namespace wj::x64
