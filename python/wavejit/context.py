"""Contexts, modules, kernels and arrays on the emulated GPU."""
from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from ctypes import byref, c_uint64, c_void_p
from dataclasses import dataclass
from typing import Any, Union, overload

import numpy
import numpy.typing

from . import _c
from .waves import KEEP, Hooks, Wave

Array = numpy.typing.NDArray[Any]
DType = numpy.typing.DTypeLike
Sizes = Union[int, Iterable[int]]  # one number, or up to three
Values = Any  # what numpy makes an array of, or an object of another library with __dlpack__

ENGINES = {"auto": 0, "interp": 1, "avx2": 2, "avx512": 3}
MEMORY = {"identity": 0, "checked": 1, "window": 2}
HIDDEN_LAYOUTS = {"auto": 0, "standard": 1, "libclc": 2}
RIGHTS = {"": 0, "r": 1, "w": 2, "rw": 3}
CHECKS = {"memory": 1, "init": 2, "race": 4, "barrier": 8, "waitcnt": 16, "alignment": 32, "division": 64,
          "unaligned": 128, "inexact": 256}


def _three(what: str, numbers: Sizes) -> Any:
    numbers = (numbers,) if isinstance(numbers, int) else tuple(numbers)
    if not 1 <= len(numbers) <= 3:
        raise ValueError(f"{what}: 1 to 3 numbers of work-items are wanted, not {len(numbers)}")
    sizes = [_c.checked_for(what, number, ctypes.c_uint32) for number in numbers]
    return (ctypes.c_uint32 * 3)(*sizes, *(1,) * (3 - len(sizes)))


def _seed(seed: int) -> int:
    return _c.checked_for("seed", seed, c_uint64)


def _modes(engine: str, memory: str, checks: Iterable[str]) -> dict[str, int]:
    """Fields of ContextOptions."""
    checks = set(checks)
    for value, known, what in ((engine, ENGINES, "engine"), (memory, MEMORY, "memory"),
                               *((check, CHECKS, "check") for check in checks)):
        if value not in known:
            raise ValueError(f"{what} {value!r}: one of {', '.join(known)} is wanted")
    return {"engine": ENGINES[engine], "memory_mode": MEMORY[memory], "checks": sum(CHECKS[check] for check in checks)}


@dataclass(frozen=True)
class Result:
    """What a dispatch that ended well did."""
    work_groups: int
    waves: int
    wave_instructions: int
    nanoseconds: int


def _array(values: Values, dtype: DType) -> Array:
    """Contiguous; of others' arrays without a copy where that is possible."""
    if not isinstance(values, numpy.ndarray) and hasattr(values, "__dlpack__"):
        values = numpy.from_dlpack(values)
    made: Array = _c.plain(numpy.ascontiguousarray(values, dtype))
    return made


def _result(result: _c.ResultInfo) -> Result:
    return Result(result.work_groups, result.waves, result.wave_instructions, result.end_ns - result.start_ns)


def _keep_number(keep_waves: str) -> int:
    if keep_waves not in KEEP:
        raise ValueError(f"keep_waves {keep_waves!r}: one of {', '.join(KEEP)} is wanted")
    return KEEP[keep_waves]


def _launch(context: Context, kernel: c_void_p, options: _c.LaunchOptions,
            hooks: dict[str, Callable[..., Any]] | None, keep_waves: str) -> Result:
    options.keep_waves = _keep_number(keep_waves)
    called = Hooks(hooks or {}, context.last_error, context._running)
    options.hooks = ctypes.addressof(called.struct) if hooks else None
    dispatch = Dispatch(context, kernel, options)
    return dispatch._outcome(_c.dispatch_wait(dispatch._handle), called)


