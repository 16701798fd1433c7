#!/usr/bin/env python3
# Writes cases/*.txt: inputs and expected results of single instructions. Meaning of instructions: AMD's ISA documents (CDNA
# pseudo-code); arithmetic: Python integers and fractions (exact_float.py). Run in this directory after a change; output is
# deterministic.
import os, random
from fractions import Fraction as Fr
from exact_float import F16, F32, F64
import case_files
from case_files import ALL, by_sramecc, case, exists, out, takes, words

M32, M64 = 0xffffffff, 0xffffffffffffffff
N = 32   # lanes given; they repeat
rng = random.Random(12345)

def s32(x): return (x & M32) - ((x & 0x80000000) << 1)
def s64(x): return (x & M64) - ((x & (1 << 63)) << 1)
def s16(x): return (x & 0xffff) - ((x & 0x8000) << 1)
def s8(x): return (x & 0xff) - ((x & 0x80) << 1)

EDGE32 = [0, 1, 2, 31, 32, 33, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffff, 0x10000, 0x8000, 0x7fff, 0x00ff00ff, 0x800000, 0x7fffff, 0xffffff]
EDGEF32 = [0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x3f800000, 0xbf800000, 0x40000000, 0x3f000000, 0xbf000000, 0x3effffff, 0x4b000000, 0x4b000001, 0xcb000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc01234, 0xffc04321, 0x7f812345, 0xff800001, 0x3fc00000, 0x40200000]
EDGEF64 = [F64.convert(F32, b) for b in EDGEF32 if not F32.nan(b)] + [1, 1 << 63 | 1, 0x000fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x7ff8000000001234, 0xfff8000000004321, 0x7ff0000000000001, 0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x41efffffffe00000, 0x4330000000000001]
EDGEF16 = [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x4000, 0x3800, 0xb800, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e12, 0xfe21, 0x7d01, 0xfc01, 0x3555, 0x6400, 0x6401, 0x3e00]

def f32_random():
    if rng.random() < .5: return rng.getrandbits(32)
    return (rng.getrandbits(1) << 31) | (rng.randint(100, 150) << 23) | rng.getrandbits(23)
def f64_random():
    if rng.random() < .4: return rng.getrandbits(64)
    return (rng.getrandbits(1) << 63) | (rng.randint(1000, 1060) << 52) | rng.getrandbits(52)
# What every operand list of a whole wave holds somewhere (audit_cases.py looks for it).
MUST32, MUST64 = [0, M32, 0x80000000, 0x7fffffff], [0, M64, 1 << 63, (1 << 63) - 1]
MUSTF32 = [0, 0x80000000, 1, 0x807fffff, 0x7f800000, 0xff800000, 0x7fc01234, 0x7f812345, 0x7f7fffff, 0xff7fffff]
MUSTF64 = [0, 1 << 63, 1, 0x800fffffffffffff, 0x7ff << 52, 0xfff << 52, 0x7ff8000000001234, 0x7ff0000000012345, 0x7fefffffffffffff, 0xffefffffffffffff]
MUSTF16 = [0, 0x8000, 1, 0x83ff, 0x7c00, 0xfc00, 0x7e12, 0x7d01, 0x7bff, 0xfbff]
def holding(must, xs):
    if len(xs) >= 2 * len(must):
        for i, x in zip(rng.sample(range(len(xs)), len(must)), must): xs[i] = x
    return xs
def u32s(n=N): return holding(MUST32, [rng.choice(EDGE32) if rng.random() < .4 else rng.getrandbits(rng.choice([32, 32, 16, 5])) for _ in range(n)])
def f32s(n=N): return holding(MUSTF32, [rng.choice(EDGEF32) if rng.random() < .4 else f32_random() for _ in range(n)])
def f64s(n=N): return holding(MUSTF64, [rng.choice(EDGEF64) if rng.random() < .4 else f64_random() for _ in range(n)])
def half_words(n): return holding(MUSTF16, [rng.choice(EDGEF16) if rng.random() < .4 else rng.getrandbits(16) for _ in range(n)])
def f16s(n=N): return [x | rng.getrandbits(16) << 16 for x in half_words(n)]
def u64s(n=N): return holding(MUST64, [rng.getrandbits(64) if rng.random() < .6 else (rng.choice(EDGE32) << 32 | rng.choice(EDGE32)) for _ in range(n)])

def lo(xs): return [x & M32 for x in xs]
def hi(xs): return [x >> 32 & M32 for x in xs]

# Operand kinds: how sources are generated and put into registers.
KINDS = {'u32': (u32s, 1), 'f32': (f32s, 1), 'f64': (f64s, 2), 'u64': (u64s, 2), 'f16': (f16s, 1), 'u16': (u32s, 1)}
def vector(file, mnemonic, kinds, result, f, target=None, mode=0xf0, extra='', name='', dst_init=None, fixed=None):
    """f takes the sources of one lane and returns the result bits. Sources in v0, v2, v4; destination v10 (v11)."""
    srcs = [fixed[i] if fixed and fixed[i] else KINDS[k][0]() for i, k in enumerate(kinds)]
    regs, sets = [], []
    for i, (k, xs) in enumerate(zip(kinds, srcs)):
        r = 2 * i
        if KINDS[k][1] == 2:
            sets += [('v%d' % r, lo(xs)), ('v%d' % (r + 1), hi(xs))]
            regs.append('v[%d:%d]' % (r, r + 1))
        else:
            sets.append(('v%d' % r, xs)); regs.append('v%d' % r)
    dst = 'v[10:11]' if result == 64 else 'v10'
    lanes = list(zip(*srcs))
    if dst_init is not None:
        di = dst_init()
        if result == 64: sets += [('v10', lo(di)), ('v11', hi(di))]
        else: sets.append(('v10', di))
        lanes = [l + (d,) for l, d in zip(lanes, di)]
    r = [f(*l) for l in lanes]
    exp = [('v10', lo(r)), ('v11', hi(r))] if result == 64 else [('v10', lo(r)), ('v11', [0xc0c0c0c0 + 11])]
    case(file, (mnemonic + ' ' + name + ' ' + extra).strip(), '%s %s, %s %s' % (mnemonic, dst, ', '.join(regs), extra), sets, exp, target, mode, vary=True)

# ---------------------------------------------------------------- integers
def bfe_i(x, w): return 0 if w == 0 else (x & ((1 << w) - 1)) - ((x >> (w - 1) & 1) << w)
def byte(x, i): return x >> (8 * i) & 255
def sad(a, b): return sum(abs(byte(a, i) - byte(b, i)) for i in range(4))
def clz(x): return 32 - x.bit_length() if x else M32
def perm(a, b, s):
    d = a << 32 | b
    def one(k):
        if k >= 13: return 255
        if k == 12: return 0
        if k >= 8: return 255 if d >> (16 * (k - 8) + 15) & 1 else 0
        return byte(d, k)
    return sum(one(byte(s, i)) << (8 * i) for i in range(4))
i24 = lambda x: (x & 0xffffff) - ((x & 0x800000) << 1)
u24 = lambda x: x & 0xffffff
sat = lambda x, l, h: max(l, min(h, x))
I = 'integer'
one = {'v_mov_b32': lambda a: a, 'v_not_b32': lambda a: ~a, 'v_bfrev_b32': lambda a: int('{:032b}'.format(a)[::-1], 2),
       'v_ffbh_u32': clz, 'v_ffbl_b32': lambda a: (a & -a).bit_length() - 1 if a else M32,
       'v_ffbh_i32': lambda a: clz(a ^ (M32 if a >> 31 else 0))}
for m, f in one.items(): vector(I, m, ['u32'], 32, f)
two = {'v_add_u32': lambda a, b: a + b, 'v_sub_u32': lambda a, b: a - b, 'v_subrev_u32': lambda a, b: b - a,
       'v_mul_lo_u32': lambda a, b: a * b, 'v_mul_hi_u32': lambda a, b: a * b >> 32, 'v_mul_hi_i32': lambda a, b: s32(a) * s32(b) >> 32,
       'v_mul_i32_i24': lambda a, b: i24(a) * i24(b), 'v_mul_u32_u24': lambda a, b: u24(a) * u24(b),
       'v_mul_hi_i32_i24': lambda a, b: i24(a) * i24(b) >> 32, 'v_mul_hi_u32_u24': lambda a, b: u24(a) * u24(b) >> 32,
       'v_min_i32': lambda a, b: min(s32(a), s32(b)), 'v_max_i32': lambda a, b: max(s32(a), s32(b)), 'v_min_u32': min, 'v_max_u32': max,
       'v_lshrrev_b32': lambda a, b: b >> (a & 31), 'v_ashrrev_i32': lambda a, b: s32(b) >> (a & 31), 'v_lshlrev_b32': lambda a, b: b << (a & 31),
       'v_and_b32': lambda a, b: a & b, 'v_or_b32': lambda a, b: a | b, 'v_xor_b32': lambda a, b: a ^ b, 'v_xnor_b32': lambda a, b: ~(a ^ b),
       'v_bcnt_u32_b32': lambda a, b: b + bin(a).count('1'), 'v_bfm_b32': lambda a, b: ((1 << (a & 31)) - 1) << (b & 31),
       'v_cvt_pk_u16_u32': lambda a, b: min(a, 65535) | min(b, 65535) << 16,
       'v_cvt_pk_i16_i32': lambda a, b: (sat(s32(a), -32768, 32767) & 65535) | (sat(s32(b), -32768, 32767) & 65535) << 16}
for m, f in two.items(): vector(I, m, ['u32', 'u32'], 32, f)
for m, f in {'v_add_u32': lambda a, b: sat(a + b, 0, M32), 'v_sub_u32': lambda a, b: sat(a - b, 0, M32), 'v_subrev_u32': lambda a, b: sat(b - a, 0, M32),
             'v_add_i32': lambda a, b: sat(s32(a) + s32(b), -2**31, 2**31 - 1), 'v_sub_i32': lambda a, b: sat(s32(a) - s32(b), -2**31, 2**31 - 1)}.items():
    vector(I, m, ['u32', 'u32'], 32, f, extra='clamp')
three = {'v_add3_u32': lambda a, b, c: a + b + c, 'v_lshl_add_u32': lambda a, b, c: (a << (b & 31)) + c, 'v_add_lshl_u32': lambda a, b, c: (a + b) << (c & 31),
         'v_lshl_or_b32': lambda a, b, c: a << (b & 31) | c, 'v_and_or_b32': lambda a, b, c: a & b | c, 'v_or3_b32': lambda a, b, c: a | b | c,
         'v_xad_u32': lambda a, b, c: (a ^ b) + c, 'v_bfe_u32': lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1),
         'v_bfe_i32': lambda a, b, c: bfe_i(s32(a) >> (b & 31), c & 31), 'v_bfi_b32': lambda a, b, c: a & b | ~a & c,
         'v_alignbit_b32': lambda a, b, c: (a << 32 | b) >> (c & 31), 'v_alignbyte_b32': lambda a, b, c: (a << 32 | b) >> (8 * (c & 3)),
         'v_perm_b32': perm, 'v_sad_u8': lambda a, b, c: sad(a, b) + c, 'v_sad_hi_u8': lambda a, b, c: (sad(a, b) << 16) + c,
         'v_sad_u16': lambda a, b, c: abs((a & 65535) - (b & 65535)) + abs((a >> 16) - (b >> 16)) + c, 'v_sad_u32': lambda a, b, c: abs(a - b) + c,
         'v_msad_u8': lambda a, b, c: c + sum(abs(byte(a, i) - byte(b, i)) for i in range(4) if byte(b, i)),
         'v_lerp_u8': lambda a, b, c: sum(((byte(a, i) + byte(b, i) + (byte(c, i) & 1)) >> 1) << (8 * i) for i in range(4)),
         'v_mad_i32_i24': lambda a, b, c: i24(a) * i24(b) + s32(c), 'v_mad_u32_u24': lambda a, b, c: u24(a) * u24(b) + c,
         'v_mad_u32_u16': lambda a, b, c: (a & 65535) * (b & 65535) + c, 'v_mad_i32_i16': lambda a, b, c: s16(a) * s16(b) + s32(c),
         'v_min3_i32': lambda a, b, c: min(s32(a), s32(b), s32(c)), 'v_max3_i32': lambda a, b, c: max(s32(a), s32(b), s32(c)),
         'v_med3_i32': lambda a, b, c: sorted([s32(a), s32(b), s32(c)])[1], 'v_min3_u32': min, 'v_max3_u32': max, 'v_med3_u32': lambda a, b, c: sorted([a, b, c])[1]}
for m, f in three.items(): vector(I, m, ['u32'] * 3, 32, f)
vector(I, 'v_perm_b32', ['u32'] * 3, 32, perm, name='selectors', fixed=[None, None, [sum(rng.randint(0, 13) << (8 * i) for i in range(4)) for _ in range(N)]])
# Selectors that the translators know, or know to be the same in all lanes: halves and bytes of both, one byte everywhere, signs, zeros and ones, all kinds at once.
own = random.Random(29)
for chosen in [0x05040100, 0x07060302, 0x03020504, 0x00010203, 0x07060504, 0x03020100, 0x05050505, 0x0c0c0c07, 0x080a090b, 0x0d0c00ff] + [sum(own.randint(0, 14) << (8 * i) for i in range(4)) for _ in range(6)]:
    x, y = ([own.getrandbits(32) for _ in range(N)] for _ in range(2))
    wanted = [('v10', [perm(p, q, chosen) for p, q in zip(x, y)]), ('v11', [0xc0c0c0c0 + 11])]
    case(I, 'v_perm_b32 by %08x' % chosen, ['s_mov_b32 s4, 0x%x' % chosen, 'v_perm_b32 v10, v0, v2, s4'], [('v0', x), ('v2', y)], wanted, vary=True)
    case(I, 'v_perm_b32 by %08x in a register' % chosen, 'v_perm_b32 v10, v0, v2, s4', [('v0', x), ('v2', y), ('s4', [chosen])], wanted, vary=True)
