# Edge cases that the other generators do not reach by chance (audit_cases.py): special values of the transcendental functions,
# destinations that are sources, partial EXEC. Meanings: AMD's pseudo-code and docs/reference/float.md.
from fractions import Fraction as Fr
from generate_cases import *

rng.seed('edges')

# ---------------------------------------------------------------- special values, results exact
def special(file, name, F, pairs, lines_mode=0xf0):
    case(file, name + ' special values', name + ' v10, v0', [('v0', [x for x, _ in pairs]), ('v10', [5])], [('v10', [y for _, y in pairs])], mode=lines_mode, vary=True)
for F, ty, file in ((F32, 'f32', 'float_f32'), (F16, 'f16', 'float_f16')):
    one, two = F.one, F.encode(Fr(2))
    smallest = 1 - F.bias - F.m   # exponent of the smallest denormal
    nans = [(F.inf | 5, F.inf | F.quiet | 5), (F.inf | F.quiet | 9, F.inf | F.quiet | 9), (F.sign | F.inf | 3, F.sign | F.inf | F.quiet | 3)]
    zeros, infinities, largest = [0, F.sign], (F.inf, F.sign | F.inf), (F.max, F.sign | F.max)
    exp = nans + [(0, one), (F.sign, one), (1, one), (F.sign | 1, one), (infinities[0], F.inf), (infinities[1], 0), (largest[0], F.inf), (largest[1], 0), (one, two)]
    log = nans + [(z, F.sign | F.inf) for z in zeros] + [(1, F.encode(Fr(smallest))), (F.sign | 1, F.default_nan), (infinities[0], F.inf), (infinities[1], F.default_nan), (F.sign | one, F.default_nan), (one, 0)]
    even = smallest + smallest % 2   # 2^even is a denormal with an exact root
    rsq = nans + [(0, F.inf), (F.sign, F.sign | F.inf), (F.encode(Fr(2) ** even), F.encode(Fr(2) ** (-even // 2))), (F.sign | 1, F.default_nan), (infinities[0], 0), (infinities[1], F.default_nan), (one, one)]
    sin = nans + [(z, z) for z in zeros] + [(i, F.default_nan) for i in infinities] + [(x, 0) for x in largest]
    cos = nans + [(z, one) for z in zeros] + [(i, F.default_nan) for i in infinities] + [(x, one) for x in largest] + [(1, one), (F.sign | 1, one)]
    for stem, pairs in (('exp', exp), ('log', log), ('rsq', rsq), ('sin', sin), ('cos', cos)): special(file, 'v_%s_%s' % (stem, ty), F, pairs)
    if F is F32:
        for stem, pairs in (('exp', exp), ('log', log)): special(file, 'v_%s_legacy_f32' % stem, F, pairs)

# ---------------------------------------------------------------- v_div_fmas: VCC scales by what v_div_scale did (docs/reference/errata.md); one rounding
for F, ty, gen, wide, k in ((F32, 'f32', f32s, 0, 64), (F64, 'f64', f64s, 1, 128)):
    a, b, c, vin, old = gen(64), gen(64), gen(64), rng.getrandbits(64), gen(64)
    def fmas(x, y, z, scaled):
        r = F.fma(x, y, z)
        if not scaled or any(F.nan(t) or F.isinf(t) for t in (x, y, z)): return r
        exact = F.value(x) * F.value(y) + F.value(z)
        up = (F.mag(z) >> F.m) > F.bias
        return F.encode(exact * Fr(2) ** (k if up else -k)) if exact else r
    r = [fmas(x, y, z, vin >> l & 1) if EX >> l & 1 else old[l] for l, (x, y, z) in enumerate(zip(a, b, c))]
    case('division', 'v_div_fmas_' + ty, 'v_div_fmas_%s %s, %s, %s, %s' % (ty, reg(10, wide), reg(0, wide), reg(2, wide), reg(4, wide)), source(0, a, wide, 0) + source(0, b, wide, 2) + source(0, c, wide, 4) + source(0, old, wide, 10) + [('vcc', [vin]), ('exec', [EX])], source(0, r, wide, 10))
    # Ordinary operands are not scaled; VCC of inactive lanes is 0.
    a, b = ([F.encode(Fr(rng.randint(1, 1000), rng.randint(1, 1000))) for _ in range(64)] for _ in range(2))
    case('division', 'v_div_scale_%s destination = source' % ty, 'v_div_scale_%s %s, vcc, %s, %s, %s' % (ty, reg(0, wide), reg(2, wide), reg(2, wide), reg(0, wide)), source(0, a, wide, 0) + source(0, b, wide, 2) + [('exec', [EX]), ('vcc', [M64])], source(0, [y if EX >> l & 1 else x for l, (x, y) in enumerate(zip(a, b))], wide, 0) + [('vcc', [0])])

# ---------------------------------------------------------------- destination = source, partial EXEC
def kept(new, old): return [x if EX >> l & 1 else y for l, (x, y) in enumerate(zip(new, old))]
for m, f, cin in (('v_add_co_u32', lambda a, b, c: a + b, 0), ('v_sub_co_u32', lambda a, b, c: a - b, 0), ('v_subrev_co_u32', lambda a, b, c: b - a, 0), ('v_addc_co_u32', lambda a, b, c: a + b + c, 1), ('v_subb_co_u32', lambda a, b, c: a - b - c, 1), ('v_subbrev_co_u32', lambda a, b, c: b - a - c, 1)):
    for dst in (0, 2):
        a, b, vin = u32s(64), u32s(64), rng.getrandbits(64)
        r = [f(x, y, vin >> l & 1 if cin else 0) for l, (x, y) in enumerate(zip(a, b))]
        co = mask([x < 0 or x > M32 for x in r]) & EX
        case('masks', m + ' destination = source', m + '_e32 v%d, vcc, v0, v2%s' % (dst, ', vcc' if cin else ''), [('v0', a), ('v2', b), ('vcc', [vin]), ('exec', [EX])], [('v%d' % dst, kept([x & M32 for x in r], b if dst else a)), ('vcc', [co])])
a, b, vin = u32s(64), u32s(64), rng.getrandbits(64)
case('masks', 'v_cndmask_b32 destination = source', 'v_cndmask_b32_e32 v10, v0, v2, vcc', [('v0', a), ('v2', b), ('vcc', [vin]), ('v10', [1])], [('v10', [y if vin >> l & 1 else x for l, (x, y) in enumerate(zip(a, b))])], vary=True)
a, b = u32s(64), u32s(64)
for half in (0, 1):
    name = 'v_mbcnt_%s_u32_b32' % ('hi' if half else 'lo')
    below = lambda l: (1 << max(0, min(32, l - 32 * half))) - 1
    case('masks', name + ' vectors', name + ' v10, v0, v2', [('v0', a), ('v2', b), ('v10', [1])], [('v10', [bin(x & below(l)).count('1') + y & M32 for l, (x, y) in enumerate(zip(a, b))])], vary=True)
for m, signed in (('v_mad_u64_u32', 0), ('v_mad_i64_i32', 1)):
    cv, c64 = (s32, s64) if signed else (lambda x: x, lambda x: x)
    for dst in ('v[4:5]', 'v[0:1]'):
        a, b, c, other = u32s(64), u32s(64), u64s(64), u32s(64)
        r = [cv(x) * cv(y) + c64(z) & M64 for x, y, z in zip(a, b, c)]
        d = int(dst[2])
        before = (lo(c), hi(c)) if d else (a, other)
        case('integer', m + ' destination = source', '%s %s, s[20:21], v0, v2, v[4:5]' % (m, dst), [('v0', a), ('v1', other), ('v2', b), ('v4', lo(c)), ('v5', hi(c)), ('exec', [EX])], [('v%d' % d, kept(lo(r), before[0])), ('v%d' % (d + 1), kept(hi(r), before[1]))])
a, b, c = u64s(64), u32s(64), [u32s(64) for _ in range(4)]
def masked_sad(x, y): return sum(abs((x >> 8 * k & 255) - (y >> 8 * k & 255)) for k in range(4) if y >> 8 * k & 255)
case('integer', 'v_mqsad_u32_u8 destination = source', 'v_mqsad_u32_u8 v[4:7], v[0:1], v2, v[4:7]', [('v0', lo(a)), ('v1', hi(a)), ('v2', b), ('exec', [EX])] + [('v%d' % (4 + i), c[i]) for i in range(4)],
     [('v%d' % (4 + i), kept([z + masked_sad(x >> 8 * i & M32, y) & M32 for x, y, z in zip(a, b, c[i])], c[i])) for i in range(4)])
for m, f in (('v_madmk_f32', lambda x, y: mad(x, 0x40490fdb, y)), ('v_madak_f32', lambda x, y: mad(x, y, 0x40490fdb)), ('v_fmamk_f32', lambda x, y: F32.fma(x, 0x40490fdb, y)), ('v_fmaak_f32', lambda x, y: F32.fma(x, y, 0x40490fdb))):
    a, b = f32s(64), f32s(64)
    text = '%s v10, v0, 0x40490fdb, v2' if 'mk' in m else '%s v10, v0, v2, 0x40490fdb'
    case('float_f32', m + ' edges', text % m, [('v0', a), ('v2', b), ('v10', [1])], [('v10', [f(x, y) for x, y in zip(a, b)])], vary=True)
half = lambda x: F32.convert(F16, x) if not F16.nan(x) else (x & 0x8000) << 16 | 0x7fc00000 | (x & 0x3ff) << 13
a, b, c = f32s(64), f32s(64), f16s(64)
case('packed', 'v_fma_mix_f32 edges', 'v_fma_mix_f32 v10, v0, -v2, v4 op_sel_hi:[0,0,1]', [('v0', a), ('v2', b), ('v4', c), ('v10', [1])], [('v10', [F32.fma(x, y ^ NEG, half(lo16(z))) for x, y, z in zip(a, b, c)])], vary=True)

# v_cubeid_f32: comparisons with NaN do not hold.
a, b, c = f32s(64), f32s(64), f32s(64)
def face(x, y, z):
    at_least = lambda p, q: not F32.nan(p) and not F32.nan(q) and F32.order(p & ABS) >= F32.order(q & ABS)
    negative = lambda p: not F32.nan(p) and F32.order(p) < 0
    if at_least(z, x) and at_least(z, y): return 5 if negative(z) else 4
    if at_least(y, x): return 3 if negative(y) else 2
    return 1 if negative(x) else 0
case('float_f32', 'v_cubeid_f32 edges', 'v_cubeid_f32 v10, v0, v2, v4', [('v0', a), ('v2', b), ('v4', c), ('v10', [1])], [('v10', [F32.encode(Fr(face(*t))) for t in zip(a, b, c)])], vary=True)

for n, sg in (('i16', 1), ('u16', 0)):
    vector('convert', 'v_cvt_pknorm_%s_f32' % n, ['f32'] * 2, 32, lambda a, b: lo16(norm(F32, a, sg)) | lo16(norm(F32, b, sg)) << 16, name='edges')

# ---------------------------------------------------------------- scalar
for n, holds in (('eq', lambda a, b: a == b), ('lg', lambda a, b: a != b), ('gt', lambda a, b: a > b), ('ge', lambda a, b: a >= b), ('lt', lambda a, b: a < b), ('le', lambda a, b: a <= b)):
    for x, k in ((0, 0), (M32, -1), (0x80000000, -0x8000), (0x7fffffff, 0x7fff), (0xffff, -1), (0x8000, -0x8000)):
        case('scalar', 's_cmpk_%s_i32 edges' % n, 's_cmpk_%s_i32 s10, %d' % (n, k), [('s10', [x]), ('scc', [0])], [('scc', [int(holds(s32(x), k))])])
        case('scalar', 's_cmpk_%s_u32 edges' % n, 's_cmpk_%s_u32 s10, %d' % (n, k & 0xffff), [('s10', [x]), ('scc', [0])], [('scc', [int(holds(x, k & 0xffff))])])
for x, k in ((0, 0), (M32, 1), (0x80000000, -1), (0x7fffffff, 1), (0x7fffffff, 0x7fff), (0x80000000, -0x8000)):
    case('scalar', 's_addk_i32 edges', 's_addk_i32 s20, %d' % k, [('s20', [x]), ('scc', [0])], [('s20', [x + k & M32]), ('scc', [int(not -2**31 <= s32(x) + k < 2**31)])])
    case('scalar', 's_mulk_i32 edges', 's_mulk_i32 s20, %d' % k, [('s20', [x]), ('scc', [1])], [('s20', [x * k & M32]), ('scc', [1])])

# ---------------------------------------------------------------- denormals and modifiers that have rules of their own (docs/reference/float.md)
half_flush = lambda x: F16.flush(lo16(x))
vector('convert', 'v_pack_b32_f16', ['f16'] * 2, 32, lambda a, b: half_flush(a) | half_flush(b) << 16, mode=0x30, name='flush')
pairs = lambda: [x | y << 16 for x, y in zip(half_words(64), half_words(64))]
tiny = lambda: [rng.getrandbits(1) << 31 | rng.getrandbits(23) for _ in range(64)]   # f32 denormals
small = lambda: [rng.getrandbits(10) | rng.getrandbits(1) << 15 | (rng.getrandbits(10) | rng.getrandbits(1) << 15) << 16 for _ in range(64)]   # f16 denormals
w = lambda x: F32.convert(F16, lo16(x))
for mode in (0x00, 0xf0, 0xff):   # flush all, keep all, round to zero: dot products do not ask
    for t, cut in (('gfx90a', F16.flush), (['gfx906', 'gfx908', 'gfx942', 'gfx950'], lambda x: x)):
        for a, b, c in ((pairs(), pairs(), f32s(64)), (small(), pairs(), tiny()), (small(), small(), f32s(64))):
            h = lambda x: F32.convert(F16, cut(lo16(x)))
            r = [F32.flush(F32.fma(h(x >> 16), h(y >> 16), F32.fma(h(x), h(y), F32.flush(z)))) for x, y, z in zip(a, b, c)]
            case('packed', 'v_dot2_f32_f16 MODE %02x' % mode, 'v_dot2_f32_f16 v10, v0, v2, v4', [('v0', a), ('v2', b), ('v4', c)], [('v10', r)], t, mode)
            if t == 'gfx90a' or mode == 0:
                case('packed', 'v_dot2c_f32_f16 MODE %02x' % mode, 'v_dot2c_f32_f16_e32 v10, v0, v2', [('v0', a), ('v2', b), ('v10', c)], [('v10', r)], t if t == 'gfx90a' else t[1:], mode)
for mode, cut in ((0xc0, F16.flush), (0x30, lambda x: x)):   # the f32 field decides on 16-bit sources
    a, b, c = small(), pairs(), f32s(64)
    keep = F32.flush if mode == 0xc0 else lambda x: x
    r = [keep(F32.fma(F32.convert(F16, cut(lo16(x))), F32.convert(F16, cut(y >> 16)), keep(z))) for x, y, z in zip(a, b, c)]
    case('packed', 'v_fma_mix_f32 MODE %02x' % mode, 'v_fma_mix_f32 v10, v0, v2, v4 op_sel:[0,1,0] op_sel_hi:[1,1,0]', [('v0', a), ('v2', b), ('v4', c)], [('v10', r)], mode=mode)
# VOP2: NEG and ABS negate the lower and the upper half; v_dot2_f32_bf16 does not negate its addend.
a, b, c = pairs(), pairs(), f32s(64)
r = [F32.flush(F32.fma(w(x >> 16 ^ 0x8000), w(y >> 16), F32.fma(w(x), w(y ^ 0x8000), F32.flush(z)))) for x, y, z in zip(a, b, c)]
case('packed', 'v_dot2c_f32_f16 halves negated', 'v_dot2c_f32_f16_e64 v10, |v0|, -v2', [('v0', a), ('v2', b), ('v10', c)], [('v10', r)], ['gfx908', 'gfx942', 'gfx950'])
wide = lambda x: lo16(x) << 16
brain = lambda: [x >> 16 | y & 0xffff0000 for x, y in zip(f32s(64), f32s(64))]
a, b, c = brain(), brain(), f32s(64)
r = [F32.flush(F32.fma(wide(x >> 16 ^ 0x8000), wide(y >> 16), F32.fma(wide(x), wide(y ^ 0x8000), F32.flush(z)))) for x, y, z in zip(a, b, c)]
case('packed', 'v_dot2c_f32_bf16 halves negated', 'v_dot2c_f32_bf16_e64 v10, |v0|, -v2', [('v0', a), ('v2', b), ('v10', c)], [('v10', r)])
r = [F32.flush(F32.add(F32.add(F32.mul(wide(x), wide(y)), F32.mul(wide(x >> 16), wide(y >> 16 ^ 0x8000))), F32.flush(z))) for x, y, z in zip(a, b, c)]
case('packed', 'v_dot2_f32_bf16 modifiers', 'v_dot2_f32_bf16 v10, v0, v2, v4 neg_lo:[0,0,1] neg_hi:[0,1,0]', [('v0', a), ('v2', b), ('v4', c)], [('v10', r)])
# f32 matrix products: MODE's f32 field flushes A and B on gfx942 and gfx950, C and D never (CDNA3 ISA 7.3, CDNA4 ISA 7.4); not on gfx90a.
# 16 blocks of 4 x 4 x 1: row i of A in lane 4 * block + i, column j of B likewise, row i of D in register i.
a, b, c = tiny(), [F32.encode(Fr(rng.randint(-8, 8), 2)) if l % 3 else x for l, x in enumerate(tiny())], [tiny() for _ in range(4)]
for mode in (0xc0, 0xd0, 0xf0):
    for name, t in (('v_mfma_f32_4x4x1f32', ['gfx908', 'gfx90a']), ('v_mfma_f32_4x4x1_16b_f32', ['gfx942', 'gfx950'])):
        cut = F32.flush if t[0] == 'gfx942' and not mode & 0x10 else lambda x: x
        rows = [('v%d' % (10 + i), [F32.fma(cut(a[l & ~3 | i]), cut(b[l]), c[i][l]) for l in range(64)]) for i in range(4)]
        for target in t:
            accumulator = 'a' if target == 'gfx908' else 'v'
            sets = [('%s%d' % (accumulator, 10 + i), c[i]) for i in range(4)]
            case('matrix', '%s MODE %02x' % (name, mode), '%s %s[10:13], v0, v2, %s[10:13]' % (name, accumulator, accumulator), [('v0', a), ('v2', b)] + sets, [(accumulator + r[1:], v) for r, v in rows], target, mode)
# FP16_OVFL (MODE[23]) clamps overflowing sums on gfx942 and gfx950 (CDNA3 ISA 7.1.2); operands are the same in all lanes. An infinite operand stays.
for mode in (0xf0, 0x8000f0):
    def matrix_sum(name, a, b, regs, c, value, wraps, clamped, targets=None):
        parts = ['v%d' % (20 + i) for i in range(4)]
        text = '%s v[20:23], %s, %s, %s' % (name, 'v[0:%d]' % (regs[0] - 1) if regs[0] > 1 else 'v0', 'v[4:%d]' % (3 + regs[1]) if regs[1] > 1 else 'v4', 'v12' if 'smfmac' in name else 'v[20:23]')
        case('matrix', '%s %s MODE %x' % (name, value, mode), text, [('v%d' % i, [a]) for i in range(4)] + [('v%d' % (4 + i), [b]) for i in range(8)] + [('v12', [0x44444444])] + [(p, [c]) for p in parts],
             [(p, [clamped if mode > 0xff else wraps]) for p in parts], targets, mode)
    new = ['gfx942', 'gfx950']
    huge = F32.encode(Fr(2) ** 100)
    matrix_sum('v_mfma_f32_16x16x4_f32', huge, huge, (1, 1), 0, 'overflow', 0x7f800000, 0x7f7fffff, new)
    matrix_sum('v_mfma_f32_16x16x4_f32', huge, huge ^ NEG, (1, 1), 0, 'negative overflow', 0xff800000, 0xff7fffff, new)
    matrix_sum('v_mfma_f32_16x16x4_f32', 0x7f800000, huge, (1, 1), 0, 'infinite operand', 0x7f800000, 0x7f800000, new)
    matrix_sum('v_mfma_f32_16x16x4_f32', huge, huge, (1, 1), 0x7f800000, 'infinite addend', 0x7f800000, 0x7f800000, new)
    matrix_sum('v_mfma_f32_16x16x16_bf16', huge >> 16 | huge & 0xffff0000, huge >> 16 | huge & 0xffff0000, (2, 2), 0, 'overflow', 0x7f800000, 0x7f7fffff, new)
    matrix_sum('v_smfmac_f32_16x16x32_bf16', huge >> 16 | huge & 0xffff0000, huge >> 16 | huge & 0xffff0000, (2, 4), 0, 'overflow', 0x7f800000, 0x7f7fffff, new)
    matrix_sum('v_mfma_i32_16x16x32_i8', 0x7f7f7f7f, 0x7f7f7f7f, (2, 2), 0x7fffffff, 'overflow', 0x7fffffff + 32 * 127 * 127 & M32, 0x7fffffff, new)
    matrix_sum('v_mfma_i32_16x16x32_i8', 0x7f7f7f7f, 0x81818181, (2, 2), 0x80000000, 'overflow', 0x80000000 - 32 * 127 * 127 & M32, 0x80000000, new)
    matrix_sum('v_smfmac_i32_16x16x64_i8', 0x7f7f7f7f, 0x7f7f7f7f, (2, 4), 0x7fffffff, 'overflow', 0x7fffffff + 32 * 127 * 127 & M32, 0x7fffffff, new)
    matrix_sum('v_mfma_f32_16x16x4f32', huge, huge, (1, 1), 0, 'overflow', 0x7f800000, 0x7f800000, ['gfx90a'])
# Scaled conversions: MODE flushes f32 denormals, those of the small formats are kept (CDNA4 ISA).
for mode in (0xc0, 0xf0):
    keep = (lambda x: x) if mode == 0xf0 else F32.flush
    a = tiny()
    case('scaled_conversions', 'v_cvt_scalef32_pk_f32_fp8 denormal results MODE %02x' % mode, 'v_cvt_scalef32_pk_f32_fp8 v[10:11], v0, v2', [('v0', [0x81]), ('v2', [0x00800000])], [('v10', [keep(0x80000000 | 1 << 14)]), ('v11', [0])], mode=mode)
    case('scaled_conversions', 'v_cvt_scalef32_pk_fp8_f32 denormal sources MODE %02x' % mode, 'v_cvt_scalef32_pk_fp8_f32 v10, v0, v2, v4', [('v0', [0x00400000]), ('v2', [0x80200000]), ('v4', [0x00800000]), ('v10', [0xabcd1234])], [('v10', [0xabcd8000 if mode == 0xc0 else 0xabcda830])], mode=mode)
