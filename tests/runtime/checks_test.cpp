// Checkers: each planted mistake is found, in its line, its lanes and its byte, and its clean twin
// is not.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

constexpr uint64_t lds = 0x0001'0000'0000'0000;  // the shared aperture

class ChecksTest : public Gpu {
protected:
    void SetUp() override {
        use(WJ_CHECK_INIT | WJ_CHECK_RACE | WJ_CHECK_BARRIER | memory_check());
    }
    bool checked() const { return GetParam().memory == WJ_MEMORY_CHECKED; }
    uint32_t memory_check() const { return checked() ? uint32_t{WJ_CHECK_MEMORY} : 0u; }
    void use(uint32_t checks, uint32_t threads = 2, const char* suppressions = nullptr) {
        dispatch.reset();
        modules.clear();
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = GetParam().engine;
        o.memory_mode = GetParam().memory;
        o.threads = threads;
        o.checks = checks;
        o.check_suppressions = suppressions;
        char why[512] = "";
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, why, sizeof(why));
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << why;
        out = buffer(4096);
    }
    // A work-group each of so many work-items.
    wj_status run_one(const char* name, uint32_t argument, uint32_t items) {
        wj_argument arguments[] = {WJ_POINTER(out), WJ_POINTER(argument)};
        return run(kernel("checks", name), launch(arguments, {items * 3}, {items}));
    }
    void expect_clean(const char* name, uint32_t argument, uint32_t items) {
        EXPECT_EQ(run_one(name, argument, items), WJ_OK) << name << ": " << error();
    }
    void expect_found(const char* name, uint32_t argument, uint32_t items, const char* what,
                      int line) {
        EXPECT_EQ(run_one(name, argument, items), WJ_GUEST_FAULT) << name;
        EXPECT_NE(std::strstr(fault.report, what), nullptr) << fault.report;
        const std::string place = "checks.cl:" + std::to_string(line);
        EXPECT_NE(std::strstr(fault.source, place.c_str()), nullptr) << fault.source;
    }
    uint64_t out = 0;
};

