// Code of waves of 32 lanes: random programs as the interpreter runs them, and that what is done
// for loops, arms and masks is done for them as well. gfx90a's encodings, on a target made here.
#include <gtest/gtest.h>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/translator.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "memory/address_space.h"
#include "tests/jit/ir_harness.h"
#include "tests/jit/target32.h"

namespace wj::jit_test {
namespace {

// Loops that lanes leave: s4 collects them.
const std::vector<uint32_t> leaving_loop = {
    0x68020281,  // v_add_u32_e32 v1, 1, v1
    0x7d9c0101,  // v_cmp_ge_u32_e32 vcc_lo, v1, v0
    0x8704046a,  // s_or_b32 s4, vcc_lo, s4
    0x897e047e,  // s_andn2_b32 exec_lo, exec_lo, s4
    0xbf89fffb,  // s_cbranch_execnz back
    0x877e047e,  // s_or_b32 exec_lo, exec_lo, s4
    0xbf810000,  // s_endpgm
};

ir::Block lift32(std::vector<uint32_t> words, bool exec_full = false) {
    static lift::InstStore store;
    const lift::Fetch fetch = [&](uint64_t pc) {
        return std::span<const uint32_t>(words).subspan(
            std::min<size_t>(words.size(), (pc - 0x1000) / 4));
    };
    lift::Liveness liveness(target32(), fetch, true);
    lift::Options o;
    o.target = &target32();
    o.mode = 0x3c0;
    o.exec_full = exec_full;
    o.may_guard = true;
    o.handler = &interp::handler;
    o.liveness = &liveness;
    return x64::lift_for_translation(o, 0x1000, fetch, store);
}

uint32_t count(const ir::Block& block, Op op) {
    return static_cast<uint32_t>(std::ranges::count(block.insts, op, &ir::Inst::op));
}

TEST(Wave32, BlocksHaveNoUpperHalf) {
    for (const bool full : {false, true}) {
        const ir::Block block = lift32({0x7d980300, 0xbf810000}, full);  // v_cmp_gt_u32
        EXPECT_EQ(block.wave_size, 32u);
        EXPECT_EQ(block.lanes, 32u);
        EXPECT_EQ(ir::verify(block), "");
        // Neither EXEC nor VCC is a pair.
        EXPECT_EQ(count(block, Op::GetS64) + count(block, Op::SetS64), 0u) << ir::print(block);
        EXPECT_EQ(count(block, Op::SetMask32), 1u) << ir::print(block);
    }
}

TEST(Wave32, LoopsThatLanesLeaveGoChunkByChunk) {
    const ir::Block loop = lift32(leaving_loop);
    const auto divergent = x64::find_divergent_loop(loop);
    ASSERT_TRUE(divergent) << ir::print(loop);
    // No iteration has to know who has left before (lift/loop_masks.h).
    EXPECT_EQ(count(loop, Op::GuardOff), 1u) << ir::print(loop);
}

// s_and_saveexec and what follows it, by two operations: the arm is no block of its own.
TEST(Wave32, ArmsBelongToTheirBlock) {
    const ir::Block block = lift32({
        0x7d980300,  // v_cmp_gt_u32_e32 vcc_lo, v0, v1
        0xbe84007e,  // s_mov_b32 s4, exec_lo
        0x867e7e6a,  // s_and_b32 exec_lo, vcc_lo, exec_lo
        0xbf880001,  // s_cbranch_execz
        0x68040284,  // v_add_u32_e32 v2, 4, v1
        0x877e047e,  // s_or_b32 exec_lo, exec_lo, s4
        0xbf810000,  // s_endpgm
    });
    EXPECT_EQ(block.term.exit, machine::ExitKind::EndProgram) << ir::print(block);
    EXPECT_EQ(block.guest_count, 7u);
    // EXEC is what it was, as the lanes that were put aside come back.
    EXPECT_FALSE(block.exec_changed) << ir::print(block);
}

class Wave32Programs : public testing::TestWithParam<x64::Isa> {
protected:
    void SetUp() override {
        if (!x64::host_supports(GetParam())) GTEST_SKIP() << "this host cannot run the engine";
        machine::install_fault_handler();
        context_.target = &target32();
        context_.memory = &space_;
        code_ = space_.allocate(4096, memory::read_write | memory::executable, "code").value();
        engines_[0] = interp::make_interpreter(target32());
        engines_[1] =
            std::move(*x64::make_translator(target32(), GetParam(), {.keep_registers = true}));
    }
    uint32_t random(size_t n) { return static_cast<uint32_t>(rng_() % n); }

