#!/usr/bin/env python3
"""What the translators decide for blocks of the yardstick's kernels must be what tests/golden/plans/*.txt say.

    check_plans.py TOOL OBJECTS...             compare; exit status 1 and a diff when something differs
    check_plans.py TOOL OBJECTS... --update    write the plans anew; look at the difference before you commit it
    check_plans.py TOOL OBJECTS... --select RECORDING...
                                            make files for the smallest blocks of a recording that show each mechanism

OBJECTS: folders of code objects. A file names a block, and that it is translated for checked memory if so, then says what was
known of the wave that ran it (lift/profile.h), then what is decided for both instruction sets. Nothing is run, so that both are
checked on any host. A recording is what WAVEJIT_PLANS=FILE makes yardstick write.
"""
import difflib
import glob
import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plans")
ISAS = ("avx2", "avx512")
MECHANISMS = os.path.join(HERE, *[os.pardir] * 3, "backend_x64", "plan", "mechanisms.inc")
EACH = 3  # blocks for a mechanism
HEAD = re.compile(r"; (\S+) block \+(0x[0-9a-f]+) (full|partial)( checked)?\n")


def objects_by_kernel(folders):
    """{kernel: path of its code object}, by symbol."""
    found = {}
    for path in sorted(p for folder in folders for p in glob.glob(os.path.join(folder, "*.hsaco"))):
        data = open(path, "rb").read()
        for name in re.findall(rb"([A-Za-z_]\w*)\.kd\0", data):
            found.setdefault(name.decode(), path)
    return found


def plan(tool, code_object, head, profile_file):
    kernel, block, variant, checked = head
    command = [tool, "plan", code_object, "--kernel", kernel, "--block", "+" + block, "--profile", profile_file]
    if variant == "full":
        command.append("--exec-full")
    if checked:
        command.append("--checked")
    texts = []
    for isa in ISAS:
        made = subprocess.run(command + ["--isa", isa], capture_output=True, text=True)
        if made.returncode:
            sys.exit(f"{profile_file}, {isa}: {made.stderr}")
        texts.append(f"== {isa}\n" + made.stdout.split("\n", 1)[1])  # without the kernel's name
    return "".join(texts)


def with_plan(tool, objects, path):
    text = open(path).read()
    head = HEAD.match(text)
    if not head:
        sys.exit(f"{path}: its first line is not '; KERNEL block +0xOFFSET full' (or partial)")
    if head[1] not in objects:
        sys.exit(f"{path}: no code object holds kernel {head[1]}")
    known = text.split("\n==", 1)[0].rstrip("\n") + "\n"
    with open(path + ".tmp", "w") as out:
        out.write(known)
    try:
        return text, known + plan(tool, objects[head[1]], head.groups(), path + ".tmp")
    finally:
        os.remove(path + ".tmp")


def select(tool, objects, recordings):
    """Files for the smallest blocks that take each mechanism, of those that a recording shows."""
    mechanisms = set(re.findall(r'MECHANISM\(\w+, *"([^"]+)"', open(MECHANISMS).read()))
    blocks = {}
    for recording in recordings:
        for text in open(recording).read().split("\nblock ")[0:]:
            match = re.match(r"(?:block )?(\w+)(?:\+(0x[0-9a-f]+))? (full|partial)\n", text)
            if not match or match[1] not in objects:
                continue
            lines = text.split("\n")[1:]
            known = [line for line in lines if re.match(r"mode |launch |next |memory |[sv]\d+ ", line)]
            taken = {re.sub(r":.*", "", line.strip()) for line in lines if line.startswith("  ")} & mechanisms
            if known:
                blocks.setdefault((match[1], match[2] or "0x0", match[3]), (known, taken))
    size = {key: len(known) for key, (known, _) in blocks.items()}
    chosen = set()
    for mechanism in sorted(mechanisms):
        showing = sorted((k for k, (_, taken) in blocks.items() if mechanism in taken), key=lambda k: (k not in chosen, size[k], k))
        chosen.update(showing[:EACH])
        print(f"{mechanism}: {', '.join(k[0] + '+' + k[1] for k in showing[:EACH])}")
    for kernel, block, variant in chosen:
        with open(os.path.join(HERE, f"{kernel}_{block}_{variant}.txt"), "w") as out:
            out.write(f"; {kernel} block +{block} {variant}\n" + "\n".join(blocks[kernel, block, variant][0]) + "\n")


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    tool, *rest = sys.argv[1:]
    at = next((n for n, word in enumerate(rest) if word.startswith("--")), len(rest))
    objects, mode = objects_by_kernel(rest[:at]), "".join(rest[at:at + 1])
    if not rest[:at] or mode not in ("", "--update", "--select"):
        sys.exit(__doc__)
    if mode == "--select":
        select(tool, objects, rest[at + 1:])
    paths = sorted(glob.glob(os.path.join(HERE, "*.txt")))
    if not paths:
        sys.exit(f"{HERE} holds no plans")
    different = 0
    for path in paths:
        old, now = with_plan(tool, objects, path)
        if old == now:
            continue
        different += 1
        if mode:
            with open(path, "w") as out:
                out.write(now)
        else:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), now.splitlines(True), os.path.basename(path), "now"))
    print(f"{different} of {len(paths)} files " + ("written" if mode else "differ"))
    if different and not mode:
        print("If the new plans are meant: ./wj bless")
        sys.exit(1)


main()
