#!/usr/bin/env python3
"""check_native_objects.py OBJECT...: each defines the table of its loops for the linker, and nothing else.

The objects are compiled for processors of their own. An inline function or a template that one of them defined could
become the only copy in the program, and then run on hosts that lack its instructions.
"""
import os
import re
import subprocess
import sys


def main():
    bad = 0
    for path in sys.argv[1:]:
        isa = re.fullmatch(r"native_(\w+)\.o", os.path.basename(path))[1]
        listing = subprocess.run(["nm", "-C", "--defined-only", path], capture_output=True, text=True, check=True).stdout
        shared = [line.split(None, 2) for line in listing.splitlines()]
        shared = [name for _, kind, name in shared if not kind.islower() or kind in "uvw"]
        wanted = [f"yardstick::native::{isa}_loops"]
        if shared != wanted:
            print(f"FAILED: {path} defines {', '.join(shared)}; expected {wanted[0]} alone")
            bad += 1
    sys.exit(bad != 0)


main()
