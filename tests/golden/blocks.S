// Guest blocks whose host code is compared with reviewed texts (check_golden.py). One kernel per kind of block; the code that
// gives the block its registers stands in the block.
.macro kernel name
  .text
  .globl \name
  .p2align 8
  .type \name,@function
.endm
.macro descriptor name, vgprs=16, lds=0
  .size \name, .-\name
  .rodata
  .p2align 6
  .amdhsa_kernel \name
    .amdhsa_group_segment_fixed_size \lds
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr \vgprs
    .amdhsa_next_free_sgpr 32
    .amdhsa_accum_offset \vgprs
    .amdhsa_float_denorm_mode_32 3
  .end_amdhsa_kernel
.endm
// What blocks make is stored, else it would be dead.
.macro keep reg
  global_store_dword v15, \reg, s[20:21]
  s_endpgm
.endm

kernel alu
alu:  // straight vector and scalar arithmetic
  s_add_u32 s4, s4, s5
  s_addc_u32 s6, s6, s7
  v_mul_f32 v2, v0, v1
  v_fma_f32 v3, v2, s4, v1
  v_add_u32 v4, s6, v3
  v_lshlrev_b32 v4, 3, v4
  v_cmp_lt_f32 vcc, v3, v2
  v_cndmask_b32 v5, v4, v2, vcc
  keep v5
descriptor alu

kernel lds
lds:  // LDS: a dword, a pair, a store behind them
  v_lshlrev_b32 v1, 2, v0
  ds_read_b32 v2, v1
  ds_read2_b32 v[4:5], v1 offset0:16 offset1:17
  s_waitcnt lgkmcnt(0)
  v_add_f32 v2, v2, v4
  v_add_f32 v2, v2, v5
  ds_write_b32 v1, v2 offset:512
  s_endpgm
descriptor lds, 16, 4096

kernel global
global:  // kernel argument, load and store of consecutive dwords
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_load_dword v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32 v2, 1.0, v2
  global_store_dword v1, v2, s[4:5]
  s_endpgm
descriptor global

kernel divergent
divergent:  // lanes leave the loop one by one
  s_mov_b64 s[6:7], 0
divergent_loop:
  v_fma_f32 v1, v1, v1, v2
  v_add_u32 v3, -1, v3
  v_cmp_eq_u32 vcc, 0, v3
  s_or_b64 s[6:7], vcc, s[6:7]
  s_andn2_b64 exec, exec, s[6:7]
  s_cbranch_execnz divergent_loop
  s_mov_b64 exec, -1
  keep v1
descriptor divergent

kernel uniform
uniform:  // a counted loop
  s_movk_i32 s4, 100
uniform_loop:
  v_fma_f32 v1, v1, v2, v3
  v_fma_f32 v4, v4, v2, s5
  s_add_u32 s4, s4, -1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 uniform_loop
  v_add_f32 v1, v1, v4
  keep v1
descriptor uniform

kernel scratch
scratch:  // private memory: a spilled register, and an array at offsets of the lanes
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  buffer_store_dword v1, off, s[8:11], 0 offset:16
  v_and_b32 v2, 28, v1
  scratch_store_dword v2, v1, off offset:32
  scratch_load_dword v3, v2, off offset:64
  buffer_load_dword v4, off, s[8:11], 0 offset:16
  s_waitcnt vmcnt(0)
  v_add_f32 v3, v3, v4
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v3, s[4:5]
  s_endpgm
descriptor scratch

kernel patterns
patterns:  // addresses that nothing is known of
  global_load_dword v4, v[2:3], off
  global_load_ubyte v5, v[2:3], off offset:8
  s_waitcnt vmcnt(0)
  v_add_u32 v4, v4, v5
  global_store_dword v[6:7], v4, off
  s_endpgm
descriptor patterns

kernel narrow_rows
narrow_rows:  // rows of a work-group that are narrower than a vector: b[y * pitch + x] = 2 * a[y * pitch + x]
  v_and_b32 v1, 0x3ff, v0
  v_bfe_u32 v2, v0, 10, 10
  v_mul_lo_u32 v2, s8, v2
  v_add_lshl_u32 v1, v1, v2, 2
  global_load_dword v3, v1, s[4:5]
  s_waitcnt vmcnt(0)
  v_add_f32 v3, v3, v3
  global_store_dword v1, v3, s[6:7]
  s_endpgm
descriptor narrow_rows

kernel row_loop
row_loop:  // running sums of a row for each lane
  s_movk_i32 s4, 100
row_loop_loop:
  global_load_dword v4, v[0:1], off
  v_add_co_u32 v0, vcc, 4, v0
  v_addc_co_u32 v1, vcc, 0, v1, vcc
  s_waitcnt vmcnt(0)
  v_add_f32 v5, v5, v4
  global_store_dword v[2:3], v5, off
  v_add_co_u32 v2, vcc, 4, v2
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  s_add_u32 s4, s4, -1
  s_cmp_lg_u32 s4, 0
  s_cbranch_scc1 row_loop_loop
  s_endpgm
descriptor row_loop

kernel window
window:  // a loop whose loads walk, where addresses are masked
  s_load_dword s5, s[10:11], 0x10
  s_movk_i32 s4, 100
  s_waitcnt lgkmcnt(0)
window_loop:
  global_load_dword v4, v[0:1], off
  v_add_co_u32 v0, vcc, 4, v0
  v_addc_co_u32 v1, vcc, 0, v1, vcc
  s_waitcnt vmcnt(0)
  v_add_f32 v5, v5, v4
  s_add_u32 s4, s4, -1
  s_cmp_lg_u32 s4, s5
  s_cbranch_scc1 window_loop
  keep v5
descriptor window
