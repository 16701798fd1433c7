#include "backend_x64/frame.h"

#include <array>
#include <cstring>
#include <initializer_list>

namespace wj::x64 {
namespace {

void set_qwords(uint32_t* to, std::initializer_list<uint64_t> values) {
    std::memcpy(to, values.begin(), values.size() * 8);
}

// The same 16 bytes in every 128-bit part, as byte shuffles want them.
void set_bytes(uint32_t* to, std::initializer_list<uint8_t> values) {
    for (int part = 0; part < 4; ++part) std::memcpy(to + part * 4, values.begin(), 16);
}

using Table = std::array<uint32_t, 16>;

template <class F>
Table make_table(F element) {
    Table table;
    for (uint32_t i = 0; i < 16; ++i) table[i] = element(i);
    return table;
}

// What the emitters of loads and stores ask for (asm/lane_*.cpp). A table that is missing here is
// put behind the block instead.
std::array<Table, table_count> make_tables() {
    std::array<Table, table_count> tables;
    Table* next = tables.data();
    // Offsets of consecutive elements, and of those 16 bytes apart.
    for (const uint32_t step : {0, 1, 2, 4, 8, 12, 16})
        *next++ = make_table([&](uint32_t i) { return i * step; });
    // Dwords of elements of two and of four dwords.
    for (const uint32_t d : {0, 1}) *next++ = make_table([&](uint32_t i) { return i * 2 + d; });
    for (const uint32_t d : {0, 2})
        *next++ = make_table([&](uint32_t i) { return i % 8 * 4 + i / 8 + d; });
    // Two registers interleaved by dwords, then by qwords.
    for (const uint32_t first : {0, 8})
        *next++ = make_table([&](uint32_t i) { return first + i / 2 + (i & 1) * 16; });
    for (const uint32_t first : {0, 4})
        *next++ =
            make_table([&](uint32_t i) { return i & 1 ? 0 : first + i / 4 + (i / 2 & 1) * 8; });
    // Halves of pairs in the order of memory.
    for (const uint32_t first : {0, 8})
        *next++ = make_table([&](uint32_t i) {
            return i & 1 ? 0 : first / 2 + i / 8 * 2 + i / 2 % 2 + i / 4 % 2 * 8;
        });
    // Dwords 16 bytes apart, loaded and stored; pairs of them.
    for (const uint32_t second : {16, 19})
        *next++ = make_table([&](uint32_t i) { return i / 4 % 2 * second + i % 4 * 4; });
    for (const uint32_t part : {0, 1, 2, 3})
        *next++ = make_table([&](uint32_t i) { return part * 4 + i / 4; });
    for (const uint32_t d : {0, 1})
        *next++ =
            make_table([&](uint32_t l) { return l / 8 * 16 + l % 4 * 4 + l / 4 % 2 * 2 + d; });
    // AVX2: lanes after unpacking; masks of the parts of elements of two and of three dwords.
    *next++ = {0, 4, 1, 5, 2, 6, 3, 7};
    for (const uint32_t part : {0, 1})
        *next++ = make_table([&](uint32_t i) { return (8 * part + i) / 2; });
    for (const uint32_t part : {0, 1, 2})
        *next++ = make_table([&](uint32_t i) { return (8 * part + i) / 3; });
    *next++ = {~0u, ~0u, ~0u, ~0u, ~0u};
    // Pairs of elements `step` apart, as exchanges in sorting networks and butterflies have them:
    // lane l's first one is number 2 l - l mod step of two vectors. Loaded, and stored.
    for (const uint32_t step : {2, 4, 8}) {
        for (const uint32_t d : {0, 1})
            *next++ = make_table([&](uint32_t l) { return 2 * l - (l & (step - 1)) + d * step; });
        for (const uint32_t part : {0, 16})
            *next++ = make_table([&](uint32_t i) {
                return (part + i) / (2 * step) * step + i % step + (i / step & 1) * 16;
            });
    }
    return tables;
}

const std::array<Table, table_count>& tables() {
    static const std::array<Table, table_count> made = make_tables();
    return made;
}

}  // namespace

uint32_t find_table(const void* bytes, uint32_t size) {
    uint32_t n = 0;
    while (n < table_count && std::memcmp(tables()[n].data(), bytes, size) != 0) ++n;
    return n;
}

void fill_constants(Frame& f) {
    set_qwords(f.constants[const_pair_split], {0, 2, 4, 6, 1, 3, 5, 7});
    set_qwords(f.constants[const_pair_join], {0, 4, 1, 5, 2, 6, 3, 7});
    for (uint32_t i = 0; i < 16; ++i) {
        f.constants[const_odd_dwords][i] = (i | 1) + (i & 1 ? 16 : 0);
        f.constants[const_lane_numbers][i] = i;
    }
    set_bytes(f.constants[const_nibble_popcount], {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4});
    set_bytes(f.constants[const_nibble_reverse_low],
              {0x00, 0x80, 0x40, 0xc0, 0x20, 0xa0, 0x60, 0xe0, 0x10, 0x90, 0x50, 0xd0, 0x30, 0xb0,
               0x70, 0xf0});
    set_bytes(f.constants[const_nibble_reverse_high],
              {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15});
    set_bytes(f.constants[const_bswap], {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12});
    set_bytes(f.constants[const_low_words],
              {0, 1, 4, 5, 8, 9, 12, 13, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80});
    for (uint32_t i = 0; i < 64; ++i) f.lane_id[i] = i;
    std::memcpy(f.tables, tables().data(), sizeof f.tables);
}

}  // namespace wj::x64
