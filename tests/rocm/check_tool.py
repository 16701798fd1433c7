#!/usr/bin/env python3
"""check_tool.py ROCM.PY BUILD: what can go wrong when `./wj rocm` makes a tree ends with a message, another status than 0, and
nothing half-made. A server on this machine plays mirrors that are broken. Commands run in a tree that is this machine's /usr."""
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

tool, build = sys.argv[1:]
sys.path.insert(0, os.path.dirname(tool))
from releases import find_release  # noqa: E402

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


def within(seconds, condition):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def processes_with(path):
    """Those that have it among their arguments."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                found += [pid] if path.encode() in file.read() else []
        except OSError:  # it has ended
            pass
    return found


def run_until_a_tree_is_made(cache, url):
    """A run that waits for a mirror; mmdebstrap is at work."""
    words, env = command(cache, "trixie", "--mirror", url, "true")
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check("a tree is being made", within(60, lambda: left_behind(cache) and processes_with(cache + "/wavejit")))
    return process


def make_own_tree(cache):
    """A tree in which all wanted packages are called installed. Its usr is to be mounted."""
    tree = os.path.join(cache, "wavejit/rocm/trixie/tree")
    for folder in ("usr", "proc", "sys", "dev", "tmp", "etc", "var/lib/dpkg"):
        os.makedirs(os.path.join(tree, folder))
    for name in ("bin", "sbin", "lib", "lib64"):
        os.symlink("usr/" + name, os.path.join(tree, name))
    release = find_release("trixie")
    with open(os.path.join(tree, "var/lib/dpkg/status"), "w") as file:
        for name in release.packages + release.libraries:
            file.write(f"Package: {name}\nStatus: install ok installed\n\n")
    return tree


def in_own_tree(cache, tree, script):
    """A command that runs a shell's text in the tree."""
    words = [sys.executable, tool, "--build", build, "trixie", "sh", "-c", script]
    return ["unshare", "--mount", "env", f"XDG_CACHE_HOME={cache}", "sh", "-c", f'mount --bind /usr "{tree}/usr" && exec "$@"', "sh"] + words


def commands_in_a_tree(cache):
    tree = make_own_tree(cache)
    r = subprocess.run(in_own_tree(cache, tree, "command -v wavejit; ls /opt/wavejit/lib/wavejit; exit 7"), capture_output=True, text=True)
    check(f"a command: status {r.returncode}", r.returncode == 7 and r.stdout.startswith("/opt/wavejit/bin/wavejit\n") and
          "libhsa-runtime64.so.1" in r.stdout.split(), r.stdout + r.stderr)
    r = subprocess.run(in_own_tree(cache, tree, "kill -SEGV $$"), capture_output=True, text=True)
    check(f"a command that ends by a signal: status {r.returncode}", r.returncode == 128 + signal.SIGSEGV, r.stdout + r.stderr)
    # One that takes no notice of the signal ends, too, and so does what it started.
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        process = subprocess.Popen(in_own_tree(cache, tree, "trap '' TERM HUP; sleep 987 & echo on; wait"), stdout=subprocess.PIPE)
        process.stdout.readline()
        begin = time.monotonic()
        process.send_signal(number)
        process.stdout.read()  # until nobody can write any more
        took, ended = time.monotonic() - begin, process.wait()
        check(f"ended by {number.name}: status {ended}, after {took:.1f} s", took < 60 and ended in (128 + number, -number))


with tempfile.TemporaryDirectory() as cache, Mirror(("127.0.0.1", 0), Answer) as server:
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/debian"
    refused("an unknown release", "known are bookworm (12", cache, "woody", "true")
    refused("no release", "Known are", cache)
    refused("a name that is no package's", "'a b' is not the name of a package", cache, "trixie", "--packages", "a b", "true")
    refused("a folder that is not there", "there is no such folder", cache, "trixie", "--bind", cache + "/nowhere", "true")
    refused("a mirror that is no address", "--mirror takes the address", cache, "trixie", "--mirror", "nonsense", "true")
    refused("no mirror there", "the mirror is out of reach", cache, "trixie", "--mirror", "http://127.0.0.1:1/debian", "true")
    server.answer, server.size = b"hello", 5
    refused("no mirror of Debian", "not signed by Debian", cache, "trixie", "--mirror", url, "true")
    server.answer, server.size = b"x" * 1000, 1000000
    refused("a download that is cut off", "a download was interrupted", cache, "trixie", "--mirror", url, "true")

    # At any time of its work, as mmdebstrap's processes take signals differently from one moment to the next.
    server.hang = True
    for number, seconds in ((signal.SIGTERM, 0), (signal.SIGTERM, 0.3), (signal.SIGTERM, 1), (signal.SIGTERM, 3), (signal.SIGKILL, 1)):
        process = run_until_a_tree_is_made(cache, url)
        time.sleep(seconds)
        process.send_signal(number)
        output = process.communicate(timeout=60)[0].decode(errors="replace")
        if number == signal.SIGTERM:
            check(f"interrupted: status {process.returncode}, {left_behind(cache) or 'nothing'} is left",
                  process.returncode == 130 and "interrupted" in output and not left_behind(cache), output)
        # Nobody may write on into what the next run removes.
        check(f"ended by {number.name} after {seconds} s: nothing goes on with the tree", within(10, lambda: not processes_with(cache + "/wavejit")))
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
        commands_in_a_tree(os.path.join(cache, "own"))

sys.exit(status())
