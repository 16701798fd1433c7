# What gfx6 and gfx7 have alone or do otherwise than gfx8 under the same names: AMD's "Southern Islands" and "Sea Islands" ISA
# documents, CLRX's notes on GCN 1.0 and 1.1 ("GCN ISA VOP1", "GCN ISA SMRD", "GCN Memory handling"), AMD's R600 ISA (MIN, MAX and the
# clamped and legacy reciprocals).
from generate_memory import *
from generate_cases import F16, F32, F64, EX, f32s, f64s, frel, mask, reg, source, sqrt, u32s, vector

rng.seed('gfx6')
G_, BOTH, G6, G7 = 'gfx6', ['gfx600', 'gfx700'], ['gfx600'], ['gfx700']
M32 = (1 << 32) - 1

# ---------------------------------------------------------------- shifts whose count comes last
N = 64
a, n, wide_a = u32s(N), u32s(N), [rng.getrandbits(64) for _ in range(N)]
s32_, s64_ = lambda x: x - (x >> 31 << 32), lambda x: x - (x >> 63 << 64)
for name, f in (('v_lshl_b32', lambda x, k: x << (k & 31) & M32), ('v_lshr_b32', lambda x, k: x >> (k & 31)), ('v_ashr_i32', lambda x, k: s32_(x) >> (k & 31) & M32)):
    case(G_, name, name + '_e32 v10, v0, v2', [('v0', a), ('v2', n)], [('v10', [f(x, k) for x, k in zip(a, n)])], BOTH, vary=True)
    case(G_, name + ' e64', name + '_e64 v10, v0, 7', [('v0', a)], [('v10', [f(x, 7) for x in a])], BOTH, vary=True)
for name, f in (('v_lshl_b64', lambda x, k: x << (k & 63) & M64), ('v_lshr_b64', lambda x, k: x >> (k & 63)), ('v_ashr_i64', lambda x, k: s64_(x) >> (k & 63) & M64)):
    r = [f(x, k) for x, k in zip(wide_a, n)]
    case(G_, name, name + ' v[10:11], v[0:1], v2', source(0, wide_a, 1, 0) + [('v2', n)], [('v10', [x & M32 for x in r]), ('v11', [x >> 32 for x in r])], BOTH, vary=True)

# ---------------------------------------------------------------- minimum and maximum of DX9: a NaN loses to the second operand
x, y = f32s(N), f32s(N)
for i, (p, q) in enumerate([(0, 0x80000000), (0x80000000, 0), (0x7fc00000, 0x3f800000), (0x3f800000, 0x7fc00000), (0x7fc12345, 0xffc00001), (0xff800000, 0x7f800000)]): x[i], y[i] = p, q
less = lambda p, q: not F32.nan(p) and not F32.nan(q) and F32.order(p) < F32.order(q)
at_least = lambda p, q: not F32.nan(p) and not F32.nan(q) and F32.order(p) >= F32.order(q)
# Signalling NaN have no documented result.
quiet = lambda p: p | F32.quiet if F32.nan(p) else p
x, y = [quiet(p) for p in x], [quiet(p) for p in y]
case(G_, 'v_min_legacy_f32', 'v_min_legacy_f32_e32 v10, v0, v2', [('v0', x), ('v2', y)], [('v10', [p if less(p, q) else q for p, q in zip(x, y)])], BOTH, vary=True)
case(G_, 'v_max_legacy_f32', 'v_max_legacy_f32_e32 v10, v0, v2', [('v0', x), ('v2', y)], [('v10', [p if at_least(p, q) else q for p, q in zip(x, y)])], BOTH, vary=True)

# ---------------------------------------------------------------- results that are bounded
p2 = lambda k: F32.encode(Fr(2) ** k)
MOST, INF, NAN, SIGNALLING = 0x7f7fffff, 0x7f800000, 0x7fc12345, 0x7f812345
neg = lambda v: v | 0x80000000
exact = [(p2(k), p2(-k)) for k in (-100, -3, 0, 5, 90)]
def table(name, rows):
    case(G_, name, name + ' v10, v0', [('v0', [r[0] for r in rows])], [('v10', [r[1] for r in rows])], BOTH, vary=True)
