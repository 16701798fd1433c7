// The interpreter's loop: budgets, exits, faults, code changes, register limits.
#include <gtest/gtest.h>
#include <immintrin.h>
#include <sys/mman.h>

#include <memory>
#include <set>
#include <sstream>
#include <thread>
#include <vector>

#include "frontend/encoding.h"
#include "frontend/target.h"
#include "interpreter/coverage.h"
#include "interpreter/interpreter.h"
#include "machine/guard.h"
#include "memory/address_space.h"

namespace wj::interp {
namespace {

using machine::Access;
using machine::ExitKind;

// Encodings by llvm-mc 22, gfx90a.
constexpr uint32_t s_endpgm = 0xbf810000, s_barrier = 0xbf8a0000, s_sleep_1 = 0xbf8e0001,
                   s_trap_2 = 0xbf920002, s_nop = 0xbf800000, s_add_u32_s0_s0_1 = 0x80008100,
                   v_mov_b32_v70_v0 = 0x7e8c0300, s_mov_b32_s90_1 = 0xbeda0081,
                   undefined = 0xffffffff, s_movk_s0_7 = 0xb0000007, s_movk_s0_9 = 0xb0000009,
                   s_sethalt_1 = 0xbf8d0001, v_rcp_f32_v1_v0 = 0x7e024500;

struct EngineTest : ::testing::Test {
    memory::AddressSpace space;
    std::unique_ptr<machine::ExecContext> ctx = std::make_unique<machine::ExecContext>();
    std::vector<uint32_t> registers = std::vector<uint32_t>(64 * 64 + 16);
    machine::Wave w;
    const Target* target = find_target("gfx90a");
    std::unique_ptr<machine::Engine> engine = make_interpreter(*target);
    uint64_t code = 0;

