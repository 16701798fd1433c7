// What ExitInfo::reason says of accesses that are not just to memory that is not there: engines say
// the same.
#pragma once

namespace wj::memory {

inline constexpr const char* misaligned_atomic = "misaligned atomic";
inline constexpr const char* beyond_private_segment = "beyond the private segment";

}  // namespace wj::memory
