// Where the elements of matrix operands lie.
#pragma once

#include "interpreter/internal.h"

namespace wj::interp {

using u32 = uint32_t;

// Where the elements of k start in rows of 64 lanes, one row per item (mfma.cpp has the layout); n
// is M or N.
constexpr u32 matrix_offset(u32 n, u32 K, u32 blocks, u32 k) {
    const u32 items = K * n * blocks / 64;
    return k % items * 64 + n * blocks * (k / items);
}

}  // namespace wj::interp
