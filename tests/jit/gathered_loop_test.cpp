// Loops whose lanes store where others load: those that are on run moved together
// (backend_x64/gathered_lanes.h), in their order.
#include <cstring>
#include <vector>

#include "backend_x64/divergent_loop.h"
#include "ir/atomic.h"
#include "tests/jit/guarded_page.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t dword = ir::make_aux(ir::Access::Dwords, 1);

class GatheredLoopTest : public JitTest {
protected:
    static constexpr uint32_t table_dwords = 64;  // few: lanes meet
    static constexpr uint32_t base = 22, counter = 20, numbers = 10, number_count = 4, sum = 4,
                              steady_mask = 30, carried_mask = 32, seen_mask = 34, iterations = 8;

    // Rows `counter` say how many iterations lanes stay for.
    struct Loop {
        Builder b;
        Rng& rng;
        Value exec = ir::no_value;
        std::vector<Value> values{}, masks{};

        Value constant(uint32_t c) { return b.op(Op::Splat32, {b.c32(c)}); }
        Value value() { return values[rng() % values.size()]; }
        Value lanes() { return masks[rng() % masks.size()]; }
        Value index() {
            return b.op(Op::Shl32,
                        {b.op(Op::And32, {value(), constant(table_dwords - 1)}), constant(2)});
        }
        void access() {
            const Value at = index(), mask = lanes(), from = b.op(Op::GetS64, {}, base);
            static constexpr ir::AtomicOp ops[] = {ir::AtomicOp::Add, ir::AtomicOp::Swap,
                                                   ir::AtomicOp::UMax, ir::AtomicOp::Xor};
            const uint32_t atomic = ir::make_atomic_aux(ops[rng() % 4], 1);
            switch (rng() % 6) {
                case 0:
                    b.op(Op::StoreGlobalS, {from, at, mask}, 0, dword, {value()});
                    return;
                case 1:
                    b.op(Op::StoreLds, {at, mask}, 0, dword, {value()});
                    return;
                case 2:
                    add(b.op(Op::LoadGlobalS, {from, at, mask}, 0, dword), mask);
                    return;
                case 3:
                    add(b.op(Op::LoadLds, {at, mask}, 0, dword), mask);
                    return;
                case 4:
                    add(b.op(Op::AtomicGlobalS, {from, at, mask}, 0, atomic, {value()}), mask);
                    return;
                default:
                    add(b.op(Op::AtomicLds, {at, mask}, 0, atomic, {value()}), mask);
            }
        }
        // Lanes that are off have nothing that is defined.
        void add(Value loaded, Value mask) {
            values.push_back(b.op(Op::Select32, {mask, b.op(Op::Elem, {loaded}, 0), constant(77)}));
        }
        void compute() {
            static constexpr Op ops[] = {Op::Add32, Op::Xor32, Op::Mul32, Op::Sub32};
            values.push_back(b.op(ops[rng() % 4], {value(), value()}));
            if (rng() % 2) {
                const Value compare = b.op(Op::CmpLtU32, {value(), value()});
                masks.push_back(b.op(Op::MaskAnd, {compare, exec}));
            }
        }
        void make() {
            exec = b.exec();
            masks.push_back(exec);
            for (uint32_t n = 0; n < number_count; ++n) values.push_back(b.v(numbers + n));
            values.push_back(b.op(Op::Splat32, {b.op(Op::GetS32, {}, sum)}));
            if (rng() % 2) {
                const Value steady = b.op(Op::MaskOf, {b.op(Op::GetS64, {}, steady_mask)});
                masks.push_back(b.op(Op::MaskAnd, {steady, exec}));
            }
            b.op(Op::StoreGlobalS, {b.op(Op::GetS64, {}, base), index(), lanes()}, 0, dword,
                 {value()});
            for (uint64_t n = 2 + rng() % 6; n-- > 0;) rng() % 2 ? access() : compute();
            for (uint32_t n = 0; n < number_count; ++n)
                if (rng() % 2) b.op(Op::SetV, {value(), rng() % 4 ? exec : lanes()}, numbers + n);
            if (rng() % 2)
                b.op(Op::SetS32, {b.op(Op::UAdd32, {b.op(Op::GetS32, {}, sum), b.c32(7)})}, sum);
            if (rng() % 2) b.op(Op::SetS64, {b.op(Op::BitsOf, {lanes()})}, seen_mask);
            const Value left = b.op(Op::Sub32, {b.v(counter), constant(1)});
            b.op(Op::SetV, {left, exec}, counter);
            const Value done = b.op(Op::MaskAnd, {b.op(Op::CmpEq32, {left, constant(0)}), exec});
            if (rng() % 2) {  // lanes that have left
                const Value before = b.op(Op::MaskOf, {b.op(Op::GetS64, {}, carried_mask)}),
                            all = b.op(Op::MaskOr, {done, before});
                b.op(Op::SetS64, {b.op(Op::BitsOf, {all})}, carried_mask);
                b.loop_while_lanes(b.op(Op::MaskAndNot, {exec, all}), 0x3000);
            } else {
                b.loop_while_lanes(b.op(Op::MaskAndNot, {exec, done}), 0x3000);
            }
        }
    };

