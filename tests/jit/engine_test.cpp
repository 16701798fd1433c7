// Blocks and what connects them: links, budget, indirect jumps, helper calls, EXEC variants,
// invalidation, threads.
#include <thread>

#include "backend_x64/divergent_loop.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using Kind = ir::Terminator::Kind;

class EngineTest : public JitTest {};

// s0 counts down to 0 in a loop, s1 sums.
ir::Block loop_block(uint64_t pc, uint64_t next) {
    Builder b(pc);
    const Value n = b.op(Op::USub32, {b.op(Op::GetS32, {}, 0), b.c32(1)});
    b.op(Op::SetS32, {n}, 0);
    b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, 1), n})}, 1);
    b.set(3, b.op(Op::Add32, {b.v(3), b.op(Op::Splat32, {n})}));
    b.block.exec_changed = false;
    b.block.term = {.kind = Kind::Branch,
                    .cond = b.op(Op::UCmpNe32, {n, b.c32(0)}),
                    .target = pc,
                    .next = next};
    return b.block;
}

TEST_P(EngineTest, LoopResult) {
    Rig rig(GetParam());
    rig.source->blocks[0x1000] = loop_block(0x1000, 0x3000);
    rig.source->blocks[0x3000] = end_block(0x3000);
    for (uint64_t exec : {~0ull, 5ull}) {
        State s;
        s.wave.set_s64(machine::exec_lo, exec);
        s.wave.sgpr[0] = 100;
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
        EXPECT_EQ(s.wave.sgpr[0], 0u);
        EXPECT_EQ(s.wave.sgpr[1], 99u * 100 / 2);
        for (uint32_t l = 0; l < 64; ++l) EXPECT_EQ(s.wave.row(3)[l], 99u * 100 / 2);
        EXPECT_EQ(s.wave.budget, (1 << 30) - 101);
    }
    const uint32_t asked = rig.source->asked;
    State s;
    s.wave.sgpr[0] = 7;
    rig.engine->run(s.wave);
    EXPECT_EQ(rig.source->asked, asked) << "nothing is translated twice";
}

// Every iteration costs the same number of host instructions, whatever is counted besides.
TEST_P(EngineTest, CountsHostInstructions) {
    Rig rig(GetParam(), {.count = true});
    rig.source->blocks[0x1000] = loop_block(0x1000, 0x3000);
    rig.source->blocks[0x3000] = end_block(0x3000);
    auto counted = [&](uint32_t iterations, uint64_t exec) {
        const uint64_t before = rig.engine->counters().host_instructions;
        State s;
        s.wave.set_s64(machine::exec_lo, exec);
        s.wave.sgpr[0] = iterations;
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
        EXPECT_EQ(s.wave.sgpr[1], (iterations - 1) * iterations / 2);
        EXPECT_EQ(s.wave.row(3)[63], (iterations - 1) * iterations / 2);
        return rig.engine->counters().host_instructions - before;
    };
    for (const uint64_t exec : {~0ull, 5ull}) {
        counted(2, exec);  // links the blocks
        const uint64_t two = counted(2, exec), three = counted(3, exec);
        EXPECT_GT(three, two);
        EXPECT_EQ(counted(1002, exec), two + 1000 * (three - two));
    }
    const std::string listing = rig.engine->hot_blocks(2);
    EXPECT_NE(listing.find("host instructions in"), std::string::npos) << listing;
    EXPECT_NE(listing.find("vpaddd"), std::string::npos) << listing;
    EXPECT_EQ(rig.engine->counters().host_calls, 0u);
}

TEST_P(EngineTest, BudgetYieldsAndResumes) {
    Rig rig(GetParam());
    rig.source->blocks[0x1000] = loop_block(0x1000, 0x3000);
    rig.source->blocks[0x3000] = end_block(0x3000);
    State s;
    s.wave.sgpr[0] = 1000;
    uint32_t slices = 0;
    for (;; ++slices) {
        ASSERT_LT(slices, 200u);
        s.wave.budget = 10;
        const machine::ExitKind kind = rig.engine->run(s.wave);
        if (kind == machine::ExitKind::EndProgram) break;
        ASSERT_EQ(kind, machine::ExitKind::Yield) << (s.wave.exit.reason ? s.wave.exit.reason : "");
        ASSERT_LE(s.wave.budget, 0);
    }
    EXPECT_GE(slices, 90u);
    EXPECT_EQ(s.wave.sgpr[1], 999u * 1000 / 2);
}

