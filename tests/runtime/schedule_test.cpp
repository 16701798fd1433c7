// Barriers, spin-waits, limits, several dispatches at once.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

class ScheduleTest : public Gpu {
protected:
    void use_threads(uint32_t threads) {
        dispatch.reset();
        modules.clear();
        context = make_context(GetParam().target, GetParam().engine, threads, GetParam().memory);
    }
    // On so many work-items, the last of whose work-groups is a smaller one: the second of a
    // work-group's four waves ends in front of the barrier, the others store behind it.
    void store_after_barrier(uint32_t items) {
        wj_kernel* k = kernel("asm", "store_after_barrier");
        ASSERT_TRUE(k);
        const uint32_t whole = items / 256, rest = items % 256;
        const uint64_t out = buffer((whole + 1) * 256 * 4);
        ASSERT_EQ(run(k, unlimited(packed(out, 1, items, 256))), WJ_OK) << error();
        for (uint32_t i = 0; i < (whole + 1) * 256; i++)
            ASSERT_EQ(host<uint32_t>(out)[i], i % 256 / 64 == 1 || i >= items ? 0 : i / 256 + 1)
                << i;
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        EXPECT_EQ(r.work_groups, whole + 1);
        EXPECT_EQ(r.waves, whole * 4 + (rest + 63) / 64);
    }
};

// Waves that have ended count as arrived.
TEST_P(ScheduleTest, BarrierWithEndedWave) {
    wj_kernel* k = kernel("asm", "store_after_barrier");
    ASSERT_TRUE(k);
    constexpr uint32_t items = 100 * 256;
    for (uint32_t early = 0; early < 4; early++)
        for (const bool limited : {false, true}) {
            uint64_t out = buffer(items * 4);
            const wj_launch_options o = packed(out, early, items, 256);
            ASSERT_EQ(run(k, limited ? o : unlimited(o)), WJ_OK) << error();
            for (uint32_t i = 0; i < items; i++)
                ASSERT_EQ(host<uint32_t>(out)[i], i % 256 / 64 == early ? 0 : i / 256 + 1) << i;
        }
}

// The last work-group is a smaller one.
TEST_P(ScheduleTest, BarriersOfAPartialGroup) {
    for (const uint32_t rest : {64, 130, 255}) store_after_barrier(60 * 256 + rest);
}

// Each thread has a part of a grid of many work-groups.
TEST_P(ScheduleTest, ThreadsHaveParts) {
    use_threads(3);
    for (int launch = 0; launch < 3; launch++) store_after_barrier(2000 * 256 + 156);
}

// More rounds than waves may go through by themselves, and waves that leave in between.
TEST_P(ScheduleTest, WavesLeaveOneAfterTheOther) {
    wj_kernel* k = kernel("asm", "relay");
    ASSERT_TRUE(k);
    constexpr uint32_t groups = 40;
    const uint64_t out = buffer(groups * 16);
    uint32_t sum = 0, instructions = 0;
    for (uint32_t round = 1; round <= 28; round++)
        if (round <= 7 * (round % 4 + 1)) sum += round;
    for (uint32_t wave = 0; wave < 4; wave++) instructions += 12 + 10 * 7 * (wave + 1) + 8;
    for (uint64_t limit : {0, 1'000'000}) {
        wj_launch_options o = unlimited(packed(out, 0, groups * 256, 256));
        o.instruction_limit = limit;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        for (uint32_t g = 0; g < groups; g++) EXPECT_EQ(host<uint32_t>(out)[g * 4 + 3], sum) << g;
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        EXPECT_EQ(r.wave_instructions, groups * instructions);
    }
}

// More work-groups than threads, each waiting for all the others.
TEST_P(ScheduleTest, WorkGroupsWaitForEachOther) {
    wj_kernel* k = kernel("asm", "grid_barrier");
    ASSERT_TRUE(k);
    for (int cooperative = 0; cooperative < 2; cooperative++) {
        uint64_t counter = buffer(64);
        wj_launch_options o = packed(counter, 24, 24 * 64);
        o.cooperative = cooperative;
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        EXPECT_EQ(*host<uint32_t>(counter), 24u);
    }
}

