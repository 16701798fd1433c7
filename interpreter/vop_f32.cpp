// f32 arithmetic. NaN, denormal and rounding rules: common/guest_float.h, docs/reference/float.md.
#include <bit>
#include <limits>

#include "interpreter/valu.h"
#include "interpreter/vector_builder.h"

namespace wj::interp {

namespace {

using u32 = uint32_t;
using i32 = int32_t;

constexpr auto add_op = [](auto a, auto b) { return gf::add(a, b); };
constexpr auto sub_op = [](auto a, auto b) { return gf::sub(a, b); };
constexpr auto subrev_op = [](auto a, auto b) { return gf::sub(b, a); };
constexpr auto mul_op = [](auto a, auto b) { return gf::mul(a, b); };
constexpr auto fma_op = [](auto a, auto b, auto c) { return gf::fma(a, b, c); };
constexpr auto mad_op = [](auto a, auto b, auto c) { return gf::mad(a, b, c); };

// DX9 rule: 0 * anything = +0.
float mul_legacy(float a, float b) {
    return gf::is_zero(a) || gf::is_zero(b) ? 0.0f : gf::mul(a, b);
}

// The same in a sum that is rounded once, or as v_mad does.
float fma_legacy(float a, float b, float c) {
    return gf::is_zero(a) || gf::is_zero(b) ? c : gf::fma(a, b, c);
}
float mad_legacy(float a, float b, float c) {
    return gf::flush(gf::add(gf::flush(mul_legacy(gf::flush(a), gf::flush(b))), gf::flush(c)));
}

// Of lighting: -MAX_FLOAT where the exponent or its base would be no number or too small.
float mullit(float a, float b, float c) {
    constexpr float most = std::numeric_limits<float>::max();
    const bool none =
        b == -most || (gf::is_inf(b) && gf::is_negative(b)) || gf::is_nan(b) || !(c > 0.0f);
    return none ? -most : mul_legacy(a, b);
}

// Of gfx6 and gfx7: DX9's choice between two numbers, which a NaN loses; of equal ones the second
// is the smaller and the first the larger (AMD's R600 ISA, MIN and MAX; LLVM, FMIN_LEGACY).
constexpr auto min_legacy = [](float a, float b) { return a < b ? a : b; };
constexpr auto max_legacy = [](float a, float b) { return a >= b ? a : b; };

// Infinite results become the largest number, or zero, of their sign (CLRX, "GCN ISA VOP1"; LLVM,
// lowering of rsq_clamp).
template <auto F, bool ToZero = false>
constexpr auto bounded = [](__m256 x) {
    const __m256 r = F(x), sign = _mm256_set1_ps(-0.0f);
    const __m256 infinity = _mm256_set1_ps(std::numeric_limits<float>::infinity());
    const __m256 infinite = _mm256_cmp_ps(_mm256_andnot_ps(sign, r), infinity, _CMP_EQ_OQ);
    const float bound = ToZero ? 0.0f : std::numeric_limits<float>::max();
    const __m256 signed_bound = _mm256_or_ps(_mm256_and_ps(sign, r), _mm256_set1_ps(bound));
    return _mm256_blendv_ps(r, signed_bound, infinite);
};
// Logarithms: of zero only, not of infinity.
constexpr auto log_clamp = [](__m256 x) {
    const __m256 r = eight_lanes<trans::log2_f32<VectorBuilder>>(x);
    return _mm256_max_ps(_mm256_set1_ps(-std::numeric_limits<float>::max()), r);
};

// gfx6's exponent of infinity and NaN is -1, and infinity's mantissa NaN (CLRX, "GCN ISA VOP1").
constexpr auto frexp_exponent_gfx6 = [](float a) {
    return gf::is_inf(a) || gf::is_nan(a) ? -1 : gf::frexp_exponent(a);
};
constexpr auto frexp_mantissa_gfx6 = [](float a) {
    constexpr u32 negative_nan = 0xffc00000;
    return gf::is_inf(a) ? std::bit_cast<float>(negative_nan) : gf::frexp_mantissa(a);
};

template <int Which>
constexpr auto cube_op = [](float x, float y, float z) { return gf::cube(Which, x, y, z); };

// v_mad flushes whatever MODE says, also its result.
constexpr u32 mad_flags = raw_floats;

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_add_f32, alu_vec<float, 2, add_op>},
    {Opcode::v_sub_f32, alu_vec<float, 2, sub_op>},
    {Opcode::v_subrev_f32, alu_vec<float, 2, subrev_op>},
    {Opcode::v_mul_f32, alu_vec<float, 2, mul_op>},
    {Opcode::v_fma_f32, alu_vec<float, 3, fma_op>},
    {Opcode::v_fmac_f32, alu_vec<float, 3, fma_op, addend>},
    {Opcode::v_fmamk_f32, alu_vec<float, 3, fma_op>},
    {Opcode::v_fmaak_f32, alu_vec<float, 3, fma_op>},
    {Opcode::v_mad_f32, alu_vec<float, 3, mad_op, mad_flags>},
    {Opcode::v_mac_f32, alu_vec<float, 3, mad_op, mad_flags | addend>},
    {Opcode::v_madmk_f32, alu_vec<float, 3, mad_op, mad_flags>},
    {Opcode::v_madak_f32, alu_vec<float, 3, mad_op, mad_flags>},
    {Opcode::v_mul_legacy_f32, alu<[](float a, float b) { return mul_legacy(a, b); }>},
    {Opcode::v_mul_legacy_f32_vop3, alu<[](float a, float b) { return mul_legacy(a, b); }>},
    {Opcode::v_mad_legacy_f32, alu<[](float a, float b, float c) { return mad_legacy(a, b, c); }, mad_flags>},
    {Opcode::v_mac_legacy_f32, alu<[](float a, float b, float c) { return mad_legacy(a, b, c); }, mad_flags | addend>},
    {Opcode::v_fma_legacy_f32, alu<[](float a, float b, float c) { return fma_legacy(a, b, c); }>},
    {Opcode::v_fmac_legacy_f32, alu<[](float a, float b, float c) { return fma_legacy(a, b, c); }, addend>},
    {Opcode::v_mullit_f32, alu<[](float a, float b, float c) { return mullit(a, b, c); }>},

