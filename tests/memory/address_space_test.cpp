#include "memory/address_space.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace wj::memory {
namespace {

TEST(AddressSpace, AllocationsAreZeroedAlignedAndIdentityMapped) {
    AddressSpace space;
    auto small = space.allocate(100, read_write, "small");
    auto large = space.allocate((2 << 20) + 5, read_write, "large");
    ASSERT_TRUE(small && large);
    EXPECT_EQ(*small % 4096, 0u);
    EXPECT_EQ(*large % (2 << 20), 0u);
    EXPECT_EQ(space.translate(*small, 100, read_write), reinterpret_cast<void*>(*small));
    EXPECT_EQ(space.translate(*large, (2 << 20) + 5, read_write), reinterpret_cast<void*>(*large));
    const auto* bytes = reinterpret_cast<const uint8_t*>(*large);
    for (size_t i = 0; i < (2 << 20) + 5; i += 4095) EXPECT_EQ(bytes[i], 0);
    EXPECT_EQ(space.bytes_allocated(), 4096u + (2u << 20) + 4096u);
    EXPECT_TRUE(space.free(*small));
    EXPECT_TRUE(space.free(*large));
    EXPECT_EQ(space.bytes_allocated(), 0u);
}

TEST(AddressSpace, NothingIsMappedBehindAnAllocation) {
    AddressSpace space;
    auto a = space.allocate(4096, read_write, "a");
    ASSERT_TRUE(a);
    for (uint64_t o = 4096; o < 4096 + 65536; o += 4096)
        EXPECT_EQ(space.translate(*a + o, 1, readable), nullptr);
    EXPECT_EQ(space.translate(*a + 4090, 8, readable), nullptr);
}

TEST(AddressSpace, FreeMakesTheRangeUnknownAndRaisesTheEpoch) {
    AddressSpace space;
    auto a = space.allocate(4096, read_write, "hipMalloc");
    ASSERT_TRUE(a);
    const uint64_t epoch = space.epoch();
    EXPECT_FALSE(space.free(*a + 8));
    EXPECT_TRUE(space.free(*a));
    EXPECT_FALSE(space.free(*a));
    EXPECT_GT(space.epoch(), epoch);
    EXPECT_EQ(space.translate(*a, 1, readable), nullptr);
    EXPECT_NE(
        space.describe(*a + 16).find("16 bytes into freed allocation 1 (hipMalloc, 4096 bytes"),
        std::string::npos);
}

TEST(AddressSpace, BadRequestsAreErrors) {
    AddressSpace space;
    EXPECT_EQ(space.allocate(0, read_write, "").status().code(), Code::InvalidArgument);
    EXPECT_EQ(space.allocate(~0ull, read_write, "").status().code(), Code::OutOfMemory);
    int x = 0;
    EXPECT_FALSE(space.map(1ull << 48, &x, 4, read_write, ""));
    EXPECT_FALSE(space.map((1ull << 48) - 8, &x, 64, read_write, ""));
    EXPECT_FALSE(space.map(reinterpret_cast<uint64_t>(&x) + 4, &x, 4, read_write, ""));
    EXPECT_FALSE(space.unmap(0x1000));
    EXPECT_FALSE(space.protect(0x1000, 4096, readable));
    EXPECT_EQ(space.translate(~0ull - 3, 4, readable), nullptr);
    EXPECT_EQ(space.translate(0x1000, ~0ull, readable), nullptr);
}

TEST(AddressSpace, ViewsOfOnePageOutliveEachOther) {
    AddressSpace space;
    alignas(4096) static uint8_t page[8192];
    const uint64_t base = reinterpret_cast<uint64_t>(page);
    ASSERT_TRUE(space.map(base + 16, page + 16, 100, read_write, "one"));
    ASSERT_TRUE(space.map(base + 200, page + 200, 4096, readable, "two"));
    EXPECT_EQ(space.translate(base + 16, 100, read_write), page + 16);
    EXPECT_EQ(space.translate(base + 16, 101, readable), nullptr);
    EXPECT_EQ(space.translate(base + 15, 1, readable), nullptr);
    EXPECT_EQ(space.translate(base + 200, 1, read_write), nullptr);
    ASSERT_TRUE(space.unmap(base + 16));
    EXPECT_EQ(space.translate(base + 16, 4, readable), nullptr);
    EXPECT_EQ(space.translate(base + 200, 4096, readable), page + 200);
    EXPECT_EQ(space.translate(base + 200, 4097, readable), nullptr);
    ASSERT_TRUE(space.unmap(base + 200));
    EXPECT_EQ(space.translate(base + 200, 1, readable), nullptr);
}

TEST(AddressSpace, ViewsMayLieAtOtherGuestAddresses) {
    AddressSpace space;
    alignas(4096) static uint8_t page[4096], other[4096];
    const uint64_t alias = reinterpret_cast<uint64_t>(page) | 1ull << 47;
    ASSERT_TRUE(space.map(alias, page, 4096, read_write, "alias"));
    EXPECT_EQ(space.translate(alias + 12, 4, read_write), page + 12);
    EXPECT_FALSE(space.map(alias, other, 4096, read_write, "clash"));
    Allocation a;
    ASSERT_TRUE(space.find(alias + 5, a));
    EXPECT_EQ(a.label, "alias");
    EXPECT_EQ(a.host, page);
}

TEST(AddressSpace, DescribeNamesTheNearestAllocation) {
    AddressSpace space;
    EXPECT_EQ(space.describe(0), "a null pointer");
    EXPECT_EQ(space.describe(24), "a null pointer plus 24");
    auto a = space.allocate(4096, read_write, "hipMalloc");
    ASSERT_TRUE(a);
    EXPECT_EQ(space.describe(*a + 4112).substr(0, 50),
              "16 bytes after allocation 1 (hipMalloc, 4096 bytes");
    EXPECT_EQ(space.describe(*a - 4).substr(0, 42), "4 bytes before allocation 1 (hipMalloc, 40");
    EXPECT_EQ(space.describe(1ull << 60).substr(0, 24), "not a canonical address;");
    Allocation near;
    ASSERT_TRUE(space.nearest(*a + 100000, near));
    EXPECT_EQ(near.guest, *a);
}

TEST(AddressSpace, ProtectTakesRightsAway) {
    AddressSpace space;
    auto a = space.allocate(8192, read_write, "code object");
    ASSERT_TRUE(a);
    ASSERT_TRUE(space.protect(*a + 4096, 10, readable));
    EXPECT_NE(space.translate(*a, 4096, read_write), nullptr);
    EXPECT_EQ(space.translate(*a + 4096, 4, read_write), nullptr);
    EXPECT_NE(space.translate(*a + 4096, 4, readable), nullptr);
    EXPECT_NE(space.describe(*a + 4100).find("read-only"), std::string::npos);
}

TEST(AddressSpace, ThreadsAllocateAndTranslateAtOnce) {
    AddressSpace space;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 200; ++i) {
                auto a = space.allocate(4096 * (1 + i % 5), read_write, "t");
                ASSERT_TRUE(a);
                ASSERT_NE(space.translate(*a, 4096, read_write), nullptr);
                ASSERT_TRUE(space.free(*a));
            }
        });
    for (auto& t : threads) t.join();
    EXPECT_EQ(space.bytes_allocated(), 0u);
}

}  // namespace
}  // namespace wj::memory
