#pragma once

#include <optional>

#include "interpreter/internal.h"

namespace wj::interp {

// The address of the first dword of a scalar memory instruction; for fault reports.
uint64_t scalar_address(const Wave& w, const Inst& inst);

// The same address before the low bits of its parts are left out, if one of them has any; or
// nothing.
std::optional<uint64_t> misaligned_scalar_address(const Wave& w, const Inst& inst);

}  // namespace wj::interp
