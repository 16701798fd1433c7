// wj_memory_protect: rights of pages; what is executed, and what is not.
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint64_t page = 4096;

class ProtectTest : public Gpu {
protected:
    bool checked() const { return GetParam().memory == WJ_MEMORY_CHECKED; }
    wj_status protect(uint64_t address, uint64_t size, uint32_t rights) {
        return wj_memory_protect(context.get(), address, size, rights);
    }
    // Lane l accesses address + l * stride.
    wj_status at(const char* name, uint64_t address, uint64_t stride = 4) {
        return run(kernel("asm", name), packed(address, stride));
    }
    wj_status read(uint64_t address, uint32_t& word) {
        return wj_memory_read(context.get(), &word, address, sizeof word);
    }
};

TEST_P(ProtectTest, FaultsNameTheRightThatIsMissing) {
    const uint64_t a = buffer(3 * page, 1), middle = a + page;
    ASSERT_EQ(protect(middle, page, WJ_READ), WJ_OK) << error();
    EXPECT_EQ(at("store_at", middle - 128), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.access, WJ_ACCESS_WRITE);
    EXPECT_EQ(fault.address, middle);
    EXPECT_EQ(fault.lane_mask, 0xffffffff00000000u);
    EXPECT_NE(std::string(fault.memory).find("which is read-only"), std::string::npos);
    EXPECT_EQ(at("atomic_at", middle), WJ_GUEST_FAULT);
    EXPECT_EQ(at("wide_load_at", middle - 128), WJ_OK) << error();
    EXPECT_EQ(at("scalar_load", middle), WJ_OK) << error();
    EXPECT_EQ(at("store_at", middle + page), WJ_OK) << error();

    ASSERT_EQ(protect(middle, page, 0), WJ_OK) << error();
    for (const char* name : {"wide_load_at", "scalar_load", "store_at", "atomic_at"}) {
        EXPECT_EQ(at(name, middle), WJ_GUEST_FAULT) << name;
        EXPECT_EQ(fault.address, middle) << name;
        EXPECT_NE(std::string(fault.memory).find("may not be accessed"), std::string::npos);
    }
    ASSERT_EQ(protect(middle, page, WJ_READ | WJ_WRITE), WJ_OK) << error();
    EXPECT_EQ(at("store_at", middle - 128), WJ_OK) << error();
}

// x86 has no pages that can be written and not read.
TEST_P(ProtectTest, WriteOnlyPages) {
    if (!checked()) GTEST_SKIP() << "the host's pages";
    const uint64_t a = buffer(page);
    ASSERT_EQ(protect(a, page, WJ_WRITE), WJ_OK) << error();
    EXPECT_EQ(at("store_at", a), WJ_OK) << error();
    EXPECT_EQ(at("wide_load_at", a), WJ_GUEST_FAULT);
    EXPECT_NE(std::string(fault.memory).find("write-only"), std::string::npos);
}

TEST_P(ProtectTest, TheHostsFunctionsHaveTheSameRights) {
    const uint64_t a = buffer(2 * page, 7);
    uint32_t word = 0;
    ASSERT_EQ(protect(a, page, WJ_READ), WJ_OK) << error();
    EXPECT_EQ(wj_memory_write(context.get(), a + page - 4, "12345678", 8), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("read-only"), std::string::npos) << error();
    EXPECT_EQ(read(a + page - 4, word), WJ_OK);
    EXPECT_EQ(word, 0x07070707u);
    ASSERT_EQ(protect(a, page, 0), WJ_OK) << error();
    EXPECT_EQ(read(a + page - 4, word), WJ_INVALID_ARGUMENT);
    ASSERT_EQ(protect(a, page, WJ_READ | WJ_WRITE), WJ_OK) << error();
    EXPECT_EQ(wj_memory_write(context.get(), a, "1234", 4), WJ_OK) << error();
}

