#!/usr/bin/env python3
"""./wj rocm RELEASE [COMMAND ...]: runs a command in a tree of another Debian release, on the emulated GPU.

A tree is made once by mmdebstrap and kept in ${XDG_CACHE_HOME:-~/.cache}/wavejit/rocm/RELEASE. What makes or changes
it works in a folder of another name, which is renamed when it is whole. The drop-in library and the tools of this
build are seen in the tree as /opt/wavejit; this project, the present folder and /tmp as they are outside.
"""
import argparse
import ctypes
import fcntl
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time

from releases import ROCM_PACKAGES, find_release, known_releases

sys.dont_write_bytecode = True
PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
INSIDE = "/opt/wavejit"
PASSED_ON = ("WAVEJIT_", "HIP_", "HSA_", "AMD_", "GPU_", "ROC_", "LC_", "GTEST_", "GGML_", "OMP_")  # variables of the caller
# What apt and dpkg say -> what the user can do about it. The first that matches is told.
REASONS = (
    (r"No space left on device|not have enough free space|Disk quota exceeded",
     "the disk is full; make room, or set XDG_CACHE_HOME to a folder on another disk"),
    (r"is expired|is not valid anymore|Release file .* expired",
     "the release file of the mirror has expired; --allow-expired accepts it"),
    (r"Unable to locate package ([^\s]+)|Package '?([^\s']+)'? has no installation candidate", "the release has no package {}"),
    (r"URI parse", "--mirror takes the address of a Debian mirror, as in http://deb.debian.org/debian"),
    (r"Could not resolve|Temporary failure resolving|Could not connect|Cannot initiate the connection|Connection (refused|timed out|failed)|"
     r"Unable to connect|Network is unreachable", "the mirror is out of reach; check the network, and apt's proxy settings"),
    (r"Hash Sum mismatch|File has unexpected size|Connection (reset|closed)|Undetermined Error|Error reading from server|"
     r"Remote end closed", "a download was interrupted or damaged; try again"),
    (r"NOSPLIT|is not signed|couldn't be verified|signature", "the mirror's release file is not signed by Debian"),
    (r"Failed to fetch", "the mirror did not answer as mirrors of Debian do"),
)


def fail(message, status=1):
    print(f"wj rocm: {message}", file=sys.stderr)
    sys.exit(status)


def say(message):
    print(f"wj rocm: {message}", file=sys.stderr, flush=True)


# --- the machine's apt ------------------------------------------------------------------------------------


def own_mirror():
    """The machine's own mirror of Debian, or the one that every Debian knows."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"],
                            capture_output=True, text=True).stdout
    own = [line.split()[0] for line in listed.splitlines() if line.endswith(" Debian")]
    return own[0] if own else "http://deb.debian.org/debian"


def apt_options(allow_expired):
    """Proxies of the machine's apt, which mmdebstrap does not read."""
    dump = subprocess.run(["apt-config", "dump"], capture_output=True, text=True).stdout
    options = [line for line in dump.splitlines() if re.match(r'Acquire::https?::[Pp]roxy\S* ".+";', line)]
    options += ['Acquire::Languages "none";', 'APT::Install-Recommends "false";', 'Acquire::Retries "2";']
    if allow_expired:
        options.append('Acquire::Check-Valid-Until "false";')
    return options


def sources(release, mirror):
    return [f"deb {mirror} {suite} main" for suite in (release.base, release.name) if suite]


# --- namespaces -------------------------------------------------------------------------------------------


def in_namespace(words):
    """The command, with mounts of its own that end with it; who is not root becomes root of a user namespace."""
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    if os.getuid() != 0:
        own += ["--map-root-user", "--map-auto"]
    return own + ["--"] + words


def die_with_parent():
    pr_set_pdeathsig = 1  # linux/prctl.h
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def mount_script(tree, shared):
    """Shell lines that show a tree the machine's devices, and folders under their own names."""
    lines = ["set -e", f"mount -t proc proc '{tree}/proc'"]  # of the namespace's own processes
    for folder in ("/sys", "/dev", "/tmp"):
        lines.append(f"mount --rbind {folder} '{tree}{folder}'")
    for path in shared:
        inside = shlex.quote(tree + path)
        lines.append(f"mkdir -p {inside} && mount --rbind {shlex.quote(path)} {inside}")
    # As on the machine: names are resolved for apt.
    lines.append(f"[ ! -e /etc/resolv.conf ] || cp -L /etc/resolv.conf '{tree}/etc/resolv.conf'")
    return "\n".join(lines) + "\n"


def remove(path):
    """Files that a user namespace made belong to others outside of it. What was killed may write for a moment longer."""
    words = (["unshare", "--map-root-user", "--map-auto", "--"] if os.getuid() else []) + ["rm", "-rf", path]
    for attempt in range(20):
        if not os.path.lexists(path) or subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0:
            return
        time.sleep(0.1)
    subprocess.run(words, check=True)


# --- making trees -----------------------------------------------------------------------------------------


