# Exceptions of floating-point instructions: IEEE 754's definitions (tininess is looked for behind rounding), exact with fractions.
# Which lanes raise an exception is told by the wave's stop where it is enabled, the sum of all by TRAPSTS where a kernel reads it.
from generate_cases import *

rng.seed('exceptions')
X = 'exceptions'
INVALID, DENORMAL, DIVISION, OVERFLOW, UNDERFLOW, INEXACT, INTEGER = (1 << i for i in range(7))
READS = 1 << 22   # MODE as the runtime makes it for a kernel that reads TRAPSTS

def keeps(fmt, mode): return (mode >> (4 if fmt is F32 else 6)) & 1, (mode >> (5 if fmt is F32 else 7)) & 1
def rounding(fmt, mode): return mode & 3 if fmt is F32 else mode >> 2 & 3
def operand(fmt, b): return (DENORMAL if fmt.denormal(b) else 0) | (INVALID if fmt.snan(b) else 0)

# What rounding an exact value raises. (Without a limit to exponents: the precision alone.)
def rounded(fmt, v, mode, rnd=None):
    if v == 0: return 0
    rnd = rounding(fmt, mode) if rnd is None else rnd
    b = fmt.encode(v, rnd)
    lost = fmt.isinf(b) or fmt.value(b) != v
    a = abs(v)
    e = a.numerator.bit_length() - a.denominator.bit_length()
    if Fr(2) ** e > a: e -= 1
    scaled = a / Fr(2) ** (e - fmt.m)
    n, rest = scaled.numerator // scaled.denominator, scaled - scaled.numerator // scaled.denominator
    up = {0: rest > Fr(1, 2) or (rest == Fr(1, 2) and n & 1), 1: rest > 0 and v > 0, 2: rest > 0 and v < 0, 3: False}[rnd]
    unlimited = Fr(n + bool(up)) * Fr(2) ** (e - fmt.m)
    flags = INEXACT if lost else 0
    if unlimited > fmt.value(fmt.max): flags |= OVERFLOW | INEXACT
    if unlimited < Fr(2) ** (1 - fmt.bias) and lost: flags |= UNDERFLOW
    if fmt.denormal(b) and not keeps(fmt, mode)[1]: flags |= UNDERFLOW | INEXACT
    return flags

def flushed(fmt, mode, xs): return [x if keeps(fmt, mode)[0] else fmt.flush(x) for x in xs]
def any_nan(fmt, xs): return any(fmt.nan(x) for x in xs)
# Each gets operands that are no NaN, flushed by MODE.
def add(fmt, mode, a, b):
    if fmt.isinf(a) or fmt.isinf(b): return INVALID if fmt.isinf(a) and fmt.isinf(b) and a != b else 0
    return rounded(fmt, fmt.value(a) + fmt.value(b), mode)
def sub(fmt, mode, a, b): return add(fmt, mode, a, b ^ fmt.sign)
def mul(fmt, mode, a, b):
    if fmt.isinf(a) or fmt.isinf(b): return INVALID if fmt.zero(a) or fmt.zero(b) else 0
    return rounded(fmt, fmt.value(a) * fmt.value(b), mode)
def legacy(fmt, mode, a, b): return 0 if fmt.zero(a) or fmt.zero(b) else mul(fmt, mode, a, b)
def fma(fmt, mode, a, b, c):
    if fmt.isinf(a) or fmt.isinf(b):
        if fmt.zero(a) or fmt.zero(b): return INVALID
        return INVALID if fmt.isinf(c) and (a ^ b ^ c) & fmt.sign else 0
    return 0 if fmt.isinf(c) else rounded(fmt, fmt.value(a) * fmt.value(b) + fmt.value(c), mode)
