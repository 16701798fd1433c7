#!/usr/bin/env python3
"""Lowers the litmus tests of a folder to kernels in OpenCL C, HIP and assembler, and writes the driver's table of tests.

usage: generate.py FOLDER OUTPUT TARGET CLANG LLD

For each language one code object with all variants of all tests. The lowering to assembler is written after the tables
of LLVM's "User Guide for AMDGPU Backend", section "Memory Model", not after what clang emits."""
import itertools, pathlib, re, subprocess, sys

ORDERS = ["relaxed", "acquire", "release", "acq_rel", "seq_cst"]
C_SCOPES = {"opencl": {"wave": "sub_group", "group": "work_group", "agent": "device", "system": "all_svm_devices"},
            "hip": {"wave": "WAVEFRONT", "group": "WORKGROUP", "agent": "AGENT", "system": "SYSTEM"}}
FENCE_SCOPES = {"wave": "wavefront", "group": "workgroup", "agent": "agent", "system": ""}


class Test:
    def __init__(self, text, values):
        for key, value in values.items():
            text = text.replace("$" + key, value)
        self.values, self.outcomes, self.host, self.only = values, [], False, None
        for line in text.splitlines():
            line = line.split("#")[0].strip()
            word, _, rest = line.partition(" ")
            if not line or word == "each":
                continue
            if word == "litmus":
                self.name = rest.strip()
            elif word in ("forbidden", "allowed"):
                self.outcomes.append((word, rest.strip()))
            elif word == "place:":
                self.host = rest.strip() == "host"
            elif word == "only:":
                self.only = rest.strip()
            elif word == "P0":
                self.threads = [[] for _ in line.split("|")]
            else:
                cells = [cell.strip() for cell in line.split("|")]
                if len(cells) != len(self.threads):
                    sys.exit(f"{self.name}: a row has {len(cells)} columns: {line}")
                for thread, cell in zip(self.threads, cells):
                    if cell:
                        thread.append(cell)
        self.access = values.get("access", "global")
        self.in_group = values.get("scope") == "group" or self.access == "lds"  # the threads are waves of one work-group
        operations = [op.split() for thread in self.threads for op in thread]
        self.variables = sorted({op[1 if op[0] == "W" else 2].strip("~") for op in operations if op[0] in "WRU"})
        self.registers = max([int(op[1][1:]) + 1 for op in operations if op[0] in "RU"], default=0)
        self.width = int(values.get("width", "32"))
        self.name = "_".join([self.name, *values.values()])

    def device_threads(self):
        return self.threads[:-1] if self.host else self.threads


def words_of(op):
    """x~ is the x of the lane at the other end of the wave."""
    return op.replace("~", "_mirrored").split()


def c_operation(language, op, test):
    word = words_of(op)
    order, scope = word[-2], word[-1]
    prefix, atomic = {"opencl": ("memory_order_", "__opencl_atomic_"), "hip": ("__ATOMIC_", "__hip_atomic_")}[language]
    if language == "hip":
        arguments = f"{prefix}{order.upper()}, __HIP_MEMORY_SCOPE_{C_SCOPES[language][scope]}"
    else:
        arguments = f"{prefix}{order}, memory_scope_{C_SCOPES[language][scope]}"
    if word[0] == "W":
        return f"{atomic}store({word[1]}, (T){word[2]}, {arguments});"
    if word[0] == "R":
        return f"{word[1]} = {atomic}load({word[2]}, {arguments});"
    if word[0] == "U":
        return f"{word[1]} = {atomic}exchange({word[2]}, (T){word[3]}, {arguments});"
    if word[0] == "F":
        return f'__builtin_amdgcn_fence(__ATOMIC_{order.upper()}, "{FENCE_SCOPES[scope]}");'
    sys.exit(f"{test.name}: unknown operation {op}")


def is_gfx10(target):
    return target.startswith("gfx10")


def all_done(target):
    """The wait for all earlier accesses; stores have a counter of their own on gfx10."""
    return ["s_waitcnt vmcnt(0) lgkmcnt(0)"] + (["s_waitcnt_vscnt null, 0x0"] if is_gfx10(target) else [])


