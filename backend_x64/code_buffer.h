// Memory for translated code: one memfd mapped twice, once writable and once executable, so that no
// page is ever both (W^X). Bump allocated: between two resets addresses only grow, which keeps
// block records sorted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "common/status.h"

namespace wj::x64 {

class CodeBuffer {
public:
    CodeBuffer() = default;
    ~CodeBuffer();
    CodeBuffer(const CodeBuffer&) = delete;
    CodeBuffer& operator=(const CodeBuffer&) = delete;

    Status open(size_t bytes);
    // 64-byte aligned room in the writable view, or nullptr when the buffer is full.
    uint8_t* allocate(size_t bytes);
    // Everything behind the first `keep` bytes is free again; its pages go back to the host.
    void reset(size_t keep);
    uint8_t* executable(uint8_t* writable) const { return writable - write_ + run_; }
    uint8_t* writable(const void* executable) const {
        return const_cast<uint8_t*>(static_cast<const uint8_t*>(executable)) - run_ + write_;
    }
    bool contains(uintptr_t executable) const {
        return executable - reinterpret_cast<uintptr_t>(run_) <
               used_.load(std::memory_order_relaxed);
    }
    size_t used() const { return used_.load(std::memory_order_relaxed); }
    size_t size() const { return size_; }

private:
    // Maps both views; at given addresses, if these are not null.
    Status map(int fd, size_t bytes);
    bool own();

    uint8_t* write_ = nullptr;
    uint8_t* run_ = nullptr;
    size_t size_ = 0, populated_ = 0;
    std::atomic<size_t> used_{0};
    uint32_t process_ = 0;  // fork_generation() of the one whose memory this is
};

}  // namespace wj::x64
