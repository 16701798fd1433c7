#include "runtime/dispatch.h"

#include <algorithm>
#include <chrono>

#include "interpreter/interpreter.h"
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
    before = {};
    if (stop_) {
        stopped_.claims.clear();
        stopped_.record.reset();
        result_ = {};
    }
    if (kept == Kept::ForOneRun) {  // where code changes in front of each run, one is all there is
        kept = Kept::ForMore;
        wave_start_.reset();
    }
    begin_run();
}

void DispatchState::begin_run() {
    contention_.forget();
    only_.store(nullptr, std::memory_order_relaxed);
    alone_ = finalized_ = false;
    stop_.store(false, std::memory_order_relaxed);
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

bool DispatchState::claim(uint64_t resident_limit, uint32_t thread, uint32_t sharing,
                          machine::Engine& engine, const machine::ExecContext& exec, Claim& out) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    if (take_stopped_claim(out)) return true;
    const uint64_t room = this->room(resident_limit);
    if (suspended_.empty()) suspended_.swap(visited_);
    const bool none = suspended_.empty();
    if (!none && !(room && (plan.request.cooperative || admitted_))) {
        out.resumed = std::move(suspended_.front());
        suspended_.pop_front();
        resumed_++;
        // Those that do not wait take turns with new ones.
        if (!out.resumed->aside.blocked) admitted_ = std::max<uint64_t>(admitted_, 1);
        return true;
    }
    if (!room) return false;
    const bool one = plan.request.cooperative || (none && resumed_);
    const uint64_t most = one ? 1 : std::min({out.share, room, none ? room : admitted_});
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
    Claim claim;
    if (take_stopped_claim(claim)) return claim;
    const GroupOrder::Groups all = order_.take_whole();
    claim.begin = all.begin;
    claim.end = all.end;
    return claim;
}

void DispatchState::looked_at(bool waits) {
    const int64_t now = first_slice();
    first_slice_.store(waits ? least_slice : std::min(2 * now, most_slice),
                       std::memory_order_relaxed);
}

Status DispatchState::check_resumable() const {
    const auto refused = [&](const std::string& why) {
        return Status(Code::InvalidArgument,
                      "the dispatch of kernel '" + kernel_name + "' cannot go on: " + why);
    };
    if (!done()) return refused("it has not stopped");
    if (result_.code == Code::Ok || !stopped()) return refused("it has ended");
    if (result_.code != Code::Timeout)
        return refused(std::string("it was stopped by a ") + code_name(result_.code) +
                       "; only those that a limit, a hook or wj_dispatch_cancel has stopped can");
    if (!keeps_waves())
        return refused("its waves were not kept; set keep_waves when it is launched or resumed");
    if (module && module->patches() != before.patches)
        return refused("code of its module has been changed since it was launched");
    Status status = Status::ok();
    for_each_group([&](const GroupContext& g) {
        for (uint32_t i = 0; i < g.group.wave_count; i++)
            if (g.states[i] != WaveState::Ended &&
                g.waves[i].exit.kind > machine::ExitKind::Yield &&
                g.waves[i].exit.reason != interp::stopped_by_hook)
                status = refused("wave " + std::to_string(i) + " of work-group " +
                                 std::to_string(g.group.linear_id) +
                                 " has come to a fault or trap meanwhile");
    });
    return status;
}

Status DispatchState::may_resume() const {
    std::lock_guard lock(mutex_);
    return check_resumable();
}

void DispatchState::prepare_to_go_on(const ResumeRequest& how) {
    DispatchRequest& r = plan.request;
    const bool knew_blocks = r.hooks != nullptr;
    before.exact = before.exact && r.interpreted();
    before.resumed = true;
    r.hooks = how.hooks;
    r.kept_waves = scheduler_.kept(how.kept_waves);
    r.timeout_ns = how.timeout_ns;
    r.instruction_limit = how.instruction_limit;
    r.caller_runs = how.wait;
    hooked = r.hooks ? interp::make_interpreter(*plan.target, {.hooks = r.hooks.get()}) : nullptr;
    allowance.reset(r.instruction_limit);
    first_slice_.store(first_slice(plan), std::memory_order_relaxed);
    start_ns.store(0, std::memory_order_relaxed);
    for_each_group([&](GroupContext& g) { g.prepare_to_go_on(!knew_blocks); });
    stopped_.record.reset();
    result_.code = Code::Ok;
    begin_run();
}

Status DispatchState::resume(const ResumeRequest& how) {
    {
        std::lock_guard lock(mutex_);
        if (Status status = check_resumable(); !status) return status;
        prepare_to_go_on(how);
    }
    Status status =
        how.wait ? scheduler_.run(shared_from_this(), true) : scheduler_.submit(shared_from_this());
    if (!status) {  // as if nobody had asked
        std::lock_guard lock(mutex_);
        result_.code = Code::Timeout;
        stop_ = finalized_ = true;
        done_.store(true);
    }
    return status;
}

// A thread that has run it may be about to let go of the state, later than the device.
void DispatchState::let_go() {
    drop_groups();
    module.reset();
    piece = {};
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
    context->aside.blocked = blocked;
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

void DispatchState::keep(Claim claim) {
    if (!claim.resumed && claim.begin == claim.end) return;
    std::lock_guard lock(mutex_);
    stopped_.claims.push_back(std::move(claim));
}

bool DispatchState::take_stopped_claim(Claim& out) {
    if (stopped_.claims.empty()) return false;
    out = std::move(stopped_.claims.front());
    stopped_.claims.erase(stopped_.claims.begin());
    if (out.resumed) resumed_++;
    return true;
}

template <class Call>
void DispatchState::for_each_group(Call call) const {
    for (const auto* const list : {&suspended_, &visited_})
        for (const auto& group : *list) call(*group);
    for (const Claim& claim : stopped_.claims)
        if (claim.resumed) call(*claim.resumed);
}

std::vector<StoppedWave> DispatchState::stopped_waves() const {
    std::vector<const GroupContext*> groups;
    if (keeps_waves() && stopped()) for_each_group([&](GroupContext& g) { groups.push_back(&g); });
    std::ranges::sort(groups, {}, [](const GroupContext* g) { return g->group.linear_id; });
    const bool exact = before.exact && plan.request.interpreted();
    std::vector<StoppedWave> waves;
    for (const GroupContext* group : groups)
        for (uint32_t i = 0; i < group->group.wave_count; i++)
            waves.push_back(group->stopped_wave(i, *plan.target, exact));
    return waves;
}

void DispatchState::drop_groups() {
    for (Claim& claim : stopped_.claims) drop(std::move(claim.resumed));
    for (auto* const list : {&suspended_, &visited_}) {
        for (auto& group : *list) drop(std::move(group));
        list->clear();
    }
    stopped_.claims.clear();
}

void DispatchState::drop(std::unique_ptr<GroupContext> group) {
    if (group && group->aside.images)
        stopped_.parked.push_back(std::move(group));
    else
        scheduler_.take_back(std::move(group));
}

void DispatchState::park(std::unique_ptr<GroupContext> group) {
    std::lock_guard lock(mutex_);
    stopped_.parked.push_back(std::move(group));
}

bool DispatchState::has_work(uint64_t resident_limit) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    return any_begun() || room(resident_limit);
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
    stopped_.record = std::make_unique<FaultRecord>(make());
    stop_.store(true, std::memory_order_release);
}

void DispatchState::fail(FaultRecord record) {
    fail([&] { return std::move(record); });
}

}  // namespace wj::runtime
