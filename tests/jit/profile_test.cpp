// What a translation knows of a wave is a value: written down and read again it makes the same
// decisions, without the wave.
#include "lift/profile.h"

#include <gtest/gtest.h>

#include <sstream>

#include "backend_x64/engine.h"
#include "tests/jit/sequence_machine.h"
#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

TEST(Profile, TextHoldsEverything) {
    const char* const text =
        "mode 0x2f0\n"
        "launch lanes 48 layout 3 exclusive 1\n"
        "next waves 4 step 64 group 8\n"
        "s4 0x1000\n"
        "s126 0xffffffff\n"
        "v0 0x0 stride 0x1 width 64 step 0x0\n"
        "v3 0x10 stride 0x4 width 16 step 0x100\n"
        "memory 0x7f0000001000 2a000000ff\n";
    const auto profile = lift::Profile::parse(text);
    ASSERT_TRUE(profile) << profile.status().message();
    EXPECT_EQ(profile->print(), text);
    EXPECT_EQ(profile->mode, 0x2f0u);
    EXPECT_EQ(profile->whole_lanes, 48u);
    EXPECT_TRUE(profile->exclusive);
    EXPECT_EQ(profile->next.group_sgpr, 8);
    EXPECT_EQ(profile->scalars.at(126), 0xffffffffu);
    EXPECT_EQ(profile->rows.at(3)[17], 0x10u + 4 + 0x100);
    EXPECT_EQ(profile->memory.at(0x7f0000001000), (std::vector<uint8_t>{0x2a, 0, 0, 0, 0xff}));
    // A row that is no line is written lane by lane.
    lift::Profile odd;
    for (uint32_t l = 0; l < 64; ++l) odd.rows[7][l] = l * l;
    const auto again = lift::Profile::parse(odd.print());
    ASSERT_TRUE(again) << again.status().message();
    EXPECT_EQ(again->rows, odd.rows);
}

TEST(Profile, ErrorsNameTheLine) {
    for (const char* wrong :
         {"s128 1", "v0 1", "v0 0 stride 1 width 48 step 0", "s4", "s4 1 2", "w4 1",
          "memory 0x10 123", "memory 0x10 xy", "launch lanes 64", "mode z"}) {
        const auto profile = lift::Profile::parse(std::string("; a comment\n") + wrong + "\n");
        ASSERT_FALSE(profile) << wrong;
        EXPECT_EQ(profile.status().message(),
                  std::string("line 2 of the profile is not understood: '") + wrong + "'");
    }
}

struct Plans : WordsTest {
    std::string plans_;
    static constexpr const char* program_[] = {
        "v_lshlrev_b32_e32 v1, 2, v0", "global_load_dword v2, v1, s[4:5]",  "s_waitcnt vmcnt(0)",
        "v_add_u32_e32 v2, 7, v2",     "global_store_dword v1, v2, s[6:7]", "s_endpgm"};
};

TEST_P(Plans, AreAFunctionOfTheProfile) {
    translator_ = std::move(*x64::make_translator(
        *context_.target, GetParam(),
        {.keep_registers = true, .plans = [this](const std::string& text) { plans_ += text; }}));
    words_ = assembled({std::begin(program_), std::end(program_)});
    const uint64_t data = space_.allocate(4096, memory::read_write, "data").value();
    State first;
    for (uint32_t l = 0; l < 64; ++l) first.wave.row(0)[l] = l;
    first.wave.set_s64(machine::exec_lo, ~0ull);
    first.wave.set_s64(4, data);
    first.wave.set_s64(6, data + 1024);
    load(code_);
    compare(first, code_);

    // The recording: a line that names the block, the profile, and the plan.
    std::istringstream lines(plans_);
    std::string line, recorded, plan;
    std::getline(lines, line);
    EXPECT_TRUE(line.starts_with("block ") && line.ends_with(" full")) << plans_;
    while (std::getline(lines, line) && !line.empty())
        (line.starts_with("  ") ? plan : recorded) += line + "\n";
    const auto profile = lift::Profile::parse(recorded);
    ASSERT_TRUE(profile) << profile.status().message();
    EXPECT_NE(plan.find("line guards"), std::string::npos) << plan;

    const lift::Fetch fetch = [&](uint64_t pc) {
        const uint64_t at = (pc - code_) / 4;
        return at < words_.size() ? std::span(words_).subspan(at) : std::span<const uint32_t>();
    };
    lift::Liveness liveness(*context_.target, fetch, true);
    lift::InstStore store;
    lift::Options options;
    options.target = context_.target;
    options.exec_full = options.may_guard = true;
    options.vgpr_count = first.wave.vgpr_count;
    options.sgpr_count = 32;
    options.handler = &interp::handler;
    options.liveness = &liveness;
    options.vector_lanes = GetParam() == x64::Isa::Avx512 ? 16 : 8;
    const lift::ProfiledWave wave(*profile, first.wave.vgpr_count);
    wave.apply(options);
    const ir::Block block = x64::lift_for_translation(options, code_, fetch, store);
    x64::CompileOptions compiled;
    compiled.avx512 = GetParam() == x64::Isa::Avx512;
    compiled.exclusive = profile->exclusive;
    const auto text_at = [&](uint64_t pc) {
        Inst inst;
        return decode(*context_.target, fetch(pc), inst) ? disassemble(*context_.target, inst) : "";
    };
    EXPECT_EQ(x64::plan_of_block(block, compiled, text_at), plan);

    // Without it the addresses' lines are not known.
    options.row_lines = nullptr;
    options.now = nullptr;
    const ir::Block blind = x64::lift_for_translation(options, code_, fetch, store);
    EXPECT_EQ(x64::plan_of_block(blind, compiled, text_at).find("line"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Isas, Plans, testing::Values(x64::Isa::Avx2, x64::Isa::Avx512),
                         [](const auto& info) {
                             return info.param == x64::Isa::Avx512 ? "Avx512" : "Avx2";
                         });

}  // namespace
}  // namespace wj::jit_test
