"""Compiles and runs the program in docs/use/debugging.md: debugging_test.py COMPILER INCLUDE_FOLDER LIBRARY DOCUMENT CODE_OBJECT"""
import re
import sys

from c_example import output_of

*lines, last = output_of(*sys.argv[1:])
trace = [line for line in lines if line.startswith("wave")]
frames = lines[len(trace):]
assert frames and re.fullmatch(r"in parse_frame, line [1-9]\d*", frames[-1]), frames
assert len(trace) >= 3 and all(re.match(r"wave 0  exec 0000000000000001  [sv]_|wave 0 .* global_", line) for line in trace), lines
assert "global_store_dword" in trace[-1] and not any("store" in line for line in trace[:-1]), lines
assert re.fullmatch(rf"{len(trace)} instructions; stopped at \+\d+, v0 of lane 0 is 0", last), last
print(f"{len(trace)} instructions traced: ok")
