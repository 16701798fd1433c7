#include "tests/interpreter/memory_fixture.h"

namespace wj::interp {
namespace {

struct BufferMemory : MemoryTest {
    void SetUp() override {
        MemoryTest::SetUp();
        for (uint32_t i = 0; i < 2048; ++i) memory_at()[i] = 1000 + i;
        for (uint32_t l = 0; l < 64; ++l) v(1)[l] = 5;
    }
    // V# in s[8:11].
    void descriptor(uint64_t base, uint32_t stride, uint32_t records, uint32_t word3,
                    bool swizzle = false) {
        w().sgpr[8] = static_cast<uint32_t>(base);
        w().sgpr[9] = static_cast<uint32_t>(base >> 32) | stride << 16 | (swizzle ? 1u << 31 : 0);
        w().sgpr[10] = records;
        w().sgpr[11] = word3;
    }
    static constexpr uint32_t xyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    static constexpr uint32_t format(uint32_t dfmt, uint32_t nfmt) {
        return nfmt << 12 | dfmt << 15;
    }
};

TEST_F(BufferMemory, RawBuffersCheckBytes) {
    descriptor(data, 0, 64, xyzw);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l * 4;
    w().sgpr[6] = 8;
    EXPECT_EQ(
        run({0xe0501004, 0x06020102 /* buffer_load_dword v1, v2, s[8:11], s6 offen offset:4 */}),
        none);
    EXPECT_EQ(v(1)[0], 1003u);
    EXPECT_EQ(v(1)[12], 1015u);
    EXPECT_EQ(v(1)[13], 0u);  // offset 56 + 8 reaches num_records
    EXPECT_EQ(run({0xe05c1000, 0x80020402 /* buffer_load_dwordx4 v[4:7], v2, s[8:11], 0 offen */}),
              none);
    EXPECT_EQ(v(4)[14], 1014u);  // checked per dword
    EXPECT_EQ(v(5)[14], 1015u);
    EXPECT_EQ(v(6)[14], 0u);
    for (uint32_t l = 0; l < 64; ++l) v(4)[l] = l;
    EXPECT_EQ(run({0xe0701000, 0x80020402 /* buffer_store_dword v4, v2, s[8:11], 0 offen */}),
              none);
    EXPECT_EQ(memory_at()[15], 15u);
    EXPECT_EQ(memory_at()[16], 1016u);
}

TEST_F(BufferMemory, StructuredBuffersCheckTheIndex) {
    descriptor(data, 12, 3, xyzw);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l, v(3)[l] = 4;
    EXPECT_EQ(run({0xe0503004,
                   0x80020102 /* buffer_load_dword v1, v[2:3], s[8:11], 0 idxen offen offset:4 */}),
              none);
    EXPECT_EQ(v(1)[0], 1002u);
    EXPECT_EQ(v(1)[2], 1000u + 2 * 3 + 2);
    EXPECT_EQ(v(1)[3], 0u);
}

// (index / index_stride * stride + offset / 4 * 4) * index_stride + index % index_stride * 4 +
// offset % 4
TEST_F(BufferMemory, Swizzle) {
    descriptor(data, 16, 64, xyzw | 1 << 21 /* index stride 16 */, true);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l;
    EXPECT_EQ(run({0xe0542008,
                   0x80020402 /* buffer_load_dwordx2 v[4:5], v2, s[8:11], 0 idxen offset:8 */}),
              none);
    for (uint32_t l = 0; l < 64; ++l) {
        EXPECT_EQ(v(4)[l], 1000 + (l / 16 * 16 + 8) * 16 / 4 + l % 16);
        EXPECT_EQ(v(5)[l], 1000 + (l / 16 * 16 + 12) * 16 / 4 + l % 16);
    }
}

// SEED-PROL-14, 15: the private segment V#.
TEST_F(BufferMemory, PrivateSegmentDescriptorMatchesScratchInstructions) {
    descriptor(scratch, 0, 0xffffffff, 3 << 21 | 1 << 23, true);
    w().sgpr[6] = 4 * 64;  // an unswizzled stack pointer: byte 4 of each lane
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = 8, v(4)[l] = 70 + l, v(5)[l] = 90 + l;
    EXPECT_EQ(run({0xe0700004, 0x06020400 /* buffer_store_dword v4, off, s[8:11], s6 offset:4 */}),
              none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(memory_at(scratch)[2 * 64 + l], 70 + l);
    EXPECT_EQ(run({0xdc504000, 0x017f0002 /* scratch_load_dword v1, v2, off */}), none);
    EXPECT_EQ(v(1)[63], 133u);
    EXPECT_EQ(run({0xe0501000, 0x80020102 /* buffer_load_dword v1, v2, s[8:11], 0 offen */}), none);
    EXPECT_EQ(v(1)[63], 133u);
    EXPECT_EQ(
        run({0xe0601001, 0x80020502 /* buffer_store_byte v5, v2, s[8:11], 0 offen offset:1 */}),
        none);
    EXPECT_EQ(memory_at(scratch)[2 * 64], 70u | 90u << 8);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l == 3 ? scratch_bytes : 0;
    EXPECT_EQ(run({0xe0501000, 0x80020102 /* buffer_load_dword v1, v2, s[8:11], 0 offen */}),
              fault);
    EXPECT_EQ(w().exit.lane_mask, 8u);
    EXPECT_STREQ(w().exit.reason, "beyond the private segment");
    // A register that wraps below zero, brought back by the offset.
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = 0xfffffffc;
    EXPECT_EQ(
        run({0xe050100c, 0x80020102 /* buffer_load_dword v1, v2, s[8:11], 0 offen offset:12 */}),
        none);
    EXPECT_EQ(v(1)[1], 71u | 91u << 8);
    // SEED-PROL-28: a stack pointer that has left the segment, for stores and loads alike.
    for (const uint32_t frames : {1u, 7u}) {
        w().sgpr[6] = frames * scratch_bytes * 64;
        EXPECT_EQ(
            run({0xe0700004, 0x06020400 /* buffer_store_dword v4, off, s[8:11], s6 offset:4 */}),
            fault);
        EXPECT_EQ(w().exit.lane_mask, ~uint64_t{0});
        EXPECT_EQ(w().exit.address, machine::private_aperture + frames * scratch_bytes + 4);
        EXPECT_STREQ(w().exit.reason, "beyond the private segment");
    }
}

TEST_F(BufferMemory, AtomicsAndFaults) {
    descriptor(data, 0, 8, xyzw);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l * 4, v(4)[l] = 1;
    exec(7);
    EXPECT_EQ(run({0xe1085000, 0x80020402 /* buffer_atomic_add v4, v2, s[8:11], 0 offen glc */}),
              none);
    EXPECT_EQ(v(4)[0], 1000u);
    EXPECT_EQ(v(4)[1], 1001u);
    EXPECT_EQ(v(4)[2], 0u);  // out of range: 0, nothing written
    EXPECT_EQ(memory_at()[1], 1002u);
    EXPECT_EQ(memory_at()[2], 1002u);
    descriptor(data + 8192, 0, 0xffffffff, xyzw);
    EXPECT_EQ(run({0xe0501000, 0x80020102 /* buffer_load_dword v1, v2, s[8:11], 0 offen */}),
              fault);
    EXPECT_EQ(w().exit.lane_mask, 7u);
    EXPECT_EQ(w().exit.address, data + 8192);
    EXPECT_EQ(v(1)[0], 5u);
}

TEST_F(BufferMemory, TypedLoadsConvert) {
    exec(1);
    memory_at()[0] = 0x80ff7f01;
    descriptor(data, 0, 64, xyzw | format(10, 0));  // 8_8_8_8 unorm
    EXPECT_EQ(run({0xe00c0000, 0x80020400 /* buffer_load_format_xyzw v[4:7], off, s[8:11], 0 */}),
              none);
    auto f = [&](uint32_t r) {
        float x;
        std::memcpy(&x, &v(r)[0], 4);
        return x;
    };
    EXPECT_EQ(f(4), 1.0f / 255);
    EXPECT_EQ(f(5), 127.0f / 255);
    EXPECT_EQ(f(6), 1.0f);
    EXPECT_EQ(f(7), 128.0f / 255);
    descriptor(data, 0, 64, xyzw | format(10, 1));  // snorm
    EXPECT_EQ(run({0xe00c0000, 0x80020400 /* buffer_load_format_xyzw v[4:7], off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(f(5), 1.0f);
    EXPECT_EQ(f(6), -1.0f / 127);
    EXPECT_EQ(f(7), -1.0f);
    descriptor(data, 0, 64, xyzw | format(10, 5));  // sint
    EXPECT_EQ(run({0xe00c0000, 0x80020400 /* buffer_load_format_xyzw v[4:7], off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(v(6)[0], 0xffffffffu);
    EXPECT_EQ(v(7)[0], 0xffffff80u);
    // dst_sel: x -> one, y -> zero, z -> component x, w -> component w
    descriptor(data, 0, 64, 1 | 0 << 3 | 4 << 6 | 7 << 9 | format(3, 4));  // 8_8 uint
    EXPECT_EQ(run({0xe00c0000, 0x80020400 /* buffer_load_format_xyzw v[4:7], off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(v(4)[0], 1u);
    EXPECT_EQ(v(5)[0], 0u);
    EXPECT_EQ(v(6)[0], 1u);
    EXPECT_EQ(v(7)[0], 1u);  // absent w is one
    memory_at()[0] = 0x3c00bc00;
    EXPECT_EQ(run({0xeba88000, 0x80020400 /* tbuffer_load_format_xy v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] */}), none);
    EXPECT_EQ(f(4), -1.0f);
    EXPECT_EQ(f(5), 1.0f);
    v(4)[0] = 0;
    EXPECT_EQ(run({0xebac8000, 0x80020400 /* tbuffer_load_format_d16_xy v4, off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] */}), none);
    EXPECT_EQ(v(4)[0], 0x3c00bc00u);
    // 2_10_10_10: x in the lowest bits.
    memory_at()[0] = 3u << 30 | 1023u << 20 | 512u << 10 | 1;
    EXPECT_EQ(run({0xea498000, 0x80020400 /* tbuffer_load_format_xyzw v[4:7], off, s[8:11], 0 format:[BUF_DATA_FORMAT_2_10_10_10,BUF_NUM_FORMAT_UINT] */}), none);
    EXPECT_EQ(v(4)[0], 1u);
    EXPECT_EQ(v(5)[0], 512u);
    EXPECT_EQ(v(6)[0], 1023u);
    EXPECT_EQ(v(7)[0], 3u);
}

TEST_F(BufferMemory, TypedStoresConvert) {
    exec(1);
    auto put = [&](uint32_t r, float x) { std::memcpy(&v(r)[0], &x, 4); };
    put(4, 1.0f), put(5, 0.5f), put(6, -3.0f), put(7, 2.0f);
    descriptor(data, 0, 64, xyzw | format(10, 0));
    EXPECT_EQ(run({0xe01c0000, 0x80020400 /* buffer_store_format_xyzw v[4:7], off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(memory_at()[0], 0xff0080ffu);  // 127.5 rounds to even
    EXPECT_EQ(run({0xebaa8004, 0x80020400 /* tbuffer_store_format_xy v[4:5], off, s[8:11], 0 format:[BUF_DATA_FORMAT_16_16,BUF_NUM_FORMAT_FLOAT] offset:4 */}), none);
    EXPECT_EQ(memory_at()[1], 0x38003c00u);
    put(4, 1.0f), put(5, 2.0f), put(6, 0.5f);
    EXPECT_EQ(run({0xebb30008, 0x80020400 /* tbuffer_store_format_xyz v[4:6], off, s[8:11], 0 format:[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT] offset:8 */}), none);
    EXPECT_EQ(memory_at()[2], 0x3c0u | 0x400u << 11 | 0x1c0u << 22);  // 15 << 6, 16 << 6, 14 << 5
    EXPECT_EQ(run({0xebb10008, 0x80020800 /* tbuffer_load_format_xyz v[8:10], off, s[8:11], 0 format:[BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT] offset:8 */}), none);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(v(8 + i)[0], v(4 + i)[0]);
}

TEST_F(BufferMemory, LoadsToLds) {
    ctx->target = find_target("gfx908");
    descriptor(data, 0, 8192, xyzw);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l * 8;
    w().sgpr[machine::m0] = 64;
    EXPECT_EQ(
        run({0xe0511004, 0x80020002 /* buffer_load_dword v2, s[8:11], 0 offen offset:4 lds */}),
        none);
    for (uint32_t l = 0; l < 64; ++l)
        EXPECT_EQ(reinterpret_cast<uint32_t*>(lds.data())[(64 + 4) / 4 + l], 1001 + 2 * l);
}

TEST_F(BufferMemory, D16Formats) {
    ctx->target = find_target("gfx90a:sramecc-");
    exec(1);
    memory_at()[0] = 0x80ff7f01;
    descriptor(data, 0, 64, xyzw | format(10, 4));  // 8_8_8_8 uint
    v(4)[0] = 0x11112222, v(5)[0] = 0x33334444;
    EXPECT_EQ(run({0xe0200000, 0x80020400 /* buffer_load_format_d16_x v4, off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(v(4)[0], 0x11110001u);
    EXPECT_EQ(run({0xe0980000, 0x80020400 /* buffer_load_format_d16_hi_x v4, off, s[8:11], 0 */}),
              none);
    EXPECT_EQ(v(4)[0], 0x00010001u);
    EXPECT_EQ(
        run({0xe0280000, 0x80020400 /* buffer_load_format_d16_xyz v[4:5], off, s[8:11], 0 */}),
        none);
    EXPECT_EQ(v(4)[0], 0x007f0001u);
    EXPECT_EQ(v(5)[0], 0x333300ffu);
    v(4)[0] = 0x00aa00bb, v(5)[0] = 0x00cc0dd0;  // 0xdd0 saturates
    EXPECT_EQ(
        run({0xe03c0000, 0x80020400 /* buffer_store_format_d16_xyzw v[4:5], off, s[8:11], 0 */}),
        none);
    EXPECT_EQ(memory_at()[0], 0xccffaabbu);
}

TEST_F(BufferMemory, TfeClearsTheStatusDword) {
    ctx->target = find_target("gfx908");
    descriptor(data, 0, 64, xyzw);
    v(5)[7] = 99;
    EXPECT_EQ(
        run({0xe0500004, 0x80820400 /* buffer_load_dword v[4:5], off, s[8:11], 0 offset:4 tfe */}),
        none);
    EXPECT_EQ(v(4)[7], 1001u);
    EXPECT_EQ(v(5)[7], 0u);
}

TEST_F(BufferMemory, CacheInstructionsDoNothing) {
    EXPECT_EQ(run({0xe0fc0000, 0x00000000 /* buffer_wbinvl1_vol */}), none);
    EXPECT_EQ(run({0xe0a00000, 0x00000000 /* buffer_wbl2 */}), none);
    EXPECT_EQ(run({0xe0a40000, 0x00000000 /* buffer_invl2 */}), none);
}

}  // namespace
}  // namespace wj::interp
