// Loops that each iteration's uniform code decides about: chunk by chunk, the parts of the body one
// after the other.
#include "backend_x64/asm/loop_code.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using machine::Wave;
namespace x86 = asmjit::x86;

void BlockCompiler::UniformLoopCode::emit() const {
    begin_region();
    c_.mark(schedule_.begin(1)[0]);

    const bool masks = schedule_.uses_mask_slots(1), uses_arows = uses_accumulators(*block_);
    // Read, modified and written in every iteration: in registers if they are free.
    const Gp budget_register = x86::r15;
    const Mem budget = budget_field();
    const bool keep_budget = !uses_arows;

    reserve_backup();
    if (c_.failed_) return;
    reserve_count();
    backup(true);
    if (uses_arows) a_.mov(reg::arows, x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, agpr))));
    for (loop_.part = 0; loop_.part < plan_.parts.count; ++loop_.part) {
        if (loop_.part) {
            backup(false);
            c_.uniforms_.assign(block_->insts.size(), {});
        }
        if (!plan_.walks.walks.empty()) reserve_walks();
        loop_.pins = plan_.pins[loop_.part];
        each_chunk(masks, [&] {
            const Label last = a_.newLabel(), finished = a_.newLabel();
            if (keep_budget) a_.mov(budget_register, budget);
            begin_chunk();
            reset();
            const Operand left = keep_budget ? Operand(budget_register) : Operand(budget);
            run_iterations(budget_register, last, finished,
                           {[&](Label no, Label over) { decide_next(left, no, over); }, {}});
            a_.bind(last);
            c_.guest_ = ~0u;
            emit_bodies(false);
            a_.bind(finished);
            if (block_->lanes < machine::lanes) compare_chunk();
        });
    }
    if (keep_budget) a_.mov(budget, budget_register);
    leave(c_.over_label_);
}

}  // namespace wj::x64
