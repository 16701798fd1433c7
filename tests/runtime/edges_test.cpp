// Counters of the guest's edges: what is counted, and that all engines count the same.
#include <array>
#include <numeric>
#include <set>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class EdgesTest : public Gpu {
protected:
    void SetUp() override { use(1); }
    void use(uint32_t threads, wj_engine engine = GetParam().engine, bool divergence = false,
             bool lanes = false) {
        dispatch.reset();
        modules.clear();
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = engine;
        o.memory_mode = GetParam().memory;
        o.threads = threads;
        o.coverage = WJ_COVERAGE_COUNTERS;
        o.coverage_counters = counters.data();
        o.coverage_size = counters.size();
        o.coverage_divergence = divergence;
        o.coverage_lanes = lanes;
        char error[512] = "";
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, error, sizeof(error));
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << error;
    }
    // Counts of the edges that were taken, the most frequent ones first.
    std::vector<int> counts(const char* name, uint32_t argument, uint32_t items = 64,
                            uint32_t group = 64) {
        counters.fill(0);
        EXPECT_EQ(run(kernel("edges", name), unlimited(packed(0, argument, items, group))), WJ_OK)
            << error();
        std::vector<int> out;
        for (const uint8_t c : counters)
            if (c) out.push_back(c);
        std::sort(out.rbegin(), out.rend());
        return out;
    }
    using Counts = std::vector<int>;
    std::array<uint8_t, 4096> counters{};
};

TEST_P(EdgesTest, LoopsCountTheirWaysBack) {
    EXPECT_EQ(counts("loop", 1), (Counts{1, 1}));
    EXPECT_EQ(counts("loop", 5), (Counts{4, 1, 1}));
    EXPECT_EQ(counts("loop", 5, 3 * 64), (Counts{12, 3, 3})) << "each wave counts";
    EXPECT_EQ(counts("loop", 256), (Counts{255, 1, 1}));
    EXPECT_EQ(counts("loop", 300), (Counts{255, 1, 1})) << "counters do not wrap";
}

TEST_P(EdgesTest, EveryWaveOfALaunchCounts) {
    EXPECT_EQ(counts("loop", 1, 100 * 64), (Counts{100, 100}));
    EXPECT_EQ(counts("arm", 64, 100 * 64), (Counts{100, 100}));
}

// Code that translators lift without its branch.
TEST_P(EdgesTest, ArmsAreBranches) {
    const Counts once{1, 1};
    EXPECT_EQ(counts("arm", 64), once);
    const auto entered = counters;
    EXPECT_EQ(counts("arm", 0), once);
    EXPECT_NE(counters, entered) << "another edge";
    EXPECT_EQ(counts("arm", 1), once);
    EXPECT_EQ(counters, entered);
}

TEST_P(EdgesTest, LoopsOfLanesCountOnceForTheWave) {
    EXPECT_EQ(counts("lanes", 0), (Counts{1, 1}));
    EXPECT_EQ(counts("lanes", 9), (Counts{9, 1, 1}));
    EXPECT_EQ(counts("lanes", 100), (Counts{63, 1, 1}));
}

// arm() is entered by all lanes of a wave, by some or by none; at its end all of them are on.
TEST_P(EdgesTest, DivergenceHasEdgesOfItsOwn) {
    const Counts once{1, 1};
    EXPECT_EQ(counts("arm", 64), once);
    const auto entered = counters;
    for (const wj_engine engine : {GetParam().engine, WJ_ENGINE_INTERPRETER}) {
        use(1, engine, true);
        EXPECT_EQ(counts("arm", 64), once);
        EXPECT_EQ(counters, entered) << "by all lanes: the same edges as without the option";
        EXPECT_EQ(counts("arm", 1), once);
        const auto divided = counters;
        EXPECT_NE(divided, entered) << "by one lane";
        EXPECT_EQ(counts("arm", 63), once);
        EXPECT_EQ(counters, divided) << "by 63";
        EXPECT_EQ(counts("arm", 0), once);
        EXPECT_NE(counters, divided);
        EXPECT_NE(counters, entered) << "by none: all lanes agree";
        const auto skipped = counters;
        use(1, engine);
        EXPECT_EQ(counts("arm", 0), once);
        EXPECT_EQ(counters, skipped);
    }
}

// A wave's lanes are those that it began with: of 100 work-items 64 and 36, of 20 all.
TEST_P(EdgesTest, LastWavesOfWorkGroupsAreWhole) {
    for (const auto& [items, group] : {std::pair{200u, 100u}, {20u, 20u}, {140u, 128u}}) {
        use(1);
        counts("arm", group, items, group);
        const auto together = counters;
        for (const wj_engine engine : {GetParam().engine, WJ_ENGINE_INTERPRETER}) {
            use(1, engine, true);
            counts("arm", group, items, group);
            EXPECT_EQ(counters, together) << "all lanes of " << group;
            counts("arm", group - 3, items, group);
            EXPECT_NE(counters, together);
        }
    }
}

