# gfx10.1 and gfx10.3: what they have and gfx9 has not, with waves of 32 and of 64 lanes. Meanings: AMD's RDNA and RDNA 2 ISA manuals
# and the pseudo-code of RDNA 3 for rows that go on there; Mesa's notes on OOB_SELECT; LLVM's list of unified formats.
from generate_buffer import *

rng.seed('gfx10')
FILE, RDNA1, RDNA2, BOTH = 'gfx10', ['gfx1010'], ['gfx1030'], ['gfx1010', 'gfx1030']
EXEC10 = 0x9bdf02465a0f9c3d
def on(l, mask=EXEC10): return mask >> l & 1
def starts(sets, r):
    for name, v in sets:
        if name == r: return [v[l % len(v)] for l in range(64)]
    return [0xc0c0c0c0 + int(r[1:])] * 64
def rows(size, sets, expects, exec_):
    """Vector registers: lanes that are off, or that the wave has not, keep what they held."""
    r = []
    for name, v in expects:
        if name[0] == 'v' and name != 'vcc':
            old = starts(sets, name)
            v = [v[l % len(v)] & M32 if l < size and exec_ >> l & 1 else old[l] for l in range(64)]
        r.append((name, v))
    return r
def both(name, asm, sets, expects, targets=BOTH, mode=0xf0, exec_=EXEC10, sizes=(32, 64), lines=(), base=''):
    """asm, sets and expects may be functions of the number of lanes"""
    of = lambda x, size: x(size) if callable(x) else x
    for size in sizes:
        s = [('exec', [exec_])] + list(of(sets, size))
        case(FILE, '%s, wave%d' % (name, size), of(asm, size), s, rows(size, s, of(expects, size), exec_), targets, mode, base=base, lines=['wave %d' % size, *lines])
def mask_of(size, f, exec_=EXEC10): return sum(1 << l for l in range(size) if exec_ >> l & 1 and f(l))
def mask_register(size, r, m): return [('s%d' % r, [m & M32, 0x5e5e5e5e] if size == 32 else [m & M32, m >> 32])]
def mask_name(size, r): return 's%d' % r if size == 32 else 's[%d:%d]' % (r, r + 1)
VCC = lambda size: 'vcc_lo' if size == 32 else 'vcc'

# ---------------------------------------------------------------- EXEC and 32-bit registers
old, s = 0x5a0f9c3d, 0x3c5af00f
forms = {'and_saveexec': lambda s, e: s & e, 'or_saveexec': lambda s, e: s | e, 'xor_saveexec': lambda s, e: s ^ e, 'andn2_saveexec': lambda s, e: s & ~e,
         'orn2_saveexec': lambda s, e: s | ~e, 'nand_saveexec': lambda s, e: ~(s & e), 'nor_saveexec': lambda s, e: ~(s | e), 'xnor_saveexec': lambda s, e: ~(s ^ e),
         'andn1_saveexec': lambda s, e: ~s & e, 'orn1_saveexec': lambda s, e: ~s | e, 'andn1_wrexec': lambda s, e: ~s & e, 'andn2_wrexec': lambda s, e: s & ~e}
for name, f in forms.items():
    for value, what in ((s, ''), (0, ' of 0'), (M32, ' of -1'), (old, ' of EXEC')):
        new = f(value, old) & M32
        code = ['s_%s_b32 s6, s8' % name, 's_cselect_b32 s9, 7, 9', 'v_mov_b32 v10, 5']
        for size in (32, 64):      # in waves of 64 lanes the other half stays
            full = EXEC10 >> 32 << 32 | new
            sets = [('exec', [EXEC10]), ('s8', [value]), ('s7', [0x77])]
            case(FILE, 's_%s_b32%s, wave%d' % (name, what, size), code, sets, rows(size, sets, [('v10', [5])], full) + [('exec', [full]), ('s6', [new if 'wrexec' in name else old, 0x77]), ('s9', [7 if new else 9])], BOTH, lines=['wave %d' % size])
both('s_and_saveexec_b32 null', ['s_and_saveexec_b32 null, s8', 's_mov_b32 s9, exec_lo'], [('s8', [s])], [('s9', [old & s]), ('exec', [EXEC10 >> 32 << 32 | old & s])], sizes=(32,))
both('s_and_saveexec_b64', ['s_and_saveexec_b64 s[6:7], s[8:9]'], [('s8', [s, 0xffff0000])], [('s6', [old, EXEC10 >> 32]), ('exec', [EXEC10 & (0xffff0000 << 32 | s)])])

