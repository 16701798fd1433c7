// Snapshots with a dispatch that has stopped in the midst of its kernel.
#include <random>

#include "tests/runtime/resume.h"

namespace wj::test {
namespace {

class DispatchSnapshots : public ResumeGpu {
protected:
    wj_status try_to_take(wj_snapshot& s, wj_dispatch* d) {
        wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
        o.only_marked_writes = marked && GetParam().memory == WJ_MEMORY_CHECKED;
        o.dispatch = d;
        return wj_snapshot_take(context.get(), &o, &s);
    }
    wj_snapshot take(bool with_dispatch = true) {
        wj_snapshot s = 0;
        EXPECT_EQ(try_to_take(s, with_dispatch ? dispatch.get() : nullptr), WJ_OK) << error();
        return s;
    }
    void restore(wj_snapshot s) {
        ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK) << error();
    }
    void expect_refused(wj_dispatch* d, wj_status status, const char* why) {
        wj_snapshot s = 0;
        EXPECT_EQ(try_to_take(s, d), status) << why;
        EXPECT_NE(error().find(why), std::string::npos) << error();
    }
    bool marked = true;
};

// Wherever it stops, twice.
TEST_P(DispatchSnapshots, AtEveryLimit) {
    const Mixed expected(fill(1), laps);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(0, WJ_KEEP_WAVES)), WJ_OK) << error();
    const wj_result whole = result();
    for (uint64_t limit = 1; limit < whole.wave_instructions; limit += 3) {
        marked = limit % 2;
        clear();
        const wj_status stopped = run(mixed, mixed_options(limit, 1 + limit % 2));
        if (stopped == WJ_OK && limit + 32 > whole.wave_instructions) break;  // in the last block
        ASSERT_EQ(stopped, WJ_TIMEOUT) << limit;
        const wj_snapshot s = take();
        const size_t waves = wj_dispatch_wave_count(dispatch.get());
        for (uint32_t n = 0; n < 3; n++) {
            wj_resume_options part = WJ_INIT(wj_resume_options);
            part.wait = n;
            if (n == 2) part.keep_waves = WJ_KEEP_WAVES;
            ASSERT_EQ(resume(part), WJ_OK) << error();
            ASSERT_TRUE(holds(expected)) << limit << ", " << n;
            ASSERT_EQ(result().waves, whole.waves);
            ASSERT_EQ(result().work_groups, whole.work_groups);
            restore(s);
            ASSERT_EQ(wj_dispatch_wave_count(dispatch.get()), waves);
        }
        ASSERT_EQ(wj_snapshot_release(context.get(), s), WJ_OK);
        ASSERT_EQ(resume(), WJ_OK) << error();
        ASSERT_TRUE(holds(expected)) << limit;
    }
}

