// v_rsq_f32 over all mantissas: what translated code gives, and the argument of lane_math.cpp that
// it gives the same on hosts whose approximation differs.
#include <bit>
#include <cmath>

#include "tests/jit/ir_harness.h"

namespace wj::jit_test {
namespace {

constexpr uint32_t one = 0x3f800000, four = 0x40800000;  // both parities of the exponent

float number(uint32_t bits) {
    return std::bit_cast<float>(bits);
}
uint32_t correct(uint32_t x) {
    return std::bit_cast<uint32_t>(
        static_cast<float>(1 / std::sqrt(static_cast<double>(number(x)))));
}

// Rounding an f64 root once more is exact: the squares of the neighbouring midpoints, times x, lie
// on either side of 1, in integers.
TEST(Root, DefinitionIsCorrectlyRounded) {
    for (uint32_t x = one + 1; x < four; ++x) {
        const auto significand = static_cast<uint64_t>(std::ldexp(number(x), 23));
        const auto y = static_cast<uint64_t>(std::ldexp(number(correct(x)), 24));
        auto times_square = [&](uint64_t midpoint) {
            return static_cast<unsigned __int128>(significand) * midpoint * midpoint;
        };
        const unsigned __int128 unit = static_cast<unsigned __int128>(1) << 73;
        ASSERT_LT(times_square(2 * y - 1), unit) << std::hex << x;
        ASSERT_GT(times_square(2 * y + 1), unit) << std::hex << x;
    }
}

TEST(Root, LastStepIsExactFromNeighbours) {
    for (uint32_t x = one; x < four; ++x)
        for (int away = -1; away <= 1; ++away) {
            const uint32_t want = correct(x);
            const float a = number(x), y = number(want + static_cast<uint32_t>(away)), s = a * y;
            const float lost = std::fma(a, y, -s);
            const float e = std::fma(-lost, y, std::fma(-s, y, 1.0f));
            const float r = std::fma(y * 0.5f, std::fma(e * 0.75f, e, e), y);
            ASSERT_EQ(std::bit_cast<uint32_t>(r), want) << std::hex << x << " " << away;
        }
}

class RootTest : public JitTest {};

TEST_P(RootTest, AllMantissas) {
    Builder b;
    b.set(1, b.op(Op::FRsq32, {b.v(0)}));
    Rig rig(GetParam());
    ASSERT_TRUE(rig.engine);
    rig.source->blocks[b.block.pc] = b.block;
    State state;
    for (uint32_t x = one; x < four; x += 64) {
        for (uint32_t lane = 0; lane < 64; ++lane) state.wave.vgpr[lane] = x + lane;
        state.wave.pc = b.block.pc;
        state.wave.budget = 1;
        ASSERT_EQ(rig.engine->run(state.wave), b.block.term.exit);
        for (uint32_t lane = 0; lane < 64; ++lane)
            ASSERT_EQ(state.wave.vgpr[64 + lane], correct(x + lane)) << std::hex << x + lane;
    }
}

WJ_JIT_TESTS(RootTest);

}  // namespace
}  // namespace wj::jit_test
