"""The C interface by ctypes: structs as wavejit.h has them, and functions that raise."""
from __future__ import annotations

import ctypes
import ctypes.util
import glob
import operator
import os
from ctypes import POINTER, Structure, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p, byref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

STATUS: dict[int, str] = {0: "ok"}  # by number: the library's names


def library_path() -> str:
    """WAVEJIT_LIBRARY; or the library that a wheel has in the package; or the one of the installation that this is part
    of, PREFIX/lib/python3/dist-packages; or the one that the system's linker finds."""
    here = os.path.dirname(os.path.abspath(__file__))
    prefix_lib = os.path.join(here, *[os.pardir] * 3)
    beside = [os.path.join(here, "libwavejit.so"), *glob.glob(os.path.join(prefix_lib, "libwavejit.so.[0-9]"))]
    found = (os.environ.get("WAVEJIT_LIBRARY") or next((path for path in beside if os.path.exists(path)), None)
             or ctypes.util.find_library("wavejit"))
    if not found:
        raise ImportError("there is no libwavejit.so: install wavejit, or set WAVEJIT_LIBRARY to its path")
    return found


_library = ctypes.CDLL(library_path())


def checked(what: str, value: Any, least: int, most: int) -> int:
    """The number, which ctypes would cut off if a C integer could not hold it."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}: an integer is wanted") from None
    if not least <= number <= most:
        raise ValueError(f"{what} is {number}: a number from {least} to {most} is wanted")
    return number


def checked_for(what: str, value: Any, kind: Any) -> int:
    """The number, which a C integer of this type can hold."""
    bits, signed = 8 * ctypes.sizeof(kind), kind(-1).value < 0
    return checked(what, value, -(1 << bits - 1) if signed else 0, (1 << bits - signed) - 1)


def checked_bits(what: str, value: Any, size: int) -> int:
    """What so many bytes hold of the number, which is a signed or unsigned one of that size."""
    return checked(what, value, -(1 << 8 * size - 1), (1 << 8 * size) - 1) & (1 << 8 * size) - 1


def check_plain(dtype: Any) -> None:
    """The bytes of such values mean something elsewhere."""
    if dtype.hasobject or dtype.kind == "U":
        raise TypeError(f"values of {dtype}: numbers or bytes are wanted, device memory has no objects of Python")


def plain(values: Any) -> Any:
    """An array of numpy's, of such values."""
    check_plain(values.dtype)
    return values


def nanoseconds(seconds: float) -> int:
    if not 0 <= seconds <= 1e9:
        raise ValueError(f"timeout is {seconds}: seconds from 0 (none) to 1e9 are wanted")
    return int(seconds * 1e9)


INTEGERS = (c_int, c_int64, c_size_t, c_uint32, c_uint64)


class Options(Structure):
    """A struct that begins with its size. Its integers are checked."""

    def __init__(self, **fields: object) -> None:
        super().__init__()
        for name, value in fields.items():
            setattr(self, name, value)
        self.size = ctypes.sizeof(self)

    def __setattr__(self, name: str, value: Any) -> None:
        kind = next((field[1] for field in self._fields_ if field[0] == name), None)
        super().__setattr__(name, checked_for(name, value, kind) if kind in INTEGERS else value)


class ContextOptions(Options):
    _fields_ = [("size", c_size_t), ("target", c_char_p), ("engine", c_int), ("memory_mode", c_int),
                ("threads", c_uint32), ("compute_units", c_uint32), ("slice_instructions", c_uint64),
                ("use_environment", c_int), ("allow_unallocated_registers", c_int),
                ("cache_translations", c_int), ("cache_directory", c_char_p), ("exclusive_memory", c_int),
                ("count_host_instructions", c_int), ("coverage", c_int), ("coverage_counters", c_void_p),
                ("coverage_size", c_size_t), ("deterministic", c_int), ("checks", c_uint32), ("check_report", c_char_p),
                ("check_suppressions", c_char_p), ("window_bytes", c_uint64), ("coverage_report", c_char_p),
                ("coverage_divergence", c_int), ("coverage_lanes", c_int),
                ("weak_memory", c_int)]