vector(I, 'v_mad_u32_u24', ['u32'] * 3, 32, lambda a, b, c: sat(u24(a) * u24(b) + c, 0, M32), extra='clamp')
vector(I, 'v_mad_i32_i24', ['u32'] * 3, 32, lambda a, b, c: sat(i24(a) * i24(b) + s32(c), -2**31, 2**31 - 1), extra='clamp')
vector(I, 'v_sad_u8', ['u32'] * 3, 32, lambda a, b, c: sat(sad(a, b) + c, 0, M32), extra='clamp')
# 16 bits: old instructions clear the upper half
h = lambda x: x & 0xffff
sixteen = {'v_add_u16': lambda a, b: h(a + b), 'v_sub_u16': lambda a, b: h(a - b), 'v_subrev_u16': lambda a, b: h(b - a), 'v_mul_lo_u16': lambda a, b: h(a * b),
           'v_lshlrev_b16': lambda a, b: h(b << (a & 15)), 'v_lshrrev_b16': lambda a, b: h(b) >> (a & 15), 'v_ashrrev_i16': lambda a, b: h(s16(b) >> (a & 15)),
           'v_min_u16': lambda a, b: min(h(a), h(b)), 'v_max_u16': lambda a, b: max(h(a), h(b)), 'v_min_i16': lambda a, b: h(min(s16(a), s16(b))), 'v_max_i16': lambda a, b: h(max(s16(a), s16(b)))}
for m, f in sixteen.items(): vector(I, m, ['u16', 'u16'], 32, f)
vector(I, 'v_add_u16', ['u16', 'u16'], 32, lambda a, b: min(h(a) + h(b), 65535), extra='clamp')
vector(I, 'v_sub_u16', ['u16', 'u16'], 32, lambda a, b: max(h(a) - h(b), 0), extra='clamp')
vector(I, 'v_mad_legacy_u16', ['u16'] * 3, 32, lambda a, b, c: h(h(a) * h(b) + c))
keep = lambda f: (lambda *x: x[-1] & 0xffff0000 | h(f(*x[:-1])))
for m, f in {'v_mad_u16': lambda a, b, c: a * b + c, 'v_mad_i16': lambda a, b, c: a * b + c, 'v_min3_i16': lambda a, b, c: min(s16(a), s16(b), s16(c)),
             'v_max3_i16': lambda a, b, c: max(s16(a), s16(b), s16(c)), 'v_med3_i16': lambda a, b, c: sorted([s16(a), s16(b), s16(c)])[1],
             'v_max3_u16': lambda a, b, c: max(h(a), h(b), h(c))}.items():
    vector(I, m, ['u16'] * 3, 32, keep(f), dst_init=u32s)
vector(I, 'v_mad_u16', ['u16'] * 3, 32, lambda a, b, c, d: d & 0xffff | h((a >> 16) * h(b) + (c >> 16)) << 16, dst_init=u32s, extra='op_sel:[1,0,1,1]')
for m, f in {'v_add_i16': lambda a, b: s16(a) + s16(b), 'v_sub_i16': lambda a, b: s16(a) - s16(b)}.items():
    vector(I, m, ['u16'] * 2, 32, keep(f), dst_init=u32s)
# 64 bits
vector(I, 'v_lshlrev_b64', ['u32', 'u64'], 64, lambda a, b: b << (a & 63))
vector(I, 'v_lshrrev_b64', ['u32', 'u64'], 64, lambda a, b: b >> (a & 63))
vector(I, 'v_ashrrev_i64', ['u32', 'u64'], 64, lambda a, b: s64(b) >> (a & 63))
vector(I, 'v_lshl_add_u64', ['u64', 'u32', 'u64'], 64, lambda a, b, c: (a << (b & 7 if b & 7 <= 4 else 0)) + c)
def qsad(masked):
    def f(a, b, c):
        r = 0
        for i in range(4):
            w = a >> (8 * i) & M32
            d = sum(abs(byte(w, k) - byte(b, k)) for k in range(4) if not masked or byte(b, k))
            r |= h(d + (c >> (16 * i) & 65535)) << (16 * i)
        return r
    return f
vector(I, 'v_qsad_pk_u16_u8', ['u64', 'u32', 'u64'], 64, qsad(False))
vector(I, 'v_mqsad_pk_u16_u8', ['u64', 'u32', 'u64'], 64, qsad(True))
for m, sg in (('v_mad_u64_u32', False), ('v_mad_i64_i32', True)):
    a, b, c = u32s(64), u32s(64), u64s(64)
    cv, c64 = (s32, s64) if sg else (lambda x: x, lambda x: x)
    r = [cv(x) * cv(y) + c64(z) for x, y, z in zip(a, b, c)]
    case(I, m, m + ' v[10:11], s[20:21], v0, v2, v[4:5]', [('v0', a), ('v2', b), ('v4', lo(c)), ('v5', hi(c))],
         [('v10', [x & M32 for x in r]), ('v11', [x >> 32 & M32 for x in r]), ('s20', [sum((x >> 64 & 1) << l for l, x in enumerate(r)) & M32, sum((x >> 64 & 1) << l for l, x in enumerate(r)) >> 32])])

for m, sg in (('v_mad_u64_u32', False), ('v_mad_i64_i32', True)):
    cv, c64 = (s32, s64) if sg else (lambda x: x, lambda x: x)
    a, b, c = u32s(64), u32s(64), [rng.choice([M64, 1 << 63, (1 << 63) - 1, 5, rng.getrandbits(64)]) for _ in range(64)]
    r = [sat(cv(x) * cv(y) + c64(z), -2**63 if sg else 0, 2**63 - 1 if sg else M64) & M64 for x, y, z in zip(a, b, c)]
    case(I, m + ' clamp', m + ' v[10:11], s[20:21], v0, v2, v[4:5] clamp', [('v0', a), ('v2', b), ('v4', lo(c)), ('v5', hi(c))], [('v10', lo(r)), ('v11', hi(r))])

# carries, masks, lanes
C = 'masks'
EX = 0xf0f0_1234_5678_9abf
def mask(bits): return sum(int(bool(x)) << l for l, x in enumerate(bits))
def carry(m, f, cin):
    a, b = u32s(64), u32s(64)
    vin = rng.getrandbits(64)
    r = [f(x, y, (vin >> l & 1) if cin else 0) for l, (x, y) in enumerate(zip(a, b))]
    old = u32s(64)
    res = [(x & M32) if EX >> l & 1 else old[l] for l, x in enumerate(r)]
    co = mask([(x < 0 or x > M32) for x in r]) & EX
    asm = m + '_e32 v10, vcc, v0, v2' + (', vcc' if cin else '')
    case(C, m + ' e32', asm, [('v0', a), ('v2', b), ('v10', old), ('vcc', [vin]), ('exec', [EX])], [('v10', res), ('vcc', [co])])
    asm = m + '_e64 v10, s[6:7], v0, v2' + (', s[8:9]' if cin else '')
    case(C, m + ' e64', asm, [('v0', a), ('v2', b), ('v10', old), ('s8', [vin & M32, vin >> 32]), ('exec', [EX]), ('vcc', [7])], [('v10', res), ('s6', [co & M32, co >> 32]), ('vcc', [7])])
carry('v_add_co_u32', lambda a, b, c: a + b, 0); carry('v_sub_co_u32', lambda a, b, c: a - b, 0); carry('v_subrev_co_u32', lambda a, b, c: b - a, 0)
carry('v_addc_co_u32', lambda a, b, c: a + b + c, 1); carry('v_subb_co_u32', lambda a, b, c: a - b - c, 1); carry('v_subbrev_co_u32', lambda a, b, c: b - a - c, 1)
a, b, vin, old = u32s(64), u32s(64), rng.getrandbits(64), u32s(64)
case(C, 'v_cndmask_b32 e32', 'v_cndmask_b32_e32 v10, v0, v2, vcc', [('v0', a), ('v2', b), ('vcc', [vin])], [('v10', [y if vin >> l & 1 else x for l, (x, y) in enumerate(zip(a, b))])])
case(C, 'v_cndmask_b32 e64 modifiers', 'v_cndmask_b32_e64 v10, -v0, |v2|, s[4:5]', [('v0', a), ('v2', b), ('s4', [vin & M32, vin >> 32])], [('v10', [y & 0x7fffffff if vin >> l & 1 else x ^ 0x80000000 for l, (x, y) in enumerate(zip(a, b))])])
case(C, 'v_mbcnt', ['v_mbcnt_lo_u32_b32 v10, s2, 0', 'v_mbcnt_hi_u32_b32 v10, s3, v10'], [('s2', [vin & M32, vin >> 32])], [('v10', [bin(vin & ((1 << l) - 1)).count('1') for l in range(64)])])
case(C, 'v_readlane_b32', ['v_readlane_b32 s5, v0, 37', 'v_readlane_b32 s6, v0, s7'], [('v0', a), ('s7', [0x45]), ('exec', [0])], [('s5', [a[37], a[5]])])
case(C, 'v_readfirstlane_b32', ['v_readfirstlane_b32 s5, v0', 's_mov_b64 exec, 0', 'v_readfirstlane_b32 s6, v0'], [('v0', a), ('exec', [0x80000])], [('s5', [a[19], a[0]])])
case(C, 'v_writelane_b32', ['v_writelane_b32 v10, s5, 63', 'v_writelane_b32 v10, s6, s6'], [('v10', a), ('s5', [0xabc, 0x42]), ('exec', [0])], [('v10', [0xabc if l == 63 else 0x42 if l == 2 else x for l, x in enumerate(a)])])
case(C, 'v_swap_b32', 'v_swap_b32 v0, v2', [('v0', a), ('v2', b), ('exec', [EX])], [('v0', [y if EX >> l & 1 else x for l, (x, y) in enumerate(zip(a, b))]), ('v2', [x if EX >> l & 1 else y for l, (x, y) in enumerate(zip(a, b))])])
case(C, 'exec', 'v_mov_b32 v10, v0', [('v0', a), ('v10', old), ('exec', [EX])], [('v10', [x if EX >> l & 1 else o for l, (x, o) in enumerate(zip(a, old))])])

# compares
rel = {'lt': lambda a, b: a < b, 'eq': lambda a, b: a == b, 'le': lambda a, b: a <= b, 'gt': lambda a, b: a > b, 'ne': lambda a, b: a != b, 'ge': lambda a, b: a >= b, 'f': lambda a, b: False, 't': lambda a, b: True}
def source(file_regs, xs, wide, r):
    return [('v%d' % r, lo(xs)), ('v%d' % (r + 1), hi(xs))] if wide else [('v%d' % r, xs)]
def reg(r, wide): return 'v[%d:%d]' % (r, r + 1) if wide else 'v%d' % r
for ty, cv, gen, wide in (('i32', s32, u32s, 0), ('u32', lambda x: x, u32s, 0), ('i16', s16, u32s, 0), ('u16', h, u32s, 0), ('i64', s64, u64s, 1), ('u64', lambda x: x, u64s, 1)):
    for n, f in rel.items():
        a, b = gen(64), gen(64)
        for l in range(0, 64, 5): b[l] = a[l]
        r = mask([f(cv(x), cv(y)) for x, y in zip(a, b)]) & EX
        sets = source(0, a, wide, 0) + source(0, b, wide, 2) + [('exec', [EX]), ('vcc', [M64])]
        case('compare', 'v_cmp_%s_%s' % (n, ty), 'v_cmp_%s_%s_e32 vcc, %s, %s' % (n, ty, reg(0, wide), reg(2, wide)), sets, [('vcc', [r]), ('exec', [EX])])
        case('compare', 'v_cmpx_%s_%s' % (n, ty), 'v_cmpx_%s_%s_e64 s[10:11], %s, %s' % (n, ty, reg(0, wide), reg(2, wide)), sets, [('s10', [r & M32, r >> 32]), ('exec', [r])])
frel = {'f': lambda a, b, o: False, 'lt': lambda a, b, o: o and a < b, 'eq': lambda a, b, o: o and a == b, 'le': lambda a, b, o: o and a <= b, 'gt': lambda a, b, o: o and a > b, 'lg': lambda a, b, o: o and a != b, 'ge': lambda a, b, o: o and a >= b, 'o': lambda a, b, o: o, 'u': lambda a, b, o: not o}
for n, m in (('nge', 'ge'), ('nlg', 'lg'), ('ngt', 'gt'), ('nle', 'le'), ('neq', 'eq'), ('nlt', 'lt'), ('tru', 'f')):
    frel[n] = (lambda g: lambda a, b, o: not g(a, b, o))(frel[m])
def cls(F, x):
    n = F.neg(x)
    if F.nan(x): return 0 if F.snan(x) else 1
    if F.isinf(x): return 2 if n else 9
    if F.denormal(x): return 4 if n else 7
    if F.zero(x): return 5 if n else 6
    return 3 if n else 8
