#!/usr/bin/env python3
"""docs/reference/ir.md lists the operations of ir/opcodes.inc. --write renews it."""
import os
import re
import sys

from sources import ROOT, finish, text

TABLE, PAGE = "ir/opcodes.inc", "docs/reference/ir.md"
TYPES = {"N": "", "U32": "u32", "U64": "u64", "V32": "v32", "V64": "v64", "M": "mask", "T": "tuple"}
HEAD = """# Operations of the IR

Generated from `ir/opcodes.inc` by `tools/checks/ir_reference.py --write`; `ir/text.h` says how blocks are written as text, and
`ir/evaluate.cpp` what operations do.

Types: `u32`, `u64` values that all lanes share; `v32`, `v64` a value for each lane; `mask` a bit for each lane; `tuple` one to four `v32`.
Class: Uniform, Lane (lane by lane), GetS and SetS, GetV and SetV (registers), ULoad, LaneLoad, LaneStore, LaneAtomic (memory),
Cross (whole wave), Call (a handler). `#` is `imm`, the operation's 64-bit immediate; `aux` is one of 32 bits.
"""


def page():
    lines = [HEAD]
    for line in text(TABLE).splitlines():
        section = re.match(r"// ---- (.*?) -+$", line)
        if section:
            lines += ["## " + section[1][0].upper() + section[1][1:], "",
                      "| operation | result | arguments | class | |", "|---|---|---|---|---|"]
        row = re.match(r'OP\((\w+), *(\w+), *(\w+), *(\w+), *(\w+), *(\w+), *(\w+), *"(.*)"\)', line)
        if row:
            arguments = ", ".join(TYPES[a] for a in row.groups()[2:6] if a != "N")
            about = row[8].replace("|", "\\|")
            lines.append(f"| `{row[1]}` | {TYPES[row[2]]} | {arguments} | {row[7]} | {about} |")
        elif not line.strip() and lines[-1]:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def main():
    made = page()
    if "--write" in sys.argv:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as f:
            f.write(made)
    missing = [f"{TABLE}: {name} is missing in the page"
               for name in re.findall(r"^OP\((\w+)", text(TABLE), re.M) if f"| `{name}` |" not in made]
    same = os.path.exists(os.path.join(ROOT, PAGE)) and text(PAGE) == made
    return finish("page of the IR", missing + ([] if same else [f"{PAGE}: differs; {sys.argv[0]} --write renews it"]))


if __name__ == "__main__":
    sys.exit(main())
