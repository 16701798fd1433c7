// The waves of a resident work-group, taking turns. As long as only their ends and barriers stop
// them, they go through round after round in one call of the engine, and so do the work-groups
// behind theirs.
#pragma once

#include <utility>

#include "machine/engine.h"
#include "machine/group_shadow.h"
#include "memory/fault_reasons.h"
#include "runtime/dispatch.h"

namespace wj::runtime {

class GroupTurns final : public machine::WaveSource {
public:
    // Each wave may execute `slice` instructions in a turn. one_round: the call of the engine ends
    // at a barrier, too.
    // A work-group that has been started, and those up to number `end` that are started behind it.
    // With an instruction limit a call runs one wave, whose slice comes out of the allowance; of a
    // deterministic dispatch, too.
    GroupTurns(DispatchState& dispatch, GroupContext& group, machine::ExecContext& exec,
               uint64_t end, int64_t slice, bool one_round)
        : dispatch_(dispatch), group_(group), exec_(exec), end_(end), one_round_(one_round) {
        slice_ = row_.slice = slice;
        place_waves();
    }

    // Another one, or what is left of the one that a stop has cut short.
    void begin_round();
    // Its first wave.
    machine::Wave* first() { return runnable(round_.place); }
    // The next wave of this round, at this place or behind, or null: there is none, or nothing is
    // left of the instruction limit just now.
    machine::Wave* runnable(uint32_t place);
    // The round goes on from here in other turns of the work-group.
    void cut_round_short() { group_.aside.round = round_; }
    machine::Wave* next(machine::Wave& wave) override;
    machine::WaveRow* row() override { return &row_; }
    // Notes why a wave's turn has ended; false: something is wrong with it. next() does it for
    // those that it gets.
    bool settle(const machine::Wave& wave);
    // For the turns that follow.
    void set_slice(int64_t slice) { slice_ = row_.slice = slice; }
    int64_t slice() const { return slice_; }
    // The wave that runnable() has given is to stop at the end of a basic block of the guest.
    bool last_of_limit() const { return last_of_limit_; }
    bool one_wave() const {
        return dispatch_.allowance.limited() || dispatch_.plan.request.deterministic;
    }
    // Each call of an engine runs one wave: others may be for another engine.
    bool wave_by_wave() const {
        return one_wave() || (group_.group.shadow && group_.group.shadow->watches_bits);
    }
    // For bits that nobody has written, from its beginning or from a load on.
    bool is_watched(const machine::Wave& wave) const {
        return group_.group.shadow && group_.group.shadow->watches_bits &&
               group_.group.shadow->waves[wave.wave_in_group].watches_bits;
    }
    static bool begins_to_be_watched(const machine::Wave& wave) {
        return wave.exit.kind == machine::ExitKind::Yield &&
               wave.exit.reason == memory::watched_from_here;
    }
    // What runnable() was asked for when it gave this wave.
    uint32_t place_of(const machine::Wave& wave) const {
        return one_wave() ? round_.place : wave.wave_in_group;
    }
    // The wave that has been settled was given a part of its slice, near the end of a limit.
    bool has_more_of_its_turn() const { return round_.left > 0; }
    static bool out_of_budget(const machine::Wave& wave) {
        return wave.exit.kind == machine::ExitKind::Yield && wave.budget <= 0;
    }
    // All waves have arrived at a barrier: they may go on. Those that have ended count as arrived.
    // With split barriers: waves whose barrier is complete.
    bool release();
    // Every wave waits or has ended, and nobody is left to release them, of the work-group or of
    // its cluster.
    bool all_wait() const;
    // Waves have ended, and all others wait for them at the work-group's barrier.
    bool misses_barrier() const;
    // Its waves have all ended.
    void end_group();

    bool advanced() const { return round_.advanced; }
    bool used_slice() const { return round_.used_slice; }
    // Work-groups that have ended and are gone, and waves of those begun behind them.
    uint64_t take_finished() { return std::exchange(finished_, 0); }
    uint64_t take_waves() { return std::exchange(waves_, 0); }
    uint64_t take_instructions() { return std::exchange(row_.instructions, 0); }

private:
    void begin_row(uint32_t index);
    bool begin_group();
    void place_waves();
    void pass_barrier(bool of_cluster);
    bool anyone_waits(bool (*at)(uint32_t detail)) const;
    bool release_complete();
    bool splits_barriers() const {
        const LaunchPlan& plan = dispatch_.plan;
        return plan.target->traits.split_barriers && !plan.code.whole_barriers();
    }
    bool take_slice();
    DispatchState& dispatch_;
    GroupContext& group_;
    machine::ExecContext& exec_;
    const uint64_t end_;
    uint64_t finished_ = 0, waves_ = 0;
    const bool one_round_;
    bool last_of_limit_ = false;
    int64_t slice_ = 0;  // that each wave may have
    Round round_;
    machine::WaveRow row_;      // behind the wave that runnable() has given
    uint32_t row_begin_ = ~0u;  // that wave, until it has been settled
    uint32_t laps_ = 0;         // of the row at its beginning
};

}  // namespace wj::runtime
