#include "runtime/wave_stream.h"

#include <algorithm>

namespace wj::runtime {

[[gnu::always_inline]] inline machine::Wave* WaveStream::begin_wave() {
    machine::Wave& wave = context_.start_alone(dispatch_.plan, how_, wave_);
    wave.ctx = &exec_;
    wave.budget = slice_;
    return &wave;
}

Result<machine::Wave*> WaveStream::start() {
    if (Status status = context_.locate(dispatch_.plan, at_); !status) return status;
    waves_ += context_.group.wave_count;
    return begin_wave();
}

[[gnu::always_inline]] inline bool WaveStream::step() {
    if (wave_ + 1 < context_.group.wave_count) {
        ++wave_;
        return true;
    }
    if (at_ + 1 == end_ || dispatch_.stopped()) return false;
    wave_ = 0;
    ++at_;
    context_.advance(dispatch_.plan);
    waves_ += context_.group.wave_count;
    return true;
}

machine::Wave* WaveStream::next(machine::Wave& wave) {
    settle();
    if (wave.exit.kind != machine::ExitKind::EndProgram) return nullptr;
    instructions_ += static_cast<uint64_t>(slice_ - wave.budget);
    if (step()) return begin_wave();
    wave_ = 0;
    ++at_;
    done_ = true;
    return nullptr;
}

void WaveStream::offer_run(machine::Wave& wave, uint32_t executed) {
    if (!context_.offer_ids(how_, wave_, run_)) return;
    const LaunchPlan& plan = dispatch_.plan;
    auto counter = [&](int dimension) {
        const int sgpr = plan.group_ids.sgpr[dimension];
        return sgpr >= 0 ? &wave.sgpr[sgpr] : &no_group_id_;
    };
    run_.group_id = counter(0);
    run_.row_id = counter(1);
    run_.groups = run_.rows = 0;
    if (plan.rows_together == 1) {
        const uint64_t behind = end_ - 1 - at_;
        const uint32_t row = plan.group_count[0], in_row = row - 1 - context_.group.id[0];
        run_.groups = static_cast<uint32_t>(std::min<uint64_t>(in_row, behind));
        run_.rows = static_cast<uint32_t>(std::min<uint64_t>(
            plan.group_count[1] - 1 - context_.group.id[1], (behind - run_.groups) / row));
        run_.most_groups = row - 1;
    }
    offered_ = run_.groups;
    offered_rows_ = run_.rows;
    executed_ = executed;
}

bool WaveStream::take_notice() {
    if (!executed_) return false;
    const uint32_t count = context_.group.wave_count, wave = count - 1 - run_.left;
    const uint64_t groups = uint64_t{offered_rows_ - run_.rows} * dispatch_.plan.group_count[0] +
                            offered_ - run_.groups;
    instructions_ += executed_ * (groups * count + wave - wave_);
    waves_ += groups * count;
    at_ += groups;
    wave_ = wave;
    if (groups) context_.advance(dispatch_.plan, groups);
    run_.left = run_.groups = run_.rows = executed_ = 0;
    run_.ids = nullptr;
    return true;
}

void WaveStream::settle() {
    if (take_notice()) context_.start_alike(dispatch_.plan, how_, wave_);
}

bool WaveStream::again(machine::Wave& wave, uint32_t executed) {
    take_notice();
    if (slice_ - wave.budget != executed || !context_.waves_alike()) return false;
    if (!step()) return false;
    instructions_ += executed;
    context_.start_alike(dispatch_.plan, how_, wave_);
    wave.budget = slice_ - executed;
    offer_run(wave, executed);
    return true;
}

}  // namespace wj::runtime
