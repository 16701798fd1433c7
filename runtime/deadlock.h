// Barrier deadlocks. On gfx9 a wave that has ended counts as arrived, so a barrier is stuck only
// when another wave of the work-group runs for ever without reaching it.
#pragma once

#include "frontend/target.h"
#include "runtime/group_context.h"

namespace wj::runtime {

// True when it is certain that no wave of the group will ever go on: some wait at a barrier and
// each other one, stepped on copies of its state, comes back to exactly the same state without
// having executed anything but scalar, vector and LDS instructions, with LDS unchanged. A loop that
// reads memory or the clock is never called a deadlock: the host or another work-group may end it.
bool proves_deadlock(const Target& target, GroupContext& group);

}  // namespace wj::runtime
