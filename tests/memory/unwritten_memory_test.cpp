// Which bytes have been written, against a byte of its own for each.
#include "machine/unwritten_memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>
#include <vector>

namespace wj::machine {
namespace {

constexpr uint64_t first = 0x7000'0000'1000 - 3;  // allocations need not begin at a word

class UnwrittenMemoryTest : public testing::Test {
protected:
    bool written(uint64_t guest, uint64_t bytes) {
        return UnwrittenMemory::Accesses(memory).written(guest, bytes);
    }
    uint64_t unwritten(uint64_t guest, uint32_t bytes) {
        return UnwrittenMemory::Accesses(memory).unwritten(guest, bytes);
    }
    UnwrittenMemory memory;
};

TEST_F(UnwrittenMemoryTest, KnowsAllocationsAlone) {
    EXPECT_FALSE(memory.any());
    memory.add(first, 10);
    EXPECT_TRUE(memory.any());
    EXPECT_EQ(unwritten(first - 2, 16), 0xffcu);
    EXPECT_TRUE(written(first - 8, 8));
    EXPECT_TRUE(written(first + 10, 100));
    EXPECT_FALSE(written(first - 8, 9));
    memory.write(first - 8, 64);
    EXPECT_FALSE(memory.any());
    EXPECT_TRUE(written(first, 10));
}

TEST_F(UnwrittenMemoryTest, AnAllocationAtAnAddressThatWasFreedBeginsAnew) {
    memory.add(first, 100);
    memory.write(first, 100);
    memory.remove(first);
    EXPECT_TRUE(written(first, 100));
    memory.add(first, 50);
    EXPECT_EQ(unwritten(first + 48, 4), 3u);
    memory.remove(first);
    EXPECT_FALSE(memory.any());
}

TEST_F(UnwrittenMemoryTest, CopiesTakeAlongWhatHasNotBeenWritten) {
    memory.add(first, 200);
    memory.add(first + 1000, 200);
    memory.write(first + 1000, 200);
    memory.write(first + 10, 1);
    memory.copy(first + 1000, first, 200);
    EXPECT_EQ(unwritten(first + 1008, 4), 0xbu);
    memory.copy(first + 1, first, 100);  // a byte on: what it overlaps first
    EXPECT_EQ(unwritten(first + 8, 5), 0x17u);
    memory.copy(first, 0x1000, 200);  // of the host
    EXPECT_TRUE(written(first, 200));
}

TEST_F(UnwrittenMemoryTest, IsAsItWasWhenItIsRestored) {
    memory.add(first, 100);
    memory.add(first + 200, 100);
    memory.write(first + 5, 1);
    memory.write(first + 200, 100);
    const UnwrittenMemory::State state = memory.save();
    memory.remove(first + 200);
    memory.add(first + 400, 100);
    memory.write(first, 100);
    memory.restore(state);
    EXPECT_EQ(unwritten(first + 4, 3), 5u);
    EXPECT_FALSE(written(first + 99, 1));
    EXPECT_TRUE(written(first + 200, 300));
    memory.write(first, 100);
    EXPECT_FALSE(memory.any());
}

TEST_F(UnwrittenMemoryTest, WhatHasBeenGivenAwayCountsAsWritten) {
    memory.add(first, 100);
    memory.add(first + 200, 100);
    const UnwrittenMemory::State state = memory.save();
    memory.give_away(first);
    EXPECT_TRUE(written(first, 100));
    memory.copy(first, first + 200, 100);
    EXPECT_TRUE(written(first, 100));
    memory.restore(state);
    EXPECT_TRUE(written(first, 100));
    EXPECT_FALSE(written(first + 200, 1));
    memory.add(first, 100);
    EXPECT_FALSE(written(first, 1));
}

TEST_F(UnwrittenMemoryTest, AgreesWithAByteForEach) {
    std::mt19937 random(1);
    constexpr uint32_t space = 700;
    std::vector<bool> model(space + 64, true);
    const std::map<uint32_t, uint32_t> regions{{10, 100}, {110, 64}, {180, 1}, {200, 333}};
    for (const auto& [at, bytes] : regions) {
        memory.add(first + at, bytes);
        std::fill_n(model.begin() + at, bytes, false);
    }
    const auto is_known = [&](uint32_t at) {
        return std::ranges::any_of(
            regions, [&](const auto& r) { return at >= r.first && at < r.first + r.second; });
    };
    for (int step = 0; step < 20000; step++) {
        const uint32_t at = random() % space, bytes = random() % 64 + 1;
        if (step % 3 == 0) {
            const uint64_t set = random() | uint64_t{random()} << 32;
            UnwrittenMemory::Accesses(memory).set(first + at, bytes, set);
            for (uint32_t b = 0; b < bytes; b++)
                model[at + b] = !is_known(at + b) || !(set >> b & 1);
        } else if (step % 3 == 1) {
            const uint32_t from = random() % space;
            memory.copy(first + at, first + from, bytes);
            const std::vector<bool> before = model;
            for (uint32_t b = 0; b < bytes; b++)
                model[at + b] = !is_known(at + b) || before[from + b];
        }
        uint64_t expected = 0;
        for (uint32_t b = 0; b < bytes; b++) expected |= uint64_t{!model[at + b]} << b;
        ASSERT_EQ(unwritten(first + at, bytes), expected) << step;
        ASSERT_EQ(written(first + at, bytes), !expected) << step;
        ASSERT_EQ(memory.any(), std::ranges::count(model, false) != 0) << step;
    }
}

TEST_F(UnwrittenMemoryTest, ThreadsWriteSideBySide) {
    constexpr uint32_t bytes = 4096;
    memory.add(first, bytes);
    const auto every_other = [&](uint32_t from) {
        for (uint32_t b = from; b < bytes; b += 2) memory.write(first + b, 1);
    };
    std::thread other(every_other, 1);
    every_other(0);
    other.join();
    EXPECT_FALSE(memory.any());
    EXPECT_TRUE(written(first, bytes));
}

}  // namespace
}  // namespace wj::machine
