#include "runtime/dispatch.h"

#include <algorithm>
#include <chrono>

#include "runtime/scheduler.h"

namespace wj::runtime {
namespace {

// What code reads may have to be found out first: worth it when so many waves start.
constexpr uint64_t worth_analysis = 256;

}  // namespace

DispatchState::~DispatchState() = default;

void DispatchState::wait() {
    scheduler_.wait(*this);
}

bool DispatchState::wait_for(uint64_t timeout_ns) {
    // Being woken takes as long as many a wait.
    const uint64_t end = now_ns() + std::min(timeout_ns, look_out_ns);
    while (!done() && now_ns() < end) __builtin_ia32_pause();
    if (done()) return true;
    std::unique_lock lock(done_mutex_);
    done_waiters_.fetch_add(1);
    const auto is_done = [&] { return done_.load(); };
    if (timeout_ns == forever)
        done_signal_.wait(lock, is_done);
    else
        done_signal_.wait_for(lock, std::chrono::nanoseconds(timeout_ns), is_done);
    done_waiters_.fetch_sub(1);
    return is_done();
}

// Nobody who waits is missed: whoever counts himself looks at done_ behind that, and both are
// sequentially consistent.
void DispatchState::signal_done() {
    done_.store(true);
    if (!done_waiters_.load()) return;
    std::lock_guard lock(done_mutex_);
    done_signal_.notify_all();
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
    if (plan.total_groups * plan.max_waves < worth_analysis) {
        wave_start_.emplace(plan, wide);
        return;
    }
    const machine::Needs needs = engine.needs_at(exec, plan.entry);
    wave_start_.emplace(plan, wide, needs);
    // Work-groups may wait for those in front of them, which start in order on hardware.
    if (plan.any_order && !needs.others) order_.split(scheduler_.threads());
}

bool DispatchState::claim(uint64_t resident_limit, uint64_t most, uint32_t thread, uint32_t sharing,
                          machine::Engine& engine, const machine::ExecContext& exec, Claim& out) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    const uint64_t room = this->room(resident_limit);
    if (!suspended_.empty() && !(room && (prefer_new_ || plan.request.cooperative))) {
        out.resumed = std::move(suspended_.front());
        suspended_.pop_front();
        prefer_new_ = true;
        return true;
    }
    if (!room) return false;
    prefer_new_ = false;  // suspended work-groups take turns with new ones
    if (!wave_start_) begin(engine, exec);
    const auto [first, end] =
        order_.take(thread, plan.request.cooperative ? 1 : std::min(most, room), sharing);
    out.begin = first;
    out.end = end;
    return true;
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

void DispatchState::suspend(std::unique_ptr<GroupContext> context, bool blocked) {
    std::lock_guard lock(mutex_);
    // What it waits for may be done by a work-group that has not started yet.
    if (blocked) prefer_new_ = true;
    suspended_.push_back(std::move(context));
}

bool DispatchState::has_work(uint64_t resident_limit) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    return !suspended_.empty() || room(resident_limit);
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
