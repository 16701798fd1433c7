// The correctly rounded square root that LLVM writes out (lift/root.h), and constants that loops
// keep in registers: the translators give the bits of the interpreter, which executes instruction
// by instruction, whether the registers hold what they hold in most waves or not.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <sstream>

#include "tests/jit/sequence_machine.h"

namespace wj {
namespace {

using jit_test::Kind;
using jit_test::kind_name;
using jit_test::Rng;

// v0 -> v1; s6: 2^-96, v8: the classes of zeros and +infinity.
const std::string constants =
    "s_mov_b32 s6, 0xf800000\n"
    "v_mov_b32 v8, 0x260\n";
const std::string sequence =
    "v_mul_f32 v2, 0x4f800000, v0\n"
    "v_cmp_gt_f32 vcc, s6, v0\n"
    "v_cndmask_b32 v2, v0, v2, vcc\n"
    "v_sqrt_f32 v3, v2\n"
    "v_add_u32 v4, -1, v3\n"
    "v_add_u32 v5, 1, v3\n"
    "v_fma_f32 v6, -v4, v3, v2\n"
    "v_fma_f32 v7, -v5, v3, v2\n"
    "v_cmp_ge_f32 s[0:1], 0, v6\n"
    "v_cndmask_b32 v3, v3, v4, s[0:1]\n"
    "v_cmp_lt_f32 s[0:1], 0, v7\n"
    "v_cndmask_b32 v3, v3, v5, s[0:1]\n"
    "v_mul_f32 v4, 0x37800000, v3\n"
    "v_cndmask_b32 v3, v3, v4, vcc\n"
    "v_cmp_class_f32 vcc, v2, v8\n"
    "v_cndmask_b32 v1, v3, v2, vcc\n";
// Of v11 and v12 by selectors in s7 and v13.
const std::string bytes =
    "v_perm_b32 v14, v11, v12, s7\n"
    "v_perm_b32 v15, v12, v11, v13\n"
    "v_xor_b32 v11, v15, v14\n";
const std::string store =
    "global_store_dword v30, v1, s[20:21]\n"
    "global_store_dword v30, v11, s[20:21] offset:256\n"
    "s_endpgm\n";
// Sums over iterations, whose arguments are next to each other; for all lanes or as long as each
// wants to.
const std::string next =
    "v_add_u32 v0, v0, v9\nv_xor_b32 v10, v10, v1\nv_mul_lo_u32 v10, v10, v9\n";
const std::string all_lanes = next + "s_sub_u32 s8, s8, 1\ns_cmp_lg_u32 s8, 0\ns_cbranch_scc1 0\n";
const std::string some_lanes = next +
                               "v_add_u32 v16, -1, v16\n"
                               "v_cmp_lt_i32 vcc, 0, v16\n"
                               "s_and_b64 exec, exec, vcc\n"
                               "s_cbranch_execnz 0\n"
                               "s_mov_b64 exec, s[10:11]\n";
const std::string sums = "v_mov_b32 v1, v10\n";

std::vector<uint32_t> assembled(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return jit_test::assembled(lines);
}

struct Registers {
    uint32_t x[64] = {}, classes[64] = {}, selectors[64] = {}, iterations[64] = {};
    uint32_t smallest = 0x0f800000, selector = 0x05010400, step = 1;
    uint64_t exec = ~0ull;
};

class Machine : public jit_test::SequenceMachine {
public:
    using SequenceMachine::SequenceMachine;

