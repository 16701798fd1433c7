// Contexts with `deterministic`: the order of waves and clocks, whatever the number of threads.
#include <numeric>
#include <set>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class DeterminismTest : public Gpu {
protected:
    void SetUp() override { use(1); }
    void use(uint32_t threads, wj_engine engine = GetParam().engine) {
        dispatch.reset();
        modules.clear();
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = engine;
        o.memory_mode = GetParam().memory;
        o.threads = threads;
        o.deterministic = 1;
        char error[512] = "";
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, error, sizeof(error));
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << error;
        out = buffer((1 + waves) * 4);
    }
    // The numbers of the waves in the order in which they passed.
    std::vector<uint32_t> order(uint32_t laps, uint64_t seed) {
        std::memset(host<void>(out), 0, (1 + waves) * 4);
        wj_launch_options o = unlimited(packed(out, laps, groups * 256, 256));
        o.schedule_seed = seed;
        EXPECT_EQ(run(kernel("edges", "order"), o), WJ_OK) << error();
        EXPECT_EQ(host<uint32_t>(out)[0], waves);
        return {host<uint32_t>(out) + 1, host<uint32_t>(out) + 1 + waves};
    }
    static constexpr uint32_t groups = 33, waves = 4 * groups;
    uint64_t out = 0;
};

TEST_P(DeterminismTest, WithoutASeedInTheOrderOfNumbers) {
    std::vector<uint32_t> expected(waves);
    std::iota(expected.begin(), expected.end(), 0);
    for (const uint32_t threads : {1, 2, 8}) {
        use(threads);
        for (int launch = 0; launch < 3; launch++) EXPECT_EQ(order(1, 0), expected);
    }
}

TEST_P(DeterminismTest, SeedsReplay) {
    constexpr uint32_t laps = 2000;  // more than a slice of a schedule with a seed
    std::set<std::vector<uint32_t>> seen;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        use(1);
        const auto first = order(laps, seed);
        const std::set<uint32_t> all(first.begin(), first.end());
        EXPECT_EQ(all.size(), waves);
        EXPECT_EQ(*all.rbegin(), waves - 1);
        EXPECT_EQ(order(laps, seed), first) << "what ran before does not matter";
        use(4);
        EXPECT_EQ(order(laps, seed), first) << "nor how many threads there are";
        use(2, WJ_ENGINE_INTERPRETER);
        EXPECT_EQ(order(laps, seed), first) << "nor the engine";
        seen.insert(first);
    }
    EXPECT_EQ(seen.size(), 6u) << "other seeds, other orders";
}

TEST_P(DeterminismTest, ClocksCountInstructions) {
    for (const uint32_t threads : {1, 4}) {
        use(threads);
        for (int launch = 0; launch < 3; launch++) {
            ASSERT_EQ(run(kernel("edges", "clock"), unlimited(packed(out, 0))), WJ_OK) << error();
            const uint64_t* const times = host<uint64_t>(out);
            EXPECT_EQ(times[0], 3u) << "of the dispatch: a load, a wait, and the clock itself";
            EXPECT_EQ(times[1] - times[0], 10u + 2 + 1);
        }
    }
}

TEST_P(DeterminismTest, SeedsAreOfDeterministicContexts) {
    dispatch.reset();
    modules.clear();
    context = make_context(GetParam().target, GetParam().engine, 1, GetParam().memory);
    wj_launch_options o = packed(buffer(4096), 1, 64, 64);
    o.schedule_seed = 1;
    EXPECT_EQ(run(kernel("edges", "order"), o), WJ_INVALID_ARGUMENT);
}

WJ_SETUPS(DeterminismTest);

}  // namespace
}  // namespace wj::test
