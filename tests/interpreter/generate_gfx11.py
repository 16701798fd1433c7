# gfx11, gfx11.5 and gfx12: what they have and gfx10 has not, with waves of 32 and of 64 lanes. Meanings: AMD's pseudo-code of RDNA 3 and
# RDNA 4; LLVM's assembler for halves of registers and pairs of operations. What NaN becomes: IEEE 754-2019 and docs/reference/float.md.
from case_files import takes, write_case
from generate_gfx10 import *

rng.seed('gfx11')
FILE11, G11, G115, G12, ALL3 = 'gfx11', ['gfx1100', 'gfx1150'], ['gfx1150', 'gfx1201', 'gfx1250'], ['gfx1201', 'gfx1250'], ['gfx1100', 'gfx1150', 'gfx1201', 'gfx1250']
def both11(name, asm, sets, expects, targets=ALL3, mode=0xf0, exec_=EXEC10, sizes=(32, 64), lines=()):
    of = lambda x, size: x(size) if callable(x) else x
    for size in sizes:
        s, text = [('exec', [exec_])] + list(of(sets, size)), of(asm, size)
        text = [text] if isinstance(text, str) else text
        write_case(FILE11, '%s, wave%d' % (name, size), text, s, rows(size, s, of(expects, size), exec_), [t for t in targets if t != 'gfx1250' or all(takes(a, t) for a in text)], mode, False, '', ['wave %d' % size, *lines])
def each(row, sources, f, targets=ALL3, mode=0xf0, text=None, old=None, name='', sizes=(32, 64)):
    """A vector instruction of v0, v1, v2 into v10, and into v0; f takes the sources of a lane, and what v10 holds if `old` is given."""
    asm = text or '%s v10, %s' % (row, ', '.join('v%d' % i for i in range(len(sources))))
    sets = [('v%d' % i, v) for i, v in enumerate(sources)]
    at = lambda l: [v[l % len(v)] for v in sources]
    if old: both11(row + name, asm, sets + [('v10', old)], [('v10', [f(*at(l), old[l % len(old)]) & M32 for l in range(64)])], targets, mode, sizes=sizes)
    else: both11(row + name, asm, sets, [('v10', [f(*at(l)) & M32 for l in range(64)])], targets, mode, sizes=sizes)
    if sources and not (old and 'v10' in asm.split(',', 1)[1]):
        over = [f(*at(l), sources[0][l % len(sources[0])]) & M32 if old else f(*at(l)) & M32 for l in range(64)]
        both11(row + name + ' v0', asm.replace('v10', 'v0'), sets, [('v0', over)], targets, mode, sizes=sizes)
low, high = lambda x: x & 0xffff, lambda x: x >> 16
def to_low(d, r): return d & 0xffff0000 | r & 0xffff
def to_high(d, r): return d & 0xffff | (r & 0xffff) << 16
U, V, W, D = u32s(64), u32s(64), u32s(64), u32s(64)
X, Y, Z = f32s(64), f32s(64), f32s(64)
P, Q, R = f16s(64), f16s(64), f16s(64)
P[:20] = [p & 0xffff | q << 16 for p, q in zip(P, MUSTF16 + MUSTF16[::-1])]    # edges in the upper halves, too
H32 = lambda h: F32.convert(F16, h)

# ---------------------------------------------------------------- minima and maxima
def number(F, a, b, largest):
    """minimumNumber, maximumNumber: a NaN loses"""
    if F.nan(a) and F.nan(b): return a | F.quiet
    if F.nan(a): return b
    if F.nan(b): return a
    return F.minmax(a, b, largest, False)
def nan_wins(F, a, b, largest):
    """minimum, maximum: the first signalling NaN, else the first NaN"""
    for x in (a, b):
        if F.snan(x): return x | F.quiet
    for x in (a, b):
        if F.nan(x): return x
    return F.minmax(a, b, largest, False)
def median(F, a, b, c):
    if F.nan(a) or F.nan(b) or F.nan(c): return number(F, number(F, a, b, False), c, False)
    return sorted((a, b, c), key=lambda x: (F.order(x), not F.neg(x)))[1]
for F, t, sources in ((F32, 'f32', [X, Y, Z]), (F16, 'f16', [P, Q, R])):
    half = t == 'f16'
    def lane(f, n):   # f16: into the lower half of v10, of which the upper one stays
        if not half: return f
        return (lambda a, b, d: to_low(d, f(low(a), low(b)))) if n == 2 else (lambda a, b, c, d: to_low(d, f(low(a), low(b), low(c))))
    def put(row, n, f, targets, mode=0xf0, name=''): each(row, sources[:n], lane(f, n), targets, mode, old=D if half else None, name=name)
    for mx, k in ((False, 'min'), (True, 'max')):
        other = 'max' if k == 'min' else 'min'
        put('v_%s_num_%s' % (k, t), 2, lambda a, b, mx=mx: number(F, a, b, mx), G12)
        put('v_%s3_num_%s' % (k, t), 3, lambda a, b, c, mx=mx: number(F, number(F, a, b, mx), c, mx), G12)
        put('v_%s%s_num_%s' % (k, other, t), 3, lambda a, b, c, mx=mx: number(F, number(F, a, b, mx), c, not mx), G12)
        put('v_%simum_%s' % (k, t), 2, lambda a, b, mx=mx: nan_wins(F, a, b, mx), G12)
        put('v_%simum3_%s' % (k, t), 3, lambda a, b, c, mx=mx: nan_wins(F, nan_wins(F, a, b, mx), c, mx), G12)
        put('v_%simum%simum_%s' % (k, other, t), 3, lambda a, b, c, mx=mx: nan_wins(F, nan_wins(F, a, b, mx), c, not mx), G12)
        for ieee, mode in ((False, 0xf0), (True, 0x2f0)):
            put('v_%s%s_%s' % (k, other, t), 3, lambda a, b, c, mx=mx, ieee=ieee: F.minmax(F.minmax(a, b, mx, ieee), c, not mx, ieee), G11, mode, ' IEEE' if ieee else '')
    put('v_med3_num_%s' % t, 3, lambda a, b, c: median(F, a, b, c), G12)