def mad(fmt, mode, a, b, c):
    if any_nan(fmt, (a, b)): return 0
    p = fmt.mul(a, b, rounding(fmt, mode))
    first = mul(fmt, mode, a, b)
    if not keeps(fmt, mode)[1]: p = fmt.flush(p)
    return first | (0 if any_nan(fmt, (p, c)) else add(fmt, mode, p, c))
def nothing(fmt, mode, *xs): return 0
def rcp(fmt, mode, a):
    if fmt.zero(a): return DIVISION
    return 0 if fmt.isinf(a) else rounded(fmt, 1 / fmt.value(a), mode, 0)
def square(n):
    import math
    return math.isqrt(n) ** 2 == n
def sqrt(fmt, mode, a):
    if fmt.zero(a): return 0
    if fmt.neg(a): return INVALID
    v = 0 if fmt.isinf(a) else fmt.value(a)
    return 0 if fmt.isinf(a) or (square(v.numerator) and square(v.denominator)) else INEXACT
def rsq(fmt, mode, a): return DIVISION if fmt.zero(a) else sqrt(fmt, mode, a) if fmt.neg(a) or fmt.isinf(a) else (0 if sqrt(fmt, mode, a) == 0 and fmt.value(a).numerator & (fmt.value(a).numerator - 1) == 0 else INEXACT)
def ldexp(fmt, mode, a, e):
    if fmt.isinf(a) or fmt.zero(a): return 0
    return rounded(fmt, fmt.value(a) * Fr(2) ** max(-4000, min(4000, e)), mode)
def log(fmt, mode, a):
    if fmt.zero(a): return DIVISION
    if fmt.neg(a): return INVALID
    if fmt.isinf(a): return 0
    v = fmt.value(a)
    return 0 if v.numerator & (v.numerator - 1) == 0 and v.denominator & (v.denominator - 1) == 0 else INEXACT
def exp(fmt, mode, a):
    if fmt.isinf(a): return 0
    v = fmt.value(a)
    if v.denominator == 1 and abs(v) < 4000: return rounded(fmt, Fr(2) ** int(v), mode, 0)
    if v >= fmt.bias + 1: return OVERFLOW | INEXACT
    return INEXACT if v >= 1 - fmt.bias else UNDERFLOW | INEXACT
def turns(fmt, mode, a):
    if fmt.isinf(a): return INVALID
    v = fmt.value(a)
    return 0 if abs(v) > 256 or (4 * v).denominator == 1 else INEXACT