table('v_rcp_clamp_f32', exact + [(0, MOST), (neg(0), neg(MOST)), (INF, 0), (neg(INF), neg(0)), (NAN, NAN)])
table('v_rcp_legacy_f32', exact + [(0, 0), (neg(0), neg(0)), (INF, 0), (neg(INF), neg(0)), (NAN, NAN)])
roots = [(p2(2 * k), p2(-k)) for k in (-74, -50, -3, 0, 5, 40)]
table('v_rsq_clamp_f32', roots + [(0, MOST), (neg(0), neg(MOST)), (INF, 0), (neg(p2(1)), 0xffc00000), (NAN, NAN), (SIGNALLING, NAN)])
table('v_rsq_legacy_f32', roots + [(0, 0), (neg(0), neg(0)), (INF, 0), (neg(p2(1)), 0xffc00000), (NAN, NAN), (SIGNALLING, NAN)])
table('v_log_clamp_f32', [(p2(k), F32.encode(Fr(k)) if k else 0) for k in (-140, -100, -3, 0, 5, 90)] + [(0, neg(MOST)), (neg(0), neg(MOST)), (INF, INF), (neg(p2(0)), 0xffc00000), (NAN, NAN), (SIGNALLING, NAN)])
def bounded(F, to_zero=False):
    largest = 0 if to_zero else F.inf - 1
    return lambda a: a & F.sign | largest if F.isinf(a) else a
for ty, F, result in (('f32', F32, 32), ('f64', F64, 64)):
    inverse = lambda a: F.div(F.one, a)
    vector(G_, 'v_rcp_clamp_' + ty, [ty], result, lambda a: bounded(F)(inverse(a)), BOTH, name='edges')
    if F is F32: vector(G_, 'v_rcp_legacy_f32', [ty], result, lambda a: bounded(F, True)(inverse(a)), BOTH, name='edges')
    if F is F64: vector(G_, 'v_rsq_clamp_f64', [ty], result, lambda a: bounded(F)(F.div(F.one, sqrt(F)(a))), BOTH, name='edges')
d2 = lambda k: F64.encode(Fr(2) ** k)
D_MOST, D_INF, D_NAN, D_NEG = 0x7fefffffffffffff, 0x7ff << 52, 0x7ff8000000012345, 1 << 63
def table64(name, rows):
    case(G_, name, name + ' v[10:11], v[0:1]', source(0, [r[0] for r in rows], 1, 0), [('v10', [r[1] & M32 for r in rows]), ('v11', [r[1] >> 32 for r in rows])], BOTH)
table64('v_rcp_clamp_f64', [(d2(k), d2(-k)) for k in (-900, -3, 0, 5)] + [(0, D_MOST), (D_NEG, D_NEG | D_MOST), (D_INF, 0), (D_NAN, D_NAN)])
table64('v_rsq_clamp_f64', [(d2(2 * k), d2(-k)) for k in (-400, -3, 0, 5)] + [(0, D_MOST), (D_NEG, D_NEG | D_MOST), (D_INF, 0), (D_NAN, D_NAN)])

# ---------------------------------------------------------------- compares that signal for quiet NaN: bit 0 of TRAPSTS
READS = 1 << 22
for ty, F, gen, w in (('f32', F32, f32s, 0), ('f64', F64, f64s, 1)):
    for name, f in frel.items():
        for prefix in ('v_cmps_', 'v_cmpsx_'):
            p, q = gen(64), gen(64)
            for l in range(0, 64, 5): q[l] = p[l]
            def holds(u, v):
                o = not F.nan(u) and not F.nan(v)
                return f(F.order(u) if o else 0, F.order(v) if o else 0, o)
            r = mask([holds(u, v) for u, v in zip(p, q)]) & EX
            op, sets = prefix + name + '_' + ty, source(0, p, w, 0) + source(0, q, w, 2) + [('exec', [EX])]
            case(G_, op, '%s_e32 vcc, %s, %s' % (op, reg(0, w), reg(2, w)), sets, [('vcc', [r])] + [('exec', [r])] * (prefix == 'v_cmpsx_'), BOTH)
