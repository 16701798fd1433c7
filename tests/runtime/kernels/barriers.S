// gfx12.5: named barriers and barriers of clusters.
.macro KERNEL name, named=0
.text
.p2align 8
.globl \name
.type \name,@function
.section .rodata, "a"
.p2align 6
.amdhsa_kernel \name
  .amdhsa_kernarg_size 16
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 32
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_group_segment_fixed_size 256
  .amdhsa_named_barrier_count \named
.end_amdhsa_kernel
.text
\name:
  s_load_b64 s[2:3], s[0:1], 0x0
  s_lshr_b32 s4, ttmp8, 25
  s_and_b32 s4, s4, 31               // the wave
  s_lshl_b32 s5, s4, 2
  v_mov_b32_e32 v2, s5               // where it writes
  v_mov_b32_e32 v0, 0
  s_wait_kmcnt 0x0
.endm
.macro END name
  s_endpgm
.size \name, .-\name
.endm
.macro OUT value
  v_mov_b32_e32 v3, \value
  global_store_b32 v2, v3, s[2:3]
.endm
.macro GROUP                         // all waves of the work-group meet
  s_wait_dscnt 0x0
  s_barrier_signal -1
  s_barrier_wait -1
.endm
.macro IF wave, else                 // other waves go on there
  s_cmp_eq_u32 s4, \wave
  s_cbranch_scc0 \else
.endm
.macro INIT number, expected
  s_mov_b32 m0, (\expected << 16) | \number
  s_barrier_init m0
.endm
// Wave 0 sets it up, in front of everybody.
.macro SETUP number, expected
  IF 0, 9f
  INIT \number, \expected
9:
  GROUP
.endm

// Waves 0 and 1 meet at barrier 1, waves 2 and 3 at barrier 2, which they name by M0: each reads what the other one has written. Out: 10 more
// than the number of the neighbour.
KERNEL pairs, 1
  SETUP 1, 2
  SETUP 2, 2
  v_lshlrev_b32_e64 v4, 2, s4
  s_add_co_u32 s6, s4, 10
  v_mov_b32_e32 v5, s6
  s_xor_b32 s7, s4, 1
  v_lshlrev_b32_e64 v6, 2, s7
  s_cmp_gt_u32 s4, 1
  s_cbranch_scc1 1f
  s_barrier_join 1
  ds_store_b32 v4, v5
  s_wait_dscnt 0x0
  s_barrier_signal 1
  s_barrier_wait 1
  s_branch 2f
1:
  s_mov_b32 m0, 2
  s_barrier_join m0
  ds_store_b32 v4, v5
  s_wait_dscnt 0x0
  s_barrier_signal m0
  s_barrier_wait 2
2:
  ds_load_b32 v7, v6
  s_wait_dscnt 0x0
  v_readfirstlane_b32 s8, v7
  OUT s8
  s_barrier_leave
END pairs

// Wave 0 hands 64 numbers to wave 1 by one dword: barrier 1 says that it is full, barrier 2 that it is free. Neither waits for both, and each
// signals again in the next phase before the other one has seen that the last one is over. Out of wave 1: their sum.
KERNEL hand_over, 1
  SETUP 1, 2
  SETUP 2, 2
  s_mov_b32 s6, 0
  s_mov_b32 s7, 0
  IF 0, 2f
  s_barrier_join 2
1:
  s_add_co_u32 s6, s6, 1
  v_mov_b32_e32 v5, s6
  ds_store_b32 v0, v5
  s_wait_dscnt 0x0
  s_barrier_signal 1
  s_barrier_signal 2
  s_barrier_wait 2
  s_cmp_lg_u32 s6, 64
  s_cbranch_scc1 1b
  s_branch 4f
2:
  s_barrier_join 1
3:
  s_barrier_signal 1
  s_barrier_wait 1
  ds_load_b32 v5, v0
  s_wait_dscnt 0x0
  v_readfirstlane_b32 s8, v5
  s_add_co_u32 s7, s7, s8
  s_barrier_signal 2
  s_add_co_u32 s6, s6, 1
  s_cmp_lg_u32 s6, 64
  s_cbranch_scc1 3b
4:
  OUT s7
END hand_over

// It is set up for four, and wave 1 makes two of them.
KERNEL new_count, 1
  SETUP 3, 4
  s_barrier_join 3
  IF 1, 1f
  s_mov_b32 m0, (2 << 16) | 3
  s_barrier_signal m0
  s_branch 2f
1:
  s_barrier_signal 3
2:
  s_barrier_wait 3
  OUT 7
END new_count

// Of each phase one wave is the first. Lanes do not count: none is on.
KERNEL first_named, 4
  SETUP 16, 3
  s_barrier_join 16
  s_mov_b32 s9, exec_lo
  s_mov_b32 exec_lo, 0
  s_barrier_signal_isfirst 16
  s_cselect_b32 s6, 1, 0
  s_barrier_wait 16
  s_mov_b32 m0, 16
  s_barrier_signal_isfirst m0
  s_cselect_b32 s7, 0x10, 0
  s_barrier_wait 16
  s_mov_b32 exec_lo, s9
  s_add_co_u32 s6, s6, s7
  OUT s6
