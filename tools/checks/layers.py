#!/usr/bin/env python3
"""Includes may only point to the same or a lower layer (docs/design/architecture.md), and a few names stay in one place."""
import os
import re
import sys

from sources import ROOT, files, finish, text

# The longest matching prefix gives a file's layer; 1 is the top.
LAYERS = {
    "tools/": 1, "bench/": 1, "tests/": 1, "examples/": 1,
    "hsa/": 2, "runtime/c_api": 2, "include/": 2,
    "runtime/": 3,
    "backend_x64/": 4, "interpreter/": 4,
    "lift/": 5,
    "frontend/": 6, "ir/": 6,
    "memory/": 7, "machine/": 7,
    "common/": 8,
}
# (from, to): forbidden although the layers would allow it.
# Only lift/ sees both the frontend and the IR.
FORBIDDEN = [("ir/", "frontend/"), ("frontend/", "ir/"), ("interpreter/", "backend_x64/"), ("interpreter/", "ir/"), ("interpreter/", "lift/"),
             ("hsa/", "runtime/c_api"), ("include/", "")]
# An include of these may only appear under the folder.
CONFINED = [(re.compile(r"asmjit|xbyak"), ("backend_x64/asm/",)),
            (re.compile(r"^hsa/|^hip/"), ("hsa/", "tests/", "examples/", "bench/")),
            (re.compile(r"^mimalloc"), ("backend_x64/",)),
            (re.compile(r"CLI/"), ("tools/", "bench/"))]
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)


def layer(path):
    best = max((p for p in LAYERS if path.startswith(p)), key=len, default=None)
    return (LAYERS[best], best) if best else (None, None)


def main():
    errors = []
    for path in files(".h", ".cpp", ".inc", ".c"):
        mine, _ = layer(path)
        if mine is None:
            errors.append(f"{path}: in no layer; add its folder to {os.path.relpath(__file__, ROOT)} and docs/design/architecture.md")
            continue
        for quote, target in INCLUDE.findall(text(path)):
            for pattern, homes in CONFINED:
                if pattern.search(target) and quote == "<" and not path.startswith(homes):
                    errors.append(f"{path}: includes <{target}>, which only {', '.join(homes)} may")
            if quote == "<":
                continue
            if target.startswith("wavejit/"):
                target = "include/" + target
            if not os.path.exists(os.path.join(ROOT, target)):
                if not path.startswith("examples/"):
                    errors.append(f'{path}: "{target}" is not a path from the root of the repository')
                continue
            theirs, _ = layer(target)
            if theirs is None or theirs < mine:
                errors.append(f"{path} (layer {mine}) includes {target} (layer {theirs}), which is above it")
            for source, dest in FORBIDDEN:
                if path.startswith(source) and target.startswith(dest) and not target.startswith(source):
                    errors.append(f"{path} must not include {target}")
    return finish("layers", errors)


if __name__ == "__main__":
    sys.exit(main())
