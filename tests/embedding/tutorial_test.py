"""Runs the examples of docs/use/python.md in order, in one process: tutorial_test.py DOCUMENT CODE_OBJECT"""
import os
import re
import shutil
import sys
import tempfile

document, code_object = sys.argv[1:]
with open(document, encoding="utf-8") as file:
    blocks = re.findall(r"```python\n(.*?)```", file.read(), re.S)
assert len(blocks) >= 5, f"{document} has only {len(blocks)} examples"
folder = tempfile.mkdtemp()
shutil.copy(code_object, os.path.join(folder, "message.hsaco"))
os.chdir(folder)
names = {}
checks = 0
for number, block in enumerate(blocks):
    checks += block.count("assert ")
    exec(compile(block, f"{document}, example {number + 1}", "exec"), names)
shutil.rmtree(folder)
assert checks >= 10, "examples that check nothing"
print(f"{len(blocks)} examples, {checks} checks: ok")
