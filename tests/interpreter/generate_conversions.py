# gfx950's scaled conversions and stochastic rounding. Formats: OCP 8-bit and microscaling specifications; operand layout: AMD's
# pseudo-code (CDNA4); a destination that is written in part is tied in LLVM's definitions, so its rest is kept. Stochastic rounding
# adds the seed below the last bit that is kept and truncates (v_cvt_sr_fp8_f32: mantissa + S1[31:12]); the next element's seed is
# v_prng_b32 of the last.
import re
from fractions import Fraction as Fr
from generate_cases import *

rng.seed('conversions')
S_ = 'scaled_conversions'
SMALL = {'fp8': FP8, 'bf8': BF8, 'fp6': FP6, 'bf6': BF6, 'fp4': FP4}
BF16 = F32   # the upper half of an f32
def prng(x): return (x << 1 ^ (197 if x >> 31 else 0)) & M32
def exponent(s): return (s >> 23 & 255) - 127
# wide formats: value of a code, code of a value
WIDE = {'f32': (32, lambda b: F32.value(b), lambda v, neg: F32.encode(v, 0, neg)), 'f16': (16, lambda b: F16.value(b), lambda v, neg: F16.encode(v, 0, neg)),
        'bf16': (16, lambda b: F32.value(b << 16), lambda v, neg: bf16_of(v, neg))}
def bf16_of(v, neg):
    """one rounding of an exact value to eight bits"""
    if v == 0: return 0x8000 if neg else 0
    s, a = (0x8000 if v < 0 else 0), abs(v)
    e = max(a.numerator.bit_length() - a.denominator.bit_length(), -126)
    while Fr(2) ** e > a and e > -126: e -= 1
    while Fr(2) ** (e + 1) <= a: e += 1
    q = a / Fr(2) ** (e - 7); n = q.numerator // q.denominator; d = q - n
    n += d > Fr(1, 2) or (d == Fr(1, 2) and n & 1)
    return s | (n if n < 128 else n - 128 + (e + 127 << 7))
def round_small(S, v, negative, seed=None):
    """nearest even, or with a seed; values fit or the format saturates"""
    sign = 1 << (S.width - 1) if negative else 0
    a = abs(v)
    if a >= S.value(S.top): return sign | S.top
    if seed is None: return sign | S.encode(a, 'sat')
    low = max(c for c in range(S.top + 1) if S.value(c) <= a)
    step = S.value(low + 1) - S.value(low)
    return sign | low + ((a - S.value(low)) / step + Fr(seed, 1 << 32) >= 1)
def wide_values(kind, S, scale_exponent, n, stochastic):
    """codes whose scaled value lies in the range of S; for stochastic rounding not among its denormals"""
    bits, value, code = WIDE[kind]
    r = []
    while len(r) < n:
        v = Fr(rng.randint(-4095, 4095), 4096) * S.value(S.top) / Fr(2) ** rng.randint(0, 6) * Fr(2) ** scale_exponent
        b = code(v, v < 0)
        x = abs(value(b)) / Fr(2) ** scale_exponent
        if source_infinite(kind, b): continue
        if value(b) != 0 and stochastic and x < Fr(2) ** (1 - S.bias): continue
        if x <= S.value(S.top): r.append(b)
    return [rng.choice([0, 1 << (bits - 1)]) if rng.random() < .08 else b for b in r]
