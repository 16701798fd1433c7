// Kernels whose code is changed in place. No metadata: arguments are passed packed.
#include "entry.S"

.macro DESCRIPTOR name
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
#ifdef __gfx90a__
  .amdhsa_accum_offset 16
#endif
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.text
.endm

.macro END name
END_OF_CODE \name
DESCRIPTOR \name
.endm

// void sum(u32* out, u64 count): v2 grows by 7 in each of `count` laps; out[lane] = v2. Nobody reads v3, which is 1000 - v2.
ENTRY sum
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 0
  v_mov_b32_e32 v4, 0x3e8
  s_mov_b32 s8, 0
  s_waitcnt lgkmcnt(0)
.Llap:
  v_add_u32_e32 v2, 7, v2
  v_sub_u32_e32 v3, v4, v2
  s_add_u32 s8, s8, 1
  s_cmp_lt_u32 s8, s6
  s_cbranch_scc1 .Llap
  global_store_dword v1, v2, s[4:5]
  s_waitcnt vmcnt(0)
END sum

// void other(u32* out): out[lane] = lane.
ENTRY other
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
END other
