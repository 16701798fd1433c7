// gfx12.5: named barriers and clusters of work-groups (AMDGPU usage guide, "Execution Barriers").
// Of each number that is expected the kernel's comment says why.
#include <numeric>

#include "machine/barrier.h"
#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

using Words = std::vector<uint32_t>;

// ---- the object

machine::BarrierObject set_up(uint32_t expected) {
    machine::BarrierObject object;
    object.init(expected);
    return object;
}

TEST(BarrierObject, ArrivalsCompleteAPhaseAndTheCountStartsAnew) {
    machine::BarrierObject object;
    EXPECT_FALSE(object.initialised());
    object.init(3);
    EXPECT_TRUE(object.initialised());
    for (uint32_t phase = 0; phase < 4; phase++)
        for (uint32_t wave = 0; wave < 3; wave++) {
            EXPECT_EQ(object.phase(), phase);
            EXPECT_EQ(object.arrived(), wave);
            EXPECT_EQ(object.arrive(wave), nullptr);
        }
    EXPECT_EQ(object.phase(), 4u);
    EXPECT_EQ(object.arrived(), 0u);
    EXPECT_EQ(object.expected(), 3u);
}

TEST(BarrierObject, InitStartsAPhase) {
    machine::BarrierObject object = set_up(3);
    EXPECT_EQ(object.arrive(0), nullptr);
    object.init(2);
    EXPECT_EQ(object.arrived(), 0u);
    EXPECT_EQ(object.expected(), 2u);
    EXPECT_EQ(object.arrive(0), nullptr);
    EXPECT_EQ(object.phase(), 0u);
    EXPECT_EQ(object.arrive(1), nullptr);
    EXPECT_EQ(object.phase(), 1u);
}

TEST(BarrierObject, ADropCanCompleteIt) {
    machine::BarrierObject object = set_up(3);
    EXPECT_EQ(object.arrive(0), nullptr);
    EXPECT_EQ(object.arrive(1), nullptr);
    EXPECT_EQ(object.phase(), 0u);
    EXPECT_EQ(object.drop(2), nullptr);
    EXPECT_EQ(object.phase(), 1u);
    EXPECT_EQ(object.expected(), 2u);
}

// Who waits sees the phase that was completed, although the next one has begun; who has waited, or
// joins now, waits for the next one.
TEST(BarrierObject, WaitsAreForPhases) {
    machine::BarrierObject object = set_up(2);
    EXPECT_FALSE(object.take(0));
    EXPECT_EQ(object.arrive(0), nullptr);
    EXPECT_FALSE(object.take(0));
    EXPECT_EQ(object.arrive(1), nullptr);
    EXPECT_TRUE(object.take(1));
    EXPECT_FALSE(object.take(1));
    EXPECT_EQ(object.arrive(1), nullptr);  // in the next phase
    EXPECT_TRUE(object.take(0));
    EXPECT_FALSE(object.take(0));
    EXPECT_EQ(object.arrive(0), nullptr);
    object.join(0);
    EXPECT_FALSE(object.take(0));
    EXPECT_TRUE(object.take(1));
}

TEST(BarrierObject, ItSaysWhatNobodyMayDo) {
    machine::BarrierObject object = set_up(3);
    EXPECT_EQ(object.arrive(0), nullptr);
    EXPECT_EQ(object.arrive(1), nullptr);
    EXPECT_STREQ(object.arrive(2, 2), "a new expected count that is not above the arrive count");
    EXPECT_STREQ(object.drop(1), "a drop by who has arrived, before the phase is complete");
    EXPECT_EQ(object.drop(2), nullptr);
    EXPECT_EQ(object.drop(1), nullptr);
    EXPECT_EQ(object.drop(0), nullptr);
    EXPECT_STREQ(object.drop(2), "a drop that makes the expected count negative");
    EXPECT_STREQ(object.arrive(2), "more arrivals than the expected count");
}

// ---- named barriers

