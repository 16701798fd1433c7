# Waves of 32 lanes, on encodings of processors that have none (the cases' `wave 32`): each kind of use that a lane mask
# has. A mask is one SGPR; what stands in the next one, in EXEC_HI and in VCC_HI is neither read nor written as one.
# Lanes are counted modulo 32. Meanings: RDNA ISA manuals, "wave32", and the pseudo-code of Vega's.
import random
from case_files import case as any_case, write, M64

rng = random.Random('wave32')
FILE, M32, LANES = 'wave32', (1 << 32) - 1, range(32)
EXEC, JUNK = 0x5a0f9c3d, 0xdeadbeef
EXEC64, VCC64 = JUNK << 32 | EXEC, 0x12345678 << 32 | 0x0ff00ff0
def on(mask, l): return mask >> l & 1
def mask_of(f): return sum(1 << l for l in LANES if f(l))
def row(r): return [0xc0c0c0c0 + r] * 64      # as the runner fills it
def u32s(): return [rng.choice([0, 1, M32, 0x80000000, 0x7fffffff, rng.getrandbits(32), rng.getrandbits(4)]) for _ in range(32)]
def written(r, values, mask=EXEC):
    """Row r with lanes of `mask` written; the other half of the row stays."""
    return [v & M32 if on(mask, l) else 0xc0c0c0c0 + r for l, v in enumerate(values)] + row(r)[32:]
def case(name, asm, sets, expects, exec=EXEC64, lines=()):
    sets = [('exec', [exec])] + list(sets)
    if not any(r == 'exec' for r, _ in expects): expects = list(expects) + [('exec', [exec])]
    any_case(FILE, name, asm, sets, expects, ['gfx900', 'gfx90a'], lines=['wave 32', *lines])
def signed(x): return x - (x >> 31 << 32)

# ---------------------------------------------------------------- compares write one register, bits of lanes that are off are 0
a, b = u32s(), u32s()
gt, lt = mask_of(lambda l: on(EXEC, l) and a[l] > b[l]), mask_of(lambda l: on(EXEC, l) and signed(a[l]) < signed(b[l]))
two = [('v0', a), ('v1', b)]
case('v_cmp_gt_u32 vcc', 'v_cmp_gt_u32_e32 vcc, v0, v1', two + [('vcc', [VCC64])], [('vcc', [VCC64 >> 32 << 32 | gt])])
case('v_cmp_lt_i32 s6', 'v_cmp_lt_i32_e64 s[6:7], v0, v1', two + [('s6', [1, JUNK])], [('s6', [lt, JUNK])])
# An odd register, which no pair begins with: v_cmp_gt_u32_e64 s7, v0, v1
case('v_cmp_gt_u32 s7', 's_nop 0', two + [('s6', [1, 2, 3])], [('s6', [1, gt, 3])], lines=['word d0cc0007 00020300'])
case('v_cmpx_gt_u32', 'v_cmpx_gt_u32_e32 vcc, v0, v1', two + [('vcc', [VCC64])], [('vcc', [VCC64 >> 32 << 32 | gt]), ('exec', [JUNK << 32 | gt])])
case('v_cmp_class_f32', 'v_cmp_class_f32_e64 s[6:7], v0, v1', [('v0', [0x7fc00000, 0, 0x3f800000, 0xff800000]), ('v1', [0x3, 0x40, 0x100, 0x4, 0x4, 0x60, 0x3, 0x3]), ('s7', [JUNK])],
     [('s6', [mask_of(lambda l: on(EXEC, l) and l % 8 in (0, 1, 2, 3, 5)), JUNK])])

