# DS instructions on the global data share: M0[31:16] is the base and M0[15:0] the size of the wave's window, in bytes (Vega ISA
# manual, M0; DS_APPEND and DS_CONSUME count at M0.base + offset). Ordered append: the RDNA3 manual's DS_ORDERED_COUNT.
from generate_lds import *

rng.seed('gds')
G_ = 'memory_gds'
GPUS = ['gfx900', 'gfx906', 'gfx908']
BASE, WINDOW = 0x40, 0x60
M0 = BASE << 16 | WINDOW
def share(): return Memory(0x100)
def put(memory, at, n, v):
    for b in range(0, n, min(n, 4)):   # what is wider than a dword is checked dword by dword
        if at + b + min(n, 4) <= WINDOW: memory.put(BASE + at + b, min(n, 4), v >> 8 * b)
def get(memory, at, n): return sum((memory.get(BASE + at + b, min(n, 4)) if at + b + min(n, 4) <= WINDOW else 0) << 8 * b for b in range(0, n, min(n, 4)))
def lines(memory, exec_=FEW): return [('m0', [M0]), ('gds', memory.dwords()), ('lds', [0x1d5] * 64), ('exec', [exec_])]
def after(memory): return [('gds', memory.dwords()), ('lds', [0x1d5] * 64)]
def places(n, step): return [rng.randrange(0, WINDOW // step) * step for _ in range(64)]

for suffix, (n, d, value) in DS_LOADS.items():
    memory, at = share(), places(n, min(n, 4))
    at[ACTIVE[0]], at[ACTIVE[1]], at[ACTIVE[2]] = WINDOW, 0x7ffffff0, WINDOW - 4
    asm = 'ds_read_%s %s, v0 gds' % (suffix, vreg(10, d))
    for targets, kept in by_sramecc(asm) if 'd16' in suffix else ((GPUS, M64),):
        results = {l: value(get(memory, at[l], n), 0x11112222 & kept) for l in ACTIVE}
        targets = [t for t in targets if t in GPUS]
        case(G_, 'ds_read_%s gds' % suffix, asm, lines(memory) + [('v0', at)] + old_register(d), with_old(results, d, FEW) + after(memory), targets)
for suffix, (n, d, value) in DS_STORES.items():
    memory, data = share(), [[rng.getrandbits(32) for _ in range(64)] for _ in range(d)]
    before, at = lines(memory), [i * n % WINDOW for i in range(64)]
    at[ACTIVE[0]], at[ACTIVE[2]] = WINDOW, WINDOW - 4
    for l in ACTIVE: put(memory, at[l], n, value(sum(data[i][l] << (32 * i) for i in range(d))))
    case(G_, 'ds_write_%s gds' % suffix, 'ds_write_%s v0, %s gds' % (suffix, vreg(4, d)), before + [('v0', at)] + lane_rows(4, data), after(memory), GPUS)
for bits in (32, 64):
    n, d = bits // 8, bits // 32
    values = int_values(bits)
    for k, (op, operands) in ds_ops(bits).items():
        stem, kind = k.rsplit('_', 1)
        for name in ('ds_%s%d' % (k, bits), 'ds_%s_rtn_%s%d' % (stem, kind, bits)):
            if not case_files.exists(name, 'gfx900'): continue
            memory, at = share(), places(n, n)
            before, data, other = lines(memory), [values() for _ in range(64)], [values() for _ in range(64)]
            at[ACTIVE[1]] = WINDOW
            results = {}
            for l in ACTIVE:
                results[l] = get(memory, at[l], n)
                put(memory, at[l], n, op(results[l], data[l], other[l]))
            rows = [[split_dwords(x[l], d)[i] for l in range(64)] for x in ([data, other][:operands]) for i in range(d)]
            text = '%s %sv0, %s gds' % (name, vreg(10, d) + ', ' if 'rtn' in name else '', ', '.join(vreg(4 + d * i, d) for i in range(operands)))
            case(G_, name + ' gds', text, before + [('v0', at)] + lane_rows(4, rows) + (old_register(d) if 'rtn' in name else []), after(memory) + (with_old(results, d, FEW) if 'rtn' in name else []), GPUS)
    for tail, scale in (('', 1), ('st64', 64)):
        memory, at = share(), places(n, n)
        o0, o1 = (1, 3) if scale == 1 else (0, 1)
        results = {l: get(memory, at[l] + o0 * n * scale, n) | get(memory, at[l] + o1 * n * scale, n) << bits for l in ACTIVE}
        name = 'ds_read2%s_b%d' % (tail, bits)
        case(G_, name + ' gds', '%s %s, v0 offset0:%d offset1:%d gds' % (name, vreg(10, 2 * d), o0, o1), lines(memory) + [('v0', at)] + old_register(2 * d), with_old(results, 2 * d, FEW) + after(memory), GPUS)
        before = lines(memory)
        data = [[rng.getrandbits(32) for _ in range(64)] for _ in range(2 * d)]
        word = lambda k, l: sum(data[k * d + i][l] << (32 * i) for i in range(d))
        for l in ACTIVE: put(memory, at[l] + o0 * n * scale, n, word(0, l)); put(memory, at[l] + o1 * n * scale, n, word(1, l))
        name = 'ds_write2%s_b%d' % (tail, bits)
        case(G_, name + ' gds', '%s v0, %s, %s offset0:%d offset1:%d gds' % (name, vreg(4, d), vreg(4 + d, d), o0, o1), before + [('v0', at)] + lane_rows(4, data), after(memory), GPUS)

count = len(ACTIVE)
for name, sign in (('ds_append', 1), ('ds_consume', -1)):
    memory = share(); before = lines(memory); old = get(memory, 8, 4)
    put(memory, 8, 4, old + sign * count)
    case(G_, name + ' gds', name + ' v10 offset:8 gds', before + old_register(1), with_old({l: old for l in ACTIVE}, 1, FEW) + after(memory), GPUS)
    case(G_, name + ' gds beyond the window', '%s v10 offset:%d gds' % (name, WINDOW), lines(memory) + old_register(1), with_old({l: 0 for l in ACTIVE}, 1, FEW) + after(memory), GPUS)
# The window is cut at the end of the memory: 64 KiB, on gfx908 4 KiB.
for target, size in (('gfx900', 0x10000), ('gfx908', 0x1000)):
    case(G_, 'ds_write_b32 gds at the end', ['ds_write_b32 v0, v1 gds', 'ds_read_b32 v10, v0 gds'], [('m0', [size - 8 << 16 | 0xffff]), ('v0', [0, 4, 8, 12]), ('v1', [1, 2, 3, 4])], [('v10', [1, 2, 0, 0])], target)
case(G_, 'ds_add_u32 gds misaligned', ['s_mov_b32 s20, 1', 'ds_add_u32 v0, v1 gds'], [('m0', [0x100]), ('v0', [2]), ('v1', [1])], [('s20', [1]), ('gds', [0])], GPUS, lines=['exit fault'])
for name in ('ds_swizzle_b32 v10, v0 gds', 'ds_read_addtid_b32 v10 gds'):
    case(G_, name.split()[0] + ' gds', ['s_mov_b32 s20, 1', name], [('v10', [5])], [('s20', [1]), ('v10', [5])], GPUS, lines=['exit unimplemented'])

# ds_ordered_count: the increment comes from the first active lane; offset0[7:2] counter, offset1[0] release, offset1[5:4] operation.
def ordered(index, release, swap=False): return index << 2 | (release | swap << 4) << 8
first = 1 << 5 | 1 << 40
def ordered_case(name, asm, m0, sets, expects, lines=()): case(G_, 'ds_ordered_count ' + name, asm, [('m0', [m0]), ('gds', [10, 11, 12, 13, 14, 15, 16, 17]), ('v0', [0x30 + l for l in range(64)]), ('v10', [7]), ('v11', [7])] + sets, expects, GPUS, lines=lines)
two = lambda v: [v if first >> l & 1 else 7 for l in range(64)]
ordered_case('adds, then swaps as the next wave', ['ds_ordered_count v10, v0 offset:%d gds' % ordered(2, True), 's_add_u32 m0, m0, 1', 'ds_ordered_count v11, v0 offset:%d gds' % ordered(2, True, True), 's_mov_b32 s20, 1'], 8 << 16 | 0, [('exec', [first])],
             [('v10', two(14)), ('v11', two(14 + 0x35)), ('gds', [10, 11, 12, 13, 0x35, 15, 16, 17]), ('s20', [1])])
ordered_case('keeps its turn without a release', ['ds_ordered_count v10, v0 offset:%d gds' % ordered(0, False), 'ds_ordered_count v11, v0 offset:%d gds' % ordered(0, True)], 3 << 16, [('exec', [first])], [('v10', two(10)), ('v11', two(10 + 0x35)), ('gds', [10 + 2 * 0x35, 11])])
ordered_case('without lanes', ['ds_ordered_count v10, v0 offset:%d gds' % ordered(1, True), 's_add_u32 m0, m0, 1', 's_mov_b64 exec, %d' % -1, 'ds_ordered_count v11, v0 offset:%d gds' % ordered(1, True)], 0, [('exec', [0])], [('v10', [7]), ('v11', [11]), ('gds', [10, 11 + 0x30])])
ordered_case('waits for its turn', ['s_mov_b32 s20, 1', 'ds_ordered_count v10, v0 offset:%d gds' % ordered(1, True), 's_mov_b32 s20, 2'], 1, [], [('v10', [7]), ('s20', [1]), ('gds', [10, 11])], ['exit yield'])
ordered_case('wrap is refused', ['ds_ordered_count v10, v0 offset:%d gds' % (3 << 12)], 0, [], [('v10', [7]), ('gds', [10, 11])], ['exit unimplemented'])