class NamedBarriers : public Gpu {
protected:
    // Work-groups of so many waves, each of which writes `each` numbers.
    Words waves(const char* name, uint32_t count, uint32_t each = 1) {
        wj_kernel* const k = kernel("barriers", name);
        Words first, again;
        for (Words* words : {&first, &again}) {
            const uint64_t out = buffer(count * each * 4);
            const wj_launch_options o = packed(out, 0, count * 32, count * 32);
            EXPECT_EQ(run(k, words == &first ? o : unlimited(o)), WJ_OK) << name << ": " << error();
            words->assign(host<uint32_t>(out), host<uint32_t>(out) + count * each);
        }
        // Which wave is the first may differ.
        if (std::string_view(name) != "first_named") {
            EXPECT_EQ(first, again) << name;
        }
        return again;
    }
    void expect_stopped(const char* name, uint32_t count, wj_status status,
                        std::initializer_list<const char*> says) {
        const uint64_t out = buffer(4096);
        EXPECT_EQ(run(kernel("barriers", name), packed(out, 0, count * 32, count * 32)), status)
            << name << ": " << error();
        for (const char* text : says)
            EXPECT_NE(error().find(text), std::string::npos) << name << ": " << error();
    }
    void expect_misuse(const char* name, uint32_t count, const char* barrier, const char* what,
                       const char* instruction) {
        expect_stopped(name, count, WJ_GUEST_FAULT,
                       {("misuse of barrier " + std::string(barrier)).c_str(), what, instruction});
    }
};

TEST_P(NamedBarriers, SubsetsOfTheWavesMeet) {
    EXPECT_EQ(waves("pairs", 4), (Words{11, 10, 13, 12}));
}

TEST_P(NamedBarriers, WhoDoesNotWaitSignalsAndAFastWaveCountsInTheNextPhase) {
    EXPECT_EQ(waves("hand_over", 2), (Words{0, 64 * 65 / 2}));
}

TEST_P(NamedBarriers, ASignalMayBringANewExpectedCount) {
    EXPECT_EQ(waves("new_count", 2), (Words{7, 7}));
}

// Eight of them are under way at once, on two threads.
TEST_P(NamedBarriers, EachWorkGroupHasItsOwn) {
    const uint64_t out = buffer(64);
    ASSERT_EQ(run(kernel("barriers", "hand_over"), packed(out, 0, 8 * 64, 64)), WJ_OK) << error();
    EXPECT_EQ(host<uint32_t>(out)[1], 64u * 65 / 2);
}

TEST_P(NamedBarriers, OneWaveOfEachPhaseIsTheFirst) {
    const Words first = waves("first_named", 3);
    EXPECT_EQ(std::accumulate(first.begin(), first.end(), 0u), 0x11u);
}

TEST_P(NamedBarriers, BarrierZeroDoesNothing) {
    EXPECT_EQ(waves("null", 3), (Words{0x21, 0x21, 0x21}));
}

TEST_P(NamedBarriers, AWaitIsForTheLastOneJoined) {
    EXPECT_EQ(waves("last_joined", 2), (Words{9, 9}));
}

TEST_P(NamedBarriers, TheLastToLeaveCompletesIt) {
    EXPECT_EQ(waves("leave_last", 3), (Words{6, 6, 5}));
}

TEST_P(NamedBarriers, WavesThatEndStayMembers) {
    expect_stopped("ends_joined", 2, WJ_DEADLOCK,
                   {"1 of 2 waves of the work-group wait at a barrier that has 1 signals of its 2",
                    "barrier 1: 1 waves wait, 1 of 2 have signalled", "s_barrier_wait"});
}

TEST_P(NamedBarriers, AnObjectIsSetUpAnew) {
    EXPECT_EQ(waves("reused", 3), (Words{3, 3, 3}));
}

TEST_P(NamedBarriers, TheStateCountsSignalsAndMembers) {
    EXPECT_EQ(waves("states", 1, 5), (Words{0, 0x31, 1 << 16 | 0x31, 0x31, 0x21}));
}

