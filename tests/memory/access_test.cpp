#include "memory/access.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "memory/address_space.h"

namespace wj::memory {
namespace {

struct CheckedAccess : ::testing::Test {
    AddressSpace space;
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    void SetUp() override {
        ctx->memory = &space;
        ctx->memory_mode = machine::MemoryMode::Checked;
    }
};

TEST_F(CheckedAccess, ReadsAndWritesGoThroughTheTable) {
    alignas(4096) static uint8_t pages[8192];
    ASSERT_TRUE(space.map(0x10000, pages, 8192, read_write, "window"));
    EXPECT_TRUE(write<uint32_t>(*ctx, 0x10010, 0x12345678));
    EXPECT_EQ(pages[0x10], 0x78);
    uint32_t v = 0;
    EXPECT_TRUE(read(*ctx, 0x10010, v));
    EXPECT_EQ(v, 0x12345678u);
    EXPECT_FALSE(read(*ctx, 0x12000, v));
    EXPECT_FALSE(read(*ctx, 0, v));
    EXPECT_FALSE(read(*ctx, 1ull << 48, v));
    EXPECT_FALSE(read(*ctx, ~0ull, v));
}

TEST_F(CheckedAccess, CrossingPagesWorksAndAFaultWritesNothing) {
    alignas(4096) static uint8_t pages[8192];
    ASSERT_TRUE(space.map(0x20000, pages, 8192, read_write, "window"));
    EXPECT_TRUE(write<uint64_t>(*ctx, 0x20ffc, 0x1122334455667788));
    uint64_t v = 0;
    EXPECT_TRUE(read(*ctx, 0x20ffc, v));
    EXPECT_EQ(v, 0x1122334455667788u);
    EXPECT_EQ(pages[0xffc], 0x88);
    EXPECT_FALSE(write<uint64_t>(*ctx, 0x21ffc, ~0ull));
    EXPECT_EQ(pages[0x1ffc], 0);
    EXPECT_FALSE(read(*ctx, 0x21ffc, v));
}

TEST_F(CheckedAccess, ReadOnlyPagesRefuseWritesAndAtomics) {
    alignas(4096) static uint8_t page[4096];
    ASSERT_TRUE(space.map(0x30000, page, 4096, readable, "constants"));
    uint32_t v = 0;
    EXPECT_TRUE(read(*ctx, 0x30000, v));
    EXPECT_FALSE(write<uint32_t>(*ctx, 0x30000, 1));
    EXPECT_EQ(atomic_pointer(*ctx, 0x30000, 4), nullptr);
}

TEST_F(CheckedAccess, NeighboursOfAMappedRangeOnItsPageAreOutOfReach) {
    alignas(4096) static uint8_t page[4096];
    ASSERT_TRUE(space.map(0x40000 + 100, page + 100, 20, read_write, "record"));
    uint32_t v = 0;
    EXPECT_TRUE(write<uint32_t>(*ctx, 0x40000 + 100, 5));
    EXPECT_TRUE(write<uint32_t>(*ctx, 0x40000 + 116, 5));
    EXPECT_FALSE(write<uint32_t>(*ctx, 0x40000 + 117, ~0u));
    EXPECT_FALSE(write<uint32_t>(*ctx, 0x40000 + 99, ~0u));
    EXPECT_FALSE(write<uint8_t>(*ctx, 0x40000 + 120, 1));
    EXPECT_FALSE(read(*ctx, 0x40000 + 96, v));
    EXPECT_NE(atomic_pointer(*ctx, 0x40000 + 116, 4), nullptr);
    EXPECT_EQ(atomic_pointer(*ctx, 0x40000 + 120, 4), nullptr);
    EXPECT_EQ(atomic_pointer(*ctx, 0x40000 + 116, 8), nullptr);
    for (uint32_t b = 0; b < 4096; ++b) EXPECT_EQ(page[b], b == 100 || b == 116 ? 5 : 0) << b;
}

TEST_F(CheckedAccess, RangesThatTouchAreOneAndKeepTheirRights) {
    alignas(4096) static uint8_t page[4096];
    ASSERT_TRUE(space.map(0x50000, page, 64, read_write, "first"));
    ASSERT_TRUE(space.map(0x50000 + 64, page + 64, 64, readable, "second"));
    uint64_t v = 0;
    EXPECT_TRUE(read(*ctx, 0x50000 + 60, v));
    EXPECT_TRUE(write<uint32_t>(*ctx, 0x50000 + 60, 1));
    EXPECT_FALSE(write<uint32_t>(*ctx, 0x50000 + 62, 1));
    EXPECT_FALSE(read(*ctx, 0x50000 + 124, v));
    ASSERT_TRUE(space.unmap(0x50000));
    refresh_tlb(*ctx);
    EXPECT_FALSE(read(*ctx, 0x50000 + 60, v));
    EXPECT_TRUE(read(*ctx, 0x50000 + 64, v));
}

TEST_F(CheckedAccess, AllocationsOfBytesEndAtTheirLastByte) {
    auto exact = space.allocate(4100, read_write, "a", Extent::Bytes);
    auto pages = space.allocate(4100, read_write, "b");
    ASSERT_TRUE(exact && pages);
    EXPECT_TRUE(write<uint64_t>(*ctx, *exact + 4092, 1));
    EXPECT_FALSE(write<uint64_t>(*ctx, *exact + 4093, 1));
    EXPECT_TRUE(write<uint64_t>(*ctx, *pages + 8184, 1));
    EXPECT_FALSE(write<uint64_t>(*ctx, *pages + 8192, 1));
}

TEST_F(CheckedAccess, ScalarLoadsMayReachTheEndOfSixteenBytes) {
    auto a = space.allocate(20, read_write, "a", Extent::Bytes);
    ASSERT_TRUE(a);
    std::array<uint32_t, 4> v{};
    EXPECT_TRUE(read_scalar(*ctx, *a + 16, v));  // three of its dwords are behind the end
    EXPECT_FALSE(read_scalar(*ctx, *a + 20, v));
    uint32_t dword = 0;
    EXPECT_TRUE(read_scalar(*ctx, *a + 28, dword));
    EXPECT_FALSE(read_scalar(*ctx, *a + 32, dword));
    EXPECT_FALSE(read(*ctx, *a + 28, dword));
}

TEST_F(CheckedAccess, StaleTranslationsGoAway) {
    auto a = space.allocate(4096, read_write, "a");
    ASSERT_TRUE(a);
    uint32_t v = 0;
    EXPECT_TRUE(read(*ctx, *a, v));
    ASSERT_TRUE(space.free(*a));
    refresh_tlb(*ctx);
    EXPECT_FALSE(read(*ctx, *a, v));
}

TEST_F(CheckedAccess, TheAddressMaskAppliesToEveryAccess) {
    auto a = space.allocate(4096, read_write, "a");
    ASSERT_TRUE(a);
    ctx->reach.mask = ~(1ull << 47);
    EXPECT_TRUE(write<uint32_t>(*ctx, *a | 1ull << 47, 77));
    uint32_t v = 0;
    EXPECT_TRUE(read(*ctx, *a, v));
    EXPECT_EQ(v, 77u);
}

}  // namespace
}  // namespace wj::memory
