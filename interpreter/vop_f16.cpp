// f16 arithmetic. Results of instructions that are new in gfx9 leave the other half of the register
// alone; the older ones clear it, until gfx10 (AMD pseudo-code, "D0 = { 16'0, tmp }"; LLVM
// GCNSubtarget::zeroesHigh16BitsOfDest; Traits::keeps_high_half).
#include "common/transcendental.h"
#include "interpreter/valu.h"

namespace wj::interp {

namespace {

constexpr auto mad_op = [](const FloatMode& m, Half a, Half b, Half c) {
    return gf::mad(m, a, b, c);
};
constexpr auto fma_op = [](Half a, Half b, Half c) { return gf::fma(a, b, c); };
constexpr auto fixup_op = [](Half a, Half b, Half c) { return gf::div_fixup(a, b, c); };

// Computed in f32, rounded once more.
template <auto F>
constexpr auto through_f32 = [](Half a) { return gf::to_half(F(gf::to_float(a))); };

constexpr uint32_t special = nearest | no_ovfl;

// clang-format off
constexpr HandlerEntry table[] = {
    {Opcode::v_add_f16, alu<[](Half a, Half b) { return gf::add(a, b); }>},
    {Opcode::v_sub_f16, alu<[](Half a, Half b) { return gf::sub(a, b); }>},
    {Opcode::v_subrev_f16, alu<[](Half a, Half b) { return gf::sub(b, a); }>},
    {Opcode::v_mul_f16, alu<[](Half a, Half b) { return gf::mul(a, b); }>},
    {Opcode::v_mac_f16, alu<mad_op, addend>},
    {Opcode::v_madmk_f16, alu<mad_op>},
    {Opcode::v_madak_f16, alu<mad_op>},
    {Opcode::v_mad_f16, alu<mad_op, preserve_high>},
    {Opcode::v_mad_legacy_f16, alu<mad_op>},
    {Opcode::v_fma_f16, alu<fma_op, preserve_high>},
    {Opcode::v_fmac_f16, alu<fma_op, addend>},
    {Opcode::v_fmamk_f16, alu<fma_op>},
    {Opcode::v_fmaak_f16, alu<fma_op>},
    {Opcode::v_fma_legacy_f16, alu<fma_op>},
    {Opcode::v_div_fixup_f16, alu<fixup_op, preserve_high | no_ovfl>},
    {Opcode::v_div_fixup_legacy_f16, alu<fixup_op, no_ovfl>},
    {Opcode::v_min_f16, alu<[](const FloatMode& m, Half a, Half b) { return gf::min(m, a, b); }>},
    {Opcode::v_max_f16, alu<[](const FloatMode& m, Half a, Half b) { return gf::max(m, a, b); }>},
    {Opcode::v_min3_f16, alu<[](const FloatMode& m, Half a, Half b, Half c) { return gf::min(m, gf::min(m, a, b), c); }, preserve_high>},
    {Opcode::v_max3_f16, alu<[](const FloatMode& m, Half a, Half b, Half c) { return gf::max(m, gf::max(m, a, b), c); }, preserve_high>},
    {Opcode::v_med3_f16, alu<[](const FloatMode& m, Half a, Half b, Half c) { return gf::med3(m, a, b, c); }, preserve_high>},
    {Opcode::v_minmax_f16, alu<[](const FloatMode& m, Half a, Half b, Half c) { return gf::max(m, gf::min(m, a, b), c); }>},
    {Opcode::v_maxmin_f16, alu<[](const FloatMode& m, Half a, Half b, Half c) { return gf::min(m, gf::max(m, a, b), c); }>},
    {Opcode::v_min_num_f16, alu<[](Half a, Half b) { return gf::min_number(a, b); }>},
    {Opcode::v_max_num_f16, alu<[](Half a, Half b) { return gf::max_number(a, b); }>},
    {Opcode::v_min3_num_f16, alu<[](Half a, Half b, Half c) { return gf::min_number(gf::min_number(a, b), c); }>},
    {Opcode::v_max3_num_f16, alu<[](Half a, Half b, Half c) { return gf::max_number(gf::max_number(a, b), c); }>},
    {Opcode::v_med3_num_f16, alu<[](Half a, Half b, Half c) { return gf::med3_number(a, b, c); }>},
    {Opcode::v_minmax_num_f16, alu<[](Half a, Half b, Half c) { return gf::max_number(gf::min_number(a, b), c); }>},
    {Opcode::v_maxmin_num_f16, alu<[](Half a, Half b, Half c) { return gf::min_number(gf::max_number(a, b), c); }>},
    {Opcode::v_minimum_f16, alu<[](Half a, Half b) { return gf::minimum(a, b); }>},
    {Opcode::v_maximum_f16, alu<[](Half a, Half b) { return gf::maximum(a, b); }>},
    {Opcode::v_minimummaximum_f16, alu<[](Half a, Half b, Half c) { return gf::maximum(gf::minimum(a, b), c); }>},
    {Opcode::v_maximumminimum_f16, alu<[](Half a, Half b, Half c) { return gf::minimum(gf::maximum(a, b), c); }>},
    {Opcode::v_ldexp_f16, alu<[](Half a, int16_t b) { return gf::ldexp(a, b); }>},
    {Opcode::v_frexp_mant_f16, alu<[](Half a) { return gf::frexp_mantissa(a); }>},
    {Opcode::v_frexp_exp_i16_f16, alu<[](Half a) { return static_cast<int16_t>(gf::frexp_exponent(a)); }>},
    {Opcode::v_floor_f16, alu<[](Half a) { return gf::floor(a); }>},
    {Opcode::v_ceil_f16, alu<[](Half a) { return gf::ceil(a); }>},
    {Opcode::v_trunc_f16, alu<[](Half a) { return gf::trunc(a); }>},
    {Opcode::v_rndne_f16, alu<[](Half a) { return gf::rndne(a); }>},
    {Opcode::v_fract_f16, alu<[](Half a) { return gf::fract(a); }>},
    {Opcode::v_rcp_f16, alu<through_f32<trans::rcp>, special>},
    {Opcode::v_rsq_f16, alu<through_f32<trans::rsq>, special>},
    {Opcode::v_sqrt_f16, alu<[](Half a) { return gf::sqrt(a); }, special>},
    {Opcode::v_exp_f16, alu<through_f32<trans::exp2>, nearest>},
    {Opcode::v_log_f16, alu<through_f32<trans::log2>, special>},
    {Opcode::v_sin_f16, alu<through_f32<trans::sin>, special>},
    {Opcode::v_cos_f16, alu<through_f32<trans::cos>, special>},
};
// clang-format on

}  // namespace

std::span<const HandlerEntry> vop_f16_handlers() {
    return table;
}

}  // namespace wj::interp
