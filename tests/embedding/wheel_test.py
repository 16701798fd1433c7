#!/usr/bin/env python3
"""A wheel of the tree installs by pip without a network, and the tutorial runs on what it installed.

wheel_test.py WHEEL_TOOL LIBRARY TUTORIAL_TEST TUTORIAL.md message.hsaco
Ends with 77, naming what is missing, where Python has no pip, setuptools or wheel.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

SKIPPED = 77


def main(tool, library, tutorial_test, tutorial, message):
    missing = [name for name in ("pip", "setuptools", "wheel") if not importlib.util.find_spec(name)]
    if missing:
        print(f"SKIP {sys.executable} has no {', '.join(missing)}")
        return SKIPPED
    with tempfile.TemporaryDirectory() as temporary:
        wheel = subprocess.run([sys.executable, tool, library, temporary], check=True, text=True,
                               stdout=subprocess.PIPE).stdout.strip()
        name = os.path.basename(wheel)
        assert name.startswith("wavejit-") and name.endswith("-py3-none-linux_x86_64.whl"), name
        installed = os.path.join(temporary, "installed")
        subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--target", installed,
                        "--disable-pip-version-check", wheel], check=True)
        # The wheel's library, not another one.
        env = dict(os.environ, PYTHONPATH=installed, PYTHONDONTWRITEBYTECODE="1")
        env.pop("WAVEJIT_LIBRARY", None)
        where = subprocess.run([sys.executable, "-c", "from wavejit import _c; print(_c.library_path())"], check=True, text=True,
                               stdout=subprocess.PIPE, env=env).stdout.strip()
        assert where == os.path.join(installed, "wavejit", "libwavejit.so"), where
        return subprocess.run([sys.executable, tutorial_test, tutorial, message], env=env).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
