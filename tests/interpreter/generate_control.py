# Program control: how a wave ends, forks, register limits, encodings that do not exist.
from generate_cases import *

rng.seed('control')
C_ = 'control'
def ends(name, asm, kind, sets=(), expects=(), target=None, lines=()):
    case(C_, name, asm, list(sets), list(expects), target, lines=['exit ' + kind] + list(lines))

# Every way to stop: what was before has happened, what is behind has not.
ok, bad = 's_mov_b32 s20, 1', 's_add_u32 s20, s20, 1'
for asm, kind in (('s_endpgm', 'end'), ('s_endpgm_saved', 'halt'), ('s_sethalt 1', 'halt'), ('s_sendmsghalt sendmsg(MSG_INTERRUPT)', 'halt'), ('s_trap 2', 'trap'), ('s_setkill 1', 'end'), ('s_barrier', 'barrier'), ('s_sleep 1', 'yield'), ('s_endpgm_ordered_ps_done', 'end')):
    ends(asm.split()[0], [ok, asm, bad], kind, expects=[('s20', [1])])
# Without a debugger llvm.debugtrap (3) does nothing; what is for debuggers or reserved ends the wave as llvm.trap does.
for trap in (0, 1, 4, 7, 0xff):
    ends('s_trap %d' % trap, [ok, 's_trap %d' % trap, bad], 'trap', expects=[('s20', [1])])
case(C_, 's_trap 3', ['s_mov_b32 s20, 1', 's_trap 3', 's_add_u32 s20, s20, 1'], [('s20', [0])], [('s20', [2])])
case(C_, 's_sethalt 0 and what does nothing', ['s_sethalt 0', 's_setkill 2', 's_wakeup', 's_icache_inv', 's_incperflevel 1', 's_decperflevel 1', 's_ttracedata', 's_setprio 3', 's_nop 0', 's_waitcnt 0', 's_cbranch_cdbgsys 1', 's_cbranch_cdbguser 1', 's_cbranch_cdbgsys_or_user 1', 's_cbranch_cdbgsys_and_user 1', 's_mov_b32 s20, 1'], [('s20', [0])], [('s20', [1])])

# Global wave sync with one wave: a semaphore that is counted up may be taken, a barrier for one wave does not wait.
case(C_, 'ds_gws', ['s_mov_b32 m0, 0x30000', 'ds_gws_init v0 offset:1 gds', 'ds_gws_sema_v offset:1 gds', 'ds_gws_sema_p offset:1 gds', 'ds_gws_sema_br v2 offset:1 gds', 'ds_gws_sema_p offset:1 gds', 'ds_gws_sema_p offset:1 gds', 'ds_gws_barrier v0 offset:1 gds', 's_mov_b32 s20, 1'], [('v0', [0]), ('v2', [2])], [('s20', [1])])

# A semaphore: release_all lets go who waits now, and nobody later.
case(C_, 'ds_gws_sema_release_all', ['s_mov_b32 m0, 0x30000', 'ds_gws_init v0 offset:1 gds', 'ds_gws_sema_release_all offset:1 gds', 's_mov_b32 s20, 1', 'ds_gws_sema_p offset:1 gds', 's_mov_b32 s20, 2'], [('v0', [0])], [('s20', [1])], lines=['exit yield'])
case(C_, 'ds_gws_sema_release_all without waiting waves', ['s_mov_b32 m0, 0x30000', 'ds_gws_init v0 offset:1 gds', 'ds_gws_sema_v offset:1 gds', 'ds_gws_sema_release_all offset:1 gds', 'ds_gws_sema_p offset:1 gds', 's_mov_b32 s20, 2'], [('v0', [0])], [('s20', [2])])

