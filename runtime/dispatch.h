// A dispatch in flight: which work-groups have started, which are suspended, what went wrong.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "machine/engine.h"
#include "runtime/clusters.h"
#include "runtime/contention.h"
#include "runtime/device.h"
#include "runtime/group_context.h"
#include "runtime/group_order.h"
#include "runtime/instruction_allowance.h"
#include "runtime/launch_plan.h"
#include "runtime/module.h"
#include "runtime/service_memory.h"
#include "runtime/shuffle.h"

namespace wj::runtime {

class Scheduler;
class DispatchFindings;

class DispatchState final : public Dispatch, public std::enable_shared_from_this<DispatchState> {
public:
    DispatchState(Scheduler& scheduler, const LaunchPlan& plan, std::string kernel_name);
    ~DispatchState() override;

    bool done() const override { return done_.load(std::memory_order_acquire); }
    void wait() override;
    static constexpr uint64_t forever = ~uint64_t{0};
    bool wait_for(uint64_t timeout_ns) override;
    const DispatchResult& result() const override { return result_; }
    void cancel() override;
    void progress(uint64_t& groups_done, uint64_t& groups_total) const override {
        groups_done = finished();
        groups_total = plan.total_groups;
    }

    std::vector<StoppedWave> stopped_waves() const override;
    Status may_resume() const override;
    Result<std::unique_ptr<DispatchImage>> save() override;
    Status resume(const ResumeRequest& request) override;
    void let_go() override;

    uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }

    // What a thread has taken: a suspended work-group, or the new ones [begin, end).
    struct Claim {
        std::unique_ptr<GroupContext> resumed;
        uint64_t begin = 0, end = 0;
        uint64_t share = 1;  // new ones that the thread takes at once
    };
    // The next work-groups to run, at most out.share new ones, or a suspended one, or what a thread
    // had in hand when the dispatch stopped; false = nothing to do now. Whoever claims new
    // work-groups starts all of them before it does anything else, or gives those that it has not
    // started back.
    // thread: its number among the scheduler's; sharing: how many threads run this dispatch.
    bool claim(uint64_t resident_limit, uint32_t thread, uint32_t sharing, machine::Engine& engine,
               const machine::ExecContext& exec, Claim& out);
    // All of them, by the only thread that knows of the dispatch; or what it had in hand.
    Claim claim_whole(machine::Engine& engine, const machine::ExecContext& exec);
    bool started(const Status& status);  // of a work-group; false: the dispatch has failed
    // blocked: its waves wait for others; advanced: some of them no longer for what they did.
    void suspend(std::unique_ptr<GroupContext> context, bool blocked, bool advanced);
    void give_back(uint64_t begin, uint64_t end);
    void resumed_returned();  // the one of a claim has had its turn
    // It has stopped: what a thread has of its claim, the work-group that ran and new ones that
    // have not started, is where it goes on.
    bool keeps_waves() const { return plan.request.kept_waves != KeptWaves::None; }
    void keep(Claim claim);
    // A work-group of an image has ended: nobody else gets its memory.
    void park(std::unique_ptr<GroupContext> group);
    void finish_groups(uint64_t count) { finished_.fetch_add(count, std::memory_order_acq_rel); }
    bool has_work(uint64_t resident_limit);
    // Keeps the first failure and stops the dispatch. `make` runs at most once per dispatch.
    void fail(const std::function<FaultRecord()>& make);
    void fail(FaultRecord record);
    bool stopped() const { return stop_.load(std::memory_order_acquire); }
    bool complete() const {
        return stopped() || finished_.load(std::memory_order_acquire) == plan.total_groups;
    }
    uint64_t resident();
    // A wave that uses up so many instructions is looked at (Spin): it may only wait for others.
    // Sooner after one of them did, never where waiting is to be counted like anything else.
    int64_t first_slice() const { return first_slice_.load(std::memory_order_relaxed); }
    bool looks() const { return first_slice() != never; }
    void looked_at(bool waits);
    // With a schedule seed: the next random number of a turn, and the number of the work-group that
    // is the index-th one to start.
    uint64_t random() { return next_random(schedule_.random); }
    uint64_t in_order(uint64_t index) const { return schedule_.shuffle(index); }
    // How its waves start: once anything has been claimed.
    const WaveStart& wave_start() const { return *wave_start_; }