one, qnan = 0x3f800000, 0x7fc00000
for value, raised in ((one, 0), (qnan, 1)):
    case(G_, 'v_cmps_lt_f32 raises %d' % raised, 'v_cmps_lt_f32_e32 vcc, v0, v2', [('v0', [one]), ('v2', [value])], [('trapsts', [raised])], BOTH, mode=0xf0 | READS)
    case(G_, 'v_cmp_lt_f32 raises nothing for %x' % value, 'v_cmp_lt_f32_e32 vcc, v0, v2', [('v0', [one]), ('v2', [value])], [('trapsts', [0])], BOTH, mode=0xf0 | READS)

# ---------------------------------------------------------------- halves: denormals stay whatever MODE says; gfx6 rounds them as f32
for name, targets in (('v_cvt_f16_f32_denorm', G7), ('v_cvt_f16_f32_single', G6)):
    vector(G_, name, ['f32'], 32, lambda a: F16.convert(F32, a), targets)
vector(G_, 'v_cvt_f32_f16_denorm', ['f16'], 32, lambda a: F32.convert(F16, a & 0xffff), BOTH)
tiny, tie = F32.encode(Fr(3, 1 << 24)), F32.encode(Fr(2049))   # 3 * 2^-24; 2049 lies between 2048 and 2050
for mode in (0xf0, 0x30):
    case(G_, 'v_cvt_f16_f32 denormal, gfx7', 'v_cvt_f16_f32_denorm v10, v0', [('v0', [tiny, neg(tiny), one])], [('v10', [3, 0x8003, 0x3c00])], G7, mode=mode)
    case(G_, 'v_cvt_f16_f32 denormal, gfx6', 'v_cvt_f16_f32_single v10, v0', [('v0', [tiny, neg(tiny), one])], [('v10', [3, 0x8003, 0x3c00])], G6, mode=mode)
    case(G_, 'v_cvt_f32_f16 denormal', 'v_cvt_f32_f16_denorm v10, v0', [('v0', [3, 0x8003, 0x3c00])], [('v10', [tiny, neg(tiny), one])], BOTH, mode=mode)
up, down = 0x6801, 0x6800   # 2050 and 2048
for mode, six, seven in ((0xf1, up, down), (0xf4, down, up), (0xf0, down, down)):   # towards +infinity: f32, f16 and f64, neither
    case(G_, 'v_cvt_f16_f32 rounds, mode %x' % mode, 'v_cvt_f16_f32_single v10, v0', [('v0', [tie])], [('v10', [six])], G6, mode=mode)
    case(G_, 'v_cvt_f16_f32 rounds, gfx7, mode %x' % mode, 'v_cvt_f16_f32_denorm v10, v0', [('v0', [tie])], [('v10', [seven])], G7, mode=mode)

# ---------------------------------------------------------------- gfx6's v_frexp of infinity and NaN
def exponent(F):
    def f(a):
        if F.nan(a) or F.isinf(a): return M32
        if F.zero(a): return 0
        v, e = abs(F.value(a)), 0
        while v >= 1: v /= 2; e += 1
        while v < Fr(1, 2): v *= 2; e -= 1
        return e & M32
    return f
def mantissa(F):
    def f(a):
        if F.nan(a): return a | F.quiet
        if F.isinf(a): return F.sign | F.inf | F.quiet
        if F.zero(a): return a
        return F.encode(F.value(a) / Fr(2) ** s32_(exponent(F)(a)))
    return f
for ty, F, result in (('f32', F32, 32), ('f64', F64, 64)):
    vector(G_, 'v_frexp_exp_i32_%s_gfx6' % ty, [ty], 32, exponent(F), G6)
    vector(G_, 'v_frexp_mant_%s_gfx6' % ty, [ty], result, mantissa(F), G6)
