#!/usr/bin/env python3
"""Runs GoogleTest programs of a ROCm release, test by test, with a limit for each test and for the whole run.

    ./wj rocm unstable --packages librocrand1-tests tests/rocm/gtests.py --results FILE /usr/libexec/rocm/librocrand1-tests/test_*
    tests/rocm/rocblas_sample.py .../usr/share/librocblas4-tests/data/rocblas_gtest.data /tmp/sample.data --every 500
    ./wj rocm unstable --packages librocblas4-tests tests/rocm/gtests.py --results FILE --argument=--data=/tmp/sample.data
        /usr/libexec/rocm/librocblas4-tests/rocblas-test

Tests of one program run in one process for as long as they end by themselves; one that crashes or takes too long is
wrong, and those behind it go on in a new process. A second call runs what the first did not come to.
"""
import argparse
import fnmatch
import os
import re
import selectors
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from results import Results  # noqa: E402

CHUNK = 200  # tests of one process: their names are one argument
START = 900  # seconds before the first test: rocBLAS reads its data for minutes


def listed(program, arguments, pattern):
    r = subprocess.run([program, *arguments, "--gtest_list_tests", f"--gtest_filter={pattern}"], stdin=subprocess.DEVNULL, capture_output=True,
                       text=True, errors="replace", timeout=2 * START, cwd=os.path.dirname(program))
    names, suite = [], ""
    for line in r.stdout.splitlines():
        word = line.split("#")[0].rstrip()
        if re.fullmatch(r"\S+\.", word):
            suite = word
        elif suite and re.fullmatch(r"  \S+", word):
            names.append(suite + word.strip())
    return [n for n in names if ".DISABLED_" not in n], r


def lines_of(process, limit):
    """Lines of output; None when none came for limit() seconds."""
    selector = selectors.DefaultSelector()
    selector.register(process.stdout, selectors.EVENT_READ)
    left = b""
    while True:
        if not selector.select(limit()):
            yield None
            return
        data = os.read(process.stdout.fileno(), 1 << 16)
        if not data:
            if left:
                yield left.decode(errors="replace")
            return
        *whole, left = (left + data).split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")


def run_chunk(program, arguments, names, results, prefix, limit, end):
    """Runs tests until one ends the process; those with a result are in `results`."""
    words = [program, *arguments, "--gtest_color=no", "--gtest_filter=" + ":".join(names)]
    env = dict(os.environ, GTEST_LISTENER="PASS_LINE_IN_LOG")  # rocBLAS prints only failures otherwise
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               cwd=os.path.dirname(program), env=env)
    running, begin, output = None, time.monotonic(), []
    reason = ""
    for line in lines_of(process, lambda: limit if running else START):
        if line is None or (running and time.monotonic() - begin > limit):
            reason = f"took longer than {limit:g} s"
            process.kill()
            break
        line = line.split("\r")[-1]  # behind a progress bar
        found = re.match(r"\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,(]+)", line)
        if not found or "." not in found.group(2):
            output.append(line)
            continue
        what, name = found.groups()
        if what == "RUN":
            running, begin, output = name, time.monotonic(), []
        elif name == running:
            status = {"OK": "ok", "FAILED": "failed", "SKIPPED": "skipped"}[what]
            results.add(prefix + name, status, time.monotonic() - begin, "\n".join(output[-12:]) if what != "OK" else "")
            running, output = None, []
            if time.monotonic() > end:
                process.kill()
                break
    status = process.wait()
    if running:
        results.add(prefix + running, "failed", time.monotonic() - begin,
                    "\n".join(output[-12:]) + "\n" + (reason or f"the process ended with status {status}"))
    return "\n".join(output[-12:])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--results", required=True)
    p.add_argument("--filter", default="*", help="GoogleTest's filter")
    p.add_argument("--skip", default="", help="patterns of tests that are left out, with commas between them")
    p.add_argument("--argument", action="append", default=[], help="for the program, besides GoogleTest's")
    p.add_argument("--every", type=int, default=1, help="only each n-th test")
    p.add_argument("--timeout", type=float, default=120, help="seconds for a test")
    p.add_argument("--seconds", type=float, default=1e9, help="seconds for this call: what it does not come to is said")
    p.add_argument("programs", nargs="+")
    a = p.parse_args()
    end = time.monotonic() + a.seconds
    results, left = Results(a.results), 0
    for program in a.programs:
        prefix = os.path.basename(program) + " "
        names, listing = listed(program, a.argument, a.filter)
        if not names and a.filter == "*":  # a program of its own kind
            results.timed(prefix + "(whole)", lambda: (("ok", "") if listing.returncode == 0 else ("failed", listing.stdout + listing.stderr)))
            continue
        skip = [s for s in a.skip.split(",") if s]
        names = [n for n in names[::a.every] if not any(fnmatch.fnmatch(n, s) for s in skip)]
        print(f"{prefix}{len(names)} tests", flush=True)
        while True:
            todo = [n for n in names if not results.has(prefix + n)]
            if not todo or time.monotonic() > end:
                left += len(todo)
                break
            chunk = todo[:CHUNK]
            output = run_chunk(program, a.argument, chunk, results, prefix, a.timeout, end)
            if all(not results.has(prefix + n) for n in chunk):
                results.add(prefix + chunk[0], "failed", 0, "no test was run: " + output)
    if left:
        print(f"{left} tests were not come to in {a.seconds:g} s")
    results.finish()


if __name__ == "__main__":
    main()