// What a fuzzer does: once to the place of interest, then each input from there on.
TEST_P(DispatchSnapshots, OtherInputEachTime) {
    constexpr uint32_t fold_laps = 6, stop_lap = 2;
    const uint64_t numbers = buffer(fold_laps * 512), sums = buffer(512);
    std::vector<uint32_t> input(fold_laps * 128, 5);
    ASSERT_EQ(wj_memory_write(context.get(), numbers, input.data(), input.size() * 4), WJ_OK);
    const uint32_t count = fold_laps;
    wj_argument of_fold[] = {WJ_POINTER(numbers), WJ_POINTER(sums), WJ_POINTER(count)};
    wj_hooks hooks = WJ_INIT(wj_hooks);
    uint32_t barriers = 0;
    hooks.hook_context = &barriers;
    hooks.barrier = [](void* context, wj_wave* wave) {
        wj_wave_info info = WJ_INIT(wj_wave_info);
        wj_wave_get_info(wave, &info);
        auto& seen = *static_cast<uint32_t*>(context);
        return !info.wave && seen++ == 2 * stop_lap ? WJ_HOOK_STOP : WJ_HOOK_GO_ON;
    };
    wj_launch_options o = launch(of_fold, {128}, {128});
    o.hooks = &hooks;
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(kernel("resume", "fold"), o), WJ_TIMEOUT) << error();
    const wj_snapshot s = take();
    std::mt19937 random(1);
    for (uint32_t n = 0; n < 100; n++) {
        restore(s);
        for (uint32_t i = (stop_lap + 1) * 128; i < input.size(); i++) input[i] = random();
        ASSERT_EQ(wj_memory_write(context.get(), numbers, input.data(), input.size() * 4), WJ_OK);
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.wait = n % 2;
        ASSERT_EQ(resume(part), WJ_OK) << error();
        uint32_t sum[128], mine[128][4], share[128];
        for (uint32_t l = 0; l < 128; l++) {
            sum[l] = l;
            for (uint32_t k = 0; k < 4; k++) mine[l][k] = l * k;
        }
        for (uint32_t lap = 0; lap < fold_laps; lap++) {
            for (uint32_t l = 0; l < 128; l++)
                share[l] = sum[l] = sum[l] * 3 + input[lap * 128 + l];
            for (uint32_t l = 0; l < 128; l++) {
                mine[l][(l + lap) & 3] += share[127 - l];
                sum[l] ^= mine[l][lap & 3];
            }
        }
        ASSERT_TRUE(std::equal(sum, sum + 128, host<uint32_t>(sums))) << n;
    }
}

// And registers: what is written to a wave that has been restored is gone with the next restore.
TEST_P(DispatchSnapshots, OtherRegistersEachTime) {
    const uint64_t sums = buffer(256);
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.barrier = [](void*, wj_wave*) { return WJ_HOOK_STOP; };
    wj_launch_options o = packed(sums, 0);
    o.hooks = &hooks;
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(kernel("stops", "total64"), o), WJ_TIMEOUT) << error();
    const wj_snapshot s = take();
    for (uint32_t n = 0; n < 20; n++) {
        restore(s);
        wj_wave* const wave = wj_dispatch_wave_at(dispatch.get(), 0);
        wj_wave_info info = WJ_INIT(wj_wave_info);
        ASSERT_EQ(wj_wave_get_info(wave, &info), WJ_OK);
        EXPECT_TRUE(info.exact);
        EXPECT_EQ(info.state, WJ_WAVE_STOPPED);
        uint32_t expected = 22;
        if (n % 2) {
            std::vector<uint32_t> lanes(64);
            for (uint32_t i = 0; i < 64; i++) lanes[i] = n * i;
            ASSERT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_VGPR, 0, 1, lanes.data()), WJ_OK);
            expected = 21 + n;
        }
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(host<uint32_t>(sums)[i], expected * i);
    }
}

// One in front of the kernel, two in its midst, restored in any order.
TEST_P(DispatchSnapshots, Nest) {
    const Mixed expected(fill(1), laps);
    clear();
    const wj_snapshot base = take(false);
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT) << error();
    const wj_snapshot first = take();
    wj_resume_options part = WJ_INIT(wj_resume_options);
    part.instruction_limit = 400;
    part.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    ASSERT_EQ(resume(part), WJ_TIMEOUT) << error();
    const wj_snapshot second = take();
    const uint64_t executed = result().wave_instructions;
    std::mt19937 random(1);
    for (uint32_t n = 0; n < 100; n++) {
        switch (random() % 4) {
            case 0: {  // memory alone; the dispatch stands where it stood
                const size_t waves = wj_dispatch_wave_count(dispatch.get());
                restore(base);
                EXPECT_EQ(host<uint32_t>(out)[5], 0xdeadbeefu);
                EXPECT_EQ(wj_dispatch_wave_count(dispatch.get()), waves);
                Dispatch stopped = std::move(dispatch);
                ASSERT_EQ(run(mixed, mixed_options(0)), WJ_OK);
                ASSERT_TRUE(holds(expected));
                dispatch = std::move(stopped);
                continue;
            }
            case 1:
                restore(first);
                ASSERT_EQ(resume(part), WJ_TIMEOUT);
                continue;
            case 2:
                restore(first);
                break;
            default:
                restore(second);
                ASSERT_EQ(result().wave_instructions, executed);
                ASSERT_EQ(result().status, WJ_TIMEOUT);
        }
        ASSERT_EQ(resume(), WJ_OK) << error();
        ASSERT_TRUE(holds(expected)) << n;
    }
    // The outer one takes allocations back that the inner ones have.
    restore(second);
    EXPECT_EQ(wj_snapshot_release(context.get(), first), WJ_OK);
    EXPECT_EQ(wj_snapshot_release(context.get(), base), WJ_OK);
    ASSERT_EQ(resume(), WJ_OK);
    restore(second);
    ASSERT_EQ(resume(), WJ_OK);
    EXPECT_TRUE(holds(expected));
}

