// Hooks: what they see, in which order, and what they may change.
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "tests/runtime/stops.h"

namespace wj::test {
namespace {

uint64_t pc_of(wj_wave* wave) {
    uint32_t pc[2] = {};
    EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_PC, 0, 2, pc), WJ_OK);
    return pc[0] | uint64_t{pc[1]} << 32;
}

class HookTest : public StopsGpu {
protected:
    wj_launch_options hooked(wj_launch_options o) {
        hooks.hook_context = this;
        o.hooks = &hooks;
        return o;
    }
    // What the hooks below do.
    std::function<wj_hook_answer(wj_wave*)> instruction = [](wj_wave*) { return WJ_HOOK_GO_ON; };
    std::function<wj_hook_answer(wj_wave*, const wj_access_info*)> access;
    std::vector<std::string> calls;

    static HookTest& self(void* context) { return *static_cast<HookTest*>(context); }
    static wj_hook_answer at_instruction(void* context, wj_wave* wave) {
        return self(context).instruction(wave);
    }
    static wj_hook_answer at_access(void* context, wj_wave* wave, const wj_access_info* info) {
        return self(context).access(wave, info);
    }
    // Each call as a line: who was called, and the instruction.
    template <char who>
    static wj_hook_answer note(void* context, wj_wave* wave) {
        self(context).calls.push_back(std::string(1, who) + " " + text_at(wave, pc_of(wave)));
        return WJ_HOOK_GO_ON;
    }
    template <char who>
    static wj_hook_answer note_access(void* context, wj_wave* wave, const wj_access_info*) {
        return note<who>(context, wave);
    }
    size_t count(const std::string& line) const {
        return static_cast<size_t>(std::count_if(calls.begin(), calls.end(), [&](const auto& c) {
            return c.compare(0, line.size(), line) == 0;
        }));
    }
    wj_hooks hooks = WJ_INIT(wj_hooks);
};

constexpr uint32_t in_front = 6, lap = 4, laps = 3, behind = 8;  // instructions of total*

TEST_P(HookTest, EachInstructionAndBlockInOrder) {
    for (const uint32_t lanes : wave_sizes()) {
        wj_kernel* k = sized("total", lanes);
        ASSERT_TRUE(k);
        const uint64_t out = buffer(4 * lanes);
        calls.clear();
        hooks.block = note<'B'>;
        hooks.instruction = note<'I'>;
        hooks.access = note_access<'A'>;
        hooks.atomic = note_access<'X'>;
        hooks.barrier = note<'W'>;
        wj_launch_options o = packed(out, 0, lanes, lanes);
        o = hooked(o);
        wj_result result = WJ_INIT(wj_result);
        ASSERT_EQ(wj_launch(k, &o, &result), WJ_OK) << error();
        EXPECT_EQ(result.wave_instructions, in_front + lap * laps + behind);
        for (uint32_t l = 0; l < lanes; l++) ASSERT_EQ(host<uint32_t>(out)[l], 22 * l);
        EXPECT_EQ(count("I "), in_front + lap * laps + behind);
        // The entry, two laps, and behind the last one.
        EXPECT_EQ(count("B "), 4u);
        EXPECT_EQ(count("B s_load_dwordx2"), 1u);
        EXPECT_EQ(count("B v_mad_u32_u24"), 2u);
        EXPECT_EQ(count("B ds_write_b32"), 1u);
        EXPECT_EQ(count("A "), 5u);
        EXPECT_EQ(count("X "), 1u);
        EXPECT_EQ(count("X global_atomic_add"), 1u);
        EXPECT_EQ(count("W s_barrier"), 1u);
        ASSERT_GE(calls.size(), 3u);
        EXPECT_EQ(calls[0][0], 'B');
        EXPECT_EQ(calls[1][0], 'I');
        EXPECT_EQ(calls[2][0], 'A');  // of the scalar load
        const auto at = [&](const char* line) {
            return std::find_if(
                       calls.begin(), calls.end(),
                       [&](const auto& c) { return c.compare(0, std::strlen(line), line) == 0; }) -
                   calls.begin();
        };
        EXPECT_EQ(at("I global_atomic_add") + 1, at("A global_atomic_add"));
        EXPECT_EQ(at("A global_atomic_add") + 1, at("X global_atomic_add"));
        EXPECT_EQ(at("I s_barrier") + 1, at("W s_barrier"));
    }
}

