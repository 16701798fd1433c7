// Tells `perf` about translated blocks. WAVEJIT_PERF=1: /tmp/perf-PID.map, names only;
// WAVEJIT_PERF=jitdump: /tmp/jit-PID.dump, with code and guest instructions.
#pragma once

#include <functional>
#include <string>

#include "backend_x64/code_cache.h"
#include "backend_x64/jit_dump.h"

namespace wj::x64 {

class PerfMap {
public:
    // symbol: "kernel+0x10" for a guest address, or nothing; may be empty.
    explicit PerfMap(std::function<std::string(uint64_t)> symbol);
    ~PerfMap();
    PerfMap(const PerfMap&) = delete;
    PerfMap& operator=(const PerfMap&) = delete;
    bool wanted() const { return file_ || dump_; }
    void add(const BlockRecord& block, const GuestText& text);
    std::string name_of(const BlockRecord& block) const;

private:
    const std::function<std::string(uint64_t)> symbol_;
    void* file_ = nullptr;
    JitDump* dump_ = nullptr;
};

}  // namespace wj::x64
