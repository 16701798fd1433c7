#include "tests/interpreter/memory_fixture.h"

namespace wj::interp {
namespace {

struct LdsMemory : MemoryTest {
    uint32_t* dwords() { return reinterpret_cast<uint32_t*>(lds.data()); }
};

TEST_F(LdsMemory, ReadsAndWritesOfEveryWidth) {
    for (uint32_t i = 0; i < 128; ++i) dwords()[i] = 0x80818200 + i;
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l * 4;
    EXPECT_EQ(run({0xd86c0004, 0x01000002 /* ds_read_b32 v1, v2 offset:4 */}), none);
    EXPECT_EQ(v(1)[10], 0x8081820bu);
    EXPECT_EQ(run({0xd8720003, 0x01000002 /* ds_read_i8 v1, v2 offset:3 */}), none);
    EXPECT_EQ(v(1)[10], 0xffffff80u);
    EXPECT_EQ(run({0xd8780001, 0x01000002 /* ds_read_u16 v1, v2 offset:1 */}), none);  // unaligned
    EXPECT_EQ(v(1)[10], 0x8182u);
    v(1)[10] = 0x12345678;
    EXPECT_EQ(run({0xd8ae0000, 0x01000002 /* ds_read_u8_d16_hi v1, v2 */}), none);
    EXPECT_EQ(v(1)[10], 0x000a0000u);
    EXPECT_EQ(run({0xd9fc0000, 0x04000002 /* ds_read_b96 v[4:6], v2 */}), none);
    EXPECT_EQ(v(6)[10], 0x8081820cu);
    exec(1);
    EXPECT_EQ(run({0xd8aa0000, 0x00000102 /* ds_write_b16_d16_hi v2, v1 */}), none);
    EXPECT_EQ(dwords()[0], 0x80810000u | v(1)[0] >> 16);
}

TEST_F(LdsMemory, OutOfRangeReadsZeroAndDropsWritesDwordByDword) {
    exec(3);
    for (uint32_t i = 0; i < 128; ++i) dwords()[i] = i;
    v(2)[0] = lds_bytes - 8, v(2)[1] = 0xfffffffc;
    EXPECT_EQ(run({0xd9fe0000, 0x04000002 /* ds_read_b128 v[4:7], v2 */}), none);
    EXPECT_EQ(v(4)[0], 126u);
    EXPECT_EQ(v(5)[0], 127u);
    EXPECT_EQ(v(6)[0], 0u);
    EXPECT_EQ(v(7)[0], 0u);
    EXPECT_EQ(v(4)[1], 0u);
    v(4)[0] = v(5)[0] = v(6)[0] = v(7)[0] = 0xaaaa;
    EXPECT_EQ(run({0xd9be0000, 0x00000402 /* ds_write_b128 v2, v[4:7] */}), none);
    EXPECT_EQ(dwords()[125], 125u);
    EXPECT_EQ(dwords()[126], 0xaaaau);
    // The sum of base and offset wraps: -4 + 8 = 4.
    EXPECT_EQ(run({0xd86c0008, 0x01000002 /* ds_read_b32 v1, v2 offset:8 */}), none);
    EXPECT_EQ(v(1)[1], 1u);
    EXPECT_EQ(v(1)[0], 0u);
}

TEST_F(LdsMemory, TwoAddressForms) {
    for (uint32_t i = 0; i < 128; ++i) dwords()[i] = i;
    exec(1);
    v(2)[0] = 8;
    EXPECT_EQ(run({0xd86e0301, 0x04000002 /* ds_read2_b32 v[4:5], v2 offset0:1 offset1:3 */}),
              none);
    EXPECT_EQ(v(4)[0], 3u);
    EXPECT_EQ(v(5)[0], 5u);
    EXPECT_EQ(run({0xd8700001, 0x04000002 /* ds_read2st64_b32 v[4:5], v2 offset0:1 offset1:0 */}),
              none);
    EXPECT_EQ(v(4)[0], 66u);
    EXPECT_EQ(v(5)[0], 2u);
    EXPECT_EQ(run({0xd8ee0201, 0x04000002 /* ds_read2_b64 v[4:7], v2 offset0:1 offset1:2 */}),
              none);
    EXPECT_EQ(v(5)[0], 5u);
    EXPECT_EQ(v(6)[0], 6u);
    v(4)[0] = 100, v(6)[0] = 200;
    EXPECT_EQ(run({0xd81c0800, 0x00060402 /* ds_write2_b32 v2, v4, v6 offset0:0 offset1:8 */}),
              none);
    EXPECT_EQ(dwords()[2], 100u);
    EXPECT_EQ(dwords()[10], 200u);
    EXPECT_EQ(run({0xd85c0008,
                   0x08060402 /* ds_wrxchg2_rtn_b32 v[8:9], v2, v4, v6 offset0:8 offset1:0 */}),
              none);
    EXPECT_EQ(v(8)[0], 200u);
    EXPECT_EQ(v(9)[0], 100u);
    EXPECT_EQ(dwords()[2], 200u);
    EXPECT_EQ(dwords()[10], 100u);
}

TEST_F(LdsMemory, Atomics) {
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = 16, v(4)[l] = 3;
    dwords()[4] = 10;
    EXPECT_EQ(run({0xd8400000, 0x01000402 /* ds_add_rtn_u32 v1, v2, v4 */}), none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], 10 + 3 * l);
    EXPECT_EQ(dwords()[4], 10u + 3 * 64);
    exec(1);
    EXPECT_EQ(run({0xd8040000, 0x00000402 /* ds_rsub_u32 v2, v4 */}), none);
    EXPECT_EQ(dwords()[4], 3u - 202u);
    dwords()[4] = 0xff00ff00, v(4)[0] = 0x0000ff00, v(6)[0] = 0x42;
    EXPECT_EQ(run({0xd8580000, 0x01060402 /* ds_mskor_rtn_b32 v1, v2, v4, v6 */}),
              none);  // (old & ~data) | data2
    EXPECT_EQ(dwords()[4], 0xff000042u);
    // ds_cmpst compares with the first data operand and stores the second.
    v(4)[0] = 0xff000042, v(6)[0] = 7;
    EXPECT_EQ(run({0xd8600000, 0x01060402 /* ds_cmpst_rtn_b32 v1, v2, v4, v6 */}), none);
    EXPECT_EQ(v(1)[0], 0xff000042u);
    EXPECT_EQ(dwords()[4], 7u);
    v(4)[0] = 5, v(6)[0] = 100;  // wrap: old >= data ? old - data : old + data2
    EXPECT_EQ(run({0xd8680000, 0x01060402 /* ds_wrap_rtn_b32 v1, v2, v4, v6 */}), none);
    EXPECT_EQ(dwords()[4], 2u);
    EXPECT_EQ(run({0xd8680000, 0x01060402 /* ds_wrap_rtn_b32 v1, v2, v4, v6 */}), none);
    EXPECT_EQ(dwords()[4], 102u);
    v(2)[0] = lds_bytes, v(1)[0] = 1;
    EXPECT_EQ(run({0xd8400000, 0x01000402 /* ds_add_rtn_u32 v1, v2, v4 */}), none);
    EXPECT_EQ(v(1)[0], 0u);
    v(2)[0] = 18;
    EXPECT_EQ(run({0xd8400000, 0x01000402 /* ds_add_rtn_u32 v1, v2, v4 */}), fault);
    EXPECT_EQ(w().exit.lane_mask, 1u);
}

TEST_F(LdsMemory, FloatAtomicsFollowMode) {
    exec(1);
    v(2)[0] = 0, v(4)[0] = 1;
    dwords()[0] = 2;
    EXPECT_EQ(run({0xd82a0000, 0x00000402 /* ds_add_f32 v2, v4 */}), none);
    EXPECT_EQ(dwords()[0], 3u);
    w().mode = 0xc0;  // f32 denormals off
    EXPECT_EQ(run({0xd82a0000, 0x00000402 /* ds_add_f32 v2, v4 */}), none);
    EXPECT_EQ(dwords()[0], 0u);
    w().mode = 0xf0;
    dwords()[0] = 0x7fc00000, v(4)[0] = 0x3f800000;  // the number wins
    EXPECT_EQ(run({0xd8240000, 0x00000402 /* ds_min_f32 v2, v4 */}), none);
    EXPECT_EQ(dwords()[0], 0x3f800000u);
    dwords()[0] = 0xbf800000;
    EXPECT_EQ(run({0xd8260000, 0x00000402 /* ds_max_f32 v2, v4 */}), none);
    EXPECT_EQ(dwords()[0], 0x3f800000u);
    dwords()[0] = 0, dwords()[1] = 0x40000000, v(4)[0] = 0, v(5)[0] = 0x3ff00000;  // 2.0 + 1.0
    EXPECT_EQ(run({0xd8b80000, 0x00000402 /* ds_add_f64 v2, v[4:5] */}), none);
    EXPECT_EQ(dwords()[1], 0x40080000u);
}

TEST_F(LdsMemory, AppendAndConsumeCountActiveLanes) {
    exec(0xff0);
    w().sgpr[machine::m0] = 16;
    dwords()[6] = 40;
    EXPECT_EQ(run({0xd97c0008, 0x01000000 /* ds_append v1 offset:8 */}), none);
    EXPECT_EQ(v(1)[4], 40u);
    EXPECT_EQ(v(1)[11], 40u);
    EXPECT_EQ(dwords()[6], 48u);
    EXPECT_EQ(run({0xd97a0008, 0x01000000 /* ds_consume v1 offset:8 */}), none);
    EXPECT_EQ(v(1)[4], 48u);
    EXPECT_EQ(dwords()[6], 40u);
}

TEST_F(LdsMemory, AddTid) {
    w().sgpr[machine::m0] = 0xffff0010;
    for (uint32_t l = 0; l < 64; ++l) v(4)[l] = 500 + l;
    EXPECT_EQ(run({0xd83a0004, 0x00000400 /* ds_write_addtid_b32 v4 offset:4 */}), none);
    EXPECT_EQ(dwords()[5 + 63], 563u);
    EXPECT_EQ(run({0xd96c0008, 0x01000000 /* ds_read_addtid_b32 v1 offset:8 */}), none);
    EXPECT_EQ(v(1)[0], 501u);
}

TEST_F(LdsMemory, Swizzle) {
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l;
    // BROADCAST over 4 lanes of lane 2: and 0x1c, or 2.
    EXPECT_EQ(
        run({0xd87a005c, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:swizzle(BROADCAST,4,2) */}),
        none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & ~3u) + 2);
    EXPECT_EQ(run({0xd87a401f, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,16) */}),
              none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], l ^ 16);
    EXPECT_EQ(run({0xd87a1c1f, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:swizzle(REVERSE,8) */}),
              none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & ~7u) + 7 - (l & 7));
    EXPECT_EQ(
        run({0xd87a8087, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:swizzle(QUAD_PERM,3,1,0,2) */}),
        none);
    const uint32_t quad[4] = {3, 1, 0, 2};
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & ~3u) + quad[l & 3]);
    // The FFT tables of the ISA manual, which count lanes from 1: 0x00 and 0x10.
    EXPECT_EQ(run({0xd87ae000, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:0xe000 */}), none);
    const uint32_t fft0[32] = {1,    0x11, 9,    0x19, 5,    0x15, 0xd,  0x1d, 3,    0x13, 0xb,
                               0x1b, 7,    0x17, 0xf,  0x1f, 2,    0x12, 0xa,  0x1a, 6,    0x16,
                               0xe,  0x1e, 4,    0x14, 0xc,  0x1c, 8,    0x18, 0x10, 0x20};
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & 32) + fft0[l & 31] - 1);
    EXPECT_EQ(run({0xd87ae010, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:0xe010 */}), none);
    const uint32_t fft16[32] = {1,    9,    5,    0xd,  3,    0xb,  7,    0xf,  2,    0xa,  6,
                                0xe,  4,    0xc,  8,    0x10, 0x11, 0x19, 0x15, 0x1d, 0x13, 0x1b,
                                0x17, 0x1f, 0x12, 0x1a, 0x16, 0x1e, 0x14, 0x1c, 0x18, 0x20};
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & 32) + fft16[l & 31] - 1);
    EXPECT_EQ(run({0xd87ae01f, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:0xe01f */}), none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], l);
    EXPECT_EQ(run({0xd87ac020, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:0xc020 */}),
              none);  // rotate left by one
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], (l & 32) + ((l + 1) & 31));
    exec(~2ull);
    EXPECT_EQ(run({0xd87a041f, 0x01000002 /* ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,1) */}),
              none);
    EXPECT_EQ(v(1)[0], 0u);  // the source lane is inactive
}

