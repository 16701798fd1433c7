#!/usr/bin/env python3
"""Which instructions' text cases lack an edge case that makes sense for them: audit_cases.py [--list]

For each mnemonic the cases together must show: for float operands zeros, denormals, infinities, quiet and signalling NaNs
and the largest numbers; for integers zero and the extremes; for vector instructions a partial EXEC and a destination that
is also a source. Ends with 1 when something is missing."""
import collections, glob, os, re, sys
import case_files
from case_files import ROWS, base_name

FLOATS = {'f16': (16, 10), 'f32': (32, 23), 'f64': (64, 52)}
def float_kinds(bits, mantissa, x):
    sign, x = x >> (bits - 1), x & ((1 << bits - 1) - 1)
    inf = ((1 << bits - 1 - mantissa) - 1) << mantissa
    if x == 0: return {'zero'}
    if x < 1 << mantissa: return {'denormal'}
    if x == inf: return {'infinity'}
    if x > inf: return {'quiet NaN' if x >> (mantissa - 1) & 1 else 'signalling NaN'}
    return {'largest'} if x == inf - 1 else set()
def integer_kinds(x):
    return {k for k, v in (('zero', {0}), ('extremes', {0xffffffff, 0x80000000, 0x7fffffff})) if x in v}

def numbers(words):
    r = []
    for w in words:
        x, _, times = w.partition('*')
        r += [int(x, 16)] * min(int(times, 16) if times else 1, 64)
    return r
def read_cases():
    for path in sorted(glob.glob(os.path.join(case_files.here, 'cases', '*.txt'))):
        for block in open(path).read().split('\n\n'):
            c = {'asm': [], 'set': {}, 'vary': False, 'exec': False}
            for line in block.split('\n'):
                word, _, rest = line.partition(' ')
                if word == 'asm': c['asm'].append(rest)
                elif word == 'set': name, *xs = rest.split(); c['set'][name] = numbers(xs)
                elif word == 'vary': c['vary'] = True
            if not c['asm']: continue
            e = c['set'].get('exec')
            c['exec'] = c['vary'] or bool(e and e[0] not in ((1 << 64) - 1,)) or any('exec' in a and a.startswith('s_mov') for a in c['asm'])
            yield c

def registers(text):
    """[(file, first, last)] of the operands."""
    r = []
    for m in re.finditer(r'(?<![\w.])([vsa])(?:(\d+)|\[(\d+):(\d+)\])(?!\w)', text):
        r.append((m[1], int(m[2] or m[3]), int(m[2] or m[4])))
    return r