TEST_P(NamedBarriers, NumbersThatAKernelDoesNotHaveAreRefused) {
    const struct {
        const char *kernel, *says;
    } cases[] = {{"beyond", "beyond those that the kernel descriptor asks for (NAMED_BAR_CNT)"},
                 {"unknown", "no barrier has this number"},
                 {"init_group", "waves neither set up nor join this barrier"},
                 {"cluster_trap", "the trap handlers' of a cluster"},
                 {"no_cluster", "this launch has no clusters"}};
    for (const auto& c : cases) expect_stopped(c.kernel, 2, WJ_ILLEGAL_INSTRUCTION, {c.says});
    expect_stopped("null_state", 1, WJ_UNIMPLEMENTED, {"the state of barrier 0"});
    expect_stopped("wakeup", 1, WJ_UNIMPLEMENTED, {"s_wakeup_barrier"});
}

TEST_P(NamedBarriers, OperationsOnOneThatNobodyHasSetUpAreReported) {
    for (const char* name : {"signal_unset", "join_unset"})
        expect_misuse(name, 1, "1", "no wave has set it up", "s_barrier_");
}

TEST_P(NamedBarriers, ExpectedCountsThatCannotBeAreReported) {
    expect_misuse("init_nobody", 1, "1", "not between 1 and 127", "s_barrier_init");
    expect_misuse("init_many", 1, "1", "not between 1 and 127", "s_barrier_init");
    expect_misuse("new_count_too_low", 1, "1", "not above the arrive count", "s_barrier_signal");
    expect_misuse("signal_emptied", 1, "1", "more arrivals than", "s_barrier_signal");
}

TEST_P(NamedBarriers, DropsThatMustNotBeAreReported) {
    for (const char* name : {"leave_unjoined", "leave_twice"})
        expect_misuse(name, 1, "0", "has joined no named barrier", "s_barrier_leave");
    expect_misuse("leave_nothing", 2, "1", "makes the expected count negative", "s_barrier_leave");
    expect_misuse("leave_signalled", 2, "1", "before the phase is complete", "s_barrier_leave");
    expect_misuse("end_signalled", 2, "-1", "before the phase is complete", "s_endpgm");
}

TEST_P(NamedBarriers, WaitsWithoutAJoinAreReported) {
    for (const char* name : {"wait_unjoined", "wait_unjoined_by_null"})
        expect_misuse(name, 1, "1", "has joined no named barrier", "s_barrier_wait");
    expect_stopped("join_late", 1, WJ_DEADLOCK, {"barrier 1: 1 waves wait, 0 of 1 have signalled"});
}

// ---- clusters

class ClustersTest : public NamedBarriers {
protected:
    // Work-groups of two waves.
    wj_status run_groups(const char* name, uint32_t groups, uint64_t out) {
        wj_launch_options o = packed(out, 0, groups * 64, 64);
        return run(kernel("barriers", name),
                   GetParam().engine == WJ_ENGINE_AUTO ? unlimited(o) : o);
    }
    void expect_failure(const char* name, uint32_t groups, wj_status status,
                        std::initializer_list<const char*> says) {
        EXPECT_EQ(run_groups(name, groups, buffer(4096)), status) << name << ": " << error();
        for (const char* text : says)
            EXPECT_NE(error().find(text), std::string::npos) << name << ": " << error();
    }
};

// Bits of TTMP6: the place in x, the last place in x, how many are behind the first one.
TEST_P(ClustersTest, WavesFindTheirPlace) {
    constexpr uint32_t groups = 6;
    const uint64_t out = buffer(groups * 16);
    ASSERT_EQ(run_groups("place", groups, out), WJ_OK) << error();
    for (uint32_t g = 0; g < groups; g++) {
        const uint32_t* o = host<uint32_t>(out) + g * 4;
        EXPECT_EQ(o[0], g % 2 | 1u << 12 | 1u << 24) << g;
        EXPECT_EQ(o[1], g / 2) << g;
        EXPECT_EQ(o[2], g % 2) << g;
        EXPECT_NE(o[3], 0u) << g;
    }
}

// Each work-group reads what the other one of its cluster has written in front of the barrier.
void expect_met(const uint32_t* out, uint32_t groups) {
    for (uint32_t g = 0; g < groups; g++) EXPECT_EQ(out[1024 + g], g ^ 1) << g;
}

TEST_P(ClustersTest, WorkGroupsMeet) {
    for (const uint32_t groups : {2u, 10u, 200u}) {
        const uint64_t out = buffer(8192);
        ASSERT_EQ(run_groups("meet", groups, out), WJ_OK) << error();
        expect_met(host<uint32_t>(out), groups);
    }
}

