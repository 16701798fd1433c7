#!/usr/bin/env python3
"""Generations are compared in the traits only; everywhere else a named field of Traits is asked."""
import re
import sys

from sources import files, finish, text

ALLOWED = ("frontend/target.", "frontend/table", "frontend/opcode.", "frontend/layout.", "frontend/row_text.")
COMPARE = re.compile(r"\b(?:family|generation|Family::\w+)(?:\(\))?\)?\s*(?:>=|<=|>(?![>=])|<(?![<=]))"
                     r"|(?:>=|<=|[^->]>|[^<]<)\s*(?:wj::)?Family::g\w+")
# Which host features exist is decided in one place, by AsmJit.
HOST = re.compile(r"__builtin_cpu_supports|\bCpuInfo::|__get_cpuid")
HOST_HOMES = ("backend_x64/asm/host_features.", "bench/", "tests/")


def main():
    errors = []
    for path in files(".h", ".cpp", ".inc"):
        if path.startswith(("tests/", "bench/", "examples/")):
            continue
        for n, line in enumerate(text(path).splitlines(), 1):
            code = line.split("//")[0]
            if COMPARE.search(code) and not path.startswith(ALLOWED):
                errors.append(f"{path}:{n}: compares generations; name the difference in Traits: {code.strip()}")
            if HOST.search(code) and not path.startswith(HOST_HOMES):
                errors.append(f"{path}:{n}: tests a host feature outside host dispatch")
    return finish("generations and host features", errors)


if __name__ == "__main__":
    sys.exit(main())