TEST_P(ScheduleTest, KernelWaitsForTheHost) {
    wj_kernel* k = kernel("asm", "wait_for_flag");
    ASSERT_TRUE(k);
    uint64_t flag = buffer(64), out = buffer(64);
    wj_launch_options o = packed(flag, out);
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(k, &o, &d), WJ_OK) << error();
    dispatch.reset(d);
    EXPECT_EQ(wj_dispatch_wait_for(d, 20'000'000), WJ_NOT_READY);
    EXPECT_FALSE(wj_dispatch_done(d));
    reinterpret_cast<std::atomic<uint32_t>*>(flag)->store(42);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_OK) << error();
    EXPECT_EQ(*host<uint32_t>(out), 42u);
}

// 200 work-groups in a row that each wait for the next one, or for the one in front: in time
// proportional to their number, which the instructions are a measure of. (Without a limit, of whole
// slices it would be 200 * 200 / 2.)
TEST_P(ScheduleTest, ChainsOfWorkGroups) {
    constexpr uint32_t groups = 200;
    constexpr uint64_t most_each = 1 << 15;
    for (uint32_t threads : {1u, 2u})
        for (int32_t step : {1, -1})
            for (int cooperative = 0; cooperative < 2; cooperative++) {
                modules.clear();
                dispatch.reset();
                context =
                    make_context(GetParam().target, GetParam().engine, threads, GetParam().memory);
                wj_kernel* k = kernel("asm", "chain");
                ASSERT_TRUE(k);
                const uint64_t flags = buffer(groups * 4);
                const uint64_t arguments = groups | uint64_t{static_cast<uint32_t>(step)} << 32;
                wj_launch_options o = unlimited(packed(flags, arguments, groups * 64));
                o.cooperative = cooperative;
                ASSERT_EQ(run(k, o), WJ_OK) << error();
                for (uint32_t g = 0; g < groups; g++)
                    ASSERT_EQ(host<uint32_t>(flags)[g], step < 0 ? g + 1 : groups - g) << g;
                wj_result r = WJ_INIT(wj_result);
                ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
                EXPECT_LT(r.wave_instructions, groups * most_each) << threads << " " << step;
            }
}

// A wave that reads memory may be waiting for the host: never a deadlock, wherever in its loop it
// reads.
TEST_P(ScheduleTest, PollWhileOthersWaitAtABarrier) {
    wj_kernel* k = kernel("asm", "poll_behind_barrier");
    ASSERT_TRUE(k);
    const uint64_t flag = buffer(64), out = buffer(256 * 4);
    wj_launch_options o = unlimited(packed(flag, out, 256, 256));
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(k, &o, &d), WJ_OK) << error();
    dispatch.reset(d);
    EXPECT_EQ(wj_dispatch_wait_for(d, 300'000'000), WJ_NOT_READY);
    reinterpret_cast<std::atomic<uint32_t>*>(flag)->store(1);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_OK) << error();
    for (uint32_t i = 0; i < 256; i++) ASSERT_EQ(host<uint32_t>(out)[i], 1u) << i;
}

// A limit that strikes when all waves have arrived at a barrier.
TEST_P(ScheduleTest, LimitAtABarrierIsNoDeadlock) {
    wj_kernel* k = kernel("asm", "endless_barriers");
    ASSERT_TRUE(k);
    wj_launch_options o = unlimited(packed(0, 0, 256, 256));
    o.instruction_limit = 10'000;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
    EXPECT_NE(std::string(fault.report).find("limit of 10000"), std::string::npos) << fault.report;
    o.instruction_limit = 0;
    o.timeout_ns = 30'000'000;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
    EXPECT_NE(std::string(fault.report).find("time limit"), std::string::npos) << fault.report;
}

// With as many waiting dispatches as threads, and one more that ends the wait; also on one thread.
TEST_P(ScheduleTest, DispatchesWaitForEachOther) {
    for (uint32_t threads : {1u, 2u}) {
        modules.clear();
        dispatch.reset();
        context = make_context(GetParam().target, GetParam().engine, threads, GetParam().memory);
        wj_kernel *waits = kernel("asm", "wait_for_flag"), *sets = kernel("asm", "set_flag");
        ASSERT_TRUE(waits && sets);
        uint64_t flag = buffer(64), out = buffer(4096);
        std::vector<Dispatch> all;
        for (uint32_t i = 0; i < 4; i++) {
            wj_launch_options o = packed(flag, out + i * 64);
            wj_dispatch* d = nullptr;
            ASSERT_EQ(wj_dispatch_submit(waits, &o, &d), WJ_OK) << error();
            all.emplace_back(d);
        }
        wj_launch_options o = packed(flag, 0);
        wj_dispatch* d = nullptr;
        ASSERT_EQ(wj_dispatch_submit(sets, &o, &d), WJ_OK) << error();
        all.emplace_back(d);
        for (auto& one : all) EXPECT_EQ(wj_dispatch_wait(one.get()), WJ_OK) << error();
        for (uint32_t i = 0; i < 4; i++) EXPECT_EQ(host<uint32_t>(out)[i * 16], 7u);
    }
}

