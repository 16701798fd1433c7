#include "backend_x64/column_store.h"

#include <immintrin.h>

namespace wj::x64 {
namespace {

using machine::lanes;

// Columns of `width` work-items: lane width * r + x holds row r of column x. Columns are one step
// apart and do not overlap, so that the order of lanes does not matter.
bool are_columns(const uint64_t* at, uint32_t width) {
    const uint64_t step = at[1] - at[0], span = uint64_t{lanes} / width * 4;
    uint64_t wrong = step + span - 1 < 2 * span - 1;
    for (uint32_t l = 1; l < width; ++l) wrong |= at[l] - at[l - 1] - step;
    for (uint32_t l = width; l < lanes; ++l) wrong |= at[l] - at[l - width] - 4;
    return !wrong;
}

void write_pairs(const uint64_t* at, const uint32_t* data) {
    for (uint32_t x = 0; x < 32; ++x) {
        const uint64_t pair = data[x] | uint64_t{data[x + 32]} << 32;
        _mm_storel_epi64(reinterpret_cast<__m128i*>(at[x]),
                         _mm_cvtsi64_si128(static_cast<int64_t>(pair)));
    }
}

// Four columns of four rows that are `width` dwords apart.
void write_four(const uint64_t* at, const uint32_t* data, uint32_t width, uint64_t behind) {
    __m128i r[4];
    for (uint32_t i = 0; i < 4; ++i)
        r[i] = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + i * width));
    const __m128i a = _mm_unpacklo_epi32(r[0], r[1]), b = _mm_unpackhi_epi32(r[0], r[1]),
                  c = _mm_unpacklo_epi32(r[2], r[3]), d = _mm_unpackhi_epi32(r[2], r[3]);
    const __m128i columns[4] = {_mm_unpacklo_epi64(a, c), _mm_unpackhi_epi64(a, c),
                                _mm_unpacklo_epi64(b, d), _mm_unpackhi_epi64(b, d)};
    for (uint32_t x = 0; x < 4; ++x)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(at[x] + behind), columns[x]);
}

}  // namespace

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
    uint8_t& wait = frame.columns_wait[store.site];
    if (width == lanes || !are_columns(at, width)) {
        wait = column_patience;
        return false;
    }
    wait = 0;
    wave.exit.pc = store.pc;  // for a signal
    frame.running = &store;
    if (width == 32) {
        write_pairs(at, data);
    } else {
        for (uint32_t x = 0; x < width; x += 4)
            for (uint32_t r = 0; r < lanes / width; r += 4)
                write_four(at + x, data + r * width + x, width, r * 4);
    }
    frame.running = nullptr;
    return true;
}

}  // namespace wj::x64
