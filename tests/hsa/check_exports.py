#!/usr/bin/env python3
"""check_exports.py LIBRARY LIST: every name of the list is exported under version ROCR_1, with the real SONAME."""
import subprocess
import sys

library, wanted = sys.argv[1], open(sys.argv[2]).read().split()
symbols = subprocess.run(["nm", "-D", "--with-symbol-versions", library], check=True, capture_output=True, text=True)
have = {line.split()[-1] for line in symbols.stdout.splitlines() if len(line.split()) == 3}  # not undefined
missing = [name for name in wanted if f"{name}@@ROCR_1" not in have]
dynamic = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
print(f"{len(wanted) - len(missing)} of {len(wanted)} names exported; missing: {' '.join(missing) or 'none'}")
stray = sorted(s for s in have if not s.startswith(("hsa_", "_amdgpu_r_debug", "ROCR_1")))
print("stray exports:", " ".join(stray) or "none")
sys.exit(bool(missing or stray or "[libhsa-runtime64.so.1]" not in dynamic))