class Context:
    """An emulated GPU. coverage: counters for the edges of guest code, as a number of them or a
    contiguous uint8 array; `coverage` is then the array, which the caller clears. checks: names of
    CHECKS; what they find is a Fault. coverage_report: a file for the source lines that kernels
    reach, as lcov writes it, or for blocks of code if it ends in .drcov, which close() writes.
    coverage_divergence: edges that only some lanes of a wave take have counters of their own;
    coverage_lanes: by how many take them. window_bytes: with memory="window", how large the window
    is; 0: 64 GiB. weak_memory: with deterministic=True and launches with a seed, nothing but a
    kernel's own waits and cache operations orders its accesses."""
    _opened: c_void_p | None = None

    def __init__(self, target: str = "gfx90a", engine: str = "auto", memory: str = "checked", threads: int = 0,
                 coverage: int | Array | None = None, deterministic: bool = False, compute_units: int = 0,
                 checks: Iterable[str] = (), window_bytes: int = 0,
                 coverage_report: str | None = None, coverage_divergence: bool = False,
                 coverage_lanes: bool = False, weak_memory: bool = False) -> None:
        options = _c.ContextOptions(target=target.encode(), threads=threads, compute_units=compute_units,
                                    deterministic=int(deterministic), window_bytes=window_bytes,
                                    coverage_report=coverage_report.encode() if coverage_report else None,
                                    coverage_divergence=int(coverage_divergence), coverage_lanes=int(coverage_lanes),
                                    weak_memory=int(weak_memory), **_modes(engine, memory, checks))
        self._modules: list[c_void_p] = []
        self._prepared: list[Prepared] = []
        self._hooks: dict[int, _c.PageHooks] = {}
        self._hook_error: BaseException | None = None
        self._dispatches: set[int] = set()  # handles that are not released yet
        self._running: list[bool] = []  # an element for each hook that runs
        self.coverage: Array | None = None
        if coverage is not None:
            self.coverage = numpy.zeros(coverage, numpy.uint8) if isinstance(coverage, int) else coverage
            if self.coverage.dtype != numpy.uint8 or not self.coverage.flags.c_contiguous:
                raise ValueError("coverage counters are a contiguous array of uint8")
            options.coverage = 2
            options.coverage_counters = self.coverage.ctypes.data
            options.coverage_size = self.coverage.size
        handle, error = c_void_p(), ctypes.create_string_buffer(1024)
        status = _c.context_create(byref(options), byref(handle), error, len(error))
        if status:
            raise _c.WavejitError(status, error.value.decode())
        self._opened = handle

    def require_open(self) -> None:
        """What belongs to a context has gone with it, which C cannot tell."""
        if not self._opened:
            raise RuntimeError("the context is closed")

    @property
    def _handle(self) -> c_void_p | None:
        self.require_open()
        return self._opened

    def check(self, status: int) -> None:
        if status:
            raise _c.WavejitError(status, self.last_error())

    def last_error(self) -> str:
        return str(_c.last_error(self._handle).decode())

    def outside_hooks(self, what: str) -> None:
        """What has no status in C."""
        if self._running:
            raise RuntimeError(f"{what} within its hooks")

    def close(self) -> None:
        """Ends the context with its modules and arrays. Also at the end of a `with`. Not within its hooks."""
        if self._opened:
            self.outside_hooks("a context cannot be closed")
            for prepared in list(self._prepared):
                prepared.release()
            for dispatch in self._dispatches:
                _c.dispatch_release(c_void_p(dispatch))
            self._dispatches.clear()
            for module in self._modules:
                _c.module_unload(module)
            self._modules.clear()
            _c.context_destroy(self._opened)
            self._opened = None

    def __enter__(self) -> Context:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    @property
    def info(self) -> dict[str, Any]:
        """target, engine, threads, compute_units, wave_size, lds_bytes, max_work_group_size."""
        info = _c.ContextInfo()
        self.check(_c.context_get_info(self._handle, byref(info)))
        return {name: value.decode() if isinstance(value, bytes) else value
                for name, value in ((f[0], getattr(info, f[0])) for f in info._fields_[1:])}

    def load(self, code: str | os.PathLike[str] | bytes | bytearray | memoryview) -> Module:
        """A module from a file's name or from the bytes of a code object, bundle or program."""
        if not isinstance(code, (bytes, bytearray, memoryview)):
            with open(code, "rb") as file:
                code = file.read()
        code, handle = bytes(code), c_void_p()
        self.check(_c.module_load(self._handle, code, len(code), byref(handle)))
        self._modules.append(handle)
        return Module(self, handle)

    def array(self, values: Values, dtype: DType = None) -> DeviceArray:
        """Device memory with a copy of the values: of anything that numpy takes, or that has __dlpack__."""
        values = _array(values, dtype)
        array = DeviceArray(self, values.shape, values.dtype)
        array.write(values)
        return array

    def zeros(self, shape: int | Sequence[int], dtype: DType = numpy.float32) -> DeviceArray:
        array = self.empty(shape, dtype)  # memory that is allocated holds zeros
        self.check(_c.memory_mark_written(self._handle, array.address, array.nbytes))
        return array

    def empty(self, shape: int | Sequence[int], dtype: DType = numpy.float32) -> DeviceArray:
        """What nobody has written, as checks="init" has it."""
        return DeviceArray(self, shape, dtype)

    def snapshot(self, only_marked_writes: bool = False, dispatch: Dispatch | None = None) -> Snapshot:
        """What all device memory holds now. only_marked_writes: with checked memory, if the host
        writes by DeviceArray.write() alone: restoring then costs what was written. dispatch: where a launch
        that a limit or a hook has stopped stands, too (Fault.dispatch)."""
        options, handle = _c.SnapshotOptions(only_marked_writes=int(only_marked_writes)), c_uint64()
        if dispatch:
            options.dispatch = dispatch._handle
        self.check(_c.snapshot_take(self._handle, byref(options), byref(handle)))
        return Snapshot(self, handle.value, dispatch)

    def protect(self, memory: DeviceArray | int, rights: str, nbytes: int = 0) -> None:
        """From now on the pages of an array, or of `nbytes` bytes from an address on, have these rights: "r", "w",
        "rw" or ""."""
        if rights not in RIGHTS:
            raise ValueError(f"rights {rights!r}: one of {', '.join(map(repr, RIGHTS))} is wanted")
        address = memory.address if isinstance(memory, DeviceArray) else memory
        nbytes = nbytes or (memory.nbytes if isinstance(memory, DeviceArray) else 0)
        self.check(_c.memory_protect(self._handle, address, nbytes, RIGHTS[rights]))

    def hook(self, address: int, nbytes: int, load: Callable[[int, int], int] | None = None,
             store: Callable[[int, int, int], object] | None = None) -> None:
        """A device in memory: kernels' accesses to these pages call load(address, bytes), which returns a number, and
        store(address, bytes, value), for 1, 2 or 4 bytes. What they raise is the cause of the Fault that the access
        is then. Without a function such accesses are faults. Needs checked memory."""
        def guarded(call: Callable[[], None]) -> int:
            self._running.append(True)
            try:
                call()
                return 0
            except BaseException as error:  # it may not leave a hook
                self._hook_error = error
                return 1
            finally:
                self._running.pop()

        def put(value: Any, number: int, size: int, at: int) -> None:
            value[0] = _c.checked_bits(f"what the hook for loads returned for {size} bytes at {at:#x}", number, size)

        hooks = _c.PageHooks()
        if load:
            function = load
            hooks.load = _c.HookLoad(
                lambda _, at, size, value: guarded(lambda: put(value, function(at, size), size, at)))
        if store:
            procedure = store

            def stored(at: int, size: int, value: int) -> None:
                procedure(at, size, value)
            hooks.store = _c.HookStore(lambda _, at, size, value: guarded(lambda: stored(at, size, value)))
        self.check(_c.memory_hook(self._handle, address, nbytes, byref(hooks)))
        self._hooks[address] = hooks

    def unhook(self, address: int) -> None:
        self.check(_c.memory_unregister(self._handle, address))
        del self._hooks[address]

    def fault(self, info: _c.FaultInfo, data: _c.FaultData) -> _c.Fault:
        """With what a hook of pages has raised as its cause."""
        fault = _c.Fault(info, data)
        fault.__cause__, self._hook_error = self._hook_error, None
        return fault

    def write_coverage(self, path: str) -> None:
        """What kernels have reached so far, as coverage_report, which the context has."""
        self.check(_c.coverage_write(self._handle, path.encode()))

    def clone(self) -> Context:
        """A context with the same options, modules and memory contents; clone.of(...) is what an
        array or a module of this one is there. Needs checked memory."""
        handle = c_void_p()
        self.check(_c.context_clone(self._handle, byref(handle)))
        return Context._of(handle, self.coverage)

    @staticmethod
    def _of(handle: c_void_p, coverage: Array | None) -> Context:
        """A context that ends its modules itself."""
        made = Context.__new__(Context)
        made._opened, made.coverage = handle, coverage
        made._modules, made._prepared = [], []
        made._hooks, made._hook_error = {}, None
        made._dispatches, made._running = set(), []
        return made

    @overload
    def of(self, thing: DeviceArray) -> DeviceArray: ...
    @overload
    def of(self, thing: Module) -> Module: ...
    def of(self, thing: DeviceArray | Module) -> DeviceArray | Module:
        """What a DeviceArray or Module of the context that this one is a clone of is here."""
        if isinstance(thing, DeviceArray):
            return DeviceArray(self, thing.shape, thing.dtype, thing.address)
        handle = c_void_p()
        self.check(_c.context_get_module(self._handle, thing._handle, byref(handle)))
        return Module(self, handle)


