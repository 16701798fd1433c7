// Dispatches that go on where they have stopped.
#include <thread>

#include "tests/runtime/resume.h"

namespace wj::test {
namespace {

class ResumeTest : public ResumeGpu {
protected:
    bool is_gfx10() const { return std::string(GetParam().target) == "gfx1030"; }
};

// Wherever it stops, with one thread or two, and however it goes on.
TEST_P(ResumeTest, AtEveryLimit) {
    const Mixed expected(fill(1), laps);
    clear();
    ASSERT_EQ(start(mixed, mixed_options(0, WJ_KEEP_WAVES)), WJ_OK);
    ASSERT_EQ(wj_dispatch_wait(dispatch.get()), WJ_OK) << error();
    ASSERT_TRUE(holds(expected));
    const wj_result whole = result();
    ASSERT_GT(whole.wave_instructions, 500u);

    uint32_t told = 0;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &told;
    hooks.instruction = [](void* context, wj_wave*) {
        __atomic_fetch_add(static_cast<uint32_t*>(context), 1, __ATOMIC_RELAXED);
        return WJ_HOOK_GO_ON;
    };
    for (uint64_t limit = 1; limit < whole.wave_instructions; limit++) {
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.wait = limit % 2;
        const uint32_t how = limit / 2 % 4;
        if (how == 1) part.hooks = &hooks;
        if (how == 2) part.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        if (how >= 2) part.instruction_limit = 100 + limit % 50;
        if (how == 3) part.keep_waves = WJ_KEEP_WAVES;
        clear();
        ASSERT_EQ(run_in_parts(limit, limit % 3 ? WJ_KEEP_WAVES_OF_ENGINE : WJ_KEEP_WAVES, part),
                  WJ_OK)
            << limit << ": " << error();
        ASSERT_TRUE(holds(expected)) << limit;
        ASSERT_EQ(result().waves, whole.waves) << limit;
        ASSERT_EQ(result().work_groups, whole.work_groups) << limit;
        ASSERT_EQ(wj_dispatch_wave_count(dispatch.get()), 0u);
    }
    EXPECT_GT(told, 0u);
}

// What an instruction limit counts is what is executed from there on.
TEST_P(ResumeTest, InPartsOfOneBlock) {
    const Mixed expected(fill(2), laps);
    clear();
    wj_resume_options part = WJ_INIT(wj_resume_options);
    part.instruction_limit = 1;
    part.keep_waves = WJ_KEEP_WAVES;
    part.wait = 1;
    ASSERT_EQ(start(mixed, mixed_options(1, WJ_KEEP_WAVES)), WJ_OK);
    uint32_t parts = 1;
    uint64_t before = 0;
    for (wj_status s = wj_dispatch_wait(dispatch.get()); s != WJ_OK; s = resume(part), parts++) {
        ASSERT_EQ(s, WJ_TIMEOUT) << error();
        const wj_result r = result();
        EXPECT_GT(r.wave_instructions, before);
        before = r.wave_instructions;
        ASSERT_LT(parts, 10'000u);
    }
    EXPECT_GT(parts, 50u);
    EXPECT_TRUE(holds(expected));
}

// Registers, the PC and the LDS that were written are what the waves go on with.
TEST_P(ResumeTest, WithWhatWasWritten) {
    wj_kernel* const k = kernel("stops", "total64");
    const uint64_t sums = buffer(256);
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.barrier = [](void*, wj_wave*) { return WJ_HOOK_STOP; };
    wj_launch_options o = packed(sums, 0);
    o.hooks = &hooks;
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
    wj_wave* const wave = wj_dispatch_wave_at(dispatch.get(), 0);
    ASSERT_NE(wave, nullptr);
    // The kernel stores what the LDS has from byte 16 on, and adds v0.
    std::vector<uint32_t> lds(64), lanes(64);
    for (uint32_t i = 0; i < 64; i++) lds[i] = 1000 * i, lanes[i] = 7 * i;
    ASSERT_EQ(wj_wave_write_lds(wave, 16, lds.data(), 256), WJ_OK);
    ASSERT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_VGPR, 0, 1, lanes.data()), WJ_OK);
    ASSERT_EQ(resume(), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(host<uint32_t>(sums)[i], 1007 * i);

    // Of the lower lanes once more, behind the addition that they skip.
    std::memset(host<uint8_t>(sums), 0, 256);
    hooks.barrier = nullptr;
    hooks.atomic = [](void*, wj_wave*, const wj_access_info*) { return WJ_HOOK_STOP; };
    ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
    wj_wave* const again = wj_dispatch_wave_at(dispatch.get(), 0);
    uint32_t pc[2];
    ASSERT_EQ(wj_wave_read_registers(again, WJ_REGISTER_PC, 0, 2, pc), WJ_OK);
    const uint32_t exec[2] = {0xff, 0};
    pc[0] += 8;
    ASSERT_EQ(wj_wave_write_registers(again, WJ_REGISTER_PC, 0, 2, pc), WJ_OK);
    ASSERT_EQ(wj_wave_write_registers(again, WJ_REGISTER_EXEC, 0, 2, exec), WJ_OK);
    ASSERT_EQ(resume(), WJ_OK) << error();
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(host<uint32_t>(sums)[i], 21 * i);
}

// A hook is asked again in front of the instruction at which it has stopped the wave.
TEST_P(ResumeTest, HooksTellAgainWhatTheyStopped) {
    struct Told {
        uint32_t blocks = 0, instructions = 0, stops = 0;
    } told, straight;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &straight;
    hooks.block = [](void* context, wj_wave*) {
        return static_cast<Told*>(context)->blocks++, WJ_HOOK_GO_ON;
    };
    hooks.instruction = [](void* context, wj_wave*) {
        return static_cast<Told*>(context)->instructions++, WJ_HOOK_GO_ON;
    };
    wj_kernel* const k = kernel("stops", "total64");
    const uint64_t sums = buffer(256);
    wj_launch_options o = packed(sums, 0);
    o.hooks = &hooks;
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(k, o), WJ_OK);