for ty, F, gen, wide in (('f16', F16, f16s, 0), ('f32', F32, f32s, 0), ('f64', F64, f64s, 1)):
    cut = (lambda x: x & 0xffff) if ty == 'f16' else (lambda x: x)
    for n, f in frel.items():
        a, b = gen(64), gen(64)
        for l in range(0, 64, 5): b[l] = a[l]
        def c(x, y):
            x, y = cut(x), cut(y); o = not F.nan(x) and not F.nan(y)
            return f(F.order(x) if o else 0, F.order(y) if o else 0, o)
        r = mask([c(x, y) for x, y in zip(a, b)]) & EX
        case('compare', 'v_cmp_%s_%s' % (n, ty), 'v_cmp_%s_%s_e32 vcc, %s, %s' % (n, ty, reg(0, wide), reg(2, wide)), source(0, a, wide, 0) + source(0, b, wide, 2) + [('exec', [EX])], [('vcc', [r])])
    a, k = gen(64), [rng.getrandbits(10) for _ in range(64)]
    case('compare', 'v_cmp_class_' + ty, 'v_cmp_class_%s_e64 s[4:5], %s, v2' % (ty, reg(0, wide)), source(0, a, wide, 0) + [('v2', k)], [('s4', [mask([k[l] >> cls(F, cut(a[l])) & 1 for l in range(64)]) >> s & M32 for s in (0, 32)])])
a, b = f32s(64), f32s(64)
fl = F32.flush
c = lambda x, y: not F32.nan(x) and not F32.nan(y) and F32.order(fl(x)) < F32.order(fl(y ^ 0x80000000) if False else fl((y & 0x7fffffff) ^ 0x80000000))
case('compare', 'v_cmp_lt_f32 modifiers, denormals flushed', 'v_cmp_lt_f32_e64 vcc, v0, -|v2|', [('v0', a), ('v2', b)], [('vcc', [mask([c(x, y) for x, y in zip(a, b)])])], mode=0xc0)

# ---------------------------------------------------------------- floating point
def modes(F):
    """(name, MODE, rounding, flush) variants"""
    sh, dn = (0, 4) if F is F32 else (2, 6)
    yield 'nearest', 0xf0, 0, False
    for r in (1, 2, 3): yield 'round %d' % r, 0xf0 | r << sh, r, False
    yield 'flush', 0xf0 & ~(3 << dn), 0, True
def wrap(F, f, flush, cut=None):
    def g(*xs):
        if cut: xs = tuple(cut(x) for x in xs)
        if flush: xs = tuple(F.flush(x) for x in xs)
        r = f(*xs)
        return F.flush(r) if flush else r
    return g
lo16 = lambda x: x & 0xffff
for F, ty, k, res in ((F32, 'f32', 'f32', 32), (F64, 'f64', 'f64', 64), (F16, 'f16', 'f16', 32)):
    fl_ = 'float_' + ty
    cut = lo16 if F is F16 else None
    for mname, mode, rnd, flush in modes(F):
        ops = {'v_add_': (2, lambda a, b, F=F, rnd=rnd: F.add(a, b, rnd)), 'v_mul_': (2, lambda a, b, F=F, rnd=rnd: F.mul(a, b, rnd))}
        if F is not F64: ops.update({'v_sub_': (2, lambda a, b, F=F, rnd=rnd: F.sub(a, b, rnd)), 'v_subrev_': (2, lambda a, b, F=F, rnd=rnd: F.sub(b, a, rnd))})
        for m, (n, f) in ops.items(): vector(fl_, m + ty, [k] * n, res, wrap(F, f, flush, cut), mode=mode, name=mname)
        f3 = lambda a, b, c, F=F, rnd=rnd: F.fma(a, b, c, rnd)
        if F is F16: vector(fl_, 'v_fma_f16', [k] * 3, res, lambda a, b, c, d, g=wrap(F, f3, flush, cut): g(a, b, c) | d & 0xffff0000, mode=mode, name=mname, dst_init=u32s)
        else:
            vector(fl_, 'v_fma_' + ty, [k] * 3, res, wrap(F, f3, flush), mode=mode, name=mname)
            vector(fl_, 'v_fmac_%s_e32' % ty, [k] * 2, res, wrap(F, f3, flush), mode=mode, name=mname, dst_init=KINDS[k][0])
        for largest, m in ((False, 'v_min_'), (True, 'v_max_')):
            vector(fl_, m + ty, [k] * 2, res, wrap(F, lambda a, b: F.minmax(a, b, largest, False), flush, cut), mode=mode, name=mname)
            vector(fl_, m + ty, [k] * 2, res, wrap(F, lambda a, b: F.minmax(a, b, largest, True), flush, cut), mode=mode | 0x200, name=mname + ' ieee')
    for how in ('floor', 'ceil', 'trunc', 'rndne'): vector(fl_, 'v_%s_%s' % (how, ty), [k], res, wrap(F, lambda a, how=how: F.integral(a, how), False, cut))
    def fract(a):
        if F.nan(a): return a | F.quiet
        if F.isinf(a): return F.default_nan
        return min(F.sub(a, F.integral(a, 'floor')), F.one - 1)
    vector(fl_, 'v_fract_' + ty, [k], res, wrap(F, fract, False, cut))
    def frexp_exp(a):
        if F.nan(a) or F.isinf(a) or F.zero(a): return 0
        v, e = abs(F.value(a)), 0
        while v >= 1: v /= 2; e += 1
        while v < Fr(1, 2): v *= 2; e -= 1
        return e
    def frexp_mant(a):
        if F.nan(a): return a | F.quiet
        if F.isinf(a) or F.zero(a): return a
        return F.encode(F.value(a) / Fr(2) ** frexp_exp(a))
    vector(fl_, 'v_frexp_mant_' + ty, [k], res, wrap(F, frexp_mant, False, cut))
    vector(fl_, 'v_frexp_exp_i%d_%s' % (16 if F is F16 else 32, ty), [k], 32, lambda a: frexp_exp(cut(a) if cut else a) & (0xffff if F is F16 else M32))
    def ldexp(a, b):
        if F.nan(a): return a | F.quiet
        if F.isinf(a) or F.zero(a): return a
        b = max(-5000, min(5000, s16(b) if F is F16 else s32(b)))
        return F.encode(F.value(a) * Fr(2) ** b)
    shifts = [rng.choice([0, 1, -1, 5, -5, 24, -30, 100, -100, 140, -149, 300, -300, 1000, -1000, 1074, -1074, -1100, 2000, -2100, 0x7fffffff, -0x80000000]) & M32 for _ in range(N)]
    vector(fl_, 'v_ldexp_' + ty, [k, 'u32'], res, lambda a, b: ldexp(cut(a) if cut else a, b), fixed=[None, shifts])
    for m in ('v_min3_', 'v_max3_', 'v_med3_'):
        if F is F64: continue
        def g3(a, b, c, *d, m=m):
            if cut: a, b, c = cut(a), cut(b), cut(c)
            mn = lambda x, y: F.minmax(x, y, False, False)
            mx = lambda x, y: F.minmax(x, y, True, False)
            if m == 'v_min3_': r = mn(mn(a, b), c)
            elif m == 'v_max3_': r = mx(mx(a, b), c)
            elif F.nan(a) or F.nan(b) or F.nan(c): r = mn(mn(a, b), c)
            else:
                top = mx(mx(a, b), c); e = lambda x, y: F.order(x) == F.order(y)
                r = mx(b, c) if e(top, a) else mx(a, c) if e(top, b) else mx(a, b)
            return r | d[0] & 0xffff0000 if d else r
        vector(fl_, m + ty, [k] * 3, 32, g3, dst_init=u32s if F is F16 else None)
# v_mad, v_mac: two roundings, always flushed
def mad(a, b, c):
    f = F32.flush
    return f(F32.add(f(F32.mul(f(a), f(b))), f(c)))
for mode in (0xf0, 0xc0):
    vector('float_f32', 'v_mad_f32', ['f32'] * 3, 32, mad, mode=mode)
    vector('float_f32', 'v_mac_f32_e32', ['f32'] * 2, 32, mad, mode=mode, dst_init=f32s)
vector('float_f32', 'v_mul_legacy_f32', ['f32'] * 2, 32, lambda a, b: 0 if F32.zero(a) or F32.zero(b) else F32.mul(a, b), target='gfx908')
# modifiers
NEG, ABS = 0x80000000, 0x7fffffff
a, b, c3 = f32s(), f32s(), f32s()
case('float_f32', 'v_fma_f32 modifiers', 'v_fma_f32 v10, -v0, |v2|, -|v4|', [('v0', a), ('v2', b), ('v4', c3)], [('v10', [F32.fma(x ^ NEG, y & ABS, (z & ABS) | NEG) for x, y, z in zip(a, b, c3)])])
def clamp(F, x, dx10): return (0 if dx10 else x) if F.nan(x) else 0 if F.neg(x) else min(x, F.one)
for dx in (0, 0x100):
    vector('float_f32', 'v_add_f32_e64', ['f32'] * 2, 32, lambda a, b: clamp(F32, F32.add(a, b), dx), mode=0xf0 | dx, extra='clamp', name='dx10 %d' % bool(dx))
    vector('float_f64', 'v_add_f64', ['f64'] * 2, 64, lambda a, b: clamp(F64, F64.add(a, b), dx), mode=0xf0 | dx, extra='clamp', name='dx10 %d' % bool(dx))
    vector('float_f16', 'v_mul_f16_e64', ['f16'] * 2, 32, lambda a, b: clamp(F16, F16.mul(lo16(a), lo16(b)), dx), mode=0xf0 | dx, extra='clamp', name='dx10 %d' % bool(dx))
def omod(x, n):
    if F32.nan(x): return x | F32.quiet
    r = x if F32.isinf(x) or F32.zero(x) else F32.flush(F32.encode(F32.value(x) * Fr(2) ** n))
    return 0 if F32.zero(r) else r
f = F32.flush
for t, n in (('mul:2', 1), ('mul:4', 2), ('div:2', -1)):
    vector('float_f32', 'v_mul_f32_e64', ['f32'] * 2, 32, lambda a, b: omod(f(F32.mul(f(a), f(b))), n), mode=0xc0, extra=t)
vector('float_f32', 'v_mul_f32_e64', ['f32'] * 2, 32, lambda a, b: F32.mul(a, b), mode=0xf0, extra='mul:2', name='ignored: denormals kept')
# Sources and results are flushed independently (SEED-ELF-83): d0 keeps sources only, e0 results only.
for mode, r in ((0xd0, [0x00800000, 0x80800000, 0, 0x80000000]), (0xe0, [0, 0x80000000, 0x00400000, 0x80400000])):
    case('float_f32', 'v_mul_f32 denormals MODE %02x' % mode, 'v_mul_f32 v10, v0, v2', [('v0', [0x00400000, 0x80400000, 0x00800000, 0x80800000]), ('v2', [0x40000000, 0x40000000, 0x3f000000, 0x3f000000])], [('v10', r)], mode=mode)