# s_cbranch_*_fork and join: both sides run, the smaller one first; behind the second join EXEC is that of the larger side (pseudo-code
# of the ISA documents; CSP = MODE[31:29]), so that programs restore it.
def fork(name, asm, mask, sets):
    join = ['s_cbranch_join s40']
    passed, failed = mask & EX, ~mask & EX
    larger = EX if not passed or not failed else passed if bin(failed).count('1') < bin(passed).count('1') else failed
    # 0: fork; else side: v10 = 1, branch to join; target: v10 = 2; join; v11 = 3
    case(C_, name, [asm, 'v_mov_b32 v10, 1', 's_branch 1', 'v_mov_b32 v10, 2'] + join + ['s_mov_b64 s[52:53], exec', 's_mov_b64 exec, s[50:51]', 'v_mov_b32 v11, 3'],
         sets + [('exec', [EX]), ('s40', [0]), ('s50', [EX & M32, EX >> 32]), ('v10', [0]), ('v11', [0])], [('v10', [(2 if mask >> l & 1 else 1) if EX >> l & 1 else 0 for l in range(64)]), ('v11', [3 if EX >> l & 1 else 0 for l in range(64)]), ('s52', [larger & M32, larger >> 32])])
for mask, what in ((0x0f0f_3333_5555_ff01, 'mixed'), (0xf0f0_f0f0_0000_0004, 'few'), (M64, 'all pass'), (0, 'all fail')):
    sets = [('s30', [mask & M32, mask >> 32])]
    fork('s_cbranch_i_fork ' + what, 's_cbranch_i_fork s[30:31], 2', mask, sets)
    fork('s_cbranch_g_fork ' + what, 's_cbranch_g_fork s[30:31], s[42:43]', mask, sets)
for text in out[C_][-8:]:
    # s_cbranch_g_fork takes an address: that of the fourth instruction behind it.
    if 'case s_cbranch_g_fork' in text:
        i = out[C_].index(text)
        out[C_][i] = text.replace('asm s_cbranch_g_fork', 'asm s_getpc_b64 s[42:43]\nasm s_add_u32 s42, s42, 20\nasm s_addc_u32 s43, s43, 0\nasm s_cbranch_g_fork')

# While MODE.VSKIP is set, no vector instruction is issued, whatever registers it names.
case(C_, 's_setvskip', ['s_setvskip s10, s11', 'v_mov_b32 v10, v0', 'ds_write_b32 v0, v1', 'v_mov_b32 v200, v0', 's_mov_b32 s20, 1', 'v_readfirstlane_b32 s21, v0', 's_setvskip s10, 0', 'v_mov_b32 v12, v0'], [('s10', [0x20]), ('s11', [0x25]), ('v0', [4]), ('v1', [9]), ('s20', [0, 0]), ('v10', [1])], [('v10', [1]), ('v12', [4]), ('lds', [0, 0]), ('s20', [1, 0])], lines=['allocate v 16'])
case(C_, 's_setvskip loop', ['s_movk_i32 s12, 3', 's_setvskip 1, 0', 'v_add_u32 v0, 1, v0', 's_sub_u32 s12, s12, 1', 's_cmp_lg_u32 s12, 0', 's_cbranch_scc1 65532', 's_setvskip 0, 0', 'v_add_u32 v0, 2, v0'], [('v0', [4])], [('v0', [6])])

# The same by MODE: bit 28 of the hardware register.
for field, value in (('28, 1', 1), ('24, 8', 0x10)):
    case(C_, 's_setreg of MODE.VSKIP ' + field, ['s_mov_b32 s12, 0x%x' % value, 's_setreg_b32 hwreg(HW_REG_MODE, %s), s12' % field, 'v_mov_b32 v10, v0', 's_mov_b32 s20, 1', 's_setreg_imm32_b32 hwreg(HW_REG_MODE, %s), 0' % field, 'v_mov_b32 v12, v0'], [('v0', [4]), ('v10', [1])], [('v10', [1]), ('v12', [4]), ('s20', [1])])
