#!/usr/bin/env python3
"""check_cache.py LIBRARY-DIR PROGRAM CASE: a HIP program whose translations are kept on disk, started several times."""
import os
import re
import subprocess
import sys
import tempfile


def main():
    library, program, case = sys.argv[1:4]

    # By its name a translator translates what runs first, too: `auto` interprets until a kernel has run for a while, and how
    # long one runs that waits for the host is a matter of time.
    def start(directory, **extra):
        env = dict(os.environ, LD_LIBRARY_PATH=library, WAVEJIT_CACHE="1", WAVEJIT_CACHE_DIR=directory,
                   WAVEJIT_STATS="1", WAVEJIT_ENGINE="avx2")
        env.update(extra)
        return subprocess.Popen([program, case], env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def blocks(process):
        output = process.communicate(timeout=100)[0]
        found = re.findall(r"(\d+) blocks translated in .* ms, (\d+) loaded", output)
        if process.returncode or "PASS" not in output or not found:
            sys.exit(f"status {process.returncode}\n{output}")
        return sum(int(t) for t, _ in found), sum(int(l) for _, l in found)

    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        first = blocks(start(one))
        if first[0] == 0 or first[1] != 0:
            sys.exit(f"first run: {first}")
        second = blocks(start(one))
        if second[0] != 0 or second[1] < first[0]:
            sys.exit(f"second run: {second}")
        if blocks(start(one, WAVEJIT_MEMORY="checked"))[0] == 0:
            sys.exit("another memory mode used the same translations")
        if blocks(start(one, WAVEJIT_CACHE="0"))[1] != 0:
            sys.exit("WAVEJIT_CACHE=0 read the cache")
        for process in [start(other) for _ in range(4)]:
            blocks(process)
        last = blocks(start(other))
        if last[0] != 0:
            sys.exit(f"after four processes at once: {last}")
        print(f"PASS: {first[0]} blocks")


main()
