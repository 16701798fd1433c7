#include "interpreter/checks.h"

#include "frontend/effects.h"
#include "interpreter/check_parts.h"

namespace wj::interp {
namespace {

void check_and_run(Wave& w, const Inst& inst) {
    look(w, inst);
    handler(inst.op)(w, inst);
}

void watch_and_run(Wave& w, const Inst& inst) {
    look(w, inst);
    InitCheck bits(w, inst);
    handler(inst.op)(w, inst);
    bits.settle();
}

bool looks_at_divisions(Opcode op) {
    return op == Opcode::v_rcp_iflag_f32;
}

template <bool accesses, bool divisions>
bool looks(Opcode op) {
    return looks_at_lds(op) || (accesses && looks_at_accesses(op)) ||
           (divisions && looks_at_divisions(op));
}

bool may_load_lds(Opcode op) {
    const Format format = op_info(op).format;
    return (format == Format::GLOBAL || format == Format::SCRATCH || format == Format::MUBUF) &&
           effects(op).access == MemoryAccess::Load;
}

}  // namespace

void look(Wave& w, const Inst& inst) {
    if (!shadow_of(w)) return;
    const uint32_t checks = w.ctx->checks;
    if (!checks) return;  // a copy of the wave that others try out
    if (checks & machine::check_waitcnt) check_waits(w, inst);
    check_lds(w, inst);
    if (checks & machine::check_race) check_global(w, inst);
    if (checks & machine::check_alignment) check_alignment(w, inst);
    if (checks & machine::check_division && looks_at_divisions(inst.op)) check_division(w, inst);
}

bool (*looks_at(uint32_t checks))(Opcode) {
    const bool accesses = checks & machine::checks_of_accesses;
    if (checks & machine::check_division) return accesses ? looks<true, true> : looks<false, true>;
    return accesses ? looks<true, false> : looks<false, false>;
}

Handler checked_handler(Opcode op) {
    const Handler plain = handler(op);
    return plain && (looks<true, true>(op) || may_load_lds(op)) ? &check_and_run : plain;
}

Handler watched_handler(Opcode op) {
    return handler(op) ? &watch_and_run : nullptr;
}

}  // namespace wj::interp