# Return from an exception: PC = S0, STATUS.PRIV = 0, and STATUS.INST_ATC = S1[0].
for asm, check in (('s_rfe_b64 s[30:31]', 0), ('s_rfe_restore_b64 s[30:31], s33', 1)):
    case(C_, asm.split()[0], ['s_getpc_b64 s[30:31]', 's_add_u32 s30, s30, 20', 's_addc_u32 s31, s31, 0', asm, bad, bad, 's_mov_b32 s20, 7', 's_getreg_b32 s21, hwreg(HW_REG_STATUS, 5, 1)', 's_getreg_b32 s22, hwreg(HW_REG_STATUS, 23, 1)'], [('s20', [0]), ('s33', [3])], [('s20', [7]), ('s21', [0]), ('s22', [check])])

# LDS direct reads: M0 = address and type (Vega ISA manual); gfx900 to gfx908.
for kind, name, value in ((0, 'ubyte', 0x87), (1, 'ushort', 0x8887), (2, 'dword', 0x89888786 + 0x01010101 & M32), (4, 'sbyte', 0xffffff87), (5, 'sshort', 0xffff8887)):
    case(C_, 'v_mov_b32 lds_direct ' + name, ['s_mov_b32 m0, 0x%x' % (kind << 16 | (4 if kind == 2 else 5)), 'v_mov_b32 v10, src_lds_direct', 'v_add_u32 v12, src_lds_direct, v0'], [('lds', [1, 0x00888700 if kind != 2 else value]), ('v0', [3]), ('exec', [EX]), ('v10', [5]), ('v12', [6])],
         [('v10', [value if EX >> l & 1 else 5 for l in range(64)]), ('v12', [value + 3 & M32 if EX >> l & 1 else 6 for l in range(64)])], ['gfx900', 'gfx906', 'gfx908'])

# Registers behind the wave's allocation.
limits = ['allocate v 8', 'allocate s 24']
for asm in ('v_mov_b32 v8, v0', 'v_mov_b32 v0, v8', 'v_add_f64 v[6:7], v[0:1], v[8:9]', 'v_fma_f32 v0, v1, v2, v200', 'v_readfirstlane_b32 s0, v9', 's_mov_b32 s24, 1', 's_mov_b32 s0, s101', 's_mov_b64 s[26:27], 0', 'v_add_f32 v0, s30, v1',
            'v_cmp_eq_u32 s[24:25], v0, v1', 'global_load_dwordx4 v[6:9], v[0:1], off', 'global_store_dwordx2 v[0:1], v[8:9], off', 'ds_read_b64 v[8:9], v0', 'buffer_load_dword v0, v1, s[24:27], 0 offen', 's_load_dwordx4 s[24:27], s[0:1], 0',
            's_load_dword s0, s[30:31], 0', 'ds_bpermute_b32 v0, v1, v9', 'v_writelane_b32 v9, s0, 0', 'v_swap_b32 v0, v9', 'v_mov_b32_dpp v0, v9 row_shr:1 row_mask:0xf bank_mask:0xf', 'v_add_u32_sdwa v0, v9, v1 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_0 src1_sel:DWORD'):
    ends(asm.split()[0] + ' beyond the allocation', [ok, asm, bad], 'illegal', expects=[('s20', [1])], lines=limits)
for asm in ('v_accvgpr_write_b32 a4, v0', 'v_accvgpr_read_b32 v0, a255', 'v_mfma_f32_4x4x1f32 a[4:7], v0, v1, a[0:3]', 'v_mfma_f32_4x4x1f32 a[0:3], v0, v1, a[252:255]'):
    ends(asm.split()[0] + ' beyond the allocation', [ok, asm, bad], 'illegal', expects=[('s20', [1])], target=[t for t in ('gfx908', 'gfx90a') if exists(asm.split()[0], t)], lines=limits + ['allocate a 4'])
