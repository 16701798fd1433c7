// Launches that are made again and again.
#include <atomic>
#include <thread>

#include "tests/runtime/gpu.h"

namespace wj::test {
namespace {

struct Release {
    void operator()(wj_prepared* p) const { wj_prepared_release(p); }
};
using Prepared = std::unique_ptr<wj_prepared, Release>;

class PreparedTest : public Gpu {
protected:
    Prepared prepare(wj_kernel* k, const wj_launch_options& o) {
        wj_prepared* p = nullptr;
        EXPECT_EQ(wj_launch_prepare(k, &o, &p), WJ_OK) << error();
        return Prepared(p);
    }
    wj_status run(const Prepared& p) { return wj_prepared_launch(p.get(), nullptr); }
    template <class T>
    wj_status set(const Prepared& p, uint32_t index, T value) {
        return wj_prepared_set_argument(p.get(), index, &value, sizeof value);
    }
};

TEST_P(PreparedTest, ArgumentsByName) {
    constexpr uint32_t n = 1000;
    wj_kernel* const k = kernel("ids", "saxpy");
    uint64_t x = buffer(n * 4), y = buffer(n * 4);
    for (uint32_t i = 0; i < n; i++) host<float>(x)[i] = static_cast<float>(i);
    float a = 0;
    uint32_t count = n;
    wj_argument arguments[] = {WJ_POINTER(a), WJ_POINTER(x), WJ_POINTER(y), WJ_POINTER(count)};
    const Prepared p = prepare(k, launch(arguments, {1024}, {256}));
    uint32_t of_a = 99, of_n = 99;
    ASSERT_EQ(wj_kernel_find_argument(k, "a", &of_a), WJ_OK) << error();
    ASSERT_EQ(wj_kernel_find_argument(k, "n", &of_n), WJ_OK) << error();
    EXPECT_EQ(of_a, 0u);
    EXPECT_EQ(of_n, 3u);
    EXPECT_EQ(wj_kernel_find_argument(k, "m", &of_n), WJ_NOT_FOUND);
    EXPECT_NE(error().find("a, x, y, n"), std::string::npos) << error();
    // y grows by i * (1 + 2 + ... + 50), below 300 only from the 30th run on.
    for (uint32_t run_number = 1; run_number <= 50; run_number++) {
        ASSERT_EQ(set(p, of_a, static_cast<float>(run_number)), WJ_OK) << error();
        ASSERT_EQ(set(p, 3, run_number < 30 ? n : 300u), WJ_OK);
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_prepared_launch(p.get(), &r), WJ_OK) << error();
        EXPECT_EQ(r.work_groups, 4u);
        EXPECT_EQ(r.waves, 16u);
        EXPECT_GE(r.end_ns, r.start_ns);
    }
    for (uint32_t i = 0; i < n; i++)
        ASSERT_EQ(host<float>(y)[i], static_cast<float>(i) * (i < 300 ? 50 * 51 / 2 : 29 * 30 / 2));
}

TEST_P(PreparedTest, ArgumentsAreChecked) {
    wj_kernel* const k = kernel("ids", "sum");
    uint64_t in = buffer(4096), out = buffer(4096);
    wj_argument arguments[] = {WJ_POINTER(in), WJ_POINTER(out), {nullptr, 256 * 4}};
    const Prepared p = prepare(k, launch(arguments, {256}, {256}));
    EXPECT_EQ(set(p, 0, uint32_t{1}), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("has 8 bytes, not 4"), std::string::npos) << error();
    EXPECT_EQ(set(p, 2, uint32_t{1}), WJ_INVALID_ARGUMENT) << "local memory";
    EXPECT_EQ(set(p, 3, uint32_t{1}), WJ_INVALID_ARGUMENT) << "hidden, if anything";
    EXPECT_EQ(set(p, 1000, uint32_t{1}), WJ_INVALID_ARGUMENT);
    EXPECT_EQ(wj_prepared_set_argument(p.get(), 0, nullptr, 8), WJ_INVALID_ARGUMENT);
    wj_fault f = WJ_INIT(wj_fault);
    EXPECT_EQ(wj_prepared_get_fault(p.get(), &f), WJ_NOT_READY);
    EXPECT_EQ(run(p), WJ_OK) << error();
    EXPECT_EQ(wj_prepared_get_fault(p.get(), &f), WJ_NOT_FOUND);
    // What a launch would refuse is refused when it is prepared.
    wj_launch_options o = launch(arguments, {256}, {2048});
    wj_prepared* none = nullptr;
    EXPECT_EQ(wj_launch_prepare(k, &o, &none), WJ_OUT_OF_RANGE);
    EXPECT_EQ(none, nullptr);
    wj_prepared_release(nullptr);
}

// Barriers, and waves that end in front of them; more waves than one work-group.
TEST_P(PreparedTest, EveryRunBeginsAnew) {
    const uint64_t out = buffer(3 * 256 * 4), again = buffer(3 * 256 * 4);
    const Prepared p = prepare(kernel("asm", "store_after_barrier"), packed(out, 1, 256 * 3, 256));
    ASSERT_EQ(Gpu::run(kernel("asm", "store_after_barrier"), packed(again, 1, 256 * 3, 256)),
              WJ_OK);
    for (int i = 0; i < 5; i++) {
        std::memset(host<void>(out), 0, 3 * 256 * 4);
        ASSERT_EQ(run(p), WJ_OK) << error();
        EXPECT_EQ(std::memcmp(host<void>(out), host<void>(again), 3 * 256 * 4), 0);
    }
}

TEST_P(PreparedTest, GoesOnBehindFaults) {
    if (GetParam().memory != WJ_MEMORY_CHECKED) GTEST_SKIP() << "needs checked memory";
    const uint64_t out = buffer(64 * 4);
    const Prepared p = prepare(kernel("ids", "copy"), [&] {
        static uint64_t to, from;
        to = out, from = out;
        static wj_argument arguments[] = {WJ_POINTER(from), WJ_POINTER(to)};
        return launch(arguments, {64}, {64});
    }());
    for (int i = 0; i < 3; i++) {
        ASSERT_EQ(set(p, 1, out + 8), WJ_OK) << error();
        EXPECT_EQ(run(p), WJ_GUEST_FAULT);
        wj_fault f = WJ_INIT(wj_fault);
        ASSERT_EQ(wj_prepared_get_fault(p.get(), &f), WJ_OK) << error();
        EXPECT_EQ(f.lane_mask, uint64_t{3} << 62);
        EXPECT_EQ(f.address, out + 256);
        ASSERT_EQ(set(p, 1, out), WJ_OK);
        ASSERT_EQ(run(p), WJ_OK) << error();
        EXPECT_EQ(wj_prepared_get_fault(p.get(), &f), WJ_NOT_FOUND);
    }
}

TEST_P(PreparedTest, LimitsHoldForEachRun) {
    wj_launch_options o = unlimited(packed(buffer(4096), 7));
    o.instruction_limit = 1000;
    const Prepared endless = prepare(kernel("asm", "endless"), o);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(run(endless), WJ_TIMEOUT);
        EXPECT_NE(error().find("limit of 1000 wave instructions"), std::string::npos) << error();
    }
    wj_launch_options soon = o;
    soon.instruction_limit = 0;
    soon.timeout_ns = 20'000'000;
    const Prepared until_then = prepare(kernel("asm", "endless"), soon);
    for (int i = 0; i < 3; i++) {
        EXPECT_EQ(run(until_then), WJ_TIMEOUT);
        EXPECT_NE(error().find("time limit of 0.020 s"), std::string::npos) << error();
    }
    const Prepared fine = prepare(kernel("asm", "set_flag"), o);
    for (int i = 0; i < 200; i++) ASSERT_EQ(run(fine), WJ_OK) << error();
}