TEST_P(HookTest, RegistersAreThoseInFrontOfTheInstruction) {
    for (const uint32_t lanes : wave_sizes()) {
        wj_kernel* k = sized("total", lanes);
        const uint64_t out = buffer(4 * lanes);
        uint32_t lap_number = 0;
        instruction = [&](wj_wave* wave) {
            const wj_wave_info info = info_of(wave);
            EXPECT_EQ(info.lanes, lanes);
            EXPECT_TRUE(info.exact);
            EXPECT_EQ(info.state, WJ_WAVE_RUNNING);
            EXPECT_EQ(info.exec, lanes == 64 ? ~uint64_t{0} : 0xffffffff);
            EXPECT_EQ(info.pc, pc_of(wave));
            EXPECT_GE(info.vgprs, 8u);  // in granules
            EXPECT_LE(info.vgprs, 16u);
            EXPECT_EQ(info.lds_bytes, 1024u);
            if (text_at(wave, info.pc).find("v_mad_u32_u24") != 0) return WJ_HOOK_GO_ON;
            uint32_t s6 = 0, scc = 7, rows[4 * 64] = {};
            EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_SGPR, 6, 1, &s6), WJ_OK);
            EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_SCC, 0, 1, &scc), WJ_OK);
            EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_VGPR, 0, 4, rows), WJ_OK);
            EXPECT_EQ(s6, laps - lap_number);
            if (lap_number) {
                EXPECT_EQ(scc, 1u);
            }
            for (uint32_t l = 0; l < lanes; l++) {
                EXPECT_EQ(rows[l], l);
                EXPECT_EQ(rows[lanes + l], 4 * l);
                EXPECT_EQ(rows[3 * lanes + l], 7 * l * lap_number);
            }
            lap_number++;
            // What it does not have.
            EXPECT_EQ(wj_wave_read_registers(wave, WJ_REGISTER_VGPR, info.vgprs, 1, rows),
                      WJ_INVALID_ARGUMENT);
            EXPECT_NE(error().find("VGPRs"), std::string::npos) << error();
            EXPECT_EQ(wj_wave_read_registers(wave, static_cast<wj_register_file>(99), 0, 1, rows),
                      WJ_INVALID_ARGUMENT);
            EXPECT_EQ(wj_wave_read_lds(wave, 1023, rows, 2), WJ_INVALID_ARGUMENT);
            return WJ_HOOK_GO_ON;
        };
        hooks.instruction = at_instruction;
        const wj_launch_options o = hooked(packed(out, 0, lanes, lanes));
        ASSERT_EQ(run(k, o), WJ_OK) << error();
        EXPECT_EQ(lap_number, laps);
    }
}

