# Vector instructions that the first generator leaves out: compares that write EXEC, f16 functions, legacy forms, bf16, swaps.
# Meanings: AMD's pseudo-code; arithmetic: exact_float.py.
from fractions import Fraction as Fr
from generate_cases import *

rng.seed('more')

# ---------------------------------------------------------------- v_cmpx on floats
for ty, F, gen, wide in (('f16', F16, f16s, 0), ('f32', F32, f32s, 0), ('f64', F64, f64s, 1)):
    cut = lo16 if ty == 'f16' else (lambda x: x)
    for n, f in frel.items():
        a, b = gen(64), gen(64)
        for l in range(0, 64, 5): b[l] = a[l]
        def holds(x, y):
            x, y = cut(x), cut(y); o = not F.nan(x) and not F.nan(y)
            return f(F.order(x) if o else 0, F.order(y) if o else 0, o)
        r = mask([holds(x, y) for x, y in zip(a, b)]) & EX
        sets = source(0, a, wide, 0) + source(0, b, wide, 2) + [('exec', [EX])]
        if rng.random() < .5: case('compare', 'v_cmpx_%s_%s' % (n, ty), 'v_cmpx_%s_%s_e32 vcc, %s, %s' % (n, ty, reg(0, wide), reg(2, wide)), sets, [('vcc', [r]), ('exec', [r])])
        else: case('compare', 'v_cmpx_%s_%s' % (n, ty), 'v_cmpx_%s_%s_e64 s[10:11], %s, %s' % (n, ty, reg(0, wide), reg(2, wide)), sets, [('s10', [r & M32, r >> 32]), ('exec', [r])])
    a, k = gen(64), [rng.getrandbits(10) for _ in range(64)]
    r = mask([k[l] >> cls(F, cut(a[l])) & 1 for l in range(64)]) & EX
    case('compare', 'v_cmpx_class_' + ty, 'v_cmpx_class_%s_e32 vcc, %s, v4' % (ty, reg(0, wide)), source(0, a, wide, 0) + [('v4', k), ('exec', [EX])], [('vcc', [r]), ('exec', [r])])

