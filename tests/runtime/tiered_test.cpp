// The engine that chooses by itself: what it interprets, what it translates, and that nobody can
// tell by the results.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class TieredTest : public Gpu {
protected:
    void SetUp() override {
        // One thread: which engine runs what depends on time otherwise.
        context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
        ASSERT_TRUE(context);
        wj_context_info info = WJ_INIT(wj_context_info);
        ASSERT_EQ(wj_context_get_info(context.get(), &info), WJ_OK);
        if (std::string(info.engine) == "interp")
            GTEST_SKIP() << "this host cannot run the engine of a translator";
    }
    wj_counters counters() {
        wj_counters c = WJ_INIT(wj_counters);
        EXPECT_EQ(wj_context_get_counters(context.get(), &c), WJ_OK);
        return c;
    }
    // y = 3 * x + y for so many work-items, by one launch.
    void saxpy(wj_kernel* k, uint32_t n) {
        const uint64_t x = buffer(n * 4ull), y = buffer(n * 4ull);
        for (uint32_t i = 0; i < n; ++i) {
            host<float>(x)[i] = static_cast<float>(i % 1000);
            host<float>(y)[i] = 1;
        }
        const float a = 3;
        wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(x), WJ_POINTER(y), WJ_POINTER(n)};
        ASSERT_EQ(run(k, launch(args, {n}, {256})), WJ_OK) << error();
        for (uint32_t i = 0; i < n; ++i)
            ASSERT_EQ(host<float>(y)[i], 3.f * static_cast<float>(i % 1000) + 1) << i;
    }
};

TEST_P(TieredTest, SmallLaunchesAreInterpreted) {
    saxpy(kernel("ids", "saxpy"), 256);
    const wj_counters c = counters();
    EXPECT_EQ(c.blocks_translated, 0u);
    EXPECT_GT(c.wave_instructions, 0u);
    EXPECT_EQ(c.interpreter_fallbacks, c.wave_instructions);
}

TEST_P(TieredTest, WhatRunsOftenIsTranslated) {
    wj_kernel* const k = kernel("ids", "saxpy");
    saxpy(k, 1 << 20);
    const wj_counters first = counters();
    EXPECT_GT(first.blocks_translated, 0u);
    EXPECT_GT(first.interpreter_fallbacks, 0u);
    EXPECT_LT(first.interpreter_fallbacks, first.wave_instructions / 4);
    saxpy(k, 1 << 20);
    EXPECT_EQ(counters().interpreter_fallbacks, first.interpreter_fallbacks);
}

// Small launches add up.
TEST_P(TieredTest, SmallLaunchesAddUp) {
    wj_kernel* const k = kernel("ids", "saxpy");
    for (int n = 0; n < 2000 && !counters().blocks_translated; ++n) saxpy(k, 256);
    EXPECT_GT(counters().blocks_translated, 0u);
}

// One wave that runs for long is translated in its midst.
TEST_P(TieredTest, LongWavesChangeOver) {
    constexpr uint32_t each = 5000;
    const uint64_t begin = buffer(65 * 4), values = buffer(64ull * each * 4),
                   table = buffer(1024 * 4), out = buffer(64 * 4);
    for (uint32_t i = 0; i <= 64; ++i) host<uint32_t>(begin)[i] = i * each;
    for (uint32_t i = 0; i < 64 * each; ++i) host<uint32_t>(values)[i] = i * 2654435761u >> 22;
    for (uint32_t i = 0; i < 1024; ++i) host<uint32_t>(table)[i] = i * i + 7;
    wj_argument args[] = {WJ_POINTER(begin), WJ_POINTER(values), WJ_POINTER(table),
                          WJ_POINTER(out)};
    ASSERT_EQ(run(kernel("ids", "rows"), launch(args, {64}, {64})), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; ++i) {
        uint32_t want = 0;
        for (uint32_t k = i * each; k < (i + 1) * each; ++k) {
            const uint32_t v = k * 2654435761u >> 22;
            want += v * v + 7;
        }
        ASSERT_EQ(host<uint32_t>(out)[i], want) << i;
    }
    const wj_counters c = counters();
    EXPECT_GT(c.blocks_translated, 0u);
    EXPECT_GT(c.interpreter_fallbacks, 0u);
    EXPECT_LT(c.interpreter_fallbacks, c.wave_instructions / 2);
}

TEST_P(TieredTest, MatrixInstructionsAreTranslated) {
    const uint32_t columns = 16, depth = 4;
    const uint64_t a = buffer(16 * depth * 4), b = buffer(16 * depth * 4), c = buffer(16 * 16 * 4);
    for (uint32_t i = 0; i < 16; ++i) {  // one product, the others are 0
        host<float>(a)[i * depth] = static_cast<float>(i);
        host<float>(b)[i * depth] = static_cast<float>(i + 1);
    }
    wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(b), WJ_POINTER(c), WJ_POINTER(columns),
                          WJ_POINTER(depth)};
    ASSERT_EQ(run(kernel("matrix", "f32_16"), launch(args, {64}, {64})), WJ_OK) << error();
    for (uint32_t i = 0; i < 16; ++i)
        for (uint32_t j = 0; j < 16; ++j)
            ASSERT_EQ(host<float>(c)[i * 16 + j], static_cast<float>(i * (j + 1)));
    EXPECT_GT(counters().blocks_translated, 0u);
}

INSTANTIATE_TEST_SUITE_P(All, TieredTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
