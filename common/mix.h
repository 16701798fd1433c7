// Numbers without a pattern, from a seed.
#pragma once

#include <cstdint>

namespace wj {

// The finalizer of splitmix64.
constexpr uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

// splitmix64: the next number; `state` is the seed at first.
constexpr uint64_t next_random(uint64_t& state) {
    return mix(state += 0x9e3779b97f4a7c15);
}

}  // namespace wj
