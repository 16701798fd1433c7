#!/usr/bin/env python3
"""Makes a Python wheel of python/wavejit and a built libwavejit, without a network.

wheel.py LIBRARY FOLDER        prints the wheel's path
LIBRARY is libwavejit.so of a build folder or of an installation; its file name has the version. Needs pip, setuptools and
wheel of the Python that runs this.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

PACKAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "python")


def version_of(library):
    """0.1.0 of libwavejit.so.0.1.0, which libwavejit.so is a link to."""
    name = os.path.basename(os.path.realpath(library))
    _, found, version = name.partition(".so.")
    if not found:
        sys.exit(f"wheel.py: {name} has no version in its name: libwavejit.so.MAJOR.MINOR.PATCH is expected")
    return version


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("library")
    p.add_argument("folder")
    a = p.parse_args()
    if not os.path.isfile(a.library):
        sys.exit(f"wheel.py: there is no file {a.library}")
    with tempfile.TemporaryDirectory() as temporary:
        copy = os.path.join(temporary, "python")
        shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "*.so*", "build", "*.egg-info"))
        shutil.copyfile(a.library, os.path.join(copy, "wavejit", "libwavejit.so"))
        with open(os.path.join(copy, "VERSION"), "w") as f:
            f.write(version_of(a.library) + "\n")
        made = os.path.join(temporary, "wheel")
        r = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-index", "--no-deps", "--no-build-isolation",
                            "--disable-pip-version-check", "--wheel-dir", made, copy],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if r.returncode:
            sys.exit(f"wheel.py: pip could not make the wheel:\n{r.stdout}")
        (wheel,) = os.listdir(made)
        os.makedirs(a.folder, exist_ok=True)
        shutil.move(os.path.join(made, wheel), os.path.join(a.folder, wheel))
    print(os.path.join(a.folder, wheel))


if __name__ == "__main__":
    main()
