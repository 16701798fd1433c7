// Loops whose rows move by what a scalar register holds (strides of views, BLAS increments): they
// are guarded for the value that the first wave has, and right for all others. Expected values are
// sums worked out here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/jit/sequence_machine.h"

namespace wj {
namespace {

using jit_test::Kind;
using jit_test::kind_name;

// v1 += the sum of (iterations left) * the element at v[2:3], which moves by s[4:5]; s8 iterations.
const std::string by_pointers =
    "global_load_dword v6, v[2:3], off\n"
    "v_mov_b32 v5, s5\n"
    "v_add_co_u32 v2, vcc, s4, v2\n"
    "v_addc_co_u32 v3, vcc, v3, v5, vcc\n"
    "s_waitcnt vmcnt(0)\n"
    "v_mul_lo_u32 v6, v6, s8\n"
    "v_add_u32 v1, v1, v6\n"
    "s_sub_u32 s8, s8, 1\n"
    "s_cmp_lg_u32 s8, 0\n"
    "s_cbranch_scc1 0\n";
// The same from s[10:11], at an index that moves by s4 elements.
const std::string by_indices =
    "v_lshlrev_b32 v6, 2, v16\n"
    "global_load_dword v6, v6, s[10:11]\n"
    "v_add_u32 v16, s4, v16\n"
    "s_waitcnt vmcnt(0)\n"
    "v_mul_lo_u32 v6, v6, s8\n"
    "v_add_u32 v1, v1, v6\n"
    "s_sub_u32 s8, s8, 1\n"
    "s_cmp_lg_u32 s8, 0\n"
    "s_cbranch_scc1 0\n";
const std::string store = "global_store_dword v30, v1, s[20:21]\ns_endpgm\n";

class LoopStepsTest : public testing::TestWithParam<Kind> {
protected:
    static constexpr uint32_t dwords = 1 << 16, pitch = 129, iterations = 67;  // elements
    // Elements. The first one is what the loop is translated for.
    static constexpr int64_t steps[] = {1, 2, -1, 0, 1, 3, 200, 1};

    void SetUp() override {
        for (uint32_t i = 0; i < dwords; ++i) table_[i] = i * 2654435761u;
    }

    void run(const std::string& loop) {
        jit_test::SequenceMachine machine(GetParam());
        if (!machine) GTEST_SKIP() << "this host lacks the instruction set";
        machine.load(jit_test::assembled({loop + store}));
        // Once more, as only what runs often is translated.
        for (int pass = 0; pass < 3; ++pass)
            for (const int64_t step : steps) {
                if (step < 0 && loop == by_indices) continue;  // they have no sign
                const auto origin = reinterpret_cast<uint64_t>(&table_[dwords / 2]);
                const uint8_t* out = machine.run(1 << 20, [&](machine::Wave& w) {
                    for (uint32_t l = 0; l < machine::lanes; ++l) {
                        const uint64_t at = origin + uint64_t{l} * pitch * 4;
                        w.row(2)[l] = static_cast<uint32_t>(at);
                        w.row(3)[l] = static_cast<uint32_t>(at >> 32);
                        w.row(1)[l] = 0;
                        w.row(16)[l] = l * pitch;
                        w.row(30)[l] = 4 * l;
                    }
                    w.set_s64(machine::exec_lo, ~0ull);
                    const bool pointers = loop == by_pointers;
                    w.set_s64(4, static_cast<uint64_t>(pointers ? 4 * step : step));
                    w.sgpr[8] = iterations;
                    w.set_s64(10, origin);
                });
                for (uint32_t l = 0; l < machine::lanes; ++l) {
                    uint32_t want = 0, got;
                    for (int64_t i = 0; i < iterations; ++i)
                        want += table_[static_cast<size_t>(dwords / 2 + l * pitch + i * step)] *
                                static_cast<uint32_t>(iterations - i);
                    std::memcpy(&got, out + 4 * l, 4);
                    ASSERT_EQ(got, want) << "step " << step << ", lane " << l;
                }
            }
    }

    std::vector<uint32_t> table_ = std::vector<uint32_t>(dwords);
};

TEST_P(LoopStepsTest, Pointers) {
    run(by_pointers);
}

TEST_P(LoopStepsTest, Indices) {
    run(by_indices);
}

INSTANTIATE_TEST_SUITE_P(Engines, LoopStepsTest,
                         testing::Values(Kind::Interpreter, Kind::Avx2, Kind::Avx512), kind_name);

// Small steps become constants, others are read.
TEST(LoopSteps, AreConstants) {
    const std::vector<uint32_t> words = jit_test::assembled({by_pointers});
    for (const bool small : {true, false}) {
        machine::Wave now{};
        now.set_s64(4, small ? 4 : 1 << 20);
        const lift::Fetch fetch = [&](uint64_t pc) {
            const uint64_t at = (pc - 0x1000) / 4;
            return at < words.size() ? std::span(words).subspan(at) : std::span<const uint32_t>();
        };
        lift::InstStore instructions;
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0xf0;
        o.handler = &interp::handler;
        o.exec_full = o.may_guard = true;
        o.now = &now;
        const ir::Block block = lift::lift_block(o, 0x1000, fetch, instructions);
        const auto reads = [&](ir::Op op, uint64_t reg) {
            return std::ranges::any_of(
                block.insts, [&](const ir::Inst& i) { return i.op == op && (i.imm & 255) == reg; });
        };
        EXPECT_EQ(reads(ir::Op::GuardAtMost, 4), small);
        EXPECT_EQ(reads(ir::Op::GetS32, 4), !small);
        EXPECT_FALSE(reads(ir::Op::GuardAtMost, 8));  // the loop writes it
    }
}

}  // namespace
}  // namespace wj
