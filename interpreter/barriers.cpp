#include "interpreter/barriers.h"

#include "interpreter/check_parts.h"
#include "interpreter/checks.h"
#include "machine/work_group.h"

namespace wj::interp {
namespace {

using machine::BarrierObject;
using machine::Misuse;
using machine::NamedBarriers;

void misuse(Wave& w, int32_t number, Misuse what) {
    if (what) stop(w, ExitKind::BarrierMisuse, what, static_cast<uint32_t>(number));
}

uint32_t allocated(const Wave& w) {
    return w.group && w.group->named ? w.group->named->count : 0;
}

bool in_cluster(const Wave& w) {
    return w.group && w.group->in_cluster.cluster;
}

// Why a wave may not name this barrier, or null.
const char* refusal(const Wave& w, int32_t number) {
    const bool gfx125 = traits(w).work_group_clusters;
    struct Rule {
        int32_t first, last;  // numbers
        bool refused;
        const char* why;
    };
    const auto named = static_cast<int32_t>(allocated(w));
    const Rule rules[] = {
        {-2, -2, true, "barrier -2 is the trap handler's, which runs with privilege"},
        {-4, -3, !gfx125, "barriers -3 and -4 are of clusters, which gfx12.5 has first"},
        {-4, -4, true, "barrier -4 is the trap handlers' of a cluster, which run with privilege"},
        {-3, -3, !in_cluster(w),
         "barrier -3 is of the work-groups of a cluster, and this launch has no clusters"},
        {0, 0, !gfx125, "barrier 0, which joins none, exists from gfx12.5 on"},
        {1, NamedBarriers::most, !gfx125, "named barriers, 1 to 16, exist from gfx12.5 on"},
        {named + 1, NamedBarriers::most, true,
         "a named barrier beyond those that the kernel descriptor asks for (NAMED_BAR_CNT)"},
        {INT32_MIN, -5, true, "no barrier has this number"},
        {NamedBarriers::most + 1, INT32_MAX, true, "no barrier has this number"},
    };
    for (const Rule& r : rules)
        if (r.refused && number >= r.first && number <= r.last) return r.why;
    return nullptr;
}

// Names by M0 are not negative (AMD's pseudo-code of S_BARRIER_SIGNAL).
int32_t number_of(const Wave& w, const Operand& name, uint32_t mask) {
    return name.is(Operand::Kind::Sgpr) ? static_cast<int32_t>(w.sgpr[machine::m0] & mask)
                                        : static_cast<int16_t>(name.value);
}

// False: the wave may not name it, and has been stopped.
bool names_barrier(Wave& w, int32_t number) {
    const char* why = refusal(w, number);
    if (why) stop(w, ExitKind::IllegalInstruction, why);
    return !why;
}

// Of those by which a kernel sets up and joins barriers.
bool names_named(Wave& w, int32_t number) {
    if (!names_barrier(w, number)) return false;
    if (number >= machine::null_barrier) return true;
    stop(w, ExitKind::IllegalInstruction, "waves neither set up nor join this barrier themselves");
    return false;
}

constexpr Misuse uninitialised = "no wave has set it up by s_barrier_init";

// A named barrier that has been set up, or null: the wave has been stopped.
BarrierObject* find_named(Wave& w, int32_t number) {
    BarrierObject& object = w.group->named->objects[static_cast<uint32_t>(number)];
    if (object.initialised()) return &object;
    misuse(w, number, uninitialised);
    return nullptr;
}

constexpr uint32_t five_bits = 31, half = 0xffff;

// M0[22:16] of a signal by M0: the expected count from now on, unless it is 0.
uint32_t new_expected(const Wave& w, const Operand& name) {
    return name.is(Operand::Kind::Sgpr) ? w.sgpr[machine::m0] >> 16 & BarrierObject::most_expected
                                        : 0;
}

// A work-group of one wave has no barrier of its own (RDNA4 ISA, "Barriers"): signals are dropped,
// waits do not wait. Of barriers that are whole nobody counts the signals.
bool signal_group(Wave& w) {
    machine::WorkGroup* const group = w.group;
    if (!group || group->wave_count == 1 || w.mode & machine::mode::whole_barriers) return false;
    group->drop_ended();
    const bool first = !group->barrier.arrived();
    misuse(w, machine::group_barrier, group->barrier.arrive(w.wave_in_group));
    return first;
}

bool signal_cluster(Wave& w) {
    const machine::ClusterMember& member = w.group->in_cluster;
    const std::lock_guard lock(member.cluster->mutex);
    const bool first = !member.cluster->barrier.arrived();
    misuse(w, machine::cluster_barrier, member.cluster->arrive(member.rank));
    return first;
}

bool signal_named(Wave& w, int32_t number, uint32_t expected) {
    BarrierObject* const object = find_named(w, number);
    if (!object) return false;
    const bool first = !object->arrived();
    misuse(w, number,
           expected ? object->arrive(w.wave_in_group, expected) : object->arrive(w.wave_in_group));
    return first;
}

// Whether the wave is the first one in this phase.
bool signal(Wave& w, const Inst& in) {
    const int32_t number = number_of(w, in.src[0], five_bits);
    if (!names_barrier(w, number) || number == machine::null_barrier) return false;
    if (number == machine::group_barrier) return signal_group(w);
    if (number == machine::cluster_barrier) return signal_cluster(w);
    return signal_named(w, number, new_expected(w, in.src[0]));
}

}  // namespace

void signal_barrier(Wave& w, const Inst& in) {
    signal(w, in);
}

void signal_barrier_is_first(Wave& w, const Inst& in) {
    const bool first = signal(w, in);
    if (w.exit.kind == ExitKind::None) w.scc = first;
}

// The runtime lets the wave go on when the barrier is complete.
void wait_for_barrier(Wave& w, const Inst& in) {
    const auto number = static_cast<int32_t>(static_cast<int16_t>(in.src[0].value));
    if (!names_barrier(w, number)) return;
    if (number == machine::group_barrier) return stop(w, ExitKind::Barrier);
    if (number == machine::cluster_barrier)
        return stop(w, ExitKind::Barrier, nullptr, machine::waits_for_cluster);
    if (number == machine::null_barrier) return;
    NamedBarriers::Join& join = w.group->named->joins[w.wave_in_group];
    if (join.number <= machine::null_barrier)
        return misuse(w, number, "a wait of a wave that has joined no named barrier");
    check_named_wait(w, in, number);
    join.waited = true;
    if (find_named(w, join.number))
        stop(w, ExitKind::Barrier, nullptr, static_cast<uint32_t>(join.number));
}

void get_barrier_state(Wave& w, const Inst& in) {
    const int32_t number = number_of(w, in.src[0], five_bits);
    if (!names_barrier(w, number)) return;
    if (number == machine::null_barrier)
        return stop(w, ExitKind::Unimplemented, "the state of barrier 0 is not published");
    uint32_t state = 0;
    if (number == machine::cluster_barrier) {
        machine::Cluster& cluster = *w.group->in_cluster.cluster;
        const std::lock_guard lock(cluster.mutex);
        state = cluster.barrier.state();
    } else if (number > 0) {
        state = w.group->named->objects[static_cast<uint32_t>(number)].state();
    } else if (w.group && w.group->wave_count > 1) {
        w.group->drop_ended();
        state = w.group->barrier.state();
    }
    write_s32(w, in.dst[0], state);
}

// Waves that have joined it stay so.
void init_barrier(Wave& w, const Inst& in) {
    const int32_t number = number_of(w, in.src[0], half);
    if (!names_named(w, number) || number == machine::null_barrier) return;
    const uint32_t expected = w.sgpr[machine::m0] >> 16;
    if (!expected || expected > BarrierObject::most_expected)
        return misuse(w, number, "an expected count that is not between 1 and 127");
    w.group->named->objects[static_cast<uint32_t>(number)].init(expected);
}

void join_barrier(Wave& w, const Inst& in) {
    const int32_t number = number_of(w, in.src[0], half);
    if (!names_named(w, number) || !w.group || !w.group->named) return;
    if (number != machine::null_barrier && !find_named(w, number)) return;
    check_useless_join(w);
    w.group->named->joins[w.wave_in_group] = {number, number == machine::null_barrier,
                                              w.pc - in.size};
    w.group->named->objects[static_cast<uint32_t>(number)].join(w.wave_in_group);
}

// What SCC is afterwards no document tells.
void leave_barrier(Wave& w, const Inst&) {
    if (!traits(w).work_group_clusters)
        return stop(w, ExitKind::IllegalInstruction, "named barriers exist from gfx12.5 on");
    const int32_t none = NamedBarriers::nothing;
    NamedBarriers::Join* const join =
        w.group && w.group->named ? &w.group->named->joins[w.wave_in_group] : nullptr;
    if (!join || join->number == none)
        return misuse(w, machine::null_barrier,
                      "a drop by a wave that has joined no named barrier");
    const int32_t number = join->number;
    if (number != machine::null_barrier) {
        BarrierObject* const object = find_named(w, number);
        if (!object) return;
        misuse(w, number, object->drop(w.wave_in_group));
        if (w.exit.kind != ExitKind::None) return;
    }
    *join = {};
    w.scc = 0;
}

}  // namespace wj::interp
