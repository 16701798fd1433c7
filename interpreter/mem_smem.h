#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

// The address of the first dword of a scalar memory instruction; for fault reports.
uint64_t scalar_address(const Wave& w, const Inst& inst);

}  // namespace wj::interp
