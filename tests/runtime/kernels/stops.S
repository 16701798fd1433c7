// Kernels that tests of hooks and of stopped waves look at, for waves of 64 lanes and, where there are such, of 32.
#include "entry.S"

.macro DESCRIPTOR name, wave
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
#ifdef __gfx90a__
  .amdhsa_accum_offset 8
#endif
#ifdef __gfx1030__
  .amdhsa_wavefront_size32 (64 - \wave) / 32
#endif
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.text
.endm

.macro END name, wave
END_OF_CODE \name
DESCRIPTOR \name, \wave
.endm

// s[0:1] = kernarg, v0 = work-item id x (masked for packed ids).

// void total(u32* out), one wave: out[l] = 22 * l, the last l by an atomic addition. 8 instructions, three times the 4 of a loop that
// begins behind the sixth, and 7.
.macro TOTAL name, wave
ENTRY \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v3, 0
  s_mov_b32 s6, 3
  s_waitcnt lgkmcnt(0)
.Lloop_\name:
  v_mad_u32_u24 v3, v0, 7, v3
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lloop_\name
  ds_write_b32 v1, v3 offset:16
  s_waitcnt lgkmcnt(0)
  s_barrier
  ds_read_b32 v4, v1 offset:16
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v4, s[4:5]
  global_atomic_add v1, v0, s[4:5]
END \name, \wave
.endm

// void stops(u8* base, u64 stride): the first wave of a work-group waits at a barrier, the others store their v5 to base + l * stride,
// l being the lane. Of both s8 = 0x1234, s9 is a number of the wave, v5 = 3 * work-item, and the LDS has v5 of each work-item; v6 = 11
// until it is overwritten behind the store and the barrier.
.macro STOPS name, wave, shift
ENTRY \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s9, v0
  s_lshr_b32 s9, s9, \shift
  s_movk_i32 s8, 0x1234
  s_mov_b32 m0, -1
  v_mul_u32_u24_e32 v5, 3, v0
  v_lshlrev_b32_e32 v1, 2, v0
  ds_write_b32 v1, v5
  v_mov_b32_e32 v6, 11
  s_cmp_eq_u32 s9, 0
  s_waitcnt lgkmcnt(0)
  s_cbranch_scc1 .Lwaits_\name
  v_and_b32_e32 v2, \wave - 1, v0
  v_mul_u32_u24_e32 v2, s6, v2
  global_store_dword v2, v5, s[4:5]
  v_mov_b32_e32 v6, 12
  v_mov_b32_e32 v5, v6
.Lwaits_\name:
  s_barrier
  v_mov_b32_e32 v6, 13
  global_store_dword v1, v6, s[4:5]
END \name, \wave
.endm

// void forever(u32* out, u64 unused): counts in s8, and stores nothing.
.macro FOREVER name, wave
ENTRY \name
  s_mov_b32 s8, 0
.Lforever_\name:
  s_add_u32 s8, s8, 1
  s_branch .Lforever_\name
END \name, \wave
.endm

// void accesses(u8* base, u64 offset): one of each kind, by the first two lanes: v0 is the lane, v1 = 16 * lane.
.macro ACCESSES name, wave
ENTRY \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 4, v0
  s_waitcnt lgkmcnt(0)
  s_load_dword s8, s[4:5], 0x40
  s_mov_b64 exec, 3
  global_load_dwordx2 v[2:3], v1, s[4:5] offset:8
  ds_read2_b32 v[2:3], v1 offset0:1 offset1:3
  ds_add_u32 v1, v0 offset:256
  global_atomic_add v1, v0, s[4:5] offset:4
  s_waitcnt vmcnt(0) lgkmcnt(0)
END \name, \wave
.endm

TOTAL total64, 64
STOPS stops64, 64, 6
FOREVER forever64, 64
ACCESSES accesses64, 64
#ifdef __gfx1030__
TOTAL total32, 32
STOPS stops32, 32, 5
FOREVER forever32, 32
ACCESSES accesses32, 32
#endif
