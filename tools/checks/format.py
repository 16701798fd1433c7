#!/usr/bin/env python3
"""Every .h and .cpp is formatted as clang-format 14 does (--fix rewrites; paths restrict)."""
import os
import subprocess
import sys

from sources import ROOT, files, finish


def main():
    fix = "--fix" in sys.argv
    only = tuple(a for a in sys.argv[1:] if a != "--fix")
    paths = [p for p in files(".h", ".cpp") if not only or p.startswith(only)]
    errors = []
    for p in paths:
        r = subprocess.run(["clang-format-14", "--style=file"] + (["-i"] if fix else ["--dry-run", "-Werror"]) + [p],
                           cwd=ROOT, capture_output=True, text=True)
        if r.returncode:
            first = r.stderr.splitlines()[0] if r.stderr else "clang-format-14 failed"
            errors.append(first if first.startswith(p) else f"{p}: {first}")
    return finish(f"format ({len(paths)} files)", errors)


if __name__ == "__main__":
    sys.exit(main())