# ---------------------------------------------------------------- v_cmpx writes EXEC alone
a, b = u32s(64), u32s(64)
two = [('v0', a), ('v1', b)]
for name, f in (('gt_u32', lambda x, y: x > y), ('lt_i32', lambda x, y: s32(x) < s32(y)), ('eq_u32', lambda x, y: x == y), ('ne_i32', lambda x, y: x != y)):
    for form in ('e32', 'e64'):
        def expects(size, f=f):
            m = mask_of(size, lambda l: f(a[l], b[l]))
            return [('exec', [m | (EXEC10 >> 32 << 32 if size == 32 else 0)]), ('vcc', [0x123456789abcdef0])]
        both('v_cmpx_%s %s' % (name, form), 'v_cmpx_%s_%s v0, v1' % (name, form), two + [('vcc', [0x123456789abcdef0])], expects)
x, y = f32s(64), f32s(64)
def less(l): return not F32.nan(x[l]) and not F32.nan(y[l]) and F32.order(x[l]) < F32.order(y[l]) and not (F32.zero(x[l]) and F32.zero(y[l]))
both('v_cmpx_lt_f32', 'v_cmpx_lt_f32_e32 v0, v1', [('v0', x), ('v1', y)], lambda size: [('exec', [mask_of(size, less) | (EXEC10 >> 32 << 32 if size == 32 else 0)])])
both('v_cmp_gt_u32', lambda size: 'v_cmp_gt_u32_e64 %s, v0, v1' % mask_name(size, 6), two + [('s6', [1, 0x5e5e5e5e])], lambda size: mask_register(size, 6, mask_of(size, lambda l: a[l] > b[l])))
both('v_cmp_gt_u32 null', 'v_cmp_gt_u32_e64 null, v0, v1', two + [('m0', [5])], [('m0', [5]), ('exec', [EXEC10])])

# ---------------------------------------------------------------- carries: one register in waves of 32 lanes; NULL takes them
cin = 0x33cc55aa0f1e2d3c
def carry_in(size): return [('s12', [cin & M32, cin >> 32])]
for row, f in (('v_addc_co_u32', lambda x, y, c: x + y + c), ('v_subb_co_u32', lambda x, y, c: x - y - c), ('v_subbrev_co_u32', lambda x, y, c: y - x - c)):
    r = [f(a[l], b[l], cin >> l & 1) for l in range(64)]
    over = lambda l, r=r: r[l] > M32 or r[l] < 0
    both(row, lambda size: '%s_e64 v10, %s, v0, v1, %s' % (row, mask_name(size, 6), mask_name(size, 12)), lambda size: two + carry_in(size) + [('s6', [1, 0x5e5e5e5e])], lambda size: [('v10', r)] + mask_register(size, 6, mask_of(size, over)))
    both(row + ' null', lambda size: '%s_e64 v10, null, v0, v1, %s' % (row, mask_name(size, 12)), lambda size: two + carry_in(size) + [('m0', [9])], [('v10', r), ('m0', [9]), ('exec', [EXEC10])])
    both(row + ' e32', lambda size: '%s_e32 v10, %s, v0, v1, %s' % (row, VCC(size), VCC(size)), two + [('vcc', [cin])], lambda size: [('v10', r), ('vcc', [mask_of(size, over) | (cin >> 32 << 32 if size == 32 else 0)])])
for row, f in (('v_add_co_u32', lambda x, y: x + y), ('v_sub_co_u32', lambda x, y: x - y), ('v_subrev_co_u32', lambda x, y: y - x)):
    r = [f(a[l], b[l]) for l in range(64)]
    both(row, lambda size: '%s_e64 v10, %s, v0, v1' % (row, mask_name(size, 6)), two + [('s6', [1, 0x5e5e5e5e])], lambda size: [('v10', r)] + mask_register(size, 6, mask_of(size, lambda l: r[l] > M32 or r[l] < 0)))
both('v_cndmask_b32', lambda size: 'v_cndmask_b32_e64 v10, v0, v1, ' + mask_name(size, 12), lambda size: two + carry_in(size), [('v10', [b[l] if cin >> l & 1 else a[l] for l in range(64)])])

