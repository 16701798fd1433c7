// Interrupts that kernels raise for the host: s_sendmsg with MSG_INTERRUPT.
#pragma once

#include <cstdint>

namespace wj::machine {

// `event`: the low 8 bits of M0. Called on the thread that runs the wave, between two of its
// instructions, when what the wave has stored before can be seen by all; must neither wait for
// guest code nor throw.
using InterruptHandler = void (*)(uint32_t event);

void set_interrupt_handler(InterruptHandler handler);  // of the process; null = nobody listens
void raise_interrupt(uint32_t event);

}  // namespace wj::machine
