#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

// The address of the first dword of a scalar memory instruction; for fault reports.
uint64_t scalar_address(const Wave& w, const Inst& inst);

// Of the clock with a constant frequency (machine/clock.h).
uint64_t real_time(const Wave& w);

}  // namespace wj::interp