A64, B64 = f64s(64), f64s(64)
def pair64(row, f):
    r = [f(p, q) for p, q in zip(A64, B64)]
    for d in (10, 0):
        both11('%s v%d' % (row, d), '%s v[%d:%d], v[0:1], v[2:3]' % (row, d, d + 1), [('v0', lo(A64)), ('v1', hi(A64)), ('v2', lo(B64)), ('v3', hi(B64))], [('v%d' % d, lo(r)), ('v%d' % (d + 1), hi(r))], G12)
for mx, k in ((False, 'min'), (True, 'max')):
    pair64('v_%s_num_f64' % k, lambda a, b, mx=mx: number(F64, a, b, mx))
    pair64('v_%simum_f64' % k, lambda a, b, mx=mx: nan_wins(F64, a, b, mx))
    each('v_pk_%s_num_f16' % k, [P, Q], lambda a, b, mx=mx: number(F16, low(a), low(b), mx) | number(F16, high(a), high(b), mx) << 16, G12)
    each('v_pk_%simum_f16' % k, [P, Q], lambda a, b, mx=mx: nan_wins(F16, low(a), low(b), mx) | nan_wins(F16, high(a), high(b), mx) << 16, G12)
    each('v_pk_%simum_f16' % k, [P, Q], lambda a, b, mx=mx: nan_wins(F16, high(a), low(b) ^ 0x8000, mx) | nan_wins(F16, low(a), high(b), mx) << 16, G12, text='v_pk_%simum_f16 v10, v0, v1 op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]' % k, name=' op_sel')
for sign, f in (('u', lambda x: x), ('i', s32)):
    each('v_minmax_%s32' % sign, [U, V, W], lambda a, b, c, f=f: max(min(f(a), f(b)), f(c)))
    each('v_maxmin_%s32' % sign, [U, V, W], lambda a, b, c, f=f: min(max(f(a), f(b)), f(c)))
each('v_min_num_f32', [X, Y], lambda a, b: number(F32, a & 0x7fffffff, b ^ 1 << 31, False), G12, text='v_min_num_f32_e64 v10, |v0|, -v1', name=' modifiers')
each('v_max_num_f32', [X], lambda a: number(F32, a, a, True), G12, text='v_max_num_f32_e32 v10, v0, v0', name=' of itself')

# ---------------------------------------------------------------- halves of registers
each('v_mov_b16', [U], lambda a, d: to_low(d, a), text='v_mov_b16_e32 v10.l, v0.l', old=D, name=' l l')
each('v_mov_b16', [U], lambda a, d: to_high(d, a), text='v_mov_b16_e32 v10.h, v0.l', old=D, name=' h l')
each('v_mov_b16', [U], lambda a, d: to_low(d, high(a)), text='v_mov_b16_e64 v10.l, v0.h', old=D, name=' l h')
each('v_mov_b16', [], lambda d: to_high(d, 0x1234), text='v_mov_b16_e32 v10.h, 0x1234', old=D, name=' literal')
each('v_not_b16', [U], lambda a, d: to_high(d, ~high(a)), text='v_not_b16_e32 v10.h, v0.h', old=D)
for row, f in (('v_and_b16', lambda a, b: a & b), ('v_or_b16', lambda a, b: a | b), ('v_xor_b16', lambda a, b: a ^ b)):
    each(row, [U, V], lambda a, b, d, f=f: to_low(d, f(a, high(b))), text=row + ' v10.l, v0.l, v1.h', old=D, name=' l l h')
    each(row, [U, V], lambda a, b, d, f=f: to_high(d, f(high(a), b)), text=row + ' v10.h, v0.h, v1.l', old=D, name=' h h l')
both11('v_swap_b16 h l', 'v_swap_b16 v0.h, v1.l', [('v0', U), ('v1', V)], [('v0', [to_high(a, b) for a, b in zip(U, V)]), ('v1', [to_low(b, high(a)) for a, b in zip(U, V)])])
both11('v_swap_b16 l l', 'v_swap_b16 v0.l, v1.l', [('v0', U), ('v1', V)], [('v0', [to_low(a, b) for a, b in zip(U, V)]), ('v1', [to_low(b, a) for a, b in zip(U, V)])])
both11('v_swap_b16 of one register', 'v_swap_b16 v0.h, v0.l', [('v0', U)], [('v0', [low(a) << 16 | high(a) for a in U])])
for h, put in (('l', to_low), ('h', to_high)):
    each('v_add_f16', [P, Q], lambda a, b, d, put=put: put(d, F16.add(high(a), low(b))), text='v_add_f16_e32 v10.%s, v0.h, v1.l' % h, old=D, name=' %s h l' % h)
    each('v_mul_f16', [P, Q], lambda a, b, d, put=put: put(d, F16.mul(low(a), high(b) ^ 0x8000)), text='v_mul_f16_e64 v10.%s, v0.l, -v1.h' % h, old=D, name=' %s l -h' % h)
    each('v_fma_f16', [P, Q, R], lambda a, b, c, d, put=put: put(d, F16.fma(low(a), high(b), high(c))), text='v_fma_f16 v10.%s, v0.l, v1.h, v2.h' % h, old=D, name=' %s l h h' % h)
    each('v_fmac_f16', [P, Q], lambda a, b, d, put=put, h=h: put(d, F16.fma(high(a), low(b), high(d) if h == 'h' else low(d))), text='v_fmac_f16_e32 v10.%s, v0.h, v1.l' % h, old=R, name=' ' + h)
    each('v_fmamk_f16', [P, Q], lambda a, b, d, put=put: put(d, F16.fma(high(a), 0x4248, low(b))), text='v_fmamk_f16 v10.%s, v0.h, 0x4248, v1.l' % h, old=D, name=' ' + h)
    each('v_cvt_f16_f32', [X], lambda a, d, put=put: put(d, F16.convert(F32, a)), text='v_cvt_f16_f32_e32 v10.%s, v0' % h, old=D, name=' ' + h)
    each('v_add_u16', [U, V], lambda a, b, d, put=put: put(d, high(a) + low(b)), text='v_add_nc_u16 v10.%s, v0.h, v1.l' % h, old=D, name=' ' + h)
    each('v_sub_u16', [U, V], lambda a, b, d, put=put: put(d, max(low(a) - high(b), 0)), text='v_sub_nc_u16 v10.%s, v0.l, v1.h clamp' % h, old=D, name=' clamp ' + h)
    each('v_mul_lo_u16', [U, V], lambda a, b, d, put=put: put(d, high(a) * high(b)), text='v_mul_lo_u16 v10.%s, v0.h, v1.h' % h, old=D, name=' ' + h)
    each('v_min_i16', [U, V], lambda a, b, d, put=put: put(d, min(s16(high(a)), s16(b))), text='v_min_i16 v10.%s, v0.h, v1.l' % h, old=D, name=' ' + h)
    each('v_max3_u16', [U, V, W], lambda a, b, c, d, put=put: put(d, max(high(a), low(b), high(c))), text='v_max3_u16 v10.%s, v0.h, v1.l, v2.h' % h, old=D, name=' ' + h)
    each('v_mad_u16', [U, V, W], lambda a, b, c, d, put=put: put(d, low(a) * high(b) + high(c)), text='v_mad_u16 v10.%s, v0.l, v1.h, v2.h' % h, old=D, name=' ' + h)
    each('v_lshlrev_b16', [U, V], lambda a, b, d, put=put: put(d, high(b) << (high(a) & 15)), text='v_lshlrev_b16 v10.%s, v0.h, v1.h' % h, old=D, name=' ' + h)
    each('v_ashrrev_i16', [U, V], lambda a, b, d, put=put: put(d, s16(high(b)) >> (a & 15)), text='v_ashrrev_i16 v10.%s, v0.l, v1.h' % h, old=D, name=' ' + h)
    each('v_sat_pk_u8_i16_half', [U], lambda a, d, put=put: put(d, min(max(s16(a), 0), 255) | min(max(s16(high(a)), 0), 255) << 8), text='v_sat_pk_u8_i16_e32 v10.%s, v0' % h, old=D, name=' ' + h)
