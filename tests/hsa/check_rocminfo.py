#!/usr/bin/env python3
"""check_rocminfo.py WAVEJIT ROCMINFO REFERENCE: rocminfo lists the emulated agents as the reference says."""
import os
import re
import subprocess
import sys

wavejit, rocminfo, reference = sys.argv[1:4]
want = open(reference).read()
bad = 0
for target, features in (("gfx900", ":xnack-"), ("gfx906", ":sramecc+:xnack-"), ("gfx90a", ":sramecc+:xnack-")):
    for agents in (1, 2):
        env = dict(os.environ, WAVEJIT_TARGET=target, WAVEJIT_AGENTS=str(agents), WAVEJIT_CUS="8", WAVEJIT_MEMORY_MB="1024")
        r = subprocess.run([wavejit, "run", rocminfo], env=env, capture_output=True, text=True)
        parts = re.split(r"\*{7} +\nAgent \d+ +\n\*{7} +\n", r.stdout.replace("*** Done ***", ""))
        gpus = [p for p in parts[1:] if re.search(r"Device Type: +GPU", p)]
        good = r.returncode == 0 and "*** Done ***" in r.stdout and len(gpus) == agents and len(parts) == agents + 2
        good = good and re.search(f"amdgcn-amd-amdhsa--{re.escape(target + features)}\\s", r.stdout) is not None
        if target == "gfx90a" and agents == 1:
            clean = "\n".join(line.rstrip() for line in gpus[0].strip("\n").splitlines()) + "\n"
            if clean != want:
                good = False
                print("--- got\n" + clean + "--- wanted\n" + want)
        bad += not good
        print("ok  " if good else "FAIL", target, agents, "" if good else f"status {r.returncode}\n{r.stdout}{r.stderr}")
sys.exit(bad != 0)
