#include "backend_x64/frame.h"

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

}  // namespace

void fill_constants(Frame& f) {
    set_qwords(f.constants[const_pair_split], {0, 2, 4, 6, 1, 3, 5, 7});
    set_qwords(f.constants[const_pair_join], {0, 4, 1, 5, 2, 6, 3, 7});
    for (uint32_t i = 0; i < 16; ++i) {
        f.constants[const_odd_dwords][i] = (i | 1) + (i & 1 ? 16 : 0);
        f.constants[const_lane_bits][i] = 1u << i;
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
}

}  // namespace wj::x64
