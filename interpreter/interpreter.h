// The reference interpreter: plain scalar C++ over decoded instructions, with a loop over lanes. It
// is the oracle that the translators are compared with, the baseline for speed figures, and the
// fallback for instructions that the translators do not lower.
#pragma once

#include <array>
#include <memory>

#include "frontend/inst.h"
#include "frontend/target.h"
#include "machine/engine.h"

namespace wj::machine {
class Hooks;
}

namespace wj::interp {

// Executes one instruction on the wave. wave.pc has already been advanced behind the instruction
// (so s_getpc, branches and calls use it as the hardware does); wave.exit.pc is set by the caller
// when the handler leaves wave.exit.kind != None. A handler that faults leaves destination
// registers unchanged.
using Handler = void (*)(machine::Wave& wave, const Inst& inst);

// nullptr: valid but refused (ExitKind::Unimplemented).
Handler handler(Opcode op);

// Recomputes the addresses of a memory instruction from the wave's registers (which a fault leaves
// as they were) and fills access, access_bytes, lane_mask and, when the signal named none, the
// address. For any other instruction it does nothing.
// `addresses`: the first faulting address of each lane of lane_mask.
void explain_fault(machine::Wave& wave, const Inst& inst, machine::ExitInfo& info,
                   std::array<uint64_t, machine::lanes>* addresses = nullptr);

// ExitInfo::reason of a wave that yields in front of an instruction which takes the interpreter
// microseconds.
extern const char slow_instruction[];
// Of one that one of the hooks has stopped (ExitKind::Halt).
extern const char stopped_by_hook[];

struct Options {
    // Waves yield in front of matrix instructions, with slow_instruction as the reason, instead of
    // running them.
    bool yields_to_slow = false;
    // Called in front of each instruction; for waves that have a work-group. Not owned.
    machine::Hooks* hooks = nullptr;
};

std::unique_ptr<machine::Engine> make_interpreter(const Target& target,
                                                  const Options& options = {});

}  // namespace wj::interp
