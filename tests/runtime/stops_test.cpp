// Waves of dispatches that have stopped: where they stand, and what their registers hold.
#include <thread>

#include "tests/runtime/stops.h"

namespace wj::test {
namespace {

class StopTest : public StopsGpu {
protected:
    // The waves that the dispatch has kept.
    std::vector<wj_wave*> waves() {
        std::vector<wj_wave*> all;
        for (size_t i = 0; i < wj_dispatch_wave_count(dispatch.get()); i++)
            all.push_back(wj_dispatch_wave_at(dispatch.get(), i));
        EXPECT_EQ(wj_dispatch_wave_at(dispatch.get(), all.size()), nullptr);
        return all;
    }
    static uint32_t scalar(wj_wave* wave, uint32_t reg, wj_register_file file = WJ_REGISTER_SGPR) {
        uint32_t value = ~0u;
        EXPECT_EQ(wj_wave_read_registers(wave, file, reg, 1, &value), WJ_OK);
        return value;
    }
    static std::vector<uint32_t> row(wj_wave* wave, uint32_t reg) {
        std::vector<uint32_t> values(info_of(wave).lanes);
        EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_VGPR, reg, 1, values.data()), WJ_OK);
        return values;
    }
};

// The second of two waves faults while the first waits at a barrier.
TEST_P(StopTest, RegistersAtAFault) {
    for (const uint32_t lanes : wave_sizes())
        for (const uint32_t keep : {WJ_KEEP_WAVES, WJ_KEEP_WAVES_OF_ENGINE}) {
            SCOPED_TRACE(testing::Message() << lanes << " lanes, keep_waves " << keep);
            wj_kernel* k = sized("stops", lanes);
            ASSERT_TRUE(k);
            constexpr uint32_t stride = 4096, inside = 3;
            const uint64_t base = buffer(inside * stride);
            wj_launch_options o = packed(base, stride, 2 * lanes, 2 * lanes);
            o.keep_waves = keep;
            ASSERT_EQ(run(k, o), WJ_GUEST_FAULT) << error();
            const std::vector<wj_wave*> all = waves();
            ASSERT_EQ(all.size(), 2u);
            const uint64_t whole = lanes == 64 ? ~uint64_t{0} : 0xffffffff;
            for (uint32_t n = 0; n < 2; n++) {
                wj_wave* const wave = all[n];
                const wj_wave_info info = info_of(wave);
                EXPECT_EQ(info.state, n ? WJ_WAVE_STOPPED : WJ_WAVE_AT_BARRIER);
                EXPECT_EQ(info.wave, n);
                EXPECT_EQ(info.work_group[0], 0u);
                EXPECT_EQ(info.lanes, lanes);
                EXPECT_EQ(info.exec, whole);
                EXPECT_GE(info.vgprs, 8u);
                EXPECT_EQ(info.lds_bytes, 1024u);
                const bool translated = GetParam().engine > WJ_ENGINE_INTERPRETER;
                EXPECT_EQ(info.exact,
                          keep == WJ_KEEP_WAVES || GetParam().engine == WJ_ENGINE_INTERPRETER);
                // The barrier has 4 bytes.
                EXPECT_EQ(
                    text_at(wave, info.pc - (n ? 0 : 4)).find(n ? "global_store" : "s_barrier"),
                    0u);
                if (n) {
                    EXPECT_EQ(info.pc, fault.pc);
                }
                // What is still to be read is right in any case.
                EXPECT_EQ(scalar(wave, 4) | uint64_t{scalar(wave, 5)} << 32, base);
                std::vector<uint32_t> lds(2 * lanes);
                EXPECT_EQ(wj_wave_read_lds(wave, 0, lds.data(), 8 * lanes), WJ_OK);
                for (uint32_t i = 0; i < 2 * lanes; i++) EXPECT_EQ(lds[i], 3 * i);
                if (keep == WJ_KEEP_WAVES_OF_ENGINE && translated) continue;
                EXPECT_EQ(scalar(wave, 6), stride);
                EXPECT_EQ(scalar(wave, 8), 0x1234u);
                EXPECT_EQ(scalar(wave, 9), n);
                EXPECT_EQ(scalar(wave, 0, WJ_REGISTER_SCC), n ? 0u : 1u);
                EXPECT_EQ(scalar(wave, 0, WJ_REGISTER_M0), ~0u);
                EXPECT_EQ(scalar(wave, 0, WJ_REGISTER_EXEC), ~0u);
                const std::vector<uint32_t> v0 = row(wave, 0), v1 = row(wave, 1), v2 = row(wave, 2),
                                            v5 = row(wave, 5), v6 = row(wave, 6);
                for (uint32_t l = 0; l < lanes; l++) {
                    const uint32_t item = n * lanes + l;
                    EXPECT_EQ(v0[l], item);
                    EXPECT_EQ(v1[l], 4 * item);
                    EXPECT_EQ(v2[l], n ? l * stride : 0);
                    EXPECT_EQ(v5[l], 3 * item);
                    EXPECT_EQ(v6[l], 11u);
                }
            }
            // Of what lies further back some may be other memory of the process.
            EXPECT_EQ(fault.lane_mask & 15, 8u);
            EXPECT_EQ(fault.address, base + inside * stride);
        }
}

