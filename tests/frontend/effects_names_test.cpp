// Effects as rows say them, against a second reckoning: rules on names, which hold for the
// instructions of gfx9 alone. Where the two differ, the row is right, and the list says why.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "frontend/effects.h"

namespace wj {
namespace {

struct Named {
    bool reads_scc, writes_scc, reads_vcc, across, partial, opaque, leaves;
    ExecChange exec;
};

bool has(std::string_view name, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&](std::string_view part) { return name.find(part) != name.npos; });
}

Named by_name(const OpInfo& info) {
    const std::string_view n = info.name;
    const bool scalar = info.format <= Format::SOPC;
    Named t{};
    t.opaque = has(
        n, {"setpc", "swappc", "s_add_pc", "s_call", "s_rfe", "fork", "join", "movrel", "gpr_idx",
            "setvskip", "cdbg", "s_trap", "s_endpgm_", "swaprel", "subvector", "code_end"});
    t.leaves = has(n, {"branch", "setpc", "s_add_pc", "swappc", "s_call", "endpgm", "s_barrier",
                       "s_sleep", "s_rfe", "s_trap", "halt", "setvskip", "subvector", "code_end"});
    t.reads_vcc = n.starts_with("v_div_fmas") || n.find("vcc") != n.npos;
    t.reads_scc = has(n, {"s_addc_u32", "s_subb_u32", "s_cselect", "s_cmov", "_scc"});
    t.writes_scc = info.format == Format::SOPC || has(n, {"saveexec", "wrexec", "s_cmpk"}) ||
                   (info.format == Format::SOP2 &&
                    has(n, {"s_add", "s_sub", "s_min", "s_max", "s_and", "s_or", "s_xor", "s_nand",
                            "s_nor", "s_xnor", "s_lsh", "s_ashr", "s_bfe", "s_absdiff"}));
    t.across = has(n, {"lane", "permute", "swizzle", "mfma", "smfmac", "accvgpr", "swap"});
    if (scalar)
        t.partial = has(n, {"cmov", "bitset", "addk", "mulk", "setreg", "subvector", "s_fmac"});
    else if (info.format == Format::SMEM)
        t.partial = !n.starts_with("s_load");
    else if (info.format >= Format::DS && info.format <= Format::VSAMPLE)
        t.partial =
            n.find("_block") != n.npos || (n.find("load") == n.npos && n.find("ds_read") == n.npos);
    else
        t.partial =
            has(n, {"mac", "writelane", "swap", "mix", "mfma", "cvt_sr", "scalef32", "permlane",
                    "interp", "pkaccum", "ashr_pk", "movreld", "movrelsd", "sat_pk4"}) ||
            (n.find("dot") != n.npos && n.find("c_") != n.npos);
    if (!scalar && info.format != Format::SMEM && has(n, {"16", "fp8", "bf8"})) t.partial = true;
    if (has(n, {"saveexec", "wrexec"}))
        t.exec = n.starts_with("s_and_") || n.starts_with("s_andn1_") ? ExecChange::Narrowed
                 : n.starts_with("s_or_") || n.starts_with("s_orn1_") ? ExecChange::Widened
                                                                      : ExecChange::Changed;
    else if (n.find("subvector") != n.npos)
        t.exec = ExecChange::Changed;
    else if (n.find("cmpx") != n.npos || n.find("cmpsx") != n.npos)
        t.exec = ExecChange::Narrowed;
    return t;
}

struct Difference {
    std::string_view what, names;  // blank-separated parts of names
    std::string_view why;
};

