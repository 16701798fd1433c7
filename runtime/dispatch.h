// A dispatch in flight: which work-groups have started, which are suspended, what went wrong.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "machine/engine.h"
#include "runtime/device.h"
#include "runtime/group_context.h"
#include "runtime/launch_plan.h"
#include "runtime/module.h"

namespace wj::runtime {

class Scheduler;

class DispatchState final : public Dispatch, public std::enable_shared_from_this<DispatchState> {
public:
    DispatchState(Scheduler& scheduler, LaunchPlan plan, std::string kernel_name)
        : plan(std::move(plan)),
          kernel_name(std::move(kernel_name)),
          streams(!this->plan.lds_bytes && !this->plan.request.cooperative &&
                  !this->plan.request.timeout_ns && !this->plan.request.instruction_limit),
          scheduler_(scheduler) {}
    ~DispatchState() override;

    bool done() const override { return done_.load(std::memory_order_acquire); }
    void wait() override;
    bool wait_for(uint64_t timeout_ns) override;
    const DispatchResult& result() const override { return result_; }
    void cancel() override;
    void progress(uint64_t& groups_done, uint64_t& groups_total) const override {
        groups_done = finished_.load(std::memory_order_relaxed);
        groups_total = plan.total_groups;
    }

    // What a thread has taken: a suspended work-group, or the new ones [begin, end).
    struct Claim {
        std::unique_ptr<GroupContext> resumed;
        uint64_t begin = 0, end = 0;
    };
    // The next work-groups to run, `most` new ones or a suspended one; false = nothing to do now.
    // Whoever claims new work-groups starts all of them before it does anything else.
    bool claim(uint64_t resident_limit, uint64_t most, uint32_t threads, Claim& out);
    bool started(const Status& status);  // of a work-group; false: the dispatch has failed
    void suspend(std::unique_ptr<GroupContext> context, bool blocked);
    void finish_groups(uint64_t count);
    bool has_work(uint64_t resident_limit);
    // Keeps the first failure and stops the dispatch. `make` runs at most once per dispatch.
    void fail(const std::function<FaultRecord()>& make);
    void fail(FaultRecord record);
    bool stopped() const { return stop_.load(std::memory_order_acquire); }
    bool complete() const {
        return stopped() || finished_.load(std::memory_order_acquire) == plan.total_groups;
    }
    uint64_t resident();
    // How its waves start, worked out by the first who asks.
    const WaveStart& wave_start(machine::Engine& engine, const machine::ExecContext& exec);

    const LaunchPlan plan;
    const std::string kernel_name;
    std::shared_ptr<ModuleImpl> module;  // keeps the code loaded
    std::function<void(const DispatchResult&)> on_done;
    std::function<void()> cleanup;  // frees what the device made for it
    std::atomic<uint64_t> wave_instructions{0}, waves{0}, start_ns{0};
    // Work-groups may run as a WaveStream; until one is seen to wait at a barrier.
    std::atomic<bool> streams;

private:
    friend class Scheduler;
    Scheduler& scheduler_;
    std::mutex mutex_;
    std::optional<WaveStart> wave_start_;
    std::atomic<bool> wave_start_known_{false};  // not std::call_once: that is a system call
    std::deque<std::unique_ptr<GroupContext>> suspended_;
    uint64_t next_group_ = 0, resident_ = 0;
    bool prefer_new_ = true;
    FaultRecord fault_;  // valid once stop_ is set
    std::atomic<bool> stop_{false}, done_{false};
    std::atomic<uint64_t> finished_{0};
    DispatchResult result_;
    std::mutex done_mutex_;
    std::condition_variable done_signal_;
    // Guarded by the scheduler's mutex.
    uint32_t runners_ = 0;
    bool finalized_ = false;
};

}  // namespace wj::runtime
