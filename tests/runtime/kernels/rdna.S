// Kernels of gfx11, gfx12 and gfx12.5: what their waves begin with, private memory, and gfx12's barriers.
#ifdef __GFX12__
#define WAIT s_wait_loadcnt_dscnt 0x0
#define WAIT_SCALAR s_wait_kmcnt 0x0
#define WAIT_STORES s_wait_storecnt 0x0
.macro BARRIER
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
.endm
#define SCRATCH_LO HW_REG_WAVE_SCRATCH_BASE_LO
#define SCRATCH_HI HW_REG_WAVE_SCRATCH_BASE_HI
#else
#define WAIT s_waitcnt vmcnt(0) lgkmcnt(0)
#define WAIT_SCALAR s_waitcnt lgkmcnt(0)
#define WAIT_STORES s_waitcnt_vscnt null, 0x0
.macro BARRIER
  s_waitcnt lgkmcnt(0)
  s_barrier
.endm
#define SCRATCH_LO HW_REG_FLAT_SCR_LO
#define SCRATCH_HI HW_REG_FLAT_SCR_HI
#endif

.macro KERNEL name, wave32=1, scratch=0, lds=0, ids=0
.text
.p2align 8
.globl \name
.type \name,@function
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_wavefront_size32 \wave32
  .amdhsa_group_segment_fixed_size \lds
  .amdhsa_enable_private_segment \scratch
  .amdhsa_private_segment_fixed_size 16 * \scratch
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y \ids
  .amdhsa_system_sgpr_workgroup_id_z \ids
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
  s_load_b64 s[2:3], s[0:1], 0x0
  s_mov_b32 s7, 0
  v_cmp_eq_u32_e64 s6, v0, v0
  s_bcnt1_i32_b64 s8, s[6:7]
  v_mbcnt_lo_u32_b32 v1, -1, 0
  v_mbcnt_hi_u32_b32 v1, -1, v1
  v_lshl_or_b32 v1, s8, 16, v1
  v_lshlrev_b32_e32 v2, 2, v0
  WAIT_SCALAR
  global_store_b32 v2, v1, s[2:3]
.endm
KERNEL lanes32 1
  LANES
END lanes32
#ifndef __gfx1250__
KERNEL lanes64 0
  LANES
END lanes64
#endif

// void scratch(u32* out): 7 times the number of each of 32 work-items, once by the flat address of its private memory, and once from where
// hardware registers say that this lies: the dwords of the lanes beside each other, or on gfx12.5 the flat address of lane 0.
KERNEL scratch32 1, 1
  s_load_b64 s[10:11], s[0:1], 0x0
  v_lshlrev_b32_e32 v2, 2, v0
  v_mul_u32_u24_e32 v3, 7, v0
  scratch_store_b32 off, v3, off offset:4
  WAIT_STORES
  s_getreg_b32 s14, hwreg(SCRATCH_LO)
  s_getreg_b32 s15, hwreg(SCRATCH_HI)
  v_mov_b32_e32 v4, 4
#ifdef __gfx1250__
  v_lshlrev_b32_e32 v5, 20, v0
  v_add_nc_u64_e32 v[8:9], s[14:15], v[4:5]
  v_add_nc_u64_e32 v[4:5], src_flat_scratch_base_lo, v[4:5]
  flat_load_b32 v7, v[8:9]
#else
  s_mov_b64 s[12:13], src_private_base
  v_mov_b32_e32 v5, s13
  global_load_b32 v7, v2, s[14:15] offset:128
#endif
  flat_load_b32 v6, v[4:5]
  WAIT_SCALAR
  WAIT
  global_store_b32 v2, v6, s[10:11]
  global_store_b32 v2, v7, s[10:11] offset:128
END scratch32

// void groups(u32* out, u32 x, u32 y): each of x * y * z work-groups writes its place.
KERNEL groups 1, 0, 0, 1
#ifdef __GFX12__
  s_mov_b32 s2, ttmp9
  s_and_b32 s3, ttmp7, 0xffff
  s_lshr_b32 s4, ttmp7, 16
#endif
  s_load_b128 s[8:11], s[0:1], 0x0
  WAIT_SCALAR
  s_mul_i32 s5, s4, s11
  s_add_i32 s5, s5, s3
  s_mul_i32 s5, s5, s10
  s_add_i32 s5, s5, s2
  s_lshl_b32 s5, s5, 2
  s_lshl_b32 s3, s3, 10
  s_lshl_b32 s4, s4, 20
  s_or_b32 s2, s2, s3
  s_or_b32 s2, s2, s4
  v_mov_b32_e32 v1, s5
  v_mov_b32_e32 v2, s2
  global_store_b32 v1, v2, s[8:9]
END groups

