// Captures with less in them: parts of a launch that may be left out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "runtime/capture.h"

namespace wj::tools {

// Leaves out what may be left out of `count` parts, in ever smaller pieces; `holds` is asked about
// what is kept.
using Kept = std::vector<bool>;
Kept leave_out(size_t count, const std::function<bool(const Kept&)>& holds);

class Smaller {
public:
    // Fails for a capture whose code object or target is none.
    explicit Smaller(runtime::Capture capture);

    // What there is of it, and what is left: each may be left out by itself.
    struct Parts {
        std::array<uint32_t, 3> groups{1, 1, 1};
        Kept regions;       // that hold no code
        Kept pages;         // of 4 KiB that are not zero, of what holds no code
        Kept instructions;  // of the kernel's code object that may be s_nop
    };
    const Parts& all() const { return all_; }
    runtime::Capture with(const Parts& parts) const;

    // Numbers of instructions, by basic block.
    const std::vector<std::vector<size_t>>& blocks() const { return blocks_; }

private:
    struct Page {
        uint32_t block = 0;
        uint64_t offset = 0;
    };
    struct Instruction {
        uint64_t address = 0;  // in the code object
        uint32_t bytes = 0;
    };
    void find_pages();
    void find_instructions();
    void leave_out_memory(runtime::Capture& c, const Parts& parts) const;
    void leave_out_code(runtime::Capture& c, const Kept& instructions) const;

    const runtime::Capture capture_;
    std::vector<size_t> regions_;    // their numbers in the image
    std::vector<bool> code_blocks_;  // blocks of the image that hold code
    std::vector<Page> pages_;
    std::vector<Instruction> instructions_;
    std::vector<std::vector<size_t>> blocks_;
    Parts all_;
};

}  // namespace wj::tools
