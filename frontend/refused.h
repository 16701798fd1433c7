// Instructions that engines refuse by an operand, though they run the row that it stands for.
#pragma once

#include <algorithm>

#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj {

// nullptr, or what is refused.
inline const char* refused_operand(const Traits& traits, const Inst& inst) {
    constexpr uint32_t pops_exiting_wave_id = 239;  // only graphics waves have one
    const bool pops = std::ranges::any_of(inst.src, [](const Operand& o) {
        return o.is(Operand::Kind::Special) && o.reg == pops_exiting_wave_id;
    });
    if (pops) return "src_pops_exiting_wave_id";
    if (inst.op == Opcode::global_load_tr_b128 && traits.waves_of_64)
        return "global_load_tr_b128: which lane gets which element is published for gfx12.5 only";
    const bool buffer = inst.format == Format::MUBUF || inst.format == Format::MTBUF ||
                        (inst.format == Format::SMEM && encoding_info(inst.op).v_sharp);
    if (buffer && traits.wide_buffers && effects(inst.op).bytes && inst.offset < 0)
        return "a negative offset in a buffer, which is a memory violation";
    return nullptr;
}

}  // namespace wj