# ---------------------------------------------------------------- f16
H = 'float_f16'
def root16(a):
    if F16.nan(a): return a | F16.quiet
    if F16.zero(a): return a
    if F16.neg(a): return F16.default_nan
    if F16.isinf(a): return a
    from math import isqrt
    n = F16.value(a) * Fr(4) ** 60; r = isqrt(n.numerator // n.denominator)
    return F16.encode(Fr(2 * r + (0 if r * r == n else 1), 2) / Fr(2) ** 60)
vector(H, 'v_sqrt_f16', ['f16'], 32, lambda a: root16(lo16(a)))
# arguments with exact results; error bounds: transcendental_test.cpp
p16_ = lambda n: F16.encode(Fr(2) ** n)
case(H, 'v_rsq_f16', 'v_rsq_f16 v10, v0', [('v0', [p16_(2 * n) for n in (-12, -7, -1, 0, 3, 7)] + [0, 0x8000, 0xbc00, 0x7c00, 0x7d01])], [('v10', [p16_(-n) for n in (-12, -7, -1, 0, 3, 7)] + [0x7c00, 0xfc00, 0xfe00, 0, 0x7f01])])
q16 = [F16.encode(Fr(n, 4), 0, n < 0) for n in range(-5, 6)]
case(H, 'v_sin_f16', 'v_sin_f16 v10, v0', [('v0', [q for q, n in zip(q16, range(-5, 6)) if n & 1] + [0, 0x8000])], [('v10', [F16.encode(Fr(1 if n % 4 == 1 else -1)) for n in range(-5, 6) if n & 1] + [0, 0x8000])])
case(H, 'v_cos_f16', 'v_cos_f16 v10, v0', [('v0', [q for q, n in zip(q16, range(-5, 6)) if not n & 1])], [('v10', [F16.encode(Fr(1 if n % 4 == 0 else -1)) for n in range(-5, 6) if not n & 1])])
def mad16(a, b, c): return F16.add(F16.mul(lo16(a), lo16(b)), lo16(c))
for mname, mode, rnd, flush in modes(F16):
    m2 = wrap(F16, lambda a, b, c: F16.add((F16.flush if flush else lambda x: x)(F16.mul(a, b, rnd)), c, rnd), flush, lo16)
    keep_high = lambda a, b, c, d: m2(a, b, c) | d & 0xffff0000
    vector(H, 'v_mad_f16', ['f16'] * 3, 32, keep_high, dst_init=u32s, mode=mode, name=mname)
    vector(H, 'v_mad_legacy_f16', ['f16'] * 3, 32, m2, mode=mode, name=mname)
    vector(H, 'v_mac_f16_e32', ['f16'] * 2, 32, m2, dst_init=f16s, mode=mode, name=mname)
    a, b = f16s(), f16s()
    case(H, 'v_madmk_f16 ' + mname, 'v_madmk_f16 v10, v0, 0x4248, v2', [('v0', a), ('v2', b)], [('v10', [m2(x, 0x4248, y) for x, y in zip(a, b)])], mode=mode, vary=True)
    case(H, 'v_madak_f16 ' + mname, 'v_madak_f16 v10, v0, v2, 0x4248', [('v0', a), ('v2', b)], [('v10', [m2(x, y, 0x4248) for x, y in zip(a, b)])], mode=mode, vary=True)
    vector(H, 'v_fma_legacy_f16', ['f16'] * 3, 32, wrap(F16, lambda a, b, c: F16.fma(a, b, c, rnd), flush, lo16), mode=mode, name=mname)
vector('division', 'v_div_fixup_legacy_f16', ['f16'] * 3, 32, lambda a, b, c: fixup(F16)(lo16(a), lo16(b), lo16(c)))
unit16 = lambda: [rng.choice(EDGEF16) if rng.random() < .3 else (rng.getrandbits(1) << 15 | rng.randint(5, 15) << 10 | rng.getrandbits(10)) for _ in range(N)]
for sg, n in ((True, 'i16'), (False, 'u16')):
    vector('convert', 'v_cvt_pknorm_%s_f16' % n, ['f16'] * 2, 32, lambda a, b: lo16(norm(F16, lo16(a), sg)) | lo16(norm(F16, lo16(b), sg)) << 16, fixed=[unit16(), unit16()])

# ---------------------------------------------------------------- f32
S32 = 'float_f32'
def legacy_mul(a, b): return 0 if F32.zero(a) or F32.zero(b) else F32.flush(F32.mul(a, b))
vector(S32, 'v_mul_legacy_f32', ['f32'] * 2, 32, lambda a, b: 0 if F32.zero(a) or F32.zero(b) else F32.mul(a, b), target=['gfx803', 'gfx900', 'gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950'], name='every target')
def mad_legacy(a, b, c):
    a, b, c = F32.flush(a), F32.flush(b), F32.flush(c)
    return F32.flush(F32.add(legacy_mul(a, b), c))
vector(S32, 'v_mad_legacy_f32', ['f32'] * 3, 32, mad_legacy)
ints_ = [-149, -126, -127, -1, 0, 1, 10, 127]
case(S32, 'v_exp_legacy_f32', 'v_exp_legacy_f32 v10, v0', [('v0', [F32.encode(Fr(n)) for n in ints_] + [F32.encode(Fr(128)), 0xff800000, 0x7f800000, 0x7f812345])], [('v10', [p2(n) for n in ints_] + [0x7f800000, 0, 0x7f800000, 0x7fc12345])])
case(S32, 'v_log_legacy_f32', 'v_log_legacy_f32 v10, v0', [('v0', [p2(n) for n in ints_] + [0, 0x80000000, 0xbf800000, 0x7f800000, 0x7f812345])], [('v10', [F32.encode(Fr(n)) for n in ints_] + [0xff800000, 0xff800000, 0xffc00000, 0x7f800000, 0x7fc12345])])

# ---------------------------------------------------------------- integers
I_ = 'integer'
vector(I_, 'v_mad_legacy_i16', ['u16'] * 3, 32, lambda a, b, c: h(a * b + c))
for m, f in {'v_min3_u16': lambda a, b, c: min(h(a), h(b), h(c)), 'v_med3_u16': lambda a, b, c: sorted([h(a), h(b), h(c)])[1]}.items():
    vector(I_, m, ['u16'] * 3, 32, keep(f), dst_init=u32s)
vector(I_, 'v_mov_b64', ['u64'], 64, lambda a: a)
a, b, c = u64s(), u32s(), [u32s() for _ in range(4)]
def mqsad(i, x, y, z):
    w_ = x >> (8 * i) & M32
    return z + sum(abs(byte(w_, k) - byte(y, k)) for k in range(4) if byte(y, k)) & M32
case(I_, 'v_mqsad_u32_u8', 'v_mqsad_u32_u8 v[10:13], v[0:1], v2, v[4:7]', [('v0', lo(a)), ('v1', hi(a)), ('v2', b)] + [('v%d' % (4 + i), c[i]) for i in range(4)], [('v%d' % (10 + i), [mqsad(i, x, y, z) for x, y, z in zip(a, b, c[i])]) for i in range(4)], vary=False)
for i in range(3):
    tbl = rng.getrandbits(8)
    vector('small_floats', 'v_bitop3_b16', ['u32'] * 3, 32, lambda a, b, c, d: d & 0xffff0000 | sum((tbl >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1) & 1) << n for n in range(16)), extra='bitop3:0x%x' % tbl, dst_init=u32s)
