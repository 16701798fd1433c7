#include "runtime/dispatch.h"

#include <algorithm>
#include <chrono>

#include "runtime/findings.h"
#include "runtime/scheduler.h"

namespace wj::runtime {
namespace {

// What code reads may have to be found out first: worth it when so many waves start, or the launch
// is made again and again.
constexpr uint64_t worth_analysis = 256;

}  // namespace

DispatchState::DispatchState(Scheduler& scheduler, const LaunchPlan& plan, std::string kernel_name)
    : plan(plan),
      kernel_name(std::move(kernel_name)),
      clusters(plan.clusters),
      allowance(plan.request.instruction_limit, scheduler.threads()),
      streams(may_stream(plan)),
      first_slice_(first_slice(plan)),
      schedule_{plan.request.schedule_seed,
                plan.request.schedule_seed ? Shuffle(plan.total_groups, plan.request.schedule_seed)
                                           : Shuffle()},
      scheduler_(scheduler),
      order_(plan.total_groups) {}
DispatchState::~DispatchState() = default;

bool DispatchState::may_stream(const LaunchPlan& plan) {
    const DispatchRequest& r = plan.request;
    return !plan.lds_bytes && plan.code.barriers != SplitBarriers::Apart && !named_barriers(plan) &&
           !plan.clusters.several() && !r.cooperative && !r.timeout_ns && !r.instruction_limit &&
           !r.deterministic && !r.checks && !r.hooks && r.kept_waves == KeptWaves::None;
}

int64_t DispatchState::first_slice(const LaunchPlan& plan) {
    const DispatchRequest& r = plan.request;
    return r.instruction_limit || r.deterministic || r.hooks ? never : unknown_slice;
}

// Whoever ended it may still be about to look for waiters: these are counted on.
void DispatchState::restart() {
    const uint64_t limit = plan.request.instruction_limit;
    allowance.reset(limit);
    for (auto* const counter : {&wave_instructions, &interpreted, &waves, &start_ns, &finished_})
        counter->store(0, std::memory_order_relaxed);
    streams.store(may_stream(plan), std::memory_order_relaxed);
    if (looks()) first_slice_.store(first_slice(plan), std::memory_order_relaxed);
    schedule_.random = plan.request.schedule_seed;
    clusters.forget();
    order_.reset(plan.total_groups);
    suspended_.clear();
    visited_.clear();
    admitted_ = resumed_ = 0;
    sweeps_ = {};
    if (findings) findings->forget();
    if (hooked) hooked->invalidate(0, ~uint64_t{0});  // nobody tells it of code that has changed
    if (stop_) {
        fault_.reset();
        result_ = {};
        stop_ = false;
    }
    contention_.forget();
    only_.store(nullptr, std::memory_order_relaxed);
    alone_ = finalized_ = false;
    if (kept == Kept::ForOneRun) {  // where code changes in front of each run, one is all there is
        kept = Kept::ForMore;
        wave_start_.reset();
    }
    done_.store(false, std::memory_order_relaxed);
}

void DispatchState::wait() {
    scheduler_.wait(*this);
}

bool DispatchState::wait_for(uint64_t timeout_ns) {
    // Being woken takes as long as many a wait.
    const uint64_t end = now_ns() + std::min(timeout_ns, look_out_ns);
    while (!done() && now_ns() < end) __builtin_ia32_pause();
    if (done()) return true;
    std::unique_lock lock(ending_.mutex);
    ending_.waiters.fetch_add(1);
    const auto is_done = [&] { return done_.load(); };
    if (timeout_ns == forever)
        ending_.signal.wait(lock, is_done);
    else
        ending_.signal.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done);
    ending_.waiters.fetch_sub(1);
    return is_done();
}

// Nobody who waits is missed: whoever counts himself looks at done_ behind that, and both are
// sequentially consistent.
void DispatchState::signal_done() {
    done_.store(true);
    if (!ending_.waiters.load()) return;
    std::lock_guard lock(ending_.mutex);
    ending_.signal.notify_all();
}

void DispatchState::cancel() {
    fail([&] {
        FaultRecord record;
        record.code = Code::Timeout;
        record.kernel = kernel_name;
        record.exit.reason = "the dispatch was cancelled";
        return record;
    });
    scheduler_.poke(*this);
}

void DispatchState::begin(machine::Engine& engine, const machine::ExecContext& exec) {
    const bool wide = engine.vector_bytes() == 64;
    // Analysis knows registers by one name, that in the code. Who looks at waves sees all
    // registers.
    const bool seen = plan.request.hooks || plan.request.kept_waves != KeptWaves::None;
    const bool worth_it =
        kept == Kept::ForMore || plan.total_groups * plan.max_waves >= worth_analysis;
    if (!worth_it || seen || plan.code.sgpr_aliases || !plan.named_by_code()) {
        wave_start_.emplace(plan, wide);
        return;
    }
    const machine::Needs needs = engine.needs_at(exec, plan.entry);
    wave_start_.emplace(plan, wide, needs);
    if (!needs.others) first_slice_.store(never, std::memory_order_relaxed);
    // Work-groups may wait for those in front of them, which start in order on hardware.
    if (plan.any_order && !needs.others) order_.split(scheduler_.threads());
}

