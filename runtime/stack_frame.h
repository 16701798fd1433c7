// Call stacks of waves, as data.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wj::runtime {

// Where a stack's functions are: the callers' call instructions, innermost first, without the PC
// that it is asked for.
struct CallSites {
    std::vector<uint64_t> pcs;
    bool complete = true;  // the last one, or else the PC, is in the kernel itself
};

struct StackFrame {
    uint64_t pc = 0;       // of the instruction, in outer frames of the call
    std::string function;  // as in the source, else the symbol; empty: not known
    std::string file;      // empty: not known
    uint32_t line = 0, column = 0;
    bool inlined = false;  // in the next frame, which has the same pc
};

struct CallStack {
    std::vector<StackFrame> frames;  // innermost first
    bool complete = true;            // false: who called the last one could not be found
    // "#0 function at file:line:column (inlined)" for each frame; nothing where the PC says it all.
    std::vector<std::string> lines() const;
};

}  // namespace wj::runtime
