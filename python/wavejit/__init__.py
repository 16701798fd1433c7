"""wavejit from Python: AMD GPU kernels on numpy arrays.

A thin layer over the C interface (include/wavejit/wavejit.h), which says what each option means.

    import numpy, wavejit
    gpu = wavejit.Context(target="gfx90a", memory="checked")
    kernel = gpu.load("kernels.hsaco")["saxpy"]
    y = gpu.array(numpy.ones(100, numpy.float32))
    kernel.launch(grid=128, block=64, args=[2.0, gpu.array(x), y, 100])
    print(y.numpy())
"""

from ._c import STATUS, Fault, StackFrame, WavejitError, library_path
from .context import Captured, Context, DeviceArray, Dispatch, Kernel, Module, Prepared, Result, Snapshot
from .waves import Access, Wave

__all__ = ["Access", "Captured", "Context", "DeviceArray", "Dispatch", "Fault", "Kernel", "Module", "Prepared", "Result", "STATUS",
           "Snapshot", "StackFrame", "Wave", "WavejitError", "library_path"]