sign = lambda x: x ^ 0x8000
for size, mask in ((32, 's8'), (64, 's[8:9]')):
    for name, f, text in ((' l h', lambda a, b: (low(a), high(b)), 'v_cndmask_b16 v10.l, v0.l, v1.h, %s'), (' h: -l |h|', lambda a, b: (sign(low(a)), high(b) & 0x7fff), 'v_cndmask_b16 v10.h, -v0.l, |v1.h|, %s')):
        r = [(to_low if 'v10.l' in text else to_high)(d, f(a, b)[cin >> l & 1]) for l, (a, b, d) in enumerate(zip(U, V, D))]
        both11('v_cndmask_b16' + name, text % mask, [('v0', U), ('v1', V), ('v10', D), ('s8', [cin & M32, cin >> 32])], [('v10', r)], sizes=(size,))
        both11('v_cndmask_b16 v0' + name, (text % mask).replace('v10', 'v0'), [('v0', U), ('v1', V), ('s8', [cin & M32, cin >> 32])], [('v0', [(to_low if 'v10.l' in text else to_high)(a, f(a, b)[cin >> l & 1]) for l, (a, b) in enumerate(zip(U, V))])], sizes=(size,))
each('v_cvt_f32_f16', [P], lambda a: H32(high(a)), text='v_cvt_f32_f16_e32 v10, v0.h', name=' h')
each('v_cvt_i32_i16', [U], lambda a: s16(a), text='v_cvt_i32_i16_e32 v10, v0.l', name=' l')
each('v_cvt_i32_i16', [U], lambda a: s16(high(a)), text='v_cvt_i32_i16_e32 v10, v0.h', name=' h')
each('v_cvt_u32_u16', [U], lambda a: low(a), text='v_cvt_u32_u16_e64 v10, v0.l', name=' l')
each('v_cvt_u32_u16', [U], lambda a: high(a), text='v_cvt_u32_u16_e64 v10, v0.h', name=' h')
each('v_pack_b32_f16', [P, Q], lambda a, b: high(a) | low(b) << 16, text='v_pack_b32_f16 v10, v0.h, v1.l', name=' h l')
each('v_mad_u32_u16', [U, V, W], lambda a, b, c: high(a) * low(b) + c, text='v_mad_u32_u16 v10, v0.h, v1.l, v2', name=' h l')
each('v_mad_i32_i16', [U, V, W], lambda a, b, c: s16(a) * s16(high(b)) + c, text='v_mad_i32_i16 v10, v0.l, v1.h, v2', name=' l h')
for h, part in (('l', low), ('h', high)):
    each('v_alignbit_b32', [U, V, W], lambda a, b, c, part=part: (a << 32 | b) >> (part(c) & 31), text='v_alignbit_b32 v10, v0, v1, v2.' + h, name=' ' + h)
    each('v_alignbyte_b32', [U, V, W], lambda a, b, c, part=part: (a << 32 | b) >> 8 * (part(c) & 3), text='v_alignbyte_b32 v10, v0, v1, v2.' + h, name=' ' + h)
def class_of(F, x):
    if F.nan(x): return 0 if F.snan(x) else 1
    kind = 'inf' if F.isinf(x) else 'zero' if F.zero(x) else 'denormal' if F.denormal(x) else 'normal'
    return {'inf': (9, 2), 'normal': (8, 3), 'denormal': (7, 4), 'zero': (6, 5)}[kind][F.neg(x)]
def compare(name, text, sets, f, targets=ALL3):
    both11(name, lambda size: text % VCC(size), sets + [('vcc', [0x123456789abcdef0])], lambda size: [('vcc', [mask_of(size, f) | (0x12345678 << 32 if size == 32 else 0)])], targets)