// Work-groups that are suspended, more than are resident at once, and those that begin later.
TEST_P(DispatchSnapshots, OfWavesThatWait) {
    constexpr uint32_t waves = 1000;
    const uint64_t flags = buffer((waves + 1) * 4);
    wj_argument argument[] = {WJ_POINTER(flags)};
    wj_launch_options o = launch(argument, {waves * 64}, {128});
    o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    o.instruction_limit = 100'000;
    ASSERT_EQ(start(kernel("resume", "chain"), o), WJ_OK) << error();
    ASSERT_EQ(wj_dispatch_wait(dispatch.get()), WJ_TIMEOUT);
    const wj_snapshot s = take();
    for (uint32_t first = 1; first < 6; first++) {
        ASSERT_EQ(wj_memory_write(context.get(), flags, &first, 4), WJ_OK);
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t w = 0; w <= waves; w++) ASSERT_EQ(host<uint32_t>(flags)[w], w + first);
        restore(s);
        EXPECT_EQ(host<uint32_t>(flags)[1], 0u);
    }
}

TEST_P(DispatchSnapshots, OfGlobalResources) {
    if (std::string(GetParam().target) != "gfx900") GTEST_SKIP() << "the kernels are gfx9's";
    constexpr uint32_t groups = 20;
    const uint64_t numbers = buffer(2048);
    ASSERT_EQ(run(kernel("gws", "gws_set"), packed(0, groups - 1)), WJ_OK) << error();
    wj_launch_options o = packed(numbers, groups - 1, groups * 64);
    o.cooperative = 1;
    o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    o.instruction_limit = groups * 10;  // some have arrived
    ASSERT_EQ(run(kernel("gws", "gws_meet"), o), WJ_TIMEOUT) << error();
    const wj_snapshot met = take();
    for (uint32_t n = 0; n < 3; n++) {
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t g = 0; g < groups; g++)
            ASSERT_EQ(host<uint32_t>(numbers)[256 + g], groups - g);
        restore(met);
    }
    o = packed(numbers, 0, groups * 64);
    o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    o.instruction_limit = groups * 7;
    ASSERT_EQ(run(kernel("asm", "gds_count"), o), WJ_TIMEOUT) << error();
    const wj_snapshot counted = take();
    for (uint32_t n = 0; n < 3; n++) {
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t g = 0, before = 0; g < groups; before += ++g)
            ASSERT_EQ(host<uint32_t>(numbers)[g], before);
        restore(counted);
    }
}

TEST_P(DispatchSnapshots, ReleasedDispatches) {
    fill(1);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT);
    const wj_snapshot s = take();
    wj_dispatch* const gone = dispatch.get();
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT);  // releases the first
    EXPECT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("was released"), std::string::npos) << error();
    EXPECT_EQ(wj_snapshot_release(context.get(), s), WJ_OK);
    EXPECT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_INVALID_ARGUMENT);
    if (gone != dispatch.get()) expect_refused(gone, WJ_INVALID_ARGUMENT, "it was released");
    // Snapshots that go first leave the dispatch as it is.
    const wj_snapshot other = take();
    EXPECT_EQ(wj_snapshot_release(context.get(), other), WJ_OK);
    EXPECT_EQ(resume(), WJ_OK);
}

