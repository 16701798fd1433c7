// Loads that transpose what lanes read.
#pragma once

#include <array>

#include "interpreter/bit_fields.h"
#include "interpreter/internal.h"

namespace wj::interp {

// Every so many lanes as there are columns have read a block of rows, lane k * n + i elements of
// row k, and get it transposed: lane m receives column m.
template <uint32_t Bits, uint32_t Columns, size_t Dwords>
void write_transposed(Wave& w, const Inst& inst, const std::array<uint32_t, Dwords>* read) {
    constexpr uint32_t count = Dwords * 32 / Bits, lanes_per_row = Columns / count;
    alignas(64) uint32_t values[Dwords][lanes] = {};
    for (uint32_t lane = 0; lane < w.size; ++lane) {
        const uint32_t column = lane % Columns;
        for (uint32_t k = 0; k < count; ++k) {
            const uint32_t from = lane - column + k * lanes_per_row + column / count;
            const uint32_t element = get_field(read[from].data(), lane % count * Bits, Bits);
            const uint32_t bit = k * Bits;
            values[bit / 32][lane] |= element << bit % 32;
            if (bit % 32 + Bits > 32) values[bit / 32 + 1][lane] |= element >> (32 - bit % 32);
        }
    }
    for (uint32_t d = 0; d < Dwords; ++d) write_row(vrow(w, inst.dst[0], d), values[d], w.exec());
}

}  // namespace wj::interp
