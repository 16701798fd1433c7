// Regions that keep more values than there are registers, as tiles of matrices do: they are run
// result by result (Schedule::order_for_registers). Rows that are read late and written early, and
// written twice; loads of the LDS by lines and by anything; masks; values that later regions want.
#include <set>
#include <utility>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

class RegionOrderTest : public JitTest {
protected:
    static constexpr uint64_t end_pc = 0x3000;
    static constexpr uint32_t first_address = 36;

    static Value combine(Builder& b, Rng& rng, Value x, Value y, Value z) {
        switch (rng() % 8) {
            case 0:
                return b.op(Op::Add32, {b.op(Op::Mul32, {x, y}), z});
            case 1:
                return b.op(Op::Xor32, {z, b.op(Op::Sub32, {x, y})});
            case 2:
                return b.op(Op::Select32, {b.op(Op::CmpLtU32, {x, y}), z, x});
            case 3:
                return b.op(Op::Lo, {b.op(Op::Add64,
                                          {b.op(Op::Pack64, {x, z}), b.op(Op::Pack64, {y, x})})});
            default:
                return b.op(Op::FFma32, {x, y, z});
        }
    }

    // Sums of products of loaded rows and columns.
    static ir::Block block(Rng& rng, State& start) {
        Builder b;
        if (rng() % 4) start.wave.set_s64(machine::exec_lo, ~0ull);
        // What lanes that are off load means nothing.
        const Value exec = b.exec(), loaded = rng() % 2 ? exec : b.full();
        auto some = [&] { return loaded == exec || rng() % 2 ? exec : loaded; };
        for (uint32_t row = first_address; row < vgprs; ++row) {
            const auto step = static_cast<uint32_t>(rng() % 3) * 4;
            for (uint32_t lane = 0; lane < machine::lanes; ++lane)
                start.wave.vgpr[row * machine::lanes + lane] =
                    step || rng() % 2 ? lane * step
                                      : static_cast<uint32_t>(rng() % lds_bytes) & ~3u;
        }
        auto load = [&](std::vector<Value>& to) {
            const auto dwords = static_cast<uint32_t>(1 + rng() % 4);
            const Value address = b.v(first_address + static_cast<uint32_t>(rng() % 4));
            const Value tuple = b.op(Op::LoadLds, {address, loaded}, rng() % 64 * 16,
                                     ir::make_aux(ir::Access::Dwords, dwords));
            for (uint32_t d = 0; d < dwords; ++d) to.push_back(b.op(Op::Elem, {tuple}, d));
        };
        const auto across = static_cast<uint32_t>(1 + rng() % 8),
                   down = static_cast<uint32_t>(1 + rng() % (first_address / across));
        // The lifter writes no value twice to a row without a call in between.
        std::set<std::pair<Value, uint32_t>> written;
        auto set = [&](Value v, uint32_t row) {
            if (written.emplace(v, row).second) b.op(Op::SetV, {v, some()}, row);
        };
        std::vector<Value> sums;
        for (uint32_t n = 0; n < across * down; ++n) sums.push_back(b.v(n));
        for (uint64_t steps = 1 + rng() % 2; steps; --steps) {
            std::vector<Value> x, y;
            while (x.size() < across) load(x);
            while (y.size() < down) load(y);
            for (uint32_t n = 0; n < sums.size(); ++n)
                if (rng() % 8) sums[n] = combine(b, rng, x[n % across], y[n / across], sums[n]);
            // Rows that are written in between, and read before or behind that.
            for (uint64_t rows = rng() % 6; rows; --rows) {
                const auto n = static_cast<uint32_t>(rng() % sums.size());
                const auto row = static_cast<uint32_t>(rng() % 2 ? n : rng() % sums.size());
                set(sums[n], row);
                if (rng() % 2) sums[n] = b.v(row);
            }
            // What comes behind a store is a region of its own.
            if (rng() % 4 == 0)
                b.op(Op::StoreLds, {b.v(first_address), exec}, 0,
                     ir::make_aux(ir::Access::Dwords, 1), {sums[rng() % sums.size()]});
        }
        // Mostly where they came from.
        const bool exchanged = rng() % 3 == 0;
        for (uint32_t n = 0; n < sums.size(); ++n) {
            const auto row = static_cast<uint32_t>(exchanged ? rng() % sums.size() : n);
            set(sums[n], row);
        }
        b.block.term = {.kind = ir::Terminator::Kind::Jump, .target = end_pc};
        return b.block;
    }
};

TEST_P(RegionOrderTest, SumsOfProducts) {
    const int rounds = wanted_rounds(600);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        State start, model, run;
        randomise(start, rng);
        const ir::Block block = RegionOrderTest::block(rng, start);
        ASSERT_EQ(ir::verify(block), "");
        Rig rig(GetParam());
        rig.source->blocks[block.pc] = block;
        rig.source->blocks[end_pc] = end_block(end_pc);
        run_loop(rig, block, start, 1000, 100, model, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << ir::print(block);
    }
}

WJ_JIT_TESTS(RegionOrderTest);

}  // namespace
}  // namespace wj::jit_test
