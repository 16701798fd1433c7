// Who has called whom in a wave that stands still.
#pragma once

#include <functional>
#include <memory>

#include "frontend/target.h"
#include "machine/wave.h"
#include "memory/address_space.h"
#include "runtime/module.h"
#include "runtime/stack_frame.h"

namespace wj::runtime {

// The module whose code is at a guest address, or null.
using FindModule = std::function<std::shared_ptr<const ModuleImpl>(uint64_t pc)>;

// From the wave's registers and private memory at `pc`. Where translated code has stopped in the
// midst of a block (ExitInfo::block_begin), what that block changes does not count. A caller is
// told only if its call instruction is there.
CallSites find_callers(const memory::AddressSpace& memory, const Target& target,
                       const FindModule& find, const machine::Wave& wave, uint64_t pc);

// With functions and lines, and what compilers have inlined.
CallStack describe_stack(const FindModule& find, uint64_t pc, const CallSites& callers);

}  // namespace wj::runtime
