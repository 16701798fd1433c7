#include "hsa/signal.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>
#include <mutex>
#include <vector>

#include "hsa/copy.h"
#include "hsa/monitor.h"
#include "hsa/queue.h"
#include "hsa/state.h"
#include "memory/labels.h"

namespace wj::hsa {
namespace {

constexpr uint64_t forever = UINT64_MAX;
constexpr uint64_t spin_ns = 5'000;
constexpr uint64_t help_ns = 100'000;
// While kernels run their stores to the signal are noticed by looking: how often.
constexpr uint64_t shortest_nap_ns = 30'000, longest_nap_ns = 400'000;
// With nothing running only the host writes signals, and says so, unless a program stores through
// hsa_amd_signal_value_pointer.
constexpr uint64_t idle_sleep_ns = 5'000'000;
constexpr uint64_t slab_bytes = 64 << 10;
constexpr uint32_t slab_signals = slab_bytes / sizeof(Signal);
constexpr uint32_t events = 256;  // that interrupts tell apart

struct FreeList {
    std::mutex mutex;
    std::vector<Signal*> free;
    std::vector<Signal*> slabs;  // of slab_signals each; their events are numbered from 1
};
FreeList& pool() {
    static FreeList* p = new FreeList;
    return *p;
}

bool help_somebody() {
    if (copies().help()) return true;
    State* s = state();
    if (!s) return false;
    bool helped = false;
    for (Agent* a : s->gpus) helped |= a->device->help(help_ns);
    return helped;
}

// Low half of the value: what changes, and the kernel compares 32 bits.
const void* futex_word(Signal& s) {
    return s.word();
}

}  // namespace

void futex_wake_all(const void* word) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void futex_wait(const void* word, uint32_t expected, uint64_t timeout_ns) {
    timespec t{static_cast<time_t>(timeout_ns / 1'000'000'000),
               static_cast<long>(timeout_ns % 1'000'000'000)};
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout_ns == forever ? nullptr : &t,
            nullptr, 0);
}

Signal* create_signal(int64_t value) {
    FreeList& p = pool();
    Signal* s;
    {
        std::lock_guard lock(p.mutex);
        if (p.free.empty()) {
            const uint64_t slab = allocate_shared(slab_bytes, memory::signals_label);
            if (!slab) return nullptr;
            auto* first = reinterpret_cast<Signal*>(slab);
            for (uint32_t i = slab_signals; i-- > 0;) {
                p.free.push_back(new (first + i) Signal{});
                first[i].event = static_cast<uint32_t>(p.slabs.size()) * slab_signals + i + 1;
            }
            p.slabs.push_back(first);
        }
        s = p.free.back();
        p.free.pop_back();
    }
    // The counters of waiters stay: threads that saw the signal's former life may still read them.
    s->queue = nullptr;
    s->abi.start_ts = s->abi.end_ts = 0;
    s->mailbox = 0;
    s->abi.event_mailbox_ptr = reinterpret_cast<uint64_t>(&s->mailbox);
    s->abi.event_id = s->event;
    s->abi.queue_ptr = nullptr;
    __atomic_store_n(const_cast<int64_t*>(&s->abi.value), value, __ATOMIC_RELAXED);
    __atomic_store_n(&s->abi.kind, AMD_SIGNAL_KIND_USER, __ATOMIC_RELEASE);
    return s;
}

void destroy_signal(Signal* signal) {
    monitor().forget(*signal);
    __atomic_store_n(&signal->abi.kind, AMD_SIGNAL_KIND_INVALID, __ATOMIC_RELEASE);
    FreeList& p = pool();
    std::lock_guard lock(p.mutex);
    // Reused last: a late write by the guest to a dead signal does the least harm then.
    p.free.insert(p.free.begin(), signal);
}

void notify(Signal& signal, const int64_t* word, Queue* rung) {
    if (signal.sleepers.load()) futex_wake_all(word);
    if (signal.watched.load()) monitor().changed();
    if (rung) rung->ring();
}

void on_interrupt(uint32_t event) {
    FreeList& p = pool();
    std::vector<Signal*> raised;
    {
        std::lock_guard lock(p.mutex);
        static_assert(slab_signals % events == 0);
        for (Signal* slab : p.slabs)
            for (uint32_t i = (event - 1) % events; i < slab_signals; i += events)
                if (__atomic_exchange_n(&slab[i].mailbox, 0, __ATOMIC_SEQ_CST))
                    raised.push_back(&slab[i]);
    }
    for (Signal* s : raised) {
        if (s->sleepers.load()) futex_wake_all(s->word());
        if (s->watched.load()) monitor().wake();
    }
}

void complete_signal(hsa_signal_t handle, uint64_t start_ns, uint64_t end_ns) {
    Signal* s = signal_of(handle);
    if (!s) return;
    s->abi.start_ts = start_ns;
    s->abi.end_ts = end_ns;
    int64_t* word = s->word();
    __atomic_fetch_sub(word, 1, __ATOMIC_SEQ_CST);
    notify(*s, word);
}

int64_t wait_signal(Signal& signal, hsa_signal_condition_t condition, int64_t compare,
                    uint64_t timeout_ns) {
    int64_t value = signal.load();
    if (holds(condition, value, compare) || timeout_ns == 0) return value;
    if (left_behind()) return value;  // nobody will ever change it
    const uint64_t begin = now_ns();
    const bool unlimited = timeout_ns >= forever / 2;
    const auto remaining = [&](uint64_t now) {
        return unlimited ? forever : now - begin >= timeout_ns ? 0 : timeout_ns - (now - begin);
    };
    for (uint64_t now = begin; now - begin < std::min(spin_ns, timeout_ns); now = now_ns()) {
        for (int i = 0; i < 16; i++) {
            _mm_pause();
            value = signal.load();
            if (holds(condition, value, compare)) return value;
        }
    }
    uint64_t nap = shortest_nap_ns;
    for (;;) {
        // A thread with a deadline is needed elsewhere soon: HIP's hostcall listener serves
        // kernels.
        const bool helped = unlimited && help_somebody();
        value = signal.load();
        if (holds(condition, value, compare)) return value;
        const uint64_t left = remaining(now_ns());
        if (!left) return value;
        if (helped) {
            nap = shortest_nap_ns;
            continue;
        }
        const State* s = state();
        const bool busy = s && s->busy.load(std::memory_order_relaxed) > 0;
        signal.sleepers.fetch_add(1);
        futex_wait(futex_word(signal), static_cast<uint32_t>(value),
                   std::min(left, busy ? nap : idle_sleep_ns));
        signal.sleepers.fetch_sub(1);
        nap = std::min(nap + nap / 4, longest_nap_ns);
        value = signal.load();
        if (holds(condition, value, compare)) return value;
    }
}

uint32_t wait_any(uint32_t count, Signal* const* signals, const hsa_signal_condition_t* conditions,
                  const int64_t* compare, uint64_t timeout_ns, int64_t& value) {
    const uint64_t begin = now_ns();
    const bool unlimited = timeout_ns >= forever / 2;
    const auto find = [&]() -> uint32_t {
        for (uint32_t i = 0; i < count; i++)
            if (signals[i] && holds(conditions[i], value = signals[i]->load(), compare[i]))
                return i;
        return count;
    };
    if (uint32_t i = find(); i < count) return i;
    for (uint32_t i = 0; i < count; i++)
        if (signals[i]) signals[i]->watched.fetch_add(1);
    uint32_t found;
    for (;;) {
        const uint32_t event = monitor().event();
        if ((found = find()) < count) break;
        const uint64_t elapsed = now_ns() - begin;
        if (!unlimited && elapsed >= timeout_ns) break;
        if (unlimited && help_somebody()) continue;
        const bool busy = state() && state()->busy.load(std::memory_order_relaxed) > 0;
        const uint64_t nap = busy ? shortest_nap_ns : idle_sleep_ns;
        monitor().wait_event(event, unlimited ? nap : std::min(nap, timeout_ns - elapsed));
    }
    for (uint32_t i = 0; i < count; i++)
        if (signals[i]) signals[i]->watched.fetch_sub(1);
    return found;
}

}  // namespace wj::hsa
