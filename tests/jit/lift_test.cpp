// What the lifter leaves out and what it puts together: dead registers, arms, loops that run while
// lanes are left. Words by llvm-mc (gfx90a).
#include <gtest/gtest.h>

#include <set>

#include "backend_x64/divergent_loop.h"
#include "backend_x64/engine.h"
#include "backend_x64/translator.h"
#include "interpreter/interpreter.h"

namespace wj {
namespace {

constexpr uint64_t base = 0x1000;

class LiftTest : public testing::Test {
protected:
    // keep: every register is taken to be read at the end.
    ir::Block lift(std::vector<uint32_t> words, bool keep = false) {
        words_ = std::move(words);
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        if (!keep) o.liveness = &liveness_;
        return x64::lift_for_translation(o, base, fetch_, store_);
    }

    // For waves with all lanes on whose row 0 is base + stride * lane.
    ir::Block lift_lines(std::vector<uint32_t> words, std::optional<uint32_t> stride) {
        words_ = std::move(words);
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        o.liveness = &liveness_;
        o.exec_full = true;
        o.row_lines = [=](uint32_t row) -> std::optional<ir::RowLine> {
            if (row || !stride) return {};
            return ir::RowLine{.stride = *stride};
        };
        return x64::lift_for_translation(o, base, fetch_, store_);
    }