class Snapshot:
    """What device memory held, of Context.snapshot(), and where its dispatch stood."""

    def __init__(self, context: Context, handle: int, dispatch: Dispatch | None) -> None:
        self._context, self._handle, self.dispatch = context, handle, dispatch

    def restore(self) -> tuple[int, int]:
        """Returns how many pages were examined and how many copied."""
        info = _c.RestoreInfo()
        self._context.check(_c.snapshot_restore(self._context._handle, self._handle, byref(info)))
        if self.dispatch:
            self.dispatch._part += 1
        return info.pages_examined, info.pages_copied

    def release(self) -> None:
        self._context.check(_c.snapshot_release(self._context._handle, self._handle))


class DeviceArray:
    """Device memory that holds an array, until it is freed or its context ends. Where numpy or, by
    __dlpack__, another library reads it, it gets a copy."""

    def __init__(self, context: Context, shape: int | Sequence[int], dtype: DType,
                 address: int | None = None) -> None:
        self.shape = (shape,) if isinstance(shape, int) else tuple(shape)
        self.dtype = numpy.dtype(dtype)
        _c.check_plain(self.dtype)
        self.nbytes = self.dtype.itemsize * int(numpy.prod(self.shape, dtype=numpy.int64))
        self._context = context
        if address is None:
            made = c_uint64()
            context.check(_c.memory_allocate(context._handle, self.nbytes, byref(made)))
            address = made.value
        self.address: int = address

    def write(self, values: Values) -> None:
        values = numpy.ascontiguousarray(numpy.broadcast_to(_array(values, None), self.shape), self.dtype)
        self._context.check(_c.memory_write(self._context._handle, self.address, values.ctypes.data,
                                            self.nbytes))

    def numpy(self) -> Array:
        """A copy."""
        out = numpy.empty(self.shape, self.dtype)
        self._context.check(_c.memory_read(self._context._handle, out.ctypes.data, self.address, self.nbytes))
        return out

    def __array__(self, dtype: DType = None, copy: bool | None = None) -> Array:
        if copy is False:
            raise ValueError("device memory is read as a copy")
        return self.numpy().astype(dtype or self.dtype, copy=False)

    def __dlpack__(self, **options: Any) -> Any:
        return self.numpy().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0  # kDLCPU: where the copy is

    def free(self) -> None:
        self._context.check(_c.memory_free(self._context._handle, self.address))


