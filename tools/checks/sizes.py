#!/usr/bin/env python3
"""Classes and functions stay small: at most 60 methods and 25 data members in a class, 150 lines in a function; in backend_x64/ only the
files named below ask which instruction set code is made for.

    sizes.py             exit status 1 when something is larger than it may be, or smaller than an exception says
    sizes.py --update    write the exceptions that have shrunk; one that is new or has grown is an error all the same

What is larger today stands in sizes.txt with its size, which may only shrink. Tests and tables are exempt.
"""
import os
import re
import sys

from sources import ROOT, files, finish, text

MOST = {"methods": 60, "members": 25, "lines": 150, "isa": 0}
TABLE = os.path.join(ROOT, "tools", "checks", "sizes.txt")
# The vocabularies: what an operation is in each instruction set.
ISA_FILES = ("backend_x64/asm/lane_avx2.cpp", "backend_x64/asm/lane_avx512.cpp")
FOLDERS = ("backend_x64/", "common/", "frontend/", "hsa/", "interpreter/", "ir/", "lift/", "machine/", "memory/", "runtime/", "tools/")


def blank(code):
    """The code without comments and literals, line for line."""
    pattern = r'//[^\n]*|/\*.*?\*/|R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'(?!\w)|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*'
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.S | re.M)


def body_end(code, at):
    """Behind the brace that closes the one at `at`."""
    depth = 0
    for m in re.compile(r"[{}]").finditer(code, at):
        depth += 1 if m[0] == "{" else -1
        if not depth:
            return m.end()
    return len(code)


def declarations(body):
    """What a class's body declares, at its own level: (text, has a body of its own)."""
    at = start = 0
    while at < len(body):
        c = body[at]
        if c == ";":
            yield body[start:at], False
            start = at + 1
        elif c in "({":
            close = body_end(body, at) if c == "{" else at + 1
            if c == "(":
                depth = 1
                while depth and close < len(body):
                    depth += {"(": 1, ")": -1}.get(body[close], 0)
                    close += 1
            elif re.search(r"\)[^;={}]*$|\b(?:class|struct|enum|union)\b[^;()]*$|:[^;()]*\([^;]*\)\s*$", body[start:at]):
                yield body[start:at], True
                start = close
            at = close
            continue
        at += 1


def class_sizes(path, code):
    for m in re.finditer(r"\b(?:class|struct)\s+(\w+)(?:\s+final)?(?:\s*:[^;{()]*)?\s*\{", code):
        methods = members = 0
        body = code[m.end():body_end(code, m.end() - 1) - 1]
        for words, _ in declarations(body):
            words = re.sub(r"\b(?:public|private|protected)\s*:", "", words).strip()
            if not words or re.match(r"(?:using|friend|static_assert|enum|class|struct|union|typedef|template\b.*\bstruct)\b", words):
                continue
            if re.search(r"\w\s*\(|\boperator\b", re.sub(r"=.*|std::function<[^;]*>|\bdecltype\(.*?\)|alignas\(.*?\)|<[^;]*>", "", words, flags=re.S)):
                methods += 1
            elif not re.match(r"(?:static|inline)?\s*(?:static\s+)?constexpr\b", words):
                members += 1 + words.count(",") * (not re.search(r"[<({]", words))
        yield f"{path}: {m[1]}", "methods", methods
        yield f"{path}: {m[1]}", "members", members


def function_sizes(path, code):
    # clang-format puts the end of a function at the beginning of a line, but for those inside classes, which are short.
    for m in re.finditer(r"^(?!namespace|extern|class|struct|enum|union|constexpr[^(]*=|static constexpr[^(]*=|const[^(]*=)\S[^;{}]*\)[^;{}=]*\{$", code, re.M):
        end = body_end(code, m.end() - 1)
        name = re.findall(r"([\w:~]+)\s*\(", m[0])
        yield f"{path}: {name[0] if name else '?'}()", "lines", code.count("\n", m.start(), end) + 1


def measure():
    found = {}
    for path in files(".h", ".cpp"):
        if not path.startswith(FOLDERS):
            continue
        code = blank(text(path))
        for key, kind, size in [*class_sizes(path, code), *function_sizes(path, code)]:
            if size > MOST[kind]:
                found[key, kind] = max(size, found.get((key, kind), 0))
        if path.startswith("backend_x64/") and path not in ISA_FILES:
            if asks := len(re.findall(r"\bavx512_\b|\boptions_?\.avx512\b|Isa::Avx512", code)):
                found[path, "isa"] = asks
    return found


def read_table():
    rows = {}
    for line in open(TABLE):
        if line.strip() and not line.startswith("#"):
            kind, size, key = line.strip().split(maxsplit=2)
            rows[key, kind] = int(size)
    return rows


def main():
    now, allowed = measure(), read_table() if os.path.exists(TABLE) else None
    errors = []
    if allowed is None or "--update" in sys.argv[1:]:
        allowed = {k: min(n, (allowed or now).get(k, 0)) for k, n in now.items() if k in (allowed or now)}
        with open(TABLE, "w") as out:
            out.write("# What is larger than tools/checks/sizes.py wants it, by its size. Rows may only shrink and go away.\n")
            for (key, kind), n in sorted(allowed.items(), key=lambda row: (row[0][1], -row[1], row[0][0])):
                out.write(f"{kind:8} {n:4} {key}\n")
    for (key, kind), n in sorted(now.items()):
        if (key, kind) not in allowed:
            errors.append(f"{key} has {n} {kind}, {MOST[kind]} are allowed: cut it into parts" if kind != "isa" else
                          f"{key} asks {n} times for the instruction set: what differs belongs into {' and '.join(ISA_FILES)}")
        elif n > allowed[key, kind]:
            errors.append(f"{key} has grown to {n} {kind} from {allowed[key, kind]}")
    for (key, kind), n in sorted(allowed.items()):
        if now.get((key, kind), 0) < n:
            errors.append(f"{key}: {now.get((key, kind), 0)} {kind} instead of {n}: write that down by sizes.py --update")
    return finish("sizes", errors)


if __name__ == "__main__":
    sys.exit(main())