TEST_P(EngineTest, IndirectJumps) {
    Rig rig(GetParam());
    // 0x1000: s[4:5] = s[2:3]; jump s[2:3]. The targets count and come back until s0 is 0.
    Builder head(0x1000);
    head.block.term = {.kind = Kind::Indirect, .cond = head.op(Op::GetS64, {}, 2)};
    rig.source->blocks[0x1000] = head.block;
    for (uint32_t i = 0; i < 3; ++i) {
        Builder t(0x5000 + i * 0x1000);  // the same entry of the jump table
        const Value n = t.op(Op::USub32, {t.op(Op::GetS32, {}, 0), t.c32(1)});
        t.op(Op::SetS32, {n}, 0);
        t.op(Op::SetS32, {t.op(Op::UAdd32, {t.op(Op::GetS32, {}, 10 + i), t.c32(1)})}, 10 + i);
        t.op(Op::SetS64, {t.c64(0x5000 + (i + 1) % 3 * 0x1000)}, 2);
        t.block.term = {.kind = Kind::Branch,
                        .cond = t.op(Op::UCmpEq32, {n, t.c32(0)}),
                        .target = 0x3000,
                        .next = 0x1000};
        rig.source->blocks[t.block.pc] = t.block;
    }
    rig.source->blocks[0x3000] = end_block(0x3000);
    State s;
    s.wave.sgpr[0] = 30;
    s.wave.sgpr[10] = s.wave.sgpr[11] = s.wave.sgpr[12] = 0;
    s.wave.set_s64(2, 0x5000);
    EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::EndProgram);
    for (uint32_t i = 0; i < 3; ++i) EXPECT_EQ(s.wave.sgpr[10 + i], 10u);
}

void helper(machine::Wave& w, const void* arg) {
    const auto add = *static_cast<const uint32_t*>(arg);
    for (uint32_t l = 0; l < 64; ++l) w.row(2)[l] += add;
    w.sgpr[6] += add;
    w.set_s64(machine::exec_lo, w.exec() ^ 1);
    if (add == 77) {
        w.exit.kind = machine::ExitKind::Trap;
        w.exit.detail = 3;
    }
}

// All state is in memory at a call, and is read again behind it.
TEST_P(EngineTest, Calls) {
    Rng rng(21);
    static const uint32_t five = 5, stop = 77;
    for (const uint32_t* arg : {&five, &stop}) {
        Builder b;
        const Value before = b.op(Op::Add32, {b.v(2), b.v(3)});
        const Value old = b.v(2);
        const Value mask = b.exec();
        b.set(2, before);
        b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, 6), b.c32(1)})}, 6);
        b.block.calls.push_back({&helper, arg, 0x1000, 0x1004, {}});
        b.op(Op::Call, {}, 0);
        b.set(4, b.op(Op::Add32, {b.v(2), old}));  // the row again, and the value of before
        b.op(Op::SetV, {b.op(Op::Xor32, {before, b.v(4)}), mask}, 5);
        b.op(Op::SetV, {b.v(3), b.exec()}, 7);
        b.op(Op::SetS32, {b.op(Op::GetS32, {}, 6)}, 8);
        if (arg == &five) {
            compare(b.block, rng, 5);
            continue;
        }
        Rig rig(GetParam());
        rig.source->blocks[0x1000] = b.block;
        State s;
        EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::Trap);
        EXPECT_EQ(s.wave.exit.pc, 0x1000u);
        EXPECT_EQ(s.wave.exit.detail, 3u);
        EXPECT_EQ(s.wave.pc, 0x1004u);
    }
}

TEST_P(EngineTest, ExitWithReason) {
    Builder b;
    b.block.term = {.kind = Kind::Exit,
                    .next = 0x1000,
                    .exit = machine::ExitKind::Unimplemented,
                    .reason = "s_something",
                    .detail = 9};
    Rig rig(GetParam());
    rig.source->blocks[0x1000] = b.block;
    State s;
    EXPECT_EQ(rig.engine->run(s.wave), machine::ExitKind::Unimplemented);
    EXPECT_STREQ(s.wave.exit.reason, "s_something");
    EXPECT_EQ(s.wave.exit.detail, 9u);
    EXPECT_EQ(s.wave.exit.pc, 0x1000u);
}

