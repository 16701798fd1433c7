#!/usr/bin/env python3
"""Alternates PoCL, native loops and wavejit over the yardstick; prints a table and writes JSON.

vs_pocl.py --build DIR [--passes N] [--scale full] [--engines avx512,avx2] [--json FILE] [NAME ...]
In a pass each benchmark is run by one process for each number of threads, in which all contenders take turns on the same
buffers, round after round. A ratio is the median of all rounds' ratios, each of two turns that lie milliseconds apart, as
the speed of memory changes from minute to minute and from one process's pages to the next one's. Its spread is half of
the distance between the quartiles. Times are medians of all rounds.
"""
import argparse
import csv
import io
import json
import os
import statistics
import subprocess
import sys


# Kernels whose code for a GPU is another than PoCL's.
NOT_COMPARED = {"matmul_bf16"}


def run(binary, name, contenders, threads, cpus, a):
    """contender -> row of the benchmark's CSV, or an error"""
    command = ["taskset", "-c", ",".join(map(str, cpus[:threads])), binary, "--scale", a.scale, "--runs", str(a.runs),
               "--max-seconds", str(a.max_seconds), "--cpus", str(threads), "--threads", str(threads), "--target", a.target,
               "--contenders", ",".join(contenders), "--header", name]
    env = dict(os.environ, POCL_MAX_PTHREAD_COUNT=str(threads))
    if threads > 1:
        env["POCL_AFFINITY"] = "1"
    r = subprocess.run(command, env=env, capture_output=True, text=True)
    rows = {row["label"]: row for row in csv.DictReader(io.StringIO(r.stdout))}
    if not rows:
        return (r.stderr.strip().splitlines() or ["no output"])[-1]
    return rows


def short(x):
    return "-" if x is None else f"{x:.3g}" if x < 100 else f"{x:.0f}"


def half_quartiles(values):
    if len(values) < 2:
        return 0
    q = statistics.quantiles(values, n=4, method="inclusive")
    return (q[2] - q[0]) / 2


class Results:
    """Rounds of all passes: [kernel][contender, threads] -> milliseconds, one list a process"""

    def __init__(self):
        self.rounds, self.rows, self.wrong = {}, {}, set()

    def add(self, name, threads, rows):
        if isinstance(rows, str):
            self.wrong.add(f"{name}, {threads} threads: {rows}")
            return
        for label, row in rows.items():
            if row["check"] != "ok":
                self.wrong.add(f"{name} {label}, {threads} threads: {row['check']}")
                continue
            self.rounds.setdefault(name, {}).setdefault((label, threads), []).append(
                [float(x) for x in row["rounds_ms"].split()])
            self.rows[name] = row

    def time(self, name, who):
        all_rounds = sum(self.rounds.get(name, {}).get(who, []), [])
        return (statistics.median(all_rounds), half_quartiles(all_rounds)) if all_rounds else None

    def ratio(self, name, x, y):
        """Of one process's rounds where both took part in it; else of the medians."""
        mine = self.rounds.get(name, {})
        if x not in mine or y not in mine:
            return None
        if x[1] != y[1]:
            return self.time(name, x)[0] / self.time(name, y)[0], 0
        pairs = [p / q for xs, ys in zip(mine[x], mine[y]) for p, q in zip(xs, ys)]
        return statistics.median(pairs), half_quartiles(pairs)


def compared(engines, threads):
    """Pairs of (contender, threads) whose times are divided"""
    ours = engines[0]
    pairs = []
    for t in threads:
        pairs += [(("opencl", t), (e, t)) for e in engines] + [(("native", t), (ours, t))]
        pairs += [((ours, t), (e, t)) for e in engines[1:]]
    return pairs + ([((ours, 1), (ours, 2))] if len(threads) > 1 else [])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--runs", type=int, default=7, help="rounds of a pass")
    p.add_argument("--max-seconds", type=float, default=4, help="of a pass, for each contender")
    p.add_argument("--scale", default="full")
    p.add_argument("--target", default="gfx90a")
    p.add_argument("--engines", default="avx512")
    p.add_argument("--json", help="default: BUILD/vs_pocl.json")
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    binary = os.path.join(a.build, "bench", "wavejit-yardstick")
    os.environ.setdefault("POCL_CACHE_DIR", os.path.join(a.build, "pocl-cache"))
    os.makedirs(os.environ["POCL_CACHE_DIR"], exist_ok=True)

    def listed(option):
        return subprocess.run([binary, option], check=True, capture_output=True, text=True).stdout.split()

    names = a.names or [n for n in listed("--list") if n not in NOT_COMPARED]
    further = set(listed("--further"))
    engines, cpus = a.engines.split(","), sorted(os.sched_getaffinity(0))
    threads = [1, 2] if len(cpus) > 1 else [1]
    contenders = ["opencl", "native"] + engines
    results = Results()
    for number in range(a.passes):
        for n in names:
            for t in threads:
                results.add(n, t, run(binary, n, contenders, t, cpus, a))
        print(f"pass {number + 1} of {a.passes} done", file=sys.stderr)

    labels = [(who, t) for t in threads for who in contenders]
    pairs = compared(engines, threads)

    def title(who):
        return f"{'pocl' if who[0] == 'opencl' else who[0]}-{who[1]}"

    print("| kernel | size | " + " | ".join(f"{title(x)} ms" for x in labels) + " | "
          + " | ".join(f"{title(x)} / {title(y)}" for x, y in pairs) + " |")
    print("|---|---|" + "---:|" * (len(labels) + len(pairs)))
    table, logs = {}, {group: {pair: [] for pair in pairs} for group in (False, True)}
    for n in names:
        times = {x: results.time(n, x) for x in labels}
        ratios = {pair: results.ratio(n, *pair) for pair in pairs}
        row = results.rows.get(n, {})
        for pair, r in ratios.items():
            if r:
                logs[n in further][pair].append(r[0])
        cells = [f"{short(t[0])} ±{t[1] / t[0] * 100:.0f}%" if t else "-" for t in times.values()]
        cells += [f"{short(r[0])} ±{r[1] / r[0] * 100:.0f}%" if r else "-" for r in ratios.values()]
        print(f"| {n} | {row.get('size', '')} | " + " | ".join(cells) + " |")
        table[n] = {
            "size": row.get("size"), "unit": row.get("unit"),
            "ms": {title(x): {"median": t[0], "half_quartiles": t[1]} for x, t in times.items() if t},
            "ratios": {f"{title(x)} / {title(y)}": {"median": r[0], "half_quartiles": r[1]} for (x, y), r in ratios.items() if r},
            "rounds_ms": {title(x): r for x, r in results.rounds.get(n, {}).items()},
        }
    for group, of in ((False, "geometric mean"), (True, "geometric mean, further kernels")):
        means = [short(statistics.geometric_mean(v)) if v else "-" for v in logs[group].values()]
        print(f"| {of} | | " + " | ".join("" for _ in labels) + " | " + " | ".join(means) + " |")
    for w in sorted(results.wrong):
        print("WRONG OR FAILED:", w)
    path = a.json or os.path.join(a.build, "vs_pocl.json")
    with open(path, "w") as f:
        json.dump({"scale": a.scale, "target": a.target, "passes": a.passes, "results": table, "failed": sorted(results.wrong)}, f,
                  indent=1)
    print(f"\nwritten: {path}", file=sys.stderr)
    return 1 if results.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
