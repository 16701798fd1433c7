// Named barriers that are joined to no end, or waited for by another name (AMDGPU usage guide,
// "Execution Barriers").
#include "interpreter/check_parts.h"
#include "interpreter/checks.h"
#include "memory/fault_reasons.h"

namespace wj::interp {
namespace {

void report(const Wave& w, const char* what, uint64_t pc) {
    shadow_of(w)->dispatch->sink.found(w,
                                       {.check = machine::check_barrier, .what = what, .pc = pc});
}

bool checked(const Wave& w) {
    return shadow_of(w) && w.ctx->checks & machine::check_barrier;
}

}  // namespace

void check_named_wait(const Wave& w, const Inst& inst, int32_t number) {
    if (checked(w) && w.group->named->joins[w.wave_in_group].number != number)
        report(w, memory::waits_by_another_name, w.pc - inst.size);
}

void check_useless_join(const Wave& w) {
    if (!checked(w) || !w.group->named) return;
    const machine::NamedBarriers::Join& join = w.group->named->joins[w.wave_in_group];
    if (join.number > machine::null_barrier && !join.waited)
        report(w, memory::joins_without_wait, join.pc);
}

}  // namespace wj::interp
