// What indices are worked out with: integer divisions by a scalar as LLVM writes them, 64-bit
// products of which the lower dword is used, scalar loads that only some waves do. Words by llvm-mc
// (gfx90a); the interpreter takes instruction by instruction.
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

class IndexTest : public WordsTest {
protected:
    bool lifts_to(ir::Op op) {
        lift::Options o;
        o.target = context_.target;
        o.mode = mode;
        o.handler = &interp::handler;
        lift::InstStore store;
        const ir::Block block = lift::lift_block(
            o, 0, [this](uint64_t pc) { return std::span(words_).subspan(pc / 4); }, store);
        EXPECT_EQ(ir::verify(block), "");
        return std::ranges::any_of(block.insts, [&](const ir::Inst& i) { return i.op == op; });
    }
    void begin(State& first) {
        randomise(first, rng_);
        first.wave.mode = mode;
    }
    static constexpr uint32_t mode = 0x3f0;  // denormals are kept
};

// v0 / s2 to v4, v0 % s2 to v5.
std::vector<uint32_t> division(uint32_t factor) {
    return {
        0x7e020c02,              // v_cvt_f32_u32_e32 v1, s2
        0x81850280,              // s_sub_i32 s5, 0, s2
        0x7e024701,              // v_rcp_iflag_f32_e32 v1, v1
        0x0a0202ff, factor,      // v_mul_f32_e32 v1, factor, v1
        0x7e020f01,              // v_cvt_u32_f32_e32 v1, v1
        0xd2850002, 0x00020205,  // v_mul_lo_u32 v2, s5, v1
        0xd2860002, 0x00020501,  // v_mul_hi_u32 v2, v1, v2
        0x68020501,              // v_add_u32_e32 v1, v1, v2
        0xd2860001, 0x00020300,  // v_mul_hi_u32 v1, v0, v1
        0xd2850002, 0x00000501,  // v_mul_lo_u32 v2, v1, s2
        0x6a040500,              // v_sub_u32_e32 v2, v0, v2
        0x68060281,              // v_add_u32_e32 v3, 1, v1
        0x7d960402,              // v_cmp_le_u32_e32 vcc, s2, v2
        0x00020701,              // v_cndmask_b32_e32 v1, v1, v3, vcc
        0x6c060402,              // v_subrev_u32_e32 v3, s2, v2
        0x00040702,              // v_cndmask_b32_e32 v2, v2, v3, vcc
        0x68060281,              // v_add_u32_e32 v3, 1, v1
        0x7d960402,              // v_cmp_le_u32_e32 vcc, s2, v2
        0x00080701,              // v_cndmask_b32_e32 v4, v1, v3, vcc
        0x6c060402,              // v_subrev_u32_e32 v3, s2, v2
        0x000a0702,              // v_cndmask_b32_e32 v5, v2, v3, vcc
        0xbf810000,              // s_endpgm
    };
}

TEST_P(IndexTest, DivisionsByAScalar) {
    constexpr uint32_t llvms = 0x4f7ffffe;
    words_ = division(llvms);
    EXPECT_TRUE(lifts_to(ir::Op::URcp32)) << text();
    for (const uint32_t factor : {llvms, 0x3f800000u, 0x7f7fffffu, 0xcf7ffffeu, 0x7fc00000u}) {
        words_ = division(factor);
        load(code_);
        for (int n = wanted_rounds(300); n; --n) {
            State first;
            begin(first);
            const uint32_t d = first.wave.sgpr[2] =
                random(3) ? random_dword(rng_) >> random(32) : 1u << random(32);
            for (uint32_t l = 0; l < 64; ++l)
                if (d && random(2)) first.wave.row(0)[l] = d * random(~0u / d) - random(2);
            compare(first, code_);
            if (HasFatalFailure()) return;
            if (!d || factor != llvms) continue;
            const uint64_t exec = first.wave.s64(machine::exec_lo);
            first.wave.ctx = &context_;
            first.wave.sgpr_count = 32;
            first.wave.pc = code_;
            std::vector<uint32_t> dividends(first.wave.row(0), first.wave.row(0) + 64);
            ASSERT_EQ(translator_->run(first.wave), machine::ExitKind::EndProgram);
            for (uint32_t l = 0; l < 64; ++l) {
                if (!(exec >> l & 1)) continue;
                ASSERT_EQ(first.wave.row(4)[l], dividends[l] / d) << dividends[l] << " / " << d;
                ASSERT_EQ(first.wave.row(5)[l], dividends[l] % d) << dividends[l] << " % " << d;
            }
        }
    }
}

