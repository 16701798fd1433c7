#!/usr/bin/env python3
"""check_loading.py LIBWAVEJIT LIBHSA KERNEL: both libraries are opened by a process that runs already (this one), and used.

What programs that were not linked with them see: room in static thread-local storage, exported names, HIP on the drop-in."""
import ctypes
import ctypes.util
import os
import re
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.dont_write_bytecode = True
from checks import check, output, status  # noqa: E402

libwavejit, libhsa, kernel = sys.argv[1:]
for library, prefix in ((libwavejit, "wj_"), (libhsa, ("hsa_", "_amdgpu_r_debug", "ROCR_1"))):
    size = sum(int(line.split()[5], 16) for line in output("readelf", "-lW", library).splitlines() if line.strip().startswith("TLS"))
    check(f"{library}: {size} bytes of static thread-local storage, at most 64", size <= 64)
    names = [line.split() for line in output("nm", "-D", "--defined-only", library).splitlines()]
    stray = [n[2] for n in names if not n[2].startswith(prefix)]
    check(f"{library}: exports {len(names)} names, others than its interface: {stray or 'none'}", names and not stray)
    check(f"{library}: no unique symbols", not [n for n in names if n[1] == "u"])
    check(f"{library}: symbols have versions", "Version definitions" in output("objdump", "-p", library))

# The C interface: a context, memory, a module, a launch.
wj = ctypes.CDLL(libwavejit)
context, module, function, address = (ctypes.c_void_p() for _ in range(4))
message = ctypes.create_string_buffer(512)
check("wj_context_create", wj.wj_context_create(None, ctypes.byref(context), message, 512) == 0)
check("wj_memory_allocate", wj.wj_memory_allocate(context, ctypes.c_uint64(4096), ctypes.byref(address)) == 0)
check("wj_module_load_file", wj.wj_module_load_file(context, kernel.encode(), ctypes.byref(module)) == 0)
check("wj_module_get_kernel", wj.wj_module_get_kernel(module, b"ids", ctypes.byref(function)) == 0)

# HIP, with the drop-in below it; kernels run in hipMemset.
ctypes.CDLL(libhsa, mode=ctypes.RTLD_GLOBAL)
hip = ctypes.CDLL("libamdhip64.so.5")


def use_hip(result):
    count, buffer, back = ctypes.c_int(), ctypes.c_void_p(), (ctypes.c_uint32 * 1024)()
    good = hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value >= 1
    good &= hip.hipMalloc(ctypes.byref(buffer), ctypes.c_size_t(4096)) == 0
    good &= hip.hipMemset(buffer, 0x5a, ctypes.c_size_t(4096)) == 0
    good &= hip.hipMemcpy(back, buffer, ctypes.c_size_t(4096), 2) == 0  # device to host
    result.append(good and all(x == 0x5A5A5A5A for x in back))


results = []
use_hip(results)
worker = threading.Thread(target=use_hip, args=(results,))  # threads of the program that were there first, and others
worker.start()
worker.join()
check("HIP calls", results == [True, True])

# The library stays: its handlers for signals and forks do.
ctypes.CDLL(None).dlclose(ctypes.c_void_p(wj._handle))
mapped = re.findall(r"libwavejit\.so", open("/proc/self/maps").read())
check("dlclose keeps the library", bool(mapped))
sys.exit(status())
