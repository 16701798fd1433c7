// x % n in gfx90a's machine words, as LLVM writes it for an n that is the same in all lanes.
#pragma once

#include <cstdint>
#include <vector>

namespace wj::jit_test {

// v_x = v_x mod s_n, where s_reciprocal is 2^32 / n or a little less. Changes v_q and VCC.
inline void append_remainder(std::vector<uint32_t>& words, uint32_t x, uint32_t q, uint32_t n,
                             uint32_t reciprocal) {
    constexpr uint32_t vgpr = 256;
    auto vop3 = [&](uint32_t op, uint32_t a, uint32_t b) {
        words.insert(words.end(), {0xd0000000 | op << 16 | q, a | b << 9});
    };
    auto vop2 = [&](uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words.push_back(op << 25 | dst << 17 | b << 9 | a);
    };
    vop3(0x286, vgpr + x, reciprocal);  // v_mul_hi_u32
    vop3(0x285, vgpr + q, n);           // v_mul_lo_u32
    vop2(0x35, x, vgpr + x, q);         // v_sub_u32
    for (int step = 0; step < 2; ++step) {
        vop2(0x36, q, n, x);                                    // v_subrev_u32
        words.push_back(0x7c000000 | 0xcb << 17 | x << 9 | n);  // v_cmp_le_u32
        vop2(0x00, x, vgpr + x, q);                             // v_cndmask_b32
    }
}

// Of n: right, or now and then anything.
inline uint32_t random_reciprocal(uint32_t n, uint32_t random) {
    const uint64_t whole = (uint64_t{1} << 32) / n;
    const uint64_t right = whole << 32 ? whole : whole - 1;
    switch (random % 16) {
        case 0:
            return static_cast<uint32_t>(right / 2);
        case 1:
            return static_cast<uint32_t>(right + 1);
        case 2:
            return static_cast<uint32_t>(2 * right);
        case 3:
            return random;
        default:
            return static_cast<uint32_t>(right);
    }
}

}  // namespace wj::jit_test
