// Which layout a target's buffer descriptors have.
#pragma once

#include "frontend/target.h"
#include "machine/buffer_descriptor.h"

namespace wj {

constexpr machine::BufferLayout buffer_layout(const Traits& t) {
    using enum machine::BufferLayout;
    if (t.wide_buffers) return Gfx125;
    if (t.buffer_elements) return t.buffer_records == BufferRecords::Gfx6 ? Gfx6 : Gfx8;
    return t.gfx11_buffers ? Gfx11 : t.unified_formats ? Gfx10 : Gfx9;
}

}  // namespace wj