class _Loaded:
    """What goes with its context."""

    def __init__(self, context: Context, handle: c_void_p) -> None:
        self._context, self._loaded = context, handle

    @property
    def _handle(self) -> c_void_p:
        self._context.require_open()
        return self._loaded


class Module(_Loaded):
    """A loaded code object; module["kernel"], or iteration over its kernels."""

    def __init__(self, context: Context, handle: c_void_p) -> None:
        super().__init__(context, handle)
        kernels = (Kernel(self, _c.module_kernel_at(handle, i)) for i in range(_c.module_kernel_count(handle)))
        self._kernels = {kernel.name: kernel for kernel in kernels}

    def __iter__(self) -> Iterator[Kernel]:
        return iter(self._kernels.values())

    def __len__(self) -> int:
        return len(self._kernels)

    def __getitem__(self, name: str) -> Kernel:
        if name not in self._kernels:
            raise KeyError(f"there is no kernel {name!r}; there are: {', '.join(self._kernels)}")
        return self._kernels[name]

    def variable(self, name: str) -> tuple[int, int]:
        """Address and size of a device variable."""
        address, size = c_uint64(), c_uint64()
        self._context.check(_c.module_get_variable(self._handle, name.encode(), byref(address), byref(size)))
        return address.value, size.value


@dataclass(frozen=True)
class ArgumentInfo:
    name: str
    type_name: str
    kind: str
    offset: int
    bytes: int
    local: bool


