#include "interpreter/checks.h"

#include <array>
#include <utility>

#include "frontend/effects.h"
#include "interpreter/check_parts.h"
#include "interpreter/observe.h"

namespace wj::interp {
namespace {

void check_and_run(Wave& w, const Inst& inst) {
    look(w, inst);
    if (w.exit.kind != ExitKind::None) return;
    handler(inst.op)(w, inst);
}

void watch_and_run(Wave& w, const Inst& inst) {
    look(w, inst);
    if (w.exit.kind != ExitKind::None) return;
    InitCheck bits(w, inst);
    InexactCheck inexact(w, inst);
    handler(inst.op)(w, inst);
    bits.settle();
    inexact.settle();
}

bool looks_at_divisions(Opcode op) {
    return op == Opcode::v_rcp_iflag_f32;
}

bool looks_at_scalars(Opcode op) {
    return op_info(op).format == Format::SMEM && effects(op).access != MemoryAccess::None;
}

// Instructions of a kind, and the checks that look at them.
struct Kind {
    uint32_t checks;
    bool (*has)(Opcode);
};
constexpr Kind kinds[] = {{machine::checks_of_lds, looks_at_lds},
                          {machine::checks_of_accesses, looks_at_accesses},
                          {machine::check_init, looks_at_unwritten},
                          {machine::check_alignment, looks_at_scalars},
                          {machine::check_division, looks_at_divisions}};
constexpr size_t sets_of_kinds = size_t{1} << std::size(kinds);

// Any kind of a set, a bit for each.
template <size_t set>
bool looks(Opcode op) {
    for (size_t k = 0; k < std::size(kinds); k++)
        if (set >> k & 1 && kinds[k].has(op)) return true;
    return false;
}

bool may_load_lds(Opcode op) {
    const Format format = op_info(op).format;
    return (format == Format::GLOBAL || format == Format::SCRATCH || format == Format::MUBUF) &&
           effects(op).access == MemoryAccess::Load;
}

template <size_t set>
Handler observer(Opcode op) {
    return looks<set>(op) ? &look : nullptr;
}

template <size_t set>
Handler observer_of_compares(Opcode op) {
    return looks<set>(op) ? &look : compare_observer(op);
}

template <size_t set>
Handler unobserved(Opcode op) {
    const Handler plain = handler(op);
    return plain && !looks<set>(op) && may_load_lds(op) ? &check_and_run : plain;
}

template <size_t... set>
constexpr auto translated_checks_of_sets(std::index_sequence<set...>) {
    return std::array{
        TranslatedChecks{&observer<set>, &observer_of_compares<set>, &unobserved<set>}...};
}

}  // namespace

void look(Wave& w, const Inst& inst) {
    if (!shadow_of(w)) return;
    const uint32_t checks = w.ctx->checks;
    if (!checks) return;  // a copy of the wave that others try out
    if (checks & machine::check_init && looks_at_unwritten(inst.op)) check_unwritten(w, inst);
    if (w.exit.kind != ExitKind::None) return;  // it will be looked at again
    if (checks & machine::check_waitcnt) check_waits(w, inst);
    if (checks & machine::checks_of_lds) check_lds(w, inst);
    if (checks & machine::check_race) check_global(w, inst);
    if (checks & machine::check_alignment) check_alignment(w, inst);
    if (checks & machine::check_unaligned) check_unaligned(w, inst);
    if (checks & machine::check_division && looks_at_divisions(inst.op)) check_division(w, inst);
}

TranslatedChecks translated_checks(uint32_t checks) {
    constexpr auto of_sets = translated_checks_of_sets(std::make_index_sequence<sets_of_kinds>{});
    size_t set = 0;
    for (size_t k = 0; k < std::size(kinds); k++)
        if (checks & kinds[k].checks) set |= size_t{1} << k;
    return of_sets[set];
}

bool looked_at(Opcode op) {
    return looks<sets_of_kinds - 1>(op);
}

Handler checked_handler(Opcode op) {
    const Handler plain = handler(op);
    return plain && (looked_at(op) || may_load_lds(op)) ? &check_and_run : plain;
}

Handler watched_handler(Opcode op) {
    return handler(op) ? &watch_and_run : nullptr;
}

}  // namespace wj::interp
