// Code with lines by hand: which of them were reached is known by reading. The sources do not exist.
.text
.file 1 "/source" "main.cl"
.file 2 "/source" "header.h"

// void chosen(u64, u32 n), lines 10 to 15 of main.cl, calls doubled() of header.h when n > 8:
// n = 0 leaves at once, else the loop takes n turns.
.globl chosen
.p2align 8
.type chosen,@function
chosen:
  .loc 1 10 0
  s_load_dword s4, s[0:1], 0x8
  s_waitcnt lgkmcnt(0)
  .loc 1 11 0
  s_cmp_eq_u32 s4, 0
  s_cbranch_scc1 .Lend
  .loc 1 12 0
  s_cmp_le_u32 s4, 8
  s_cbranch_scc1 .Lloop
  .loc 1 13 0
  s_getpc_b64 s[6:7]
  s_add_u32 s6, s6, doubled@rel32@lo+4
  s_addc_u32 s7, s7, doubled@rel32@hi+12
  s_swappc_b64 s[8:9], s[6:7]
.Lloop:
  .loc 1 14 0
  s_sub_u32 s4, s4, 1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 .Lloop
.Lend:
  .loc 1 15 0
  s_endpgm
.size chosen, .-chosen

.globl doubled
.hidden doubled
.p2align 8
.type doubled,@function
doubled:
  .loc 2 3 0
  s_lshl_b32 s4, s4, 1
  s_setpc_b64 s[8:9]
.size doubled, .-doubled

// Never launched: line 20.
.globl idle
.p2align 8
.type idle,@function
idle:
  .loc 1 20 0
  s_endpgm
.size idle, .-idle

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
.endm
DESCRIPTOR chosen
DESCRIPTOR idle

// The unit that the line table belongs to: DW_TAG_compile_unit with statement list, name, directory.
.section .debug_abbrev, "", @progbits
  .byte 1, 0x11, 0
  .byte 0x10, 0x17
  .byte 0x03, 0x08
  .byte 0x1b, 0x08
  .byte 0, 0, 0
.section .debug_info, "", @progbits
  .long .Lunit_end - .Lunit
.Lunit:
  .short 4
  .long 0
  .byte 8
  .byte 1
  .long 0
  .asciz "main.cl"
  .asciz "/source"
.Lunit_end:
