"""Compiles and runs the program in docs/use/snapshots.md: resume_test.py COMPILER INCLUDE_FOLDER LIBRARY DOCUMENT CODE_OBJECT"""
import sys

from c_example import output_of

lines = output_of(*sys.argv[1:])
# The table has 1000 + i / 4 at i, and the kernel reads what is at 4 * input.
assert lines == [f"{n}: {1000 + n}" for n in range(0, 256, 51)], lines
print(f"{len(lines)} inputs from the midst of the kernel: ok")