TEST_P(ChecksTest, BeyondTheLds) {
    if (!checked()) GTEST_SKIP() << "needs checked memory";
    expect_clean("read_lds", 0, 64);
    expect_found("read_lds", 1, 64, "beyond the work-group's LDS", 7);
    EXPECT_EQ(fault.access, WJ_ACCESS_READ);
    EXPECT_EQ(fault.access_bytes, 4u);
    EXPECT_EQ(fault.lane_mask, uint64_t{1} << 59);
    EXPECT_EQ(fault.address, lds + 240);
    expect_found("read_lds", 1000, 64, "beyond the work-group's LDS", 7);
    EXPECT_EQ(fault.lane_mask, (uint64_t{1} << 60) - 1);
    EXPECT_EQ(fault.address, lds + 4000);

    expect_clean("write_lds", 0, 64);
    expect_found("write_lds", 2, 64, "beyond the work-group's LDS", 13);
    EXPECT_EQ(fault.access, WJ_ACCESS_WRITE);
    EXPECT_EQ(fault.access_bytes, 2u);
    EXPECT_EQ(fault.lane_mask, uint64_t{3} << 59);
    EXPECT_EQ(fault.address, lds + 122);

    expect_clean("add_lds", 0, 256);
    expect_found("add_lds", 3, 256, "beyond the work-group's LDS", 23);
    EXPECT_EQ(fault.access, WJ_ACCESS_ATOMIC);
    EXPECT_EQ(fault.lane_mask, 0xeeee'eeee'eeee'eeee);
    EXPECT_EQ(fault.address, lds + 16);
}

TEST_P(ChecksTest, UnwrittenLds) {
    expect_clean("unwritten", 64, 64);
    expect_found("unwritten", 62, 64, "nobody has written this LDS", 33);
    EXPECT_EQ(fault.lane_mask, uint64_t{3} << 62);
    EXPECT_EQ(fault.address, lds + 63 * 4) << "lane 62 reads what is lane 63's";
    expect_found("unwritten", 0, 64, "nobody has written this LDS", 33);
    EXPECT_EQ(fault.lane_mask, ~uint64_t{0});
}

TEST_P(ChecksTest, RacesInLds) {
    for (uint32_t threads : {1, 4}) {
        use(WJ_CHECK_RACE | WJ_CHECK_INIT, threads);
        expect_clean("neighbour", 1, 256);
    }
    expect_clean("overwrite", 1, 256);
    expect_clean("count_all", 0, 256);
    expect_clean("many_barriers", 50, 256);
    use(WJ_CHECK_RACE);  // else what is read too early is unwritten
    expect_clean("neighbour", 1, 256);
    expect_found("neighbour", 0, 256, "race: another wave has read it", 39);
    EXPECT_EQ(fault.wave, 1u) << "the first one has read its neighbour's";
    EXPECT_EQ(fault.address, lds + 256);
    EXPECT_EQ(fault.lane_mask, ~uint64_t{0});
    EXPECT_NE(std::strstr(fault.memory, "read by wave 0"), nullptr) << fault.memory;
    expect_found("overwrite", 0, 256, "race: another wave has written it", 49);
    EXPECT_EQ(fault.wave, 2u) << "the second one has put its own where it reads";
    EXPECT_EQ(fault.address, lds + 127 * 4);
    EXPECT_NE(std::strstr(fault.memory, "written by wave 1"), nullptr) << fault.memory;
    expect_found("count_all", 1, 256, "race: another wave has", 61);
    EXPECT_EQ(fault.wave, 1u);
    EXPECT_EQ(fault.lane_mask, uint64_t{1} << 6);
}

TEST_P(ChecksTest, WavesThatMissABarrier) {
    expect_clean("leave_early", 4, 256);
    expect_found("leave_early", 1, 256, "missed barrier: 3 of 4 waves", 84);
    EXPECT_NE(std::strstr(fault.report, "wave 1 has ended"), nullptr) << fault.report;
    expect_clean("leave_early", 0, 64);
}

TEST_P(ChecksTest, FreedMemoryStaysFreed) {
    if (!checked()) GTEST_SKIP() << "needs checked memory";
    const uint64_t first = buffer(1000);
    ASSERT_EQ(wj_memory_free(context.get(), first), WJ_OK);
    for (int i = 0; i < 200; i++) {
        const uint64_t other = buffer(1000);
        EXPECT_NE(other, first);
        ASSERT_EQ(wj_memory_free(context.get(), other), WJ_OK);
    }
    out = first;
    expect_found("write_global", 5, 64, "20 bytes into freed allocation", 89);
    EXPECT_EQ(fault.address, first + 20);
    // Allocations that a snapshot knows come back, whatever is kept.
    out = buffer(1000, 7);
    wj_snapshot s = 0;
    ASSERT_EQ(wj_snapshot_take(context.get(), nullptr, &s), WJ_OK);
    ASSERT_EQ(wj_memory_free(context.get(), out), WJ_OK);
    ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK) << error();
    EXPECT_EQ(host<uint8_t>(out)[999], 7);
    expect_clean("write_global", 0, 64);
    expect_found("write_global", 187, 64, "bytes after allocation", 89);
    EXPECT_EQ(fault.lane_mask, uint64_t{1} << 63);
    EXPECT_EQ(fault.address, out + 1000);
}

