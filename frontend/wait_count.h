// What s_waitcnt waits for.
#pragma once

#include <cstdint>
#include <optional>

#include "frontend/inst.h"
#include "frontend/target.h"

namespace wj {

// How many accesses may still be under way: to vector memory, exports, and to the LDS, the GDS,
// constants and messages. The highest value of a counter waits for none.
struct WaitCounts {
    uint32_t vm, exp, lgkm;
    bool operator==(const WaitCounts&) const = default;
};

// From gfx9 on vmcnt has its two high bits at 14 (ISA documents, s_waitcnt).
inline WaitCounts wait_counts(const Target& target, uint32_t simm16) {
    if (target.traits.vm_highest) return {simm16 >> 10 & 63, simm16 & 7, simm16 >> 4 & 63};
    const uint32_t vm_high = target.traits.wide_vmcnt ? simm16 >> 14 & 3 : 0;
    return {(simm16 & 15) | vm_high << 4, simm16 >> 4 & 7,
            simm16 >> 8 & (target.traits.wide_lgkmcnt ? 63u : 15u)};
}

// How many accesses to vector memory it leaves under way; nothing where it does not wait for them.
// gfx10 counts loads and stores apart; code waits for the stores by an instruction of their own,
// whose constant is added to a register.
inline std::optional<uint32_t> vector_accesses_left(const Target& target, const Inst& waitcnt) {
    if (waitcnt.format == Format::SOPK) {
        if (waitcnt.op != Opcode::s_waitcnt_vmcnt && waitcnt.op != Opcode::s_waitcnt_vscnt)
            return std::nullopt;
        return waitcnt.src[0].is(Operand::Kind::Sgpr) ? 0 : waitcnt.src[1].value & 63;
    }
    const uint32_t left = wait_counts(target, static_cast<uint32_t>(waitcnt.src[0].value)).vm;
    if (left == wait_counts(target, 0xffff).vm) return std::nullopt;
    return left;
}

}  // namespace wj
