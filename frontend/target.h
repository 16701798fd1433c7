// Emulated processors: their encoding family and the named fields in which generations differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace wj {

// Encoding families: the columns of the opcode tables, in the order of
// frontend/tables/families.inc, which names them and says where each takes its codes from.
enum class Family : uint8_t {
#define FAMILY(id, name, parent, vop1_in_vop3) id,
#include "frontend/tables/families.inc"
#undef FAMILY
    count_
};

inline constexpr unsigned family_count = static_cast<unsigned>(Family::count_);

// The high bits of VGPRs' numbers, which are MODE[19:12].
enum class VgprMsbRule : uint8_t {
    None,
    Mode,         // gfx12.5
    AnyConstant,  // gfx1250: s_setreg_imm32_b32 of any field of MODE sets them, too, from bits
                  // 19:12 of the constant (LLVM, FeatureSetregVGPRMSBFixup)
};

// What NUM_RECORDS of a V# counts for vector memory: records of STRIDE bytes, or bytes (Mesa's
// notes on buffer descriptors).
enum class BufferRecords : uint8_t {
    Gfx6,  // records where the V# has a stride and the instruction IDXEN or the V# ADD_TID_ENABLE,
           // which leaves the format of elements alone (gfx8, gfx9: STRIDE[17:14] stands there)
    Gfx8,  // records where the V# swizzles and has a stride
    Gfx9,  // records where the instruction has IDXEN and the V# a stride
    Gfx10  // what OOB_SELECT of the V# says
};

// How matrix instructions add the products of 16-bit and smaller types (interpreter/matrix_sums.h).
enum class MatrixSum : uint8_t {
    Ascending,     // one by one, each fused: not known of gfx950
    Pairs,         // gfx908
    PairsFlushed,  // gfx90a: denormals are 0
    Aligned,       // gfx942
};

// Codes of the scalar registers that do not stand at the same place in all families; 0 = the family
// has no such register. Wave::sgpr is indexed by the code, VCC is 106 and EXEC 126 everywhere.
struct ScalarRegisters {
    uint8_t count = 102;         // s0 and on
    uint8_t flat_scratch = 102;  // a pair, as the following
    uint8_t xnack_mask = 104;
    uint8_t trap_base = 0;  // TBA, and TMA behind it
    uint8_t ttmp = 108, ttmp_count = 16;
    uint8_t m0 = 124, null = 125;  // in the encoding; operands have these numbers in every family
    bool has_null = false;
    // Of sources: gfx9+: the bounds of the LDS and of scratch; gfx8+: 1 / (2 pi), and constants of
    // 16 bits.
    bool has_apertures = true, has_inv_2pi = true;
};

