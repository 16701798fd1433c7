// Signals: amd_signal_t in memory that the guest can reach, followed by what only the host uses.
//
// Whoever changes a value calls notify(), which enters the kernel only when somebody sleeps on the
// signal or a handler, queue or copy waits for it. Guest code that writes the signal's event into
// its mailbox and raises an interrupt does the same; other guest code writes values without telling
// anybody: sleepers wake up by themselves in short intervals while a dispatch runs (contract 6.4,
// 10).
#pragma once

#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>

#include <atomic>
#include <cstdint>

namespace wj::hsa {

class Queue;

struct alignas(64) Signal {
    amd_signal_t abi;                // the handle points here
    std::atomic<uint32_t> sleepers;  // threads in a futex wait on the value
    std::atomic<uint32_t>
        watched;       // handlers, parked queues, parked copies, waits on several signals
    Queue* queue;      // doorbells
    uint64_t mailbox;  // abi.event_mailbox_ptr: the event, once a kernel has raised it
    uint32_t event;    // abi.event_id, not 0
    uint32_t reserved[9];

    int64_t kind() const { return __atomic_load_n(&abi.kind, __ATOMIC_RELAXED); }
    bool is_doorbell() const { return kind() == AMD_SIGNAL_KIND_DOORBELL; }
    Queue* rung_queue() const { return is_doorbell() ? queue : nullptr; }
    int64_t* word() {
        return is_doorbell()
                   ? reinterpret_cast<int64_t*>(const_cast<uint64_t*>(abi.hardware_doorbell_ptr))
                   : const_cast<int64_t*>(&abi.value);
    }
    int64_t load() { return __atomic_load_n(word(), __ATOMIC_ACQUIRE); }
    hsa_signal_t handle() { return {reinterpret_cast<uint64_t>(this)}; }
};
static_assert(sizeof(Signal) == 128 && sizeof(amd_signal_t) == 64);

// null for the null handle and for destroyed signals.
inline Signal* signal_of(hsa_signal_t handle) {
    auto* s = reinterpret_cast<Signal*>(handle.handle);
    return s && s->kind() != AMD_SIGNAL_KIND_INVALID ? s : nullptr;
}

Signal* create_signal(int64_t value);  // null = out of memory
void destroy_signal(Signal* signal);

// After *word, the value of the signal, has changed (with sequentially consistent order). `rung` is
// the queue whose doorbell the signal is. Both are looked up before the change: whoever saw the new
// value may have destroyed the signal, and it may be in use again; all that happens then is a
// needless wake-up.
void notify(Signal& signal, const int64_t* word, Queue* rung = nullptr);

// An interrupt raised by a kernel: wakes those who wait for signals with such an event (the low 8
// bits of the number) in their mailbox. May be called in the midst of a wave.
void on_interrupt(uint32_t event);

// value -= 1 and notify, with the timestamps that profiling reads.
void complete_signal(hsa_signal_t signal, uint64_t start_ns, uint64_t end_ns);

inline bool holds(hsa_signal_condition_t condition, int64_t value, int64_t compare) {
    switch (condition) {
        case HSA_SIGNAL_CONDITION_EQ:
            return value == compare;
        case HSA_SIGNAL_CONDITION_NE:
            return value != compare;
        case HSA_SIGNAL_CONDITION_LT:
            return value < compare;
        default:
            return value >= compare;
    }
}

// Waits until the condition holds or about `timeout` nanoseconds have passed; returns the last
// value seen. Threads without a deadline help to run work-groups and copies meanwhile.
int64_t wait_signal(Signal& signal, hsa_signal_condition_t condition, int64_t compare,
                    uint64_t timeout_ns);

// Index of the first signal whose condition holds, or `count` after the timeout.
uint32_t wait_any(uint32_t count, Signal* const* signals, const hsa_signal_condition_t* conditions,
                  const int64_t* compare, uint64_t timeout_ns, int64_t& value);

void futex_wake_all(const void* word);
void futex_wait(const void* word, uint32_t expected, uint64_t timeout_ns);

}  // namespace wj::hsa
