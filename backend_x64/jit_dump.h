// jit-PID.dump for `perf inject --jit` (tools/perf/Documentation/jitdump-specification.txt): host
// code of blocks, and a listing of guest code as their source.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <string>

#include "backend_x64/code_cache.h"

namespace wj::x64 {

// Disassembly of the guest instruction at an address.
using GuestText = std::function<std::string(uint64_t pc)>;

class JitDump {
public:
    // The one of this process, in /tmp; null when it cannot be made.
    static JitDump* get();
    void add(const BlockRecord& block, const std::string& name, const GuestText& text);

private:
    JitDump() = default;
    bool open();

    std::mutex mutex_;
    void *dump_ = nullptr, *listing_ = nullptr;
    std::string listing_name_;
    uint32_t lines_ = 0;
    uint64_t blocks_ = 0;
};

}  // namespace wj::x64