# ---------------------------------------------------------------- masks as operands
chosen = lambda mask: written(10, [b[l] if on(mask, l) else a[l] for l in LANES])
case('v_cndmask_b32 e32', 'v_cndmask_b32_e32 v10, v0, v1, vcc', two + [('vcc', [VCC64])], [('v10', chosen(VCC64 & M32))])
case('v_cndmask_b32 e64', 'v_cndmask_b32_e64 v10, v0, v1, s[6:7]', two + [('s6', [0xf0f01234, JUNK])], [('v10', chosen(0xf0f01234))])
case('v_cndmask_b32 s7', 's_nop 0', two + [('s6', [JUNK, 0xf0f01234, JUNK])], [('v10', chosen(0xf0f01234))], lines=['word d100000a 001e0300'])  # v_cndmask_b32_e64 v10, v0, v1, s7
carries = mask_of(lambda l: on(EXEC, l) and a[l] + b[l] > M32)
case('v_add_co_u32', 'v_add_co_u32_e32 v10, vcc, v0, v1', two + [('vcc', [VCC64])], [('v10', written(10, [x + y for x, y in zip(a, b)])), ('vcc', [VCC64 >> 32 << 32 | carries])])
carry_in = 0x33cc55aa
sums = [a[l] + b[l] + on(carry_in, l) for l in LANES]
case('v_addc_co_u32', 'v_addc_co_u32_e64 v10, s[8:9], v0, v1, s[6:7]', two + [('s6', [carry_in, JUNK, 1, 2])],
     [('v10', written(10, sums)), ('s8', [mask_of(lambda l: on(EXEC, l) and sums[l] > M32), 2])])
differences = [a[l] - b[l] - on(carry_in, l) for l in LANES]
case('v_subb_co_u32', 'v_subb_co_u32_e32 v10, vcc, v0, v1, vcc', two + [('vcc', [JUNK << 32 | carry_in])],
     [('v10', written(10, differences)), ('vcc', [JUNK << 32 | mask_of(lambda l: on(EXEC, l) and differences[l] < 0)])])
products = [a[l] * b[l] + (1 << 64) - 1 for l in LANES]
case('v_mad_u64_u32', 'v_mad_u64_u32 v[10:11], s[6:7], v0, v1, -1', two + [('s6', [1, 2])],
     [('v10', written(10, products)), ('v11', written(11, [p >> 32 for p in products])), ('s6', [mask_of(lambda l: on(EXEC, l) and products[l] >> 64), 2])])
case('v_div_scale_f32', 'v_div_scale_f32 v10, vcc, v0, v0, v1', [('v0', [0x3f800000, 0x00000001]), ('v1', [0x3f800000]), ('vcc', [VCC64])],
     [('vcc', [VCC64 >> 32 << 32 | mask_of(lambda l: on(EXEC, l) and l & 1)])])

# ---------------------------------------------------------------- scalar code on masks
vcc = 0x3c3c5a5a
case('if and else by b32', ['s_mov_b32 s4, exec_lo', 's_and_b32 exec_lo, vcc_lo, exec_lo', 'v_mov_b32 v10, 1', 's_xor_b32 s5, exec_lo, s4', 's_mov_b32 exec_lo, s5', 'v_mov_b32 v10, 2', 's_or_b32 exec_lo, exec_lo, s4', 'v_mov_b32 v11, 3'],
     [('vcc', [JUNK << 32 | vcc])], [('v10', written(10, [1 if on(vcc, l) else 2 for l in LANES])), ('v11', written(11, [3] * 32)), ('s4', [EXEC, EXEC & ~vcc])])
def logic(op, f):
    r = f(EXEC, vcc) & M32
    case(op, [op + ' exec_lo, exec_lo, vcc_lo', 's_cselect_b32 s8, 7, 9', 'v_mov_b32 v10, 5', 's_mov_b32 s6, exec_lo'], [('vcc', [JUNK << 32 | vcc]), ('s7', [JUNK])],
         [('exec', [JUNK << 32 | r]), ('v10', written(10, [5] * 32, r)), ('s8', [7 if r else 9]), ('s6', [r, JUNK])])
for op, f in (('s_and_b32', lambda x, y: x & y), ('s_or_b32', lambda x, y: x | y), ('s_xor_b32', lambda x, y: x ^ y), ('s_andn2_b32', lambda x, y: x & ~y),
              ('s_orn2_b32', lambda x, y: x | ~y), ('s_nand_b32', lambda x, y: ~(x & y)), ('s_nor_b32', lambda x, y: ~(x | y)), ('s_xnor_b32', lambda x, y: ~(x ^ y))): logic(op, f)
case('s_not_b32', ['v_cmp_gt_u32_e32 vcc, v0, v1', 's_not_b32 s6, vcc_lo', 's_bcnt1_i32_b32 s8, s6', 's_ff1_i32_b32 s9, vcc_lo', 's_flbit_i32_b32 s10, vcc_lo'], two + [('s7', [JUNK])],
     [('s6', [~gt & M32, JUNK, bin(~gt & M32).count('1'), (gt & -gt).bit_length() - 1, 32 - gt.bit_length()])])
