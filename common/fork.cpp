#include "common/fork.h"

#include <pthread.h>

namespace wj {
namespace {

std::atomic<uint32_t> generation{0};

// Before main, or while the library is loaded: a process that forks has it.
[[gnu::constructor]] void watch_forks() {
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
}

}  // namespace

uint32_t fork_generation() {
    return generation.load(std::memory_order_relaxed);
}

}  // namespace wj