class ContextInfo(Options):
    _fields_ = [("size", c_size_t), ("target", c_char_p), ("engine", c_char_p), ("memory_mode", c_int),
                ("threads", c_uint32), ("compute_units", c_uint32), ("wave_size", c_uint32),
                ("lds_bytes", c_uint32), ("max_work_group_size", c_uint32)]


class KernelInfo(Options):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("kernel_object", c_uint64), ("entry", c_uint64),
                ("code_size", c_uint64), ("argument_count", c_uint32),
                ("explicit_argument_count", c_uint32), ("kernarg_size", c_uint32),
                ("kernarg_align", c_uint32), ("static_lds", c_uint32), ("private_bytes", c_uint32),
                ("vgprs", c_uint32), ("agprs", c_uint32), ("sgprs", c_uint32),
                ("max_work_group_size", c_uint32), ("required_work_group_size", c_uint32 * 3),
                ("has_metadata", c_int), ("dynamic_call_stack", c_int)]


class ArgumentInfo(Options):
    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type_name", c_char_p), ("kind", c_char_p),
                ("offset", c_uint32), ("bytes", c_uint32), ("hidden", c_int), ("local", c_int)]


class Argument(Structure):
    _fields_ = [("data", c_void_p), ("size", c_size_t)]


class LaunchOptions(Options):
    _fields_ = [("size", c_size_t), ("grid", c_uint32 * 3), ("block", c_uint32 * 3),
                ("arguments", POINTER(Argument)), ("argument_count", c_uint32), ("dynamic_lds", c_uint32),
                ("packed_arguments", c_void_p), ("packed_size", c_size_t), ("timeout_ns", c_uint64),
                ("instruction_limit", c_uint64), ("global_offset", c_uint64 * 3),
                ("dynamic_stack_bytes", c_uint32), ("hidden_layout", c_int), ("cooperative", c_int),
                ("print", c_void_p), ("print_context", c_void_p), ("schedule_seed", c_uint64),
                ("hooks", c_void_p), ("keep_waves", c_uint32)]


class AccessInfo(Options):
    _fields_ = [("size", c_size_t), ("space", c_int), ("access", c_int), ("bytes", c_uint32),
                ("lane_mask", c_uint64), ("addresses", POINTER(c_uint64))]


WaveHook = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p)
AccessHook = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, POINTER(AccessInfo))


class HooksInfo(Options):
    _fields_ = [("size", c_size_t), ("hook_context", c_void_p), ("instruction", WaveHook), ("block", WaveHook),
                ("access", AccessHook), ("atomic", AccessHook), ("barrier", WaveHook)]


class WaveInfo(Options):
    _fields_ = [("size", c_size_t), ("state", c_int), ("work_group", c_uint32 * 3), ("wave", c_uint32),
                ("lanes", c_uint32), ("pc", c_uint64), ("exec", c_uint64), ("exact", c_int),
                ("sgprs", c_uint32), ("vgprs", c_uint32), ("agprs", c_uint32), ("lds_bytes", c_uint32),
                ("private_bytes", c_uint32)]


class FaultInfo(Options):
    _fields_ = [("size", c_size_t), ("status", c_int), ("message", c_char_p), ("report", c_char_p),
                ("kernel", c_char_p), ("instruction", c_char_p), ("source", c_char_p), ("memory", c_char_p),
                ("pc", c_uint64), ("kernel_offset", c_int64), ("words", c_uint32 * 4),
                ("word_count", c_uint32), ("access", c_int), ("access_bytes", c_uint32),
                ("address", c_uint64), ("lane_mask", c_uint64), ("work_group", c_uint32 * 3),
                ("wave", c_uint32), ("check", c_char_p), ("key", c_char_p), ("dispatches", c_uint64)]


class FaultData(Options):
    _fields_ = [("size", c_size_t), ("status", c_int), ("access", c_int), ("access_bytes", c_uint32), ("wave", c_uint32),
                ("work_group", c_uint32 * 3), ("lanes_are_exact", c_int), ("pc", c_uint64),
                ("kernel_offset", c_int64), ("address", c_uint64), ("lane_mask", c_uint64),
                ("addresses", POINTER(c_uint64)), ("number", c_uint64)]