bool DispatchState::claim(uint64_t resident_limit, uint64_t most, uint32_t thread, uint32_t sharing,
                          machine::Engine& engine, const machine::ExecContext& exec, Claim& out) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    const uint64_t room = this->room(resident_limit);
    if (suspended_.empty()) suspended_.swap(visited_);
    const bool none = suspended_.empty();
    if (!none && !(room && (plan.request.cooperative || admitted_))) {
        out.resumed = std::move(suspended_.front());
        suspended_.pop_front();
        resumed_++;
        // Those that do not wait take turns with new ones.
        if (!out.resumed->blocked) admitted_ = std::max<uint64_t>(admitted_, 1);
        return true;
    }
    if (!room) return false;
    const bool one = plan.request.cooperative || (none && resumed_);
    most = one ? 1 : std::min({most, room, none ? room : admitted_});
    if (!wave_start_) begin(engine, exec);
    const auto [first, end] = order_.take(thread, most, sharing);
    admitted_ -= std::min(admitted_, end - first);
    out.begin = first;
    out.end = end;
    return true;
}

DispatchState::Claim DispatchState::claim_whole(machine::Engine& engine,
                                                const machine::ExecContext& exec) {
    if (!wave_start_) begin(engine, exec);
    const GroupOrder::Groups all = order_.take_whole();
    return {.resumed = nullptr, .begin = all.begin, .end = all.end};
}

void DispatchState::looked_at(bool waits) {
    const int64_t now = first_slice();
    first_slice_.store(waits ? least_slice : std::min(2 * now, most_slice),
                       std::memory_order_relaxed);
}

bool DispatchState::started(const Status& status) {
    if (status) return true;
    FaultRecord record;
    record.code = status.code();
    record.kernel = kernel_name;
    record.memory = status.message();
    fail(std::move(record));
    return false;
}

void DispatchState::suspend(std::unique_ptr<GroupContext> context, bool blocked, bool advanced) {
    std::lock_guard lock(mutex_);
    context->blocked = blocked;
    visited_.push_front(std::move(context));
    if (!blocked) return;
    const uint64_t now = finished_.load(std::memory_order_relaxed),
                   suspended = suspended_.size() + visited_.size();
    if (std::exchange(sweeps_.finished_then, now) != now) sweeps_.waited = sweeps_.turns = 0;
    if (advanced) sweeps_.waited = 0;
    constexpr uint64_t many = 64;  // sweeps in which some go on and none ends
    if (++sweeps_.waited < suspended && ++sweeps_.turns < many * suspended) return;
    // What they wait for may be done by work-groups that have not started yet.
    sweeps_.waited = sweeps_.turns = 0;
    admitted_ = std::max<uint64_t>(suspended / 4, 1);
}

void DispatchState::give_back(uint64_t begin, uint64_t end) {
    std::lock_guard lock(mutex_);
    order_.give_back({begin, end});
}

void DispatchState::resumed_returned() {
    std::lock_guard lock(mutex_);
    resumed_--;
}

std::unique_ptr<GroupContext> DispatchState::keep(std::unique_ptr<GroupContext> context) {
    if (plan.request.kept_waves == KeptWaves::None) return context;
    std::lock_guard lock(mutex_);
    visited_.push_front(std::move(context));
    return nullptr;
}

std::vector<StoppedWave> DispatchState::stopped_waves() const {
    std::vector<const GroupContext*> groups;
    if (plan.request.kept_waves != KeptWaves::None)
        for (const auto* const list : {&suspended_, &visited_})
            for (const auto& group : *list) groups.push_back(group.get());
    std::ranges::sort(groups, {}, [](const GroupContext* g) { return g->group.linear_id; });
    std::vector<StoppedWave> waves;
    for (const GroupContext* group : groups)
        for (uint32_t i = 0; i < group->group.wave_count; i++)
            waves.push_back(group->stopped_wave(i, *plan.target, plan.request.interpreted()));
    return waves;
}

bool DispatchState::has_work(uint64_t resident_limit) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    return any_suspended() || room(resident_limit);
}

uint64_t DispatchState::resident() {
    std::lock_guard lock(mutex_);
    return resident_now();
}

void DispatchState::fail(const std::function<FaultRecord()>& make) {
    std::lock_guard lock(mutex_);
    if (stop_.load(std::memory_order_relaxed) ||
        finished_.load(std::memory_order_acquire) == plan.total_groups)
        return;
    fault_ = std::make_unique<FaultRecord>(make());
    stop_.store(true, std::memory_order_release);
}

void DispatchState::fail(FaultRecord record) {
    fail([&] { return std::move(record); });
}

}  // namespace wj::runtime
