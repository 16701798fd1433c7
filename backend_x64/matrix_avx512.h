// Matrix instructions for AVX-512: the interpreter's frame with tiles of 16 columns a register.
#pragma once

#include "interpreter/interpreter.h"

namespace wj::x64 {

// The interpreter's handlers, matrix instructions apart.
interp::Handler handler_avx512(Opcode op);

}  // namespace wj::x64