    {Opcode::v_min_f32, alu<[](const FloatMode& m, float a, float b) { return gf::min(m, a, b); }>},
    {Opcode::v_max_f32, alu<[](const FloatMode& m, float a, float b) { return gf::max(m, a, b); }>},
    {Opcode::v_min3_f32, alu<[](const FloatMode& m, float a, float b, float c) { return gf::min(m, gf::min(m, a, b), c); }>},
    {Opcode::v_max3_f32, alu<[](const FloatMode& m, float a, float b, float c) { return gf::max(m, gf::max(m, a, b), c); }>},
    {Opcode::v_med3_f32, alu<[](const FloatMode& m, float a, float b, float c) { return gf::med3(m, a, b, c); }>},

    {Opcode::v_minmax_f32, alu<[](const FloatMode& m, float a, float b, float c) { return gf::max(m, gf::min(m, a, b), c); }>},
    {Opcode::v_maxmin_f32, alu<[](const FloatMode& m, float a, float b, float c) { return gf::min(m, gf::max(m, a, b), c); }>},
    {Opcode::v_min_num_f32, alu<[](float a, float b) { return gf::min_number(a, b); }>},
    {Opcode::v_max_num_f32, alu<[](float a, float b) { return gf::max_number(a, b); }>},
    {Opcode::v_min3_num_f32, alu<[](float a, float b, float c) { return gf::min_number(gf::min_number(a, b), c); }>},
    {Opcode::v_max3_num_f32, alu<[](float a, float b, float c) { return gf::max_number(gf::max_number(a, b), c); }>},
    {Opcode::v_med3_num_f32, alu<[](float a, float b, float c) { return gf::med3_number(a, b, c); }>},
    {Opcode::v_minmax_num_f32, alu<[](float a, float b, float c) { return gf::max_number(gf::min_number(a, b), c); }>},
    {Opcode::v_maxmin_num_f32, alu<[](float a, float b, float c) { return gf::min_number(gf::max_number(a, b), c); }>},
    {Opcode::v_minimum_f32, alu<[](float a, float b) { return gf::minimum(a, b); }>},
    {Opcode::v_maximum_f32, alu<[](float a, float b) { return gf::maximum(a, b); }>},
    {Opcode::v_minimummaximum_f32, alu<[](float a, float b, float c) { return gf::maximum(gf::minimum(a, b), c); }>},
    {Opcode::v_maximumminimum_f32, alu<[](float a, float b, float c) { return gf::minimum(gf::maximum(a, b), c); }>},

