// A function that keeps its caller's return address in a frame whose place another one keeps in that frame, and forgets: whoever asks where
// it returns to goes round in a circle.
#include "entry.S"

.p2align 2
.type inner,@function
inner:                                 // (u32* v[0:1]) reads from v[0:1]
  v_writelane_b32 v5, s32, 0
  s_mov_b64 exec, -1
  buffer_store_dword v5, off, s[0:3], s32 offset:4
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v5, 0
  s_mov_b32 s32, 0x40
  global_load_dword v0, v[0:1], off
  s_waitcnt vmcnt(0)
  s_setpc_b64 s[30:31]
.size inner, .-inner

.p2align 2
.type outer,@function
outer:
  s_mov_b32 s33, s32
  s_addk_i32 s32, 0x400
  v_writelane_b32 v6, s30, 0
  v_writelane_b32 v6, s31, 1
  s_mov_b64 exec, -1
  buffer_store_dword v6, off, s[0:3], s33 offset:8
  s_waitcnt vmcnt(0)
  v_mov_b32_e32 v6, 0
  s_mov_b32 s33, 0
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, inner@rel32@lo+4
  s_addc_u32 s5, s5, inner@rel32@hi+12
  s_swappc_b64 s[30:31], s[4:5]
  s_setpc_b64 s[30:31]
.size outer, .-outer

// void circle(u32* at, u64)
ENTRY circle
  s_load_dwordx2 s[8:9], s[4:5], 0x0
  s_add_u32 s0, s0, s7
  s_addc_u32 s1, s1, 0
  s_getpc_b64 s[4:5]
  s_add_u32 s4, s4, outer@rel32@lo+4
  s_addc_u32 s5, s5, outer@rel32@hi+12
  s_mov_b32 s32, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v0, s8
  v_mov_b32_e32 v1, s9
  s_swappc_b64 s[30:31], s[4:5]
END_OF_CODE circle

.section .rodata, "a"
.p2align 6
.amdhsa_kernel circle
  .amdhsa_private_segment_fixed_size 4096
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_count 6
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_private_segment_wavefront_offset 1
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 34
  .amdhsa_accum_offset 8
.end_amdhsa_kernel
