#!/usr/bin/env python3
"""The host code of a few guest blocks must be what the reviewed files say: tests/golden/KERNEL.ISA.txt.

    check_golden.py TOOL OBJECT             compare; exit status 1 and a diff when something differs
    check_golden.py TOOL OBJECT --update    write the files anew; look at the difference before you commit it

Nothing is run, so that both instruction sets are checked on any host. The texts hold no addresses.
"""
import difflib
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# Each with the options that its code is made with.
KERNELS = {"alu": [], "lds": [], "global": [], "divergent": [], "uniform": [], "scratch": [], "patterns": ["--checked"], "row_loop": [],
           "narrow_rows": ["--block", "+0x0"], "window": ["--window", "--block", "+0x10"]}
# Those whose code depends on what is known of the wave, and the plan that begins with it.
PROFILES = {"narrow_rows": "narrow_rows_0x0_full.txt"}


def host_code(tool, code_object, kernel, isa):
    command, profile = [tool, "host-asm", code_object, "--kernel", kernel, "--isa", isa, "--exec-full", *KERNELS[kernel]], None
    if kernel in PROFILES:
        command += ["--profile", "/dev/stdin"]
        with open(os.path.join(HERE, "plans", PROFILES[kernel])) as plan:
            profile = plan.read().split("\n==", 1)[0]
    made = subprocess.run(command, input=profile, capture_output=True, text=True)
    if made.returncode:
        sys.exit(f"{kernel}, {isa}: {made.stderr}")
    return made.stdout


def main():
    tool, code_object = sys.argv[1:3]
    update = sys.argv[3:] == ["--update"]
    if sys.argv[3:] and not update:
        sys.exit(__doc__)
    different = 0
    for kernel in KERNELS:
        for isa in ("avx2", "avx512"):
            path = os.path.join(HERE, f"{kernel}.{isa}.txt")
            now = host_code(tool, code_object, kernel, isa)
            old = open(path).read() if os.path.exists(path) else ""
            if now == old:
                continue
            different += 1
            if update:
                with open(path, "w") as out:
                    out.write(now)
                continue
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), now.splitlines(True), os.path.basename(path),
                                                       "now"))
    print(f"{different} of {2 * len(KERNELS)} files " + ("written" if update else "differ"))
    if different and not update:
        print(f"If the new code is meant: {sys.argv[0]} {tool} {code_object} --update")
        sys.exit(1)


main()