    // What the program stores.
    std::vector<uint32_t> run(const Registers& r) {
        const uint8_t* const out = SequenceMachine::run(100000, [&](machine::Wave& w) {
            for (uint32_t l = 0; l < 64; ++l) {
                w.row(0)[l] = r.x[l];
                w.row(8)[l] = r.classes[l];
                w.row(9)[l] = r.step;
                w.row(13)[l] = r.selectors[l];
                w.row(16)[l] = r.iterations[l];
                w.row(30)[l] = l * 4;
            }
            w.set_s64(machine::exec_lo, r.exec);
            w.sgpr[6] = r.smallest;
            w.sgpr[7] = r.selector;
            w.sgpr[8] = 5;
            w.set_s64(10, r.exec);
        });
        std::vector<uint32_t> stored(128);
        std::memcpy(stored.data(), out, stored.size() * 4);
        return stored;
    }
};

// Near the ends of the format and of what is scaled, squares and their neighbours, any.
uint32_t argument(Rng& rng) {
    const auto any = static_cast<uint32_t>(rng());
    switch (rng() % 6) {
        case 0:
            return jit_test::random_dword(rng);
        case 1:
            return (any & 0x807fffff) | (28u + any % 6) << 23;
        case 2:
            return any & 0x800fffff;
        case 3:
            return 0x7f800000 - any % 64;
        case 4: {
            const float root = static_cast<float>(any >> 20);
            return std::bit_cast<uint32_t>(root * root) + any % 5 - 2;
        }
        default:
            return any;
    }
}

// The host's root, with the rule of docs/reference/float.md for NaN.
uint32_t host_root(uint32_t x) {
    const float f = std::bit_cast<float>(x);
    if (std::isnan(f)) return x | 0x400000;
    if (f < 0) return 0xffc00000;
    return std::bit_cast<uint32_t>(std::sqrt(f));
}

class RootSequenceTest : public testing::TestWithParam<Kind> {
protected:
    void SetUp() override {
        if (!machine_) GTEST_SKIP() << "this host cannot run the engine";
    }
    void load(const std::string& text) {
        const std::vector<uint32_t> words = assembled(text);
        machine_.load(words);
        interpreter_.load(words);
    }
    void fill(Registers& r) {
        for (uint32_t l = 0; l < 64; ++l) {
            r.x[l] = argument(rng_);
            r.classes[l] = 0x260;
            r.selectors[l] = 0x07020c05;
            r.iterations[l] = 1 + static_cast<uint32_t>(rng_() % 9);
        }
    }
    Machine machine_{GetParam()}, interpreter_{Kind::Interpreter};
    Rng rng_{5};
};

TEST_P(RootSequenceTest, IsTheRoot) {
    load(constants + sequence + store);
    for (int round = 0; round < 4000; ++round) {
        Registers r;
        fill(r);
        const std::vector<uint32_t> out = machine_.run(r);
        for (uint32_t l = 0; l < 64; ++l)
            ASSERT_EQ(out[l], host_root(r.x[l])) << std::hex << r.x[l];
    }
}

TEST_P(RootSequenceTest, AsTheInterpreter) {
    struct Change {
        std::string from, to;
    };
    // What is almost the same.
    static const Change changes[] = {{"", ""},
                                     {"0x4f800000", "0x4f000000"},
                                     {"0x37800000", "0x38000000"},
                                     {"v_cmp_gt_f32 vcc, s6", "v_cmp_lt_f32 vcc, s6"},
                                     {"v_add_u32 v4, -1", "v_add_u32 v4, -2"},
                                     {"v_add_u32 v5, 1", "v_add_u32 v5, 2"},
                                     {"-v4, v3, v2", "-v4, v3, v0"},
                                     {"-v5, v3, v2", "v5, v3, v2"},
                                     {"v_cmp_ge_f32 s[0:1], 0", "v_cmp_gt_f32 s[0:1], 0"},
                                     {"v_cmp_ge_f32 s[0:1], 0", "v_cmp_ge_f32 s[0:1], 1.0"},
                                     {"v_cmp_lt_f32 s[0:1], 0", "v_cmp_ge_f32 s[0:1], 0"},
                                     {"v_cndmask_b32 v1, v3, v2", "v_cndmask_b32 v1, v2, v3"},
                                     {"vcc, v2, v8", "vcc, v3, v8"}};
    const std::string bodies[] = {sequence + store, sequence + bytes + all_lanes + sums + store,
                                  sequence + bytes + some_lanes + sums + store};
    for (const Change& change : changes)
        for (const std::string& body : bodies) {
            std::string text = body;
            if (const size_t at = text.find(change.from); !change.from.empty())
                text.replace(at, change.from.size(), change.to);
            load(text);
            for (int round = 0; round < 60; ++round) {
                Registers r;
                fill(r);
                if (rng_() % 3 == 0) r.exec = rng_();
                // Registers are as in most waves to begin with; then one is not.
                switch (round < 4 ? 0 : rng_() % 8) {
                    case 1:
                        r.smallest = rng_() % 2 ? 0x0f800001 : static_cast<uint32_t>(rng_());
                        break;
                    case 2:
                        for (uint32_t& c : r.classes) c = 0x261;
                        break;
                    case 3:
                        r.classes[rng_() % 64] = static_cast<uint32_t>(rng_() & 0x3ff);
                        break;
                    case 4:
                        r.selector = static_cast<uint32_t>(rng_()) & 0x0f0f0f0f;
                        break;
                    case 5:
                        r.selectors[rng_() % 64] = static_cast<uint32_t>(rng_()) & 0x0f0f0f0f;
                        break;
                    default:
                        break;
                }
                ASSERT_EQ(machine_.run(r), interpreter_.run(r)) << change.to << '\n'
                                                                << body << std::hex << r.exec;
            }
        }
}

INSTANTIATE_TEST_SUITE_P(Engines, RootSequenceTest,
                         testing::Values(Kind::Interpreter, Kind::Avx2, Kind::Avx512), kind_name);

// One operation is left of the sequence.
TEST(RootSequence, IsRecognised) {
    const std::vector<uint32_t> words = assembled(constants + sequence + store);
    for (const bool exec_full : {false, true}) {
        const ir::Block block = jit_test::lifted(words, exec_full, 0xf0);
        size_t roots = 0, others = 0;
        for (const ir::Inst& i : block.insts) {
            roots += i.op == ir::Op::FSqrt32;
            others += i.op == ir::Op::FFma32 || i.op == ir::Op::FMul32 || i.op == ir::Op::Select32;
        }
        EXPECT_EQ(roots, 1u) << ir::print(block);
        EXPECT_EQ(others, 0u) << ir::print(block);
    }
}

}  // namespace
}  // namespace wj
