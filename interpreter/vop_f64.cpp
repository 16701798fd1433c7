// f64 arithmetic.
#include <bit>
#include <cmath>
#include <limits>

#include "interpreter/valu.h"

namespace wj::interp {

namespace {

constexpr auto add_op = [](auto a, auto b) { return gf::add(a, b); };
constexpr auto mul_op = [](auto a, auto b) { return gf::mul(a, b); };
constexpr auto fma_op = [](auto a, auto b, auto c) { return gf::fma(a, b, c); };

// gfx6 and gfx7: infinite results become the largest number of their sign.
double bounded(double x) {
    return gf::is_inf(x) ? std::copysign(std::numeric_limits<double>::max(), x) : x;
}

// gfx6's exponent of infinity and NaN is -1, and infinity's mantissa NaN (CLRX, "GCN ISA VOP1").
constexpr auto frexp_exponent_gfx6 = [](double a) {
    return gf::is_inf(a) || gf::is_nan(a) ? -1 : gf::frexp_exponent(a);
};
constexpr auto frexp_mantissa_gfx6 = [](double a) {
    constexpr uint64_t negative_nan = 0xfff8000000000000;
    return gf::is_inf(a) ? std::bit_cast<double>(negative_nan) : gf::frexp_mantissa(a);
};

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_add_f64, alu_vec<double, 2, add_op>},
    {Opcode::v_mul_f64, alu_vec<double, 2, mul_op>},
    {Opcode::v_fma_f64, alu_vec<double, 3, fma_op>},
    {Opcode::v_fmac_f64, alu_vec<double, 3, fma_op, addend>},
    {Opcode::v_fmamk_f64, alu_vec<double, 3, fma_op>},
    {Opcode::v_fmaak_f64, alu_vec<double, 3, fma_op>},
    {Opcode::v_min_f64, alu<[](const FloatMode& m, double a, double b) { return gf::min(m, a, b); }>},
    {Opcode::v_max_f64, alu<[](const FloatMode& m, double a, double b) { return gf::max(m, a, b); }>},
    {Opcode::v_min_num_f64, alu<[](double a, double b) { return gf::min_number(a, b); }>},
    {Opcode::v_max_num_f64, alu<[](double a, double b) { return gf::max_number(a, b); }>},
    {Opcode::v_minimum_f64, alu<[](double a, double b) { return gf::minimum(a, b); }>},
    {Opcode::v_maximum_f64, alu<[](double a, double b) { return gf::maximum(a, b); }>},
    {Opcode::v_fract_f64, alu<[](double a) { return gf::fract(a); }>},
    {Opcode::v_trunc_f64, alu<[](double a) { return gf::trunc(a); }>},
    {Opcode::v_ceil_f64, alu<[](double a) { return gf::ceil(a); }>},
    {Opcode::v_rndne_f64, alu<[](double a) { return gf::rndne(a); }>},
    {Opcode::v_floor_f64, alu<[](double a) { return gf::floor(a); }>},
    {Opcode::v_ldexp_f64, alu<[](double a, int32_t b) { return gf::ldexp(a, b); }>},
    {Opcode::v_frexp_exp_i32_f64, alu<[](double a) { return gf::frexp_exponent(a); }>},
    {Opcode::v_frexp_mant_f64, alu<[](double a) { return gf::frexp_mantissa(a); }>},
    // The hardware approximates; these are correctly rounded (rsq: two roundings).
    {Opcode::v_rcp_f64, alu<[](double a) { return gf::div(1.0, a); }, nearest>},
    {Opcode::v_rsq_f64, alu<[](double a) { return gf::div(1.0, gf::sqrt(a)); }, nearest>},
    {Opcode::v_rcp_clamp_f64, alu<[](double a) { return bounded(gf::div(1.0, a)); }, nearest>},
    {Opcode::v_rsq_clamp_f64, alu<[](double a) { return bounded(gf::div(1.0, gf::sqrt(a))); }, nearest>},
    {Opcode::v_frexp_exp_i32_f64_gfx6, alu<frexp_exponent_gfx6>},
    {Opcode::v_frexp_mant_f64_gfx6, alu<frexp_mantissa_gfx6>},
    {Opcode::v_sqrt_f64, alu<[](double a) { return gf::sqrt(a); }, nearest>},
    {Opcode::v_trig_preop_f64, alu<[](double a, uint32_t b) { return gf::trig_preop(a, b); }>},
    {Opcode::v_div_fixup_f64, alu<[](double a, double b, double c) { return gf::div_fixup(a, b, c); }>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_f64_handlers() {
    return table;
}

}  // namespace wj::interp