TEST_P(IndexTest, LowerHalvesOfPairs) {
    const std::vector<uint32_t> sums = {
        0xd1e86a02, 0x04120300,  // v_mad_u64_u32 v[2:3], vcc, v0, v1, v[4:5]
        0xd1e86a06, 0x040a0203,  // v_mad_u64_u32 v[6:7], vcc, s3, v1, v[2:3]
        0xd28f0008, 0x00020c85,  // v_lshlrev_b64 v[8:9], 5, v[6:7]
    };
    constexpr uint32_t mov = 0x7e000280;  // v_mov_b32 v0, 0
    constexpr uint32_t upper[] = {3, 7, 9};
    for (uint32_t round = 0; round < 64; ++round) {
        const uint32_t kept = round % 8;  // whose upper halves are read
        words_ = sums;
        const uint32_t shift = std::array{5u, 31u, 32u, 40u}[random(4)];
        words_.back() = (words_.back() & ~0xffu) | (128 + shift);
        for (const uint32_t pair : {0u, 1u, 2u})
            if (!(kept >> pair & 1)) words_.push_back(mov | upper[pair] << 17);
        words_.push_back(0xbeea01c1);  // s_mov_b64 vcc, -1: nor are the carries
        words_.push_back(0xbf810000);
        if (shift < 32) {
            EXPECT_EQ(lifts_to(ir::Op::MulWideU32), kept != 0) << text();
        }
        load(code_);
        for (int n = wanted_rounds(20); n; --n) {
            State first;
            begin(first);
            compare(first, code_);
            if (HasFatalFailure()) return;
        }
    }
}

// An arm with a scalar load; lanes_leave: behind an instruction that turns lanes off.
std::vector<uint32_t> load_in_arm(bool lanes_leave) {
    std::vector<uint32_t> words = {
        0xbe840087,                             // s_mov_b32 s4, 7
        0x7d980006,                             // v_cmp_gt_u32_e32 vcc, s6, v0
        0xbe80206a,                             // s_and_saveexec_b64 s[0:1], vcc
        lanes_leave ? 0xbf880005 : 0xbf880004,  // s_cbranch_execz over
    };
    if (lanes_leave) words.push_back(0x86fe087e);  // s_and_b64 exec, exec, s[8:9]
    for (const uint32_t word : {
             0xc0020101u, 0x00000010u,  // s_load_dword s4, s[2:3], 0x10
             0xbf8cc07fu,               // s_waitcnt lgkmcnt(0)
             0x2a020204u,               // v_xor_b32_e32 v1, s4, v1
             0x87fe007eu,               // over: s_or_b64 exec, exec, s[0:1]
             0x68040404u,               // v_add_u32_e32 v2, s4, v2
             0xbf810000u,               // s_endpgm
         })
        words.push_back(word);
    return words;
}

// Of waves whose lanes all jump over it, the load's address may be anything.
TEST_P(IndexTest, ScalarLoadsInArms) {
    words_ = load_in_arm(false);
    EXPECT_TRUE(lifts_to(ir::Op::USelect64)) << text();
    // The code begins at other places of what the safe address is aligned to.
    for (const uint64_t off : {0u, 4u, 60u, 64u}) {
        const uint64_t pc = code_ + off;
        load(pc);
        for (int n = wanted_rounds(100); n; --n) {
            State first;
            begin(first);
            const bool none = random(2);
            if (none) first.wave.sgpr[6] = 0;
            first.wave.set_s64(2, none ? uint64_t{random(2)} << 40 : code_ + 4 * random(64));
            if (!first.wave.s64(machine::exec_lo)) continue;
            compare(first, pc);
            if (HasFatalFailure()) return;
        }
        State first;
        begin(first);
        first.wave.ctx = &context_;
        first.wave.sgpr_count = 32;
        first.wave.pc = pc;
        first.wave.sgpr[6] = 8;
        first.wave.row(0)[5] = 7;
        first.wave.set_s64(machine::exec_lo, 1 << 5);
        first.wave.set_s64(2, 0);
        ASSERT_EQ(translator_->run(first.wave), machine::ExitKind::MemoryFault);
        EXPECT_EQ(first.wave.exit.pc, pc + 16);
        EXPECT_EQ(first.wave.exit.address, 16u);
    }
}

// What an arm does to EXEC does not matter to a load behind it: the branch has decided.
TEST_P(IndexTest, ScalarLoadsInArmsThatLanesLeave) {
    words_ = load_in_arm(true);
    EXPECT_TRUE(lifts_to(ir::Op::USelect64)) << text();
    load(code_);
    for (int n = wanted_rounds(200); n; --n) {
        State first;
        begin(first);
        if (random(2)) first.wave.set_s64(8, 0);
        first.wave.set_s64(2, code_ + 4 * random(64));
        if (!first.wave.s64(machine::exec_lo)) continue;
        compare(first, code_);
        if (HasFatalFailure()) return;
    }
}

WJ_JIT_TESTS(IndexTest);

}  // namespace
}  // namespace wj::jit_test