    hooks.hook_context = &told;
    hooks.instruction = [](void* context, wj_wave*) {
        auto& t = *static_cast<Told*>(context);
        t.stops++;
        if (t.stops % 2) return WJ_HOOK_STOP;
        return t.instructions++, WJ_HOOK_GO_ON;
    };
    wj_resume_options part = WJ_INIT(wj_resume_options);
    part.hooks = &hooks;
    part.keep_waves = WJ_KEEP_WAVES;
    wj_status status = run(k, o);
    for (; status == WJ_TIMEOUT; status = resume(part)) {
        wj_wave_info info = WJ_INIT(wj_wave_info);
        ASSERT_EQ(wj_wave_get_info(wj_dispatch_wave_at(dispatch.get(), 0), &info), WJ_OK);
        EXPECT_EQ(info.state, WJ_WAVE_STOPPED);
        EXPECT_TRUE(info.exact);
    }
    ASSERT_EQ(status, WJ_OK) << error();
    EXPECT_EQ(told.instructions, straight.instructions);
    EXPECT_EQ(told.stops, 2 * straight.instructions);
    EXPECT_EQ(told.blocks, 2 * straight.blocks);
    for (uint32_t i = 0; i < 64; i++) ASSERT_EQ(host<uint32_t>(sums)[i], 22 * i);
}

// Waves that sleep and wait for others, of more work-groups than begin at once, on two threads.
TEST_P(ResumeTest, WavesThatWait) {
    constexpr uint32_t waves = 1000;
    const uint64_t flags = buffer((waves + 1) * 4);
    wj_argument argument[] = {WJ_POINTER(flags)};
    for (const uint64_t limit : {0, 3000, 200'000}) {
        wj_launch_options o = launch(argument, {waves * 64}, {128});
        o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        o.instruction_limit = limit;
        const uint32_t zero = 0, one = 1;
        ASSERT_EQ(wj_memory_fill(context.get(), flags, &zero, 4, (waves + 1) * 4), WJ_OK);
        ASSERT_EQ(start(kernel("resume", "chain"), o), WJ_OK) << error();
        if (!limit) {
            ASSERT_EQ(wj_dispatch_wait_for(dispatch.get(), 20'000'000), WJ_NOT_READY);
            wj_dispatch_cancel(dispatch.get());
        }
        ASSERT_EQ(wj_dispatch_wait(dispatch.get()), WJ_TIMEOUT);
        if (limit) {  // else it may not have begun
            EXPECT_GT(wj_dispatch_wave_count(dispatch.get()), 0u);
        }
        // Still nobody may go on.
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.timeout_ns = 10'000'000;
        part.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        ASSERT_EQ(resume(part), WJ_TIMEOUT) << error();
        ASSERT_EQ(wj_memory_write(context.get(), flags, &one, 4), WJ_OK);
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t w = 0; w <= waves; w++) ASSERT_EQ(host<uint32_t>(flags)[w], w + 1);
        EXPECT_EQ(result().waves, is_gfx10() ? 2 * waves : waves);  // of 32 lanes
    }
}

// Stopped again and again by another thread.
TEST_P(ResumeTest, CancelledAnywhere) {
    lap_count = 2000;
    const Mixed expected(fill(3), lap_count);
    for (uint32_t round = 0; round < 5; round++) {
        clear();
        ASSERT_EQ(
            start(mixed, mixed_options(0, round % 2 ? WJ_KEEP_WAVES : WJ_KEEP_WAVES_OF_ENGINE)),
            WJ_OK);
        wj_resume_options part = WJ_INIT(wj_resume_options);
        part.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        wj_status status = WJ_TIMEOUT;
        for (uint32_t stops = 0; status == WJ_TIMEOUT; stops++) {
            if (stops) {
                ASSERT_EQ(wj_dispatch_resume(dispatch.get(), &part), WJ_OK) << error();
            }
            std::this_thread::sleep_for(std::chrono::microseconds(50 * (stops + 1)));
            if (stops < 30) wj_dispatch_cancel(dispatch.get());
            status = wj_dispatch_wait(dispatch.get());
        }
        ASSERT_EQ(status, WJ_OK) << error();
        ASSERT_TRUE(holds(expected));
    }
}

TEST_P(ResumeTest, GlobalWaveSync) {
    if (is_gfx10()) GTEST_SKIP() << "the kernel is gfx9's";
    constexpr uint32_t groups = 20;
    wj_kernel* const set = kernel("gws", "gws_set");
    wj_kernel* const meet = kernel("gws", "gws_meet");
    const uint64_t numbers = buffer(2048);
    for (uint64_t limit = 1; limit < groups * 16; limit += 7) {
        std::memset(host<uint8_t>(numbers), 0, 2048);
        ASSERT_EQ(run(set, packed(0, groups - 1)), WJ_OK) << error();
        wj_launch_options o = packed(numbers, groups - 1, groups * 64);
        o.cooperative = 1;
        o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        o.instruction_limit = limit;
        ASSERT_EQ(run(meet, o), WJ_TIMEOUT) << error();
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t g = 0; g < groups; g++) {
            ASSERT_EQ(host<uint32_t>(numbers)[g], g + 1);
            ASSERT_EQ(host<uint32_t>(numbers)[256 + g], groups - g) << limit;
        }
    }
}