# ---------------------------------------------------------------- NULL as a source is 0, as a destination nothing
both('null', ['s_mov_b32 s6, null', 's_add_u32 s7, s8, null', 's_mov_b64 s[10:11], null', 's_mov_b32 null, 7', 's_mov_b64 null, -1', 'v_add_nc_u32 v10, null, v0', 'v_readfirstlane_b32 null, v0'], two + [('s8', [0x1234]), ('s6', [1]), ('s10', [1, 1]), ('m0', [3])],
     [('s6', [0, 0x1234]), ('s10', [0, 0]), ('v10', a), ('m0', [3]), ('exec', [EXEC10])])
data = [rng.getrandbits(32) for _ in range(64)]
both('s_load_dwordx2 null', ['s_load_dwordx2 null, s[8:9], 0x8', 's_load_dword s6, s[8:9], null', 's_load_dword s7, s[8:9], s10 offset:0x10', 's_waitcnt lgkmcnt(0)'], [('global', data), ('s8', [0, 0, 8]), ('m0', [3])], [('s6', [data[0], data[6]]), ('m0', [3]), ('exec', [EXEC10])], base='s8')

# ---------------------------------------------------------------- lanes: permutations of rows, DPP8, row_share, row_xmask, FI
source = [rng.getrandbits(32) for _ in range(64)]
one, other = 0x0123456789abcdef, 0xfedcba9876543210 ^ rng.getrandbits(64)
for row, flip in (('v_permlane16_b32', 0), ('v_permlanex16_b32', 16)):
    for fi in (0, 1):
        for bc in (0, 1):
            select = other if fi else one
            def expects(size):
                r = []
                for l in range(64):
                    at = (l & ~15 ^ flip) + (select >> 4 * (l & 15) & 15)
                    r.append(source[at] if at < size and (fi or on(at)) else 0 if bc else 0x11112222)
                return [('v10', r)]
            both('%s op_sel %d %d' % (row, fi, bc), '%s v10, v0, s8, s9 op_sel:[%d,%d]' % (row, fi, bc), [('v0', source), ('v10', [0x11112222]), ('s8', [select & M32, select >> 32])], expects)
both('v_permlane16_b32 constants', 'v_permlane16_b32 v10, v0, 0, -1', [('v0', source)], [('v10', [source[l & 48 | (0 if l & 15 < 8 else 15)] if on(l & 48 | (0 if l & 15 < 8 else 15)) else 0xc0c0c0ca for l in range(64)])])
def lanes_from(where, fi, bound, add=0):
    """where(lane) -> lane or None"""
    def expects(size):
        r = []
        for l in range(64):
            at = where(l)
            r.append((source[at] + add & M32) if at is not None and (fi or on(at)) else add if bound else 0x11112222)
        return [('v10', r)]
    return expects
base = [('v0', source), ('v10', [0x11112222]), ('v1', [3])]
for order in ([7, 6, 5, 4, 3, 2, 1, 0], [0, 0, 3, 3, 1, 7, 7, 2]):
    for fi in (0, 1):
        text = 'dpp8:[%s]%s' % (','.join(map(str, order)), ' fi:1' if fi else '')
        where = lambda l: l & ~7 | order[l & 7]
        both('v_mov_b32 ' + text, 'v_mov_b32_dpp v10, v0 ' + text, base, lanes_from(where, fi, True))
        both('v_add_nc_u32 ' + text, 'v_add_nc_u32_dpp v10, v0, v1 ' + text, base, lanes_from(where, fi, True, 3))
for text, where in (('row_share:5', lambda l: l & 48 | 5), ('row_xmask:6', lambda l: l ^ 6), ('row_xmask:15', lambda l: l ^ 15), ('row_ror:3', lambda l: l & 48 | l - 3 & 15), ('row_shr:2', lambda l: l - 2 if l & 15 >= 2 else None),
                    ('quad_perm:[1,3,0,2]', lambda l: l & ~3 | [1, 3, 0, 2][l & 3]), ('row_mirror', lambda l: l ^ 15), ('row_half_mirror', lambda l: l ^ 7)):
    for fi in (0, 1):
        for bound in (0, 1):
            form = text + ' row_mask:0xf bank_mask:0xf' + (' bound_ctrl:1' if bound else '') + (' fi:1' if fi else '')
            both('v_mov_b32 ' + form, 'v_mov_b32_dpp v10, v0 ' + form, base, lanes_from(where, fi, bound))