TEST_P(EngineTest, Invalidation) {
    Rig rig(GetParam());
    rig.source->blocks[0x1000] = loop_block(0x1000, 0x3000);
    rig.source->blocks[0x3000] = end_block(0x3000);
    State s;
    s.wave.sgpr[0] = 3;
    rig.engine->run(s.wave);
    // New code behind the loop: the link must not lead to the old one.
    Builder b(0x3000);
    b.op(Op::SetS32, {b.c32(42)}, 20);
    rig.source->blocks[0x3000] = b.block;
    rig.engine->invalidate(0x3000, 0x3004);
    s.wave.pc = 0x1000;
    s.wave.sgpr[0] = 3;
    s.wave.sgpr[20] = 0;
    rig.engine->run(s.wave);
    EXPECT_EQ(s.wave.sgpr[20], 42u);
}

TEST_P(EngineTest, ManyThreads) {
    Rig rig(GetParam());
    for (uint64_t pc = 0x1000; pc < 0x9000; pc += 0x100) {
        Builder b(pc);
        b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, 0), b.c32(1)})}, 0);
        b.set(3, b.op(Op::Add32, {b.v(3), b.op(Op::LaneId)}));
        b.block.exec_changed = false;
        b.block.term = {.kind = Kind::Jump, .target = pc + 0x100};
        rig.source->blocks[pc] = b.block;
    }
    rig.source->blocks[0x9000] = end_block(0x9000);
    std::vector<std::thread> threads;
    std::atomic<int> bad{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int round = 0; round < 20; ++round) {
                State s;
                s.wave.sgpr[0] = 0;
                if (rig.engine->run(s.wave) != machine::ExitKind::EndProgram ||
                    s.wave.sgpr[0] != 128 || s.wave.row(3)[9] != 9 * 128)
                    ++bad;
            }
        });
    for (auto& t : threads) t.join();
    EXPECT_EQ(bad, 0);
}

