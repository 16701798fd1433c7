"""What the check scripts share: the project's own source files."""
import os

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIP = {".git", ".cache", "build"}


def files(*endings):
    """Paths relative to the root, sorted, of files with one of the endings."""
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [d for d in folders if d not in SKIP]
        for name in names:
            if name.endswith(endings):
                found.append(os.path.relpath(os.path.join(folder, name), ROOT))
    return sorted(found)


def text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def finish(title, errors):
    for e in errors:
        print(e)
    print(f"{title}: " + (f"{len(errors)} errors" if errors else "ok"))
    return 1 if errors else 0
