#!/usr/bin/env python3
"""Lowers the litmus tests of a folder to kernels in OpenCL C, HIP and assembler, and writes the driver's table of tests.

usage: generate.py FOLDER OUTPUT TARGET LANES-OF-A-WAVE LANGUAGES CLANG LLD

For each language one code object with all variants of all tests. The lowering to assembler is written after the tables
of LLVM's "User Guide for AMDGPU Backend", section "Memory Model" (sequences/), not after what clang emits."""
import itertools, pathlib, re, subprocess, sys

from sequences import sequences_of

C_SCOPES = {"opencl": {"wave": "sub_group", "group": "work_group", "agent": "device", "system": "all_svm_devices"},
            "hip": {"wave": "WAVEFRONT", "group": "WORKGROUP", "agent": "AGENT", "system": "SYSTEM"}}
FENCE_SCOPES = {"wave": "wavefront", "group": "workgroup", "agent": "agent", "system": ""}


def variable_at(operation):
    """Which word of an operation names the variable."""
    return 1 if operation in "WA" else 2


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
        # The threads are waves of one work-group.
        self.in_group = values.get("scope") == "group" or self.access in ("lds", "mixed")
        operations = [op.split() for thread in self.threads for op in thread]
        self.variables = sorted({op[variable_at(op[0])].strip("~") for op in operations if op[0] != "F"})
        self.registers = max([int(op[1][1:]) + 1 for op in operations if op[0] in "RU"], default=0)
        self.width = int(values.get("width", "32"))
        self.name = "_".join([self.name, *values.values()])

    def in_lds(self, variable):
        return self.access == "lds" or (self.access == "mixed" and variable != self.variables[0])

    def device_threads(self):
        return self.threads[:-1] if self.host else self.threads


def words_of(op):
    """x~ is the x of the lane at the other end of the wave."""
    return op.replace("~", "_mirrored").split()


def c_operation(language, op, test):
    word = words_of(op)
    order, (scope, _, one) = word[-2], word[-1].partition("-")
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
    if word[0] == "A":
        return f"{atomic}fetch_add({word[1]}, (T){word[2]}, {arguments});"
    if word[0] == "F":
        fence = "-".join(filter(None, [FENCE_SCOPES[scope], one]))
        return f'__builtin_amdgcn_fence(__ATOMIC_{order.upper()}, "{fence}");'
    sys.exit(f"{test.name}: unknown operation {op}")


# access -> operation -> instruction, with $size and $wide of the width, {} for address and value, $bits of the order and
# scope, $returned of an atomic with a result.
INSTRUCTIONS = {
    "global": {"W": "global_store_$size %[{0}], %[{1}], off $bits", "R": "global_load_$size %[{0}], %[{1}], off $bits",
               "U": "global_atomic_swap$wide %[{0}], %[{1}], %[{2}], off $returned $bits", "A": "global_atomic_add$wide %[{0}], %[{1}], off $bits"},
    "flat": {"W": "flat_store_$size %[{0}], %[{1}] $bits", "R": "flat_load_$size %[{0}], %[{1}] $bits",
             "U": "flat_atomic_swap$wide %[{0}], %[{1}], %[{2}] $returned $bits", "A": "flat_atomic_add$wide %[{0}], %[{1}] $bits"},
    "lds": {"W": "ds_write_b$width %[{0}], %[{1}]", "R": "ds_read_b$width %[{0}], %[{1}]", "U": "ds_wrxchg_rtn_b$width %[{0}], %[{1}], %[{2}]",
            "A": "ds_add_u$width %[{0}], %[{1}]"},
    "scalar": {"R": "s_load_$size %[{0}], %[{1}], 0x0"},
}


