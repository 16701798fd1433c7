// Vector registers above v255 (CDNA5 ISA 3.3.2.3): an operand's number gets two bits more from a
// byte that s_set_vgpr_msb sets, those of source 0, 1 and 2 and of the destination, from the lowest
// on.
#pragma once

#include <cstdint>

#include "frontend/hwreg_field.h"
#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj {

inline constexpr uint32_t named_vgprs = 256;  // that operands name by themselves

// Adds the bits to the numbers of the vector registers of `inst`.
void add_vgpr_msb(Inst& inst, uint8_t msb);

// MODE has the destination's bits lowest.
constexpr uint32_t mode_of_vgpr_msb(uint8_t msb) {
    return (uint32_t{msb} << 2 | uint32_t{msb} >> 6) & 0xff;
}
constexpr uint8_t vgpr_msb_of_mode(uint32_t field) {
    return static_cast<uint8_t>((field & 0xff) >> 2 | (field & 3) << 6);
}
inline constexpr uint32_t mode_vgpr_msb_shift = 12;

// The byte behind `inst`, as far as its words tell: a register's value in MODE is the handler's.
inline uint8_t next_vgpr_msb(const Inst& inst, uint8_t msb, const Traits& traits) {
    if (inst.op == Opcode::s_set_vgpr_msb) return static_cast<uint8_t>(inst.src[0].value);
    if (traits.vgpr_msb == VgprMsbRule::AnyConstant && inst.op == Opcode::s_setreg_imm32_b32 &&
        HwregField(inst.src[0].value).id == hwreg_mode)
        return vgpr_msb_of_mode(static_cast<uint32_t>(inst.src[1].value) >> mode_vgpr_msb_shift);
    return msb;
}

}  // namespace wj
