// Asynchronous copies: small ones on the thread that asks, large ones in pieces by a few threads
// and by whoever waits meanwhile.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "hsa/monitor.h"

namespace wj::hsa {

class CopyJob final : public Parked, public std::enable_shared_from_this<CopyJob> {
public:
    // piece(i) for i in [0, pieces) in any order, on any thread.
    CopyJob(uint64_t bytes, uint64_t pieces, std::function<void(uint64_t)> piece,
            uint32_t dependencies, const hsa_signal_t* signals, hsa_signal_t completion);
    void start();  // now or when the dependencies are met
    void poll() override;

private:
    friend class CopyEngine;
    bool ready() const;
    void launch();
    bool run_piece();  // false = none left

    const uint64_t bytes_, pieces_;
    const std::function<void(uint64_t)> piece_;
    std::vector<hsa_signal_t> dependencies_;
    const hsa_signal_t completion_;
    std::atomic<bool> launched_{false};
    std::atomic<uint64_t> next_{0}, done_{0}, begin_ns_{0};
};

class CopyEngine {
public:
    void submit(std::shared_ptr<CopyJob> job);
    bool help();  // does one piece on the calling thread; false = nothing to do

private:
    bool enter(std::shared_ptr<CopyJob> job);  // false: no thread will see to it
    void main();
    std::mutex mutex_;
    std::condition_variable work_;
    std::deque<std::shared_ptr<CopyJob>> jobs_;
    std::atomic<uint32_t> job_count_{0};
    uint32_t crew_ = 0;  // threads; none until there is something to copy
};

CopyEngine& copies();

}  // namespace wj::hsa