MEMORY = ('DS', 'MUBUF', 'MTBUF', 'FLAT', 'GLOBAL', 'SCRATCH')
VECTOR = ('VOP1', 'VOP2', 'VOPC', 'VOP3', 'VOP3P')
def wanted(name, fmt):
    """Kinds of edge cases for a row; the type of its sources."""
    kinds, type_ = set(), None
    if fmt in VECTOR:
        if not re.search('readlane|readfirstlane|v_nop|pipeflush|mfma|wmma|clrexcp|accvgpr', name): kinds.add('partial EXEC')
        if not re.search('v_nop|pipeflush|v_clrexcp|v_cmps?x?_|^v_s_|cvt_pk_f32_[fb]|readlane|readfirstlane|writelane|mfma|wmma|smfmac|swap|accvgpr|permlane|_pk(8|16)_', name): kinds.add('overlap')   # pk8, pk16: forbidden (CDNA5 ISA)
        # Not looked at: formats that have generators of their own, tables, masks.
        if re.search('^v_s_|mfma|wmma|smfmac|interp|scalef32|fp8|bf8|bf16|fp4|fp6|bf6|v_nop|pipeflush|lane|accvgpr|swap|cmp_class|cmpx_class|dot|screen|clrexcp|prng|_sr_|ubyte', name): return kinds, None
        types = [t for t in re.findall(r'(?<=_)(?:pk_|)(f16|f32|f64|[iub]\d+|i4)', name)]
        source = types[-1] if types else None
        if name.startswith('v_cvt') and len(types) > 1: source = types[-1]
        if source in FLOATS: type_ = source
        elif source: type_ = 'int'
    elif fmt in ('SOP1', 'SOP2', 'SOPC', 'SOPK'):
        if re.search('sendmsg|shader_cycles|add_pc|cvt_hi|s_fmamk|saveexec|wrexec|pc_b64|call|rfe|fork|join|getreg|setreg|movrel|gpr_idx|setvskip|cmov|movk|movrel|waitcnt|version|barrier|sleep|subvector|bfm|bitset|bitcmp', name): return kinds, None
        type_ = 'int'
    elif fmt in MEMORY and not re.search('gws|nop|wb|inv|ordered', name):
        kinds.add('partial EXEC')
    if type_ == 'int': kinds |= {'zero', 'extremes'}
    elif type_:
        kinds |= {'zero', 'denormal', 'infinity', 'quiet NaN', 'signalling NaN', 'largest'}
        # Approximations: only exact results can be expected; cube maps: what NaN gives is not documented.
        if re.search('v_log|v_rsq_(clamp_|legacy_)?f(32|16)', name): kinds -= {'largest'}
        # gfx6's and gfx7's minimum and maximum of DX9: no document says.
        if re.search('v_(min|max)_legacy', name): kinds -= {'signalling NaN'}
        if re.search('v_sin', name): kinds -= {'denormal'}
        if re.search('v_cube(sc|tc|ma)', name): kinds -= {'quiet NaN', 'signalling NaN', 'largest'}
    return kinds, type_

def main():
    have = collections.defaultdict(set)
    for c in read_cases():
        for text in c['asm']:
            name = base_name(text.split()[0])
            if name not in ROWS: continue
            kinds, type_ = wanted(name, ROWS[name][0])
            if c['exec']: have[name].add('partial EXEC')
            regs = registers(text)
            if c['vary'] or any(a[0] == regs[0][0] and a[1] <= regs[0][2] and regs[0][1] <= a[2] for a in regs[1:]) if regs else False: have[name].add('overlap')
            if re.search('mac|fmac|fmamk|pk_fmac', name): have[name].add('overlap')   # reads its destination
            for f, first, last in regs:
                for i in range(first, last + 1):
                    low = c['set'].get('%s%d' % (f, i), [])
                    if f == 's' and not low:   # s lines list consecutive registers
                        low = next((xs[i - int(k[1:]):][:1] for k, xs in c['set'].items() if k[0] == 's' and k[1:].isdigit() and int(k[1:]) <= i < int(k[1:]) + len(xs)), [])
                    if type_ == 'f64':
                        high = c['set'].get('%s%d' % (f, i + 1), [])
                        for l in range(max(len(low), len(high)) if low and high else 0): have[name] |= float_kinds(64, 52, low[l % len(low)] | high[l % len(high)] << 32)
                    elif type_ == 'f16':
                        for x in low: have[name] |= float_kinds(16, 10, x & 0xffff) | (float_kinds(16, 10, x >> 16) if 'pk_' in name or 'mix' in name else set())
                    elif type_ == 'f32':
                        for x in low: have[name] |= float_kinds(32, 23, x)
                    elif type_:
                        for x in low: have[name] |= integer_kinds(x)
                        if re.search('16|8', name):
                            for x in low:
                                if x & 0xffff in (0, ): have[name].add('zero')
                                if x & 0xffff in (0xffff, 0x8000, 0x7fff): have[name].add('extremes')
    lacking = collections.defaultdict(list)
    for name, (fmt, codes, _) in ROWS.items():
        kinds, _ = wanted(name, fmt)
        if name not in have: continue   # no case at all: docs/reference/coverage.md says so
        missing = kinds - have[name]
        if missing: lacking[', '.join(sorted(missing))].append(name)
    for what, names in sorted(lacking.items()): print('%s: %s' % (what, ' '.join(names)))
    return 1 if lacking else 0

if __name__ == '__main__':
    sys.exit(main())
