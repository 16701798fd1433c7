// Error bounds of docs/reference/float.md, on a sample of f32; the reference is MPFR with 120 bits.
#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>

#include "interpreter/vector_builder.h"

namespace wj::trans {
namespace {

using Guest = float (*)(float);
using Reference = int (*)(mpfr_t, const mpfr_t, mpfr_rnd_t);

struct Mpfr {
    mpfr_t v;
    Mpfr() { mpfr_init2(v, 120); }
    ~Mpfr() { mpfr_clear(v); }
};

int rsq_reference(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    return mpfr_rec_sqrt(r, x, m);
}
int rcp_reference(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    return mpfr_ui_div(r, 1, x, m);
}
template <int (*F)(mpfr_t, const mpfr_t, mpfr_rnd_t)>
int of_turns(mpfr_t r, const mpfr_t x, mpfr_rnd_t m) {
    Mpfr pi;
    mpfr_const_pi(pi.v, m);
    mpfr_mul_ui(pi.v, pi.v, 2, m);
    mpfr_mul(r, x, pi.v, m);
    return F(r, r, m);
}

// Largest error over [low, high] (bit patterns), in units of the last place of the exact result, or
// absolute.
double worst(Guest f, Reference g, uint32_t low, uint32_t high, bool absolute = false) {
    Mpfr x, y, d;
    double result = 0;
    for (uint64_t u = low; u <= high; u += 99991) {
        const float a = std::bit_cast<float>(static_cast<uint32_t>(u));
        mpfr_set_flt(x.v, a, MPFR_RNDN);
        g(y.v, x.v, MPFR_RNDN);
        mpfr_set_flt(d.v, f(a), MPFR_RNDN);
        mpfr_sub(d.v, d.v, y.v, MPFR_RNDN);
        double error = std::fabs(mpfr_get_d(d.v, MPFR_RNDN));
        if (!absolute && !mpfr_zero_p(y.v)) {
            const long e = std::max<long>(mpfr_get_exp(y.v) - 24, -149);
            error = std::ldexp(error, static_cast<int>(-e));
        }
        result = std::max(result, error);
    }
    return result;
}

TEST(Transcendental, Rcp) {
    EXPECT_LE(worst(rcp, rcp_reference, 0x00400001, 0x7f7fffff), 0.5);
}
TEST(Transcendental, Rsq) {
    EXPECT_LE(worst(rsq, rsq_reference, 1, 0x7f7fffff), 0.51);
}
TEST(Transcendental, Exp2) {
    EXPECT_LE(worst(exp2, mpfr_exp2, 0, 0x42ffffff), 1.0);
    EXPECT_LE(worst(exp2, mpfr_exp2, 0x80000001, 0xc3150000), 1.0);
}
TEST(Transcendental, Log2) {
    EXPECT_LE(worst(log2, mpfr_log2, 1, 0x7f7fffff), 1.0);
}
TEST(Transcendental, SinCos) {
    EXPECT_LE(worst(sin, of_turns<mpfr_sin>, 0, 0x43800000, true), 0x1p-23);
    EXPECT_LE(worst(cos, of_turns<mpfr_cos>, 0, 0x43800000, true), 0x1p-23);
    EXPECT_LE(worst(sin, of_turns<mpfr_sin>, 0x80000001, 0xc3800000, true), 0x1p-23);
}

template <class F, class G>
void same_bits(F scalar, G vector) {
    for (uint64_t u = 0; u <= 0xffffffff; u += 131071) {
        const float x = std::bit_cast<float>(static_cast<uint32_t>(u));
        const float y = scalar(x);
        const __m256 z = vector(_mm256_set1_ps(x));
        ASSERT_EQ(std::bit_cast<uint32_t>(y),
                  static_cast<uint32_t>(_mm256_extract_epi32(_mm256_castps_si256(z), 5)))
            << std::hex << u;
    }
}
TEST(Transcendental, EightLanesGiveTheSameBits) {
    using B = interp::VectorBuilder;
    same_bits(rcp, interp::eight_lanes<rcp_f32<B>>);
    same_bits(rsq, interp::eight_lanes<rsq_f32<B>>);
    same_bits(exp2, interp::eight_lanes<exp2_f32<B>>);
    same_bits(log2, interp::eight_lanes<log2_f32<B>>);
    same_bits(sin, interp::eight_lanes<sin_f32<B>>);
    same_bits(cos, interp::eight_lanes<cos_f32<B>>);
}

TEST(Transcendental, SpecialValues) {
    const float inf = HUGE_VALF;
    const auto bits = [](float x) { return std::bit_cast<uint32_t>(x); };
    EXPECT_EQ(rcp(0.0f), inf);
    EXPECT_EQ(rcp(-0.0f), -inf);
    EXPECT_EQ(bits(rcp(-inf)), 0x80000000u);
    EXPECT_EQ(rsq(0.0f), inf);
    EXPECT_EQ(rsq(-0.0f), -inf);
    EXPECT_EQ(rsq(inf), 0.0f);
    EXPECT_TRUE(std::isnan(rsq(-1.0f)));
    EXPECT_EQ(exp2(inf), inf);
    EXPECT_EQ(bits(exp2(-inf)), 0u);
    EXPECT_EQ(exp2(0.0f), 1.0f);
    EXPECT_EQ(exp2(-149.0f), 0x1p-149f);
    EXPECT_EQ(exp2(127.0f), 0x1p127f);
    EXPECT_EQ(exp2(128.0f), inf);
    EXPECT_EQ(log2(1.0f), 0.0f);
    EXPECT_EQ(log2(0.0f), -inf);
    EXPECT_EQ(log2(inf), inf);
    EXPECT_EQ(log2(0x1p-149f), -149.0f);
    EXPECT_TRUE(std::isnan(log2(-1.0f)));
    EXPECT_EQ(bits(sin(-0.0f)), 0x80000000u);
    EXPECT_EQ(sin(0.25f), 1.0f);
    EXPECT_EQ(cos(0.5f), -1.0f);
    EXPECT_EQ(sin(300.0f), 0.0f);  // outside of the documented domain
    EXPECT_EQ(cos(300.0f), 1.0f);
    EXPECT_TRUE(std::isnan(sin(inf)));
    for (Guest f : {rcp, rsq, exp2, log2, sin, cos})
        EXPECT_EQ(bits(f(std::bit_cast<float>(0xff812345u))), 0xffc12345u);
}

}  // namespace
}  // namespace wj::trans