def release(target, scope):
    """What stands before a release: written back caches, then the wait for all earlier accesses."""
    if is_gfx10(target):  # the two compute units that a work-group's waves are on have caches each
        return [] if scope == "wave" else all_done(target)
    if scope in ("wave", "group"):  # vector accesses of a work-group are in order: its waves share a compute unit
        return [] if scope == "wave" else ["s_waitcnt lgkmcnt(0)"]
    back = []
    if target == "gfx942" and scope in ("agent", "system"):
        back = ["buffer_wbl2 " + ("sc1" if scope == "agent" else "sc0 sc1")]
    if target == "gfx90a" and scope == "system":
        back = ["buffer_wbl2"]
    return back + ["s_waitcnt vmcnt(0) lgkmcnt(0)"]


def acquire(target, scope):
    """What stands after an acquire: the wait for the access, then emptied caches."""
    if is_gfx10(target):
        level1 = ["buffer_gl1_inv"] if scope in ("agent", "system") else []
        return [] if scope == "wave" else all_done(target) + level1 + ["buffer_gl0_inv"]
    if scope in ("wave", "group"):
        return [] if scope == "wave" else ["s_waitcnt lgkmcnt(0)"]
    if target == "gfx942":
        return ["s_waitcnt vmcnt(0) lgkmcnt(0)", "buffer_inv " + ("sc1" if scope == "agent" else "sc0 sc1")]
    level2 = ["buffer_invl2"] if target == "gfx90a" and scope == "system" else []
    return ["s_waitcnt vmcnt(0) lgkmcnt(0)", *level2, "buffer_wbinvl1_vol"]


def lower_2016(kind, order, scope, lds):
    """What stands before and after an operation, and its bits, by the tables that AMD published for gfx7 and gfx8 in 2016."""
    wait, empty = ["s_waitcnt vmcnt(0) lgkmcnt(0)"], ["buffer_wbinvl1_vol"]
    acquires, releases = order in ("acquire", "acq_rel", "seq_cst"), order in ("release", "acq_rel", "seq_cst")
    if kind == "R":
        releases = False
    if kind == "W":
        acquires = False
    bits = "glc" if kind == "U" or (kind == "R" and scope in ("agent", "system")) else ""
    if scope == "wave" or order == "relaxed":
        return [], bits, []
    if kind != "F" and lds:
        return wait, bits, empty if acquires else []
    if scope == "group":
        return [], bits, []
    if kind == "F":
        return wait, bits, empty if acquires else []
    return wait if releases else [], bits, wait + empty if acquires else wait if kind == "W" else []


# access -> (store, load, exchange), with $size and $wide of the width, {} for address and value, $bits of the scope.
INSTRUCTIONS = {
    "global": ("global_store_$size %[{0}], %[{1}], off $bits", "global_load_$size %[{0}], %[{1}], off $bits",
               "global_atomic_swap$wide %[{0}], %[{1}], %[{2}], off $bits"),
    "flat": ("flat_store_$size %[{0}], %[{1}] $bits", "flat_load_$size %[{0}], %[{1}] $bits",
             "flat_atomic_swap$wide %[{0}], %[{1}], %[{2}] $bits"),
    "lds": ("ds_write_$b %[{0}], %[{1}]", "ds_read_$b %[{0}], %[{1}]", "ds_wrxchg_rtn_$b %[{0}], %[{1}], %[{2}]"),
    "scalar": ("global_store_$size %[{0}], %[{1}], off $bits", "s_load_$size %[{0}], %[{1}], 0x0", ""),
}


def asm_operation(target, op, test):
    word = words_of(op)
    order, scope = word[-2], word[-1]
    wide = test.width == 64
    before = release(target, scope) if order in ("release", "acq_rel", "seq_cst") else []
    after = acquire(target, scope) if order in ("acquire", "acq_rel", "seq_cst") else []
    if target == "gfx803":
        before, bits_2016, after = lower_2016(word[0], order, scope, test.access == "lds")
    gfx942 = target == "gfx942"
    bits = {"wave": "", "group": "sc0", "agent": "sc1", "system": "sc0 sc1"}[scope] if gfx942 else ""
    if word[0] == "F":
        return before + after
    store, load, exchange = INSTRUCTIONS[test.access]
    if word[0] == "W":
        text, after = store, after if target == "gfx803" else []
    elif word[0] == "R":
        # A scalar cache is emptied by an instruction of its own.
        if test.access == "scalar" and after:
            after = ["s_waitcnt lgkmcnt(0)", "s_dcache_inv"]
        if order != "seq_cst" and target != "gfx803":
            before = []
        if is_gfx10(target):
            bits = {"wave": "", "group": "glc"}.get(scope, "glc dlc")
        elif not gfx942:
            bits = "glc" if scope in ("agent", "system") else ""
        text = load
    else:
        bits = ("sc0" + (" sc1" if scope == "system" else "")) if gfx942 else "glc"
        text = exchange
    if target == "gfx803":  # global memory is accessed by flat instructions; M0 bounds the LDS
        bits = bits_2016
        text = text.replace("global_", "flat_").replace(", off", "")
        before = (["s_mov_b32 m0, -1"] if test.access == "lds" else []) + before
    for key, value in {"size": "dwordx2" if wide else "dword", "wide": "_x2" if wide else "", "bits": bits,
                       "b": "b64" if wide else "b32"}.items():
        text = text.replace("$" + key, value)
    places = [word[1], "c" + word[2]] if word[0] == "W" else [word[1], word[2], "c" + word[3]] if word[0] == "U" else word[1:3]
    return before + [text.format(*places)] + after


