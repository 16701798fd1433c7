# Typed buffer accesses (formats of the V# or of the instruction) and the addressing modes of buffer instructions. Rules: ISA
# documents ("Buffer data", "Buffer addressing"), docs/design/memory.md.
from fractions import Fraction as Fr
from generate_memory import *

rng.seed('buffer')
F_ = 'memory_buffer_typed'
# data format: bits of x, y, z, w from the lowest bit on
LAYOUT = {1: [8], 2: [16], 3: [8, 8], 4: [32], 5: [16, 16], 6: [11, 11, 10], 7: [10, 11, 11], 8: [2, 10, 10, 10], 9: [10, 10, 10, 2], 10: [8] * 4, 11: [32] * 2, 12: [16] * 4, 13: [32] * 3, 14: [32] * 4}
UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT = 0, 1, 2, 3, 4, 5, 7
FORMATS = [(10, UNORM), (10, SNORM), (10, USCALED), (10, SSCALED), (10, UINT), (10, SINT), (1, UNORM), (1, UINT), (2, FLOAT), (2, SNORM), (3, UNORM), (4, FLOAT), (4, UINT), (4, SINT), (5, FLOAT), (5, SNORM), (5, USCALED), (6, FLOAT), (7, FLOAT),
           (8, SNORM), (9, UNORM), (9, UINT), (9, SSCALED), (11, FLOAT), (11, SINT), (12, FLOAT), (12, UNORM), (12, SINT), (13, FLOAT), (13, UINT), (14, FLOAT), (14, SINT)]
def is_int(nf): return nf in (UINT, SINT)
def nearest(v):
    q = v.numerator // v.denominator; d = v - q
    return q + (d > Fr(1, 2) or (d == Fr(1, 2) and q & 1))
def from_memory(nf, v, b):
    s = sx_(v, b)
    if nf == UNORM: return F32.encode(Fr(v, (1 << b) - 1))
    if nf == SNORM: return F32.encode(max(Fr(s, (1 << (b - 1)) - 1), Fr(-1)), 0, False)
    if nf == USCALED: return F32.encode(Fr(v))
    if nf == SSCALED: return F32.encode(Fr(s))
    if nf == UINT: return v
    if nf == SINT: return s & M32
    if b == 16: return F32.convert(F16, v)
    if b in (10, 11): return F32.convert(F16, v << (15 - b))   # no sign, five bits of exponent
    return v
def to_memory(nf, c, b):
    m = (1 << b) - 1
    if nf == UINT: return min(c, m)
    if nf == SINT: return sat(s32(c), -1 << (b - 1), (1 << (b - 1)) - 1) & m
    if nf == FLOAT:
        if b == 16: return F16.convert(F32, c)
        if b in (10, 11):
            if F32.nan(c): return m
            if F32.neg(c): return 0
            return F16.convert(F32, c, 3) >> (15 - b)
        return c
    low, high, scale = {UNORM: (0, 1, m), SNORM: (-1, 1, m >> 1), USCALED: (0, m, 1), SSCALED: (-1 << (b - 1), m >> 1, 1)}[nf]
    if F32.nan(c): return 0
    v = Fr(low) if F32.isinf(c) and F32.neg(c) else Fr(high) if F32.isinf(c) else max(Fr(low), min(Fr(high), F32.value(c)))
    if nf in (UNORM, SNORM): return nearest(v * scale) & m
    t = abs(v).numerator // abs(v).denominator   # scaled integers truncate
    return (-t if v < 0 else t) & m
def to16(nf, c): return c & 0xffff if is_int(nf) else F16.convert(F32, c)
def from16(nf, c): return c if nf == UINT else s16(c) & M32 if nf == SINT else F32.convert(F16, c)
def size_of(df): return sum(LAYOUT[df]) // 8
def components(df, nf, element):
    r, at = [], 0
    for b in LAYOUT[df]: r.append(from_memory(nf, element >> at & ((1 << b) - 1), b)); at += b
    return r + [0, 0, 0, 1 if is_int(nf) else 0x3f800000][len(r):]
def usable(nf, df): return not (nf == FLOAT and any(b in (2, 8) for b in LAYOUT[df]) or nf != FLOAT and not is_int(nf) and 32 in LAYOUT[df])

