#!/usr/bin/env python3
"""Documents are readable and true in what a script can see: lengths of lines, paragraphs and pages; links, paths, commands and names exist."""
import os
import re
import sys

from sources import ROOT, files, finish, text

LINE, PARAGRAPH, PAGE, MECHANISM = 160, 6, 300, 120
# Pages that tables or a program make, and pages that are one long table: no bound of their own.
TABLES = {"docs/reference/coverage.md": "written by wavejit-coverage", "docs/reference/ir.md": "written by ir_reference.py",
          "docs/reference/seed-rows.md": "one row for each requirement"}
TOP = {name for name in os.listdir(ROOT) if not name.startswith(".") or name == ".ci"} - {"build"}
# What looks like a path of the repository and is none: build products, paths of an installation, of other projects.
ELSEWHERE = re.compile(r"^(?:build/|bin/|lib/|share/|include/wavejit/$|libs?/)")
PATH = re.compile(r"(?<![\w$~./-])((?:[A-Za-z_.][\w.+-]*/)+[\w.*+-]*)")


def exists(path):
    path = path.rstrip(".,;:").rstrip("/")
    if "*" in path:
        import glob
        return bool(glob.glob(os.path.join(ROOT, path)))
    return os.path.exists(os.path.join(ROOT, path)) or any(
        os.path.exists(os.path.join(ROOT, path + ending)) for ending in (".h", ".cpp", ".hip"))


def subcommands():
    """Of the tool, by what its sources register; of ./wj, by its usage."""
    tool = set()
    for path in files(".cpp"):
        if path.startswith("tools/"):
            tool |= set(re.findall(r'add_subcommand\(\s*"([\w-]+)"', text(path)))
    script = set(re.findall(r"^  ([a-z]+)(?: |$)", text("wj"), re.M))
    return tool, script


def identifiers():
    """Every word of the sources."""
    return {word for path in files(".h", ".cpp", ".inc", ".py") for word in re.findall(r"\w+", text(path))}


def paragraphs(lines):
    """(number of the first line, length) of each run of text that is neither table, code, heading nor a list's next item."""
    start, length, code = 0, 0, False
    for n, line in enumerate(lines + [""], 1):
        if line.startswith("```"):
            code = not code
        plain = line.strip() and not code and not line.startswith(("|", "#", "```", "    ", "!["))
        if length and (not plain or re.match(r"\s*(?:[-*]|\d+\.) ", line)):
            yield start, length
            length = 0
        if plain:
            start = start if length else n
            length += 1


def check_page(path, tool, script, known):
    errors = []
    body = text(path)
    lines = body.splitlines()
    log = path.startswith("docs/log/")
    for n, line in enumerate(lines, 1):
        if len(line) > LINE and not line.lstrip().startswith("|") and path not in TABLES:
            errors.append(f"{path}:{n}: {len(line)} characters; {LINE} at most")
    if not log and path not in TABLES:
        if len(lines) > PAGE:
            errors.append(f"{path}: {len(lines)} lines; {PAGE} at most outside docs/log")
        errors += [f"{path}:{n}: a paragraph of {length} lines; {PARAGRAPH} at most"
                   for n, length in paragraphs(lines) if length > PARAGRAPH]
        if path.startswith("docs/design/") and "**Problem.**" in body and len(lines) > MECHANISM:
            errors.append(f"{path}: {len(lines)} lines; {MECHANISM} at most for a mechanism")
    here = os.path.dirname(path)
    for target in re.findall(r"\]\(([^)\s]+)\)", body):
        if "://" in target or target.startswith("#"):
            continue
        if not os.path.exists(os.path.join(ROOT, here, target.split("#")[0])):
            errors.append(f"{path}: link to {target}, which does not exist")
    for word in re.findall(r"`([^`\n]+)`", body):
        # `schedule.cpp` alone may be any file's name; with a folder of the repository in front it is a path.
        for name in PATH.findall(word):
            if name.split("/")[0] in TOP and not ELSEWHERE.match(name) and not exists(name):
                errors.append(f"{path}: names {name}, which does not exist")
    if not log:
        # Names such as `Schedule::repeats` are the code's, not the guest's or the host's.
        for name in re.findall(r"`((?:\w+::)+\w+)", body):
            errors += [f"{path}: names {name}, but there is no {part}" for part in name.split("::") if part not in known]
    for code in re.findall(r"`([^`\n]+)`", body) + re.findall(r"^    (.*)$", body, re.M) + re.findall(r"```\n(.*?)```", body, re.S):
        for name in re.findall(r"(?:^|[\s/])wavejit ([a-z][\w-]*)", code):
            if name not in tool:
                errors.append(f"{path}: `wavejit {name}`: no such command")
        for name in re.findall(r"\./wj ([a-z][\w-]*)", code):
            if name not in script:
                errors.append(f"{path}: `./wj {name}`: no such command")
    return errors


def check_comments():
    """Pages that sources name."""
    errors = []
    for path in files(".h", ".cpp", ".inc", ".py", ".cmake", ".txt", ".sh") + ["wj"]:
        for name in re.findall(r"(?<![\w/.-])docs/[\w/-]+\.md", text(path)):
            if name != "docs/gguf.md" and not exists(name):  # of the ggml project
                errors.append(f"{path}: names {name}, which does not exist")
    return errors


def main():
    tool, script = subcommands()
    known = identifiers()
    pages = [p for p in files(".md") if p.startswith("docs/") or p.endswith("README.md")]
    errors = [] if tool and script else ["no subcommands found: has the tool's or ./wj's source changed?"]
    for path in pages:
        errors += check_page(path, tool, script, known)
    return finish(f"documents ({len(pages)})", errors + check_comments())


if __name__ == "__main__":
    sys.exit(main())