TEST_P(DispatchSnapshots, WhatIsRefused) {
    fill(1);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(0)), WJ_OK);
    expect_refused(dispatch.get(), WJ_INVALID_ARGUMENT, "it has ended");
    ASSERT_EQ(run(mixed, mixed_options(300, WJ_KEEP_NO_WAVES)), WJ_TIMEOUT);
    expect_refused(dispatch.get(), WJ_INVALID_ARGUMENT, "keep_waves");

    const Context foreign = make_context(GetParam().target, GetParam().engine);
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT);
    wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
    o.dispatch = dispatch.get();
    wj_snapshot s = 0;
    EXPECT_EQ(wj_snapshot_take(foreign.get(), &o, &s), WJ_INVALID_ARGUMENT);
    const wj_snapshot mine = take();
    EXPECT_EQ(wj_snapshot_restore(foreign.get(), mine, nullptr), WJ_INVALID_ARGUMENT);

    wj_launch_options forever = unlimited(packed(0, 0));
    forever.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    Dispatch stopped = std::move(dispatch);
    ASSERT_EQ(start(kernel("stops", "forever64"), forever), WJ_OK);
    expect_refused(dispatch.get(), WJ_NOT_READY, "no dispatch runs");
    EXPECT_EQ(wj_snapshot_restore(context.get(), mine, nullptr), WJ_NOT_READY);
    wj_dispatch_cancel(dispatch.get());
    EXPECT_EQ(wj_dispatch_wait(dispatch.get()), WJ_TIMEOUT);
    restore(mine);
}

// A kernel of a module that has been unloaded, and a clone, which has none of it.
TEST_P(DispatchSnapshots, OutlastTheirModule) {
    const Mixed expected(fill(4), laps);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT);
    const wj_snapshot s = take();
    if (GetParam().memory == WJ_MEMORY_CHECKED) {
        wj_context* c = nullptr;
        ASSERT_EQ(wj_context_clone(context.get(), &c), WJ_OK) << error();
        const Context clone(c);
        EXPECT_EQ(wj_snapshot_restore(c, s, nullptr), WJ_INVALID_ARGUMENT);
    }
    for (uint32_t n = 0; n < 3; n++) {
        restore(s);
        ASSERT_EQ(resume(), WJ_OK) << error();
        EXPECT_TRUE(holds(expected));
    }
}

INSTANTIATE_TEST_SUITE_P(All, DispatchSnapshots, testing::ValuesIn(resume_setups), setup_name);

// Barriers that are split, named or of clusters.
class BarrierSnapshots : public DispatchSnapshots {
protected:
    void SetUp() override { Gpu::SetUp(); }
    template <class Check>
    void resumed_twice(const char* file, const char* name, uint32_t grid, uint32_t block,
                       Check check) {
        at_limits(4, file, name, grid, block, buffer(8192), 0, [&](const uint32_t* out) {
            marked = false;
            const wj_snapshot s = take();
            for (uint32_t n = 0; n < 2; n++) {
                ASSERT_EQ(resume(), WJ_OK) << error();
                check(out);
                ASSERT_FALSE(HasFailure());
                restore(s);
            }
            ASSERT_EQ(wj_snapshot_release(context.get(), s), WJ_OK);
        });
    }
};

TEST_P(BarrierSnapshots, BringThemBack) {
    resumed_twice("named_barriers", "pairs", 256, 128, [](const uint32_t* out) {
        for (uint32_t i = 0; i < 128; i++) EXPECT_EQ(out[i], i * 3 + (i ^ 32) * 3);
    });
    resumed_twice("barriers", "meet", 10 * 64, 64, [](const uint32_t* out) {
        for (uint32_t g = 0; g < 10; g++) EXPECT_EQ(out[1024 + g], g ^ 1);
    });
}