class Interrupted(Exception):
    pass


def logged(words, log):
    """Runs a command with its output in a file; shows what apt is at, and True when it succeeded."""
    with open(log, "wb") as out:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True,
                                   preexec_fn=die_with_parent)
        try:
            return process.wait() == 0
        except (Interrupted, KeyboardInterrupt):
            # mmdebstrap, first process of its namespace, takes no milder signal at times; the tree is removed as it is.
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def explain(log):
    text = open(log, errors="replace").read()
    for pattern, reason in REASONS:
        found = re.search(pattern, text)
        if found:
            return reason.format(next((g for g in found.groups() if g), "")) if "{}" in reason else reason
    return "\n".join(["its last lines:"] + text.splitlines()[-12:])


def first_tree(release, packages, new, log, a):
    words = ["mmdebstrap", "--mode=root", "--variant=apt", "--format=directory", "--include=" + ",".join(packages)]
    words += [f"--aptopt={option}" for option in apt_options(a.allow_expired)]
    for folder in ("doc", "man", "locale", "info"):
        words.append(f"--dpkgopt=path-exclude=/usr/share/{folder}/*")
    if release.base:
        pin = f"Package: {ROCM_PACKAGES}\\nPin: release a={release.name}\\nPin-Priority: 990\\n"
        words.append(f"--setup-hook=mkdir -p \"$1\"/etc/apt/preferences.d && printf '{pin}' >\"$1\"/etc/apt/preferences.d/wavejit")
    suite = release.base or release.name
    words += [suite, new] + sources(release, a.mirror or own_mirror())
    # mmdebstrap's own mode for others than root cannot leave a folder behind.
    return logged(in_namespace(words), log)


def changed_tree(old, packages, new, log, a):
    """A tree of hard links (dpkg replaces files, it does not change them), in which apt installs more."""
    namespace = [] if os.getuid() == 0 else ["unshare", "--map-root-user", "--map-auto", "--"]
    if not logged(namespace + ["cp", "-al", old, new], log):
        return False
    install = "apt-get {0} update && DEBIAN_FRONTEND=noninteractive apt-get {0} install -y {1}".format(
        "-o Acquire::Check-Valid-Until=false" if a.allow_expired else "", " ".join(packages))
    script = mount_script(new, []) + f"exec chroot '{new}' /bin/sh -c '{install}'"
    return logged(in_namespace(["/bin/sh", "-c", script]), log)


def installed(tree):
    try:
        status = open(os.path.join(tree, "var/lib/dpkg/status"), errors="replace").read()
    except OSError:
        return set()
    names = set()
    for paragraph in status.split("\n\n"):
        if "Status: install ok installed" in paragraph:
            names.add(re.match(r"Package: (\S+)", paragraph.lstrip()).group(1))
            names.update(name.split()[0] for line in re.findall(r"^Provides: (.*)$", paragraph, re.M) for name in line.split(","))
    return names


def interrupt(number, frame):
    raise Interrupted()


def prepare(release, packages, folder, a):
    """Makes the tree, or adds the packages that it lacks. The caller holds the folder's lock for itself."""
    tree, log = os.path.join(folder, "tree"), os.path.join(folder, "log")
    missing = sorted(set(packages) - installed(tree))
    exists = os.path.isdir(tree)
    for name in os.listdir(folder):  # of a run that was killed
        if name.startswith("new-"):
            remove(os.path.join(folder, name))
    if exists and not missing:
        return
    if not exists and not shutil.which("mmdebstrap"):
        fail("mmdebstrap is missing: apt-get install mmdebstrap")
    say(f"{'adding to' if exists else 'making'} {tree}: {' '.join(missing)} (minutes; what apt says is in {log})")
    new = os.path.join(folder, f"new-{os.getpid()}")
    good = False
    signal.signal(signal.SIGTERM, interrupt)
    try:
        good = changed_tree(tree, missing, new, log, a) if exists else first_tree(release, packages, new, log, a)
        if not good:
            fail(f"{release.name}: the tree could not be {'changed' if exists else 'made'}: {explain(log)}\n({log} is the whole report)")
        old = os.path.join(folder, f"new-{os.getpid()}-old")
        if exists:
            os.rename(tree, old)
        os.rename(new, tree)
        remove(old)
    except (Interrupted, KeyboardInterrupt):
        fail("interrupted; nothing was kept of what was under way", 130)
    finally:
        remove(new)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


# --- running ----------------------------------------------------------------------------------------------


def built():
    preset = os.environ.get("WJ_PRESET", "release")
    if subprocess.run([os.path.join(PROJECT, "wj"), "build", "wavejit", "hsa-runtime64", "wavejit-kfd"]).returncode != 0:
        sys.exit(1)
    return os.path.join(PROJECT, "build", preset)