case('s_mov_b32 exec -1', ['s_mov_b32 exec_lo, -1', 'v_mov_b32 v10, 4'], [], [('exec', [JUNK << 32 | M32]), ('v10', written(10, [4] * 32, M32))])
# Operations on pairs are of 64 bits whatever the wave's size: they read and write EXEC_HI and VCC_HI.
case('s_and_saveexec_b64', ['s_and_saveexec_b64 s[4:5], vcc', 'v_mov_b32 v10, 4'], [('vcc', [VCC64])], [('exec', [EXEC64 & VCC64]), ('s4', [EXEC, JUNK]), ('v10', written(10, [4] * 32, EXEC & VCC64)), ('scc', [1])])
case('s_not_b64 of a compare', ['v_cmp_gt_u32_e32 vcc, v0, v1', 's_mov_b32 vcc_hi, 0', 's_not_b64 s[6:7], vcc'], two, [('s6', [~gt & M32, M32])])

# ---------------------------------------------------------------- zero or not is asked of 32 bits
for name, mask in (('execz', 'exec_lo'), ('vccz', 'vcc_lo')):
    case('s_cbranch_%s, upper half set' % name, ['s_mov_b32 s6, 1', 's_mov_b32 %s, 0' % mask, 's_cbranch_%s 1' % name, 's_mov_b32 s6, 2', 's_nop 0'], [('vcc', [VCC64])],
         [('s6', [1])] + ([('exec', [JUNK << 32])] if name == 'execz' else [('vcc', [VCC64 >> 32 << 32])]))
    case('s_cbranch_%snz, upper half set' % name[:-1], ['s_mov_b32 s6, 1', 's_mov_b32 %s, 0' % mask, 's_cbranch_%snz 1' % name[:-1], 's_mov_b32 s6, 2', 's_nop 0'], [('vcc', [VCC64])],
         [('s6', [2])] + ([('exec', [JUNK << 32])] if name == 'execz' else [('vcc', [VCC64 >> 32 << 32])]))
case('src_vccz, src_execz', ['s_mov_b32 vcc_lo, 0', 's_add_u32 s6, src_vccz, src_vccz', 's_add_u32 s7, src_execz, 4', 's_mov_b32 exec_lo, 0', 's_add_u32 s8, src_execz, 4'], [('vcc', [VCC64])], [('s6', [2, 4, 5]), ('exec', [JUNK << 32])])

# ---------------------------------------------------------------- lanes by number
ids = [100 + l for l in range(64)]
case('v_readfirstlane_b32', 'v_readfirstlane_b32 s6, v0', [('v0', ids)], [('s6', [131])], exec=JUNK << 32 | 1 << 31)
case('v_readfirstlane_b32 no lane', 'v_readfirstlane_b32 s6, v0', [('v0', ids)], [('s6', [100])], exec=JUNK << 32)
case('v_readlane_b32', ['v_readlane_b32 s6, v0, 35', 'v_readlane_b32 s7, v0, s9', 'v_readlane_b32 s8, v0, m0'], [('v0', ids), ('s9', [63]), ('m0', [0x1f])], [('s6', [103, 131, 131])])
case('v_writelane_b32', ['v_writelane_b32 v10, s6, 40', 'v_writelane_b32 v10, 5, s8'], [('s6', [1, 2, 0xffffffe3])], [('v10', [5 if l == 3 else 1 if l == 8 else 0xc0c0c0ca for l in range(64)])])
ones = 0x0f5a0f5a
counts = [bin(ones & ((1 << l) - 1)).count('1') for l in LANES]
case('v_mbcnt', ['v_mbcnt_lo_u32_b32 v10, s6, 0', 'v_mbcnt_hi_u32_b32 v11, s7, v10'], [('s6', [ones, M32])], [('v10', written(10, counts)), ('v11', written(11, counts))])

# ---------------------------------------------------------------- exchanges between lanes
def moved(f, data=ids, exec=EXEC):
    """ds_*: lanes that are off give 0."""
    return written(10, [data[f(l)] if on(exec, f(l)) else 0 for l in LANES])
