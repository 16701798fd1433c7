// What the name of the device says of it, whatever the runtime under test reports.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdlib>

#include "examples/check.h"

// N of gfxN: 8 for gfx803, 10 for gfx1030.
inline int generation() {
    hipDeviceProp_t p;
    HIP_CHECK(hipGetDeviceProperties(&p, 0));
    return int(std::strtol(p.gcnArchName + 3, nullptr, 16) >> 8);
}

// hipcc compiles for waves of 64 lanes up to gfx9, of 32 since.
inline int lanes_of_a_wave() {
    return generation() >= 0x10 ? 32 : 64;
}
