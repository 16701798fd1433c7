// The counter that s_memrealtime reads.
#pragma once

#include <cstdint>

namespace wj::machine {

// Of the reference clock of gfx9, in hertz; it does not depend on the core's clock (SEED-SMEM-29).
// Agents advertise it (HSA_AMD_AGENT_INFO_TIMESTAMP_FREQUENCY), HIP as
// hipDeviceAttributeWallClockRate.
inline constexpr uint64_t reference_clock_hz = 100'000'000;

}  // namespace wj::machine
