#!/usr/bin/env python3
"""check_exports.py LIBRARY LIST...: every name of the lists is exported under version ROCR_1, with the real SONAME.

A line of a list: a name, then words that say who needs it."""
import subprocess
import sys

library = sys.argv[1]
wanted = {}
for path in sys.argv[2:]:
    for line in open(path):
        name, *users = line.split("#")[0].split() or [""]
        if name:
            wanted.setdefault(name, []).extend(users)
symbols = subprocess.run(["nm", "-D", "--with-symbol-versions", library], check=True, capture_output=True, text=True)
have = {line.split()[-1] for line in symbols.stdout.splitlines() if len(line.split()) == 3}  # not undefined
missing = [" ".join([name] + users) for name, users in wanted.items() if f"{name}@@ROCR_1" not in have]
dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
print(f"{len(wanted) - len(missing)} of {len(wanted)} names exported; missing: {'; '.join(missing) or 'none'}")
stray = sorted(s for s in have if not s.startswith(("hsa_", "_amdgpu_r_debug", "ROCR_1")))
print("stray exports:", " ".join(stray) or "none")
sys.exit(bool(missing or stray or "[libhsa-runtime64.so.1]" not in dynamic))
