#!/usr/bin/env python3
"""run_hip.py LIBRARY-DIR PROGRAM CASE [NAME=VALUE ...]: runs a case of a HIP program for each target on each engine.

Cases that are not listed here must print PASS and end with 0; the others must end as the table says.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from engines import runnable  # noqa: E402

ABORT = -6
# case -> (status, texts that the output must hold, in any order)
EXPECTED = {
    "write_null": (ABORT, ["memory fault: write of 4 bytes at 0x0", "kernel      _Z10write_nullPi", "a null pointer",
                           "global_store_dword|flat_store_dword", "HSA_STATUS_ERROR_MEMORY_FAULT"]),
    "read_freed": (ABORT, ["memory fault: read of 4 bytes", "freed allocation .*device memory",
                           "HSA_STATUS_ERROR_MEMORY_FAULT"]),
    "out_of_bounds": (ABORT, ["memory fault: write of 4 bytes", r"bytes after allocation \d+ \(device memory",
                              r"work-group +\(3, 0, 0\)", "HSA_STATUS_ERROR_MEMORY_FAULT"]),
    "unwritten": (ABORT, ["v[0-9]+ is stored to global memory, and nobody has written it", "kernel      _Z3addPiPKi", "lanes       63$"]),
    "trap": (ABORT, ["s_trap 2", "kernel      _Z4trapPi", "HSA_STATUS_ERROR_EXCEPTION"]),
    "stack_overflow": (ABORT, ["memory fault: (read|write) of [0-9]+ bytes at 0x2[0-9a-f]{12} .beyond the private segment",
                               # Translated code names the lanes of its chunk where EXEC was written in front of the store.
                               "private segment of [0-9]+ bytes", "lanes +(0-63|among 0-(7|15))", "in _Z9recursivei",
                               "HSA_STATUS_ERROR_MEMORY_FAULT"]),
    "endless": (ABORT, ["time", "kernel      _Z7endlessPVi"]),
    "barrier_deadlock": (ABORT, ["deadlock", "kernel      _Z16barrier_deadlockPVi"]),
    # As on hardware: HIP itself refuses before a packet is written.
    "too_many_items": (0, ["PASS"]),
}
ENVIRONMENT = {"endless": {"WAVEJIT_TIMEOUT": "1"}, "barrier_deadlock": {"WAVEJIT_TIMEOUT": "60"}}


def main():
    library, program, case = sys.argv[1:4]
    extra = dict(pair.split("=", 1) for pair in sys.argv[4:])
    status_wanted, texts = EXPECTED.get(case, (0, ["PASS"]))
    engines = runnable(["interp", "auto", "avx2", "avx512"], library)
    bad = 0
    for target, engine in [("gfx90a", e) for e in engines] + [("gfx900", engines[-1]), ("gfx906", engines[-1])]:
        env = dict(os.environ, WAVEJIT_TARGET=target, WAVEJIT_ENGINE=engine, LD_LIBRARY_PATH=library)
        env.update(ENVIRONMENT.get(case, {}))
        env.update(extra)
        try:
            r = subprocess.run([program, case], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=100)
            status, output = r.returncode, r.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired as e:
            status, output = "timeout", (e.stdout or b"").decode(errors="replace")
        missing = [t for t in texts if not re.search(t, output, re.M)]
        good = status == status_wanted and not missing
        bad += not good
        print(f"{'ok  ' if good else 'FAIL'} {target} {engine}" +
              ("" if good else f": status {status}, wanted {status_wanted}, missing {missing}\n{output}"), flush=True)
    sys.exit(bad != 0)


main()