both('v_cmp_ne_u32 of DPP8 lanes', ['v_mov_b32_dpp v10, v0 dpp8:[1,0,3,2,5,4,7,6]', 'v_cmp_gt_u32_e32 vcc%s, v10, v0' % '_lo'], base + [('vcc', [0])],
     lambda size: [('vcc', [mask_of(32, lambda l: (source[l ^ 1] if on(l ^ 1) else 0) > source[l])])], sizes=(32,))

# ---------------------------------------------------------------- arithmetic that is new
def lanewise(row, sources, f, targets=BOTH, mode=0xf0, text=None, old=None, name=''):
    if not old:     # the destination is a source
        r = [f(*[v[l % len(v)] for v in sources]) & M32 for l in range(64)]
        both(row + name + ' v0', (text or '%s v10, %s' % (row, ', '.join('v%d' % i for i in range(len(sources))))).replace('v10', 'v0'), [('v%d' % i, v) for i, v in enumerate(sources)], [('v0', r)], targets, mode)
    sets = [('v%d' % i, v) for i, v in enumerate(sources)] + ([('v10', old)] if old else [])
    args = [[v[l % len(v)] for v in sources] + ([old[l % len(old)]] if old else []) for l in range(64)]
    both(row + name, text or '%s v10, %s' % (row, ', '.join('v%d' % i for i in range(len(sources)))), sets, [('v10', [f(*t) & M32 for t in args])], targets, mode)
c, z = u32s(64), f32s(64)
lanewise('v_xor3_b32', [a, b, c], lambda x, y, z: x ^ y ^ z)
lanewise('v_mul_lo_i32', [a, b], lambda x, y: x * y, RDNA1)
lanewise('v_add3_u32', [a, b], lambda x, y: x + y + 0x12345678, text='v_add3_u32 v10, v0, v1, 0x12345678', name=' literal')
lanewise('v_fma_f32', [x, y], lambda p, q: F32.fma(p, q, 0x40490fdb), text='v_fma_f32 v10, v0, v1, 0x40490fdb', name=' literal')
def legacy_fma(p, q, r): return r if F32.zero(p) or F32.zero(q) else F32.fma(p, q, r)
lanewise('v_fma_legacy_f32', [x, y, z], legacy_fma, RDNA2)
lanewise('v_fmac_legacy_f32', [x, y], legacy_fma, RDNA2, old=z)
def mac_legacy(p, q, r):
    p, q, r = F32.flush(p), F32.flush(q), F32.flush(r)
    return F32.flush(F32.add(0 if F32.zero(p) or F32.zero(q) else F32.flush(F32.mul(p, q)), r))
lanewise('v_mac_legacy_f32', [x, y], mac_legacy, RDNA1, old=z)
def mullit(p, q, r):
    if F32.nan(q) or q in (0xff7fffff, 0xff800000) or F32.nan(r) or F32.zero(r) or r >> 31: return 0xff7fffff
    return 0 if F32.zero(p) or F32.zero(q) else F32.mul(p, q)
lanewise('v_mullit_f32', [x, y, z], mullit)
h, i, j = half_words(64), half_words(64), half_words(64)
junk = [rng.getrandbits(16) << 16 for _ in range(64)]
H, I, J = [v | k for v, k in zip(h, junk)], [v | k for v, k in zip(i, junk[1:] + junk[:1])], [v | k for v, k in zip(j, junk[2:] + junk[:2])]
low = lambda v: v & 0xffff
lanewise('v_fmac_f16', [H, I], lambda p, q, d: d & 0xffff0000 | F16.fma(low(p), low(q), low(d)), old=J)
lanewise('v_fmamk_f16', [H, I], lambda p, q, d: d & 0xffff0000 | F16.fma(low(p), 0x4248, low(q)), text='v_fmamk_f16 v10, v0, 0x4248, v1', old=J)
both('v_fmaak_f16 v0', 'v_fmaak_f16 v0, v0, v1, 0x4248', [('v0', H), ('v1', I)], [('v0', [p & 0xffff0000 | F16.fma(low(p), low(q), 0x4248) for p, q in zip(H, I)])])
lanewise('v_fmaak_f16', [H, I], lambda p, q, d: d & 0xffff0000 | F16.fma(low(p), low(q), 0x4248), text='v_fmaak_f16 v10, v0, v1, 0x4248', old=J)
# The high half of a register, as a source and as a destination.
lanewise('v_add_u16', [a, b], lambda p, q, d: d & 0xffff | (p >> 16) + q << 16, text='v_add_nc_u16 v10, v0, v1 op_sel:[1,0,1]', old=c, name=' op_sel')
lanewise('v_lshlrev_b16', [a, b], lambda p, q, d: d & 0xffff0000 | (q >> 16 << (p & 15)) & 0xffff, text='v_lshlrev_b16 v10, v0, v1 op_sel:[0,1,0]', old=c, name=' op_sel')
lanewise('v_max_i16', [a, b], lambda p, q, d: d & 0xffff0000 | (max(s16(p), s16(q)) & 0xffff), text='v_max_i16 v10, v0, v1', old=c)

