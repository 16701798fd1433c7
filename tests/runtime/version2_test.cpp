// Code objects V2, which clang 14 is the last to write: amd_kernel_code_t and its metadata, from
// loading to results.
#include <array>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Version2 : public Gpu {
protected:
    void SetUp() override {
        if (!WJ_TEST_VERSION2) GTEST_SKIP() << "clang-14 is not installed";
        Gpu::SetUp();
    }
};

// kernels/version2.cl, computed once more.
TEST_P(Version2, KernelsRun) {
    constexpr uint32_t groups = 3, items = 128;
    const uint64_t out = buffer(groups * items * 4);
    const uint32_t n = 100;
    const uint64_t big = 0x1234'5678'9abc'def0;
    const std::array<uint32_t, 4> v{7, 11, 13, 17};
    const uint8_t c = 200;
    wj_argument arguments[] = {WJ_POINTER(out), WJ_POINTER(n), WJ_POINTER(big), WJ_POINTER(v),
                               WJ_POINTER(c)};
    wj_kernel* k = kernel("version2", "version2");
    ASSERT_NE(k, nullptr);
    ASSERT_EQ(run(k, launch(arguments, {groups * 64, 2}, {64, 2})), WJ_OK) << error();
    for (uint32_t i = 0; i < groups * items; i++) {
        const uint32_t item = i % items, other = items - 1 - item;
        const uint32_t expected =
            item < n ? (other & 7) * v[1] + other + 0x1234'5678 + v[0] * v[3] + c : 0;
        ASSERT_EQ(host<uint32_t>(out)[i], expected) << i;
    }
    // The metadata's work-group size is asked for.
    EXPECT_EQ(run(k, launch(arguments, {groups * 64, 1}, {64, 1})), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("64 x 2 x 1"), std::string::npos) << error();
}

// The kernel takes the apertures from its queue, and FLAT_SCRATCH from what it is started with.
TEST_P(Version2, GenericAddressesReachAllMemory) {
    const uint64_t out = buffer(256), sevens = buffer(256);
    wj_argument arguments[] = {WJ_POINTER(out), WJ_POINTER(sevens)};
    ASSERT_EQ(run(kernel("version2", "generic_addresses"), launch(arguments, {64}, {64})), WJ_OK)
        << error();
    for (uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(host<uint32_t>(out)[i], i * (i % 3 == 0 ? 3 : i % 3 == 1 ? 5 : 7)) << i;
}

INSTANTIATE_TEST_SUITE_P(All, Version2,
                         testing::Values(Setup{"gfx700", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx700", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx700", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx700", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx803", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx803", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx803", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx900", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
