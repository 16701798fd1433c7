// The pages that addresses lie in.
#pragma once

#include "memory/address_space.h"

namespace wj::memory {

inline constexpr uint64_t guest_limit = uint64_t{1} << 48;  // of addresses

constexpr uint64_t page_floor(uint64_t address) {
    return address & ~(page_size - 1);
}
constexpr uint64_t page_ceil(uint64_t address) {
    return page_floor(address + page_size - 1);
}

}  // namespace wj::memory