TEST_P(HookTest, WhatAHookWritesIsWhatTheWaveGoesOnWith) {
    for (const uint32_t lanes : wave_sizes()) {
        wj_kernel* k = sized("total", lanes);
        const uint64_t out = buffer(4 * lanes);
        uint32_t atomics = 0;
        instruction = [&](wj_wave* wave) {
            const std::string text = text_at(wave, pc_of(wave));
            if (text.find("ds_write_b32") == 0) {
                std::vector<uint32_t> v3(lanes);
                for (uint32_t l = 0; l < lanes; l++) v3[l] = 1000 + l;
                EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_VGPR, 3, 1, v3.data()), WJ_OK);
            } else if (text.find("ds_read_b32") == 0) {  // reads what the LDS has for lane 5
                const uint32_t five = 55555;
                EXPECT_EQ(wj_wave_write_lds(wave, 16 + 5 * 4, &five, 4), WJ_OK);
                uint32_t four = 0;
                EXPECT_EQ(wj_wave_read_lds(wave, 16 + 4 * 4, &four, 4), WJ_OK);
                EXPECT_EQ(four, 1004u);
            } else if (text.find("global_atomic_add") == 0) {  // in lanes 0 and 2 only
                atomics++;
                const uint32_t exec = 5;
                EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_EXEC, 0, 1, &exec), WJ_OK);
                const uint32_t zero = 0;
                EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_EXEC, 1, 1, &zero), WJ_OK);
                EXPECT_EQ(info_of(wave).exec, 5u);
                uint32_t stored = 0;  // device memory, too
                EXPECT_EQ(wj_memory_read(context.get(), &stored, out + 4 * 7, 4), WJ_OK);
                EXPECT_EQ(stored, 1007u);
                stored = 77;
                EXPECT_EQ(wj_memory_write(context.get(), out + 4 * 7, &stored, 4), WJ_OK);
            }
            return WJ_HOOK_GO_ON;
        };
        hooks.instruction = at_instruction;
        ASSERT_EQ(run(k, hooked(packed(out, 0, lanes, lanes))), WJ_OK) << error();
        EXPECT_EQ(atomics, 1u);
        for (uint32_t l = 0; l < lanes; l++)
            ASSERT_EQ(host<uint32_t>(out)[l], l == 5   ? 55555
                                              : l == 7 ? 77
                                                       : 1000 + l + (l == 2 ? 2 : 0))
                << l;
    }
}

// A lap less, as s6 is made smaller; a jump over the loop.
TEST_P(HookTest, ScalarsAndThePcSteerTheWave) {
    wj_kernel* k = sized("total", 64);
    const uint64_t out = buffer(256);
    bool jumps = false;
    uint32_t blocks = 0;
    uint64_t loop = 0;
    instruction = [&](wj_wave* wave) {
        const uint64_t pc = pc_of(wave);
        const std::string text = text_at(wave, pc);
        if (text.find("s_waitcnt") == 0 && !loop) {
            loop = pc + 4;
            if (!jumps) {
                const uint32_t two = 2;
                EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_SGPR, 6, 1, &two), WJ_OK);
                return WJ_HOOK_GO_ON;
            }
            // v_mad_u32_u24 has 8 bytes, the other three 4.
            const uint64_t target = loop + 8 + 3 * 4;
            const uint32_t words[] = {static_cast<uint32_t>(target),
                                      static_cast<uint32_t>(target >> 32)};
            EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_PC, 0, 2, words), WJ_OK);
        }
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    hooks.block = note<'B'>;
    ASSERT_EQ(run(k, hooked(packed(out, 0))), WJ_OK) << error();
    for (uint32_t l = 0; l < 64; l++) ASSERT_EQ(host<uint32_t>(out)[l], 15 * l);
    EXPECT_EQ(calls.size(), 3u);

    jumps = true;
    loop = blocks = 0;
    calls.clear();
    ASSERT_EQ(run(k, hooked(packed(out, 0))), WJ_OK) << error();
    for (uint32_t l = 0; l < 64; l++) ASSERT_EQ(host<uint32_t>(out)[l], l);
    EXPECT_EQ(calls.size(), 2u);  // the entry, and where it jumped to
}

