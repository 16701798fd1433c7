"""The Debian releases that `./wj rocm` knows: where their packages come from, and which of them HIP programs need."""
from dataclasses import dataclass, field

# Packages with AMD's software; from experimental only these are taken, all others from unstable.
ROCM_PACKAGES = r"/^(lib)?(hip|roc(alution|blas|fft|m|minfo|prim|prof|rand|solver|sparse|thrust|tx|wmma)|rccl|miopen|amd(hip|-comgr|-smi)|hsa)/"


@dataclass(frozen=True)
class Release:
    name: str  # as apt's sources name the suite, and as the cache folder is called
    aliases: tuple
    hip: str
    libraries: tuple  # packages that a HIP program needs to run; hipcc brings the rest
    base: str = ""  # the suite that this one only adds to
    packages: tuple = field(default=("hipcc", "libamdhip64-dev", "rocminfo"))


RELEASES = (
    Release("bookworm", ("12", "oldstable"), "5.2", ("libamdhip64-5", "libhiprtc-builtins5", "libamd-comgr2")),
    Release("trixie", ("13", "stable"), "5.7", ("libamdhip64-5", "libhiprtc-builtins5", "libamd-comgr2")),
    Release("unstable", ("sid",), "6.4", ("libamdhip64-6", "libhiprtc6", "libhiprtc-builtins6")),
    Release("experimental", ("rc-buggy",), "7.2", ("libamdhip64-7", "libhiprtc7", "libhiprtc-builtins7"), base="unstable"),
)


def find_release(name):
    return next((r for r in RELEASES if name == r.name or name in r.aliases), None)


def known_releases():
    return "; ".join(f"{r.name} ({', '.join(r.aliases)}): HIP {r.hip}" for r in RELEASES)
