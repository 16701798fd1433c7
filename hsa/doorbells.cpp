#include "hsa/doorbells.h"

#include <algorithm>

#include "hsa/queue.h"

namespace wj::hsa {

Doorbells& doorbells() {
    static Doorbells* d = new Doorbells;
    return *d;
}

Doorbells::Bell Doorbells::take(const std::shared_ptr<Queue>& queue) {
    constexpr uint64_t nothing = ~uint64_t{0};  // no packet has that index
    std::lock_guard lock(mutex_);
    if (!words_)
        words_ = reinterpret_cast<volatile uint64_t*>(
            allocate_shared(capacity * sizeof(uint64_t), "doorbells"));
    const auto free = std::ranges::find(taken_, false);
    if (!words_ || free == taken_.end()) return {};
    const auto i = static_cast<uint32_t>(free - taken_.begin());
    *free = true;
    queues_[i] = queue;
    seen_[i].store(nothing, std::memory_order_relaxed);
    __atomic_store_n(&words_[i], nothing, __ATOMIC_RELAXED);
    if (i >= count_.load(std::memory_order_relaxed)) count_.store(i + 1, std::memory_order_release);
    return {&words_[i], &seen_[i]};
}

void Doorbells::give(const Bell& bell) {
    if (!bell.word) return;
    std::lock_guard lock(mutex_);
    const auto i = static_cast<uint32_t>(bell.word - words_);
    queues_[i].reset();
    taken_[i] = false;
}

void Doorbells::ring(uint32_t index) {
    std::shared_ptr<Queue> queue;
    {
        std::lock_guard lock(mutex_);
        queue = queues_[index].lock();
        if (!queue) seen_[index].store(words_[index], std::memory_order_relaxed);
    }
    if (queue) queue->poll();
}

}  // namespace wj::hsa