TEST_P(HookTest, Accesses) {
    for (const uint32_t lanes : wave_sizes()) {
        wj_kernel* k = sized("accesses", lanes);
        const uint64_t base = buffer(4096);
        struct Seen {
            wj_space space;
            wj_access access;
            uint32_t bytes;
            uint64_t lane_mask, first, second;
        };
        std::vector<Seen> seen;
        access = [&](wj_wave*, const wj_access_info* info) {
            EXPECT_EQ(info->size, sizeof(*info));
            seen.push_back({info->space, info->access, info->bytes, info->lane_mask,
                            info->addresses[0], info->lane_mask & 2 ? info->addresses[1] : 0});
            return WJ_HOOK_GO_ON;
        };
        hooks.access = at_access;
        ASSERT_EQ(run(k, hooked(packed(base, 0, lanes, lanes))), WJ_OK) << error();
        const Seen expected[] = {
            {WJ_SPACE_SCALAR, WJ_ACCESS_READ, 16, 0, 0, 0},  // of the arguments, wherever they are
            {WJ_SPACE_SCALAR, WJ_ACCESS_READ, 4, 0, base + 0x40, 0},
            {WJ_SPACE_GLOBAL, WJ_ACCESS_READ, 8, 3, base + 8, base + 24},
            {WJ_SPACE_LDS, WJ_ACCESS_READ, 4, 3, 4, 16 + 4},
            {WJ_SPACE_LDS, WJ_ACCESS_READ, 4, 3, 12, 16 + 12},
            {WJ_SPACE_LDS, WJ_ACCESS_ATOMIC, 4, 3, 256, 256 + 16},
            {WJ_SPACE_GLOBAL, WJ_ACCESS_ATOMIC, 4, 3, base + 4, base + 20},
        };
        ASSERT_EQ(seen.size(), std::size(expected));
        for (size_t i = 0; i < seen.size(); i++) {
            SCOPED_TRACE(i);
            EXPECT_EQ(seen[i].space, expected[i].space);
            EXPECT_EQ(seen[i].access, expected[i].access);
            EXPECT_EQ(seen[i].bytes, expected[i].bytes);
            EXPECT_EQ(seen[i].lane_mask, expected[i].lane_mask);
            if (i) {
                EXPECT_EQ(seen[i].first, expected[i].first);
            }
            EXPECT_EQ(seen[i].second, expected[i].second);
        }
    }
}

TEST_P(HookTest, AnAnswerStopsInFrontOfTheInstruction) {
    wj_kernel* k = sized("total", 64);
    const uint64_t out = buffer(256);
    uint64_t stopped_at = 0;
    instruction = [&](wj_wave* wave) {
        if (text_at(wave, pc_of(wave)).find("global_store_dword") != 0) return WJ_HOOK_GO_ON;
        stopped_at = pc_of(wave);
        return WJ_HOOK_STOP;
    };
    hooks.instruction = at_instruction;
    ASSERT_EQ(run(k, hooked(packed(out, 0))), WJ_TIMEOUT);
    EXPECT_EQ(fault.pc, stopped_at);
    EXPECT_STREQ(fault.kernel, "total64");
    EXPECT_NE(std::string(fault.message).find("hook"), std::string::npos) << fault.message;
    EXPECT_NE(std::string(fault.instruction).find("global_store_dword"), std::string::npos);
    for (uint32_t l = 0; l < 64; l++) ASSERT_EQ(host<uint32_t>(out)[l], 0u);
    // The context goes on.
    ASSERT_EQ(run(k, packed(out, 0)), WJ_OK) << error();
    for (uint32_t l = 0; l < 64; l++) ASSERT_EQ(host<uint32_t>(out)[l], 22 * l);
}

