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

    uint64_t finished() const { return finished_.load(std::memory_order_relaxed); }

    // What a thread has taken: a suspended work-group, or the new ones [begin, end).
    struct Claim {
        std::unique_ptr<GroupContext> resumed;
        uint64_t begin = 0, end = 0;
    };
    // The next work-groups to run, `most` new ones or a suspended one; false = nothing to do now.
    // Whoever claims new work-groups starts all of them before it does anything else, or gives
    // those that it has not started back.
    // thread: its number among the scheduler's; sharing: how many threads run this dispatch.
    bool claim(uint64_t resident_limit, uint64_t most, uint32_t thread, uint32_t sharing,
               machine::Engine& engine, const machine::ExecContext& exec, Claim& out);
    // All of them, by the only thread that knows of the dispatch.
    Claim claim_whole(machine::Engine& engine, const machine::ExecContext& exec);
    bool started(const Status& status);  // of a work-group; false: the dispatch has failed
    // blocked: its waves wait for others; advanced: some of them no longer for what they did.
    void suspend(std::unique_ptr<GroupContext> context, bool blocked, bool advanced);
    void give_back(uint64_t begin, uint64_t end);
    void resumed_returned();  // the one of a claim has had its turn
    // Of a work-group that will not go on, if its waves are to be kept; else gives it back.
    std::unique_ptr<GroupContext> keep(std::unique_ptr<GroupContext> context);
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

    const LaunchPlan plan;
    const std::string kernel_name;
    std::shared_ptr<ModuleImpl> module;  // keeps the code loaded
    std::function<void(const DispatchResult&)> on_done;
    ServiceMemory::Piece piece;                  // what the device made for it
    std::unique_ptr<DispatchFindings> findings;  // with checkers
    Clusters clusters;
    // A kept one may run again: its end leaves it the module and the piece.
    enum class Kept : uint8_t { No, ForOneRun, ForMore };
    Kept kept = Kept::No;
    void restart();  // has ended, and is as if it had not run
    InstructionAllowance allowance;
    std::unique_ptr<machine::Engine> hooked;  // the interpreter that calls the request's hooks
    std::atomic<uint64_t> wave_instructions{0}, interpreted{0}, waves{0}, start_ns{0};
    // Work-groups may run as a WaveStream; until one is seen to wait at a barrier.
    std::atomic<bool> streams;

private:
    friend class Scheduler;
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
    void signal_done();
    // With mutex_ held: what is found out when the first work-group is about to start.
    void begin(machine::Engine& engine, const machine::ExecContext& exec);

    std::mutex mutex_;
    std::optional<WaveStart> wave_start_;
    // Those that are to go on in this sweep, and those that have, the last one in front: every
    // sweep goes the other way, so that work-groups which wait for each other in a row, in
    // whichever direction, are through after two. (No deque: an empty one allocates.) When it has
    // stopped, those that are kept.
    std::list<std::unique_ptr<GroupContext>> suspended_, visited_;
    GroupOrder order_;
    // New work-groups that may start while others wait. What waits for later ones gets them when
    // nothing else helps; many that wait at once take long to look at.
    uint64_t admitted_ = 0;
    uint64_t resumed_ = 0;  // suspended work-groups that have their turn now
    // Turns that brought nothing, since one that did; all turns since the end of a work-group.
    struct Sweeps {
        uint64_t waited = 0, turns = 0, finished_then = 0;
    } sweeps_;
    std::unique_ptr<FaultRecord> fault_;  // once stop_ is set
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
