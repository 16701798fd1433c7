// Kernels of gfx10 that choose how many lanes their waves have. The assembler is that of waves of 32 lanes: what it calls s6 in a
// vector instruction is s[6:7] where the waves have 64.
.macro KERNEL name, wave32, wgp=1, scratch=0, vgprs=8, progress=0
.text
.p2align 8
.globl \name
.type \name,@function
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr \vgprs
  .amdhsa_memory_ordered 1 - \progress
  .amdhsa_forward_progress \progress
  .amdhsa_next_free_sgpr 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 \wave32
  .amdhsa_workgroup_processor_mode \wgp
  .amdhsa_user_sgpr_private_segment_buffer \scratch
  .amdhsa_user_sgpr_flat_scratch_init \scratch
  .amdhsa_private_segment_fixed_size 16 * \scratch
  .amdhsa_system_sgpr_private_segment_wavefront_offset \scratch
.end_amdhsa_kernel
.text
\name:
.endm
.macro END name
  s_endpgm
.size \name, .-\name
.endm

// void lanes(u32* out): of each work-item of one work-group its lane, and above that how many lanes its wave has on.
.macro LANES
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_mov_b32 s7, 0
  v_cmp_eq_u32_e64 s6, v0, v0
  s_bcnt1_i32_b64 s8, s[6:7]
  v_mbcnt_lo_u32_b32 v1, -1, 0
  v_mbcnt_hi_u32_b32 v1, -1, v1
  v_lshl_or_b32 v1, s8, 16, v1
  v_lshlrev_b32_e32 v2, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v1, s[2:3]
.endm
KERNEL lanes32 1
  LANES
END lanes32
KERNEL lanes64 0
  LANES
END lanes64
KERNEL lanes32_cu 1, 0
  LANES
END lanes32_cu
KERNEL lanes32_progress 1, 1, 0, 8, 1
  LANES
END lanes32_progress

// Registers of which a work-group of 1,024 has enough on the SIMDs of two compute units, not of one.
KERNEL wide_wgp 1, 1, 0, 96
  LANES
END wide_wgp
KERNEL wide_cu 1, 0, 0, 96
  LANES
END wide_cu

// Spilled through the private segment buffer of the prologue, as gfx10 code has it: FLAT_SCRATCH by s_setreg.
KERNEL scratch32 1, 1, 1
  // s[0:3] V#, s[4:5] kernarg, s[6:7] FLAT_SCRATCH_INIT, s8 work-group, s9 wave offset
  s_add_u32 s6, s6, s9
  s_addc_u32 s7, s7, 0
  s_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s6
  s_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s7
  s_add_u32 s0, s0, s9
  s_addc_u32 s1, s1, 0
  s_bitset0_b32 s3, 21
  s_load_dwordx2 s[10:11], s[4:5], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mul_u32_u24_e32 v3, 7, v0
  buffer_store_dword v3, off, s[0:3], 0 offset:4
  s_waitcnt_vscnt null, 0x0
  // The same place by its flat address.
  s_mov_b64 s[12:13], src_private_base
  v_mov_b32_e32 v4, 4
  v_mov_b32_e32 v5, s13
  flat_load_dword v6, v[4:5]
  s_waitcnt vmcnt(0) lgkmcnt(0)
  global_store_dword v2, v6, s[10:11]
END scratch32
