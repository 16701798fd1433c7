#include "memory/window.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "memory/address_space.h"

namespace wj::memory {
namespace {

constexpr uint64_t page = page_size, window_bytes = Window::least_bytes,
                   usable = window_bytes - 2 * Window::unused;

TEST(Window, IsAlignedToItsSizeAndEmpty) {
    for (const uint64_t bytes : {window_bytes, uint64_t{1} << 40}) {
        const auto window = Window::reserve(bytes);
        ASSERT_TRUE(window) << window.status().message();
        const uint64_t base = (*window)->base();
        EXPECT_EQ(base % bytes, 0u);
        // Reserved at both ends of the margins: nobody else is given an address there.
        for (const uint64_t at : {base - Window::margin, base, base + bytes - page,
                                  base + bytes + Window::margin - page})
            EXPECT_EQ(mmap(reinterpret_cast<void*>(at), page, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
                      MAP_FAILED)
                << std::hex << at;
    }
}

TEST(Window, SizesThatAreNoPowersOfTwoAreRefused) {
    for (const uint64_t bytes : {uint64_t{0}, page, window_bytes + 1, uint64_t{1} << 47}) {
        const auto window = Window::reserve(bytes);
        ASSERT_FALSE(window);
        EXPECT_EQ(window.status().code(), Code::InvalidArgument);
        EXPECT_NE(window.status().message().find(std::to_string(bytes)), std::string::npos);
    }
}

TEST(Window, GivesEachAddressOnceAndJoinsWhatComesBack) {
    const auto window = *Window::reserve(Window::least_bytes);
    constexpr uint64_t piece = usable / 64;
    const uint64_t first = window->base() + Window::unused;
    std::vector<uint64_t> taken;
    while (const uint64_t at = window->take(piece, page)) {
        EXPECT_GE(at, first);
        EXPECT_LE(at + piece, first + usable);
        taken.push_back(at);
    }
    ASSERT_EQ(taken.size(), usable / piece);
    std::sort(taken.begin(), taken.end());
    for (size_t i = 1; i < taken.size(); ++i) EXPECT_GE(taken[i] - taken[i - 1], piece);
    // In an order in which ranges grow at their beginnings, at their ends, and on both sides.
    for (const size_t start : {1, 0, 2})
        for (size_t i = start; i < taken.size(); i += 3) window->give_back(taken[i], piece);
    EXPECT_EQ(window->take(usable, page), first);
    EXPECT_EQ(window->take(page, page), 0u);
}

TEST(Window, MemoryThatComesBackIsZeroAndInaccessible) {
    AddressSpace space;
    ASSERT_TRUE(space.confine(window_bytes));
    const uint64_t a = space.allocate(3 * page, read_write, "a").value();
    EXPECT_TRUE(space.window()->contains(a, 3 * page));
    std::memset(reinterpret_cast<void*>(a), 1, 3 * page);
    ASSERT_TRUE(space.free(a));
    unsigned char resident = 0;
    EXPECT_EQ(mincore(reinterpret_cast<void*>(a), page, &resident), 0) << "still reserved";
    const uint64_t b = space.allocate(3 * page, read_write, "b").value();
    EXPECT_EQ(a, b);
    for (uint64_t i = 0; i < 3 * page; ++i) ASSERT_EQ(reinterpret_cast<uint8_t*>(b)[i], 0);
}

TEST(Window, TakesNoHostMemory) {
    AddressSpace space;
    ASSERT_TRUE(space.confine(window_bytes));
    static uint8_t host[64];
    const Status status = space.map(reinterpret_cast<uint64_t>(host), host, 64, readable, "host");
    EXPECT_EQ(status.code(), Code::InvalidArgument);
    EXPECT_NE(status.message().find("window"), std::string::npos);
}

TEST(Window, AllocationsEndWithTheWindow) {
    AddressSpace space;
    ASSERT_TRUE(space.confine(window_bytes));
    EXPECT_EQ(space.allocate(usable, read_write, "all, and a hole behind").status().code(),
              Code::OutOfMemory);
    EXPECT_TRUE(space.allocate(usable / 2, read_write, "half"));
}

}  // namespace
}  // namespace wj::memory
