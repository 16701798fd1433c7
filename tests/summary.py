#!/usr/bin/env python3
"""summary.py RESULTS.xml WAVEJIT: counts of a ctest run (--output-junit), and what this host's processor left out of it.

A skipped test is not a passed one, which is how ctest counts it.
"""
import sys
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
from engines import missing  # noqa: E402


def main():
    results, tool = sys.argv[1:3]
    tests = list(ElementTree.parse(results).iter("testcase"))
    skipped = [t for t in tests if t.find("skipped") is not None and t.get("status") == "notrun"]
    failed = [t for t in tests if t.find("failure") is not None or t.get("status") == "fail"]
    outputs = {t.get("name"): t.findtext("system-out") or "" for t in tests}
    unable = [t for t in skipped if "cannot run" in outputs[t.get("name")]]
    partly = [t for t in tests if t not in skipped and "SKIP engine" in outputs[t.get("name")]]
    lacks = missing(tool)
    if lacks:
        engines = " and ".join(f"{engine} (lacks {features})" for engine, features in lacks.items())
        print(f"this host cannot run the engine {engines}: {len(unable)} tests were left out, {len(partly)} ran on the other "
              "engines only")
    else:
        print(f"this host can run every engine; {len(unable)} tests were left out because of its processor")
    print(f"tests: {len(tests) - len(failed) - len(skipped)} passed, {len(failed)} failed, {len(skipped)} skipped")


main()
