// gfx6 to gfx8: private memory and generic pointers, as compiled code sets them up there.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Gcn : public Gpu {};
class GcnFlat : public Gpu {};  // gfx6 has no flat accesses

// Through the private segment buffer; gfx6 has no FLAT_SCRATCH to set up.
TEST_P(Gcn, PrivateArrays) {
    wj_kernel* k = kernel("ids", "private_array");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t items = 192;
    const uint64_t index = buffer(32 * 4), out = buffer(items * 4);
    for (uint32_t i = 0; i < 32; ++i) host<uint32_t>(index)[i] = i * 7 % 32;
    wj_argument arguments[] = {WJ_POINTER(index), WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(arguments, {items, 1, 1}, {64, 1, 1})), WJ_OK) << error();
    for (uint32_t i = 0; i < items; ++i) {
        uint32_t a[32];
        for (uint32_t j = 0; j < 32; ++j) a[j] = i * 100 + j;
        for (uint32_t j = 0; j < 8; ++j) a[(i + j) % 32 * 7 % 32] ^= j << 16;
        ASSERT_EQ(host<uint32_t>(out)[i], a[i % 32 * 7 % 32]) << i;
    }
}

// A flat access of the private aperture reaches what the private segment buffer does, one of the
// shared aperture the LDS, and the queue tells the apertures, which differ.
TEST_P(GcnFlat, GenericPointersLeadToThreePlaces) {
    wj_kernel* k = kernel("generic", "generic_pointers");
    ASSERT_NE(k, nullptr);
    const uint64_t out = buffer(256 * 4);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(arguments, {64, 1, 1}, {64, 1, 1})), WJ_OK) << error();
    const uint32_t* o = host<uint32_t>(out);
    for (uint32_t i = 0; i < 64; ++i) {
        const uint32_t place = (i + i / 3) % 3;
        EXPECT_EQ(o[64 + i], 1000 + i * 8 + i % 8 + (place == 0 ? 500 : 0)) << i;
        EXPECT_EQ(o[128 + i], 2000 + i + (place == 1 ? 500 : 0)) << i;
        EXPECT_EQ(o[i], 3000 + i + (place == 2 ? 500 : 0)) << i;
        EXPECT_EQ(o[192 + i], place == 0 ? 1u : place == 1 ? 2u : 0u) << i;
    }
}

TEST_P(GcnFlat, CheckersLetFlatAccessesReachTheLds) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = GetParam().target;
    o.engine = GetParam().engine;
    o.memory_mode = WJ_MEMORY_CHECKED;
    o.checks = WJ_CHECK_MEMORY | WJ_CHECK_INIT;
    wj_context* c = nullptr;
    char why[512] = "";
    ASSERT_EQ(wj_context_create(&o, &c, why, sizeof why), WJ_OK) << why;
    context.reset(c);
    wj_kernel* k = kernel("generic", "flat_lds");
    ASSERT_NE(k, nullptr);
    const uint64_t out = buffer(64 * 4);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(arguments, {64, 1, 1}, {64, 1, 1})), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(host<uint32_t>(out)[i], (63 - i) * (63 - i)) << i;
}

// Word 0 and the wave's offset go to FLAT_SCRATCH_HI in units of 256 bytes, word 1, the bytes of a
// work-item, to FLAT_SCRATCH_LO.
TEST_P(GcnFlat, FlatScratchInit) {
    wj_kernel* k = kernel("gcn", "flat_scratch_init");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t groups = 32;
    const uint64_t out = buffer(groups * 8);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(run(k, launch(arguments, {groups * 64, 1, 1}, {64, 1, 1})), WJ_OK) << error();
    for (uint32_t g = 0; g < groups; ++g) {
        EXPECT_EQ(host<uint32_t>(out)[2 * g] % 256, 0u) << g;
        EXPECT_EQ(host<uint32_t>(out)[2 * g + 1], 48u) << g;
    }
}

constexpr Setup gfx6[] = {{"gfx600", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                          {"gfx600", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                          {"gfx600", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED}};
constexpr Setup gfx7_gfx8[] = {{"gfx700", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                               {"gfx700", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                               {"gfx700", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                               {"gfx803", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                               {"gfx803", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                               {"gfx803", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                               {"gfx803", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY}};
INSTANTIATE_TEST_SUITE_P(Gfx6, Gcn, testing::ValuesIn(gfx6), setup_name);
INSTANTIATE_TEST_SUITE_P(Gfx7, Gcn, testing::ValuesIn(gfx7_gfx8), setup_name);
INSTANTIATE_TEST_SUITE_P(All, GcnFlat, testing::ValuesIn(gfx7_gfx8), setup_name);

}  // namespace
}  // namespace wj::test
