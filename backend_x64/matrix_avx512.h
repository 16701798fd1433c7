// Matrix instructions for AVX-512: the interpreter's frame with tiles of 16 columns a register.
#pragma once

#include "interpreter/interpreter.h"
#include "interpreter/product_rows.h"

namespace wj::x64 {

// The interpreter's handlers, matrix instructions apart.
interp::Handler handler_avx512(Opcode op);
// The same, with dot products of bf16 or without.
interp::Handler handler_avx512_with(Opcode op, bool bf16_products);

// As interp::sum_products: what products in a wave are added up by.
void sum_products_avx512(const interp::ProductRows& p);

}  // namespace wj::x64