TEST_F(LdsMemory, PermuteAndBpermute) {
    for (uint32_t l = 0; l < 64; ++l)
        v(2)[l] = ((l + 3) % 64) * 4 + 256, v(4)[l] = l * 10, v(1)[l] = 7;
    EXPECT_EQ(run({0xd87e0000, 0x01000402 /* ds_bpermute_b32 v1, v2, v4 */}), none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[l], ((l + 3) % 64) * 10);
    EXPECT_EQ(run({0xd87c0000, 0x01000402 /* ds_permute_b32 v1, v2, v4 */}), none);
    for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(v(1)[(l + 3) % 64], l * 10);
    exec(0xf);
    EXPECT_EQ(run({0xd87e0000, 0x01000402 /* ds_bpermute_b32 v1, v2, v4 */}), none);
    EXPECT_EQ(v(1)[0], 30u);
    EXPECT_EQ(v(1)[1], 0u);  // lane 4 is inactive
    for (uint32_t l = 0; l < 4; ++l) v(2)[l] = 8;
    EXPECT_EQ(run({0xd87c0000, 0x01000402 /* ds_permute_b32 v1, v2, v4 */}), none);
    EXPECT_EQ(v(1)[2], 30u);  // the highest lane wins
    EXPECT_EQ(v(1)[0], 0u);
}

