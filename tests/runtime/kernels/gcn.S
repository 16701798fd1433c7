// What gfx7 and gfx8 tell a wave of its private memory: FLAT_SCRATCH_INIT and the wave's offset.
    .amdhsa_code_object_version 5
    .text
    .globl flat_scratch_init
    .p2align 8
    .type flat_scratch_init,@function
flat_scratch_init:                      // kernarg s[0:1], FLAT_SCRATCH_INIT s[2:3], work-group s4, wave's offset s5
    s_load_dwordx2 s[6:7], s[0:1], 0x0
    s_lshl_b32 s4, s4, 3                // 8 bytes for each work-group
    s_add_u32 s2, s2, s5
    s_waitcnt lgkmcnt(0)
    s_add_u32 s6, s6, s4
    s_addc_u32 s7, s7, 0
    v_mov_b32 v0, s6
    v_mov_b32 v1, s7
    v_mov_b32 v2, s2
    v_mov_b32 v3, s3
    flat_store_dwordx2 v[0:1], v[2:3]
    s_endpgm
.Lend:
    .size flat_scratch_init, .Lend - flat_scratch_init

    .rodata
    .p2align 6
    .amdhsa_kernel flat_scratch_init
        .amdhsa_user_sgpr_kernarg_segment_ptr 1
        .amdhsa_user_sgpr_flat_scratch_init 1
        .amdhsa_system_sgpr_private_segment_wavefront_offset 1
        .amdhsa_private_segment_fixed_size 48
        .amdhsa_kernarg_size 8
        .amdhsa_next_free_vgpr 4
        .amdhsa_next_free_sgpr 8
    .end_amdhsa_kernel

    .amdgpu_metadata
---
amdhsa.version: [ 1, 2 ]
amdhsa.kernels:
  - .name: flat_scratch_init
    .symbol: flat_scratch_init.kd
    .kernarg_segment_size: 8
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 48
    .wavefront_size: 64
    .sgpr_count: 16
    .vgpr_count: 4
    .max_flat_workgroup_size: 64
    .args:
      - { .size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global }
...
    .end_amdgpu_metadata
