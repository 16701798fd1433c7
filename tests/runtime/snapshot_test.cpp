// Snapshots of a context's memory.
#include <random>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint64_t page = 4096;

class SnapshotTest : public Gpu {
protected:
    bool checked() const { return GetParam().memory == WJ_MEMORY_CHECKED; }
    wj_snapshot take(bool marked = false, bool registered = false) {
        wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
        o.only_marked_writes = marked && checked();
        o.registered_memory = registered;
        wj_snapshot s = 0;
        EXPECT_EQ(wj_snapshot_take(context.get(), &o, &s), WJ_OK) << error();
        return s;
    }
    wj_restore_info restore(wj_snapshot s) {
        wj_restore_info info = WJ_INIT(wj_restore_info);
        EXPECT_EQ(wj_snapshot_restore(context.get(), s, &info), WJ_OK) << error();
        return info;
    }
    // A lane each stores to address + lane * stride.
    void store(uint64_t address, uint64_t stride) {
        EXPECT_EQ(run(kernel("asm", "store_at"), packed(address, stride)), WJ_OK) << error();
    }
    std::vector<uint8_t> bytes(uint64_t address, uint64_t size) {
        return {host<uint8_t>(address), host<uint8_t>(address) + size};
    }
};

TEST_P(SnapshotTest, WhatKernelsWriteIsUndone) {
    for (const bool marked : {false, true}) {
        const uint64_t size = 200 * page + 100, a = buffer(size, 0x11);
        const auto before = bytes(a, size);
        const wj_snapshot s = take(marked);
        for (const uint64_t stride : {4, 256, 4096, 12288}) {
            store(a, stride);
            ASSERT_NE(bytes(a, size), before);
            const wj_restore_info info = restore(s);
            EXPECT_EQ(bytes(a, size), before);
            const uint64_t written = (63 * stride + 3) / page + 1;
            EXPECT_EQ(info.pages_copied, stride > page ? 64 : written);
            if (marked && checked()) {
                EXPECT_LE(info.pages_examined, info.pages_copied + 8);
            }
        }
        EXPECT_EQ(restore(s).pages_copied, 0u);
    }
}

TEST_P(SnapshotTest, SnapshotsNest) {
    for (const bool marked : {false, true}) {
        const uint64_t size = 40 * page, a = buffer(size, 0x22);
        const auto at_base = bytes(a, size);
        const wj_snapshot base = take(marked);
        const uint8_t pattern = 0x33;
        ASSERT_EQ(wj_memory_fill(context.get(), a + 5 * page, &pattern, 1, 3 * page), WJ_OK);
        store(a, page / 2);
        const auto set_up = bytes(a, size);
        const wj_snapshot later = take(marked);
        for (int run = 0; run < 3; run++) {
            store(a + 64, 512);
            restore(later);
            EXPECT_EQ(bytes(a, size), set_up);
            store(a + 128, 256);
            restore(base);
            EXPECT_EQ(bytes(a, size), at_base);
            restore(later);
            EXPECT_EQ(bytes(a, size), set_up);
        }
    }
}

TEST_P(SnapshotTest, HostsWrites) {
    const uint64_t a = buffer(16 * page, 0x44);
    const auto before = bytes(a, 16 * page);
    void* pointer = nullptr;
    ASSERT_EQ(wj_memory_host_pointer(context.get(), a + page, page, WJ_READ | WJ_WRITE, &pointer),
              WJ_OK);
    const wj_snapshot s = take(true);
    const uint64_t value = 7;
    for (int run = 0; run < 3; run++) {
        ASSERT_EQ(wj_memory_write(context.get(), a + 4 * page - 4, &value, 8), WJ_OK);
        ASSERT_EQ(wj_memory_copy(context.get(), a + 9 * page, a + 4 * page - 4, 8), WJ_OK);
        std::memset(pointer, run, page);
        host<uint8_t>(a)[12 * page] = 1;
        ASSERT_EQ(wj_memory_mark_written(context.get(), a + 12 * page, 1), WJ_OK);
        restore(s);
        EXPECT_EQ(bytes(a, 16 * page), before);
    }
    // Without marks all of it is compared.
    const wj_snapshot all = take();
    host<uint8_t>(a)[3 * page] = 9;
    EXPECT_EQ(restore(all).pages_copied, 1u);
    EXPECT_EQ(bytes(a, 16 * page), before);
}

