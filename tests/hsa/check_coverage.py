#!/usr/bin/env python3
"""check_coverage.py LIBRARY-DIR PROGRAM: two GPUs of a process write one file of coverage, which has what each of them ran.

The program starts fill() once on each, with 12 work-groups of 256: 48 waves; GPUs that count at the same time may lose some.
"""
import os
import re
import subprocess
import sys
import tempfile

WAVES = 48


def main():
    library, program = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        def report(name):
            path = os.path.join(folder, name)
            env = dict(os.environ, LD_LIBRARY_PATH=library, WAVEJIT_TARGET="gfx90a", WAVEJIT_AGENTS="2", WAVEJIT_THREADS="1",
                       WAVEJIT_COVERAGE=path)
            run = subprocess.run([program, "two"], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, timeout=60)
            if run.returncode or "PASS" not in run.stdout:
                sys.exit(f"status {run.returncode}\n{run.stdout}")
            with open(path, "rb") as file:
                return file.read().decode(errors="replace")

        lines, blocks = report("agents.info"), report("agents.drcov")
    counts = {name: int(count) for count, name in re.findall(r"^FNDA:(\d+),_Z\d(fill|add)", lines, re.M)}
    if not WAVES < counts.get("fill", 0) <= 2 * WAVES or not counts.get("add", 0):
        sys.exit(f"waves that came to kernels: {counts}\n{lines}")
    modules = re.findall(r"^\d+, 0x[0-9a-f]+, 0x[0-9a-f]+, 0x0, .*_Z4fill.*$", blocks, re.M)
    if len(modules) != 1:
        sys.exit(f"code objects with fill(): {modules}\n{blocks[:2000]}")
    print(f"ok: {counts}")


if __name__ == "__main__":
    main()