ends('s_movrels_b32 beyond the allocation', [ok, 's_movrels_b32 s0, s10', bad], 'illegal', [('m0', [20])], [('s20', [1])], lines=limits)
ends('s_movreld_b32 beyond the allocation', [ok, 's_movreld_b32 s10, s0', bad], 'illegal', [('m0', [0x80000000])], [('s20', [1])], lines=limits)
ends('s_set_gpr_idx beyond the allocation', [ok, 's_set_gpr_idx_on s10, gpr_idx(SRC0)', 'v_mov_b32_e32 v1, v0', bad], 'illegal', [('s10', [8])], [('s20', [1])], lines=limits)
ends('s_set_gpr_idx destination beyond the allocation', [ok, 's_set_gpr_idx_on s10, gpr_idx(DST)', 'v_mov_b32_e32 v7, v0', bad], 'illegal', [('s10', [1])], [('s20', [1])], lines=limits)
# Arrays in registers. Lanes that are off keep what they have; what is written in front is read, and what is read behind was written.
both = [l * 3 + 9 for l in range(64)]
sums = [2 * b if EX >> l & 1 else 0 for l, b in enumerate(both)]
case(C_, 's_set_gpr_idx and moves', ['v_add_u32_e32 v2, v0, v1', 's_mov_b32 m0, -1', 's_set_gpr_idx_on s10, gpr_idx(SRC0)', 'v_mov_b32_e32 v5, v0', 's_set_gpr_idx_off', 'v_add_u32_e32 v6, v5, v5',
                                     's_set_gpr_idx_on s10, gpr_idx(SRC0,DST)', 'v_mov_b32_e32 v5, v4', 'v_mov_b32_e32 v15, s11', 'v_mov_b32_e32 v25, 7', 's_set_gpr_idx_off', 's_mov_b32 s20, m0', 'v_add_u32_e32 v8, v7, v17', 'v_add_u32_e32 v9, v27, v8'],
     [('exec', [EX]), ('s10', [0x102, 1000]), ('v0', [l * 2 for l in range(64)]), ('v1', [l + 9 for l in range(64)])] + [(f'v{r}', [0]) for r in (2, 5, 6, 7, 8, 9, 17, 27)],
     [('v6', sums), ('v7', sums), ('v9', [x + 1007 if EX >> l & 1 else 0 for l, x in enumerate(sums)]), ('s20', [0xffff9f02])])
for mode, v_mov in (('SRC0', 'v_mov_b32_e32 v1, v3'), ('DST', 'v_mov_b32_e32 v3, v0'), ('DST', 'v_mov_b32_e32 v3, 5'), ('SRC0,DST', 'v_mov_b32_e32 v3, v2')):
    ends(f's_set_gpr_idx around {v_mov} beyond the allocation', [ok, f's_set_gpr_idx_on s10, gpr_idx({mode})', v_mov, 's_set_gpr_idx_off', bad], 'illegal', [('s10', [5])], [('s20', [1])], lines=limits)
# The last registers of the allocation are fine.
case(C_, 'v_mov_b32 at the end of the allocation', ['v_mov_b32 v7, v0', 's_mov_b32 s23, 5'], [('v0', [3])], [('v7', [3]), ('s23', [5])], lines=limits)

# Words that LLVM's disassembler rejects; of gfx6 and gfx7, whose words it does not take apart, codes without an instruction.
for target in ALL:  # where one family has no DS instruction, another has
    no_ds = 0xdb440000 if target.startswith('gfx1') else 0xd8580000 if target in case_files.GCN1 else 0xd82c0000
    for name, word in (('SOPP', [0xbfff0000]), ('SOP1', [0xbefe7f00]), ('SOP2', [0x9f800000]), ('SOPC', [0xbf7f0000]), ('SMEM', [0xc3fc0000, 0]), ('VOP1', [0x7e01fe00]), ('VOP3', [0xd2f00000, 0]), ('DS', [no_ds, 0]), ('FLAT', [0xddfc0000, 0]), ('MUBUF', [0xe1fc0000, 0]), ('reserved', [0xffffffff, 0xffffffff])):
        case(C_, 'undefined encoding ' + name, ok, [], [('s20', [1])], target, lines=['word ' + words(word), 'exit illegal'])
