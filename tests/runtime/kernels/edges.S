// Kernels whose edges and instructions can be counted by hand, and that show the order of waves.
#include "entry.S"

.macro DESCRIPTOR name
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
#ifdef __gfx90a__
  .amdhsa_accum_offset 8
#endif
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.text
.endm

.macro END name
END_OF_CODE \name
DESCRIPTOR \name
.endm

// void loop(u64, u32 n): n - 1 times back, once on, the end.
ENTRY loop
  s_load_dword s4, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
.Lloop:
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lloop
END loop

// void arm(u64, u32 limit): a short arm, which translators lift with the code around it, for waves
// with work-items below the limit.
ENTRY arm
  s_load_dword s4, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  v_and_b32_e32 v0, 0x3ff, v0
  v_cmp_gt_u32_e32 vcc, s4, v0
  s_and_saveexec_b64 s[6:7], vcc
  s_cbranch_execz .Larm
  v_add_u32_e32 v1, 1, v0
.Larm:
  s_mov_b64 exec, s[6:7]
END arm

// void lanes(u64, u32 n): each lane leaves the loop after its number (below n) of laps; the wave
// when the last one has.
ENTRY lanes
  s_load_dword s4, s[0:1], 0x8
  v_and_b32_e32 v0, 63, v0
  s_waitcnt lgkmcnt(0)
  v_min_u32_e32 v0, s4, v0
  v_mov_b32_e32 v1, 0
  s_mov_b64 s[6:7], 0
.Llanes:
  v_cmp_ge_u32_e32 vcc, v1, v0
  v_add_u32_e32 v1, 1, v1
  s_or_b64 s[6:7], vcc, s[6:7]
  s_andn2_b64 exec, exec, s[6:7]
  s_cbranch_execnz .Llanes
END lanes

// void calls(u64, u32 n): n times there, n times back.
ENTRY calls
  s_load_dword s4, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
.Lcalls:
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, callee@rel32@lo+4
  s_addc_u32 s7, s7, callee@rel32@hi+12
  s_swappc_b64 s[8:9], s[6:7]
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lcalls
END calls
// void order(u32* out, u32 laps), four waves each: out[0] counts them, out[1 + n] is the number of
// the n-th one to get behind its loop.
ENTRY order
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshrrev_b32_e32 v1, 6, v0
  v_readfirstlane_b32 s7, v1
  s_lshl_b32 s8, s2, 2
  s_add_u32 s7, s7, s8
  s_waitcnt lgkmcnt(0)
.Lorder:
  s_sub_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 0
  s_cbranch_scc1 .Lorder
  s_mov_b64 exec, 1
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v3, 1
  global_atomic_add v3, v2, v3, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_lshlrev_b32_e32 v3, 2, v3
  v_mov_b32_e32 v4, s7
  global_store_dword v3, v4, s[4:5] offset:4
END order

// void clock(u64* out): the clock, 10 instructions, a branch with its compare, the clock.
ENTRY clock
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_memtime s[6:7]
.rept 10
  s_nop 0
.endr
  s_cmp_eq_u32 s4, s4
  s_cbranch_scc1 .Lclock
  s_nop 0
.Lclock:
  s_memtime s[8:9]
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, s6
  v_mov_b32_e32 v3, s7
  v_mov_b32_e32 v4, s8
  v_mov_b32_e32 v5, s9
  global_store_dwordx4 v1, v[2:5], s[4:5]
END clock

.type callee,@function
callee:
  s_nop 0
  s_setpc_b64 s[8:9]
.size callee, .-callee
