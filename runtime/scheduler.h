// The worker pool. A work-group runs on one thread at a time; waves go on where they stopped, so a
// work-group that waits for something else is put aside and taken up again later, by any thread.
//
// Progress: every wave runs for at most a slice of instructions, or a lap if it spins (Spin); a
// work-group whose waves only yield is suspended, suspended work-groups take turns with new ones,
// and dispatches take turns with each other. So spin-waits between waves, work-groups, dispatches
// and the host go on as long as the modelled device could hold the work-groups at once.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "common/fork.h"
#include "machine/engine.h"
#include "runtime/device_shares.h"
#include "runtime/dispatch.h"
#include "runtime/group_context.h"

namespace wj::runtime {

// A thread that has run something looks out for more for so long before it sleeps, and a wait for
// its dispatch's end: being woken takes as long again, and launches often follow each other
// closely.
inline constexpr uint64_t look_out_ns = 50'000;

// Waits of threads whose work-groups all sleep or spin: first give the processor away, then sleep
// for longer and longer, at most as long as latency allows.
class Backoff {
public:
    void reset() { count_ = 0; }
    void pause();

private:
    uint64_t count_ = 0;
};

class GroupTurns;

class Scheduler {
public:
    // used: of all that use the engine.
    Scheduler(const DeviceOptions& options, const Target& target, memory::AddressSpace& memory,
              machine::Engine& engine, ForkGuard& used, uint32_t threads,
              const machine::Coverage* coverage = nullptr);
    ~Scheduler();  // stops what runs and joins the workers

    // HostError: no thread can be started that would run it.
    Status submit(std::shared_ptr<DispatchState> dispatch);
    // The same for a dispatch that this thread waits for at once. timed: its result tells when it
    // ran; else it may do without a look at the clock.
    Status run(const std::shared_ptr<DispatchState>& dispatch, bool timed);
    void wait(DispatchState& dispatch);
    bool help(uint64_t max_ns);
    void poke(DispatchState& dispatch);  // after cancel: finish it even if nothing runs it
    void take_back(std::unique_ptr<GroupContext> group) {  // null is allowed
        if (group) pool_.give(std::move(group));
    }
    void forget_code(uint64_t begin, uint64_t end) { interpreter_->invalidate(begin, end); }
    void set_address_mask(uint64_t mask) { address_mask_.store(mask, std::memory_order_relaxed); }
    void set_look_around(void (*look)()) { look_around_ = look; }  // Device::set_look_around
    uint32_t threads() const { return threads_; }
    DeviceShares& shares() { return shares_; }
    // What the interpreter leaves is exact.
    KeptWaves kept(KeptWaves wanted) const {
        const bool exact = options_.engine == EngineKind::Interpreter && wanted != KeptWaves::None;
        return exact ? KeptWaves::Exact : wanted;
    }
    bool idle() const {
        std::lock_guard lock(mutex_);
        return active_.empty();
    }
    Statistics statistics() const;

private:
    struct Slot {  // what an executing thread holds
        uint32_t number = 0;
        machine::ExecContext context;
        Backoff backoff;
        std::unique_ptr<GroupContext> spare;  // of the last work-group that ended here
    };
    struct Visit {  // what became of a claim
        uint64_t finished = 0, blocked = 0, waves = 0;
        bool advanced = false;      // a wave no longer waits
        bool suspended = false;     // a work-group goes on later
        uint64_t instructions = 0;  // not yet noted with the dispatch
        bool stopped = false;
    };
    enum class Outcome : uint8_t { Finished, Suspended, Blocked, Stopped };

    bool run_alone(const std::shared_ptr<DispatchState>& dispatch, bool timed);
    void worker_main();
    // With mutex_ held: runs one batch of some dispatch if there is work and a free slot.
    // `bounded`: comes back after the quantum even when only this dispatch has work.
    bool run_some(std::unique_lock<std::mutex>& lock, DispatchState* wanted, uint64_t quantum_ns,
                  bool bounded = false);
    std::shared_ptr<DispatchState> pick(DispatchState* wanted);
    std::unique_ptr<Slot> take_slot();
    void run_batch(DispatchState& dispatch, Slot& slot, uint64_t quantum_ns, bool bounded);
    Visit run_claim(DispatchState& dispatch, DispatchState::Claim& claim, Slot& slot);
    Outcome run_groups(DispatchState& dispatch, GroupContext& group, Slot& slot, Visit& visit,
                       uint64_t end, int64_t slice, uint32_t stopped);
    int64_t longest_slice(const DispatchState& dispatch) const;
    // A wave that has used up its slice; true: it only waits for others.
    bool look(DispatchState& dispatch, GroupContext& group, GroupTurns& turns, machine::Wave& wave);
    // Waves that did, again; false: something is wrong with one.
    bool resume_spinning(DispatchState& dispatch, GroupContext& group, GroupTurns& turns,
                         Visit& visit);
    static constexpr uint32_t no_wave = ~0u;
    void prepare_slot(Slot& slot);
    bool may_join(const DispatchState& dispatch) const;
    bool may_stay(DispatchState& dispatch, Slot& slot, uint64_t now);
    void set_exclusive(DispatchState& dispatch, Slot& slot);
    bool check_limits(DispatchState& dispatch, GroupContext& group);
    void report_stop(DispatchState& dispatch, GroupContext& group, uint32_t wave);
    // With mutex_ held; unlocks while it finishes the dispatch.
    void leave(std::unique_lock<std::mutex>& lock, const std::shared_ptr<DispatchState>& dispatch);
    void count(DispatchState& dispatch, uint64_t end_ns);
    void finalize(const std::shared_ptr<DispatchState>& dispatch);
    Status start_workers();  // with mutex_ held; fewer than wanted will do
    void wake(uint64_t useful);
    void wake_for_work();

    const DeviceOptions& options_;
    memory::AddressSpace& memory_;
    machine::Engine& engine_;
    ForkGuard& used_;
    const std::unique_ptr<machine::Engine> interpreter_;  // of waves that wait
    const uint32_t threads_;
    const uint64_t resident_limit_, largest_share_;
    std::atomic<uint64_t> address_mask_{~0ull};
    void (*look_around_)() = [] {};
    GroupContextPool pool_;
    DeviceShares shares_;

    mutable std::mutex mutex_;
    std::condition_variable work_signal_;
    std::vector<std::shared_ptr<DispatchState>> active_;
    size_t cursor_ = 0;
    uint32_t executing_ = 0;
    uint32_t idle_workers_ = 0;
    std::atomic<uint64_t> calls_ = 0;  // changes when there may be work: for those who look out
    std::atomic<uint32_t> looking_out_ = 0;  // threads that do
    bool shutdown_ = false;
    bool exclusive_ = false;  // a thread runs on the condition that no other one does
    std::vector<std::unique_ptr<Slot>> free_slots_;
    std::vector<uint32_t> slot_of_cpu_;  // the number of the slot that is best for it
    std::vector<std::thread> workers_;   // none until they are of use
    Statistics totals_;
};

uint64_t now_ns();

}  // namespace wj::runtime
