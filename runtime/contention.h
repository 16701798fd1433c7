// Whether a dispatch whose waves update memory by locked atomics is faster on one thread: threads
// that update the same cache lines take them from each other, which can cost more than a second
// processor brings, and a thread that is alone may do without the locks. Found out by trying: the
// work-groups that finish in a short time either way.
#pragma once

#include <atomic>
#include <cstdint>

namespace wj::runtime {

class Contention {
public:
    // The dispatch does update memory so: from here on it is watched. `alone`: it has begun on one
    // thread, since an earlier one of its kind was faster so.
    void watch(bool alone, uint64_t now_ns, uint64_t finished_groups);
    void forget() { next_ns_.store(~uint64_t{0}, std::memory_order_relaxed); }
    bool watched() const { return next_ns_.load(std::memory_order_relaxed) != ~uint64_t{0}; }
    // Time to call decide(). Like watched(), for any thread; the rest is for one at a time.
    bool due(uint64_t now_ns) const { return now_ns >= next_ns_.load(std::memory_order_relaxed); }
    // The mode to go on in, given the one that the dispatch was in since the last call: on one
    // thread or on all.
    bool decide(bool alone, uint64_t now_ns, uint64_t finished_groups);
    // Other dispatches run beside this one: what was counted means nothing.
    void put_off(uint64_t now_ns, uint64_t finished_groups);

private:
    void begin(uint64_t now_ns, uint64_t finished_groups, uint64_t duration_ns);

    std::atomic<uint64_t> next_ns_{~uint64_t{0}};
    bool trial_ = false;
    uint64_t begin_ns_ = 0, begin_groups_ = 0, between_trials_ns_ = 0;
    double rate_ = 0;  // work-groups per nanosecond, before the trial
};

}  // namespace wj::runtime
