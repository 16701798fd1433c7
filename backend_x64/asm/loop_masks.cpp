// Lane masks that iterations hand on in scalar registers, and that chunks of a loop keep in mask
// registers (AVX2: vector registers) or, where there are too few, in slots of their own.
#include <algorithm>

#include "backend_x64/asm/block_compiler.h"

namespace wj::x64 {

using ir::Op;

void BlockCompiler::loop_load_mask(const MaskPin& p) {
    const int r = p.reg < 0 ? 1 : p.reg;
    load_mask(p.unit, r);
    if (p.reg < 0) move_spilled_mask(p.spill, r, true);
}

// The next value of a mask, at hand in a register, goes to where the next iteration expects it.
void BlockCompiler::loop_hand_on(const MaskPin& p) {
    UnitState& s = state(p.next);
    if (p.reg < 0) {
        move_spilled_mask(p.spill, s.reg, true);
        s.spill = p.spill;
        return;
    }
    if (avx512_)
        a_.kmovw(kreg(p.reg), kreg(s.reg));
    else
        mov(vec(p.reg), vec(s.reg));
    Unit* const owner = avx512_ ? k_owner_ : vec_owner_;
    owner[s.reg] = no_unit;
    owner[p.reg] = p.next;
    s.reg = static_cast<int8_t>(p.reg);
    state(p.unit).reg = -1;
}

// At once, if the mask that the iteration started with is needed no more.
void BlockCompiler::loop_mask_done(Unit u) {
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (const MaskPin& p : loop_.masks)
        if (p.next == u && p.chunk == loop_chunk_ &&
            state(p.unit).next == (p.reg < 0 ? no_use : count))
            loop_hand_on(p);
}

// The others when the iteration is over, as well as masks that leave the loop.
void BlockCompiler::loop_store_masks() {
    for (const MaskPin& p : loop_.masks) {
        if (p.chunk != loop_chunk_) continue;
        const UnitState& s = state(p.next);
        if (p.reg < 0 ? s.spill == p.spill : s.reg == p.reg) continue;
        avx512_ ? (void)use_k(p.next) : (void)use(p.next);
        loop_hand_on(p);
        vec_locked_ = k_locked_ = 0;
    }
    for (Unit u : divergent_masks_) {
        if (std::any_of(loop_.masks.begin(), loop_.masks.end(),
                        [&](const MaskPin& p) { return p.next == u; }))
            continue;
        avx512_ ? (void)use_k(u) : (void)use(u);
        store_bits(mask_mem(schedule_.unit_home(u)), state(u).reg);
        vec_locked_ = k_locked_ = 0;
    }
}

}  // namespace wj::x64