TEST_P(ScheduleTest, ManyThreadsLaunchAtOnce) {
    wj_kernel* k = kernel("ids", "saxpy");
    ASSERT_TRUE(k);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; t++)
        threads.emplace_back([&] {
            const uint32_t n = 1000;
            uint64_t x = 0, y = 0;
            if (wj_memory_allocate(context.get(), n * 4, &x) ||
                wj_memory_allocate(context.get(), n * 4, &y))
                wrong++;
            for (uint32_t i = 0; i < n; i++) host<float>(x)[i] = float(i);
            float a = 1;
            wj_argument args[] = {WJ_POINTER(a), WJ_POINTER(x), WJ_POINTER(y), WJ_POINTER(n)};
            wj_launch_options o = WJ_INIT(wj_launch_options);
            o.grid[0] = 1024;
            o.block[0] = 128;
            o.arguments = args;
            o.argument_count = 4;
            for (int i = 0; i < 20; i++) wrong += wj_launch(k, &o, nullptr) != WJ_OK;
            for (uint32_t i = 0; i < n; i++) wrong += host<float>(y)[i] != 20.0f * float(i);
            wrong += wj_memory_free(context.get(), x) != WJ_OK;
            wrong += wj_memory_free(context.get(), y) != WJ_OK;
        });
    for (auto& t : threads) t.join();
    EXPECT_EQ(wrong, 0);
    wj_counters c = WJ_INIT(wj_counters);
    ASSERT_EQ(wj_context_get_counters(context.get(), &c), WJ_OK);
    EXPECT_EQ(c.dispatches, 80u);
    EXPECT_EQ(c.work_groups, 80u * 8);
    EXPECT_EQ(c.waves, 80u * 16);
}

// Dispatches whose waves contend for memory go on by turns on one thread, which then does without
// locks, and on all; alone and beside each other.
TEST_P(ScheduleTest, ContendedMemory) {
    constexpr uint32_t counters = 64, launches = 6;
    const uint32_t grid = GetParam().engine == WJ_ENGINE_INTERPRETER ? 1 << 18 : 1 << 21;
    for (bool exclusive : {true, false}) {
        modules.clear();
        context =
            make_context(GetParam().target, GetParam().engine, 3, GetParam().memory, exclusive);
        wj_kernel* k = kernel("ids", "count");
        ASSERT_TRUE(k);
        const uint64_t out = buffer(counters * 4);
        std::atomic<int> wrong{0};
        auto launch_some = [&] {
            uint32_t mask = counters - 1;
            wj_argument args[] = {WJ_POINTER(out), WJ_POINTER(mask)};
            const wj_launch_options o = launch(args, {grid}, {256});
            for (uint32_t i = 0; i < launches; i++) wrong += wj_launch(k, &o, nullptr) != WJ_OK;
        };
        launch_some();
        std::thread beside(launch_some);
        launch_some();
        beside.join();
        EXPECT_EQ(wrong, 0) << error();
        for (uint32_t c = 0; c < counters; c++)
            ASSERT_EQ(host<uint32_t>(out)[c], 3 * launches * (grid / counters)) << c;
    }
}

TEST_P(ScheduleTest, Timeout) {
    wj_kernel* k = kernel("asm", "endless");
    ASSERT_TRUE(k);
    wj_launch_options o = packed(0, 0, 640);
    o.timeout_ns = 50'000'000;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT);
    EXPECT_STREQ(fault.kernel, "endless");
    EXPECT_NE(std::string(fault.report).find("time limit"), std::string::npos) << fault.report;
    EXPECT_LT(fault.kernel_offset, 12);
    // The context goes on.
    uint64_t out = buffer(256 * 4);
    EXPECT_EQ(run(kernel("asm", "store_after_barrier"), packed(out, 9, 256, 256)), WJ_OK)
        << error();
}

