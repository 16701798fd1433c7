#!/usr/bin/env python3
"""Alternates PoCL, native loops and wavejit over the yardstick; prints a table and writes JSON.

vs_pocl.py --build DIR [--passes N] [--scale full] [--engines avx512,avx2] [--json FILE] [NAME ...]
Every pass runs each benchmark once by every contender, one after the other, so that a change of the machine's load or
clock meets all of them. A figure is the median of the passes' medians, its spread (largest - smallest) / median.
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


def contenders(engines, cpus):
    """name -> (arguments, environment, processors)"""
    one, two = cpus[:1], cpus[:2]
    out = {
        "pocl1": (["--backend", "opencl"], {"POCL_MAX_PTHREAD_COUNT": "1"}, one),
        "native1": (["--backend", "native"], {}, one),
    }
    for e in engines:
        out[f"{e}-1"] = (["--backend", "wavejit", "--engine", e, "--threads", "1"], {}, one)
    if len(cpus) > 1:
        out["native2"] = (["--backend", "native", "--threads", "2"], {}, two)
        out["pocl2"] = (["--backend", "opencl"], {"POCL_MAX_PTHREAD_COUNT": "2", "POCL_AFFINITY": "1"}, two)
        for e in engines:
            out[f"{e}-2"] = (["--backend", "wavejit", "--engine", e, "--threads", "2"], {}, two)
    return out


def run(binary, name, label, how, a):
    arguments, env, cpus = how
    command = ["taskset", "-c", ",".join(map(str, cpus)), binary, "--scale", a.scale, "--label", label, "--runs", str(a.runs),
               "--max-seconds", str(a.max_seconds), "--cpus", str(len(cpus)), "--target", a.target] + arguments + [name]
    r = subprocess.run(command, env=dict(os.environ, **env), capture_output=True, text=True)
    rows = list(csv.reader(io.StringIO(r.stdout)))
    if not rows:
        if r.returncode == 0:
            return None  # no native version of this one, or none for two threads
        return {"error": (r.stderr.strip().splitlines() or ["no output"])[-1]}
    row = rows[0]
    return {"size": row[2], "ms": float(row[4]), "rate": float(row[5]), "unit": row[6], "cpus": float(row[8]), "check": row[11]}


def short(x):
    return "-" if x is None else f"{x:.3g}" if x < 100 else f"{x:.0f}"


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--build", required=True)
    p.add_argument("--passes", type=int, default=3)
    p.add_argument("--runs", type=int, default=7)
    p.add_argument("--max-seconds", type=float, default=4)
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
    who = contenders(a.engines.split(","), sorted(os.sched_getaffinity(0)))
    data, wrong = {n: {} for n in names}, []
    for number in range(a.passes):
        for n in names:
            for label, how in who.items():
                r = run(binary, n, label, how, a)
                if r is None:
                    continue
                if r.get("error") or r["check"] != "ok":
                    wrong.append(f"{n} {label}: {r.get('error') or r['check']}")
                    continue
                data[n].setdefault(label, []).append(r)
        print(f"pass {number + 1} of {a.passes} done", file=sys.stderr)
    table = {}
    for n in names:
        table[n] = {}
        for label, rs in data[n].items():
            ms = [r["ms"] for r in rs]
            mid = statistics.median(ms)
            table[n][label] = {"ms": mid, "spread": (max(ms) - min(ms)) / mid, "rate": statistics.median(r["rate"] for r in rs),
                               "unit": rs[0]["unit"], "size": rs[0]["size"]}
    ours = a.engines.split(",")[0]
    labels = list(who)
    ratios = {"pocl1": f"{ours}-1", "pocl2": f"{ours}-2", "native1": f"{ours}-1", "native2": f"{ours}-2", f"{ours}-1": f"{ours}-2"}
    ratios = {x: y for x, y in ratios.items() if x in who and y in who}
    print("| kernel | size | " + " | ".join(f"{x} ms" for x in labels) + " | " + " | ".join(f"{x} / {y}" for x, y in ratios.items()) + " |")
    print("|---|---|" + "---:|" * (len(labels) + len(ratios)))
    logs = {group: {k: [] for k in ratios} for group in (False, True)}

    def ratio(row, x, y):
        return row[x]["ms"] / row[y]["ms"] if x in row and y in row else None

    for n in names:
        row = table[n]
        cells = [f"{short(row[x]['ms'])} ±{row[x]['spread'] * 50:.0f}%" if x in row else "-" for x in labels]
        rs = {x: ratio(row, x, y) for x, y in ratios.items()}
        for k, v in rs.items():
            if v:
                logs[n in further][k].append(v)
        size = next((v["size"] for v in row.values()), "")
        print(f"| {n} | {size} | " + " | ".join(cells) + " | " + " | ".join(short(v) for v in rs.values()) + " |")
    for group, of in ((False, "geometric mean"), (True, "geometric mean, further kernels")):
        means = [short(statistics.geometric_mean(v)) if v else "-" for v in logs[group].values()]
        print(f"| {of} | | " + " | ".join("" for _ in labels) + " | " + " | ".join(means) + " |")
    for w in sorted(set(wrong)):
        print("WRONG OR FAILED:", w)
    path = a.json or os.path.join(a.build, "vs_pocl.json")
    with open(path, "w") as f:
        json.dump({"scale": a.scale, "target": a.target, "passes": a.passes, "results": table, "failed": sorted(set(wrong))}, f, indent=1)
    print(f"\nwritten: {path}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