def source_infinite(kind, b): return b & 0x7fff >= 0x7c00 if kind == 'f16' else b & 0x7fff >= 0x7f80 if kind == 'bf16' else b & 0x7fffffff >= 0x7f800000
def scales(n=64): return [rng.getrandbits(1) << 31 | (rng.randint(-5, 5) + 127) << 23 | rng.getrandbits(23) for _ in range(n)]   # only the exponent counts
def put_wide(base, rows, bits):
    """rows[lane][element] -> registers"""
    per = 32 // bits
    return [('v%d' % (base + i), [sum(r[i * per + k] << (bits * k) for k in range(per) if i * per + k < len(r)) for r in rows]) for i in range((len(rows[0]) + per - 1) // per)]
def put_bits(base, rows, bits):
    n = (bits * len(rows[0]) + 31) // 32
    return [('v%d' % (base + i), [sum(c << (bits * k) for k, c in enumerate(r)) >> (32 * i) & M32 for r in rows]) for i in range(n)]
def span(base, n): return 'v%d' % base if n == 1 else 'v[%d:%d]' % (base, base + n - 1)

for name in [n for n in case_files.ROWS if n.startswith('v_cvt_scalef32_') and any(exists(n, t) for t in ALL if t != 'gfx1250')]:
    m = re.match(r'v_cvt_scalef32_(2xpk16_|sr_pk32_|sr_pk_|sr_|pk32_|pk_)?(f32|f16|bf16|fp8|bf8|fp6|bf6|fp4)_(\w+)$', name)
    packing, to, source = (m[1] or '').strip('_'), m[2], m[3]
    count = {'2xpk16': 32, 'sr_pk32': 32, 'sr_pk': 2, 'pk32': 32, 'pk': 2}.get(packing, 1)
    stochastic, sc = 'sr' in packing, scales()
    if to in SMALL:
        S, (bits, value, code) = SMALL[to], WIDE[source]
        rows = [wide_values(source, S, exponent(s), count, stochastic) for s in sc]
        seeds = [rng.getrandbits(32) for _ in range(64)]
        results = []
        for r, s, seed in zip(rows, sc, seeds):
            o = []
            for b in r:
                o.append(round_small(S, value(b) / Fr(2) ** exponent(s), bool(b >> (bits - 1)), seed if stochastic else None))
                seed = prng(seed)
            results.append(o)
        total = S.width * count
        if total > 32:
            two = packing == '2xpk16'
            sets = put_wide(0, [r[0::2] for r in rows], 32) + put_wide(16, [r[1::2] for r in rows], 32) if two else put_wide(0, rows, bits)
            n = len(sets) // (2 if two else 1)
            operands = [span(0, n)] + ([span(16, n)] if two else []) + (['v48'] if stochastic else []) + ['v50']
            case(S_, name, '%s v[40:45], %s' % (name, ', '.join(operands)), sets + [('v48', seeds)] * stochastic + [('v50', sc), ('exec', [EX])], [(r, [x if EX >> l & 1 else 0xc0c0c0c0 + 40 + i for l, x in enumerate(v)]) for i, (r, v) in enumerate(put_bits(40, results, S.width))])
            case(S_, name + ' destination = source', '%s v[0:5], %s' % (name, ', '.join(operands)), sets + [('v48', seeds)] * stochastic + [('v50', sc)], put_bits(0, results, S.width))
            continue
        pair = packing == 'pk' and source == 'f32'
        sets = [('v0', [r[0] for r in rows]), ('v2', [r[1] for r in rows])] if pair else put_wide(0, rows, bits)
        operands = ['v0', 'v2'] if pair else [span(0, len(sets))] + (['v2'] if stochastic else [])
        if stochastic: sets.append(('v2', seeds))
        places = (('', 0), (' op_sel:[%s1]' % ('0,' * (len(operands) + 1)), 16)) if total == 16 else tuple((' op_sel:[0,0,%d,%d]' % (b & 1, b >> 1) if b else '', 8 * b) for b in (0, 1, 3))
        for text, shift in places:
            if total != 16 and text and len(operands) == 1: text = text.replace('[0,0,', '[0,0,')
            keep_ = M32 & ~(((1 << total) - 1) << shift)
            out_ = [0x76543210 & keep_ | sum(c << (S.width * k) for k, c in enumerate(r)) << shift for r in results]
            case(S_, name + text, '%s v10, %s, v4%s' % (name, ', '.join(operands), text), sets + [('v4', sc), ('v10', [0x76543210])], [('v10', out_)], vary=True)
    else:
        S, (bits, value, code) = SMALL[source], WIDE[to]
        codes = [c for c in range(1 << S.width) if S.value(c) is not None]
        rows = [[rng.choice(codes) for _ in range(count)] for _ in range(64)]
        results = [[code(S.value(c) * Fr(2) ** exponent(s), bool(c >> (S.width - 1))) for c in r] for r, s in zip(rows, sc)]
        total = S.width * count
        if count == 32:
            case(S_, name, '%s %s, v[0:5], v8' % (name, span(32, bits)), put_bits(0, rows, S.width) + [('v8', sc), ('exec', [EX])], [(r, [x if EX >> l & 1 else 0xc0c0c0c0 + 32 + i for l, x in enumerate(v)]) for i, (r, v) in enumerate(put_wide(32, results, bits))])
            case(S_, name + ' destination = source', '%s %s, v[0:5], v8' % (name, 'v[0:%d]' % (bits - 1)), put_bits(0, rows, S.width) + [('v8', sc)], put_wide(0, results, bits))
            continue
        places = (('', 0), (' op_sel:[1,0]', 16)) if total == 16 else tuple((' op_sel:[%d,%d]' % (b & 1, b >> 1) if b else '', 8 * b) for b in (0, 1, 2))
        for text, shift in places:
            src = [rng.getrandbits(32) & ~(((1 << total) - 1) << shift) | sum(c << (S.width * k) for k, c in enumerate(r)) << shift for r in rows]
            if count == 1 and bits == 16:
                case(S_, name + text, '%s v10, v0, v2%s' % (name, text), [('v0', src), ('v2', sc), ('v10', [0x76543210])], [('v10', [0x76540000 | r[0] for r in results])], vary=True)
                if not text: case(S_, name + ' high', '%s v10, v0, v2 op_sel:[0,0,1]' % name, [('v0', src), ('v2', sc), ('v10', [0x76543210])], [('v10', [0x3210 | r[0] << 16 for r in results])])
                continue
            d = count * bits // 32
            case(S_, name + text, '%s %s, v0, v2%s' % (name, 'v10' if d == 1 else 'v[10:11]', text), [('v0', src), ('v2', sc)], put_wide(10, results, bits), vary=d == 2)
# special values: NaN in, NaN scale (exponent 255), infinity of bf8
nan = F32.default_nan ^ 0x80000000
case(S_, 'v_cvt_scalef32_pk_f32_fp8 NaN', 'v_cvt_scalef32_pk_f32_fp8 v[10:11], v0, v2', [('v0', [0x7f38, 0xff38, 0x3838]), ('v2', [0x3f800000, 0x3f800000, 0x7f800000])], [('v10', ([0x3f800000, 0x3f800000, nan] * 22)[:64]), ('v11', ([nan, nan, nan] * 22)[:64])])
out[S_].pop()   # the sign of such a NaN is not documented: see coverage

# ---------------------------------------------------------------- unscaled stochastic rounding
def near(S, n):
    return [rng.choice([0, 0x80000000]) if rng.random() < .1 else F32.encode(Fr(rng.choice([-1, 1])) * Fr(rng.randint(1 << 20, (1 << 21) - 1), 1 << 20) * Fr(2) ** rng.randint(1 - S.bias, 6), 0) for _ in range(n)]
for targets, fmt in ((['gfx942'], {'fp8': FP8F, 'bf8': BF8F}), (['gfx950'], {'fp8': FP8, 'bf8': BF8})):
    for n, S in fmt.items():
        name = 'v_cvt_sr_%s_f32' % n
        for b in range(4):
            xs, seeds = near(S, 64), [rng.getrandbits(32) for _ in range(64)]
            r = [round_small(S, F32.value(x), bool(x >> 31) and not (S.fnuz and F32.zero(x)), s) for x, s in zip(xs, seeds)]
            text = ' op_sel:[0,0,%d,%d]' % (b & 1, b >> 1) if b else ''
            case(S_, name + text, '%s v10, v0, v2%s' % (name, text), [('v0', xs), ('v2', seeds), ('v10', [0x76543210])], [('v10', [0x76543210 & ~(255 << 8 * b) | x << 8 * b for x in r])], targets, vary=True)
for n, drop, cut_ in (('f16', 13, lambda v, seed: sr16(v, seed, 10, 15)), ('bf16', 16, lambda v, seed: sr16(v, seed, 7, 127))):
    def sr16(x, seed, m, bias):
        """mantissa and exponent together are a number: add the seed's upper bits to what is dropped"""
        if F32.zero(x): return x >> 16 & 0x8000
        s, mag = x >> 31 << 15, x & 0x7fffffff
        mag += seed >> (32 - (23 - m))
        return s | (mag >> (23 - m)) - ((127 - bias) << m)
    name = 'v_cvt_sr_%s_f32' % n
    xs = [rng.choice([0, 0x80000000]) if rng.random() < .1 else rng.getrandbits(1) << 31 | rng.randint(115, 140) << 23 | rng.getrandbits(23) for _ in range(64)]
    seeds = [rng.getrandbits(32) for _ in range(64)]
    for text, shift in (('', 0), (' op_sel:[0,0,1]', 16)):
        case(S_, name + text, '%s v10, v0, v2%s' % (name, text), [('v0', xs), ('v2', seeds), ('v10', [0x76543210])], [('v10', [0x76543210 & ~(0xffff << shift) | cut_(x, s) << shift for x, s in zip(xs, seeds)])], vary=True)
