#include "tests/interpreter/memory_fixture.h"

namespace wj::interp {
namespace {

struct ScalarMemory : MemoryTest {
    void SetUp() override {
        MemoryTest::SetUp();
        for (uint32_t i = 0; i < 2048; ++i) memory_at()[i] = 1000 + i;
        w().set_s64(4, data);
    }
};

TEST_F(ScalarMemory, LoadsOfOneToSixteenDwords) {
    EXPECT_EQ(run({0xc0020202, 0x00000010 /* s_load_dword s8, s[4:5], 0x10 */}), none);
    EXPECT_EQ(w().sgpr[8], 1004u);
    EXPECT_EQ(run({0xc0120402, 0x00000040 /* s_load_dwordx16 s[16:31], s[4:5], 0x40 */}), none);
    for (uint32_t d = 0; d < 16; ++d) EXPECT_EQ(w().sgpr[16 + d], 1016 + d);
    EXPECT_EQ(run({0xc0060102, 0x00000000 /* s_load_dwordx2 s[4:5], s[4:5], 0x0 */}),
              none);  // over its own address
    EXPECT_EQ(w().sgpr[4], 1000u);
    EXPECT_EQ(w().sgpr[5], 1001u);
}

TEST_F(ScalarMemory, OffsetsAndAlignment) {
    w().sgpr[7] = 0x22;  // low bits are ignored
    EXPECT_EQ(run({0xc0000202, 0x00000007 /* s_load_dword s8, s[4:5], s7 */}), none);
    EXPECT_EQ(w().sgpr[8], 1008u);
    EXPECT_EQ(run({0xc0024202, 0x0e000013 /* s_load_dword s8, s[4:5], s7 offset:0x13 */}), none);
    EXPECT_EQ(w().sgpr[8], 1012u);
    w().set_s64(4, data + 0x103);
    EXPECT_EQ(run({0xc0020202, 0x001fffc0 /* s_load_dword s8, s[4:5], -0x40 */}), none);
    EXPECT_EQ(w().sgpr[8], 1000u + (0x100 - 0x40) / 4);
    w().sgpr[machine::m0] = 8;
    EXPECT_EQ(run({0xc0000202, 0x0000007c /* s_load_dword s8, s[4:5], m0 */}), none);
    EXPECT_EQ(w().sgpr[8], 1000u + 0x108 / 4);
}

TEST_F(ScalarMemory, ScratchFormsScaleTheRegisterBy64) {
    w().sgpr[7] = 4;
    EXPECT_EQ(run({0xc0140202, 0x00000007 /* s_scratch_load_dword s8, s[4:5], s7 */}), none);
    EXPECT_EQ(w().sgpr[8], 1000u + 64);
}

TEST_F(ScalarMemory, BufferLoadsCheckEachDword) {
    w().sgpr[12] = static_cast<uint32_t>(data);
    w().sgpr[13] = static_cast<uint32_t>(data >> 32);
    w().sgpr[14] = 24;  // bytes: stride is 0
    w().sgpr[15] = 0;
    for (uint32_t i = 16; i < 20; ++i) w().sgpr[i] = 5;
    EXPECT_EQ(run({0xc02a0406, 0x00000010 /* s_buffer_load_dwordx4 s[16:19], s[12:15], 0x10 */}),
              none);
    EXPECT_EQ(w().sgpr[16], 1004u);
    EXPECT_EQ(w().sgpr[17], 1005u);
    EXPECT_EQ(w().sgpr[18], 5u);
    EXPECT_EQ(w().sgpr[19], 5u);
    w().sgpr[13] |= 8 << 16;  // stride 8: 24 records of 8 bytes
    EXPECT_EQ(run({0xc0220406, 0x000000bc /* s_buffer_load_dword s16, s[12:15], 0xbc */}), none);
    EXPECT_EQ(w().sgpr[16], 1000u + 0xbc / 4);
    EXPECT_EQ(run({0xc0220446, 0x000000c0 /* s_buffer_load_dword s17, s[12:15], 0xc0 */}), none);
    EXPECT_EQ(w().sgpr[17], 1005u);
}

TEST_F(ScalarMemory, StoresAndAtomics) {
    ctx->target = find_target("gfx900");
    w().sgpr[8] = 7, w().sgpr[9] = 8;
    EXPECT_EQ(run({0xc0460202, 0x00000008 /* s_store_dwordx2 s[8:9], s[4:5], 0x8 */}), none);
    EXPECT_EQ(memory_at()[2], 7u);
    EXPECT_EQ(memory_at()[3], 8u);
    EXPECT_EQ(run({0xc20b0202, 0x00000000 /* s_atomic_add s8, s[4:5], 0x0 glc */}), none);
    EXPECT_EQ(memory_at()[0], 1007u);
    EXPECT_EQ(w().sgpr[8], 1000u);
    w().sgpr[8] = 1, w().sgpr[9] = 1007;  // new, expected
    EXPECT_EQ(run({0xc2060202, 0x00000000 /* s_atomic_cmpswap s[8:9], s[4:5], 0x0 */}), none);
    EXPECT_EQ(memory_at()[0], 1u);
    EXPECT_EQ(w().sgpr[8], 1u);
}

TEST_F(ScalarMemory, FaultsAreScalar) {
    w().set_s64(4, 0);
    w().sgpr[8] = 3;
    EXPECT_EQ(run({0xc0060202, 0x00000018 /* s_load_dwordx2 s[8:9], s[4:5], 0x18 */}), fault);
    EXPECT_EQ(w().exit.address, 0x18u);
    EXPECT_EQ(w().exit.lane_mask, 0u);
    EXPECT_EQ(w().exit.access_bytes, 8u);
    EXPECT_EQ(w().sgpr[8], 3u);
    w().set_s64(4, data);  // atomics are not split
    EXPECT_EQ(run({0xc28a0202, 0x00000004 /* s_atomic_add_x2 s[8:9], s[4:5], 0x4 */}), fault);
    EXPECT_EQ(w().exit.address, data + 4);
}

TEST_F(ScalarMemory, ClocksAdvance) {
    EXPECT_EQ(run({0xc0900200, 0x00000000 /* s_memtime s[8:9] */}), none);
    const uint64_t first = w().s64(8);
    EXPECT_EQ(run({0xc0900200, 0x00000000 /* s_memtime s[8:9] */}), none);
    EXPECT_GT(w().s64(8), first);
    EXPECT_EQ(run({0xc0940200, 0x00000000 /* s_memrealtime s[8:9] */}), none);
    EXPECT_NE(w().s64(8), 0u);
    EXPECT_EQ(run({0xc0800000, 0x00000000 /* s_dcache_inv */}), none);
}

}  // namespace
}  // namespace wj::interp
