# gfx11 and gfx12: memory instructions, waits, barriers and hardware registers that earlier processors do not have, or have otherwise.
# Meanings: AMD's pseudo-code of RDNA 3 and RDNA 4; LLVM's list of unified formats; Mesa's notes on buffer descriptors; the Linux driver's
# trap handler for fields of gfx12's hardware registers.
from generate_buffer import *

rng.seed('gfx11_memory')
FILE, G11, G12 = 'gfx11_memory', ['gfx1100'], ['gfx1201', 'gfx1250']
BOTH = G11 + G12
def add(name, asm, sets, expects, targets=BOTH, **k):
    targets = [t for t in targets if t != 'gfx1250' or all(takes(a, t) for a in ([asm] if isinstance(asm, str) else asm))]
    if targets: case(FILE, name, asm, sets, expects, targets, **k)
WAIT = {'gfx1100': ['s_waitcnt vmcnt(0) lgkmcnt(0)', 's_waitcnt_vscnt null, 0x0'], 'gfx1201': ['s_wait_loadcnt 0x0', 's_wait_dscnt 0x0', 's_wait_storecnt 0x0', 's_wait_kmcnt 0x0']}

# ---------------------------------------------------------------- LDS atomics
def lds_atomic(row, op, bits, values, targets, mode=0xf0, note='', two=False, equal=False):
    """op(old, data, second data)"""
    for rtn in (False, True):
        stem, suffix = row.rsplit('_', 1)
        name = '%s_rtn_%s' % (stem, suffix) if rtn else row
        n, count = bits // 8, 512 // bits
        memory = Memory(64, [x for v in (values() for _ in range(count)) for x in split_dwords(v, n // 4)])
        offsets = [rng.randrange(count) * n for _ in range(64)]
        data, other = [values() for _ in range(64)], [values() for _ in range(64)]
        if equal: other = [memory.get(offsets[l], n) if i % 2 else x for i, (l, x) in enumerate(zip(range(64), other))]
        before, results = memory.dwords(), {}
        for l in ACTIVE:
            results[l] = memory.get(offsets[l], n)
            memory.put(offsets[l], n, op(results[l], data[l], other[l]))
        w = n // 4
        rows = [('v%d' % (4 + i), [split_dwords(data[l], w)[i] for l in range(64)]) for i in range(w)] + ([('v%d' % (6 + i), [split_dwords(other[l], w)[i] for l in range(64)]) for i in range(w)] if two else [])
        text = '%s %sv0, %s%s' % (name, vreg(10, w) + ', ' if rtn else '', vreg(4, w), ', ' + vreg(6, w) if two else '')
        add(name + note, text, [('v0', offsets), ('lds', before), ('exec', [FEW])] + rows + old_register(w), [('lds', memory.dwords())] + with_old(results, w, FEW) if rtn else [('lds', memory.dwords())], targets, mode=mode)
for bits in (32, 64):
    lds_atomic('ds_cmpstore_b%d' % bits, lambda o, d, x: d if o == x else o, bits, int_values(bits), BOTH, two=True, equal=True)
    F, values = (F32, f32_values) if bits == 32 else (F64, f64_values)
    def same(o, x, flush): return not F.nan(o) and not F.nan(x) and F.value(F.flush(o) if flush else o) == F.value(F.flush(x) if flush else x) if not (F.isinf(o) or F.isinf(x)) else o == x
    for mode, note in ((0xf0, ''), (0, ' flush')):
        lds_atomic('ds_cmpstore_f%d' % bits, lambda o, d, x: d if same(o, x, not mode) else o, bits, values, G11, mode, note, two=True, equal=True)
lds_atomic('ds_cond_sub_u32', lambda o, d, x: o - d if o >= d else o, 32, int_values(32), G12)
lds_atomic('ds_sub_clamp_u32', lambda o, d, x: o - d if o >= d else 0, 32, int_values(32), G12)
lds_atomic('ds_pk_add_f16', lambda o, d, x: pk2(lambda a, b: F16.add(a, b))(o, d, x), 32, pk16_values, G12)
lds_atomic('ds_pk_add_bf16', lambda o, d, x: pk2(add_bf16)(o, d, x), 32, pkbf_values, G12)
# Of a number and a NaN of either kind the number; of two NaNs the data's, quiet. -0 < +0.
def number_extreme(F, largest, flush=False):
    rank = lambda x: (F.order(x), 0 if F.neg(x) else 1)
    def f(o, d, x=0):
        if F.nan(o) and F.nan(d): return d | F.quiet
        if F.nan(d): return o
        if F.nan(o): return d
        p, q = [rank(F.flush(v) if flush else v) for v in (o, d)]
        return d if (q > p if largest else q < p) else o
    return f
nan32 = lambda: rng.choice([0x7fc00001, 0x7f800005, 0xffc00000, 0xff812345, 0, 0x80000000, 0x3f800000, 1, 0x80000001, 0x7f800000])
nan64 = lambda: rng.choice([0x7ff8000000000001, 0x7ff0000000000005, 0xfff8000000000000, 0, 1 << 63, 0x3ff0000000000000, 1, 0x7ff0000000000000])
for largest, word in ((False, 'min'), (True, 'max')):
    lds_atomic('ds_%s_f32' % word, number_extreme(F32, largest), 32, nan32, G12, note=' numbers')
    lds_atomic('ds_%s_f32' % word, number_extreme(F32, largest, True), 32, nan32, G12, mode=0, note=' numbers, flush')
    lds_atomic('ds_%s_f64' % word, number_extreme(F64, largest), 64, nan64, G12, note=' numbers')

# ---------------------------------------------------------------- atomics of memory
for family in ('global', 'flat', 'flat lds', 'buffer'):
    prefix = family.split()[0]
    # What tells that an atomic returns is a temporal hint here, GLC on earlier processors.
    def atomic12(suffix, op, values):
        name = '%s_atomic_%s' % (prefix, suffix)
        memory = Memory(64, [values() for _ in range(16)])
        offsets, data = [rng.randrange(16) * 4 for _ in range(64)], [values() for _ in range(64)]
        if family == 'buffer': offsets[ACTIVE[1]] = SIZE
        before, results = memory.dwords(), {}
        for l in ACTIVE:
            if offsets[l] >= 64: results[l] = 0; continue
            results[l] = memory.get(offsets[l], 4)
            memory.put(offsets[l], 4, op(results[l], data[l], 0))
        sets, base, operand, kind = place(family, offsets, 0)
        if family == 'buffer': sets = [(r, v if r != 's8' else [0, 0, SIZE, 20 << 12 | 3 << 28]) for r, v in sets]
        for rtn in (True, False):
            if family == 'buffer': text = '%s v4, %s%s%s' % (name, operand, address_text(family, 0).replace(', 0 offen', ', null offen'), ' th:TH_ATOMIC_RETURN' if rtn else '')
            else: text = '%s %s%s, v4%s%s' % (name, 'v10, ' if rtn else '', operand, address_text(family, 0), ' th:TH_ATOMIC_RETURN' if rtn else '')
            expects = [(kind, memory.dwords())]
            if rtn: expects += [('v4', [results[l] if l in results else data[l] for l in range(64)])] if family == 'buffer' else with_old(results, 1, FEW)
            add(name + family[len(prefix):] + (' returning' if rtn else ''), text, sets + [(kind, before), ('exec', [FEW]), ('v4', data)] + ([] if family == 'buffer' else old_register(1)), expects, G12, base=base)
    atomic12('cond_sub_u32', lambda o, d, x: o - d if o >= d else o, int_values(32))
    atomic12('csub', lambda o, d, x: o - d if o >= d else 0, int_values(32))
    atomic12('fmin', number_extreme(F32, False), nan32)
    atomic12('fmax', number_extreme(F32, True), nan32)
    atomic12('pk_add_f16', lambda o, d, x: pk2(lambda a, b: F16.add(a, b))(o, d, x), pk16_values)
    atomic12('pk_add_bf16', lambda o, d, x: pk2(add_bf16)(o, d, x), pkbf_values)
    atomic12('add_f32', fadd32(False), f32_values)   # LLVM: FeatureMemoryAtomicFAddF32DenormalSupport

# ---------------------------------------------------------------- scalar loads
data = Memory(128)
for suffix, n, f in (('i8', 1, lambda v: s8(v) & M32), ('u8', 1, lambda v: v), ('i16', 2, lambda v: s16(v) & M32), ('u16', 2, lambda v: v)):
    for at in range(0, 8, n):
        add('s_load_%s 0x%x' % (suffix, at), ['s_load_%s s16, s[2:3], 0x%x' % (suffix, at), 's_wait_kmcnt 0x0'], [('s2', [0, 0]), ('global', data.dwords())], [('s16', [f(data.get(at, n))])], G12, base='s2')
    at, neg = 32 + 3 * n, -5 * n
    add('s_load_%s s4' % suffix, ['s_load_%s s16, s[2:3], s4 offset:0x10' % suffix], [('s2', [n, 0]), ('s4', [2 * n]), ('global', data.dwords())], [('s16', [f(data.get(16 + 3 * n, n))])], G12, base='s2')
    add('s_load_%s negative' % suffix, ['s_load_%s s16, s[2:3], -0x%x' % (suffix, -neg)], [('s2', [64, 0]), ('global', data.dwords())], [('s16', [f(data.get(64 + neg, n))])], G12, base='s2')
    for at, records in ((20, 64), (63, 64), (64, 64), (66, 66)):
        at &= -n
        add('s_buffer_load_%s 0x%x of %d' % (suffix, at, records), ['s_buffer_load_%s s16, s[8:11], 0x%x' % (suffix, at)], [('s8', [0, 0, records, 0x27000]), ('s16', [0xabc]), ('global', data.dwords())], [('s16', [f(data.get(at, n)) if at + n <= records else 0xabc])], G12, base='s8')
add('s_load_b96', ['s_load_b96 s[16:18], s[2:3], 0x14'], [('s2', [0, 0]), ('s19', [7]), ('global', data.dwords())], [('s16', [data.get(20, 4), data.get(24, 4), data.get(28, 4), 7])], G12, base='s2')
add('s_load_b96, far', ['s_load_b96 s[16:18], s[2:3], -0x7ffff0'], [('s2', [0x7ffff0, 0]), ('s19', [7]), ('global', data.dwords())], [('s16', [data.get(0, 4), data.get(4, 4), data.get(8, 4), 7])], G12, base='s2')
add('s_buffer_load_b96', ['s_buffer_load_b96 s[16:18], s[8:11], 0x3c'], [('s8', [0, 0, 0x44, 0x27000]), ('s16', [1, 2, 3]), ('global', data.dwords())], [('s16', [data.get(60, 4), data.get(64, 4), 3])], G12, base='s8')

# ---------------------------------------------------------------- waits, caches and hints do nothing that a register shows
done = [('s20', [1]), ('s2', [5]), ('exec', [0xf0f])]
add('waits', ['s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)', 's_waitcnt_vscnt null, 0x0', 's_waitcnt_vmcnt null, 0x1', 's_waitcnt_expcnt null, 0x0', 's_waitcnt_lgkmcnt null, 0x0', 's_wait_idle', 's_wait_event 0x1', 's_waitcnt_depctr 0xfffe', 's_delay_alu instid0(VALU_DEP_1)',
             's_clause 0x1', 's_icache_inv', 's_dcache_inv', 's_gl1_inv', 'buffer_gl0_inv', 'buffer_gl1_inv', 's_mov_b32 s20, 1'], [('s2', [5]), ('exec', [0xf0f])], done, G11)
add('waits', ['s_wait_loadcnt 0x3', 's_wait_storecnt 0x0', 's_wait_samplecnt 0x0', 's_wait_bvhcnt 0x0', 's_wait_expcnt 0x0', 's_wait_dscnt 0x0', 's_wait_kmcnt 0x0', 's_wait_loadcnt_dscnt 0x101', 's_wait_storecnt_dscnt 0x0', 's_wait_idle', 's_wait_event 0x1',
             's_waitcnt_depctr 0xfffe', 's_delay_alu instid0(VALU_DEP_1)', 's_clause 0x1', 's_icache_inv', 's_dcache_inv', 'global_inv scope:SCOPE_DEV', 'global_wb scope:SCOPE_SYS', 'global_wbinv scope:SCOPE_SYS', 's_prefetch_inst s[2:3], 0x100, s4, 7', 's_prefetch_inst_pc_rel 0x100, s4, 7',
             's_prefetch_data s[2:3], 0x100, s4, 7', 's_prefetch_data_pc_rel 0x100, s4, 7', 's_buffer_prefetch_data s[4:7], 0x100, s4, 7', 's_mov_b32 s20, 1'], [('s2', [5]), ('exec', [0xf0f])], done, G12)
add('s_sleep_var', 's_sleep_var s2', [('s2', [1])], [('s2', [1])], G12, lines=['exit yield'])

# ---------------------------------------------------------------- barriers of a wave alone
add('s_barrier', 's_barrier', [], [], G11, lines=['exit barrier'])
add('s_barrier_wait', 's_barrier_wait 0xffff', [], [], G12, lines=['exit barrier'])
add('s_barrier_signal', ['s_barrier_signal -1', 's_mov_b32 s6, 1'], [('scc', [1])], [('s6', [1]), ('scc', [1])], G12)
add('s_barrier_signal_isfirst', ['s_barrier_signal_isfirst -1', 's_cselect_b32 s6, 1, 2'], [('scc', [1])], [('s6', [2]), ('scc', [0])], G12)
add('s_get_barrier_state', ['s_get_barrier_state s6, -1'], [('s6', [9])], [('s6', [0])], G12)
for asm in ('s_barrier_signal -2', 's_barrier_signal -3', 's_barrier_signal 1', 's_barrier_signal_isfirst -4', 's_get_barrier_state s6, 3', 's_barrier_wait 0xfffe', 's_barrier_wait 0x1', 's_barrier_init -1', 's_barrier_join 1'):
    add(asm, asm, [('s6', [9])], [('s6', [9])], G12, lines=['exit illegal'])
add('s_barrier_leave', 's_barrier_leave', [], [], ['gfx1201'], lines=['exit illegal'])
add('s_barrier_signal m0', 's_barrier_signal m0', [('m0', [0xffffffff])], [], G12, lines=['exit illegal'])   # M0[4:0] are a number of 0 to 31

# ---------------------------------------------------------------- hardware registers
add('GPR_ALLOC', ['s_getreg_b32 s6, hwreg(5)'], [], [('s6', [63 << 12])])
add('LDS_ALLOC', ['s_getreg_b32 s6, hwreg(6, 12, 9)'], [], [('s6', [8])])
add('MODE', ['s_setreg_imm32_b32 hwreg(1, 0, 4), 0x9', 's_getreg_b32 s6, hwreg(1)'], [], [('s6', [0xf9])], G12, mode=0x3f0)   # neither DX10_CLAMP nor IEEE
add('MODE', ['s_setreg_imm32_b32 hwreg(1, 0, 4), 0x9', 's_getreg_b32 s6, hwreg(1)'], [], [('s6', [0x3f9])], G11, mode=0x3f0)
add('SCC', ['s_cmp_eq_u32 s7, s7', 's_getreg_b32 s6, hwreg(4, 9, 1)', 's_cmp_lg_u32 s7, s7', 's_getreg_b32 s8, hwreg(4, 9, 1)', 's_getreg_b32 s9, hwreg(2, 29, 1)'], [], [('s6', [1]), ('s8', [0]), ('s9', [1])], G12)
add('SCC', ['s_cmp_eq_u32 s7, s7', 's_getreg_b32 s6, hwreg(2, 0, 1)', 's_cmp_lg_u32 s7, s7', 's_getreg_b32 s8, hwreg(2, 0, 1)'], [], [('s6', [1]), ('s8', [0])], G11)
add('EXCP_FLAG_USER', ['s_getreg_b32 s6, hwreg(18)', 's_setreg_imm32_b32 hwreg(18, 0, 7), 0x5', 's_getreg_b32 s7, hwreg(18)'], [('trapsts', [0x22])], [('s6', [0x22]), ('s7', [5])], G12)
add('SCHED_MODE', ['s_setreg_imm32_b32 hwreg(26, 0, 2), 0x2', 's_mov_b32 s6, 1'], [], [('s6', [1])], G12)
for register, targets in ((19, G12), (31, G12)): add('s_setreg %d' % register, 's_setreg_imm32_b32 hwreg(%d), 0x1' % register, [], [], targets, lines=['exit unimplemented'])
for register, targets in ((3, G12), (10, G12), (16, G11), (27, G11)): add('s_getreg %d' % register, 's_getreg_b32 s6, hwreg(%d)' % register, [('s6', [9])], [('s6', [9])], targets, lines=['exit unimplemented'])

# ---------------------------------------------------------------- blocks of registers
words_ = [rng.getrandbits(32) for _ in range(2048)]
mask = 0x80010205
for off in (0, 64):
    offsets = [(128 * l) % 1024 for l in range(64)]
    expects = [('v%d' % (40 + d), [words_[(offsets[l] + off) // 4 + d] if FEW >> l & 1 and mask >> d & 1 else 0xc0c0c0c0 + 40 + d for l in range(64)]) for d in (0, 1, 2, 8, 9, 16, 30, 31)]
    add('global_load_block offset %d' % off, 'global_load_block v[40:71], v[0:1], off offset:%d' % off, [('v0', offsets), ('v1', [0]), ('m0', [mask]), ('exec', [FEW]), ('global', words_)], expects, G12, base='v0')
after = [0] * 1024
stored = [[rng.getrandbits(32) for _ in range(64)] for _ in range(32)]
places = [128 * ACTIVE.index(l) if l in ACTIVE else 0 for l in range(64)]
for l in ACTIVE:
    for d in range(32):
        if mask >> d & 1: after[places[l] // 4 + d] = stored[d][l]
add('global_store_block', 'global_store_block v[0:1], v[40:71], off', [('v0', places), ('v1', [0]), ('m0', [mask]), ('exec', [FEW])] + [('v%d' % (40 + d), stored[d]) for d in range(32)], [('global', after)], G12, base='v0')
own = [rng.getrandbits(32) for _ in range(256)]   # four dwords of each lane
few = 0b1101
add('scratch_load_block', 'scratch_load_block v[40:71], off, off', [('m0', [few]), ('scratch', own)], [('v%d' % (40 + d), [own[64 * d + l] if few >> d & 1 else 0xc0c0c0c0 + 40 + d for l in range(64)]) for d in range(4)], G12)
add('scratch_store_block', ['scratch_store_block off, v[40:71], off', 'scratch_load_dwordx4 v[10:13], off, off'], [('m0', [few]), ('scratch', own)] + [('v%d' % (40 + d), stored[d]) for d in range(4)], [('v%d' % (10 + d), stored[d] if few >> d & 1 else own[64 * d:64 * d + 64]) for d in range(4)], G12)

# ---------------------------------------------------------------- addresses: offsets of 13 and 24 bits, scratch with both parts
row = [rng.getrandbits(32) for _ in range(64)]
for off, targets in ((-4096, G11), (4092, G11), (-8388608, G12), (8388604, G12), (-4, BOTH)):
    base_ = -off if off < 0 else 0
    place_ = [4 * (63 - l) + base_ for l in range(64)] if off < 0 else [(4 * (63 - l) - off) & M32 for l in range(64)]
    high = [M32 if x - off < 0 and off > 0 else 0 for x in [4 * (63 - l) for l in range(64)]]
    add('global_load_dword offset %d' % off, 'global_load_dword v10, v[0:1], off offset:%d' % off, [('v0', place_), ('v1', high), ('global', row)], [('v10', row[::-1])], targets, base='v0')
    if off < 0: add('global_load_dword saddr offset %d' % off, 'global_load_dword v10, v0, s[8:9] offset:%d' % off, [('v0', place_), ('s8', [0, 0]), ('global', row)], [('v10', row[::-1])], targets, base='s8')
for asm, at in (('scratch_load_dword v10, off, off offset:8', lambda l: 8), ('scratch_load_dword v10, v0, off offset:-4', lambda l: 4 * (l % 3)), ('scratch_load_dword v10, off, s6 offset:4', lambda l: 8), ('scratch_load_dword v10, v0, s6 offset:-8', lambda l: 4 * (l % 3))):
    add(asm, asm, [('v0', [4 * (l % 3) + 4 for l in range(64)]), ('s6', [4]), ('scratch', own)], [('v10', [own[64 * (at(l) // 4) + l] for l in range(64)])])

# ---------------------------------------------------------------- LDS: a permutation that reads lanes that are off, a value for all lanes
where = [rng.randrange(0, 256) for _ in range(64)]
add('ds_bpermute_fi_b32', 'ds_bpermute_fi_b32 v10, v0, v1 offset:4', [('v0', where), ('v1', row), ('exec', [FEW])], [('v10', [row[(where[l] + 4) // 4 % 64] if FEW >> l & 1 else 0xc0c0c0c0 + 10 for l in range(64)])], G12)
for kind, n, f in ((0, 1, lambda v: v), (1, 2, lambda v: v), (2, 4, lambda v: v), (4, 1, lambda v: s8(v) & M32), (5, 2, lambda v: s16(v) & M32)):
    at = 8 if n == 4 else 10
    add('lds_direct_load type %d' % kind, 'lds_direct_load v10 %s' % 'wait_vdst:15', [('m0', [at | kind << 16]), ('lds', row), ('exec', [FEW])], [('v10', [f(int.from_bytes(b''.join(x.to_bytes(4, 'little') for x in row)[at:at + n], 'little')) if FEW >> l & 1 else 0xc0c0c0c0 + 10 for l in range(64)])], G11)

# ---------------------------------------------------------------- buffers: swizzling by elements of 4, 8 and 16 bytes; unified formats of six bits
big = Memory(2048)
index, offset = [rng.randrange(0, 14) for _ in range(64)], [4 * rng.randrange(0, 8) for _ in range(64)]
def v_sharp(stride, records, select, swizzle=0, index_stride=0, fmt=20): return [('s8', [0, stride << 16 | swizzle << 30, records, 4 | 5 << 3 | 6 << 6 | 7 << 9 | fmt << 12 | index_stride << 21 | select << 28])]
def in_bounds(select, i, o, at, stride, records): return (i < records and o < stride, i < records, records != 0, at < records)[select]
for swizzle, element in ((0, 0), (1, 4), (2, 8), (3, 16)):
    for select in range(4):
        for idxen in (True, False):
            records = 10 if select < 2 else 300
            def at(l, more=0):
                i, o = index[l] if idxen else 0, offset[l] + more
                where = o + 32 * i if not swizzle else (i // 8 * 32 + o // element * element) * 8 + i % 8 * element + o % element
                return where if in_bounds(select, i, o, where, 32, records) else None
            got = lambda more: [big.get(at(l, more), 4) if at(l, more) is not None else 0 for l in range(64)]
            operand, tail = ('v[0:1]', ' idxen offen') if idxen else ('v1', ' offen')
            sets = [('v0', index), ('v1', offset), ('global', big.dwords())] + v_sharp(32, records, select, swizzle)
            for t in WAIT:
                off = 's6' if t == 'gfx1201' else '0'
                add('buffer_load_dword swizzle %d, OOB_SELECT %d%s' % (swizzle, select, tail), ['buffer_load_dword v10, %s, s[8:11], %s%s' % (operand, off, tail)] + WAIT[t], sets + [('s6', [0])], [('v10', got(0))], [t], base='s8')
                add('buffer_load_dwordx2 swizzle %d, OOB_SELECT %d%s' % (swizzle, select, tail), ['buffer_load_dwordx2 v[10:11], %s, s[8:11], %s%s' % (operand, off, tail)] + WAIT[t], sets + [('s6', [0])], [('v10', got(0)), ('v11', got(4))], [t], base='s8')
            stores = Memory(2048, [0] * 512)
            payload = [rng.getrandbits(32) for _ in range(64)]
            for l in ACTIVE:
                if at(l) is not None: stores.put(at(l), 4, payload[l])
            add('buffer_store_dword swizzle %d, OOB_SELECT %d%s' % (swizzle, select, tail), 'buffer_store_dword v2, %s, s[8:11], %s%s' % (operand, 'm0', tail), [('v0', index), ('v1', offset), ('v2', payload), ('m0', [0]), ('exec', [FEW])] + v_sharp(32, records, select, swizzle), [('global', stores.dwords())], base='s8')
ORDER = [(1, 'iiiiii'), (2, 'iiiiiif'), (3, 'iiiiii'), (4, 'uuf'), (5, 'iiiiiif'), (6, 'f'), (7, 'f'), (8, 'nnuu'), (9, 'iiiiii'), (10, 'iiiiii'), (11, 'uuf'), (12, 'iiiiiif'), (13, 'uuf'), (14, 'uuf')]
UNIFIED, number = {}, 1
for df, kinds in ORDER:
    for k, kind in enumerate(kinds):
        UNIFIED[number] = (df, 7 if kind == 'f' else k + 2 if kinds == 'nnuu' and kind == 'u' else k + (4 if kind == 'u' else 0))
        number += 1
assert number == 64 and UNIFIED[35] == (8, SINT) and UNIFIED[30] == (6, FLOAT) and UNIFIED[63] == (14, FLOAT)
elements = Memory(256)
spots = [16 * (l % 15) for l in range(64)]
for fmt, (df, nf) in sorted(UNIFIED.items()):
    if not usable(nf, df): continue
    loaded = [components(df, nf, elements.get(spots[l], size_of(df))) for l in range(64)]
    sets, expects = [('v0', spots), ('m0', [0]), ('global', elements.dwords())], [('v%d' % (10 + k), [v[k] for v in loaded]) for k in range(4)]
    add('tbuffer_load_format_xyzw format %d' % fmt, 'tbuffer_load_format_xyzw v[10:13], v0, s[8:11], m0 format:%d offen' % fmt, sets + v_sharp(0, 256, 3), expects, base='s8')
    add('buffer_load_format_xyzw format %d' % fmt, 'buffer_load_format_xyzw v[10:13], v0, s[8:11], m0 offen', sets + v_sharp(0, 256, 3, fmt=fmt), expects, base='s8')