// A work-group that waits for another dispatch has its turn, gives way, and goes on.
TEST_P(PreparedTest, OneWaitsForAnother) {
    for (uint32_t i = 0; i < 5; i++) {
        const uint64_t flag = buffer(64), out = buffer(64);
        wj_launch_options o = unlimited(packed(flag, out));
        const Prepared waits = prepare(kernel("asm", "wait_for_flag"), o);
        const Prepared sets = prepare(kernel("asm", "set_flag"), o);
        for (int n = 0; n < 3; n++) {
            *host<uint32_t>(flag) = *host<uint32_t>(out) = 0;
            std::atomic<int> status{-1};
            std::thread other([&] { status = run(waits); });
            std::this_thread::sleep_for(std::chrono::milliseconds(n));
            EXPECT_EQ(run(sets), WJ_OK) << error();
            other.join();
            EXPECT_EQ(status, WJ_OK);
            EXPECT_EQ(*host<uint32_t>(out), 7u);
        }
    }
}

TEST_P(PreparedTest, ThreadsShareAContext) {
    constexpr uint32_t count = 3, rounds = 500;
    wj_kernel* const k = kernel("asm", "store_at");
    wj_counters before = WJ_INIT(wj_counters), after = WJ_INIT(wj_counters);
    ASSERT_EQ(wj_context_get_counters(context.get(), &before), WJ_OK);
    std::vector<uint64_t> memory;
    std::vector<Prepared> launches;
    for (uint32_t i = 0; i < count; i++) {
        memory.push_back(buffer(64 * 64, 0xff));
        launches.push_back(prepare(k, packed(memory[i], 4 * (i + 1))));
    }
    std::atomic<uint32_t> failed{0};
    std::vector<std::thread> threads;
    for (uint32_t i = 0; i < count; i++)
        threads.emplace_back([&, i] {
            for (uint32_t n = 0; n < rounds; n++) failed += run(launches[i]) != WJ_OK;
        });
    for (std::thread& t : threads) t.join();
    EXPECT_EQ(failed, 0u) << error();
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t lane = 0; lane < 64; lane++)
            ASSERT_EQ(host<uint32_t>(memory[i])[lane * (i + 1)], lane);
    ASSERT_EQ(wj_context_get_counters(context.get(), &after), WJ_OK);
    EXPECT_EQ(after.dispatches - before.dispatches, count * rounds);
    EXPECT_EQ(after.waves - before.waves, count * rounds);
}

