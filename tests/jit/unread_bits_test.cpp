// Masks of bits that nobody reads (ir::drop_unread_masks()).
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

// Random arithmetic whose results are stored as bytes, words and dwords: the same without the masks
// that are left out.
TEST(UnreadBits, RandomArithmetic) {
    const int rounds = wanted_rounds(3000);
    int left_out = 0;
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        Builder b;
        const Value exec = b.exec();
        auto constant = [&](uint32_t c) { return b.op(Op::Splat32, {b.c32(c)}); };
        static constexpr uint32_t masks[] = {0xff,       0xffff,   0xff00, 0x7f,
                                             0xffff0000, 0xff0000, 1,      0x7fffffff};
        std::vector<Value> values{b.v(1), b.v(2), b.v(3), constant(random_dword(rng))};
        auto any = [&] {
            return values[values.size() - 1 - rng() % std::min<size_t>(5, values.size())];
        };
        for (uint64_t n = 3 + rng() % 12; n; --n) {
            static constexpr Op binary[] = {Op::Add32, Op::Sub32, Op::Mul32, Op::Or32, Op::Xor32};
            static constexpr Op shifts[] = {Op::Shl32, Op::Shr32, Op::Sar32};
            Value made = ir::no_value;
            switch (rng() % 8) {
                case 0:
                case 1:
                case 2:
                    made = rng() % 2 ? b.op(Op::And32, {any(), constant(masks[rng() % 8])})
                                     : b.op(Op::And32, {constant(masks[rng() % 8]), any()});
                    break;
                case 3:
                    made = b.op(shifts[rng() % 3], {any(), constant(rng() % 40)});
                    break;
                case 4:
                    made = b.op(shifts[rng() % 3], {any(), any()});
                    break;
                case 5:
                    made = b.op(Op::Select32, {b.op(Op::CmpLtU32, {any(), any()}), any(), any()});
                    break;
                default:
                    made = b.op(binary[rng() % 5], {any(), any()});
            }
            values.push_back(made);
        }
        for (uint32_t store = 0; store < 3; ++store) {
            static constexpr ir::Access accesses[] = {ir::Access::U8, ir::Access::U16,
                                                      ir::Access::U8D16Hi, ir::Access::U16D16Hi,
                                                      ir::Access::Dwords};
            const Value at = b.op(Op::Shl32, {b.op(Op::LaneId), constant(2)});
            b.op(Op::StoreLds, {at, exec}, 256 * store, ir::make_aux(accesses[rng() % 5], 1),
                 {any()});
        }
        if (rng() % 3 == 0) b.op(Op::SetV, {any(), exec}, 4);
        ASSERT_EQ(ir::verify(b.block), "") << ir::print(b.block);
        ir::Block fewer = b.block;
        ir::eliminate_dead(fewer);
        const auto masks_in = [](const ir::Block& block) {
            return std::ranges::count(block.insts, Op::And32, &ir::Inst::op);
        };
        const auto before = masks_in(fewer);
        if (ir::drop_unread_masks(fewer)) ir::eliminate_dead(fewer);
        ASSERT_EQ(ir::verify(fewer), "") << ir::print(fewer);
        left_out += masks_in(fewer) < before;
        State start, want, got;
        randomise(start, rng);
        want.copy_from(start);
        got.copy_from(start);
        ir::evaluate(b.block, want.wave);
        ir::evaluate(fewer, got.wave);
        ASSERT_TRUE(same(got, want)) << ir::print(b.block) << ir::print(fewer);
    }
    EXPECT_GT(left_out, rounds / 8);
}

}  // namespace
}  // namespace wj::jit_test