// By all lanes of a wave, or by so many of them.
TEST_P(EdgesTest, NumbersOfLanesHaveEdgesOfTheirOwn) {
    constexpr std::pair<uint32_t, uint32_t> ranges[] = {{1, 1},  {2, 2},   {3, 4},   {5, 8},
                                                        {9, 16}, {17, 32}, {33, 63}, {64, 64}};
    counts("arm", 64);
    const auto undivided = counters;
    std::set<decltype(counters)> known;
    for (const auto& [first, last] : ranges) {
        use(1, GetParam().engine, false, true);
        EXPECT_EQ(counts("arm", first), (Counts{1, 1}));
        const auto here = counters;
        EXPECT_TRUE(known.insert(here).second) << first << " lanes: as fewer of them";
        for (const uint32_t lanes : {first, (first + last) / 2, last}) {
            counts("arm", lanes);
            EXPECT_EQ(counters, here) << lanes << " lanes: as " << first;
        }
        use(1, WJ_ENGINE_INTERPRETER, false, true);
        counts("arm", last);
        EXPECT_EQ(counters, here);
    }
    EXPECT_TRUE(known.contains(undivided));
}

// Lanes leave one by one: the first lap back is taken by 63 of them, as are all others, by fewer;
// the wave leaves without any. With lanes that leave together no edge is divided.
TEST_P(EdgesTest, LanesThatLeaveALoopDivideIt) {
    counts("lanes", 9);
    const auto undivided = counters;
    use(1, GetParam().engine, true);
    EXPECT_EQ(counts("lanes", 9), (Counts{9, 1, 1}));
    EXPECT_NE(counters, undivided);
    counts("lanes", 0);
    const auto together = counters;
    use(1);
    counts("lanes", 0);
    EXPECT_EQ(counters, together);
}

TEST_P(EdgesTest, CallsAndReturns) {
    EXPECT_EQ(counts("calls", 1), (Counts{1, 1, 1, 1}));
    EXPECT_EQ(counts("calls", 7), (Counts{7, 7, 6, 1, 1}));
}

// In the same counters, at another address, by another engine.
TEST_P(EdgesTest, EdgesAreTheSameEverywhere) {
    for (const char* name : {"loop", "arm", "lanes", "calls"}) {
        use(1);
        counts(name, 6);
        const auto first = counters;
        const uint64_t elsewhere = buffer(1 << 20);
        ASSERT_TRUE(elsewhere);
        counts(name, 6);  // of another copy of the code object
        EXPECT_EQ(counters, first) << name;
        use(1, WJ_ENGINE_INTERPRETER);
        counts(name, 6);
        EXPECT_EQ(counters, first) << name;
    }
}

// What compilers make of loops, branches and barriers.
TEST_P(EdgesTest, CompiledKernelsCountAsOnTheInterpreter) {
    const auto all = [&] {
        counters.fill(0);
        uint64_t out = buffer(1 << 20), in = buffer(1 << 20);
        const auto go = [&](const char* file, const char* name, const wj_launch_options& o) {
            ASSERT_EQ(run(kernel(file, name), o), WJ_OK) << error();
        };
        go("asm", "store_after_barrier", packed(out, 1, 256 * 3, 256));
        go("asm", "relay", packed(out, 0, 256, 256));
        float a = 2;
        uint32_t n = 1000;
        wj_argument arguments[] = {WJ_POINTER(a), WJ_POINTER(in), WJ_POINTER(out), WJ_POINTER(n)};
        go("ids", "saxpy", launch(arguments, {1024}, {256}));
        wj_argument of_sum[] = {WJ_POINTER(in), WJ_POINTER(out), {nullptr, 256 * 4}};
        go("ids", "sum", launch(of_sum, {512}, {256}));
        return counters;
    };
    const auto here = all();
    EXPECT_GT(std::accumulate(here.begin(), here.end(), 0), 10);
    use(1, WJ_ENGINE_INTERPRETER);
    EXPECT_EQ(all(), here);
}

TEST_P(EdgesTest, NothingIsCountedUnasked) {
    counters.fill(0);
    dispatch.reset();
    modules.clear();
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    EXPECT_EQ(counts("loop", 5), Counts{});
}

WJ_SETUPS(EdgesTest);

TEST(EdgesOptions, AreChecked) {
    uint8_t counters[16] = {};
    const auto create = [](const wj_context_options& o) {
        wj_context* c = nullptr;
        char error[512] = "";
        const wj_status status = wj_context_create(&o, &c, error, sizeof(error));
        EXPECT_EQ(error[0] != 0, status != WJ_OK);
        wj_context_destroy(c);
        return status;
    };
    wj_context_options o = WJ_INIT(wj_context_options);
    o.engine = WJ_ENGINE_INTERPRETER;
    o.coverage = WJ_COVERAGE_COUNTERS;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "no counters";
    o.coverage_counters = counters;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "none of them";
    o.coverage_size = 1;
    EXPECT_EQ(create(o), WJ_OK);
    o.coverage = WJ_COVERAGE_AUTO;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "counters for nobody";
    o = WJ_INIT(wj_context_options);
    o.coverage = WJ_COVERAGE_OFF;
    o.coverage_divergence = 1;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "divergence of nothing";
    o.coverage_divergence = 0;
    o.coverage_lanes = 1;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "lanes of nothing";
    o.coverage = WJ_COVERAGE_COUNTERS;
    o.coverage_counters = counters;
    o.coverage_size = 6;
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT) << "there are seven ranges";
    o.coverage_size = 7;
    EXPECT_EQ(create(o), WJ_OK);
    o = WJ_INIT(wj_context_options);
    o.coverage = static_cast<wj_coverage>(3);
    EXPECT_EQ(create(o), WJ_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace wj::test
