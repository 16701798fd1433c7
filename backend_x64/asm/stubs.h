// The fixed pieces of host code: entering and leaving translated code, calls of C++ helpers,
// indirect jumps.
#pragma once

#include <cstdint>

#include "backend_x64/code_buffer.h"
#include "backend_x64/frame.h"

namespace wj::x64 {

struct Stubs {
    // Runs translated code at `entry`; returns a Leave or ExitKind.
    uint32_t (*enter)(machine::Wave* wave, Frame* frame, const void* entry) = nullptr;
    const void *link = nullptr, *budget = nullptr, *call = nullptr, *leave = nullptr,
               *turn = nullptr, *indirect = nullptr, *memory = nullptr, *division = nullptr,
               *uload32 = nullptr, *uload64 = nullptr, *again = nullptr, *ahead = nullptr,
               *fewer = nullptr, *even_row = nullptr, *together = nullptr, *step = nullptr,
               *step_ids = nullptr, *settle = nullptr, *shapes = nullptr, *access = nullptr,
               *gather = nullptr, *spread = nullptr, *regather = nullptr, *rows = nullptr,
               *open_rows = nullptr, *store_rows = nullptr;
    // Where faults of `rows` and `open_rows`, which lie in front, go on.
    const void* rows_failed = nullptr;
};

// False when the buffer is full or the assembler failed.
bool make_stubs(CodeBuffer& buffer, bool avx512, uint32_t wave_size, Stubs& out);

}  // namespace wj::x64
