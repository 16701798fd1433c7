#!/usr/bin/env python3
"""How many times as long the yardstick's kernels take with checkers on.

    checkers.py YARDSTICK [--engine avx2] [--memory checked] [--rounds 3] [CHECK...]

The checkers (`wavejit launch --check`; several with commas) and none take turns, round by round; of a kernel the best time of each counts.
Prints geometric mean, median and the longest. Small scale, one thread, checked memory; with --memory window buffers are the context's, so
that `init` knows which of their bytes nobody has written.
"""
import argparse
import csv
import math
import os
import statistics
import subprocess

SUPPRESSIONS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "yardstick", "suppressions.txt")

def times(args, check):
    """Milliseconds by kernel and size."""
    environment = {k: v for k, v in os.environ.items() if k not in ("WAVEJIT_CHECK", "WAVEJIT_PLANS")}
    if check:
        environment |= {"WAVEJIT_CHECK": check, "WAVEJIT_CHECK_SUPPRESSIONS": SUPPRESSIONS}
    command = [args.yardstick, "--scale", "small", "--runs", "3", "--max-seconds", "1", "--threads", "1", "--memory", args.memory,
               "--contenders", args.engine]
    out = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    rows = csv.reader(line for line in out.splitlines() if line.startswith(args.engine + ","))
    return {(row[1], row[2]): float(row[3]) for row in rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("yardstick")
    parser.add_argument("checks", nargs="*", metavar="CHECK", default=["memory", "race", "init", "waitcnt", "all"])
    parser.add_argument("--engine", default="avx2")
    parser.add_argument("--memory", default="checked", choices=["identity", "checked", "window"])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    best = {check: {} for check in ["", *args.checks]}
    for _ in range(args.rounds):
        for check, known in best.items():
            for kernel, time in times(args, check).items():
                known[kernel] = min(time, known.get(kernel, time))
    plain = best.pop("")
    for check, known in best.items():
        factors = sorted((known[k] / plain[k], k[0]) for k in plain if k in known)
        values = [f for f, _ in factors]
        longest = ", ".join(f"{name} {f:.0f}" for f, name in factors[:-6:-1])
        print(f"{check}: {len(values)} kernels, geometric mean {math.exp(statistics.fmean(map(math.log, values))):.1f}, "
              f"median {statistics.median(values):.1f}; longest: {longest}", flush=True)


if __name__ == "__main__":
    main()
