// Small kernels for the runtime's tests. No metadata: arguments are passed packed.
#include "entry.S"

.macro DESCRIPTOR name, kernarg=16, lds=0, scratch=0, vgprs=16, sgprs=40, extra=0
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size \kernarg
  .amdhsa_group_segment_fixed_size \lds
  .amdhsa_private_segment_fixed_size \scratch
  .amdhsa_next_free_vgpr \vgprs
  .amdhsa_next_free_sgpr \sgprs
#ifdef __gfx90a__
  .amdhsa_accum_offset \vgprs
#endif
  .amdhsa_user_sgpr_private_segment_buffer \extra
  .amdhsa_user_sgpr_dispatch_ptr \extra
  .amdhsa_user_sgpr_queue_ptr \extra
  .amdhsa_user_sgpr_dispatch_id \extra
  .amdhsa_user_sgpr_flat_scratch_init \extra
  .amdhsa_user_sgpr_private_segment_size \extra
  .amdhsa_system_sgpr_workgroup_id_y \extra
  .amdhsa_system_sgpr_workgroup_id_z \extra
  .amdhsa_system_sgpr_workgroup_info \extra
  .amdhsa_system_sgpr_private_segment_wavefront_offset \extra
  .amdhsa_system_vgpr_workitem_id 2*\extra
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
.end_amdhsa_kernel
.text
.endm


// s[0:1] = kernarg, s2 = work-group id x, v0 = work-item id x (masked for packed ids).

// void under_way(u32* out, u32 waits): a load and a store of each work-item, and unless it waits for both they are under way at the barrier.
ENTRY under_way
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v0, 2, v0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v4, 7
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_add_co_u32_e32 v2, vcc, v2, v0
  v_addc_co_u32_e32 v3, vcc, v3, v1, vcc
  flat_load_dword v5, v[2:3]
  flat_store_dword v[2:3], v4
  s_cmp_eq_u32 s6, 0
  s_cbranch_scc1 1f
  s_waitcnt vmcnt(0) lgkmcnt(0)
1:
  s_barrier
  s_waitcnt vmcnt(0) lgkmcnt(0)
END_OF_CODE under_way
DESCRIPTOR under_way

// void leftovers(u32* out, u32 never): stores the sum of a VGPR, of the upper half of another and of an SGPR
// that nobody has written to out[work-item], then fills these registers for those who come later.
ENTRY leftovers
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_and_b32_e32 v0, 0x3ff, v0
  s_mul_i32 s8, s2, 128
  v_add_u32_e32 v1, s8, v0
  v_lshlrev_b32_e32 v1, 2, v1
  v_and_b32_e32 v2, 63, v0
  v_cmp_gt_u32_e32 vcc, 32, v2
  s_and_saveexec_b64 s[10:11], vcc
  v_mov_b32_e32 v6, 0
  s_mov_b64 exec, s[10:11]
  s_waitcnt lgkmcnt(0)
.Lleftovers:
  v_add_u32_e32 v2, v5, v6
  v_add_u32_e32 v2, s20, v2
  global_store_dword v1, v2, s[4:5]
  v_mov_b32_e32 v5, 3
  v_mov_b32_e32 v6, 5
  s_mov_b32 s20, 7
  s_cmp_eq_u32 s2, s6
  s_cbranch_scc1 .Lleftovers
END_OF_CODE leftovers
DESCRIPTOR leftovers

// void leftovers_off(u32* out): stores a VGPR that only the wave's own lanes have set, to 0, to
// out[work-group id * 64 + lane] in all lanes, then fills it for those who come later.
ENTRY leftovers_off
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_lshl_b32 s8, s2, 6
  v_mov_b32_e32 v5, 0
  s_mov_b64 exec, -1
  v_mbcnt_lo_u32_b32 v1, -1, 0
  v_mbcnt_hi_u32_b32 v1, -1, v1
  v_add_u32_e32 v1, s8, v1
  v_lshlrev_b32_e32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v5, s[4:5]
  v_mov_b32_e32 v5, 3
END_OF_CODE leftovers_off
DESCRIPTOR leftovers_off

// void endless()
ENTRY endless
.Lendless:
  s_nop 0
  s_branch .Lendless
