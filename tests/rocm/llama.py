#!/usr/bin/env python3
"""llama.cpp on the emulated GPU: its operators against its own CPU back-end, and a random model's tokens.

    ./wj rocm unstable --packages llama.cpp-tools,llama.cpp-tests,libggml0-backend-hip,python3
        tests/rocm/llama.py --results FILE [--ops ADD,MUL_MAT] [--timeout SECONDS] [--seconds SECONDS] operators tokens
"""
import argparse
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from gtests import lines_of  # noqa: E402
from results import Results  # noqa: E402

OPERATORS = "/usr/libexec/x86_64-linux-gnu/llama.cpp-tests/test-backend-ops"
PROMPTS = ("hello", "the quick brown fox", "one two three four five six seven")


def operator_names():
    text = subprocess.run([OPERATORS, "--list-ops"], capture_output=True, text=True).stdout
    return [w for w in text.split("Total")[0].split() if re.fullmatch(r"[A-Z0-9_]+", w)]


def operators(results, a, end):
    names = a.ops.split(",") if a.ops else operator_names()
    for at, name in enumerate(names):
        if results.has(name + " (all)"):
            continue
        if time.monotonic() > end:
            print(f"not come to: {' '.join(names[at:])}")
            return
        begin, cases = time.monotonic(), 0
        process = subprocess.Popen([OPERATORS, "test", "-b", "ROCm0", "-o", name], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        last, reason = [], ""
        for line in lines_of(process, lambda: a.timeout):
            if line is None or time.monotonic() - begin > a.op_seconds:
                reason = (f"no case ended for {a.timeout:g} s" if line is None else f"stopped after {a.op_seconds:g} s")
                process.kill()
                break
            line = re.sub(r"\x1b\[[0-9;]*m", "", line)
            last = (last + [line])[-8:]
            found = re.match(r"\s+(\w+\(.*\)): (.*?)\s*(OK|FAIL|not supported.*)$", line)
            if found:
                cases += 1
                verdict = found.group(3)
                status = {"OK": "ok", "FAIL": "failed"}.get(verdict, "skipped")
                results.add(found.group(1), status, 0, "" if status == "ok" else line)
        status = process.wait()
        wrong = reason.startswith("no case") or (not reason and status != 0)
        results.add(name + " (all)", "failed" if wrong else "skipped" if reason or not cases else "ok", time.monotonic() - begin,
                    "\n".join(last) + f"\nstatus {status} {reason}" if wrong or reason else f"{cases} cases" if cases else "no cases")


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
    p.add_argument("--op-seconds", type=float, default=600, help="seconds for an operator's cases")
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
