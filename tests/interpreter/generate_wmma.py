# Products in a wave (gfx11, gfx12): which lane holds what, on small numbers, whose sums are exact in any order. gfx11: "How to accelerate AI
# applications on RDNA 3 using WMMA", GPUOpen, and AMD's matrix instruction calculator; gfx12: the tables of 7.12.2 of the RDNA4 ISA and of
# 7.12.2 to 7.12.6 of the CDNA5 ISA, written down below as those have them.
from generate_cases import *
from generate_conversions import SMALL

rng.seed('wmma')
FILE = 'wmma'
FP8 = {0: 0x00, 1: 0x38, 2: 0x40, 3: 0x44, -1: 0xb8, -2: 0xc0, -3: 0xc4}   # E4M3 and E5M2 of small integers
BF8 = {0: 0x00, 1: 0x3c, 2: 0x40, 3: 0x42, -1: 0xbc, -2: 0xc0, -3: 0xc2}
f32_of = lambda n: F32.encode(Fr(n), 0, False)
f16_of = lambda n: F16.encode(Fr(n), 0, False)
bf16_of = lambda n: f32_of(n) >> 16
ENCODE = {'f32': (32, f32_of), 'f16': (16, f16_of), 'bf16': (16, bf16_of), 'fp8': (8, FP8.get), 'bf8': (8, BF8.get), 'iu8': (8, lambda n: n & 255), 'iu4': (4, lambda n: n & 15)}

