// Matrix instructions for AVX-512: the interpreter's frame with tiles of 16 columns a register.
#pragma once

#include "interpreter/interpreter.h"

namespace wj::x64 {

// The interpreter's handlers, matrix instructions apart.
interp::Handler handler_avx512(Opcode op);
// The same, with dot products of bf16 or without.
interp::Handler handler_avx512_with(Opcode op, bool bf16_products);

}  // namespace wj::x64
