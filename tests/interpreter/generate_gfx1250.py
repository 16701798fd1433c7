# gfx12.5: what it has and earlier processors have not, in waves of 32 lanes. Meanings: LLVM's selection of instructions for gfx1250 and
# its AMDGPU usage guide; HIP's __shfl, __shfl_up, __shfl_down and __shfl_xor of permutations in groups of lanes; AMD's CDNA5 ISA.
import math, os, re, struct
from generate_gfx11 import *
from case_files import tables
from exact_float import Format
from generate_conversions import SMALL, WIDE, exponent, prng, put_bits, put_wide, round_small, scales, span, wide_values

rng.seed('gfx1250')
FILE, G125 = 'gfx1250', ['gfx1250']
BF = Format(16, 7)
# Rows of the tables that have another name here.
OWN_WORDS = {m[2]: m[1] for m in re.finditer(r'NAME\((\w+),\s*"[^"]*12\.5",\s*"((?:s_)?buffer_\w+|global_load_tr16_b128)"\)', open(os.path.join(tables, 'names.inc')).read())}
def by_row(line): return re.sub(r'^\w+', lambda m: OWN_WORDS.get(m[0], m[0]), line)
def one(name, asm, sets, expects, mode=0xf0, exec_=EXEC10, lines=(), base=''):
    asm = [by_row(a) for a in ([asm] if isinstance(asm, str) else asm)]
    sets = [('exec', [exec_])] + list(sets)
    write_case(FILE, name, asm, sets, rows(32, sets, expects, exec_), G125, mode, False, base, ['wave 32', *lines])
def refused(name, asm, sets=(), lines=()): one(name, asm, sets, [], lines=['exit unimplemented', *lines])
def lanewise(row, sources, f, text=None, old=None, name='', mode=0xf0):
    sets = [('v%d' % i, v) for i, v in enumerate(sources)] + ([('v10', old)] if old else [])
    at = lambda l: [v[l % len(v)] for v in sources] + ([old[l % len(old)]] if old else [])
    text = text or '%s v10, %s' % (row, ', '.join('v%d' % i for i in range(len(sources))))
    one(row + name, text, sets, [('v10', [f(*at(l)) & M32 for l in range(64)])], mode)
    if name: return
    # The destination is the first source.
    first = sources[0]
    into = lambda l: [v[l % len(v)] for v in sources] + ([first[l % len(first)]] if old else [])
    one(row + ' overlap', re.sub(r'\bv10\b', 'v0', text), [x for x in sets if x[0] != 'v10'], [('v0', [f(*into(l)) & M32 for l in range(64)])], mode)
def wide(name, text, words64, words32, f):
    """64-bit sources in v[0:1] and v[2:3], 32-bit ones from v4 on, the result in v[10:11]"""
    sets = [('v%d' % (2 * i + h), [x >> 32 * h & M32 for x in v]) for i, v in enumerate(words64) for h in (0, 1)] + [('v%d' % (4 + i), v) for i, v in enumerate(words32)]
    r = [f(*[v[l] for v in words64], *[v[l] for v in words32]) for l in range(64)]
    for to, suffix in ((10, ''), (0, ' overlap')):
        one(name + suffix, text.replace('v[10:11]', 'v[%d:%d]' % (to, to + 1)), sets, [('v%d' % (to + h), [x >> 32 * h & M32 for x in r]) for h in (0, 1)])
EDGES = [0, 1, M64, 1 << 63, (1 << 63) - 1, M32, 1 << 32, M64 - 1]
def u64s(): return [rng.choice(EDGES) if rng.random() < 0.4 else rng.getrandbits(64) for _ in range(64)]
s64 = lambda x: x - (x >> 63 << 64)
L, N_ = u64s(), u64s()
a32, b32, c32 = u32s(64), u32s(64), u32s(64)

# ---------------------------------------------------------------- 64-bit integers
pair = ' v[10:11], v[0:1], v[2:3]'
wide('v_add_nc_u64', 'v_add_nc_u64_e32' + pair, [L, N_], [], lambda a, b: a + b)
wide('v_add_nc_u64 clamp', 'v_add_nc_u64_e64%s clamp' % pair, [L, N_], [], lambda a, b: min(a + b, M64))
wide('v_sub_nc_u64', 'v_sub_nc_u64_e32' + pair, [L, N_], [], lambda a, b: a - b)
wide('v_sub_nc_u64 clamp', 'v_sub_nc_u64_e64%s clamp' % pair, [L, N_], [], lambda a, b: max(a - b, 0))
wide('v_add_nc_u64 literal', 'v_add_nc_u64_e32 v[10:11], 0x123456789abcdef, v[2:3]', [L, N_], [], lambda a, b: b + 0x123456789abcdef)
wide('v_mul_u64', 'v_mul_u64_e32' + pair, [L, N_], [], lambda a, b: a * b)
for name, f in (('min_u64', min), ('max_u64', max)): wide('v_' + name, 'v_' + name + pair, [L, N_], [], f)
for name, f in (('min_i64', min), ('max_i64', max)): wide('v_' + name, 'v_' + name + pair, [L, N_], [], lambda a, b, f=f: f(s64(a), s64(b)))
wide('v_mad_nc_u64_u32', 'v_mad_nc_u64_u32 v[10:11], v4, v5, v[0:1]', [L, N_], [a32, b32], lambda a, _, x, y: x * y + a)
wide('v_mad_nc_i64_i32', 'v_mad_nc_i64_i32 v[10:11], v4, v5, v[0:1]', [L, N_], [a32, b32], lambda a, _, x, y: s32(x) * s32(y) + a)
wide('v_mad_nc_u64_u32 clamp', 'v_mad_nc_u64_u32 v[10:11], v4, v5, v[0:1] clamp', [L, N_], [a32, b32], lambda a, _, x, y: min(x * y + a, M64))
wide('v_mad_nc_i64_i32 clamp', 'v_mad_nc_i64_i32 v[10:11], v4, v5, v[0:1] clamp', [L, N_], [a32, b32], lambda a, _, x, y: max(-1 << 63, min((1 << 63) - 1, s32(x) * s32(y) + s64(a))))
wide('v_lshl_add_u64', 'v_lshl_add_u64 v[10:11], v[0:1], 3, v[2:3]', [L, N_], [], lambda a, b: (a << 3) + b)
wide('v_mov_b64 literal', 'v_mov_b64_e32 v[10:11], 0x1122334455667788', [L, N_], [], lambda a, b: 0x1122334455667788)
P64, Q64, R64 = f64s(64), f64s(64), f64s(64)
wide('v_fmaak_f64', 'v_fmaak_f64 v[10:11], v[0:1], v[2:3], 0x3ff3333333333333', [P64, Q64], [], lambda a, b: F64.fma(a, b, 0x3ff3333333333333))
wide('v_fmamk_f64', 'v_fmamk_f64 v[10:11], v[0:1], 0x3ff3333333333333, v[2:3]', [P64, Q64], [], lambda a, b: F64.fma(a, 0x3ff3333333333333, b))

# ---------------------------------------------------------------- 32-bit and packed integers
lanewise('v_mad_u32', [a32, b32, c32], lambda a, b, c: a * b + c)
pick = {'max': max, 'min': min}
for k, f in pick.items():
    for t, read in (('u32', lambda x: x), ('i32', s32)):
        lanewise('v_add_%s_%s' % (k, t), [a32, b32, c32], lambda a, b, c, f=f, read=read: f(read(a + b & M32), read(c)))
        refused('v_add_%s_%s clamp' % (k, t), 'v_add_%s_%s v10, v0, v1, v2 clamp' % (k, t))
    for t, read in (('u16', lambda x: x & 0xffff), ('i16', s16)):
        def halves(g): return lambda *x: (g(*[low(y) for y in x]) & 0xffff) | (g(*[high(y) for y in x]) & 0xffff) << 16
        lanewise('v_pk_add_%s_%s' % (k, t), [a32, b32, c32], halves(lambda a, b, c, f=f, read=read: f(read(a + b & 0xffff), read(c))))
        lanewise('v_pk_%s3_%s' % (k, t), [a32, b32, c32], halves(lambda a, b, c, f=f, read=read: f(read(a), read(b), read(c))))
    lanewise('v_pk_%s3_num_f16' % k, [P, Q, R], halves(lambda a, b, c, k=k: number(F16, number(F16, a, b, k == 'max'), c, k == 'max')))
lanewise('v_pk_max3_i16', [a32, b32, c32], lambda a, b, c: (max(s16(high(a)), s16(low(b)), s16(low(c))) & 0xffff) | (max(s16(low(a)), s16(high(b)), s16(high(c))) & 0xffff) << 16, text='v_pk_max3_i16 v10, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[0,1,1]', name=' op_sel')
four = lambda x, read, lo_, hi_: sum((max(lo_, min(hi_, read(x >> 8 * i & 255))) & 15) << 4 * i for i in range(4))
lanewise('v_sat_pk4_i4_i8', [a32], lambda a, d: to_low(d, four(a, s8, -8, 7)), text='v_sat_pk4_i4_i8_e32 v10.l, v0', old=c32)
lanewise('v_sat_pk4_u4_u8', [a32], lambda a, d: to_high(d, four(a, lambda x: x, 0, 15)), text='v_sat_pk4_u4_u8_e32 v10.h, v0', old=c32)