class Kernel(_Loaded):
    """A kernel of a module: what its descriptor and metadata say, and its launches."""

    def __init__(self, module: Module, handle: c_void_p) -> None:
        super().__init__(module._context, handle)
        self._module = module
        info = _c.KernelInfo()
        self._context.check(_c.kernel_get_info(handle, byref(info)))
        self.name: str = info.name.decode()
        self.vgprs, self.agprs, self.sgprs = info.vgprs, info.agprs, info.sgprs
        self.static_lds, self.private_bytes = info.static_lds, info.private_bytes
        self.kernarg_size, self.code_size = info.kernarg_size, info.code_size
        self.arguments: list[ArgumentInfo] = []
        for index in range(info.explicit_argument_count):
            a = _c.ArgumentInfo()
            self._context.check(_c.kernel_get_argument(handle, index, byref(a)))
            self.arguments.append(ArgumentInfo(a.name.decode(), a.type_name.decode(), a.kind.decode(),
                                               a.offset, a.bytes, bool(a.local)))

    def _bytes_of(self, argument: ArgumentInfo, value: Any) -> tuple[bytes | None, int]:
        """What goes into the argument segment; a number of bytes for local memory."""
        what = f"argument {argument.name!r} of {self.name}"
        if argument.local:
            return None, _c.checked_for(what, value, ctypes.c_uint32)
        if isinstance(value, DeviceArray):
            data = value.address.to_bytes(8, "little")
        elif isinstance(value, (bytes, bytearray)):
            data = bytes(value)
        elif isinstance(value, (numpy.generic, numpy.ndarray)):
            data = value.tobytes()
        elif isinstance(value, float) or argument.type_name in ("float", "double", "half"):
            data = numpy.array(value, numpy.dtype(f"f{argument.bytes}")).tobytes()
        elif argument.bytes in (1, 2, 4, 8):
            data = _c.checked_bits(what, value, argument.bytes).to_bytes(argument.bytes, "little")
        else:
            raise TypeError(f"{what} has {argument.bytes} bytes: bytes or numpy's values are wanted")
        if len(data) != argument.bytes:
            raise ValueError(f"{what} has {argument.bytes} bytes, not {len(data)}")
        return data, len(data)

    def _options(self, grid: Sizes, block: Sizes, args: Sequence[Any], timeout: float, instruction_limit: int,
                 seed: int, dynamic_lds: int, hidden_layout: str,
                 named: dict[str, Any]) -> tuple[_c.LaunchOptions, list[Any]]:
        """Launch options, and what they point to."""
        if hidden_layout not in HIDDEN_LAYOUTS:
            raise ValueError(f"hidden_layout {hidden_layout!r}: one of {', '.join(HIDDEN_LAYOUTS)} is wanted")
        names = [argument.name for argument in self.arguments]
        if unknown := named.keys() - set(names[len(args):]):
            raise TypeError(f"{self.name} has no further argument {', '.join(sorted(unknown))}; it has "
                            f"{', '.join(names)}")
        values = list(args) + [named[name] for name in names[len(args):] if name in named]
        if len(values) != len(names):
            raise TypeError(f"{self.name} takes {len(names)} arguments ({', '.join(names)}), not {len(values)}")
        kept = [self._bytes_of(argument, value) for argument, value in zip(self.arguments, values)]
        arguments = (_c.Argument * max(1, len(kept)))(
            *(_c.Argument(ctypes.cast(ctypes.c_char_p(data), c_void_p) if data is not None else None, size)
              for data, size in kept))
        options = _c.LaunchOptions(grid=_three("grid", grid), block=_three("block", block), arguments=arguments,
                                   argument_count=len(kept), dynamic_lds=dynamic_lds,
                                   timeout_ns=_c.nanoseconds(timeout), instruction_limit=instruction_limit,
                                   schedule_seed=_seed(seed), hidden_layout=HIDDEN_LAYOUTS[hidden_layout])
        return options, kept

    def launch(self, grid: Sizes, block: Sizes, args: Sequence[Any] = (), timeout: float = 0.0,
               instruction_limit: int = 0, seed: int = 0, dynamic_lds: int = 0,
               hooks: dict[str, Callable[..., Any]] | None = None, keep_waves: str = "none",
               hidden_layout: str = "auto", **named: Any) -> Result:
        """Runs on grid work-items in work-groups of block work-items (numbers, or up to three) and
        waits. Arguments in order, or by name. Numbers take the argument's width; arrays are
        DeviceArrays. Raises Fault when the kernel is stopped. hooks: functions by the names of
        HOOKS, called with a Wave, "access" and "atomic" with an Access, too; False stops the
        dispatch, and so does what they raise. keep_waves: "exact" or "engine", for Fault.waves.
        hidden_layout: "standard" or "libclc", where the code does not tell which implicit arguments
        it reads."""
        options, _kept = self._options(grid, block, args, timeout, instruction_limit, seed, dynamic_lds, hidden_layout,
                                       named)
        return _launch(self._context, self._handle, options, hooks, keep_waves)

    def patch(self, offset: int, code: bytes) -> None:
        """Changes machine code in place, `offset` bytes behind the first instruction; launches that were prepared run
        the new code, too."""
        self._context.check(_c.kernel_patch(self._handle, offset, code, len(code)))

    def capture(self, path: str, grid: Sizes, block: Sizes, args: Sequence[Any] = (), dynamic_lds: int = 0,
                hidden_layout: str = "auto", **named: Any) -> None:
        """Writes what launch() with these arguments would do into a file: the code, the arguments
        and all memory of the context. Captured(path) and `wavejit replay` launch it."""
        options, _kept = self._options(grid, block, args, 0.0, 0, 0, dynamic_lds, hidden_layout, named)
        self._context.check(_c.capture_write(self._handle, byref(options), path.encode()))

    def prepare(self, grid: Sizes, block: Sizes, args: Sequence[Any] = (), timeout: float = 0.0,
                instruction_limit: int = 0, seed: int = 0, dynamic_lds: int = 0, hidden_layout: str = "auto",
                **named: Any) -> Prepared:
        """The same launch for many times: call what this returns, with the arguments that change."""
        options, _kept = self._options(grid, block, args, timeout, instruction_limit, seed, dynamic_lds, hidden_layout,
                                       named)
        handle = c_void_p()
        self._context.check(_c.launch_prepare(self._handle, byref(options), byref(handle)))
        return Prepared(self, handle)


