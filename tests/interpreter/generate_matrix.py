# Every matrix instruction. Layout of the operands: CDNA3 ISA 7.1.4 and AMD's matrix instruction calculator for dense products,
# test/mx_mfma_op of ROCm/composable_kernel for f8f6f4; arithmetic: integers here. Order of additions: docs/reference/float.md; for 16-bit and
# smaller types on gfx908, gfx90a, gfx942 as arXiv 2511.10909 measured it on hardware, else ascending k.
import functools, re
from fractions import Fraction as Fr
from generate_cases import *
DENSE, SPARSE, SCALED = 'mfma', 'smfmac', 'mfma_scaled'

rng.seed('matrix')

# ---------------------------------------------------------------- f32 numbers as (mantissa, exponent), finite only
@functools.lru_cache(1 << 16)
def split(b):
    e, m = b >> 23 & 255, b & 0x7fffff
    m = m | 0x800000 if e else m
    return (-m if b >> 31 else m), max(e, 1) - 150
def join(m, e, zero):
    """Rounds to nearest even; zero: what an exact zero becomes"""
    if m == 0: return zero
    s, m = (0x80000000, -m) if m < 0 else (0, m)
    shift = max(m.bit_length() - 24, -149 - e)
    if shift > 0:
        half, rest = 1 << (shift - 1), m & ((1 << shift) - 1)
        m >>= shift
        if rest > half or (rest == half and m & 1): m += 1
        e += shift
    while m < 0x800000 and e > -149: m <<= 1; e -= 1
    if m >> 24: m >>= 1; e += 1
    if m < 0x800000: return s | m
    return s | (0x7f800000 if e + 150 >= 255 else (e + 150) << 23 | (m & 0x7fffff))
def fma32(a, b, c):
    (ma, ea), (mb, eb), (mc, ec) = split(a), split(b), split(c)
    mp, ep = ma * mb, ea + eb
    e = min(ep, ec)
    both_negative = c >> 31 and (a ^ b) >> 31
    return join((mp << (ep - e)) + (mc << (ec - e)), e, 0x80000000 if both_negative and mp == 0 and mc == 0 else 0)
for _ in range(3000):
    x_, y_, z_ = f32_random(), f32_random(), f32_random()
    if all((t >> 23 & 255) < 255 for t in (x_, y_, z_)): assert fma32(x_, y_, z_) == F32.fma(x_, y_, z_), (x_, y_, z_)

# ---------------------------------------------------------------- element types: how many bits, a random code, its f32 value
TINY = [0, 0x80000000, 1, 0x80000001, 0x00800000, 0x807fffff]   # denormals count in matrix instructions
def f32_any(): return rng.choice(TINY) if rng.random() < .1 else (rng.getrandbits(1) << 31) | (rng.randint(110, 140) << 23) | rng.getrandbits(23)
def f16_any(): return rng.choice([0, 0x8000, 1, 0x83ff, 0x400, 0x7bff]) if rng.random() < .1 else (rng.getrandbits(1) << 15) | (rng.randint(8, 22) << 10) | rng.getrandbits(10)
def bf16_any(): return rng.choice([0, 0x8000, 1, 0x807f]) if rng.random() < .1 else (rng.getrandbits(1) << 15) | (rng.randint(112, 138) << 7) | rng.getrandbits(7)
class Type:
    def __init__(self, bits, code, value): self.bits, self.code, self.value = bits, code, value
def small_type(S): return Type(S.width, lambda: rng.choice([b for b in range(1 << S.width) if S.value(b) is not None]), {b: F32.encode(S.value(b), 0, bool(b >> (S.width - 1))) for b in range(1 << S.width) if S.value(b) is not None}.get)
TYPES = {'f32': Type(32, f32_any, lambda x: x), 'xf32': Type(32, lambda: f32_any() & 0xffffe000, lambda x: x), 'f16': Type(16, f16_any, functools.lru_cache(None)(lambda x: F32.convert(F16, x))), 'bf16': Type(16, bf16_any, lambda x: x << 16), 'i8': Type(8, lambda: rng.getrandbits(8), s8)}
FNUZ = {'fp8': small_type(FP8F), 'bf8': small_type(BF8F)}
OCP = {'fp8': small_type(FP8), 'bf8': small_type(BF8), 'fp6': small_type(FP6), 'bf6': small_type(BF6), 'fp4': small_type(FP4)}
def element(name, target): return TYPES[name] if name in TYPES else (OCP if target == 'gfx950' else FNUZ)[name]

