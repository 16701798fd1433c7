// Tiles in the LDS: loads that repeat from row to row of lanes, loads and stores of columns are
// done for all chunks at once (Schedule::repeats, goes_across), anything else among them; also what
// reads whole rows.
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

using ir::Access;

class LdsTileTest : public JitTest {};

uint32_t pick(Rng& rng, std::initializer_list<uint32_t> from) {
    return from.begin()[rng() % from.size()];
}

// A line whose base is s8 or s9.
Value tile_line(Builder& b, Rng& rng, bool transposed) {
    const uint32_t width = pick(rng, {8, 16, 16, 32, 64});
    const uint32_t stride =
        transposed ? pick(rng, {16, 32, 36, 64, 68, 256}) : pick(rng, {0, 4, 8, 12, 16, 20});
    const uint32_t step = transposed   ? pick(rng, {4, 4, 4, 8, 64})
                          : width < 64 ? pick(rng, {0, 0, 0, 4, 64})
                                       : 0;
    return b.op(Op::Line32,
                {b.op(Op::GetS32, {}, 8 + rng() % 2), b.c32(width == machine::lanes ? 0 : step)},
                stride, width);
}

// The rows of four lanes reversed, or lanes of anywhere.
Value permuted(Builder& b, Rng& rng, Value x, Value full) {
    std::array<uint8_t, 64> table;
    const bool near = rng() % 2;
    for (uint32_t l = 0; l < 64; ++l) table[l] = static_cast<uint8_t>(near ? l ^ 3 : rng() & 63);
    b.block.lane_tables.push_back(table);
    return b.op(Op::Swizzle, {x, full}, b.block.lane_tables.size() - 1);
}

TEST_P(LdsTileTest, LoadsAndStoresInAnyOrder) {
    Rng rng(71);
    for (int round = wanted_rounds(400); round-- > 0;) {
        Builder b;
        const Value full = b.full();
        std::vector<Value> values = {b.v(0), b.v(1), b.op(Op::Splat32, {b.c32(77)}),
                                     b.op(Op::Splat32, {b.op(Op::GetS32, {}, 10)}),
                                     b.op(Op::LaneId)};
        const bool one_line = rng() % 4 == 0;  // whose elements may be each lane's own
        std::vector<Value> lines;
        const auto line = [&](bool transposed) {
            if (lines.empty() || (!one_line && rng() % 2))
                lines.push_back(tile_line(b, rng, transposed));
            return lines[rng() % lines.size()];
        };
        const auto any = [&] { return values[rng() % values.size()]; };
        uint32_t row = 8;
        for (uint64_t n = 1 + rng() % 14; n-- > 0;) {
            const uint32_t imm = one_line ? 0 : static_cast<uint32_t>(rng() % 40) * 4;
            switch (rng() % 4) {
                case 0:
                case 1: {
                    const uint32_t dwords = 1 + static_cast<uint32_t>(rng() % 2);
                    const Value x = b.op(Op::LoadLds, {line(rng() % 4 == 0), full}, imm,
                                         ir::make_aux(Access::Dwords, dwords));
                    for (uint32_t d = 0; d < dwords; ++d) values.push_back(b.op(Op::Elem, {x}, d));
                    break;
                }
                case 2:
                    b.op(Op::StoreLds, {line(rng() % 4 != 0), full}, imm,
                         ir::make_aux(Access::Dwords, 1), {any()});
                    break;
                default:
                    values.push_back(b.op(Op::Add32, {any(), any()}));
                    if (rng() % 2) b.set(row++, values.back());
                    break;
            }
            if (rng() % 8 == 0) values.push_back(permuted(b, rng, any(), full));
            if (rng() % 4 == 0) b.set(rng() % 2 ? 0 : 1, any());
            if (rng() % 8 == 0) b.set(row++, any());
        }
        b.set(row, any());
        prepare = [&](State& s) {
            s.wave.lds_size = pick(rng, {1024, 4096, 4096});
            for (uint32_t reg : {8, 9})
                s.wave.sgpr[reg] =
                    static_cast<uint32_t>(rng() % 4   ? rng() % 64 * 4
                                          : rng() % 2 ? s.wave.lds_size - rng() % 1024
                                                      : rng() % 64 * 4 - 128);
        };
        compare(b.block, rng, 3);
        if (HasFatalFailure() || HasFailure()) return;
    }
}