END_OF_CODE endless
DESCRIPTOR endless

// void store_after_barrier(u32* out, u32 early): wave `early` ends before the barrier; every lane of the others
// stores work-group id + 1 to out[work-group id * 256 + work-item id].
ENTRY store_after_barrier
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s7, v0
  s_lshr_b32 s7, s7, 6
  s_waitcnt lgkmcnt(0)
  s_cmp_eq_u32 s7, s6
  s_cbranch_scc1 .Lsab_end
  s_barrier
  s_lshl_b32 s8, s2, 8
  v_or_b32_e32 v1, s8, v0
  v_lshlrev_b32_e32 v1, 2, v1
  s_add_u32 s8, s2, 1
  v_mov_b32_e32 v2, s8
  global_store_dword v1, v2, s[4:5]
.Lsab_end:
END_OF_CODE store_after_barrier
DESCRIPTOR store_after_barrier

// void relay(u32* out), four waves: each goes through 7 * (its number + 1) rounds with a barrier. In round r wave r mod 4
// adds r to a sum in the LDS. out[work-group id * 4 + wave] = the sum when the wave ends.
ENTRY relay
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s7, v0
  s_lshr_b32 s7, s7, 6
  s_add_u32 s8, s7, 1
  s_mul_i32 s8, s8, 7
  s_mov_b32 s9, 0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v3, 0
  s_mov_b64 exec, 1
  ds_write_b32 v1, v3
  s_waitcnt lgkmcnt(0)
.Lrelay:
  s_barrier
  s_add_u32 s9, s9, 1
  s_and_b32 s10, s9, 3
  s_cmp_eq_u32 s10, s7
  s_cselect_b32 s11, s9, 0
  v_mov_b32_e32 v2, s11
  ds_add_u32 v1, v2
  s_waitcnt lgkmcnt(0)
  s_cmp_lt_u32 s9, s8
  s_cbranch_scc1 .Lrelay
  ds_read_b32 v4, v1
  s_waitcnt lgkmcnt(0)
  s_lshl_b32 s12, s2, 2
  s_add_u32 s12, s12, s7
  s_lshl_b32 s12, s12, 2
  v_mov_b32_e32 v5, s12
  global_store_dword v5, v4, s[4:5]
END_OF_CODE relay
DESCRIPTOR relay, lds=256

// void barrier_deadlock(): wave 0 polls an LDS flag that nobody sets, the others wait at a barrier.
ENTRY barrier_deadlock
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s7, v0
  s_cmp_eq_u32 s7, 0
  s_cbranch_scc1 .Lbd_poll
  s_barrier
  s_endpgm
.Lbd_poll:
  v_mov_b32_e32 v1, 0
  ds_read_b32 v2, v1
  s_waitcnt lgkmcnt(0)
  v_readfirstlane_b32 s8, v2
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 .Lbd_poll
END_OF_CODE barrier_deadlock
DESCRIPTOR barrier_deadlock, lds=256

// void wait_for_flag(u32* flag, u32* out): sleeps until *flag is not 0, then stores it.
ENTRY wait_for_flag
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  s_waitcnt lgkmcnt(0)
.Lwff:
  s_sleep 1
  global_load_dword v2, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v2
  s_cmp_eq_u32 s8, 0
  s_cbranch_scc1 .Lwff
  global_store_dword v1, v2, s[6:7]
END_OF_CODE wait_for_flag
DESCRIPTOR wait_for_flag

// void set_flag(u32* flag, u32* unused)
ENTRY set_flag
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 7
  s_waitcnt lgkmcnt(0)
  global_store_dword v1, v2, s[4:5]
END_OF_CODE set_flag
DESCRIPTOR set_flag

// void grid_barrier(u32* counter, u32 groups): every work-group adds 1 and spins until all have.
ENTRY grid_barrier
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_load_dword s6, s[0:1], 0x8
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 1
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v2, s[4:5]
.Lgb:
  global_load_dword v3, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s8, v3
  s_cmp_lt_u32 s8, s6
  s_cbranch_scc1 .Lgb
END_OF_CODE grid_barrier
DESCRIPTOR grid_barrier

