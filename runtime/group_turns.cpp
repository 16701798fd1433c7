#include "runtime/group_turns.h"

#include "memory/access.h"

namespace wj::runtime {

using machine::ExitKind;

machine::Wave* GroupTurns::runnable(uint32_t index) {
    for (; index < group_.group.wave_count; index++)
        if (group_.states[index] == WaveState::Runnable) {
            machine::Wave& wave = group_.waves[index];
            wave.budget = slice_;
            wave.exit = {};
            return &wave;
        }
    return nullptr;
}

bool GroupTurns::settle(const machine::Wave& wave) {
    instructions_ += static_cast<uint64_t>(slice_ - wave.budget);
    WaveState& state = group_.states[wave.wave_in_group];
    switch (wave.exit.kind) {
        case ExitKind::EndProgram:
            state = WaveState::Ended;
            group_.ended++;
            advanced_ = true;
            return true;
        case ExitKind::Barrier:
            state = WaveState::AtBarrier;
            group_.waiting++;
            advanced_ = true;
            return true;
        case ExitKind::Yield:
            used_slice_ |= wave.budget <= 0;
            return true;
        default:
            return false;
    }
}

bool GroupTurns::release() {
    const uint32_t count = group_.group.wave_count;
    if (!group_.waiting || group_.waiting + group_.ended != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (group_.states[i] == WaveState::AtBarrier) group_.states[i] = WaveState::Runnable;
    group_.waiting = group_.stuck_visits = 0;
    return true;
}

machine::Wave* GroupTurns::next(machine::Wave& wave) {
    settle(wave);
    if (machine::Wave* other = runnable(wave.wave_in_group + 1)) return other;
    if (one_round_ || dispatch_.stopped() || !release()) return nullptr;
    begin_round();
    machine::ExecContext& exec = *wave.ctx;
    if (exec.memory_mode == machine::MemoryMode::Checked) memory::refresh_tlb(exec);
    return runnable(0);
}

}  // namespace wj::runtime
