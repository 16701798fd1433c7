// Instructions of gfx11 to gfx12.5 that translated code does without a call of the interpreter.
// What they do is the text cases' matter, which run on every engine.
#include <gtest/gtest.h>

#include <algorithm>

#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tests/interpreter/semantics.h"

namespace wj {
namespace {

// Calls of handlers that know no faster way.
size_t calls(const std::string& target, const std::string& line) {
    std::vector<test::SemanticCase> cases(1);
    cases[0].name = line;
    cases[0].target = target;
    cases[0].wave_size = 32;
    cases[0].assembly = {line};
    EXPECT_TRUE(test::assemble(cases, WJ_LLVM_MC)) << target << ": " << line;
    const std::vector<uint32_t>& words = cases[0].code;
    lift::Options o;
    o.target = find_target(target, 32);
    o.mode = 0xf0;
    o.handler = &interp::handler;
    lift::InstStore store;
    const ir::Block block = lift::lift_block(
        o, 0,
        [&](uint64_t pc) {
            return std::span(words).subspan(std::min<size_t>(pc / 4, words.size()));
        },
        store);
    return static_cast<size_t>(std::ranges::count_if(block.insts, [&](const ir::Inst& i) {
        return i.op == ir::Op::Call && !block.calls[i.imm].move;
    }));
}

struct Lines {
    std::vector<const char*> targets, lines;
};
const Lines tables[] = {
    {{"gfx1150", "gfx1201", "gfx1250"},
     {"s_add_f16 s0, s1, s2", "s_fmac_f16 s0, s1, s2", "s_floor_f16 s0, s1", "s_cmp_lt_f16 s0, s1",
      "s_cvt_f16_f32 s0, s1", "s_cvt_hi_f32_f16 s0, s1", "s_cvt_pk_rtz_f16_f32 s0, s1, s2"}},
    {{"gfx1150"}, {"s_min_f16 s0, s1, s2", "s_max_f32 s0, s1, s2"}},
    {{"gfx1201", "gfx1250"},
     {"s_min_num_f16 s0, s1, s2", "s_maximum_f16 s0, s1, s2", "s_minimum_f32 s0, s1, s2",
      "v_s_rsq_f32 s0, s1", "v_s_exp_f16 s0, s1", "v_minimum_f32 v0, v1, v2",
      "v_minimummaximum_f16 v0.l, v1.l, v2.l, v3.l", "v_pk_maximum_f16 v0, v1, v2",
      "v_permlane16_var_b32 v0, v1, v2"}},
    {{"gfx1100", "gfx1201"}, {"v_permlane64_b32 v0, v1"}},
    {{"gfx1100", "gfx1201", "gfx1250"},
     {"v_permlane16_b32 v0, v1, s2, s3", "v_permlanex16_b32 v0, v1, -1, 0 op_sel:[1,1]",
      "v_cmp_lt_f32 vcc_lo, v0, v1 row_shr:1 row_mask:0xf bank_mask:0xf",
      "v_cmpx_eq_u32 v0, v1 dpp8:[7,6,5,4,3,2,1,0]", "v_movreld_b32 v0, v1", "v_movrels_b32 v0, v1",
      "v_movrelsd_b32 v0, v1"}},
    {{"gfx1250"},
     {"v_permlane16_swap_b32 v0, v1", "v_permlane_xor_b32 v0, v1, 5, 16",
      "v_permlane_up_b32 v0, v1, 1, 32"}},
};

TEST(Translated, WithoutCalls) {
    for (const Lines& table : tables)
        for (const char* target : table.targets)
            for (const char* line : table.lines)
                EXPECT_EQ(calls(target, line), 0u) << target << ": " << line;
}

}  // namespace
}  // namespace wj