// The counter of ds_ordered_count, whose turns belong to the dispatch.
TEST_P(ResumeTest, OrderedCount) {
    if (std::string(GetParam().target) != "gfx900") GTEST_SKIP() << "has no GDS";
    constexpr uint32_t groups = 40;
    wj_kernel* const count = kernel("asm", "gds_count");
    wj_kernel* const read = kernel("asm", "gds_read");
    const uint64_t numbers = buffer(groups * 4), sum = buffer(64);
    uint32_t before = 0;
    for (uint64_t limit = 1; limit < groups * 14; limit += 23) {
        wj_launch_options o = packed(numbers, 0, groups * 64);
        o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
        o.instruction_limit = limit;
        ASSERT_EQ(run(count, o), WJ_TIMEOUT) << error();
        Dispatch stopped = std::move(dispatch);
        ASSERT_EQ(run(read, packed(sum, 0)), WJ_OK) << error();  // another one in between
        const uint32_t so_far = *host<uint32_t>(sum);
        dispatch = std::move(stopped);
        ASSERT_EQ(resume(), WJ_OK) << error();
        for (uint32_t id = 0; id < groups; before += ++id)
            ASSERT_EQ(host<uint32_t>(numbers)[id], before) << id << ", limit " << limit;
        ASSERT_EQ(run(read, packed(sum, 0)), WJ_OK) << error();
        EXPECT_EQ(so_far + *host<uint32_t>(sum), groups * 64) << limit;
    }
}