index = [rng.randrange(0, 256) & ~3 for _ in range(32)]
case('ds_bpermute_b32', 'ds_bpermute_b32 v10, v0, v1', [('v0', index), ('v1', ids)], [('v10', moved(lambda l: index[l] // 4 % 32))])
case('ds_bpermute_b32 a shuffle', ['v_mbcnt_lo_u32_b32 v0, -1, 0', 'v_xor_b32 v0, 17, v0', 'v_lshlrev_b32 v0, 2, v0', 'ds_bpermute_b32 v10, v0, v1 offset:64'],
     [('v0', [68]), ('v1', ids)], [('v10', written(10, [ids[((l ^ 17) + 16) % 32] if on(EXEC, ((l ^ 17) + 16) % 32) else 0 for l in LANES]))])
out = [0] * 32
for l in LANES:
    if on(EXEC, l): out[index[l] // 4 % 32] = ids[l]
case('ds_permute_b32', 'ds_permute_b32 v10, v0, v1', [('v0', index), ('v1', ids)], [('v10', written(10, out))])
case('ds_swizzle_b32 swap', 'ds_swizzle_b32 v10, v1 offset:swizzle(SWAP,16)', [('v1', ids)], [('v10', moved(lambda l: l ^ 16))])
case('ds_swizzle_b32 quads', 'ds_swizzle_b32 v10, v1 offset:swizzle(QUAD_PERM,3,1,0,2)', [('v1', ids)], [('v10', moved(lambda l: l & ~3 | (3, 1, 0, 2)[l & 3]))])
def dpp(name, f, bound=False):
    """f: the lane that lane l reads, or None: then it is not written, or 0 with bound_ctrl."""
    source = [f(l) for l in LANES]
    valid = [s is not None and on(EXEC, s) for s in source]
    mask = EXEC if bound else mask_of(lambda l: on(EXEC, l) and valid[l])
    case('dpp ' + name + (' bound_ctrl' if bound else ''), 'v_mov_b32_dpp v10, v1 %s row_mask:0xf bank_mask:0xf%s' % (name, ' bound_ctrl:0' if bound else ''), [('v1', ids)], [('v10', written(10, [ids[s] if v else 0 for s, v in zip(source, valid)], mask))])
for bound in (False, True):
    dpp('quad_perm:[1,0,3,2]', lambda l: l ^ 1, bound)
    dpp('row_shr:3', lambda l: l - 3 if l % 16 >= 3 else None, bound)
    dpp('row_mirror', lambda l: l ^ 15, bound)
    dpp('wave_shl:1', lambda l: l + 1 if l < 31 else None, bound)
    dpp('wave_rol:1', lambda l: (l + 1) % 32, bound)
    dpp('wave_shr:1', lambda l: l - 1 if l else None, bound)
    dpp('wave_ror:1', lambda l: (l - 1) % 32, bound)
    dpp('row_bcast:15', lambda l: 15 if l >= 16 else None, bound)
    dpp('row_bcast:31', lambda l: None, bound)

# ---------------------------------------------------------------- memory: private memory has rows of 32 lanes
count = bin(EXEC).count('1')
case('ds_append', ['s_mov_b32 m0, 0', 'ds_append v10 offset:8'], [('lds', [0, 0, 1000])], [('v10', written(10, [1000] * 32)), ('lds', [0, 0, 1000 + count])])
case('scratch_store_dwordx2', ['v_mov_b32 v0, 8', 'scratch_store_dwordx2 v0, v[2:3], off', 'scratch_load_dword v10, v0, off offset:4', 's_waitcnt vmcnt(0)'], [('v2', ids), ('v3', [1000 + x for x in ids])],
     [('scratch', [0] * 64 + [x if on(EXEC, l) else 0 for l, x in enumerate(ids[:32])] + [1000 + x if on(EXEC, l) else 0 for l, x in enumerate(ids[:32])]), ('v10', written(10, [1000 + x for x in ids[:32]]))])
case('scratch_store_byte', ['v_lshlrev_b32 v0, 2, v0', 'scratch_store_byte v0, v2, off offset:1'], [('v0', [0, 1, 2, 3]), ('v2', ids)],
     [('scratch', [(ids[l] << 8 if on(EXEC, l) and l % 4 == d else 0) for d in range(4) for l in LANES])])

if __name__ == '__main__': write()