INSTANTIATE_TEST_SUITE_P(All, BarrierSnapshots,
                         testing::Values(Setup{"gfx1250", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED}),
                         setup_name);

// ---- contexts with more options

struct Special {
    uint32_t checks = 0;
    int deterministic = 0, weak = 0;
};
class SpecialSnapshots : public testing::Test {
protected:
    void use(const Special& special) {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.memory_mode = WJ_MEMORY_CHECKED;
        o.checks = special.checks;
        o.deterministic = special.deterministic;
        o.weak_memory = special.weak;
        wj_context* c = nullptr;
        ASSERT_EQ(wj_context_create(&o, &c, nullptr, 0), WJ_OK);
        context.reset(c);
    }
    wj_kernel* kernel(const char* file, const char* name) {
        wj_module* m = nullptr;
        EXPECT_EQ(wj_module_load_file(context.get(), kernel_file(file, "gfx90a").c_str(), &m),
                  WJ_OK);
        module.reset(m);
        wj_kernel* k = nullptr;
        EXPECT_EQ(wj_module_get_kernel(m, name, &k), WJ_OK);
        return k;
    }
    uint64_t buffer(uint64_t bytes) {
        uint64_t address = 0;
        EXPECT_EQ(wj_memory_allocate(context.get(), bytes, &address), WJ_OK);
        return address;
    }
    std::string error() { return wj_last_error(context.get()); }
    // Of a dispatch that has stopped.
    wj_status take(wj_snapshot& s) {
        wj_snapshot_options o = WJ_INIT(wj_snapshot_options);
        o.dispatch = dispatch.get();
        return wj_snapshot_take(context.get(), &o, &s);
    }
    void stop(wj_kernel* k, const wj_launch_options& o) {
        wj_dispatch* d = nullptr;
        ASSERT_EQ(wj_dispatch_submit(k, &o, &d), WJ_OK) << error();
        dispatch.reset(d);
        ASSERT_EQ(wj_dispatch_wait(d), WJ_TIMEOUT) << error();
    }
    Context context;
    Module module;
    Dispatch dispatch;
};

// Clocks, the order of waves and stores that are under way are those of the first time.
TEST_F(SpecialSnapshots, OrdersRepeat) {
    for (const int weak : {0, 1}) {
        dispatch.reset();
        module.reset();
        use({0, 1, weak});
        constexpr uint32_t laps = 5, waves = 12, size = 4 + laps * waves * 8;
        wj_kernel* const k = kernel("resume", "trace");
        const uint64_t drawn = buffer(size);
        const uint32_t count = laps;
        wj_argument arguments[] = {WJ_POINTER(drawn), WJ_POINTER(count)};
        wj_launch_options o = WJ_INIT(wj_launch_options);
        o.grid[0] = waves * 64;
        o.block[0] = 128;
        o.arguments = arguments;
        o.argument_count = 2;
        o.schedule_seed = 3;
        const auto memory = [&] {
            const auto* const at = reinterpret_cast<uint8_t*>(drawn);
            return std::vector<uint8_t>(at, at + size);
        };
        ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << error();
        const auto whole = memory();
        for (const uint64_t limit : {100, 2000, 9000}) {
            std::memset(reinterpret_cast<void*>(drawn), 0, size);
            o.instruction_limit = limit;
            o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
            stop(k, o);
            wj_snapshot s = 0;
            ASSERT_EQ(take(s), WJ_OK) << error();
            for (uint32_t n = 0; n < 4; n++) {
                wj_resume_options part = WJ_INIT(wj_resume_options);
                part.wait = 1;
                ASSERT_EQ(wj_dispatch_resume(dispatch.get(), &part), WJ_OK) << error();
                ASSERT_EQ(memory(), whole) << "limit " << limit << ", weak " << weak;
                ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK);
            }
        }
    }
}

