#!/usr/bin/env python3
"""Compiles the examples and tests/programs with the hipcc of the release that this runs in, and runs them.

    ./wj rocm unstable tests/rocm/programs.py --results FILE [--engines interp,avx2] [--targets gfx90a] [NAME ...]
"""
import argparse
import glob
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from results import Results  # noqa: E402

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def programs():
    """name -> (source, arguments at -O3, arguments at -O0); the sizes are those of the project's own tests."""
    text = open(os.path.join(PROJECT, "tests/programs/CMakeLists.txt")).read()
    found = {name: (f"examples/{name}.hip", o3, o0) for name, o3, o0 in re.findall(r'"(\w+)\|([^|"]*)\|([^|"]*)"', text)}
    for name in ("hip_memory", "hip_kernels", "hip_streams", "hip_module", "hip_features", "hip_shapes"):
        found[name] = (f"tests/programs/{name}.hip", "", "")
    found["hip_newer"] = ("tests/rocm/hip_newer.hip", "", "")  # HIP 6 on
    found["hip_assert"] = ("tests/programs/hip_assert.hip", "", "")
    found["rocprim_device"] = ("tests/programs/rocprim_device.hip", "2000", "2000")
    for generator in ("philox", "mtgp32", "sobol32", "sobol64", "xorwow", "mrg32k3a"):
        found[f"rocrand_host {generator}"] = ("tests/programs/rocrand_host.hip", f"{generator} 2000", f"{generator} 2000")
    for part in ("vector", "matrix", "solve", "convert"):
        found[f"rocsparse_routines {part}"] = ("tests/programs/rocsparse_routines.hip", f"{part} 200", f"{part} 200")
    return found


def compile_program(source, optimization, targets, folder):
    out = os.path.join(folder, os.path.basename(source)[:-4] + "." + optimization)
    path = os.path.join(PROJECT, source)
    if os.path.exists(out) and os.path.getmtime(out) > os.path.getmtime(path):
        return out, ""
    text = open(path).read()
    own = re.findall(r"^// hipcc-flags: *(.*)$", text, re.M)
    if "hiprtc" in text and glob.glob("/usr/lib/*/libhiprtc.so"):  # HIP 7 has it in a library of its own
        own.append("-lhiprtc")
    words = ["hipcc", "-" + optimization, "-std=c++17", "-I" + os.path.join(PROJECT, "examples")]
    words += [f"--offload-arch={t}" for t in targets] + [path] + " ".join(own).split() + ["-o", out]
    r = subprocess.run(words, capture_output=True, text=True)
    return (out, "") if r.returncode == 0 else (None, r.stderr)


def run(program, arguments, target, engine, timeout):
    env = dict(os.environ, WAVEJIT_TARGET=target, WAVEJIT_ENGINE=engine)
    try:
        r = subprocess.run([program] + arguments, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=timeout)
        status, output = r.returncode, r.stdout.decode(errors="replace")
    except subprocess.TimeoutExpired as e:
        status, output = "time is over", (e.stdout or b"").decode(errors="replace")
    good = status == 0
    if "hip_assert" in program:  # has to end by an assertion of the kernel
        good = status in (1, -6) and "i < limit" in output
    return ("ok", "") if good else ("failed", f"{output}\nstatus {status}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--results", required=True)
    p.add_argument("--folder", default="/tmp/wavejit-rocm-programs", help="where the compiled programs are kept")
    p.add_argument("--engines", default="interp,avx2")
    p.add_argument("--targets", default="gfx90a")
    p.add_argument("--optimizations", default="O3")
    p.add_argument("--timeout", type=float, default=180)
    p.add_argument("names", nargs="*")
    a = p.parse_args()
    os.makedirs(a.folder, exist_ok=True)
    targets, engines = a.targets.split(","), a.engines.split(",")
    known = programs()
    unknown = [n for n in a.names if not any(k.split()[0] == n for k in known)]
    if unknown:
        p.error(f"no such program: {', '.join(unknown)}; there are {', '.join(sorted({k.split()[0] for k in known}))}")
    chosen = {n: v for n, v in known.items() if not a.names or n.split()[0] in a.names}
    results = Results(a.results, len(chosen) * len(a.optimizations.split(",")) * len(targets) * len(engines))
    for name, (source, *arguments) in chosen.items():
        for optimization in a.optimizations.split(","):
            runs = {(t, e): f"{name} {optimization} {t} {e}" for t in targets for e in engines}
            if all(results.has(n) for n in runs.values()):
                continue
            program, error = compile_program(source, optimization, targets, a.folder)
            words = arguments[optimization == "O0"].replace("@png", f"{a.folder}/out.png").split()
            for (target, engine), full in runs.items():
                if not program:
                    missing = re.search(r"fatal error: '(roc[^']*)' file not found|unable to find library|cannot find -l", error)
                    results.add(full, "skipped" if missing else "failed", 0, "not compiled: " + (missing.group(0) if missing else error))
                    continue
                results.timed(full, lambda: run(program, words, target, engine, a.timeout))
    results.finish()


if __name__ == "__main__":
    main()