def asm_operation(build, op, test):
    word = words_of(op)
    kind, order, scope = word[0], word[-2], word[-1].partition("-")[0]  # for one address space: the same instructions
    access = test.access
    if access == "scalar" and kind != "R":  # stores are the vector memory's
        access = "global"
    steps = build.sequences.steps("U" if kind == "A" else kind, order, scope, access, kind != "A")
    if kind == "F":
        return steps
    wide = test.width == 64
    text = INSTRUCTIONS["flat" if access == "global" and build.target < "gfx9" and len(build.target) == 6 else access][kind]
    for key, value in {"size": "dwordx2" if wide else "dword", "wide": "_x2" if wide else "", "width": str(test.width),
                       "returned": "sc0" if build.target == "gfx942" else "glc"}.items():
        text = text.replace("$" + key, value)
    places = [word[1], "c" + word[2]] if kind in "WA" else [word[1], word[2], "c" + word[3]] if kind == "U" else word[1:3]
    return [text.replace("$bits", step[2:].strip()).format(*places) if step.split()[0] == "op" else step for step in steps]


def asm_thread(build, thread, test):
    # Before gfx9 M0 bounds what LDS instructions reach.
    lines = ["s_mov_b32 m0, -1"] if test.access == "lds" else []
    lines += [line for op in thread for line in asm_operation(build, op, test)] + ["s_waitcnt vmcnt(0) lgkmcnt(0)"]
    words = [words_of(op) for op in thread]
    outputs = sorted({w[1] for w in words if w[0] in "RU"})
    scalar = {w[2] for w in words if w[0] == "R" and test.access == "scalar"}
    used = sorted({w[variable_at(w[0])] for w in words if w[0] != "F"})
    values = sorted({w[variable_at(w[0]) + 1] for w in words if w[0] in "WUA"})
    inputs = [f'[{v}] "s"(of_first_lane((T*){v}))' if v in scalar else f'[{v}] "v"({v})' for v in used] + [f'[c{c}] "v"((T){c})' for c in values]
    text = "\\n".join(lines)
    register = "s" if scalar else "v"
    results = ", ".join(f'[{r}] "=&{register}"({r})' for r in outputs)
    return f'__asm__ volatile("{text}" : {results} : {", ".join(inputs)} : "memory", "m0");'


def barrier():
    """The barrier comes after all stores before it, and before all loads after it."""
    return ["      __builtin_amdgcn_fence(__ATOMIC_RELEASE, \"workgroup\");", "      __builtin_amdgcn_s_barrier();",
            "      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, \"workgroup\");"]


def kernel(language, build, test):
    hip = language == "hip"
    lds = any(test.in_lds(variable) for variable in test.variables)
    space = "" if hip else "global "
    pointee = "T" if hip or language == "asm" else "volatile atomic_T"
    T = {32: "unsigned", 64: "unsigned long"}[test.width]
    every = 1 if len(test.threads) <= 2 else 16
    lines = ["#undef T", f"#define T {T}", "#undef atomic_T", "#define atomic_T " + {32: "atomic_uint", 64: "atomic_ulong"}[test.width]]
    head = 'extern "C" __attribute__((global))' if hip else "kernel"
    lines.append(f"{head} void {test.name}({space}char* memory, {space}T* out, {space}SYNC* sync, unsigned rounds, unsigned lanes) {{")
    if lds:
        lines.append(f"  {'__attribute__((shared)) static' if hip else 'local'} T lds[{len(test.variables) * build.wave}];")
    lines.append(f"  unsigned item = __builtin_amdgcn_workitem_id_x(), lane = item % {build.wave};")
    # The same in all lanes, and known to be: each wave takes one way only.
    lines.append(f"  unsigned thread = __builtin_amdgcn_readfirstlane({f'item / {build.wave}' if test.in_group else '__builtin_amdgcn_workgroup_id_x()'});")
    lines.append("  for (unsigned round = 0; round < rounds; ++round) {")
    lines.append(f"    unsigned long place = (unsigned long)round * {build.wave} + lane;")
    for index, variable in enumerate(test.variables):
        for name, number in ((variable, "lane"), (variable + "_mirrored", "(lanes - 1 - lane)")):
            address = f"(memory + (((unsigned long)round * {len(test.variables)} + {index}) * {build.wave} + {number}) * 8)"
            cast = "" if hip or test.access == "flat" else "local " if test.in_lds(variable) else "global "
            if test.in_lds(variable):
                address = f"(lds + {index} * {build.wave} + {number})"
            lines.append(f"    {cast}{pointee}* {name} = ({cast}{pointee}*){address};")
            if test.access == "flat":  # the compiler must not see what it points to
                lines.append(f'    __asm__ volatile("" : "+v"({name}));')
        # Its line is in all threads' caches when they meet: a store has to wait for it.
        lines.append(f"    *(volatile {cast}T*){variable} = 0;" if test.in_lds(variable) else f"    (void)*(volatile {cast}T*){variable};")
    if lds:
        lines += barrier()
    lines.append(f"    if (round % {every} == 0 && lane == 0) meet(sync, (round / {every} + 1) * {len(test.threads)});")
    lines.append('    __asm__ volatile("" ::: "memory", "m0");')
    lines.append("    if (lane < lanes) {")
    for number, thread in enumerate(test.device_threads()):
        used = sorted({op.split()[1] for op in thread if op[0] in "RU"})
        lines.append(f"    {'else ' if number else ''}if (thread == {number}) {{")
        lines += [f"      T {r} = 0;" for r in used]
        if language == "asm":
            lines.append("      " + asm_thread(build, thread, test))
        else:
            lines += ["      " + c_operation(language, op, test) for op in thread]
        lines += [f"      out[place * {len(test.threads) * test.registers} + {number * test.registers + int(r[1:])}] = {r};" for r in used]
        lines.append("    }")
    lines.append("    }")
    if lds:
        lines += barrier()
        lines.append("    if (thread == 0) {")
        lines += [f"      *({space}T*)(memory + (((unsigned long)round * {len(test.variables)} + {index}) * {build.wave} + lane) * 8) = lds[{index} * {build.wave} + lane];"
                  for index, variable in enumerate(test.variables) if test.in_lds(variable)]
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
        # LDS has no scope beyond the work-group's: a test that asks for one has no other access.
        if values.get("access") != "lds" or values["scope"] in ("wave", "group") or dict(each)["access"] == ["lds"]:
            yield Test(text, values)


