# Scalar memory instructions, and what only orders or counts.
from generate_memory import *

rng.seed('smem')
F_ = 'memory_scalar'
def sreg(r, n): return 's%d' % r if n == 1 else 's[%d:%d]' % (r, r + n - 1)
DESCRIPTOR = [0, 0, 100, 0x27000]   # V#: base, no stride, 100 bytes
for n in (1, 2, 4, 8, 16):
    tail = 'dword' + ('x%d' % n if n > 1 else '')
    memory = Memory(SIZE)
    for text, sets, at in ((', s[2:3], 0x%x' % (4 * n), [], 4 * n), (', s[2:3], s4', [('s4', [0x13])], 0x10)):   # the low two bits of an offset do not count
        case(F_, 's_load_%s%s' % (tail, text), 's_load_%s %s%s' % (tail, sreg(16, n), text), sets + [('s2', [0, 0]), ('global', memory.dwords())], [('s16', [memory.get(at + 4 * i, 4) for i in range(n)])], base='s2')
    # dwords beyond NUM_RECORDS are not loaded
    at = 100 - 4 * n if n < 16 else 36
    at = (at // 4) * 4
    shown = lambda a: [memory.get(a + 4 * i, 4) if a + 4 * i + 4 <= 100 else 0xabc for i in range(n)]
    for a, text, sets in ((at, '0x%x' % at, []), (84, 's4', [('s4', [84])]), (4, '0x4', [])):
        case(F_, 's_buffer_load_%s %s' % (tail, text), 's_buffer_load_%s %s, s[8:11], %s' % (tail, sreg(32, n), text), sets + [('s8', DESCRIPTOR), ('s32', [0xabc] * n), ('global', memory.dwords())], [('s32', shown(a))], base='s8')
    if n > 4: continue
    data = [rng.getrandbits(32) for _ in range(n)]
    for form in ('s_store_', 's_buffer_store_'):
        after = Memory(SIZE, memory.dwords())
        at = 16 if form == 's_store_' else 96
        for i in range(n):
            if form == 's_store_' or at + 4 * i + 4 <= 100: after.put(at + 4 * i, 4, data[i])
        case(F_, form + tail, '%s%s %s, %s, 0x%x' % (form, tail, sreg(16, n), 's[2:3]' if form == 's_store_' else 's[8:11]', at), [('s16', data), ('s2', [0, 0])] * (form == 's_store_') + [('s16', data), ('s8', DESCRIPTOR)] * (form != 's_store_') + [('global', memory.dwords())], [('global', after.dwords())], base='s2' if form == 's_store_' else 's8')
    # s_scratch_*: the register offset counts 64 bytes
    memory = Memory(288, [rng.getrandbits(32)] * 64 + [rng.getrandbits(32) for _ in range(8)])
    after = Memory(288, memory.dwords())
    for i in range(n): after.put(256 + 4 * i, 4, data[i])
    # its low two bits do not count either, so that the smallest distance is 256 bytes
    case(F_, 's_scratch_load_' + tail, 's_scratch_load_%s %s, s[2:3], s4' % (tail, sreg(16, n)), [('s2', [0, 0]), ('s4', [4]), ('global', memory.dwords())], [('s16', [memory.get(256 + 4 * i, 4) for i in range(n)])], base='s2')
    case(F_, 's_scratch_store_' + tail, 's_scratch_store_%s %s, s[2:3], s4' % (tail, sreg(16, n)), [('s2', [0, 0]), ('s4', [4]), ('s16', data), ('global', memory.dwords())], [('global', after.dwords())], base='s2')
case(F_, 's_load_dwordx2 over its base', 's_load_dwordx2 s[2:3], s[2:3], 0x8', [('s2', [0, 0]), ('global', [1, 2, 3, 4])], [('s2', [3, 4])], base='s2')
case(F_, 's_load_dword of parts that are no whole dwords', 's_load_dword s16, s[2:3], s4', [('s2', [2, 0]), ('s4', [7]), ('global', [1, 2, 3, 4])], [('s16', [2])], base='s2')   # each part loses its low two bits
case(F_, 's_load_dword negative offset', 's_load_dword s16, s[2:3], -0x8', [('s2', [16, 0]), ('global', [1, 2, 3, 4])], [('s16', [3])], ['gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950'], base='s2')
for bits, tail in ((32, ''), (64, '_x2')):
    n = bits // 32
    for k, op in integer_ops(bits).items():
        for form in ('s_atomic_', 's_buffer_atomic_'):
            name = form + k + tail
            for returns in (True, False):
                values = int_values(bits)
                old, data, other = values(), values(), values()
                if k == 'cmpswap' and rng.random() < .6: other = old
                new = op(old, data, other)
                regs = split_dwords(data, n) + (split_dwords(other, n) if k == 'cmpswap' else [])
                case(F_, name + (' returning' if returns else ''), '%s %s, %s, 0x10%s' % (name, sreg(16, len(regs)), 's[2:3]' if form == 's_atomic_' else 's[8:11]', ' glc' if returns else ''),
                     [('s16', regs), ('s2', [0, 0]) if form == 's_atomic_' else ('s8', DESCRIPTOR), ('global', [9] * 4 + split_dwords(old, n) + [9])], [('global', [9] * 4 + split_dwords(new, n) + [9]), ('s16', (split_dwords(old, n) if returns else regs[:n]) + regs[n:])], base='s2' if form == 's_atomic_' else 's8')
case(F_, 's_buffer_atomic_add out of range', 's_buffer_atomic_add s16, s[8:11], 0x64 glc', [('s16', [5]), ('s8', DESCRIPTOR), ('global', [1] * 32)], [('global', [1] * 32), ('s16', [5])], base='s8')
# Vector memory sees what scalar stores have written back (SEED-MEM-16).
case(F_, 's_store_dwordx2 seen by vectors', ['s_store_dwordx2 s[16:17], s[2:3], 0x8', 's_dcache_wb', 's_waitcnt lgkmcnt(0)', 's_add_u32 s4, s2, 8', 's_addc_u32 s5, s3, 0', 'v_mov_b32 v0, s4', 'v_mov_b32 v1, s5', 'flat_load_dwordx2 v[2:3], v[0:1]', 's_waitcnt vmcnt(0) lgkmcnt(0)', 'v_readfirstlane_b32 s6, v2', 'v_readlane_b32 s7, v3, 5'],
     [('s2', [0, 0]), ('s16', [0x12345678, 0x9abcdef0]), ('global', [1, 2, 3, 4])], [('s6', [0x12345678, 0x9abcdef0]), ('global', [1, 2, 0x12345678, 0x9abcdef0])], base='s2')
# What a load brings is there without a wait, too (SEED-MEM-40).
case(F_, 's_load_dword without a wait', ['s_load_dword s4, s[2:3], 0x4', 's_add_u32 s5, s4, 1'], [('s2', [0, 0]), ('global', [1, 20, 3, 4])], [('s5', [21])], base='s2')
# Time goes forward; caches have nothing to do.
for name in ('s_memtime', 's_memrealtime'):
    case(F_, name, ['%s s[0:1]' % name, 's_waitcnt lgkmcnt(0)', '%s s[2:3]' % name, 's_waitcnt lgkmcnt(0)', 's_sub_u32 s4, s2, s0', 's_subb_u32 s5, s3, s1', 's_cselect_b32 s6, 1, 0', 's_cmp_lg_u64 s[0:1], 0', 's_cselect_b32 s7, 1, 0'], [('s5', [1, 1, 0])], [('s5', [0, 0, 1])])
memory = Memory(32)
for asm in ('s_dcache_inv', 's_dcache_wb', 's_dcache_inv_vol', 's_dcache_wb_vol', 's_dcache_discard s[2:3], 0x0', 's_dcache_discard_x2 s[2:3], 0x0', 's_atc_probe 7, s[2:3], 0x0', 's_atc_probe_buffer 7, s[8:11], 0x0', 'buffer_wbinvl1', 'buffer_wbinvl1_vol', 'buffer_wbinvl1_sc', 'buffer_wbl2', 'buffer_invl2', 'buffer_inv sc1', 'buffer_wbl2 sc1'):
    targets = [t for t in case_files.targets_of([asm]) if ('sc1' in asm) == (t in NEW) or asm[:13] != 'buffer_wbl2' [:13]]
    if asm == 'buffer_wbl2': targets = ['gfx90a']
    if asm == 'buffer_wbl2 sc1': targets = NEW
    case(F_, asm.split()[0], [asm, 's_mov_b32 s20, 1'], [('s2', [0, 0]), ('s8', [0, 0, 32, 0]), ('global', memory.dwords())], [('s20', [1]), ('global', memory.dwords())], targets, base='s2')
