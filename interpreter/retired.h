// Things that were taken out of a table while threads may be in the midst of one: they are kept
// until no thread is that was inside then. Who enters later does not find them any more.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace wj::interp {

template <class T>
class Retired {
public:
    class Inside {
    public:
        explicit Inside(Retired& of) : of_(of) { of_.inside_.fetch_add(1); }
        ~Inside() {
            if (of_.inside_.fetch_sub(1) == 1 && of_.any_.load()) of_.release();
        }
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;

    private:
        Retired& of_;
    };

    // Nobody finds these any more.
    void add(std::vector<std::unique_ptr<T>> gone) {
        {
            std::lock_guard lock(mutex_);
            for (auto& one : gone) gone_.push_back(std::move(one));
            any_.store(true);
        }
        release();
    }

private:
    void release() {
        std::lock_guard lock(mutex_);
        if (inside_.load()) return;
        gone_.clear();
        any_.store(false);
    }

    std::atomic<uint32_t> inside_{0};
    std::atomic<bool> any_{false};
    std::mutex mutex_;
    std::vector<std::unique_ptr<T>> gone_;
};

}  // namespace wj::interp