class Build:
    def __init__(self, folder, target, wave, languages):
        self.target, self.wave, self.languages = target, int(wave), languages.split(",")
        self.sequences = sequences_of(pathlib.Path(folder) / "sequences", target) if "asm" in self.languages else None
        sized = target >= "gfx1" and self.wave == 64
        self.flags = ["-mwavefrontsize64"] if sized else []


def main():
    folder, output, target, wave, languages, clang, lld = sys.argv[1:]
    output, build = pathlib.Path(output), Build(folder, target, wave, languages)
    output.mkdir(parents=True, exist_ok=True)
    tests = [test for path in sorted(pathlib.Path(folder).glob("*.litmus")) for test in variants(path)]
    table = [f"wave {build.wave}"]
    for test in tests:
        table.append(f"test {test.name} {len(test.threads)} {test.registers} {test.width} {int(test.host)} {int(test.in_group)} {' '.join(test.variables)}")
        table += [f"only {test.only}"] if test.only else []
        table += [f"host {op}" for op in (test.threads[-1] if test.host else [])]
        table += [f"{kind} {condition}" for kind, condition in test.outcomes]
    for language in build.languages:
        source = output / f"{language}.{'hip' if language == 'hip' else 'cl'}"
        source.write_text(MEET[language] + "".join(kernel(language, build, test) for test in tests
                                                   if test.only in (None, language)))
        architecture = f"--offload-arch={target}" if language == "hip" else f"-mcpu={target}"
        subprocess.run([clang, *FLAGS[language], architecture, *build.flags, "-w", "-O3", "-nogpulib", "-mcode-object-version=5",
                        "-c", source, "-o", output / f"{language}.o"], check=True)
        if language == "hip":
            (output / "hip.hsaco").write_bytes((output / "hip.o").read_bytes())
        else:
            subprocess.run([lld, "--no-undefined", "-shared", output / f"{language}.o", "-o", output / f"{language}.hsaco"], check=True)
    unused = build.sequences.unused() if build.sequences else []
    if unused:
        sys.exit("no test has the sequence of " + ", ".join(unused))
    (output / "tests.txt").write_text("\n".join(table) + "\n")


main()
