// An order of the numbers below a count, chosen by a random number: every k-th one from some place
// on, where k has no divisor in common with the count.
#pragma once

#include <cstdint>
#include <numeric>

#include "common/mix.h"

namespace wj::runtime {

class Shuffle {
public:
    Shuffle() = default;  // leaves all as they are
    Shuffle(uint64_t count, uint64_t random) : count_(count) {
        if (!count) return;
        first_ = mix(random) % count;
        step_ = mix(random + 1) % count;
        while (std::gcd(step_, count) != 1) step_ = (step_ + 1) % count;
    }
    // The product of two numbers below the count may need more than 64 bits.
    uint64_t operator()(uint64_t index) const {
        if (!count_) return index;
        return static_cast<uint64_t>((static_cast<unsigned __int128>(index) * step_ + first_) %
                                     count_);
    }

private:
    uint64_t count_ = 0, first_ = 0, step_ = 1;
};

}  // namespace wj::runtime
