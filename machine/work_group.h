// A work-group while it is resident: what its waves have in common.
#pragma once

#include <array>
#include <cstdint>

#include "machine/wave.h"

namespace wj::machine {

struct GroupShadow;  // machine/group_shadow.h

struct WorkGroup {
    Wave* waves = nullptr;
    uint32_t wave_count = 0;
    std::array<uint32_t, 3> id{};    // work-group id
    std::array<uint32_t, 3> size{};  // work-items in each dimension; smaller at the grid's end
    uint64_t linear_id = 0;
    GroupShadow* shadow = nullptr;  // with checkers
};

}  // namespace wj::machine
