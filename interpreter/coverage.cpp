#include "interpreter/coverage.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "frontend/effects.h"
#include "frontend/encoding.h"
#include "frontend/refused.h"
#include "interpreter/interpreter.h"

namespace wj::interp {

namespace {

struct Rule {
    std::string_view prefix;
    const char* note;
};

// The first rule whose prefix fits counts.
constexpr Rule refused_rules[] = {
    {"image_", "textures and images are not emulated"},
    {"exp", "exports go to render targets"},
    {"v_interp", "interpolation of pixel shader inputs"},
    {"v_wmma_ld_scale",
     "the first half of a scaled product, alone not an instruction (CDNA5 ISA, 7.12.6)"},
    {"lds_param_load", "parameters of pixel shaders"},
    {"ds_bvh_stack", "traversal of ray tracing's trees"},
    {"ds_add_gs_reg", "counters of geometry shaders"},
    {"ds_sub_gs_reg", "counters of geometry shaders"},
    {"global_load_tr", "which lane gets which element of a transposed load is not published"},
    {"ds_load_tr", "which lane gets which element of a transposed load is not published"},
    {"tensor_", "the engine that moves tensors to and from the LDS"},
    {"s_wakeup_barrier", "which waves it wakes, and from what, is not published"},
    {"ds_atomic_async_barrier", "barriers in the LDS"},
    {"ds_atomic_barrier", "barriers in the LDS"},
    {"v_cvt_sr_pk_f16_f32",
     "AMD's pseudo-code adds 16 bits of the seed where 13 are dropped (CDNA5 ISA, 15.14)"},
    {"global_atomic_ordered_add", "orders waves of geometry shaders"},
    {"s_alloc_vgpr", "vector registers whose number changes while a wave runs"},
    {"s_subvector_loop", "loops over halves of a wave of 64 lanes"},
    {"v_mfma_ld_scale_b32",
     "the first half of a scaled product, alone not an instruction (CDNA4 ISA, 7.2.1)"},
};

constexpr const char* approximation =
    "AMD documents 1 ULP; here: docs/reference/float.md, approximations";
constexpr const char* sparse_order =
    "the hardware's order of additions is neither documented nor published (arXiv 2511.10909 "
    "measured dense products); here by groups of lanes, in each ascending k, each step rounded "
    "once";
constexpr const char* dot_order =
    "each addition rounded, as in AMD's pseudo-code; LLVM's authors believe that the hardware "
    "rounds once (reviews.llvm.org/D49146)";
constexpr const char* matrix_order =
    "gfx942: as measured on hardware (docs/reference/float.md); of gfx950 no measurement is "
    "published: here "
    "ascending k, each step rounded once, scales applied to the operands";
constexpr const char* wave_order =
    "the hardware's order of additions is not published: here ascending k, each step rounded once, "
    "16-bit results once more; FP16_OVFL on gfx12.5 is refused, but for f32";
constexpr const char* sparse_nibbles =
    "as AMD's documents have it; a fork of ggml reports that gfx1201 takes the elements of a byte "
    "in the other order; 16x16x32 in waves of 64 lanes is refused, as the documents contradict "
    "themselves";
constexpr const char* stochastic =
    "either neighbour of the exact value; the seed's use is documented in part";
constexpr const char* scaled_nan =
    "exact but for NaN as scale and NaN into formats that have none, which is not documented";
constexpr const char* mixed_denormals =
    "exact unless MODE treats f16 and f32 denormals differently: 16-bit sources follow the f32 "
    "field, as measured (docs/reference/float.md), the result its own";
constexpr const char* swapped_lanes =
    "exact when all lanes are active; else EXEC, FI and BOUND_CTRL are ignored, as in AMD's "
    "pseudo-code";
constexpr const char* signalling_bf16 =
    "exact but for signalling NaN, here passed on unchanged, as in AMD's pseudo-code";
constexpr const char* bf16_mode =
    "exact but for the payload of NaN; refused where MODE rounds or flushes, as it is not "
    "published "
    "which of its fields count";
constexpr const char* flushed_half =
    "exact; refused where MODE flushes denormals of 16 bits, as it is not published whether it "
    "counts";
constexpr const char* leave_scc = "exact but for SCC, of which no document tells: here 0";
constexpr const char* clamped_bound = "exact; CLAMP is refused, as its meaning is not published";
constexpr const char* lanes_off =
    "exact where the lanes that are read are active; of others it is not published: here they are "
    "read";
constexpr const char* scalar_half =
    "exact but for the upper half of the SGPR, of which AMD's documents do not tell: here 0";
constexpr const char* rounded_once =
    "rounded from the exact value; the hardware's error is not published";
constexpr const char* of_last_bits[] = {approximation, sparse_order, dot_order,   matrix_order,
                                        wave_order,    stochastic,   rounded_once};
constexpr Rule bounded_rules[] = {
    {"v_rcp_", approximation},
    {"v_rsq_", approximation},
    {"v_sqrt_", approximation},
    {"v_exp_", approximation},
    {"v_log_", approximation},
    {"v_sin_", approximation},
    {"v_cos_", approximation},
    {"v_mfma_i32", nullptr},
    {"v_smfmac_i32", nullptr},
    {"v_mfma_", matrix_order},
    {"v_wmma_i32", nullptr},
    {"v_wmma_", wave_order},
    {"v_swmmac_i32_16x16x32_iu4", sparse_nibbles},
    {"v_swmmac_i32_16x16x64_iu4", sparse_nibbles},
    {"v_swmmac_i32", nullptr},
    {"v_swmmac_", wave_order},
    {"v_smfmac_", sparse_order},
    {"v_dot2_f32", dot_order},
    {"v_dot2c_f32", dot_order},
    {"v_cvt_sr_", stochastic},
    {"v_cvt_scalef32_sr_", stochastic},
    {"v_cvt_scalef32_", scaled_nan},
    {"v_cvt_scale_pk", scaled_nan},
    {"v_fma_mix", mixed_denormals},
    {"v_permlane16_swap", swapped_lanes},
    {"v_permlane32_swap", swapped_lanes},
    {"v_cvt_f32_bf16", signalling_bf16},
    {"v_tanh_", rounded_once},
    {"v_cvt_f16_bf8", flushed_half},
    {"s_barrier_leave", leave_scc},
    {"v_cvt_pk_f16_bf8", flushed_half},
    {"v_pk_fma_bf16", bf16_mode},
    {"v_pk_add_bf16", bf16_mode},
    {"v_pk_mul_bf16", bf16_mode},
    {"v_pk_min_num_bf16", bf16_mode},
    {"v_pk_max_num_bf16", bf16_mode},
    {"v_add_max_", clamped_bound},
    {"v_add_min_", clamped_bound},
    {"v_pk_add_max_", clamped_bound},
    {"v_pk_add_min_", clamped_bound},
    {"v_permlane_idx_gen", nullptr},
    {"v_permlane_", lanes_off},
    {"v_dot2_f16", dot_order},
    {"v_dot2_bf16", dot_order},
    {"v_dot4_f32", dot_order},
    {"v_dual_dot2acc", dot_order},
    {"v_s_", approximation},
    {"s_cvt_f16_f32", scalar_half},
    {"s_rndne_f16", scalar_half},
    {"s_trunc_f16", scalar_half},
    {"s_floor_f16", scalar_half},
    {"s_ceil_f16", scalar_half},
    {"s_maximum_f16", scalar_half},
    {"s_minimum_f16", scalar_half},
    {"s_max_num_f16", scalar_half},
    {"s_min_num_f16", scalar_half},
    {"s_max_f16", scalar_half},
    {"s_min_f16", scalar_half},
    {"s_fmac_f16", scalar_half},
    {"s_mul_f16", scalar_half},
    {"s_sub_f16", scalar_half},
    {"s_add_f16", scalar_half},
};

// Matrix instructions of gfx908, gfx90a and gfx942 add up as was measured on hardware
// (docs/reference/float.md); those that gfx950 has, too, stay bounded.
bool sums_measured(std::string_view name) {
    if (!name.starts_with("v_mfma_f")) return false;
    if (name.ends_with("f32") || name.ends_with("f64") || name.ends_with("bf16_1k")) return true;
    if (!name.ends_with("f16")) return false;
    name.remove_suffix(name.ends_with("bf16") ? 4 : 3);
    return name.back() != '_';  // "16x16x16f16": the names before gfx940
}

template <size_t N>
const char* first_note(const Rule (&rules)[N], std::string_view name) {
    for (const Rule& r : rules)
        if (name.starts_with(r.prefix)) return r.note;
    return nullptr;
}

// Forms that the handlers refuse when they run.
const char* refused_form(const Traits& traits, const Inst& in) {
    if (const char* operand = refused_operand(traits, in)) return operand;
    if (in.gds && encoding_info(in.op).lds_only)
        return "gds on an instruction that the data share does not have";
    if (in.op == Opcode::ds_ordered_count && in.offset >> 13 & 1)
        return "ds_ordered_count: wrap and reserved operations";
    if ((in.op == Opcode::v_dot2_f16_f16 || in.op == Opcode::v_dot2_bf16_bf16) &&
        ((in.neg | in.abs) & 3) != 0)
        return "NEG or ABS of a packed source: not documented";
    if (in.lds && effects(in.op).partial) return "d16 load to LDS";
    if (in.clamp && traits.rdna4_products &&
        (in.op == Opcode::v_cvt_f32_fp8 || in.op == Opcode::v_cvt_pk_fp8_f32 ||
         in.op == Opcode::v_cvt_sr_fp8_f32))
        return "conversions of E5M3";
    return nullptr;
}

}  // namespace

Coverage coverage(Opcode op) {
    const std::string_view name = op_info(op).name;
    if (!handler(op)) {
        const char* why = first_note(refused_rules, name);
        return {Fidelity::Refused, why ? why : unexplained};
    }
    if (sums_measured(name)) return {};
    if (const char* note = first_note(bounded_rules, name))
        return {Fidelity::Bounded, note,
                std::ranges::find(of_last_bits, note) != std::end(of_last_bits)};
    return {};
}

Coverage coverage(const Traits& traits, const Inst& inst) {
    if (inst.illegal_operand)
        return {Fidelity::Refused, "an operand that the instruction cannot take"};
    if (const char* form = refused_form(traits, inst)) return {Fidelity::Refused, form};
    return coverage(inst.op);
}

}  // namespace wj::interp
