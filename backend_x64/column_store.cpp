#include "backend_x64/column_store.h"

#include <immintrin.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace wj::x64 {
namespace {

constexpr uint32_t cache_line = 64;

// Columns of `width` work-items: lane width * r + x holds row r of column x. Columns are one step
// apart and do not overlap, so that the order of lanes does not matter.
bool are_columns(const uint64_t* at, uint32_t lanes, uint32_t width, uint64_t rows) {
    const uint64_t step = at[1] - at[0], span = rows * 4;
    uint64_t wrong = step + span - 1 < 2 * span - 1;
    for (uint32_t l = 1; l < width; ++l) wrong |= at[l] - at[l - 1] - step;
    for (uint32_t l = width; l < lanes; ++l) wrong |= at[l] - at[l - width] - 4;
    return !wrong;
}

struct Square {
    __m256 columns[8];
};

// Eight rows that are `width` dwords apart.
[[gnu::always_inline]] inline Square transposed(const uint32_t* data, uint32_t width) {
    __m256 r[8], t[8];
    for (uint32_t i = 0; i < 8; ++i)
        r[i] = _mm256_loadu_ps(reinterpret_cast<const float*>(data + i * width));
    for (uint32_t i = 0; i < 8; i += 2) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    for (uint32_t i = 0; i < 8; i += 4)
        for (uint32_t h = 0; h < 2; ++h) {
            r[i + 2 * h] = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0x44);
            r[i + 2 * h + 1] = _mm256_shuffle_ps(t[i + h], t[i + 2 + h], 0xee);
        }
    Square square;
    for (uint32_t i = 0; i < 4; ++i) {
        square.columns[i] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x20);
        square.columns[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
    }
    return square;
}

// `rows` rows of `width` dwords to the columns, the first of which is at `at` and the others `step`
// apart; around the caches, if they are whole aligned lines.
template <bool around>
void write(uint64_t at, uint64_t step, const uint32_t* data, uint32_t width, uint32_t rows) {
    auto store = [](uint64_t to, __m256 v) {
        auto* const p = reinterpret_cast<float*>(to);
        around ? _mm256_stream_ps(p, v) : _mm256_storeu_ps(p, v);
    };
    for (uint32_t x = 0; x < width; x += 8) {
        const uint64_t first = at + x * step;
        uint32_t r = 0;
        for (; r + 16 <= rows; r += 16) {
            const Square top = transposed(data + r * width + x, width),
                         bottom = transposed(data + (r + 8) * width + x, width);
            for (uint32_t i = 0; i < 8; ++i) {
                store(first + i * step + r * 4, top.columns[i]);
                store(first + i * step + r * 4 + 32, bottom.columns[i]);
            }
        }
        for (; r + 8 <= rows; r += 8) {
            const Square square = transposed(data + r * width + x, width);
            for (uint32_t i = 0; i < 8; ++i) store(first + i * step + r * 4, square.columns[i]);
        }
        for (; r < rows; ++r)
            for (uint32_t i = 0; i < 8; ++i)
                std::memcpy(reinterpret_cast<void*>(first + i * step + r * 4),
                            data + r * width + x + i, 4);
    }
}

using Dwords [[gnu::vector_size(64)]] = uint32_t;

// The even quarters of two vectors, or the odd ones.
[[gnu::target("avx512f"), gnu::always_inline]] inline Dwords quarters(Dwords a, Dwords b,
                                                                      bool odd) {
    return odd ? __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29,
                                         30, 31)
               : __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26,
                                         27);
}

// The same for 16 columns at a time, of whole aligned lines around the caches.
[[gnu::target("avx512f")]] void write_lines(uint64_t at, uint64_t step, const uint32_t* data,
                                            uint32_t width, uint32_t rows) {
    for (uint32_t x = 0; x < width; x += 16)
        for (uint32_t y = 0; y < rows; y += 16) {
            Dwords r[16], t[16];
            for (uint32_t i = 0; i < 16; ++i)
                std::memcpy(&r[i], data + (y + i) * width + x, sizeof r[i]);
            for (uint32_t i = 0; i < 16; i += 2) {
                t[i] = __builtin_shufflevector(r[i], r[i + 1], 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9,
                                               25, 12, 28, 13, 29);
                t[i + 1] = __builtin_shufflevector(r[i], r[i + 1], 2, 18, 3, 19, 6, 22, 7, 23, 10,
                                                   26, 11, 27, 14, 30, 15, 31);
            }
            for (uint32_t i = 0; i < 16; i += 4)
                for (uint32_t h = 0; h < 2; ++h) {
                    const Dwords a = t[i + h], b = t[i + 2 + h];
                    r[i + 2 * h] = __builtin_shufflevector(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9,
                                                           24, 25, 12, 13, 28, 29);
                    r[i + 2 * h + 1] = __builtin_shufflevector(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10,
                                                               11, 26, 27, 14, 15, 30, 31);
                }
            // r[q + c]: columns c, c + 4, c + 8 and c + 12 of rows q to q + 3.
            for (uint32_t c = 0; c < 4; ++c)
                for (const bool odd : {false, true}) {
                    const Dwords top = quarters(r[c], r[4 + c], odd),
                                 bottom = quarters(r[8 + c], r[12 + c], odd);
                    t[c + 4 * odd] = quarters(top, bottom, false);
                    t[c + 4 * odd + 8] = quarters(top, bottom, true);
                }
            for (uint32_t i = 0; i < 16; ++i)
                _mm512_stream_si512(reinterpret_cast<__m512i*>(at + (x + i) * step + y * 4),
                                    reinterpret_cast<__m512i>(t[i]));
        }
}

