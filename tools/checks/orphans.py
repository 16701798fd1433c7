#!/usr/bin/env python3
"""Every source is named in a CMake list, every header and table is included by somebody."""
import os
import re
import sys

from sources import files, finish, text


def main():
    lists = {p: text(p) for p in files("CMakeLists.txt", ".cmake")}
    errors = []
    for path in files(".cpp", ".c", ".hip", ".cl"):
        # Named by the list of its own folder or of one above it, by name or by stem (lists of programs have no ending).
        folder, name = os.path.split(path)
        stem = os.path.splitext(name)[0]
        while True:
            own = lists.get(os.path.join(folder, "CMakeLists.txt"), "")
            if re.search(rf"(?<![\w]){re.escape(stem)}(?![\w])", own):
                break
            if not folder:
                # Examples are built by the tests; a list elsewhere may name the path.
                if not any(re.search(rf"(?<![\w]){re.escape(stem)}(?![\w])", t) for p, t in lists.items()
                           if p.startswith(("tests/programs/", "tests/embedding/", "bench/")) and path.startswith(("examples/", "bench/"))):
                    errors.append(f"{path}: in no CMake list")
                break
            folder = os.path.dirname(folder)
    included = set()
    for path in files(".h", ".cpp", ".c", ".inc", ".hip"):
        for target in re.findall(r'#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text(path)):
            included.add(target)
            included.add(os.path.join(os.path.dirname(path), target))
            included.add("include/" + target)
    for path in files(".h", ".inc"):
        if path not in included:
            errors.append(f"{path}: included by nobody")
    return finish("orphan sources", errors)


if __name__ == "__main__":
    sys.exit(main())
