#include "machine/interrupt.h"

#include <immintrin.h>

#include <atomic>

namespace wj::machine {
namespace {

std::atomic<InterruptHandler> installed{nullptr};

}  // namespace

void set_interrupt_handler(InterruptHandler handler) {
    installed.store(handler);
}

void raise_interrupt(uint32_t event) {
    const InterruptHandler handler = installed.load();
    if (!handler) return;
    _mm_mfence();  // streaming stores, too
    handler(event);
}

}  // namespace wj::machine
