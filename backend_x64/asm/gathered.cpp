// Loops with few lanes left, which are moved together (gathered_lanes.h). Where stores keep the
// order of lanes, out of line, the block's code for the chunks that these lanes fill then; where
// chunks run one after the other (divergent.cpp), between slices of their iterations.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "backend_x64/asm/loop_code.h"
#include "backend_x64/plan/programs.h"

namespace wj::x64 {

using machine::Wave;
namespace x86 = asmjit::x86;

// The loop goes on at gathered_label_ while few lanes are on.
void BlockCompiler::GatheredCode::begin() const {
    c_.gathered_label_ = a_.newLabel();
    // Chunks that have lanes on, of bits that are all set but for each chunk's last one.
    const uint64_t low = c_.avx512_ ? 0x7fff7fff7fff7fff : 0x7f7f7f7f7f7f7f7f;
    a_.mov(mask_register(*block_, x86::rax), exec_field(*block_));
    a_.mov(x86::rcx, low);
    a_.popcnt(x86::rdx, x86::rax);
    a_.mov(x86::rsi, x86::rax);
    a_.and_(x86::rax, x86::rcx);
    a_.add(x86::rax, x86::rcx);
    a_.or_(x86::rax, x86::rsi);
    a_.andn(x86::rax, x86::rcx, x86::rax);
    a_.popcnt(x86::rax, x86::rax);
    a_.dec(x86::eax);
    a_.shl(x86::eax, static_cast<uint32_t>(std::countr_zero(c_.chunk_lanes())));
    a_.cmp(x86::edx, x86::eax);
    a_.jle(c_.gathered_label_);  // not without lanes
}

uint32_t BlockCompiler::GatheredCode::gather_plan() const {
    const OrderedLoop& loop = *plan_.compacted;
    std::vector<uint8_t> plan{
        static_cast<uint8_t>(c_.chunk_lanes()), static_cast<uint8_t>(c_.chunk_lanes()),
        static_cast<uint8_t>(loop.masks.size()), static_cast<uint8_t>(loop.written.size()),
        static_cast<uint8_t>(loop.read.size())};
    for (const OrderedLoop::Mask& m : loop.masks) plan.insert(plan.end(), {m.reg, m.is_empty});
    plan.insert(plan.end(), loop.written.begin(), loop.written.end());
    plan.insert(plan.end(), loop.read.begin(), loop.read.end());
    return c_.pool_bytes(plan.data(), static_cast<uint32_t>(plan.size()), 1);
}

void BlockCompiler::GatheredCode::emit() const {
    const OrderedLoop& loop = *plan_.compacted;
    const uint32_t at = gather_plan();
    auto spread = [*this] {
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, spread_stub))));
    };
    const Label iteration = a_.newLabel(), fewer = a_.newLabel();
    a_.lea(x86::rsi, x86::ptr(c_.pool_label_, static_cast<int32_t>(at)));
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, gather_stub))));
    a_.bind(iteration);
    c_.gathered_ = true;
    c_.forget_facts();
    c_.units_.assign(schedule_.unit_count(), {});
    c_.uniforms_.assign(block_->insts.size(), {});
    for (uint32_t p = 0; p < schedule_.segments(); ++p) c_.segment(p);
    c_.position_ = schedule_.terminator_position();
    c_.ufree_all();
    c_.gathered_ = false;
    a_.popcnt(mask_register(*block_, x86::rax), exec_field(*block_));
    a_.cmp(x86::eax, gathered_field(offsetof(GatheredLanes, lanes_left), 4));
    a_.jbe(fewer);
    a_.sub(budget_field(), block_->guest_count);
    a_.jns(iteration);
    spread();
    a_.jmp(c_.over_label_);  // the next iteration is charged and has not run
    a_.bind(fewer);
    spread();
    a_.cmp(exec_field(*block_), 0);
    a_.jne(c_.entry_label_);
    c_.jump_to(loop.exit, true);
}

// ---- slices
// -------------------------------------------------------------------------------------

// Divergent loops, each of whose chunks runs as long as it has lanes: where they only compute, all
// chunks stop after some iterations, so that the lanes that are left, if they are few, go on in
// fewer chunks. Slices become longer as long as lanes stay where they are.
BlockCompiler::GatheredCode::Slices BlockCompiler::GatheredCode::begin_slices() const {
    constexpr uint32_t usual_iterations = 16;
    const uint32_t iterations =
        c_.options_.slice_iterations ? c_.options_.slice_iterations : usual_iterations;
    const int64_t first = int64_t{iterations} * block_->guest_count;
    const Slices slices{a_.newLabel(), c_.extra_slots_, c_.extra_slots_ + 1,
                        c_.pool_bytes(&first, sizeof first, alignof(int64_t)), gather_plan()};
    c_.extra_slots_ += 2;
    const Mem length = c_.home_mem({Home::Slot, slices.length}),
              floor = c_.home_mem({Home::Slot, slices.floor});
    a_.mov(x86::rax, x86::ptr(c_.pool_label_, static_cast<int32_t>(slices.first)));
    a_.mov(length, x86::rax);
    a_.bind(slices.begin);
    a_.xor_(x86::ecx, x86::ecx);
    a_.mov(x86::rax, budget_field());
    a_.sub(x86::rax, length);
    a_.cmovl(x86::rax, x86::rcx);
    a_.mov(floor, x86::rax);
    return slices;
}

// When it is known how many chunks run together. All of them: one slice.
void BlockCompiler::GatheredCode::set_slices(const Slices& slices) const {
    const uint32_t together = loop_.pins.chunks * c_.chunk_lanes();
    c_.pool_[slices.plan + offsetof(GatherPlan, together)] = static_cast<uint8_t>(together);
    constexpr int64_t endless = std::numeric_limits<int64_t>::max();
    if (together == block_->wave_size)
        std::memcpy(&c_.pool_[slices.first], &endless, sizeof endless);
}

// Behind the loop's code, with some lanes left: the next iteration is charged and has not run.
void BlockCompiler::GatheredCode::end_slice(const Slices& slices) const {
    const Label over = a_.newLabel();
    a_.cmp(budget_field(), 0);
    a_.jl(over);
    a_.lea(x86::rsi, x86::ptr(c_.pool_label_, static_cast<int32_t>(slices.plan)));
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, regather_stub))));
    const Mem length = c_.home_mem({Home::Slot, slices.length}).cloneResized(8);
    const Label same = a_.newLabel();
    a_.test(x86::eax, x86::eax);
    a_.jz(same);
    a_.cmp(x86::eax, 1);
    a_.mov(x86::rax, x86::ptr(c_.pool_label_, static_cast<int32_t>(slices.first)));
    a_.mov(x86::rcx, std::numeric_limits<int64_t>::max());
    a_.cmove(x86::rax, x86::rcx);
    a_.mov(length, x86::rax);
    a_.jmp(slices.begin);
    a_.bind(same);
    a_.mov(x86::rax, length);
    a_.shr(x86::rax, 1);
    a_.add(length, x86::rax);
    a_.jmp(slices.begin);
    a_.bind(over);
    spread_if_gathered();
    a_.jmp(c_.over_label_);
}

void BlockCompiler::GatheredCode::spread_if_gathered() const {
    const Label apart = a_.newLabel();
    a_.cmp(gathered_field(offsetof(GatheredLanes, exec), 8), 0);
    a_.je(apart);
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, spread_stub))));
    a_.bind(apart);
}

}  // namespace wj::x64