    void SetUp() override {
        ctx->memory = &space;
        ctx->target = target;
        code = space.allocate(8192, memory::read_write | memory::executable, "code").value();
        prepare(w);
    }
    void prepare(machine::Wave& wave) {
        wave.ctx = ctx.get();
        const auto p = reinterpret_cast<uintptr_t>(registers.data());
        wave.vgpr = reinterpret_cast<uint32_t*>((p + 63) & ~uintptr_t{63});
        wave.vgpr_count = 64;
        wave.sgpr_count = 80;
        wave.budget = 1000;
        wave.mode = 0xf0;
        wave.pc = code;
        wave.set_s64(machine::exec_lo, ~uint64_t{0});
    }
    void write_code(std::initializer_list<uint32_t> words, uint64_t at = 0) {
        std::copy(words.begin(), words.end(), reinterpret_cast<uint32_t*>(code + at));
    }
};

TEST_F(EngineTest, EndsAndCounts) {
    write_code({s_nop, s_add_u32_s0_s0_1, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    EXPECT_EQ(w.sgpr[0], 1u);
    EXPECT_EQ(w.budget, 997);
    EXPECT_EQ(w.exit.pc, code + 8);
}

// "If trap_en == 0, all traps and exceptions are ignored" (CDNA3 ISA, 3.10); the bits stay.
TEST_F(EngineTest, EnabledExceptionsStopWhereATrapHandlerIs) {
    constexpr uint32_t division_by_zero = 4, enabled = division_by_zero << 12;
    write_code({v_rcp_f32_v1_v0, s_nop, s_endpgm});
    w.mode |= enabled;
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    EXPECT_EQ(w.trapsts, division_by_zero);
    w.trapsts = 0;
    w.trap_enabled = true;
    w.pc = code;
    EXPECT_EQ(engine->run(w), ExitKind::Exception);
    EXPECT_EQ(w.exit.pc, code);
    EXPECT_EQ(w.pc, code + 4);  // the instruction has happened
    EXPECT_EQ(w.row(1)[63], 0x7f800000u);
    EXPECT_EQ(w.exit.detail, division_by_zero);
    EXPECT_EQ(w.exit.lane_mask, ~uint64_t{0});
    EXPECT_EQ(w.trapsts, division_by_zero);
}

TEST_F(EngineTest, BarrierStandsBehind) {
    write_code({s_barrier, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::Barrier);
    EXPECT_EQ(w.pc, code + 4);
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
}

TEST_F(EngineTest, EndlessLoopYields) {
    write_code({s_add_u32_s0_s0_1, 0xbf82fffe});
    EXPECT_EQ(engine->run(w), ExitKind::Yield);
    EXPECT_GE(w.sgpr[0], 500u);
    const uint32_t before = w.sgpr[0];
    w.budget = 100;
    EXPECT_EQ(engine->run(w), ExitKind::Yield);
    EXPECT_EQ(w.sgpr[0], before + 50);
}

TEST_F(EngineTest, SleepYieldsBehind) {
    write_code({s_sleep_1, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::Yield);
    EXPECT_EQ(w.pc, code + 4);
}

TEST_F(EngineTest, TrapTellsItsNumber) {
    write_code({s_trap_2, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::Trap);
    EXPECT_EQ(w.exit.detail, 2u);
    EXPECT_EQ(w.exit.pc, code);
    EXPECT_EQ(w.pc, code + 4);
}

TEST_F(EngineTest, Halt) {
    write_code({s_sethalt_1, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::Halt);
}

TEST_F(EngineTest, UndefinedEncoding) {
    write_code({s_nop, undefined, undefined});
    EXPECT_EQ(engine->run(w), ExitKind::IllegalInstruction);
    EXPECT_EQ(w.exit.pc, code + 4);
    EXPECT_EQ(w.pc, code + 4);
}

TEST_F(EngineTest, MisalignedProgramCounter) {
    w.pc = code + 2;
    EXPECT_EQ(engine->run(w), ExitKind::IllegalInstruction);
}

TEST_F(EngineTest, RegistersBeyondTheAllocation) {
    write_code({s_nop, v_mov_b32_v70_v0, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::IllegalInstruction);
    EXPECT_EQ(w.exit.pc, code + 4);
    ASSERT_NE(w.exit.reason, nullptr);
    write_code({s_mov_b32_s90_1, s_endpgm});
    engine->invalidate(code, code + 4096);
    w.pc = code;
    EXPECT_EQ(engine->run(w), ExitKind::IllegalInstruction);
    EXPECT_EQ(w.sgpr[90], 0u);
    w.sgpr_count = 102;
    w.pc = code;
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
}

TEST_F(EngineTest, IndexModeStaysInsideTheAllocation) {
    // s_set_gpr_idx_on s0, gpr_idx(SRC0); v_mov_b32 v1, v0
    write_code({0xbf110100, 0x7e020300, s_endpgm});
    w.sgpr[0] = 63;
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    w.sgpr[0] = 64;
    w.mode = 0xf0;
    w.pc = code;
    EXPECT_EQ(engine->run(w), ExitKind::IllegalInstruction);
    EXPECT_EQ(w.exit.pc, code + 4);
}

TEST_F(EngineTest, FetchFromNowhere) {
    w.pc = 0x10000;
    EXPECT_EQ(engine->run(w), ExitKind::MemoryFault);
    EXPECT_EQ(w.exit.access, Access::Execute);
    EXPECT_EQ(w.exit.address, 0x10000u);
    EXPECT_EQ(w.exit.pc, 0x10000u);
}

TEST_F(EngineTest, FetchRunsOffTheEnd) {
    write_code({s_nop}, 8188);
    w.pc = code + 8188;
    EXPECT_EQ(engine->run(w), ExitKind::MemoryFault);
    EXPECT_EQ(w.exit.address, code + 8192);
}

TEST_F(EngineTest, DataIsNotCode) {
    const uint64_t data = space.allocate(4096, memory::read_write, "data").value();
    *reinterpret_cast<uint32_t*>(data) = s_endpgm;
    w.pc = data;
    EXPECT_EQ(engine->run(w), ExitKind::MemoryFault);
}

TEST_F(EngineTest, RefusesByName) {
    write_code({0xf0000100, 0, s_endpgm});  // image_load
    EXPECT_EQ(engine->run(w), ExitKind::Unimplemented);
    ASSERT_NE(w.exit.reason, nullptr);
    EXPECT_STREQ(w.exit.reason, "image_load");
}

TEST_F(EngineTest, LdsDirectOutOfRangeReadsZero) {
    write_code({0x7e0202fe, s_endpgm});  // v_mov_b32 v1, src_lds_direct
    w.sgpr[machine::m0] = 2 << 16 | 0xfffc;
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    EXPECT_EQ(w.row(1)[0], 0u);
}

TEST_F(EngineTest, ChangedCode) {
    write_code({s_movk_s0_7, s_endpgm});
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    EXPECT_EQ(w.sgpr[0], 7u);
    write_code({s_movk_s0_9, s_endpgm});
    engine->invalidate(code, code + 4);
    w.pc = code;
    EXPECT_EQ(engine->run(w), ExitKind::EndProgram);
    EXPECT_EQ(w.sgpr[0], 9u);
}

// A program may round upwards, or flush denormals (-ffast-math), in the thread that runs its
// kernel.
TEST_F(EngineTest, TheCallersFloatEnvironmentIsNotTheGuests) {
    write_code({0x02040300, s_endpgm});  // v_add_f32_e32 v2, v0, v1
    for (uint32_t l = 0; l < 64; ++l) w.row(0)[l] = 0x3f800000, w.row(1)[l] = 0x30800000;  // 2^-30
    const uint32_t before = _mm_getcsr(), upwards = 0x4000, masks = 0x1f80;
    _mm_setcsr(masks | upwards);
    const ExitKind kind = engine->run(w);
    const uint32_t after = _mm_getcsr();
    _mm_setcsr(before);
    EXPECT_EQ(kind, ExitKind::EndProgram);
    EXPECT_EQ(w.row(2)[0], 0x3f800000u);
    EXPECT_EQ(after & upwards, upwards);
}

TEST_F(EngineTest, WildLoadIsAFaultOfTheWave) {
    ASSERT_TRUE(machine::install_fault_handler());
    machine::prepare_thread_for_faults();
    // global_load_dword v2, v[0:1], off
    write_code({s_nop, 0xdc508000, 0x027f0000, s_endpgm});
    for (uint32_t l = 0; l < 64; ++l) w.row(0)[l] = 0x1000, w.row(1)[l] = 0, w.row(2)[l] = 5;
    EXPECT_EQ(engine->run(w), ExitKind::MemoryFault);
    EXPECT_EQ(w.exit.pc, code + 4);
    EXPECT_EQ(w.pc, code + 4);
    EXPECT_EQ(w.exit.access, Access::Read);
}

TEST_F(EngineTest, ThreadsShareOneEngine) {
    write_code({s_add_u32_s0_s0_1, 0xbf82fffe});
    std::vector<std::thread> threads;
    std::vector<std::unique_ptr<machine::Wave>> waves;
    std::vector<std::unique_ptr<machine::ExecContext>> contexts;
    for (int i = 0; i < 4; ++i) {
        waves.push_back(std::make_unique<machine::Wave>());
        contexts.push_back(std::make_unique<machine::ExecContext>());
        contexts.back()->memory = &space;
        contexts.back()->target = target;
        prepare(*waves.back());
        waves.back()->ctx = contexts.back().get();
        waves.back()->budget = 100000;
    }
    for (auto& wave : waves)
        threads.emplace_back([&] { EXPECT_EQ(engine->run(*wave), ExitKind::Yield); });
    for (auto& t : threads) t.join();
    for (auto& wave : waves) EXPECT_EQ(wave->sgpr[0], 50000u);
}

// Opcodes of the processors that are emulated; others are decoded only.
std::set<Opcode> emulated_opcodes() {
    std::set<Opcode> out;
    std::istringstream names(supported_target_names());
    for (std::string name; std::getline(names >> std::ws, name, ',');)
        for (const Opcode op : opcode_slots[static_cast<size_t>(find_target(name)->family)])
            out.insert(op);
    // Prefix and product in one encoding, without a number of its own.
    out.insert(Opcode::v_mfma_scale_f32_16x16x128_f8f6f4);
    out.insert(Opcode::v_mfma_scale_f32_32x32x64_f8f6f4);
    out.erase(Opcode::invalid);
    return out;
}

TEST(Handlers, WhatHasNoneIsRefusedForAReason) {
    const std::set<Opcode> opcodes = emulated_opcodes();
    EXPECT_GT(opcodes.size(), 1400u);
    // Which ones are refused, docs/reference/coverage.md says, with which a test compares.
    for (const Opcode op : opcodes) {
        if (handler(op)) continue;
        EXPECT_NE(std::string_view(coverage(op).note), unexplained) << op_info(op).name;
    }
}

}  // namespace
}  // namespace wj::interp