// A register that the wave has not got is refused before anybody is told.
TEST_P(HookTest, NothingIsToldOfWhatIsRefused) {
    if (std::string(GetParam().target) == "gfx1030") GTEST_SKIP() << "no such kernel for gfx10";
    wj_kernel* k = kernel("asm", "beyond_allocation");
    instruction = [&](wj_wave* wave) {
        EXPECT_EQ(text_at(wave, pc_of(wave)).find("v100"), std::string::npos);
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    EXPECT_EQ(run(k, hooked(packed(0, 0))), WJ_ILLEGAL_INSTRUCTION);
}

// A hook that makes the wave go round and round by its PC uses up the limit.
TEST_P(HookTest, LimitsEndWhatAHookRepeats) {
    wj_kernel* k = sized("total", 64);
    uint64_t begin = 0;
    instruction = [&](wj_wave* wave) {
        const uint64_t pc = pc_of(wave);
        if (!begin) begin = pc;
        if (pc == begin) return WJ_HOOK_GO_ON;
        const uint32_t words[] = {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin >> 32)};
        EXPECT_EQ(wj_wave_write_registers(wave, WJ_REGISTER_PC, 0, 2, words), WJ_OK);
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    wj_launch_options o = hooked(packed(buffer(256), 0));
    o.instruction_limit = 5000;
    EXPECT_EQ(run(k, o), WJ_TIMEOUT);
}

TEST_P(HookTest, CancelledInAHook) {
    wj_kernel* k = sized("forever", 64);
    wj_dispatch* running = nullptr;
    std::mutex mutex;
    instruction = [&](wj_wave*) {
        const std::lock_guard lock(mutex);
        EXPECT_FALSE(wj_dispatch_done(running));
        wj_dispatch_cancel(running);
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    const wj_launch_options o = hooked(packed(0, 0));
    {
        const std::lock_guard lock(mutex);
        ASSERT_EQ(wj_dispatch_submit(k, &o, &running), WJ_OK);
        dispatch.reset(running);
    }
    EXPECT_EQ(wj_dispatch_wait(running), WJ_TIMEOUT);
}

// A harness that steps: the wave waits in its hook for the word to go on.
TEST_P(HookTest, SingleSteps) {
    wj_kernel* k = sized("total", 64);
    const uint64_t out = buffer(256);
    std::mutex mutex;
    std::condition_variable changed;
    wj_wave* standing = nullptr;
    bool go = false, ended = false;
    instruction = [&](wj_wave* wave) {
        std::unique_lock lock(mutex);
        standing = wave;
        go = false;
        changed.notify_all();
        changed.wait(lock, [&] { return go; });
        standing = nullptr;
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    const wj_launch_options o = hooked(packed(out, 0));
    std::thread runner([&] {
        EXPECT_EQ(wj_launch(k, &o, nullptr), WJ_OK);
        const std::lock_guard lock(mutex);
        ended = true;
        changed.notify_all();
    });
    uint32_t steps = 0;
    for (std::unique_lock lock(mutex);;) {
        changed.wait(lock, [&] { return standing || ended; });
        if (ended) break;
        steps++;
        EXPECT_FALSE(text_at(standing, pc_of(standing)).empty());
        standing = nullptr;
        go = true;
        changed.notify_all();
    }
    runner.join();
    EXPECT_EQ(steps, in_front + lap * laps + behind);
}

TEST_P(HookTest, WorkGroupsOnSeveralThreads) {
    context = make_context(GetParam().target, GetParam().engine, 4, GetParam().memory);
    if (std::string(GetParam().target) == "gfx1030") GTEST_SKIP() << "no such kernel for gfx10";
    wj_kernel* k = kernel("asm", "store_after_barrier");
    ASSERT_TRUE(k);
    constexpr uint32_t groups = 64;
    const uint64_t out = buffer(groups * 1024);
    std::atomic<uint32_t> count{0}, in_group[groups]{};
    std::atomic<bool> together{false};
    std::mutex mutex;
    std::set<std::thread::id> threads;
    instruction = [&](wj_wave* wave) {
        const uint32_t group = info_of(wave).work_group[0];
        if (in_group[group]++) together = true;  // another wave of the work-group is in a hook
        count++;
        {
            const std::lock_guard lock(mutex);
            threads.insert(std::this_thread::get_id());
        }
        in_group[group]--;
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    const wj_launch_options o = hooked(packed(out, 9, groups * 256, 256));
    wj_result result = WJ_INIT(wj_result);
    ASSERT_EQ(wj_launch(k, &o, &result), WJ_OK) << error();
    EXPECT_FALSE(together);
    EXPECT_EQ(count, result.wave_instructions);
    EXPECT_GE(threads.size(), 1u);
    for (uint32_t i = 0; i < groups * 256; i++) ASSERT_EQ(host<uint32_t>(out)[i], i / 256 + 1) << i;
}

// scratch32 stores 7 * lane at byte 4 of each lane's private memory, by a buffer, and loads it by a
// flat address.
TEST_P(HookTest, PrivateMemory) {
    if (std::string(GetParam().target) != "gfx1030") GTEST_SKIP() << "a kernel for gfx10";
    wj_kernel* k = kernel("waves", "scratch32");
    ASSERT_TRUE(k);
    const uint64_t out = buffer(4 * 32);
    std::vector<wj_access> seen;
    access = [&](wj_wave* wave, const wj_access_info* info) {
        if (info->space != WJ_SPACE_PRIVATE) return WJ_HOOK_GO_ON;
        seen.push_back(info->access);
        EXPECT_EQ(info->lane_mask, 0xffffffffu);
        EXPECT_EQ(info->bytes, 4u);
        for (uint32_t l = 0; l < 32; l++) EXPECT_EQ(info->addresses[l], 4u);
        if (info->access != WJ_ACCESS_READ) return WJ_HOOK_GO_ON;
        uint32_t value = 0;
        EXPECT_EQ(wj_wave_read_private(wave, 5, 4, &value, 4), WJ_OK) << error();
        EXPECT_EQ(value, 35u);
        value = 1000;
        EXPECT_EQ(wj_wave_write_private(wave, 5, 4, &value, 4), WJ_OK) << error();
        EXPECT_EQ(wj_wave_read_private(wave, 32, 4, &value, 4), WJ_INVALID_ARGUMENT);
        EXPECT_EQ(wj_wave_read_private(wave, 5, info_of(wave).private_bytes, &value, 1),
                  WJ_INVALID_ARGUMENT);
        return WJ_HOOK_GO_ON;
    };
    hooks.access = at_access;
    ASSERT_EQ(run(k, hooked(packed(out, 0, 32, 32))), WJ_OK) << error();
    EXPECT_EQ(seen, (std::vector<wj_access>{WJ_ACCESS_WRITE, WJ_ACCESS_READ}));
    for (uint32_t l = 0; l < 32; l++) ASSERT_EQ(host<uint32_t>(out)[l], l == 5 ? 1000 : 7 * l) << l;
}

// The same calls in the same order, each time.
TEST_P(HookTest, DeterministicContexts) {
    if (std::string(GetParam().target) == "gfx1030") GTEST_SKIP() << "no such kernel for gfx10";
    wj_context_options options = WJ_INIT(wj_context_options);
    options.target = GetParam().target;
    options.engine = GetParam().engine;
    options.memory_mode = GetParam().memory;
    options.threads = 4;
    options.deterministic = 1;
    wj_context* made = nullptr;
    ASSERT_EQ(wj_context_create(&options, &made, nullptr, 0), WJ_OK);
    context.reset(made);
    wj_kernel* k = kernel("asm", "store_after_barrier");
    const uint64_t out = buffer(8 * 1024);
    std::vector<uint64_t> order;
    instruction = [&](wj_wave* wave) {
        const wj_wave_info info = info_of(wave);
        order.push_back(info.pc << 16 | info.work_group[0] << 8 | info.wave);
        return WJ_HOOK_GO_ON;
    };
    hooks.instruction = at_instruction;
    std::vector<uint64_t> first;
    for (int n = 0; n < 3; n++) {
        order.clear();
        ASSERT_EQ(run(k, hooked(packed(out, 9, 8 * 256, 256))), WJ_OK) << error();
        if (!n) first = order;
        EXPECT_EQ(order, first);
    }
    EXPECT_GE(first.size(), 8u * 4 * 10);
}

TEST_P(HookTest, PreparedLaunchesHaveThemToo) {
    wj_kernel* k = sized("total", 64);
    const uint64_t out = buffer(256);
    hooks.block = note<'B'>;
    const wj_launch_options o = hooked(packed(out, 0));
    wj_prepared* prepared = nullptr;
    ASSERT_EQ(wj_launch_prepare(k, &o, &prepared), WJ_OK) << error();
    for (uint32_t n = 1; n <= 3; n++) {
        ASSERT_EQ(wj_prepared_launch(prepared, nullptr), WJ_OK) << error();
        EXPECT_EQ(calls.size(), 4 * n);
    }
    wj_prepared_release(prepared);
}

TEST_P(HookTest, ARequestThatIsWrong) {
    wj_kernel* k = sized("total", 64);
    wj_launch_options o = hooked(packed(buffer(256), 0));
    hooks.size = 0;
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("hooks"), std::string::npos) << error();
    hooks = WJ_INIT(wj_hooks);
    o.keep_waves = 3;
    EXPECT_EQ(run(k, o), WJ_INVALID_ARGUMENT);
    EXPECT_NE(error().find("keep_waves"), std::string::npos) << error();
}

INSTANTIATE_TEST_SUITE_P(All, HookTest, testing::ValuesIn(stops_setups), setup_name);

}  // namespace
}  // namespace wj::test