TEST_P(ScheduleTest, InstructionLimit) {
    wj_kernel* k = kernel("asm", "endless");
    ASSERT_TRUE(k);
    wj_launch_options o = packed(0, 0);
    o.instruction_limit = 1'000'000;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT);
    wj_result r = WJ_INIT(wj_result);
    ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
    // The loop has two instructions; two threads are each in a basic block when the limit is met.
    EXPECT_GE(r.wave_instructions, 1'000'000u);
    EXPECT_LE(r.wave_instructions, 1'000'000u + 2);
}

// Less than a basic block too many for each thread, however many waves there are.
TEST_P(ScheduleTest, InstructionLimitIsExactToTheBasicBlock) {
    for (const uint32_t threads : {1, 2, 3}) {
        use_threads(threads);
        for (const uint32_t items : {64, 256, 64 * 64})
            for (const uint64_t limit : {1, 2, 999, 1000, 2048, 70'000, 300'001}) {
                wj_launch_options o = packed(0, 0, items, 256);
                o.instruction_limit = limit;
                ASSERT_EQ(run(kernel("asm", "endless"), o), WJ_TIMEOUT);
                wj_result r = WJ_INIT(wj_result);
                ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
                EXPECT_GE(r.wave_instructions, limit);
                EXPECT_LE(r.wave_instructions, limit + threads) << threads << " " << items;
            }
    }
}

// What needs as many instructions as are allowed runs to its end, with too few it does not. (The
// last basic block is short: less is missing where it is all that is left.)
TEST_P(ScheduleTest, InstructionLimitThatIsJustEnough) {
    for (const uint32_t threads : {1, 2}) {
        use_threads(threads);
        wj_kernel* k = kernel("asm", "store_after_barrier");
        constexpr uint32_t items = 40 * 256;
        const uint64_t out = buffer(items * 4);
        wj_launch_options o = packed(out, 9, items, 256);
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        const uint64_t needed = r.wave_instructions;
        o.instruction_limit = needed;
        EXPECT_EQ(run(k, o), WJ_OK) << error();
        constexpr uint32_t program = 64;  // instructions, at most
        o.instruction_limit = needed - program;
        EXPECT_EQ(run(k, o), WJ_TIMEOUT);
    }
}

TEST_P(ScheduleTest, Cancel) {
    wj_kernel* k = kernel("asm", "endless");
    ASSERT_TRUE(k);
    wj_launch_options o = packed(0, 0);
    o.timeout_ns = 0;
    wj_dispatch* d = nullptr;
    ASSERT_EQ(wj_dispatch_submit(k, &o, &d), WJ_OK) << error();
    dispatch.reset(d);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    wj_dispatch_cancel(d);
    EXPECT_EQ(wj_dispatch_wait(d), WJ_TIMEOUT);
    EXPECT_NE(error().find("cancelled"), std::string::npos) << error();
}

TEST_P(ScheduleTest, BarrierDeadlockIsProved) {
    wj_kernel* k = kernel("asm", "barrier_deadlock");
    ASSERT_TRUE(k);
    wj_launch_options o = packed(0, 0, 256, 256);
    ASSERT_EQ(run(k, o), WJ_DEADLOCK) << error();
    std::string report = fault.report;
    EXPECT_NE(report.find("3 of 4 waves"), std::string::npos) << report;
    EXPECT_NE(report.find("s_barrier"), std::string::npos) << report;
    EXPECT_NE(report.find("waits at a barrier"), std::string::npos) << report;
}

// One data share for all work-groups and threads; ordered counts go by the waves' ids, whoever
// comes first. More waves than ids.
TEST_P(ScheduleTest, GlobalDataShare) {
    if (GetParam().target == std::string("gfx90a")) GTEST_SKIP() << "has none";
    constexpr uint32_t groups = 5000;
    wj_kernel *count = kernel("asm", "gds_count"), *read = kernel("asm", "gds_read");
    ASSERT_TRUE(count && read);
    const uint64_t out = buffer(groups * 4), sum = buffer(64);
    for (uint32_t round = 0, before = 0; round < 2; round++) {
        ASSERT_EQ(run(count, packed(out, 0, groups * 64)), WJ_OK) << error();
        for (uint32_t id = 0; id < groups; before += ++id)
            ASSERT_EQ(host<uint32_t>(out)[id], before) << id;
        ASSERT_EQ(run(read, packed(sum, 0)), WJ_OK) << error();
        // Lane 0 was the first of 64 to take it.
        EXPECT_EQ(*host<uint32_t>(sum), groups * 64);
    }
}

WJ_SETUPS(ScheduleTest);

}  // namespace
}  // namespace wj::test
