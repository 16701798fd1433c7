#include "interpreter/barriers.h"

#include "machine/work_group.h"

namespace wj::interp {
namespace {

// A work-group of one wave has no barrier: signals are dropped, waits do not wait.
machine::WorkGroup* with_barrier(const Wave& w) {
    const bool counts = !(w.mode & machine::mode::whole_barriers);
    return w.group && w.group->wave_count > 1 && counts ? w.group : nullptr;
}

// Of the barriers that may be named this processor has the work-group's, and one for trap handlers
// (AMDGPU usage guide, "Execution Barriers"). M0 names none of these: numbers in it are not
// negative.
bool names_group_barrier(Wave& w, const Operand& name) {
    constexpr int32_t group = -1, of_trap_handlers = -2, of_clusters = -3;
    const bool by_m0 = name.is(Operand::Kind::Sgpr);
    const auto number = by_m0 ? static_cast<int32_t>(w.sgpr[machine::m0] & 31)
                              : static_cast<int32_t>(static_cast<int16_t>(name.value));
    if (number == group) return true;
    stop(w, ExitKind::IllegalInstruction,
         number == of_trap_handlers ? "barrier -2 is the trap handler's, which runs with privilege"
         : number <= of_clusters    ? "barriers -3 and -4 are of clusters, which gfx12.5 has first"
         : number == 0              ? "barrier 0, which joins none, exists from gfx12.5 on"
                                    : "named barriers, 1 to 16, exist from gfx12.5 on");
    return false;
}

void signal(machine::WorkGroup& group) {
    ++group.barrier.signals;
    group.complete_barrier();
}

}  // namespace

void signal_barrier(Wave& w, const Inst& in) {
    if (!names_group_barrier(w, in.src[0])) return;
    machine::WorkGroup* group = with_barrier(w);
    if (!group) return;
    group->complete_barrier();  // by waves that have ended
    signal(*group);
}

void signal_barrier_is_first(Wave& w, const Inst& in) {
    if (!names_group_barrier(w, in.src[0])) return;
    machine::WorkGroup* group = with_barrier(w);
    w.scc = 0;
    if (!group) return;
    group->complete_barrier();
    w.scc = group->barrier.signals == 0;
    signal(*group);
}

// The runtime lets the wave go on when the barrier is complete.
void wait_for_barrier(Wave& w, const Inst& in) {
    if (names_group_barrier(w, in.src[0])) stop(w, ExitKind::Barrier);
}

// Signals, members, and that it exists (AMD's pseudo-code of S_GET_BARRIER_STATE).
void get_barrier_state(Wave& w, const Inst& in) {
    if (!names_group_barrier(w, in.src[0])) return;
    machine::WorkGroup* group = with_barrier(w);
    uint32_t state = 0;
    if (group) {
        group->complete_barrier();
        state = (group->barrier.signals & 127) << 16 | (group->members() & 127) << 4 | 1;
    }
    write_s32(w, in.dst[0], state);
}

void named_barrier(Wave& w, const Inst&) {
    stop(w, ExitKind::IllegalInstruction, "named barriers exist from gfx12.5 on");
}

}  // namespace wj::interp