three = F32.encode(Fr(3))
case(G_, 'v_frexp_exp_i32_f32 of infinity', 'v_frexp_exp_i32_f32_gfx6 v10, v0', [('v0', [INF, neg(INF), NAN, three, 0])], [('v10', [M32, M32, M32, 2, 0])], G6)
case(G_, 'v_frexp_mant_f32 of infinity', 'v_frexp_mant_f32_gfx6 v10, v0', [('v0', [INF, neg(INF), three, 0])], [('v10', [0xffc00000, 0xffc00000, F32.encode(Fr(3, 4)), 0])], G6)
rows = [D_INF, D_NEG | D_INF, D_NAN, F64.encode(Fr(3)), 0]
case(G_, 'v_frexp_exp_i32_f64 of infinity', 'v_frexp_exp_i32_f64_gfx6 v10, v[0:1]', source(0, rows, 1, 0), [('v10', [M32, M32, M32, 2, 0])], G6)
rows, r = [D_INF, D_NEG | D_INF, F64.encode(Fr(3)), 0], [0xfff8 << 48, 0xfff8 << 48, F64.encode(Fr(3, 4)), 0]
case(G_, 'v_frexp_mant_f64 of infinity', 'v_frexp_mant_f64_gfx6 v[10:11], v[0:1]', source(0, rows, 1, 0), [('v10', [x & M32 for x in r]), ('v11', [x >> 32 for x in r])], G6)

