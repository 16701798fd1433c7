#include "memory/access.h"

#include <gtest/gtest.h>

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
    EXPECT_EQ(atomic_pointer(*ctx, 0x30000), nullptr);
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
    ctx->address_mask = ~(1ull << 47);
    EXPECT_TRUE(write<uint32_t>(*ctx, *a | 1ull << 47, 77));
    uint32_t v = 0;
    EXPECT_TRUE(read(*ctx, *a, v));
    EXPECT_EQ(v, 77u);
}

}  // namespace
}  // namespace wj::memory