def pack(items, bits):
    r = [0] * ((len(items) * bits + 31) // 32)
    for i, x in enumerate(items): r[i * bits // 32] |= x << i * bits % 32
    return r
# Of A by (bits, K, lanes): which bits of k, the highest first, are the number of sixteen lanes, and which that of the lane's item. B is alike,
# with columns for rows.
LAYOUT = {(16, 16, 32): ([2], [3, 1, 0]), (16, 16, 64): ([3, 2], [1, 0]), (8, 16, 32): ([3], [2, 1, 0]), (8, 16, 64): ([2, 3], [1, 0]),
          (4, 16, 32): ([3], [2, 1, 0]), (4, 16, 64): ([3], [2, 1, 0]), (4, 32, 32): ([4], [3, 2, 1, 0]), (4, 32, 64): ([3, 4], [2, 1, 0]),
          (32, 4, 32): ([1], [0]), (16, 32, 32): ([3], [4, 2, 1, 0]), (8, 64, 32): ([3], [5, 4, 2, 1, 0]), (8, 128, 32): ([3], [6, 5, 4, 2, 1, 0])}
def sparse_b(layout):
    """B of a sparse product: each two elements of A stand for four"""
    return [b + 1 for b in layout[0]], [b + 1 for b in layout[1]] + [0]
# That rule gives the tables that there are: RDNA4's of four bits, CDNA5's of 16 and 8.
assert sparse_b(LAYOUT[4, 16, 32]) == ([4], [3, 2, 1, 0]) and sparse_b(LAYOUT[16, 32, 32]) == ([4], [5, 3, 2, 1, 0]) and sparse_b(LAYOUT[8, 64, 32]) == ([4], [6, 5, 3, 2, 1, 0])
def number(k, bits):
    """those bits of k as a number"""
    return sum((k >> b & 1) << i for i, b in enumerate(reversed(bits)))
def put_factor(of, bits, encode, K, layout, rest=0):
    """registers of A (or B) whose element of row i and that k is of(i, k)"""
    n = max(1, (1 << len(layout[1])) * bits // 32)
    r = [[rest] * 64 for _ in range(n)]
    for d in r:
        for l in range(16 << len(layout[0])): d[l] = 0
    for i in range(16):
        for k in range(K):
            at = bits * number(k, layout[1])
            r[at // 32][16 * number(k, layout[0]) + i] |= encode(of(i, k)) << at % 32
    return r
def product(row, target, size, K, ta, tb, tr, tail='', note='', signed=(True, True), limit=3, addends=None, negate=1, high=False, tc=None, of_c=lambda c: c, key=None):
    """key: the number of the index set of a sparse product"""
    rdna4, step, sparse = target != 'gfx1100', 16 if target == 'gfx1250' else 8, key is not None
    draw = lambda s: rng.randint(-limit, limit) if s else rng.randint(0, 2 * limit + 1)
    A, B = [[draw(signed[0]) for _ in range(K)] for _ in range(16)], [[draw(signed[1]) for _ in range(16)] for _ in range(K)]
    C = [[rng.randint(-9, 9) if addends is None else addends for _ in range(16)] for _ in range(16)]
    bits, encode = ENCODE[ta]
    if sparse:
        packed, chosen = [row_[:K // 2] for row_ in A], [[sorted(rng.sample(range(4), 2)) for _ in range(K // 4)] for _ in range(16)]
        A = [[packed[i][2 * (k // 4) + chosen[i][k // 4].index(k % 4)] if k % 4 in chosen[i][k // 4] else 0 for k in range(K)] for i in range(16)]
        of_a, of_b = LAYOUT[bits, K // 2, size], sparse_b(LAYOUT[bits, K // 2, size])
        a, b = put_factor(lambda i, k: packed[i][k], bits, encode, K // 2, of_a, 0xdeadbeef), put_factor(lambda j, k: B[k][j], bits, ENCODE[tb][1], K, of_b, 0xdeadbeef)
        items = 1 << len(of_a[1])
        index = [[rng.getrandbits(32) for _ in range(64)] for _ in range(max(1, items // 16))]
        for i in range(16):
            for k in range(K // 2):
                at = 2 * items * key + 2 * number(k, of_a[1])
                l, shift = 16 * number(k, of_a[0]) + i, at % 32
                index[at // 32][l] = index[at // 32][l] & ~(3 << shift) | chosen[i][k // 2][k % 2] << shift
        tail = (' index_key:%d' % key if key else '') + tail
    elif rdna4:
        a, b = (put_factor(of, n, code, K, LAYOUT[n, K, size], 0xdeadbeef) for of, (n, code) in ((lambda i, k: A[i][k], ENCODE[ta]), (lambda j, k: B[k][j], ENCODE[tb])))
    else:
        def copies(of, name):
            lanes_ = [pack([ENCODE[name][1](of(l % 16, k)) for k in range(K)], ENCODE[name][0]) for l in range(64)]
            return [[lanes_[l][d] for l in range(64)] for d in range(len(lanes_[0]))]
        a, b = copies(lambda i, k: A[i][k], ta), copies(lambda j, k: B[k][j], tb)
    def result(M, old, t, into=None):
        """registers of a 16 x 16 matrix of that type"""
        encode, half = {'f32': f32_of, 'i32': lambda n: n & M32, 'f16': f16_of, 'bf16': bf16_of}[t], t in ('f16', 'bf16')
        n = (4 if half else 8) * 32 // size if rdna4 else 8 if size == 32 else 4
        r = [list(x) for x in into] if into else [[old] * 64 for _ in range(n)]
        for i in range(16):
            for j in range(16):
                if rdna4: item, lane = (i % 8, j + 16 * (i // 8)) if size == 32 else (i % 4, i // 4 % 2 * 32 + i // 8 * 16 + j)
                else: item, lane = i // (size // 16), j + 16 * (i % (size // 16))
                reg, up = (item // 2, item % 2) if half and rdna4 else (item, high)
                if half: r[reg][lane] = r[reg][lane] & (0xffff if up else 0xffff0000) | encode(M[i][j]) << (16 if up else 0)
                else: r[reg][lane] = encode(M[i][j])
        return r
    clamp = lambda n: max(-1 << 31, min((1 << 31) - 1, n)) if 'clamp' in tail else n
    D = [[clamp(sum(A[i][k] * B[k][j] for k in range(K)) * negate + of_c(C[i][j])) for j in range(16)] for i in range(16)]
    c = result(C, 0x77778888, tc or tr)
    d = result(D, 0x12345678, tr, c if sparse else None)
    put = lambda base, rows: [('v%d' % (base + i), x) for i, x in enumerate(rows)]
    reg = lambda base, rows: 'v%d' % base if len(rows) == 1 else 'v[%d:%d]' % (base, base + len(rows) - 1)
    old = c if sparse else [[0x12345678] * 64] * len(d)
    third = index if sparse else c
    seen = [[x if l < size else was[l] for l, x in enumerate(row_)] for row_, was in zip(d, old)]
    case(FILE, '%s, wave%d%s' % (row, size, note), '%s %s, %s, %s, %s%s' % (row, reg(4 * step, d), reg(0, a), reg(step, b), reg(2 * step, third), tail), [('exec', [M64 if size == 64 else M32])] + put(0, a) + put(step, b) + put(2 * step, third) + put(4 * step, old), put(4 * step, seen), target, lines=['wave %d' % size])

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
# gfx12.5: more items of k in a lane.
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

# ---------------------------------------------------------------- gfx12 in waves of 64 lanes; f32
for ta, tr in (('f16', 'f32'), ('bf16', 'f32'), ('f16', 'f16'), ('bf16', 'bf16')): product('v_wmma_%s_16x16x16_%s_rdna4' % (tr, ta), 'gfx1201', 64, 16, ta, ta, tr)
product('v_wmma_f32_16x16x16_f16_rdna4', 'gfx1201', 64, 16, 'f16', 'f16', 'f32', ' neg_lo:[1,0,1] neg_hi:[1,0,1]', ' negated', negate=-1, of_c=lambda c: -abs(c))
for ta in ('fp8', 'bf8'):
    for tb in ('fp8', 'bf8'): product('v_wmma_f32_16x16x16_%s_%s' % (ta, tb), 'gfx1201', 64, 16, ta, tb, 'f32')
for row, K, t, limit in (('v_wmma_i32_16x16x16_iu8_rdna4', 16, 'iu8', 100), ('v_wmma_i32_16x16x16_iu4_rdna4', 16, 'iu4', 7), ('v_wmma_i32_16x16x32_iu4', 32, 'iu4', 7)):
    for signed in ((True, True), (False, True)): product(row, 'gfx1201', 64, K, t, t, 'i32', ' neg_lo:[%d,%d,0]' % signed, ' signed %d %d' % signed, signed, limit)
product('v_wmma_f32_16x16x4_f32', 'gfx1250', 32, 4, 'f32', 'f32', 'f32', limit=1000)
product('v_wmma_f32_16x16x4_f32', 'gfx1250', 32, 4, 'f32', 'f32', 'f32', ' neg_lo:[0,0,1] neg_hi:[0,0,1]', ' minus magnitudes', of_c=lambda c: -abs(c))

# ---------------------------------------------------------------- sparse products
for size in (32, 64):
    keys = (0, 1) if size == 32 else (0, 1, 3)
    for key in keys:
        note = ' set %d' % key
        for ta, tr in (('f16', 'f32'), ('bf16', 'f32'), ('f16', 'f16'), ('bf16', 'bf16')): product('v_swmmac_%s_16x16x32_%s' % (tr, ta), 'gfx1201', size, 32, ta, ta, tr, note=note, key=key)
        for ta in ('fp8', 'bf8'):
            for tb in ('fp8', 'bf8'): product('v_swmmac_f32_16x16x32_%s_%s' % (ta, tb), 'gfx1201', size, 32, ta, tb, 'f32', note=note, key=key)
        product('v_swmmac_i32_16x16x32_iu8', 'gfx1201', size, 32, 'iu8', 'iu8', 'i32', ' neg_lo:[1,1,0]', note, limit=100, key=key)
    product('v_swmmac_f32_16x16x32_f16', 'gfx1201', size, 32, 'f16', 'f16', 'f32', ' neg_lo:[1,0,0] neg_hi:[1,0,0]', ' negated', negate=-1, key=0)
    for signed in ((True, False), (False, True), (False, False)):
        neg_ = ' neg_lo:[%d,%d,0]' % signed if any(signed) else ''
        product('v_swmmac_i32_16x16x32_iu8', 'gfx1201', size, 32, 'iu8', 'iu8', 'i32', neg_, ' signed %d %d' % signed, signed, 100, key=0)
        if size == 32: product('v_swmmac_i32_16x16x32_iu4', 'gfx1201', size, 32, 'iu4', 'iu4', 'i32', neg_, ' signed %d %d' % signed, signed, 7, key=0)
        product('v_swmmac_i32_16x16x64_iu4', 'gfx1201', size, 64, 'iu4', 'iu4', 'i32', neg_, ' signed %d %d' % signed, signed, 7, key=0)
    product('v_swmmac_i32_16x16x32_iu8', 'gfx1201', size, 32, 'iu8', 'iu8', 'i32', ' clamp', ' clamped', (False, False), 100, (1 << 31) - 1000, key=0)
product('v_swmmac_i32_16x16x32_iu4', 'gfx1201', 32, 32, 'iu4', 'iu4', 'i32', ' neg_lo:[1,1,0]', ' set 1', limit=7, key=1)
product('v_swmmac_i32_16x16x64_iu4', 'gfx1201', 64, 64, 'iu4', 'iu4', 'i32', ' neg_lo:[1,1,0]', ' set 1', limit=7, key=1)
for ta, tr, tc in (('f16', 'f32', None), ('bf16', 'f32', None), ('f16', 'f16', None), ('bf16', 'bf16', None), ('bf16', 'bf16', 'f32')): product('v_swmmac_%s%s_16x16x64_%s' % (tr, tc or '', ta), 'gfx1250', 32, 64, ta, ta, tr, tc=tc, key=0)
for ta in ('fp8', 'bf8'):
    for tb in ('fp8', 'bf8'):
        for tr in ('f32', 'f16'): product('v_swmmac_%s_16x16x128_%s_%s' % (tr, ta, tb), 'gfx1250', 32, 128, ta, tb, tr, key=0)
for signed in ((True, True), (True, False), (False, False)): product('v_swmmac_i32_16x16x128_iu8', 'gfx1250', 32, 128, 'iu8', 'iu8', 'i32', ' neg_lo:[%d,%d,0]' % signed if any(signed) else '', ' signed %d %d' % signed, signed, 100, key=0)
def refused(target, size, name, asm, mode=0xf0, sets=()): case(FILE, name, asm, list(sets), [], target, mode, lines=['wave %d' % size, 'exit unimplemented'])
refused('gfx1201', 64, 'v_swmmac_i32_16x16x32_iu4 of 64 lanes', 'v_swmmac_i32_16x16x32_iu4 v[32:35], v0, v8, v16')
refused('gfx1250', 32, 'v_swmmac_f32_16x16x64_f16 set 1', 'v_swmmac_f32_16x16x64_f16 v[64:71], v[0:7], v[16:31], v32 index_key:1')
refused('gfx1250', 32, 'v_swmmac_f32_16x16x64_f16 FP16_OVFL', 'v_swmmac_f32_16x16x64_f16 v[64:71], v[0:7], v[16:31], v32', 0xf0 | 1 << 23)
refused('gfx1250', 32, 'v_wmma_f32_16x16x4_f32 minus A', 'v_wmma_f32_16x16x4_f32 v[32:39], v[0:1], v[8:9], v[16:23] neg_lo:[1,0,0]')

# ---------------------------------------------------------------- gfx12.5: formats of A and B by the instruction, scales of 16 or 32 elements
FORMATS = ('fp8', 'bf8', 'fp6', 'bf6', 'fp4')
NUMBERS = [0.0, 0.5, 1.0, 2.0, -0.5, -1.0, -2.0]   # sums of their products fit into f64, and into f32
CODES = {f: {v: SMALL[f].encode(Fr(v), 'sat') for v in NUMBERS} for f in FORMATS}
SCALES = {'E8M0': {2.0 ** e: 127 + e for e in range(-2, 3)},
          'E5M3': {0.5: 14 << 3, 1.0: 15 << 3, 1.5: 15 << 3 | 4, 2.0: 16 << 3, 0.0: 0},
          'E4M3': {0.5: 6 << 3, 1.0: 7 << 3, 1.5: 7 << 3 | 4, 2.0: 8 << 3, 0.0: 0}}
def scaled(rows_, formats, block=0, kinds=('E8M0', 'E8M0'), row1=(0, 0), scalar=(None, None), negative=False, note=''):
    """scalar: an SGPR's scale, or 'inline' for the constant 0, which stands for 1"""
    name = 'f32_16x16x128_f8f6f4' if rows_ == 16 else 'f32_32x16x128_f4'
    A, B = [[rng.choice(NUMBERS) for _ in range(128)] for _ in range(rows_)], [[rng.choice(NUMBERS) for _ in range(128)] for _ in range(16)]
    C = [[float(rng.randint(-9, 9)) for _ in range(16)] for _ in range(rows_)]
    layouts = [([4], [6, 5, 3, 2, 1, 0]) if SMALL[f].width == 8 else ([5], [6, 4, 3, 2, 1, 0]) for f in formats]
    def registers_of(M, f, layout):
        S, r = SMALL[f], []
        for base in range(0, len(M), 16):
            lanes_ = [0] * 64
            for i in range(16):
                for k in range(128): lanes_[16 * number(k, layout[0]) + i] |= CODES[f][M[base + i][k]] << S.width * number(k, layout[1])
            r += [[x >> 32 * d & M32 for x in lanes_] for d in range(2 * S.width)]
        return r
    def place(i, j): return i % 8 + 8 * (i // 16), j + 16 * (i // 8 % 2)
    def result(M, old):
        r = [[old] * 64 for _ in range(rows_ // 2)]
        for i in range(rows_):
            for j in range(16): r[place(i, j)[0]][place(i, j)[1]] = F32.encode(Fr(M[i][j]), 0)
        return r
    put = lambda base, rows: [('v%d' % (base + i), x) for i, x in enumerate(rows)]
    reg = lambda base, n: 'v%d' % base if n == 1 else 'v[%d:%d]' % (base, base + n - 1)
    factors, sets, operands, formats_, rows_of, kinds_ = [], [], [], '', '', ''   # modifiers in LLVM's order
    for s, (M, f) in enumerate(((A, formats[0]), (B, formats[1]))):
        letter = 'ab'[s]
        if rows_ == 16 and f != 'fp8': formats_ += ' matrix_%s_fmt:MATRIX_FMT_%s' % (letter, f.upper())
        if not block: factors.append([[1.0] * 128 for _ in M]); continue
        codes = SCALES[kinds[s]]
        if scalar[s] is not None:
            of = 1.0 if scalar[s] == 'inline' else scalar[s]
            factors.append([[of] * 128 for _ in M])
            if scalar[s] != 'inline': sets.append(('s%d' % (8 + 2 * s), [0xabcdef00 | codes[of]]))
            operands.append('0' if scalar[s] == 'inline' else 's%d' % (8 + 2 * s) if block == 32 else 's[%d:%d]' % (8 + 2 * s, 9 + 2 * s))
        else:
            n = 128 // block
            drawn = [[rng.choice(list(codes)) for _ in range(n)] for _ in M]
            factors.append([[x[k // block] for k in range(128)] for x in drawn])
            words_ = [[rng.getrandbits(32) & 0x7f7f7f7f for _ in range(64)] for _ in range(n // 4)]
            for i, x in enumerate(drawn):
                for q in range(n):
                    l, shift = i + 16 * row1[s], 8 * (q % 4)
                    words_[q // 4][l] = words_[q // 4][l] & ~(255 << shift) | codes[x[q]] << shift
            sets += put(120 + 4 * s, words_)
            operands.append(reg(120 + 4 * s, n // 4))
        if row1[s]: rows_of += ' matrix_%s_scale:MATRIX_SCALE_ROW1' % letter
        if kinds[s] != 'E8M0': kinds_ += ' matrix_%s_scale_fmt:MATRIX_SCALE_FMT_%s' % (letter, kinds[s])
    of_c = (lambda c: -abs(c)) if negative else lambda c: c
    D = [[sum(A[i][k] * B[j][k] * factors[0][i][k] * factors[1][j][k] for k in range(128)) + of_c(C[i][j]) for j in range(16)] for i in range(rows_)]
    a, b = registers_of(A, formats[0], layouts[0]), registers_of(B, formats[1], layouts[1])
    c, d = result(C, 0x77778888), result(D, 0x12345678)
    row = 'v_wmma_%s%s' % ({0: '', 16: 'scale16_', 32: 'scale_'}[block], name)
    tail = formats_ + rows_of + kinds_ + (' neg_lo:[0,0,1] neg_hi:[0,0,1]' if negative else '')
    text = '%s %s, %s, %s, %s%s%s' % (row, reg(96, len(d)), reg(0, len(a)), reg(32, len(b)), reg(64, len(c)), ''.join(', ' + o for o in operands), tail)
    case(FILE, '%s %s %s%s' % (row, *formats, note), text, [('exec', [M32])] + sets + put(0, a) + put(32, b) + put(64, c) + put(96, [[0x12345678] * 64] * len(d)), put(96, d), 'gfx1250', lines=['wave 32'])
for fa in FORMATS:
    for fb in FORMATS: scaled(16, (fa, fb))
scaled(16, ('fp8', 'fp4'), negative=True, note=' minus magnitudes')
scaled(32, ('fp4', 'fp4'))
scaled(32, ('fp4', 'fp4'), negative=True, note=' minus magnitudes')
for block in (32, 16):
    for formats in (('fp8', 'fp8'), ('bf8', 'fp6'), ('bf6', 'fp4'), ('fp4', 'fp4')): scaled(16, formats, block)
    scaled(16, ('fp8', 'bf8'), block, row1=(1, 0), note=' row 1 of A')
    scaled(16, ('fp6', 'fp8'), block, row1=(0, 1), note=' row 1 of B')
    for kind in ('E5M3', 'E4M3'):
        scaled(16, ('fp8', 'fp4'), block, ('E8M0', kind), note=' ' + kind)
        scaled(16, ('fp4', 'bf6'), block, (kind, 'E8M0'), note=' ' + kind)
        scaled(16, ('fp4', 'fp4'), block, (kind, kind), row1=(1, 1), note=' ' + kind)
        scaled(32, ('fp4', 'fp4'), block, (kind, kind), note=' ' + kind)
    scaled(16, ('fp8', 'fp8'), block, scalar=(2.0, 0.5), note=' SGPRs')
    scaled(16, ('fp8', 'fp4'), block, scalar=('inline', None), note=' constant')
    scaled(32, ('fp4', 'fp4'), block)
    scaled(32, ('fp4', 'fp4'), block, row1=(0, 1), note=' row 1 of B')
pair = 'v_wmma_scale_f32_16x16x128_f8f6f4 v[96:103], v[0:%d], v[32:47], v[64:71], %s, v124%s'
refused('gfx1250', 32, 'v_wmma_ld_scale_paired_b32 alone', 'v_wmma_ld_scale_paired_b32 v0, v1')
refused('gfx1250', 32, 'v_wmma_scale of fp8 by E4M3', pair % (15, 'v120', ' matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3'))
refused('gfx1250', 32, 'v_wmma_scale by E4M3 with a sign', pair % (7, 'v120', ' matrix_a_fmt:MATRIX_FMT_FP4 matrix_a_scale_fmt:MATRIX_SCALE_FMT_E4M3'), sets=[('v120', [0xb8])])
refused('gfx1250', 32, 'v_wmma_scale FP16_OVFL', pair % (15, 'v120', ''), 0xf0 | 1 << 23)
