#include "runtime/group_context.h"

#include <cstring>

namespace wj::runtime {

void GroupContext::AlignedBuffer::reserve(size_t bytes) {
    if (bytes <= size) return;
    memory.reset(new uint8_t[bytes + 64]);
    data = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.get()) + 63) &
                                      ~uintptr_t{63});
    size = bytes;
}

GroupContext::~GroupContext() {
    if (scratch_) (void)memory_.free(scratch_);
}

Status GroupContext::reserve(const LaunchPlan& plan) {
    if (waves.size() < plan.max_waves) {
        waves.resize(plan.max_waves);
        states.resize(plan.max_waves);
    }
    registers_.reserve(size_t{plan.max_waves} * plan.vgpr_rows * machine::lanes * 4);
    lds_.reserve(std::max(plan.lds_bytes, 64u));
    uint64_t scratch = uint64_t{plan.max_waves} * plan.scratch_lane_bytes * machine::lanes;
    if (scratch > scratch_size_) {
        if (scratch_) (void)memory_.free(scratch_);
        scratch_ = scratch_size_ = 0;
        auto allocated =
            memory_.allocate(scratch, memory::read_write, "scratch memory of a work-group");
        if (!allocated) return allocated.status();
        scratch_ = *allocated;
        scratch_size_ = scratch;
    }
    return Status::ok();
}

Status GroupContext::start(const LaunchPlan& plan, uint64_t linear_id) {
    Status status = reserve(plan);
    if (!status) return status;
    locate_group(plan, linear_id, group);
    group.waves = waves.data();
    ended = waiting = stuck_visits = 0;
    std::memset(lds_.data, 0, plan.lds_bytes);
    size_t wave_registers = size_t{plan.vgpr_rows} * machine::lanes * 4;
    uint64_t wave_scratch = uint64_t{plan.scratch_lane_bytes} * machine::lanes;
    for (uint32_t i = 0; i < group.wave_count; i++) {
        machine::Wave& wave = waves[i];
        wave.vgpr = reinterpret_cast<uint32_t*>(registers_.data + i * wave_registers);
        wave.lds = lds_.data;
        wave.group = &group;
        wave.scratch_base = wave_scratch ? scratch_ + i * wave_scratch : 0;
        wave.scratch =
            reinterpret_cast<uint8_t*>(wave.scratch_base);  // allocate(): guest = host address
        init_wave(plan, group, i, wave);
        states[i] = WaveState::Runnable;
    }
    return Status::ok();
}

std::unique_ptr<GroupContext> GroupContextPool::take() {
    {
        std::lock_guard lock(mutex_);
        if (!free_.empty()) {
            auto context = std::move(free_.back());
            free_.pop_back();
            return context;
        }
    }
    return std::make_unique<GroupContext>(memory_);
}

void GroupContextPool::give(std::unique_ptr<GroupContext> context) {
    std::lock_guard lock(mutex_);
    if (free_.size() < 256) free_.push_back(std::move(context));
}

}  // namespace wj::runtime
