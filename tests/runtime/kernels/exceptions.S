// Kernels whose exceptions somebody asks for, or that go by two names of a register.
.macro KERNEL name, sgprs=20, more:vararg
.text
.p2align 8
.globl \name
.type \name,@function
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr \sgprs
#ifdef __gfx90a__
  .amdhsa_accum_offset 16
#endif
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  \more
.end_amdhsa_kernel
.text
\name:
.endm
.macro END name
  s_endpgm
.size \name, .-\name
.endm

// Stores \reg of lane l of work-group g to out[64 * g + l]; s[0:1] = kernarg, v0 = work-item, \group = work-group.
.macro STORE reg, group
  v_and_b32_e32 v0, 0x3ff, v0
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_lshl_b32 s4, \group, 6
  v_add_u32_e32 v1, s4, v0
  v_lshlrev_b32_e32 v1, 2, v1
  v_mov_b32_e32 v2, \reg
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[2:3]
.endm

// 1 / (work-item - 3): lane 3 divides by zero, most others are inexact.
.macro DIVIDE
  v_and_b32_e32 v3, 0x3ff, v0
  v_subrev_u32_e32 v3, 3, v3
  v_cvt_f32_i32_e32 v3, v3
  v_rcp_f32_e32 v3, v3
.endm

// void reads_trapsts(u32* out)
KERNEL reads_trapsts
  s_mov_b32 s9, s2
  DIVIDE
  s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 9)
  STORE s8, s9
END reads_trapsts

.type look,@function
look:
  s_getreg_b32 s8, hwreg(HW_REG_TRAPSTS, 0, 9)
  s_setpc_b64 s[10:11]
.size look, .-look

// The same, looked at by a function.
KERNEL calls_reader
  s_mov_b32 s9, s2
  DIVIDE
  s_getpc_b64 s[12:13]
  s_add_u32 s12, s12, look@rel32@lo+4
  s_addc_u32 s13, s13, look@rel32@hi+12
  s_swappc_b64 s[10:11], s[12:13]
  STORE s8, s9
END calls_reader

// Nobody asks.
KERNEL divides
  s_mov_b32 s9, s2
  DIVIDE
  STORE v3, s9
END divides

// The descriptor enables division by zero.
KERNEL enables_division 20 .amdhsa_exception_fp_ieee_div_zero 1
  s_nop 0
  DIVIDE
END enables_division

// An allocation of 16: s[14:15] is VCC.
KERNEL two_names 10
  s_mov_b32 s9, s2
  v_and_b32_e32 v3, 1, v0
  v_cmp_eq_u32_e32 vcc, 1, v3
  s_mov_b32 s8, s14
  STORE s8, s9
END two_names

// The work-group's number is put into s14, which is VCC_LO.
KERNEL starts_with_two_names 10 .amdhsa_user_sgpr_count 14
  s_mov_b32 s9, vcc_lo
  s_nop 0
  STORE s14, s9
END starts_with_two_names

// 16 of 20 user SGPRs are initialised; what the system puts in follows behind all of them.
KERNEL many_user_sgprs 30 .amdhsa_user_sgpr_count 20
  STORE s20, s20
END many_user_sgprs

// s_trap 1 with an argument in v0 of each work-item.
KERNEL argument_for_a_debugger
  v_and_b32_e32 v0, 0x3ff, v0
  v_add_u32_e32 v0, 0x500, v0
  s_mov_b32 s0, 0x1234
  s_mov_b32 s1, 0
  s_trap 1
END argument_for_a_debugger