TEST_P(ProtectTest, RangesAreWholePages) {
    const uint64_t a = buffer(page + 100), b = buffer(page);
    EXPECT_EQ(protect(a, page + 100, WJ_READ), WJ_OK) << error();
    EXPECT_EQ(at("store_at", a + page - 128), WJ_GUEST_FAULT);
    EXPECT_EQ(protect(a + page, 100, WJ_READ | WJ_WRITE), WJ_OK) << error();
    EXPECT_EQ(at("store_at", a + page - 128), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.address, a + page - 128);
    EXPECT_EQ(protect(a, 100, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("part of one"), std::string::npos) << error();
    EXPECT_EQ(protect(a + 4, page, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(protect(a, 2 * page, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(protect(b, 0, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(protect(b, ~uint64_t{0} - page + 1, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(protect(b, page, 4), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("do not exist"), std::string::npos) << error();
    EXPECT_EQ(protect(8, page, WJ_READ), WJ_INVALID_ARGUMENT);
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(kernel("asm", "store_at"), &info), WJ_OK);
    EXPECT_EQ(protect(info.entry & ~(page - 1), 256, WJ_READ), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_free(context.get(), a), WJ_OK) << error();
    const uint64_t again = buffer(page + 100);
    EXPECT_EQ(at("store_at", again), WJ_OK) << "rights go with the memory";
}

TEST_P(ProtectTest, MappedMemory) {
    if (GetParam().memory == WJ_MEMORY_WINDOW) GTEST_SKIP() << "maps none";
    alignas(4096) static uint8_t memory[2 * page];
    uint64_t a = 0;
    const uint32_t all = WJ_READ | WJ_WRITE;
    ASSERT_EQ(wj_memory_register(context.get(), memory + 64, sizeof memory - 64, all, &a), WJ_OK);
    if (!checked()) {
        EXPECT_EQ(protect(a, page - 64, WJ_READ), WJ_INVALID_ARGUMENT);
        EXPECT_NE(error().find("mprotect"), std::string::npos) << error();
        return;
    }
    ASSERT_EQ(protect(a, page - 64, WJ_READ), WJ_OK) << error();
    EXPECT_EQ(at("store_at", a), WJ_GUEST_FAULT);
    EXPECT_EQ(at("wide_load_at", a - 4), WJ_GUEST_FAULT) << "in front of it";
    EXPECT_EQ(fault.address, a - 4);
    EXPECT_EQ(at("store_at", a + page), WJ_OK) << error();
    memory[64] = 1;  // the host's pages are as they were
    ASSERT_EQ(wj_memory_unregister(context.get(), a), WJ_OK) << error();
    ASSERT_EQ(wj_memory_register(context.get(), memory + 64, sizeof memory - 64, all, &a), WJ_OK);
    EXPECT_EQ(at("store_at", a), WJ_OK) << error();
}

TEST_P(ProtectTest, SnapshotsHaveTheRightsOfTheirTime) {
    const uint64_t a = buffer(3 * page, 0x55);
    ASSERT_EQ(protect(a + page, page, WJ_READ), WJ_OK) << error();
    ASSERT_EQ(protect(a + 2 * page, page, 0), WJ_OK) << error();
    wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
    o.only_marked_writes = checked();
    wj_snapshot s = 0;
    ASSERT_EQ(wj_snapshot_take(context.get(), &o, &s), WJ_OK) << error();
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(protect(a, 3 * page, WJ_READ | WJ_WRITE), WJ_OK) << error();
        for (uint64_t p = 0; p < 3; p++) ASSERT_EQ(at("store_at", a + p * page), WJ_OK) << error();
        ASSERT_EQ(protect(a, page, 0), WJ_OK) << error();
        if (round) {
            ASSERT_EQ(wj_memory_free(context.get(), a), WJ_OK) << error();
        }
        wj_restore_info info = WJ_INIT(wj_restore_info);
        ASSERT_EQ(wj_snapshot_restore(context.get(), s, &info), WJ_OK) << error();
        EXPECT_EQ(info.pages_copied, round ? 0u : 3u);
        uint32_t word = 0;
        EXPECT_EQ(read(a + 256 - 4, word), WJ_OK) << error();
        EXPECT_EQ(word, 0x55555555u);
        EXPECT_EQ(read(a + page + 256 - 4, word), WJ_OK) << error();
        EXPECT_EQ(word, 0x55555555u);
        EXPECT_EQ(at("store_at", a), WJ_OK) << error();
        EXPECT_EQ(at("store_at", a + page), WJ_GUEST_FAULT);
        EXPECT_EQ(at("wide_load_at", a + 2 * page), WJ_GUEST_FAULT);
        ASSERT_EQ(protect(a + 2 * page, page, WJ_READ), WJ_OK) << error();
        EXPECT_EQ(read(a + 2 * page + 256 - 4, word), WJ_OK) << error();
        EXPECT_EQ(word, 0x55555555u);
    }
}

TEST_P(ProtectTest, ClonesHaveTheRightsOfTheContext) {
    if (!checked()) GTEST_SKIP() << "only contexts with checked memory are cloned";
    const uint64_t a = buffer(2 * page, 3);
    ASSERT_EQ(protect(a, page, WJ_READ), WJ_OK) << error();
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_clone(context.get(), &made), WJ_OK) << error();
    const Context clone(made);
    EXPECT_EQ(wj_memory_write(made, a, "1234", 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_memory_write(made, a + page, "1234", 4), WJ_OK);
    ASSERT_EQ(wj_memory_protect(made, a, page, WJ_READ | WJ_WRITE), WJ_OK);
    EXPECT_EQ(wj_memory_write(made, a, "1234", 4), WJ_OK);
    EXPECT_EQ(wj_memory_write(context.get(), a, "1234", 4), WJ_INVALID_ARGUMENT) << "its own";
}

// A launch that was prepared before, whose thread has looked the page up.
TEST_P(ProtectTest, PreparedLaunchesSeeIt) {
    const uint64_t a = buffer(page);
    const wj_launch_options o = packed(a, 4);
    wj_prepared* p = nullptr;
    ASSERT_EQ(wj_launch_prepare(kernel("asm", "store_at"), &o, &p), WJ_OK) << error();
    for (int round = 0; round < 3; round++) {
        EXPECT_EQ(wj_prepared_launch(p, nullptr), WJ_OK) << error();
        ASSERT_EQ(protect(a, page, WJ_READ), WJ_OK) << error();
        EXPECT_EQ(wj_prepared_launch(p, nullptr), WJ_GUEST_FAULT);
        ASSERT_EQ(protect(a, page, WJ_READ | WJ_WRITE), WJ_OK) << error();
    }
    wj_prepared_release(p);
}

// s_endpgm in data is not executed, and code is not written.
TEST_P(ProtectTest, DataIsNotExecutedAndCodeNotWritten) {
    const uint64_t a = buffer(page);
    for (uint64_t word = 0; word < page / 4; word++) host<uint32_t>(a)[word] = 0xbf810000;
    EXPECT_EQ(at("jump_to", a), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.access, WJ_ACCESS_EXECUTE);
    EXPECT_EQ(fault.address, a);
    wj_kernel* const k = kernel("asm", "store_at");
    wj_kernel_info info = WJ_INIT(wj_kernel_info);
    ASSERT_EQ(wj_kernel_get_info(k, &info), WJ_OK);
    for (const char* name : {"store_at", "atomic_at"}) {
        EXPECT_EQ(at(name, info.entry), WJ_GUEST_FAULT) << name;
        EXPECT_EQ(fault.address, info.entry) << name;
        EXPECT_NE(std::string(fault.memory).find("read-only"), std::string::npos);
    }
    EXPECT_EQ(wj_memory_write(context.get(), info.entry, "1234", 4), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(at("jump_to", info.kernel_object), WJ_GUEST_FAULT) << "constants";
    EXPECT_EQ(fault.access, WJ_ACCESS_EXECUTE);
}

WJ_SETUPS(ProtectTest);

}  // namespace
}  // namespace wj::test
