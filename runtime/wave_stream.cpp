#include "runtime/wave_stream.h"

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
    if (wave.exit.kind != machine::ExitKind::EndProgram) return nullptr;
    instructions_ += static_cast<uint64_t>(slice_ - wave.budget);
    if (step()) return begin_wave();
    wave_ = 0;
    ++at_;
    done_ = true;
    return nullptr;
}

bool WaveStream::again(machine::Wave& wave, uint32_t executed) {
    if (slice_ - wave.budget != executed || !context_.waves_alike()) return false;
    if (!step()) return false;
    instructions_ += executed;
    context_.start_alike(dispatch_.plan, how_, wave_);
    wave.budget = slice_ - executed;
    return true;
}

}  // namespace wj::runtime
