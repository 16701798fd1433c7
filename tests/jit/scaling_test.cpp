// v_ldexp by one of two constants, chosen lane by lane, as in the scaling of denormals around roots
// and logarithms: a product where both powers of two are normal numbers.
#include <bit>
#include <cmath>

#include "frontend/target.h"
#include "interpreter/interpreter.h"
#include "lift/lift.h"
#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

class ScalingTest : public JitTest {};

template <class T, class Bits>
Bits scaled(Bits x, int32_t exponent, Bits quiet) {
    const T value = std::bit_cast<T>(x);
    return std::isnan(value) ? x | quiet : std::bit_cast<Bits>(std::scalbn(value, exponent));
}

TEST_P(ScalingTest, ByConstants) {
    Rng rng(7);
    struct Exponents {
        int32_t off, on;
        bool product32, product64;
    };
    static constexpr Exponents all[] = {
        {0, 24, true, true},      {0, 12, true, true},          {32, 0, true, true},
        {-126, 127, true, true},  {-127, 0, false, true},       {0, 128, false, true},
        {256, -128, false, true}, {-1022, 1023, false, true},   {-1023, 0, false, false},
        {1024, 5, false, false},  {0x7fffffff, 1, false, false}};
    for (const auto& [off, on, product32, product64] : all) {
        const std::vector<uint32_t> words = {
            0x7e0802ff, static_cast<uint32_t>(off),  // v_mov_b32 v4, off
            0x7e0a02ff, static_cast<uint32_t>(on),   // v_mov_b32 v5, on
            0xd1000003, 0x001a0b04,                  // v_cndmask_b32_e64 v3, v4, v5, s[6:7]
            0xd2880006, 0x00020700,                  // v_ldexp_f32 v6, v0, v3
            0xd2840008, 0x00020700,                  // v_ldexp_f64 v[8:9], v[0:1], v3
            0xbf810000};                             // s_endpgm
        lift::Options o;
        o.target = find_target("gfx90a");
        o.mode = 0x3f0;  // denormals are kept
        o.handler = &interp::handler;
        lift::InstStore store;
        const lift::Fetch fetch = [&](uint64_t pc) {
            return std::span<const uint32_t>(words).subspan((pc - 0x1000) / 4);
        };
        const ir::Block block = lift::lift_block(o, 0x1000, fetch, store);
        auto has = [&](ir::Op op) {
            return std::ranges::any_of(block.insts, [&](const ir::Inst& i) { return i.op == op; });
        };
        EXPECT_NE(has(ir::Op::FLdexp32), product32) << off << " " << on;
        EXPECT_NE(has(ir::Op::FLdexp64), product64) << off << " " << on;
        Rig rig(GetParam());
        ASSERT_TRUE(rig.engine);
        rig.source->blocks[block.pc] = block;
        for (int round = 0; round < 20; ++round) {
            State start, run;
            randomise(start, rng);
            start.wave.mode = o.mode;
            start.wave.set_s64(machine::exec_lo, ~0ull);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                static constexpr uint32_t kinds[] = {
                    0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x7f7fffff,
                    0x7f800000, 0xff800001, 0x7fc00001, 0x3f800000, 0x00400001, 0x0c000001};
                for (uint32_t row = 0; row < 2; ++row)
                    if (rng() % 2) start.wave.row(row)[l] = kinds[rng() % std::size(kinds)];
            }
            run.copy_from(start);
            ASSERT_EQ(rig.engine->run(run.wave), block.term.exit);
            for (uint32_t l = 0; l < machine::lanes; ++l) {
                const int32_t n = start.wave.s64(6) >> l & 1 ? on : off;
                const uint32_t x = start.wave.row(0)[l];
                const uint64_t xx = x | uint64_t{start.wave.row(1)[l]} << 32;
                ASSERT_EQ(run.wave.row(6)[l], (scaled<float>(x, n, 0x400000u)))
                    << std::hex << x << " " << n;
                ASSERT_EQ(run.wave.row(8)[l] | uint64_t{run.wave.row(9)[l]} << 32,
                          (scaled<double>(xx, n, uint64_t{1} << 51)))
                    << std::hex << xx << " " << n;
            }
        }
    }
}

WJ_JIT_TESTS(ScalingTest);

}  // namespace
}  // namespace wj::jit_test
