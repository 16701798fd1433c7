// Products in a wave of gfx11 and gfx12.
#pragma once

#include <cmath>

#include "interpreter/internal.h"

namespace wj::interp {

std::span<const HandlerEntry> wmma_handlers();         // wmma.cpp
std::span<const HandlerEntry> wmma_scaled_handlers();  // wmma_scaled.cpp: operands of 4 to 8 bits

// Rows and columns of a matrix, but for those that are said to have 32 rows.
inline constexpr uint32_t wmma_edge = 16;

// Where row i and column j of C and D lie on gfx12, in a wave of `size` lanes (RDNA4 ISA, 7.12.2).
struct WmmaPlace {
    uint32_t item, lane;
};
inline WmmaPlace wmma_place(uint32_t size, uint32_t i, uint32_t j) {
    if (size == 32) return {i % 8, j + 16 * (i / 8)};
    return {i % 4, j + 16 * (i / 8) + 32 * (i / 4 % 2)};
}

// The addend of a product of floats, which may be a magnitude and then be negated.
inline float wmma_addend(const Inst& in, float c) {
    if (in.neg_hi >> 2 & 1) c = std::fabs(c);
    return in.neg >> 2 & 1 ? -c : c;
}

// gfx12.5, both true where the wave was stopped: with FP16_OVFL what becomes too large, or was
// infinite, is the largest number, also of integers; signs of A and B "must be set to zero" (CDNA5
// ISA, 7.12).
bool refuse_ovfl_product(Wave& w);
bool refuse_signed_factors(Wave& w, const Inst& in);

}  // namespace wj::interp