    static void prepare_wave(State& s, Rng& rng, uint32_t* table) {
        randomise(s, rng);
        s.wave.set_s64(base, reinterpret_cast<uint64_t>(table));
        const uint64_t lanes = rng() % 8 ? rng() & (rng() % 2 ? ~0ull : rng()) : random_mask(rng);
        s.wave.set_s64(machine::exec_lo, lanes);
        s.wave.set_s64(carried_mask, rng() & ~lanes);
        for (uint32_t l = 0; l < machine::lanes; ++l)
            s.wave.row(counter)[l] = 1 + static_cast<uint32_t>(rng() % iterations);
    }
};

TEST_P(GatheredLoopTest, RandomLoops) {
    const int rounds = wanted_rounds(600);
    int found = 0;
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        Loop loop{Builder(), rng};
        loop.make();
        const ir::Block& block = loop.b.block;
        ASSERT_EQ(ir::verify(block), "") << ir::print(block);
        found += x64::find_ordered_loop(block).has_value();
        alignas(64) uint32_t table[table_dwords], start_table[table_dwords],
            model_table[table_dwords];
        for (uint32_t& x : start_table) x = static_cast<uint32_t>(rng());
        State start, model, run;
        prepare_wave(start, rng, table);
        std::memcpy(table, start_table, sizeof table);
        const int64_t instructions = run_model(block, start, model);
        std::memcpy(model_table, table, sizeof table);
        std::memcpy(table, start_table, sizeof table);
        Rig rig(GetParam());
        rig.source->blocks[block.pc] = block;
        rig.source->blocks[0x3000] = end_block(0x3000);
        run_slices(rig, block, start, round % 3 ? 10000 : 3, 400, instructions, run);
        if (HasFatalFailure()) return;
        ASSERT_TRUE(same(run, model)) << hex(start.wave.exec()) << '\n' << ir::print(block);
        for (uint32_t n = 0; n < table_dwords; ++n)
            ASSERT_EQ(table[n], model_table[n]) << n << '\n' << ir::print(block);
    }
    EXPECT_GT(found, rounds / 2);
}

// Of a fault the lanes are those of the wave, and its registers are where they belong.
TEST_P(GatheredLoopTest, Fault) {
    Rng rng(1);
    const PageBetweenHoles page(rng);
    ASSERT_TRUE(page.begin);
    Builder b;
    const Value exec = b.exec(), step = b.op(Op::Splat32, {b.c32(4)}), at = b.v(2);
    b.op(Op::StoreGlobalS, {b.op(Op::GetS64, {}, base), at, exec}, 0, dword, {b.v(3)});
    b.op(Op::SetV, {b.op(Op::Add32, {at, step}), exec}, 2);
    const Value left = b.op(Op::Sub32, {b.v(counter), b.op(Op::Splat32, {b.c32(1)})});
    b.op(Op::SetV, {left, exec}, counter);
    const Value done = b.op(Op::CmpEq32, {left, b.op(Op::Splat32, {b.c32(0)})});
    b.loop_while_lanes(b.op(Op::MaskAndNot, {exec, done}), 0x3000);
    ASSERT_TRUE(x64::find_ordered_loop(b.block));
    for (const uint32_t culprit : {5u, 37u, 63u}) {
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        State s;
        randomise(s, rng);
        s.wave.set_s64(base, reinterpret_cast<uint64_t>(page.begin));
        s.wave.set_s64(machine::exec_lo, 1ull << 5 | 1ull << 21 | 1ull << 37 | 1ull << 63);
        const std::vector<uint32_t> before(s.wave.row(2), s.wave.row(2) + machine::lanes);
        for (const uint32_t l : {5u, 21u, 37u, 63u}) {
            s.wave.row(2)[l] = l == culprit ? PageBetweenHoles::bytes - 8 : l * 16;
            s.wave.row(counter)[l] = 10;
        }
        rig.engine->run(s.wave);
        ASSERT_EQ(s.wave.exit.kind, machine::ExitKind::MemoryFault);
        EXPECT_EQ(s.wave.exit.address,
                  reinterpret_cast<uint64_t>(page.begin) + PageBetweenHoles::bytes);
        EXPECT_TRUE(s.wave.exit.lane_mask >> culprit & 1) << hex(s.wave.exit.lane_mask);
        EXPECT_EQ(s.wave.exit.lane_mask & ~s.wave.exec(), 0u);
        EXPECT_EQ(s.wave.exec(), 1ull << 5 | 1ull << 21 | 1ull << 37 | 1ull << 63);
        for (uint32_t l = 0; l < machine::lanes; ++l) {
            const bool on = s.wave.exec() >> l & 1;
            const uint32_t want = !on            ? before[l]
                                  : l == culprit ? PageBetweenHoles::bytes
                                                 : l * 16 + 8;
            EXPECT_EQ(s.wave.row(2)[l], want) << l;
        }
    }
}

WJ_JIT_TESTS(GatheredLoopTest);

}  // namespace
}  // namespace wj::jit_test
