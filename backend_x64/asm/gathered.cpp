// Loops with few lanes left, whose stores keep the order of lanes (gathered_lanes.h): out of line,
// the block's code for the chunks that these lanes fill when they are moved together.
#include <bit>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using machine::Wave;
namespace x86 = asmjit::x86;

// The loop that goes on at gathered_label_ while few lanes are on, if the block is one.
std::optional<OrderedLoop> BlockCompiler::begin_gathered() {
    auto loop = guards_stay() ? find_ordered_loop(*block_) : std::nullopt;
    if (!loop || loop->masks.size() > GatheredLanes::most_masks) return {};
    gathered_label_ = a_.newLabel();
    // Chunks that have lanes on, of bits that are all set but for each chunk's last one.
    const uint64_t low = avx512_ ? 0x7fff7fff7fff7fff : 0x7f7f7f7f7f7f7f7f;
    a_.mov(x86::rax, exec_field());
    a_.mov(x86::rcx, low);
    a_.popcnt(x86::rdx, x86::rax);
    a_.mov(x86::rsi, x86::rax);
    a_.and_(x86::rax, x86::rcx);
    a_.add(x86::rax, x86::rcx);
    a_.or_(x86::rax, x86::rsi);
    a_.andn(x86::rax, x86::rcx, x86::rax);
    a_.popcnt(x86::rax, x86::rax);
    a_.dec(x86::eax);
    a_.shl(x86::eax, static_cast<uint32_t>(std::countr_zero(chunk_lanes())));
    a_.cmp(x86::edx, x86::eax);
    a_.jle(gathered_label_);  // not without lanes
    return loop;
}

void BlockCompiler::gathered_loop(const OrderedLoop& loop) {
    std::vector<uint8_t> plan{
        static_cast<uint8_t>(chunk_lanes()), static_cast<uint8_t>(loop.masks.size()),
        static_cast<uint8_t>(loop.written.size()), static_cast<uint8_t>(loop.read.size())};
    for (const OrderedLoop::Mask& m : loop.masks) plan.insert(plan.end(), {m.reg, m.is_empty});
    plan.insert(plan.end(), loop.written.begin(), loop.written.end());
    plan.insert(plan.end(), loop.read.begin(), loop.read.end());
    const uint32_t at = pool_bytes(plan.data(), static_cast<uint32_t>(plan.size()), 1);
    auto spread = [this] {
        a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, spread_stub))));
    };
    const Label iteration = a_.newLabel(), fewer = a_.newLabel();
    a_.lea(x86::rsi, x86::ptr(pool_label_, static_cast<int32_t>(at)));
    a_.call(x86::qword_ptr(reg::frame, in_frame(offsetof(Frame, gather_stub))));
    a_.bind(iteration);
    gathered_ = true;
    forget_facts();
    units_.assign(schedule_.unit_count(), {});
    uniforms_.assign(block_->insts.size(), {});
    for (uint32_t p = 0; p < schedule_.segments(); ++p) segment(p);
    position_ = schedule_.terminator_position();
    ufree_all();
    gathered_ = false;
    a_.popcnt(x86::rax, exec_field());
    a_.cmp(x86::eax, gathered_field(offsetof(GatheredLanes, lanes_left), 4));
    a_.jbe(fewer);
    a_.sub(x86::qword_ptr(reg::wave, in_wave(offsetof(Wave, budget))), block_->guest_count);
    a_.jns(iteration);
    spread();
    a_.jmp(over_label_);  // the next iteration is charged and has not run
    a_.bind(fewer);
    spread();
    a_.cmp(exec_field(), 0);
    a_.jne(entry_label_);
    jump_to(loop.exit, true);
}

}  // namespace wj::x64