turn = 0
def formats(n):
    global turn
    good = [f for f in FORMATS if usable(f[1], f[0])]
    turn += n
    return [good[(turn + i) % len(good)] for i in range(n)]
def offsets_for(n):
    step = 1 if n == 1 else 2 if n == 2 else 4
    o = [rng.randrange(0, SIZE - n + 1, step) for _ in range(64)]
    o[ACTIVE[0]] = SIZE; o[ACTIVE[1]] = (SIZE - n + step) // step * step
    return o
def header(family, df, nf, sel):
    word3 = (nf << 12 | df << 15 | sum(s << (3 * i) for i, s in enumerate(sel))) if family == 'buffer' else 0x24
    return [('s8', [0, 0, SIZE, word3])], '' if family == 'buffer' else ' format:%d' % (df | nf << 4)
for family in ('buffer', 'tbuffer'):
    for d16 in ('', 'd16_', 'd16_hi_'):
        for count, comps in ((1, 'x'), (2, 'xy'), (3, 'xyz'), (4, 'xyzw')):
            name = '%s_load_format_%s%s' % (family, d16, comps)
            if name not in case_files.ROWS: continue
            dwords = (count + 1) // 2 if d16 else count
            for df, nf in formats(4):
                sel = [4, 5, 6, 7] if family == 'tbuffer' or rng.random() < .4 else [rng.choice([0, 1, 4, 5, 6, 7]) for _ in range(4)]
                n, memory = size_of(df), Memory(SIZE, [rng.choice(EDGEF32 + EDGEF16) if rng.random() < .2 else rng.getrandbits(32) for _ in range(SIZE // 4)])
                offsets, one = offsets_for(n), 1 if is_int(nf) else 0x3f800000
                sets, tail = header(family, df, nf, sel)
                asm = '%s %s, v0, s[8:11], 0%s offen' % (name, vreg(10, dwords), tail)
                for targets, kept in by_sramecc(asm) if d16 else ((None, M64),):
                    rows = [[0x11110000 * (i + 1) + 0x2222] * 64 for i in range(dwords)]
                    for l in ACTIVE:
                        c = components(df, nf, memory.get(offsets[l], n)) if offsets[l] + n <= SIZE else [0] * 4
                        c = [c[s - 4] if s >= 4 else one if s == 1 else 0 for s in sel]
                        for k in range(count):
                            if not d16: rows[k][l] = c[k]
                            else:
                                half, r, old = to16(nf, c[k]), rows[k // 2], rows[k // 2][l] & (kept if k % 2 == 0 else M32)
                                r[l] = old & 0xffff | half << 16 if k & 1 or d16 == 'd16_hi_' else old & 0xffff0000 | half
                    case(F_, '%s format %d %d' % (name, df, nf), asm, sets + [('v0', offsets), ('global', memory.dwords()), ('exec', [FEW])] + old_register(dwords), lane_rows(10, rows), targets, base='s8')
            name = name.replace('_load_', '_store_')
            for df, nf in formats(3):
                n, memory = size_of(df), Memory(SIZE)
                offsets = offsets_for(n)
                before = memory.dwords()
                wide_values = (lambda: rng.choice(EDGE32) if rng.random() < .4 else rng.getrandbits(rng.choice([8, 16, 32]))) if is_int(nf) else (lambda: rng.choice(EDGEF32) if rng.random() < .3 else F32.encode(Fr(rng.randint(-400, 400), rng.choice([1, 256, 4]))))
                data = [[wide_values() if not d16 else pk16_values() for _ in range(64)] for _ in range(dwords)]
                for l in ACTIVE:
                    if offsets[l] + n > SIZE: continue
                    c = []
                    for k in range(4):
                        if k >= count: c.append(None); continue
                        c.append(data[k][l] if not d16 else from16(nf, data[k // 2][l] >> (16 if k & 1 or d16 == 'd16_hi_' else 0) & 0xffff))
                    # components that the instruction does not bring are stored as 0
                    element, at = 0, 0
                    for k, b in enumerate(LAYOUT[df]): element |= (to_memory(nf, c[k], b) if c[k] is not None else to_memory(nf, 0, b)) << at; at += b
                    memory.put(offsets[l], n, element)
                sets, tail = header(family, df, nf, [4, 5, 6, 7])
                case(F_, '%s format %d %d' % (name, df, nf), '%s %s, v0, s[8:11], 0%s offen' % (name, vreg(4, dwords), tail), sets + [('v0', offsets), ('global', before), ('exec', [FEW])] + lane_rows(4, data), [('global', memory.dwords())], base='s8')

# ---------------------------------------------------------------- addressing
A_ = 'memory_buffer'
memory = Memory(1024)
def addressing(name, operands, sets, where):
    """where(lane) -> byte offset or None when it is out of range"""
    r = {l: (memory.get(where(l), 4) if where(l) is not None else 0) for l in ACTIVE}
    case(A_, name, 'buffer_load_dword v10, %s' % operands, sets + [('global', memory.dwords()), ('exec', [FEW])] + old_register(1), with_old(r, 1, FEW), base='s8')
idx, ofs = [rng.randrange(0, 14) for _ in range(64)], [4 * rng.randrange(0, 4) for _ in range(64)]
two = [('v0', idx), ('v1', ofs)]
addressing('buffer_load_dword offset soffset', 'off, s[8:11], s4 offset:24', [('s8', [0, 0, 1024, 0x27000]), ('s4', [100])], lambda l: 124)
addressing('buffer_load_dword idxen', 'v0, s[8:11], 0 idxen offset:8', [('v0', idx), ('s8', [0, 20 << 16, 10, 0x27000])], lambda l: idx[l] * 20 + 8 if idx[l] < 10 else None)
addressing('buffer_load_dword idxen offen', 'v[0:1], s[8:11], s4 idxen offen offset:4', two + [('s8', [0, 20 << 16, 10, 0x27000]), ('s4', [12])], lambda l: idx[l] * 20 + ofs[l] + 4 + 12 if idx[l] < 10 else None)
addressing('buffer_load_dword idxen without stride', 'v[0:1], s[8:11], 0 idxen offen', two + [('s8', [0, 0, 12, 0x27000])], lambda l: ofs[l] if ofs[l] + 4 <= 12 else None)
# swizzled: blocks of index_stride records, element_size bytes together (here 8 records, 4 bytes)
def swizzled(l):
    i, o = idx[l], ofs[l] + 4
    return (i // 8 * 20 + o // 4 * 4) * 8 + i % 8 * 4 if i < 10 else None
addressing('buffer_load_dword swizzled', 'v[0:1], s[8:11], 0 idxen offen offset:4', two + [('s8', [0, 20 << 16 | 1 << 31, 10, 0x27000 | 1 << 19])], swizzled)
# TFE: one register more than the data, which only a missing page writes; there is none. LLVM decodes stores with it, but does not
# assemble them.
for suffix, d in (('dword', 1), ('dwordx2', 2)):
    memory, offsets = Memory(256), [16 * (l % 15) for l in range(64)]
    before, data = memory.dwords(), [[rng.getrandbits(32) for _ in range(64)] for _ in range(d + 1)]
    for l in ACTIVE: memory.put(offsets[l], 4 * d, sum(data[i][l] << 32 * i for i in range(d)))
    case(A_, 'buffer_store_%s tfe' % suffix, 's_nop 0', [('v0', offsets), ('s8', [0, 0, 256, 0x27000]), ('global', before), ('exec', [FEW])] + lane_rows(4, data), [('global', memory.dwords())] + lane_rows(4, data), ['gfx900', 'gfx906', 'gfx908'], base='s8', lines=['word %x 80820400' % (0xe0701000 + (d - 1 << 18))])
offsets = [4 * (l % 60) for l in range(64)]
memory = Memory(256)
case(A_, 'buffer_load_dword tfe', 'buffer_load_dword v[10:11], v0, s[8:11], 0 offen tfe', [('v0', offsets), ('s8', [0, 0, 256, 0x27000]), ('global', memory.dwords()), ('exec', [FEW])] + old_register(2), with_old({l: memory.get(offsets[l], 4) for l in ACTIVE}, 2, FEW), ['gfx900', 'gfx906', 'gfx908'], base='s8')
