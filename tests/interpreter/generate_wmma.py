# Products in a wave (gfx11, gfx12): which lane holds what ("How to accelerate AI applications on RDNA 3 using WMMA" and the same of RDNA 4,
# GPUOpen; AMD's matrix instruction calculator), on small numbers, whose sums are exact in any order.
from generate_cases import *

rng.seed('wmma')
FILE = 'wmma'
FP8 = {0: 0x00, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xb8, -2: 0xc0, -3: 0xc4}   # E4M3 and E5M2 of small integers
BF8 = {0: 0x00, 1: 0x3c, 2: 0x40, 3: 0x42, -1: 0xbc, -2: 0xc0, -3: 0xc2}
f32_of = lambda n: F32.encode(Fr(n), 0, False)
f16_of = lambda n: F16.encode(Fr(n), 0, False)
bf16_of = lambda n: f32_of(n) >> 16
ENCODE = {'f16': (16, f16_of), 'bf16': (16, bf16_of), 'fp8': (8, FP8.get), 'bf8': (8, BF8.get), 'iu8': (8, lambda n: n & 255), 'iu4': (4, lambda n: n & 15)}

def pack(items, bits):
    r = [0] * ((len(items) * bits + 31) // 32)
    for i, x in enumerate(items): r[i * bits // 32] |= x << i * bits % 32
    return r
def product(row, target, size, K, ta, tb, tr, tail='', note='', signed=(True, True), limit=3, addends=None, negate=1, high=False, tc=None, of_c=lambda c: c):
    rdna4, step = target != 'gfx1100', 16 if target == 'gfx1250' else 8
    draw = lambda s: rng.randint(-limit, limit) if s else rng.randint(0, 2 * limit + 1)
    A, B = [[draw(signed[0]) for _ in range(K)] for _ in range(16)], [[draw(signed[1]) for _ in range(16)] for _ in range(K)]
    C = [[rng.randint(-9, 9) if addends is None else addends for _ in range(16)] for _ in range(16)]
    per = K // 2 if rdna4 else K
    def factor(of, name):
        bits, encode = ENCODE[name]
        lanes_ = [pack([encode(of(l % 16, (l // 16 % 2 * per if rdna4 else 0) + t)) for t in range(per)], bits) for l in range(64)]
        return [[lanes_[l][d] for l in range(64)] for d in range(len(lanes_[0]))]
    a, b = factor(lambda i, k: A[i][k], ta), factor(lambda j, k: B[k][j], tb)
    def result(M, old, t):
        """registers of a 16 x 16 matrix of that type"""
        encode, half = {'f32': f32_of, 'i32': lambda n: n & M32, 'f16': f16_of, 'bf16': bf16_of}[t], t in ('f16', 'bf16')
        n = (4 if half else 8) if rdna4 else 8 if size == 32 else 4
        r = [[old] * 64 for _ in range(n)]
        for i in range(16):
            for j in range(16):
                if rdna4: item, lane = i % 8, j + 16 * (i // 8)
                else: item, lane = i // (size // 16), j + 16 * (i % (size // 16))
                reg, up = (item // 2, item % 2) if half and rdna4 else (item, high)
                if half: r[reg][lane] = r[reg][lane] & (0xffff if up else 0xffff0000) | encode(M[i][j]) << (16 if up else 0)
                else: r[reg][lane] = encode(M[i][j])
        return r
    clamp = lambda n: max(-1 << 31, min((1 << 31) - 1, n)) if 'clamp' in tail else n
    D = [[clamp(sum(A[i][k] * B[k][j] for k in range(K)) * negate + of_c(C[i][j])) for j in range(16)] for i in range(16)]
    c, d = result(C, 0x77778888, tc or tr), result(D, 0x12345678, tr)
    put = lambda base, rows: [('v%d' % (base + i), x) for i, x in enumerate(rows)]
    reg = lambda base, rows: 'v%d' % base if len(rows) == 1 else 'v[%d:%d]' % (base, base + len(rows) - 1)
    seen = [[x if l < size else 0x12345678 for l, x in enumerate(row_)] for row_ in d]
    case(FILE, '%s, wave%d%s' % (row, size, note), '%s %s, %s, %s, %s%s' % (row, reg(4 * step, d), reg(0, a), reg(step, b), reg(2 * step, c), tail), [('exec', [M64 if size == 64 else M32])] + put(0, a) + put(step, b) + put(2 * step, c) + put(4 * step, [[0x12345678] * 64] * len(d)), put(4 * step, seen), target, lines=['wave %d' % size])

for size in (32, 64):
    for ta, tr in (('f16', 'f32'), ('bf16', 'f32'), ('f16', 'f16'), ('bf16', 'bf16')):
        product('v_wmma_%s_16x16x16_%s' % (tr, ta), 'gfx1100', size, 16, ta, ta, tr)
        if tr != 'f32': product('v_wmma_%s_16x16x16_%s' % (tr, ta), 'gfx1100', size, 16, ta, ta, tr, ' op_sel:[0,0,1]', ' upper halves', high=True)
    product('v_wmma_f32_16x16x16_f16', 'gfx1100', size, 16, 'f16', 'f16', 'f32', ' neg_lo:[1,0,0] neg_hi:[1,0,0]', ' negated', negate=-1)
    for t, limit in (('iu8', 100), ('iu4', 7)):
        for signed in ((True, True), (False, True), (False, False)):
            product('v_wmma_i32_16x16x16_' + t, 'gfx1100', size, 16, t, t, 'i32', ' neg_lo:[%d,%d,0]' % signed if any(signed) else '', ' signed %d %d' % signed, signed, limit)
    product('v_wmma_i32_16x16x16_iu8', 'gfx1100', size, 16, 'iu8', 'iu8', 'i32', ' clamp', ' clamped', (False, False), 100, (1 << 31) - 1000)
for ta, tr in (('f16', 'f32'), ('bf16', 'f32'), ('f16', 'f16'), ('bf16', 'bf16')): product('v_wmma_%s_16x16x16_%s_rdna4' % (tr, ta), 'gfx1201', 32, 16, ta, ta, tr)
for ta in ('fp8', 'bf8'):
    for tb in ('fp8', 'bf8'): product('v_wmma_f32_16x16x16_%s_%s' % (ta, tb), 'gfx1201', 32, 16, ta, tb, 'f32')
for row, K, t, limit in (('v_wmma_i32_16x16x16_iu8_rdna4', 16, 'iu8', 100), ('v_wmma_i32_16x16x16_iu4_rdna4', 16, 'iu4', 7), ('v_wmma_i32_16x16x32_iu4', 32, 'iu4', 7)):
    for signed in ((True, True), (True, False), (False, False)): product(row, 'gfx1201', 32, K, t, t, 'i32', ' neg_lo:[%d,%d,0]' % signed if any(signed) else '', ' signed %d %d' % signed, signed, limit)
case(FILE, 'v_wmma_f32_16x16x16_f16 of 64 lanes', 'v_wmma_f32_16x16x16_f16_rdna4 v[32:35], v[0:1], v[8:9], v[16:19]', [], [], 'gfx1201', lines=['exit unimplemented'])
# gfx12.5: the same rows and columns; more items of k in a lane, which may lie in any order, as they do so in A and B alike.
for ta, tr, tc in (('f16', 'f32', None), ('bf16', 'f32', None), ('f16', 'f16', None), ('bf16', 'bf16', None), ('bf16', 'bf16', 'f32')):
    row = 'v_wmma_%s%s_16x16x32_%s' % (tr, tc or '', ta)
    product(row, 'gfx1250', 32, 32, ta, ta, tr, tc=tc)
    product(row, 'gfx1250', 32, 32, ta, ta, tr, ' neg_lo:[0,0,1] neg_hi:[0,0,1]', ' minus magnitudes', tc=tc, of_c=lambda c: -abs(c))
for K in (64, 128):
    for ta in ('fp8', 'bf8'):
        for tb in ('fp8', 'bf8'):
            for tr in ('f32', 'f16'): product('v_wmma_%s_16x16x%d_%s_%s' % (tr, K, ta, tb), 'gfx1250', 32, K, ta, tb, tr)
for signed in ((True, True), (True, False), (False, False)): product('v_wmma_i32_16x16x64_iu8', 'gfx1250', 32, 64, 'iu8', 'iu8', 'i32', ' neg_lo:[%d,%d,0]' % signed if any(signed) else '', ' signed %d %d' % signed, signed, 100)
for note, mode, tail in ((' FP16_OVFL', 0xf0 | 1 << 23, ''), (' minus A', 0xf0, ' neg_lo:[1,0,0]')):
    case(FILE, 'v_wmma_f32_16x16x32_f16' + note, 'v_wmma_f32_16x16x32_f16 v[32:39], v[0:7], v[8:15], v[16:23]' + tail, [], [], 'gfx1250', mode, lines=['wave 32', 'exit unimplemented'])