# ---------------------------------------------------------------- scalar loads: constants count dwords, registers bytes
memory = Memory(1024)
for k in (1, 2, 4, 8, 16):
    tail, to = 'dword' + ('x%d' % k if k > 1 else ''), 's16' if k == 1 else 's[16:%d]' % (15 + k)
    shown = lambda at: [memory.get(at + 4 * i, 4) for i in range(k)]
    for text, sets, at, targets in (('0x5', [], 20, BOTH), ('s4', [('s4', [0x13])], 0x10, BOTH), ('s103', [('s103', [0x20])], 0x20, BOTH), ('0x%x' % (960 // 4), [], 960, BOTH if 960 // 4 < 256 else G7)):
        case(G_, 's_load_%s %s' % (tail, text), 's_load_%s %s, s[2:3], %s' % (tail, to, text), sets + [('s2', [0, 0]), ('global', memory.dwords())], [('s16', shown(at))], targets, base='s2', lines=['allocate s 104'])
        case(G_, 's_buffer_load_%s %s' % (tail, text), 's_buffer_load_%s %s, s[8:11], %s' % (tail, to, text), sets + [('s8', [0, 0, 1024, 0x27000]), ('global', memory.dwords())], [('s16', shown(at))], targets, base='s8', lines=['allocate s 104'])
big = Memory(2048)
case(G_, 's_load_dword literal', 's_load_dword s16, s[2:3], 0x1f0', [('s2', [0, 0]), ('global', big.dwords())], [('s16', [big.get(0x7c0, 4)])], G7, base='s2')
case(G_, 's_buffer_load_dwordx2 literal', 's_buffer_load_dwordx2 s[16:17], s[8:11], 0x1f0', [('s8', [0, 0, 2048, 0x27000]), ('global', big.dwords())], [('s16', [big.get(0x7c0, 4), big.get(0x7c4, 4)])], G7, base='s8')
case(G_, 's102 and s103 are registers', ['s_mov_b64 s[102:103], s[4:5]', 's_add_u32 s16, s102, s103'], [('s4', [30, 12])], [('s16', [42])], BOTH, lines=['allocate s 104'])

# ---------------------------------------------------------------- buffers: an address of 64 bits, and what NUM_RECORDS counts
def gather(name, instruction, sets, dwords, where):
    r = {l: sum((memory.get(o, 4) if o is not None else 0) << 32 * d for d, o in enumerate(where(l))) for l in ACTIVE}
    case(G_, name, instruction, sets + [('global', memory.dwords()), ('exec', [FEW])] + old_register(dwords), with_old(r, dwords, FEW), BOTH, base='s8')
ofs = [4 * rng.randrange(0, 200) for _ in range(64)]
none = [('s8', [0, 0, 0, 0xf000])]   # as LLVM makes them: no records; the size is not looked at
for k in (1, 2, 4):
    tail = 'dword' + ('x%d' % k if k > 1 else '')
    gather('buffer_load_%s addr64' % tail, 'buffer_load_%s %s, v[0:1], s[8:11], s4 addr64 offset:12' % (tail, vreg(10, k)), [('v0', ofs), ('v1', [0]), ('s4', [8])] + none, k, lambda l: [ofs[l] + 20 + 4 * d for d in range(k)])
# Both halves of the address count: 2^32 - 64 + 68 less 2^32.
gather('buffer_load_dword addr64, high half', 'buffer_load_dword v10, v[0:1], s[8:11], 0 addr64 offset:68', [('v0', [0xffffffc0]), ('v1', [0xffffffff])] + none, 1, lambda l: [4])
# LLVM puts negative distances into the base, whose 48 bits they fill, and those of the stride.
minus = [0xfffffff0, 0xffffffff, 0, 0xf000]
case(G_, 'buffer_load_dword addr64, negative base', 'buffer_load_dword v10, v[0:1], s[8:11], 0 addr64 offset:4', [('v0', [16 + 8 * l for l in range(64)]), ('v1', [0]), ('s8', minus), ('global', memory.dwords())], [('v10', [memory.get(8 * l + 4, 4) for l in range(64)])], BOTH, base='v0')
after, data = Memory(1024, memory.dwords()), [rng.getrandbits(32) for _ in range(64)]
places = [8 * l for l in range(64)]
for l in ACTIVE: after.put(places[l] + 4, 4, data[l])
case(G_, 'buffer_store_dword addr64', 'buffer_store_dword v4, v[0:1], s[8:11], 0 addr64 offset:4', [('v0', places), ('v1', [0]), ('v4', data), ('global', memory.dwords()), ('exec', [FEW])] + none, [('global', after.dwords())], BOTH, base='s8')
after = Memory(1024, memory.dwords())
old = {l: after.get(places[l], 4) for l in ACTIVE}
for l in ACTIVE: after.put(places[l], 4, old[l] + data[l] & M32)
case(G_, 'buffer_atomic_add addr64', 'buffer_atomic_add v10, v[0:1], s[8:11], 0 addr64 glc', [('v0', places), ('v1', [0]), ('v10', data), ('global', memory.dwords()), ('exec', [FEW])] + none, [('global', after.dwords()), ('v10', [old[l] if FEW >> l & 1 else data[l] for l in range(64)])], BOTH, base='s8')
# With a stride and IDXEN records count, and what lies behind the stride is out of range; without IDXEN bytes.
idx, inside = [rng.randrange(0, 14) for _ in range(64)], [4 * rng.randrange(0, 6) for _ in range(64)]
stride = [('s8', [0, 20 << 16, 10, 0x27000])]
gather('buffer_load_dword idxen', 'buffer_load_dword v10, v0, s[8:11], 0 idxen offset:8', [('v0', idx)] + stride, 1, lambda l: [idx[l] * 20 + 8 if idx[l] < 10 else None])
gather('buffer_load_dword idxen offen', 'buffer_load_dword v10, v[0:1], s[8:11], 0 idxen offen offset:4', [('v0', idx), ('v1', inside)] + stride, 1, lambda l: [idx[l] * 20 + inside[l] + 4 if idx[l] < 10 and inside[l] + 4 < 20 else None])
gather('buffer_load_dword offen, stride', 'buffer_load_dword v10, v0, s[8:11], 0 offen', [('v0', ofs), ('s8', [0, 20 << 16, 400, 0x27000])], 1, lambda l: [ofs[l] if ofs[l] + 4 <= 400 else None])