    LaunchPlan plan;  // constant while it runs
    const std::string kernel_name;
    std::shared_ptr<ModuleImpl> module;  // keeps the code loaded
    std::function<void(const DispatchResult&)> on_done;
    ServiceMemory::Piece piece;                  // what the device made for it
    std::unique_ptr<DispatchFindings> findings;  // with checkers
    Clusters clusters;
    // A kept one may run again or go on: its end leaves it the module and the piece.
    enum class Kept : uint8_t { No, ForOneRun, ForMore };
    Kept kept = Kept::No;
    void restart();  // has ended, and is as if it had not run
    InstructionAllowance allowance;
    std::unique_ptr<machine::Engine> hooked;  // the interpreter that calls the request's hooks
    std::atomic<uint64_t> wave_instructions{0}, interpreted{0}, waves{0}, start_ns{0};
    // Work-groups may run as a WaveStream; until one is seen to wait at a barrier.
    std::atomic<bool> streams;
    // What lasts from one run to the next one when it stops and goes on.
    struct {
        uint64_t clock = 0;        // ExecContext::time_at_end, of a deterministic one
        uint32_t oldest_wave = 0;  // GlobalDataShare::oldest_wave
        uint32_t patches = 0;      // of the module's code, when it was launched
        bool exact = true;         // the interpreter has run it
        bool resumed = false;
        // What the statistics have of it, and limits do not count.
        uint64_t groups = 0, waves = 0, instructions = 0, interpreted = 0;
    } before;

private:
    friend class Scheduler;
    class Image;  // runtime/dispatch_image.cpp
    static constexpr int64_t never = INT64_MAX, unknown_slice = 1 << 13, least_slice = 1 << 10,
                             most_slice = 1 << 20;
    static int64_t first_slice(const LaunchPlan& plan);
    static bool may_stream(const LaunchPlan& plan);
    std::atomic<int64_t> first_slice_;
    struct {
        uint64_t random;
        const Shuffle shuffle;
    } schedule_;
    Scheduler& scheduler_;
    uint64_t resident_now() const {  // with mutex_ held, like room(); at least
        return plan.total_groups - order_.left() - finished_.load(std::memory_order_acquire);
    }
    // How many work-groups may start. Those of a stream run one after the other.
    uint64_t room(uint64_t resident_limit) const {
        const uint64_t left = order_.left();
        // A cluster is resident as a whole.
        if (plan.request.cooperative || plan.clusters.several() || (streams && !any_suspended()))
            return left;
        return std::min(left, resident_limit - std::min(resident_now(), resident_limit));
    }
    bool any_suspended() const { return !suspended_.empty() || !visited_.empty(); }
    bool any_begun() const { return any_suspended() || !stopped_.claims.empty(); }
    template <class Call>
    void for_each_group(Call call) const;
    void signal_done();
    // With mutex_ held, like the one below.
    bool take_stopped_claim(Claim& out);
    Status check_resumable() const;
    void prepare_to_go_on(const ResumeRequest& request);
    void begin_run();
    void drop_groups();
    void drop(std::unique_ptr<GroupContext> group);
    // With mutex_ held: what is found out when the first work-group is about to start.
    void begin(machine::Engine& engine, const machine::ExecContext& exec);

    mutable std::mutex mutex_;
    std::optional<WaveStart> wave_start_;
    // Those that are to go on in this sweep, and those that have, the last one in front: every
    // sweep goes the other way, so that work-groups which wait for each other in a row, in
    // whichever direction, are through after two. (No deque: an empty one allocates.) When it has
    // stopped, those that are kept.
    std::list<std::unique_ptr<GroupContext>> suspended_, visited_;
    struct {
        std::vector<Claim> claims;            // what threads had in hand when it stopped
        std::unique_ptr<FaultRecord> record;  // once stop_ is set
        // Which of its stops result_ tells of, and how many there were.
        uint64_t fault = 0, faults = 0;
        std::vector<std::unique_ptr<GroupContext>> parked;  // of images, and nothing runs in them
    } stopped_;
    GroupOrder order_;
    // New work-groups that may start while others wait. What waits for later ones gets them when
    // nothing else helps; many that wait at once take long to look at.
    uint64_t admitted_ = 0;
    uint64_t resumed_ = 0;  // suspended work-groups that have their turn now
    // Turns that brought nothing, since one that did; all turns since the end of a work-group.
    struct Sweeps {
        uint64_t waited = 0, turns = 0, finished_then = 0;
    } sweeps_;
    std::atomic<bool> stop_{false}, done_{false};
    std::atomic<uint64_t> finished_{0};
    DispatchResult result_;
    struct {
        std::mutex mutex;
        std::condition_variable signal;
        std::atomic<uint32_t> waiters{0};
    } ending_;
    Contention contention_;
    std::atomic<const void*> only_{nullptr};  // the slot of the thread that runs it alone
    // Guarded by the scheduler's mutex.
    bool alone_ = false;  // on one thread
    uint32_t runners_ = 0;
    bool finalized_ = false;
};

}  // namespace wj::runtime