// Loops with uniform control: registers handed on, exchanged, merged under EXEC, only written, only
// read; masks in scalar registers; loads.
TEST_P(EngineTest, UniformLoopsKeepRegisters) {
    Rng rng(31);
    const uint32_t dword = ir::make_aux(ir::Access::Dwords, 1);
    static constexpr Op ops[] = {Op::Add32,  Op::Sub32,  Op::Xor32,  Op::Mul32,  Op::MinS32,
                                 Op::FAdd32, Op::FMul32, Op::FMax32, Op::FFma32, Op::Select32};
    for (int round = 0; round < wanted_rounds(240); ++round) {
        Builder b;
        const uint32_t rows = 2 + static_cast<uint32_t>(rng() % (round % 3 == 0 ? 36 : 12));
        // Rows of different families have nothing to do with each other.
        const uint32_t families = round % 6 == 0 ? 6 + static_cast<uint32_t>(rng() % 30) : 1;
        const bool partial = rng() % 2;
        const Value mask = partial ? b.exec() : b.full();
        const Value n = b.op(Op::USub32, {b.op(Op::GetS32, {}, 0), b.c32(1)});
        std::vector<std::vector<Value>> values(families);
        for (uint32_t r = 0; r < rows; ++r)
            if (rng() % 4) values[r % families].push_back(b.v(r));
        for (auto& family : values) {
            family.push_back(b.op(Op::Splat32, {n}));
            family.push_back(b.op(Op::Splat32, {b.op(Op::GetS32, {}, 20)}));
            family.push_back(b.op(Op::Splat32, {b.c32(random_dword(rng))}));
        }
        values[0].push_back(
            b.op(Op::Elem,
                 {b.op(Op::LoadLds,
                       {b.op(Op::And32, {values[0][0], b.op(Op::Splat32, {b.c32(0xffc)})}), mask},
                       0, dword)},
                 0));
        // Masks that iterations hand on, in pairs from s50.
        std::vector<Value> masks;
        const uint32_t handed_on = round % 3 == 1 || round % 12 == 0
                                       ? 1 + static_cast<uint32_t>(rng() % (rng() % 4 ? 4 : 10))
                                       : 0;
        for (uint32_t k = 0; k < handed_on; ++k)
            masks.push_back(b.op(Op::MaskOf, {b.op(Op::GetS64, {}, 50 + 2 * k)}));
        const size_t count = 1 + rng() % (30 + 2 * families);
        size_t family = 0;
        auto any = [&] { return values[family][rng() % values[family].size()]; };
        auto lanes_less = [&] {
            return b.op(Op::MaskAnd, {b.op(Op::CmpLtU32, {any(), any()}), mask});
        };
        for (size_t k = 0; k < count; ++k) {
            family = rng() % families;
            const Op op = ops[rng() % std::size(ops)];
            values[family].push_back(
                op == Op::FFma32     ? b.op(op, {any(), any(), any()})
                : op == Op::Select32 ? b.op(op, {b.op(Op::CmpLtS32, {any(), any()}), any(), any()})
                                     : b.op(op, {any(), any()}, op == Op::FMax32 ? 1 : 0));
            if (masks.empty() || rng() % 3) continue;
            static constexpr Op mask_ops[] = {Op::MaskAnd, Op::MaskOr, Op::MaskXor, Op::MaskAndNot};
            const size_t at = rng() % masks.size();
            const Value m = masks[at];
            if (rng() % 2) {
                masks[at] = b.op(mask_ops[rng() % 4], {m, lanes_less()});
                if (rng() % 4 == 0) masks.push_back(m);  // is read behind its next value
            } else {
                values[family].push_back(b.op(Op::Select32, {m, any(), any()}));
            }
        }
        for (uint32_t k = 0; k < handed_on; ++k) {  // one may stay, or be exchanged with another
            const Value m = masks[rng() % 8 ? k : rng() % masks.size()];
            const ir::Inst& made = b.block.insts[m];
            if (made.op != Op::MaskOf)
                b.op(Op::SetS64, {b.op(Op::BitsOf, {m})}, 50 + 2 * k);
            else if (rng() % 8 == 0)
                b.op(Op::SetS64, {made.args[0]}, 50 + 2 * k);
        }
        for (uint32_t r = 0; r < rows; ++r) {
            family = r % families;
            if (rng() % 3 == 0) continue;
            const bool under = !masks.empty() && rng() % 3 == 0;
            const Value m = under ? masks[rng() % masks.size()] : mask;
            b.op(Op::SetV, {any(), under ? b.op(Op::MaskAnd, {m, mask}) : m}, r);
        }
        family = 0;
        b.op(Op::SetS32, {n}, 0);
        b.op(Op::SetS32, {b.op(Op::UXor32, {b.op(Op::GetS32, {}, 1), n})}, 1);
        for (uint32_t k = 0; k < rng() % 3; ++k)  // masks that nobody in the loop reads
            b.op(Op::SetS64, {b.op(Op::BitsOf, {lanes_less()})}, 40 + 2 * k);
        const Value more = b.op(Op::UCmpNe32, {n, b.c32(0)});
        if (round % 2) b.op(Op::SetScc, {more});
        b.block.exec_changed = false;
        if (rng() % 2)
            b.block.term = {.kind = Kind::Branch, .cond = more, .target = 0x1000, .next = 0x3000};
        else
            b.block.term = {.kind = Kind::Branch,
                            .cond = b.op(Op::UCmpEq32, {n, b.c32(0)}),
                            .target = 0x3000,
                            .next = 0x1000};
        ASSERT_EQ(ir::verify(b.block), "");

        Rig rig(GetParam(), {.loop_chunks = static_cast<uint32_t>(round % 3) * 2});
        rig.source->blocks[0x1000] = b.block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        State start, model, run;
        randomise(start, rng);
        start.wave.sgpr[0] = 1 + static_cast<uint32_t>(rng() % 9);
        if (partial && rng() % 3) start.wave.set_s64(machine::exec_lo, random_mask(rng));
        run_loop(rig, b.block, start, round % 5 ? 1000 : 2, 20, model, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model))
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
    }
}