TEST_P(SnapshotTest, AllocationsAreAsTheyWere) {
    const uint64_t kept = buffer(page, 1), freed = buffer(2 * page, 2);
    const wj_snapshot s = take(true);
    const uint64_t made = buffer(page, 3);
    ASSERT_EQ(wj_memory_free(context.get(), freed), WJ_OK);
    uint8_t byte = 0;
    EXPECT_EQ(wj_memory_read(context.get(), &byte, freed, 1), WJ_INVALID_ARGUMENT);
    wj_restore_info info = restore(s);
    EXPECT_EQ(info.allocations_freed, 1u);
    EXPECT_EQ(info.allocations_put_back, 1u);
    EXPECT_EQ(wj_memory_read(context.get(), &byte, made, 1), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(bytes(freed, 2 * page), std::vector<uint8_t>(2 * page, 2));
    store(freed, 16);
    store(kept, 4);
    restore(s);
    EXPECT_EQ(bytes(freed, 2 * page), std::vector<uint8_t>(2 * page, 2));
    EXPECT_EQ(wj_memory_free(context.get(), freed), WJ_OK);
    EXPECT_EQ(wj_snapshot_release(context.get(), s), WJ_OK);
}

TEST_P(SnapshotTest, RegisteredMemoryIfWanted) {
    if (GetParam().memory == WJ_MEMORY_WINDOW) GTEST_SKIP() << "registers no memory: window_test";
    alignas(4096) static uint8_t memory[2 * page];
    std::memset(memory, 5, sizeof memory);
    uint64_t a = 0;
    ASSERT_EQ(wj_memory_register(context.get(), memory, sizeof memory, WJ_READ | WJ_WRITE, &a),
              WJ_OK);
    const wj_snapshot without = take(), with = take(false, true);
    store(a, 64);
    EXPECT_EQ(restore(without).pages_copied, 0u);
    EXPECT_EQ(restore(with).pages_copied, 1u);
    EXPECT_EQ(bytes(a, 2 * page), std::vector<uint8_t>(2 * page, 5));
    ASSERT_EQ(wj_memory_unregister(context.get(), a), WJ_OK);
    memory[0] = 6;
    restore(with);
    EXPECT_EQ(memory[0], 6) << "it is the program's again";
}

TEST_P(SnapshotTest, HandlesAreChecked) {
    const wj_snapshot s = take();
    EXPECT_EQ(wj_snapshot_release(context.get(), s), WJ_OK);
    EXPECT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_snapshot_release(context.get(), s), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_snapshot_restore(context.get(), 0, nullptr), WJ_INVALID_ARGUMENT);
    const wj_snapshot mine = take();
    Context other = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    EXPECT_EQ(wj_snapshot_restore(other.get(), mine, nullptr), WJ_INVALID_ARGUMENT);
    wj_snapshot theirs = 0;
    ASSERT_EQ(wj_snapshot_take(other.get(), nullptr, &theirs), WJ_OK);
    EXPECT_NE(theirs, mine);
    EXPECT_EQ(wj_snapshot_restore(context.get(), theirs, nullptr), WJ_INVALID_ARGUMENT);
    if (checked()) return;
    wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
    o.only_marked_writes = 1;
    wj_snapshot none = 0;
    EXPECT_EQ(wj_snapshot_take(context.get(), &o, &none), WJ_INVALID_ARGUMENT);
}

TEST_P(SnapshotTest, NotWhileADispatchRuns) {
    const wj_snapshot s = take();
    wj_launch_options o = unlimited(packed(0, 0));
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(kernel("asm", "endless"), &o, &d), WJ_OK);
    dispatch.reset(d);
    wj_snapshot other = 0;
    EXPECT_EQ(wj_snapshot_take(context.get(), nullptr, &other), WJ_NOT_READY);
    EXPECT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_NOT_READY);
    wj_dispatch_cancel(d);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_TIMEOUT);
    EXPECT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK);
}

// Kernels, the host and three snapshots, in any order, against copies.
TEST_P(SnapshotTest, Random) {
    std::mt19937 random(1);
    const uint64_t size = 64 * page, a = buffer(size, 0x55);
    std::vector<std::pair<wj_snapshot, std::vector<uint8_t>>> known;
    for (int step = 0; step < 200; step++) {
        const uint32_t what = random() % 5;
        if (what == 0 && known.size() < 3) {
            known.emplace_back(take(true), bytes(a, size));
        } else if (what == 1 && !known.empty() && random() % 4 == 0) {
            const size_t at = random() % known.size();
            EXPECT_EQ(wj_snapshot_release(context.get(), known[at].first), WJ_OK);
            known.erase(known.begin() + static_cast<ptrdiff_t>(at));
        } else if (what <= 2 && !known.empty()) {
            const auto& [snapshot, then] = known[random() % known.size()];
            restore(snapshot);
            ASSERT_EQ(bytes(a, size), then) << step;
        } else if (what == 3) {
            const uint32_t value = random();
            ASSERT_EQ(
                wj_memory_write(context.get(), a + random() % (size / 4) * 4, &value, sizeof value),
                WJ_OK);
        } else {
            store(a + random() % 1024 * 4, random() % 950 * 4);
        }
    }
}

WJ_SETUPS(SnapshotTest);

}  // namespace
}  // namespace wj::test
