// A work-group while it is resident: what its waves have in common.
#pragma once

#include <array>
#include <cstdint>

#include "machine/checks.h"
#include "machine/wave.h"

namespace wj::machine {

struct WorkGroup {
    Wave* waves = nullptr;
    uint32_t wave_count = 0;
    std::array<uint32_t, 3> id{};    // work-group id
    std::array<uint32_t, 3> size{};  // work-items in each dimension; smaller at the grid's end
    uint64_t linear_id = 0;
    LdsShadow* shadow = nullptr;  // with checks of LDS (checks.h)
};

}  // namespace wj::machine
