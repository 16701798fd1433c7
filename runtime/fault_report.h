// Fault records: what stopped a dispatch, in terms of the kernel's source, code and memory.
#pragma once

#include "runtime/dispatch.h"

namespace wj::runtime {

// Wave `wave` of `group` stopped with wave.exit.
FaultRecord stop_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                        GroupContext& group, uint32_t wave);
FaultRecord timeout_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                           GroupContext& group, bool time, uint64_t elapsed_ns,
                           uint64_t instructions);
// Waves of `group` have ended while all others wait at a barrier.
FaultRecord missed_barrier_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                                  GroupContext& group);
FaultRecord deadlock_report(const memory::AddressSpace& memory, const DispatchState& dispatch,
                            GroupContext& group);

}  // namespace wj::runtime
