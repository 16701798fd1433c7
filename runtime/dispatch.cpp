#include "runtime/dispatch.h"

#include <chrono>

#include "runtime/scheduler.h"

namespace wj::runtime {

DispatchState::~DispatchState() = default;

void DispatchState::wait() {
    scheduler_.wait(*this);
}

bool DispatchState::wait_for(uint64_t timeout_ns) {
    std::unique_lock lock(done_mutex_);
    return done_signal_.wait_for(lock, std::chrono::nanoseconds(timeout_ns),
                                 [&] { return done(); });
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

std::unique_ptr<GroupContext> DispatchState::claim(GroupContextPool& pool, uint64_t resident_limit,
                                                   std::unique_ptr<GroupContext>& spare) {
    uint64_t index;
    {
        std::lock_guard lock(mutex_);
        if (stopped()) return nullptr;
        bool can_start = next_group_ < plan.total_groups &&
                         (resident_ < resident_limit || plan.request.cooperative);
        if (!suspended_.empty() && !(can_start && (prefer_new_ || plan.request.cooperative))) {
            auto context = std::move(suspended_.front());
            suspended_.pop_front();
            prefer_new_ = true;
            return context;
        }
        if (!can_start) return nullptr;
        prefer_new_ = false;  // suspended work-groups take turns with new ones
        index = next_group_++;
        resident_++;
    }
    auto context = spare ? std::move(spare) : pool.take();
    if (Status status = context->start(plan, index); !status) {
        FaultRecord record;
        record.code = status.code();
        record.kernel = kernel_name;
        record.memory = status.message();
        fail(std::move(record));
        return nullptr;
    }
    waves.fetch_add(context->group.wave_count, std::memory_order_relaxed);
    return context;
}

void DispatchState::suspend(std::unique_ptr<GroupContext> context, bool blocked) {
    std::lock_guard lock(mutex_);
    // What it waits for may be done by a work-group that has not started yet.
    if (blocked) prefer_new_ = true;
    suspended_.push_back(std::move(context));
}

void DispatchState::finish_group() {
    {
        std::lock_guard lock(mutex_);
        resident_--;
    }
    finished_.fetch_add(1, std::memory_order_acq_rel);
}

bool DispatchState::has_work(uint64_t resident_limit) {
    std::lock_guard lock(mutex_);
    if (stopped()) return false;
    return !suspended_.empty() || (next_group_ < plan.total_groups &&
                                   (resident_ < resident_limit || plan.request.cooperative));
}

uint64_t DispatchState::resident() {
    std::lock_guard lock(mutex_);
    return resident_;
}

void DispatchState::fail(const std::function<FaultRecord()>& make) {
    std::lock_guard lock(mutex_);
    if (stop_.load(std::memory_order_relaxed) ||
        finished_.load(std::memory_order_acquire) == plan.total_groups)
        return;
    fault_ = make();
    stop_.store(true, std::memory_order_release);
}

void DispatchState::fail(FaultRecord record) {
    fail([&] { return std::move(record); });
}

}  // namespace wj::runtime
