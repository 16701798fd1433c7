// wj_memory_map: host memory at addresses of the embedder's choice.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint32_t items = 2048;
constexpr uint64_t bytes = items * 4, high = 0x7123'4567'8000, beyond_host = 0xfff0'0000'0000,
                   low = 0x2000;

class MapTest : public Gpu {
protected:
    void SetUp() override {
        Gpu::SetUp();
        for (uint32_t i = 0; i < items; ++i) from[i] = i * 77;
    }
    wj_status map(uint64_t address, void* host, uint64_t size, uint32_t rights) {
        return wj_memory_map(context.get(), address, host, size, rights);
    }
    wj_status copy(uint64_t in, uint64_t out) {
        wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out)};
        return run(kernel("ids", "copy"), launch(arguments, {items, 1, 1}, {256, 1, 1}));
    }
    // Whole pages of their own.
    alignas(4096) static inline uint32_t from[items], to[items];
};

TEST_P(MapTest, KernelsSeeItWhereItIsMapped) {
    for (const uint64_t address : {high, beyond_host, low}) {
        std::memset(to, 0, bytes);
        ASSERT_EQ(map(address, from, bytes, WJ_READ), WJ_OK) << error();
        ASSERT_EQ(map(address + bytes, to, bytes, WJ_WRITE), WJ_OK) << error();
        ASSERT_EQ(copy(address, address + bytes), WJ_OK) << error();
        EXPECT_EQ(std::memcmp(from, to, bytes), 0) << std::hex << address;
        ASSERT_EQ(wj_memory_unregister(context.get(), address), WJ_OK) << error();
        ASSERT_EQ(wj_memory_unregister(context.get(), address + bytes), WJ_OK) << error();
        EXPECT_EQ(copy(address, address + bytes), WJ_GUEST_FAULT) << std::hex << address;
    }
}

TEST_P(MapTest, TheSameMemoryAtSeveralAddresses) {
    std::memset(to, 0, bytes);
    const uint64_t second = high + (uint64_t{1} << 32);
    ASSERT_EQ(map(high, to, bytes, WJ_READ | WJ_WRITE), WJ_OK) << error();
    ASSERT_EQ(map(second, to, bytes, WJ_READ | WJ_WRITE), WJ_OK) << error();
    ASSERT_EQ(map(beyond_host, from, bytes, WJ_READ), WJ_OK) << error();
    ASSERT_EQ(copy(beyond_host, high), WJ_OK) << error();
    const uint64_t out = buffer(bytes);
    ASSERT_EQ(copy(second, out), WJ_OK) << error();
    EXPECT_EQ(std::memcmp(from, host<uint32_t>(out), bytes), 0);
}

TEST_P(MapTest, RightsAndEndsAreKept) {
    ASSERT_EQ(map(high, from, bytes - 4, WJ_READ), WJ_OK) << error();
    const uint64_t out = buffer(bytes);
    EXPECT_EQ(copy(high, out), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, high + bytes - 4);
    EXPECT_EQ(copy(out, high), WJ_GUEST_FAULT);
    EXPECT_GE(fault.address, high);
    EXPECT_LT(fault.address, high + bytes);
    EXPECT_EQ(from[1], 77u);
}

TEST_P(MapTest, WhatCannotBeIsRefused) {
    EXPECT_EQ(map(high + 8, from, bytes, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("different offsets"), std::string::npos) << error();
    EXPECT_EQ(map(reinterpret_cast<uint64_t>(to), from, bytes, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("choose another address"), std::string::npos) << error();
    EXPECT_EQ(map(0xffff'ffff'f000, from, bytes, WJ_READ), WJ_INVALID_ARGUMENT) << "beyond 48 bits";
    EXPECT_EQ(map(high, from, 0, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(map(high, nullptr, bytes, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(map(high, from, bytes, 0), WJ_INVALID_ARGUMENT);
    ASSERT_EQ(map(high, from, bytes, WJ_READ), WJ_OK) << error();
    EXPECT_EQ(map(high + 4096, to, bytes, WJ_READ), WJ_INVALID_ARGUMENT) << "in part mapped";
    Context identity = make_context(GetParam().target, GetParam().engine);
    EXPECT_EQ(wj_memory_map(identity.get(), high, from, bytes, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::string(wj_last_error(identity.get())).find("checked"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, MapTest,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1030", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

}  // namespace
}  // namespace wj::test