// Loops that run while lanes are left: rows and masks handed on, masks that are zero at the end and
// masks that are not, registers that iterations change. Lanes come together in the meantime.
TEST_P(EngineTest, DivergentLoopsKeepMasks) {
    Rng rng(32);
    const int rounds = wanted_rounds(400);
    int in_slices = 0;
    static constexpr Op ops[] = {Op::Add32,  Op::Sub32,  Op::Xor32,
                                 Op::FAdd32, Op::FMul32, Op::FFma32};
    for (int round = 0; round < rounds; ++round) {
        Builder b;
        for (uint64_t k = rng() % 4; k; --k) b.next_guest(b.block.end_pc);
        const Value exec = b.exec(), old = b.op(Op::MaskOf, {b.op(Op::GetS64, {}, 6)});
        const uint32_t rows = 3 + static_cast<uint32_t>(rng() % 8);
        std::vector<Value> values, masks;
        for (uint32_t r = 1; r < rows; ++r) values.push_back(b.v(r));
        values.push_back(b.op(Op::Splat32, {b.op(Op::GetS32, {}, 20)}));
        if (rng() % 2) {
            const Value sum = b.op(Op::UAdd32, {b.op(Op::GetS32, {}, 21), b.c32(7)});
            b.op(Op::SetS32, {sum}, 21);
            values.push_back(b.op(Op::Splat32, {sum}));
        }
        auto any = [&] { return values[rng() % values.size()]; };
        for (size_t k = rng() % 12; k; --k) {
            const Op op = ops[rng() % std::size(ops)];
            values.push_back(op == Op::FFma32 ? b.op(op, {any(), any(), any()})
                                              : b.op(op, {any(), any()}));
        }
        // Row 0 counts the iterations that are left to the lane.
        const Value left = b.op(Op::Sub32, {b.v(0), b.op(Op::Splat32, {b.c32(1)})});
        const Value none = b.op(Op::CmpEq32, {left, b.op(Op::Splat32, {b.c32(0)})});
        const Value done = b.op(Op::MaskAnd, {none, exec});
        const Value all = b.op(Op::MaskOr, {done, old});
        const Value live = b.op(Op::MaskAndNot, {exec, all});
        const Value some = b.op(Op::MaskAnd, {b.op(Op::CmpLtU32, {any(), any()}), exec});
        b.op(Op::SetV, {left, exec}, 0);
        for (uint32_t r = 1; r < rows; ++r)
            if (rng() % 3) b.op(Op::SetV, {any(), rng() % 2 ? exec : some}, r);
        b.op(Op::SetS64, {b.op(Op::BitsOf, {all})}, 6);
        b.op(Op::SetS64, {b.op(Op::BitsOf, {some})}, 106);
        b.loop_while_lanes(live, 0x3000);
        ASSERT_EQ(ir::verify(b.block), "");
        ASSERT_TRUE(x64::find_divergent_loop(b.block));

        const auto slice = static_cast<uint32_t>(rng() % 5);
        in_slices += slice && x64::find_ordered_loop(b.block);
        Rig rig(GetParam(),
                {.loop_chunks = static_cast<uint32_t>(round % 3) * 2, .slice_iterations = slice});
        rig.source->blocks[0x1000] = b.block;
        Builder behind(0x3000);  // a row that the loop writes, with another that it may write
        behind.set(1, behind.op(Op::Add32, {behind.v(0), behind.v(2)}));
        rig.source->blocks[0x3000] = behind.block;
        State start, model, run;
        randomise(start, rng);
        for (uint32_t lane = 0; lane < 64; ++lane)
            start.wave.vgpr[lane] = 1 + static_cast<uint32_t>(rng() % (1 + lane % 24));
        if (rng() % 3) start.wave.set_s64(machine::exec_lo, random_mask(rng));
        const int64_t instructions = run_model(b.block, start, model);
        ir::evaluate(behind.block, model.wave);
        run_slices(rig, b.block, start, 1000, 100, instructions, run);  // links both blocks
        run_slices(rig, b.block, start, round % 5 ? 1000 : 2, 100, instructions, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model))
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
    }
    EXPECT_GT(in_slices, rounds / 2);
}

WJ_JIT_TESTS(EngineTest);

}  // namespace
}  // namespace wj::jit_test
