#!/usr/bin/env python3
"""What an instruction does is asked of its row (frontend/effects.h, encoding.h), never of the text of its mnemonic."""
import re
import sys

from sources import files, finish, text

# Who looks at mnemonics at all, and what counts as asking their text.
LOOKS = re.compile(r"op_info\([^;]*\)\.name|\binfo\.name\b")
ASKS = re.compile(r"\bname\s*\.\s*(?:r?find|starts_with|ends_with|substr|compare|contains)\s*\(|\bname\s*[=!]=\s*\"[a-z]+_")
ALLOWED = {
    "frontend/opcode.cpp": "the grammar of rows",
    "interpreter/coverage.cpp": "notes for readers, by families of names",
    "tools/fuzz/generate.cpp": "names that the user gives",
}


def main():
    errors = []
    for path in files(".h", ".cpp"):
        if path.startswith(("tests/", "bench/", "examples/", "frontend/disasm")) or path in ALLOWED:
            continue
        body = text(path)
        if not LOOKS.search(body) or "frontend/" not in body:
            continue
        for n, line in enumerate(body.splitlines(), 1):
            code = line.split("//")[0]
            if ASKS.search(code):
                errors.append(f"{path}:{n}: asks the text of a mnemonic; give its row a word: {code.strip()}")
    return finish("mnemonics' text", errors)


if __name__ == "__main__":
    sys.exit(main())