TEST_F(SpecialSnapshots, NotWithCheckers) {
    use({.checks = WJ_CHECK_RACE});
    wj_kernel* const k = kernel("stops", "forever64");
    wj_launch_options o = WJ_INIT(wj_launch_options);
    uint64_t arguments[2] = {};
    o.packed_arguments = arguments;
    o.packed_size = sizeof arguments;
    o.grid[0] = o.block[0] = 64;
    o.instruction_limit = 100;
    o.keep_waves = WJ_KEEP_WAVES;
    stop(k, o);
    wj_snapshot s = 0;
    EXPECT_EQ(take(s), WJ_UNIMPLEMENTED);
    EXPECT_NE(error().find("checkers"), std::string::npos) << error();
    // But it goes on.
    wj_resume_options part = WJ_INIT(wj_resume_options);
    part.instruction_limit = 100;
    part.wait = 1;
    EXPECT_EQ(wj_dispatch_resume(dispatch.get(), &part), WJ_TIMEOUT);
}

// What checkers have found before the stop and behind it is told once.
TEST_F(SpecialSnapshots, CheckersGoOn) {
    use({.checks = WJ_CHECK_MEMORY});
    wj_kernel* const k = kernel("checks", "read_lds");
    const uint64_t out = buffer(1024);
    const uint32_t first = 4;  // so many of the 60 read beyond
    wj_argument arguments[] = {WJ_POINTER(out), WJ_POINTER(first)};
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.grid[0] = 128;
    o.block[0] = 64;
    o.arguments = arguments;
    o.argument_count = 2;
    wj_result whole = WJ_INIT(wj_result);
    EXPECT_EQ(wj_launch(k, &o, &whole), WJ_GUEST_FAULT) << error();
    ASSERT_EQ(wj_finding_count(context.get()), 1u);
    o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    for (uint64_t limit = 1; limit + 16 < whole.wave_instructions; limit++) {
        ASSERT_EQ(wj_finding_clear(context.get()), WJ_OK);
        o.instruction_limit = limit;
        stop(k, o);
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.wait = 1;
        ASSERT_EQ(wj_dispatch_resume(dispatch.get(), &part), WJ_GUEST_FAULT) << limit;
        uint32_t told = 0;
        for (size_t i = 0; i < wj_finding_count(context.get()); i++) {
            wj_fault finding = WJ_INIT(wj_fault);
            ASSERT_EQ(wj_finding_get(context.get(), i, &finding), WJ_OK);
            if (std::string(finding.check) != "memory") continue;  // the stop itself
            EXPECT_EQ(finding.dispatches, 1u) << limit;
            told++;
        }
        EXPECT_EQ(told, 1u) << limit;
    }
}

TEST_F(SpecialSnapshots, EachRunPrintsWhatItHasPrinted) {
    use({});
    wj_kernel* const k = kernel("printf", "many");
    std::string text;
    wj_launch_options o = WJ_INIT(wj_launch_options);
    o.grid[0] = o.block[0] = 1;
    o.print_context = &text;
    o.print = [](void* to, const char* part, size_t bytes) {
        static_cast<std::string*>(to)->append(part, bytes);
    };
    ASSERT_EQ(wj_launch(k, &o, nullptr), WJ_OK) << error();
    const std::string whole = std::exchange(text, {});
    ASSERT_FALSE(whole.empty());
    o.instruction_limit = 5;
    o.keep_waves = WJ_KEEP_WAVES;
    stop(k, o);
    EXPECT_EQ(text, "");
    wj_snapshot s = 0;
    ASSERT_EQ(take(s), WJ_OK) << error();
    for (uint32_t n = 0; n < 3; n++) {
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.wait = 1;
        ASSERT_EQ(wj_dispatch_resume(dispatch.get(), &part), WJ_OK) << error();
        EXPECT_EQ(std::exchange(text, {}), whole);
        ASSERT_EQ(wj_snapshot_restore(context.get(), s, nullptr), WJ_OK);
    }
    dispatch.reset();
    EXPECT_NE(whole.rfind(text, 0), std::string::npos);  // what it has until then
}

}  // namespace
}  // namespace wj::test
