// Fault records: what stopped a dispatch, in terms of the kernel's source, code and memory.
#pragma once

#include "machine/checks.h"
#include "runtime/dispatch.h"

namespace wj::runtime {

// As WAVEJIT_CHECK and reports have them.
inline constexpr std::pair<const char*, machine::Check> check_names[] = {
    {"memory", machine::check_memory},     {"init", machine::check_init},
    {"race", machine::check_race},         {"barrier", machine::check_barrier},
    {"waitcnt", machine::check_waitcnt},   {"alignment", machine::check_alignment},
    {"division", machine::check_division}, {"unaligned", machine::check_unaligned},
    {"inexact", machine::check_inexact},
};
const char* check_name(machine::Check check);

// Wave `wave` of `group` stopped with wave.exit.
FaultRecord stop_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                        GroupContext& group, uint32_t wave);
// What a checker has found of `wave`, whose registers are those in front of the instruction.
FaultRecord finding_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                           const machine::Wave& wave, const machine::Finding& finding);
FaultRecord timeout_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                           GroupContext& group, bool time, uint64_t elapsed_ns,
                           uint64_t instructions);
// Waves of `group` have ended while all others wait at a barrier.
FaultRecord missed_barrier_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                                  GroupContext& group);
// A wave has ended that must not have, by the work-group's `misuse`.
FaultRecord misuse_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                          GroupContext& group);
FaultRecord deadlock_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                            GroupContext& group);

}  // namespace wj::runtime