def ordered(F, a, b): return not F.nan(a) and not F.nan(b)
two16 = [('v0', P), ('v1', Q)]
compare('v_cmp_lt_f16 h l', 'v_cmp_lt_f16_e32 %s, v0.h, v1.l', two16, lambda l: ordered(F16, high(P[l]), low(Q[l])) and F16.order(high(P[l])) < F16.order(low(Q[l])))
compare('v_cmp_ge_f16 l h', 'v_cmp_ge_f16_e64 %s, v0.l, -v1.h', two16, lambda l: ordered(F16, low(P[l]), high(Q[l])) and F16.order(low(P[l])) >= F16.order(sign(high(Q[l]))))
compare('v_cmp_gt_i16 h l', 'v_cmp_gt_i16_e32 %s, v0.h, v1.l', [('v0', U), ('v1', V)], lambda l: s16(high(U[l])) > s16(V[l]))
compare('v_cmp_le_u16 l h', 'v_cmp_le_u16_e64 %s, v0.l, v1.h', [('v0', U), ('v1', V)], lambda l: low(U[l]) <= high(V[l]))
TESTS = [rng.getrandbits(32) for _ in range(64)]
compare('v_cmp_class_f16 h h', 'v_cmp_class_f16_e32 %s, v0.h, v1.h', [('v0', P), ('v1', TESTS)], lambda l: high(TESTS[l]) >> class_of(F16, high(P[l])) & 1)
compare('v_cmp_class_f16 l h', 'v_cmp_class_f16_e64 %s, -v0.l, v1.h', [('v0', P), ('v1', TESTS)], lambda l: high(TESTS[l]) >> class_of(F16, sign(low(P[l]))) & 1)

# ---------------------------------------------------------------- two operations in one
def dot2acc(a, b, d, element):
    t = F32.flush(d)
    for n in (low, high): t = F32.fma(element(n(a)), element(n(b)), t)
    return F32.flush(t)
def no_denormal_half(x): return x & ~0x7fff7fff | (x & 0x7fff7fff if all(h & 0x7c00 for h in (low(x), high(x))) else 0x3c003c00)
DUAL = {'fmac_f32': lambda a, b, d, v: F32.fma(a, b, d), 'mul_f32': lambda a, b, d, v: F32.mul(a, b), 'add_f32': lambda a, b, d, v: F32.add(a, b),
        'sub_f32': lambda a, b, d, v: F32.sub(a, b), 'subrev_f32': lambda a, b, d, v: F32.sub(b, a), 'mul_dx9_zero_f32': lambda a, b, d, v: 0 if F32.zero(a) or F32.zero(b) else F32.mul(a, b),
        'cndmask_b32': lambda a, b, d, v: b if v else a, 'max_f32': lambda a, b, d, v: F32.minmax(a, b, True, False), 'min_f32': lambda a, b, d, v: F32.minmax(a, b, False, False),
        'max_num_f32': lambda a, b, d, v: number(F32, a, b, True), 'min_num_f32': lambda a, b, d, v: number(F32, a, b, False),
        'add_nc_u32': lambda a, b, d, v: a + b, 'lshlrev_b32': lambda a, b, d, v: b << (a & 31), 'and_b32': lambda a, b, d, v: a & b,
        'dot2acc_f32_f16': lambda a, b, d, v: dot2acc(a, b, d, H32), 'dot2acc_f32_bf16': lambda a, b, d, v: dot2acc(a, b, d, lambda h: h << 16)}
ONLY = {'max_f32': G11, 'min_f32': G11, 'max_num_f32': G12, 'min_num_f32': G12}
SECOND = ('add_nc_u32', 'lshlrev_b32', 'and_b32')     # LLVM: of the second operation alone
for name, f in DUAL.items():
    floats = 'f32' in name and 'dot2' not in name
    a, b, d = (X, Y, Z) if floats else (P, Q, Z) if 'f16' in name and 'bf16' not in name else (U, V, W)
    if 'dot2acc' in name: a, b = [no_denormal_half(x) for x in a], [no_denormal_half(x) for x in b]
    r = [f(p, q, o, cin >> l & 1) & M32 for l, (p, q, o) in enumerate(zip(a, b, d))]
    sets = [('v0', a), ('v1', b), ('v10', d), ('v11', d), ('v12', U), ('vcc', [cin])]
    if name not in SECOND: both11('v_dual_%s first' % name, 'v_dual_%s v10, v0, v1 :: v_dual_mov_b32 v11, v13' % name, sets + [('v13', V)], [('v10', r), ('v11', V)], ONLY.get(name, ALL3), sizes=(32,))
    if 'dot2acc' in name: continue       # LLVM takes it as the first one only
    both11('v_dual_%s second' % name, 'v_dual_mov_b32 v10, v13 :: v_dual_%s v11, v0, v1' % name, sets + [('v13', V)], [('v11', r), ('v10', V)], ONLY.get(name, ALL3), sizes=(32,))
