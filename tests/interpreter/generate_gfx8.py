# What gfx8 does otherwise than gfx9 under the same names: AMD GCN3 ISA manual ("Buffer addressing", M0, V_MOVREL*), Mesa's notes on
# NUM_RECORDS, LLVM's definitions of unpacked D16.
from generate_memory import *

rng.seed('gfx8')
G_, T_ = 'gfx8', 'gfx803'
memory = Memory(1024)
def gather(name, instruction, sets, dwords, where):
    """where(lane) -> byte offset of each dword, or None where it is out of range"""
    r = {l: sum((memory.get(o, 4) if o is not None else 0) << 32 * d for d, o in enumerate(where(l))) for l in ACTIVE}
    case(G_, name, instruction, sets + [('global', memory.dwords()), ('exec', [FEW])] + old_register(dwords), with_old(r, dwords, FEW), T_, base='s8')

# Vector memory counts NUM_RECORDS in bytes, with IDXEN, too, unless the V# swizzles and has a stride.
idx, ofs = [rng.randrange(0, 14) for _ in range(64)], [4 * rng.randrange(0, 4) for _ in range(64)]
two = [('v0', idx), ('v1', ofs)]
def bytes_below(limit, o): return [o if o + 4 <= limit else None]
gather('buffer_load_dword idxen', 'buffer_load_dword v10, v0, s[8:11], 0 idxen offset:8', [('v0', idx), ('s8', [0, 20 << 16, 170, 0x27000])], 1, lambda l: bytes_below(170, idx[l] * 20 + 8))
gather('buffer_load_dword idxen offen', 'buffer_load_dword v10, v[0:1], s[8:11], 0 idxen offen offset:4', two + [('s8', [0, 20 << 16, 190, 0x27000])], 1, lambda l: bytes_below(190, idx[l] * 20 + ofs[l] + 4))
# Swizzled: blocks of index_stride records, element_size bytes together; the size is the V#'s.
for code, size in ((0, 2), (1, 4), (2, 8), (3, 16)):
    def swizzled(l):
        i, o = idx[l], ofs[l] + 4
        return [(i // 8 * 32 + o // size * size) * 8 + i % 8 * size + o % size if i < 10 else None]
    if size >= 4: gather('buffer_load_dword swizzled by %d' % size, 'buffer_load_dword v10, v[0:1], s[8:11], 0 idxen offen offset:4', two + [('s8', [0, 32 << 16 | 1 << 31, 10, 0x27000 | code << 19])], 1, swizzled)
    # A wide access goes on behind its first element, which is the next record's.
    if size == 4: gather('buffer_load_dwordx2 swizzled', 'buffer_load_dwordx2 v[10:11], v[0:1], s[8:11], 0 idxen offen offset:4', two + [('s8', [0, 32 << 16 | 1 << 31, 10, 0x27000 | code << 19])], 2,
                         lambda l: [swizzled(l)[0] + 4 * d if swizzled(l)[0] is not None else None for d in range(2)])
# 16-bit elements take a register each (format 16_16_16_16, SINT; the components as they lie).
word3 = 5 << 12 | 12 << 15 | 4 | 5 << 3 | 6 << 6 | 7 << 9
places = [8 * (l % 60) for l in range(64)]
for n, comps in ((2, 'xy'), (3, 'xyz'), (4, 'xyzw')):
    rows = [[0x11110000 * (i + 1) + 0x2222] * 64 for i in range(n)]
    for l in ACTIVE:
        for k in range(n): rows[k][l] = memory.get(places[l] + 2 * k, 2)
    for family, tail in (('buffer', ''), ('tbuffer', ' format:%d' % (12 | 5 << 4))):
        case(G_, family + '_load_format_d16_' + comps, '%s_load_format_d16_%s %s, v0, s[8:11], 0%s offen' % (family, comps, vreg(10, n), tail), [('s8', [0, 0, 1024, word3]), ('v0', places), ('global', memory.dwords()), ('exec', [FEW])] + old_register(n), lane_rows(10, rows), T_, base='s8')
    after, data = Memory(1024, memory.dwords()), [[rng.getrandbits(16) | 0x5a5a0000 for _ in range(64)] for _ in range(n)]
    for l in ACTIVE: after.put(places[l], 8, sum((data[k][l] & 0xffff) << 16 * k for k in range(n)))
    for family, tail in (('buffer', ''), ('tbuffer', ' format:%d' % (12 | 5 << 4))):
        case(G_, family + '_store_format_d16_' + comps, '%s_store_format_d16_%s %s, v0, s[8:11], 0%s offen' % (family, comps, vreg(4, n), tail), [('s8', [0, 0, 1024, word3]), ('v0', places), ('global', memory.dwords()), ('exec', [FEW])] + lane_rows(4, data), [('global', after.dwords())], T_, base='s8')

# M0 is the size that accesses to the LDS are checked against, from its next write on.
lds, at = [rng.getrandbits(32) for _ in range(64)], [4 * l for l in range(64)]
for bound in (0x20, 0x80, 0xffffffff, 0):
    r = [lds[l] if at[l] + 4 <= bound else 0 for l in range(64)]
    case(G_, 'ds_read_b32 M0 %x' % bound, ['s_mov_b32 m0, 0x%x' % bound, 'ds_read_b32 v10, v0'], [('v0', at), ('lds', lds)], [('v10', r)], T_)
    after = [0xabcd0000 + l if at[l] + 4 <= bound else lds[l] for l in range(64)]
    case(G_, 'ds_write_b32 M0 %x' % bound, ['s_mov_b32 m0, 0x%x' % bound, 'ds_write_b32 v0, v1'], [('v0', at), ('v1', [0xabcd0000 + l for l in range(64)]), ('lds', lds)], [('lds', after)], T_)
case(G_, 'flat_load_dword of the LDS, M0 20', ['s_mov_b32 m0, 0x20', 'flat_load_dword v10, v[0:1]'], [('v0', at), ('v1', [LDS_BASE]), ('lds', lds)], [('v10', [lds[l] if l < 8 else 0 for l in range(64)])], T_)
case(G_, 'M0 widens again', ['s_mov_b32 m0, 16', 's_mov_b32 m0, -1', 'ds_read_b32 v10, v0'], [('v0', at), ('lds', lds)], [('v10', lds)], T_)
case(G_, 'M0 of a register', ['v_readfirstlane_b32 s4, v2', 's_mov_b32 m0, s4', 'ds_read_b32 v10, v0'], [('v0', at), ('v2', [32]), ('lds', lds)], [('v10', [lds[l] if l < 8 else 0 for l in range(64)])], T_)

# v_movrel*: M0 is added to the number of source, destination, or both.
rows = [[rng.getrandbits(32) for _ in range(64)] for _ in range(6)]
for row in rows:
    for l, v in zip(ACTIVE, [0, 0x7fffffff, 0x80000000, 0xffffffff]): row[l] = v
regs = [('v%d' % (20 + i), rows[i]) for i in range(6)]
mixed = lambda new, old: [new[l] if FEW >> l & 1 else old[l] for l in range(64)]
for m0 in (0, 1, 3):
    sets = regs + [('m0', [m0]), ('exec', [FEW]), ('v10', [7])]
    case(G_, 'v_movrels_b32 %d' % m0, 'v_movrels_b32 v10, v20', sets, [('v10', mixed(rows[m0], [7] * 64))], T_)
    case(G_, 'v_movreld_b32 %d' % m0, 'v_movreld_b32 v20, v25', sets, [('v%d' % (20 + m0), mixed(rows[5], rows[m0]))], T_)
    case(G_, 'v_movreld_b32 constant %d' % m0, 'v_movreld_b32 v20, -3', sets, [('v%d' % (20 + m0), mixed([0xfffffffd] * 64, rows[m0]))], T_)
    case(G_, 'v_movrelsd_b32 %d' % m0, 'v_movrelsd_b32 v20, v22', sets, [('v%d' % (20 + m0), mixed(rows[2 + m0], rows[m0]))], T_)
    for name, value, to in (('s', rows[m0], 0), ('d', rows[0], m0), ('sd', rows[m0], m0)):
        case(G_, 'v_movrel%s_b32 overlap %d' % (name, m0), 'v_movrel%s_b32 v20, v20' % name, sets, [('v%d' % (20 + to), mixed(value, rows[to]))], T_)
case(G_, 'v_movrels_b32 beyond the allocation', 'v_movrels_b32 v10, v20', [('m0', [300])], [], T_, lines=['exit illegal'])

# Flat atomics whose cases for gfx9 all have offsets.
places = [8 * l for l in range(64)]
for name, bits, f in (('smax', 32, lambda o, d: max(s32(o), s32(d))), ('xor', 32, lambda o, d: o ^ d), ('and_x2', 64, lambda o, d: o & d)):
    n, after, data = bits // 32, Memory(512), [rng.getrandbits(bits) for _ in range(64)]
    before = after.dwords()
    old = {l: after.get(places[l], bits // 8) for l in ACTIVE}
    for l in ACTIVE: after.put(places[l], bits // 8, f(old[l], data[l]) & ((1 << bits) - 1))
    case(G_, 'flat_atomic_' + name, 'flat_atomic_%s %s, v[0:1], %s glc' % (name, vreg(10, n), vreg(4, n)), [('v0', places), ('v1', [0]), ('global', before), ('exec', [FEW])] + lane_rows(4, [[split_dwords(v, n)[i] for v in data] for i in range(n)]) + old_register(n),
         [('global', after.dwords())] + with_old(old, n, FEW), T_, base='v0')
