"""Compiles and runs the program in docs/use/debugging.md: debugging_test.py COMPILER INCLUDE_FOLDER LIBRARY DOCUMENT CODE_OBJECT"""
import os
import re
import subprocess
import sys
import tempfile

compiler, include, library, document, code_object = sys.argv[1:]
with open(document, encoding="utf-8") as file:
    program, = re.findall(r"```c\n(.*?)```", file.read(), re.S)
with tempfile.TemporaryDirectory() as folder:
    source, binary = os.path.join(folder, "example.c"), os.path.join(folder, "example")
    with open(source, "w", encoding="utf-8") as file:
        file.write(program)
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", include, source, "-o", binary, library,
                    f"-Wl,-rpath,{os.path.dirname(library)}"], check=True)
    lines = subprocess.run([binary, code_object], check=True, capture_output=True, text=True).stdout.splitlines()
*lines, last = lines
trace = [line for line in lines if line.startswith("wave")]
frames = lines[len(trace):]
assert frames and re.fullmatch(r"in parse_frame, line [1-9]\d*", frames[-1]), frames
assert len(trace) >= 3 and all(re.match(r"wave 0  exec 0000000000000001  [sv]_|wave 0 .* global_", line) for line in trace), lines
assert "global_store_dword" in trace[-1] and not any("store" in line for line in trace[:-1]), lines
assert re.fullmatch(rf"{len(trace)} instructions; stopped at \+\d+, v0 of lane 0 is 0", last), last
print(f"{len(trace)} instructions traced: ok")