    void instruction() {
        static constexpr std::array<uint32_t, 2> table[] = {
            {0x68020300},              // v_add_u32_e32 v1, v0, v1
            {0x68020283},              // v_add_u32_e32 v1, 3, v1
            {0x7d980300},              // v_cmp_gt_u32_e32 vcc_lo, v0, v1
            {0x7d980300},              //
            {0x000a0300},              // v_cndmask_b32_e32 v5, v0, v1, vcc_lo
            {0x877e047e},              // s_or_b32 exec_lo, exec_lo, s4
            {0x877e047e},              //
            {0xbe84007e, 0x867e7e6a},  // s_mov_b32 s4, exec_lo; s_and_b32 exec_lo, vcc_lo, exec_lo
            {0x897e6a7e},              // s_andn2_b32 exec_lo, exec_lo, vcc_lo
            {0x7db20101},              // v_cmpx_lt_u32_e32 vcc_lo, v1, v0
            {0xbefe00c1},              // s_mov_b32 exec_lo, -1
            {0xbe88046a},              // s_not_b32 s8, vcc_lo
            {0xbe8a0c08},              // s_bcnt1_i32_b32 s10, s8
            {0x87086a08},              // s_or_b32 s8, s8, vcc_lo
            {0x8810047e},              // s_xor_b32 s16, exec_lo, s4
            {0x8a126a7e},              // s_orn2_b32 s18, exec_lo, vcc_lo
            {0xbe88056a},              // s_not_b64 s[8:9], vcc
            {0xbe84207e},              // s_and_saveexec_b64 s[4:5], exec
            {0x7e1c0501},              // v_readfirstlane_b32 s14, v1
            {0xd289000a, 0x00001701},  // v_readlane_b32 s10, v1, s11
            {0xd28a0006, 0x0001640b},  // v_writelane_b32 v6, s11, 50
            {0x7e0402fa, 0xff011301},  // v_mov_b32_dpp v2, v1 row_shr:3
            {0x7e0402fa, 0xff013401},  // v_mov_b32_dpp v2, v1 wave_rol:1
            {0xd87e0000, 0x03000100},  // ds_bpermute_b32 v3, v0, v1
            {0xd28c0004, 0x000100c1},  // v_mbcnt_lo_u32_b32 v4, -1, 0
            {0xd28d0004, 0x000208c1},  // v_mbcnt_hi_u32_b32 v4, -1, v4
        };
        for (const uint32_t word : table[random(std::size(table))])
            if (word) words_.push_back(word);
    }

    memory::AddressSpace space_;
    machine::ExecContext context_;
    std::unique_ptr<machine::Engine> engines_[2];
    uint64_t code_ = 0;
    Rng rng_{32};
    std::vector<uint32_t> words_;
};

TEST_P(Wave32Programs, AsTheInterpreter) {
    const int programs = wanted_rounds(1500);
    for (int n = 0; n < programs; ++n) {
        SCOPED_TRACE("program " + std::to_string(n));
        words_.clear();
        for (uint32_t k = random(4); k; --k) instruction();
        const uint32_t kind = random(3);
        if (kind == 1) {
            const size_t loop = words_.size();
            for (uint32_t k = 1 + random(4); k; --k) instruction();
            words_.push_back(0x80808100);  // s_sub_u32 s0, s0, 1
            words_.push_back(0xbf078000);  // s_cmp_lg_u32 s0, 0
            words_.push_back(0xbf850000 | ((loop - words_.size() - 1) & 0xffff));  // s_cbranch_scc1
        } else if (kind == 2) {
            words_.insert(words_.end(), leaving_loop.begin(), leaving_loop.end() - 1);
        }
        for (uint32_t k = random(4); k; --k) instruction();
        words_.push_back(0xbf810000);  // s_endpgm
        std::memcpy(reinterpret_cast<void*>(code_), words_.data(), words_.size() * 4);
        for (const auto& engine : engines_) engine->invalidate(code_, code_ + 4096);
        context_.whole_lanes = 16 * (1 + random(2));
        for (int k = 0; k < 4; ++k) {
            State start, states[2];
            randomise(start, rng_);  // EXEC_HI and VCC_HI as well
            start.wave.sgpr[machine::exec_lo] =
                static_cast<uint32_t>(random(4) ? context_.whole_exec() : rng_());
            start.wave.sgpr[4] =
                random(3) ? static_cast<uint32_t>(context_.whole_exec() & rng_()) : 0;
            start.wave.sgpr[0] = 1 + random(5);
            start.wave.sgpr[11] = random(64);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                start.wave.row(0)[l] = random(2) ? l : random(40);
                start.wave.row(1)[l] = random(2) ? l : random(40);
            }
            for (int e = 0; e < 2; ++e) {
                states[e].copy_from(start);
                states[e].wave.ctx = &context_;
                states[e].wave.size = 32;
                states[e].wave.mode = 0x3c0;
                states[e].wave.sgpr_count = 32;
                states[e].wave.pc = code_;
                ASSERT_EQ(engines_[e]->run(states[e].wave), machine::ExitKind::EndProgram);
            }
            ASSERT_TRUE(same(states[1], states[0]));
        }
    }
}

WJ_JIT_TESTS(Wave32Programs);

}  // namespace
}  // namespace wj::jit_test
