// What instructions say of the order of accesses, where that is all that orders them
// (memory/weak_memory.h).
#pragma once

#include "interpreter/internal.h"
#include "machine/work_group.h"
#include "memory/weak_memory.h"

namespace wj::interp {

// Null, but in dispatches with weak memory.
inline memory::WeakMemory* weak_memory(const Wave& w) {
    return w.group ? w.group->weak : nullptr;
}

// In front of each instruction of a wave that has weak memory. May let others run before the wave
// ends, as what it has stored is still under way.
void order_accesses(Wave& w, const Inst& inst, memory::WeakMemory& weak);

}  // namespace wj::interp
