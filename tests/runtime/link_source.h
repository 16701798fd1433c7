// A code object whose kernel stores the variable `answer` of another one.
#pragma once

namespace wj::test {

inline constexpr const char* asks_for_answer = R"(
.text
.globl ask
.p2align 8
.type ask,@function
ask:
  s_load_dwordx2 s[6:7], s[0:1], 0x0
  s_getpc_b64 s[0:1]
  s_add_u32 s0, s0, answer@gotpcrel32@lo+4
  s_addc_u32 s1, s1, answer@gotpcrel32@hi+12
  s_load_dwordx2 s[0:1], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dword s2, s[0:1], 0x0
  v_mov_b32 v0, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v1, s2
  global_store_dword v0, v1, s[6:7]
  s_endpgm
.rodata
.p2align 6
.amdhsa_kernel ask
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 4
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)";

}  // namespace wj::test