// Who asks for a result is told when the launch ran.
TEST_P(PreparedTest, TimesWhereSomebodyLooks) {
    const Prepared p = prepare(kernel("asm", "store_at"), unlimited(packed(buffer(256), 4)));
    uint64_t last = 0;
    for (int i = 0; i < 6; i++) {
        ASSERT_EQ(run(p), WJ_OK) << error();
        wj_result r = WJ_INIT(wj_result);
        ASSERT_EQ(wj_prepared_launch(p.get(), &r), WJ_OK) << error();
        EXPECT_GT(r.start_ns, last);
        EXPECT_GT(r.end_ns, r.start_ns);
        EXPECT_EQ(r.waves, 1u);
        EXPECT_GE(r.wave_instructions, 7u);
        last = r.end_ns;
    }
}

TEST_P(PreparedTest, ArgumentsInRegistersAreRefused) {
    if (std::strcmp(GetParam().target, "gfx90a")) GTEST_SKIP() << "preloads nothing";
    wj_launch_options o = packed(buffer(4096), 7);
    wj_prepared* p = nullptr;
    EXPECT_EQ(wj_launch_prepare(kernel("asm", "preloaded"), &o, &p), WJ_UNIMPLEMENTED);
    EXPECT_NE(error().find("use wj_launch"), std::string::npos) << error();
}

WJ_SETUPS(PreparedTest);

}  // namespace
}  // namespace wj::test
