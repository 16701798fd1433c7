#!/usr/bin/env python3
"""check_embedding.py PREFIX SOURCES CODE_OBJECT: programs outside of wavejit's sources are built with what lies under PREFIX.

The program is the C interface's own test, so that a build that links is also one that runs."""
import os
import shutil
import subprocess
import sys
import tempfile

prefix, sources, code_object = sys.argv[1:]
here = os.path.dirname(os.path.abspath(__file__))
program = os.path.join(sources, "tests/runtime/c_api_test.c")
clash = os.path.join(here, "embedder", "clash.c")
failures = []
os.environ.update(PKG_CONFIG_PATH=os.path.join(prefix, "lib/pkgconfig"), LC_ALL="C")
os.environ.pop("LD_LIBRARY_PATH", None)


def run(*command, **options):
    return subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)


def check(what, *commands, **environment):
    for command in commands:
        done = run(*command, env={**os.environ, **environment})
        if done.returncode:
            print(f"FAILED  {what}: {' '.join(command)}\n{done.stdout}")
            failures.append(what)
            return
    print("ok      " + what)


def flags(*options):
    return run("pkg-config", *options, "wavejit", check=True).stdout.split()


folder = tempfile.mkdtemp()
try:
    os.chdir(folder)
    lib = os.path.join(prefix, "lib")
    for name, source in (("embedder.c", program), ("clash.c", clash), ("CMakeLists.txt", os.path.join(here, "embedder/CMakeLists.txt"))):
        shutil.copy(source, name)
    check("CMake: configures and builds", ["cmake", "-S", ".", "-B", "b", f"-DCMAKE_PREFIX_PATH={prefix}"], ["cmake", "--build", "b"])
    check("CMake: shared", ["b/with_shared", code_object])
    check("CMake: archive", ["b/with_archive", code_object])
    check("CMake: archive inside a shared library", ["b/with_plugin", code_object])
    wrong = run("cmake", "-S", ".", "-B", "w", f"-DCMAKE_PREFIX_PATH={prefix}", "-DWANTED=0.99")
    if wrong.returncode == 0 or "0.99" not in wrong.stdout:
        failures.append("CMake: another version is refused")
        print("FAILED  CMake: another version is refused\n" + wrong.stdout)

    check("pkg-config: shared", ["cc", "embedder.c", "-o", "shared", *flags("--cflags", "--libs")], ["./shared", code_object],
          LD_LIBRARY_PATH=lib)
    static = ["-l:libwavejit.a" if word == "-lwavejit" else word for word in flags("--cflags", "--static", "--libs")]
    check("pkg-config: archive", ["cc", "embedder.c", "-o", "archive", *static], ["./archive", code_object])
    needed = run("readelf", "-d", "archive").stdout
    if "libwavejit" in needed:
        failures.append("the program with the archive needs the library")
    # As a C program that knows nothing of the above, beside other things of the same names.
    check("archive with -lstdc++ -lm -lpthread -ldl", ["cc", "-std=c99", "-I" + flags("--cflags")[0][2:], "embedder.c", "clash.c",
          os.path.join(lib, "libwavejit.a"), "-o", "clash", "-lstdc++", "-lm", "-lpthread", "-ldl"], ["./clash", code_object])
finally:
    shutil.rmtree(folder)
sys.exit(bool(failures))
