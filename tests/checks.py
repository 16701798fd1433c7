"""What test scripts share that check many things of one setup: each is said, and the status is that of the worst."""
import subprocess

_failures = []


def check(what, good, detail=""):
    print(("ok      " if good else "FAILED  ") + what, flush=True)
    if not good:
        _failures.append(what)
        if detail:
            print(detail, flush=True)


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def status():
    return 1 if _failures else 0
