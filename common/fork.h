// What fork() leaves behind: a child has its parent's memory, but none of its threads.
#pragma once

#include <atomic>
#include <cstdint>

namespace wj {

// How many forks lie between this process and the one that loaded the library: a child's number is
// one more than its parent's.
uint32_t fork_generation();

// Notes that something began to use threads, or that others wait for: a child of the process that
// did so cannot go on with it, one of a process that only made it can.
class ForkGuard {
public:
    void use() { used_in_.store(fork_generation() + 1, std::memory_order_relaxed); }
    bool left_behind() const {
        const uint32_t used_in = used_in_.load(std::memory_order_relaxed);
        return used_in && used_in != fork_generation() + 1;
    }

private:
    std::atomic<uint32_t> used_in_{0};  // 0: not at all
};

inline constexpr const char* left_behind_text =
    "this process was forked from one that had run kernels, whose threads do not exist here: start "
    "GPU work after fork, or call exec";

}  // namespace wj
