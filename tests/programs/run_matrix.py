#!/usr/bin/env python3
"""Runs one HIP program for targets, engines and thread counts; all must end with status 0.

run_matrix.py --library-dir DIR --targets A,B [--engines A,B] [--threads 1,4] [--wrapper "mpirun -n 2"]
              [--fails TEXT] [--timeout SECONDS] -- PROGRAM [ARG ...]
Each engine runs each target, and each thread count: the last target with all of them, the others with one each. All
combinations with WJ_ALL_TARGETS=1 (`./wj test --all-targets`).
With --fails the program must end with another status, by itself, and its output hold the text.
An engine whose instructions this processor lacks is skipped, and said so.
"""
import argparse
import os
import shlex
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from engines import runnable  # noqa: E402


def combinations(targets, threads):
    """Pairs of both, as the text above says."""
    every = os.environ.get("WJ_ALL_TARGETS") == "1"
    for i, target in enumerate(targets):
        for count in threads if every or i == len(targets) - 1 else [threads[i % len(threads)]]:
            yield target, count


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library-dir", required=True)
    p.add_argument("--targets", required=True)
    p.add_argument("--engines", default=os.environ.get("WJ_TEST_ENGINES", "interp,avx2,avx512"))
    p.add_argument("--threads", default="1,4")
    p.add_argument("--wrapper", default="")
    p.add_argument("--fails", help="the program must fail and its output hold this")
    p.add_argument("--timeout", type=float, default=120)
    p.add_argument("command", nargs="+")
    a = p.parse_args()
    failed, ran = 0, 0
    for engine in runnable(a.engines.split(","), a.library_dir):
        for target, threads in combinations(a.targets.split(","), a.threads.split(",")):
            env = dict(os.environ, WAVEJIT_TARGET=target, WAVEJIT_ENGINE=engine, WAVEJIT_THREADS=threads)
            env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [a.library_dir, os.environ.get("LD_LIBRARY_PATH")]))
            begin = time.monotonic()
            try:
                r = subprocess.run(shlex.split(a.wrapper) + a.command, env=env, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=a.timeout)
                status, output = r.returncode, r.stdout.decode(errors="replace")
            except subprocess.TimeoutExpired as e:
                status, output = f"timeout after {a.timeout:g} s", (e.stdout or b"").decode(errors="replace")
            good = status == 0
            if a.fails:
                good = status not in (0, -11) and isinstance(status, int) and a.fails in output
            ran += 1
            failed += not good
            print(f"{'ok  ' if good else 'FAIL'} {target} {engine} threads={threads} {time.monotonic() - begin:.2f} s"
                  + ("" if good else f" status {status}\n{output.rstrip()}"), flush=True)
    print(f"{ran - failed} of {ran} runs passed")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