END first_named

// Barrier 0 is there without being set up, and nothing but a join does anything. A wave that leaves barrier 1 by it is a member still.
KERNEL null, 1
  SETUP 1, 2
  s_mov_b32 m0, 5 << 16
  s_barrier_init m0
  s_barrier_signal 0
  s_barrier_signal m0
  s_cmp_eq_u32 s4, s4
  s_barrier_signal_isfirst 0
  s_cselect_b32 s6, 1, 0
  s_barrier_wait 0
  s_barrier_join 1
  s_barrier_join 0
  s_barrier_leave
  s_get_barrier_state s7, 1
  s_wait_kmcnt 0x0
  s_add_co_u32 s6, s6, s7
  OUT s6
END null

// Joined to barrier 2, which is complete, it waits by the name of barrier 1, which never is.
KERNEL last_joined, 1
  SETUP 1, 2
  SETUP 2, 2
  s_barrier_join 1
  s_barrier_join 2
  s_barrier_signal 2
  s_barrier_wait 1
  OUT 9
END last_joined

// Of three members two have signalled when the third one leaves.
KERNEL leave_last, 1
  SETUP 1, 3
  s_barrier_join 1
  IF 2, 1f
  GROUP
  s_barrier_leave
  OUT 5
  s_endpgm
1:
  s_barrier_signal 1
  GROUP
  s_barrier_wait 1
  OUT 6
END leave_last

// A member that has ended is one still.
KERNEL ends_joined, 1
  SETUP 1, 2
  s_barrier_join 1
  IF 0, 1f
  s_barrier_signal 1
  s_barrier_wait 1
1:
END ends_joined

// Nobody leaves; it is set up anew for one more, and joins stay in force.
KERNEL reused, 1
  SETUP 1, 2
  s_cmp_gt_u32 s4, 1
  s_cbranch_scc1 1f
  s_barrier_join 1
  s_barrier_signal 1
  s_barrier_wait 1
1:
  SETUP 1, 3
  IF 2, 2f
  s_barrier_join 1
2:
  s_barrier_signal 1
  s_barrier_wait 1
  OUT 3
END reused

// What one wave sees: nothing; three members; one signal; the last two, by which it is complete; a member less.
KERNEL states, 1
  s_mov_b32 m0, 4
  s_get_barrier_state s6, m0
  INIT 4, 3
  s_get_barrier_state s7, 4
  s_barrier_signal 4
  s_get_barrier_state s8, 4
  s_barrier_signal 4
  s_barrier_signal 4
  s_get_barrier_state s9, 4
  s_barrier_join 4
  s_barrier_leave
  s_get_barrier_state s10, 4
  s_wait_kmcnt 0x0
  .irp reg, s6, s7, s8, s9, s10
  OUT \reg
  v_add_nc_u32_e32 v2, 4, v2
  .endr
END states

KERNEL beyond, 1
  INIT 5, 2
END beyond
KERNEL unknown, 4
  s_mov_b32 m0, 17
  s_barrier_signal m0
END unknown
KERNEL init_group, 1
  s_mov_b32 m0, 2 << 16
  s_barrier_init -1
END init_group
KERNEL init_nobody, 1
  INIT 1, 0
END init_nobody
KERNEL init_many, 1
  s_mov_b32 m0, 0x800001
  s_barrier_init m0
END init_many
KERNEL signal_unset, 1
  s_barrier_signal 1
END signal_unset
KERNEL join_unset, 1
  s_barrier_join 1
END join_unset
KERNEL new_count_too_low, 1
  INIT 1, 4
  s_barrier_signal 1
  s_barrier_signal 1
  s_mov_b32 m0, (2 << 16) | 1
  s_barrier_signal m0
END new_count_too_low
KERNEL leave_unjoined, 1
  INIT 1, 2
  s_barrier_leave
END leave_unjoined
KERNEL leave_twice, 1
  INIT 1, 2
  s_barrier_join 1
  s_barrier_leave
  s_barrier_leave
END leave_twice
KERNEL leave_nothing, 1
  SETUP 1, 1
  s_barrier_join 1
  s_barrier_leave
END leave_nothing
KERNEL leave_signalled, 1
  SETUP 1, 2
  s_barrier_join 1
  s_barrier_signal 1
  s_barrier_leave
END leave_signalled
KERNEL end_signalled, 1
  IF 0, 1f
  s_barrier_signal -1
  s_endpgm
1:
  s_barrier_signal -1
  s_barrier_wait -1
END end_signalled
KERNEL wait_unjoined, 1
  INIT 1, 2
  s_barrier_wait 1
END wait_unjoined
KERNEL wait_unjoined_by_null, 1
  INIT 1, 2
  s_barrier_join 1
  s_barrier_join 0
  s_barrier_wait 1
