// Regions that act under a mask: chunks in which all lanes are on, most of them as a rule, run code
// that knows it; those in which some are run code whose accesses are all masked and ask no more.
#include "backend_x64/asm/lane_access.h"

namespace wj::x64 {

// The body twice; both go on at `next`.
void BlockCompiler::whole_and_other_chunks(Value mask, Label next) {
    const Label some = a_.newLabel();
    const size_t offsets = line_offsets_.size();
    a_.cmp(chunk_bits(schedule_.uniform_home(inst(mask).args[0])), -1);
    a_.jne(some);
    whole_mask_ = mask;
    region_body();
    whole_mask_ = no_value;
    a_.jmp(next);

    // Nothing is known of what the other code has found out.
    a_.bind(some);
    for (UnitState& s : units_)
        if (s.region == position_ + 1) s.region = 0;
    facts_.clear();
    line_offsets_.resize(offsets);
    guest_ = ~0u;
    some_mask_ = mask;
    region_body();
    some_mask_ = no_value;
}

// Whether all lanes of the chunk are known to be on.
bool BlockCompiler::is_full(Value mask) const {
    return mask == whole_mask_ || schedule_.is_full(mask);
}

}  // namespace wj::x64
