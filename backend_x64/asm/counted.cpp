// Loops that count (counted_loop.h): the iterations that are known to go on, and are paid for, run
// without a look at the condition, the budget, and whatever else the last one finds again.
#include <bit>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using machine::Wave;
namespace x86 = asmjit::x86;

namespace {

enum Field : uint32_t { iterations, rest, field_count };  // slots

}  // namespace

Mem BlockCompiler::CountedCode::count_slot(uint32_t field) const {
    return c_.home_mem({Home::Slot, loop_.count_slots + field});
}

void BlockCompiler::CountedCode::reserve_count() const {
    if (!plan_.counted) return;
    loop_.count_slots = c_.extra_slots_;
    c_.extra_slots_ += field_count;
    c_.failed_ |= c_.extra_slots_ > slot_count;
}

// In front of an iteration's uniform code: turns the budget into how many iterations certainly go
// on and are paid for, from this one. Jumps if there are none. Leaves rax to rdx changed.
void BlockCompiler::CountedCode::count_iterations(const Gp& budget, Label none) const {
    using Relation = CountedLoop::Relation;
    const CountedLoop& c = *plan_.counted;
    auto load = [&](const Gp& to, bool counter) {
        const ir::Inst& i = inst(counter ? c.set : c.bound);
        if (!counter && i.op == ir::Op::Const32) {
            a_.mov(to, static_cast<uint32_t>(i.imm));
            return;
        }
        a_.mov(to, scalar_field(i.imm, 4));
        if (counter && c.next) a_.add(to, c.step);
    };
    load(x86::eax, !c.counter_first);  // the larger one
    load(x86::ecx, c.counter_first);
    const bool below = c.goes_on == Relation::Below;
    if (c.goes_on != Relation::Different) {
        a_.cmp(x86::eax, x86::ecx);
        if (c.is_signed)
            below ? a_.jle(none) : a_.jl(none);
        else
            below ? a_.jbe(none) : a_.jb(none);
    }
    a_.sub(x86::eax, x86::ecx);
    const auto step = static_cast<uint32_t>(std::abs(c.step));
    if (below && step > 1) a_.add(x86::rax, static_cast<int32_t>(step - 1));
    if (step > 1) a_.shr(x86::rax, std::countr_zero(step));
    if (c.goes_on == Relation::NotAbove) a_.inc(x86::rax);
    const uint32_t each = block_->guest_count;
    a_.mov(x86::rdx, budget);
    a_.sar(x86::rdx, std::bit_width(each - 1));
    a_.cmp(x86::rax, x86::rdx);
    a_.cmovg(x86::rax, x86::rdx);
    a_.test(x86::rax, x86::rax);
    a_.jle(none);
    a_.mov(count_slot(iterations), x86::rax);
    a_.imul(x86::rdx, x86::rax, each);
    a_.sub(budget, x86::rdx);
    a_.mov(count_slot(rest), budget);
    a_.mov(budget, x86::rax);
    c_.uniforms_.assign(block_->insts.size(), {});
}

// Behind them: the counter, and what is left of the budget. The next iteration's uniform code
// decides as if nobody had counted.
void BlockCompiler::CountedCode::count_end(const Gp& budget) const {
    a_.mov(budget, count_slot(rest));
    c_.uniforms_.assign(block_->insts.size(), {});
    if (plan_.counted->counter_needed()) return;
    const uint64_t reg = inst(plan_.counted->set).imm;
    const Mem counter = scalar_field(reg, 4);
    a_.imul(x86::eax, count_slot(iterations).cloneResized(4), plan_.counted->step);
    a_.add(x86::eax, counter);
    a_.mov(counter, x86::eax);
    if (loop_.pins.scalar_set == plan_.counted->set) a_.mov(x86::r14d, x86::eax);
}

// In front of iterations that were counted and do not run, as many as `budget` says.
void BlockCompiler::CountedCode::count_stop(const Gp& budget) const {
    a_.sub(count_slot(iterations), budget);
    a_.imul(x86::rax, budget, block_->guest_count);
    a_.add(count_slot(rest), x86::rax);
    count_end(budget);
}

}  // namespace wj::x64