constexpr Difference differences[] = {
    {"writes_scc", "s_setvskip s_set_gpr_idx_on", "compares' format, but no compares"},
    {"writes_scc", "s_not_ s_wqm s_bcnt s_quadmask s_abs_i32 s_addk_i32",
     "the name does not tell; SCC is written (Vega ISA, SOP1 and SOPK)"},
    {"writes_scc",
     "s_add_f s_sub_f s_min_f s_max_f s_min_num s_max_num s_minimum s_maximum s_add_nc s_sub_nc",
     "floats and wide sums without a carry leave SCC (RDNA 3.5 and 4 ISA, SOP2)"},
    {"writes_scc", "s_alloc_vgpr s_barrier_leave s_barrier_signal_isfirst",
     "SCC tells whether they succeeded"},
    {"opaque", "_async_ tensor_", "memory and the LDS, at another time"},
    {"across", "v_permlane_idx_gen", "makes the numbers of lanes, and reads none"},
    {"partial", "v_permlane_idx_gen", "the numbers are written whole"},
    {"partial", "v_cvt_scale v_cvt_sr_pk v_perm_pk16", "whole dwords of small floats"},
    {"across", "v_wmma v_swmmac global_load_tr ds_load_tr", "a matrix lies in all lanes"},
    {"across", "lds_param_load v_interp_p10 v_interp_p2", "the lanes of a quad work together"},
    {"leaves", "s_barrier_signal s_barrier_init s_barrier_join s_barrier_leave",
     "s_barrier_wait is what waits"},
    {"opaque", "s_barrier_ s_wakeup_barrier s_alloc_vgpr s_set_vgpr_msb _gs_reg_",
     "state outside of the wave's registers"},
    {"across", "swap", "exchanges within a lane; atomics of that name are no permutations"},
    {"exec", "fork s_cbranch_join", "they choose lanes"},
    {"leaves", "s_monitor_sleep", "sleeps until the memory that it watches changes"},
    {"leaves", "ds_gws_barrier", "waits by running again, not by leaving"},
    {"partial",
     "v_cvt_f32_ v_cvt_pk v_sat_pk v_sad_ v_qsad v_mqsad v_mad_u32 v_mad_i32 v_pack v_dot2_",
     "whole dwords made of operands of 16 and 8 bits"},
    {"partial", "v_pk_ v_mad_mix_f32 v_fma_mix_f32", "both halves, or a result of 32 bits"},
    {"partial", "v_wmma v_cvt_i32_i16 v_cvt_u32_u16 v_dot4_f32 v_s_ v_permlane64 v_interp_p10",
     "whole dwords, or scalars"},
    {"partial", "v_interp_p2_f32_vinterp", "a whole dword from three operands"},
    {"partial", "_gs_reg_", "the old value is written whole"},
    {"partial", "v_cmp", "masks are written whole"},
    {"partial", "ds_read_u16 ds_read_i16 ds_read_b64_tr ds_load_tr", "upper halves are cleared"},
    {"partial",
     "atomic _rtn_ ds_consume ds_append ds_ordered ds_swizzle permute s_memtime s_memrealtime "
     "s_get_waveid",
     "all that memory instructions return is written, not only what is loaded"},
};

bool explained(std::string_view what, std::string_view name) {
    for (const Difference& d : differences) {
        if (d.what != what) continue;
        std::string_view rest = d.names;
        while (!rest.empty()) {
            const size_t end = std::min(rest.find(' '), rest.size());
            if (name.find(rest.substr(0, end)) != name.npos) return true;
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    return false;
}

TEST(EffectsOfRows, DifferFromWhatNamesTellAsExplained) {
    for (size_t i = 1; i < opcode_count; ++i) {
        const Opcode op = static_cast<Opcode>(i);
        const OpInfo& info = op_info(op);
        const Effects& e = effects(op);
        const Named n = by_name(info);
        auto compare = [&](std::string_view what, bool same) {
            EXPECT_TRUE(same || explained(what, info.name)) << what << " of " << info.name;
        };
        compare("reads_scc", n.reads_scc == e.reads_scc);
        compare("writes_scc", n.writes_scc == e.writes_scc);
        compare("reads_vcc", n.reads_vcc == e.reads_vcc);
        compare("across", n.across == e.across);
        if (info.dst_count) compare("partial", n.partial == e.partial);
        compare("opaque", n.opaque == (e.opaque || e.indexed || e.flow == Flow::Call ||
                                       e.flow == Flow::Jump));
        compare("leaves", n.leaves == leaves_block(e));
        compare("exec", n.exec == e.exec);
        EXPECT_TRUE(n.partial || !e.partial) << info.name << " is partial by its row only";
    }
}

}  // namespace
}  // namespace wj
