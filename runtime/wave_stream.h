// New work-groups without LDS, wave by wave in the memory of one wave: what a launch of many short
// waves costs is mostly the memory that their registers take, and here that stays in the L1 cache.
#pragma once

#include "machine/engine.h"
#include "runtime/dispatch.h"

namespace wj::runtime {

class WaveStream final : public machine::WaveSource {
public:
    // The dispatch's work-groups [begin, end), of which `context` holds one at a time. Each wave
    // may execute `slice` instructions.
    WaveStream(const DispatchState& dispatch, const WaveStart& how, GroupContext& context,
               machine::ExecContext& exec, uint64_t begin, uint64_t end, int64_t slice)
        : dispatch_(dispatch),
          how_(how),
          context_(context),
          exec_(exec),
          slice_(slice),
          begin_(begin),
          end_(end),
          at_(begin) {}

    // Failing, there is no memory for the first work-group.
    Result<machine::Wave*> start();
    machine::Wave* next(machine::Wave& wave) override;
    bool again(machine::Wave& wave, uint32_t executed) override;
    machine::WaveRun* run() override { return &run_; }
    void settle() override;

    // Afterwards, settle()d. The work-groups before at() are done; when not done(), wave() of at()
    // has stopped before its end.
    bool done() const { return done_; }
    uint64_t at() const { return at_; }
    uint64_t finished() const { return at_ - begin_; }
    uint32_t wave() const { return wave_; }
    uint64_t waves() const { return waves_; }
    uint64_t instructions() const { return instructions_; }  // of waves that ended

private:
    machine::Wave* begin_wave();
    // To the next wave's place; false: there is none to run, and nothing has been done.
    bool step();
    // Counts the waves of the run that translated code has started; false: there was no run.
    bool take_notice();
    // Lets translated code go on by itself.
    void offer_run(machine::Wave& wave, uint32_t executed);

    const DispatchState& dispatch_;
    const WaveStart& how_;
    GroupContext& context_;
    machine::ExecContext& exec_;
    const int64_t slice_;
    const uint64_t begin_, end_;
    uint64_t at_, waves_ = 0, instructions_ = 0;
    uint32_t wave_ = 0;
    bool done_ = false;
    machine::WaveRun run_;
    uint32_t offered_ = 0, offered_rows_ = 0;  // of the run, when it began
    uint32_t executed_ = 0;                    // instructions of each wave of the run
    uint32_t no_group_id_ = 0;
};

}  // namespace wj::runtime
