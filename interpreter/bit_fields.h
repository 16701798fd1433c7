// Elements that lie in dwords without gaps.
#pragma once

#include <cstdint>

namespace wj::interp {

// Bits [at, at + bits) of a row of dwords.
inline uint32_t get_field(const uint32_t* row, uint32_t at, uint32_t bits) {
    uint64_t window = row[at / 32];
    if (at % 32 + bits > 32) window |= uint64_t{row[at / 32 + 1]} << 32;
    return static_cast<uint16_t>(window >> at % 32 & ((1u << bits) - 1));
}

}  // namespace wj::interp