def pkaccum(a, b, d):
    if F32.nan(a): x = 0
    elif F32.isinf(a): x = 0 if F32.neg(a) else 255
    else:
        v = F32.value(a); q = v.numerator // v.denominator; r = v - q
        x = sat(q + (r > Fr(1, 2) or (r == Fr(1, 2) and q & 1)), 0, 255)
    sh = 8 * (b & 3)
    return d & ~(255 << sh) | x << sh
vector('convert', 'v_cvt_pkaccum_u8_f32', ['f32', 'u32'], 32, pkaccum, dst_init=u32s, fixed=[[rng.choice(EDGEF32) if rng.random() < .3 else F32.encode(Fr(rng.randint(-2000, 5000), 16)) for _ in range(N)], None])

# ---------------------------------------------------------------- bf16, mixed precision
B = 'packed'
wb = lambda x: lo16(x) << 16
pairs = lambda: [rng.choice(EDGEF32) >> 16 | (rng.choice(EDGEF32) >> 16) << 16 if rng.random() < .4 else (0x3c00 + rng.getrandbits(10)) ^ rng.getrandbits(1) << 15 | ((0x3c00 + rng.getrandbits(10)) ^ rng.getrandbits(1) << 15) << 16 for _ in range(N)]
KINDS['pb'] = (pairs, 1)
def dot_bf16_last(a, b, c):
    x = F32.mul(wb(a), wb(b)); x = F32.add(x, F32.mul(wb(a >> 16), wb(b >> 16)))
    return F32.flush(F32.add(x, F32.flush(c)))
def dot_bf16_first(a, b, d):
    return F32.flush(F32.fma(wb(a >> 16), wb(b >> 16), F32.fma(wb(a), wb(b), F32.flush(d))))
vector(B, 'v_dot2_f32_bf16', ['pb', 'pb', 'f32'], 32, dot_bf16_last)
vector(B, 'v_dot2c_f32_bf16_e32', ['pb', 'pb'], 32, dot_bf16_first, dst_init=f32s)
vector('convert', 'v_cvt_f32_bf16', ['f32'], 32, lambda a: (wb(a) | 0x400000) if F32.nan(wb(a)) else wb(a), fixed=[[x >> 16 | rng.getrandbits(16) << 16 for x in f32s() if not F32.snan(x & 0xffff0000)]])
T900 = 'gfx900'
vector(B, 'v_mad_mixlo_f16', ['f32', 'pk', 'f32'], 32, lambda a, b, c, d: F16.flush(F16.convert(F32, mad(a, w32(F16.flush(lo16(b))), c))) | d & 0xffff0000, extra='op_sel_hi:[0,1,0]', dst_init=u32s, target=T900)
vector(B, 'v_mad_mixhi_f16', ['f32', 'pk', 'f32'], 32, lambda a, b, c, d: F16.flush(F16.convert(F32, mad(a, w32(F16.flush(lo16(b))), c))) << 16 | d & 0xffff, extra='op_sel_hi:[0,1,0]', dst_init=u32s, target=T900)