def asm_thread(target, thread, test):
    lines = [line for op in thread for line in asm_operation(target, op, test)] + all_done(target)
    words = [words_of(op) for op in thread]
    outputs = sorted({w[1] for w in words if w[0] in "RU"})
    scalar = {w[2] for w in words if w[0] == "R" and test.access == "scalar"}
    used = sorted({w[1 if w[0] == "W" else 2] for w in words if w[0] in "WRU"})
    values = sorted({w[2] if w[0] == "W" else w[3] for w in words if w[0] in "WU"})
    inputs = [f'[{v}] "s"(of_first_lane((T*){v}))' if v in scalar else f'[{v}] "v"({v})' for v in used] + [f'[c{c}] "v"((T){c})' for c in values]
    text = "\\n".join(lines)
    register = "s" if scalar else "v"
    results = ", ".join(f'[{r}] "=&{register}"({r})' for r in outputs)
    return f'__asm__ volatile("{text}" : {results} : {", ".join(inputs)} : "memory");'


def barrier():
    """The barrier comes after all stores before it, and before all loads after it."""
    return ["      __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");", "      __builtin_amdgcn_s_barrier();",
            "      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");"]


def kernel(language, target, test):
    hip = language == "hip"
    lds = test.access == "lds"
    space, cast = ("", "") if hip else ("global ", "local " if lds else "" if test.access == "flat" else "global ")
    pointee = "T" if hip or language == "asm" else "volatile atomic_T"
    T = {32: "unsigned", 64: "unsigned long"}[test.width]
    every = 1 if len(test.threads) <= 2 else 16
    lines = ["#undef T", f"#define T {T}", "#undef atomic_T", "#define atomic_T " + {32: "atomic_uint", 64: "atomic_ulong"}[test.width]]
    head = 'extern "C" __attribute__((global))' if hip else "kernel"
    lines.append(f"{head} void {test.name}({space}char* memory, {space}T* out, {space}SYNC* sync, unsigned rounds, unsigned lanes) {{")
    if lds:
        lines.append(f"  {'__attribute__((shared)) static' if hip else 'local'} T lds[{len(test.variables) * 64}];")
    lines.append("  unsigned item = __builtin_amdgcn_workitem_id_x(), lane = item % 64;")
    # The same in all lanes, and known to be: each wave takes one way only.
    lines.append(f"  unsigned thread = __builtin_amdgcn_readfirstlane({'item / 64' if test.in_group else '__builtin_amdgcn_workgroup_id_x()'});")
    lines.append("  for (unsigned round = 0; round < rounds; ++round) {")
    lines.append("    unsigned long place = (unsigned long)round * 64 + lane;")
    for index, variable in enumerate(test.variables):
        for name, number in ((variable, "lane"), (variable + "_mirrored", "(lanes - 1 - lane)")):
            address = f"(memory + (((unsigned long)round * {len(test.variables)} + {index}) * 64 + {number}) * 8)"
            if lds:
                address = f"(lds + {index} * 64 + {number})"
            lines.append(f"    {cast}{pointee}* {name} = ({cast}{pointee}*){address};")
            if test.access == "flat":  # the compiler must not see what it points to
                lines.append(f'    __asm__ volatile("" : "+v"({name}));')
        # Its line is in all threads' caches when they meet: a store has to wait for it.
        lines.append(f"    *(volatile {cast}T*){variable} = 0;" if lds else f"    (void)*(volatile {cast}T*){variable};")
    if lds:
        lines += barrier()
    lines.append(f"    if (round % {every} == 0 && lane == 0) meet(sync, (round / {every} + 1) * {len(test.threads)});")
    lines.append('    __asm__ volatile("" ::: "memory");')
    lines.append("    if (lane < lanes) {")
    for number, thread in enumerate(test.device_threads()):
        used = sorted({op.split()[1] for op in thread if op[0] in "RU"})
        lines.append(f"    {'else ' if number else ''}if (thread == {number}) {{")
        lines += [f"      T {r} = 0;" for r in used]
        if language == "asm":
            lines.append("      " + asm_thread(target, thread, test))
        else:
            lines += ["      " + c_operation(language, op, test) for op in thread]
        lines += [f"      out[place * {len(test.threads) * test.registers} + {number * test.registers + int(r[1:])}] = {r};" for r in used]
        lines.append("    }")
    lines.append("    }")
    if lds:
        lines += barrier()
        lines.append("    if (thread == 0) {")
        lines += [f"      *({space}T*)(memory + (((unsigned long)round * {len(test.variables)} + {index}) * 64 + lane) * 8) = lds[{index} * 64 + lane];"
                  for index in range(len(test.variables))]
        lines += ["    }"] + barrier()
    return "\n".join(lines + ["  }", "}", ""])