vector('float_f32', 'v_mul_f32_e64', ['f32'] * 2, 32, lambda a, b: f(F32.mul(f(a), f(b))), mode=0x2c0, extra='mul:2', name='ignored: ieee')
# exact or correctly rounded functions
vector('float_f32', 'v_rcp_f32', ['f32'], 32, lambda a: F32.div(F32.one, a))
vector('float_f64', 'v_rcp_f64', ['f64'], 64, lambda a: F64.div(F64.one, a))
def sqrt(F):
    def g(a):
        if F.nan(a): return a | F.quiet
        if F.zero(a): return a
        if F.neg(a): return F.default_nan
        if F.isinf(a): return a
        from math import isqrt
        v = F.value(a); k = 300 if F is F32 else 1400
        n = v * Fr(4) ** k; r = isqrt(n.numerator // n.denominator)
        exact = r * r == n
        return F.encode(Fr(2 * r + (0 if exact else 1), 2) / Fr(2) ** k)   # sticky bit below
    return g
vector('float_f32', 'v_sqrt_f32', ['f32'], 32, sqrt(F32))
vector('float_f64', 'v_sqrt_f64', ['f64'], 64, sqrt(F64))
for w, ty in ((0, 'id'), (1, 'sc'), (2, 'tc'), (3, 'ma')):
    def cube(x, y, z, w=w):
        ax, ay, az = (F32.order(t & ABS) for t in (x, y, z))
        n = lambda t: F32.order(t) < 0
        k = lambda v: F32.encode(Fr(v))
        if az >= ax and az >= ay: r = (k(5 if n(z) else 4), x ^ NEG if n(z) else x, y ^ NEG, F32.add(z, z))
        elif ay >= ax: r = (k(3 if n(y) else 2), x, z ^ NEG if n(y) else z, F32.add(y, y))
        else: r = (k(1 if n(x) else 0), z if n(x) else z ^ NEG, y ^ NEG, F32.add(x, x))
        return r[w]
    no_nan = lambda: [x for x in f32s(200) if not F32.nan(x)][:N]
    vector('float_f32', 'v_cube%s_f32' % ty, ['f32'] * 3, 32, cube, fixed=[no_nan(), no_nan(), no_nan()])
# division helpers
def fixup(F):
    def g(q, d, n):
        s = (d ^ n) & F.sign
        if F.nan(n): return n | F.quiet
        if F.nan(d): return d | F.quiet
        if F.zero(n) and F.zero(d) or F.isinf(n) and F.isinf(d): return F.default_nan
        if F.zero(d) or F.isinf(n): return s | F.inf
        if F.isinf(d) or F.zero(n): return s
        if F is not F16 and (F.mag(n) >> F.m) - (F.mag(d) >> F.m) < (-150 if F is F32 else -1075): return s
        return s | (F.inf if F.nan(q) else F.mag(q))
    return g
vector('division', 'v_div_fixup_f32', ['f32'] * 3, 32, fixup(F32))
vector('division', 'v_div_fixup_f64', ['f64'] * 3, 64, fixup(F64))
vector('division', 'v_div_fixup_f16', ['f16'] * 3, 32, lambda a, b, c, d: fixup(F16)(lo16(a), lo16(b), lo16(c)) | d & 0xffff0000, dst_init=u32s)
# The sequence that LLVM emits for a / b: the quotient must be the correctly rounded one.
for F, ty, gen, w in ((F32, 'f32', f32s, 0), (F64, 'f64', f64s, 1)):
    for rep in range(6):
        n, d = gen(64), gen(64)
        if rep >= 3:   # quotients near the ends of the range, tiny and huge operands
            e = lambda: rng.choice([0, 1, 2, 20, 30, F.emax - 1, F.emax - 2, F.emax - 10, F.bias, F.bias + 100, F.bias - 100])
            n = [(rng.getrandbits(1) << (F.bits - 1)) | e() << F.m | rng.getrandbits(F.m) for _ in range(64)]
            d = [(rng.getrandbits(1) << (F.bits - 1)) | e() << F.m | rng.getrandbits(F.m) for _ in range(64)]
        want = [F.div(x, y) for x, y in zip(n, d)]
        # v_div_fixup looks at the denominator last of the two NaN operands
        want = [(x | F.quiet if F.nan(x) else r) for x, r in zip(n, want)]
        R = lambda r: reg(r, w)
        seq = ['v_div_scale_%s %s, s[4:5], %s, %s, %s' % (ty, R(4), R(2), R(2), R(0)), 'v_rcp_%s_e32 %s, %s' % (ty, R(6), R(4)), 'v_div_scale_%s %s, vcc, %s, %s, %s' % (ty, R(8), R(0), R(2), R(0))]
        fma = lambda d, a, b, c: seq.append('v_fma_%s %s, %s, %s, %s' % (ty, R(d), a, b, c))
        one_ = '1.0'
        fma(10, '-' + R(4), R(6), one_); fma(6, R(10), R(6), R(6))
        if w: fma(10, '-' + R(4), R(6), one_); fma(6, R(10), R(6), R(6))
        seq.append('v_mul_%s %s, %s, %s' % (ty + ('' if w else '_e32'), R(12), R(8), R(6)))
        if not w: fma(14, '-' + R(4), R(12), R(8)); fma(12, R(14), R(6), R(12))
        fma(14, '-' + R(4), R(12), R(8))
        seq += ['v_div_fmas_%s %s, %s, %s, %s' % (ty, R(14), R(14), R(6), R(12)), 'v_div_fixup_%s %s, %s, %s, %s' % (ty, R(16), R(14), R(2), R(0))]
        case('division', 'quotient %s %d' % (ty, rep), seq, source(0, n, w, 0) + source(0, d, w, 2), source(0, want, w, 16))
# v_trig_preop_f64: 53 bits of 2/pi
def two_over_pi(bits):
    u = 1 << (bits + 64)
    def at(x):
        s = t = u // x; n, sg = 3, -1
        while t: t //= x * x; s += sg * (t // n); sg = -sg; n += 2
        return s
    pi = 4 * (4 * at(5) - at(239))
    return (2 * u * u // pi) >> 64
T = two_over_pi(1201)
def preop(a, b):
    e = a >> 52 & 2047; shift = (b & 31) * 53 + max(0, e - 1077)
    v = ((T << shift) >> (1201 - 53)) & ((1 << 53) - 1) if shift < 1201 + 60 else 0
    v = (T << shift & ((1 << 1201) - 1)) >> (1201 - 53)
    return F64.encode(Fr(v) * Fr(2) ** (-53 - shift + (128 if e >= 1968 else 0)))
vector('division', 'v_trig_preop_f64', ['f64', 'u32'], 64, preop, fixed=[None, [rng.randint(0, 22) for _ in range(N)]])

# ---------------------------------------------------------------- conversions
V = 'convert'
vector(V, 'v_cvt_i32_f32', ['f32'], 32, lambda a: F32.to_int(a, -2**31, 2**31 - 1)); vector(V, 'v_cvt_u32_f32', ['f32'], 32, lambda a: F32.to_int(a, 0, M32))
vector(V, 'v_cvt_i32_f64', ['f64'], 32, lambda a: F64.to_int(a, -2**31, 2**31 - 1)); vector(V, 'v_cvt_u32_f64', ['f64'], 32, lambda a: F64.to_int(a, 0, M32))
vector(V, 'v_cvt_i16_f16', ['f16'], 32, lambda a: lo16(F16.to_int(lo16(a), -32768, 32767))); vector(V, 'v_cvt_u16_f16', ['f16'], 32, lambda a: F16.to_int(lo16(a), 0, 65535))
for r in range(4):
    vector(V, 'v_cvt_f32_i32', ['u32'], 32, lambda a: F32.encode(Fr(s32(a)), r), mode=0xf0 | r); vector(V, 'v_cvt_f32_u32', ['u32'], 32, lambda a: F32.encode(Fr(a), r), mode=0xf0 | r)
    vector(V, 'v_cvt_f32_f64', ['f64'], 32, lambda a: F32.convert(F64, a, r), mode=0xf0 | r)
    vector(V, 'v_cvt_f16_f32', ['f32'], 32, lambda a: F16.convert(F32, a, r), mode=0xf0 | r << 2)
    vector(V, 'v_cvt_f16_i16', ['u32'], 32, lambda a: F16.encode(Fr(s16(a)), r), mode=0xf0 | r << 2); vector(V, 'v_cvt_f16_u16', ['u32'], 32, lambda a: F16.encode(Fr(lo16(a)), r), mode=0xf0 | r << 2)
vector(V, 'v_cvt_f16_f32', ['f32'], 32, lambda a: F16.flush(F16.convert(F32, F32.flush(a))), mode=0, name='flush')
def ovfl(a):
    r = F16.convert(F32, a)
    return r if not F16.isinf(r) or F32.isinf(a) else r & 0x8000 | 0x7bff
vector(V, 'v_cvt_f16_f32', ['f32'], 32, ovfl, mode=0x8000f0, name='fp16_ovfl')
vector(V, 'v_cvt_f64_i32', ['u32'], 64, lambda a: F64.encode(Fr(s32(a)))); vector(V, 'v_cvt_f64_u32', ['u32'], 64, lambda a: F64.encode(Fr(a)))
vector(V, 'v_cvt_f64_f32', ['f32'], 64, lambda a: F64.convert(F32, a)); vector(V, 'v_cvt_f32_f16', ['f16'], 32, lambda a: F32.convert(F16, lo16(a)))
for i in range(4): vector(V, 'v_cvt_f32_ubyte%d' % i, ['u32'], 32, lambda a: F32.encode(Fr(byte(a, i))))
vector(V, 'v_cvt_flr_i32_f32', ['f32'], 32, lambda a: F32.to_int(F32.integral(a, 'floor'), -2**31, 2**31 - 1))
def rpi(a):
    if F32.nan(a): return 0
    if F32.isinf(a): return 0x80000000 if F32.neg(a) else 0x7fffffff
    v = F32.value(a) + Fr(1, 2)
    return sat(v.numerator // v.denominator, -2**31, 2**31 - 1)
vector(V, 'v_cvt_rpi_i32_f32', ['f32'], 32, rpi)
vector(V, 'v_cvt_off_f32_i4', ['u32'], 32, lambda a: F32.encode(Fr(bfe_i(a, 4), 16)))
def norm(F, x, signed):
    if F.nan(x): return 0
    l = -1 if signed else 0
    v = l if F.isinf(x) and F.neg(x) else 1 if F.isinf(x) else max(Fr(l), min(Fr(1), F.value(x)))
    v = v * (32767 if signed else 65535); fl0 = Fr(v).numerator // Fr(v).denominator; d = v - fl0
    return fl0 + (1 if d > Fr(1, 2) or (d == Fr(1, 2) and fl0 & 1) else 0)
unit = lambda: [rng.choice(EDGEF32) if rng.random() < .3 else (rng.getrandbits(1) << 31 | rng.randint(110, 127) << 23 | rng.getrandbits(23)) for _ in range(N)]
for sg, n in ((True, 'i16'), (False, 'u16')):
    vector(V, 'v_cvt_pknorm_%s_f32' % n, ['f32'] * 2, 32, lambda a, b: lo16(norm(F32, a, sg)) | lo16(norm(F32, b, sg)) << 16, fixed=[unit(), unit()])
    vector(V, 'v_cvt_norm_%s_f16' % n, ['f16'], 32, lambda a: lo16(norm(F16, lo16(a), sg)))
vector(V, 'v_cvt_pkrtz_f16_f32', ['f32'] * 2, 32, lambda a, b: F16.convert(F32, a, 3) | F16.convert(F32, b, 3) << 16)
vector(V, 'v_pack_b32_f16', ['f16'] * 2, 32, lambda a, b: lo16(a) | lo16(b) << 16)
vector(V, 'v_pack_b32_f16', ['f16'] * 2, 32, lambda a, b: a >> 16 | (b & 0xffff0000), extra='op_sel:[1,1,0]')
for r in range(4):
    def pku8(a, b, c):
        if F32.nan(a): x = 0
        elif F32.isinf(a): x = 0 if F32.neg(a) else 255
        else:
            v = F32.value(a); q = v.numerator // v.denominator; d = v - q
            x = sat(q + {0: int(d > Fr(1, 2) or (d == Fr(1, 2) and q & 1)), 1: int(d > 0), 2: 0, 3: int(d > 0 and v < 0)}[r], 0, 255)
        sh = 8 * (b & 3)
        return c & ~(255 << sh) | x << sh
    vector(V, 'v_cvt_pk_u8_f32', ['f32', 'u32', 'u32'], 32, pku8, mode=0xf0 | r, fixed=[[rng.choice(EDGEF32) if rng.random() < .3 else F32.encode(Fr(rng.randint(-2000, 5000), 16)) for _ in range(N)], None, None])
vector(V, 'v_sat_pk_u8_i16', ['u32'], 32, lambda a: sat(s16(a), 0, 255) | sat(s16(a >> 16), 0, 255) << 8)

# ---------------------------------------------------------------- packed, dot, mix
P = 'packed'
def pk(f): return lambda *x: (f(*[lo16(v) for v in x]) & 0xffff) | (f(*[v >> 16 for v in x]) & 0xffff) << 16
for m, n, f in (('v_pk_mad_i16', 3, lambda a, b, c: a * b + c), ('v_pk_mad_u16', 3, lambda a, b, c: a * b + c), ('v_pk_mul_lo_u16', 2, lambda a, b: a * b), ('v_pk_add_i16', 2, lambda a, b: a + b),
                ('v_pk_sub_i16', 2, lambda a, b: a - b), ('v_pk_add_u16', 2, lambda a, b: a + b), ('v_pk_sub_u16', 2, lambda a, b: a - b), ('v_pk_lshlrev_b16', 2, lambda a, b: b << (a & 15)),
                ('v_pk_lshrrev_b16', 2, lambda a, b: b >> (a & 15)), ('v_pk_ashrrev_i16', 2, lambda a, b: s16(b) >> (a & 15)), ('v_pk_max_i16', 2, lambda a, b: max(s16(a), s16(b))),
                ('v_pk_min_i16', 2, lambda a, b: min(s16(a), s16(b))), ('v_pk_max_u16', 2, max), ('v_pk_min_u16', 2, min)):
    vector(P, m, ['u32'] * n, 32, pk(f))
vector(P, 'v_pk_add_u16', ['u32'] * 2, 32, pk(lambda a, b: min(a + b, 65535)), extra='clamp')
vector(P, 'v_pk_sub_i16', ['u32'] * 2, 32, pk(lambda a, b: sat(s16(a) - s16(b), -32768, 32767)), extra='clamp')
both = lambda: [rng.choice(EDGEF16) | rng.choice(EDGEF16) << 16 if rng.random() < .4 else rng.getrandbits(32) for _ in range(N)]
KINDS['pk'] = (both, 1)
for mname, mode, rnd, flush in modes(F16):
    for m, n, f in (('v_pk_fma_f16', 3, lambda a, b, c: F16.fma(a, b, c, rnd)), ('v_pk_add_f16', 2, lambda a, b: F16.add(a, b, rnd)), ('v_pk_mul_f16', 2, lambda a, b: F16.mul(a, b, rnd)),
                    ('v_pk_min_f16', 2, lambda a, b: F16.minmax(a, b, False, False)), ('v_pk_max_f16', 2, lambda a, b: F16.minmax(a, b, True, False))):
        vector(P, m, ['pk'] * n, 32, pk(wrap(F16, f, flush)), mode=mode, name=mname)
vector(P, 'v_pk_fma_f16', ['pk'] * 3, 32, lambda a, b, c: F16.fma(a >> 16 ^ 0x8000, lo16(b), lo16(c)) | F16.fma(a >> 16, lo16(b) , (c >> 16) ^ 0x8000) << 16, extra='op_sel:[1,0,0] op_sel_hi:[1,0,1] neg_lo:[1,0,0] neg_hi:[0,0,1]')
vector(P, 'v_pk_fmac_f16', ['pk'] * 2, 32, pk(lambda a, b, d: F16.fma(a, b, d)), dst_init=both)
KINDS['pf'] = (lambda: [x | y << 32 for x, y in zip(f32s(), f32s())], 2)
def pf(f): return lambda *x: f(*[v & M32 for v in x]) | f(*[v >> 32 for v in x]) << 32
for mname, mode, rnd, flush in modes(F32):
    for m, n, f in (('v_pk_fma_f32', 3, lambda a, b, c: F32.fma(a, b, c, rnd)), ('v_pk_mul_f32', 2, lambda a, b: F32.mul(a, b, rnd)), ('v_pk_add_f32', 2, lambda a, b: F32.add(a, b, rnd))):
        vector(P, m, ['pf'] * n, 64, pf(wrap(F32, f, flush)), mode=mode, name=mname)
vector(P, 'v_pk_add_f32', ['pf'] * 2, 64, lambda a, b: F32.add(a >> 32, b & M32 ^ NEG) | F32.add(a & M32, b >> 32) << 32, extra='op_sel:[1,0] op_sel_hi:[0,1] neg_lo:[0,1]')
vector(P, 'v_pk_mov_b32', ['u64'] * 2, 64, lambda a, b: a >> 32 | (b & M32) << 32, extra='op_sel:[1,0]')
def dots(bits, sg, clampit=False):
    def g(a, b, c):
        cv = (lambda x: bfe_i(x, bits)) if sg else (lambda x: x & ((1 << bits) - 1))
        t = (s32(c) if sg else c) + sum(cv(a >> i) * cv(b >> i) for i in range(0, 32, bits))
        return sat(t, -2**31 if sg else 0, 2**31 - 1 if sg else M32) if clampit else t
    return g
for m, bits, sg in (('v_dot2_i32_i16', 16, 1), ('v_dot2_u32_u16', 16, 0), ('v_dot4_i32_i8', 8, 1), ('v_dot4_u32_u8', 8, 0), ('v_dot8_i32_i4', 4, 1), ('v_dot8_u32_u4', 4, 0)):
    vector(P, m, ['u32'] * 3, 32, dots(bits, sg)); vector(P, m, ['u32'] * 3, 32, dots(bits, sg, True), extra='clamp')
for m, bits in (('v_dot2c_i32_i16', 16), ('v_dot4c_i32_i8', 8), ('v_dot8c_i32_i4', 4)): vector(P, m + '_e32', ['u32'] * 2, 32, dots(bits, 1), dst_init=u32s)
w32 = lambda x: F32.convert(F16, x)
# Denormals, whatever MODE says: those of f32 are flushed; those of f16 on gfx90a (docs/reference/float.md, dot products).
def dot2f(cut): return lambda a, b, c: F32.flush(F32.fma(w32(cut(a >> 16)), w32(cut(b >> 16)), F32.fma(w32(cut(lo16(a))), w32(cut(lo16(b))), F32.flush(c))))
DOT2 = (('gfx90a', dot2f(F16.flush)), (['gfx908', 'gfx942', 'gfx950'], dot2f(lambda x: x)))
a, b, c3 = both(), both(), f32s()
for t, f in DOT2 + (('gfx906', DOT2[1][1]),): vector(P, 'v_dot2_f32_f16', ['pk', 'pk', 'f32'], 32, f, target=t, fixed=[a, b, c3])
a, b, c3 = both(), both(), f32s()
for t, f in DOT2: vector(P, 'v_dot2c_f32_f16_e32', ['pk', 'pk'], 32, f, target=t, fixed=[a, b], dst_init=lambda: c3)
a, b, c3 = f32s(), both(), both()
case(P, 'v_fma_mix_f32', 'v_fma_mix_f32 v10, |v0|, v2, -v4 op_sel:[0,1,0] op_sel_hi:[0,1,1]', [('v0', a), ('v2', b), ('v4', c3)], [('v10', [F32.fma(x & ABS, w32(y >> 16), w32(lo16(z)) ^ NEG) for x, y, z in zip(a, b, c3)])])
vector(P, 'v_fma_mixlo_f16', ['f32', 'pk', 'f32'], 32, lambda a, b, c, d: F16.convert(F32, F32.fma(a, w32(lo16(b)), c)) | d & 0xffff0000, extra='op_sel_hi:[0,1,0]', dst_init=u32s)
vector(P, 'v_fma_mixhi_f16', ['f32', 'pk', 'f32'], 32, lambda a, b, c, d: F16.convert(F32, F32.fma(a, w32(lo16(b)), c)) << 16 | d & 0xffff, extra='op_sel_hi:[0,1,0]', dst_init=u32s)
vector(P, 'v_mad_mix_f32', ['f32', 'pk', 'f32'], 32, lambda a, b, c: mad(a, w32(F16.flush(b >> 16)), c), extra='op_sel:[0,1,0] op_sel_hi:[0,1,0]', target='gfx900')

# ---------------------------------------------------------------- SDWA, DPP
D = 'sdwa_dpp'
def sel(x, s):
    return {'BYTE_0': x & 255, 'BYTE_1': x >> 8 & 255, 'BYTE_2': x >> 16 & 255, 'BYTE_3': x >> 24, 'WORD_0': lo16(x), 'WORD_1': x >> 16, 'DWORD': x}[s]
SH = {'BYTE_0': (0, 8), 'BYTE_1': (8, 8), 'BYTE_2': (16, 8), 'BYTE_3': (24, 8), 'WORD_0': (0, 16), 'WORD_1': (16, 16), 'DWORD': (0, 32)}
def sext(x, w): return ((x & ((1 << w) - 1)) - ((x >> (w - 1) & 1) << w)) & M32
for i in range(24):
    ds, a0, a1 = (rng.choice(list(SH)) for _ in range(3)); un = rng.choice(['UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE']); sx = rng.random() < .4
    def f(a, b, d):
        x, y = sel(a, a0), sel(b, a1)
        if sx: x = sext(x, SH[a0][1])
        r = (x + y) & M32; sh, w = SH[ds]
        if w == 32: return r
        m = ((1 << w) - 1) << sh
        v = r << sh & m
        if un == 'UNUSED_PRESERVE': return d & ~m | v
        if un == 'UNUSED_SEXT': return sext(r, w) << sh
        return v
    a, b, d = u32s(), u32s(), u32s()
    src = 'sext(v0)' if sx else 'v0'
    case(D, 'v_add_u32_sdwa %d' % i, 'v_add_u32_sdwa v10, %s, v2 dst_sel:%s dst_unused:%s src0_sel:%s src1_sel:%s' % (src, ds, un, a0, a1), [('v0', a), ('v2', b), ('v10', d)], [('v10', lo([f(*t) for t in zip(a, b, d)]))])
a, b = f16s(), f16s()
case(D, 'v_mul_f16_sdwa', 'v_mul_f16_sdwa v10, -v0, |v2| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:WORD_1 src1_sel:WORD_0', [('v0', a), ('v2', b), ('v10', [0x1234])], [('v10', [F16.mul((x >> 16) ^ 0x8000, lo16(y) & 0x7fff) << 16 | 0x1234 for x, y in zip(a, b)])])
a, b = u32s(64), u32s(64)
case(D, 'v_cmp_eq_u16_sdwa', 'v_cmp_eq_u16_sdwa s[4:5], v0, v0 src0_sel:BYTE_0 src1_sel:BYTE_1', [('v0', a)], [('s4', [mask([x & 255 == x >> 8 & 255 for x in a]) >> s & M32 for s in (0, 32)])])
def dpp(text, src, name, ex=M64, rows=15, banks=15, bc=False):
    x, old = [rng.getrandbits(32) for _ in range(64)], [rng.getrandbits(32) for _ in range(64)]
    r = []
    for l in range(64):
        s = src(l)
        ok = s is not None and ex >> s & 1
        wr = ex >> l & 1 and rows >> (l // 16) & 1 and banks >> (l // 4 % 4) & 1 and (ok or bc)
        r.append((x[s] if ok else 0) if wr else old[l])
    case(D, name, 'v_mov_b32_dpp v10, v0 %s row_mask:0x%x bank_mask:0x%x%s' % (text, rows, banks, ' bound_ctrl:0' if bc else ''), [('v0', x), ('v10', old), ('exec', [ex])], [('v10', r)], ['gfx90a'] if 'newbcast' in text else ['gfx803', 'gfx90a'])
row = lambda l: l & ~15
for bc in (False, True):
    dpp('quad_perm:[3,1,0,2]', lambda l: l & ~3 | [3, 1, 0, 2][l & 3], 'quad_perm', bc=bc, ex=EX)
    for n in (1, 7, 15):
        dpp('row_shl:%d' % n, lambda l: l + n if (l & 15) + n < 16 else None, 'row_shl', bc=bc)
        dpp('row_shr:%d' % n, lambda l: l - n if (l & 15) >= n else None, 'row_shr', bc=bc, ex=EX)
        dpp('row_ror:%d' % n, lambda l: row(l) | (l - n) & 15, 'row_ror', bc=bc, rows=5)
    dpp('wave_shl:1', lambda l: l + 1 if l < 63 else None, 'wave_shl', bc=bc); dpp('wave_shr:1', lambda l: l - 1 if l else None, 'wave_shr', bc=bc)
    dpp('wave_rol:1', lambda l: l + 1 & 63, 'wave_rol', bc=bc); dpp('wave_ror:1', lambda l: l - 1 & 63, 'wave_ror', bc=bc)
    dpp('row_mirror', lambda l: row(l) | 15 - (l & 15), 'row_mirror', bc=bc, banks=6); dpp('row_half_mirror', lambda l: l & ~7 | 7 - (l & 7), 'row_half_mirror', bc=bc)
    dpp('row_bcast:15', lambda l: row(l) - 1 if l > 15 else None, 'row_bcast:15', bc=bc, rows=10); dpp('row_bcast:31', lambda l: 31 if l > 31 else None, 'row_bcast:31', bc=bc, rows=12)
    dpp('row_newbcast:5', lambda l: row(l) | 5, 'row_newbcast', bc=bc)

# ---------------------------------------------------------------- scalar
S = 'scalar'
NZ = object()
def scalar(m, kinds, res, f, scc=None, scc_in=None, reps=6):
    """f(sources..., scc) -> result; scc: NZ (result != 0), None (unchanged) or a function of (sources..., scc)"""
    for i in range(reps):
        xs = [(u64s if k == 64 else u32s)(1)[0] for k in kinds]
        if i == 1 and len(xs) > 1: xs[1] = xs[0] if kinds[0] == kinds[1] else xs[1]
        if i == 2: xs[0] = 0
        if i > 2: xs[i % len(xs)] = (MUST64 if kinds[i % len(xs)] == 64 else MUST32)[(i - 2) % 4]
        si = rng.getrandbits(1)
        sets, regs = [('scc', [si])], []
        for n, (k, x) in enumerate(zip(kinds, xs)):
            r = 10 + 2 * n
            sets.append(('s%d' % r, [x & M32, x >> 32] if k == 64 else [x])); regs.append('s[%d:%d]' % (r, r + 1) if k == 64 else 's%d' % r)
        exp = []
        if res:
            r = f(*xs, si) & (M64 if res == 64 else M32)
            exp.append(('s20', [r & M32, r >> 32] if res == 64 else [r]))
            regs = ['s[20:21]' if res == 64 else 's20'] + regs
        exp.append(('scc', [int(r != 0) if scc is NZ else si if scc is None else int(bool(scc(*xs, si)))]))
        case(S, m, '%s %s' % (m, ', '.join(regs)), sets, exp)
def brev(x, n): return int(('{:0%db}' % n).format(x)[::-1], 2)
def ff(x, n): return next((i for i in range(n) if x >> i & 1), -1)
def flb(x, n): return n - x.bit_length() if x else -1
def flbs(x, n):
    m_ = (1 << n) - 1
    return flb(x ^ (m_ if x >> (n - 1) else 0), n)
def wqm(x, n): return sum(15 << i for i in range(0, n, 4) if x >> i & 15)
def quad(x, n): return sum(1 << (i // 4) for i in range(0, n, 4) if x >> i & 15)
for n in (32, 64):
    sx = s32 if n == 32 else s64
    mk = (1 << n) - 1
    b = 'b%d' % n
    scalar('s_mov_' + b, [n], n, lambda a, c: a); scalar('s_not_' + b, [n], n, lambda a, c: ~a & mk, NZ); scalar('s_brev_' + b, [n], n, lambda a, c: brev(a, n))
    scalar('s_wqm_' + b, [n], n, lambda a, c: wqm(a, n), NZ); scalar('s_quadmask_' + b, [n], n, lambda a, c: quad(a, n), NZ)
    scalar('s_bcnt0_i32_' + b, [n], 32, lambda a, c: n - bin(a).count('1'), NZ); scalar('s_bcnt1_i32_' + b, [n], 32, lambda a, c: bin(a).count('1'), NZ)
    scalar('s_ff0_i32_' + b, [n], 32, lambda a, c: ff(~a & mk, n)); scalar('s_ff1_i32_' + b, [n], 32, lambda a, c: ff(a, n)); scalar('s_flbit_i32_' + b, [n], 32, lambda a, c: flb(a, n))
    scalar('s_cselect_' + b, [n, n], n, lambda a, b_, c: a if c else b_)
    for op, f in (('and', lambda a, b_: a & b_), ('or', lambda a, b_: a | b_), ('xor', lambda a, b_: a ^ b_), ('andn2', lambda a, b_: a & ~b_), ('orn2', lambda a, b_: a | ~b_), ('nand', lambda a, b_: ~(a & b_)), ('nor', lambda a, b_: ~(a | b_)), ('xnor', lambda a, b_: ~(a ^ b_))):
        scalar('s_%s_%s' % (op, b), [n, n], n, lambda a, b_, c: f(a, b_) & mk, NZ)
    scalar('s_lshl_' + b, [n, 32], n, lambda a, b_, c: a << (b_ & n - 1) & mk, NZ); scalar('s_lshr_' + b, [n, 32], n, lambda a, b_, c: a >> (b_ & n - 1), NZ)
    scalar('s_ashr_i%d' % n, [n, 32], n, lambda a, b_, c: sx(a) >> (b_ & n - 1) & mk, NZ)
    scalar('s_bfm_' + b, [32, 32], n, lambda a, b_, c: ((1 << (a & n - 1)) - 1) << (b_ & n - 1))
    fld = lambda: 0
    def ext(a, b_, sg):
        o, w = b_ & n - 1, b_ >> 16 & 127
        x = (sx(a) if sg else a) >> o
        if w >= n: return x & mk
        return (bfe_i(x, w) if sg else x & ((1 << w) - 1)) & mk
    scalar('s_bfe_u%d' % n, [n, 32], n, lambda a, b_, c: ext(a, b_, 0), NZ, reps=10); scalar('s_bfe_i%d' % n, [n, 32], n, lambda a, b_, c: ext(a, b_, 1), NZ, reps=10)
scalar('s_flbit_i32', [32], 32, lambda a, c: flbs(a, 32)); scalar('s_flbit_i32_i64', [64], 32, lambda a, c: flbs(a, 64))
scalar('s_sext_i32_i8', [32], 32, lambda a, c: s8(a)); scalar('s_sext_i32_i16', [32], 32, lambda a, c: s16(a)); scalar('s_abs_i32', [32], 32, lambda a, c: abs(s32(a)), NZ)
scalar('s_bitreplicate_b64_b32', [32], 64, lambda a, c: sum(3 << (2 * i) for i in range(32) if a >> i & 1))
ov = lambda r: not -2**31 <= r < 2**31
scalar('s_add_u32', [32, 32], 32, lambda a, b, c: a + b, lambda a, b, c: a + b > M32); scalar('s_sub_u32', [32, 32], 32, lambda a, b, c: a - b, lambda a, b, c: b > a)
scalar('s_add_i32', [32, 32], 32, lambda a, b, c: a + b, lambda a, b, c: ov(s32(a) + s32(b))); scalar('s_sub_i32', [32, 32], 32, lambda a, b, c: a - b, lambda a, b, c: ov(s32(a) - s32(b)))
scalar('s_addc_u32', [32, 32], 32, lambda a, b, c: a + b + c, lambda a, b, c: a + b + c > M32, reps=10); scalar('s_subb_u32', [32, 32], 32, lambda a, b, c: a - b - c, lambda a, b, c: b + c > a, reps=10)
for m, cv, f in (('s_min_i32', s32, lambda a, b: a < b), ('s_min_u32', lambda x: x, lambda a, b: a < b), ('s_max_i32', s32, lambda a, b: a >= b), ('s_max_u32', lambda x: x, lambda a, b: a >= b)):
    scalar(m, [32, 32], 32, lambda a, b, c: a if f(cv(a), cv(b)) else b, lambda a, b, c: f(cv(a), cv(b)))
scalar('s_mul_i32', [32, 32], 32, lambda a, b, c: a * b); scalar('s_mul_hi_u32', [32, 32], 32, lambda a, b, c: a * b >> 32); scalar('s_mul_hi_i32', [32, 32], 32, lambda a, b, c: s32(a) * s32(b) >> 32)
scalar('s_absdiff_i32', [32, 32], 32, lambda a, b, c: abs(s32(a - b)), NZ)
for i in range(1, 5): scalar('s_lshl%d_add_u32' % i, [32, 32], 32, lambda a, b, c: (a << i) + b, lambda a, b, c: (a << i) + b > M32)
scalar('s_pack_ll_b32_b16', [32, 32], 32, lambda a, b, c: lo16(a) | lo16(b) << 16); scalar('s_pack_lh_b32_b16', [32, 32], 32, lambda a, b, c: lo16(a) | b & 0xffff0000); scalar('s_pack_hh_b32_b16', [32, 32], 32, lambda a, b, c: a >> 16 | b & 0xffff0000)
for n, f in (('eq', rel['eq']), ('lg', rel['ne']), ('gt', rel['gt']), ('ge', rel['ge']), ('lt', rel['lt']), ('le', rel['le'])):
    scalar('s_cmp_%s_i32' % n, [32, 32], 0, None, lambda a, b, c: f(s32(a), s32(b))); scalar('s_cmp_%s_u32' % n, [32, 32], 0, None, lambda a, b, c: f(a, b))
    k = rng.choice([5, -7, 0x7fff, -32768])
    for x in (k & M32, 3, 0xffff8000):
        case(S, 's_cmpk_%s_i32' % n, 's_cmpk_%s_i32 s10, %d' % (n, k), [('s10', [x]), ('scc', [0])], [('scc', [int(f(s32(x), k))])])
        case(S, 's_cmpk_%s_u32' % n, 's_cmpk_%s_u32 s10, %d' % (n, k & 0xffff), [('s10', [x]), ('scc', [0])], [('scc', [int(f(x, k & 0xffff))])])
scalar('s_cmp_eq_u64', [64, 64], 0, None, lambda a, b, c: a == b); scalar('s_cmp_lg_u64', [64, 64], 0, None, lambda a, b, c: a != b)
scalar('s_bitcmp0_b32', [32, 32], 0, None, lambda a, b, c: not a >> (b & 31) & 1); scalar('s_bitcmp1_b32', [32, 32], 0, None, lambda a, b, c: a >> (b & 31) & 1)
scalar('s_bitcmp0_b64', [64, 32], 0, None, lambda a, b, c: not a >> (b & 63) & 1); scalar('s_bitcmp1_b64', [64, 32], 0, None, lambda a, b, c: a >> (b & 63) & 1)
for m, f in (('and', lambda s, e: s & e), ('or', lambda s, e: s | e), ('xor', lambda s, e: s ^ e), ('andn2', lambda s, e: s & ~e), ('orn2', lambda s, e: s | ~e), ('nand', lambda s, e: ~(s & e)), ('nor', lambda s, e: ~(s | e)), ('xnor', lambda s, e: ~(s ^ e)), ('andn1', lambda s, e: ~s & e), ('orn1', lambda s, e: ~s | e)):
    s, e = rng.getrandbits(64), rng.getrandbits(64); r = f(s, e) & M64
    case(S, 's_%s_saveexec_b64' % m, 's_%s_saveexec_b64 s[20:21], s[10:11]' % m, [('s10', [s & M32, s >> 32]), ('exec', [e])], [('s20', [e & M32, e >> 32]), ('exec', [r]), ('scc', [int(r != 0)])])
for m, f in (('andn1', lambda s, e: ~s & e), ('andn2', lambda s, e: s & ~e)):
    s, e = rng.getrandbits(64), rng.getrandbits(64); r = f(s, e) & M64
    case(S, 's_%s_wrexec_b64' % m, 's_%s_wrexec_b64 s[20:21], s[10:11]' % m, [('s10', [s & M32, s >> 32]), ('exec', [e])], [('s20', [r & M32, r >> 32]), ('exec', [r]), ('scc', [int(r != 0)])])
case(S, 's_movk_i32', 's_movk_i32 s20, -2', [], [('s20', [M32 - 1])])
case(S, 's_cmovk_i32 s_cmov', ['s_cmovk_i32 s20, 5', 's_cmov_b32 s21, s10', 's_cmov_b64 s[22:23], s[10:11]'], [('scc', [1]), ('s10', [7, 8])], [('s20', [5, 7, 7, 8])])
case(S, 's_cmov not', ['s_cmovk_i32 s20, 5', 's_cmov_b32 s21, s10'], [('scc', [0]), ('s10', [7]), ('s20', [1, 2])], [('s20', [1, 2])])
case(S, 's_addk_i32', 's_addk_i32 s20, 0x7fff', [('s20', [0x7fffffff])], [('s20', [0x80007ffe]), ('scc', [1])])
case(S, 's_mulk_i32', 's_mulk_i32 s20, -3', [('s20', [5])], [('s20', [-15 & M32])])
case(S, 's_bitset', ['s_bitset0_b32 s20, s10', 's_bitset1_b32 s21, s10', 's_bitset1_b64 s[22:23], s10', 's_bitset0_b64 s[24:25], s10'], [('s10', [0x25]), ('s20', [M32, 0, 0, 0, M32, M32])], [('s20', [M32 ^ 32, 32, 0, 32, M32, M32 ^ 32])])
case(S, 's_movrel', ['s_movrels_b32 s20, s10', 's_movreld_b32 s30, s10', 's_movrels_b64 s[22:23], s[10:11]'], [('m0', [2]), ('s10', [1, 2, 3, 4])], [('s20', [3]), ('s32', [1]), ('s22', [3, 4])])
case(S, 's_getreg s_setreg', ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 4), 5', 's_getreg_b32 s20, hwreg(HW_REG_MODE, 0, 8)', 's_setreg_b32 hwreg(HW_REG_MODE, 0, 2), s10'], [('s10', [0xff])], [('s20', [0x50]), ('mode', [0x53])])
case(S, 'branches', ['s_branch 1', 's_mov_b32 s20, 1', 's_cmp_eq_u32 s0, s0', 's_cbranch_scc0 1', 's_mov_b32 s21, 2', 's_cbranch_scc1 1', 's_mov_b32 s22, 3', 's_mov_b64 vcc, 0', 's_cbranch_vccz 1', 's_mov_b32 s23, 4', 's_cbranch_vccnz 1', 's_mov_b32 s24, 5', 's_cbranch_execz 1', 's_mov_b32 s25, 6', 's_cbranch_execnz 1', 's_mov_b32 s26, 7'], [('s20', [0] * 7)], [('s20', [0, 2, 0, 0, 5, 6, 0])])
case(S, 'calls', ['s_getpc_b64 s[20:21]', 's_add_u32 s20, s20, 20', 's_addc_u32 s21, s21, 0', 's_swappc_b64 s[30:31], s[20:21]', 's_mov_b32 s40, 1', 's_branch 2', 's_mov_b32 s41, 2', 's_setpc_b64 s[30:31]'], [('s40', [0, 0])], [('s40', [1, 2])])
case(S, 's_call_b64', ['s_call_b64 s[30:31], 2', 's_mov_b32 s40, 1', 's_branch 2', 's_mov_b32 s41, 2', 's_setpc_b64 s[30:31]'], [('s40', [0, 0])], [('s40', [1, 2])])
case(S, 's_set_gpr_idx', ['s_set_gpr_idx_on s10, gpr_idx(SRC0)', 'v_mov_b32_e32 v10, v0', 's_set_gpr_idx_idx s11', 's_set_gpr_idx_mode gpr_idx(DST)', 'v_mov_b32_e32 v20, v0', 's_set_gpr_idx_off', 'v_mov_b32_e32 v30, v0'], [('s10', [3, 5]), ('v0', [1]), ('v3', [4])], [('v10', [4]), ('v25', [1]), ('v20', [0xc0c0c0c0 + 20]), ('v30', [1])])

# ---------------------------------------------------------------- matrices. Layouts as in AMD's matrix instruction calculator.
X = 'matrix'
small = lambda: F32.encode(Fr(rng.randint(-64, 64), rng.choice([1, 2, 4, 8])))
def mat(name, target, M, Nn, K, B, bits, enc, fma_, a_place, b_place, d_place, gen, c_gen, wide=False):
    """places map (block, row, k) etc. to (item, lane)"""
    A = [[[gen() for k in range(K)] for i in range(M)] for b in range(B)]
    Bm = [[[gen() for j in range(Nn)] for k in range(K)] for b in range(B)]
    Cm = [[[c_gen() for j in range(Nn)] for i in range(M)] for b in range(B)]
    def regs(items, per):
        r = {}
        for (item, lane), x in items:
            w = r.setdefault(item // per, [0] * 64)
            w[lane] |= x << (bits * (item % per)) if per > 1 else x
        return r
    per = 32 // bits if bits < 32 else 1
    def put(base, r):
        o = []
        for i, xs in sorted(r.items()):
            if wide: o += [('v%d' % (base + 2 * i), lo(xs)), ('v%d' % (base + 2 * i + 1), hi(xs))]
            else: o.append(('v%d' % (base + i), xs))
        return o
    ra = regs([(a_place(b, i, k), enc(A[b][i][k])) for b in range(B) for i in range(M) for k in range(K)], per)
    rb = regs([(b_place(b, k, j), enc(Bm[b][k][j])) for b in range(B) for k in range(K) for j in range(Nn)], per)
    rc, rd = {}, {}
    for b in range(B):
        for i in range(M):
            for j in range(Nn):
                item, lane = d_place(b, i, j); acc = Cm[b][i][j]
                rc.setdefault(item, [0] * 64)[lane] = acc
                for k in range(K): acc = fma_(A[b][i][k], Bm[b][k][j], acc)
                rd.setdefault(item, [0] * 64)[lane] = acc
    f_ = 2 if wide else 1
    rg = lambda base, n: 'v%d' % base if n == 1 else 'v[%d:%d]' % (base, base + n - 1)
    na, nb, nc = len(ra) * f_, len(rb) * f_, len(rc) * f_
    case(X, name, '%s %s, %s, %s, %s' % (name, rg(64, nc), rg(0, na), rg(8, nb), rg(16, nc)), put(0, ra) + put(8, rb) + put(16, rc) + [('exec', [1])], put(64, rd), target)
f16enc = lambda x: F16.convert(F32, x)
bfenc = lambda x: x >> 16
f32fma = lambda a, b, c: F32.fma(a, b, c)
p32 = lambda b, i, j: (i % 4 + 4 * (i // 8) + 16 * b, j + 32 * (i // 4 % 2))
p16 = lambda b, i, j: (i % 4 + 4 * b, j + 16 * (i // 4))
p4 = lambda b, i, j: (i, j + 4 * b)
mat('v_mfma_f32_32x32x1f32', 'gfx90a', 32, 32, 1, 2, 32, lambda x: x, f32fma, lambda b, i, k: (0, i + 32 * b), lambda b, k, j: (0, j + 32 * b), p32, small, small)
mat('v_mfma_f32_16x16x1f32', 'gfx90a', 16, 16, 1, 4, 32, lambda x: x, f32fma, lambda b, i, k: (0, i + 16 * b), lambda b, k, j: (0, j + 16 * b), p16, small, small)
mat('v_mfma_f32_4x4x1f32', 'gfx90a', 4, 4, 1, 16, 32, lambda x: x, f32fma, lambda b, i, k: (0, i + 4 * b), lambda b, k, j: (0, j + 4 * b), p4, small, small)
mat('v_mfma_f32_32x32x2f32', 'gfx90a', 32, 32, 2, 1, 32, lambda x: x, f32fma, lambda b, i, k: (0, i + 32 * k), lambda b, k, j: (0, j + 32 * k), p32, f32_random, f32_random)
mat('v_mfma_f32_16x16x4f32', 'gfx90a', 16, 16, 4, 1, 32, lambda x: x, f32fma, lambda b, i, k: (0, i + 16 * k), lambda b, k, j: (0, j + 16 * k), p16, small, small)
mat('v_mfma_f32_32x32x8f16', 'gfx90a', 32, 32, 8, 1, 16, f16enc, f32fma, lambda b, i, k: (k % 4, i + 32 * (k // 4)), lambda b, k, j: (k % 4, j + 32 * (k // 4)), p32, small, small)
mat('v_mfma_f32_16x16x16f16', 'gfx90a', 16, 16, 16, 1, 16, f16enc, f32fma, lambda b, i, k: (k % 4, i + 16 * (k // 4)), lambda b, k, j: (k % 4, j + 16 * (k // 4)), p16, small, small)
mat('v_mfma_f32_16x16x16bf16_1k', 'gfx90a', 16, 16, 16, 1, 16, bfenc, f32fma, lambda b, i, k: (k % 4, i + 16 * (k // 4)), lambda b, k, j: (k % 4, j + 16 * (k // 4)), p16, lambda: F32.encode(Fr(rng.randint(-64, 64))), small)
mat('v_mfma_f32_32x32x4bf16', 'gfx90a', 32, 32, 4, 1, 16, bfenc, f32fma, lambda b, i, k: (k % 2, i + 32 * (k // 2)), lambda b, k, j: (k % 2, j + 32 * (k // 2)), p32, lambda: F32.encode(Fr(rng.randint(-64, 64))), small)
mat('v_mfma_i32_16x16x16i8', 'gfx90a', 16, 16, 16, 1, 8, lambda x: x & 255, lambda a, b, c: (s8(a) * s8(b) + c) & M32, lambda b, i, k: (k % 4, i + 16 * (k // 4)), lambda b, k, j: (k % 4, j + 16 * (k // 4)), p16, lambda: rng.getrandbits(8), lambda: rng.getrandbits(32))
mat('v_mfma_f64_16x16x4f64', 'gfx90a', 16, 16, 4, 1, 64, lambda x: x, lambda a, b, c: F64.fma(a, b, c), lambda b, i, k: (0, i + 16 * k), lambda b, k, j: (0, j + 16 * k), lambda b, i, j: (i // 4, j + 16 * (i % 4)), f64_random, f64_random, wide=True)


mat('v_mfma_f64_4x4x4f64', 'gfx90a', 4, 4, 4, 4, 64, lambda x: x, lambda a, b, c: F64.fma(a, b, c), lambda b, i, k: (0, i + 4 * b + 16 * k), lambda b, k, j: (0, j + 4 * b + 16 * k), lambda b, i, j: (0, j + 4 * i + 16 * b), f64_random, f64_random, wide=True)
# CBSZ, ABID: blocks share an A; BLGP: lanes of B
xs, ys, zs = [small() for _ in range(64)], [small() for _ in range(64)], [[small() for _ in range(64)] for _ in range(4)]
for mods, ab, bl in (('cbsz:2 abid:1', lambda b: (b & ~3) | 1, lambda l: l), ('blgp:3', lambda b: b, lambda l: (l + 16) & 63), ('blgp:2', lambda b: b, lambda l: 32 | l & 31), ('blgp:5', lambda b: b, lambda l: 16 | l & 15)):
    r = [[F32.fma(xs[i + 4 * ab(l // 4)], ys[bl(l)], zs[i][l]) for l in range(64)] for i in range(4)]
    case(X, 'v_mfma_f32_4x4x1f32 ' + mods, 'v_mfma_f32_4x4x1f32 v[20:23], v0, v1, v[4:7] ' + mods, [('v0', xs), ('v1', ys)] + [('v%d' % (4 + i), zs[i]) for i in range(4)], [('v%d' % (20 + i), r[i]) for i in range(4)], 'gfx90a')

# sparse and small-float matrices (gfx942, gfx950)
class Small:
    def __init__(self, e, m, bias, top, fnuz=False, inf=False, nan=True):
        self.e, self.m, self.bias, self.top, self.fnuz, self.inf, self.has_nan = e, m, bias, top, fnuz, inf, nan
        self.width = 1 + e + m
    def value(self, b):   # Fraction, or None for NaN and infinity
        s, mag = b >> (self.width - 1) & 1, b & ((1 << (self.width - 1)) - 1)
        if self.fnuz and s and mag == 0 or mag > self.top: return None
        e, f = mag >> self.m, mag & ((1 << self.m) - 1)
        v = Fr(f, 1 << self.m) * Fr(2) ** (1 - self.bias) if e == 0 else (1 + Fr(f, 1 << self.m)) * Fr(2) ** (e - self.bias)
        return -v if s else v
    def encode(self, v, over):
        """v: Fraction; over: what a value beyond the largest becomes ('sat' or a code)"""
        s, v = (1 << (self.width - 1) if v < 0 else 0), abs(v)
        best = min(range(self.top + 1), key=lambda b: (abs(self.value(b) - v), b & 1))
        step = self.value(self.top) - self.value(self.top - 1)
        if v >= self.value(self.top) + step / 2: return s | self.top if over == 'sat' else over if self.fnuz else s | over
        return 0 if best == 0 and self.fnuz else s | best
FP8F, BF8F = Small(4, 3, 8, 0x7f, fnuz=True), Small(5, 2, 16, 0x7f, fnuz=True)
FP8, BF8, FP6, BF6, FP4 = Small(4, 3, 7, 0x7e), Small(5, 2, 15, 0x7b, inf=True), Small(2, 3, 1, 0x1f, nan=False), Small(3, 2, 3, 0x1f, nan=False), Small(2, 1, 1, 7, nan=False)
K3 = 'small_floats'
def dec_bits(S, b):
    v = S.value(b)
    if v is not None: return F32.encode(v, 0, bool(b >> (S.width - 1)))
    if S.inf and (b & 0x7f) == 0x7c: return 0xff800000 if b & 0x80 else 0x7f800000
    return None
for target, f8, b8 in (('gfx942', FP8F, BF8F), ('gfx950', FP8, BF8)):
    for n, S in (('fp8', f8), ('bf8', b8)):
        codes = [b for b in range(256) if dec_bits(S, b) is not None]
        for part in range(0, len(codes), 64):
            xs = codes[part:part + 64]
            case(K3, 'v_cvt_f32_' + n, 'v_cvt_f32_%s v10, v0' % n, [('v0', xs)], [('v10', [dec_bits(S, b) for b in xs])], target)
        xs = [b | rng.choice(codes) << 8 for b in rng.choices(codes, k=64)]
        case(K3, 'v_cvt_f32_%s_sdwa' % n, 'v_cvt_f32_%s_sdwa v10, v0 src0_sel:BYTE_1' % n, [('v0', xs)], [('v10', [dec_bits(S, b >> 8) for b in xs])], target)
        case(K3, 'v_cvt_pk_f32_' + n, 'v_cvt_pk_f32_%s v[10:11], v0' % n, [('v0', xs)], [('v10', [dec_bits(S, b & 255) for b in xs]), ('v11', [dec_bits(S, b >> 8) for b in xs])], target)
        near = lambda: [F32.encode(Fr(rng.randint(-70000 if n == 'bf8' else -480, 70000 if n == 'bf8' else 480)) * Fr(2) ** -rng.randint(0, 20)) for _ in range(64)]
        a, b = near(), near()
        for mode, over in ((0xf0, 0x80 if S.fnuz else 0x7c if S.inf else 0x7f), (0x8000f0, 'sat')):
            r = [S.encode(F32.value(x), over) | S.encode(F32.value(y), over) << 8 for x, y in zip(a, b)]
            case(K3, 'v_cvt_pk_%s_f32' % n, 'v_cvt_pk_%s_f32 v10, v0, v2' % n, [('v0', a), ('v2', b), ('v10', [0xaaaa5555])], [('v10', [0xaaaa0000 | x for x in r])], target, mode)
            case(K3, 'v_cvt_pk_%s_f32 high' % n, 'v_cvt_pk_%s_f32 v10, v0, v2 op_sel:[0,0,1]' % n, [('v0', a), ('v2', b), ('v10', [0xaaaa5555])], [('v10', [0x5555 | x << 16 for x in r])], target, mode)
        e8 = lambda S=S: rng.choice([x for x in range(256) if S.value(x) is not None])
        m8 = lambda x, y, z, S=S: F32.fma(dec_bits(S, x), dec_bits(S, y), z)
        mat('v_mfma_f32_16x16x32_%s_%s' % (n, n), target, 16, 16, 32, 1, 8, lambda x: x, m8, lambda b, i, k: (k % 8, i + 16 * (k // 8)), lambda b, k, j: (k % 8, j + 16 * (k // 8)), p16, e8, small)
        if target == 'gfx942': out[X].pop()   # adds up in its own way: generate_matrix.py
for t in ('f16', 'bf16'):
    enc = f16enc if t == 'f16' else bfenc
    vals = [[F32.encode(Fr(rng.randint(-64, 64))) for _ in range(16)] for _ in range(16)]   # compressed A
    pos = [[sorted(rng.sample(range(4), 2)) for _ in range(8)] for _ in range(16)]
    Bd = [[F32.encode(Fr(rng.randint(-64, 64))) for _ in range(16)] for _ in range(32)]
    Cd = [[small() for _ in range(16)] for _ in range(16)]
    va, vb, vi, vc, vd = [[0] * 64 for _ in range(2)], [[0] * 64 for _ in range(4)], [0] * 64, [[0] * 64 for _ in range(4)], [[0] * 64 for _ in range(4)]
    for abid in (0, 2):
        for i in range(16):
            for g in range(4):
                l = i + 16 * g
                vi[l] = rng.getrandbits(32) & ~(255 << (8 * abid))
                for t_ in range(4):
                    x = enc(vals[i][4 * g + t_]); va[t_ // 2][l] = (va[t_ // 2][l] & ~(0xffff << (16 * (t_ % 2)))) | x << (16 * (t_ % 2))
                    vi[l] |= pos[i][2 * g + t_ // 2][t_ % 2] << (2 * t_ + 8 * abid)
                for t_ in range(8): vb[t_ // 2][l] = (vb[t_ // 2][l] & ~(0xffff << (16 * (t_ % 2)))) | enc(Bd[8 * g + t_][i]) << (16 * (t_ % 2))
        for i in range(16):
            for j in range(16):
                item, lane = p16(0, i, j); acc = Cd[i][j]; vc[item][lane] = acc
                for q in range(16):
                    k = 4 * (q // 2) + pos[i][q // 2][q % 2]
                    acc = F32.fma(vals[i][q], Bd[k][j], acc)
                vd[item][lane] = acc
        case(X, 'v_smfmac_f32_16x16x32_%s abid %d' % (t, abid), 'v_smfmac_f32_16x16x32_%s v[10:13], v[0:1], v[4:7], v8%s' % (t, ' abid:%d' % abid if abid else ''),
             [('v%d' % i, va[i]) for i in range(2)] + [('v%d' % (4 + i), vb[i]) for i in range(4)] + [('v8', list(vi))] + [('v%d' % (10 + i), vc[i]) for i in range(4)], [('v%d' % (10 + i), vd[i]) for i in range(4)], 'gfx942')
# gfx950
for i in range(4):
    tbl = rng.getrandbits(8)
    vector(K3, 'v_bitop3_b32', ['u32'] * 3, 32, lambda a, b, c: sum((tbl >> ((a >> n & 1) << 2 | (b >> n & 1) << 1 | c >> n & 1) & 1) << n for n in range(32)), target='gfx950', extra='bitop3:0x%x' % tbl)
vector(K3, 'v_ashr_pk_i8_i32', ['u32'] * 3, 32, lambda a, b, c, d: (sat(s32(a) >> (c & 31), -128, 127) & 255) | (sat(s32(b) >> (c & 31), -128, 127) & 255) << 8 | d & 0xffff0000, target='gfx950', dst_init=u32s)
vector(K3, 'v_ashr_pk_u8_i32', ['u32'] * 3, 32, lambda a, b, c, d: sat(s32(a) >> (c & 31), 0, 255) | sat(s32(b) >> (c & 31), 0, 255) << 8 | d & 0xffff0000, target='gfx950', dst_init=u32s)
def m19(F, a, b, mx):
    n_ = F.first_nan(a, b)
    if n_ is not None: return n_
    return F.minmax(a, b, mx, False)
for mx, n in ((False, 'minimum3'), (True, 'maximum3')):
    vector(K3, 'v_%s_f32' % n, ['f32'] * 3, 32, lambda a, b, c: m19(F32, m19(F32, a, b, mx), c, mx), target='gfx950')
    vector(K3, 'v_pk_%s_f16' % n, ['pk'] * 3, 32, pk(lambda a, b, c: m19(F16, m19(F16, a, b, mx), c, mx)), target='gfx950')
def bf(x):
    if F32.nan(x): return x >> 16 | 0x40
    if F32.isinf(x): return x >> 16
    lo_, hi_ = x & 0xffff, x >> 16
    return hi_ + (lo_ > 0x8000 or (lo_ == 0x8000 and hi_ & 1))
vector(K3, 'v_cvt_pk_bf16_f32', ['f32'] * 2, 32, lambda a, b: bf(a) | bf(b) << 16, target='gfx950')
vector(K3, 'v_cvt_pk_f16_f32', ['f32'] * 2, 32, lambda a, b: F16.convert(F32, a) | F16.convert(F32, b) << 16, target='gfx950')
vector(K3, 'v_prng_b32', ['u32'], 32, lambda a: a << 1 ^ (197 if a >> 31 else 0), target='gfx950')
pw = lambda lo_, hi_: [F32.encode(Fr(2) ** rng.randint(lo_, hi_)) for _ in range(N)]
mod = lambda: [F32.encode(Fr(rng.randint(-4000, 4000), rng.choice([1, 4, 64, 1024]))) for _ in range(N)]
ex = lambda s: (s >> 23 & 255) - 127
vector(K3, 'v_cvt_scalef32_pk_fp8_f32', ['f32'] * 3, 32, lambda a, b, c, d: d & 0xffff0000 | FP8.encode(F32.value(a) / Fr(2) ** ex(c), 0x7f) | FP8.encode(F32.value(b) / Fr(2) ** ex(c), 0x7f) << 8, target='gfx950', dst_init=u32s, fixed=[mod(), mod(), pw(-6, 12)])
vector(K3, 'v_cvt_scalef32_pk_fp4_f32', ['f32'] * 3, 32, lambda a, b, c, d: d & 0xffffff00 | FP4.encode(F32.value(a) / Fr(2) ** ex(c), 'sat') | FP4.encode(F32.value(b) / Fr(2) ** ex(c), 'sat') << 4, target='gfx950', dst_init=u32s, fixed=[mod(), mod(), pw(-6, 12)])
vector(K3, 'v_cvt_scalef32_pk_f32_fp4', ['u32', 'f32'], 64, lambda a, c: F32.encode(FP4.value(a & 15) * Fr(2) ** ex(c), 0, bool(a & 8)) | F32.encode(FP4.value(a >> 4 & 15) * Fr(2) ** ex(c), 0, bool(a & 128)) << 32, target='gfx950', fixed=[None, pw(-20, 20)])
vector(K3, 'v_cvt_scalef32_pk_f16_fp8', ['u32', 'f32'], 32, lambda a, c: F16.encode(FP8.value(a & 255) * Fr(2) ** ex(c), 0, bool(a & 128)) | F16.encode(FP8.value(a >> 8 & 255) * Fr(2) ** ex(c), 0, bool(a & 32768)) << 16, target='gfx950', fixed=[[rng.randint(0, 0x7e) | rng.randint(0, 0x7e) << 8 for _ in range(N)], pw(-4, 4)])
src = [[rng.getrandbits(6) for _ in range(32)] for _ in range(64)]; sc = [F32.encode(Fr(2) ** rng.randint(-3, 3)) for _ in range(64)]
packed6 = [sum(x << (6 * i) for i, x in enumerate(r)) for r in src]
case(K3, 'v_cvt_scalef32_pk32_f32_bf6', 'v_cvt_scalef32_pk32_f32_bf6 v[32:63], v[0:5], v8', [('v%d' % i, [p >> (32 * i) & M32 for p in packed6]) for i in range(6)] + [('v8', sc)],
     [('v%d' % (32 + e), [F32.encode(BF6.value(r[e]) * Fr(2) ** ex(s), 0, bool(r[e] & 32)) for r, s in zip(src, sc)]) for e in range(32)], 'gfx950')
wide = [[F32.encode(Fr(rng.randint(-100, 100), 8)) for _ in range(32)] for _ in range(64)]
enc6 = [sum(FP6.encode(F32.value(x) / Fr(2) ** ex(s), 'sat') << (6 * e) for e, x in enumerate(r)) for r, s in zip(wide, sc)]
case(K3, 'v_cvt_scalef32_2xpk16_fp6_f32', 'v_cvt_scalef32_2xpk16_fp6_f32 v[40:45], v[0:15], v[16:31], v36', [('v%d' % (e // 2 + 16 * (e & 1)), [r[e] for r in wide]) for e in range(32)] + [('v36', sc)], [('v%d' % (40 + i), [p >> (32 * i) & M32 for p in enc6]) for i in range(6)], 'gfx950')
# v_mfma_f32_16x16x128_f8f6f4 with fp4 operands, and with scales
A4, B4, C4 = [[rng.getrandbits(4) for _ in range(128)] for _ in range(16)], [[rng.getrandbits(4) for _ in range(16)] for _ in range(128)], [[small() for _ in range(16)] for _ in range(16)]
for scaled in (False, True):
    sa, sb = [rng.randint(120, 134) for _ in range(64)], [rng.randint(120, 134) for _ in range(64)]
    va, vb, vc, vd = [[0] * 64 for _ in range(4)], [[0] * 64 for _ in range(4)], [[0] * 64 for _ in range(4)], [[0] * 64 for _ in range(4)]
    for i in range(16):
        for k in range(128):
            l, t_ = i + 16 * (k // 32), k % 32
            va[t_ // 8][l] |= A4[i][k] << (4 * (t_ % 8)); vb[t_ // 8][l] |= B4[k][i] << (4 * (t_ % 8))
    for i in range(16):
        for j in range(16):
            item, lane = p16(0, i, j); acc = C4[i][j]; vc[item][lane] = acc
            for k in range(128):
                s_ = Fr(2) ** (sa[i + 16 * (k // 32)] - 127), Fr(2) ** (sb[j + 16 * (k // 32)] - 127)
                x, y = FP4.value(A4[i][k]) * (s_[0] if scaled else 1), FP4.value(B4[k][j]) * (s_[1] if scaled else 1)
                acc = F32.fma(F32.encode(x, 0, bool(A4[i][k] & 8)), F32.encode(y, 0, bool(B4[k][j] & 8)), acc)
            vd[item][lane] = acc
    asm = 'v_mfma%s_f32_16x16x128_f8f6f4 v[20:23], v[0:3], v[4:7], v[8:11]%s cbsz:4 blgp:4' % ('_scale' if scaled else '', ', v12, v13 op_sel_hi:[0,0,0]' if scaled else '')
    case(X, asm.split()[0], asm, [('v%d' % i, va[i]) for i in range(4)] + [('v%d' % (4 + i), vb[i]) for i in range(4)] + [('v%d' % (8 + i), vc[i]) for i in range(4)] + [('v12', [x | 0x55000000 for x in sa]), ('v13', [x | 0x66000000 for x in sb])], [('v%d' % (20 + i), vd[i]) for i in range(4)], 'gfx950')

# ---------------------------------------------------------------- what is left of the frequent instructions
T_ = 'float_f32'
vector(T_, 'v_rcp_iflag_f32', ['f32'], 32, lambda a: F32.div(F32.one, a))
vector('float_f64', 'v_rsq_f64', ['f64'], 64, lambda a: F64.div(F64.one, sqrt(F64)(a)))
for mode in (0xf0, 0xc0):
    a, b = f32s(), f32s()
    case(T_, 'v_madmk_f32', 'v_madmk_f32 v10, v0, 0x40490fdb, v2', [('v0', a), ('v2', b)], [('v10', [mad(x, 0x40490fdb, y) for x, y in zip(a, b)])], mode=mode)
    case(T_, 'v_madak_f32', 'v_madak_f32 v10, v0, v2, 0x40490fdb', [('v0', a), ('v2', b)], [('v10', [mad(x, y, 0x40490fdb) for x, y in zip(a, b)])], mode=mode)
for t, m in ((None, 'v_fmamk_f32'), (None, 'v_fmaak_f32')):
    a, b = f32s(), f32s()
    if m == 'v_fmamk_f32': case(T_, m, 'v_fmamk_f32 v10, v0, 0x40490fdb, v2', [('v0', a), ('v2', b)], [('v10', [F32.fma(x, 0x40490fdb, y) for x, y in zip(a, b)])], t)
    else: case(T_, m, 'v_fmaak_f32 v10, v0, v2, 0x40490fdb', [('v0', a), ('v2', b)], [('v10', [F32.fma(x, y, 0x40490fdb) for x, y in zip(a, b)])], t)
# Arguments whose results are exact, and the special ones (error bounds: transcendental_test.cpp)
p2 = lambda n: F32.encode(Fr(2) ** n)
ints = [-149, -126, -127, -1, 0, 1, 10, 127]
case(T_, 'v_exp_f32', 'v_exp_f32 v10, v0', [('v0', [F32.encode(Fr(n)) for n in ints] + [F32.encode(Fr(128)), 0xff800000, 0x7f800000, 0x7f812345])], [('v10', [p2(n) for n in ints] + [0x7f800000, 0, 0x7f800000, 0x7fc12345])])
case(T_, 'v_exp_f32 flush', 'v_exp_f32 v10, v0', [('v0', [F32.encode(Fr(n)) for n in ints])], [('v10', [F32.flush(p2(n)) for n in ints])], mode=0xc0)
case(T_, 'v_log_f32', 'v_log_f32 v10, v0', [('v0', [p2(n) for n in ints] + [0, 0x80000000, 0xbf800000, 0x7f800000, 0x7f812345])], [('v10', [F32.encode(Fr(n)) for n in ints] + [0xff800000, 0xff800000, 0xffc00000, 0x7f800000, 0x7fc12345])])
case(T_, 'v_rsq_f32', 'v_rsq_f32 v10, v0', [('v0', [p2(2 * n) for n in (-74, -63, -3, 0, 5, 63)] + [0, 0x80000000, 0xbf800000, 0x7f800000, 0x7f812345])], [('v10', [p2(-n) for n in (-74, -63, -3, 0, 5, 63)] + [0x7f800000, 0xff800000, 0xffc00000, 0, 0x7fc12345])])
quarters = [F32.encode(Fr(n, 4), 0, n < 0) for n in range(-5, 6)] + [0x80000000]
case(T_, 'v_sin_f32', 'v_sin_f32 v10, v0', [('v0', [q for q, n in zip(quarters, range(-5, 6)) if n & 1] + [0, 0x80000000])], [('v10', [F32.encode(Fr(1 if n % 4 == 1 else -1)) for n in range(-5, 6) if n & 1] + [0, 0x80000000])])
case(T_, 'v_cos_f32', 'v_cos_f32 v10, v0', [('v0', [q for q, n in zip(quarters, range(-5, 6)) if not n & 1])], [('v10', [F32.encode(Fr(1 if n % 4 == 0 else -1)) for n in range(-5, 6) if not n & 1])])
for n, f in (('v_exp_f16', lambda n: (F16.encode(Fr(n)), F16.encode(Fr(2) ** n))), ('v_log_f16', lambda n: (F16.encode(Fr(2) ** n), F16.encode(Fr(n))))):
    case('float_f16', n, n + ' v10, v0', [('v0', [f(k)[0] for k in range(-14, 16)])], [('v10', [f(k)[1] for k in range(-14, 16)])])
vector('float_f16', 'v_rcp_f16', ['f16'], 32, lambda a: F16.div(F16.one, lo16(a)))
a, b = u32s(64), u32s(64)
for t in ('gfx908', 'gfx90a'):
    case(C, 'v_accvgpr_write_b32', 'v_accvgpr_write_b32 a3, v0', [('v0', a), ('a3', b), ('exec', [EX])], [('a3', [x if EX >> l & 1 else y for l, (x, y) in enumerate(zip(a, b))])], t)
    case(C, 'v_accvgpr_read_b32', 'v_accvgpr_read_b32 v10, a3', [('a3', a), ('v10', b), ('exec', [EX])], [('v10', [x if EX >> l & 1 else y for l, (x, y) in enumerate(zip(a, b))])], t)
case(C, 'v_accvgpr_mov_b32', 'v_accvgpr_mov_b32 a4, a3', [('a3', a)], [('a4', a)])
case('scalar', 'nothing', ['s_nop 3', 's_waitcnt 0', 's_sendmsg sendmsg(MSG_INTERRUPT)', 's_setprio 1', 'v_nop', 's_mov_b32 s20, 1'], [], [('s20', [1])])

if __name__ == '__main__':
    import sys
    sys.modules['generate_cases'] = sys.modules['__main__']
    # Arguments: only the files of these parts are written.
    parts = ['more', 'edges', 'control', 'conversions', 'exceptions'] + (sys.argv[1:] or ['matrix', 'memory', 'buffer', 'lds', 'gds', 'smem', 'gfx6', 'gfx8', 'wave32', 'gfx10', 'gfx11', 'gfx11_memory', 'wmma', 'gfx1250'])
    for part in parts: __import__('generate_' + part)
    case_files.write(len(sys.argv) == 1)
