// gfx12.5: kernels of clang's that use what older processors lack.
#include <random>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Gfx125 : public Gpu {};

TEST_P(Gfx125, KernelsWithMoreThan256Registers) {
    wj_kernel* k = kernel("wide", "many_registers");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t items = 64, values = 320;
    uint32_t rounds = 37;
    const uint64_t in = buffer(items * values * 4), out = buffer(items * values * 4);
    std::mt19937 random(1);
    for (uint32_t i = 0; i < items * values; ++i) host<uint32_t>(in)[i] = random();
    wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out), WJ_POINTER(rounds)};
    ASSERT_EQ(run(k, launch(arguments, {items, 1, 1}, {32, 1, 1})), WJ_OK) << error();
    for (uint32_t i = 0; i < items; ++i) {
        uint32_t a[values];
        for (uint32_t j = 0; j < values; ++j) a[j] = host<uint32_t>(in)[j * items + i];
        for (uint32_t r = 0; r < rounds; ++r) {
            const uint32_t first = a[0];
            for (uint32_t j = 0; j < values; ++j)
                a[j] = a[j] * 3 + (j + 1 < values ? a[j + 1] : first);
        }
        for (uint32_t j = 0; j < values; ++j)
            ASSERT_EQ(host<uint32_t>(out)[j * items + i], a[j]) << i << ", value " << j;
    }
}

TEST_P(Gfx125, BuffersEndAtTheirLastByte) {
    wj_kernel* k = kernel("wide", "buffers");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t items = 128, within = 100;
    uint32_t bytes = within * 4;
    const uint64_t in = buffer(items * 4), out = buffer(items * 4, 0x55);
    for (uint32_t i = 0; i < items; ++i) host<uint32_t>(in)[i] = i * 7;
    wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out), WJ_POINTER(bytes)};
    ASSERT_EQ(run(k, launch(arguments, {items, 1, 1}, {64, 1, 1})), WJ_OK) << error();
    for (uint32_t i = 0; i < items; ++i)
        ASSERT_EQ(host<uint32_t>(out)[i], i < within ? i * 14 + 1 : 0x55555555) << i;
}

INSTANTIATE_TEST_SUITE_P(All, Gfx125,
                         testing::Values(Setup{"gfx1250", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
