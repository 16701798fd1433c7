"""The C example of docs/use/capture.md, compiled and run on a capture: capture_example.py COMPILER INCLUDE LIBRARY TOOL CODE_OBJECT DOCUMENT"""
import os
import re
import subprocess
import sys
import tempfile

compiler, include, library, tool, code_object, document = sys.argv[1:]
with open(document, encoding="utf-8") as file:
    (example,) = re.findall(r"```c\n(.*?)```", file.read(), re.S)
with tempfile.TemporaryDirectory() as folder:
    source, program, capture = (os.path.join(folder, name) for name in ("example.c", "example", "frame.wjcapture"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(example)
    subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", include, source, "-o", program, library,
                    "-Wl,-rpath," + os.path.dirname(library)], check=True)
    subprocess.run([tool, "launch", code_object, "--kernel", "parse_frame", "--capture", capture, "--block", "1", "--arg", "buf:64",
                    "--arg", "u32:6", "--arg", "buf:1k", "--arg", "buf:4"], check=True)
    printed = subprocess.run([program, capture], check=True, capture_output=True, text=True).stdout
assert printed == "wj_memory_allocate: ok\n" * 3, printed
print("the example runs")
