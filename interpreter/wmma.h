// Products in a wave of gfx11 and gfx12.
#pragma once

#include "interpreter/internal.h"
#include "interpreter/product_rows.h"

namespace wj::interp {

std::span<const HandlerEntry> wmma_handlers();         // wmma.cpp
std::span<const HandlerEntry> wmma_scaled_handlers();  // wmma_scaled.cpp: operands of 4 to 8 bits

void wmma(Wave& w, const Inst& in);
void wmma_scaled(Wave& w, const Inst& in);
// What these do, with another way to add products up that gives the same bits.
void multiply_in_wave(Wave& w, const Inst& in, SumProducts sum);
void multiply_scaled_in_wave(Wave& w, const Inst& in, SumProducts sum);

// Rows and columns of a matrix, but for those that are said to have 32 rows.
inline constexpr uint32_t wmma_edge = 16;

// Where row i and column 0 of C and D lie on gfx12, in a wave of `size` lanes (RDNA4 ISA, 7.12.2).
// The other columns are in the lanes behind.
struct WmmaPlace {
    uint32_t item, lane;
};
constexpr WmmaPlace wmma_place(uint32_t size, uint32_t i) {
    if (size == 32) return {i % 8, 16 * (i / 8)};
    return {i % 4, 16 * (i / 8) + 32 * (i / 4 % 2)};
}

// The addends of a product of floats, which may be magnitudes and then be negated.
void modify_addends(const Inst& in, std::span<ElementRow> sums);

// gfx12.5: with FP16_OVFL what becomes too large, or was infinite, is the largest number, also of
// integers. Why that is refused, else null.
const char* refused_mode(const Wave& w);

}  // namespace wj::interp
