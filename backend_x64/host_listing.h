// Host code of a block as text that people can read and tests can compare: registers of the wave
// and fields of the frame by name, labels instead of addresses.
#pragma once

#include <string>
#include <vector>

#include "backend_x64/compiled_block.h"

namespace wj::x64 {

struct HostLine {
    uint32_t guest;    // index into the block's guest PCs, or beyond them
    uint32_t run;      // index into CompiledBlock::runs; 0 without counters
    std::string text;  // "vaddps zmm0, zmm1, zmmword ptr [v3]", or "L2:" where jumps lead to
    bool label = false;
};

// One line that says why, where host_listing_missing() is not empty.
std::vector<HostLine> list_host_code(const CompiledBlock& code);

// Empty, or why host code cannot be listed: Zydis is not installed.
const std::string& host_listing_missing();

}  // namespace wj::x64