TEST_F(LdsMemory, Src2FormsOfVega) {
    ctx->target = find_target("gfx900");
    exec(1);
    v(2)[0] = 16;
    dwords()[4] = 5, dwords()[1] = 20;
    // offset = {offset1[6:0], offset0} as a signed dword distance: -3
    EXPECT_EQ(run({0xd9007ffd, 0x00000002 /* ds_add_src2_u32 v2 offset:0x7ffd */}), none);
    EXPECT_EQ(dwords()[4], 25u);
}

// A 4 x 16 block of 16-bit elements: element (k, m) at k * 16 + m; lane m gets (0..3, m).
TEST_F(LdsMemory, TransposingReadsOfGfx950) {
    ctx->target = find_target("gfx950");
    auto* halves = reinterpret_cast<uint16_t*>(lds.data());
    for (uint32_t i = 0; i < 256; ++i) halves[i] = static_cast<uint16_t>(i);
    for (uint32_t l = 0; l < 64; ++l) v(2)[l] = l * 8;
    EXPECT_EQ(run({0xd9c60000, 0x04000002 /* ds_read_b64_tr_b16 v[4:5], v2 */}), none);
    for (uint32_t l = 0; l < 64; ++l) {
        const uint32_t block = l / 16 * 64, m = l % 16;
        EXPECT_EQ(v(4)[l], (block + m) | (block + 16 + m) << 16);
        EXPECT_EQ(v(5)[l], (block + 32 + m) | (block + 48 + m) << 16);
    }
    for (uint32_t i = 0; i < 512; ++i) lds[i] = static_cast<uint8_t>(i);
    EXPECT_EQ(run({0xd9c40000, 0x04000002 /* ds_read_b64_tr_b8 v[4:5], v2 */}), none);
    EXPECT_EQ(v(4)[3], 0x33231303u);
    EXPECT_EQ(v(5)[3], 0x73635343u);
    exec(1);
    EXPECT_EQ(run({0xd9c60000, 0x04000002 /* ds_read_b64_tr_b16 v[4:5], v2 */}),
              machine::ExitKind::Unimplemented);
}

