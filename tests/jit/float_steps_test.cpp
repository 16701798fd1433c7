// What compilers write out in steps and the lifter takes for one operation: roots with their
// argument scaled where it is small (State::scaled_root), quotients of fractions and exponents
// (FQuotFrexp32), 1 / d among them. The interpreter runs instruction by instruction.
#include <algorithm>

#include "tests/jit/words_harness.h"

namespace wj::jit_test {
namespace {

// Denormals are kept; x and d are rows, the rest is made of them.
constexpr uint32_t mode = 0x3f0, x = 0, d = 1, result = 9, bound = 2;
constexpr uint32_t literal = 255, one = 242, vgpr = 256;
constexpr uint32_t mul_f32 = 5, sub_u32 = 53;
constexpr uint32_t rcp = 0x22, rsq = 0x24, root = 0x27, frexp_exp = 0x33, frexp_mant = 0x34;

class FloatStepsTest : public WordsTest {
protected:
    void vop1(uint32_t op, uint32_t dst, uint32_t from) {
        words_.push_back(0x7e000000 | dst << 17 | op << 9 | (vgpr + from));
    }
    void vop2(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        words_.push_back(op << 25 | dst << 17 | b << 9 | (vgpr + a));
    }
    void either_way(uint32_t op, uint32_t dst, uint32_t a, uint32_t b) {
        if (random(2)) std::swap(a, b);
        vop2(op, dst, a, b);
    }
    // dst = 2^exponent in the lanes of VCC, 1 in the others
    void scale(uint32_t dst, int32_t exponent) {
        words_.push_back(0x7e0002ff | dst << 17);  // v_mov_b32
        words_.push_back(static_cast<uint32_t>(exponent + 127) << 23);
        words_.push_back(dst << 17 | dst << 9 | one);  // v_cndmask_b32
    }
    void scaled_root(uint32_t op, int32_t scaling, int32_t back) {
        static constexpr uint32_t above[] = {0x44, 0x46, 0x49, 0x4e};  // gt, ge, nge, nlt
        static constexpr uint32_t below[] = {0x41, 0x43};              // lt, le
        words_.clear();
        if (random(4)) {  // v_cmp s2, v0
            words_.push_back(0x7c000000 | above[random(4)] << 17 | x << 9 | bound);
        } else {
            words_.push_back(0x7e000200 | 8 << 17 | bound);  // v_mov_b32 v8, s2
            words_.push_back(0x7c000000 | below[random(2)] << 17 | 8 << 9 | (vgpr + x));
        }
        scale(3, scaling);
        either_way(mul_f32, 4, x, 3);
        vop1(op, 5, 4);
        if (random(8) == 0)  // other lanes are scaled back: v_cmp_gt_f32 s2, v1
            words_.push_back(0x7c000000 | above[0] << 17 | d << 9 | bound);
        scale(6, back);
        either_way(mul_f32, result, 5, 6);
        words_.push_back(0xbf810000);
    }
    void quotient() {
        words_.clear();
        vop1(frexp_mant, 3, d);
        vop1(rcp, 3, 3);
        vop1(frexp_mant, 4, x);
        either_way(mul_f32, 5, 3, 4);
        vop1(frexp_exp, 6, x);
        vop1(frexp_exp, 7, d);
        vop2(sub_u32, 8, 6, 7);
        words_.push_back(0xd2880000 | result);  // v_ldexp_f32
        words_.push_back((vgpr + 5) | (vgpr + 8) << 9);
        words_.push_back(0xbf810000);
    }
    void reciprocal() {
        words_.clear();
        vop1(frexp_mant, 3, d);
        vop1(rcp, 4, 3);
        vop1(frexp_exp, 7, d);
        words_.push_back(sub_u32 << 25 | 8 << 17 | 7 << 9 | 0x80);  // v8 = 0 - v7
        words_.push_back(0xd2880000 | result);                      // v_ldexp_f32
        words_.push_back((vgpr + 4) | (vgpr + 8) << 9);
        words_.push_back(0xbf810000);
    }
    bool lifts_to(ir::Op op, ir::Op not_to) {
        lift::Options o;
        o.target = context_.target;
        o.mode = mode;
        o.handler = &interp::handler;
        o.may_guard = true;
        o.exec_full = true;
        lift::InstStore store;
        const ir::Block block = lift::lift_block(o, 0, fetch(), store);
        auto has = [&](ir::Op wanted) {
            return std::ranges::any_of(block.insts, [&](auto& i) { return i.op == wanted; });
        };
        return has(op) && !has(not_to);
    }
    lift::Fetch fetch() const {
        return [this](uint64_t pc) { return std::span(words_).subspan(pc / 4); };
    }
    void run() {
        load(code_);
        for (int wave = 0; wave < 8; ++wave) {
            static constexpr uint32_t bounds[] = {0x00800000, 0x0f800000, 0x33000000, 0x72ffffff,
                                                  0x73000000, 0x7f000000, 0x7f800000, 0x80000000};
            State first;
            randomise(first, rng_);
            first.wave.mode = mode;
            first.wave.sgpr[bound] = random(3) ? bounds[random(8)] : random_dword(rng_);
            compare(first, code_);
            if (HasFatalFailure()) return;
        }
    }
};

TEST_P(FloatStepsTest, ScaledRoots) {
    do scaled_root(rsq, 24, 12);
    while (words_.size() > 14);
    // v9 is not all that is written: the steps' registers are, too.
    EXPECT_TRUE(lifts_to(ir::Op::GuardScalar, ir::Op::Guard)) << text();
    for (int n = wanted_rounds(500); n; --n) {
        const int32_t half = 1 + static_cast<int32_t>(random(40)), off = random(8) ? 0 : 1;
        const bool reciprocal = random(2);
        scaled_root(reciprocal ? rsq : root, 2 * half + off, reciprocal ? half : -half);
        run();
        if (HasFatalFailure()) return;
    }
}

// A bound that iterations raise: it holds when the loop begins, and not for long.
TEST_P(FloatStepsTest, ScaledRootsInALoop) {
    scaled_root(rsq, 24, 12);
    words_.pop_back();
    words_.push_back(0x80020402);  // s_add_u32 s2, s2, s4
    words_.push_back(0x80838103);  // s_sub_u32 s3, s3, 1
    words_.push_back(0xbf078003);  // s_cmp_lg_u32 s3, 0
    words_.push_back(0xbf850000 | (static_cast<uint32_t>(-words_.size() - 1) & 0xffff));
    words_.push_back(0xbf810000);
    load(code_);
    for (const uint32_t step : {0u, 0x04000000u, 0x10000000u}) {
        State first;
        randomise(first, rng_);
        first.wave.mode = mode;
        first.wave.set_s64(machine::exec_lo, ~0ull);
        for (uint32_t l = 0; l < 64; ++l) first.wave.row(x)[l] = 0x74000000 + l;
        first.wave.sgpr[bound] = 0x70000000;
        first.wave.sgpr[3] = 4;
        first.wave.sgpr[4] = step;
        compare(first, code_);
        if (HasFatalFailure()) return;
    }
}

TEST_P(FloatStepsTest, Quotients) {
    quotient();
    EXPECT_TRUE(lifts_to(ir::Op::FQuotFrexp32, ir::Op::FLdexp32)) << text();
    for (int n = wanted_rounds(500); n; --n) {
        quotient();
        run();
        if (HasFatalFailure()) return;
    }
}

TEST_P(FloatStepsTest, Reciprocals) {
    reciprocal();
    EXPECT_TRUE(lifts_to(ir::Op::FQuotFrexp32, ir::Op::FLdexp32)) << text();
    for (int n = wanted_rounds(500); n; --n) {
        run();
        if (HasFatalFailure()) return;
    }
}

WJ_JIT_TESTS(FloatStepsTest);

}  // namespace
}  // namespace wj::jit_test