// void chain(u32* flags, u32 groups, i32 step): each work-group waits until flags[own number + step] is not 0, if there
// is such a work-group, and stores one more than that in its own; the others store 1.
ENTRY chain
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_mov_b32_e32 v3, 0
  s_mov_b64 exec, 1
  s_waitcnt lgkmcnt(0)
  s_add_u32 s8, s2, s7
  s_cmp_ge_u32 s8, s6
  s_cbranch_scc1 .Lchain_store
  s_lshl_b32 s8, s8, 2
  v_mov_b32_e32 v1, s8
.Lchain_wait:
  s_nop 0
  global_load_dword v3, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  buffer_wbinvl1_vol
  v_readfirstlane_b32 s9, v3
  s_cmp_eq_u32 s9, 0
  s_cbranch_scc1 .Lchain_wait
.Lchain_store:
  v_add_u32_e32 v3, 1, v3
  s_lshl_b32 s8, s2, 2
  v_mov_b32_e32 v1, s8
  s_waitcnt vmcnt(0)
  global_store_dword v1, v3, s[4:5]
END_OF_CODE chain
DESCRIPTOR chain

// void poll_behind_barrier(u32* flag, u32* out), four waves: wave 0 polls *flag, the others wait at a barrier for it.
ENTRY poll_behind_barrier
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_readfirstlane_b32 s8, v0
  v_mov_b32_e32 v1, 0
  s_waitcnt lgkmcnt(0)
  s_cmp_lg_u32 s8, 0
  s_cbranch_scc1 .Lpbb_arrive
.Lpbb_poll:
  s_nop 0
  global_load_dword v2, v1, s[4:5] glc
  s_waitcnt vmcnt(0)
  v_readfirstlane_b32 s9, v2
  s_cmp_eq_u32 s9, 0
  s_cbranch_scc1 .Lpbb_poll
.Lpbb_arrive:
  s_barrier
  v_lshlrev_b32_e32 v1, 2, v0
  v_mov_b32_e32 v2, 1
  global_store_dword v1, v2, s[6:7]
END_OF_CODE poll_behind_barrier
DESCRIPTOR poll_behind_barrier

// void endless_barriers()
ENTRY endless_barriers
  s_barrier
  s_branch endless_barriers
END_OF_CODE endless_barriers
DESCRIPTOR endless_barriers

.type in_front,@function
in_front:
  s_nop 0
  .long 0xbfffffff
.size in_front, .-in_front

// void fault_in_front()
ENTRY fault_in_front
  s_branch in_front
END_OF_CODE fault_in_front
DESCRIPTOR fault_in_front

// void \name(u8* base, u64 stride): lane l loads from base + l * stride.
.macro LOAD_AT name, load
ENTRY \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v0, s6
  \load v2, v1, s[4:5]
  s_waitcnt vmcnt(0)
END_OF_CODE \name
DESCRIPTOR \name
.endm
LOAD_AT load_at, global_load_dword
LOAD_AT load_byte_at, global_load_ubyte
LOAD_AT load_word_at, global_load_sshort

// void store_at(u8* base, u64 stride)
ENTRY store_at
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v0, s6
  global_store_dword v1, v0, s[4:5]
  s_waitcnt vmcnt(0)
END_OF_CODE store_at
DESCRIPTOR store_at

// void atomic_field_at(u32* base): adds l to element l.
ENTRY atomic_field_at
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  v_lshlrev_b32_e32 v1, 2, v0
  s_waitcnt lgkmcnt(0)
  global_atomic_add v1, v0, s[4:5]
END_OF_CODE atomic_field_at
DESCRIPTOR atomic_field_at

// void \name(u8* base, u64 stride): lane l accesses base + l * stride, which is v[2:3]. s[8:11] is a
// buffer at base, v1 its offset l * stride.
.macro ACCESS_AT name, access
ENTRY \name
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v0, s6
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mad_u64_u32 v[2:3], vcc, v0, s6, v[2:3]
  s_mov_b32 s8, s4
  s_and_b32 s9, s5, 0xffff
  s_mov_b32 s10, -1
  s_mov_b32 s11, 0x27000
  \access
  s_waitcnt vmcnt(0) lgkmcnt(0)