// More work-groups than the device holds of launches without clusters, those of a cluster far
// apart.
TEST(Clusters, WorkGroupsStartInAnyOrder) {
    wj_context_options options = WJ_INIT(wj_context_options);
    options.target = "gfx1250";
    options.deterministic = 1;
    options.compute_units = 1;
    wj_context* c = nullptr;
    ASSERT_EQ(wj_context_create(&options, &c, nullptr, 0), WJ_OK);
    const Context context(c);
    wj_module* m = nullptr;
    ASSERT_EQ(wj_module_load_file(c, kernel_file("barriers", "gfx1250").c_str(), &m), WJ_OK);
    const Module module(m);
    wj_kernel* k = nullptr;
    ASSERT_EQ(wj_module_get_kernel(m, "meet", &k), WJ_OK);
    for (uint64_t seed = 0; seed < 4; seed++) {
        constexpr uint32_t groups = 200;
        uint64_t arguments[2] = {};
        ASSERT_EQ(wj_memory_allocate(c, 8192, arguments), WJ_OK);
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = groups * 64;
        o.block[0] = 64;
        o.packed_arguments = arguments;
        o.packed_size = sizeof arguments;
        o.schedule_seed = seed;
        ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << wj_last_error(c);
        expect_met(reinterpret_cast<const uint32_t*>(arguments[0]), groups);
    }
}

TEST_P(ClustersTest, AWorkGroupThatEndsDropsTheBarrier) {
    const uint64_t out = buffer(4096);
    // Waves of the first work-group: one of them may signal.
    wj_launch_options o = packed(out, 0, 64, 32);
    ASSERT_EQ(run(kernel("barriers", "one_ends"), o), WJ_OK) << error();
    EXPECT_EQ(host<uint32_t>(out)[0], 8u);
}

TEST_P(ClustersTest, OneWorkGroupIsTheFirst) {
    const uint64_t out = buffer(4096);
    ASSERT_EQ(run(kernel("barriers", "cluster_state"), packed(out, 0, 64, 32)), WJ_OK) << error();
    const uint32_t* o = host<uint32_t>(out);
    EXPECT_EQ(o[0] + o[2], 1u);
    for (const uint32_t state : {o[1], o[3]}) EXPECT_TRUE(state == 0x21 || state == 0x11) << state;
}

TEST_P(ClustersTest, AWaitThatNobodyCanEndIsReported) {
    EXPECT_EQ(run(kernel("barriers", "cluster_stuck"), packed(0, 0, 64, 32)), WJ_DEADLOCK)
        << error();
    for (const char* text : {"barrier deadlock", "barrier -3: 1 waves wait, 1 of 2 have signalled"})
        EXPECT_NE(error().find(text), std::string::npos) << error();
}

TEST_P(ClustersTest, ASecondSignalForAWorkGroupIsReported) {
    expect_failure("signal_twice", 2, WJ_GUEST_FAULT,
                   {"misuse of barrier -3", "a second arrival at the cluster's barrier"});
    EXPECT_EQ(run(kernel("barriers", "end_without_wait"), packed(0, 0, 64, 32)), WJ_GUEST_FAULT)
        << error();
    EXPECT_NE(error().find("misuse of barrier -3"), std::string::npos) << error();
}

TEST_P(ClustersTest, WhatHasNoPublishedRulesIsRefused) {
    expect_failure("multicast", 2, WJ_UNIMPLEMENTED, {"cluster_load", "clusters of several"});
}

TEST_P(ClustersTest, GridsThatAreNotWholeClustersAreRefused) {
    expect_failure("meet", 3, WJ_INVALID_ARGUMENT,
                   {"clusters of 2 x 1 x 1", "do not divide the grid's 3 work-groups in x"});
    expect_failure("many_work_groups", 17, WJ_OUT_OF_RANGE, {"clusters of 17 x 1 x 1", "1 to 16"});
}

