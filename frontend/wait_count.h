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

// gfx10 and later count vector stores by themselves; they also have the wider lgkmcnt.
inline bool counts_stores_apart(const Traits& traits) {
    return traits.wide_lgkmcnt;
}

// gfx12's waits that count vector memory, and where the counter stands in their constants.
struct VectorWait {
    Opcode op;
    uint8_t shift;
};
inline constexpr VectorWait vector_waits[] = {
    {Opcode::s_wait_loadcnt, 0},
    {Opcode::s_wait_storecnt, 0},
    {Opcode::s_wait_loadcnt_dscnt, 8},
    {Opcode::s_wait_storecnt_dscnt, 8},
};

// How many accesses to vector memory it leaves under way; nothing where it does not wait for them.
// gfx10 counts loads and stores apart; code waits for the stores by an instruction of their own,
// whose constant is added to a register.
inline std::optional<uint32_t> vector_accesses_left(const Target& target, const Inst& waitcnt) {
    const auto counter = [](uint32_t left) {
        return left == 63 ? std::nullopt : std::optional(left);
    };
    if (waitcnt.format == Format::SOPK) {
        if (waitcnt.op != Opcode::s_waitcnt_vmcnt && waitcnt.op != Opcode::s_waitcnt_vscnt)
            return std::nullopt;
        return waitcnt.src[0].is(Operand::Kind::Sgpr) ? 0 : waitcnt.src[1].value & 63;
    }
    for (const VectorWait& wait : vector_waits)
        if (waitcnt.op == wait.op)
            return counter(static_cast<uint32_t>(waitcnt.src[0].value) >> wait.shift & 63);
    if (waitcnt.op != Opcode::s_waitcnt && waitcnt.op != Opcode::s_wait_idle) return std::nullopt;
    const uint32_t left = wait_counts(target, static_cast<uint32_t>(waitcnt.src[0].value)).vm;
    if (left == wait_counts(target, 0xffff).vm) return std::nullopt;
    return left;
}

}  // namespace wj