    std::vector<uint32_t> words_;
    const lift::Fetch fetch_ = [this](uint64_t pc) {
        const uint64_t at = (pc - base) / 4;
        return at < words_.size() ? std::span<const uint32_t>(words_).subspan(at)
                                  : std::span<const uint32_t>();
    };
    lift::Liveness liveness_{*find_target("gfx90a"), fetch_, false};
    lift::InstStore store_;
};

std::set<uint64_t> written(const ir::Block& block, ir::Op op) {
    std::set<uint64_t> out;
    for (const ir::Inst& i : block.insts)
        if (i.op == op) out.insert(i.imm);
    return out;
}

// What compilers write for these processors at every turn is no call of the interpreter.
TEST(LiftedInstructions, OfNewerProcessors) {
    struct Code {
        const char* target;
        std::vector<uint32_t> words;
    };
    const Code codes[] = {
        {"gfx942", {0xd2080000, 0x04110502}},  // v_lshl_add_u64 v[0:1], v[2:3], 2, v[4:5]
        {"gfx942", {0xd2080000, 0x04110002}},  // v_lshl_add_u64 v[0:1], s[2:3], 0, v[4:5]
        {"gfx942", {0x7e0c7100}},              // v_mov_b64_e32 v[6:7], v[0:1]
        {"gfx90a", {0xd3a84008, 0x1c221509}},  // v_dot4_i32_i8 v8, v9, v10, v8
        {"gfx90a", {0xd3a34008, 0x1c221509}},  // v_dot2_f32_f16 v8, v9, v10, v8
        {"gfx90a", {0xd1f80008, 0x042e1509}},  // v_max3_i16 v8, v9, v10, v11
        {"gfx90a", {0xd3804008, 0x1c2e1509}},  // v_pk_mad_i16 v8, v9, v10, v11
        {"gfx950", {0xd2340500, 0x4c0e0501}},  // v_bitop3_b32 v0, v1, v2, v3 bitop3:0x6a
        {"gfx950", {0xd2330500, 0x4c0e0501}},  // v_bitop3_b16 v0, v1, v2, v3 bitop3:0x6a
        {"gfx950", {0xd2680000, 0x00020501}},  // v_cvt_pk_bf16_f32 v0, v1, v2
        {"gfx950", {0xd39a4008, 0x1c221509}},  // v_dot2_f32_bf16 v8, v9, v10, v8
    };
    for (Code code : codes) {
        code.words.push_back(0xbf810000);  // s_endpgm
        lift::Options o;
        o.target = find_target(code.target);
        o.mode = 0x3c0;
        o.handler = &interp::handler;
        lift::InstStore store;
        const ir::Block block = x64::lift_for_translation(
            o, base,
            [&](uint64_t pc) {
                return std::span<const uint32_t>(code.words).subspan((pc - base) / 4);
            },
            store);
        EXPECT_EQ(block.guest_count, 2u);
        EXPECT_TRUE(block.calls.empty()) << code.target << ' ' << std::hex << code.words[0];
    }
}

TEST_F(LiftTest, WritesThatNobodyReadsAreLeftOut) {
    const ir::Block block = lift({
        0x7e020281,              // v_mov_b32_e32 v1, 1
        0x7d940300,              // v_cmp_eq_u32_e32 vcc, v0, v1
        0x7e040282,              // v_mov_b32_e32 v2, 2
        0x7e060283,              // v_mov_b32_e32 v3, 3
        0xbf820000,              // s_branch next
        0x7e020285,              // next: v_mov_b32_e32 v1, 5      v1 is overwritten
        0x86fe007e,              // s_and_b64 exec, exec, s[0:1]
        0x7e040286,              // v_mov_b32_e32 v2, 6            v2 in some lanes only
        0xbeea0180,              // s_mov_b64 vcc, 0
        0xbefe01c1,              // s_mov_b64 exec, -1
        0xdc708000, 0x007f0208,  // global_store_dword v[8:9], v2, off
        0xbf810000,              // s_endpgm                       v3 is never read
    });
    EXPECT_EQ(block.guest_count, 5u);
    EXPECT_EQ(written(block, ir::Op::SetV), std::set<uint64_t>{2});
    EXPECT_TRUE(written(block, ir::Op::SetS64).empty());
    EXPECT_TRUE(written(block, ir::Op::SetS32).empty());
}

// What a kernel must not have whose work-groups start in any order.
TEST(Liveness, KnowsWhatMayWaitForOthers) {
    struct Code {
        const char* target;
        std::vector<uint32_t> words;
        bool others;
    };
    const Code codes[] = {
        {"gfx90a", {0xdc508000, 0x017f0002}, false},  // global_load_dword v1, v[2:3], off
        {"gfx90a", {0xdc708000, 0x007f0102}, false},  // global_store_dword v[2:3], v1, off
        {"gfx90a", {0xdc528000, 0x017f0002}, false},  // global_load_dword ... slc
        {"gfx90a", {0xdc538000, 0x017f0002}, false},  // global_load_dword ... glc slc
        {"gfx90a", {0xdc518000, 0x017f0002}, true},   // global_load_dword ... glc
        {"gfx90a", {0xde508000, 0x017f0002}, true},   // global_load_dword ... scc
        {"gfx90a", {0xdc510000, 0x01000002}, true},   // flat_load_dword v1, v[2:3] glc
        {"gfx90a", {0xe0504000, 0x80010100}, true},   // buffer_load_dword v1, off, s[4:7], 0 glc
        {"gfx90a", {0xdd088000, 0x007f0102}, true},   // global_atomic_add v[2:3], v1, off
        {"gfx90a", {0xdd880000, 0x00000402}, true},   // flat_atomic_add_x2 v[2:3], v[4:5]
        {"gfx90a", {0xe1080000, 0x80010100}, true},   // buffer_atomic_add v1, off, s[4:7], 0
        {"gfx90a", {0xd8000000, 0x00000201}, false},  // ds_add_u32 v1, v2
        {"gfx900", {0xd8010000, 0x00000201}, true},   // ds_add_u32 v1, v2 gds
        {"gfx900", {0xd93b0000, 0x00000001}, true},   // ds_gws_barrier v1 gds
        {"gfx90a", {0xc0020101, 0x00000000}, false},  // s_load_dword s4, s[2:3], 0x0
        {"gfx90a", {0xc0030101, 0x00000000}, true},   // s_load_dword s4, s[2:3], 0x0 glc
        {"gfx90a", {0xc20a0101, 0x00000000}, true},   // s_atomic_add s4, s[2:3], 0x0
        {"gfx90a", {0xc0800000, 0x00000000}, true},   // s_dcache_inv
        {"gfx90a", {0xe0fc0000, 0x00000000}, true},   // buffer_wbinvl1_vol
        {"gfx942", {0xe0a48000, 0x00000000}, true},   // buffer_inv sc1
        {"gfx90a", {0xbe801d04}, true},               // s_setpc_b64 s[4:5]
        {"gfx90a", {0xbf8a0000}, false},              // s_barrier
        {"gfx942", {0xdc508000, 0x017f0002}, false},  // global_load_dword v1, v[2:3], off
    };
    for (const Code& code : codes) {
        // Behind a branch that may not be taken, in a loop.
        std::vector<uint32_t> words = {0x7e020280, 0xbf850000};    // v_mov_b32_e32 v1, 0
        words[1] += static_cast<uint32_t>(code.words.size()) + 1;  // s_cbranch_scc1 end
        words.insert(words.end(), code.words.begin(), code.words.end());
        words.push_back(0xbf820000 | (0xffff & -static_cast<uint32_t>(words.size() + 1)));
        words.push_back(0xbf810000);  // end: s_endpgm
        lift::Liveness liveness(
            *find_target(code.target),
            [&](uint64_t pc) {
                const uint64_t at = (pc - base) / 4;
                return at < words.size() ? std::span<const uint32_t>(words).subspan(at)
                                         : std::span<const uint32_t>();
            },
            false);
        EXPECT_EQ(liveness.at(base).others, code.others)
            << code.target << ' ' << std::hex << code.words[0];
        EXPECT_FALSE(liveness.at(base + 4 * (words.size() - 1)).others);
    }
}

TEST_F(LiftTest, AddressesAreABaseAndAnOffset) {
    const ir::Block block = lift(
        {
            0xd28f0000, 0x00020082,  // v_lshlrev_b64 v[0:1], 2, v[0:1]
            0x7e060203,              // v_mov_b32_e32 v3, s3
            0x32040002,              // v_add_co_u32_e32 v2, vcc, s2, v0
            0x38060303,              // v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
            0xdc508000, 0x067f0002,  // global_load_dword v6, v[2:3], off
            0x32040490,              // v_add_co_u32_e32 v2, vcc, 16, v2
            0x38060680,              // v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
            0xdc508004, 0x077f0002,  // global_load_dword v7, v[2:3], off offset:4
            0xbf810000,              // s_endpgm
        },
        true);
    EXPECT_EQ(written(block, ir::Op::LoadGlobalS64), (std::set<uint64_t>{0, 20}));
    EXPECT_TRUE(written(block, ir::Op::LoadGlobal).empty());
    // Both offsets are the shifted index itself, dword by dword.
    std::set<ir::Value> offsets;
    for (const ir::Inst& i : block.insts)
        if (i.op == ir::Op::LoadGlobalS64) offsets.insert(i.args[1]);
    ASSERT_EQ(offsets.size(), 1u);
    const ir::Inst& offset = block.insts[*offsets.begin()];
    ASSERT_EQ(offset.op, ir::Op::Pack64);
    EXPECT_EQ(block.insts[offset.args[0]].op, ir::Op::Shl32);
    EXPECT_EQ(block.insts[offset.args[1]].op, ir::Op::Fshr32);
}

TEST_F(LiftTest, PairsThatAreReadAsOneAreSteppedAsOne) {
    const ir::Block block = lift(
        {
            0x8e8c8104,  // s_lshl_b64 s[12:13], s[4:5], 1
            0x8e8e8106,  // s_lshl_b64 s[14:15], s[6:7], 1
            0x80040604,  // s_add_u32 s4, s4, s6
            0x82050705,  // s_addc_u32 s5, s5, s7
            0xbf82fffb,  // s_branch back
        },
        true);
    EXPECT_TRUE(written(block, ir::Op::SetS64).contains(4)) << ir::print(block);
    EXPECT_EQ(std::ranges::count(block.insts, ir::Op::UAdd64, &ir::Inst::op), 1)
        << ir::print(block);
}

// if (i < n) out[i] = in[i]; as compilers write it
const std::vector<uint32_t> copy_words = {
    0x7d980000 | 4,              // v_cmp_gt_u32_e32 vcc, s4, v0
    0xbe80206a,                  // s_and_saveexec_b64 s[0:1], vcc
    0xbf88000d,                  // s_cbranch_execz end
    0x7e020280,                  // v_mov_b32_e32 v1, 0
    0xd28f0000,     0x00020082,  // v_lshlrev_b64 v[0:1], 2, v[0:1]
    0x7e060209,                  // v_mov_b32_e32 v3, s9
    0x32040008,                  // v_add_co_u32_e32 v2, vcc, s8, v0
    0x38060303,                  // v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
    0xdc508000,     0x047f0002,  // global_load_dword v4, v[2:3], off
    0x24000082,                  // v_lshlrev_b32_e32 v0, 2, v0 (its upper half is not used)
    0xbf8c0f70,                  // s_waitcnt vmcnt(0)
    0xdc708000,     0x00060402,  // global_store_dword v2, v4, s[6:7]
    0xbf800000,                  // s_nop 0
    0xbf810000,                  // end: s_endpgm
};

TEST_F(LiftTest, LinesAreScalarsUnderGuards) {
    const ir::Block block = lift_lines(copy_words, 1);
    ASSERT_TRUE(block.guarded) << ir::print(block);
    EXPECT_EQ(ir::verify(block), "");
    EXPECT_EQ(block.guest_count, 14u);  // beyond the branch
    EXPECT_EQ(block.term.exit, machine::ExitKind::EndProgram);
    // One row has to be a line; no VGPR is read or written lane by lane, no mask is made.
    EXPECT_EQ(written(block, ir::Op::GuardRow), std::set<uint64_t>{0});
    EXPECT_TRUE(written(block, ir::Op::GetV).empty());
    EXPECT_TRUE(written(block, ir::Op::CmpLtU32).empty());
    EXPECT_TRUE(written(block, ir::Op::LoadGlobal).empty());
    EXPECT_EQ(written(block, ir::Op::Line32), std::set<uint64_t>{4});
    EXPECT_FALSE(written(block, ir::Op::Guard).empty());
}

TEST_F(LiftTest, RowsThatAreNoLinesNeedNoGuards) {
    EXPECT_FALSE(lift_lines(copy_words, {}).guarded);
}

TEST_F(LiftTest, ShortArmsJoinTheBlock) {
    const std::vector<uint32_t> words = {
        0x7d980088,  // v_cmp_gt_u32_e32 vcc, 8, v0
        0xbe80206a,  // s_and_saveexec_b64 s[0:1], vcc
        0xbf880002,  // s_cbranch_execz skip
        0x68020281,  // v_add_u32_e32 v1, 1, v1
        0x80048104,  // s_add_u32 s4, s4, 1
        0x87fe007e,  // skip: s_or_b64 exec, exec, s[0:1]
        0x68040404,  // v_add_u32_e32 v2, s4, v2
        0xbf810000,  // s_endpgm
    };
    const ir::Block block = lift(words, true);
    EXPECT_EQ(block.guest_count, 8u);
    EXPECT_EQ(block.term.exit, machine::ExitKind::EndProgram);
    // s4 depends on whether any lane went into the arm.
    const auto selects = std::count_if(block.insts.begin(), block.insts.end(),
                                       [](const auto& i) { return i.op == ir::Op::USelect32; });
    EXPECT_EQ(selects, 1);
}

TEST_F(LiftTest, CodeThatTurnsLanesOnIsNoArm) {
    const ir::Block block = lift({
        0x7d980088,  // v_cmp_gt_u32_e32 vcc, 8, v0
        0xbe80206a,  // s_and_saveexec_b64 s[0:1], vcc
        0xbf880002,  // s_cbranch_execz out
        0xbefe01c1,  // s_mov_b64 exec, -1
        0x68020281,  // v_add_u32_e32 v1, 1, v1
        0xbf810000,  // out: s_endpgm
    });
    EXPECT_EQ(block.guest_count, 3u);
    EXPECT_EQ(block.term.kind, ir::Terminator::Kind::Branch);
    EXPECT_EQ(block.term.target, base + 20);
    EXPECT_EQ(block.term.next, base + 12);
}

TEST_F(LiftTest, WritelaneDoesNotAskExecAndIsNoArm) {
    const ir::Block block = lift({
        0x7d9404bf,              // v_cmp_eq_u32_e32 vcc, 63, v2
        0xbeb4206a,              // s_and_saveexec_b64 s[52:53], vcc
        0xbf880002,              // s_cbranch_execz out
        0xd28a001e, 0x00011808,  // v_writelane_b32 v30, s8, 12
        0xbf810000,              // out: s_endpgm
    });
    EXPECT_EQ(block.guest_count, 3u);
}

TEST_F(LiftTest, LoopWhileLanesAreLeft) {
    const ir::Block block = lift({
        0x68020281,              // loop: v_add_u32_e32 v1, 1, v1
        0x02040702,              // v_add_f32_e32 v2, v2, v3
        0x7d9c0901,              // v_cmp_ge_u32_e32 vcc, v1, v4
        0x8786066a,              // s_or_b64 s[6:7], vcc, s[6:7]
        0x89fe067e,              // s_andn2_b64 exec, exec, s[6:7]
        0xbf89fffa,              // s_cbranch_execnz loop
        0x87fe067e,              // s_or_b64 exec, exec, s[6:7]
        0x32020301,              // v_add_co_u32_e32 v1, vcc, v1, v1
        0xdc708000, 0x007f0108,  // global_store_dword v[8:9], v1, off
        0xdc708004, 0x007f0208,  // global_store_dword v[8:9], v2, off offset:4
        0xbf810000,              // s_endpgm
    });
    const auto loop = x64::find_divergent_loop(block);
    ASSERT_TRUE(loop);
    EXPECT_EQ(loop->exit, base + 24);
    EXPECT_FALSE(loop->uniform_varies);
    std::set<uint32_t> carried;
    for (const auto& m : loop->carried) carried.insert(m.reg);
    EXPECT_EQ(carried, (std::set<uint32_t>{6, machine::exec_lo}));
    // VCC is overwritten behind the loop before anyone reads it.
    EXPECT_FALSE(written(block, ir::Op::SetS64).contains(machine::vcc_lo));
}

// Scalars that double: 2^40 ways from the last one to the first.
TEST_F(LiftTest, DivergentLoopWithLongScalarChain) {
    std::vector<uint32_t> words(40, 0x80000000);  // loop: s_add_u32 s0, s0, s0
    for (uint32_t word : {
             0x68020281u,  // v_add_u32_e32 v1, 1, v1
             0x7d9c0901u,  // v_cmp_ge_u32_e32 vcc, v1, v4
             0xbe810d6au,  // s_bcnt1_i32_b64 s1, vcc
             0x80020100u,  // s_add_u32 s2, s0, s1
             0x8786066au,  // s_or_b64 s[6:7], vcc, s[6:7]
             0x89fe067eu,  // s_andn2_b64 exec, exec, s[6:7]
             0xbf89ffd1u,  // s_cbranch_execnz loop
             0xbf810000u,  // s_endpgm
         })
        words.push_back(word);
    const ir::Block block = lift(words, true);
    ASSERT_EQ(block.term.target, base);
    ASSERT_TRUE(x64::find_divergent_loop(block));
    for (x64::Isa isa : {x64::Isa::Avx2, x64::Isa::Avx512})
        EXPECT_FALSE(x64::disassemble_block(block, isa).empty());
}

// Loads that look out for what others write (acquire, volatile) are not done ahead of time.
TEST_F(LiftTest, LoadsAroundTheCacheStayInOrder) {
    const std::vector<uint32_t> plain{0xdc508000, 0x017f0002},  // global_load_dword v1, v[2:3], off
        glc{0xdc518000, 0x017f0002}, scc{0xde508000, 0x017f0002},
        emptied{0xdc508000, 0x017f0002, 0xe0fc0000, 0x00000000};  // buffer_wbinvl1_vol
    for (const auto& [words, in_order] :
         {std::pair(plain, false), {glc, true}, {scc, true}, {emptied, true}}) {
        std::vector<uint32_t> program = words;
        program.push_back(0xbf810000);  // s_endpgm
        EXPECT_EQ(lift(program, true).loads_in_order, in_order);
    }
}

TEST_F(LiftTest, LoopThatStoresKeepsItsOrder) {
    const ir::Block block = lift({
        0x68020281,              // loop: v_add_u32_e32 v1, 1, v1
        0xdc708000, 0x007f0108,  // global_store_dword v[8:9], v1, off
        0x7d9c0901,              // v_cmp_ge_u32_e32 vcc, v1, v4
        0x8786066a,              // s_or_b64 s[6:7], vcc, s[6:7]
        0x89fe067e,              // s_andn2_b64 exec, exec, s[6:7]
        0xbf89fff9,              // s_cbranch_execnz loop
        0xbf810000,              // s_endpgm
    });
    EXPECT_EQ(block.term.target, base);
    EXPECT_FALSE(x64::find_divergent_loop(block));
}

}  // namespace
}  // namespace wj