# ---------------------------------------------------------------- registers by number: M0 has two of them
regs = [rng.getrandbits(32) for _ in range(8)]
sregs = [('s20', regs)]
both('s_movrelsd_2_b32', 's_movrelsd_2_b32 s20, s22', sregs + [('m0', [4 << 16 | 3])], [('s20', regs[:4] + [regs[5]] + regs[5:])])
vregs = [[rng.getrandbits(32) for _ in range(64)] for _ in range(6)]
for row in vregs: row[::16] = [0, 0x7fffffff, 0x80000000, M32]
vsets = [('v%d' % (20 + n), r) for n, r in enumerate(vregs)] + [('m0', [4 << 16 | 1])]
both('v_movrelsd_2_b32', 'v_movrelsd_2_b32 v20, v22', vsets, [('v24', vregs[3]), ('v23', vregs[3]), ('v20', vregs[0])])
both('v_movrelsd_2_b32 v20', 'v_movrelsd_2_b32 v20, v20', vsets, [('v24', vregs[1])])
both('v_swaprel_b32', 'v_swaprel_b32 v20, v22', vsets, [('v24', vregs[3]), ('v23', vregs[4]), ('v20', vregs[0])])
both('v_movrelsd_2_b32 beyond the allocation', 'v_movrelsd_2_b32 v20, v22', [('m0', [300 << 16])], [], lines=['exit illegal'])

# ---------------------------------------------------------------- program control
both('no effect', ['s_inst_prefetch 0x3', 's_clause 0x1', 's_waitcnt_vscnt null, 0x0', 's_waitcnt_vmcnt s8, 0x1', 's_waitcnt_expcnt null, 0x0', 's_waitcnt_lgkmcnt null, 0x0', 's_version 0x2006', 's_ttracedata_imm 0x5', 's_gl1_inv', 'buffer_gl0_inv', 'buffer_gl1_inv', 'v_pipeflush', 's_mov_b32 s6, 4'],
     [('s8', [0])], [('s6', [4]), ('exec', [EXEC10])])
both('s_waitcnt_depctr and s_wait_idle', ['s_waitcnt_depctr 0xffe3', 's_mov_b32 s6, 4'], [], [('s6', [4])])
for n in (0x0, 0x5, 0xa, 0xf):
    both('s_round_mode %x' % n, ['s_round_mode 0x%x' % n, 's_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 8)', 'v_add_f32 v10, v0, v1'], [('v0', x), ('v1', y)], [('s6', [0xf0 | n]), ('v10', [F32.add(p, q, n & 3) for p, q in zip(x, y)])])
for n in (0x0, 0x5, 0xa, 0xf):
    def sum_of(p, q):
        if not n & 1: p, q = F32.flush(p), F32.flush(q)
        r = F32.add(p, q)
        return r if n & 2 else F32.flush(r)
    both('s_denorm_mode %x' % n, ['s_denorm_mode 0x%x' % n, 's_getreg_b32 s6, hwreg(HW_REG_MODE, 0, 8)', 'v_add_f32 v10, v0, v1'], [('v0', x), ('v1', y)], [('s6', [n << 4]), ('v10', [sum_of(p, q) for p, q in zip(x, y)])])
