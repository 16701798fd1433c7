#!/usr/bin/env python3
"""Executed host instructions of translated code per guest wave instruction must not grow: bench/host_counts.txt.

    check_counts.py YARDSTICK ENGINE             compare; exit status 1 when a kernel grew, 77 when the host lacks ENGINE
    check_counts.py YARDSTICK ENGINE --update    write ENGINE's rows anew

The numbers are exact counts of a run at small scale with one thread, no timings: another machine gives the same. Calls of
C++ code (interpreter, memory operations lane by lane) have a column of their own, as what they execute is not counted.
"""
import os
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "host_counts.txt")
SLACK = 1.03
CALL_SLACK = 1.03  # and half a call in a thousand wave instructions
HEAD = """# Host instructions that translated code executes per guest wave instruction, and calls of C++ code per thousand of them:
# yardstick at small scale, gfx90a, one thread. Written by check_counts.py YARDSTICK ENGINE --update (ninja counts_update).
# A kernel may grow by 3 % before the test fails.
# engine  benchmark            host/guest  calls/1000
"""


def read_table():
    rows = {}
    if os.path.exists(TABLE):
        for line in open(TABLE):
            if line.strip() and not line.startswith("#"):
                engine, name, host, calls = line.split()
                rows[engine, name] = float(host), float(calls)
    return rows


def measure(yardstick, engine):
    made = subprocess.run([yardstick, "--count", "--contenders", engine, "--threads", "1"], capture_output=True, text=True)
    if made.returncode == 77:
        print(made.stderr)
        sys.exit(77)
    if made.returncode:
        sys.exit(made.stdout + made.stderr)
    rows = {}
    for line in made.stdout.splitlines():
        name, guest, host, calls = line.split()
        if int(guest):
            rows[engine, name] = int(host) / int(guest), 1000 * int(calls) / int(guest)
    return rows


def main():
    if len(sys.argv) < 3 or sys.argv[3:] not in ([], ["--update"]):
        sys.exit(__doc__)
    yardstick, engine = sys.argv[1:3]
    table, now = read_table(), measure(yardstick, engine)
    if sys.argv[3:]:
        rows = {key: row for key, row in table.items() if key[0] != engine} | now
        with open(TABLE, "w") as out:
            out.write(HEAD)
            for (isa, name), (host, calls) in sorted(rows.items()):
                out.write(f"{isa:8}  {name:18}  {host:11.3f}  {calls:10.3f}\n")
        return
    bad = []
    for (_, name), (host, calls) in now.items():
        budget = table.get((engine, name))
        if budget is None:
            bad.append(f"{name} on {engine} has no row in {os.path.basename(TABLE)}: {host:.3f} {calls:.3f}")
            continue
        if host > budget[0] * SLACK:
            bad.append(f"{name} on {engine} grew from {budget[0]:.3f} to {host:.3f} host instructions per guest wave instruction "
                       f"({100 * (host / budget[0] - 1):+.1f} %)")
        elif host < budget[0] / SLACK:
            print(f"{name} on {engine} shrank from {budget[0]:.3f} to {host:.3f} "
                  f"({100 * (host / budget[0] - 1):+.1f} %): update the table, so that it stays so")
        if calls > budget[1] * CALL_SLACK + 0.5:
            bad.append(f"{name} on {engine} grew from {budget[1]:.3f} to {calls:.3f} calls of C++ code per thousand wave "
                       "instructions")
    for key in table:
        if key[0] == engine and key not in now:
            bad.append(f"{key[1]} is in the table but did not run")
    for text in bad:
        print("FAILED:", text)
    if bad:
        print(f"`wavejit launch --hot 5` shows where. If it is worth it: {sys.argv[0]} {yardstick} {engine} --update")
        sys.exit(1)
    print(f"{len(now)} benchmarks within their budgets")


main()