TEST_P(StopTest, WhatIsKeptCanBeWritten) {
    wj_kernel* k = sized("stops", 64);
    wj_launch_options o = packed(buffer(4096), 4096, 128, 128);
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(k, o), WJ_GUEST_FAULT);
    wj_wave* const wave = waves().at(1);
    const uint32_t value = 42;
    EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_SGPR, 8, 1, &value), WJ_OK);
    EXPECT_EQ(scalar(wave, 8), 42u);
    EXPECT_EQ(wj_wave_write_lds(wave, 8, &value, 4), WJ_OK);
    uint32_t of_other = 0;  // they have one LDS
    EXPECT_EQ(wj_wave_read_lds(waves().at(0), 8, &of_other, 4), WJ_OK);
    EXPECT_EQ(of_other, 42u);
    EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_SGPR, 102, 9, nullptr), WJ_INVALID_ARGUMENT);
    uint32_t many[200];
    EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_SGPR, 0, 200, many), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("SGPRs"), std::string::npos) << error();
    EXPECT_EQ(wj_wave_read_private(wave, 0, 0, many, 1), WJ_INVALID_ARGUMENT);
}

TEST_P(StopTest, NothingIsKeptUnaskedOrOfWhatEndsWell) {
    wj_kernel* k = sized("stops", 64);
    const uint64_t small = buffer(4096), large = buffer(64 * 4096);
    ASSERT_EQ(run(k, packed(small, 4096, 128, 128)), WJ_GUEST_FAULT);
    EXPECT_TRUE(waves().empty());
    wj_launch_options o = packed(large, 4096, 128, 128);
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(k, o), WJ_OK) << error();
    EXPECT_TRUE(waves().empty());
    EXPECT_EQ(wj_dispatch_wave_count(nullptr), 0u);
}

TEST_P(StopTest, AtAnInstructionLimit) {
    for (const uint32_t keep : {WJ_KEEP_WAVES, WJ_KEEP_WAVES_OF_ENGINE}) {
        wj_kernel* k = sized("forever", 64);
        wj_launch_options o = packed(0, 0, 192, 192);
        o.keep_waves = keep;
        o.instruction_limit = 5000;
        ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
        const std::vector<wj_wave*> all = waves();
        ASSERT_EQ(all.size(), 3u);
        uint64_t executed = 0;
        for (wj_wave* const wave : all) {
            const wj_wave_info info = info_of(wave);
            EXPECT_EQ(info.state, WJ_WAVE_RUNNING);
            if (!info.exact) continue;
            // One instruction in front of the loop, if it has begun, and two for each lap.
            const std::string next = text_at(wave, info.pc);
            const uint32_t laps = scalar(wave, 8);
            if (next.find("s_add_u32") == 0) executed += 1 + 2 * uint64_t{laps};
        }
        wj_result result = WJ_INIT(wj_result);
        ASSERT_EQ(wj_dispatch_get_result(dispatch.get(), &result), WJ_OK);
        if (keep == WJ_KEEP_WAVES) {
            EXPECT_EQ(executed, result.wave_instructions);
        }
    }
}

TEST_P(StopTest, OfADeadlock) {
    if (std::string(GetParam().target) == "gfx1030") GTEST_SKIP() << "no such kernel for gfx10";
    wj_kernel* k = kernel("asm", "barrier_deadlock");
    wj_launch_options o = unlimited(packed(0, 0, 256, 256));
    o.keep_waves = WJ_KEEP_WAVES;
    ASSERT_EQ(run(k, o), WJ_DEADLOCK) << error();
    const std::vector<wj_wave*> all = waves();
    ASSERT_EQ(all.size(), 4u);
    for (uint32_t n = 0; n < 4; n++) {
        EXPECT_EQ(info_of(all[n]).state, n ? WJ_WAVE_AT_BARRIER : WJ_WAVE_RUNNING);
        EXPECT_EQ(scalar(all[n], 7), 64 * n);  // its first work-item
    }
}