class StackFrameInfo(Options):
    _fields_ = [("size", c_size_t), ("pc", c_uint64), ("function", c_char_p), ("file", c_char_p), ("line", c_uint32),
                ("column", c_uint32), ("inlined", c_int), ("incomplete", c_int)]


class ResultInfo(Options):
    _fields_ = [("size", c_size_t), ("status", c_int), ("work_groups", c_uint64), ("waves", c_uint64),
                ("wave_instructions", c_uint64), ("start_ns", c_uint64), ("end_ns", c_uint64)]


class SnapshotOptions(Options):
    _fields_ = [("size", c_size_t), ("only_marked_writes", c_int), ("registered_memory", c_int), ("dispatch", c_void_p)]


class ResumeOptions(Options):
    _fields_ = [("size", c_size_t), ("timeout_ns", c_uint64), ("instruction_limit", c_uint64), ("hooks", c_void_p),
                ("keep_waves", c_uint32), ("wait", c_int)]


class RestoreInfo(Options):
    _fields_ = [("size", c_size_t), ("pages_examined", c_uint64), ("pages_copied", c_uint64),
                ("allocations_freed", c_uint64), ("allocations_put_back", c_uint64)]


HookLoad = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint32, POINTER(c_uint32))
HookStore = ctypes.CFUNCTYPE(c_int, c_void_p, c_uint64, c_uint32, c_uint32)


class PageHooks(Options):
    _fields_ = [("size", c_size_t), ("context", c_void_p), ("load", HookLoad), ("store", HookStore)]


class CapturedMemory(Options):
    _fields_ = [("size", c_size_t), ("number", c_uint64), ("address", c_uint64), ("bytes", c_uint64),
                ("rights", c_uint32), ("label", c_char_p)]


