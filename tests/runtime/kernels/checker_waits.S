// Loads without the waits that they need, and their clean twins: macros take the line that is left
// out. s[0:1]: arguments, a pointer and a number.
.macro KERNEL name
.text
.globl \name
.p2align 8
.type \name,@function
\name:
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v0, 2, v0
.endm
.macro FINISH name
  s_endpgm
.size \name, .-\name
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 24
  .amdhsa_accum_offset 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.endm

.macro LOAD_GLOBAL name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  \wait
  v_add_u32_e32 v2, 1, v1
  global_store_dword v0, v2, s[4:5] offset:1024
FINISH \name
.endm
LOAD_GLOBAL vector_load_clean, s_waitcnt vmcnt(0)
LOAD_GLOBAL vector_load_wrong, s_nop 0
LOAD_GLOBAL vector_load_other_counter_wrong, s_waitcnt lgkmcnt(0)

.macro LOAD_SCALAR name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \wait
  v_mov_b32_e32 v2, s4
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v0, s[4:5]
FINISH \name
.endm
LOAD_SCALAR scalar_load_clean, s_waitcnt lgkmcnt(0)
LOAD_SCALAR scalar_load_wrong, s_nop 0

// Of two scalar loads one may come back first: waiting until one is left is of no use.
.macro LOAD_TWO name, count
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  s_waitcnt lgkmcnt(\count)
  v_mov_b32_e32 v2, s4
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v2, s[4:5]
FINISH \name
.endm
LOAD_TWO scalar_order_clean, 0
LOAD_TWO scalar_order_wrong, 1

// Vector loads come back in their order.
.macro LOAD_ORDER name, count
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  global_load_dword v2, v0, s[4:5] offset:1024
  s_waitcnt vmcnt(\count)
  v_add_u32_e32 v3, v1, v1
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v3, v3, v2
  global_store_dword v0, v3, s[4:5] offset:2048
FINISH \name
.endm
LOAD_ORDER vector_order_clean, 1
LOAD_ORDER vector_order_wrong, 2

.macro LOAD_LDS name, wait:vararg
KERNEL \name
  ds_write_b32 v0, v0
  ds_read_b32 v1, v0
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \wait
  v_add_u32_e32 v2, 1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v2, s[4:5]
FINISH \name
.endm
LOAD_LDS lds_load_clean, s_waitcnt lgkmcnt(0)
LOAD_LDS lds_load_wrong, s_waitcnt vmcnt(0)

// A flat load that finds LDS comes back out of the order of vector memory: both counters have it.
.macro LOAD_FLAT name, wait:vararg
KERNEL \name
  s_mov_b64 s[6:7], src_shared_base
  v_mov_b32_e32 v2, v0
  v_mov_b32_e32 v3, s7
  ds_write_b32 v0, v0
  flat_load_dword v1, v[2:3]
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \wait
  v_add_u32_e32 v2, 1, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v2, s[4:5]
FINISH \name
.endm
LOAD_FLAT flat_load_clean, s_waitcnt vmcnt(0) lgkmcnt(0)
LOAD_FLAT flat_load_wrong, s_waitcnt vmcnt(0)

// What is on its way overwrites what is written meanwhile.
.macro OVERWRITE name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  \wait
  v_mov_b32_e32 v1, 7
  s_waitcnt vmcnt(0)
  global_store_dword v0, v1, s[4:5] offset:1024
FINISH \name
.endm
OVERWRITE overwrite_clean, s_waitcnt vmcnt(0)
OVERWRITE overwrite_wrong, s_nop 0

// As an address of the next access.
.macro LOAD_ADDRESS name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  global_load_dword v1, v0, s[4:5]
  v_mov_b32_e32 v3, 7
  \wait
  global_store_dword v1, v3, s[4:5] offset:1024
FINISH \name
.endm
LOAD_ADDRESS address_clean, s_waitcnt vmcnt(0)
LOAD_ADDRESS address_wrong, s_nop 0

.macro RETURNED name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32_e32 v1, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v2, v0, v1, s[4:5] glc
  \wait
  v_add_u32_e32 v2, 1, v2
  global_store_dword v0, v2, s[4:5] offset:1024
FINISH \name
.endm
RETURNED returned_clean, s_waitcnt vmcnt(0)
RETURNED returned_wrong, s_nop 0

