#!/usr/bin/env python3
"""Launches of HIP programs as files: each is captured, launched again, and is the same on all engines.

check_captures.py --tool WAVEJIT -- "PROGRAM ARG ..." ...
"""
import argparse
import glob
import os
import shlex
import subprocess
import tempfile


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--tool", required=True)
    p.add_argument("commands", nargs="+")
    a = p.parse_args()
    captures = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, command in enumerate(a.commands):
            into = os.path.join(folder, str(number))
            subprocess.run([a.tool, "run", "--target", "gfx90a", "--capture", into, *shlex.split(command)], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=300)
            files = glob.glob(os.path.join(into, "*.wjcapture"))
            assert files, f"{command}: nothing was captured"
            for file in files:
                for words in (["replay", file], ["difftest", file]):
                    r = subprocess.run([a.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
                    assert r.returncode == 0, f"{command}: {' '.join(words)}\n{r.stdout}"
            captures += len(files)
    print(f"{captures} launches of {len(a.commands)} programs: the same")


main()