END_OF_CODE \name
DESCRIPTOR \name
.endm
ACCESS_AT wide_store_at, "global_store_dword v[2:3], v0, off"
ACCESS_AT wide_stores_at, "global_store_dwordx4 v[2:3], v[4:7], off"
ACCESS_AT wide_store_byte_at, "global_store_byte v[2:3], v0, off"
ACCESS_AT wide_load_at, "global_load_dword v4, v[2:3], off"
ACCESS_AT wide_loads_at, "global_load_dwordx2 v[4:5], v[2:3], off"
ACCESS_AT flat_store_at, "flat_store_dword v[2:3], v0"
ACCESS_AT atomic_at, "global_atomic_add v[2:3], v0, off"
ACCESS_AT atomic_return_at, "global_atomic_cmpswap_x2 v[4:5], v[2:3], v[6:9], off glc"
ACCESS_AT buffer_store_at, "buffer_store_dword v0, v1, s[8:11], 0 offen"
ACCESS_AT buffer_atomic_at, "buffer_atomic_add v0, v1, s[8:11], 0 offen"
ACCESS_AT scalar_load_at, "s_load_dwordx4 s[4:7], s[4:5], 0x0"
ACCESS_AT scalar_buffer_load_at, "s_buffer_load_dwordx4 s[4:7], s[8:11], 0x0"

// void \name(struct { u64 base, stride, step, count, out; }): lane l loads from base + l * stride on, `step` further each
// time, count times; the sum goes to out[l]. v[2:3] is where it is, or s[4:5] with v1 if the base moves.
.macro WALK name, load, low, high
ENTRY \name
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x20
  v_and_b32_e32 v0, 0x3ff, v0
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v0, s6
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mad_u64_u32 v[2:3], vcc, v0, s6, v[2:3]
  s_mov_b32 s14, 0
.Lloop_\name:
  \load
  v_mov_b32_e32 v7, s9
  s_add_u32 s14, s14, 1
  \low
  \high
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v5, v5, v4
  s_cmp_lt_u32 s14, s10
  s_cbranch_scc1 .Lloop_\name
  v_lshlrev_b32_e32 v0, 2, v0
  global_store_dword v0, v5, s[12:13]
END_OF_CODE \name
DESCRIPTOR \name, 40
.endm
WALK walk_lanes, "global_load_dword v4, v[2:3], off", "v_add_co_u32_e32 v2, vcc, s8, v2", "v_addc_co_u32_e32 v3, vcc, v3, v7, vcc"
WALK walk_dwords, "global_load_dword v4, v[2:3], off", "v_add_co_u32_e32 v2, vcc, 4, v2", "v_addc_co_u32_e32 v3, vcc, 0, v3, vcc"
WALK walk_down, "global_load_dword v4, v[2:3], off", "v_add_co_u32_e32 v2, vcc, -4, v2", "v_addc_co_u32_e32 v3, vcc, -1, v3, vcc"
WALK walk_base, "global_load_dword v4, v1, s[4:5]", "s_add_u32 s4, s4, s8", "s_addc_u32 s5, s5, s9"
WALK walk_base_by_4, "global_load_dword v4, v1, s[4:5]", "s_add_u32 s4, s4, 4", "s_addc_u32 s5, s5, 0"

// The same, but the only load is the last one: count * step behind base + l * stride.
ENTRY walk_unseen
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x20
  v_and_b32_e32 v0, 0x3ff, v0
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mad_u64_u32 v[2:3], vcc, v0, s6, v[2:3]
  v_mov_b32_e32 v8, s10
  s_mov_b32 s14, 0
.Lwalk_unseen:
  v_cmp_eq_u32_e32 vcc, s14, v8
  s_and_saveexec_b64 s[16:17], vcc
  global_load_dword v5, v[2:3], off
  s_mov_b64 exec, s[16:17]
  v_mov_b32_e32 v7, s9
  s_add_u32 s14, s14, 1
  v_add_co_u32_e32 v2, vcc, s8, v2
  v_addc_co_u32_e32 v3, vcc, v3, v7, vcc
  s_cmp_le_u32 s14, s10
  s_cbranch_scc1 .Lwalk_unseen
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt vmcnt(0)
  global_store_dword v0, v5, s[12:13]
