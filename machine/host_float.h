// The floating-point environment that guest code runs in on the host.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace wj::machine {

// Rounding to nearest even, denormals kept, no exception traps, for this object's lifetime: the
// thread of the program that runs guest code may have others (fesetround, -ffast-math).
class HostFloatEnvironment {
public:
    HostFloatEnvironment() : saved_(_mm_getcsr()) {
        if (saved_ != power_on) _mm_setcsr(power_on);
    }
    ~HostFloatEnvironment() {
        if (saved_ != power_on) _mm_setcsr(saved_);
    }
    HostFloatEnvironment(const HostFloatEnvironment&) = delete;
    HostFloatEnvironment& operator=(const HostFloatEnvironment&) = delete;

private:
    static constexpr uint32_t power_on = 0x1f80;  // MXCSR (Intel SDM vol. 1, 10.2.3)
    uint32_t saved_;
};

}  // namespace wj::machine
