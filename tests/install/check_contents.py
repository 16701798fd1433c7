#!/usr/bin/env python3
"""check_contents.py PREFIX VERSION: what an installed wavejit consists of, needs and shows to others."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, output, status  # noqa: E402

prefix, version = sys.argv[1:]
# libc is several files; the loader is one of them (thread-local storage).
ALLOWED = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}
FILES = f"""
bin/wavejit include/wavejit/wavejit.h
lib/libwavejit.a lib/libwavejit.so lib/libwavejit.so.0 lib/libwavejit.so.{version}
lib/cmake/wavejit/wavejit-config.cmake lib/cmake/wavejit/wavejit-config-version.cmake
lib/cmake/wavejit/wavejit-targets.cmake lib/cmake/wavejit/wavejit-targets-release.cmake
lib/pkgconfig/wavejit.pc
lib/wavejit/libhsa-runtime64.so.1 lib/wavejit/libamd_comgr.so.2 lib/wavejit/libamd_comgr.so.3
lib/wavejit/shims/libwavejit-kfd.so lib/wavejit/shims/lsmod
share/man/man1/wavejit.1
lib/python3/dist-packages/wavejit/__init__.py lib/python3/dist-packages/wavejit/_c.py
lib/python3/dist-packages/wavejit/context.py lib/python3/dist-packages/wavejit/py.typed
lib/python3/dist-packages/wavejit/waves.py
share/doc/wavejit/copyright share/doc/libwavejit0/copyright share/doc/libwavejit-dev/copyright
share/doc/python3-wavejit/copyright
""".split()


def dynamic(library, tag):
    return {line.split("[")[1].rstrip("]") for line in output("readelf", "-d", library).splitlines() if f"({tag})" in line}


found = {os.path.relpath(os.path.join(folder, name), prefix) for folder, _, names in os.walk(prefix) for name in names}
check(f"missing files: {sorted(set(FILES) - found) or 'none'}", not set(FILES) - found)
check(f"stray files: {sorted(found - set(FILES)) or 'none'}", not found - set(FILES))

os.chdir(prefix)
for link, to in (("lib/libwavejit.so", "libwavejit.so.0"), ("lib/libwavejit.so.0", f"libwavejit.so.{version}")):
    check(f"{link} -> {to}", os.path.islink(link) and os.readlink(link) == to)
for file, soname, names in (("lib/libwavejit.so.0", "libwavejit.so.0", ("wj_",)),
                            ("lib/wavejit/libhsa-runtime64.so.1", "libhsa-runtime64.so.1", ("hsa_", "_amdgpu_r_debug", "ROCR_1")),
                            ("lib/wavejit/shims/libwavejit-kfd.so", "libwavejit-kfd.so", ("open", "fopen", "stat")),
                            ("bin/wavejit", None, None)):
    needed = dynamic(file, "NEEDED")
    check(f"{file}: needs {sorted(needed)}", needed and needed <= ALLOWED)
    check(f"{file}: no path of the build in it", not dynamic(file, "RUNPATH") | dynamic(file, "RPATH"))
    if soname:
        check(f"{file}: is called {soname}", dynamic(file, "SONAME") == {soname})
        exported = [line.split()[2] for line in output("nm", "-D", "--defined-only", file).splitlines()]
        stray = [name for name in exported if not name.startswith(names)]
        check(f"{file}: exports {len(exported)} names; stray: {stray[:5] or 'none'}", exported and not stray)

# The archive is one object that defines the interface and nothing that an embedder's own libraries could clash with.
members = output("ar", "t", "lib/libwavejit.a").split()
check(f"libwavejit.a: members {members}", len(members) == 1)
symbols = [line.split() for line in output("nm", "-g", "--defined-only", "lib/libwavejit.a").splitlines() if len(line.split()) == 3]
shared = {line.split()[2].split("@")[0] for line in output("nm", "-D", "--defined-only", "lib/libwavejit.so.0").splitlines()}
check("libwavejit.a: defines what libwavejit.so exports", {s[2] for s in symbols} == {s for s in shared if s != "wj_0"})
check("libwavejit.a: no weak or unique names", all(s[1] in "TDBR" for s in symbols))
groups = output("readelf", "-gW", "lib/libwavejit.a")
check("libwavejit.a: no section groups", "COMDAT" not in groups)

# The Python package finds the library that it was installed with.
where = output("env", "-u", "WAVEJIT_LIBRARY", "PYTHONDONTWRITEBYTECODE=1", f"PYTHONPATH={prefix}/lib/python3/dist-packages",
               "/usr/bin/python3", "-c", "import wavejit; print(wavejit.library_path())").strip()
check(f"Python: takes {where}", os.path.realpath(where) == os.path.realpath("lib/libwavejit.so"))

# The manual is made from the same texts as --help; each subcommand and option stands in it.
manual = open("share/man/man1/wavejit.1").read().replace("\\-", "-")
for line in output("bin/wavejit", "--help").split("Subcommands:")[1].splitlines():
    if not line.strip():
        continue
    name = line.split()[0]
    check(f"manual: {name}", f"\n.SS {name} " in manual)
    options = [word for word in output("bin/wavejit", name, "--help").split() if word.startswith("--") and word[2:].isidentifier()]
    missing = [option for option in options if option != "--help" and option not in manual.split(f".SS {name} ")[1].split(".SS")[0]]
    check(f"manual: {name}: missing options: {missing or 'none'}", not missing)
warnings = subprocess.run(["groff", "-man", "-ww", "-z", "share/man/man1/wavejit.1"], capture_output=True, text=True)
check(f"manual: groff says {warnings.stderr.strip() or 'nothing'}", warnings.returncode == 0 and not warnings.stderr)

notices = open("share/doc/wavejit/copyright").read()
for name in ("AsmJit", "CLI11", "fmt", "msgpack", "xxHash", "LibYAML", "zstd", "zlib"):
    check(f"licence of {name}", name.lower() in notices.lower())
sys.exit(status())