.macro PERMUTED name, wait:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  ds_bpermute_b32 v1, v0, v0
  \wait
  global_store_dword v0, v1, s[4:5]
FINISH \name
.endm
PERMUTED permuted_clean, s_waitcnt lgkmcnt(0)
PERMUTED permuted_wrong, s_nop 0

// ---- init: registers

.macro UNWRITTEN_DATA name, first:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \first
  v_add_u32_e32 v2, 1, v9
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v2, s[4:5]
FINISH \name
.endm
UNWRITTEN_DATA unwritten_data_clean, v_mov_b32_e32 v9, 3
UNWRITTEN_DATA unwritten_data_wrong, s_nop 0

.macro UNWRITTEN_ADDRESS name, first:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \first
  v_and_b32_e32 v2, 0xfc, v9
  v_mov_b32_e32 v3, 7
  s_waitcnt lgkmcnt(0)
  global_store_dword v2, v3, s[4:5]
FINISH \name
.endm
UNWRITTEN_ADDRESS unwritten_address_clean, v_lshlrev_b32_e32 v9, 2, v0
UNWRITTEN_ADDRESS unwritten_address_wrong, s_nop 0

.macro UNWRITTEN_BRANCH name, first:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \first
  s_cmp_lg_u32 s20, 0
  s_cbranch_scc1 .Lskip_\name
  s_nop 0
.Lskip_\name:
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v0, s[4:5]
FINISH \name
.endm
UNWRITTEN_BRANCH unwritten_branch_clean, s_mov_b32 s20, 3
UNWRITTEN_BRANCH unwritten_branch_wrong, s_nop 0

.macro UNWRITTEN_LANES name, first:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  \first
  v_cmp_gt_u32_e32 vcc, 100, v9
  s_and_b64 exec, exec, vcc
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v0, s[4:5]
FINISH \name
.endm
UNWRITTEN_LANES unwritten_lanes_clean, v_mov_b32_e32 v9, v0
UNWRITTEN_LANES unwritten_lanes_wrong, s_nop 0

// Copies, masks and selections of what nobody has written are no mistakes.
KERNEL moved_about
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32_e32 v3, v9
  s_mov_b32 s21, s20
  v_lshlrev_b32_e32 v4, 16, v3
  v_and_b32_e32 v4, 0xffff, v4
  v_mov_b32_e32 v5, 7
  v_cmp_eq_u32_e32 vcc, v5, v5
  v_cndmask_b32_e32 v6, v3, v5, vcc
  v_writelane_b32 v10, s0, 5
  v_readlane_b32 s22, v10, 5
  v_mul_u32_u24_e32 v7, 0, v3
  v_add_u32_e32 v6, v6, v4
  v_add_u32_e32 v6, v6, v7
  v_add_u32_e32 v6, s22, v6
  s_waitcnt lgkmcnt(0)
  global_store_dword v0, v6, s[4:5]
FINISH moved_about

// Scalar loads whose addresses are no multiple of 4, by one part of the address or another.
.macro LOAD_ODD name, odd, load:vararg
KERNEL \name
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s12, s4, \odd
  s_addc_u32 s13, s5, 0
  s_movk_i32 s14, 0x100
  s_mov_b32 s15, 0
  s_movk_i32 s10, \odd
  \load
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s8
  global_store_dword v0, v2, s[4:5] offset:1024
FINISH \name
.endm
LOAD_ODD odd_base_clean, 4, s_load_dword s8, s[12:13], 0x8
LOAD_ODD odd_base_wrong, 2, s_load_dword s8, s[12:13], 0x8
LOAD_ODD odd_immediate_clean, 4, s_load_dword s8, s[12:13], 0x4
LOAD_ODD odd_immediate_wrong, 4, s_load_dword s8, s[12:13], 0x5
LOAD_ODD odd_register_clean, 4, s_load_dword s8, s[4:5], s10
LOAD_ODD odd_register_wrong, 3, s_load_dword s8, s[4:5], s10
LOAD_ODD odd_buffer_clean, 4, s_buffer_load_dwordx2 s[8:9], s[12:15], 0x10
LOAD_ODD odd_buffer_wrong, 4, s_buffer_load_dwordx2 s[8:9], s[12:15], 0x12
