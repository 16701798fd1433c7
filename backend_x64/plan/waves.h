// Programs of one block start their next waves by themselves: what one wave has found out serves
// the next ones. (docs/design/successive-waves.md)
#pragma once

#include <map>
#include <optional>

#include "backend_x64/plan/plan_context.h"

namespace wj::x64 {

// By how much the base of a line grows from wave to wave, and to the first wave of the next
// work-group (ir::Op::GoesOn).
struct BaseSteps {
    Value wave, group;
};
using MovingBases = std::map<Value, BaseSteps>;

// The next wave is this one but for the bases of lines, which go on (Block::next): nothing else
// that is known of it before its chunks begin has to be found out again.
std::optional<MovingBases> plan_moving_bases(const PlanContext& c);
// Whether this region is all that the waves of go_on() do, whose lines lie behind this one's.
bool may_fuse_waves(const PlanContext& c, uint32_t position, const MovingBases& bases);

}  // namespace wj::x64
