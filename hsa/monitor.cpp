#include "hsa/monitor.h"

#include <algorithm>

#include "hsa/signal.h"
#include "hsa/state.h"

namespace wj::hsa {
namespace {

constexpr uint64_t busy_nap_ns = 100'000, longest_busy_nap_ns = 500'000, idle_nap_ns = 2'000'000;

}  // namespace

Monitor& monitor() {
    static Monitor* m = new Monitor;
    return *m;
}

bool Monitor::start() {
    if (started_) return true;
    note_use();
    started_ = start_thread([this] { main(); });
    return started_;
}

bool Monitor::add_handler(Signal& signal, hsa_signal_condition_t condition,
                          hsa_signal_value_t value, hsa_amd_signal_handler handler,
                          void* argument) {
    signal.watched.fetch_add(1);
    {
        std::lock_guard lock(mutex_);
        if (!start()) {
            signal.watched.fetch_sub(1);
            return false;
        }
        handlers_.push_back({&signal, condition, value, handler, argument});
    }
    changed();
    return true;
}

void Monitor::forget(Signal& signal) {
    if (!signal.watched.load()) return;
    std::lock_guard lock(mutex_);
    for (Handler& h : handlers_)
        if (h.signal == &signal) {
            signal.watched.fetch_sub(1);
            h.signal = nullptr;
            h.removed = true;
        }
}

bool Monitor::post(std::function<void()> function) {
    {
        std::lock_guard lock(mutex_);
        if (!start()) return false;
        posted_.push_back(std::move(function));
    }
    changed();
    return true;
}

void Monitor::park(std::shared_ptr<Parked> item) {
    std::lock_guard lock(mutex_);
    if (std::find(parked_.begin(), parked_.end(), item) != parked_.end()) return;
    parked_.push_back(std::move(item));
    parked_count_.store(static_cast<uint32_t>(parked_.size()));
    (void)start();        // without it what the host changes is seen all the same
    event_.fetch_add(1);  // an idle monitor sleeps without a limit: it has something to look at now
    if (event_sleepers_.load()) futex_wake_all(&event_);
}

void Monitor::unpark(const Parked* item) {
    std::lock_guard lock(mutex_);
    std::erase_if(parked_, [&](const auto& p) { return p.get() == item; });
    parked_count_.store(static_cast<uint32_t>(parked_.size()));
}

void Monitor::poll_parked() {
    if (!parked_count_.load()) return;
    std::vector<std::shared_ptr<Parked>> items;
    {
        std::lock_guard lock(mutex_);
        items = parked_;
    }
    for (auto& item : items) item->poll();
}

void Monitor::changed() {
    poll_parked();
    wake();
}

void Monitor::wake() {
    event_.fetch_add(1);
    if (event_sleepers_.load()) futex_wake_all(&event_);
}

void Monitor::wait_event(uint32_t seen, uint64_t timeout_ns) {
    event_sleepers_.fetch_add(1);
    futex_wait(&event_, seen, timeout_ns);
    event_sleepers_.fetch_sub(1);
}

bool Monitor::run_posted() {
    std::vector<std::function<void()>> functions;
    {
        std::lock_guard lock(mutex_);
        functions.swap(posted_);
    }
    for (auto& f : functions) f();
    return !functions.empty();
}

bool Monitor::run_handlers() {
    bool any = false;
    std::unique_lock lock(mutex_);
    for (auto it = handlers_.begin(); it != handlers_.end();) {
        Handler& h = *it;
        if (!h.removed) {
            const int64_t value = h.signal->load();
            if (holds(h.condition, value, h.value)) {
                any = true;
                // The handler may call anything, also add handlers or destroy its signal.
                lock.unlock();
                const bool again = h.function(value, h.argument);
                lock.lock();
                if (!again) h.removed = true;
            }
        }
        if (h.removed) {
            if (h.signal) h.signal->watched.fetch_sub(1);
            it = handlers_.erase(it);
        } else {
            ++it;
        }
    }
    return any;
}

void Monitor::main() {
    uint64_t nap = busy_nap_ns;
    for (;;) {
        const uint32_t seen = event();
        bool worked = run_posted();
        worked |= run_handlers();
        poll_parked();
        if (worked) {
            nap = busy_nap_ns;
            continue;
        }
        bool waits;
        {
            std::lock_guard lock(mutex_);
            waits = !handlers_.empty() || !parked_.empty();
            if (!posted_.empty()) continue;
        }
        const bool busy = state() && state()->busy.load(std::memory_order_relaxed) > 0;
        wait_event(seen, !waits ? UINT64_MAX : busy ? nap : idle_nap_ns);
        nap = busy ? std::min(nap + nap / 4, longest_busy_nap_ns) : busy_nap_ns;
    }
}

}  // namespace wj::hsa
