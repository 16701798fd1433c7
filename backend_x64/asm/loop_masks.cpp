// Lane masks that iterations hand on in scalar registers, and that chunks of a loop keep in mask
// registers (AVX2: vector registers) or, where there are too few, in slots of their own.
#include <algorithm>

#include "backend_x64/asm/loop_code.h"

namespace wj::x64 {

using ir::Op;

void BlockCompiler::LoopCode::load_mask(const MaskPin& p) const {
    const int r = p.reg < 0 ? 1 : p.reg;
    c_.load_mask(p.unit, r);
    if (p.reg < 0) c_.move_spilled_mask(p.spill, r, true);
}

// The next value of a mask, at hand in a register, goes to where the next iteration expects it.
void BlockCompiler::LoopCode::hand_on(const MaskPin& p) const {
    UnitState& s = c_.state(p.next);
    if (p.reg < 0) {
        c_.move_spilled_mask(p.spill, s.reg, true);
        s.spill = p.spill;
        return;
    }
    if (c_.avx512_)
        a_.kmovw(c_.kreg(p.reg), c_.kreg(s.reg));
    else
        mov(vec(p.reg), vec(s.reg));
    Unit* const owner = c_.avx512_ ? c_.k_owner_ : c_.vec_owner_;
    owner[s.reg] = no_unit;
    owner[p.reg] = p.next;
    s.reg = static_cast<int8_t>(p.reg);
    c_.state(p.unit).reg = -1;
}

// At once, if the mask that the iteration started with is needed no more.
void BlockCompiler::LoopCode::mask_done(Unit u) const {
    const auto count = static_cast<uint32_t>(schedule_.end(1) - schedule_.begin(1));
    for (const MaskPin& p : loop_.pins.masks)
        if (p.next == u && p.chunk == loop_.chunk &&
            c_.state(p.unit).next == (p.reg < 0 ? no_use : count))
            hand_on(p);
}

// The others when the iteration is over, as well as masks that leave the loop.
void BlockCompiler::LoopCode::store_masks() const {
    for (const MaskPin& p : loop_.pins.masks) {
        if (p.chunk != loop_.chunk) continue;
        const UnitState& s = c_.state(p.next);
        if (p.reg < 0 ? s.spill == p.spill : s.reg == p.reg) continue;
        c_.avx512_ ? (void)c_.use_k(p.next) : (void)c_.use(p.next);
        hand_on(p);
        c_.vec_locked_ = c_.k_locked_ = 0;
    }
    for (Unit u : plan_.masks_out) {
        if (std::any_of(loop_.pins.masks.begin(), loop_.pins.masks.end(),
                        [&](const MaskPin& p) { return p.next == u; }))
            continue;
        c_.avx512_ ? (void)c_.use_k(u) : (void)c_.use(u);
        c_.store_bits(c_.mask_mem(schedule_.unit_home(u)), c_.state(u).reg);
        c_.vec_locked_ = c_.k_locked_ = 0;
    }
}

}  // namespace wj::x64
