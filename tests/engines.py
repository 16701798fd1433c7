"""Which engines this host can run, as the tool itself says."""
import os
import re
import subprocess


def missing(tool):
    """{"avx512": "avx512f, avx512bw"}: engines that this host cannot run, and what the processor lacks."""
    report = subprocess.run([tool, "doctor"], capture_output=True, text=True).stdout
    found = re.findall(r"(AVX\S+) engine +.*lacks ([^)\n]+)", report)
    return {name.lower().replace("-", ""): features for name, features in found}


def runnable(engines, library_dir):
    """Those of the engines that this host can run; says once which are left out. The tool is built beside the library."""
    lacks = missing(os.path.join(library_dir, "..", "tools", "wavejit"))
    for engine in engines:
        if engine in lacks:
            print(f"SKIP engine {engine}: this host cannot run it (lacks {lacks[engine]})", flush=True)
    return [engine for engine in engines if engine not in lacks]
