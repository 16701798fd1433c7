// What ExitInfo::reason says of accesses that are not just to memory that is not there: engines say
// the same.
#pragma once

namespace wj::memory {

inline constexpr const char* misaligned_atomic = "misaligned atomic";
inline constexpr const char* beyond_private_segment = "beyond the private segment";
// Of checkers (machine/checks.h).
inline constexpr const char* beyond_lds = "beyond the work-group's LDS";
inline constexpr const char* unwritten_lds = "nobody has written this LDS";
inline constexpr const char* raced_with_write =
    "race: another wave has written it since the last barrier";
inline constexpr const char* raced_with_read =
    "race: another wave has read it since the last barrier";

}  // namespace wj::memory