def pack(dst, lane, item, bits, code):
    """Puts an element into {register: 64 lanes}."""
    at = bits * item
    for r in (at // 32, (at + bits - 1) // 32):
        v = code << at >> (32 * r) & M32 if 32 * r >= at else code << (at - 32 * r) & M32
        dst.setdefault(r, [0] * 64)[lane] |= v
def d_place(M, blocks, b, i, j):
    if M == 32: return p32(b, i, j)
    if M == 16: return p16(b, i, j)
    return p4(b, i, j)
def registers(kind, base, rows): return [('%s%d' % (kind, base + r), xs) for r, xs in sorted(rows.items())]
def span(kind, base, n): return '%s%d' % (kind, base) if n == 1 else '%s[%d:%d]' % (kind, base, base + n - 1)
def addends(n, integer):
    """n registers; eight different numbers each, to keep the files small"""
    one_of = (lambda: rng.getrandbits(32)) if integer else f32_any
    return {r: [one_of() for _ in range(8)] * 8 for r in range(n)}
def add_up(integer, a, b, acc): return (a * b + acc) & M32 if integer else fma32(a, b, acc)

# ---------------------------------------------------------------- sums by generation, on f32 codes; finite numbers
ONE = 0x3f800000
def add32(a, b): return fma32(a, ONE, b)
def flushed(x, keep_sign=False): return x & 0x80000000 if keep_sign and not x >> 23 & 255 else 0 if not x >> 23 & 255 else x
def pairs(xs, ys, c, group, flush):
    done = (lambda x: flushed(x, True)) if flush else (lambda x: x)
    c = flushed(c) if flush else c
    for k in range(0, len(xs), group):
        p = [done(fma32(x, y, 0)) for x, y in zip(xs[k:k + group], ys[k:k + group])]
        while len(p) > 1: p = [done(add32(p[i], p[i + 1])) for i in range(0, len(p), 2)]
        c = done(add32(c, p[0]))
    return c
def exponent_of(x, least):
    m, e = split(x)
    return max(least, e + abs(m).bit_length() - 1) if m else -126
def shifted(m, by): return m << by if by >= 0 else m >> -by   # towards minus infinity
def cut(m, by): return shifted(m, by) if m >= 0 else -shifted(-m, by)
def aligned(xs, ys, c, group, small, least):
    for k in range(0, len(xs), group):
        terms = [(split(x), split(y), exponent_of(x, least[0]) + exponent_of(y, least[1])) for x, y in zip(xs[k:k + group], ys[k:k + group])]
        sums = []
        for part in ([terms[0::2], terms[1::2]] if small else [terms]):
            top = max(t[2] for t in part)
            sums.append((sum(cut(x[0] * y[0], x[1] + y[1] + 24 - top) for x, y, _ in part), top))
        top = max(t for _, t in sums)
        units = sum(shifted(u, t - top) for u, t in sums)
        (mc, ec), exponent = split(c), exponent_of(c, -126)
        upper = max(top, exponent)
        addend = 0 if small and exponent < upper - 25 else shifted(mc, ec + 24 - upper)
        c = join(shifted(units, 7 + top - upper) + addend * 128, upper - 31, 0)
    return c
LEAST = {'f16': -14, 'fp8': -7, 'bf8': -15}
def rule_of(target, types): return {'gfx908': 'pairs', 'gfx90a': 'flushed', 'gfx942': 'aligned'}.get(target) if types[0] in ('f16', 'bf16') or (target == 'gfx942' and types[0] in ('xf32', 'fp8', 'bf8')) else None
def add_products(rule, types, per, K, xs, ys, c):
    if rule in ('pairs', 'flushed'): return pairs(xs, ys, c, per, rule == 'flushed')
    if rule == 'aligned': return aligned(xs, ys, c, min(K, 2 * per), types[0] in ('fp8', 'bf8'), [LEAST.get(t, -126) for t in types])
    for x, y in zip(xs, ys): c = fma32(x, y, c)
    return c

def shape(name):
    m = re.match(r'v_s?mfmac?_(f32|i32|f64)_(\d+)x(\d+)x(\d+)(?:_\d+b)?_?(\w+?)(_1k)?$', name)
    return m and (m[1], int(m[2]), int(m[3]), int(m[4]), m[5])

# ---------------------------------------------------------------- dense
def dense(name, target, registers_of, accumulator):
    kind, M, Nn, K, types = shape(name)
    types = types.split('_') if '_' in types else [types, types]
    ta, tb = [element(t, target[-1]) for t in types]
    integer = kind == 'i32'
    rules = {rule_of(t, types) for t in target}
    if len(rules) > 1:
        for rule in sorted(rules, key=str): dense(name, [t for t in target if rule_of(t, types) == rule], registers_of, accumulator)
        return
    rule = rules.pop()
    blocks = registers_of * 64 // (M * Nn)
    per = blocks * M * K // 64
    A = [[[ta.code() for _ in range(K)] for _ in range(M)] for _ in range(blocks)]
    Bm = [[[tb.code() for _ in range(K)] for _ in range(Nn)] for _ in range(blocks)]
    ra, rb, rd = {}, {}, {}
    for b in range(blocks):
        for k in range(K):
            lane = lambda i: i + M * (b + blocks * (k // per))
            for i in range(M): pack(ra, lane(i), k % per, ta.bits, A[b][i][k])
            for j in range(Nn): pack(rb, lane(j), k % per, tb.bits, Bm[b][j][k])
    rc = addends(registers_of, integer)
    for b in range(blocks):
        zero_denormal = (lambda t, x: 0 if rule == 'flushed' and not x >> {'f16': 10, 'bf16': 7}[t] & {'f16': 31, 'bf16': 255}[t] else x)
        av = [[ta.value(zero_denormal(types[0], x)) for x in row_] for row_ in A[b]]
        bv = [[tb.value(zero_denormal(types[1], x)) for x in row_] for row_ in Bm[b]]
        for i in range(M):
            for j in range(Nn):
                item, lane = d_place(M, blocks, b, i, j)
                acc = rc[item][lane]
                if integer:
                    for x, y in zip(av[i], bv[j]): acc = add_up(integer, x, y, acc)
                else: acc = add_products(rule, types, per, K, av[i], bv[j], acc)
                rd.setdefault(item, [0] * 64)[lane] = acc
    acc_kind = accumulator
    case(DENSE, name, '%s %s, %s, %s, %s' % (name, span(acc_kind, 64, registers_of), span('v', 0, len(ra)), span('v', 8, len(rb)), span(acc_kind, 16, registers_of)),
         registers('v', 0, ra) + registers('v', 8, rb) + registers(acc_kind, 16, rc) + [('exec', [1])], registers(acc_kind, 64, rd), target)

SIZES = {'b128': 4, 'b512': 16, 'b1024': 32}
signature = dict(re.findall(r'INST\((\w+),\s*VOP3P,\s*"[^"]*"\s*,\s*"(\w+) =', open(os.path.join(case_files.tables, 'vop3p.inc')).read()))
for name in signature:
    if not name.startswith('v_mfma_') or 'f8f6f4' in name or not shape(name) or shape(name)[0] == 'f64': continue
    targets = case_files.targets_of([name])
    if 'fp8' in name or 'bf8' in name:
        for t in targets: dense(name, [t], SIZES[signature[name]], 'v')
    else: dense(name, targets, SIZES[signature[name]], 'a' if targets[0] == 'gfx908' else 'v')
for name, old in (('v_mfma_f64_16x16x4_f64', 'v_mfma_f64_16x16x4f64'), ('v_mfma_f64_4x4x4_4b_f64', 'v_mfma_f64_4x4x4f64')):
    # the same instructions under gfx940's names
    for text in [t for t in out[X] if t.startswith('case %s\n' % old)]:
        out.setdefault(DENSE, []).append(text.replace(old, name).replace('target gfx90a', 'target gfx942 gfx950'))
# BLGP of f64 products negates A (1), B (2), C (4).
a, b, c = f64s(64), f64s(64), f64s(64)
for bits in (1, 2, 4, 7):
    sign = lambda bit: (1 << 63) if bits & bit else 0
    r = []
    for l in range(64):   # lane l = j + 4 i + 16 block
        j, i, blk = l & 3, l >> 2 & 3, l >> 4
        acc = c[l] ^ sign(4)
        for k in range(4): acc = F64.fma(a[i + 4 * blk + 16 * k] ^ sign(1), b[j + 4 * blk + 16 * k] ^ sign(2), acc)
        r.append(acc)
    if any(F64.nan(x) for x in a + b + c): a, b, c = ([x if not F64.nan(x) else F64.one for x in t] for t in (a, b, c)); 
    r = []
    for l in range(64):
        j, i, blk = l & 3, l >> 2 & 3, l >> 4
        acc = c[l] ^ sign(4)
        for k in range(4): acc = F64.fma(a[i + 4 * blk + 16 * k] ^ sign(1), b[j + 4 * blk + 16 * k] ^ sign(2), acc)
        r.append(acc)
    mods = {'gfx90a': 'blgp:%d' % bits, 'gfx942': 'neg:[%d,%d,%d]' % (bits & 1, bits >> 1 & 1, bits >> 2)}
    for t, text in mods.items():
        name = 'v_mfma_f64_4x4x4f64' if t == 'gfx90a' else 'v_mfma_f64_4x4x4_4b_f64'
        case(DENSE, name + ' ' + text, '%s v[20:21], v[0:1], v[2:3], v[4:5] %s' % (name, text), source(0, a, 1, 0) + source(0, b, 1, 2) + source(0, c, 1, 4), source(0, r, 1, 20), t if t == 'gfx90a' else ['gfx942', 'gfx950'])

# ---------------------------------------------------------------- sparse: A holds two of every four elements, positions in a VGPR
def sparse(name, target, registers_of, cbsz, abid):
    kind, M, Nn, K, types = shape(name)
    ta, tb = [element(t, target[-1]) for t in (types.split('_') if '_' in types else (types, types))]
    integer, groups = kind == 'i32', 64 // M
    per = K // 2 // groups          # elements of A in a lane; a lane of B has twice as many
    set_bits = 2 * per              # CBSZ = 0: ABID chooses the set of positions (CDNA3 ISA, SMFMAC)
    chosen = abid if cbsz == 0 and set_bits < 32 else 0
    A = [[ta.code() for _ in range(K // 2)] for _ in range(M)]
    where = [[sorted(rng.sample(range(4), 2)) for _ in range(K // 4)] for _ in range(M)]
    Bm = [[tb.code() for _ in range(K)] for _ in range(Nn)]
    ra, rb, rd, index = {}, {}, {}, [rng.getrandbits(32) & ~(((1 << set_bits) - 1) << (set_bits * chosen)) for _ in range(64)]
    for i in range(M):
        for q in range(K // 2):
            lane, t = i + M * (q // per), q % per
            pack(ra, lane, t, ta.bits, A[i][q])
            index[lane] |= where[i][q // 2][q % 2] << (2 * t + set_bits * chosen)
    for j in range(Nn):
        for k in range(K): pack(rb, j + Nn * (k // (2 * per)), k % (2 * per), tb.bits, Bm[j][k])
    rc = addends(registers_of, integer)
    for i in range(M):
        for j in range(Nn):
            item, lane = d_place(M, 1, 0, i, j)
            acc = rc[item][lane]
            for q in range(K // 2): acc = add_up(integer, ta.value(A[i][q]), tb.value(Bm[j][4 * (q // 2) + where[i][q // 2][q % 2]]), acc)
            rd.setdefault(item, [0] * 64)[lane] = acc
    mods = (' cbsz:%d' % cbsz if cbsz else '') + (' abid:%d' % abid if abid else '')
    case(SPARSE, name + mods, '%s %s, %s, %s, v24%s' % (name, span('v', 32, registers_of), span('v', 0, len(ra)), span('v', 8, len(rb)), mods), registers('v', 0, ra) + registers('v', 8, rb) + [('v24', index)] + registers('v', 32, rc), registers('v', 32, rd), target)
for n, name in enumerate(x for x in signature if x.startswith('v_smfmac_')):
    for i, t in enumerate(case_files.targets_of([name])): sparse(name, [t], SIZES[signature[name]], (n + i) % 3 == 2, (n + i) % 2)

# ---------------------------------------------------------------- f8f6f4: formats by CBSZ (A) and BLGP (B), a scale for 32 elements of k
CODES = ['fp8', 'bf8', 'fp6', 'bf6', 'fp4']
def place_k(fmt, M, k):
    """(lane group, item): 8-bit formats hold 16 elements of the first half of k and 16 of the second; the others 32 in a row."""
    groups = 64 // M
    if fmt in ('fp8', 'bf8'): return k // 16 % groups, k % 16 + 16 * (k // (16 * groups))
    return k // 32, k % 32
def f8f6f4(M, K, fa, fb, scaled):
    ta, tb, size = OCP[fa], OCP[fb], M * M // 64
    A, Bm = [[[t.code() for _ in range(K)] for _ in range(M)] for t in (ta, tb)]
    ra, rb, rd = {}, {}, {}
    for k in range(K):
        (ga, ia), (gb, ib) = place_k(fa, M, k), place_k(fb, M, k)
        for i in range(M): pack(ra, i + M * ga, ia, ta.bits, A[i][k]); pack(rb, i + M * gb, ib, tb.bits, Bm[i][k])
    sa, sb = [[rng.randint(120, 134) for _ in range(64)] for _ in range(2)]   # lane i + M * q: for k = 32 q ... 32 q + 31
    byte_a, byte_b = rng.randrange(4), rng.randrange(4)
    rc = addends(size, False)
    scaled_value = lambda t, code, e: join(split(t.value(code))[0], split(t.value(code))[1] + (e - 127 if scaled else 0), t.value(code) & 0x80000000)
    av = [[scaled_value(ta, A[i][k], sa[i + M * (k // 32)]) for k in range(K)] for i in range(M)]
    bv = [[scaled_value(tb, Bm[i][k], sb[i + M * (k // 32)]) for k in range(K)] for i in range(M)]
    for i in range(M):
        for j in range(M):
            item, lane = d_place(M, 1, 0, i, j)
            acc = rc[item][lane]
            for x, y in zip(av[i], bv[j]): acc = fma32(x, y, acc)
            rd.setdefault(item, [0] * 64)[lane] = acc
    name = 'v_mfma%s_f32_%dx%dx%d_f8f6f4' % ('_scale' if scaled else '', M, M, K)
    mods = '%s cbsz:%d blgp:%d' % (', v30, v31 op_sel:[%d,%d,0] op_sel_hi:[%d,%d,0]' % (byte_a & 1, byte_b & 1, byte_a >> 1, byte_b >> 1) if scaled else '', CODES.index(fa), CODES.index(fb))
    put = lambda e, at: [x << (8 * at) | (0x5a5a5a5a & ~(255 << (8 * at))) for x in e]
    case(SCALED, '%s %s %s' % (name, fa, fb), '%s %s, %s, %s, %s%s' % (name, span('v', 64, size), span('v', 0, len(ra)), span('v', 8, len(rb)), span('v', 40, size), mods),
         registers('v', 0, ra) + registers('v', 8, rb) + registers('v', 40, rc) + ([('v30', put(sa, byte_a)), ('v31', put(sb, byte_b))] if scaled else []), registers('v', 64, rd), 'gfx950')
for i, fa in enumerate(CODES):
    for j, fb in enumerate(CODES):
        f8f6f4(16, 128, fa, fb, (i + j) % 2 == 0)
        if i == j or (i + j) % 4 == 1: f8f6f4(32, 64, fa, fb, i % 2 == 0)
for fa, fb in (('fp8', 'bf8'), ('bf8', 'bf8')): f8f6f4(16, 128, fa, fb, True)
