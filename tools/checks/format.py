#!/usr/bin/env python3
"""Every .h, .cpp and .hip is formatted as clang-format 14 does (--fix rewrites; paths restrict)."""
import os
import subprocess
import sys

from sources import ROOT, files, finish


def main():
    fix = "--fix" in sys.argv
    only = tuple(a for a in sys.argv[1:] if a != "--fix")
    paths = [p for p in files(".h", ".cpp", ".hip") if not only or p.startswith(only)]
    errors = []
    for p in paths:
        with open(os.path.join(ROOT, p)) as f:
            source = f.read()
        r = subprocess.run(["clang-format-14", "--style=file", "--assume-filename", os.path.splitext(p)[0] + ".cpp"],
                           cwd=ROOT, input=source, capture_output=True, text=True)
        if r.returncode:
            errors.append(f"{p}: {r.stderr.strip()}")
        elif r.stdout != source:
            line = next((n for n, (x, y) in enumerate(zip(source.splitlines(), r.stdout.splitlines()), 1) if x != y), 0)
            if fix:
                with open(os.path.join(ROOT, p), "w") as f:
                    f.write(r.stdout)
            else:
                errors.append(f"{p}:{line}: differs from clang-format 14's layout; tools/checks/format.py --fix {p}")
    return finish(f"format ({len(paths)} files)", errors)


if __name__ == "__main__":
    sys.exit(main())