K = 0x40490fdb
both11('v_dual_fmaak_f32', 'v_dual_fmaak_f32 v10, v0, v1, 0x40490fdb :: v_dual_fmamk_f32 v11, v2, 0x40490fdb, v3', [('v0', X), ('v1', Y), ('v2', Z), ('v3', Y)], [('v10', [F32.fma(p, q, K) for p, q in zip(X, Y)]), ('v11', [F32.fma(p, K, q) for p, q in zip(Z, Y)])], sizes=(32,))
both11('v_dual_fmamk_f32', 'v_dual_fmamk_f32 v10, s8, 0x40490fdb, v1 :: v_dual_mov_b32 v11, 0x40490fdb', [('s8', [0x40000000]), ('v1', Y)], [('v10', [F32.fma(0x40000000, K, q) for q in Y]), ('v11', [K])], sizes=(32,))
both11('v_dual exchange', 'v_dual_mov_b32 v10, v11 :: v_dual_mov_b32 v11, v10', [('v10', U), ('v11', V)], [('v10', V), ('v11', U)], sizes=(32,))
both11('v_dual second reads what the first writes', 'v_dual_add_f32 v10, v1, v10 :: v_dual_mul_f32 v11, v10, v3', [('v10', X), ('v1', Y), ('v3', Z)], [('v10', [F32.add(q, p) for p, q in zip(X, Y)]), ('v11', [F32.mul(p, r) for p, r in zip(X, Z)])], sizes=(32,))
both11('v_dual first reads what the second writes', 'v_dual_fmac_f32 v10, v11, v1 :: v_dual_fmac_f32 v11, v0, v2', [('v10', X), ('v11', Y), ('v0', Z), ('v1', X), ('v2', Y)], [('v10', [F32.fma(q, p, p) for p, q in zip(X, Y)]), ('v11', [F32.fma(r, q, q) for q, r in zip(Y, Z)])], sizes=(32,))
both11('v_dual accumulators cross', 'v_dual_fmac_f32 v10, v11, v1 :: v_dual_fmac_f32 v11, v10, v2', [('v10', X), ('v11', Y), ('v1', Z), ('v2', X)], [('v10', [F32.fma(q, r, p) for p, q, r in zip(X, Y, Z)]), ('v11', [F32.fma(p, p, q) for p, q in zip(X, Y)])], sizes=(32,))
both11('v_dual in a row', ['v_dual_mov_b32 v10, v11 :: v_dual_mov_b32 v11, v10', 'v_dual_mov_b32 v12, v10 :: v_dual_add_nc_u32 v13, v11, v1'], [('v10', U), ('v11', V), ('v1', W)], [('v10', V), ('v11', U), ('v12', V), ('v13', [p + q for p, q in zip(U, W)])], sizes=(32,))

# ---------------------------------------------------------------- DPP in VOP3 and compares, DPP8; SGPRs from gfx11.5 on
def dpp(control, l, size):
    """The lane that is read, or None"""
    row, at = l & ~15, l & 15
    if control[0] == 'row_shr': return l - control[1] if at >= control[1] else None
    if control[0] == 'row_share': return row | control[1]
    if control[0] == 'row_xmask': return row | at ^ control[1]
    if control[0] == 'quad_perm': return l & ~3 | control[1][l & 3]
    return l & ~7 | control[1][l & 7]
def dpp_text(c): return c[0] + ':' + str(c[1]).replace(' ', '') + ('' if c[0] == 'dpp8' else ' row_mask:0xf bank_mask:0xf')
def with_dpp(name, text, sources, f, control, bound=False, targets=ALL3, masks=''):
    def expects(size):
        r = []
        for l in range(64):
            if l >= size: r.append(0); continue
            s = dpp(control, l, size)
            valid = s is not None and on(s)
            if not valid and not bound and control[0] != 'dpp8': r.append(D[l]); continue
            x = sources[0][s] if valid else 0
            r.append(f(x, *[v[l] for v in sources[1:]]) & M32)
        return [('v10', r)]
    both11(name + ' ' + control[0] + (' bound' if bound else ''), text + ' ' + dpp_text(control) + (' bound_ctrl:1' if bound else ''), [('v%d' % i, v) for i, v in enumerate(sources)] + [('v10', D), ('s8', [0x40490fdb])], expects, targets)
PERM, EIGHT = ('quad_perm', [3, 0, 2, 1]), ('dpp8', [7, 0, 5, 2, 3, 6, 1, 4])
for control in (('row_shr', 3), ('row_share', 5), ('row_xmask', 9), PERM, EIGHT):
    for bound in (False, True):
        if bound and control is EIGHT: continue
        with_dpp('v_fma_f32', 'v_fma_f32_e64_dpp v10, v0, v1, v2', [X, Y, Z], lambda a, b, c: F32.fma(a, b, c), control, bound)
        with_dpp('v_add3_u32', 'v_add3_u32_e64_dpp v10, v0, v1, v2', [U, V, W], lambda a, b, c: a + b + c, control, bound)
        with_dpp('v_add_f32', 'v_add_f32_e64_dpp v10, v0, s8', [X], lambda a: F32.add(a, 0x40490fdb), control, bound, G115)
def compare_dpp(name, control, text, bound=False):
    def bits(size):
        def f(l):
            s = dpp(control, l, size)
            valid = s is not None and on(s) and s < size
            if not valid and not bound and control[0] != 'dpp8': return False
            return (U[s] if valid else 0) > V[l]
        return mask_of(size, f)
    both11(name + ' ' + control[0] + (' bound' if bound else ''), lambda size: text % (VCC(size) if '_e64' not in text else mask_name(size, 6)) + ' ' + dpp_text(control) + (' bound_ctrl:1' if bound else ''), [('v0', U), ('v1', V), ('vcc', [0x123456789abcdef0]), ('s6', [1, 0x5e5e5e5e])],
           lambda size: mask_register(size, 6, bits(size)) if '_e64' in text else [('vcc', [bits(size) | (0x12345678 << 32 if size == 32 else 0)])])
for control in (('row_shr', 3), PERM, EIGHT):
    for bound in (False, True):
        if bound and control is EIGHT: continue
        compare_dpp('v_cmp_gt_u32 dpp', control, 'v_cmp_gt_u32 %s, v0, v1', bound)
        compare_dpp('v_cmp_gt_u32 e64 dpp', control, 'v_cmp_gt_u32_e64_dpp %s, v0, v1', bound)
both11('v_add_f16 dpp h', 'v_add_f16_dpp v10.h, v0.h, v1.l quad_perm:[1,1,1,1] row_mask:0xf bank_mask:0xf bound_ctrl:1', [('v0', P), ('v1', Q), ('v10', D)], lambda size: [('v10', [to_high(D[l], F16.add(high(P[l & ~3 | 1]) if on(l & ~3 | 1) else 0, low(Q[l]))) for l in range(64)])])

