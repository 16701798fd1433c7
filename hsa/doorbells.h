// The doorbells of all queues: words side by side in memory that kernels can write. The host's
// functions ring a queue themselves; what kernels write is found by looking (look()), which the
// threads that run kernels do when a kernel has ended, when all that they run waits, and every few
// milliseconds.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

namespace wj::hsa {

class Queue;

class Doorbells {
public:
    static constexpr uint32_t capacity = 1024;
    struct Bell {
        volatile uint64_t* word = nullptr;      // what producers write
        std::atomic<uint64_t>* seen = nullptr;  // what the queue has been processed for
    };

    Bell take(const std::shared_ptr<Queue>& queue);  // no word: all are in use, or out of memory
    void give(const Bell& bell);                     // its queue is gone

    // Processes the queues whose doorbell has another value than they have been processed for.
    void look() {
        const uint32_t count = count_.load(std::memory_order_acquire);
        for (uint32_t i = 0; i < count; i++)
            if (__atomic_load_n(&words_[i], __ATOMIC_ACQUIRE) !=
                seen_[i].load(std::memory_order_relaxed)) [[unlikely]]
                ring(i);
    }

private:
    void ring(uint32_t index);

    volatile uint64_t* words_ = nullptr;
    std::array<std::atomic<uint64_t>, capacity> seen_{};
    std::atomic<uint32_t> count_{0};  // those that have been used
    std::mutex mutex_;                // guards what follows
    std::array<std::weak_ptr<Queue>, capacity> queues_;
    std::array<bool, capacity> taken_{};
};

Doorbells& doorbells();  // leaked, like the rest of the state

}  // namespace wj::hsa
