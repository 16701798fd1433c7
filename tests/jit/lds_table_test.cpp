// Tables in the LDS that are looked up by what was loaded (BlockCompiler::find_lds_tables): lanes
// that have no pattern, or one at times, within the LDS, at its end and beyond.
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

class LdsTableTest : public JitTest {
protected:
    static constexpr uint64_t end_pc = 0x3000;

    // Looks up some elements, each by what was loaded before it, and adds them up; in a loop or
    // once. What lanes begin with is a pattern, or none.
    static ir::Block block(Rng& rng, State& start, bool loop) {
        Builder b;
        auto constant = [&](uint32_t c) { return b.op(Op::Splat32, {b.c32(c)}); };
        const bool partial = rng() % 4;
        if (!partial || rng() % 8 == 0) start.wave.set_s64(machine::exec_lo, ~0ull);
        const Value exec = partial ? b.exec() : b.full();
        constexpr uint32_t from = 2, sum = 3;
        const uint32_t apart = static_cast<uint32_t>(rng() % 4) * 4;
        for (uint32_t lane = 0; lane < machine::lanes; ++lane)
            start.wave.vgpr[from * machine::lanes + lane] =
                rng() % 3 ? lane * apart : static_cast<uint32_t>(rng());
        // Elements that are alike make patterns of what is looked up next.
        if (rng() % 3 == 0)
            for (uint32_t at = 0; at < lds_bytes; at += 4) std::memcpy(&start.lds[at], &at, 4);
        Value x = b.v(from), all = b.v(sum);
        for (uint64_t n = 1 + rng() % 10; n; --n) {
            static constexpr uint32_t ends[] = {0xfc, 0xffc, 0xffc, 0x1ffc, 0xffffffff};
            const Value address = b.op(Op::And32, {x, constant(ends[rng() % std::size(ends)])});
            const auto dwords = static_cast<uint32_t>(rng() % 2 ? 1 : 1 + rng() % 4);
            const uint32_t imm = rng() % 2 ? 0 : static_cast<uint32_t>(rng() % 64) * 4;
            const Value loaded =
                b.op(Op::LoadLds, {address, exec}, imm, ir::make_aux(ir::Access::Dwords, dwords));
            for (uint32_t d = 0; d < dwords; ++d) {
                const Value element = b.op(Op::Elem, {loaded}, d);
                all = b.op(Op::Add32, {b.op(Op::Mul32, {all, constant(5)}), element});
                x = rng() % 3 ? element : b.op(Op::Xor32, {x, element});
            }
        }
        b.op(Op::SetV, {x, exec}, from);
        b.op(Op::SetV, {all, exec}, sum);
        if (loop) {
            start.wave.sgpr[0] = 1 + static_cast<uint32_t>(rng() % 8);
            b.repeat_s0_times(end_pc);
        } else {
            b.block.term = {.kind = ir::Terminator::Kind::Jump, .target = end_pc};
        }
        return b.block;
    }
};

TEST_P(LdsTableTest, LookedUpByWhatWasLoaded) {
    const int rounds = wanted_rounds(1500);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        State start, model, run;
        randomise(start, rng);
        const ir::Block block = LdsTableTest::block(rng, start, round % 2);
        ASSERT_EQ(ir::verify(block), "");
        Rig rig(GetParam(), {.loop_chunks = static_cast<uint32_t>(rng() % 3) * 2});
        rig.source->blocks[block.pc] = block;
        rig.source->blocks[end_pc] = end_block(end_pc);
        run_loop(rig, block, start, 1000, 100, model, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << ir::print(block);
    }
}

WJ_JIT_TESTS(LdsTableTest);

}  // namespace
}  // namespace wj::jit_test
