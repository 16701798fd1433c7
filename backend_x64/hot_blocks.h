// Counts the host instructions that translated code executes, exactly and per block; for
// `--hot`, `WAVEJIT_HOT` and the test of instruction counts.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "backend_x64/code_cache.h"
#include "backend_x64/compiled_block.h"
#include "backend_x64/host_listing.h"
#include "backend_x64/jit_dump.h"

namespace wj::x64 {

class HostCounters {
public:
    uint64_t* next() { return &counters_.emplace_back(0); }

private:
    std::deque<uint64_t> counters_;  // they stay at their addresses
};

class HotBlocks {
public:
    HostCounters& counters() { return counters_; }
    // A block that has just been translated with these counters.
    void add(const std::string& name, const BlockRecord& block, const CompiledBlock& code,
             const GuestText& text);

    struct Totals {
        uint64_t instructions = 0;
        uint64_t calls = 0;  // of C++ code
    };
    Totals totals() const;
    // The `most` blocks with the most executed instructions, guest and host code side by side.
    std::string listing(size_t most) const;

private:
    struct Block {
        std::string name;
        std::vector<std::string> guest;  // text by index
        std::vector<CountedRun> runs;
        std::vector<HostLine> lines;
    };
    static uint64_t executed(const Block& block);
    static void print(const Block& block, std::string& out);

    mutable std::mutex mutex_;
    HostCounters counters_;
    std::deque<Block> blocks_;
};

}  // namespace wj::x64