# ---------------------------------------------------------------- scalar
case('scalar', 's_movreld_b64', 's_movreld_b64 s[20:21], s[10:11]', [('m0', [4]), ('s10', [5, 6]), ('s20', [0] * 6)], [('s20', [0, 0, 0, 0, 5, 6])])

# ---------------------------------------------------------------- lanes
L = 'masks'
for width in (16, 32):
    a, b = [rng.getrandbits(32) for _ in range(64)], [rng.getrandbits(32) for _ in range(64)]   # vdst, src0
    d, s = list(a), list(b)
    for l in range(64):
        if not l & width: s[l], d[l + width] = a[l + width], b[l]
    case(L, 'v_permlane%d_swap_b32' % width, 'v_permlane%d_swap_b32 v10, v0' % width, [('v10', a), ('v0', b)], [('v10', d), ('v0', s)])
case(L, 'v_clrexcp v_nop', ['v_clrexcp', 'v_nop', 'v_mov_b32 v10, v0'], [('v0', [7])], [('v10', [7])])
a, b = [rng.getrandbits(32) for _ in range(64)], [rng.getrandbits(32) for _ in range(64)]
for t, n in ((['gfx908'], 'own file'), (['gfx90a', 'gfx942', 'gfx950'], 'unified file')):
    case(L, 'v_accvgpr_write_b32 v_accvgpr_read_b32 ' + n, ['v_accvgpr_write_b32 a3, v0', 'v_accvgpr_read_b32 v10, a3'], [('v0', a), ('v10', b), ('exec', [EX])], [('v10', [x if EX >> l & 1 else y for l, (x, y) in enumerate(zip(a, b))])], t)
# V_SCREEN_PARTITION_4SE_B32: the table of the Vega ISA manual, one digit an entry
SCREEN = ('137f5fff7ffffffff26efafffbffffffdf4cff5fffdfffff9bf8fffafffeffff'
          'ffff4cdf6fffeffffffff89bf99ffdffffff7f13ff9fffbfffff6ef26ff6fff7'
          'bfffffff23bfaffff7fffffff19df5ffffefffffef8cffaffffdffff67f4fff5'
          '9fffdfffffff8ceff66ffefffffff467ff6fff7fffffbf239ff9fffbffff9df1')
vector('integer', 'v_screen_partition_4se_b32', ['u32'], 32, lambda a: int(SCREEN[a & 255], 16))

# ---------------------------------------------------------------- 16-bit sums and differences that saturate
s16_sat = lambda x: sat(x, -32768, 32767) & 0xffff
vector('integer', 'v_subrev_u16', ['u16', 'u16'], 32, lambda a, b: max(lo16(b) - lo16(a), 0), extra='clamp')
vector('integer', 'v_add_i16', ['u16', 'u16'], 32, lambda a, b, d: d & 0xffff0000 | s16_sat(s16(a) + s16(b)), extra='clamp', dst_init=u32s)
vector('integer', 'v_sub_i16', ['u16', 'u16'], 32, lambda a, b, d: d & 0xffff0000 | s16_sat(s16(a) - s16(b)), extra='clamp', dst_init=u32s)
halves = lambda f: (lambda a, b: f(lo16(a), lo16(b)) | f(a >> 16, b >> 16) << 16)
vector('packed', 'v_pk_sub_u16', ['u32', 'u32'], 32, halves(lambda a, b: max(a - b, 0)), extra='clamp')
vector('packed', 'v_pk_add_i16', ['u32', 'u32'], 32, halves(lambda a, b: s16_sat(s16(a) + s16(b))), extra='clamp')