class WavejitError(Exception):
    """A call that failed. status: its number, STATUS[status] its name."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status_name(status)}: {message}" if message else status_name(status))
        self.status = status


@dataclass(frozen=True)
class StackFrame:
    """A function of a call stack: the fields of wj_stack_frame."""
    pc: int
    function: str
    file: str
    line: int
    column: int
    inlined: bool  # in the next frame's function
    incomplete: bool  # who called it could not be found

    def __str__(self) -> str:
        place = f" at {self.file}:{self.line}:{self.column}" if self.file else ""
        return (self.function or "?") + place + (" (inlined)" if self.inlined else "")


def stack_of(get_frame: Callable[[int, Any], int]) -> tuple[StackFrame, ...]:
    """All frames, by one of the functions that tell one."""
    frames: list[StackFrame] = []
    info = StackFrameInfo()
    while get_frame(len(frames), byref(info)) == 0:
        frames.append(StackFrame(info.pc, info.function.decode(), info.file.decode(), info.line, info.column,
                                 bool(info.inlined), bool(info.incomplete)))
    return tuple(frames)


class Fault(WavejitError):
    """Why a dispatch stopped: the fields of wj_fault, and what wj_fault_data has besides."""
    message: str
    report: str
    kernel: str
    instruction: str
    source: str
    memory: str
    pc: int
    kernel_offset: int
    words: tuple[int, ...]
    word_count: int
    access: int
    access_bytes: int
    address: int
    lane_mask: int
    work_group: tuple[int, int, int]
    wave: int
    check: str
    key: str
    dispatches: int
    number: int
    addresses: tuple[int, ...] | None  # 64: where each lane in lane_mask faulted; or not known
    stack: tuple[StackFrame, ...] = ()  # innermost first
    waves: Sequence[Any] = ()  # Wave: what launch(keep_waves=...) has kept
    dispatch: Any = None  # Dispatch: with keep_waves, to be resumed or to be a part of a snapshot

    def __init__(self, info: FaultInfo, data: FaultData) -> None:
        super().__init__(info.status, info.report.decode())
        for name, _ in info._fields_[2:]:
            value = getattr(info, name)
            setattr(self, name, value.decode() if isinstance(value, bytes) else
                    tuple(value) if isinstance(value, ctypes.Array) else value)
        self.words = self.words[:self.word_count]
        self.number = data.number
        self.addresses = tuple(data.addresses[:64]) if data.addresses else None


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """The function, with its integers checked. arguments: their types; of integers that users give (name, type)."""
    function = getattr(_library, name)
    types = [argument[1] if isinstance(argument, tuple) else argument for argument in arguments]
    function.restype, function.argtypes = result, types
    integers = [(place, argument[0] if isinstance(argument, tuple) else f"argument {place + 1} of {name}", kind)
                for place, (argument, kind) in enumerate(zip(arguments, types)) if kind in INTEGERS]

    def call(*values: Any) -> Any:
        for place, what, kind in integers:
            checked_for(what, values[place], kind)
        return function(*values)

    return call if integers else function


status_name_c = _function("wj_status_name", c_char_p, c_int)
for number in range(1, 15):
    STATUS[number] = status_name_c(number).decode()


def status_name(status: int) -> str:
    return str(status_name_c(status).decode())


last_error = _function("wj_last_error", c_char_p, c_void_p)
context_create = _function("wj_context_create", c_int, POINTER(ContextOptions), POINTER(c_void_p), c_char_p,
                           c_size_t)
context_destroy = _function("wj_context_destroy", None, c_void_p)
context_clone = _function("wj_context_clone", c_int, c_void_p, POINTER(c_void_p))
context_get_module = _function("wj_context_get_module", c_int, c_void_p, c_void_p, POINTER(c_void_p))
context_get_info = _function("wj_context_get_info", c_int, c_void_p, POINTER(ContextInfo))
memory_allocate = _function("wj_memory_allocate", c_int, c_void_p, ("size", c_uint64), POINTER(c_uint64))
memory_free = _function("wj_memory_free", c_int, c_void_p, ("address", c_uint64))
memory_write = _function("wj_memory_write", c_int, c_void_p, ("address", c_uint64), c_void_p, ("size", c_uint64))
memory_read = _function("wj_memory_read", c_int, c_void_p, c_void_p, ("address", c_uint64), ("size", c_uint64))
memory_protect = _function("wj_memory_protect", c_int, c_void_p, ("address", c_uint64), ("nbytes", c_uint64), c_uint32)
memory_hook = _function("wj_memory_hook", c_int, c_void_p, ("address", c_uint64), ("nbytes", c_uint64), POINTER(PageHooks))
memory_unregister = _function("wj_memory_unregister", c_int, c_void_p, ("address", c_uint64))
memory_mark_written = _function("wj_memory_mark_written", c_int, c_void_p, ("address", c_uint64), ("size", c_uint64))
snapshot_take = _function("wj_snapshot_take", c_int, c_void_p, POINTER(SnapshotOptions), POINTER(c_uint64))
snapshot_restore = _function("wj_snapshot_restore", c_int, c_void_p, c_uint64, POINTER(RestoreInfo))
snapshot_release = _function("wj_snapshot_release", c_int, c_void_p, c_uint64)
module_load = _function("wj_module_load", c_int, c_void_p, c_char_p, c_size_t, POINTER(c_void_p))
module_unload = _function("wj_module_unload", None, c_void_p)
module_kernel_count = _function("wj_module_kernel_count", c_size_t, c_void_p)
module_kernel_at = _function("wj_module_kernel_at", c_void_p, c_void_p, c_size_t)
module_get_variable = _function("wj_module_get_variable", c_int, c_void_p, c_char_p, POINTER(c_uint64),
                                POINTER(c_uint64))
kernel_get_info = _function("wj_kernel_get_info", c_int, c_void_p, POINTER(KernelInfo))
kernel_get_argument = _function("wj_kernel_get_argument", c_int, c_void_p, c_uint32, POINTER(ArgumentInfo))
kernel_patch = _function("wj_kernel_patch", c_int, c_void_p, ("offset", c_uint64), c_char_p, c_size_t)
dispatch_submit = _function("wj_dispatch_submit", c_int, c_void_p, POINTER(LaunchOptions), POINTER(c_void_p))
dispatch_wait = _function("wj_dispatch_wait", c_int, c_void_p)
dispatch_resume = _function("wj_dispatch_resume", c_int, c_void_p, POINTER(ResumeOptions))
dispatch_get_result = _function("wj_dispatch_get_result", c_int, c_void_p, POINTER(ResultInfo))
dispatch_get_fault_data = _function("wj_dispatch_get_fault_data", c_int, c_void_p, POINTER(FaultData))
prepared_get_fault_data = _function("wj_prepared_get_fault_data", c_int, c_void_p, POINTER(FaultData))
dispatch_get_frame = _function("wj_dispatch_get_frame", c_int, c_void_p, c_size_t, POINTER(StackFrameInfo))
prepared_get_frame = _function("wj_prepared_get_frame", c_int, c_void_p, c_size_t, POINTER(StackFrameInfo))
wave_get_frame = _function("wj_wave_get_frame", c_int, c_void_p, c_size_t, POINTER(StackFrameInfo))
dispatch_get_fault = _function("wj_dispatch_get_fault", c_int, c_void_p, POINTER(FaultInfo))
launch_prepare = _function("wj_launch_prepare", c_int, c_void_p, POINTER(LaunchOptions), POINTER(c_void_p))
prepared_set_argument = _function("wj_prepared_set_argument", c_int, c_void_p, c_uint32, c_char_p, c_size_t)
prepared_launch = _function("wj_prepared_launch", c_int, c_void_p, POINTER(ResultInfo))
prepared_get_fault = _function("wj_prepared_get_fault", c_int, c_void_p, POINTER(FaultInfo))
prepared_release = _function("wj_prepared_release", None, c_void_p)
wave_get_info = _function("wj_wave_get_info", c_int, c_void_p, POINTER(WaveInfo))
wave_read_registers = _function("wj_wave_read_registers", c_int, c_void_p, c_int, ("first", c_uint32), ("count", c_uint32), c_void_p)
wave_write_registers = _function("wj_wave_write_registers", c_int, c_void_p, c_int, ("first", c_uint32), c_uint32, c_void_p)
wave_read_lds = _function("wj_wave_read_lds", c_int, c_void_p, ("offset", c_uint32), c_void_p, ("size", c_uint32))
wave_write_lds = _function("wj_wave_write_lds", c_int, c_void_p, ("offset", c_uint32), c_void_p, c_uint32)
wave_read_private = _function("wj_wave_read_private", c_int, c_void_p, ("lane", c_uint32), ("offset", c_uint32),
                              c_void_p, ("size", c_uint32))
wave_write_private = _function("wj_wave_write_private", c_int, c_void_p, ("lane", c_uint32), ("offset", c_uint32), c_void_p,
                               ("size", c_uint32))
wave_disassemble = _function("wj_wave_disassemble", c_int, c_void_p, ("pc", c_uint64), c_char_p, c_size_t, POINTER(c_uint32))
dispatch_wave_count = _function("wj_dispatch_wave_count", c_size_t, c_void_p)
dispatch_wave_at = _function("wj_dispatch_wave_at", c_void_p, c_void_p, c_size_t)
capture_write = _function("wj_capture_write", c_int, c_void_p, POINTER(LaunchOptions), c_char_p)
capture_open = _function("wj_capture_open", c_int, c_char_p, POINTER(ContextOptions), POINTER(c_void_p), c_char_p,
                         c_size_t)
capture_get_launch = _function("wj_capture_get_launch", c_int, c_void_p, POINTER(c_void_p), POINTER(LaunchOptions))
capture_get_memory = _function("wj_capture_get_memory", c_int, c_void_p, c_size_t, POINTER(CapturedMemory))
coverage_write = _function("wj_coverage_write", c_int, c_void_p, c_char_p)
dispatch_release = _function("wj_dispatch_release", None, c_void_p)

