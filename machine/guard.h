// Turns host signals raised by guest memory accesses (identity mode) into ExitKind::MemoryFault.
//
// The process-wide handler for SIGSEGV and SIGBUS is installed on request of the embedder
// (install_fault_handler), runs on an alternate stack of each worker, and passes every signal that
// is not ours on to the handler that was there before. A fault is ours when the thread has an
// active guard frame, except what no guest access can cause: signals from kill(), instruction
// fetches, and addresses near the host stack pointer.
#pragma once

#include <immintrin.h>

#include <csetjmp>
#include <cstdint>
#include <type_traits>

#include "machine/wave.h"

namespace wj::machine {

// Maps a host code address inside translated code to the guest PC; returns false when the address
// is not in translated code. Must be async-signal-safe. `context` is the ucontext_t of the signal.
// Registered by translators. With out.kind None the thread goes on at the context's program
// counter, which it may have changed.
using PcLookup = bool (*)(void* engine, uintptr_t host_pc, void* context, Wave& wave,
                          ExitInfo& out);

struct GuardFrame {
    sigjmp_buf env;
    Wave* wave;
    void* engine;     // for lookup
    PcLookup lookup;  // null, or false returned: wave.exit.pc, which the engine stores before every
                      // instruction that may fault outside translated code, names the instruction
    GuardFrame* previous;
    uint32_t mxcsr;  // rounding and denormal modes at entry
};

// Idempotent: when another handler has been installed over ours since, ours goes on top again and
// chains to it. Also gives the calling thread its alternate signal stack
// (prepare_thread_for_faults).
bool install_fault_handler();
void prepare_thread_for_faults();
// Before guest code runs whose faults the handler is to see: unblocks their signals for the calling
// thread, as a blocked one ends the process without a word, and looks whether the program has
// installed a handler over ours since.
void expect_faults();
GuardFrame*& current_guard();  // thread-local

// Runs body(wave), or body(wave, frame) if it goes on to other waves and says so in frame.wave,
// with guest faults caught. On a fault wave.exit is filled (kind, access, address,
// pc) and MemoryFault returned. `body` must hold no objects with destructors while it touches guest
// memory.
template <class Body>
ExitKind run_guarded(Wave& wave, void* engine, PcLookup lookup, Body&& body) {
    GuardFrame frame;
    frame.wave = &wave;
    frame.engine = engine;
    frame.lookup = lookup;
    frame.previous = current_guard();
    frame.mxcsr = _mm_getcsr();
    if (sigsetjmp(frame.env, 0) == 0) {
        current_guard() = &frame;
        ExitKind kind;
        if constexpr (std::is_invocable_v<Body, Wave&, GuardFrame&>)
            kind = body(wave, frame);
        else
            kind = body(wave);
        current_guard() = frame.previous;
        return kind;
    }
    current_guard() = frame.previous;
    _mm_setcsr(frame.mxcsr);
    return frame.wave->exit.kind;
}

}  // namespace wj::machine
