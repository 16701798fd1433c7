// Stores of one dword by all lanes of a wave to the columns of a matrix: work-items of a row write
// far from each other, those of a column side by side, as when tiles are transposed. One lane after
// the other every store would miss the first-level cache, where columns fight for the same sets;
// here each work-item's column is written at once. Where a store is the last thing that a program
// does with memory, it is held back until the waves behind have come to theirs, so that columns of
// several waves are written at once: no wave may rely on when it is done.
#pragma once

#include "backend_x64/frame.h"

namespace wj::x64 {

struct ColumnStore {
    uint64_t pc = 0;
    int64_t offset = 0;
    // Offsets from Frame::address_base, in rows of 64: lower and upper halves, or the qwords of
    // lanes 0 1 4 5 8 9 ... and 2 3 6 7 10 11 ... Or only how far each lane is from the one in
    // front of it, a uint32_t; the first one's offset is 0.
    enum class Form : uint32_t { Halves, Qwords, Step } form = Form::Halves;
    uint16_t site = 0;  // in Frame::columns_wait
    uint8_t last = 0;   // may be held back
    uint8_t wide = 0;   // the host has AVX-512
};

// How many waves a place goes without this after one whose lanes are no columns.
inline constexpr uint8_t column_patience = 64;

// Does all of it, or nothing (false) when the lanes are no columns of 8, 16 or 32 work-items a row
// (or all of one, held back, also where so many waves together have a row of 64). What is held back
// is done later, by a call for another wave or by write_held_columns().
bool store_columns(machine::Wave& wave, Frame& frame, const ColumnStore& store, const void* first,
                   const void* second, const uint32_t* data);

// To be called before translated code is left for good or dropped. `wave`: for fault reports.
void write_held_columns(machine::Wave& wave, Frame& frame);

}  // namespace wj::x64
