"""libFuzzer finds the mistake of a parser of examples/fuzz within a minute, and the report names its line:
fuzz_example.py PROGRAM CODE_OBJECT SOURCE PARSER"""
import os
import subprocess
import sys
import tempfile

program, code_object, source, parser = [*map(os.path.abspath, sys.argv[1:4]), sys.argv[4]]
with open(source, encoding="utf-8") as file:
    lines = file.read().split("\n")
begin = next(i for i, line in enumerate(lines) if f"kernel void {parser}" in line)
mistake = next(i for i in range(begin, len(lines)) if "mistake" in lines[i]) + 1
environment = dict(os.environ, MESSAGE_FILE=code_object, MESSAGE_PARSER=parser)
with tempfile.TemporaryDirectory() as folder:
    run = subprocess.run([program, "-seed=1", "-max_total_time=60", "-max_len=64"], cwd=folder, env=environment,
                         capture_output=True, text=True, errors="replace", check=False)
    kept = os.listdir(folder)
wanted = f"{os.path.basename(source)}:{mistake}"
if run.returncode == 0 or "memory fault" not in run.stderr or wanted not in run.stderr or not kept:
    sys.exit(f"not found, or not at {wanted} (exit status {run.returncode}):\n{run.stderr[-3000:]}")
print(f"found at {wanted}; kept: {', '.join(kept)}")
