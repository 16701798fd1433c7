#!/usr/bin/env python3
"""check_deliver.py DELIVER.SH BUILD: what is behind `./wj install` puts everything into a folder, or leaves it as it was."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, status  # noqa: E402

deliver, build = sys.argv[1:]


def run(*words, **environment):
    r = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120, env={**os.environ, **environment})
    return r.returncode, r.stdout


def names(folder):
    return sorted(os.listdir(folder)) if os.path.isdir(folder) else None


folder = tempfile.mkdtemp()
try:
    prefix = os.path.join(folder, "a prefix", "below")
    code, text = run(deliver, "check", build, prefix)
    check(f"check: status {code}, {names(folder) or 'nothing'} is left", code == 0 and not names(folder), text)
    code, text = run(deliver, "install", build, prefix)
    check(f"install: status {code}, {names(prefix)}", code == 0 and names(prefix) == ["bin", "include", "lib", "share"], text)
    before = os.stat(prefix + "/bin/wavejit").st_ino
    code, text = run(deliver, "install", build, prefix)
    check("install once more replaces files", code == 0 and os.stat(prefix + "/bin/wavejit").st_ino != before, text)

    file = os.path.join(folder, "file")
    open(file, "w").close()
    for what in ("check", "install"):  # nobody can make a folder below a file; as root that is what not being allowed to looks like
        code, text = run(deliver, what, build, os.path.join(file, "below"))
        check(f"{what} where nothing can be made: status {code}", code == 1 and "file/below" in text, text)
    code, text = run(deliver, "install", os.path.join(folder, "no-build"), prefix)
    check(f"no build: status {code}", code == 1 and "no-build" in text and "./wj build" in text, text)

    # A stand-in for cmake that is interrupted half-way: it has written a file when its parent gets the signal.
    stand_in = os.path.join(folder, "stand-in")
    os.makedirs(stand_in)
    with open(os.path.join(stand_in, "cmake"), "w") as file:
        file.write('#!/bin/sh\nwhile [ "$1" != --prefix ]; do shift; done\nmkdir "$2/bin" && : >"$2/bin/half" && kill -s $WJ_SIGNAL $PPID\n')
    os.chmod(file.name, 0o755)
    for name in ("INT", "TERM", "HUP"):
        other = os.path.join(folder, "other")
        code, text = run(deliver, "install", build, other, PATH=stand_in + ":" + os.environ["PATH"], WJ_SIGNAL=name)
        check(f"interrupted by SIG{name}: status {code}, {names(other) or 'nothing'} is left", code == 130 and names(other) is None, text)

    if os.getuid() == 0:
        small = os.path.join(folder, "small")
        os.makedirs(small)
        script = f"mount -t tmpfs -o size=2m small {small} && mkdir {small}/kept && '{deliver}' install '{build}' {small}/kept; r=$?; " \
                 f"find {small} -mindepth 1; exit $r"
        code, text = run("unshare", "--mount", "sh", "-c", script)
        check(f"a full disk: status {code}", code == 1 and "the disk is full" in text and text.splitlines()[-1] == small + "/kept", text)
finally:
    shutil.rmtree(folder)
sys.exit(status())