END_OF_CODE walk_unseen
DESCRIPTOR walk_unseen, 40

// void walk_rows(the same): running sums of lane l's row, which is at base + l * stride, to out + l * stride.
ENTRY walk_rows
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x20
  v_and_b32_e32 v0, 0x3ff, v0
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mad_u64_u32 v[2:3], vcc, v0, s6, v[2:3]
  v_mov_b32_e32 v8, s12
  v_mov_b32_e32 v9, s13
  v_mad_u64_u32 v[8:9], vcc, v0, s6, v[8:9]
  s_mov_b32 s14, 0
.Lwalk_rows:
  global_load_dword v4, v[2:3], off
  v_add_co_u32_e32 v2, vcc, 4, v2
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v5, v5, v4
  global_store_dword v[8:9], v5, off
  v_add_co_u32_e32 v8, vcc, 4, v8
  v_addc_co_u32_e32 v9, vcc, 0, v9, vcc
  s_add_u32 s14, s14, 1
  s_cmp_lt_u32 s14, s10
  s_cbranch_scc1 .Lwalk_rows
END_OF_CODE walk_rows
DESCRIPTOR walk_rows, 40

// void lanes_loop(the same): lane l sums count + l dwords of its row; the sum goes to out[l].
ENTRY lanes_loop
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x20
  v_and_b32_e32 v0, 0x3ff, v0
  v_mov_b32_e32 v5, 0
  v_mov_b32_e32 v6, 0
  s_waitcnt lgkmcnt(0)
  v_mov_b32_e32 v2, s4
  v_mov_b32_e32 v3, s5
  v_mad_u64_u32 v[2:3], vcc, v0, s6, v[2:3]
  v_add_u32_e32 v7, s10, v0
  s_mov_b64 s[16:17], 0
.Llanes_loop:
  global_load_dword v4, v[2:3], off
  v_add_u32_e32 v6, 1, v6
  v_add_co_u32_e32 v2, vcc, 4, v2
  v_addc_co_u32_e32 v3, vcc, 0, v3, vcc
  v_cmp_ge_u32_e32 vcc, v6, v7
  s_or_b64 s[16:17], vcc, s[16:17]
  s_waitcnt vmcnt(0)
  v_add_u32_e32 v5, v5, v4
  s_andn2_b64 exec, exec, s[16:17]
  s_cbranch_execnz .Llanes_loop
  s_or_b64 exec, exec, s[16:17]
  v_lshlrev_b32_e32 v0, 2, v0
  global_store_dword v0, v5, s[12:13]
END_OF_CODE lanes_loop
DESCRIPTOR lanes_loop, 40

// void table_at(the same): out[l] = base[l * stride mod 8]
ENTRY table_at
  s_load_dwordx8 s[4:11], s[0:1], 0x0
  s_load_dwordx2 s[12:13], s[0:1], 0x20
  v_and_b32_e32 v0, 0x3ff, v0
  s_waitcnt lgkmcnt(0)
  v_mul_lo_u32 v1, v0, s6
  v_and_b32_e32 v1, 7, v1
  v_lshlrev_b32_e32 v1, 2, v1
  global_load_dword v5, v1, s[4:5]
  v_lshlrev_b32_e32 v0, 2, v0
  s_waitcnt vmcnt(0)
  global_store_dword v0, v5, s[12:13]
END_OF_CODE table_at
DESCRIPTOR table_at, 40

// void scalar_load(u64 address)
ENTRY scalar_load
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_load_dword s6, s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
END_OF_CODE scalar_load
DESCRIPTOR scalar_load

ENTRY trap
  s_trap 2
END_OF_CODE trap
DESCRIPTOR trap

ENTRY illegal
  s_nop 0
  .long 0xbfffffff
END_OF_CODE illegal
DESCRIPTOR illegal

// A valid instruction that wavejit refuses: there are no images.
ENTRY refused
  s_nop 0
  image_load v0, v0, s[8:15] dmask:0x1 unorm