// void neighbours(u32* out): waves of 32 hand 64 numbers round by LDS.
KERNEL neighbours 1, 0, 128
  s_load_b64 s[2:3], s[0:1], 0x0
  v_lshrrev_b32_e32 v1, 5, v0        // the wave
  v_lshlrev_b32_e32 v2, 2, v1        // its place
  v_add_nc_u32_e32 v3, 4, v2         // the next one's
  v_and_b32_e32 v3, 15, v3
  v_mov_b32_e32 v4, v1
  s_mov_b32 s4, 64
1:
  ds_store_b32 v2, v4
  BARRIER
  ds_load_b32 v5, v3
  BARRIER
  v_add_nc_u32_e32 v4, 1, v5
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 1b
  v_lshlrev_b32_e32 v6, 2, v0
  WAIT_SCALAR
  global_store_b32 v6, v4, s[2:3]
END neighbours

// void early(u32* out): waves 2 and 3 end without the barrier; the others have a sum by it.
KERNEL early 1, 0, 128
  s_load_b64 s[2:3], s[0:1], 0x0
  v_lshrrev_b32_e32 v1, 5, v0
  v_readfirstlane_b32 s4, v1
  s_cmp_gt_u32 s4, 1
  s_cbranch_scc1 1f
  v_lshlrev_b32_e32 v2, 2, v1
  v_add_nc_u32_e32 v3, 10, v1
  ds_store_b32 v2, v3
  BARRIER
  v_mov_b32_e32 v4, 0
  ds_load_2addr_b32 v[4:5], v4 offset0:0 offset1:1
  WAIT_SCALAR
  WAIT
  v_add_nc_u32_e32 v4, v4, v5
  v_lshlrev_b32_e32 v6, 2, v0
  global_store_b32 v6, v4, s[2:3]
1:
END early

#ifdef __GFX12__
// v2: where wave s4 writes; s[2:3] the buffer.
.macro WAVES
  s_load_b64 s[2:3], s[0:1], 0x0
  s_lshr_b32 s4, ttmp8, 25
  s_and_b32 s4, s4, 31
  s_lshl_b32 s5, s4, 2
  v_mov_b32_e32 v2, s5
  WAIT_SCALAR
.endm
KERNEL wave_ids
  WAVES
  v_mov_b32_e32 v3, s4
  global_store_b32 v2, v3, s[2:3]
END wave_ids

KERNEL first
  WAVES
  s_barrier_signal_isfirst -1
  s_cselect_b32 s6, 1, 0
  s_barrier_wait -1
  v_mov_b32_e32 v3, s6
  global_store_b32 v2, v3, s[2:3]
END first

// Wave 0 signals and does not wait before wave 1 has waited.
KERNEL ahead 1, 0, 128
  WAVES
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 1
  s_barrier_signal -1
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc0 2f
1:
  ds_load_b32 v6, v4
  s_wait_dscnt 0x0
  v_readfirstlane_b32 s6, v6
  s_cmp_eq_u32 s6, 1
  s_cbranch_scc0 1b
  s_barrier_wait -1
  s_branch 3f
2:
  s_barrier_wait -1
  ds_store_b32 v4, v5
3:
  s_wait_dscnt 0x0
  global_store_b32 v2, v5, s[2:3]
END ahead

// Between its signal and the wait a wave does what does not depend on others.
KERNEL straight 1, 0, 128
  WAVES
  v_mov_b32_e32 v3, s4
  ds_store_b32 v2, v3
  s_wait_dscnt 0x0
  s_barrier_signal -1
  v_xor_b32_e32 v4, 4, v2
  s_barrier_wait -1
  ds_load_b32 v3, v4
  s_wait_dscnt 0x0
  global_store_b32 v2, v3, s[2:3]
END straight

// What each wave sees of the barrier behind its own signal.
KERNEL state
  WAVES
  s_barrier_signal -1
  s_get_barrier_state s6, -1
  s_wait_kmcnt 0x0
  s_barrier_wait -1
  v_mov_b32_e32 v3, s6
  global_store_b32 v2, v3, s[2:3]
END state

// Wave 1 waits without a signal.
KERNEL missing
  WAVES
  s_cmp_eq_u32 s4, 1
  s_cbranch_scc1 1f
  s_barrier_signal -1
1:
  s_barrier_wait -1
END missing

KERNEL signal_trap
  s_barrier_signal -2
END signal_trap
KERNEL wait_trap
  s_barrier_wait -2
END wait_trap
KERNEL signal_named
  s_mov_b32 m0, 5
  s_barrier_signal m0
END signal_named
KERNEL signal_cluster
  s_barrier_signal -3
END signal_cluster
KERNEL wait_null
  s_barrier_wait 0
END wait_null
KERNEL join_named
  s_barrier_join 1
END join_named
KERNEL leave_named
  s_barrier_leave
END leave_named
KERNEL unknown_register
  s_getreg_b32 s2, hwreg(HW_REG_WAVE_DVGPR_ALLOC_LO)
END unknown_register
#endif
