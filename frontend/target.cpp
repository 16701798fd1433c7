#include "frontend/target.h"

#include <array>
#include <iterator>

// Processor numbers: LLVM "User Guide for AMDGPU Backend", ELF header e_flags EF_AMDGPU_MACH
// values. Traits: the "Processors" table of the same page and the CDNA/Vega ISA manuals; GDS: the
// Linux driver's gfx_v9_0_set_gds_init.

namespace wj {
namespace {

constexpr Traits vega{.wave_size = 64,
                      .lds_bytes = 65536,
                      .lds_granule = 512,
                      .vgpr_granule = 4,
                      .unified_vgprs = false,
                      .has_agprs = false,
                      .packed_workitem_id = false,
                      .architected_flat_scratch = false,
                      .aligned_vgpr_tuples = false,
                      .mad_flushes_denorms = true,
                      .xnack_selectable = true,
                      .sramecc_selectable = false,
                      .gds_bytes = 65536,
                      .gds_max_wave_id = 0x7ff};

constexpr Traits with_gds(Traits t, uint32_t bytes, uint32_t max_wave_id) {
    t.gds_bytes = bytes;
    t.gds_max_wave_id = max_wave_id;
    return t;
}

// Volcanic Islands.
constexpr Traits gcn3(bool xnack, bool unpacked_d16 = true) {
    Traits t = vega;
    t.unpacked_d16 = unpacked_d16;
    t.buffer_records = BufferRecords::Gfx8;
    t.buffer_elements = true;
    t.m0_bounds_lds = true;
    t.flat_scratch_base = false;
    t.flat_offsets = false;
    t.wide_vmcnt = false;
    t.swizzle_rotates = false;
    t.xnack_selectable = xnack;
    t.scalar_registers.trap_base = 108;
    t.scalar_registers.ttmp = 112;
    t.scalar_registers.ttmp_count = 12;
    t.scalar_registers.has_apertures = false;
    return t;
}

// Sea Islands. What differs from gfx8: AMD's ISA documents of both, LLVM's features of
// processors, and the notes on GCN 1.0 and 1.1 of CLRX ("GCN ISA VOP1", "GCN Memory handling"),
// which were found out on hardware.
constexpr Traits gcn2() {
    Traits t = gcn3(false);
    t.buffer_records = BufferRecords::Gfx6;
    t.scalar_registers.has_inv_2pi = false;
    t.scalar_registers.count = 104;
    t.scalar_registers.flat_scratch = 104;
    t.scalar_registers.xnack_mask = 0;
    return t;
}

// Southern Islands.
constexpr Traits gcn1() {
    Traits t = gcn2();
    t.lds_bytes = 32768;
    t.lds_granule = 256;
    t.scalar_registers.flat_scratch = 0;
    return t;
}

constexpr Traits vega20() {
    Traits t = vega;
    t.sramecc_selectable = true;
    t.sramecc = true;
    return t;
}

constexpr Traits cdna1() {
    Traits t = with_gds(vega20(), 4096, 0xfff);
    t.has_agprs = true;
    t.matrix_sum = MatrixSum::Pairs;
    return t;
}

constexpr Traits cdna2() {
    Traits t = with_gds(cdna1(), 0, 0);
    t.vgpr_granule = 8;
    t.simd_vgprs = 512;
    t.matrix_sum = MatrixSum::PairsFlushed;
    t.dot2_flushes_sources = true;
    t.unified_vgprs = true;
    t.packed_workitem_id = true;
    t.aligned_vgpr_tuples = true;
    t.wide_dpp = true;
    return t;
}

constexpr Traits cdna3() {
    Traits t = cdna2();
    t.architected_flat_scratch = true;
    t.memory_scopes = true;
    t.matrix_sum = MatrixSum::Aligned;
    t.dot2_flushes_sources = false;
    t.matrix_obeys_mode = true;
    t.mad_flushes_denorms = false;
    t.memory_fadd_f32_keeps_denorms = true;
    return t;
}

constexpr Traits cdna4() {
    Traits t = cdna3();
    t.lds_bytes = 163840;
    t.matrix_sum = MatrixSum::Ascending;
    t.lds_granule = 1280;
    t.ocp_small_floats = true;
    return t;
}

constexpr Traits rdna1() {
    Traits t = with_gds(vega, 65536, 0x4ff);
    t.wave_size = 32;
    t.vgpr_granule = 8;
    t.simd_vgprs = 1024;
    t.has_wgp_mode = true;
    t.scalar_registers = {.count = 106, .flat_scratch = 0, .xnack_mask = 0, .has_null = true};
    t.buffer_records = BufferRecords::Gfx10;
    t.keeps_high_half = true;
    t.unified_formats = true;
    t.gfx10_hwregs = true;
    t.vop3_literals = true;
    t.cmpx_writes_exec = true;
    t.row_share = true;
    t.has_prim_export = true;
    t.dpp_pairs = false;
    t.wide_lgkmcnt = true;
    return t;
}

constexpr Traits rdna2() {
    Traits t = with_gds(rdna1(), 65536, 0x9ff);
    t.vgpr_granule = 16;
    t.lds_granule = 1024;
    t.xnack_selectable = false;
    t.has_hold_cnt = true;
    t.scratch_without_address = true;
    t.has_shader_cycles = true;
    return t;
}

// wide: half again as many registers (LLVM Feature1_5xVGPRs).
constexpr Traits rdna3(bool wide) {
    Traits t = rdna2();
    if (wide) t.vgpr_granule = 24, t.simd_vgprs = 1536;
    t.packed_workitem_id = true;
    t.architected_flat_scratch = true;
    t.memory_fadd_f32_keeps_denorms = true;
    t.gfx11_buffers = true;
    t.wide_gpr_alloc = true;
    t.scalar_registers.m0 = 125;
    t.scalar_registers.null = 124;
    t.scratch_without_address = false;  // a bit for the VGPR, as gfx940
    t.has_dual_blend_export = true;
    t.true16 = true;
    t.vop3_dpp = true;
    t.atomic_dlc = true;
    t.wide_messages = true;
    t.image_registers = 5;
    t.vm_highest = true;
    return t;
}

constexpr Traits rdna35(bool wide) {
    Traits t = rdna3(wide);
    t.dpp_scalar_source = true;
    return t;
}

constexpr Traits rdna4() {
    Traits t = with_gds(rdna35(true), 0, 0);
    t.workgroup_ids_in_ttmp = true;
    t.ocp_small_floats = true;
    t.has_ieee_mode = false;
    t.split_barriers = true;
    t.atomics_prefer_numbers = true;
    t.gfx12_hwregs = true;
    t.signed_flat_offsets = true;
    t.rdna4_products = true;
    t.image_registers = 4;
    return t;
}

// pairs: DPP of 64 bits, as gfx1251 has it.
constexpr Traits gfx125(bool pairs) {
    Traits t = rdna4();
    t.dpp_pairs = t.wide_dpp = pairs;
    t.vgpr_granule = 16;
    t.simd_vgprs = 1024;
    t.has_wgp_mode = false;
    t.lds_bytes = 327680;
    t.lds_granule = 2048;
    t.sramecc = true;
    t.preload_prologue = false;
    t.work_group_clusters = true;
    t.signed_saddr_offsets = true;
    t.flat_scratch_has_lane = true;
    t.wide_buffers = true;
    t.vgpr_msb = pairs ? VgprMsbRule::Mode : VgprMsbRule::AnyConstant;
    t.aligned_vgpr_tuples = true;
    t.wide_literals = true;
    t.flat_saddr = true;
    t.waves_of_64 = false;
    return t;
}

constexpr std::array targets{
    Target{"gfx600", Family::g6, 0x20, gcn1()},
    Target{"gfx601", Family::g6, 0x21, gcn1()},
    Target{"gfx602", Family::g6, 0x3a, gcn1()},
    Target{"gfx700", Family::g7, 0x22, gcn2()},
    Target{"gfx701", Family::g7, 0x23, gcn2()},
    Target{"gfx702", Family::g7, 0x24, gcn2()},
    Target{"gfx703", Family::g7, 0x25, gcn2()},
    Target{"gfx704", Family::g7, 0x26, gcn2()},
    Target{"gfx705", Family::g7, 0x3b, gcn2()},
    Target{"gfx801", Family::g8, 0x28, gcn3(true)},
    Target{"gfx802", Family::g8, 0x29, gcn3(false)},
    Target{"gfx803", Family::g8, 0x2a, gcn3(false)},
    Target{"gfx805", Family::g8, 0x3c, gcn3(false)},
    Target{"gfx810", Family::g8, 0x2b, gcn3(true, false)},
    Target{"gfx900", Family::g9, 0x2c, vega},
    Target{"gfx902", Family::g9, 0x2d, with_gds(vega, 4096, 0x15f)},
    Target{"gfx904", Family::g904, 0x2e, with_gds(vega, 65536, 0x27f)},
    Target{"gfx906", Family::g906, 0x2f, vega20()},
    Target{"gfx908", Family::g908, 0x30, cdna1()},
    Target{"gfx909", Family::g9, 0x31, with_gds(vega, 4096, 0x77)},
    Target{"gfx90a", Family::g90a, 0x3f, cdna2()},
    Target{"gfx90c", Family::g9, 0x32, vega},
    Target{"gfx942", Family::g940, 0x4c, cdna3()},
    Target{"gfx950", Family::g950, 0x4f, cdna4()},
    Target{"gfx9-generic", Family::g9_generic, 0x51, vega},
    Target{"gfx9-4-generic", Family::g94_generic, 0x5f, cdna3()},
    Target{"gfx1010", Family::g10, 0x33, rdna1()},
    Target{"gfx1011", Family::g1011, 0x34, rdna1()},
    Target{"gfx1012", Family::g1011, 0x35, rdna1()},
    Target{"gfx1013", Family::g1013, 0x42, rdna1()},
    Target{"gfx1030", Family::g103, 0x36, rdna2()},
    Target{"gfx1031", Family::g103, 0x37, rdna2()},
    Target{"gfx1032", Family::g103, 0x38, rdna2()},
    Target{"gfx1033", Family::g103, 0x39, rdna2()},
    Target{"gfx1034", Family::g103, 0x3e, rdna2()},
    Target{"gfx1035", Family::g103, 0x3d, rdna2()},
    Target{"gfx1036", Family::g103, 0x45, rdna2()},
    Target{"gfx10-1-generic", Family::g10, 0x52, rdna1()},
    Target{"gfx10-3-generic", Family::g103, 0x53, rdna2()},
    Target{"gfx1100", Family::g11, 0x41, rdna3(true)},
    Target{"gfx1101", Family::g11, 0x46, rdna3(true)},
    Target{"gfx1102", Family::g11, 0x47, rdna3(false)},
    Target{"gfx1103", Family::g11, 0x44, rdna3(false)},
    Target{"gfx1150", Family::g115, 0x43, rdna35(false)},
    Target{"gfx1151", Family::g115, 0x4a, rdna35(true)},
    Target{"gfx1152", Family::g115, 0x55, rdna35(false)},
    Target{"gfx1153", Family::g115, 0x58, rdna35(false)},
    Target{"gfx11-generic", Family::g11, 0x54, rdna3(false)},
    Target{"gfx1200", Family::g12, 0x48, rdna4()},
    Target{"gfx1201", Family::g12, 0x4e, rdna4()},
    Target{"gfx12-generic", Family::g12, 0x59, rdna4()},
    Target{"gfx1250", Family::g125, 0x49, gfx125(false)},
    Target{"gfx1251", Family::g125, 0x5a, gfx125(true)},
};

// The processors of `targets` with SRAM-ECC the other way; those that cannot choose stay as they
// are.
constexpr auto other_sramecc = [] {
    auto out = targets;
    for (Target& target : out) target.traits.sramecc ^= target.traits.sramecc_selectable;
    return out;
}();

// The same processors with waves of 64 lanes: each has half as many registers in a SIMD.
constexpr auto targets_64 = [] {
    auto out = targets;
    for (Target& target : out) {
        Traits& t = target.traits;
        if (t.wave_size == 64 || !t.waves_of_64) continue;
        t.wave_size = 64;
        t.vgpr_granule /= 2;
        t.simd_vgprs /= 2;
    }
    return out;
}();

// "amdgcn-amd-amdhsa--gfx90a:xnack-" -> "gfx90a"
std::string_view processor_part(std::string_view name) {
    constexpr std::string_view arch = "amdgcn";
    if (name.substr(0, arch.size()) == arch) {
        const size_t dashes = name.find("--");
        if (dashes == std::string_view::npos) return {};
        name.remove_prefix(dashes + 2);
    }
    return name.substr(0, name.find(':'));
}

const Target* find_processor(std::string_view name, uint32_t wave_size) {
    const std::string_view processor = processor_part(name);
    for (size_t i = 0; i < targets.size(); ++i) {
        if (targets[i].name != processor) continue;
        if (wave_size == 0 || wave_size == targets[i].traits.wave_size) return &targets[i];
        return wave_size == targets_64[i].traits.wave_size ? &targets_64[i] : nullptr;
    }
    return nullptr;
}

}  // namespace

const Target* find_target(std::string_view name, uint32_t wave_size) {
    const Target* target = find_processor(name, wave_size);
    if (!target || !target->traits.sramecc_selectable) return target;
    const bool on = target->traits.sramecc;
    return name.find(on ? ":sramecc-" : ":sramecc+") == std::string_view::npos
               ? target
               : &other_sramecc[static_cast<size_t>(target - targets.data())];
}

const Target* with_wave_size(const Target& target, uint32_t wave_size) {
    return target.traits.wave_size == wave_size ? &target : find_target(target.name, wave_size);
}

const Target* find_target_by_mach(uint32_t elf_mach) {
    for (const Target& target : targets) {
        if (target.elf_mach == elf_mach) return &target;
    }
    return nullptr;
}

std::string supported_target_names() {
    std::string names;
    for (const Target& target : targets) {
        if (!names.empty()) names += ", ";
        names += target.name;
    }
    return names;
}

}  // namespace wj