    {Opcode::v_fract_f32, alu<[](float a) { return gf::fract(a); }>},
    {Opcode::v_trunc_f32, alu<[](float a) { return gf::trunc(a); }>},
    {Opcode::v_ceil_f32, alu<[](float a) { return gf::ceil(a); }>},
    {Opcode::v_rndne_f32, alu<[](float a) { return gf::rndne(a); }>},
    {Opcode::v_floor_f32, alu<[](float a) { return gf::floor(a); }>},
    {Opcode::v_ldexp_f32, alu<[](float a, i32 b) { return gf::ldexp(a, b); }>},
    {Opcode::v_frexp_exp_i32_f32, alu<[](float a) { return gf::frexp_exponent(a); }>},
    {Opcode::v_frexp_mant_f32, alu<[](float a) { return gf::frexp_mantissa(a); }>},

    {Opcode::v_exp_f32, alu_vec<float, 1, eight_lanes<trans::exp2_f32<VectorBuilder>>, nearest>},
    {Opcode::v_log_f32, alu_vec<float, 1, eight_lanes<trans::log2_f32<VectorBuilder>>, nearest>},
    {Opcode::v_exp_legacy_f32, alu_vec<float, 1, eight_lanes<trans::exp2_f32<VectorBuilder>>, nearest>},
    {Opcode::v_log_legacy_f32, alu_vec<float, 1, eight_lanes<trans::log2_f32<VectorBuilder>>, nearest>},
    {Opcode::v_rcp_f32, alu_vec<float, 1, eight_lanes<trans::rcp_f32<VectorBuilder>>, nearest>},
    {Opcode::v_rcp_iflag_f32, alu_vec<float, 1, eight_lanes<trans::rcp_f32<VectorBuilder>>, nearest>},
    {Opcode::v_rsq_f32, alu_vec<float, 1, eight_lanes<trans::rsq_f32<VectorBuilder>>, nearest>},
    {Opcode::v_sqrt_f32, alu_vec<float, 1, [](__m256 a) { return _mm256_sqrt_ps(a); }, nearest>},
    {Opcode::v_sin_f32, alu_vec<float, 1, eight_lanes<trans::sin_f32<VectorBuilder>>, nearest>},
    {Opcode::v_cos_f32, alu_vec<float, 1, eight_lanes<trans::cos_f32<VectorBuilder>>, nearest>},

    {Opcode::v_log_clamp_f32, alu_vec<float, 1, log_clamp, nearest>},
    {Opcode::v_rcp_clamp_f32, alu_vec<float, 1, bounded<eight_lanes<trans::rcp_f32<VectorBuilder>>>, nearest>},
    {Opcode::v_rcp_legacy_f32, alu_vec<float, 1, bounded<eight_lanes<trans::rcp_f32<VectorBuilder>>, true>, nearest>},
    {Opcode::v_rsq_clamp_f32, alu_vec<float, 1, bounded<eight_lanes<trans::rsq_f32<VectorBuilder>>>, nearest>},
    {Opcode::v_rsq_legacy_f32, alu_vec<float, 1, bounded<eight_lanes<trans::rsq_f32<VectorBuilder>>, true>, nearest>},
    {Opcode::v_min_legacy_f32, alu<min_legacy>},
    {Opcode::v_max_legacy_f32, alu<max_legacy>},
    {Opcode::v_frexp_exp_i32_f32_gfx6, alu<frexp_exponent_gfx6>},
    {Opcode::v_frexp_mant_f32_gfx6, alu<frexp_mantissa_gfx6>},

    {Opcode::v_cubeid_f32, alu<cube_op<0>>},
    {Opcode::v_cubesc_f32, alu<cube_op<1>>},
    {Opcode::v_cubetc_f32, alu<cube_op<2>>},
    {Opcode::v_cubema_f32, alu<cube_op<3>>},
    {Opcode::v_div_fixup_f32, alu<[](float a, float b, float c) { return gf::div_fixup(a, b, c); }>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_f32_handlers() {
    return table;
}

}  // namespace wj::interp
