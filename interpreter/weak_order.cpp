#include "interpreter/weak_order.h"

#include <algorithm>
#include <optional>

#include "frontend/coherence.h"
#include "frontend/effects.h"
#include "frontend/wait_count.h"

namespace wj::interp {
namespace {

bool is_vector_memory(Format f) {
    constexpr Format formats[] = {Format::MUBUF,  Format::MTBUF,   Format::FLAT,
                                  Format::GLOBAL, Format::SCRATCH, Format::MIMG};
    return std::ranges::find(formats, f) != std::end(formats);
}

bool waits_for_stores(const Traits& traits, Opcode op) {
    constexpr Opcode apart[] = {Opcode::s_wait_idle, Opcode::s_wait_storecnt,
                                Opcode::s_wait_storecnt_dscnt, Opcode::s_waitcnt_vscnt};
    return !counts_stores_apart(traits) || std::ranges::find(apart, op) != std::end(apart);
}

// How many counted accesses an instruction lets stay under way; nothing where it waits for no
// stores.
std::optional<uint64_t> stores_left(const Wave& w, const Inst& inst) {
    if (!waits_for_stores(traits(w), inst.op)) return std::nullopt;
    if (inst.op == Opcode::s_waitcnt_vscnt && inst.src[0].is(Operand::Kind::Sgpr))
        return read_s32(w, inst.src[0]) + (inst.src[1].value & 63);
    return vector_accesses_left(*w.ctx->target, inst);
}

// gfx10 and later count stores, and atomics without a result, apart from what comes back.
bool is_counted(const Wave& w, const Inst& inst) {
    return !counts_stores_apart(traits(w)) || !inst.dst[0].present();
}

// One behind the cache of the compute unit.
bool empties_far_cache(Opcode op) {
    return op == Opcode::buffer_gl1_inv || op == Opcode::buffer_invl2;
}

}  // namespace

void order_accesses(Wave& w, const Inst& inst, memory::WeakMemory& weak) {
    const uint32_t wave = w.wave_in_group;
    const Effects& e = effects(inst.op);
    weak.step(*w.ctx);
    if (e.flow == Flow::End) {
        if (weak.stays(*w.ctx, wave)) stop(w, ExitKind::Yield, nullptr);
        return;
    }
    if (const auto left = stores_left(w, inst)) weak.wait(*w.ctx, wave, *left);
    if (!is_vector_memory(inst.format)) return;
    if (e.invalidates && !empties_far_cache(inst.op)) weak.empty_cache(wave);
    if (e.access != MemoryAccess::None) weak.issue(wave, is_coherent(inst), is_counted(w, inst));
}

}  // namespace wj::interp