TEST_P(ResumeTest, WhatCannotGoOn) {
    EXPECT_EQ(wj_dispatch_resume(nullptr, nullptr), WJ_INVALID_ARGUMENT);
    const auto refused = [&](const char* why) {
        EXPECT_EQ(wj_dispatch_resume(dispatch.get(), nullptr), WJ_INVALID_ARGUMENT) << why;
        EXPECT_NE(error().find(why), std::string::npos) << error();
    };
    fill(1);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(0)), WJ_OK);
    refused("it has ended");
    ASSERT_EQ(run(mixed, mixed_options(200, WJ_KEEP_NO_WAVES)), WJ_TIMEOUT);
    refused("its waves were not kept");

    ASSERT_EQ(run(mixed, mixed_options(200)), WJ_TIMEOUT);
    wj_resume_options o = WJ_INIT(wj_resume_options);
    o.keep_waves = 3;
    EXPECT_EQ(wj_dispatch_resume(dispatch.get(), &o), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("keep_waves 3"), std::string::npos) << error();
    o = WJ_INIT(wj_resume_options);
    wj_hooks hooks{};
    o.hooks = &hooks;
    EXPECT_EQ(wj_dispatch_resume(dispatch.get(), &o), WJ_INVALID_ARGUMENT);
    o.size = 3;
    EXPECT_EQ(wj_dispatch_resume(dispatch.get(), &o), WJ_INVALID_ARGUMENT);
    // None of these has changed it.
    EXPECT_EQ(wj_dispatch_wave_count(dispatch.get()) > 0, true);
    o = WJ_INIT(wj_resume_options);
    o.instruction_limit = 50;
    EXPECT_EQ(resume(o), WJ_TIMEOUT);
    EXPECT_EQ(wj_dispatch_wave_count(dispatch.get()), 0u);
    refused("its waves were not kept");

    wj_launch_options fault = packed(buffer(4096), 4096, 128, 128);
    fault.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(kernel("stops", "stops64"), fault), WJ_GUEST_FAULT);
    refused("it was stopped by a");

    wj_launch_options forever = unlimited(packed(0, 0));
    forever.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    ASSERT_EQ(start(kernel("stops", "forever64"), forever), WJ_OK);
    EXPECT_EQ(wj_dispatch_resume(dispatch.get(), nullptr), WJ_NOT_READY);
    wj_dispatch_cancel(dispatch.get());
    EXPECT_EQ(wj_dispatch_wait(dispatch.get()), WJ_TIMEOUT);
    const uint32_t nop = 0xbf800000;
    wj_kernel* const k = kernel("stops", "forever64");
    (void)k;
    ASSERT_EQ(resume([] {
                  wj_resume_options part = WJ_INIT(wj_resume_options);
                  part.timeout_ns = 1'000'000;
                  part.keep_waves = WJ_KEEP_WAVES;
                  return part;
              }()),
              WJ_TIMEOUT);
    wj_kernel* patched = nullptr;
    ASSERT_EQ(wj_module_get_kernel(modules[modules.size() - 2].get(), "forever64", &patched),
              WJ_OK);
    ASSERT_EQ(wj_kernel_patch(patched, 0, &nop, 4), WJ_OK) << error();
    refused("code of its module has been changed");
}

