// What products in a wave are made of: rows of 16 columns, to which multiples of other rows are
// added.
#pragma once

#include <cstdint>

namespace wj::interp {

// 16 numbers of f32, or dwords of integers.
struct alignas(64) ElementRow {
    uint32_t column[16];
};

// Such rows, each so many dwords behind the first one.
template <class T>
struct RowsAt {
    T* first;
    const uint16_t* offsets;
    T* row(uint32_t i) const { return first + offsets[i]; }
};

// What is added to a sum in each step.
enum class ProductStep : uint8_t {
    Fused,    // a product of f32, with one rounding
    Rounded,  // a product of f32 that has been rounded
    Pairs,    // two products of 16-bit integers, of which each dword has two; sums wrap
};

// sums[i] = addends[i] + A[k][i] * B[k] for each i, in ascending k. Of NaN the first one stays, in
// the order A, B, sum; the sum is behind a rounded product. Sums and addends are the same rows, or
// do not overlap.
struct ProductRows {
    ProductStep step;
    uint32_t rows, steps;    // of sums, a multiple of 16; of k
    const ElementRow* a;     // A[k][i] is column i % 16 of row i / 16 + rows / 16 * k
    const ElementRow* b;     // B[k]
    const ElementRow* of_b;  // null, or where B's row for i and k begins: dword of_b[k].column[i]
    RowsAt<const uint32_t> addends;
    RowsAt<uint32_t> sums;
};
using SumProducts = void (*)(const ProductRows&);

void sum_products(const ProductRows& p);

}  // namespace wj::interp