def build_script(build, tree):
    """Shell lines that lay the drop-in and the tools into the tree, in memory that ends with the namespace. They need
    nothing that a tree has not."""
    drop_in, tool = os.path.join(build, "hsa/libhsa-runtime64.so.1"), os.path.join(build, "tools/wavejit")
    for path in (drop_in, tool):
        if not os.path.exists(path):
            fail(f"{path} is missing: ./wj build")
    own, lib = tree + INSIDE, f"{tree}{INSIDE}/lib/wavejit"  # as an installation is laid out
    return "\n".join([
        f"mkdir -p '{own}' && mount -t tmpfs wavejit '{own}' && mkdir -p '{own}/bin' '{lib}'",
        f"cp '{tool}' '{own}/bin' && cp -r '{build}/tools/shims' '{lib}'",
        f"cp -L '{drop_in}' '{build}'/hsa/libamd_comgr.so.* '{lib}' && ln -s libhsa-runtime64.so.1 '{lib}/libhsa-runtime64.so'",
        ""])


def run(tree, build, binds, command):
    """The command's status, or 128 and the signal that ended it or this process."""
    shared = []
    for path in [PROJECT, os.getcwd()] + binds:
        if path != "/" and not any(path == other or path.startswith(other + "/") for other in shared + ["/tmp"]):
            shared.append(path)
    environment = {name: value for name, value in os.environ.items()
                   if name in ("TERM", "LANG") or name.startswith(PASSED_ON)}
    environment.update(HOME="/root", PATH=f"{INSIDE}/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       LD_LIBRARY_PATH=f"{INSIDE}/lib/wavejit")
    script = (mount_script(tree, shared) + build_script(build, tree) +
              # The shell stays: the first process of a namespace, which it is, takes no signal that it does not ask for.
              f"exec chroot '{tree}' /bin/sh -c 'cd \"$0\" && \"$@\"; exit $?' \"$0\" \"$@\"")
    process = subprocess.Popen(in_namespace(["/bin/sh", "-c", script, os.getcwd()] + command), env=environment,
                               preexec_fn=die_with_parent)

    def end(number, frame):
        process.kill()  # and with unshare all that runs in the namespace
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of the terminal: the command gets it, too, and decides
    status = process.wait()
    return status if status >= 0 else 128 - status


def arguments(words):
    p = argparse.ArgumentParser(prog="./wj rocm", description="Runs a command in a tree of a Debian release, on the emulated GPU.",
                                usage="./wj rocm [OPTION ...] RELEASE [OPTION ...] [COMMAND ...]",
                                epilog=f"Releases: {known_releases()}. Without a command the tree is only made.")
    p.add_argument("--packages", default="", help="packages that the tree must have, with commas between them")
    p.add_argument("--allow-expired", action="store_true", help="accept a release file of the mirror whose time is over")
    p.add_argument("--mirror", metavar="URL", help="of Debian, for a new tree (default: the machine's own)")
    p.add_argument("--bind", action="append", default=[], metavar="FOLDER", help="a further folder that the command sees")
    p.add_argument("--build", metavar="FOLDER", help="whose drop-in and tools are used (default: this project's, built now)")
    # Options may stand before and behind the release; all that begins with the command's name is the command's.
    with_value = {"--packages", "--mirror", "--bind", "--build"}
    at, release = 0, None
    while at < len(words):
        if words[at] == "--":
            at += 1
            if release:
                break
        elif words[at].startswith("-"):
            at += 2 if words[at] in with_value else 1
        elif release:
            break
        else:
            release, words = words[at], words[:at] + words[at + 1:]
    a, rest = p.parse_args(words[:at]), words[at:]
    if not release:
        p.error(f"which release? Known are {known_releases()}")
    return a, release, rest


def main():
    a, name, command = arguments(sys.argv[1:])
    release = find_release(name)
    if not release:
        fail(f"unknown release '{name}'; known are {known_releases()}", 2)
    packages = list(release.packages + release.libraries) + [p for p in a.packages.split(",") if p]
    for name in packages:
        if not re.fullmatch(r"[a-z0-9][a-z0-9+.-]*", name):
            fail(f"'{name}' is not the name of a package", 2)
    for folder in a.bind:
        if not os.path.isdir(folder):
            fail(f"--bind {folder}: there is no such folder", 2)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.path.join(cache, "wavejit/rocm", release.name)
    try:
        os.makedirs(folder, exist_ok=True)
        lock = open(os.path.join(folder, "lock"), "w")
    except OSError as e:
        fail(f"{folder}: {e.strerror}")
    # Others may run commands at the same time, and nobody changes the tree meanwhile.
    fcntl.flock(lock, fcntl.LOCK_SH)
    tree = os.path.join(folder, "tree")
    if set(packages) - installed(tree):
        fcntl.flock(lock, fcntl.LOCK_EX)
        prepare(release, packages, folder, a)
        fcntl.flock(lock, fcntl.LOCK_SH)
    if not command:
        return 0
    return run(tree, a.build or built(), [os.path.abspath(b) for b in a.bind], command)


if __name__ == "__main__":
    sys.exit(main())
