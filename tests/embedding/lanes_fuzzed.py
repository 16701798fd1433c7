"""An input that makes the lanes of a wave differ is new to libFuzzer with divergence, and not without:
lanes_fuzzed.py PROGRAM CODE_OBJECT"""
import os
import re
import subprocess
import sys
import tempfile

program, code_object = map(os.path.abspath, sys.argv[1:3])
INPUTS = {"none": b"0" * 64, "all": b"1" * 64, "half": b"01" * 32}


def kept(divergence):
    """How many of the inputs libFuzzer finds worth keeping."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in INPUTS.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(text)
        run = subprocess.run([program, "-runs=0", folder], env=dict(os.environ, LANES_FILE=code_object, LANES_DIVERGENCE=divergence),
                             capture_output=True, text=True, errors="replace", check=False, timeout=60)
    found = re.search(r"INITED .* corp: (\d+)/", run.stderr)
    if run.returncode or not found:
        sys.exit(f"exit status {run.returncode}:\n{run.stderr}")
    return int(found[1])


counts = kept("0"), kept("1")
if counts != (2, 3):
    sys.exit(f"inputs kept without divergence and with it: {counts}")
print("ok")
