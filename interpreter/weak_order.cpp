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

// How many counted accesses an instruction lets stay under way; nothing where it waits for no
// stores.
std::optional<uint64_t> stores_left(const Wave& w, const Inst& inst) {
    const Target& target = *w.ctx->target;
    if (!counts_stores_apart(target.traits)) return vector_accesses_left(target, inst);
    switch (inst.op) {
        case Opcode::s_wait_idle:
            return 0;
        case Opcode::s_wait_storecnt:
            return inst.src[0].value & 63;
        case Opcode::s_wait_storecnt_dscnt:
            return inst.src[0].value >> 8 & 63;
        case Opcode::s_waitcnt_vscnt: {
            const bool of_register = inst.src[0].is(Operand::Kind::Sgpr);
            return (of_register ? read_s32(w, inst.src[0]) : 0) + (inst.src[1].value & 63);
        }
        default:
            return std::nullopt;
    }
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
