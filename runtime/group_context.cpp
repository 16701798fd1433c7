#include "runtime/group_context.h"

#include <algorithm>
#include <cstring>

#include "common/mix.h"

namespace wj::runtime {

// At the beginning of a page: what translated code keeps in its frame lies further back in one
// (x64::ThreadState), so that loads from a small LDS do not wait for stores to the frame whose
// addresses have the same twelve lower bits.
void GroupContext::AlignedBuffer::reserve(size_t bytes) {
    constexpr size_t page = 4096;
    if (bytes <= size) return;
    memory.reset(new uint8_t[bytes + page - 1]);
    data = reinterpret_cast<uint8_t*>((reinterpret_cast<uintptr_t>(memory.get()) + page - 1) &
                                      ~uintptr_t{page - 1});
    size = bytes;
}

GroupContext::~GroupContext() {
    if (scratch_.begin) (void)memory_.free(scratch_.begin);
}

Status GroupContext::reserve(const LaunchPlan& plan) {
    if (waves.size() < plan.max_waves) {
        waves.resize(plan.max_waves);
        states.resize(plan.max_waves);
    }
    registers_.reserve(size_t{plan.max_waves} * plan.vgpr_rows * machine::lanes * 4);
    lds_.reserve(std::max(plan.lds_bytes, 64u));
    uint64_t scratch =
        uint64_t{plan.max_waves} * plan.scratch_lane_bytes * plan.target->traits.wave_size;
    if (scratch > scratch_.size) {
        if (scratch_.begin) (void)memory_.free(scratch_.begin);
        scratch_ = {};
        auto allocated =
            memory_.allocate(scratch, memory::read_write, "scratch memory of a work-group");
        if (!allocated) return allocated.status();
        scratch_ = {*allocated, scratch};
    }
    return Status::ok();
}

// Waves of work-groups of one size differ in little: they are made once and copied.
void GroupContext::make_templates(const LaunchPlan& plan) {
    const size_t wave_registers = size_t{plan.vgpr_rows} * machine::lanes * 4;
    const uint64_t wave_scratch = uint64_t{plan.scratch_lane_bytes} * plan.target->traits.wave_size;
    templates_.resize(plan.max_waves);
    const IdShape shape{plan.target, group.size, plan.id_rows};
    const bool new_ids = shape != id_shape_;
    if (new_ids) {
        id_shape_ = shape;
        id_bytes_ = size_t{plan.id_rows} * machine::lanes * 4;
        ids_.reserve(plan.max_waves * id_bytes_);
    }
    for (uint32_t i = 0; i < group.wave_count; i++) {
        machine::Wave& wave = templates_[i];
        wave.vgpr = reinterpret_cast<uint32_t*>(registers_.data + i * wave_registers);
        wave.lds = lds_.data;
        wave.group = &group;
        wave.scratch_base = wave_scratch ? scratch_.begin + i * wave_scratch : 0;
        wave.scratch =
            reinterpret_cast<uint8_t*>(wave.scratch_base);  // allocate(): guest = host address
        init_wave(plan, group, i, wave);
        if (new_ids) init_work_item_ids(plan, group, i, ids(i));
    }
    plan_ = plan.id;
    size_ = group.size;
    if (new_ids) ids_alike_ = rows_alike();
    waves_alike_ = ids_alike_ && plan.whole_groups && !plan.scratch_lane_bytes &&
                   registers_alike(plan.whole_lanes);
}

bool GroupContext::rows_alike() const {
    const uint32_t lanes = id_shape_.target->traits.wave_size;
    for (uint32_t i = 1; i < group.wave_count; i++)
        for (uint32_t row = 0; row < id_bytes_ / 4; row += machine::lanes)
            for (uint32_t n = row; n < row + lanes; n++)
                if (ids(i)[n] - ids(i)[row] != ids(0)[n] - ids(0)[row]) return false;
    return true;
}

bool GroupContext::registers_alike(uint32_t whole_lanes) const {
    for (uint32_t i = 0; i < group.wave_count; i++)
        if (templates_[i].exec() != machine::first_lanes(whole_lanes) ||
            std::memcmp(templates_[i].sgpr, templates_[0].sgpr, sizeof(machine::Wave::sgpr)))
            return false;
    return true;
}

Status GroupContext::locate(const LaunchPlan& plan, uint64_t linear_id) {
    // Where it is already: a launch of one work-group, again.
    if (plan_ == plan.id && group.linear_id == linear_id) return Status::ok();
    if (plan_ != plan.id) {
        plan_ = 0;
        if (Status status = reserve(plan); !status) return status;
    }
    locate_group(plan, linear_id, group);
    if (plan_ != plan.id || size_[0] != group.size[0] || size_[1] != group.size[1] ||
        size_[2] != group.size[2])
        make_templates(plan);
    group.waves = waves.data();
    place_ = GroupPlace::of(plan, linear_id);
    hw_id_ = place_.hw_id();
    return Status::ok();
}

void GroupContext::advance(const LaunchPlan& plan) {
    place_.advance(plan);
    hw_id_ = place_.hw_id();
    if (!advance_group(plan, group)) make_templates(plan);
}

void GroupContext::advance(const LaunchPlan& plan, uint64_t groups) {
    locate_group(plan, group.linear_id + groups, group);
    place_ = GroupPlace::of(plan, group.linear_id);
    hw_id_ = place_.hw_id();
}

Status GroupContext::start(const LaunchPlan& plan, const WaveStart& how, uint64_t linear_id) {
    if (Status status = locate(plan, linear_id); !status) return status;
    begin(plan, how);
    return Status::ok();
}

void GroupContext::start_next(const LaunchPlan& plan, const WaveStart& how) {
    advance(plan);
    begin(plan, how);
}

void GroupContext::begin(const LaunchPlan& plan, const WaveStart& how) {
    ended = waiting = spinning = stuck_visits = 0;
    aside.round.reset();
    group.in_block = 0;
    group.lds_bytes = plan.lds_bytes;
    begin_barriers(plan);
    if (plan.lds_bytes) how.clear(lds_.data, plan.lds_bytes);
    group.shadow = nullptr;
    if (plan.request.checks) begin_shadow(plan);
    group.weak = nullptr;
    if (plan.request.weak_memory && plan.request.schedule_seed) {
        models_.weak.begin(group.wave_count, plan.kernel.wgp_mode || plan.kernel.tg_split,
                           mix(plan.request.schedule_seed + mix(group.linear_id)));
        group.weak = &models_.weak;
    }
    // Else it holds what the last work-group left here, whichever that was.
    if (plan.request.deterministic && plan.scratch_lane_bytes)
        std::memset(reinterpret_cast<void*>(scratch_.begin), 0, scratch_.size);
    for (uint32_t i = 0; i < group.wave_count; i++)
        start_wave(plan, how, i, waves[i], reinterpret_cast<uint8_t*>(templates_[i].vgpr));
    std::fill_n(states.data(), group.wave_count, WaveState::Runnable);
}

void GroupContext::begin_barriers(const LaunchPlan& plan) {
    group.begin_barriers();
    const uint32_t named = named_barriers(plan);
    if (named) named_ = machine::NamedBarriers(named);
    group.named = named ? &named_ : nullptr;
}

void GroupContext::begin_shadow(const LaunchPlan& plan) {
    const uint32_t checks = plan.request.checks;
    group.shadow = &models_.shadow;
    models_.shadow.lds.begin(plan.request.group_segment_size);
    models_.shadow.waves.resize(checks & machine::checks_of_registers ? group.wave_count : 0);
    models_.shadow.watches_bits = plan.code.watches_bits;
    const bool inexact = checks & machine::check_inexact;
    for (machine::RegisterShadow& wave : models_.shadow.waves) {
        wave.begin(plan.code.watches_bits, plan.vgpr_count + plan.agpr_count, plan.id_rows,
                   initial_sgprs(plan), plan.scratch_lane_bytes);
        if (inexact) wave.begin_watching(plan.vgpr_count + plan.agpr_count);
    }
}

void GroupContext::spread(const LaunchPlan& plan, const WaveStart& how, uint32_t index) {
    ended = index;
    waiting = spinning = stuck_visits = 0;
    aside.round.reset();
    begin_barriers(plan);
    for (uint32_t i = index + 1; i < group.wave_count; i++)
        start_wave(plan, how, i, waves[i], reinterpret_cast<uint8_t*>(templates_[i].vgpr));
    auto* rows = reinterpret_cast<uint8_t*>(templates_[index].vgpr);
    if (index) {
        waves[index] = waves[0];
        set_rows(plan, waves[index], rows);
        std::memcpy(rows, registers_.data, size_t{plan.vgpr_rows} * machine::lanes * 4);
    }
    std::fill_n(states.data(), index, WaveState::Ended);
    std::fill_n(states.data() + index, group.wave_count - index, WaveState::Runnable);
}

void GroupContext::prepare_to_go_on(bool forget_blocks) {
    spinning = stuck_visits = 0;
    if (forget_blocks) group.in_block = 0;
    for (uint32_t i = 0; i < group.wave_count; i++) {
        if (states[i] == WaveState::Spinning) states[i] = WaveState::Runnable;
        forget_shapes(waves[i]);
    }
}

std::array<GroupContext::Memory, 3> GroupContext::memory_of(const LaunchPlan& plan,
                                                            uint32_t wave_count) const {
    const size_t waves_of = wave_count;
    return {{{registers_.data, waves_of * plan.vgpr_rows * machine::lanes * 4},
             {lds_.data, plan.lds_bytes},
             {reinterpret_cast<uint8_t*>(scratch_.begin),
              waves_of * plan.scratch_lane_bytes * plan.target->traits.wave_size}}};
}

void GroupContext::save(const LaunchPlan& plan, Image& to) const {
    to.group = group;
    to.waves.assign(waves.begin(), waves.begin() + group.wave_count);
    to.states.assign(states.begin(), states.begin() + group.wave_count);
    to.ended = ended;
    to.waiting = waiting;
    to.blocked = aside.blocked;
    to.round = aside.round;
    to.memory.clear();
    for (const Memory& m : memory_of(plan, group.wave_count))
        to.memory.insert(to.memory.end(), m.begin, m.begin + m.bytes);
    if (group.named) to.named = named_;
    if (group.weak) to.weak = models_.weak;
}

void GroupContext::restore(const LaunchPlan& plan, const Image& from) {
    plan_ = 0;  // what starts next here begins anew
    group = from.group;
    std::ranges::copy(from.waves, waves.begin());
    std::ranges::copy(from.states, states.begin());
    ended = from.ended;
    waiting = from.waiting;
    spinning = stuck_visits = 0;
    aside.blocked = from.blocked;
    aside.round = from.round;
    const uint8_t* at = from.memory.data();
    for (const Memory& m : memory_of(plan, group.wave_count)) {
        if (m.bytes) std::memcpy(m.begin, at, m.bytes);
        at += m.bytes;
    }
    if (group.named) named_ = from.named;
    if (group.weak) models_.weak = from.weak;
}

StoppedWave GroupContext::stopped_wave(uint32_t index, const Target& target, bool exact) const {
    using State = StoppedWave::State;
    machine::Wave& wave = group.waves[index];
    StoppedWave stopped{.wave = &wave, .target = &target, .exact = exact};
    const machine::ExitKind kind = wave.exit.kind;
    if (kind > machine::ExitKind::Yield) {
        stopped.state = State::Stopped;
        wave.pc = wave.exit.pc;
    } else if (states[index] != WaveState::Runnable && states[index] != WaveState::Spinning) {
        stopped.state = states[index] == WaveState::Ended ? State::Ended : State::AtBarrier;
    }
    return stopped;
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
