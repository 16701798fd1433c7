// Chunks in which no lane is on, which regions leave out (Schedule::empty_mask): masks that contain
// each other or not, values that pass from region to region, rows written by blends.
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Access;

class EmptyChunksTest : public JitTest {};

// Of a work-group smaller than the wave, of a few lanes, of none.
uint64_t sparse_mask(Rng& rng) {
    switch (rng() % 6) {
        case 0:
            return 0;
        case 1:
            return ~0ull;
        case 2:
            return 1ull << rng() % 64 | 1ull << rng() % 64;
        case 3:
            return (1ull << rng() % 64) - 1;
        default:
            return 0xffull << rng() % 8 * 8;
    }
}

TEST_P(EmptyChunksTest, MasksAndRegionsInAnyOrder) {
    Rng rng(91);
    prepare = [&](State& s) {
        s.wave.set_s64(machine::exec_lo, sparse_mask(rng));
        for (uint32_t r = 20; r < 28; r += 2) s.wave.set_s64(r, sparse_mask(rng));
        const bool line = rng() % 2;
        const auto first = static_cast<uint32_t>(rng() % (lds_bytes / 4 - 64)) * 4;
        for (uint32_t lane = 0; lane < 64; ++lane)  // addresses in the LDS
            s.wave.vgpr[2 * 64 + lane] =
                line ? first + 4 * lane : static_cast<uint32_t>(rng() % (lds_bytes / 4)) * 4;
    };
    for (int round = wanted_rounds(600); round-- > 0;) {
        Builder b;
        std::vector<Value> bits = {b.op(Op::GetS64, {}, machine::exec_lo)}, masks, values;
        for (uint32_t r = 20; r < 28; r += 2) bits.push_back(b.op(Op::GetS64, {}, r));
        for (Value x : bits) masks.push_back(b.op(Op::MaskOf, {x}));
        for (uint32_t row = 3; row < 8; ++row) values.push_back(b.v(row));
        const Value address = b.v(2), eighth = b.v(8);
        std::vector<Value> blended = {b.v(50 % vgprs), b.v(51 % vgprs)};
        const auto any = [&](const std::vector<Value>& from) { return from[rng() % from.size()]; };
        const auto mask = [&] {  // mostly within EXEC
            return rng() % 3 ? masks[0] : any(masks);
        };
        uint32_t row = 8;
        for (uint64_t n = 4 + rng() % 40; n-- > 0;) {
            switch (rng() % 13) {
                case 0:
                case 1:
                    values.push_back(b.op(Op::Add32, {any(values), any(values)}));
                    break;
                case 2:
                    values.push_back(b.op(Op::Select32, {mask(), any(values), any(values)}));
                    break;
                case 3:
                    masks.push_back(b.op(rng() % 2 ? Op::MaskAnd : Op::MaskAndNot,
                                         {mask(), b.op(Op::CmpLtU32, {any(values), any(values)})}));
                    break;
                case 4:
                    masks.push_back(b.op(rng() % 2 ? Op::MaskOr : Op::MaskXor, {mask(), mask()}));
                    break;
                case 5:
                    bits.push_back(b.op(rng() % 2 ? Op::UAnd64 : Op::UOr64,
                                        {any(bits), rng() % 2 ? any(bits) : bits[0]}));
                    masks.push_back(b.op(Op::MaskOf, {bits.back()}));
                    break;
                case 6:
                    if (rng() % 2) bits.push_back(b.op(Op::BitsOf, {mask()}));
                    break;
                case 7:
                    b.op(Op::SetV, {any(values), mask()}, row++ % vgprs);
                    break;
                case 8: {  // what compilers' blends come to
                    Value& now = blended[rng() % blended.size()];
                    now = b.op(Op::Select32, {mask(), any(values), now});
                    if (rng() % 4 == 0) {
                        const uint32_t at = rng() % 2 ? row++ % vgprs : 8;
                        const Value before = at == 8 && rng() % 2 ? eighth : b.v(at);
                        b.set(at, b.op(Op::Select32, {mask(), any(values), before}));
                    }
                    break;
                }
                case 9: {  // in the lanes that load
                    const Value where = mask();
                    const Value x =
                        b.op(Op::LoadLds, {address, where}, 0, ir::make_aux(Access::Dwords, 1));
                    values.push_back(b.op(Op::Select32, {where, b.op(Op::Elem, {x}), any(values)}));
                    break;
                }
                case 10:
                    b.op(Op::StoreLds, {address, mask()}, 0, ir::make_aux(Access::Dwords, 1),
                         {any(values)});
                    break;
                case 11:
                    b.op(Op::SetS64, {any(bits)}, 20 + rng() % 4 * 2);
                    break;
                default:
                    if (rng() % 4 == 0)
                        values.push_back(
                            b.op(Op::Splat32, {b.op(Op::ReadFirst, {any(values), mask()})}));
                    break;
            }
        }
        b.op(Op::SetV, {any(values), mask()}, row++ % vgprs);
        for (uint32_t n = 0; n < blended.size(); ++n) b.set((50 + n) % vgprs, blended[n]);
        b.op(Op::SetS64, {b.op(Op::BitsOf, {any(masks)})}, 20);
        b.op(Op::SetS64, {any(bits)}, 22);
        compare(b.block, rng, 3);
        if (HasFatalFailure()) return;
    }
}

// Masks that keep what they were in lanes that are off, as those of loops' exits do.
TEST_P(EmptyChunksTest, MasksThatKeepOthers) {
    Rng rng(92);
    prepare = [&](State& s) {
        s.wave.set_s64(machine::exec_lo, sparse_mask(rng));
        for (uint32_t r = 20; r < 28; r += 2) s.wave.set_s64(r, rng());
    };
    for (int round = wanted_rounds(300); round-- > 0;) {
        Builder b;
        const Value exec = b.exec();
        const auto kept = [&] {
            return b.op(Op::MaskOf, {b.op(Op::GetS64, {}, 20 + rng() % 4 * 2)});
        };
        std::vector<Value> values;
        for (uint32_t row = 3; row < 8; ++row) values.push_back(b.v(row));
        const auto any = [&] { return values[rng() % values.size()]; };
        for (uint64_t n = 4 + rng() % 8; n-- > 0;)
            values.push_back(b.op(rng() % 2 ? Op::Add32 : Op::Xor32, {any(), any()}));
        std::vector<Value> made;
        for (uint64_t n = 1 + rng() % 3; n-- > 0;) {
            const Value compare = b.op(Op::CmpLtU32, {any(), any()}),
                        within = b.op(Op::MaskAnd, {compare, exec}), other = kept();
            switch (rng() % 4) {
                case 0:
                    made.push_back(b.op(Op::MaskOr, {within, other}));
                    break;
                case 1:
                    made.push_back(b.op(Op::MaskXor, {other, within}));
                    break;
                case 2:
                    made.push_back(b.op(Op::MaskAndNot, {other, within}));
                    break;
                default:
                    made.push_back(within);
                    break;
            }
        }
        for (uint64_t n = 1 + rng() % 3; n-- > 0;) b.op(Op::SetV, {any(), exec}, 8 + rng() % 8);
        // Registers are written when all have been read.
        for (size_t n = 0; n < made.size(); ++n)
            b.op(Op::SetS64, {b.op(Op::BitsOf, {made[n]})}, 20 + 2 * n);
        compare(b.block, rng, 3);
        if (HasFatalFailure()) return;
    }
}

WJ_JIT_TESTS(EmptyChunksTest);

}  // namespace
}  // namespace wj::jit_test
