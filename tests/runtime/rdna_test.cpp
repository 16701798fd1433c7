// gfx10: code objects whose kernels choose the size of their waves, on every engine.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Rdna : public Gpu {
protected:
    // What lanes*() of waves.S writes for 100 work-items.
    void expect_lanes(const char* name, uint32_t wave_size) {
        constexpr uint32_t items = 100;
        wj_kernel* k = kernel("waves", name);
        ASSERT_NE(k, nullptr);
        const uint64_t out = buffer(items * 4);
        ASSERT_EQ(run(k, packed(out, 0, items, items)), WJ_OK) << name << ": " << error();
        for (uint32_t i = 0; i < items; ++i) {
            const uint32_t first = i / wave_size * wave_size,
                           on = std::min(wave_size, items - first);
            ASSERT_EQ(host<uint32_t>(out)[i], (i - first) | on << 16) << name << " " << i;
        }
    }
};

TEST_P(Rdna, KernelsOfOneObjectChooseTheirWaves) {
    for (int round = 0; round < 2; ++round) {
        expect_lanes("lanes32", 32);
        expect_lanes("lanes64", 64);
    }
    expect_lanes("lanes32_cu", 32);
    expect_lanes("lanes32_progress", 32);
}

// 32 waves of 96 registers: 8 on each of four SIMDs with 1,024, or 16 on each of two.
TEST_P(Rdna, WorkGroupsHaveTheSimdsOfTheirMode) {
    constexpr uint32_t items = 1024;
    const uint64_t out = buffer(items * 4);
    EXPECT_EQ(run(kernel("waves", "wide_wgp"), packed(out, 0, items, items)), WJ_OK) << error();
    EXPECT_EQ(host<uint32_t>(out)[items - 1], 31u | 32 << 16);
    EXPECT_EQ(run(kernel("waves", "wide_cu"), packed(out, 0, items, items)), WJ_OUT_OF_RANGE);
    EXPECT_NE(error().find("does not fit into a compute unit"), std::string::npos) << error();
}

TEST_P(Rdna, ThePrologueSetsFlatScratchByHardwareRegisters) {
    wj_kernel* k = kernel("waves", "scratch32");
    ASSERT_NE(k, nullptr);
    const uint64_t out = buffer(64 * 4);
    ASSERT_EQ(run(k, packed(out, 0)), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(host<uint32_t>(out)[i], 7 * i) << i;
}

// Work-groups of several dimensions and sizes, in code that clang compiled for waves of 32 lanes.
TEST_P(Rdna, WorkItemsKnowTheirPlace) {
    wj_kernel* k = kernel("ids", "ids");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t grid[3] = {24, 6, 4}, block[3] = {12, 3, 2};
    constexpr uint32_t items = grid[0] * grid[1] * grid[2];
    const uint64_t out = buffer(items * 64);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(
        run(k, launch(arguments, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]})),
        WJ_OK)
        << error();
    for (uint32_t i = 0; i < items; ++i) {
        const uint32_t id[3] = {i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]};
        const uint32_t* o = host<uint32_t>(out) + i * 16;
        for (uint32_t d = 0; d < 3; ++d) {
            ASSERT_EQ(o[d], id[d]) << i;
            ASSERT_EQ(o[3 + d], id[d] % block[d]) << i;
            ASSERT_EQ(o[6 + d], id[d] / block[d]) << i;
            ASSERT_EQ(o[9 + d], block[d]) << i;
            ASSERT_EQ(o[12 + d], grid[d] / block[d]) << i;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, Rdna,
                         testing::Values(Setup{"gfx1010", WJ_ENGINE_INTERPRETER,
                                               WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1030", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1010", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1030", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1010", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1030", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1030", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