// What the host does is writing, whichever way it takes; a snapshot knows what had been written.
TEST_P(ChecksTest, MemoryThatTheHostWrites) {
    use(WJ_CHECK_INIT);
    const auto used = [&] { return run_one("use_global", 0, 64); };
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    EXPECT_NE(std::strstr(fault.report, "is stored to global memory, and nobody"), nullptr)
        << fault.report;
    EXPECT_EQ(used(), WJ_OK) << "the kernel has written it: " << error();
    const std::vector<uint8_t> bytes(4096, 3);
    const auto fresh = [&] { return out = buffer(4096); };
    ASSERT_EQ(wj_memory_write(context.get(), fresh(), bytes.data(), 4096), WJ_OK);
    EXPECT_EQ(used(), WJ_OK) << error();
    ASSERT_EQ(wj_memory_fill(context.get(), fresh(), bytes.data(), 4, 3 * 64 * 4), WJ_OK);
    EXPECT_EQ(used(), WJ_OK) << error();
    ASSERT_EQ(wj_memory_fill(context.get(), fresh(), bytes.data(), 4, 3 * 64 * 4 - 4), WJ_OK);
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    EXPECT_EQ(fault.lane_mask, uint64_t{1} << 63);
    ASSERT_EQ(wj_memory_mark_written(context.get(), fresh(), 4096), WJ_OK);
    EXPECT_EQ(used(), WJ_OK) << error();
    void* pointer = nullptr;
    ASSERT_EQ(wj_memory_host_pointer(context.get(), fresh(), 4, WJ_READ, &pointer), WJ_OK);
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    ASSERT_EQ(wj_memory_host_pointer(context.get(), fresh(), 4, WJ_WRITE, &pointer), WJ_OK);
    EXPECT_EQ(used(), WJ_OK) << error();
    if (GetParam().memory == WJ_MEMORY_WINDOW) return;  // no snapshots, no memory of the host
    std::vector<uint32_t> own(1024);
    ASSERT_EQ(wj_memory_register(context.get(), own.data(), 4096, WJ_READ | WJ_WRITE, &out), WJ_OK);
    EXPECT_EQ(used(), WJ_OK) << error();
    ASSERT_EQ(wj_memory_unregister(context.get(), out), WJ_OK);
    wj_snapshot s = 0;
    fresh();
    ASSERT_EQ(wj_snapshot_take(context.get(), nullptr, &s), WJ_OK);
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    EXPECT_EQ(used(), WJ_OK) << error();
    ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK);
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    if (!checked()) return;  // no clones
    ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK);
    wj_context* clone = nullptr;
    ASSERT_EQ(wj_context_clone(context.get(), &clone), WJ_OK) << error();
    wj_module* copy = nullptr;
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_context_get_module(clone, modules.back().get(), &copy), WJ_OK);
    EXPECT_EQ(used(), WJ_GUEST_FAULT);
    ASSERT_EQ(wj_module_get_kernel(copy, "use_global", &k), WJ_OK);
    const uint32_t argument = 0;
    wj_argument arguments[] = {WJ_POINTER(out), WJ_POINTER(argument)};
    const wj_launch_options o = launch(arguments, {64}, {64});
    EXPECT_EQ(wj_launch(k, &o, nullptr), WJ_GUEST_FAULT) << "what is written here is not there";
    wj_context_destroy(clone);
}

TEST_P(ChecksTest, NothingIsLookedAtUnasked) {
    use(0);
    expect_clean("read_lds", 1000, 64);
    expect_clean("unwritten", 0, 64);
    expect_clean("neighbour", 0, 256);
    expect_clean("leave_early", 1, 256);
}

TEST_P(ChecksTest, OptionsAreChecked) {
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = GetParam().target;
    o.checks = 2 * WJ_CHECK_INEXACT;  // the first that does not exist
    wj_context* c = nullptr;
    EXPECT_EQ(wj_context_create(&o, &c, nullptr, 0), WJ_INVALID_ARGUMENT);
    o.checks = WJ_CHECK_MEMORY;
    char why[512] = "";
    EXPECT_EQ(wj_context_create(&o, &c, why, sizeof why), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(why, "needs checked memory"), nullptr) << why;
}

// One launch with several mistakes tells them all, each once; later launches add to the count.
TEST_P(ChecksTest, AllFindingsOfALaunch) {
    use(WJ_CHECK_RACE | WJ_CHECK_INIT, 1);
    EXPECT_EQ(run_one("several", 1, 256), WJ_GUEST_FAULT);
    ASSERT_EQ(wj_finding_count(context.get()), 3u) << fault.report;
    EXPECT_NE(std::strstr(fault.report, "and 2 more findings"), nullptr) << fault.report;
    const char* const checks[] = {"init", "race", "race"};
    std::set<std::string> keys;
    for (size_t i = 0; i < 3; i++) {
        wj_fault f = WJ_INIT(wj_fault);
        ASSERT_EQ(wj_finding_get(context.get(), i, &f), WJ_OK) << error();
        EXPECT_STREQ(f.check, checks[i]) << f.report;
        EXPECT_STREQ(f.kernel, "several");
        EXPECT_EQ(f.dispatches, 1u);
        EXPECT_EQ(f.status, WJ_GUEST_FAULT);
        keys.insert(f.key);
    }
    EXPECT_EQ(keys.size(), 3u);
    EXPECT_EQ(run_one("several", 1, 256), WJ_GUEST_FAULT);
    EXPECT_EQ(run_one("several", 0, 256), WJ_OK) << error();
    wj_fault f = WJ_INIT(wj_fault);
    ASSERT_EQ(wj_finding_get(context.get(), 0, &f), WJ_OK);
    EXPECT_EQ(f.dispatches, 2u);
    EXPECT_EQ(wj_finding_count(context.get()), 3u);
    EXPECT_EQ(wj_finding_get(context.get(), 3, &f), WJ_NOT_FOUND);
    EXPECT_EQ(wj_finding_clear(context.get()), WJ_OK);
    EXPECT_EQ(wj_finding_count(context.get()), 0u);
}

