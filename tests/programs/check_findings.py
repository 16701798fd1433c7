#!/usr/bin/env python3
"""Runs correct HIP programs with all checkers: each must end with status 0 and nothing be found.

check_findings.py --library-dir DIR -- "TARGET,... PROGRAM ARG ..." ...
Each runs once with all checkers, which interpret, and with those that leave instructions translated: once with `init`, once with the rest.
"""
import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile

CHECKS = ("all", "init", "memory,race,barrier,alignment,division")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--library-dir", required=True)
    p.add_argument("commands", nargs="+")
    a = p.parse_args()
    ran, failed = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "findings.json")
        for command in a.commands:
            targets, *words = shlex.split(command)
            for target in targets.split(","):
                for checks in CHECKS:
                    env = dict(os.environ, WAVEJIT_TARGET=target, WAVEJIT_CHECK=checks, WAVEJIT_CHECK_REPORT=report,
                               LD_LIBRARY_PATH=a.library_dir)
                    r = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, text=True, errors="replace", timeout=300)
                    with open(report) as f:  # written when the program has started the emulator, too
                        findings = json.load(f)["findings"]
                    os.remove(report)
                    ran += 1
                    if r.returncode == 0 and not findings:
                        continue
                    failed += 1
                    print(f"FAIL {target} {checks}: {command}: status {r.returncode}, {len(findings)} findings")
                    print("\n".join(f["report"] for f in findings) or r.stdout)
    print(f"{ran - failed} of {ran} runs found nothing")
    return 1 if failed or not ran else 0


if __name__ == "__main__":
    sys.exit(main())