both('s_get_waveid_in_workgroup', ['s_get_waveid_in_workgroup s6', 's_waitcnt lgkmcnt(0)'], [('s6', [77])], [('s6', [0])], RDNA1)
both('s_code_end', 's_code_end', [], [], lines=['exit illegal'])
both('s_subvector_loop_begin', 's_subvector_loop_begin s6, 1', [], [], lines=['exit unimplemented'])
both('SHADER_CYCLES', ['s_getreg_b32 s6, hwreg(HW_REG_SHADER_CYCLES, 0, 20)', 's_lshr_b32 s6, s6, 20'], [('s6', [77])], [('s6', [0])], RDNA2)
both('FLAT_SCRATCH elsewhere', ['s_mov_b32 s6, 1', 's_setreg_b32 hwreg(HW_REG_FLAT_SCR_HI), s6'], [], [], lines=['exit unimplemented'])
both('FLAT_SCRATCH as it is', ['s_getreg_b32 s6, hwreg(HW_REG_FLAT_SCR_LO)', 's_setreg_b32 hwreg(HW_REG_FLAT_SCR_LO), s6', 's_mov_b32 s6, 3'], [], [('s6', [3])])

# ---------------------------------------------------------------- memory
memory = Memory(512)
places = [8 * l for l in range(64)]
lanes_on = [l for l in range(64) if on(l)]
def atomics(name, bits, f, comparand=None, targets=BOTH, values=None):
    n = bits // 32
    for family in ('global', 'flat', 'buffer'):
        if name == 'csub' and family == 'flat': continue
        before = Memory(512, memory.dwords())
        data = [(values or (lambda: rng.getrandbits(bits)))() for _ in range(64)]
        for l in range(64):
            if values: before.put(places[l], bits // 8, values())
        expected = [before.get(places[l], bits // 8) if l % 2 else data[l] for l in range(64)]
        def expects(size):
            after = Memory(512, before.dwords())
            old = [before.get(places[l], bits // 8) for l in range(64)]
            for l in range(size):
                if on(l): after.put(places[l], bits // 8, f(old[l], data[l], expected[l]) & ((1 << bits) - 1))
            return [('v%d' % (10 + d), [o >> 32 * d & M32 for o in old]) for d in range(n)] + [('global', after.dwords())]
        words_ = [[v >> 32 * d & M32 for v in data] for d in range(n)] + ([[v >> 32 * d & M32 for v in expected] for d in range(n)] if comparand else [])
        sets = [('v%d' % (4 + d), w) for d, w in enumerate(words_)] + [('v0', places), ('v1', [0]), ('global', before.dwords()), ('s8', [0, 0, 512, 3 << 28 | 20 << 12 | 4])]
        operand = vreg(4, len(words_))
        text = {'global': 'global_atomic_%s %s, v[0:1], %s, off glc', 'flat': 'flat_atomic_%s %s, v[0:1], %s glc'}
        if family == 'buffer':   # the value that returns replaces the data
            asm = 'buffer_atomic_%s %s, v0, s[8:11], 0 offen glc' % (name, operand)
            both('buffer_atomic_' + name, [asm, 's_waitcnt vmcnt(0)'], sets, lambda size: [('v%d' % (int(q[1:]) - 6), v) if q[0] == 'v' else (q, v) for q, v in expects(size)], targets, base='s8')
        else:
            both('%s_atomic_%s' % (family, name), [text[family] % (name, vreg(10, n), operand), 's_waitcnt vmcnt(0)'], sets, expects, targets, base='v0')
def number32(): return rng.choice([0, 0x80000000, 1, 0x80000001, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x00400000, 0x42280000, 0x42290000, 0xc2280000])
def number64(): return F64.convert(F32, number32()) if rng.random() < .7 else rng.choice([1, 1 << 63 | 1, 0x4045000000000001])
def place(F, x): return F.order(x), 0 if x & F.sign and F.zero(x) else 1      # -0 < +0
def extreme(F, largest): return lambda o, d, e: o if place(F, o) == place(F, d) or (place(F, o) > place(F, d)) == largest else d
for F, bits, tail, values in ((F32, 32, '', number32), (F64, 64, '_x2', number64)):
    atomics('fmin' + tail, bits, extreme(F, False), values=values)
    atomics('fmax' + tail, bits, extreme(F, True), values=values)
    atomics('fcmpswap' + tail, bits, lambda o, d, e, F=F: d if o == e or F.zero(o) and F.zero(e) else o, True, values=values)
atomics('csub', 32, lambda o, d, e: o - d if o >= d else 0, targets=RDNA2)
both('global_load_dword_addtid', ['global_load_dword_addtid v10, s[8:9] offset:4', 's_waitcnt vmcnt(0)'], [('global', memory.dwords()), ('s8', [8, 0])], [('v10', [memory.get(12 + 4 * l, 4) for l in range(64)])], RDNA2, base='s8')
def stored(size):
    after = Memory(512, memory.dwords())
    for l in range(size):
        if on(l): after.put(12 + 4 * l, 4, a[l])
    return [('global', after.dwords())]
both('global_store_dword_addtid', 'global_store_dword_addtid v0, s[8:9] offset:4', [('v0', a), ('global', memory.dwords()), ('s8', [8, 0])], stored, RDNA2, base='s8')
both('scratch without an address', ['scratch_store_dword off, v0, off offset:8', 's_waitcnt_vscnt null, 0x0', 'scratch_load_dword v10, off, off offset:8', 's_waitcnt vmcnt(0)'], [('v0', a)], [('v10', a)], RDNA2)

# ---------------------------------------------------------------- OOB_SELECT of a V# (bits 29:28 of its last dword)
big = Memory(768)
index, offset = [rng.randrange(0, 14) for _ in range(64)], [4 * rng.randrange(0, 8) for _ in range(64)]
def v_sharp(stride, records, select, swizzle=0, index_stride=0): return [('s8', [0, stride << 16 | swizzle << 31, records, 4 | 5 << 3 | 6 << 6 | 7 << 9 | 20 << 12 | index_stride << 21 | 1 << 24 | select << 28])]
def in_bounds(select, i, o, at, stride, records):
    return (i < records and o < stride, i < records, records != 0, at < records)[select]
for select in range(4):
    for records in (9, 100, 0):
        for stride, idxen in ((20, True), (20, False), (0, False)):
            if select == 0 and records and not stride: continue
            def at(l):
                i, o = index[l] if idxen else 0, offset[l] + 8
                where = o + stride * i
                return where if in_bounds(select, i, o, where, stride, records) else None
            r = [big.get(at(l), 4) if at(l) is not None else 0 for l in range(64)]
            operand, tail = ('v[0:1]', ' idxen offen') if idxen else ('v1', ' offen')
            both('buffer_load_dword OOB_SELECT %d, %d records of %d%s' % (select, records, stride, tail), ['buffer_load_dword v10, %s, s[8:11], 0%s offset:8' % (operand, tail), 's_waitcnt vmcnt(0)'],
                 [('v0', index), ('v1', offset), ('global', big.dwords())] + v_sharp(stride, records, select), [('v10', r)], base='s8')
            pair = [[big.get(at(l) + 4 * d, 4) if at(l) is not None and in_bounds(select, index[l] if idxen else 0, offset[l] + 8 + 4 * d, at(l) + 4 * d, stride, records) else 0 for l in range(64)] for d in (0, 1)]
            both('buffer_load_dwordx2 OOB_SELECT %d, %d records of %d%s' % (select, records, stride, tail), ['buffer_load_dwordx2 v[10:11], %s, s[8:11], 0%s offset:8' % (operand, tail), 's_waitcnt vmcnt(0)'],
                 [('v0', index), ('v1', offset), ('global', big.dwords())] + v_sharp(stride, records, select), [('v10', pair[0]), ('v11', pair[1])], base='s8')
# The scalar offset counts where bytes are compared, and there alone.
for select in (0, 1, 3):
    def at(l):
        where = offset[l]
        return where + 12 if (where + 12 < 32 if select == 3 else where < 20 or select == 1) else None
    both('buffer_load_dword OOB_SELECT %d with SOFFSET' % select, ['buffer_load_dword v10, v1, s[8:11], s6 offen', 's_waitcnt vmcnt(0)'], [('v1', offset), ('s6', [12]), ('global', big.dwords())] + v_sharp(20, 32, select), [('v10', [big.get(at(l), 4) if at(l) is not None else 0 for l in range(64)])], base='s8')
def swizzled(l):
    i, o = index[l], offset[l]
    return (i // 8 * 32 + o // 4 * 4) * 8 + i % 8 * 4
for select in range(4):
    r = [big.get(swizzled(l), 4) if in_bounds(select, index[l], offset[l], swizzled(l), 32, 10 if select < 2 else 300) else 0 for l in range(64)]
    both('buffer_load_dword swizzled, OOB_SELECT %d' % select, ['buffer_load_dword v10, v[0:1], s[8:11], 0 idxen offen', 's_waitcnt vmcnt(0)'], [('v0', index), ('v1', offset), ('global', big.dwords())] + v_sharp(32, 10 if select < 2 else 300, select, 1), [('v10', r)], base='s8')

# ---------------------------------------------------------------- unified formats
ORDER = [(DATA, NUMBERS) for DATA, NUMBERS in ((1, 'iiiiii'), (2, 'iiiiiif'), (3, 'iiiiii'), (4, 'uuf'), (5, 'iiiiiif'), (6, 'iiiiiif'), (7, 'iiiiiif'), (8, 'iiiiii'), (9, 'iiiiii'), (10, 'iiiiii'), (11, 'uuf'), (12, 'iiiiiif'), (13, 'uuf'), (14, 'uuf'))]
UNIFIED, number = {}, 1
for df, kinds in ORDER:
    for k, kind in enumerate(kinds):
        UNIFIED[number] = (df, 7 if kind == 'f' else k + (4 if kind == 'u' else 0))
        number += 1
assert number == 78
elements = Memory(256)
spots = [16 * (l % 15) for l in range(64)]
for fmt, (df, nf) in sorted(UNIFIED.items()):
    if not usable(nf, df): continue
    size_ = size_of(df)
    loaded = [components(df, nf, elements.get(spots[l], size_)) for l in range(64)]
    both('tbuffer_load_format_xyzw format %d' % fmt, ['tbuffer_load_format_xyzw v[10:13], v0, s[8:11], 0 format:%d offen' % fmt, 's_waitcnt vmcnt(0)'], [('v0', spots), ('global', elements.dwords())] + v_sharp(0, 256, 3), [('v%d' % (10 + k), [v[k] for v in loaded]) for k in range(4)], base='s8', sizes=(64,) if fmt % 5 else (32, 64))
    sharp = [('s8', [0, 0, 256, 4 | 5 << 3 | 6 << 6 | 7 << 9 | fmt << 12 | 1 << 24 | 3 << 28])]
    both('buffer_load_format_xyzw format %d' % fmt, ['buffer_load_format_xyzw v[10:13], v0, s[8:11], 0 offen', 's_waitcnt vmcnt(0)'], [('v0', spots), ('global', elements.dwords())] + sharp, [('v%d' % (10 + k), [v[k] for v in loaded]) for k in range(4)], base='s8', sizes=(32,) if fmt % 5 else (32, 64))
both('tbuffer_load_format_x of an image format', 'tbuffer_load_format_x v10, v0, s[8:11], 0 format:100 offen', v_sharp(0, 256, 3), [], base='s8', lines=['exit unimplemented'])

# ---------------------------------------------------------------- waves of 32 lanes of what the other files say of 64
# A case whose registers are VGPRs and whose instruction looks at no other lane says the same of the first 32 lanes; what is above keeps
# its values. One of each mnemonic.
def narrow(text):
    lines_ = text.split('\n')
    get = lambda word: [l.split(' ', 1)[1] for l in lines_ if l.startswith(word + ' ')]
    asm = get('asm')
    if len(asm) != 1 or get('base') or get('wave') or get('exit') or get('word') or '_dpp' in asm[0] or 'row_' in asm[0] or 'quad_perm' in asm[0] or 'lane' in asm[0] or ' s[' in asm[0]: return None
    registers = [l.split() for word in ('set', 'expect') for l in get(word)]
    if any(not r[0].startswith('v') or r[0] == 'vcc' for r in registers) or asm[0].split()[0] in narrowed: return None
    targets = [t for t in get('target')[0].split() if t in BOTH]
    if not targets or not asm[0].startswith('v_'): return None
    def values(l):
        v = []
        for w in l[1:]:
            n, _, times = w.partition('*')
            v += [int(n, 16)] * (int(times, 16) if times else 1)
        return [v[i % len(v)] for i in range(64)]
    sets = [(l.split()[0], values(l.split())) for l in get('set')]
    expects = [(l.split()[0], values(l.split())) for l in get('expect')]
    narrowed.add(asm[0].split()[0])
    mode = int(get('mode')[0], 16) if get('mode') else 0xf0
    case(FILE, get('case')[0] + ', wave32', asm, sets, rows(32, sets, expects, (1 << 64) - 1), targets, mode, lines=['wave 32'])
narrowed = set()
for file in ('integer', 'float_f32', 'float_f64', 'float_f16', 'convert', 'packed', 'division', 'small_floats'):
    for text in out.get(file, []): narrow(text)