TEST_P(NamedBarriers, OfClang) {
    constexpr uint32_t items = 128;
    const uint64_t out = buffer(items * 4);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(run(kernel("named_barriers", "pairs"), launch(arguments, {items}, {items})), WJ_OK)
        << error();
    for (uint32_t i = 0; i < items; i++) ASSERT_EQ(host<uint32_t>(out)[i], i * 3 + (i ^ 32) * 3);
}

TEST_P(ClustersTest, OfClang) {
    const uint64_t out = buffer(4 * 6 * 32), numbers = buffer(4 * 6 * 4);
    wj_launch_options o = packed(out, numbers, 4 * 64, 64);
    o.grid[1] = 6;
    ASSERT_EQ(run(kernel("named_barriers", "places"), o), WJ_OK) << error();
    for (uint32_t y = 0; y < 6; y++)
        for (uint32_t x = 0; x < 4; x++) {
            const uint32_t* p = host<uint32_t>(out) + (y * 4 + x) * 8;
            const Words found(p, p + 8), expected{x / 2,
                                                  y / 3,
                                                  x % 2,
                                                  y % 3,
                                                  x % 2 + y % 3 * 2,
                                                  1 | 2 << 8,
                                                  5,
                                                  y * 4 + (x ^ 1) + 100};
            EXPECT_EQ(found, expected) << x << " " << y;
        }
}

// Without clusters each work-group is one.
TEST_P(ClustersTest, OfOneWorkGroup) {
    const uint64_t out = buffer(4 * 6 * 4);
    wj_argument arguments[] = {WJ_POINTER(out)};
    ASSERT_EQ(run(kernel("named_barriers", "any_place"), launch(arguments, {4 * 32, 6}, {32, 1})),
              WJ_OK)
        << error();
    for (uint32_t i = 0; i < 24; i++) EXPECT_EQ(host<uint32_t>(out)[i], i % 4 | i / 4 << 24) << i;
}

const auto setups = testing::Values(Setup{"gfx1250", WJ_ENGINE_INTERPRETER, WJ_MEMORY_IDENTITY},
                                    Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                    Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                    Setup{"gfx1250", WJ_ENGINE_AUTO, WJ_MEMORY_IDENTITY});
INSTANTIATE_TEST_SUITE_P(All, NamedBarriers, setups, setup_name);
INSTANTIATE_TEST_SUITE_P(All, ClustersTest, setups, setup_name);

// ---- findings of the checkers

class BarrierChecks : public Gpu {
protected:
    void SetUp() override {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = GetParam().engine;
        o.checks = WJ_CHECK_BARRIER;
        char why[512] = "";
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, why, sizeof(why));
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << why;
    }
    void expect_found(const char* name, uint32_t count, const char* what, const char* at) {
        const uint64_t out = buffer(4096);
        EXPECT_EQ(run(kernel("barriers", name), packed(out, 0, count * 32, count * 32)),
                  WJ_GUEST_FAULT)
            << name;
        EXPECT_NE(std::strstr(fault.report, what), nullptr) << fault.report;
        EXPECT_NE(std::strstr(fault.report, at), nullptr) << fault.report;
    }
};

TEST_P(BarrierChecks, AWaitByAnotherName) {
    expect_found("other_name", 1, "names another barrier than the one that the wave has joined",
                 "s_barrier_wait 1");
}

TEST_P(BarrierChecks, AJoinToNoEnd) {
    expect_found("join_in_vain", 1, "the wave neither waits for it nor leaves it",
                 "s_barrier_join 1");
    expect_found("null", 2, "the wave neither waits for it nor leaves it", "s_barrier_join 1");
}

TEST_P(BarrierChecks, WhatIsRightIsNotFound) {
    const uint64_t out = buffer(4096);
    for (const char* name : {"pairs", "hand_over", "leave_last"}) {
        const uint32_t waves = name[0] == 'p' ? 4 : name[0] == 'h' ? 2 : 3;
        EXPECT_EQ(run(kernel("barriers", name), packed(out, 0, waves * 32, waves * 32)), WJ_OK)
            << name << ": " << error();
    }
}

INSTANTIATE_TEST_SUITE_P(All, BarrierChecks,
                         testing::Values(Setup{"gfx1250", WJ_ENGINE_INTERPRETER,
                                               WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
