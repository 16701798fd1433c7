// What a program's GPUs are to be, of the drop-in (hsa/) and of `wavejit run`, which starts it.
#pragma once

#include <cstdint>

#include "runtime/device.h"

namespace wj::runtime {

struct ProgramOptions {
    DeviceOptions device;     // of each GPU
    uint32_t agents = 1;      // GPUs
    uint64_t timeout_ns = 0;  // of each kernel; 0 = none

    // By the WAVEJIT_ variables. An error names what is wrong, or what does not go together.
    static Result<ProgramOptions> from_environment(const DeviceOptions& base);
};

}  // namespace wj::runtime