// The module is there as long as the dispatch.
TEST_P(ResumeTest, OutlastsItsModule) {
    const Mixed expected(fill(4), laps);
    clear();
    ASSERT_EQ(run(mixed, mixed_options(300)), WJ_TIMEOUT);
    modules.clear();
    ASSERT_EQ(resume(), WJ_OK) << error();
    EXPECT_TRUE(holds(expected));
}

INSTANTIATE_TEST_SUITE_P(All, ResumeTest, testing::ValuesIn(resume_setups), setup_name);

// ---- gfx12.5: named barriers and clusters

class ResumeBarriers : public ResumeGpu {
protected:
    void SetUp() override { Gpu::SetUp(); }
    template <class Check>
    void at_every_limit(const char* file, const char* name, uint32_t grid, uint32_t block,
                        uint64_t numbers, Check check) {
        at_limits(1, file, name, grid, block, buffer(8192), numbers, [&](const uint32_t* out) {
            ASSERT_EQ(resume(), WJ_OK) << error();
            check(out);
        });
    }
};

TEST_P(ResumeBarriers, NamedOnes) {
    at_every_limit("named_barriers", "pairs", 256, 128, 0, [](const uint32_t* out) {
        for (uint32_t i = 0; i < 128; i++) EXPECT_EQ(out[i], i * 3 + (i ^ 32) * 3);
    });
}

TEST_P(ResumeBarriers, Clusters) {
    at_every_limit("barriers", "meet", 10 * 64, 64, 0, [](const uint32_t* out) {
        for (uint32_t g = 0; g < 10; g++) EXPECT_EQ(out[1024 + g], g ^ 1);
    });
    at_every_limit("named_barriers", "places", 4 * 64, 64, buffer(4096), [](const uint32_t* out) {
        for (uint32_t g = 0; g < 24; g++) EXPECT_EQ(out[8 * g + 7], (g ^ 1) + 100);
    });
}

