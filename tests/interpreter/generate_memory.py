# Memory instructions: loads, stores and atomics of every family on a model of memory in Python. Meanings: AMD's pseudo-code (CDNA),
# the buffer rules of docs/design/memory.md; lanes that collide go in ascending order.
from fractions import Fraction as Fr
from generate_cases import *

rng.seed('memory')
FEW = 0x8000_0041_0001_0316      # lanes of stores and atomics: each has its own place or collides on purpose
ACTIVE = [l for l in range(64) if FEW >> l & 1]
LDS_BASE, SCRATCH_BASE = 0x10000, 0x20000   # high dwords of the apertures

class Memory:
    """Bytes at the front of a buffer."""
    def __init__(self, size, dwords=None): self.bytes = bytearray(b''.join(x.to_bytes(4, 'little') for x in (dwords or [rng.getrandbits(32) for _ in range(size // 4)])))
    def get(self, at, n): return int.from_bytes(self.bytes[at:at + n], 'little') if at + n <= len(self.bytes) else 0
    def put(self, at, n, v):
        if at + n <= len(self.bytes): self.bytes[at:at + n] = (v & ((1 << 8 * n) - 1)).to_bytes(n, 'little')
    def dwords(self): return [int.from_bytes(self.bytes[i:i + 4], 'little') for i in range(0, len(self.bytes), 4)]

def split_dwords(v, n): return [v >> (32 * i) & M32 for i in range(n)]
def vreg(r, n): return 'v%d' % r if n == 1 else 'v[%d:%d]' % (r, r + n - 1)
def old_register(n, base=10): return [('v%d' % (base + i), [0x11110000 * (i + 1) + 0x2222]) for i in range(n)]
def lane_rows(base, rows): return [('v%d' % (base + i), r) for i, r in enumerate(rows)]
def with_old(results, n, exec_, base=10):
    """n rows of 64 from {lane: value}; inactive lanes keep what old_register says"""
    rows = [[0x11110000 * (i + 1) + 0x2222] * 64 for i in range(n)]
    for l, v in results.items():
        for i, x in enumerate(split_dwords(v, n)): rows[i][l] = x
    return lane_rows(base, rows)

# suffix: (bytes, destination dwords, value from memory and old destination)
LOADS = {'ubyte': (1, 1, lambda v, d: v), 'sbyte': (1, 1, lambda v, d: s8(v) & M32), 'ushort': (2, 1, lambda v, d: v), 'sshort': (2, 1, lambda v, d: s16(v) & M32),
         'dword': (4, 1, lambda v, d: v), 'dwordx2': (8, 2, lambda v, d: v), 'dwordx3': (12, 3, lambda v, d: v), 'dwordx4': (16, 4, lambda v, d: v),
         'ubyte_d16': (1, 1, lambda v, d: d & 0xffff0000 | v), 'ubyte_d16_hi': (1, 1, lambda v, d: d & 0xffff | v << 16), 'sbyte_d16': (1, 1, lambda v, d: d & 0xffff0000 | s8(v) & 0xffff),
         'sbyte_d16_hi': (1, 1, lambda v, d: d & 0xffff | (s8(v) & 0xffff) << 16), 'short_d16': (2, 1, lambda v, d: d & 0xffff0000 | v), 'short_d16_hi': (2, 1, lambda v, d: d & 0xffff | v << 16)}
STORES = {'byte': (1, 1, lambda v: v & 255), 'byte_d16_hi': (1, 1, lambda v: v >> 16 & 255), 'short': (2, 1, lambda v: v & 0xffff), 'short_d16_hi': (2, 1, lambda v: v >> 16),
          'dword': (4, 1, lambda v: v), 'dwordx2': (8, 2, lambda v: v), 'dwordx3': (12, 3, lambda v: v), 'dwordx4': (16, 4, lambda v: v)}
DS_LOADS = {'b32': LOADS['dword'], 'b64': LOADS['dwordx2'], 'b96': LOADS['dwordx3'], 'b128': LOADS['dwordx4'], 'i8': LOADS['sbyte'], 'u8': LOADS['ubyte'], 'i16': LOADS['sshort'], 'u16': LOADS['ushort'],
            'u8_d16': LOADS['ubyte_d16'], 'u8_d16_hi': LOADS['ubyte_d16_hi'], 'i8_d16': LOADS['sbyte_d16'], 'i8_d16_hi': LOADS['sbyte_d16_hi'], 'u16_d16': LOADS['short_d16'], 'u16_d16_hi': LOADS['short_d16_hi']}
DS_STORES = {'b8': STORES['byte'], 'b16': STORES['short'], 'b8_d16_hi': STORES['byte_d16_hi'], 'b16_d16_hi': STORES['short_d16_hi'], 'b32': STORES['dword'], 'b64': STORES['dwordx2'], 'b96': STORES['dwordx3'], 'b128': STORES['dwordx4']}

# Where a family's lanes look: (file, name of the space, how the address operand is written and set)
SIZE = 128
def place(family, offsets, off):
    """sets and base line for per-lane byte offsets (without the instruction's offset)"""
    v0 = [x & M32 for x in offsets]
    if family in ('global', 'flat'): return [('v0', v0), ('v1', [M32 if x < 0 else 0 for x in offsets])], 'v0', 'v[0:1]', 'global'
    if family == 'flat lds': return [('v0', v0), ('v1', [LDS_BASE])], '', 'v[0:1]', 'lds'
    if family == 'flat scratch': return [('v0', v0), ('v1', [SCRATCH_BASE])], '', 'v[0:1]', 'scratch'
    if family == 'scratch': return [('v0', v0)], '', 'v0', 'scratch'
    if family == 'buffer': return [('v0', v0), ('s8', [0, 0, SIZE, 0x00027000])], 's8', 'v0', 'global'
    return [('v0', v0)], '', 'v0', 'lds'
def address_text(family, off):
    o = ' offset:%d' % off if off else ''
    return {'global': ', off' + o, 'scratch': ', off' + o, 'buffer': ', s[8:11], 0 offen' + o}.get(family, o)

class Space:
    """The memory that the lanes of one case see. Scratch: every lane its own, interleaved by dwords."""
    def __init__(self, kind):
        self.kind = kind
        self.one = None if kind == 'scratch' else Memory(SIZE)
        self.own = {l: Memory(16) for l in ACTIVE} if kind == 'scratch' else None
    def of(self, lane): return self.own[lane] if self.own else self.one
    def line(self):
        if self.one: return (self.kind, self.one.dwords())
        r = [0] * 256
        for l, m in self.own.items():
            for i, x in enumerate(m.dwords()): r[64 * i + l] = x
        return ('scratch', r)

FAMILIES = ('global', 'flat', 'flat lds', 'flat scratch', 'scratch', 'buffer')
for family in FAMILIES:
    prefix, file = family.split()[0], 'memory_' + family.split()[0]
    for suffix, (n, dwords, value) in LOADS.items():
        name = '%s_load_%s' % (prefix, suffix)
        space = Space(place(family, [0], 0)[3])
        limit = 16 if space.own else SIZE
        off = rng.choice([0, 1, 4, 7]) if not space.own else 0
        step = 1 if n < 4 else 4 if space.own or family == 'buffer' else rng.choice([1, 4])
        if family == 'buffer' and n >= 4: off &= 4
        offsets = [rng.randrange(0, limit - n + 1 - (0 if family == 'buffer' else off), step) for _ in range(64)]
        if family == 'buffer':   # some dwords are beyond NUM_RECORDS: they read 0
            offsets[ACTIVE[0]] = SIZE; offsets[ACTIVE[1]] = SIZE - 4; offsets[ACTIVE[2]] = SIZE - 4 if n >= 4 else SIZE + 3; offsets[ACTIVE[3]] = 0xffffff00
            if n >= 4: offsets = [x & ~3 for x in offsets]
        sets, base, operand, kind = place(family, offsets, off)
        loaded, olds = {}, 0x11112222
        for l in ACTIVE:
            at = offsets[l] + off
            if family == 'buffer' and n >= 4: v = sum((space.one.get(at + 4 * i, 4)) << (32 * i) for i in range(n // 4))
            elif family == 'buffer': v = space.one.get(at, n)
            else: v = space.of(l).get(at, n)
            loaded[l] = v
        memory = space.line()
        asm = '%s %s, %s%s' % (name, vreg(10, dwords), operand, address_text(family, off))
        for targets, kept in by_sramecc(asm) if 'd16' in suffix else ((None, M64),):
            results = {l: value(v, olds & kept) for l, v in loaded.items()}
            case(file, name + family[len(prefix):], asm, sets + [memory, ('exec', [FEW])] + old_register(dwords), with_old(results, dwords, FEW), targets, base=base)
        if family in ('global', 'flat', 'buffer', 'scratch') and dwords < 3 and 'd16' not in suffix:   # the destination is the address
            rows = with_old(results, dwords, FEW)
            rows = [('v%d' % i, [r[1][l] if l in results else (dict(sets).get('v%d' % i, [0xc0c0c0c0 + i]) * 64)[l] for l in range(64)]) for i, r in enumerate(rows)]
            if base == 'v0': rows = [(n_, [x if FEW >> l & 1 else None for l, x in enumerate(xs)]) for n_, xs in rows]
            if base != 'v0': case(file, name + family[len(prefix):] + ' destination = address', '%s %s, %s%s' % (name, vreg(0, dwords), operand, address_text(family, off)), sets + [memory, ('exec', [FEW])], rows, base=base)
            else:
                every = {l: value(space.of(l).get(offsets[l] + off, n), olds) for l in range(64)}
                case(file, name + family[len(prefix):] + ' destination = address', '%s %s, %s%s' % (name, vreg(0, dwords), operand, address_text(family, off)), sets + [memory], lane_rows(0, [[split_dwords(every[l], dwords)[i] for l in range(64)] for i in range(dwords)]), base=base)
    for suffix, (n, dwords, value) in STORES.items():
        name = '%s_store_%s' % (prefix, suffix)
        space = Space(place(family, [0], 0)[3])
        off = rng.choice([0, 4])  if not space.own else 0
        offsets = [0] * 64
        for i, l in enumerate(ACTIVE): offsets[l] = (rng.randrange(0, 17 - n) if n < 4 else rng.randrange(0, 17 - n, 4)) if space.own else (i * n) % (SIZE - n - off + 1)   # wide ones collide: the highest lane wins
        if n >= 4: offsets = [x & ~3 for x in offsets]
        if family == 'buffer': offsets[ACTIVE[2]] = SIZE - off - 4 if n >= 4 else SIZE; offsets[ACTIVE[3]] = 0xffffff00
        sets, base, operand, kind = place(family, offsets, off)
        before = space.line()
        data = [[rng.getrandbits(32) for _ in range(64)] for _ in range(dwords)]
        for l in ACTIVE:
            v = value(sum(data[i][l] << (32 * i) for i in range(dwords)))
            if family == 'buffer' and n >= 4:
                for i in range(n // 4): space.one.put(offsets[l] + off + 4 * i, 4, v >> (32 * i))
            else: space.of(l).put(offsets[l] + off, n, v)
        text = '%s %s, %s%s' % (name, operand, vreg(4, dwords), address_text(family, off)) if family != 'buffer' else '%s %s, %s%s' % (name, vreg(4, dwords), operand, address_text(family, off))
        case(file, name + family[len(prefix):], text, sets + [before, ('exec', [FEW])] + lane_rows(4, data), [space.line()], base=base)

# ---------------------------------------------------------------- atomics
def smin(b): return lambda o, d, x: min(sx_(o, b), sx_(d, b)) & ((1 << b) - 1)
def smax(b): return lambda o, d, x: max(sx_(o, b), sx_(d, b)) & ((1 << b) - 1)
def sx_(v, b): return (v & ((1 << b) - 1)) - ((v >> (b - 1) & 1) << b)
def integer_ops(b):
    m = (1 << b) - 1
    return {'swap': lambda o, d, x: d, 'cmpswap': lambda o, d, x: d if o == x else o, 'add': lambda o, d, x: o + d & m, 'sub': lambda o, d, x: o - d & m, 'smin': smin(b), 'umin': lambda o, d, x: min(o, d),
            'smax': smax(b), 'umax': lambda o, d, x: max(o, d), 'and': lambda o, d, x: o & d, 'or': lambda o, d, x: o | d, 'xor': lambda o, d, x: o ^ d, 'inc': lambda o, d, x: 0 if o >= d else o + 1,
            'dec': lambda o, d, x: d if o == 0 or o > d else o - 1}
def bf_round(v_bits): return bf(v_bits)
def pk2(f): return lambda o, d, x: f(o & 0xffff, d & 0xffff) | f(o >> 16, d >> 16) << 16
add_bf16 = lambda a, b: bf_round(F32.add(a << 16, b << 16))
def fadd32(flush):
    g = F32.flush if flush else (lambda x: x)
    return lambda o, d, x: g(F32.add(g(o), g(d)))
# CDNA4 ISA 9.2: a signalling NaN comes back quiet, memory's first; a quiet one loses; -0 < +0; flushing serves the comparison only.
def extreme(F, largest, flush=False):
    rank = lambda x: (F.order(x), 0 if F.neg(x) else 1)
    def f(o, d, x):
        for v in (o, d):
            if F.snan(v): return v | F.quiet
        if F.nan(d): return o
        if F.nan(o): return d
        p, q = [rank(F.flush(v) if flush else v) for v in (o, d)]
        return d if (q > p if largest else q < p) else o
    return f
fmin64, fmax64 = extreme(F64, False), extreme(F64, True)
WORDS = 16
VALUES = {32: [0, 1, 5, 6, 0x7fffffff, 0x80000000, M32], 64: [0, 1, 5, M32, 1 << 32, (1 << 63) - 1, 1 << 63, M64]}
def int_values(b): return lambda: rng.choice(VALUES[b]) if rng.random() < .5 else rng.getrandbits(b)
f32_values = lambda: rng.choice(EDGEF32) if rng.random() < .5 else f32_random()
f64_values = lambda: rng.choice(EDGEF64) if rng.random() < .5 else f64_random()
pk16_values = lambda: rng.choice(EDGEF16) | rng.choice(EDGEF16) << 16 if rng.random() < .5 else rng.getrandbits(32)
pkbf_values = lambda: rng.choice(EDGEF32) >> 16 | (rng.choice(EDGEF32) >> 16) << 16 if rng.random() < .5 else rng.getrandbits(32)

def atomic_case(file, name, op, bits, values, family, cmpswap, returns, target=None, mode=0xf0, note=''):
    n, count = bits // 8, WORDS * 32 // bits
    memory = Memory(WORDS * 4, [x for v in (values() for _ in range(count)) for x in split_dwords(v, n // 4)])
    kind = place(family, [0], 0)[3]
    offsets = [rng.randrange(count) * n for _ in range(64)]
    data, other = [values() for _ in range(64)], [values() for _ in range(64)]
    off = rng.choice([0, 64])
    if family == 'flat scratch': off = 0
    before = memory.dwords()
    if cmpswap:   # half of the comparisons hold
        other = [memory.get(offsets[l], n) if l % 2 else x for l, x in enumerate(other)]
    if family == 'buffer': offsets[ACTIVE[1]] = SIZE
    results = {}
    for l in ACTIVE:
        if offsets[l] >= WORDS * 4: results[l] = 0; continue
        old = memory.get(offsets[l], n)
        results[l] = old
        memory.put(offsets[l], n, op(old, data[l], other[l]))
    pad = [0] * (off // 4)
    sets, base, operand, kind = place(family, offsets, 0)
    words_ = n // 4
    rows = [[split_dwords(data[l], words_)[i] for l in range(64)] for i in range(words_)] + ([[split_dwords(other[l], words_)[i] for l in range(64)] for i in range(words_)] if cmpswap else [])
    rows = [[x if FEW >> l & 1 else 0 for l, x in enumerate(r)] for r in rows]
    suffix = address_text(family, off)
    if family == 'buffer':
        text = '%s %s, %s%s' % (name, vreg(4, len(rows)), operand, suffix)
        if returns: text += ' glc'
        expects = [(kind, pad + memory.dwords())] + (([('v%d' % (4 + i), [split_dwords(results[l], words_)[i] if l in results else 0 for l in range(64)]) for i in range(words_)]) if returns else [])
    else:
        text = '%s %s%s, %s%s' % (name, vreg(10, words_) + ', ' if returns else '', operand, vreg(4, len(rows)), suffix)
        if returns: text += ' glc'
        expects = [(kind, pad + memory.dwords())] + (with_old(results, words_, FEW) if returns else [])
    if target is not None: target = [t for t in target if takes(text, t)]
    case(file, name + family[len(name.split('_')[0]):] + (' returning' if returns else '') + note, text, sets + [(kind, pad + before), ('exec', [FEW])] + lane_rows(4, rows) + (old_register(words_) if returns and family != 'buffer' else []), expects, target, mode, base=base)

OLD, NEW = ['gfx908', 'gfx90a'], ['gfx942', 'gfx950']
for family in ('global', 'flat', 'flat lds', 'buffer'):
    prefix = family.split()[0]
    file = 'memory_%s_atomic' % prefix
    def one(suffix, *a, **k):
        name = '%s_atomic_%s' % (prefix, suffix)
        want = k.pop('targets', None)
        targets = [t for t in case_files.targets_of([name]) if not want or t in want]
        if targets: atomic_case(file, name, *a, target=targets, **k)
    for bits, tail in ((32, ''), (64, '_x2')):
        for n, op in integer_ops(bits).items():
            one(n + tail, op, bits, int_values(bits), family, n == 'cmpswap', True)
            if family != 'flat lds': one(n + tail, op, bits, int_values(bits), family, n == 'cmpswap', False)
    returning = [t for t in ALL if t != 'gfx908']   # gfx908 has these without return only
    for ret, t in ((True, returning), (False, None)):
        if ret: t = returning
        if family == 'flat lds':
            one('add_f32', fadd32(False), 32, f32_values, family, False, ret, targets=t)
            one('add_f32', fadd32(True), 32, f32_values, family, False, ret, targets=t, mode=0xc0, note=' flush')
        else:
            one('add_f32', fadd32(True), 32, f32_values, family, False, ret, targets=[x for x in (t or ALL) if x in OLD])
            one('add_f32', fadd32(False), 32, f32_values, family, False, ret, targets=[x for x in (t or ALL) if x in NEW])
        one('pk_add_f16', pk2(lambda a, b: F16.add(a, b)), 32, pk16_values, family, False, ret, targets=t)
        one('pk_add_bf16', pk2(add_bf16), 32, pkbf_values, family, False, ret, targets=t)
        one('add_f64', lambda o, d, x: F64.add(o, d), 64, f64_values, family, False, ret, targets=t)
        one('min_f64', fmin64, 64, f64_values, family, False, ret, targets=t)
        one('max_f64', fmax64, 64, f64_values, family, False, ret, targets=t)
