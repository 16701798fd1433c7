"""The structs of python/wavejit/_c.py are those of the header: structs_test.py COMPILER INCLUDE_FOLDER"""
import ctypes
import os
import subprocess
import sys
import tempfile

from wavejit import _c

compiler, include = sys.argv[1:]
STRUCTS = {"wj_context_options": _c.ContextOptions, "wj_context_info": _c.ContextInfo,
           "wj_kernel_info": _c.KernelInfo, "wj_argument_info": _c.ArgumentInfo, "wj_argument": _c.Argument,
           "wj_launch_options": _c.LaunchOptions, "wj_fault": _c.FaultInfo, "wj_result": _c.ResultInfo,
           "wj_snapshot_options": _c.SnapshotOptions, "wj_resume_options": _c.ResumeOptions, "wj_restore_info": _c.RestoreInfo,
           "wj_page_hooks": _c.PageHooks, "wj_fault_data": _c.FaultData, "wj_stack_frame": _c.StackFrameInfo,
           "wj_hooks": _c.HooksInfo, "wj_access_info": _c.AccessInfo,
           "wj_wave_info": _c.WaveInfo, "wj_captured_memory": _c.CapturedMemory}
lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "wavejit/wavejit.h"', "int main(void) {"]
expected = []
for name, struct in STRUCTS.items():
    lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
    expected.append(f"{name} {ctypes.sizeof(struct)}")
    for field in (f[0] for f in struct._fields_):
        lines.append(f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));')
        expected.append(f"{name}.{field} {getattr(struct, field).offset}")
with tempfile.TemporaryDirectory() as folder:
    source, program = os.path.join(folder, "structs.c"), os.path.join(folder, "structs")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(lines + ["return 0; }"]))
    subprocess.run([compiler, "-I", include, source, "-o", program], check=True)
    found = subprocess.run([program], check=True, capture_output=True, text=True).stdout.split("\n")[:-1]
different = [f"{f} in C, {e} in Python" for f, e in zip(found, expected) if f != e]
assert len(found) == len(expected) and not different, "\n".join(different)
print(f"{len(expected)} sizes and offsets: ok")
