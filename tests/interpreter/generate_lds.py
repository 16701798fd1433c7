# DS instructions, LDS-direct stores of the other families. Meanings: AMD's pseudo-code (CDNA and Vega), docs/design/memory.md.
from generate_memory import *

rng.seed('lds')
F_ = 'memory_lds'
BYTES = 4096          # the runner's LDS: beyond it reads give 0 and writes are dropped
def far(n): return rng.choice([BYTES, BYTES + 4, 0x7ffffff0 & ~7, 0x80000000])

for suffix, (n, dwords, value) in DS_LOADS.items():
    memory, off = Memory(SIZE), rng.choice([0, 3, 16])
    offsets = [rng.randrange(0, SIZE - n + 1 - off) for _ in range(64)]   # unaligned, too
    offsets[ACTIVE[0]] = far(n); offsets[ACTIVE[1]] = -off & M32          # out of range; wraps to 0
    if n >= 8: offsets[ACTIVE[2]] = BYTES - 4 - off                          # its first dword is the last one of LDS
    asm = 'ds_read_%s %s, v0%s' % (suffix, vreg(10, dwords), ' offset:%d' % off if off else '')
    for targets, kept in by_sramecc(asm) if 'd16' in suffix else ((None, M64),):
        results = {l: value(memory.get(offsets[l] + off & M32, n), 0x11112222 & kept) for l in ACTIVE}
        if n >= 8: results[ACTIVE[2]] = 0x600d
        case(F_, 'ds_read_' + suffix, asm, [('v0', offsets), ('lds', memory.dwords() + ([0] * ((BYTES - SIZE) // 4 - 1) + [0x600d] if n >= 8 else [])), ('exec', [FEW])] + old_register(dwords), with_old(results, dwords, FEW), targets)
    if dwords == 1 and 'd16' not in suffix:
        offsets = [rng.randrange(0, SIZE - n + 1) for _ in range(64)]
        case(F_, 'ds_read_%s destination = address' % suffix, 'ds_read_%s v0, v0' % suffix, [('v0', offsets), ('lds', memory.dwords())], [('v0', [value(memory.get(o, n), 0) for o in offsets])])
for suffix, (n, dwords, value) in DS_STORES.items():
    memory, off = Memory(SIZE), rng.choice([0, 3, 16])
    before, data = memory.dwords(), [[rng.getrandbits(32) for _ in range(64)] for _ in range(dwords)]
    offsets = [0] * 64
    for i, l in enumerate(ACTIVE): offsets[l] = i * n % (SIZE - n - off)
    offsets[ACTIVE[0]] = far(n)
    for l in ACTIVE: memory.put(offsets[l] + off, n, value(sum(data[i][l] << (32 * i) for i in range(dwords))))
    case(F_, 'ds_write_' + suffix, 'ds_write_%s v0, %s%s' % (suffix, vreg(4, dwords), ' offset:%d' % off if off else ''), [('v0', offsets), ('lds', before), ('exec', [FEW])] + lane_rows(4, data), [('lds', memory.dwords())])
# two addresses
BIG = 1664
for bits in (32, 64):
    n, d = bits // 8, bits // 32
    for st64 in (False, True):
        unit, tail = n * (64 if st64 else 1), ('st64' if st64 else '') + '_b%d' % bits
        o0, o1 = (1, 3) if st64 else (7, 2)
        if bits == 64 and st64: o0, o1 = 1, 2
        memory = Memory(BIG, [rng.getrandbits(32) if i % 64 < 12 else 0 for i in range(BIG // 4)])
        offsets = [rng.randrange(0, 5) * n for _ in range(64)]
        results = {l: memory.get(offsets[l] + o0 * unit, n) | memory.get(offsets[l] + o1 * unit, n) << bits for l in ACTIVE}
        lines = [('v0', offsets), ('lds', memory.dwords()), ('exec', [FEW])]
        case(F_, 'ds_read2' + tail, 'ds_read2%s %s, v0 offset0:%d offset1:%d' % (tail, vreg(10, 2 * d), o0, o1), lines + old_register(2 * d), with_old(results, 2 * d, FEW))
        if not st64:   # neighbours are one access: what would be behind the end of 32 bits is out of range (docs/use/limits.md)
            places = offsets[:]
            places[ACTIVE[0]] = -8 * n & M32
            near = {l: memory.get(places[l] + 7 * n, n) | memory.get(places[l] + 8 * n, n) << bits for l in ACTIVE[1:]} | {ACTIVE[0]: 0}
            case(F_, 'ds_read2' + tail + ' at the end of 32 bits', 'ds_read2%s %s, v0 offset0:7 offset1:8' % (tail, vreg(10, 2 * d)), [('v0', places)] + lines[1:] + old_register(2 * d), with_old(near, 2 * d, FEW))
        data = [[rng.getrandbits(32) if FEW >> l & 1 else 0 for l in range(64)] for _ in range(2 * d)]
        at = lambda k, l: sum(data[k * d + i][l] << (32 * i) for i in range(d))
        both = Memory(BIG, memory.dwords())
        for l in ACTIVE:
            both.put(offsets[l] + o0 * unit, n, at(0, l)); both.put(offsets[l] + o1 * unit, n, at(1, l))
        rows = lane_rows(4, data)
        text = '%s, %s offset0:%d offset1:%d' % (vreg(4, d), vreg(4 + d, d), o0, o1)
        case(F_, 'ds_write2' + tail, 'ds_write2%s v0, %s' % (tail, text), lines + rows, [('lds', both.dwords())])
        once = Memory(BIG, memory.dwords())   # equal offsets: one address, DATA0
        for l in ACTIVE: once.put(offsets[l] + o0 * unit, n, at(0, l))
        case(F_, 'ds_write2' + tail + ' with equal offsets', 'ds_write2%s v0, %s, %s offset0:%d offset1:%d' % (tail, vreg(4, d), vreg(4 + d, d), o0, o0), lines + rows, [('lds', once.dwords())])
        if not st64:   # one lane's second element is another's first: the second ones come behind all first ones
            crossed = Memory(BIG, memory.dwords())
            for k in (0, 1):
                for l in ACTIVE: crossed.put(offsets[l] + (1 + k) * n, n, at(k, l))
            case(F_, 'ds_write2' + tail + ' where lanes collide', 'ds_write2%s v0, %s, %s offset0:1 offset1:2' % (tail, vreg(4, d), vreg(4 + d, d)), lines + rows, [('lds', crossed.dwords())])
        swapped, results = Memory(BIG, memory.dwords()), {}
        for l in ACTIVE:
            results[l] = swapped.get(offsets[l] + o0 * unit, n) | swapped.get(offsets[l] + o1 * unit, n) << bits
            swapped.put(offsets[l] + o0 * unit, n, at(0, l)); swapped.put(offsets[l] + o1 * unit, n, at(1, l))
        name = 'ds_wrxchg2%s_rtn_b%d' % ('st64' if st64 else '', bits)
        case(F_, name, '%s %s, v0, %s' % (name, vreg(10, 2 * d), text), lines + rows + old_register(2 * d), with_old(results, 2 * d, FEW) + [('lds', swapped.dwords())])

# ---------------------------------------------------------------- atomics: name parts, operation(old, data, data2), operands
def ds_ops(b):
    m = (1 << b) - 1
    ops = integer_ops(b)
    r = {'add_u': ops['add'], 'sub_u': ops['sub'], 'rsub_u': lambda o, d, x: d - o & m, 'inc_u': ops['inc'], 'dec_u': ops['dec'], 'min_i': ops['smin'], 'max_i': ops['smax'], 'min_u': ops['umin'], 'max_u': ops['umax'], 'and_b': ops['and'], 'or_b': ops['or'], 'xor_b': ops['xor']}
    return {k: (v, 1) for k, v in r.items()} | {'mskor_b': (lambda o, d, x: o & ~d | x, 2), 'cmpst_b': (lambda o, d, x: x if o == d else o, 2), 'wrxchg_b': (lambda o, d, x: d, 1)}
def fmin_(F): return extreme(F, False)
def fmax_(F): return extreme(F, True)
def fcmp_(F): return lambda o, d, x: x if not F.nan(o) and not F.nan(d) and F.order(o) == F.order(d) else o
def ds_atomic(name, op, operands, bits, values, mode=0xf0, note=''):
    n, count = bits // 8, WORDS * 32 // bits
    memory = Memory(WORDS * 4, [x for v in (values() for _ in range(count)) for x in split_dwords(v, n // 4)])
    before, off = memory.dwords(), rng.choice([0, 64])
    offsets = [rng.randrange(count) * n for _ in range(64)]
    data, other = [values() for _ in range(64)], [values() for _ in range(64)]
    if 'cmpst' in name: data = [memory.get(offsets[l], n) if l % 2 else x for l, x in enumerate(data)]
    offsets[ACTIVE[1]] = BYTES   # reads 0, writes nothing
    results = {}
    for l in ACTIVE:
        results[l] = memory.get(offsets[l], n)
        memory.put(offsets[l], n, op(results[l], data[l], other[l])) if offsets[l] < BYTES else None
    d = n // 4
    rows = [[split_dwords(x[l], d)[i] if FEW >> l & 1 else 0 for l in range(64)] for x in ([data, other][:operands]) for i in range(d)]
    text = '%s %sv0, %s%s' % (name, vreg(10, d) + ', ' if 'rtn' in name else '', ', '.join(vreg(4 + d * i, d) for i in range(operands)), ' offset:%d' % off if off else '')
    pad = [0] * (off // 4)
    case(F_ + '_atomic', name + note, text, [('v0', offsets), ('lds', pad + before), ('exec', [FEW])] + lane_rows(4, rows) + (old_register(d) if 'rtn' in name else []), [('lds', pad + memory.dwords())] + (with_old(results, d, FEW) if 'rtn' in name else []), mode=mode)
for bits in (32, 64):
    for n, (op, operands) in ds_ops(bits).items():
        stem, kind = n.rsplit('_', 1)
        for name in ('ds_%s%d' % (n, bits), 'ds_%s_rtn_%s%d' % (stem, kind, bits)):
            if case_files.exists(name, 'gfx900'): ds_atomic(name, op, operands, bits, int_values(bits))
    F, values = (F32, f32_values) if bits == 32 else (F64, f64_values)
    for n, op, operands in (('min', fmin_(F), 1), ('max', fmax_(F), 1), ('cmpst', fcmp_(F), 2)):
        for name in ('ds_%s_f%d' % (n, bits), 'ds_%s_rtn_f%d' % (n, bits)): ds_atomic(name, op, operands, bits, values)
for name in ('ds_add_f32', 'ds_add_rtn_f32'):
    ds_atomic(name, fadd32(False), 1, 32, f32_values); ds_atomic(name, fadd32(True), 1, 32, f32_values, mode=0xc0, note=' flush')
for name in ('ds_add_f64', 'ds_add_rtn_f64'): ds_atomic(name, lambda o, d, x: F64.add(o, d), 1, 64, f64_values)
for name in ('ds_pk_add_f16', 'ds_pk_add_rtn_f16'): ds_atomic(name, pk2(lambda a, b: F16.add(a, b)), 1, 32, pk16_values)
for name in ('ds_pk_add_bf16', 'ds_pk_add_rtn_bf16'): ds_atomic(name, pk2(add_bf16), 1, 32, pkbf_values)
# MODE flushes for comparisons of f32 and f64 and for packed sums, f64 sums never (CDNA4 ISA 9.2)
def tiny_values(bits): return lambda: rng.choice([0, 1 << bits - 1, 1, 1 << bits - 1 | 1, 3, 1 << (23 if bits == 32 else 52)])
for largest, n in ((False, 'min'), (True, 'max')):
    ds_atomic('ds_%s_rtn_f32' % n, extreme(F32, largest, True), 1, 32, tiny_values(32), mode=0xc0, note=' flush')
    ds_atomic('ds_%s_rtn_f64' % n, extreme(F64, largest, True), 1, 64, tiny_values(64), mode=0x30, note=' flush')
ds_atomic('ds_add_rtn_f64', lambda o, d, x: F64.add(o, d), 1, 64, tiny_values(64), mode=0x30, note=' keeps denormals')
flushed16 = lambda f, F: lambda a, b: F(f(F(a), F(b)))
ds_atomic('ds_pk_add_rtn_f16', pk2(flushed16(F16.add, F16.flush)), 1, 32, pk16_values, mode=0x30, note=' flush')
ds_atomic('ds_pk_add_rtn_bf16', pk2(flushed16(add_bf16, lambda x: F32.flush(x << 16) >> 16)), 1, 32, pkbf_values, mode=0x30, note=' flush')
ds_atomic('ds_wrap_rtn_b32', lambda o, d, x: (o - d if o >= d else o + x) & M32, 2, 32, int_values(32))
# both operands in LDS: the second one at a distance in dwords
for bits in (32, 64):
    n, d = bits // 8, bits // 32
    ops = {k: v for k, (v, c) in ds_ops(bits).items() if c == 1 and k != 'wrxchg_b'} | {'write_b': lambda o, x, y: x, 'min_f': fmin_(F32 if bits == 32 else F64), 'max_f': fmax_(F32 if bits == 32 else F64)}
    if bits == 32: ops['add_f'] = fadd32(False)
    for k, op in ops.items():
        stem, kind = k.rsplit('_', 1)
        name = 'ds_%s_src2_%s%d' % (stem, kind, bits)
        if name not in case_files.ROWS: continue
        values = int_values(bits) if kind != 'f' else f32_values if bits == 32 else f64_values
        for from_address in (False, True):
            count = 2 * WORDS * 32 // bits
            memory = Memory(2 * WORDS * 4, [x for v in (values() for _ in range(count)) for x in split_dwords(v, d)])
            before, half = memory.dwords(), count // 2
            distance = half * d
            offsets = [rng.randrange(half) * n for _ in range(64)]
            for l in ACTIVE: memory.put(offsets[l], n, op(memory.get(offsets[l], n), memory.get(offsets[l] + 4 * distance, n), 0))
            case(F_ + '_atomic', name + (' distance in the address' if from_address else ''), '%s v0 offset:%d' % (name, 0x8000 if from_address else distance), [('v0', [o | (distance << 17 if from_address else 0) for o in offsets]), ('lds', before), ('exec', [FEW])], [('lds', memory.dwords())])
# ds_condxchg32_rtn_b64: a dword with bit 31 set replaces, without that bit
memory = Memory(64); before = memory.dwords()
offsets, data, results = [rng.randrange(8) * 8 + rng.randrange(8) for _ in range(64)], u64s(64), {}
for l in ACTIVE:
    a_ = offsets[l] & 0xfff8
    results[l] = 0
    for i in range(2):
        w_ = data[l] >> (32 * i) & M32
        results[l] |= memory.get(a_ + 4 * i, 4) << (32 * i)
        if w_ >> 31: memory.put(a_ + 4 * i, 4, w_ & 0x7fffffff)
case(F_ + '_atomic', 'ds_condxchg32_rtn_b64', 'ds_condxchg32_rtn_b64 v[10:11], v0, v[4:5]', [('v0', offsets), ('lds', before), ('exec', [FEW]), ('v4', lo(data)), ('v5', hi(data))] + old_register(2), with_old(results, 2, FEW) + [('lds', memory.dwords())])

# ---------------------------------------------------------------- counters, lane addresses, permutations
count = len(ACTIVE)
for name, sign in (('ds_append', 1), ('ds_consume', -1)):
    case(F_, name, '%s v10 offset:8' % name, [('m0', [0x30004]), ('lds', [7, 7, 7, 100, 7]), ('exec', [FEW])] + old_register(1), with_old({l: 100 for l in ACTIVE}, 1, FEW) + [('lds', [7, 7, 7, 100 + sign * count, 7])])
    case(F_, name + ' without lanes', '%s v10 offset:8' % name, [('m0', [4]), ('lds', [7, 7, 7, 100, 7]), ('exec', [0])] + old_register(1), [('v10', [0x11112222]), ('lds', [7, 7, 7, 100, 7])])
memory = Memory(320)
case(F_, 'ds_read_addtid_b32', 'ds_read_addtid_b32 v10 offset:16', [('m0', [0x50008]), ('lds', memory.dwords()), ('exec', [FEW])] + old_register(1), with_old({l: memory.get(24 + 4 * l, 4) for l in ACTIVE}, 1, FEW))
data = [rng.getrandbits(32) for _ in range(64)]; before = memory.dwords()
for l in ACTIVE: memory.put(24 + 4 * l, 4, data[l])
case(F_, 'ds_write_addtid_b32', 'ds_write_addtid_b32 v4 offset:16', [('m0', [0x50008]), ('v4', data), ('lds', before), ('exec', [FEW])], [('lds', memory.dwords())])
case(F_, 'ds_nop', ['ds_nop', 's_mov_b32 s20, 1'], [], [('s20', [1])])
def swizzle(text, source):
    x, old = [rng.getrandbits(32) for _ in range(64)], [rng.getrandbits(32) for _ in range(64)]
    case(F_, 'ds_swizzle_b32 ' + text, 'ds_swizzle_b32 v10, v0 offset:%s' % text, [('v0', x), ('v10', old), ('exec', [EX])], [('v10', [(x[source(l)] if EX >> source(l) & 1 else 0) if EX >> l & 1 else old[l] for l in range(64)])])
swizzle('swizzle(QUAD_PERM,3,0,2,1)', lambda l: l & ~3 | [3, 0, 2, 1][l & 3])
swizzle('swizzle(SWAP,8)', lambda l: l ^ 8); swizzle('swizzle(REVERSE,16)', lambda l: l ^ 15); swizzle('swizzle(BROADCAST,8,3)', lambda l: l & ~7 | 3)
swizzle('swizzle(BITMASK_PERM,"01pip")', lambda l: l & 32 | (8 | l & 7) ^ 2)
swizzle('0xc0%02x' % (5 << 5 & 0xe0 | 0x10), lambda l: l & 32 | l & 16 | (l + 5) & 15)   # rotate by 5 within 16 lanes
swizzle('0xe000', lambda l: l & 32 | int('{:05b}'.format(l & 31)[::-1], 2)); swizzle('0xe01f', lambda l: l)   # FFT: bit reversal; none
fft = [0x1, 0x11, 0x9, 0x19, 0x5, 0x15, 0xd, 0x1d, 0x3, 0x13, 0xb, 0x1b, 0x7, 0x17, 0xf, 0x1f, 0x2, 0x12, 0xa, 0x1a, 0x6, 0x16, 0xe, 0x1e, 0x4, 0x14, 0xc, 0x1c, 0x8, 0x18, 0x10, 0x20]
assert [int('{:05b}'.format(l)[::-1], 2) + 1 for l in range(32)] == [((x - 1) | 0) + 1 for x in [1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31, 2, 18, 10, 26, 6, 22, 14, 30, 4, 20, 12, 28, 8, 24, 16, 32]]   # the document's table counts from 1
x, where_, old = [rng.getrandbits(32) for _ in range(64)], [rng.getrandbits(10) for _ in range(64)], [rng.getrandbits(32) for _ in range(64)]
pushed = [0] * 64
for l in range(64):
    if EX >> l & 1: pushed[(where_[l] + 12) // 4 % 64] = x[l]
case(F_, 'ds_permute_b32', 'ds_permute_b32 v10, v0, v4 offset:12', [('v0', where_), ('v4', x), ('v10', old), ('exec', [EX])], [('v10', [pushed[l] if EX >> l & 1 else old[l] for l in range(64)])])
pull = lambda l: (where_[l] + 12) // 4 % 64
case(F_, 'ds_bpermute_b32', 'ds_bpermute_b32 v10, v0, v4 offset:12', [('v0', where_), ('v4', x), ('v10', old), ('exec', [EX])], [('v10', [(x[pull(l)] if EX >> pull(l) & 1 else 0) if EX >> l & 1 else old[l] for l in range(64)])])
case(F_, 'ds_bpermute_b32 onto the data', 'ds_bpermute_b32 v4, v0, v4', [('v0', where_), ('v4', x)], [('v4', [x[where_[l] // 4 % 64] for l in range(64)])])
# transposing reads of gfx950: 16 lanes read K rows of 16 elements, lane m gets column m
for bits, wide in ((16, 64), (8, 64), (4, 64), (6, 96)):
    per, memory, size = wide // bits, Memory(1024), 8 if wide == 64 else 16
    row_lanes = 16 // per
    offsets = [size * (l ^ 5) for l in range(64)]
    row = lambda l: memory.get(offsets[l], wide // 8)
    r = [sum((row((l & ~15) + k * row_lanes + l % 16 // per) >> (l % per * bits) & ((1 << bits) - 1)) << (bits * k) for k in range(per)) for l in range(64)]
    name, d = 'ds_read_b%d_tr_b%d' % (wide, bits), wide // 32
    case(F_, name, '%s %s, v0' % (name, vreg(10, d)), [('v0', offsets), ('lds', memory.dwords())], lane_rows(10, [[x >> 32 * i & M32 for x in r] for i in range(d)]))
    case(F_, name + ' destination = address', '%s %s, v12 offset:32' % (name, vreg(12, d)), [('v12', [o - 32 & M32 for o in offsets]), ('lds', memory.dwords())], lane_rows(12, [[x >> 32 * i & M32 for x in r] for i in range(d)]))
    case(F_, name + ' with inactive lanes', ['s_mov_b32 s20, 1', '%s %s, v0' % (name, vreg(10, d))], [('exec', [M64 >> 1]), ('v10', [3])], [('s20', [1]), ('v10', [3])], lines=['exit unimplemented'])

# ---------------------------------------------------------------- memory to LDS: LDS[M0 + offset + lane * 4 (or the whole size)]
def to_lds(name, text, n, value, sets, base, off, target=None):
    data, lds = Memory(SIZE), Memory(64 * max(n, 4) + 64, [0] * (16 * max(n, 4) + 16))
    offsets = [rng.randrange(0, SIZE - 16 - off, 4 if n >= 4 else 1) for _ in range(64)]
    for l in ACTIVE: lds.put(32 + off + l * max(n, 4), max(n, 4), value(data.get(offsets[l] + off, n)))
    case(F_, name, ['s_mov_b32 m0, 32', text], sets(offsets) + [('global', data.dwords()), ('exec', [FEW])], [('lds', lds.dwords())], target, base=base)
for suffix in ('ubyte', 'sbyte', 'ushort', 'sshort', 'dword', 'dwordx3', 'dwordx4'):
    n, d, value = LOADS[suffix]
    name = 'global_load_lds_' + suffix
    to_lds(name, name + ' v[0:1], off offset:8', n, lambda v: value(v, 0), lambda o: [('v0', o), ('v1', [0])], 'v0', 8)
    if n <= 4: to_lds('buffer_load_%s lds' % suffix, 'buffer_load_%s v0, s[8:11], 0 offen offset:8 lds' % suffix, n, lambda v: value(v, 0), lambda o: [('v0', o), ('s8', [0, 0, SIZE, 0x27000])], 's8', 8)
for suffix in ('ubyte', 'sbyte', 'ushort', 'sshort', 'dword'):
    n, d, value = LOADS[suffix]
    space, name = Space('scratch'), 'scratch_load_lds_' + suffix
    lds = Memory(320, [0] * 80)
    offsets = [rng.randrange(0, 13, 4 if n == 4 else 1) for _ in range(64)]
    for l in ACTIVE: lds.put(32 + l * 4, 4, value(space.of(l).get(offsets[l], n), 0))
    case(F_, name, ['s_mov_b32 m0, 32', name + ' v0, off'], [('v0', offsets), space.line(), ('exec', [FEW])], [('lds', lds.dwords())])
lds, glob = Memory(320), Memory(320, [0] * 80)
for l in ACTIVE: glob.put(4 + 4 * l, 4, lds.get(32 + 4 + 4 * l, 4))
case(F_, 'buffer_store_lds_dword', ['s_mov_b32 m0, 32', 'buffer_store_lds_dword s[8:11], 0 offset:4 lds'], [('s8', [0, 4 << 16, 256, 7 << 12 | 1 << 23]), ('lds', lds.dwords()), ('exec', [FEW])], [('global', [glob.get(4 * i, 4) if 4 * i + 4 <= 64 * 4 else 0 for i in range(80)])], base='s8')
# typed to LDS: the dword after the conversion; 8_8 unorm from the resource's format
data, lds, offsets = Memory(SIZE), Memory(320, [0] * 80), [rng.randrange(0, SIZE - 1, 2) for _ in range(64)]
for l in ACTIVE: lds.put(32 + 4 * l, 4, F32.encode(Fr(data.get(offsets[l], 1), 255)))
case(F_, 'buffer_load_format_x lds', ['s_mov_b32 m0, 32', 'buffer_load_format_x v0, s[8:11], 0 offen lds'], [('v0', offsets), ('s8', [0, 0, SIZE, 4 | 5 << 3 | 6 << 6 | 7 << 9 | 0 << 12 | 3 << 15]), ('global', data.dwords()), ('exec', [FEW])], [('lds', lds.dwords())], base='s8')
