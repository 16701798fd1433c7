#!/usr/bin/env python3
"""check_program_target.py LIBRARY-DIR HIPCC: programs that nobody names a target for, or names another one for."""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, status  # noqa: E402

library, hipcc = sys.argv[1:]
SOURCE = """#include <hip/hip_runtime.h>
__global__ void set(int* p) { *p = 7; }
int main() {
    int *device, value = 0;
    if (hipMalloc(&device, sizeof *device) != hipSuccess) return 3;
    set<<<1, 1>>>(device);
    if (hipMemcpy(&value, device, sizeof value, hipMemcpyDeviceToHost) != hipSuccess) return 4;
    return value == 7 ? 0 : 5;
}
"""


def run(program, target=None):
    env = {name: value for name, value in os.environ.items() if name != "WAVEJIT_TARGET"}
    env.update({"LD_LIBRARY_PATH": library}, **({"WAVEJIT_TARGET": target} if target else {}))
    r = subprocess.run([program], env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return r.returncode, r.stdout


with tempfile.TemporaryDirectory() as folder:
    source = os.path.join(folder, "set.hip")
    with open(source, "w") as file:
        file.write(SOURCE)
    programs = {}
    for target in ("gfx906", "gfx1030", "gfx906 gfx1030", "gfx940"):  # the last one is not emulated
        programs[target] = os.path.join(folder, target)
        architectures = ["--offload-arch=" + name for name in target.split()]
        subprocess.run([hipcc, "-O1", *architectures, source, "-o", programs[target]], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
    for target in ("gfx906", "gfx1030"):
        code, text = run(programs[target])
        check(f"a program for {target}: status {code}, says {text or 'nothing'}", code == 0 and not text)
        code, text = run(programs[target], target)
        check(f"a program for {target} on {target}: status {code}, says {text or 'nothing'}", code == 0 and not text)
    code, text = run(programs["gfx906"], "gfx90a")
    check(f"a program for gfx906 on gfx90a: status {code}", code != 0 and programs["gfx906"] + " holds code for gfx906, none of it for gfx90a: "
          "set WAVEJIT_TARGET to gfx906" in text, text)
    code, text = run(programs["gfx906 gfx1030"], "gfx90a")
    check(f"a program for gfx906 and gfx1030 on gfx90a: status {code}", code != 0 and "set WAVEJIT_TARGET to gfx1030 or gfx906," in text, text)
    for target in (None, "gfx90a"):
        code, text = run(programs["gfx940"], target)
        check(f"a program for gfx940 on {target or 'what wavejit takes'}: status {code}", code != 0 and
              programs["gfx940"] + " holds code for gfx940, but emulated are gfx600" in text, text)
sys.exit(status())
