// Waves of several work-groups meet at a global wave sync barrier.
#include "entry.S"

.macro DESCRIPTOR name
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 24
#ifdef __gfx90a__
  .amdhsa_accum_offset 8
#endif
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.text
.endm

// void gws_set(u64 unused, u64 last): resource 0 has so many waves and one more.
ENTRY gws_set
  s_load_dword s4, s[0:1], 0x8
  s_mov_b32 m0, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  s_nop 0
  ds_gws_init v2 gds
  s_waitcnt lgkmcnt(0)
END_OF_CODE gws_set
DESCRIPTOR gws_set

// void gws_meet(u32* out, u64 last), a wave in each work-group: out[g] = g + 1, and behind the barrier out[256 + g] = out[last - g].
ENTRY gws_meet
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  s_mov_b32 m0, 0
  s_mov_b64 exec, 1
  s_lshl_b32 s8, s2, 2
  v_mov_b32_e32 v1, s8
  s_add_u32 s9, s2, 1
  v_mov_b32_e32 v3, s9
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[4:5]
  v_mov_b32_e32 v2, s6
  s_sub_u32 s10, s6, s2
  s_lshl_b32 s10, s10, 2
  v_mov_b32_e32 v4, s10
  s_waitcnt vmcnt(0)
  ds_gws_barrier v2 gds
  s_waitcnt lgkmcnt(0)
  global_load_dword v5, v4, s[4:5] glc
  s_waitcnt vmcnt(0)
  global_store_dword v1, v5, s[4:5] offset:1024
END_OF_CODE gws_meet
DESCRIPTOR gws_meet