// Rows of global memory go to the LDS, by rows or by columns, some of them for others, too; as a
// program does that fills a tile. Where a line lies in the LDS in all waves, that may be said.
TEST_P(LdsTileTest, IsFilled) {
    Rng rng(72);
    std::vector<uint32_t> memory(1 << 16);
    for (uint32_t& x : memory) x = static_cast<uint32_t>(rng());
    for (int round = wanted_rounds(400); round-- > 0;) {
        Builder b;
        const Value full = b.full();
        const bool small = rng() % 2;
        b.block.guarded = small;
        if (small) b.op(Op::GuardLds, {}, lds_bytes);
        const auto row_line = [&] {
            const uint32_t width = pick(rng, {16, 32, 64});
            const Value step = width == 64 ? b.c32(0)
                               : rng() % 2 ? b.c32(pick(rng, {64, 256, 1024}))
                                           : b.op(Op::GetS32, {}, 10);
            return b.op(Op::Line32, {b.c32(0), step}, pick(rng, {4, 4, 4, 8, 16}), width);
        };
        // Within 4 KiB.
        const auto lds_line = [&] {
            const uint32_t width = pick(rng, {16, 16, 32, 64});
            const uint32_t stride = rng() % 2     ? 4
                                    : width == 16 ? pick(rng, {32, 68, 192})
                                                  : pick(rng, {32, 36, 48});
            const uint32_t step = width == 64 ? 0 : stride == 4 ? 4 * width : 4;
            return b.op(Op::Line32, {b.op(Op::GetS32, {}, 8 + rng() % 2), b.c32(step)}, stride,
                        width);
        };
        std::vector<Value> loaded;
        uint32_t row = 8;
        for (uint64_t n = 1 + rng() % 6; n-- > 0;) {
            for (uint64_t k = 1 + rng() % 2; k-- > 0;) {
                const uint32_t dwords = rng() % 4 ? 1 : 2;
                const Value x = b.op(Op::LoadGlobalS,
                                     {b.op(Op::GetS64, {}, 4 + 2 * (rng() % 2)), row_line(), full},
                                     4 * (rng() % 4), ir::make_aux(Access::Dwords, dwords));
                for (uint32_t d = 0; d < dwords; ++d) loaded.push_back(b.op(Op::Elem, {x}, d));
            }
            const uint32_t flag = small ? ir::within_lds : 0;
            for (uint64_t k = 1 + rng() % 2; k-- > 0;)
                b.op(Op::StoreLds, {lds_line(), full}, 4 * (rng() % 4),
                     ir::make_aux(Access::Dwords, 1) | flag, {loaded[rng() % loaded.size()]});
            if (rng() % 4 == 0)
                b.set(row++, b.op(Op::Elem, {b.op(Op::LoadLds, {lds_line(), full}, 4 * (rng() % 4),
                                                  ir::make_aux(Access::Dwords, 1) | flag)}));
            if (rng() % 8 == 0) b.set(row++, loaded[rng() % loaded.size()]);
        }
        if (rng() % 3 == 0)
            b.block.term = {.kind = ir::Terminator::Kind::Exit,
                            .next = b.block.pc + 4,
                            .exit = machine::ExitKind::Barrier};
        prepare = [&](State& s) {
            if (!small) s.wave.lds_size = pick(rng, {1024, 4096, lds_bytes});
            for (uint32_t reg : {8, 9}) s.wave.sgpr[reg] = static_cast<uint32_t>(rng() % 64 * 4);
            for (uint32_t reg : {4, 6})
                s.wave.set_s64(reg, reinterpret_cast<uint64_t>(memory.data() + rng() % 256));
            s.wave.sgpr[10] = pick(rng, {0, 64, 100, 4096});
        };
        compare(b.block, rng, 3);
        if (HasFatalFailure() || HasFailure()) return;
    }
}

WJ_JIT_TESTS(LdsTileTest);

}  // namespace
}  // namespace wj::jit_test
