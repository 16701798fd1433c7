// gfx11 and gfx12: what waves begin with, private memory, barriers in one and in two steps.
#include <fstream>
#include <iterator>

#include "runtime/kernel_code.h"
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class Rdna3 : public Gpu {
protected:
    void expect_lanes(const char* name, uint32_t wave_size) {
        constexpr uint32_t items = 100;
        wj_kernel* k = kernel("rdna", name);
        ASSERT_NE(k, nullptr);
        const uint64_t out = buffer(items * 4);
        ASSERT_EQ(run(k, packed(out, 0, items, items)), WJ_OK) << name << ": " << error();
        for (uint32_t i = 0; i < items; ++i) {
            const uint32_t first = i / wave_size * wave_size,
                           on = std::min(wave_size, items - first);
            ASSERT_EQ(host<uint32_t>(out)[i], (i - first) | on << 16) << name << " " << i;
        }
    }
};

TEST_P(Rdna3, KernelsOfOneObjectChooseTheirWaves) {
    expect_lanes("lanes32", 32);
    const bool chooses = std::string_view(GetParam().target) != "gfx1250";
    if (chooses) expect_lanes("lanes64", 64);
}

TEST_P(Rdna3, PrivateMemoryLiesWhereHardwareRegistersSay) {
    wj_kernel* k = kernel("rdna", "scratch32");
    ASSERT_NE(k, nullptr);
    const uint64_t out = buffer(64 * 4);
    ASSERT_EQ(run(k, packed(out, 0, 32, 32)), WJ_OK) << error();
    for (uint32_t i = 0; i < 32; ++i) {
        ASSERT_EQ(host<uint32_t>(out)[i], 7 * i) << i;
        ASSERT_EQ(host<uint32_t>(out)[32 + i], 7 * i) << i;
    }
}

TEST_P(Rdna3, WorkGroupsKnowTheirPlace) {
    wj_kernel* k = kernel("rdna", "groups");
    ASSERT_NE(k, nullptr);
    for (const auto& [x, y, z] : {std::tuple{5u, 3u, 2u}, {700u, 1u, 1u}, {40u, 30u, 1u}}) {
        const uint64_t out = buffer(uint64_t{x} * y * z * 4);
        wj_launch_options o = unlimited(packed(out, x | uint64_t{y} << 32));
        const uint32_t groups[3] = {x, y, z};
        for (uint32_t d = 0; d < 3; ++d) o.grid[d] = groups[d] * (d ? 1 : 32), o.block[d] = 1;
        o.block[0] = 32;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        for (uint32_t i = 0; i < x * y * z; ++i)
            ASSERT_EQ(host<uint32_t>(out)[i], i % x | i / x % y << 10 | i / x / y << 20) << i;
    }
}

TEST_P(Rdna3, WorkItemsKnowTheirPlace) {
    wj_kernel* k = kernel("ids", "ids");
    ASSERT_NE(k, nullptr);
    constexpr uint32_t grid[3] = {24, 6, 4}, block[3] = {12, 3, 2};
    constexpr uint32_t items = grid[0] * grid[1] * grid[2];
    const uint64_t out = buffer(items * 64);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(
        run(k, launch(arguments, {grid[0], grid[1], grid[2]}, {block[0], block[1], block[2]})),
        WJ_OK)
        << error();
    for (uint32_t i = 0; i < items; ++i) {
        const uint32_t id[3] = {i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]};
        const uint32_t* o = host<uint32_t>(out) + i * 16;
        for (uint32_t d = 0; d < 3; ++d) {
            ASSERT_EQ(o[d], id[d]) << i;
            ASSERT_EQ(o[3 + d], id[d] % block[d]) << i;
            ASSERT_EQ(o[6 + d], id[d] / block[d]) << i;
            ASSERT_EQ(o[9 + d], block[d]) << i;
            ASSERT_EQ(o[12 + d], grid[d] / block[d]) << i;
        }
    }
}

// Four waves hand their numbers to the one in front, 64 times, one more each time: all the way
// round 16 times.
TEST_P(Rdna3, WavesMeetAtBarriers) {
    constexpr uint32_t items = 128;
    const uint64_t out = buffer(items * 4);
    for (const bool limits : {true, false}) {
        wj_launch_options o = packed(out, 0, items, items);
        ASSERT_EQ(run(kernel("rdna", "neighbours"), limits ? o : unlimited(o)), WJ_OK) << error();
        for (uint32_t i = 0; i < items; ++i) ASSERT_EQ(host<uint32_t>(out)[i], i / 32 + 64) << i;
    }
}

TEST_P(Rdna3, WavesThatEndDropTheBarrier) {
    constexpr uint32_t items = 128;
    const uint64_t out = buffer(items * 4);
    ASSERT_EQ(run(kernel("rdna", "early"), packed(out, 0, items, items)), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; ++i) ASSERT_EQ(host<uint32_t>(out)[i], 10u + 11u) << i;
}

