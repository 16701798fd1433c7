#!/usr/bin/env python3
"""llama.cpp on the emulated GPU: its operators against its own CPU back-end, and a random model's tokens.

    ./wj rocm unstable --packages llama.cpp-tools,llama.cpp-tests,libggml0-backend-hip,python3
        tests/rocm/llama.py --results FILE [--ops ADD,MUL_MAT] [--timeout SECONDS] [--seconds SECONDS] operators tokens

Operators' cases run many to a process; one that takes too long or ends it is wrong, and those behind it go on in a new
process. A second call runs what the first did not come to.
"""
import argparse
import csv
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from gtests import lines_of  # noqa: E402
from results import Results  # noqa: E402

OPERATORS = "/usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops"
CHUNK = 100  # cases of one process: their names are one argument
PROMPTS = ("hello", "the quick brown fox", "one two three four five six seven")


def listed_cases(a):
    """Cases of the chosen operators, in the program's order: those that the back-end supports, and the number of others."""
    r = subprocess.run([OPERATORS, "support", "-b", "ROCm0", "--output", "csv"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    rows = list(csv.DictReader(r.stdout.splitlines()))
    if not rows:
        sys.exit(f"{OPERATORS} lists no cases: {r.stderr[-1500:]}")
    seen, chosen, others = {}, [], 0
    for row in rows:
        operator, name = row["op_name"], f"{row['op_name']}({row['op_params']})"
        if name in seen or (a.ops and operator not in a.ops.split(",")):
            continue  # some cases are listed twice
        others += row["supported"] != "1"
        seen[name] = seen[operator] = seen.get(operator, 0) + (row["supported"] == "1")
        if row["supported"] == "1" and (seen[operator] - 1) % a.every == 0:
            chosen.append(name)
    return chosen, others


def run_cases(names, results, limit, end):
    """Runs cases in one process until one takes too long or ends the process, or the time is over: that case is wrong."""
    process = subprocess.Popen([OPERATORS, "test", "-b", "ROCm0", "-o", ",".join(names)], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    begin, last, reason = time.monotonic(), [], ""
    for line in lines_of(process, lambda: max(1, begin + limit - time.monotonic())):
        if line is None:
            reason = f"took longer than {limit:g} s"
            process.kill()
            break
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        last = (last + [line])[-8:]
        # In front of a wrong one stands how wrong it is: "[MUL_MAT] ERR = 4.1 > 0.0005   MUL_MAT(...): FAIL".
        found = re.match(r"(?:\[.*)?\s+(\w+\(.*\)): (.*?)\s*(OK|FAIL|not supported.*)$", line)
        if found:
            status = {"OK": "ok", "FAIL": "failed"}.get(found.group(3), "skipped")
            results.add(found.group(1), status, time.monotonic() - begin, "" if status == "ok" else line)
            begin = time.monotonic()
            if begin > end:
                process.kill()
                break
    status = process.wait()
    if time.monotonic() > end:
        return
    # The one that was running stands behind the last with a result.
    at = max((i + 1 for i, n in enumerate(names) if results.has(n)), default=0)
    left = [n for n in names[at:] if not results.has(n)]
    if status != 0 and left:
        results.add(left[0], "failed", time.monotonic() - begin, "\n".join(last) + "\n" + (reason or f"the process ended with status {status}"))
    for name in names if status == 0 else names[:at]:
        if not results.has(name):
            results.add(name, "failed", 0, "no result was found")


def operators(results, a, end):
    names, others = listed_cases(a)
    print(f"{len(names)} cases; {others} are not supported by the back-end", flush=True)
    while todo := [n for n in names if not results.has(n)]:
        if time.monotonic() > end:
            print(f"{len(todo)} cases were not come to in {a.seconds:g} s")
            return
        run_cases(todo[:CHUNK], results, a.timeout, end)


def completion(model, prompt, gpu, timeout):
    words = ["llama-completion", "-m", model, "-p", prompt, "-n", "48", "--temp", "0", "--seed", "1", "-no-cnv", "--no-warmup", "--ignore-eos"]
    words += ["-dev", "ROCm0", "-ngl", "99", "-v"] if gpu else ["-dev", "none", "-ngl", "0"]
    r = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout)
    if r.returncode != 0:
        raise RuntimeError(r.stderr.decode(errors="replace")[-1500:] + f"\nstatus {r.returncode}")
    offloaded = re.search(rb"offloaded (\d+)/(\d+) layers", r.stderr)
    if gpu and not (offloaded and offloaded.group(1) == offloaded.group(2)):
        raise RuntimeError("not all layers were on the GPU: " + (offloaded.group(0).decode() if offloaded else "none"))
    return r.stdout


def same_tokens(model, prompt, timeout):
    try:
        gpu, cpu = completion(model, prompt, True, timeout), completion(model, prompt, False, timeout)
    except (RuntimeError, subprocess.TimeoutExpired) as e:
        return "failed", str(e)
    if gpu != cpu or len(cpu) <= len(prompt):
        return "failed", f"GPU: {gpu!r}\nCPU: {cpu!r}"
    return "ok", ""


def tokens(results, a):
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(a.folder, exist_ok=True)
    f16, q4 = f"{a.folder}/random-f16.gguf", f"{a.folder}/random-q4_0.gguf"
    subprocess.run([sys.executable, f"{here}/random_model.py", f16], check=True)
    r = subprocess.run(["llama-quantize", "--pure", f16, q4, "q4_0"], capture_output=True, text=True)
    if r.returncode != 0:
        results.add("quantize", "failed", 0, r.stdout + r.stderr)
        return
    for kind, model in (("f16", f16), ("q4_0", q4)):
        for prompt in PROMPTS:
            results.timed(f"tokens {kind} {prompt!r}", lambda: same_tokens(model, prompt, a.timeout))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--results", required=True)
    p.add_argument("--folder", default="/tmp/wavejit-llama", help="where the models are written")
    p.add_argument("--ops", help="operators, with commas between them (default: all)")
    p.add_argument("--timeout", type=float, default=300, help="seconds for a case, or for a text")
    p.add_argument("--every", type=int, default=1, help="only each n-th case of an operator")
    p.add_argument("--seconds", type=float, default=1e9, help="seconds for this call")
    p.add_argument("parts", nargs="+", choices=("operators", "tokens"))
    a = p.parse_args()
    end = time.monotonic() + a.seconds
    results = Results(a.results)
    if "tokens" in a.parts:
        tokens(results, a)
    if "operators" in a.parts:
        operators(results, a, end)
    results.finish()


if __name__ == "__main__":
    main()