# ---------------------------------------------------------------- lanes
def permuted(row, other, numbers):
    def expects(size):
        r = []
        for l in range(64):
            s = (l & ~15 ^ (16 if other else 0)) | numbers[l] & 15
            r.append(U[s] if s < size and on(s) else D[l])
        return [('v10', r)]
    both11(row, row + ' v10, v0, v1', [('v0', U), ('v1', numbers), ('v10', D)], expects, G12)
    both11(row + ' fi', row + ' v10, v0, v1 op_sel:[1,0]', [('v0', U), ('v1', numbers), ('v10', D)], [('v10', [U[(l & ~15 ^ (16 if other else 0)) | numbers[l] & 15] for l in range(64)])], G12)
permuted('v_permlane16_var_b32', False, V)
permuted('v_permlanex16_var_b32', True, V)
both11('v_permlane64_b32', 'v_permlane64_b32 v10, v0', [('v0', U), ('v10', D)], [('v10', [U[l ^ 32] for l in range(64)])], sizes=(64,))
both11('v_permlane64_b32', 'v_permlane64_b32 v10, v0', [('v0', U), ('v10', D)], [('v10', D)], sizes=(32,))

# ---------------------------------------------------------------- dot products, conversions
def fields(x, bits, signed):
    for i in range(32 // bits):
        v = x >> bits * i & (1 << bits) - 1
        yield v - (1 << bits) if signed and v >> bits - 1 else v
for row, bits in (('v_dot4_i32_iu8', 8), ('v_dot8_i32_iu4', 4)):
    for a, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
        each(row, [U, V, W], lambda x, y, z, a=a, b=b, bits=bits: s32(z) + sum(p * q for p, q in zip(fields(x, bits, a), fields(y, bits, b))), text='%s v10, v0, v1, v2 neg_lo:[%d,%d,0]' % (row, a, b), name=' neg %d %d' % (a, b))
    each(row, [U, V, W], lambda x, y, z, bits=bits: max(-1 << 31, min((1 << 31) - 1, s32(z) + sum(p * q for p, q in zip(fields(x, bits, 1), fields(y, bits, 1))))), text=row + ' v10, v0, v1, v2 neg_lo:[1,1,0] clamp', name=' clamp')
small = lambda S: [c for c in range(256) if c & 127 < S.top + 1]
for row, A, B in (('fp8_fp8', FP8, FP8), ('fp8_bf8', FP8, BF8), ('bf8_fp8', BF8, FP8), ('bf8_bf8', BF8, BF8)):
    codes = lambda S: [sum(rng.choice(small(S)) << 8 * i for i in range(4)) for _ in range(64)]
    def value(S, c): return F32.encode(S.value(c & 127), 0, False) | (c >> 7 & 1) << 31
    a, b = codes(A), codes(B)
    def dot4(x, y, z, A=A, B=B, neg=False):
        t = F32.flush(z ^ neg << 31)
        for i in range(4): t = F32.fma(value(A, x >> 8 * i & 255), value(B, y >> 8 * i & 255), t)
        return F32.flush(t)
    each('v_dot4_f32_' + row, [a, b, Z], dot4, G12)
    each('v_dot4_f32_' + row, [a, b, Z], lambda x, y, z: dot4(x, y, z, neg=True), G12, text='v_dot4_f32_%s v10, v0, v1, v2 neg_lo:[0,0,1]' % row, name=' neg')
# Sums that 16 bits hold exactly, whatever is rounded when.
exact16 = lambda: F16.encode(Fr(rng.randint(-8, 8), 2))
pairs = lambda f: [f() | f() << 16 for _ in range(64)]
a, b, c = pairs(exact16), pairs(exact16), pairs(exact16)
sum16 = lambda x, y, z: F16.encode(F16.value(low(x)) * F16.value(low(y)) + F16.value(high(x)) * F16.value(high(y)) + F16.value(z))
each('v_dot2_f16_f16', [a, b, c], lambda x, y, z, d: to_low(d, sum16(x, y, low(z))), text='v_dot2_f16_f16 v10.l, v0, v1, v2.l', old=D, name=' l')
each('v_dot2_f16_f16', [a, b, c], lambda x, y, z, d: to_high(d, sum16(x, y, sign(high(z)))), text='v_dot2_f16_f16 v10.h, v0, v1, -v2.h', old=D, name=' h')
exactb = lambda: F32.encode(Fr(rng.randint(-3, 3), 2)) >> 16
a, b, c = pairs(exactb), pairs(exactb), pairs(exactb)
bvalue = lambda h: F32.value(h << 16)
sumb = lambda x, y, z: F32.encode(bvalue(low(x)) * bvalue(low(y)) + bvalue(high(x)) * bvalue(high(y)) + bvalue(z)) >> 16
each('v_dot2_bf16_bf16', [a, b, c], lambda x, y, z, d: to_low(d, sumb(x, y, low(z))), text='v_dot2_bf16_bf16 v10.l, v0, v1, v2.l', old=D, name=' l')
each('v_dot2_bf16_bf16', [a, b, c], lambda x, y, z, d: to_high(d, sumb(x, y, high(z))), text='v_dot2_bf16_bf16 v10.h, v0, v1, v2.h', old=D, name=' h')
both11('v_dot2_f16_f16 with NEG of a pair', 'v_dot2_f16_f16 v10.l, -v0, v1, v2.l', [('v10', D)], [('v10', D)], lines=['exit unimplemented'])
bf = lambda h: h << 16
def dot2b(x, y, z):
    t = F32.flush(z)
    for n in (low, high): t = F32.fma(bf(n(x)), bf(n(y)), t)
    return F32.flush(t)
wide = [rng.getrandbits(32) & 0xbfffbfff | 0x20002000 for _ in range(64)]
each('v_dot2_f32_bf16_rdna3', [wide, wide[::-1], Z], dot2b, text='v_dot2_f32_bf16 v10, v0, v1, v2')
for row, lo_, hi_ in (('v_cvt_pk_i16_f32', -32768, 32767), ('v_cvt_pk_u16_f32', 0, 65535)):
    each(row, [X, Y], lambda a, b, lo_=lo_, hi_=hi_: F32.to_int(a, lo_, hi_) & 0xffff | (F32.to_int(b, lo_, hi_) & 0xffff) << 16)
for n, S in (('fp8', FP8), ('bf8', BF8)):
    codes = [sum(rng.choice(small(S)) << 8 * i for i in range(4)) for _ in range(64)]
    v = lambda c, S=S: F32.encode(S.value(c & 127), 0, False) | (c >> 7 & 1) << 31
    each('v_cvt_f32_' + n, [codes], lambda a: v(a & 255), G12, text='v_cvt_f32_%s_e32 v10, v0' % n)
    for byte in range(4): each('v_cvt_f32_' + n, [codes], lambda a, byte=byte: v(a >> 8 * byte & 255), G12, text='v_cvt_f32_%s_e64 v10, v0 byte_sel:%d' % (n, byte), name=' byte %d' % byte)
    for h, shift in (('l', 0), ('h', 16)):
        both11('v_cvt_pk_f32_%s %s' % (n, h), 'v_cvt_pk_f32_%s_e32 v[10:11], v0.%s' % (n, h), [('v0', codes)], [('v10', [v(a >> shift & 255) for a in codes]), ('v11', [v(a >> shift + 8 & 255) for a in codes])], G12)

# ---------------------------------------------------------------- scalars
def scalars(row, n, f, values, targets=G115, mode=0xf0, text='', acc=False, name='', width=1):
    """f of n sources, for eight sets of them, into s60 and on"""
    asm, sets, expects = [], [], []
    for i in range(8):
        regs = [8 + 4 * i + k for k in range(n)]
        xs = [values() for _ in range(n)]
        sets += [('s%d' % r, [x]) for r, x in zip(regs, xs)]
        d = values()
        sets.append(('s%d' % (60 + i), [d]))
        asm.append('%s s%d, %s' % (row, 60 + i, ', '.join(['s%d' % r for r in regs])) + text)
        expects.append(('s%d' % (60 + i), [f(*xs, d) & M32 if acc else f(*xs) & M32]))
    both11(row + name, asm, sets, expects, targets, mode, sizes=(32,))
def pool(must, more):
    left = []
    def next_():
        if not left: left.extend(rng.sample(must, len(must)) + [more() for _ in range(4)])
        return left.pop()
    return next_
s32v, s16v, uv = pool(MUSTF32, f32_random), pool(MUSTF16, lambda: rng.getrandbits(16)), pool(MUST32, lambda: rng.getrandbits(32))
junk = lambda f: lambda: f() | rng.getrandbits(16) << 16
for F, t, values in ((F32, 'f32', s32v), (F16, 'f16', junk(s16v))):
    cut = (lambda x: x) if t == 'f32' else low
    def put(row, n, f, targets=G115, mode=0xf0, acc=False, name=''):
        for again in range(3): scalars('s_%s_%s' % (row, t), n, lambda *xs: f(*[cut(x) for x in xs]), values, targets, mode, acc=acc, name=name + ' %d' % again)
    put('add', 2, F.add); put('sub', 2, F.sub); put('mul', 2, F.mul); put('fmac', 2, lambda a, b, d: F.fma(a, b, d), acc=True)
    for rnd in (1, 2, 3): put('add', 2, lambda a, b, rnd=rnd: F.add(a, b, rnd), mode=0xf0 | rnd * 5, name=' rounding %d' % rnd)
    put('mul', 2, lambda a, b: F.flush(F.mul(F.flush(a), F.flush(b))), mode=0, name=' flushed')
    for mx, k in ((False, 'min'), (True, 'max')):
        put(k, 2, lambda a, b, mx=mx: F.minmax(a, b, mx, False), ['gfx1150'])
        put(k, 2, lambda a, b, mx=mx: F.minmax(a, b, mx, True), ['gfx1150'], 0x2f0, name=' IEEE')
        put(k + '_num', 2, lambda a, b, mx=mx: number(F, a, b, mx), G12)
        put(k + 'imum', 2, lambda a, b, mx=mx: nan_wins(F, a, b, mx), G12)
    for how in ('ceil', 'floor', 'trunc', 'rndne'): put(how, 1, lambda a, how=how: F.integral(a, how))
    tests = {'lt': lambda a, b: F.order(a) < F.order(b), 'eq': lambda a, b: F.order(a) == F.order(b), 'le': lambda a, b: F.order(a) <= F.order(b), 'gt': lambda a, b: F.order(a) > F.order(b), 'lg': lambda a, b: F.order(a) != F.order(b), 'ge': lambda a, b: F.order(a) >= F.order(b), 'o': lambda a, b: True}
    opposite = {'nge': 'ge', 'nlg': 'lg', 'ngt': 'gt', 'nle': 'le', 'neq': 'eq', 'nlt': 'lt', 'u': 'o'}
    for name in [*tests, *opposite]:
        for again in range(2):
            asm, sets, expects = [], [], []
            for i in range(10):
                a, b = values(), values()
                if i % 4 == 3: b = a
                yes = ordered(F, cut(a), cut(b)) and tests[opposite.get(name, name)](cut(a), cut(b))
                sets += [('s%d' % (8 + 2 * i), [a, b])]
                asm += ['s_cmp_%s_%s s%d, s%d' % (name, t, 8 + 2 * i, 9 + 2 * i), 's_cselect_b32 s%d, 3, 5' % (60 + i)]
                expects.append(('s%d' % (60 + i), [3 if yes != (name in opposite) else 5]))
            both11('s_cmp_%s_%s %d' % (name, t, again), asm, sets, expects, G115, sizes=(32,))
for again in range(3):
    scalars('s_fmaak_f32', 2, lambda a, b: F32.fma(a, b, K), s32v, text=', 0x40490fdb', name=' %d' % again)
    scalars('s_cvt_f32_i32', 1, lambda a: F32.encode(Fr(s32(a))), uv, name=' %d' % again)
    scalars('s_cvt_f32_u32', 1, lambda a: F32.encode(Fr(a)), uv, name=' %d' % again)
    scalars('s_cvt_i32_f32', 1, lambda a: F32.to_int(a, -1 << 31, (1 << 31) - 1), s32v, name=' %d' % again)
    scalars('s_cvt_u32_f32', 1, lambda a: F32.to_int(a, 0, M32), s32v, name=' %d' % again)
    scalars('s_cvt_f16_f32', 1, lambda a: F16.convert(F32, a), s32v, name=' %d' % again)
    scalars('s_cvt_f32_f16', 1, lambda a: H32(low(a)), junk(s16v), name=' %d' % again)
    scalars('s_cvt_hi_f32_f16', 1, lambda a: H32(high(a)), lambda: s16v() << 16 | rng.getrandbits(16), name=' %d' % again)
    scalars('s_cvt_pk_rtz_f16_f32', 2, lambda a, b: F16.convert(F32, a, 3) | F16.convert(F32, b, 3) << 16, s32v, name=' %d' % again)
    scalars('s_pack_hl_b32_b16', 2, lambda a, b: high(a) | low(b) << 16, uv, ALL3, name=' %d' % again)
both11('s_fmamk_f32', 's_fmamk_f32 s6, s8, 0x40490fdb, s9', [('s8', [0x40000000, 0x3f800001])], [('s6', [F32.fma(0x40000000, K, 0x3f800001)])], G115)
both11('s_add_f32 of constants', ['s_add_f32 s6, 0.5, 0x40490fdb', 's_add_f16 s7, 1.0, 0x4248', 's_mul_f32 s9, s8, -4.0'], [('s8', [0x3f800001])], [('s6', [F32.add(0x3f000000, K), F16.add(0x3c00, 0x4248)]), ('s9', [F32.mul(0x3f800001, 0xc0800000)])], G115)
for row, f in (('s_add_nc_u64', lambda a, b: a + b), ('s_sub_nc_u64', lambda a, b: a - b), ('s_mul_u64', lambda a, b: a * b)):
    for i in range(4):
        a, b = rng.choice(MUST64 + [rng.getrandbits(64)]) if i else 0, rng.choice(MUST64) if i < 2 else rng.getrandbits(64)
        if i == 3: a, b = 1 << 63, (1 << 63) - 1
        if i == 1: a, b = M64, M64
        r = f(a, b) & M64
        both11('%s %d' % (row, i), [row + ' s[6:7], s[8:9], s[10:11]', 's_cselect_b32 s12, 3, 5'], [('s8', lo([a]) + hi([a]) + lo([b]) + hi([b])), ('scc', [i & 1])], [('s6', [r & M32, r >> 32]), ('s12', [3 if i & 1 else 5])], G12, sizes=(32,))
# Of arguments with exact results.
for row, F, pairs_ in (('v_s_exp', F32, ((0x40400000, 0x41000000), (0xbf800000, 0x3f000000), (0, 0x3f800000), (0x80000000, 0x3f800000), (0xff800000, 0), (0x7f800000, 0x7f800000), (0x7f812345, 0x7fc12345))),
                       ('v_s_log', F32, ((0x41000000, 0x40400000), (0x3f000000, 0xbf800000), (0x3f800000, 0), (0, 0xff800000), (0x80000000, 0xff800000), (0x7f800000, 0x7f800000), (0x7f812345, 0x7fc12345))),
                       ('v_s_rcp', F32, ((0x40000000, 0x3f000000), (0xc0800000, 0xbe800000), (0, 0x7f800000), (0x80000000, 0xff800000), (0xff800000, 0x80000000), (0x7f812345, 0x7fc12345))),
                       ('v_s_rsq', F32, ((0x40800000, 0x3f000000), (0x3e800000, 0x40000000), (0, 0x7f800000), (0x80000000, 0xff800000), (0x7f800000, 0), (0x7f812345, 0x7fc12345))),
                       ('v_s_sqrt', F32, ((0x40800000, 0x40000000), (0x41100000, 0x40400000), (0, 0), (0x80000000, 0x80000000), (0x7f800000, 0x7f800000), (0x7f812345, 0x7fc12345)))):
    halves = [(F16.convert(F32, a), F16.convert(F32, b)) for a, b in pairs_]
    for t, list_ in (('f32', pairs_), ('f16', [(a | 0xabcd0000, b) for a, b in halves])):
        both11('%s_%s' % (row, t), ['%s_%s s%d, s%d' % (row, t, 60 + i, 8 + i) for i in range(len(list_))], [('s8', [a for a, b in list_])], [('s60', [b for a, b in list_])], G12)
both11('v_s_rcp_f32 modifiers', ['v_s_rcp_f32 s6, -|s8|', 'v_s_rcp_f32 s7, s9 clamp'], [('s8', [0x40000000, 0x3e800000])], [('s6', [0xbf000000, 0x3f800000])], G12)
both11('v_s_sqrt_f32 without lanes', ['s_mov_b64 exec, 0', 'v_s_sqrt_f32 s6, s8'], [('s8', [0x40800000])], [('s6', [0x40000000]), ('exec', [0])], G12)

# ---------------------------------------------------------------- program control
both11('no effect', ['s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(SALU_CYCLE_1)', 's_clause 0x1', 's_mov_b32 s6, 4'], [], [('s6', [4]), ('exec', [EXEC10])])
both11('no effect of gfx11', ['s_set_inst_prefetch_distance 0x3', 's_mov_b32 s6, 4'], [], [('s6', [4]), ('exec', [EXEC10])], G11)
both11('s_sendmsg_rtn: the time goes on', ['s_sendmsg_rtn_b64 s[6:7], sendmsg(MSG_RTN_GET_REALTIME)', 's_sendmsg_rtn_b64 s[8:9], sendmsg(MSG_RTN_GET_REALTIME)', 's_cmp_eq_u64 s[6:7], 0', 's_cselect_b32 s12, 3, 5', 's_sub_u32 s10, s8, s6', 's_subb_u32 s11, s9, s7', 's_cselect_b32 s13, 3, 5'], [('s6', [0, 0])], [('s12', [5, 5])], G11)
both11('s_sendmsg_rtn: another message', 's_sendmsg_rtn_b32 s6, sendmsg(MSG_RTN_GET_DOORBELL)', [], [], lines=['exit unimplemented'])