INSTANTIATE_TEST_SUITE_P(All, Rdna3,
                         testing::Values(Setup{"gfx1100", WJ_ENGINE_INTERPRETER,
                                               WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1201", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1100", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1201", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1100", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1201", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1100", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1201", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY}),
                         setup_name);

// Barriers that waves signal and wait for apart: SEED-BAR-08, -17, -18, -28, -34.
class SplitBarriers : public Gpu {
protected:
    std::vector<uint32_t> waves(const char* name, uint32_t count) {
        const uint64_t out = buffer(count * 4);
        EXPECT_EQ(run(kernel("rdna", name), packed(out, 0, count * 32, count * 32)), WJ_OK)
            << name << ": " << error();
        return {host<uint32_t>(out), host<uint32_t>(out) + count};
    }
    std::string refused(const char* name, wj_status status) {
        EXPECT_EQ(run(kernel("rdna", name), packed(0, 0, 64, 64)), status) << name;
        return error();
    }
};

TEST_P(SplitBarriers, WavesKnowTheirNumber) {
    EXPECT_EQ(waves("wave_ids", 5), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST_P(SplitBarriers, OneWaveIsTheFirst) {
    const std::vector<uint32_t> first = waves("first", 4);
    EXPECT_EQ(std::count(first.begin(), first.end(), 1u), 1);
    EXPECT_EQ(std::count(first.begin(), first.end(), 0u), 3);
    EXPECT_EQ(waves("first", 1), (std::vector<uint32_t>{0}));  // there is no barrier
}

TEST_P(SplitBarriers, AWaveGoesOnAsSoonAsAllHaveSignalled) {
    EXPECT_EQ(waves("ahead", 2), (std::vector<uint32_t>{1, 1}));
}

// Signals from bit 16 on, members from bit 4 on, and that it exists: the last signal completes the
// barrier.
TEST_P(SplitBarriers, ItsStateCountsSignalsAndMembers) {
    std::vector<uint32_t> states = waves("state", 3);
    std::sort(states.begin(), states.end());
    EXPECT_EQ(states, (std::vector<uint32_t>{0x31, 1 << 16 | 0x31, 2 << 16 | 0x31}));
}

TEST_P(SplitBarriers, WhatIsBetweenSignalAndWaitIsDone) {
    EXPECT_EQ(waves("straight", 2), (std::vector<uint32_t>{1, 0}));
}

// Signals are counted where a wave may do without its wait, or see the count.
TEST(SplitBarriersOfCode, AreWholeWhereCodeGoesStraightFromTheSignalToTheWait) {
    std::ifstream file(WJ_TEST_KERNELS "/rdna.gfx1201.hsaco", std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto object = parse_code_object(std::as_bytes(std::span(text)));
    ASSERT_TRUE(object) << object.status().message();
    runtime::KernelCodes codes;
    codes.resize(object->kernels.size());
    using enum runtime::SplitBarriers;
    const std::map<std::string, runtime::SplitBarriers> expected = {
        {"wave_ids", None},   {"neighbours", Whole},   {"early", Whole},
        {"straight", Whole},  {"first", Apart},        {"ahead", Apart},
        {"state", Apart},     {"missing", Apart},      {"signal_trap", Apart},
        {"wait_trap", Apart}, {"signal_named", Apart}, {"join_named", Apart}};
    size_t found = 0;
    for (const KernelInfo& k : object->kernels) {
        const auto want = expected.find(k.name);
        if (want == expected.end()) continue;
        ++found;
        for (int time = 0; time < 2; ++time)  // the second one from memory
            EXPECT_EQ(codes.of(*object, k, *find_target("gfx1201")).barriers, want->second)
                << k.name;
    }
    EXPECT_EQ(found, expected.size());
}

TEST_P(SplitBarriers, AWaitThatNobodyCanEndIsReported) {
    const std::string text = refused("missing", WJ_DEADLOCK);
    EXPECT_NE(
        text.find("2 of 2 waves of the work-group wait at a barrier that has 1 signals of its "
                  "2 members"),
        std::string::npos)
        << text;
    EXPECT_NE(text.find("s_barrier_wait"), std::string::npos) << text;
}

TEST_P(SplitBarriers, OtherBarriersAreRefusedByName) {
    const bool has_named = std::string_view(GetParam().target) == "gfx1250";
    const struct {
        const char *kernel, *says;
        bool named = true;  // or a cluster's
    } cases[] = {{"signal_trap", "the trap handler's", false},
                 {"wait_trap", "the trap handler's", false},
                 {"signal_named", "named barriers"},
                 {"signal_cluster", "of clusters"},
                 {"wait_null", "barrier 0"},
                 {"join_named", "named barriers"},
                 {"leave_named", "named barriers"}};
    for (const auto& c : cases) {
        if (c.named && has_named) continue;  // barrier_test.cpp
        const std::string text = refused(c.kernel, WJ_ILLEGAL_INSTRUCTION);
        EXPECT_NE(text.find(c.says), std::string::npos) << c.kernel << ": " << text;
    }
}

TEST_P(SplitBarriers, UnknownHardwareRegistersAreRefusedByName) {
    const std::string text = refused("unknown_register", WJ_UNIMPLEMENTED);
    EXPECT_NE(text.find("HW_REG_WAVE_DVGPR_ALLOC_LO"), std::string::npos) << text;
}

INSTANTIATE_TEST_SUITE_P(
    All, SplitBarriers,
    testing::Values(Setup{"gfx1201", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                    Setup{"gfx1201", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                    Setup{"gfx1201", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                    Setup{"gfx1201", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                    Setup{"gfx1201", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY},
                    Setup{"gfx1250", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                    Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY}),
    setup_name);

}  // namespace
}  // namespace wj::test
