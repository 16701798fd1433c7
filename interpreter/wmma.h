// Products in a wave of gfx11 and gfx12.
#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

std::span<const HandlerEntry> wmma_handlers();

}  // namespace wj::interp
