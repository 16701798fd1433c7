# Collects the cases that the generators make and writes cases/*.txt.
import glob, os, re

M64 = (1 << 64) - 1
here = os.path.dirname(os.path.abspath(__file__))
tables = os.path.join(here, '..', '..', 'frontend', 'tables')

# ---------------------------------------------------------------- which target has which instruction
FAMILY = {'gfx600': '6', 'gfx700': '7', 'gfx803': '8', 'gfx900': '9', 'gfx906': '906', 'gfx908': '908', 'gfx90a': '90a', 'gfx942': '940', 'gfx950': '950', 'gfx1010': '10', 'gfx1030': '10.3', 'gfx1100': '11', 'gfx1150': '11.5', 'gfx1201': '12', 'gfx1250': '12.5'}
PARENT = {m[1]: m[2] for m in re.finditer(r'FAMILY\(\w+,\s*"([^"]*)",\s*"([^"]*)"', open(os.path.join(tables, 'families.inc')).read())}
ALL = list(FAMILY)
ROWS = {}   # mnemonic: (format, codes by column)
for path in sorted(glob.glob(os.path.join(tables, '*.inc'))):
    for m in re.finditer(r'INST\((\w+),\s*(\w+),\s*"([^"]*)"\s*,\s*"([^"]*)"', open(path).read()):
        ROWS[m[1]] = (m[2], dict(w.split(':') for w in m[3].split()), m[4].split()[0])
def base_name(mnemonic):
    for suffix in ('_e32', '_e64', '_sdwa', '_dpp'):
        if mnemonic.endswith(suffix) and mnemonic not in ROWS: return mnemonic[:-len(suffix)]
    return mnemonic
def exists(mnemonic, target):
    name = base_name(mnemonic)
    if name.startswith('v_mfma_scale_'): return target == 'gfx950'
    codes = ROWS[name][1] if name in ROWS else {}
    family = FAMILY[target]
    while family and family not in codes: family = PARENT[family]
    return codes.get(family, 'x') != 'x'
# What operands a target lacks though it has the instruction.
RDNA = ('gfx1010', 'gfx1030', 'gfx1100', 'gfx1150', 'gfx1201', 'gfx1250')
RDNA3 = RDNA[2:]
rdna_lacks = re.compile(r'^t?buffer_|^v_(add|sub|subrev)_co_u32_e32|^v_cmpx|row_newbcast|row_bcast|wave_(shl|rol|shr|ror)|xnack_mask|flat_scratch')
rdna3_lacks = re.compile(rdna_lacks.pattern + r'|_sdwa|^v_(?!pk|dot|fma_mix).* op_sel:')
LACKS = {'gfx1010': rdna_lacks, 'gfx1030': rdna_lacks, **{t: rdna3_lacks for t in RDNA3}, 'gfx803': re.compile(r'^flat_.* offset:|_d16_xy|row_newbcast|xnack_mask|_sdwa s\[|^s_load.* -0x|^buffer.* idxen')}
# gfx12.5 has no waves of 64 lanes, so that LLVM does not assemble masks of theirs; buffers are refused; pairs of vector registers are even.
LACKS['gfx1250'] = re.compile(rdna3_lacks.pattern + r'|buffer_|vcc(?!_lo)|^v_cmpx?_\w+_e64 s\[|^v_mad_(u64_u32|i64_i32).* s\[|^v_div_scale.* s\[|^v_cndmask.* s\[|_co_\w+ v\d+, s\[|v\[\d*[13579]:|flat_scratch|^s_setreg|src_private|v_dual_and_b32')
# gfx6 and gfx7: constants of scalar loads count dwords, NUM_RECORDS counts otherwise, no CLAMP of integers, no constant 1 / (2 pi).
GCN1 = ('gfx600', 'gfx700')
CLAMPED_FLOATS = re.compile(r'^v_\w*(f32|f64)(_e64)? ')
gcn1_lacks = re.compile(LACKS['gfx803'].pattern + r'|_sdwa|_dpp|^s_(buffer_)?load.* 0x|0\.15915494|^v_cmp.* clamp|flat_scratch|src_(shared|private)|^buffer.* idxen|^v_interp|s10[2-5]|s\[10[0-4]:')
LACKS.update({t: gcn1_lacks for t in GCN1})
def integer_clamp(asm): return ' clamp' in asm and not CLAMPED_FLOATS.match(asm)
def takes(asm, target): return exists(asm.split()[0], target) and not (target in LACKS and LACKS[target].search(asm)) and not (target in GCN1 and integer_clamp(asm))
# Where SRAM-ECC is on, D16 loads write 0 to the half of a register that the others keep.
SRAMECC = ('gfx906', 'gfx908', 'gfx90a', 'gfx942', 'gfx950', 'gfx1250')
def by_sramecc(asm):
    """Pairs (targets, mask of what is left of the old register) for a D16 load"""
    for group, kept in (([t for t in ALL if t not in SRAMECC], M64), (SRAMECC, 0)):
        targets = [t for t in group if takes(asm, t)]
        if targets: yield targets, kept
