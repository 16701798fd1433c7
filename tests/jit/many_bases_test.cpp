// Rows of several bases that one line leads along, as those of stencils: where a chunk's elements
// are from a base is kept in a register (BlockCompiler::choose_chunk_offset()).
#include <numeric>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

class ManyBasesTest : public JitTest {
protected:
    static constexpr uint32_t first_base = 4, bases = 6, step = 20, behind = 64, area_dwords = 8192,
                              sums = 8;
};

TEST_P(ManyBasesTest, LoadsAndStores) {
    const int rounds = wanted_rounds(600);
    for (int round = 0; round < rounds; ++round) {
        SCOPED_TRACE("round " + std::to_string(round));
        Rng rng(static_cast<uint64_t>(round) + 1);
        Builder b;
        const Value exec = rng() % 2 ? b.exec() : b.full();
        const Value none = b.op(Op::Splat32, {b.c32(0)});
        const uint32_t width = GetParam() == x64::Isa::Avx2 && rng() % 2 ? 8 : 16 << rng() % 2;
        std::vector<Value> masks{exec};
        if (rng() % 3 == 0)
            masks.push_back(b.op(Op::MaskAnd, {b.op(Op::CmpLtU32, {b.v(1), b.v(2)}), exec}));
        const Value line =
            b.op(Op::Line32, {b.c32(0), b.op(Op::GetS32, {}, step)}, sizeof(uint32_t), width);
        Value sum = b.v(sums);
        for (uint64_t loads = 2 + rng() % 7; loads; --loads) {
            const Value base = b.op(Op::GetS64, {}, first_base + 2 * (rng() % bases));
            const Value mask = masks[rng() % masks.size()];
            const auto dwords = static_cast<uint32_t>(1 + rng() % 3);
            const uint64_t offset = sizeof(uint32_t) * (rng() % 16 - 8);
            const Value load = b.op(Op::LoadGlobalS, {base, line, mask}, offset,
                                    ir::make_aux(ir::Access::Dwords, dwords));
            for (uint32_t d = 0; d < dwords; ++d)  // lanes that are off have nothing defined
                sum =
                    b.op(Op::Add32, {b.op(Op::Mul32, {sum, b.op(Op::Splat32, {b.c32(5)})}),
                                     b.op(Op::Select32, {mask, b.op(Op::Elem, {load}, d), none})});
        }
        b.op(Op::SetV, {sum, exec}, sums);
        if (rng() % 2)
            b.op(Op::StoreGlobalS,
                 {b.op(Op::GetS64, {}, first_base + 2 * bases), line, masks[rng() % masks.size()]},
                 0, ir::make_aux(ir::Access::Dwords, 1), {sum});
        std::vector<uint32_t> area(area_dwords + 2 * behind), stored(area_dwords), model_stored;
        std::iota(area.begin(), area.end(), 1000);
        const uint32_t rows = machine::lanes / width;
        const auto apart = static_cast<uint32_t>(width + rng() % 300),
                   span = apart * (rows - 1) + width;
        ASSERT_EQ(ir::verify(b.block), "") << ir::print(b.block);
        State start, model, run;
        randomise(start, rng);
        start.wave.sgpr[step] = static_cast<uint32_t>(sizeof(uint32_t) * apart);
        for (uint32_t n = 0; n < bases; ++n)
            start.wave.set_s64(
                first_base + 2 * n,
                reinterpret_cast<uint64_t>(area.data() + behind + rng() % (area_dwords - span)));
        start.wave.set_s64(first_base + 2 * bases, reinterpret_cast<uint64_t>(stored.data()));
        model.copy_from(start);
        run.copy_from(start);
        ir::evaluate(b.block, model.wave);
        std::swap(model_stored, stored);
        stored.assign(area_dwords, 0);
        run.wave.set_s64(first_base + 2 * bases, reinterpret_cast<uint64_t>(stored.data()));
        Rig rig(GetParam());
        rig.source->blocks[b.block.pc] = b.block;
        ASSERT_EQ(rig.engine->run(run.wave), machine::ExitKind::EndProgram);
        model.wave.set_s64(first_base + 2 * bases, reinterpret_cast<uint64_t>(stored.data()));
        ASSERT_TRUE(same(run, model))
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
        ASSERT_EQ(stored, model_stored)
            << ir::print(b.block) << x64::disassemble_block(b.block, GetParam());
    }
}

WJ_JIT_TESTS(ManyBasesTest);

}  // namespace
}  // namespace wj::jit_test
