#!/usr/bin/env python3
"""check_comgr.py LIBRARY-DIR PROGRAM CASE: what AMD's code object manager has compiled is kept on disk.

HIP 5's compilations need files in TMPDIR, and end the process where it cannot be written: a process in which nothing is
compiled runs all the same."""
import os
import subprocess
import sys
import tempfile

library, program, case = sys.argv[1:4]


def start(directory, **extra):
    env = dict(os.environ, LD_LIBRARY_PATH=library, WAVEJIT_CACHE="1", WAVEJIT_CACHE_DIR=directory)
    env.update(extra)
    return subprocess.Popen([program, case], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def passes(what, process, wanted=True):
    output = process.communicate(timeout=100)[0]
    good = process.returncode == 0 and "PASS" in output
    print(("ok      " if good == wanted else "FAILED  ") + what, flush=True)
    if good != wanted:
        sys.exit(f"status {process.returncode}\n{output}")


def files(directory):
    return [os.path.join(directory, name) for name in os.listdir(directory)]


with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
    nowhere = {"TMPDIR": os.path.join(one, "nowhere")}
    passes("nothing can be compiled, nothing is kept: the test's premise", start(other, WAVEJIT_CACHE="0", **nowhere), False)
    passes("the first run compiles", start(one))
    passes("the second does not", start(one, **nowhere))
    for path in files(one):
        with open(path, "r+b") as f:
            f.seek(100)
            byte = f.read(1)
            f.seek(100)
            f.write(bytes([byte[0] ^ 0x10]) if byte else b"")
    passes("damaged files are not used", start(one))
    for path in files(one):
        os.truncate(path, os.path.getsize(path) // 2)
    passes("nor those that are cut off", start(one))
    passes("and have been replaced", start(one, **nowhere))
    for number, process in enumerate([start(other) for _ in range(4)]):
        passes(f"process {number} of four at once", process)
    passes("which have left whole files", start(other, **nowhere))