class Dispatch:
    """A launch that has stopped, with keep_waves: Fault.dispatch. Where a limit or a hook has stopped it, it may go on, and
    be a part of a snapshot. It is there until nobody has it, its faults, waves and snapshots any more, or its context
    ends."""

    def __init__(self, context: Context, kernel: c_void_p, options: _c.LaunchOptions) -> None:
        self._context, self._handle = context, c_void_p()
        self._part = 0  # what has been kept is that of one part
        self._context.check(_c.dispatch_submit(kernel, byref(options), byref(self._handle)))
        self._context._dispatches.add(self._handle.value or 0)

    def _is_there(self) -> bool:
        return self._handle.value in self._context._dispatches

    @property
    def waves(self) -> list[Wave]:
        """Those that stand still, until it goes on or a snapshot brings it back."""
        part = self._part
        numbers = range(_c.dispatch_wave_count(self._handle)) if self._is_there() else ()
        return [Wave(_c.dispatch_wave_at(self._handle, n), self._context.last_error,
                     lambda: self._is_there() and self._part == part) for n in numbers]

    def resume(self, timeout: float = 0.0, instruction_limit: int = 0, hooks: dict[str, Callable[..., Any]] | None = None,
               keep_waves: str = "none") -> Result:
        """Goes on where its waves stand, with what was written to them, and waits, like launch(). Limits count from here
        on. Raises Fault when it stops again."""
        if not self._is_there():
            raise RuntimeError("the dispatch's context has ended")
        called = Hooks(hooks or {}, self._context.last_error, self._context._running)
        options = _c.ResumeOptions(timeout_ns=_c.nanoseconds(timeout), instruction_limit=instruction_limit,
                                   hooks=ctypes.addressof(called.struct) if hooks else None,
                                   keep_waves=_keep_number(keep_waves), wait=1)
        status = _c.dispatch_resume(self._handle, byref(options))
        if _c.STATUS.get(status) in ("invalid argument", "not ready"):  # no kernel ends so
            self._context.check(status)
        self._part += 1
        return self._outcome(status, called)

    def _outcome(self, status: int, hooks: Hooks) -> Result:
        """Of a part that has ended so."""
        if status:
            if hooks.raised:
                raise hooks.raised
            info, data = _c.FaultInfo(), _c.FaultData()
            self._context.check(_c.dispatch_get_fault(self._handle, byref(info)))
            _c.dispatch_get_fault_data(self._handle, byref(data))
            fault = self._context.fault(info, data)
            fault.stack = _c.stack_of(lambda index, frame: int(_c.dispatch_get_frame(self._handle, index, frame)))
            fault.waves = self.waves
            fault.dispatch = self if fault.waves else None
            raise fault
        result = _c.ResultInfo()
        _c.dispatch_get_result(self._handle, byref(result))
        return _result(result)

    def __del__(self) -> None:
        if self._is_there() and not self._context._running:  # else the end of the context releases it
            self._context._dispatches.discard(self._handle.value or 0)
            _c.dispatch_release(self._handle)