def fract(fmt, mode, a):
    if fmt.isinf(a): return INVALID
    v = fmt.value(a)
    return rounded(fmt, v - v.numerator // v.denominator, mode)
def to_int(low, high):
    def f(fmt, mode, a):
        if fmt.isinf(a): return INVALID
        v = fmt.value(a)
        whole = abs(v).numerator // abs(v).denominator * (-1 if v < 0 else 1)
        return INVALID if not low <= whole <= high else 0 if whole == v else INEXACT
    return f
def to(target, rnd=None):
    return lambda fmt, mode, a: 0 if fmt.isinf(a) else rounded(target, fmt.value(a), mode, rnd)

# Operands that meet: a few of each kind, each with each.
def operands(fmt, count):
    special = [0, fmt.sign, 1, fmt.sign | 3, (1 << fmt.m) - 1, 1 << fmt.m, fmt.one, fmt.one | fmt.sign, fmt.max, fmt.max | fmt.sign, fmt.inf, fmt.inf | fmt.sign,
               fmt.inf | fmt.quiet | 5, fmt.inf | 7, fmt.one + 1, fmt.one | 1 << (fmt.m - 1)]
    def one():
        if rng.random() < .55: return rng.choice(special)
        e = rng.choice([rng.randint(0, fmt.emax), fmt.bias + rng.randint(-3, 3), rng.randint(0, fmt.m), fmt.emax - 1 - rng.randint(0, 2)])
        return rng.getrandbits(1) << (fmt.bits - 1) | min(e, fmt.emax - 1) << fmt.m | rng.getrandbits(fmt.m) & rng.choice([-1, -1 << (fmt.m - 2)])
    return [[one() for _ in range(64)] for _ in range(count)]

def registers(fmt, sources):
    sets = []
    for i, xs in enumerate(sources):
        sets.append(('v%d' % (2 * i), [x & M32 for x in xs]))
        if fmt is F64: sets.append(('v%d' % (2 * i + 1), [x >> 32 for x in xs]))
    return sets

# all_flags: one number for each lane.
def check(name, asm, sets, all_flags, mode=0xf0, exec_=None, lines=(), target=None):
    on = M64 if exec_ is None else exec_
    flags = [f if on >> l & 1 else 0 for l, f in enumerate(all_flags)]
    union = 0
    for f in flags: union |= f
    sets = list(sets) + ([('exec', [exec_])] if exec_ is not None else [])
    case(X, name, asm, sets, [('trapsts', [union])], target, mode=mode | READS, lines=lines)
    for bit in (1, 2, 4, 8, 16, 32, 64):
        raised = sum(1 << l for l in range(64) if flags[l] & bit)
        enabled = mode | bit << 12
        if raised:
            case(X, '%s enabled %x' % (name, bit), asm, sets, [('trapsts', [union]), ('detail', [bit]), ('lanes', [raised])], target, mode=enabled, lines=list(lines) + ['exit exception'])
        elif bit == 1 or bit == 64:
            case(X, '%s enabled %x, not raised' % (name, bit), asm, sets, [('trapsts', [union])], target, mode=enabled, lines=lines)

# Operations of several steps, or of several numbers, look for NaN themselves.
STEPS = set()
def steps(f): STEPS.add(f); return f
def lanes_of(fmt, mode, f, sources):
    r = []
    for xs in zip(*sources):
        flags = 0
        for x in xs: flags |= operand(fmt, x)
        ys = flushed(fmt, mode, xs)
        r.append(flags | (0 if any_nan(fmt, ys) and f not in STEPS else f(fmt, mode, *ys)))
    return r

MODES = [0xf0, 0xf5, 0xfa, 0xff, 0x00, 0x50, 0xa0]
def family(fmt, asm, f, count, modes=(0xf0,), more=(), what=''):
    for mode in modes:
        sources = operands(fmt, count)
        check('%s%s mode %x' % (asm.split()[0], what, mode), asm, registers(fmt, sources) + list(more), lanes_of(fmt, mode, f, sources), mode)

steps(mad)
v3, v2 = ', v0, v2, v4', ', v0, v2'
for fmt, t in ((F16, 'f16'), (F32, 'f32')):
    for name, f in (('add', add), ('sub', sub), ('mul', mul)): family(fmt, 'v_%s_%s_e64 v10%s' % (name, t, v2), f, 2, MODES)
    family(fmt, 'v_subrev_%s_e64 v10, v0, v2' % t, lambda fmt, mode, a, b: sub(fmt, mode, b, a), 2)
    family(fmt, 'v_fma_%s v10%s' % (t, v3), fma, 3, MODES)
    for e in (3, -9): family(fmt, 'v_ldexp_%s v10, v0, %d' % ('f16_e64' if fmt is F16 else t, e), lambda fmt, mode, a: ldexp(fmt, mode, a, e), 1, (0xf0, 0x00), what=' %d' % e)
    for name, f in (('rcp', rcp), ('sqrt', sqrt), ('rsq', rsq), ('log', log), ('exp', exp), ('sin', turns), ('cos', turns), ('fract', fract), ('floor', nothing), ('rndne', nothing), ('frexp_mant', nothing)):
        family(fmt, 'v_%s_%s_e32 v10, v0' % (name, t), f, 1, (0xf0, 0x00) if name in ('rcp', 'sqrt') else (0xf0,))
    for name in ('min', 'max'): family(fmt, 'v_%s_%s_e32 v10, v0, v2' % (name, t), nothing, 2)
    for name in ('v_cmp_lt', 'v_cmp_eq', 'v_cmp_u', 'v_cmpx_nge'): family(fmt, '%s_%s_e64 s[20:21], v0, v2' % (name, t), nothing, 2)
family(F16, 'v_mad_f16 v10, v0, v2, v4', mad, 3, MODES)
family(F32, 'v_mul_legacy_f32_e64 v10, v0, v2', legacy, 2)
for name, f in (('add', add), ('mul', mul)): family(F64, 'v_%s_f64 v[10:11], v[0:1], v[2:3]' % name, f, 2, MODES)
family(F64, 'v_fma_f64 v[10:11], v[0:1], v[2:3], v[4:5]', fma, 3, MODES)
for e in (3, -9, 2000, -2000): family(F64, 'v_ldexp_f64 v[10:11], v[0:1], s20', lambda fmt, mode, a: ldexp(fmt, mode, a, e), 1, (0xf0, 0xff, 0x00), [('s20', [e & M32])], ' %d' % e)
for name, f in (('rcp', rcp), ('sqrt', sqrt), ('rsq', rsq), ('fract', fract), ('ceil', nothing)): family(F64, 'v_%s_f64_e32 v[10:11], v[0:1]' % name, f, 1)
family(F64, 'v_cmp_gt_f64_e64 s[20:21], v[0:1], v[2:3]', nothing, 2)
family(F64, 'v_max_f64 v[10:11], v[0:1], v[2:3]', nothing, 2)

# Accumulating forms: the old destination is an operand.
for asm, fmt, f in (('v_fmac_f32_e32 v4, v0, v2', F32, fma), ('v_mac_f16_e32 v4, v0, v2', F16, mad)): family(fmt, asm, f, 3)
family(F64, 'v_fmac_f64_e32 v[4:5], v[0:1], v[2:3]', fma, 3)

# Conversions.
family(F32, 'v_cvt_f16_f32_e32 v10, v0', to(F16), 1, MODES)
family(F64, 'v_cvt_f32_f64_e32 v10, v[0:1]', to(F32), 1, MODES)
family(F16, 'v_cvt_f32_f16_e32 v10, v0', nothing, 1)
family(F32, 'v_cvt_f64_f32_e32 v[10:11], v0', nothing, 1)
def two_halves(fmt, mode, *xs):
    flags = 0
    for x in xs: flags |= 0 if fmt.nan(x) else to(F16, 3)(fmt, mode, x)
    return flags
family(F32, 'v_cvt_pkrtz_f16_f32 v10, v0, v2', steps(two_halves), 2)
for name, fmt, low, high in (('i32_f32', F32, -1 << 31, (1 << 31) - 1), ('u32_f32', F32, 0, M32), ('i32_f64', F64, -1 << 31, (1 << 31) - 1), ('u32_f64', F64, 0, M32), ('i16_f16', F16, -1 << 15, (1 << 15) - 1), ('u16_f16', F16, 0, 0xffff)):
    source = 'v[0:1]' if fmt is F64 else 'v0'
    for mode in (0xf0,):
        xs = operands(fmt, 1)
        flags = [operand(fmt, x) | (INVALID if fmt.nan(x) else to_int(low, high)(fmt, mode, x)) for x in xs[0]]
        check('v_cvt_' + name, 'v_cvt_%s_e32 v10, %s' % (name, source), registers(fmt, xs), flags, mode)
ints = [rng.getrandbits(16) for _ in range(60)] + [65535, 65519, 65520, 2048]
for name, signed in (('u16', False), ('i16', True)):
    check('v_cvt_f16_' + name, 'v_cvt_f16_%s_e32 v10, v0' % name, [('v0', ints)], [rounded(F16, Fr(s16(x) if signed else x), 0xf0) for x in ints])
# LLVM's authors found no exceptions documented for these.
for asm in ('v_cvt_f32_i32_e32 v10, v0', 'v_mad_f32 v10, v0, v2, v4', 'v_med3_f32 v10, v0, v2, v4', 'v_cvt_flr_i32_f32_e32 v10, v0', 'v_div_scale_f32 v10, s[20:21], v0, v2, v0', 'v_mov_b32_e32 v10, v0', 'v_cmp_class_f32_e64 s[20:21], v0, v2'):
    check(asm.split()[0] + ' raises none', asm, [('v0', [1, 0x7f800001, 0x7f7fffff] + [0x01020305] * 61), ('v2', [0]), ('v4', [0])], [0] * 64)
xs = operands(F32, 1)[0]
for mode in (0xf0, 0xc0):
    check('v_rcp_iflag_f32 mode %x' % mode, 'v_rcp_iflag_f32_e32 v10, v0', [('v0', xs)], [INTEGER if F32.zero(x if mode & 0x10 else F32.flush(x)) else 0 for x in xs], mode)

# Division: what the sequence's last instruction makes of the operands.
def div_fixup(fmt, q, d, n):
    flags = operand(fmt, d) | operand(fmt, n)
    if fmt.nan(d) or fmt.nan(n): return flags
    if (fmt.zero(d) and fmt.zero(n)) or (fmt.isinf(d) and fmt.isinf(n)): return flags | INVALID
    if fmt.isinf(n) or fmt.isinf(d) or fmt.zero(n): return flags
    if fmt.zero(d): return flags | DIVISION
    if fmt is not F16 and (fmt.mag(n) >> fmt.m) - (fmt.mag(d) >> fmt.m) < (-150 if fmt is F32 else -1075): return flags | UNDERFLOW | INEXACT
    return flags | (OVERFLOW | INEXACT if fmt.nan(q) or fmt.isinf(q) else 0)
for fmt, t, regs in ((F16, 'f16', 'v10, v0, v2, v4'), (F32, 'f32', 'v10, v0, v2, v4'), (F64, 'f64', 'v[10:11], v[0:1], v[2:3], v[4:5]')):
    s = operands(fmt, 3)
    check('v_div_fixup_' + t, 'v_div_fixup_%s %s' % (t, regs), registers(fmt, s), [div_fixup(fmt, *x) for x in zip(*s)])
for fmt, t, regs, scale in ((F32, 'f32', 'v10, v0, v2, v4', 64), (F64, 'f64', 'v[10:11], v[0:1], v[2:3], v[4:5]', 128)):
    s, vcc = operands(fmt, 3), rng.getrandbits(64)
    def fmas(l, a, b, c):
        flags = operand(fmt, a) | operand(fmt, b) | operand(fmt, c)
        if any_nan(fmt, (a, b, c)): return flags
        flags |= fma(fmt, 0xf0, a, b, c)
        r = fmt.fma(a, b, c)
        if vcc >> l & 1 and not fmt.nan(r): flags |= ldexp(fmt, 0xf0, r, scale if fmt.mag(c) >> fmt.m > fmt.bias else -scale)
        return flags
    check('v_div_fmas_' + t, 'v_div_fmas_%s %s' % (t, regs), registers(fmt, s) + [('vcc', [vcc])], [fmas(l, *x) for l, x in enumerate(zip(*s))])

# Packed: both halves count, each with its own sign.
def packed16(name, f, count, mode=0xf0, modifiers='', neg=(0, 0)):
    low, high = operands(F16, count), operands(F16, count)
    flags = []
    for part, n in ((low, neg[0]), (high, neg[1])):
        part = [[x ^ (0x8000 if n >> i & 1 else 0) for x in xs] for i, xs in enumerate(part)]
        flags.append(lanes_of(F16, mode, f, part))
    sets = [('v%d' % (2 * i), [a | b << 16 for a, b in zip(low[i], high[i])]) for i in range(count)]
    check('%s%s mode %x' % (name, modifiers, mode), '%s v10%s%s' % (name, v2 if count == 2 else v3, modifiers), sets, [a | b for a, b in zip(*flags)], mode)
for mode in MODES:
    packed16('v_pk_add_f16', add, 2, mode)
    packed16('v_pk_mul_f16', mul, 2, mode)
    packed16('v_pk_fma_f16', fma, 3, mode)
packed16('v_pk_min_f16', nothing, 2)
packed16('v_pk_add_f16', add, 2, 0xf0, ' neg_lo:[1,0] neg_hi:[0,1]', (1, 2))
low, high = operands(F32, 2), operands(F32, 2)
check('v_pk_mul_f32', 'v_pk_mul_f32 v[10:11], v[0:1], v[2:3] op_sel_hi:[1,1]', [('v0', low[0]), ('v1', high[0]), ('v2', low[1]), ('v3', high[1])], [a | b for a, b in zip(lanes_of(F32, 0xf0, mul, low), lanes_of(F32, 0xf0, mul, high))])
# v_fma_mix: sources of both types; the f32 sum is rounded once more.
a, b, c = operands(F16, 1)[0], operands(F32, 1)[0], operands(F16, 1)[0]
def mix(a, b, c, narrow):
    flags = operand(F16, a) | operand(F32, b) | operand(F16, c)
    if F16.nan(a) or F32.nan(b) or F16.nan(c): return flags
    x, y = F32.convert(F16, a), F32.convert(F16, c)
    flags |= fma(F32, 0xf0, x, b, y)
    r = F32.fma(x, b, y)
    return flags | (rounded(F16, F32.value(r), 0xf0) if narrow and not F32.nan(r) and not F32.isinf(r) else 0)
for name, narrow in (('f32', False), ('lo', True)):
    op = 'v_fma_mix_f32' if not narrow else 'v_fma_mixlo_f16'
    check(op, op + ' v10, v0, v2, v4 op_sel_hi:[1,0,1]', [('v0', a), ('v2', b), ('v4', c)], [mix(*x, narrow) for x in zip(a, b, c)])

# Lanes that are off raise nothing; nor do those that DPP leaves out. SDWA takes halves of registers, modifiers come first.
EXEC = 0x8000_5a5a_0ff1_9c3d
s = operands(F32, 2)
check('lanes that are off', 'v_mul_f32_e32 v10, v0, v2', registers(F32, s), lanes_of(F32, 0xf0, mul, s), exec_=EXEC)
case(X, 'no lane is on', 'v_rcp_f32_e32 v10, v0', [('v0', [0]), ('exec', [0])], [('trapsts', [0])], mode=0xf0 | READS)
shifted = [[s[0][(l & ~15) | ((l - 1) & 15)] for l in range(64)], s[1]]
flags = lanes_of(F32, 0xf0, mul, shifted)
check('row_shr', 'v_mul_f32_dpp v10, v0, v2 row_shr:1 row_mask:0x5 bank_mask:0xf', registers(F32, s), [f if l & 15 and not l >> 4 & 1 else 0 for l, f in enumerate(flags)])
h = operands(F16, 2)
check('SDWA', 'v_add_f16_sdwa v10, v0, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1 src1_sel:WORD_0', [('v0', [x << 16 | 0x7c01 for x in h[0]]), ('v2', [x | 0x7c010000 for x in h[1]])], lanes_of(F16, 0xf0, add, h))
check('neg and abs', 'v_add_f32_e64 v10, -v0, |v2|', registers(F32, s), lanes_of(F32, 0xf0, add, [[x ^ 1 << 31 for x in s[0]], [x & 0x7fffffff for x in s[1]]]))
check('a scalar', 'v_mul_f32_e32 v10, s20, v2', [('s20', [0x00000001]), ('v2', s[1])], lanes_of(F32, 0xf0, mul, [[1] * 64, s[1]]))

# Registers: sticky bits stay, code reads and clears them; the runtime's own bit of MODE is not seen.
one_by_zero = ['v_rcp_f32_e32 v10, v0']
case(X, 'sticky bits are read and cleared', one_by_zero + ['s_getreg_b32 s20, hwreg(HW_REG_TRAPSTS, 0, 9)', 's_setreg_imm32_b32 hwreg(HW_REG_TRAPSTS, 0, 7), 0', 'v_sqrt_f32_e32 v11, v1', 's_getreg_b32 s21, hwreg(HW_REG_TRAPSTS, 0, 9)', 'v_clrexcp', 's_getreg_b32 s22, hwreg(HW_REG_TRAPSTS, 0, 9)'],
     [('v0', [0]), ('v1', [0xbf800000])], [('s20', [DIVISION]), ('s21', [INVALID]), ('s22', [0]), ('trapsts', [0])], mode=0xf0 | READS)
case(X, 'MODE without the hidden bit', ['s_getreg_b32 s20, hwreg(HW_REG_MODE)', 's_setreg_imm32_b32 hwreg(HW_REG_MODE), 0xffc000f0', 's_setreg_imm32_b32 hwreg(HW_REG_MODE), 0xf0', 's_getreg_b32 s21, hwreg(HW_REG_MODE)'] + one_by_zero,
     [('v0', [0])], [('s20', [0xf0]), ('s21', [0xf0]), ('trapsts', [DIVISION]), ('mode', [0xf0 | READS])], mode=0xf0 | READS)
case(X, 'enabled by s_setreg', one_by_zero + ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 4', 's_mov_b32 s20, 1'] + one_by_zero + ['s_mov_b32 s20, 2'],
     [('v0', [0] * 5 + [0x3f800000] * 59)], [('s20', [1]), ('detail', [DIVISION]), ('lanes', [0x1f]), ('v10', [0x7f800000] * 5 + [0x3f800000] * 59)], lines=['exit exception'])
case(X, 'disabled by s_setreg', ['s_setreg_imm32_b32 hwreg(HW_REG_MODE, 12, 7), 0'] + one_by_zero, [('v0', [0])], [('v10', [0x7f800000])], mode=0xf0 | 0x7f000)
case(X, 'others than the raised one are enabled', one_by_zero, [('v0', [0])], [('trapsts', [DIVISION])], mode=0xf0 | (0x7f & ~DIVISION) << 12)
case(X, 'nobody asks', one_by_zero, [('v0', [0])], [('trapsts', [0])])
case(X, 'in a loop', ['s_mov_b32 s20, 0', 'v_mul_f32_e32 v0, v0, v0', 's_add_u32 s20, s20, 1', 's_cmp_lg_u32 s20, 7', 's_cbranch_scc1 65532', 's_mov_b32 s21, 5'],
     [('v0', [0x7f000000, 0x3f800000])], [('trapsts', [OVERFLOW | INEXACT]), ('s20', [7]), ('s21', [5])], mode=0xf0 | READS)
case(X, 'matrix products raise none', 'v_mfma_f32_4x4x1f32 a[0:3], v0, v2, a[0:3]', [('v0', [0x7f800000]), ('v2', [0])] + [('a%d' % i, [0]) for i in range(4)], [('trapsts', [0])], ['gfx908', 'gfx90a', 'gfx942', 'gfx950'], mode=0xf0 | READS)
case(X, 'vskip', ['s_setvskip s20, 0'] + one_by_zero, [('v0', [0]), ('s20', [1])], [('trapsts', [0])], mode=0xf0 | READS | 4 << 12)

# VCC, XNACK_MASK and FLAT_SCRATCH are the last six registers of an allocation of 16 (SGPRn is the last one: SGPRn-1 and SGPRn are VCC).
A = 'aliases'
lines = ['aliases 16', 'allocate s 16']
zeros = [('s%d' % i, [0]) for i in range(16)]
case(A, 'VCC by its number', ['v_cmp_lt_u32_e32 vcc, v0, v1', 's_mov_b64 s[0:1], s[14:15]', 's_cbranch_vccz 1', 's_mov_b32 s2, 7'], zeros + [('v0', [1, 5]), ('v1', [3])], [('s0', [0x55555555, 0x55555555]), ('s2', [7]), ('vcc', [0x5555555555555555])], lines=lines)
case(A, 'a number is VCC', ['s_mov_b32 s14, 5', 's_mov_b32 s15, 0', 'v_cndmask_b32_e32 v10, v0, v1, vcc', 's_cbranch_vccnz 1', 's_mov_b32 s2, 7'], zeros + [('v0', [1]), ('v1', [2])], [('v10', [2, 1, 2] + [1] * 61), ('s2', [0])], lines=lines)
case(A, 'half of a pair', ['s_mov_b64 vcc, 0', 's_mov_b32 s15, 1', 's_mov_b32 s0, vcc_hi', 's_mov_b32 vcc_lo, 9', 's_add_u32 s1, s14, s15'], zeros, [('s0', [1, 10]), ('vcc', [0x100000009]), ('s14', [9, 1])], lines=lines)
case(A, 'carries', ['v_add_co_u32_e32 v10, vcc, v0, v1', 's_not_b64 s[14:15], s[14:15]', 'v_addc_co_u32_e32 v11, vcc, v2, v2, vcc'], zeros + [('v0', [M32, 1]), ('v1', [1]), ('v2', [10])], [('v11', [20, 21]), ('s14', [0, 0])], lines=lines)
case(A, 'FLAT_SCRATCH and XNACK_MASK', ['s_mov_b64 flat_scratch, s[0:1]', 's_mov_b32 s12, 3', 's_mov_b32 xnack_mask_hi, 4', 's_mov_b64 s[2:3], s[10:11]', 's_mov_b64 s[4:5], xnack_mask', 's_mov_b64 s[6:7], s[12:13]'],
     zeros[2:] + [('s0', [0x1234, 0x5678])], [('s2', [0x1234, 0x5678, 3, 4, 3, 4])], ['gfx900', 'gfx906', 'gfx908', 'gfx90a'], lines=lines)
case(A, 'loads of several', ['s_load_dwordx4 s[12:15], s[0:1], 0x0', 's_waitcnt lgkmcnt(0)', 's_mov_b64 s[2:3], vcc', 's_mov_b64 s[4:5], xnack_mask'], zeros + [('global', [1, 2, 3, 4])], [('s2', [3, 4, 1, 2])], base='s0', lines=lines)
case(A, 'by a handler', ['v_cmp_class_f16_e32 vcc, v0, v1', 's_mov_b64 s[0:1], s[14:15]', 'v_readlane_b32 s14, v2, 3', 's_mov_b32 s2, vcc_lo'], zeros + [('v0', [0, 0x3c00]), ('v1', [0x40]), ('v2', list(range(64)))], [('s0', [0x55555555, 0x55555555]), ('s2', [3])], lines=lines)
case(A, 'in a loop over lanes', ['s_mov_b64 s[4:5], exec', 'v_cmp_gt_u32_e32 vcc, v0, v1', 's_and_b64 exec, exec, s[14:15]', 'v_add_u32_e32 v1, 1, v1', 's_cbranch_execnz 65532', 's_mov_b64 exec, s[4:5]', 's_mov_b64 s[0:1], s[14:15]'],
     zeros + [('v0', list(range(64))), ('v1', [0])], [('v1', list(range(64))), ('s0', [0, 0])], lines=lines)
case(A, 'without aliases they are apart', ['s_mov_b64 s[14:15], 0', 's_mov_b64 vcc, -1', 's_mov_b64 s[0:1], s[14:15]'], zeros, [('s0', [0, 0])], lines=['allocate s 16'])
