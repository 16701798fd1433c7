#include "runtime/wave_start.h"

#include <bit>
#include <cstddef>

namespace wj::runtime {
namespace {

using machine::Wave;

constexpr size_t line_bytes = 64, row_lines = machine::lanes * 4 / line_bytes;
constexpr uint32_t line_sgprs = line_bytes / 4;
// SGPRs from here on are always copied, with the rest of the state: FLAT_SCRATCH, VCC, M0, EXEC.
constexpr uint32_t always_from = 96, optional_lines = always_from / line_sgprs;
constexpr size_t head_lines = offsetof(Wave, sgpr) / line_bytes;
constexpr size_t wave_lines = sizeof(Wave) / line_bytes;
static_assert(offsetof(Wave, sgpr) % line_bytes == 0 && sizeof(Wave) % line_bytes == 0);

using Wide [[gnu::vector_size(64), gnu::may_alias]] = uint64_t;
using Narrow [[gnu::vector_size(32), gnu::may_alias]] = uint64_t;

// Translated code loads what is written here in whole vectors at once: it waits for narrower
// stores. The empty statements keep the compiler from calling memcpy and memset instead.
template <class Vector>
[[gnu::always_inline]] inline void copy_lines(void* to, const void* from, size_t count) {
    for (size_t i = 0; i < count * line_bytes / sizeof(Vector); i++) {
        static_cast<Vector*>(to)[i] = static_cast<const Vector*>(from)[i];
        asm("" ::: "memory");
    }
}
template <class Vector>
[[gnu::always_inline]] inline void clear_lines(void* to, size_t count) {
    for (size_t i = 0; i < count * line_bytes / sizeof(Vector); i++) {
        static_cast<Vector*>(to)[i] = Vector{};
        asm("" ::: "memory");
    }
}
template <class Vector>
[[gnu::always_inline]] inline void copy_ids(uint32_t which, const uint8_t* ids, uint8_t* rows) {
    for (; which; which &= which - 1) {
        const size_t at = static_cast<size_t>(std::countr_zero(which)) * row_lines * line_bytes;
        copy_lines<Vector>(rows + at, ids + at, row_lines);
    }
}

void copy_ids_avx2(uint32_t which, const uint8_t* ids, uint8_t* rows) {
    copy_ids<Narrow>(which, ids, rows);
}
[[gnu::target("avx512f")]] void copy_ids_avx512(uint32_t which, const uint8_t* ids, uint8_t* rows) {
    copy_ids<Wide>(which, ids, rows);
}
void clear_avx2(uint8_t* memory, size_t bytes) {
    clear_lines<Narrow>(memory, (bytes + line_bytes - 1) / line_bytes);
}
[[gnu::target("avx512f")]] void clear_avx512(uint8_t* memory, size_t bytes) {
    clear_lines<Wide>(memory, (bytes + line_bytes - 1) / line_bytes);
}

}  // namespace

WaveStart::WaveStart(const LaunchPlan& plan, bool wide)
    : write_(wide ? &write_avx512 : &write_avx2),
      write_ids_(wide ? &copy_ids_avx512 : &copy_ids_avx2),
      clear_(wide ? &clear_avx512 : &clear_avx2),
      scalar_lines_(optional_lines),
      ids_((1u << plan.id_rows) - 1) {
    for (Zeros& zeros : zeros_) {
        zeros.count = 1;
        zeros.rows[0] = {plan.id_rows, plan.vgpr_rows - plan.id_rows};
    }
}

WaveStart::WaveStart(const LaunchPlan& plan, bool wide, const machine::Needs& live)
    : write_(wide ? &write_avx512 : &write_avx2),
      write_ids_(wide ? &copy_ids_avx512 : &copy_ids_avx2),
      clear_(wide ? &clear_avx512 : &clear_avx2) {
    for (uint32_t s = 0; s < always_from; s++)
        if (live.scalars[s]) scalar_lines_ = s / line_sgprs + 1;
    for (uint32_t row = 0; row < plan.vgpr_rows; row++) {
        const uint32_t number =
            row >= plan.agpr_row ? machine::Needs::first_agpr + row - plan.agpr_row : row;
        const bool on = live.rows[number], any = on || live.rows_off[number];
        if (row < plan.id_rows) {
            ids_ |= uint32_t{any} << row;
            continue;
        }
        if (any) zeros_[0].add(row);
        if (on) zeros_[1].add(row);
    }
}

// When the ranges are used up, the last one takes in the gap.
void WaveStart::Zeros::add(uint32_t row) {
    Rows* const last = count ? &rows[count - 1] : nullptr;
    if (last && (last->first + last->count == row || count == rows.size()))
        last->count = row + 1 - last->first;
    else
        rows[count++] = {row, 1};
}

template <class Vector>
[[gnu::always_inline]] inline void WaveStart::write_any(const WaveStart& start, const Wave& image,
                                                        const uint8_t* ids, Wave& wave,
                                                        uint8_t* rows) {
    const auto* from = reinterpret_cast<const uint8_t*>(&image);
    auto* to = reinterpret_cast<uint8_t*>(&wave);
    copy_lines<Vector>(to, from, head_lines + start.scalar_lines_);
    constexpr size_t tail = head_lines + optional_lines;
    copy_lines<Vector>(to + tail * line_bytes, from + tail * line_bytes, wave_lines - tail);
    copy_ids<Vector>(start.ids_, ids, rows);
    constexpr size_t row_bytes = row_lines * line_bytes;
    const Zeros& zeros = start.zeros_[image.exec() == machine::first_lanes(image.size)];
    for (uint32_t i = 0; i < zeros.count; i++)
        clear_lines<Vector>(rows + zeros.rows[i].first * row_bytes,
                            zeros.rows[i].count * row_lines);
}

void WaveStart::write_avx2(const WaveStart& start, const Wave& image, const uint8_t* ids,
                           Wave& wave, uint8_t* rows) {
    write_any<Narrow>(start, image, ids, wave, rows);
}

[[gnu::target("avx512f")]] void WaveStart::write_avx512(const WaveStart& start, const Wave& image,
                                                        const uint8_t* ids, Wave& wave,
                                                        uint8_t* rows) {
    write_any<Wide>(start, image, ids, wave, rows);
}

}  // namespace wj::runtime
