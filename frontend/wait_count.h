// What s_waitcnt waits for.
#pragma once

#include <cstdint>

#include "frontend/inst.h"

namespace wj {

// How many accesses to vector memory may still be under way (vmcnt): SIMM16[3:0] and, above them,
// [15:14] (Vega ISA manual). `any_vector_accesses`: it waits for none.
inline constexpr uint32_t any_vector_accesses = 63;
inline uint32_t vector_accesses(const Inst& waitcnt) {
    const auto simm = static_cast<uint32_t>(waitcnt.src[0].value);
    return (simm & 15) | (simm >> 14 & 3) << 4;
}

}  // namespace wj