# ---------------------------------------------------------------- bfloat16
def bfs():
    special = [0, 0x8000, 0x3f80, 0xbf80, 0x7f80, 0xff80, 0x7fc1, 0xff85, 1, 0x8001, 0x7f, 0x80, 0x7f7f]
    half = lambda: rng.choice(special) if rng.random() < 0.3 else rng.getrandbits(16) & 0xbfff | rng.choice([0x3000, 0x3800, 0x4000])
    return [half() | half() << 16 for _ in range(64)]
A, B, C = bfs(), bfs(), bfs()
# Products in the middle of two neighbours, and a third number that decides, far below: 257/256 = 1.00390625 lies between 1 and 1 + 2^-7.
A[:6], B[:6] = [0x3f813f81] * 6, [0x3f803f80, 0x3f813f81, 0x3f833f83, 0x3f853f85, 0x3f873f87, 0x3f893f89]
C[:6] = [0x00010001, 0x80018001, 0x00800080, 0x80808080, 0x03000300, 0x83008300]
lanewise('v_pk_fma_bf16', [A, B, C], halves(lambda a, b, c: BF.fma(a, b, c)))
middle = [(x, y) for x in range(0x3f81, 0x4000) for y in range(0x3f81, 0x4000) if (x & 127 | 128) * (y & 127 | 128) % 256 == 128 and (x & 127 | 128) * (y & 127 | 128) < 1 << 15]
rng.shuffle(middle)
pairs_ = middle[:64]
tiny = [rng.choice([1, 0x8001, 0x0100, 0x8100, 0x2000, 0xa000, 0, 0x8000]) for _ in range(64)]
lanewise('v_pk_fma_bf16', [[x | x << 16 for x, _ in pairs_], [y | y << 16 for _, y in pairs_], [t | (t ^ 0x8000) << 16 for t in tiny]], halves(lambda a, b, c: BF.fma(a, b, c)), name=' ties')
lanewise('v_pk_fma_bf16', [A, B, C], lambda a, b, c: BF.fma(high(a), low(b) ^ 0x8000, low(c)) | BF.fma(low(a), high(b), high(c) ^ 0x8000) << 16, text='v_pk_fma_bf16 v10, v0, v1, v2 op_sel:[1,0,0] op_sel_hi:[0,1,1] neg_lo:[0,1,0] neg_hi:[0,0,1]', name=' modifiers')
lanewise('v_pk_add_bf16', [A, B], halves(lambda a, b: BF.add(a, b)))
lanewise('v_pk_mul_bf16', [A, B], halves(lambda a, b: BF.mul(a, b)))
lanewise('v_pk_min_num_bf16', [A, B], halves(lambda a, b: number(BF, a, b, False)))
lanewise('v_pk_max_num_bf16', [A, B], halves(lambda a, b: number(BF, a, b, True)))
for mode in (0xf1, 0xf4, 0xc0, 0x30): one('v_pk_fma_bf16 mode %x' % mode, 'v_pk_fma_bf16 v10, v0, v1, v2', [], [], mode, lines=['exit unimplemented'])
X32, Z32 = f32s(64), f32s(64)
up = lambda h: (h & 0xffff) << 16
lanewise('v_fma_mix_f32_bf16', [A, X32, B], lambda a, x, b: F32.fma(up(high(a)), x ^ 1 << 31, up(b) & 0x7fffffff), text='v_fma_mix_f32_bf16 v10, v0, -v1, |v2| op_sel:[1,0,0] op_sel_hi:[1,0,1]')
narrow = lambda x: BF.convert(F32, x)
lanewise('v_fma_mixlo_bf16', [A, B, Z32], lambda a, b, z, d: to_low(d, narrow(F32.fma(up(a), up(b), z))), text='v_fma_mixlo_bf16 v10, v0, v1, v2 op_sel_hi:[1,1,0]', old=c32)
lanewise('v_fma_mixhi_bf16', [A, B, Z32], lambda a, b, z, d: to_high(d, narrow(F32.fma(up(a), up(high(b)), z))), text='v_fma_mixhi_bf16 v10, v0, v1, v2 op_sel:[0,1,0] op_sel_hi:[1,1,0]', old=c32)
power = lambda n: BF.encode(Fr(2) ** n)
ints = [-126, -8, -1, 0, 1, 5, 100]
for row, f in (('v_exp_bf16', lambda n: (BF.encode(Fr(n)), power(n))), ('v_log_bf16', lambda n: (power(n), BF.encode(Fr(n)))), ('v_rcp_bf16', lambda n: (power(n), power(-n))),
               ('v_sqrt_bf16', lambda n: (power(2 * (n // 2)), power(n // 2))), ('v_rsq_bf16', lambda n: (power(2 * (n // 2)), power(-(n // 2))))):
    lanewise(row, [[f(n)[0] for n in ints]], lambda a, d, f=f: to_low(d, dict(f(n) for n in ints)[a]), text=row + '_e32 v10.l, v0.l', old=c32)
lanewise('v_rcp_bf16', [A], lambda a, d: to_high(d, BF.div(BF.one, high(a) ^ 0x8000)), text='v_rcp_bf16_e64 v10.h, -v0.h', old=c32, name=' any')
quarters = [BF.encode(Fr(n, 4), 0, n < 0) for n in (-3, -1, 1, 3, 5)]
lanewise('v_sin_bf16', [quarters], lambda a, d: to_low(d, BF.encode(Fr(1 if BF.value(a) * 4 % 4 == 1 else -1))), text='v_sin_bf16_e32 v10.l, v0.l', old=c32)
whole = [BF.encode(Fr(n, 2), 0, n < 0) for n in (-3, -2, 0, 1, 2, 5)]
lanewise('v_cos_bf16', [whole], lambda a, d: to_low(d, BF.encode(Fr(1 if BF.value(a) * 2 % 2 == 0 else -1))), text='v_cos_bf16_e32 v10.l, v0.l', old=c32)
def tanh(F, x):
    if F.nan(x): return x | F.quiet
    if F.zero(x): return x
    if F.isinf(x): return F.one | x & F.sign
    v = F.value(x)
    # 60 more bits than a double: exact enough for every format here
    if abs(v) > 40: return F.encode(Fr(-1 if v < 0 else 1))
    if abs(v) < Fr(1, 1 << 40): return F.encode(v - v ** 3 / 3)
    n = 0
    while abs(v) > Fr(1, 64): v, n = v / 2, n + 1
    v = Fr(v.numerator * (1 << 200) // v.denominator, 1 << 200)
    term, e = Fr(1), Fr(0)
    for k in range(1, 24):
        term = term * 2 * v / k
        e += term
    e += 1
    for _ in range(n): e = Fr((e * e).numerator * (1 << 200) // (e * e).denominator, 1 << 200)
    return F.encode((e - 1) / (e + 1))
some = [struct.unpack('<I', struct.pack('<f', x))[0] for x in (0.0, -0.0, 0.5, -0.25, 1.0, 3.0, -7.5, 1e-3, 1e-20, 100.0)] + [0x7f800000, 0xff800000, 0x7fc00001, 0x7f800001, 1, 0x7f7fffff]
lanewise('v_tanh_f32', [some], lambda a: tanh(F32, a), text='v_tanh_f32_e32 v10, v0')
some16 = [F16.convert(F32, x) for x in some[:12]] + [0x7bff, 0x7c01, 0x7e01]
lanewise('v_tanh_f16', [some16], lambda a, d: to_low(d, tanh(F16, a)), text='v_tanh_f16_e32 v10.l, v0.l', old=c32)
lanewise('v_tanh_bf16', [[BF.convert(F32, x) for x in some[:12]]], lambda a, d: to_low(d, tanh(BF, a)), text='v_tanh_bf16_e32 v10.l, v0.l', old=c32)

# ---------------------------------------------------------------- lanes
def group(row, width, number, f):
    values = [1000 + l for l in range(64)]
    one('%s %d of %d' % (row, number, width), '%s v10, v0, s6, s7' % row, [('v0', values), ('s6', [number]), ('s7', [width]), ('v10', c32)], [('v10', [values[f(l)] if l < 32 else 0 for l in range(64)])], exec_=M64)
for width in (32, 16, 8, 4, 2, 1):
    for n in (0, 1, 3, 7, 9, 40):
        begin = lambda l, width=width: l // width * width
        group('v_permlane_bcast_b32', width, n, lambda l: begin(l) + n % width)
        group('v_permlane_up_b32', width, n, lambda l: l if l - begin(l) < n else l - n)
        group('v_permlane_down_b32', width, n, lambda l: l if l - begin(l) + n >= width else l + n)
        group('v_permlane_xor_b32', width, n, lambda l: l if l ^ n >= begin(l) + width else l ^ n)
refused('v_permlane_up_b32 of 5 lanes', 'v_permlane_up_b32 v10, v0, s6, s7', [('s6', [1]), ('s7', [5])])
for width in (32, 16, 8, 4, 2, 1):
    addresses = [4 * (l // width * width + n % width) for l, n in enumerate(a32)]
    for to, of in (('v10', 's7'), ('v0', '%d' % width)): one('v_permlane_idx_gen_b32 of %d in %s' % (width, of), 'v_permlane_idx_gen_b32 %s, v0, %s' % (to, of), [('v0', a32), ('s7', [width])], [(to, addresses)])
for of in ('5', '64', 's7'): refused('v_permlane_idx_gen_b32 of %s lanes' % of, 'v_permlane_idx_gen_b32 v10, v0, %s' % of, [('s7', [0])])

# ---------------------------------------------------------------- two operations in one, with three sources each
def dual(name, text, sets, expects): one(name, text, sets, expects)
T0, T1, T2, T3 = u32s(64), u32s(64), u32s(64), u32s(64)
for name, f in (('sub_nc_u32', lambda a, b: a - b), ('lshrrev_b32', lambda a, b: b >> (a & 31)), ('ashrrev_i32', lambda a, b: s32(b) >> (a & 31)), ('max_i32', lambda a, b: max(s32(a), s32(b))), ('min_i32', lambda a, b: min(s32(a), s32(b))), ('add_nc_u32', lambda a, b: a + b)):
    dual('v_dual_%s second' % name, 'v_dual_mov_b32 v10, v2 :: v_dual_%s v11, v0, v1' % name, [('v0', T0), ('v1', T1), ('v2', T2)], [('v10', T2), ('v11', [f(a, b) & M32 for a, b in zip(T0, T1)])])
for table in (0x40, 0x54, 0x14, 0x50, 0x04, 0x15, 0x41, 0):
    def bits(a, b, table=table): return sum((table >> (4 * (a >> i & 1) + 2 * (b >> i & 1)) & 1) << i for i in range(32))
    dual('v_dual_bitop2_b32 %x' % table, 'v_dual_mov_b32 v10, v2 :: v_dual_bitop2_b32 v11, v0, v1 bitop3:0x%x' % table, [('v0', T0), ('v1', T1), ('v2', T2)], [('v10', T2), ('v11', [bits(a, b) for a, b in zip(T0, T1)])])
FX, FY, FZ = f32s(64), f32s(64), f32s(64)
floats = [('v0', FX), ('v1', FY), ('v2', FZ)]
dual('v_dual_fma_f32', 'v_dual_fma_f32 v10, -v0, v1, -v2 :: v_dual_fma_f32 v13, v1, -v2, v0', floats, [('v10', [F32.fma(a ^ 1 << 31, b, c ^ 1 << 31) for a, b, c in zip(FX, FY, FZ)]), ('v13', [F32.fma(b, c ^ 1 << 31, a) for a, b, c in zip(FX, FY, FZ)])])
dual('v_dual_mul_f32 and even destinations', 'v_dual_mul_f32 v10, v0, -v1 :: v_dual_add_f32 v12, v1, v2', floats, [('v10', [F32.mul(a, b ^ 1 << 31) for a, b in zip(FX, FY)]), ('v12', [F32.add(b, c) for b, c in zip(FY, FZ)])])
dual('v_dual_cndmask_b32', 'v_dual_cndmask_b32 v10, v0, -v1, s6 :: v_dual_cndmask_b32 v13, v1, v2, s7', floats + [('s6', [0x5a0f3c96, 0x0ff01234])], [('v10', [(b ^ 1 << 31) if 0x5a0f3c96 >> l & 1 else a for l, (a, b) in enumerate(zip(FX, FY))]), ('v13', [c if 0x0ff01234 >> l & 1 else b for l, (b, c) in enumerate(zip(FY, FZ))])])
doubles = [('v0', lo(P64)), ('v1', hi(P64)), ('v2', lo(Q64)), ('v3', hi(Q64)), ('v4', lo(R64)), ('v5', hi(R64)), ('v6', T0)]
for name, f, n in (('add_f64', lambda a, b, c: F64.add(a, b), 2), ('mul_f64', lambda a, b, c: F64.mul(a, b), 2), ('max_num_f64', lambda a, b, c: number(F64, a, b, True), 2), ('min_num_f64', lambda a, b, c: number(F64, a, b, False), 2), ('fma_f64', lambda a, b, c: F64.fma(a, b, c), 3)):
    r = [f(a, b, c) for a, b, c in zip(P64, Q64, R64)]
    dual('v_dual_' + name, 'v_dual_%s v[10:11], v[0:1], v[2:3]%s :: v_dual_mov_b32 v12, v6' % (name, ', v[4:5]' if n == 3 else ''), doubles, [('v10', lo(r)), ('v11', hi(r)), ('v12', T0)])
r = [F64.add(a, b) for a, b in zip(P64, Q64)]
dual('v_dual second reads half of what the first writes', 'v_dual_add_f64 v[0:1], v[0:1], v[2:3] :: v_dual_sub_nc_u32 v12, v6, v1', doubles, [('v0', lo(r)), ('v1', hi(r)), ('v12', [t - h & M32 for t, h in zip(T0, hi(P64))])])
dual('v_dual both read what the other writes', 'v_dual_add_f64 v[0:1], v[0:1], v[2:3] :: v_dual_sub_nc_u32 v3, v6, v0', doubles, [('v0', lo(r)), ('v1', hi(r)), ('v3', [t - h & M32 for t, h in zip(T0, lo(P64))])])

# ---------------------------------------------------------------- addresses: SCALE_OFFSET, negative offsets
memory = Memory(2048)
index = [rng.randrange(-8, 8) for _ in range(64)]
origin = 512
regs = [('s8', [origin, 0]), ('v0', [i & M32 for i in index]), ('global', memory.dwords())]
LOADED = {'u8': (1, lambda v: v), 'i8': (1, lambda v: s8(v) & M32), 'u16': (2, lambda v: v), 'i16': (2, lambda v: s16(v) & M32), 'b32': (4, lambda v: v), 'b64': (8, lambda v: v), 'b96': (12, lambda v: v), 'b128': (16, lambda v: v)}
for space in ('global', 'flat'):
    for suffix, (n, f) in LOADED.items():
        w = max(1, n // 4)
        for scaled in (True, False):
            unit = n if scaled else 1
            got = [f(memory.get(origin + 16 + i * unit, n)) for i in index]
            one('%s_load_%s saddr%s' % (space, suffix, ' scale_offset' if scaled else ''), '%s_load_%s %s, v0, s[8:9] offset:16%s' % (space, suffix, vreg(10, w), ' scale_offset' if scaled else ''), regs, [('v%d' % (10 + d), [g >> 32 * d & M32 for g in got]) for d in range(w)], base='s8')
        if suffix[0] == 'b' or suffix in ('u8', 'u16'):
            data = [[rng.getrandbits(32) for _ in range(64)] for _ in range(w)]
            places = [l - 16 for l in range(64)]
            after = Memory(2048, memory.dwords())
            for l in range(32):
                if EXEC10 >> l & 1: after.put(origin + places[l] * n, n, sum(data[d][l] << 32 * d for d in range(w)))
            one('%s_store_b%d scale_offset' % (space, 8 * n), '%s_store_b%d v0, %s, s[8:9] scale_offset' % (space, 8 * n, vreg(4, w)), [('s8', [origin, 0]), ('v0', [p & M32 for p in places]), ('global', memory.dwords())] + [('v%d' % (4 + d), data[d]) for d in range(w)], [('global', after.dwords())], base='s8')
    for bits_, w in ((32, 1), (64, 2)):
        places, after, n = [l // 2 - 8 for l in range(64)], Memory(2048, memory.dwords()), bits_ // 8
        data, before = [rng.getrandbits(bits_) for _ in range(64)], []
        for l in range(64):
            at = origin + places[l] * n
            before.append(after.get(at, n))
            if l < 32 and EXEC10 >> l & 1: after.put(at, n, before[l] + data[l])
        one('%s_atomic_add_u%d scale_offset' % (space, bits_), '%s_atomic_add_u%d %s, v0, %s, s[8:9] th:TH_ATOMIC_RETURN scale_offset' % (space, bits_, vreg(10, w), vreg(4, w)), [('s8', [origin, 0]), ('v0', [p & M32 for p in places]), ('global', memory.dwords())] + [('v%d' % (4 + d), [x >> 32 * d & M32 for x in data]) for d in range(w)],
            [('v%d' % (10 + d), [x >> 32 * d & M32 for x in before]) for d in range(w)] + [('global', after.dwords())], base='s8')
for suffix, (n, f) in LOADED.items():
    w = max(1, n // 4)
    got = f(memory.get(64 + 3 * n + 16, n))
    one('s_load_%s scale_offset' % suffix, ['s_load_%s %s, s[8:9], s6 offset:0x10 scale_offset' % (suffix, 's16' if w == 1 else 's[16:%d]' % (15 + w)), 's_wait_kmcnt 0x0'], [('s8', [64, 0]), ('s6', [3]), ('global', memory.dwords())], [('s16', split_dwords(got, w))], base='s8')
own = [rng.getrandbits(32) for _ in range(128)]   # four dwords of each of 32 lanes
one('scratch_load_b32 scale_offset', 'scratch_load_b32 v10, v0, s6 offset:-4 scale_offset', [('v0', [l % 3 for l in range(64)]), ('s6', [8]), ('scratch', own)], [('v10', [own[32 * (l % 3 + 1) + l] if l < 32 else 0 for l in range(64)])])
# A flat address of private memory has the lane from bit 52 on, above FLAT_SCRATCH_BASE; another lane's is not this lane's.
lane_ids = ['v_mbcnt_lo_u32_b32 v20, -1, 0']
flat = lane_ids + ['v_lshlrev_b32_e32 v5, 20, v20', 'v_mov_b32_e32 v4, 4', 'v_add_nc_u64_e32 v[4:5], src_flat_scratch_base_lo, v[4:5]']
one('flat_load_b32 of private memory', flat + ['flat_load_b32 v10, v[4:5] offset:4', 's_wait_loadcnt 0x0'], [('scratch', own)], [('v10', [own[32 * 2 + l] if l < 32 else 0 for l in range(64)])], exec_=M64)
stored = [rng.getrandbits(32) for _ in range(64)]
one('flat_store_b32 of private memory', flat + ['flat_store_b32 v[4:5], v6', 'scratch_load_b32 v10, off, off offset:4'], [('v6', stored), ('scratch', own)], [('v10', stored)], exec_=M64)
one('flat_load_b32 of another lane', ['v_mov_b32_e32 v5, 0', 'v_mov_b32_e32 v4, 4', 'v_add_nc_u64_e32 v[4:5], src_flat_scratch_base_lo, v[4:5]', 'flat_load_b32 v10, v[4:5]'], [('scratch', own)], [], exec_=M64, lines=['exit fault'])
one('flat_load_b32 of the LDS', ['s_mov_b64 s[2:3], src_shared_base', 'v_mov_b32_e32 v1, s3', 'flat_load_b32 v10, v[0:1]'], [('v0', [4 * (31 - l % 32) for l in range(64)]), ('lds', [7 * i for i in range(64)])], [('v10', [7 * (31 - l % 32) for l in range(64)])])

# ---------------------------------------------------------------- between memory and the LDS
for bits_ in (8, 32, 64, 128):
    n = bits_ // 8
    source, lds = Memory(1024), Memory(1024)
    slots, places = rng.sample(range(60), 60), [l % 32 for l in range(64)]
    at = lambda l: slots[l % 32] * 16
    moved, read = Memory(1024, lds.dwords()), Memory(1024, source.dwords())
    for l in range(32):
        if EXEC10 >> l & 1:
            moved.put(at(l), n, source.get(places[l] * n, n))
            read.put(places[l] * n, n, lds.get(at(l), n))
    registers = [('s8', [0, 0]), ('v0', places), ('v1', [at(l) for l in range(64)]), ('global', source.dwords()), ('lds', lds.dwords())]
    for prefix in ('global', 'cluster'): one('%s_load_async_to_lds_b%d' % (prefix, bits_), ['%s_load_async_to_lds_b%d v1, v0, s[8:9] scale_offset' % (prefix, bits_), 's_wait_asynccnt 0x0'], registers, [('lds', moved.dwords())], base='s8')
    one('global_store_async_from_lds_b%d' % bits_, ['global_store_async_from_lds_b%d v0, v1, s[8:9] scale_offset' % bits_, 's_wait_asynccnt 0x0'], registers, [('global', read.dwords())], base='s8')

# ---------------------------------------------------------------- scalars, control flow, what does nothing
one('s_mov_b64 literal', 's_mov_b64 s[6:7], 0x123456789abcdef0', [], [('s6', [0x9abcdef0, 0x12345678])])
for name, f in (('add_nc', lambda a, b: a + b), ('sub_nc', lambda a, b: a - b), ('mul', lambda a, b: a * b)):
    a, b = 0xfedcba9876543210, 0x8000000012345679
    one('s_%s_u64' % name, 's_%s_u64 s[6:7], s[8:9], s[10:11]' % name, [('s8', [a & M32, a >> 32, b & M32, b >> 32])], [('s6', split_dwords(f(a, b) & M64, 2))])
one('s_add_pc_i64', ['s_mov_b32 s6, 1', 's_add_pc_i64 4', 's_mov_b32 s6, 2', 's_mov_b32 s7, 3'], [], [('s6', [1, 3])])
one('s_add_pc_i64 register', ['s_mov_b32 s6, 1', 's_add_pc_i64 s[8:9]', 's_mov_b32 s6, 2', 's_mov_b32 s7, 3'], [('s8', [4, 0])], [('s6', [1, 3])])
one('s_get_shader_cycles_u64', ['s_get_shader_cycles_u64 s[6:7]', 's_mov_b32 s6, 1', 's_mov_b32 s7, 1'], [], [('s6', [1, 1])])
one('waits and hints', ['s_wait_xcnt 0x0', 's_wait_asynccnt 0x0', 's_wait_tensorcnt 0x0', 's_setprio_inc_wg 100', 's_set_vgpr_msb 0', 's_set_vgpr_msb 0x500', 'global_prefetch_b8 v0, s[8:9] scope:SCOPE_SE', 'flat_prefetch_b8 v[0:1]', 's_mov_b32 s20, 1'], [('s8', [0, 0])], [('s20', [1])])
one('s_monitor_sleep', 's_monitor_sleep 1', [], [], lines=['exit yield'])
one('barrier 0', ['s_cmp_eq_u32 s7, s7', 's_barrier_signal 0', 's_barrier_signal_isfirst 0', 's_cselect_b32 s6, 1, 2', 's_barrier_wait 0', 's_barrier_join 0', 's_mov_b32 m0, 0x30000', 's_barrier_init m0', 's_barrier_signal m0', 's_barrier_join m0'],
    [('s7', [5])], [('s6', [2]), ('scc', [0])])
one('s_barrier_leave', 's_barrier_leave', [], [], lines=['exit misuse'])   # nothing is joined
one('s_barrier_signal 17', ['s_mov_b32 m0, 17', 's_barrier_signal m0'], [], [], lines=['exit illegal'])
one('MODE bit 25', ['s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, 25, 1), 1', 's_getreg_b32 s6, hwreg(HW_REG_WAVE_MODE, 25, 1)'], [], [('s6', [1])])
one('IB_STS2', 's_getreg_b32 s6, hwreg(HW_REG_IB_STS2, 6, 4)', [('s6', [9])], [('s6', [0])])
for row, width, n in [(row, 32 * n, n) for n in (1, 2, 4) for row in ('global_load_monitor', 'cluster_load')]:
    one('%s_b%d' % (row, width), '%s_b%d %s, v0, s[8:9] scale_offset' % (row, width, vreg(10, n)), regs, [('v%d' % (10 + d), [memory.get(origin + i * 4 * n + 4 * d, 4) for i in index]) for d in range(n)], base='s8')
for text in ('ds_load_tr8_b64 v[10:11], v0', 'global_load_tr4_b64 v[10:11], v[0:1], off', 'tensor_load_to_lds s[0:3], s[4:11]', 's_wakeup_barrier -1'): refused(text.split()[0], text)

# ---------------------------------------------------------------- 8-bit floats, of which f16 has all values
for n, S in (('fp8', FP8), ('bf8', BF8)):
    numbers = [c for c in range(256) if dec_bits(S, c) is not None]
    codes = [sum(rng.choice(numbers) << 8 * i for i in range(4)) for _ in range(64)]
    half = lambda a, byte, S=S: F16.convert(F32, dec_bits(S, a >> 8 * byte & 255))
    for name, of, at in (('', 'v0.l', 0), (' high', 'v0.h', 2)): lanewise('v_cvt_pk_f16_' + n, [codes], lambda a, at=at: half(a, at) | half(a, at + 1) << 16, text='v_cvt_pk_f16_%s v10, %s' % (n, of), name=name)
    lanewise('v_cvt_f16_' + n, [codes], lambda a, d: to_low(d, half(a, 0)), text='v_cvt_f16_%s_e32 v10.l, v0' % n, old=c32)
    for byte in range(4): lanewise('v_cvt_f16_' + n, [codes], lambda a, d: to_high(d, half(a, byte)), text='v_cvt_f16_%s_e64 v10.h, v0 byte_sel:%d' % (n, byte), old=c32, name=' byte %d' % byte)
for row in ('v_cvt_pk_f16_bf8 v10, v0.l', 'v_cvt_f16_bf8_e32 v10.l, v0'): one(row.split()[0] + ' mode 30', row, [], [], 0x30, lines=['exit unimplemented'])

# ---------------------------------------------------------------- transposed loads
# 16 rows of 16 halves, some bytes apart. Lanes 0-7 read the upper left quarter, lanes 8-15 the upper right one, and so on; each then has half a column.
matrix, table = [[rng.getrandbits(16) for _ in range(16)] for _ in range(16)], Memory(1024)
for r in range(16):
    for c in range(16): table.put(16 + 48 * r + 2 * c, 2, matrix[r][c])
places = [48 * (l % 8 + l // 16 % 2 * 8) + l // 8 % 2 * 16 for l in range(64)]
column = [[matrix[l // 16 % 2 * 8 + r][l % 16] for r in range(8)] for l in range(64)]
for to in (10, 0): one('ds_load_tr16_b128 v%d' % to, 'ds_load_tr16_b128 %s, v0 offset:16' % vreg(to, 4), [('v0', places), ('lds', table.dwords())], [('v%d' % (to + d), [x[2 * d] | x[2 * d + 1] << 16 for x in column]) for d in range(4)], exec_=M64)
refused('ds_load_tr16_b128 with lanes off', 'ds_load_tr16_b128 v[10:13], v0', [('v0', places), ('lds', table.dwords())])

# ---------------------------------------------------------------- offsets between memory and the LDS count in both
source, lds = Memory(512), Memory(512)
moved, read = Memory(512, lds.dwords()), Memory(512, source.dwords())
for l in range(32):
    if EXEC10 >> l & 1:
        moved.put(4 * (31 - l) + 64, 4, source.get(4 * l + 64, 4))
        read.put(4 * l + 64, 4, lds.get(4 * (31 - l) + 64, 4))
registers = [('s8', [0, 0]), ('v0', [4 * (l % 32) for l in range(64)]), ('v1', [4 * (31 - l % 32) for l in range(64)]), ('global', source.dwords()), ('lds', lds.dwords())]
one('global_load_async_to_lds_b32 offset', 'global_load_async_to_lds_b32 v1, v0, s[8:9] offset:64', registers, [('lds', moved.dwords())], base='s8')
one('global_store_async_from_lds_b32 offset', 'global_store_async_from_lds_b32 v0, v1, s[8:9] offset:64', registers, [('global', read.dwords())], base='s8')

# ---------------------------------------------------------------- eight or sixteen small floats with a scale
for small_, count in (('fp4', 8), ('fp8', 8), ('bf8', 8), ('fp6', 16), ('bf6', 16)):
    for wide_, (bits, value, code) in WIDE.items():
        S, factors = SMALL[small_], scales()
        numbers = [wide_values(wide_, S, exponent(s), count, False) for s in factors]
        rounded = [[round_small(S, value(x) / Fr(2) ** exponent(s), bool(x >> (bits - 1))) for x in r] for r, s in zip(numbers, factors)]
        results, sources = put_bits(40, rounded, S.width), put_wide(0, numbers, bits)
        one('v_cvt_scalef32_pk%d_%s_%s' % (count, small_, wide_), 'v_cvt_scalef32_pk%d_%s_%s %s, %s, v50' % (count, small_, wide_, span(40, len(results)), span(0, len(sources))), sources + [('v50', factors)], results)
        codes = [[rng.choice([c for c in range(1 << S.width) if S.value(c) is not None]) for _ in range(count)] for _ in range(64)]
        for byte in (0, 3):
            factors = [rng.getrandbits(32) & ~(255 << 8 * byte) | rng.randint(120, 134) << 8 * byte for _ in range(64)]
            exact = [[code(S.value(c) * Fr(2) ** ((s >> 8 * byte & 255) - 127), bool(c >> (S.width - 1))) for c in r] for r, s in zip(codes, factors)]
            results, sources = put_wide(40, exact, bits), put_bits(0, codes, S.width)
            one('v_cvt_scale_pk%d_%s_%s scale %d' % (count, wide_, small_, byte), 'v_cvt_scale_pk%d_%s_%s %s, %s, v8%s' % (count, wide_, small_, span(40, len(results)), span(0, len(sources)), ' scale_sel:%d' % byte if byte else ''), sources + [('v8', factors)], results)
refused('v_cvt_scale_pk8_f32_fp8 scale 4', 'v_cvt_scale_pk8_f32_fp8 v[10:17], v[0:1], v8 scale_sel:4')

# ---------------------------------------------------------------- the same with seeds of 16 bits, two of a number; stochastic rounding of f16
for small_, count in (('fp4', 8), ('fp8', 8), ('bf8', 8), ('fp6', 16), ('bf6', 16)):
    for wide_, (bits, value, code) in WIDE.items():
        S, factors, seeds = SMALL[small_], scales(), u32s(64)
        numbers = [wide_values(wide_, S, exponent(s), count, True) for s in factors]
        def rounded(row_, s, seed):
            r = []
            for e, x in enumerate(row_):
                r.append(round_small(S, value(x) / Fr(2) ** exponent(s), bool(x >> (bits - 1)), (seed >> 16 * (e % 2) & 0xffff) << 16))
                if e % 2: seed = prng(seed)
            return r
        results, sources = put_bits(40, [rounded(*x) for x in zip(numbers, factors, seeds)], S.width), put_wide(0, numbers, bits)
        one('v_cvt_scalef32_sr_pk%d_%s_%s' % (count, small_, wide_), 'v_cvt_scalef32_sr_pk%d_%s_%s %s, %s, v48, v50' % (count, small_, wide_, span(40, len(results)), span(0, len(sources))), sources + [('v48', seeds), ('v50', factors)], results)
seeds = u32s(64)
def f16_near(S): return [rng.choice([0, 0x8000]) if rng.random() < .1 else rng.getrandbits(1) << 15 | rng.randint(max(1, 16 - S.bias), 22) << 10 | rng.getrandbits(10) for _ in range(64)]
for n, S in (('fp8', FP8), ('bf8', BF8)):
    halves = [a | b << 16 for a, b in zip(f16_near(S), f16_near(S))]
    code = lambda h, seed: round_small(S, F16.value(h & 0xffff), bool(h >> 15 & 1), seed)
    for byte in range(4): lanewise('v_cvt_sr_%s_f16' % n, [halves, seeds], lambda h, seed, d: d & ~(255 << 8 * byte) | code(h, seed) << 8 * byte, text='v_cvt_sr_%s_f16 v10, v0.l, v1%s' % (n, ' byte_sel:%d' % byte if byte else ''), old=c32, name=' byte %d' % byte if byte else '')
    lanewise('v_cvt_sr_%s_f16' % n, [halves, seeds], lambda h, seed, d: d & ~255 | code(h >> 16, seed), text='v_cvt_sr_%s_f16 v10, v0.h, v1' % n, old=c32, name=' high')
    # Two halves, to nearest even; what is too large is the format's infinity or NaN, or with FP16_OVFL its largest number.
    some = f16_near(S) + [S_ for S_ in (0x0001, 0x83ff, 0x5f00, 0xdf40, 0x7800, 0xfbff, 0x7c00)]
    pairs_ = [rng.choice(some) | rng.choice(some) << 16 for _ in range(64)]
    over = {False: 0x7c if S.inf else 0x7f, True: 'sat'}
    def two(h, saturate=False, sign=0, kept=0xffff):
        def small(x):
            x = x & kept ^ sign
            v = F16.value(x) if x & 0x7fff < 0x7c00 else Fr(-(1 << 20) if x >> 15 else 1 << 20)
            return S.encode(abs(v), over[saturate]) | (x >> 15) << 7
        return small(h & 0xffff) | small(h >> 16) << 8
    lanewise('v_cvt_pk_%s_f16' % n, [pairs_], lambda h, d: to_low(d, two(h)), text='v_cvt_pk_%s_f16 v10.l, v0' % n, old=c32)
    lanewise('v_cvt_pk_%s_f16' % n, [pairs_], lambda h, d: to_high(d, two(h)), text='v_cvt_pk_%s_f16 v10.h, v0' % n, old=c32, name=' high')
    lanewise('v_cvt_pk_%s_f16' % n, [pairs_], lambda h, d: to_low(d, two(h, True)), text='v_cvt_pk_%s_f16 v10.l, v0' % n, old=c32, name=' FP16_OVFL', mode=0xf0 | 1 << 23)
    lanewise('v_cvt_pk_%s_f16' % n, [pairs_], lambda h, d: to_low(d, two(h, False, 0x8000, 0x7fff)), text='v_cvt_pk_%s_f16 v10.l, -|v0|' % n, old=c32, name=' minus magnitudes')
f32_near = lambda: [rng.choice([0, 0x80000000, 0x7f800000, 0xff800000]) if rng.random() < .1 else rng.getrandbits(1) << 31 | rng.randint(1, 250) << 23 | rng.getrandbits(23) for _ in range(64)]
lanewise('v_cvt_sr_pk_bf16_f32', [f32_near(), f32_near(), seeds], lambda a, b, s: (a + (s & 0xffff)) >> 16 | (b + (s >> 16)) & 0xffff0000)
lanewise('v_cvt_sr_pk_bf16_f32', [f32_near(), f32_near(), seeds], lambda a, b, s: ((a ^ 1 << 31) + (s & 0xffff)) >> 16 & 0xffff | (b & 0x7fffffff) + (s >> 16) & 0xffff0000, text='v_cvt_sr_pk_bf16_f32 v10, -v0, |v1|, v2', name=' modifiers')
refused('v_cvt_sr_pk_f16_f32', 'v_cvt_sr_pk_f16_f32 v0, v0, v1, v2')
refused('v_cvt_pk_fp8_f32 E5M3', 'v_cvt_pk_fp8_f32 v0.l, v0, v1 clamp')
refused('v_cvt_sr_fp8_f32 E5M3', 'v_cvt_sr_fp8_f32 v10, v0, v1 clamp')
refused('v_cvt_f32_fp8 E5M3', 'v_cvt_f32_fp8_e64 v10, v0 clamp')

# ---------------------------------------------------------------- sixteen elements out of a table of as many
for bits, upper in ((4, 1), (6, 1), (8, 2)):
    n = bits // 2
    table, numbers = [u32s(64) for _ in range(n)], [u32s(64) for _ in range(2)]   # S1's dwords, then S0's
    def picked(l):
        whole, which = sum(t[l] << 32 * i for i, t in enumerate(table)), numbers[0][l] | numbers[1][l] << 32
        return [whole >> bits * (which >> 4 * e & 15) & (1 << bits) - 1 for e in range(16)]
    sources = [('v%d' % (4 + i), t) for i, t in enumerate(table[:n - upper])] + [('v%d' % (0 + i), t) for i, t in enumerate(table[n - upper:])] + [('v8', numbers[0]), ('v9', numbers[1])]
    for to, name in ((10, ''), (4, ' overlap')): one('v_perm_pk16_b%d_u4%s' % (bits, name), 'v_perm_pk16_b%d_u4 %s, %s, %s, v[8:9]' % (bits, span(to, n), span(0, upper), span(4, n - upper)), sources, put_bits(to, [picked(l) for l in range(64)], bits))

# ---------------------------------------------------------------- buffers: bases of 57 bits, 45 bits that count bytes (CDNA5 ISA 8.1.2, 9.4 and 9.6)
UNLIMITED = (1 << 45) - 1
def v_sharp125(records, base=0, stride=0, scale=0, swizzle=0, oob=0):
    return [('s8', split_dwords(base | records << 57 | stride << 108 | scale << 122 | swizzle << 124 | oob << 125, 4))]
to_half = lambda f, high: lambda v: (f(v) & 0xffff) << (16 if high else 0)   # registers with ECC: the other half is 0
BUFFER_LOADS = {**LOADED, **{'d16_%s%s' % (h, t): (n, to_half(f, h)) for h in ('', 'hi_') for t, n, f in (('u8', 1, lambda v: v), ('i8', 1, s8), ('b16', 2, lambda v: v))}}
BUFFER_STORES = {'b8': (1, 1, lambda v: v), 'b16': (2, 1, lambda v: v), 'd16_hi_b8': (1, 1, lambda v: v >> 16), 'd16_hi_b16': (2, 1, lambda v: v >> 16),
                 'b32': (4, 1, lambda v: v), 'b64': (8, 2, lambda v: v), 'b96': (12, 3, lambda v: v), 'b128': (16, 4, lambda v: v)}
table = Memory(2048)
def found(m, at, n):
    """at(byte): where the byte is, or None when it is out of range; dwords are in range or out of it one by one"""
    return sum((m.get(at(b, min(n, 4)), min(n, 4)) if at(b, min(n, 4)) is not None else 0) << 8 * b for b in range(0, n, 4))
def linear(records, stride=0, oob=0, base=0, soffset=0, imm=0):
    """What the byte and as many behind it have as address, for index i and offset o"""
    def f(i, o, byte, n):
        o += imm + soffset + byte
        if records != UNLIMITED and (o + stride * i + n > records or oob and o + n > stride): return None
        return base + o + stride * i
    return f
def rows_of_32(base=0, stride=0, soffset=0, imm=0):
    def f(i, o, byte, n):
        o += imm + soffset
        return base + (i // 32 * stride + o // 16 * 16) * 32 + i % 32 * 16 + o % 16 + byte
    return f
def load125(name, suffix, sharp, place, operand='v1', tail=' offen offset:16', soffset='s6', m=None, index=None, offset=None, registers=()):
    m, (n, f) = m or table, BUFFER_LOADS[suffix]
    w, index, offset = max(1, n // 4), index or [0] * 64, offset or [0] * 64
    got = [f(found(m, lambda b, k, l=l: place(index[l], offset[l], b, k), n)) for l in range(64)]
    one('buffer_load_%s %s' % (suffix, name), ['buffer_load_%s %s, %s, s[8:11], %s%s' % (suffix, vreg(10, w), operand, soffset, tail), 's_wait_loadcnt 0x0'],
        sharp + [('v0', index), ('v1', offset), ('s6', [24]), ('global', m.dwords()), *registers], [('v%d' % (10 + d), [g >> 32 * d & M32 for g in got]) for d in range(w)], base='s8')
offsets = [rng.randrange(0, 400) // 4 * 4 for _ in range(64)]
offsets[4], offsets[8], offsets[9], offsets[20] = 256, 260, M32, M32 - 3
for suffix in BUFFER_LOADS:
    load125('raw', suffix, v_sharp125(300), linear(300, soffset=24, imm=16), offset=offsets)
    load125('of any address', suffix, v_sharp125(UNLIMITED, base=32), linear(UNLIMITED, base=32, soffset=24), tail=' offen', offset=[4 * (l % 64) for l in range(64)])
load125('without offset', 'b64', v_sharp125(40, base=8), linear(40, base=8, soffset=24, imm=8), operand='off', tail=' offset:8')
load125('partly in range', 'b128', v_sharp125(44, base=8), linear(44, base=8, soffset=24, imm=8), operand='off', tail=' offset:8')
load125('of nothing', 'b32', v_sharp125(0), lambda *x: None, operand='off', tail='')
load125('of more than 32 bits', 'b32', v_sharp125(5 << 32 | 3, base=4), linear(5 << 32 | 3, base=4, soffset=24, imm=16), offset=[4 * l for l in range(64)])
# Sums of offsets do not come round to 0: all of these are out of range.
load125('behind 2^32', 'b32', v_sharp125(1 << 32), lambda *x: None, tail=' offen offset:4096', offset=[M32 & -4 * (l + 1) for l in range(64)])
load125('behind 2^32 of SOFFSET', 'b32', v_sharp125(1 << 32), lambda *x: None, tail=' offen', offset=[M32 & -4 * (l + 1) for l in range(64)], soffset='s7', registers=[('s7', [0x1000])])
load125('whose STRIDE counts', 'b64', v_sharp125(300, stride=15, scale=1, oob=1), linear(300, 60, 1, soffset=24), tail=' offen', offset=[4 * (l % 16) for l in range(64)])
load125('whose STRIDE counts not', 'b64', v_sharp125(300, stride=15, scale=1), linear(300, soffset=24), tail=' offen', offset=[4 * (l % 16) for l in range(64)])
load125('whose STRIDE counts, unlimited', 'b64', v_sharp125(UNLIMITED, stride=15, scale=1, oob=1), linear(UNLIMITED, soffset=24), tail=' offen', offset=[4 * (l % 16) for l in range(64)])
indices = [rng.randrange(0, 14) for _ in range(64)]
small_offsets = [4 * rng.randrange(0, 8) for _ in range(64)]
for oob in (0, 1):
    for scale, stride in ((0, 52), (1, 13), (2, 6), (3, 2)):
        bytes_ = stride * (1, 4, 8, 32)[scale]
        for suffix in ('u8', 'b32', 'b128'):
            load125('structured, STRIDE %d x %d, OOB_SELECT %d' % (stride, bytes_ // stride, oob), suffix, v_sharp125(500, 4, stride, scale, 0, oob), linear(500, bytes_, oob, 4, 24, 8), 'v[0:1]', ' idxen offen offset:8', 's6', None, indices, small_offsets)
            load125('indexed, STRIDE %d x %d, OOB_SELECT %d' % (stride, bytes_ // stride, oob), suffix, v_sharp125(500, 4, stride, scale, 0, oob), linear(500, bytes_, oob, 4, 24, 8), 'v0', ' idxen offset:8', 's6', None, indices)
wide_table = Memory(8192)
for suffix in ('u8', 'b16', 'b32', 'b64', 'b128'):
    if suffix == 'b16': suffix = 'd16_hi_b16'
    many = [rng.randrange(0, 60) for _ in range(64)]
    load125('swizzled', suffix, v_sharp125(4, 16, 32, 1, 1, 1), rows_of_32(16, 128, 24, 8), 'v[0:1]', ' idxen offen offset:8', 's6', wide_table, many, small_offsets)
    load125('swizzled, without index', suffix, v_sharp125(4, 16, 32, 1, 1), rows_of_32(16, 128, 24, 8), 'v1', ' offen offset:8', 's6', wide_table, None, [4 * rng.randrange(0, 50) for _ in range(64)])
def store125(name, suffix, sharp, place, operand, tail, index, offset):
    n, w, f = BUFFER_STORES[suffix]
    m = Memory(16384, [0] * 4096)
    words = [[rng.getrandbits(32) for _ in range(64)] for _ in range(w)]
    for l in range(32):
        if not EXEC10 >> l & 1: continue
        for b in range(0, n, 4):
            at = place(index[l], offset[l], b, min(n, 4))
            if at is not None: m.put(at, min(n, 4), f(words[b // 4][l]))
    one('buffer_store_%s %s' % (suffix, name), 'buffer_store_%s %s, %s, s[8:11], s6%s' % (suffix, vreg(10, w), operand, tail), sharp + [('v0', index), ('v1', offset), ('s6', [24])] + [('v%d' % (10 + d), words[d]) for d in range(w)],
        [('global', m.dwords())], base='s8')
apart = [16 * l for l in rng.sample(range(64), 64)]
for suffix in BUFFER_STORES:
    store125('raw', suffix, v_sharp125(620, 32), linear(620, base=32, soffset=24, imm=4), 'v1', ' offen offset:4', [0] * 64, apart)
    store125('structured', suffix, v_sharp125(620, 32, 8, 1, 0, 1), linear(620, 32, 1, 32, 24, 4), 'v[0:1]', ' idxen offen offset:4', rng.sample(range(64), 64), [4 * (l % 4) for l in range(64)])
    store125('swizzled', suffix, v_sharp125(1, 32, 16, 0, 1), rows_of_32(32, 16, 24, 8), 'v[0:1]', ' idxen offen offset:8', rng.sample(range(64), 64), [0] * 64)
    store125('swizzled, without index', suffix, v_sharp125(1, 32, 16, 0, 1), rows_of_32(32, 16, 24, 8), 'v1', ' offen offset:8', [0] * 64, [o // 4 for o in apart])
signed = lambda bits: lambda x: x - (x >> bits - 1 << bits)
def integer_ops(bits):
    s, t = signed(bits), '%d' % bits
    return {'add_u' + t: lambda o, d: o + d, 'sub_u' + t: lambda o, d: o - d, 'swap_b' + t: lambda o, d: d, 'and_b' + t: lambda o, d: o & d, 'or_b' + t: lambda o, d: o | d, 'xor_b' + t: lambda o, d: o ^ d,
            'min_u' + t: min, 'max_u' + t: max, 'min_i' + t: lambda o, d: min(o, d, key=s), 'max_i' + t: lambda o, d: max(o, d, key=s), 'inc_u' + t: lambda o, d: 0 if o >= d else o + 1,
            'dec_u' + t: lambda o, d: d if o == 0 or o > d else o - 1}
def atomic125(name, bits, f, values, compare=False):
    n, w = bits // 8, bits // 32
    before = Memory(512, [x for v in (values() for _ in range(4096 // bits)) for x in split_dwords(v, w)])
    after, places = Memory(512, before.dwords()), [n * x for x in rng.sample(range(512 // n), min(64, 512 // n))]
    places += places[:64 - len(places)]
    data = [values() for _ in range(64)]
    other = [before.get(32 + p, n) if rng.random() < 0.5 else values() for p in places]   # what cmpswap compares with
    records, old = 24 + 400, []
    for l in range(64):
        inside = 24 + places[l] + n <= records
        old.append(after.get(32 + places[l], n) if inside else 0)
        if inside and l < 32 and EXEC10 >> l & 1: after.put(32 + places[l], n, (data[l] if old[l] == other[l] else old[l]) if compare else f(old[l], data[l]))
    numbers = [data, other] if compare else [data]
    sets = v_sharp125(records, base=8) + [('v1', places), ('s6', [24]), ('global', before.dwords())] + [('v%d' % (10 + w * k + d), [x >> 32 * d & M32 for x in v]) for k, v in enumerate(numbers) for d in range(w)]
    for rtn in (False, True):
        expects = [('global', after.dwords())] + ([('v%d' % (10 + d), [x >> 32 * d & M32 for x in old]) for d in range(w)] if rtn else [])
        one('buffer_atomic_' + name + (' returning' if rtn else ''), 'buffer_atomic_%s %s, v1, s[8:11], s6 offen%s' % (name, vreg(10, w * len(numbers)), ' th:TH_ATOMIC_RETURN' if rtn else ''), sets, expects, base='s8')
for bits in (32, 64):
    values = int_values(bits)
    for name, f in integer_ops(bits).items(): atomic125(name, bits, f, values)
    atomic125('cmpswap_b%d' % bits, bits, None, values, True)
atomic125('cond_sub_u32', 32, lambda o, d: o - d if o >= d else o, int_values(32))
atomic125('sub_clamp_u32', 32, lambda o, d: o - d if o >= d else 0, int_values(32))
nan_or_number = {32: lambda: rng.choice([0x7fc00001, 0xffc00000, 0, 0x80000000, 0x3f800000, 0xc0400000, 1, 0x7f800000]), 64: lambda: rng.choice([0x7ff8000000000001, 0, 1 << 63, 0x3ff0000000000000, 0xc008000000000000, 1, 0x7ff0000000000000])}
def larger(F, o, d, largest):
    if F.nan(o) or F.nan(d): return d | F.quiet if F.nan(o) and F.nan(d) else o if F.nan(d) else d
    p, q = ((F.order(x), 0 if F.neg(x) else 1) for x in (o, d))
    return d if (q > p if largest else q < p) else o
for bits, F in ((32, F32), (64, F64)):
    for k in pick: atomic125('%s_num_f%d' % (k, bits), bits, lambda o, d, F=F, k=k: larger(F, o, d, k == 'max'), nan_or_number[bits])
    normal = {32: lambda: rng.choice([0x3f800000, 0xbf800000, 0x40490fdb, 0x33800000, 0xc2c80000, 0x4b800001]), 64: lambda: rng.choice([0x3ff0000000000000, 0xbff0000000000000, 0x400921fb54442d18, 0x3c90000000000000, 0xc059000000000000])}[bits]
    atomic125('add_f%d' % bits, bits, lambda o, d, F=F: F.add(o, d), normal)
half_numbers = lambda *c: lambda: rng.choice(c) | rng.choice(c) << 16
atomic125('pk_add_f16', 32, lambda o, d: F16.add(low(o), low(d)) | F16.add(high(o), high(d)) << 16, half_numbers(0x3c00, 0xbc00, 0x4248, 0x1400, 0xd640))
atomic125('pk_add_bf16', 32, lambda o, d: BF.add(low(o), low(d)) | BF.add(high(o), high(d)) << 16, half_numbers(0x3f80, 0xbf80, 0x4049, 0x3b80, 0xc2c8))

# Scalar loads: dwords that are out of range are 0. Where a buffer has a stride, the document says two things of what lies behind NUM_RECORDS.
for suffix, n, f in (('i8', 1, lambda v: s8(v) & M32), ('u8', 1, lambda v: v), ('i16', 2, lambda v: s16(v) & M32), ('u16', 2, lambda v: v), ('b32', 4, lambda v: v), ('b64', 8, lambda v: v), ('b96', 12, lambda v: v), ('b128', 16, lambda v: v), ('b256', 32, lambda v: v), ('b512', 64, lambda v: v)):
    w = max(1, n // 4)
    to = 's16' if w == 1 else 's[16:%d]' % (15 + w)
    for at, records, stride in ((20, 300, 0), (64 - n, 64, 0), (64, 64, 0), (64 - n // 2 & -min(n, 4), 64, 0), (8, 100, 12), (64, UNLIMITED, 0)):
        got = f(found(table, lambda b, k: 16 + at + b if at + b + k <= records else None, n))
        name = 's_buffer_load_%s %d of %s' % (suffix, at, 'any' if records == UNLIMITED else records)
        sets = v_sharp125(records, 16, stride) + [('s6', [at - 4]), ('s16', [0xabc] * w), ('global', table.dwords())]
        one(name, ['s_buffer_load_%s %s, s[8:11], 0x%x' % (suffix, to, at), 's_wait_kmcnt 0x0'], sets, [('s16', split_dwords(got, w))], base='s8')
        if at: one(name + ' s6', ['s_buffer_load_%s %s, s[8:11], s6 offset:0x4' % (suffix, to), 's_wait_kmcnt 0x0'], sets, [('s16', split_dwords(got, w))], base='s8')
    one('s_buffer_load_%s behind NUM_RECORDS of a stride' % suffix, 's_buffer_load_%s %s, s[8:11], 0x40' % (suffix, to), v_sharp125(64, 16, 12), [], base='s8', lines=['exit unimplemented'])

# ---------------------------------------------------------------- registers above v255 (CDNA5 ISA 3.3.2.3)
def msb(dst=0, src0=0, src1=0, src2=0): return dst << 6 | src2 << 4 | src1 << 2 | src0
def above(name, asm, m, sets, expects, lines=(), **k):
    """m: the byte in front of asm. Registers in sets and expects are numbered as they are"""
    one(name + ' msb %x' % m, ['s_set_vgpr_msb 0x%x' % m] + ([asm] if isinstance(asm, str) else asm), sets, expects, lines=['allocate v 1024', *lines], **k)
v = lambda part, n: 'v%d' % (256 * part + n)
def each_msb(name, text, sources, f, fields=('src0', 'src1', 'src2'), old=None, at=None):
    """sources: rows in v0, v1, ...; fields: which bits each of them gets"""
    for banks in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1, 2, 3, 0), (3, 3, 2, 1)):
        bank = dict(zip(('dst', 'src0', 'src1', 'src2'), banks))
        sets = [(v(bank[fields[i]], i), x) for i, x in enumerate(sources)] + ([(v(bank['dst'], 10), old)] if old else [])
        got = [f(*[x[l] for x in sources], *([old[l]] if old else [])) & M32 for l in range(64)]
        above(name, text, msb(**bank), sets, [(v(bank['dst'], 10), got)])
whole = [u32s(64) for _ in range(3)]
floats64 = [[F32.encode(Fr(rng.randrange(-99, 99))) for _ in range(64)] for _ in range(3)]
value = F32.value
number32 = lambda x: F32.encode(x) if x else 0
each_msb('v_mov_b32', 'v_mov_b32_e32 v10, v0', whole[:1], lambda a: a)
each_msb('v_add_nc_u32', 'v_add_nc_u32_e32 v10, v0, v1', whole[:2], lambda a, b: a + b)
each_msb('v_lshlrev_b32', 'v_lshlrev_b32_e32 v10, v0, v1', whole[:2], lambda a, b: b << (a & 31))
each_msb('v_subrev_nc_u32', 'v_subrev_nc_u32_e64 v10, v0, v1', whole[:2], lambda a, b: b - a)
each_msb('v_mad_u32', 'v_mad_u32 v10, v0, v1, v2', whole, lambda a, b, c: a * b + c)
each_msb('v_fmac_f32', 'v_fmac_f32_e32 v10, v0, v1', floats64[:2], lambda a, b, d: number32(value(a) * value(b) + value(d)), old=floats64[2])
each_msb('v_fmac_f32_e64', 'v_fmac_f32_e64 v10, v0, v1', floats64[:2], lambda a, b, d: number32(value(a) * value(b) + value(d)), old=floats64[2])
each_msb('v_fmaak_f32', 'v_fmaak_f32 v10, v0, v1, 0x40400000', floats64[:2], lambda a, b: number32(value(a) * value(b) + 3))
each_msb('v_fmamk_f32', 'v_fmamk_f32 v10, v0, 0x40400000, v1', floats64[:2], lambda a, b: number32(value(a) * 3 + value(b)), ('src0', 'src2'))
each_msb('v_mov_b32 dpp', 'v_mov_b32_dpp v10, v0 quad_perm:[0,1,2,3] row_mask:0xf bank_mask:0xf', whole[:1], lambda a: a)
for banks in ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (1, 2, 3, 0), (3, 3, 2, 1)):
    d, p, q, r = banks
    m = msb(d, p, q, r)
    above('v_dual_fmac_f32', 'v_dual_fmac_f32 v10, v0, v1 :: v_dual_mov_b32 v13, v2', m, [(v(p, 0), floats64[0]), (v(q, 1), floats64[1]), (v(p, 2), whole[0]), (v(d, 10), floats64[2])],
        [(v(d, 10), [number32(value(a) * value(b) + value(c)) for a, b, c in zip(*floats64)]), (v(d, 13), whole[0])])
    above('v_dual_fmamk_f32', 'v_dual_fmamk_f32 v10, v0, 0x40400000, v1 :: v_dual_mov_b32 v13, v2', m, [(v(p, 0), floats64[0]), (v(r, 1), floats64[1]), (v(p, 2), whole[0])],
        [(v(d, 10), [number32(value(a) * 3 + value(b)) for a, b in zip(*floats64[:2])]), (v(d, 13), whole[0])])
    above('v_swap_b32', 'v_swap_b32 v0, v1', m, [(v(d, 0), whole[0]), (v(p, 1), whole[1])], [(v(d, 0), whole[1]), (v(p, 1), whole[0])])
    above('v_cmp_lt_u32', 'v_cmp_lt_u32_e32 vcc_lo, v0, v1', m, [(v(p, 0), whole[0]), (v(q, 1), whole[1]), ('vcc', [0])], [('vcc', [sum((a < b) << l for l, (a, b) in enumerate(zip(*whole[:2])) if l < 32)])], exec_=M64)
    above('v_readlane_b32', 'v_readlane_b32 s6, v0, 5', m, [(v(p, 0), whole[0])], [('s6', [whole[0][5]])])
    above('v_movrels_b32', 'v_movrels_b32_e32 v10, v0', m, [(v(p, 7), whole[0]), ('m0', [7])], [(v(d, 10), whole[0])])
    # Memory. Each lane has its own dword.
    places, data, other = [4 * l for l in range(64)], whole[0], whole[1]
    memory, lane = Memory(1024), lambda m, l, k=0: m.get(4 * l + k, 4)
    after = Memory(1024, memory.dwords())
    for l in range(32):
        if EXEC10 >> l & 1: after.put(4 * l, 4, data[l])
    base = [('s8', [0, 0]), ('global', memory.dwords())]
    above('global_load_b32', ['global_load_b32 v10, v0, s[8:9]', 's_wait_loadcnt 0x0'], m, base + [(v(p, 0), places)], [(v(d, 10), [lane(memory, l) for l in range(64)])], base='s8')
    above('global_store_b32', 'global_store_b32 v0, v1, s[8:9]', m, base + [(v(p, 0), places), (v(q, 1), data)], [('global', after.dwords())], base='s8')
    above('global_atomic_swap_b32', ['global_atomic_swap_b32 v10, v0, v1, s[8:9] th:TH_ATOMIC_RETURN', 's_wait_loadcnt 0x0'], m, base + [(v(p, 0), places), (v(q, 1), data)], [('global', after.dwords()), (v(d, 10), [lane(memory, l) for l in range(64)])], base='s8')
    above('global_load_async_to_lds_b32', ['global_load_async_to_lds_b32 v1, v0, s[8:9]', 's_wait_asynccnt 0x0'], m, [('s8', [0, 0]), ('global', after.dwords()), ('lds', memory.dwords()), (v(p, 0), places), (v(d, 1), places)], [('lds', after.dwords())], base='s8')
    sharp = v_sharp125(1024)
    above('buffer_load_b32', ['buffer_load_b32 v10, v0, s[8:11], null offen', 's_wait_loadcnt 0x0'], m, sharp + [('global', memory.dwords()), (v(p, 0), places)], [(v(d, 10), [lane(memory, l) for l in range(64)])], base='s8')
    above('buffer_store_b32', 'buffer_store_b32 v1, v0, s[8:11], null offen', m, sharp + [('global', memory.dwords()), (v(p, 0), places), (v(d, 1), data)], [('global', after.dwords())], base='s8')
    above('ds_load_b32', ['ds_load_b32 v10, v0', 's_wait_dscnt 0x0'], m, [('lds', memory.dwords()), (v(p, 0), places)], [(v(d, 10), [lane(memory, l) for l in range(64)])])
    above('ds_store_b32', 'ds_store_b32 v0, v1', m, [('lds', memory.dwords()), (v(p, 0), places), (v(q, 1), data)], [('lds', after.dwords())])
    two = Memory(1024, after.dwords())
    for l in range(32):
        if EXEC10 >> l & 1: two.put(4 * l + 256, 4, other[l])
    above('ds_store_2addr_b32', 'ds_store_2addr_b32 v0, v1, v2 offset1:64', m, [('lds', memory.dwords()), (v(p, 0), places), (v(q, 1), data), (v(r, 2), other)], [('lds', two.dwords())])
    above('MODE', ['s_getreg_b32 s6, hwreg(HW_REG_WAVE_MODE, 12, 8)'], m, [], [('s6', [d | p << 2 | q << 4 | r << 6])])
    # gfx1250 takes them from bits 19:12 of the constant whatever the field is (LLVM, FeatureSetregVGPRMSBFixup).
    of_mode = d | p << 2 | q << 4 | r << 6
    for field, constant in (('12, 8', of_mode | of_mode << 12), ('25, 1', 1 | of_mode << 12), ('4, 4', 0xf | of_mode << 12)):
        one('MODE %s msb %x' % (field, m), ['s_setreg_imm32_b32 hwreg(HW_REG_WAVE_MODE, %s), 0x%x' % (field, constant), 'v_mad_u32 v10, v0, v1, v2'], [(v(p, 0), whole[0]), (v(q, 1), whole[1]), (v(r, 2), whole[2])],
            [(v(d, 10), [a * b + c & M32 for a, b, c in zip(*whole)])], lines=['allocate v 1024'])
    one('s_setreg_b32 MODE msb %x' % m, ['s_setreg_b32 hwreg(HW_REG_WAVE_MODE, 12, 8), s6', 'v_mad_u32 v10, v0, v1, v2'], [('s6', [of_mode]), (v(p, 0), whole[0]), (v(q, 1), whole[1]), (v(r, 2), whole[2])],
        [(v(d, 10), [a * b + c & M32 for a, b, c in zip(*whole)])], lines=['allocate v 1024'])
    # There and back: what lies behind has its own numbers again.
    above('two bytes', ['v_mov_b32_e32 v10, v0', 's_set_vgpr_msb 0x%x' % (m << 8), 'v_mov_b32_e32 v11, v0', 's_set_vgpr_msb 0x%x' % m, 'v_mov_b32_e32 v12, v0'], m, [(v(p, 0), whole[0]), ('v0', whole[1] if p else whole[0])],
        [(v(d, 10), whole[0]), ('v11', whole[1] if p else whole[0]), (v(d, 12), whole[0])])
table4 = Memory(1024)
one('global_load_b128 across v255', ['global_load_b128 v[254:257], v0, s[8:9]', 's_wait_loadcnt 0x0'], [('s8', [0, 0]), ('v0', [16 * l for l in range(64)]), ('global', table4.dwords())], [('v%d' % (254 + k), [table4.get(16 * l + 4 * k, 4) for l in range(64)]) for k in range(4)], base='s8', lines=['allocate v 512'])
one('v_mov_b32 beyond the allocation', ['s_set_vgpr_msb 0x80', 'v_mov_b32_e32 v10, v0'], [], [], lines=['allocate v 512', 'exit illegal'])

# ---------------------------------------------------------------- a 16x16 matrix of halves, transposed on its way from memory
matrix, table16 = [[rng.getrandbits(16) for _ in range(16)] for _ in range(16)], Memory(1024)
for r in range(16):
    for c in range(16): table16.put(16 + 48 * r + 2 * c, 2, matrix[r][c])
column = [[matrix[l // 16 % 2 * 8 + r][l % 16] for r in range(8)] for l in range(64)]
at16 = [('s8', [0, 0]), ('v0', [48 * (l % 8 + l // 16 % 2 * 8) + l // 8 % 2 * 16 for l in range(64)]), ('global', table16.dwords())]
for to in (10, 0): one('global_load_tr16_b128 v%d' % to, ['global_load_tr16_b128 %s, v0, s[8:9] offset:16' % vreg(to, 4), 's_wait_loadcnt 0x0'], at16, [('v%d' % (to + d), [x[2 * d] | x[2 * d + 1] << 16 for x in column]) for d in range(4)], exec_=M64, base='s8')
one('global_load_tr16_b128 without lanes', 'global_load_tr16_b128 v[10:13], v0, s[8:9]', at16, [('v10', [0])], exec_=0, base='s8')
one('global_load_tr16_b128 with lanes off', 'global_load_tr16_b128 v[10:13], v0, s[8:9]', at16, [], lines=['exit unimplemented'], base='s8')