// Several work-groups on several threads, and suspended ones.
TEST_P(StopTest, Cancelled) {
    if (std::string(GetParam().target) == "gfx1030") GTEST_SKIP() << "no such kernel for gfx10";
    for (const uint32_t keep : {WJ_KEEP_WAVES, WJ_KEEP_WAVES_OF_ENGINE}) {
        wj_kernel* k = kernel("asm", "wait_for_flag");
        const uint64_t flag = buffer(64), out = buffer(64);
        wj_launch_options o = unlimited(packed(flag, out, 6 * 64, 64));
        o.keep_waves = keep;
        wj_dispatch* d = nullptr;
        ASSERT_EQ(wj_dispatch_submit(k, &o, &d), WJ_OK) << error();
        dispatch.reset(d);
        EXPECT_EQ(wj_dispatch_wave_count(d), 0u);  // it runs
        EXPECT_EQ(wj_dispatch_wait_for(d, 50'000'000), WJ_NOT_READY);
        wj_dispatch_cancel(d);
        EXPECT_EQ(wj_dispatch_wait(d), WJ_TIMEOUT);
        const std::vector<wj_wave*> all = waves();
        EXPECT_GE(all.size(), 1u);
        EXPECT_LE(all.size(), 6u);
        uint32_t before = 0;
        for (wj_wave* const wave : all) {
            const wj_wave_info info = info_of(wave);
            EXPECT_EQ(info.state, WJ_WAVE_RUNNING);
            EXPECT_EQ(scalar(wave, 4) | uint64_t{scalar(wave, 5)} << 32, flag);
            EXPECT_TRUE(wave == all[0] || info.work_group[0] > before);
            before = info.work_group[0];
        }
    }
}

TEST_P(StopTest, OfAHooksAnswer) {
    wj_kernel* k = sized("total", 64);
    const uint64_t out = buffer(256);
    wj_hooks hooks = WJ_INIT(wj_hooks);
    uint32_t barriers = 0;
    hooks.hook_context = &barriers;
    hooks.barrier = [](void* context, wj_wave*) {
        ++*static_cast<uint32_t*>(context);
        return WJ_HOOK_STOP;
    };
    wj_launch_options o = packed(out, 0);
    o.hooks = &hooks;
    o.keep_waves = WJ_KEEP_WAVES_OF_ENGINE;
    ASSERT_EQ(run(k, o), WJ_TIMEOUT) << error();
    EXPECT_EQ(barriers, 1u);
    const std::vector<wj_wave*> all = waves();
    ASSERT_EQ(all.size(), 1u);
    const wj_wave_info info = info_of(all[0]);
    EXPECT_EQ(info.state, WJ_WAVE_STOPPED);
    EXPECT_TRUE(info.exact);
    EXPECT_EQ(text_at(all[0], info.pc), "s_barrier");
    EXPECT_EQ(scalar(all[0], 6), 0u);
    const std::vector<uint32_t> v3 = row(all[0], 3);
    std::vector<uint32_t> lds(64);
    EXPECT_EQ(wj_wave_read_lds(all[0], 16, lds.data(), 256), WJ_OK);
    for (uint32_t l = 0; l < 64; l++) {
        EXPECT_EQ(v3[l], 21 * l);
        EXPECT_EQ(lds[l], 21 * l);
    }
}

// Each launch has its own; the next one lets go of them.
TEST_P(StopTest, OfPreparedLaunches) {
    wj_kernel* k = sized("stops", 64);
    wj_launch_options o = unlimited(packed(buffer(4096), 4096, 128, 128));
    o.keep_waves = WJ_KEEP_WAVES;
    wj_prepared* prepared = nullptr;
    ASSERT_EQ(wj_launch_prepare(k, &o, &prepared), WJ_OK) << error();
    EXPECT_EQ(wj_prepared_wave_count(prepared), 0u);
    for (int n = 0; n < 3; n++) {
        ASSERT_EQ(wj_prepared_launch(prepared, nullptr), WJ_GUEST_FAULT);
        ASSERT_EQ(wj_prepared_wave_count(prepared), 2u);
        wj_wave* const wave = wj_prepared_wave_at(prepared, 1);
        EXPECT_EQ(info_of(wave).state, WJ_WAVE_STOPPED);
        EXPECT_EQ(scalar(wave, 8), 0x1234u);
        const uint32_t other = 5;
        EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_SGPR, 8, 1, &other), WJ_OK);
    }
    wj_prepared_release(prepared);
}

INSTANTIATE_TEST_SUITE_P(All, StopTest, testing::ValuesIn(stops_setups), setup_name);

}  // namespace
}  // namespace wj::test
