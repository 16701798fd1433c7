// Trap ids of s_trap (AMDGPU usage guide, "Trap Handler ABI"; SEED-TRAP-01 to -05).
#pragma once

#include <cstdint>

namespace wj::machine {

// All but debug_trap end the dispatch: what is for debuggers or reserved is reported by name.
enum TrapId : uint32_t {
    debugger_argument_trap = 1,
    llvm_trap = 2,
    debug_trap = 3,  // without a debugger no operation
    breakpoint_trap = 7,
};

}  // namespace wj::machine
