// What is left of a dispatch's instruction limit. A wave's turn takes its slice from here and gives
// back what it has not executed, so that all threads together stop where the limit is.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace wj::runtime {

class InstructionAllowance {
public:
    // limit 0: there is none. threads: that may take at the same time.
    InstructionAllowance(uint64_t limit, uint32_t threads) : threads_(threads) { reset(limit); }

    void reset(uint64_t limit) {
        limited_ = limit != 0;
        left_.store(static_cast<int64_t>(std::min<uint64_t>(limit, INT64_MAX)),
                    std::memory_order_relaxed);
    }
    bool limited() const { return limited_; }

    struct Slice {
        int64_t instructions = 0;  // 0: nothing is left, or others have it
        // So few that translated code, whose blocks are longer than the guest's, would overshoot:
        // the interpreter runs them and stops at the end of a basic block.
        bool last = false;
    };
    // At most `most`. One of several threads leaves the others their share of what is left.
    Slice take(int64_t most) {
        int64_t left = left_.load(std::memory_order_relaxed);
        for (;;) {
            Slice slice;
            const int64_t share = left / threads_ + (left % threads_ != 0);
            slice.last = share <= last_stretch;
            slice.instructions = std::min(most, slice.last ? share : share - last_stretch / 2);
            if (left <= 0) return {};
            if (left_.compare_exchange_weak(left, left - slice.instructions,
                                            std::memory_order_relaxed))
                return slice;
        }
    }
    // Behind the turn: what it was given and has executed, which may be a few more.
    void settle(int64_t given, int64_t executed) {
        left_.fetch_add(given - executed, std::memory_order_relaxed);
    }

private:
    // Twice what the longest translated block may execute beyond its budget.
    static constexpr int64_t last_stretch = 1024;
    bool limited_ = false;
    const int64_t threads_;
    std::atomic<int64_t> left_{0};
};

}  // namespace wj::runtime
