#include "runtime/group_turns.h"

#include <algorithm>

#include "interpreter/checks.h"
#include "memory/access.h"
#include "runtime/findings.h"

namespace wj::runtime {

using machine::ExitKind;

constexpr uint32_t most_laps = 16;
// Schedules with a seed have slices of 1 to 2^12 instructions.
constexpr uint32_t random_slice_bits = 13;

void GroupTurns::begin_round() {
    if (group_.aside.round) [[unlikely]] {
        round_ = *group_.aside.round;
        group_.aside.round.reset();
        if (!one_wave()) round_.left = 0;
        return;
    }
    round_.place = 0;
    round_.left = 0;
    round_.advanced = round_.used_slice = false;
    if (dispatch_.plan.request.schedule_seed)
        round_.order = Shuffle(group_.group.wave_count, dispatch_.random());
}

machine::Wave* GroupTurns::runnable(uint32_t place) {
    for (; place < group_.group.wave_count; place++) {
        const auto index = static_cast<uint32_t>(round_.order(place));
        if (group_.states[index] == WaveState::Runnable) {
            round_.place = place;
            if (!take_slice()) return nullptr;
            machine::Wave& wave = group_.waves[index];
            wave.budget = row_.slice;
            begin_row(index);
            return &wave;
        }
    }
    round_.place = place;
    return nullptr;
}

bool GroupTurns::take_slice() {
    if (!one_wave()) return true;
    if (round_.left <= 0) {
        round_.left = slice_;
        if (dispatch_.plan.request.schedule_seed)
            round_.left = std::min(slice_, int64_t{1} << dispatch_.random() % random_slice_bits);
    }
    if (dispatch_.allowance.limited()) {
        const InstructionAllowance::Slice slice = dispatch_.allowance.take(round_.left);
        row_.slice = slice.instructions;
        last_of_limit_ = slice.last;
    } else {
        row_.slice = round_.left;
        last_of_limit_ = false;
    }
    exec_.time_at_end += static_cast<uint64_t>(row_.slice);
    return row_.slice > 0;
}

void GroupTurns::begin_row(uint32_t index) {
    row_begin_ = index;
    for (;; index++) {
        machine::Wave& wave = group_.waves[index];
        if (wave.exit.kind != ExitKind::None) wave.exit = {};
        if (wave_by_wave() || index + 1 == group_.group.wave_count ||
            group_.states[index + 1] != WaveState::Runnable)
            break;
    }
    row_.left = row_.most_left = index - row_begin_;
    row_.ended = 0;
    // All of them: they may release each other. Not without end: others may want to stop them.
    const bool all = row_.left + 1 == group_.group.wave_count;
    const bool free = !one_round_ && exec_.memory_mode != machine::MemoryMode::Checked &&
                      !group_.group.shadow && !splits_barriers();
    row_.laps = laps_ = all && free ? most_laps : 0;
    row_.first = group_.waves.data();
}

bool GroupTurns::settle(const machine::Wave& wave) {
    // Those that the engine has passed have ended or are at a barrier; in earlier laps all have
    // been there.
    if (row_.laps != laps_) {
        laps_ = row_.laps;
        group_.stuck_visits = 0;
        round_.advanced = true;
    }
    for (; row_begin_ < wave.wave_in_group; row_begin_++) {
        const bool ended = group_.waves[row_begin_].exit.kind == ExitKind::EndProgram;
        group_.states[row_begin_] = ended ? WaveState::Ended : WaveState::AtBarrier;
        ++(ended ? group_.ended : group_.waiting);
        round_.advanced = true;
    }
    row_begin_ = ~0u;
    row_.instructions += static_cast<uint64_t>(row_.slice - wave.budget);
    if (one_wave()) {
        dispatch_.allowance.settle(row_.slice, row_.slice - wave.budget);
        exec_.time_at_end -= static_cast<uint64_t>(wave.budget);
        round_.left -= row_.slice - wave.budget;
    }
    WaveState& state = group_.states[wave.wave_in_group];
    const bool turn_is_over = wave.exit.kind <= ExitKind::Yield && !out_of_budget(wave);
    if (turn_is_over) round_.left = 0;
    switch (wave.exit.kind) {
        case ExitKind::EndProgram:
            state = WaveState::Ended;
            group_.ended++;
            round_.advanced = true;
            return true;
        case ExitKind::Barrier:
            state = WaveState::AtBarrier;
            group_.waiting++;
            round_.advanced = true;
            return true;
        case ExitKind::Yield:
            round_.used_slice |= out_of_budget(wave) && !has_more_of_its_turn();
            return true;
        default:
            round_.place = place_of(wave);
            // In the midst of a block, whose end is that of the turn if all of it has been used up.
            round_.left = std::max<int64_t>(round_.left, 1);
            return false;
    }
}

bool GroupTurns::release() {
    const uint32_t count = group_.group.wave_count;
    if (group_.waiting && splits_barriers()) return release_complete();
    if (!group_.waiting || group_.waiting + group_.ended != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (group_.states[i] == WaveState::AtBarrier) group_.states[i] = WaveState::Runnable;
    group_.waiting = group_.stuck_visits = 0;
    if (group_.group.shadow) pass_barrier(false);
    return true;
}

// What work-groups of other clusters have done is taken for known as well: a race with them may go
// unnoticed.
void GroupTurns::pass_barrier(bool of_cluster) {
    machine::GroupShadow& shadow = *group_.group.shadow;
    shadow.lds.barrier();
    if (!(exec_.checks & machine::check_race)) return;
    machine::GlobalShadow& global = shadow.dispatch->global;
    const std::lock_guard lock(global.mutex());
    const auto group = static_cast<uint32_t>(group_.group.linear_id);
    global.barrier(group, group_.group.wave_count);
    for (uint32_t i = 0; of_cluster && i < group_.group.wave_count; i++)
        global.acquire_everything(global.agent(group, i));
}

// Each wave for which its barrier has been completed since it last waited, whatever the others do.
bool GroupTurns::release_complete() {
    machine::WorkGroup& group = group_.group;
    group.drop_ended();
    const uint32_t waiting = group_.waiting;
    bool of_cluster = false;
    for (uint32_t i = 0; i < group.wave_count; i++) {
        if (group_.states[i] != WaveState::AtBarrier) continue;
        const uint32_t barrier = group_.waves[i].exit.detail;
        if (!group.pass(i, barrier)) continue;
        of_cluster |= barrier == machine::waits_for_cluster;
        group_.states[i] = WaveState::Runnable;
        group_.waiting--;
    }
    if (group_.waiting == waiting) return false;
    group_.stuck_visits = 0;
    if (group.shadow) pass_barrier(of_cluster);
    return true;
}

// At a barrier of this kind (ExitInfo::detail).
bool GroupTurns::anyone_waits(bool (*at)(uint32_t)) const {
    for (uint32_t i = 0; i < group_.group.wave_count; i++)
        if (group_.states[i] == WaveState::AtBarrier && at(group_.waves[i].exit.detail))
            return true;
    return false;
}

bool GroupTurns::misses_barrier() const {
    return group_.ended && group_.waiting + group_.ended == group_.group.wave_count &&
           anyone_waits([](uint32_t barrier) { return barrier == machine::waits_for_group; });
}

void GroupTurns::end_group() {
    if (group_.group.in_cluster.cluster) dispatch_.clusters.leave(group_.group);
    for (uint32_t i = 0; group_.group.shadow && i < group_.group.wave_count; i++)
        interp::check_useless_join(group_.waves[i]);
}

bool GroupTurns::all_wait() const {
    if (!group_.waiting || group_.waiting + group_.ended != group_.group.wave_count) return false;
    if (!anyone_waits([](uint32_t barrier) { return barrier == machine::waits_for_cluster; }))
        return true;
    const machine::ClusterMember& member = group_.group.in_cluster;
    const std::lock_guard lock(member.cluster->mutex);
    return member.cluster->deadlocked(member.rank, member.phase);
}

void GroupTurns::place_waves() {
    if (dispatch_.plan.clusters.several()) dispatch_.clusters.enter(group_.group);
    if (group_.group.shadow) group_.group.shadow->dispatch = &dispatch_.findings->shadow();
    for (uint32_t i = 0; i < group_.group.wave_count; i++) group_.waves[i].ctx = &exec_;
}

// The work-group behind one whose waves have all ended.
bool GroupTurns::begin_group() {
    // Whoever has learned that waves run alone does better than taking turns.
    if (group_.group.linear_id + 1 >= end_ || dispatch_.streams.load(std::memory_order_relaxed) ||
        group_.group.misuse || group_.group.in_cluster.cluster)
        return false;
    group_.start_next(dispatch_.plan, dispatch_.wave_start());
    place_waves();
    finished_++;
    waves_ += group_.group.wave_count;
    return true;
}

machine::Wave* GroupTurns::next(machine::Wave& wave) {
    settle(wave);
    if (wave_by_wave()) return nullptr;
    if (machine::Wave* other = runnable(wave.wave_in_group + 1)) return other;
    if (one_round_ || dispatch_.stopped()) return nullptr;
    const bool all_ended = group_.ended == group_.group.wave_count;
    if (!(all_ended ? begin_group() : release())) return nullptr;
    begin_round();
    if (exec_.memory_mode == machine::MemoryMode::Checked) memory::refresh_tlb(exec_);
    return runnable(0);
}

}  // namespace wj::runtime
