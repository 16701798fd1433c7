#!/usr/bin/env python3
"""check_tool.py PREFIX BUILD HIP_PROGRAM CODE_OBJECT CLANG: the installed wavejit at work, also in a moved tree and a damaged one."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, status  # noqa: E402

prefix, build, program, code_object, clang = sys.argv[1:]
for name in ("LD_LIBRARY_PATH", "WAVEJIT_TARGET"):
    os.environ.pop(name, None)


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


folder = tempfile.mkdtemp()
try:
    moved = os.path.join(folder, "a tree", "elsewhere")
    shutil.copytree(prefix, moved, symlinks=True)
    tool, drop_in = os.path.join(moved, "bin/wavejit"), os.path.join(moved, "lib/wavejit/libhsa-runtime64.so.1")
    link = os.path.join(folder, "linked")
    os.symlink(tool, link)

    doctor = run(tool, "doctor")
    check("doctor finds the drop-in of the moved tree", doctor.returncode == 0 and drop_in in doctor.stdout, doctor.stdout)
    # The loader tells which libraries it took.
    for name in (tool, link):
        hip = run(name, "run", program, "events", env={**os.environ, "LD_DEBUG": "files"})
        loaded = set(re.findall(r"calling init: (.*libhsa-runtime64.*)", hip.stdout))
        check(f"{os.path.basename(name)} run: HIP on the moved drop-in", hip.returncode == 0 and drop_in in loaded, hip.stdout[-2000:])
    launch = run(tool, "launch", code_object, "--kernel", "of_up_to_128", "--grid", "128", "--block", "128", "--arg",
                 "buf:512:print=2xu32")
    check("launch", launch.returncode == 0 and launch.stdout.split()[-2:] == ["128", "128"], launch.stdout)

    # A stand-in without any function, as libraries that are opened when they are used may be missing or others.
    def without(library):
        stub = os.path.join(folder, "stub")
        os.makedirs(stub, exist_ok=True)
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", os.path.join(stub, library)], check=True)
        return {**os.environ, "LD_LIBRARY_PATH": stub}

    source, object_file = os.path.join(folder, "null.cl"), os.path.join(folder, "null.co")
    with open(source, "w") as file:
        file.write("kernel void null(global int* p) {\n    p[0] = 1;\n}\n")
    subprocess.run([clang, "--target=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-x", "cl", "-g", "-O1", "-nogpulib", source, "-o", object_file],
                   check=True)
    fault = (tool, "launch", object_file, "--arg", "u64:0")
    report = run(*fault)
    check("a fault report names the source line", report.returncode == 1 and "null.cl:2" in report.stdout, report.stdout)
    report = run(*fault, env=without("libdw.so.1"))
    check("a fault report without libdw says so", report.returncode == 1 and "libdw.so.1" in report.stdout
          and "null.cl:2" not in report.stdout, report.stdout)
    listing = run(tool, "host-asm", object_file)
    check("host-asm", listing.returncode == 0 and "s_endpgm" in listing.stdout, listing.stdout)
    zydis = run("sh", "-c", f"ldconfig -p | grep -o 'libZy[a-z]*\\.so\\.[0-9.]*' | sort -u").stdout.split()
    check(f"Zydis and its base library are installed: {zydis}", len(set(zydis)) == 2)
    for library in zydis:
        listing = run(tool, "host-asm", object_file, env=without(library))
        check(f"host-asm without {library} says so", listing.returncode == 1 and library in listing.stdout, listing.stdout)

    os.remove(drop_in)
    for words in (("run", program, "events"), ("doctor",)):
        gone = run(tool, *words)
        check(f"{words[0]} without the drop-in: says what is missing and where it was looked for", gone.returncode == 1
              and "libhsa-runtime64.so.1 is missing" in gone.stdout and os.path.dirname(drop_in) in gone.stdout
              and "install wavejit again" in gone.stdout, gone.stdout)

    # Nobody can make a folder below a file; as root that is what not being allowed to looks like.
    nowhere = run("cmake", "--install", build, "--prefix", os.path.join(link, "below"))
    check("a prefix that cannot be made: fails and names it", nowhere.returncode != 0 and "linked/below" in nowhere.stdout,
          nowhere.stdout)
finally:
    shutil.rmtree(folder)
sys.exit(status())