# What surrounds instructions is other than gfx10's: hardware registers, forks, names of registers, exceptions that are found alike.
NOT_RDNA = ('aliases', 'control', 'exceptions')
# Encodings of memory and texts of it, which have cases of their own.
def not_rdna3(file): return file.startswith('memory_')
def targets_of(asm, file=''): return [t for t in ALL if all(takes(a, t) for a in asm) and not (t in RDNA and file in NOT_RDNA)]

# ---------------------------------------------------------------- cases
out = {}
def words(xs):
    """Hexadecimal; a run of four or more equal numbers is number*count."""
    r, i, xs = [], 0, [x & M64 for x in xs]
    while i < len(xs):
        n = 1
        while i + n < len(xs) and xs[i + n] == xs[i]: n += 1
        r += ['%x*%x' % (xs[i], n)] if n > 3 else ['%x' % xs[i]] * n
        i += n
    return ' '.join(r)
def lanes(xs):
    """A list for a VGPR: shortened when it repeats."""
    for n in (1, 2, 4, 8, 16, 32):
        if len(xs) == 64 and xs == xs[:n] * (64 // n): return xs[:n]
    return xs
def case(file, name, asm, sets, expects, target=None, mode=0xf0, vary=False, base='', lines=()):
    """target: a name, a list of names, or None: every target that has the instructions"""
    asm = [asm] if isinstance(asm, str) else asm
    targets = targets_of(asm, file) if target is None else [target] if isinstance(target, str) else target
    assert targets, asm
    # gfx10's 16-bit results leave the other half of the register alone; where that is told by the old value of each register, the
    # destination is v10 alone.
    rdna = [x for x in targets if x in RDNA]
    if rdna and len(asm) == 1 and keeps_high_half(asm[0]):
        old = dict(sets).get('v10', [0xc0c0c0c0 + 10])
        kept = [(r, [old[i % len(old)] & 0xffff0000 | v[i % len(v)] & 0xffff for i in range(64)] if r == 'v10' else v) for r, v in expects]
        other = [x for x in targets if x not in RDNA]
        if other: case(file, name, asm, sets, expects, other, mode, vary, base, lines)
        return write_case(file, name, asm, sets, kept, rdna, mode, False, base, lines)
    write_case(file, name, asm, sets, expects, targets, mode, vary, base, lines)
def keeps_high_half(asm):
    mnemonic = asm.split()[0]
    row = ROWS.get(base_name(mnemonic))
    return row and row[0] in ('VOP1', 'VOP2', 'VOP3') and row[2] in ('f16', 'i16', 'u16', 'b16') and ' v10,' in asm and 'op_sel' not in asm and '_sdwa' not in mnemonic
def write_case(file, name, asm, sets, expects, targets, mode, vary, base, lines):
    targets = [x for x in targets if not (x in RDNA3 and not_rdna3(file))]
    if not targets: return
    t = ['case ' + name, 'target ' + ' '.join(targets)]
    t += ['asm ' + a for a in asm]
    if mode != 0xf0: t.append('mode %x' % mode)
    def line(word, r, v): return '%s %s %s' % (word, r, words(lanes(v) if r[0] in 'va' and r != 'vcc' else v))
    t += [line('set', r, v) for r, v in sets]
    if base: t.append('base ' + base)
    t += lines
    t += [line('expect', r, v) for r, v in expects]
    if vary: t.append('vary')
    out.setdefault(file, []).append('\n'.join(t))

def write(whole=False):
    """whole: all parts have run. Otherwise a file that would lose cases is left alone, as they may be of a part that has not."""
    directory = os.path.join(here, 'cases')
    for name, cases in out.items():
        path = os.path.join(directory, name + '.txt')
        if not whole and os.path.exists(path) and len(cases) < len(re.findall('^case ', open(path).read(), re.M)):
            print(name, 'left alone: it has more cases')
            continue
        with open(path, 'w') as f:
            f.write('# Written by generate_cases.py.\n\n' + '\n\n'.join(cases) + '\n')
        print(name, len(cases))