std::string contents(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST_P(ChecksTest, ReportsAreFiles) {
    const std::string folder = testing::TempDir() + "wavejit_reports." + std::to_string(getpid());
    std::filesystem::create_directory(folder);
    use(WJ_CHECK_RACE | WJ_CHECK_INIT, 1);
    EXPECT_EQ(run_one("several", 1, 256), WJ_GUEST_FAULT);
    for (const char* name : {"/r.json", "/r.sarif", "/r.txt"})
        EXPECT_EQ(wj_finding_write(context.get(), (folder + name).c_str()), WJ_OK) << error();
    EXPECT_EQ(wj_finding_write(context.get(), (folder + "/none/r.txt").c_str()), WJ_HOST_ERROR);
    for (const char* name : {"/r.json", "/r.sarif"})
        EXPECT_EQ(std::system(("python3 -m json.tool " + folder + name + " /dev/null").c_str()), 0);
    const std::string json = contents(folder + "/r.json"), sarif = contents(folder + "/r.sarif");
    const std::string text = contents(folder + "/r.txt");
    EXPECT_NE(json.find("\"check\": \"race\""), json.npos) << json;
    EXPECT_NE(json.find("checks.cl\", \"line\": 97"), json.npos) << json;
    EXPECT_NE(sarif.find("\"version\": \"2.1.0\""), sarif.npos) << sarif;
    EXPECT_NE(sarif.find("\"ruleId\": \"init\""), sarif.npos) << sarif;
    EXPECT_NE(sarif.find("\"startLine\": 97"), sarif.npos) << sarif;
    EXPECT_NE(text.find("3 findings\n"), text.npos) << text;
    std::filesystem::remove_all(folder);
}

TEST_P(ChecksTest, WhatIsSuppressedIsNoFinding) {
    const std::string path =
        testing::TempDir() + "wavejit_suppressions." + std::to_string(getpid());
    const auto with = [&](const char* lines) {
        std::ofstream(path) << lines;
        use(WJ_CHECK_RACE | WJ_CHECK_INIT, 1, path.c_str());
    };
    with("# known\nrace:several\n\n");
    EXPECT_EQ(run_one("several", 1, 256), WJ_GUEST_FAULT);
    EXPECT_EQ(wj_finding_count(context.get()), 1u) << "init is left";
    with("race:other*\n*:*checks.cl:9[0-9]  # these lines\n");
    EXPECT_EQ(run_one("several", 1, 256), WJ_OK) << error();
    EXPECT_EQ(wj_finding_count(context.get()), 0u);
    std::ofstream(path) << "race\n";
    wj_context_options o = WJ_INIT(wj_context_options);
    o.target = GetParam().target;
    o.checks = WJ_CHECK_RACE;
    o.check_suppressions = path.c_str();
    wj_context* c = nullptr;
    char why[512] = "";
    EXPECT_EQ(wj_context_create(&o, &c, why, sizeof why), WJ_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(why, ":1: a suppression is CHECKER:PATTERN"), nullptr) << why;
    std::filesystem::remove(path);
}

// Processors before gfx90a must not have memory operations under way at s_barrier.
TEST_P(ChecksTest, AccessesUnderWayAtABarrier) {
    use(WJ_CHECK_WAITCNT);
    wj_kernel* k = kernel("asm", "under_way");
    EXPECT_EQ(run(k, packed(out, 1, 256, 256)), WJ_OK) << error();
    const bool allowed = std::string_view(GetParam().target) == "gfx90a";
    EXPECT_EQ(run(k, packed(out, 0, 256, 256)), allowed ? WJ_OK : WJ_GUEST_FAULT) << error();
    if (allowed) return;
    for (const char* text : {"memory operations are under way at s_barrier", "s_barrier   //",
                             "other", "flat_load_dword"})
        EXPECT_NE(std::strstr(fault.report, text), nullptr) << text << "\n" << fault.report;
}

WJ_SETUPS(ChecksTest);

}  // namespace
}  // namespace wj::test