MEET = {
    "opencl": """#define SYNC atomic_uint
void meet(global atomic_uint* sync, unsigned all) {
  __opencl_atomic_fetch_add(sync, 1u, memory_order_relaxed, memory_scope_all_svm_devices);
  while (__opencl_atomic_load(sync, memory_order_relaxed, memory_scope_all_svm_devices) < all) {
  }
}
""",
    "hip": """#define SYNC unsigned
__attribute__((device)) static void meet(unsigned* sync, unsigned all) {
  __hip_atomic_fetch_add(sync, 1u, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  while (__hip_atomic_load(sync, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM) < all) {
  }
}
"""}
MEET["asm"] = MEET["opencl"] + """#define of_first_lane(pointer) ({ \\
  unsigned long address = (unsigned long)(pointer); \\
  (unsigned long)(unsigned)__builtin_amdgcn_readfirstlane((unsigned)address) | (unsigned long)__builtin_amdgcn_readfirstlane((unsigned)(address >> 32)) << 32; })
"""
FLAGS = {"opencl": ["-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "--target=amdgcn-amd-amdhsa"],
         "hip": ["-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-c"]}
FLAGS["asm"] = FLAGS["opencl"]


def variants(path):
    text = path.read_text()
    each = [(key, values.split()) for key, values in re.findall(r"^each (\w+): (.*)$", text, re.M)]
    for values in itertools.product(*[values for _, values in each]):
        values = dict(zip([key for key, _ in each], values))
        if values.get("access") != "lds" or values["scope"] == "group":
            yield Test(text, values)


def main():
    folder, output, target, clang, lld = sys.argv[1:]
    output = pathlib.Path(output)
    output.mkdir(parents=True, exist_ok=True)
    tests = [test for path in sorted(pathlib.Path(folder).glob("*.litmus")) for test in variants(path)]
    table = []
    for test in tests:
        table.append(f"test {test.name} {len(test.threads)} {test.registers} {test.width} {int(test.host)} {int(test.in_group)} {' '.join(test.variables)}")
        table += [f"only {test.only}"] if test.only else []
        table += [f"host {op}" for op in (test.threads[-1] if test.host else [])]
        table += [f"{kind} {condition}" for kind, condition in test.outcomes]
    (output / "tests.txt").write_text("\n".join(table) + "\n")
    for language in MEET:
        source = output / f"{language}.{'hip' if language == 'hip' else 'cl'}"
        source.write_text(MEET[language] + "".join(kernel(language, target, test) for test in tests
                                                   if test.only in (None, language)))
        architecture = [f"--offload-arch={target}" if language == "hip" else f"-mcpu={target}"]
        architecture += ["-mwavefrontsize64"] if is_gfx10(target) else []
        subprocess.run([clang, *FLAGS[language], *architecture, "-w", "-O3", "-nogpulib", "-mcode-object-version=5",
                        "-c", source, "-o", output / f"{language}.o"], check=True)
        if language == "hip":
            (output / "hip.hsaco").write_bytes((output / "hip.o").read_bytes())
        else:
            subprocess.run([lld, "--no-undefined", "-shared", output / f"{language}.o", "-o", output / f"{language}.hsaco"], check=True)


main()
