// What print() writes parse() reads, and what it refuses.
#include "ir/text.h"

#include <gtest/gtest.h>

#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tools/fuzz/encoding.h"
#include "tools/fuzz/generate.h"

namespace wj::ir {
namespace {

void expect_same(const Block& a, const Block& b) {
    ASSERT_EQ(a.insts.size(), b.insts.size());
    for (size_t v = 0; v < a.insts.size(); ++v) {
        const Inst &x = a.insts[v], &y = b.insts[v];
        ASSERT_TRUE(x.op == y.op && x.guest == y.guest && x.aux == y.aux && x.args == y.args &&
                    x.imm == y.imm)
            << "%" << v << "\n"
            << print(a) << print(b);
    }
    EXPECT_EQ(a.guest_pcs, b.guest_pcs);
    EXPECT_EQ(a.lane_tables, b.lane_tables);
    EXPECT_EQ(a.calls.size(), b.calls.size());
    EXPECT_EQ(a.term.kind, b.term.kind);
    EXPECT_EQ(a.term.cond, b.term.cond);
    EXPECT_EQ(a.term.target, b.term.target);
    EXPECT_EQ(a.term.next, b.term.next);
    EXPECT_EQ(a.term.exit, b.term.exit);
    EXPECT_EQ(a.term.detail, b.term.detail);
    EXPECT_STREQ(a.term.reason, b.term.reason);
    EXPECT_EQ(
        std::tuple(a.pc, a.begin_pc, a.end_pc, a.lanes, a.exec_full, a.exec_changed, a.mode_changed,
                   a.guarded, a.lanes_apart, a.guest_count, a.unordered_from, a.loads_in_order),
        std::tuple(b.pc, b.begin_pc, b.end_pc, b.lanes, b.exec_full, b.exec_changed, b.mode_changed,
                   b.guarded, b.lanes_apart, b.guest_count, b.unordered_from, b.loads_in_order));
}

void (*handler_of(Opcode op))(machine::Wave&, const wj::Inst&) {
    return interp::handler(op);
}

TEST(IrText, BlocksOfRandomInstructionsAreReadAsTheyWere) {
    using fuzz::Pool;
    for (const char* name : {"gfx900", "gfx90a", "gfx942"}) {
        const Target& target = *find_target(name);
        const fuzz::Generator generator(target);
        fuzz::Rng rng(7);
        for (int round = 0; round < 200; ++round) {
            std::vector<uint32_t> words;
            for (int n = 0; n < 30; ++n) {
                const wj::Inst inst =
                    generator.instruction(rng, static_cast<Pool>(rng() % 6), rng() & 1);
                words.insert(words.end(), inst.words.begin(), inst.words.begin() + inst.size / 4);
            }
            words.push_back(fuzz::end_of_program(target));
            constexpr uint64_t pc = 0x1000;
            auto fetch = [&](uint64_t at) {
                return std::span<const uint32_t>(words).subspan(
                    std::min<size_t>((at - pc) / 4, words.size()));
            };
            lift::InstStore store;
            lift::Options options;
            options.target = &target;
            options.agpr_count = target.traits.has_agprs ? 256 : 0;
            options.handler = &handler_of;
            options.exec_full = rng() & 1;
            const Block block = lift::lift_block(options, pc, fetch, store);
            const std::string text = print(block);
            const auto read = parse(text);
            ASSERT_TRUE(read) << read.status().message() << "\n" << text;
            expect_same(block, *read);
            EXPECT_EQ(print(*read), text);
        }
    }
}

TEST(IrText, ReadsEverythingThatABlockHas) {
    constexpr std::string_view text =
        "block 0x1000..0x1010 from 0x0ff0 instructions 4 lanes 32 unordered_from 2 guarded "
        "loads_in_order ; all of these\n"
        "    next 8 step 64 sgpr 4\n"
        "    call 0x1008 next 0x100c\n"
        "    0x1000:\n"
        "        %ones:u64 = Const64 #0xffffffffffffffff\n"
        "        %m:mask = MaskOf %ones\n"
        "    0x1004:\n"
        "        %x:v32 = GetV #3\n"
        "        %t:tuple = LoadGlobalS %ones %x %m dwordsx2 from_afar #0xfffffffffffffff0\n"
        "    0x1008:\n"
        "        Call\n"
        "    of 0:\n"
        "        %e:v32 = Elem %t #1\n"
        "        %o:tuple = AtomicLds %x %m addx1 flags 16\n"
        "        SetV %e %m #0x5 aux 0x12\n"
        "        exit trap next 0x1010 detail 2 because of no reason\n";
    // AtomicLds takes its data behind the mask.
    std::string with_data(text);
    with_data.replace(with_data.find("AtomicLds %x %m"), 15, "AtomicLds %x %m %e");
    const auto block = parse(with_data);
    ASSERT_TRUE(block) << block.status().message();
    EXPECT_EQ(block->begin_pc, 0xff0u);
    EXPECT_EQ(block->lanes, 32u);
    EXPECT_EQ(block->next.group_sgpr, 4);
    EXPECT_TRUE(block->guarded && block->loads_in_order && !block->exec_full);
    EXPECT_EQ(block->insts[3].aux, make_aux(Access::Dwords, 2) | from_afar);
    EXPECT_EQ(static_cast<int64_t>(block->insts[3].imm), -16);
    EXPECT_EQ(block->insts[5].guest, 0);
    EXPECT_EQ(block->insts[6].args[4], 5u);
    EXPECT_EQ(block->term.detail, 2u);
    EXPECT_STREQ(block->term.reason, "of no reason");
    const auto again = parse(print(*block));
    ASSERT_TRUE(again) << again.status().message();
    expect_same(*block, *again);
}

TEST(IrText, RefusesWithTheLine) {
    struct Case {
        const char *text, *error;
    };
    const std::string begin = "block 0x0..0x4\n";
    for (const auto& [text, error] : {
             Case{"%0:u32 = Nothing\n", "line 2: no operation Nothing"},
             Case{"%0:u64 = Const32 #1\n", "line 2: Const32 gives u32"},
             Case{"%0:v32 = Splat32 %1\n", "line 2: %1 is not defined before"},
             Case{"%0:u32 = Const32 #z\n", "line 2: #z: not understood"},
             Case{"%0:u32 = Const32 #1\n%0:u32 = Const32 #1\n", "line 3: %0 is defined twice"},
             Case{"jump 0x10 0x20\n", "line 2: superfluous: 0x20"},
             Case{"jump 0x10\njump 0x10\n", "line 3: something behind the block's end"},
             Case{"%0:u32 = GetS32 #1\n", "line 2: the block has no end"},
             Case{"exit somewhere\n", "line 2: exit: see the forms"},
             Case{"%0:u32 = Const32 #1\nSetS64 %0 #4\njump 0\n", "argument 0 has type u32"},
         }) {
        const auto block = parse(begin + text);
        ASSERT_FALSE(block) << text;
        EXPECT_NE(block.status().message().find(error), std::string::npos)
            << block.status().message();
    }
    EXPECT_FALSE(parse(""));
    EXPECT_FALSE(parse("blocks"));
}

}  // namespace
}  // namespace wj::ir