// Behaviour that differs between generations, as named fields. `family >= x` is written nowhere
// else.
struct Traits {
    uint32_t wave_size;    // 64 or 32 lanes. Where kernels choose it, each size is a Target
    uint32_t lds_bytes;    // per work-group limit
    uint32_t lds_granule;  // allocation granule in bytes: out-of-range bound is the rounded size
    // What LDS_SIZE in LDS_ALLOC counts: 64 dwords on gfx6, 128 from gfx7 on.
    uint32_t lds_size_unit() const { return lds_granule < 512 ? lds_granule : 512; }
    uint32_t vgpr_granule;  // registers are allocated in so many; GPR_ALLOC counts these
    bool unified_vgprs;     // gfx90a+: AccVGPRs are the upper part of one file (rsrc3 ACCUM_OFFSET)
    bool has_agprs;         // gfx908+
    bool packed_workitem_id;        // gfx90a+: v0 = x | y << 10 | z << 20
    bool architected_flat_scratch;  // gfx940, gfx11+: hardware sets FLAT_SCRATCH to the wave's base
    bool aligned_vgpr_tuples;       // gfx90a+: even alignment of multi-dword VGPR operands
    bool mad_flushes_denorms;       // v_mad/v_mac f32 always flush
    bool flat_offsets = true;       // gfx9+: flat instructions add an immediate to the address
    bool swizzle_rotates = true;    // gfx9+: ds_swizzle_b32's rotations and FFT
    BufferRecords buffer_records = BufferRecords::Gfx9;
    bool unified_formats = false;  // gfx10+: one number for the format of a buffer's elements
    bool buffer_elements = false;  // gfx8-: a V# has ELEMENT_SIZE, and accesses of several elements
                                   // go on in the next lane's
    bool m0_bounds_lds = false;    // gfx8-: M0 is the size that LDS accesses are checked against
    bool flat_scratch_base = true;   // gfx9+: FLAT_SCRATCH_INIT is an address, not offset and size
    uint32_t simd_vgprs = 256;       // registers of a lane that the waves of a SIMD share
    bool has_wgp_mode = false;       // gfx10+: a work-group has the SIMDs of one compute unit (two)
                                     // or, with WGP_MODE, of two; before: four
    bool keeps_high_half = false;    // gfx10+: 16-bit results leave the register's other half alone
    bool gfx10_hwregs = false;       // FLAT_SCR_LO and FLAT_SCR_HI, HW_ID1 and HW_ID2
    bool has_shader_cycles = false;  // gfx10.3+: a hardware register counts clocks
    bool wide_vmcnt = true;          // gfx9+: vmcnt has six bits
    bool unpacked_d16 = false;       // 16-bit elements of buffers and images take a register each
    bool dpp_pairs = true;           // DPP of 64 bits in short encodings (gfx10: none)
    bool wide_lgkmcnt = false;       // gfx10+: six bits
    bool wide_dpp = false;           // gfx90a+: DPP of 64 bits has row_newbcast only (gfx1251:
                                     // row_share)
    bool ocp_small_floats = false;   // gfx950, gfx12: fp8 and bf8 as OCP defines them; gfx940-942:
                                     // FNUZ
    bool xnack_selectable, sramecc_selectable;
    bool sramecc =
        false;  // on: D16 loads write 0 to the other half of their register, as registers
                // with ECC have no partial writes (LLVM: d16PreservesUnusedBits)
    bool memory_fadd_f32_keeps_denorms =
        false;  // gfx940+: LLVM FeatureMemoryAtomicFAddF32DenormalSupport
    MatrixSum matrix_sum = MatrixSum::Ascending;
    bool dot2_flushes_sources = false;  // gfx90a: 16-bit denormals of v_dot2_f32_f16 and v_dot2c
    // gfx940+: MODE's f32 denormal field flushes A and B of f32 matrix products, FP16_OVFL clamps
    // sums that overflow to the largest number (CDNA3 ISA 7.1.2, 7.3)
    bool matrix_obeys_mode = false;
    ScalarRegisters scalar_registers = {};
    bool row_share = false;  // gfx10+: DPP has row_share and row_xmask, and nothing beyond rows
    bool scratch_without_address = false;  // gfx10.3+: scratch instructions of an offset alone
    bool has_prim_export = false;          // gfx10+: exports to pos4 and prim
    bool has_dual_blend_export = false;    // gfx11+: and to two sources of blending, none to params
    bool has_hold_cnt = false;             // s_waitcnt_depctr
    bool true16 = false;                   // gfx11+: operands of 16 bits name a half of their VGPR
    bool vop3_dpp = false;                 // gfx11+: DPP in VOP3, VOP3P and compares
    bool vm_highest = false;               // gfx11: s_waitcnt has expcnt lowest and vmcnt highest
    bool dpp_scalar_source = false;        // gfx11.5+: an SGPR or constant as source 1 of DPP
    bool rdna4_products = false;  // gfx12+: products in a wave split A and B among 64 lanes, too,
                                  // and have no OP_SEL_HI
    bool memory_scopes = false;   // gfx940+: SC0, SC1 and NT where others have GLC, SCC and SLC
    // gfx12+: TTMP9 = x, TTMP7 = y | z << 16, TTMP8[29:25] = the wave's number; no system SGPRs
    // hold them (AMDGPU usage guide, FeatureArchitectedSGPRs).
    bool workgroup_ids_in_ttmp = false;
    bool has_ieee_mode = true;    // gfx12: MODE has neither IEEE nor DX10_CLAMP, both are on
    bool split_barriers = false;  // gfx12+: s_barrier_signal and s_barrier_wait
    // gfx12: float minimum and maximum of a number and any NaN, in atomics, are the number (AMD's
    // pseudo-code of DS_MIN_NUM_F32).
    bool atomics_prefer_numbers = false;
    bool gfx11_buffers = false;   // gfx11+: a V# has FORMAT of six bits with numbers of their own,
                                  // and two bits of swizzle
    bool wide_gpr_alloc = false;  // gfx11+: GPR_ALLOC has the VGPRs from bit 12 on, in units of 4
                                  // (of waves of 32 lanes: 8)
    bool gfx12_hwregs = false;    // STATE_PRIV, EXCP_FLAG_PRIV and _USER instead of STATUS and
                                  // TRAPSTS
    uint8_t image_registers = 0;  // gfx11+: how many registers of an image's address are named, the
                                  // last for all that is left; 0: one for each dword
    bool wide_messages = false;   // gfx11+: messages have eight bits, no operations or streams
    bool atomic_dlc = false;      // gfx11+: atomics of buffers have DLC
    bool vop3_literals = false;   // gfx10+: literals in VOP3 and VOP3P
    bool wide_literals = false;   // gfx12.5: of 64 bits, too
    bool waves_of_64 = true;      // gfx12.5: waves have 32 lanes only
    bool cmpx_writes_exec = false;     // gfx10+: v_cmpx writes EXEC alone
    bool signed_flat_offsets = false;  // gfx12: of flat instructions, too
    bool flat_saddr = false;           // gfx12.5: flat instructions take an SGPR pair, too
    // gfx12.5 (LLVM, hasSignedGVSOffset): the VGPR beside it is a signed number.
    bool signed_saddr_offsets = false;
    // gfx12.5: flat addresses of private memory are FLAT_SCRATCH_BASE, the lane from bit
    // scratch_lane_shift on, and the offset; bits 63:58 tell them from others (LLVM,
    // lowerADDRSPACECAST and the lowering of is.private).
    bool flat_scratch_has_lane = false;
    // gfx12.5: work-groups come in clusters, of one where a launch says nothing. IB_STS2 and TTMP6
    // tell the place in the cluster.
    bool work_group_clusters = false;
    bool wide_buffers = false;  // gfx12.5: a V# has a base of 57 and NUM_RECORDS of 45 bits
    VgprMsbRule vgpr_msb = VgprMsbRule::None;
    // Kernels with preloaded arguments begin with 256 bytes for firmware that does not preload
    // (LLVM, needsKernArgPreloadProlog).
    bool preload_prologue = true;
    uint32_t gds_bytes = 0;        // global data share; 0: the processor has none
    uint32_t gds_max_wave_id = 0;  // logical wave ids of ds_ordered_count wrap behind it
};

struct Target {
    std::string_view name;  // "gfx90a"
    Family family;
    uint32_t elf_mach;  // EF_AMDGPU_MACH value
    Traits traits;
};

// nullptr when the processor is not emulated. Accepts a bare name ("gfx90a"), a target id
// ("gfx90a:sramecc+:xnack-") or a full triple ("amdgcn-amd-amdhsa--gfx90a:xnack-"). Without a word
// on sramecc, processors that can choose have it on, as boards report it.
// wave_size: 32, 64, or 0 for the size that compilers choose for the processor.
const Target* find_target(std::string_view name, uint32_t wave_size = 0);
// The same processor with waves of another size; nullptr: it has none.
const Target* with_wave_size(const Target& target, uint32_t wave_size);
const Target* find_target_by_mach(uint32_t elf_mach);
std::string supported_target_names();  // "gfx900, gfx906, ..." for messages

}  // namespace wj
