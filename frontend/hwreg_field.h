// The bits of a hardware register that s_getreg and s_setreg name.
#pragma once

#include <cstdint>

namespace wj {

inline constexpr uint32_t hwreg_mode = 1;

struct HwregField {
    uint32_t id, offset, size;  // bits
    explicit constexpr HwregField(uint64_t simm16)
        : id(simm16 & 63), offset(simm16 >> 6 & 31), size((simm16 >> 11 & 31) + 1) {}
    constexpr uint32_t last() const { return offset + size - 1; }
    constexpr uint32_t mask() const {  // behind `offset`
        return static_cast<uint32_t>((uint64_t{1} << size) - 1);
    }
};

}  // namespace wj
