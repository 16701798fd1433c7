#include "backend_x64/column_store.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "memory/address_space.h"

namespace wj::x64 {
namespace {

using machine::lanes;

constexpr uint32_t cache_line = 64;

// Columns of `width` work-items: lane width * r + x holds row r of column x. Columns are one step
// apart and do not overlap, so that the order of lanes does not matter.
bool are_columns(const uint64_t* at, uint32_t width, uint64_t rows) {
    const uint64_t step = at[1] - at[0], span = rows * 4;
    uint64_t wrong = step + span - 1 < 2 * span - 1;
    for (uint32_t l = 1; l < width; ++l) wrong |= at[l] - at[l - 1] - step;
    for (uint32_t l = width; l < lanes; ++l) wrong |= at[l] - at[l - width] - 4;
    return !wrong;
}

// Four columns of four rows that are `width` dwords apart; around the caches, if they are aligned.
template <bool around>
void write_four(const uint64_t* at, const uint32_t* data, uint32_t width, uint64_t behind) {
    __m128i r[4];
    for (uint32_t i = 0; i < 4; ++i)
        r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i * width));
    const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]),
                  c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
    const __m128i columns[4] = {_mm_unpacklo_epi64(a, c), _mm_unpackhi_epi64(a, c),
                                _mm_unpacklo_epi64(b, d), _mm_unpackhi_epi64(b, d)};
    for (uint32_t x = 0; x < 4; ++x) {
        auto* const to = reinterpret_cast<__m128i*>(at[x] + behind);
        around ? _mm_stream_si128(to, columns[x]) : _mm_storeu_si128(to, columns[x]);
    }
}

// `rows` rows of `width` dwords to the columns, the first of which is at `at` and the others `step`
// apart.
template <bool around>
void write(uint64_t at, uint64_t step, const uint32_t* data, uint32_t width, uint32_t rows) {
    for (uint32_t x = 0; x < width; x += 4) {
        const uint64_t first = at + x * step,
                       columns[4] = {first, first + step, first + 2 * step, first + 3 * step};
        uint32_t r = 0;
        for (; r + 4 <= rows; r += 4)
            write_four<around>(columns, data + r * width + x, width, r * 4);
        for (; r < rows; ++r)
            for (uint32_t i = 0; i < 4; ++i)
                std::memcpy(reinterpret_cast<void*>(columns[i] + r * 4), data + r * width + x + i,
                            4);
    }
}

// Whether [begin, end) is memory that can be written: what is held back should not fault, since
// another wave runs when it is done.
bool writable(HeldColumns& held, const memory::AddressSpace& space, uint64_t begin,
              uint64_t end) try {
    const uint64_t epoch = space.epoch();
    if (held.space != &space || held.epoch != epoch || begin < held.begin || end > held.end) {
        memory::Allocation a;
        if (!space.find(begin, a) || !(a.rights & memory::writable)) return false;
        held.space = &space;
        held.epoch = epoch;
        held.begin = a.guest;
        held.end = a.guest + a.size;
    }
    return begin >= held.begin && end <= held.end && begin < end;
} catch (const std::bad_alloc&) {
    return false;
}

// Keeps the rows for later if they may be; what goes on where the held ones end is added to them.
bool hold(machine::Wave& wave, Frame& frame, const ColumnStore& store, uint64_t at, uint64_t step,
          uint32_t width, const uint32_t* data) {
    HeldColumns& held = frame.held;
    const uint32_t rows = lanes / width, held_rows = held.waves * rows;
    const uint64_t end = at + (width - 1) * step, low = std::min(at, end),
                   high = std::max(at, end) + rows * 4;
    if (!wave.ctx->memory || !writable(held, *wave.ctx->memory, low, high)) return false;
    const bool follows = held.waves && held.store == &store && held.step == step &&
                         held.width == width && held.at + held_rows * 4 == at;
    if (!follows) {
        if (held.waves) {
            wave.ctx->columns_cut = true;
            write_held_columns(wave, frame);
        }
        held.store = &store;
        held.at = at;
        held.step = step;
        held.width = width;
    }
    std::memcpy(held.data[held.waves++], data, sizeof held.data[0]);
    if (held.waves * rows >= cache_line / 4) write_held_columns(wave, frame);
    return true;
}

}  // namespace

void write_held_columns(machine::Wave& wave, Frame& frame) {
    HeldColumns& held = frame.held;
    const ColumnStore& store = *static_cast<const ColumnStore*>(held.store);
    const uint32_t rows = held.waves * (lanes / held.width);
    held.waves = 0;
    wave.exit.pc = store.pc;  // for a signal
    frame.running = &store;
    // Whole lines, in a launch that fills the caches.
    const uint64_t partial = (held.at | held.step | rows * 4) % cache_line;
    const bool around = frame.not_streamed != ~0ull && !partial;
    (around ? write<true> : write<false>)(held.at, held.step, held.data[0], held.width, rows);
    frame.running = nullptr;
}

bool store_columns(machine::Wave& wave, Frame& frame, const ColumnStore& store, const void* first,
                   const void* second, const uint32_t* data) {
    uint64_t at[lanes];
    const uint64_t base = frame.address_base + static_cast<uint64_t>(store.offset);
    if (store.qwords) {
        const auto *a = static_cast<const uint64_t*>(first),
                   *b = static_cast<const uint64_t*>(second);
        for (uint32_t l = 0; l < lanes; l += 4, a += 2, b += 2) {
            at[l] = base + a[0], at[l + 1] = base + a[1];
            at[l + 2] = base + b[0], at[l + 3] = base + b[1];
        }
    } else {
        const auto *low = static_cast<const uint32_t*>(first),
                   *high = static_cast<const uint32_t*>(second);
        for (uint32_t l = 0; l < lanes; ++l) at[l] = base + (low[l] | uint64_t{high[l]} << 32);
    }
    uint32_t width = 8;
    while (width < lanes && at[width] != at[0] + 4) width *= 2;
    const bool alone = width == lanes;  // each lane has a column of its own
    uint8_t& wait = frame.columns_wait[store.site];
    const uint64_t step = at[1] - at[0];
    if ((alone && !store.last) || !are_columns(at, width, alone ? cache_line / 4 : lanes / width)) {
        wait = column_patience;
        return false;
    }
    wait = 0;
    if (store.last && hold(wave, frame, store, at[0], step, width, data)) return true;
    if (alone) {
        wait = column_patience;
        return false;
    }
    wave.exit.pc = store.pc;  // for a signal
    frame.running = &store;
    write<false>(at[0], step, data, width, lanes / width);
    frame.running = nullptr;
    return true;
}

}  // namespace wj::x64
