#!/usr/bin/env python3
"""docs/reference/seed-rows.md has one row for each requirement, and every test that it names exists. Prints counts by section."""
import glob
import os
import re
import sys

from sources import ROOT, finish, text

PAGE = "docs/reference/seed-rows.md"
STATES = ("done", "absent", "outside")


def google_tests():
    found = set()
    for path in glob.glob(os.path.join(ROOT, "tests", "*", "*.cpp")):
        with open(path, encoding="utf-8") as f:
            found |= {".".join(m) for m in re.findall(r"^\s*TEST(?:_[FP])?\(\s*(\w+)\s*,\s*(\w+)\s*\)", f.read(), re.M)}
    return found


def text_cases():
    found = set()
    for path in glob.glob(os.path.join(ROOT, "tests", "interpreter", "cases", "*.txt")):
        with open(path, encoding="utf-8") as f:
            found |= {os.path.basename(path) + ": " + line[5:].strip() for line in f if line.startswith("case ")}
    return found


def main():
    errors, seen, counts = [], set(), {}
    tests = google_tests() | text_cases()
    page = text(PAGE)
    expected = {m[0]: int(m[1]) for m in re.findall(r"^\| [^|]+ \| SEED-([A-Z]+) \| (\d+) \|", page, re.M)}
    for line in page.splitlines():
        row = re.match(r"\| SEED-([A-Z]+)-(\d+) \|", line)
        if not row:
            continue
        cells = [c.strip() for c in line.strip("|").split(" | ")]
        name, section, number = cells[0].strip("| "), row[1], int(row[2])
        if section not in expected or not 1 <= number <= expected[section]:
            errors.append(f"{name}: no such row")
        if name in seen:
            errors.append(f"{name}: stands twice")
        seen.add(name)
        if len(cells) != 3 or not cells[1] or not cells[2]:
            errors.append(f"{name}: wants an id, a title and a test, `absent: why` or `outside: why`")
            continue
        state = re.match(r"(absent|outside): \S", cells[2])
        if not state:
            named = re.findall(r"`([^`]+)`", cells[2])
            if not named:
                errors.append(f"{name}: names no test")
            # A script or a program is named by its path.
            errors += [f"{name}: no test {t}" for t in named
                       if t not in tests and not (t.startswith("tests/") and os.path.isfile(os.path.join(ROOT, t)))]
        counts.setdefault(section, dict.fromkeys(STATES, 0))[state[1] if state else "done"] += 1
    for section, rows in expected.items():
        wanted = {f"SEED-{section}-{n:02}" for n in range(1, rows + 1)}
        errors += [f"{name}: missing" for name in sorted(wanted - seen)]
    for section, by_state in counts.items():
        print(f"SEED-{section:6}" + "".join(f"{by_state[s]:5} {s}" for s in STATES))
    print("all        " + "".join(f"{sum(c[s] for c in counts.values()):5} {s}" for s in STATES))
    return finish(f"rows of requirements ({len(seen)})", errors)


if __name__ == "__main__":
    sys.exit(main())
