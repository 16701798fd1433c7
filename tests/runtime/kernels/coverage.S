// What `wavejit info --coverage` has to tell apart. Never run.
.macro KERNEL name
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
.end_amdhsa_kernel
.text
.globl \name
.p2align 8
.type \name,@function
\name:
.endm
.macro END name
  s_endpgm
.size \name, .-\name
.endm

KERNEL plain
  v_add_f32 v0, v1, v2
  s_branch 1
  .long 0xffffffff  // never reached
  v_fma_f32 v0, v1, v2, v3
END plain

KERNEL rounded
  s_cbranch_scc0 1
  v_rcp_f32 v0, v1
  v_exp_f32 v0, v1
END rounded

KERNEL textured
  image_load v[0:3], v[0:1], s[0:7] dmask:0xf unorm
  ds_ordered_count v0, v1 offset:8192 gds
  v_sqrt_f32 v0, v1
END textured

KERNEL broken
  .long 0xffffffff
END broken

// Calls what only a register names: every function counts.
.globl helper
.p2align 8
.type helper,@function
helper:
  v_log_f32 v0, v0
  s_setpc_b64 s[30:31]
.size helper, .-helper

KERNEL calling
  s_swappc_b64 s[30:31], s[4:5]
END calling