TEST_F(LdsMemory, GdsIsRefusedByName) {
    ctx->target = find_target("gfx900");
    EXPECT_EQ(run({0xd8010000, 0x00000402 /* ds_add_u32 v2, v4 gds */}),
              machine::ExitKind::Unimplemented);
    EXPECT_NE(w().exit.reason, nullptr);
}

TEST_F(LdsMemory, GlobalWaveSyncReleasesWhenAllWavesHaveCome) {
    const Inst init = decoded({0xd9330001, 0x00000002 /* ds_gws_init v2 offset:1 gds */});
    const Inst barrier = decoded({0xd93b0001, 0x00000002 /* ds_gws_barrier v2 offset:1 gds */});
    handler(init.op)(w(), init);
    EXPECT_EQ(w().exit.kind, machine::ExitKind::Unimplemented);
    machine::GwsResource resources[machine::gws_resources];
    ctx->gws = resources;
    auto other = std::make_unique<machine::Wave>(*wave);
    for (machine::Wave* each : {wave.get(), other.get()}) each->exit = {}, each->pc = 0x108;
    v(2)[0] = 1;  // two waves
    handler(init.op)(w(), init);
    for (int round = 0; round < 3; ++round) {
        handler(barrier.op)(w(), barrier);
        ASSERT_EQ(w().exit.kind, machine::ExitKind::Yield);
        EXPECT_EQ(w().pc, 0x108u - barrier.size);
        w().exit = {}, w().pc = 0x108;
        handler(barrier.op)(w(), barrier);
        ASSERT_EQ(w().exit.kind, machine::ExitKind::Yield);
        handler(barrier.op)(*other, barrier);
        ASSERT_EQ(other->exit.kind, none);
        w().exit = {}, w().pc = 0x108;
        handler(barrier.op)(w(), barrier);
        ASSERT_EQ(w().exit.kind, none);
    }
}

// M0 is no way out of the allocation, whose size LDS_ALLOC has in units of 64 dwords on gfx6, of
// 128 behind it (ISA documents of Southern Islands, Sea Islands, GCN3).
TEST_F(LdsMemory, M0ReachesNoFurtherThanTheAllocation) {
    const struct {
        const char* target;
        uint32_t unit, s_mov_m0;  // s_mov_b32 m0, -1
    } rows[] = {
        {"gfx600", 256, 0xbefc03c1}, {"gfx700", 512, 0xbefc03c1}, {"gfx803", 512, 0xbefc00c1}};
    for (const auto& row : rows) {
        ctx->target = find_target(row.target);
        w().lds_alloc = 2 << 12;
        EXPECT_EQ(run({row.s_mov_m0}), none);
        EXPECT_EQ(w().sgpr[machine::m0], ~0u);
        EXPECT_EQ(w().lds_size, 2 * row.unit) << row.target;
    }
}

}  // namespace
}  // namespace wj::interp