END wait_unjoined_by_null
KERNEL signal_emptied, 1
  INIT 1, 1
  s_barrier_join 1
  s_barrier_leave
  s_barrier_signal 1
END signal_emptied
// Joined when the phase is over.
KERNEL join_late, 1
  INIT 1, 1
  s_barrier_signal 1
  s_barrier_join 1
  s_barrier_wait 1
END join_late
KERNEL null_state, 1
  s_get_barrier_state s6, 0
END null_state
KERNEL wakeup, 1
  s_wakeup_barrier 1
END wakeup
KERNEL cluster_trap
  s_barrier_signal -4
END cluster_trap
KERNEL no_cluster
  s_barrier_wait -3
END no_cluster
KERNEL other_name, 1
  INIT 2, 1
  s_barrier_join 2
  s_barrier_signal 2
  s_barrier_wait 1
END other_name
KERNEL join_in_vain, 1
  INIT 1, 1
  s_barrier_join 1
END join_in_vain

// Clusters of two work-groups. Each writes at its place: TTMP6, TTMP9, and bits 9:6 and 24:21 of IB_STS2.
KERNEL place
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_getreg_b32 s7, hwreg(HW_REG_IB_STS2, 6, 4)
  s_lshl_b32 s8, ttmp9, 1
  s_add_co_u32 s8, s8, s6
  s_lshl_b32 s8, s8, 4
  v_mov_b32_e32 v2, s8
  v_mov_b32_e32 v4, ttmp6
  v_mov_b32_e32 v5, ttmp9
  v_mov_b32_e32 v6, s6
  v_mov_b32_e32 v7, s7
  global_store_b128 v2, v[4:7], s[2:3]
END place

// Of both work-groups the second wave, which has not signalled, waits. Each sees one signal at most beside its own.
KERNEL meet
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_lshl_b32 s7, ttmp9, 1
  s_add_co_u32 s7, s7, s6
  s_lshl_b32 s8, s7, 2
  v_mov_b32_e32 v2, s8
  s_xor_b32 s8, s8, 4
  v_mov_b32_e32 v9, s8
  IF 0, 1f
  v_mov_b32_e32 v3, s7
  global_store_b32 v2, v3, s[2:3] scope:SCOPE_SYS
  s_wait_storecnt 0x0
  s_barrier_signal -3
  s_endpgm
1:
  s_barrier_wait -3
  global_load_b32 v8, v9, s[2:3] scope:SCOPE_SYS
  s_wait_loadcnt 0x0
  v_add_nc_u32_e32 v2, 0x1000, v2
  global_store_b32 v2, v8, s[2:3]
END meet

// The second work-group ends without a signal.
KERNEL one_ends
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_cmp_eq_u32 s6, 1
  s_cbranch_scc1 1f
  s_barrier_signal -3
  s_barrier_wait -3
  OUT 8
1:
END one_ends

// The second work-group waits without a signal.
KERNEL cluster_stuck
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_cmp_eq_u32 s6, 1
  s_cbranch_scc1 1f
  s_barrier_signal -3
1:
  s_barrier_wait -3
END cluster_stuck

KERNEL cluster_state
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_barrier_signal_isfirst -3
  s_cselect_b32 s7, 1, 0
  s_barrier_wait -3
  s_get_barrier_state s8, -3
  s_wait_kmcnt 0x0
  s_lshl_b32 s5, s6, 3
  v_mov_b32_e32 v2, s5
  OUT s7
  v_add_nc_u32_e32 v2, 4, v2
  OUT s8
END cluster_state

KERNEL signal_twice
  s_barrier_signal -3
  s_barrier_signal -3
END signal_twice
KERNEL end_without_wait
  s_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 21, 4)
  s_cmp_eq_u32 s6, 1
  s_cbranch_scc1 1f
  s_barrier_signal -3
  s_endpgm
1:
  s_barrier_wait -3
END end_without_wait
KERNEL multicast
  cluster_load_b32 v4, v2, s[2:3]
END multicast
KERNEL many_work_groups
END many_work_groups

#define IN_CLUSTERS(NAME, X) {.name: NAME, .symbol: NAME.kd, .cluster_dims: [X, 1, 1], .kernarg_segment_size: 16, .kernarg_segment_align: 8, .group_segment_fixed_size: 256, .private_segment_fixed_size: 0, .wavefront_size: 32, .max_flat_workgroup_size: 1024, .sgpr_count: 32, .vgpr_count: 16}
.amdgpu_metadata
amdhsa.version: [1, 2]
amdhsa.kernels: [IN_CLUSTERS(place, 2), IN_CLUSTERS(meet, 2), IN_CLUSTERS(one_ends, 2), IN_CLUSTERS(cluster_stuck, 2), IN_CLUSTERS(cluster_state, 2), IN_CLUSTERS(signal_twice, 2), IN_CLUSTERS(end_without_wait, 2), IN_CLUSTERS(multicast, 2), IN_CLUSTERS(many_work_groups, 17)]
.end_amdgpu_metadata
