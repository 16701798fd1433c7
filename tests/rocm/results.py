"""Results of a long run, one JSON object a line: what is there already is not run again."""
import json
import os
import sys
import time


class Results:
    def __init__(self, path, total=0):
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self.path, self.total, self.rows = path, total, {}
        if os.path.exists(path):
            for line in open(path):
                try:
                    row = json.loads(line)
                except ValueError:  # the line that an interrupted run was writing
                    continue
                self.rows[row["name"]] = row
        self.file = open(path, "a", buffering=1)

    def has(self, name):
        return name in self.rows

    def add(self, name, status, seconds=0.0, reason=""):
        """status: "ok", "failed" or "skipped"."""
        row = {"name": name, "status": status, "seconds": round(seconds, 2), "reason": reason[-2000:]}
        self.rows[name] = row
        self.file.write(json.dumps(row) + "\n")
        mark = {"ok": "ok  ", "failed": "FAIL", "skipped": "skip"}[status]
        where = f"[{len(self.rows)}/{self.total}] " if self.total else ""
        print(f"{where}{mark} {name} {seconds:.1f} s" + (f": {reason.strip().splitlines()[-1][:200]}" if reason.strip() else ""), flush=True)

    def timed(self, name, function):
        """function() returns (status, reason)."""
        if self.has(name):
            return
        begin = time.monotonic()
        status, reason = function()
        self.add(name, status, time.monotonic() - begin, reason)

    def finish(self):
        """Prints the counts; the exit status says whether all that ran was right."""
        count = {s: sum(row["status"] == s for row in self.rows.values()) for s in ("ok", "failed", "skipped")}
        seconds = sum(row["seconds"] for row in self.rows.values())
        for row in self.rows.values():
            if row["status"] == "failed":
                print(f"FAIL {row['name']}:\n{row['reason']}")
        print(f"{count['ok']} right, {count['failed']} wrong, {count['skipped']} skipped; {seconds:.0f} s ({self.path})", flush=True)
        sys.exit(1 if count["failed"] or not count["ok"] else 0)
