// Loops whose rows move by what a scalar register holds (strides of views, BLAS increments): they
// are guarded for the value that the first wave has, and right for all others. Expected values are
// sums worked out here.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "machine/guard.h"
#include "tests/jit/sequence_machine.h"

namespace wj {
namespace {

using jit_test::Kind;
using jit_test::kind_name;

// v2:3 goes on by s[4:5].
const std::string step_pointers =
    "v_mov_b32 v5, s5\n"
    "v_add_co_u32 v2, vcc, s4, v2\n"
    "v_addc_co_u32 v3, vcc, v3, v5, vcc\n";
// v1 += v6 * s8, the iterations that are left.
const std::string add =
    "v_mul_lo_u32 v6, v6, s8\n"
    "v_add_u32 v1, v1, v6\n"
    "s_sub_u32 s8, s8, 1\n"
    "s_cmp_lg_u32 s8, 0\n"
    "s_cbranch_scc1 0\n";
const std::string by_pointers =
    "global_load_dword v6, v[2:3], off\n" + step_pointers + "s_waitcnt vmcnt(0)\n" + add;
// The difference of two elements, one 64 behind the other.
const std::string by_two_loads =
    "global_load_dword v6, v[2:3], off\n"
    "global_load_dword v7, v[2:3], off offset:256\n" +
    step_pointers +
    "s_waitcnt vmcnt(0)\n"
    "v_sub_u32 v6, v6, v7\n" +
    add;
// From s[10:11], at an index that moves by s4 elements.
const std::string by_indices =
    "v_lshlrev_b32 v6, 2, v16\n"
    "global_load_dword v6, v6, s[10:11]\n"
    "v_add_u32 v16, s4, v16\n"
    "s_waitcnt vmcnt(0)\n" +
    add;
const std::string store = "global_store_dword v30, v1, s[20:21]\ns_endpgm\n";

class LoopStepsTest : public testing::TestWithParam<Kind> {
protected:
    static constexpr uint32_t dwords = 1 << 16, iterations = 67;
    // Where lanes begin: in rows, next to each other, or both.
    enum Lanes { rows, neighbours, both, kinds };
    static uint32_t begin(Lanes kind, uint32_t lane) {
        const bool apart = kind == rows || (kind == both && lane >= 16);
        return lane * (apart ? 129 : 1);
    }
    // Elements. The first one is what the loop is translated for.
    static constexpr int64_t steps[] = {1, 2, -1, 0, 1, 3, 200, 1};

    void SetUp() override {
        for (uint32_t i = 0; i < dwords; ++i) table_[i] = i * 2654435761u;
    }

    void run(const std::string& loop) {
        jit_test::SequenceMachine machine(GetParam());
        if (!machine) GTEST_SKIP() << "this host cannot run the engine";
        machine.load(jit_test::assembled({loop + store}));
        // Once more, as only what runs often is translated.
        for (uint32_t pass = 0; pass < 2 * kinds; ++pass)
            for (const int64_t step : steps) {
                const auto kind = static_cast<Lanes>(pass % kinds);
                if (step < 0 && loop == by_indices) continue;  // they have no sign
                const auto origin = reinterpret_cast<uint64_t>(&table_[dwords / 2]);
                const uint8_t* out = machine.run(1 << 20, [&](machine::Wave& w) {
                    for (uint32_t l = 0; l < machine::lanes; ++l) {
                        const uint64_t at = origin + uint64_t{begin(kind, l)} * 4;
                        w.row(2)[l] = static_cast<uint32_t>(at);
                        w.row(3)[l] = static_cast<uint32_t>(at >> 32);
                        w.row(1)[l] = 0;
                        w.row(16)[l] = begin(kind, l);
                        w.row(30)[l] = 4 * l;
                    }
                    w.set_s64(machine::exec_lo, ~0ull);
                    const bool pointers = loop != by_indices;
                    w.set_s64(4, static_cast<uint64_t>(pointers ? 4 * step : step));
                    w.sgpr[8] = iterations;
                    w.set_s64(10, origin);
                });
                for (uint32_t l = 0; l < machine::lanes; ++l) {
                    uint32_t want = 0, got;
                    for (int64_t i = 0; i < iterations; ++i) {
                        const auto at = static_cast<size_t>(dwords / 2 + begin(kind, l) + i * step);
                        const uint32_t x =
                            loop == by_two_loads ? table_[at] - table_[at + 64] : table_[at];
                        want += x * static_cast<uint32_t>(iterations - i);
                    }
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

TEST_P(LoopStepsTest, TwoLoads) {
    run(by_two_loads);
}

TEST_P(LoopStepsTest, Indices) {
    run(by_indices);
}

// What is read ahead in rows may not be there: they end with the memory, wherever a vector of them
// begins.
TEST_P(LoopStepsTest, RowsAtTheEndOfMemory) {
    jit_test::SequenceMachine machine(GetParam());
    if (!machine) GTEST_SKIP() << "this host cannot run the engine";
    ASSERT_TRUE(machine::install_fault_handler());
    machine.load(jit_test::assembled({by_pointers + store}));
    constexpr size_t page = 4096, bytes = 16 * page;
    void* const map = mmap(nullptr, bytes + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(map, MAP_FAILED);
    ASSERT_EQ(mprotect(map, bytes, PROT_READ | PROT_WRITE), 0);
    auto* const table = static_cast<uint32_t*>(map);
    for (uint32_t i = 0; i < bytes / 4; ++i) table[i] = i * 2654435761u;
    for (const uint32_t length : {3u, 16u, 17u, 31u, 67u, 100u, 240u}) {
        const uint32_t first = bytes / 4 - machine::lanes * length;
        const uint8_t* out = machine.run(1 << 20, [&](machine::Wave& w) {
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                const auto at = reinterpret_cast<uint64_t>(table + first + l * length);
                w.row(1)[l] = 0;
                w.row(2)[l] = static_cast<uint32_t>(at);
                w.row(3)[l] = static_cast<uint32_t>(at >> 32);
                w.row(30)[l] = 4 * l;
            }
            w.set_s64(machine::exec_lo, ~0ull);
            w.set_s64(4, 4);
            w.sgpr[8] = length;
        });
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            uint32_t want = 0, got;
            for (uint32_t i = 0; i < length; ++i)
                want += table[first + l * length + i] * (length - i);
            std::memcpy(&got, out + 4 * l, 4);
            ASSERT_EQ(got, want) << length << " elements, lane " << l;
        }
    }
    munmap(map, bytes + page);
}

INSTANTIATE_TEST_SUITE_P(Engines, LoopStepsTest,
                         testing::Values(Kind::Interpreter, Kind::Avx2, Kind::Avx512), kind_name);

// Small steps become constants, others are read.
TEST(LoopSteps, AreConstants) {
    const std::vector<uint32_t> words = jit_test::assembled({by_pointers});
    for (const bool small : {true, false}) {
        machine::Wave now{};
        now.set_s64(4, small ? 4 : 1 << 20);
        const ir::Block block = jit_test::lifted(words, true, 0xf0, &now);
        const auto reads = [&](ir::Op op, uint64_t reg) {
            return std::ranges::any_of(
                block.insts, [&](const ir::Inst& i) { return i.op == op && (i.imm & 255) == reg; });
        };
        EXPECT_EQ(reads(ir::Op::GuardScalar, 4), small);
        EXPECT_EQ(reads(ir::Op::GetS32, 4), !small);
        EXPECT_FALSE(reads(ir::Op::GuardScalar, 8));  // the loop writes it
    }
}

}  // namespace
}  // namespace wj