INSTANTIATE_TEST_SUITE_P(All, ResumeBarriers,
                         testing::Values(Setup{"gfx1250", WJ_ENGINE_INTERPRETER,
                                               WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AVX2, WJ_MEMORY_CHECKED},
                                         Setup{"gfx1250", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx1250", WJ_ENGINE_AUTO, WJ_MEMORY_CHECKED}),
                         setup_name);

// ---- deterministic contexts

class ResumeOrder : public Gpu {
protected:
    void SetUp() override {
        wj_context_options o = WJ_INIT(wj_context_options);
        o.target = GetParam().target;
        o.engine = GetParam().engine;
        o.memory_mode = GetParam().memory;
        o.deterministic = 1;
        o.coverage = WJ_COVERAGE_COUNTERS;
        counters.resize(1 << 12);
        o.coverage_counters = counters.data();
        o.coverage_size = counters.size();
        char error[256];
        wj_context* c = nullptr;
        const wj_status status = wj_context_create(&o, &c, error, sizeof error);
        context.reset(c);
        if (status == WJ_UNSUPPORTED_TARGET) GTEST_SKIP() << "this host cannot run the engine";
        ASSERT_EQ(status, WJ_OK) << error;
        k = kernel("resume", "trace");
        drawn = buffer(size);
    }
    struct Run {
        std::vector<uint8_t> memory, coverage;
        uint64_t instructions = 0;
        bool operator==(const Run&) const = default;
    };
    Run finish() {
        wj_result r = WJ_INIT(wj_result);
        EXPECT_EQ(wj_dispatch_get_result(dispatch.get(), &r), WJ_OK);
        return {{host<uint8_t>(drawn), host<uint8_t>(drawn) + size}, counters, r.wave_instructions};
    }
    wj_status start(uint64_t seed, uint64_t limit, uint32_t keep, const wj_hooks* hooks = nullptr) {
        std::memset(host<uint8_t>(drawn), 0, size);
        std::ranges::fill(counters, uint8_t{0});
        static const uint32_t lap_count = laps;
        static wj_argument arguments[2];
        arguments[0] = WJ_POINTER(drawn);
        arguments[1] = WJ_POINTER(lap_count);
        wj_launch_options o = launch(arguments, {waves * 64}, {128});
        o.instruction_limit = limit;
        o.keep_waves = keep;
        o.schedule_seed = seed;
        o.hooks = hooks;
        return run(k, o);
    }
    static constexpr uint32_t laps = 5, waves = 12, size = 4 + laps * waves * 8;
    std::vector<uint8_t> counters;
    wj_kernel* k = nullptr;
    uint64_t drawn = 0;
};

// Memory with clocks and the order of waves, coverage and counts are those of a run without a stop.
TEST_P(ResumeOrder, IsThatOfOneThatDidNotStop) {
    for (const uint64_t seed : {0, 1, 2, 3}) {
        ASSERT_EQ(start(seed, 0, WJ_KEEP_NO_WAVES), WJ_OK) << error();
        const Run whole = finish();
        ASSERT_EQ(*host<uint32_t>(drawn), laps * waves);
        for (uint64_t limit = 1; limit < whole.instructions; limit += 1 + limit % 61) {
            wj_resume_options part = WJ_INIT(wj_resume_options);
            part.wait = limit % 2;
            part.keep_waves = limit % 3;
            part.instruction_limit = part.keep_waves ? 1 + limit * 7919 % 3000 : 0;
            wj_status status =
                start(seed, limit, limit % 2 ? WJ_KEEP_WAVES : WJ_KEEP_WAVES_OF_ENGINE);
            while (status == WJ_TIMEOUT) {
                status = wj_dispatch_resume(dispatch.get(), &part);
                if (status == WJ_OK && !part.wait) status = wj_dispatch_wait(dispatch.get());
            }
            ASSERT_EQ(status, WJ_OK) << error();
            ASSERT_TRUE(finish() == whole) << "seed " << seed << ", limit " << limit;
        }
    }
}

// The same behind stops of hooks in the midst of blocks.
TEST_P(ResumeOrder, BehindHooks) {
    struct Stops {
        uint32_t told = 0, every = 0;
        bool again = false;
    } stops;
    wj_hooks hooks = WJ_INIT(wj_hooks);
    hooks.hook_context = &stops;
    hooks.instruction = [](void* context, wj_wave*) {
        auto& s = *static_cast<Stops*>(context);
        if (std::exchange(s.again, false) || ++s.told % s.every) return WJ_HOOK_GO_ON;
        s.again = true;
        return WJ_HOOK_STOP;
    };
    for (const uint64_t seed : {0, 5}) {
        ASSERT_EQ(start(seed, 0, WJ_KEEP_NO_WAVES), WJ_OK) << error();
        const Run whole = finish();
        for (const uint32_t every : {97, 1009, 4001}) {
            stops = {0, every, false};
            wj_resume_options part = WJ_INIT(wj_resume_options);
            part.hooks = &hooks;
            part.keep_waves = WJ_KEEP_WAVES;
            wj_status status = start(seed, 0, WJ_KEEP_WAVES, &hooks);
            EXPECT_EQ(status, WJ_TIMEOUT);
            while (status == WJ_TIMEOUT) {
                status = wj_dispatch_resume(dispatch.get(), &part);
                if (status == WJ_OK) status = wj_dispatch_wait(dispatch.get());
            }
            ASSERT_EQ(status, WJ_OK) << error();
            ASSERT_TRUE(finish() == whole) << "seed " << seed << ", every " << every;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, ResumeOrder,
                         testing::Values(Setup{"gfx90a", WJ_ENGINE_INTERPRETER, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AVX2, WJ_MEMORY_IDENTITY},
                                         Setup{"gfx90a", WJ_ENGINE_AVX512, WJ_MEMORY_CHECKED},
                                         Setup{"gfx90a", WJ_ENGINE_AUTO, WJ_MEMORY_WINDOW},
                                         Setup{"gfx1030", WJ_ENGINE_AVX512, WJ_MEMORY_IDENTITY}),
                         setup_name);

}  // namespace
}  // namespace wj::test