END_OF_CODE refused
DESCRIPTOR refused

// Reads a VGPR beyond the allocation of 4.
ENTRY beyond_allocation
  v_mov_b32_e32 v1, v100
END_OF_CODE beyond_allocation
DESCRIPTOR beyond_allocation, vgprs=4

// void jump_to(u64 address)
ENTRY jump_to
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_waitcnt lgkmcnt(0)
  s_setpc_b64 s[4:5]
END_OF_CODE jump_to
DESCRIPTOR jump_to

#ifdef __gfx90a__
// void preloaded(u32* out, u32 value): both are in s[2:4] when the code behind the first 256 bytes runs;
// those are for firmware that does not preload, and store something else.
ENTRY preloaded
  s_load_dwordx2 s[2:3], s[0:1], 0x0
  s_mov_b32 s4, 99
  s_waitcnt lgkmcnt(0)
  s_branch .Lpreloaded
  .fill 60 - 2, 4, 0xbf800000
.Lpreloaded:
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, s4
  global_store_dword v1, v2, s[2:3]
END_OF_CODE preloaded
.section .rodata, "a"
.p2align 6
.amdhsa_kernel preloaded
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 8
  .amdhsa_next_free_sgpr 16
  .amdhsa_accum_offset 8
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_user_sgpr_kernarg_preload_length 3
.end_amdhsa_kernel
.text
#endif

// void dump_state(u32* out): s0-s19 and the work-item ids of one wave, for the initial register state.
// s[0:3] scratch buffer, s[4:5] dispatch ptr, s[6:7] queue ptr, s[8:9] kernarg, s[10:11] dispatch id,
// s[12:13] flat scratch init, s14 private size, s15-s17 work-group id, s18 info, s19 scratch wave offset.
ENTRY dump_state
  s_load_dwordx2 s[20:21], s[8:9], 0x0
  v_mov_b32_e32 v4, 0
  s_waitcnt lgkmcnt(0)
  .irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19
  v_mov_b32_e32 v5, s\n
  global_store_dword v4, v5, s[20:21] offset:4*\n
  .endr
  s_getreg_b32 s22, hwreg(HW_REG_MODE)
  v_mov_b32_e32 v5, s22
  global_store_dword v4, v5, s[20:21] offset:80
  v_mov_b32_e32 v5, exec_lo
  global_store_dword v4, v5, s[20:21] offset:84
  v_mov_b32_e32 v5, exec_hi
  global_store_dword v4, v5, s[20:21] offset:88
END_OF_CODE dump_state
DESCRIPTOR dump_state, extra=1, scratch=36

#ifndef __gfx90a__
// void gds_count(u32* out): every lane adds 1 to GDS dword 0; in the order of their ids the work-groups, one wave each,
// add id + 1 to ordered counter 1 at byte 64 and store what it was to out[id].
ENTRY gds_count
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_movk_i32 m0, 0x10
  v_mov_b32_e32 v1, 0
  v_mov_b32_e32 v2, 1
  ds_add_u32 v1, v2 gds
  s_or_b32 m0, s2, 64 << 16
  s_add_u32 s6, s2, 1
  v_mov_b32_e32 v3, s6
  ds_ordered_count v4, v3 offset:4+0x300 gds
  s_lshl_b32 s6, s2, 2
  v_mov_b32_e32 v5, s6
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  global_store_dword v5, v4, s[4:5]
END_OF_CODE gds_count
DESCRIPTOR gds_count

// void gds_read(u32* out): GDS dword 0, then 0 again.
ENTRY gds_read
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  s_movk_i32 m0, 0x10
  v_mov_b32_e32 v1, 0
  ds_wrxchg_rtn_b32 v2, v1, v1 gds
  s_waitcnt lgkmcnt(0)
  s_mov_b64 exec, 1
  global_store_dword v1, v2, s[4:5]
END_OF_CODE gds_read
DESCRIPTOR gds_read
#endif

// A constant with a name, as HIP's __constant__ variables are. It has a page of its own.
.section .rodata, "a"
.p2align 12
.globl named_constant
.type named_constant,@object
named_constant:
  .long 77
.p2align 12
.size named_constant, 4