// Where columns are that begin at `at`, of rows that so many waves have side by side. False: what
// is held back might fault then, when another wave runs.
bool place(HeldColumns& held, const machine::Wave& wave, uint64_t at, uint64_t step, uint32_t width,
           uint32_t beside) {
    const uint32_t rows = wave.size / width;
    const uint64_t end = at + (width * beside - 1) * step, low = std::min(at, end);
    const uint64_t high = std::max(at, end) + rows * 4;
    if (!wave.ctx->memory || !held.memory.covers(*wave.ctx->memory, low, high)) return false;
    const uint64_t most =
        std::min((held.memory.end() - high) / (rows * 4) + 1, uint64_t{HeldColumns::rows / rows});
    held.most = static_cast<uint32_t>(most) * beside;
    held.beside = beside;
    return true;
}

// Whether the wave's row is beside those that are held, which are the first rows of their columns:
// of work-items whose row is longer than a wave.
bool goes_beside(HeldColumns& held, const machine::Wave& wave, uint64_t at) {
    const uint64_t row = held.width * held.step;
    const uint32_t beside = held.waves + 1;
    if (held.width != wave.size || held.waves != held.beside ||
        beside * held.width > machine::lanes || at != held.at + held.waves * row ||
        !place(held, wave, held.at, held.step, held.width, beside))
        return false;
    held.next = held.at + 4;
    held.ahead[0] = row;
    held.ahead[1] = 4 - row;
    return true;
}

// Keeps the rows for later if they may be; what goes on where the held ones end is added to them.
bool hold(machine::Wave& wave, Frame& frame, const ColumnStore& store, uint64_t at, uint64_t step,
          uint32_t width, const uint32_t* data) {
    HeldColumns& held = frame.held;
    const bool same = held.store == &store && held.step == step && held.width == width;
    const bool beside = same && held.next != at && goes_beside(held, wave, at);
    if (!same || (held.next != at && !beside)) {
        if (held.waves) {
            wave.ctx->columns_cut = true;
            write_held_columns(wave, frame);
        }
        if (!place(held, wave, at, step, width, 1)) return false;
        held.store = &store;
        held.at = held.next = at;
        held.step = step;
        held.width = width;
        held.ahead[0] = held.ahead[1] = wave.size / width * 4;
    }
    std::memcpy(held.data + held.waves++ * wave.size, data, wave.size * sizeof held.data[0]);
    if (!beside) {
        held.next += held.ahead[0];
        std::swap(held.ahead[0], held.ahead[1]);
    }
    if (held.waves >= held.most) write_held_columns(wave, frame);
    return true;
}

}  // namespace

void write_held_columns(machine::Wave& wave, Frame& frame) {
    HeldColumns& held = frame.held;
    const ColumnStore& store = *static_cast<const ColumnStore*>(held.store);
    const uint32_t width = held.width * held.beside,
                   rows = held.waves * wave.size / width,  // that are whole
        more = held.waves * wave.size % width;
    held.waves = 0;
    held.store = nullptr;
    wave.exit.pc = store.pc;  // for a signal
    frame.running = &store;
    // Whole lines, in a launch that fills the caches.
    const uint64_t partial = (held.at | held.step | rows * 4) % cache_line;
    const bool around = frame.not_streamed != ~0ull && !partial;
    const bool wide = store.wide && width >= 16;
    (!around ? write<false>
     : wide  ? write_lines
             : write<true>)(held.at, held.step, held.data, width, rows);
    for (uint32_t x = 0; x < more; ++x)
        std::memcpy(reinterpret_cast<void*>(held.at + x * held.step + rows * 4),
                    held.data + rows * width + x, 4);
    frame.running = nullptr;
}

bool store_columns(machine::Wave& wave, Frame& frame, const ColumnStore& store, const void* first,
                   const void* second, const uint32_t* data) {
    const uint32_t lanes = wave.size == machine::lanes ? machine::lanes : machine::lanes / 2;
    uint64_t at[machine::lanes];
    const uint64_t base = frame.address_base + static_cast<uint64_t>(store.offset);
    const auto reach = wave.ctx->reach;
    uint8_t& wait = frame.columns_wait[store.site];
    if (store.form == ColumnStore::Form::Step) {
        const uint64_t step = *static_cast<const uint32_t*>(first);
        wait = 0;
        if (step >= cache_line && hold(wave, frame, store, reach(base), step, lanes, data))
            return true;
        wait = column_patience;
        return false;
    }
    if (store.form == ColumnStore::Form::Qwords) {
        const auto *a = static_cast<const uint64_t*>(first),
                   *b = static_cast<const uint64_t*>(second);
        for (uint32_t l = 0; l < lanes; l += 4, a += 2, b += 2) {
            at[l] = reach(base + a[0]), at[l + 1] = reach(base + a[1]);
            at[l + 2] = reach(base + b[0]), at[l + 3] = reach(base + b[1]);
        }
    } else {
        const auto *low = static_cast<const uint32_t*>(first),
                   *high = static_cast<const uint32_t*>(second);
        for (uint32_t l = 0; l < lanes; ++l)
            at[l] = reach(base + (low[l] | uint64_t{high[l]} << 32));
    }
    uint32_t width = 8;
    while (width < lanes && at[width] != at[0] + 4) width *= 2;
    const bool alone = width == lanes;  // each lane has a column of its own
    const uint64_t step = at[1] - at[0];
    if ((alone && !store.last) ||
        !are_columns(at, lanes, width, alone ? cache_line / 4 : lanes / width)) {
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
