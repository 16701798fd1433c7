#!/usr/bin/env python3
"""check_tool.py ROCM.PY: what can go wrong when `./wj rocm` makes a tree ends with a message, another status than 0, and
nothing half-made. A server on this machine plays mirrors that are broken."""
import os
import shutil
import signal
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, status  # noqa: E402

tool = sys.argv[1]
if not shutil.which("mmdebstrap"):
    print("mmdebstrap is not installed")
    sys.exit(77)


class Mirror(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    answer = b""  # after the head of each answer
    size = 0  # as the head says it
    hang = False


class Answer(socketserver.BaseRequestHandler):
    def handle(self):
        self.request.recv(65536)
        self.request.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % self.server.size)
        try:
            self.request.sendall(self.server.answer)
            while self.server.hang:
                time.sleep(0.05)
        except OSError:
            pass


def command(cache, *words):
    return [sys.executable, tool] + list(words), dict(os.environ, XDG_CACHE_HOME=cache)


def run(cache, *words):
    words, env = command(cache, *words)
    r = subprocess.run(words, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    return r.returncode, r.stdout.decode(errors="replace")


def left_behind(cache):
    folder = os.path.join(cache, "wavejit/rocm/trixie")
    return [] if not os.path.isdir(folder) else [n for n in os.listdir(folder) if n not in ("lock", "log")]


def refused(what, text, cache, *words):
    status, output = run(cache, *words)
    check(f"{what}: status {status}, {left_behind(cache) or 'nothing'} is left", status not in (0, -9) and text in output and
          "Traceback" not in output and not left_behind(cache), output)


with tempfile.TemporaryDirectory() as cache, Mirror(("127.0.0.1", 0), Answer) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/debian"
    refused("an unknown release", "known are bookworm (12", cache, "woody", "true")
    refused("no release", "Known are", cache)
    refused("a name that is no package's", "'a b' is not the name of a package", cache, "trixie", "--packages", "a b", "true")
    refused("no mirror there", "the mirror is out of reach", cache, "trixie", "--mirror", "http://127.0.0.1:1/debian", "true")
    server.answer, server.size = b"hello", 5
    refused("no mirror of Debian", "not signed by Debian", cache, "trixie", "--mirror", url, "true")
    server.answer, server.size = b"x" * 1000, 1000000
    refused("a download that is cut off", "a download was interrupted", cache, "trixie", "--mirror", url, "true")

    server.hang = True
    words, env = command(cache, "trixie", "--mirror", url, "true")
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    for _ in range(200):
        if left_behind(cache):
            break
        time.sleep(0.05)
    check("a tree is being made", bool(left_behind(cache)))
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    output = process.communicate(timeout=60)[0].decode(errors="replace")
    check(f"interrupted: status {process.returncode}, {left_behind(cache) or 'nothing'} is left",
          process.returncode == 130 and "interrupted" in output and not left_behind(cache), output)
    server.hang = False

    # What a killed run has left goes away with the next one.
    os.makedirs(os.path.join(cache, "wavejit/rocm/trixie/new-1/etc"))
    refused("after a run that was killed", "the mirror is out of reach", cache, "trixie", "--mirror", "http://127.0.0.1:1/debian", "true")

    if os.getuid() == 0:
        small = os.path.join(cache, "small")
        os.makedirs(small)
        server.answer, server.size = b"x" * 4000000, 4000000
        script = f"mount -t tmpfs -o size=1m small {small} && exec env XDG_CACHE_HOME={small} {sys.executable} {tool} trixie --mirror {url} true"
        r = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=120)
        output = r.stdout + r.stderr
        check(f"a full disk: status {r.returncode}", r.returncode != 0 and "the disk is full" in output and "Traceback" not in output, output)

sys.exit(status())
