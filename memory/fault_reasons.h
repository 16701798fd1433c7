// What ExitInfo::reason says of accesses that are not just to memory that is not there: engines say
// the same.
#pragma once

namespace wj::memory {

inline constexpr const char* misaligned_atomic = "misaligned atomic";
inline constexpr const char* beyond_private_segment = "beyond the private segment";
inline constexpr const char* refused_by_hook = "the hook of these pages refuses it";
// Of checkers (machine/checks.h).
inline constexpr const char* beyond_lds = "beyond the work-group's LDS";
inline constexpr const char* unwritten_lds = "nobody has written this LDS";
inline constexpr const char* raced_with_write =
    "race: another wave has written it since the last barrier";
inline constexpr const char* raced_with_read =
    "race: another wave has read it since the last barrier";
inline constexpr const char* unordered_with_write =
    "race: another wave has written it, and nothing orders the two";
inline constexpr const char* unordered_with_read =
    "race: another wave has read it, and nothing orders the two";
inline constexpr const char* lanes_disagree =
    "race: lanes of the wave store different values there at once";
inline constexpr const char* no_multiple =
    "the address is no multiple of the element's size: it works in the mode that ROCm sets only, "
    "for which compilers make such accesses of those of bytes";
inline constexpr const char* dropped_address_bits =
    "the address is no multiple of the element's size: scalar accesses leave out its low bits";
inline constexpr const char* divided_by_zero = "an integer is divided by zero";
inline constexpr const char* used_before_wait = "is used before the s_waitcnt that its load needs";
inline constexpr const char* waits_by_another_name =
    "s_barrier_wait names another barrier than the one that the wave has joined last, for which it "
    "waits";
inline constexpr const char* joins_without_wait =
    "a named barrier is joined, and the wave neither waits for it nor leaves it";
inline constexpr const char* under_way_at_barrier =
    "memory operations are under way at s_barrier, which this processor does not allow";
inline constexpr const char* unwritten_memory =
    "an atomic operation goes by what is there, and nobody has written it";
inline constexpr const char* unwritten_address =
    "is a part of an address, and nobody has written it";
inline constexpr const char* unwritten_data =
    "is stored to global memory, and nobody has written it";
inline constexpr const char* unwritten_condition =
    "decides where the wave goes on, and nobody has written it";
inline constexpr const char* unwritten_lanes =
    "decides which lanes are on, and nobody has written it";
inline constexpr const char* inexact_address =
    "is a part of an address, and follows from a result that is not exact";
inline constexpr const char* inexact_condition =
    "decides where the wave goes on, and follows from a result that is not exact";
inline constexpr const char* inexact_lanes =
    "decides which lanes are on, and follows from a result that is not exact";
// Not of a fault: a wave yields, to go on where its registers are watched.
inline constexpr const char* watched_from_here = "loads memory that nobody has written";

}  // namespace wj::memory