class Captured:
    """A launch from a file that Kernel.capture() or `wavejit run --capture` has written, in a context
    of its own, whose options are those of Context. memory: an array of bytes for each allocation, at
    the address that it had."""

    def __init__(self, path: str, engine: str = "auto", memory: str = "checked", threads: int = 0,
                 deterministic: bool = False, checks: Iterable[str] = (), weak_memory: bool = False) -> None:
        options = _c.ContextOptions(threads=threads, deterministic=int(deterministic), weak_memory=int(weak_memory),
                                    **_modes(engine, memory, checks))
        handle, error = c_void_p(), ctypes.create_string_buffer(1024)
        status = _c.capture_open(path.encode(), byref(options), byref(handle), error, len(error))
        if status:
            raise _c.WavejitError(status, error.value.decode())
        self.context = Context._of(handle, None)
        self._kernel, self._options = c_void_p(), _c.LaunchOptions()
        self.context.check(_c.capture_get_launch(handle, byref(self._kernel), byref(self._options)))
        self.memory: list[DeviceArray] = []
        info = _c.CapturedMemory()
        while _c.capture_get_memory(handle, len(self.memory), byref(info)) == 0:
            self.memory.append(DeviceArray(self.context, info.bytes, numpy.uint8, info.address))

    def launch(self, timeout: float = 0.0, instruction_limit: int = 0, seed: int = 0,
               hooks: dict[str, Callable[..., Any]] | None = None, keep_waves: str = "none") -> Result:
        """Like Kernel.launch(): raises Fault when the kernel is stopped. Memory stays as it is then."""
        self.context.require_open()
        self._options.timeout_ns = _c.nanoseconds(timeout)
        self._options.instruction_limit = instruction_limit
        self._options.schedule_seed = _seed(seed)
        return _launch(self.context, self._kernel, self._options, hooks, keep_waves)


class Prepared:
    """A launch that is made again and again, until it is released or its context ends."""

    def __init__(self, kernel: Kernel, handle: c_void_p) -> None:
        self._kernel, self._context = kernel, kernel._context
        self._handle: c_void_p | None = handle
        self._context._prepared.append(self)
        self._numbers = {argument.name: number for number, argument in enumerate(kernel.arguments)}

    def __call__(self, **arguments: Any) -> Result:
        self._context.require_open()
        if not self._handle:
            raise RuntimeError("the prepared launch has been released")
        for name, value in arguments.items():
            if name not in self._numbers:
                raise TypeError(f"{self._kernel.name} has no argument {name}")
            number = self._numbers[name]
            data, size = self._kernel._bytes_of(self._kernel.arguments[number], value)
            self._context.check(_c.prepared_set_argument(self._handle, number, data, size))
        result = _c.ResultInfo()
        status = _c.prepared_launch(self._handle, byref(result))
        if status:
            fault, numbers = _c.FaultInfo(), _c.FaultData()
            if _c.prepared_get_fault(self._handle, byref(fault)) == 0:
                _c.prepared_get_fault_data(self._handle, byref(numbers))
                raised = self._context.fault(fault, numbers)
                raised.stack = _c.stack_of(lambda index, frame: int(_c.prepared_get_frame(self._handle, index, frame)))
                raise raised
            self._context.check(status)
        return _result(result)

    def release(self) -> None:
        if self._handle:
            self._context.outside_hooks("a prepared launch cannot be released")
            _c.prepared_release(self._handle)
            self._handle = None
            self._context._prepared.remove(self)
