"""Waves that stand still: what hooks are called with, and what a stopped dispatch has left."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from ctypes import byref, c_uint32, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy
import numpy.typing

from . import _c

Dwords = numpy.typing.NDArray[numpy.uint32]
FILES = {"s": 0, "v": 1, "a": 2, "pc": 3, "exec": 4, "vcc": 5, "m0": 6, "scc": 7, "mode": 8, "flat_scratch": 9,
         "xnack_mask": 10, "ttmp": 11}
STATES = ("running", "at barrier", "ended", "stopped")
SPACES = ("global", "lds", "private", "scalar")
ACCESSES = ("none", "read", "write", "atomic", "execute")
KEEP = {"none": 0, "exact": 1, "engine": 2}
HOOKS = ("instruction", "block", "access", "atomic", "barrier")


def _file(name: str) -> int:
    if name not in FILES:
        raise ValueError(f"registers {name!r}: one of {', '.join(FILES)} is wanted")
    return FILES[name]


def _pair(what: str, value: int) -> Dwords:
    return numpy.array([_c.checked_for(what, value, ctypes.c_uint64)], numpy.uint64).view(numpy.uint32)


def _dwords(values: numpy.typing.ArrayLike) -> Dwords:
    """numpy would cut off what a dword cannot hold."""
    array = numpy.asarray(values)
    if array.dtype.kind in "iuO" and array.size:
        for value in (array.min(), array.max()):
            _c.checked_bits("a register's value", value, 4)
        array = array.astype(numpy.int64)  # also of -1
    return numpy.ascontiguousarray(array.astype(numpy.uint32))


class Wave:
    """Valid in a hook until that returns; of a Fault until its dispatch goes on or its context ends."""

    def __init__(self, handle: c_void_p, error: Callable[[], str], stands: Callable[[], bool]) -> None:
        self._wave, self._error, self._stands = handle, error, stands
        info = self._info()
        self.lanes: int = info.lanes
        self.work_group: tuple[int, ...] = tuple(info.work_group)
        self.wave: int = info.wave

    @property
    def _handle(self) -> c_void_p:
        if not self._stands():
            raise RuntimeError("the wave has gone: in a hook it stands still until that returns, else until its dispatch goes on or its context ends")
        return self._wave

    def _check(self, status: int) -> None:
        if status:
            raise _c.WavejitError(status, self._error())

    def _info(self) -> _c.WaveInfo:
        info = _c.WaveInfo()
        self._check(_c.wave_get_info(self._handle, byref(info)))
        return info

    @property
    def state(self) -> str:
        return STATES[self._info().state]

    @property
    def exact(self) -> bool:
        """Registers are what the instructions in front of the pc have made of them."""
        return bool(self._info().exact)

    @property
    def pc(self) -> int:
        return int(self._info().pc)

    @pc.setter
    def pc(self, address: int) -> None:
        self.write("pc", 0, _pair("pc", address))

    @property
    def exec(self) -> int:
        """A bit for each lane that is on."""
        return int(self._info().exec)

    @exec.setter
    def exec(self, mask: int) -> None:
        self.write("exec", 0, _pair("exec", mask))

    @property
    def stack(self) -> tuple[_c.StackFrame, ...]:
        """Who has called whom, from the pc on, innermost first."""
        return _c.stack_of(lambda index, frame: int(_c.wave_get_frame(self._handle, index, frame)))

    def count(self, file: str) -> int:
        """How many registers there are of "s", "v" or "a"."""
        if file not in ("s", "v", "a"):
            raise ValueError(f"registers {file!r}: one of s, v, a is wanted")
        return int(getattr(self._info(), file + "gprs"))

    def read(self, file: str, first: int = 0, count: int = 1) -> Dwords:
        """Registers of one of FILES, dwords; of "v" and "a" a row of `lanes` for each."""
        vector = file in ("v", "a")
        count = _c.checked_for("count", count, c_uint32)
        values = numpy.empty((count, self.lanes) if vector else count, numpy.uint32)
        self._check(_c.wave_read_registers(self._handle, _file(file), first, count, values.ctypes.data))
        return values

    def write(self, file: str, first: int, values: numpy.typing.ArrayLike) -> None:
        """As many registers as there are values, or rows of them."""
        array = _dwords(values)
        if file in ("v", "a"):
            array = numpy.ascontiguousarray(numpy.broadcast_to(array, (*array.shape[:-1], self.lanes)))
            array = array.reshape(-1, self.lanes)
        else:
            array = array.reshape(-1)
        self._check(_c.wave_write_registers(self._handle, _file(file), first, len(array), array.ctypes.data))

    def s(self, register: int) -> int:
        return int(self.read("s", register)[0])

    def v(self, register: int) -> Dwords:
        """A dword for each lane."""
        row: Dwords = self.read("v", register)[0]
        return row

    def read_lds(self, offset: int = 0, size: int | None = None) -> numpy.typing.NDArray[numpy.uint8]:
        """Bytes of the work-group's LDS, all of them from `offset` on if no size is given."""
        data = numpy.empty(self._info().lds_bytes - offset if size is None else size, numpy.uint8)
        self._check(_c.wave_read_lds(self._handle, offset, data.ctypes.data, data.size))
        return data

    def write_lds(self, offset: int, values: numpy.typing.ArrayLike) -> None:
        data = _c.plain(numpy.ascontiguousarray(values))
        self._check(_c.wave_write_lds(self._handle, offset, data.ctypes.data, data.nbytes))

    def read_private(self, lane: int, offset: int, size: int) -> numpy.typing.NDArray[numpy.uint8]:
        data = numpy.empty(size, numpy.uint8)
        self._check(_c.wave_read_private(self._handle, lane, offset, data.ctypes.data, size))
        return data

    def write_private(self, lane: int, offset: int, values: numpy.typing.ArrayLike) -> None:
        data = _c.plain(numpy.ascontiguousarray(values))
        self._check(_c.wave_write_private(self._handle, lane, offset, data.ctypes.data, data.nbytes))

    def disassemble(self, pc: int | None = None) -> str:
        """The instruction at the wave's pc, or another one."""
        text, size = ctypes.create_string_buffer(256), c_uint32()
        self._check(_c.wave_disassemble(self._handle, self.pc if pc is None else pc, text, len(text), byref(size)))
        return text.value.decode()


@dataclass(frozen=True)
class Access:
    """What lanes access of one space, each at one address."""
    space: str
    access: str
    bytes: int
    lane_mask: int
    addresses: numpy.typing.NDArray[numpy.uint64]  # 64, of the lanes in lane_mask; a scalar one in [0]


class Hooks:
    """Functions as ctypes has them, and what one of them has raised."""

    def __init__(self, functions: dict[str, Callable[..., Any]], error: Callable[[], str], running: list[bool]) -> None:
        """running: has an element more while one is called."""
        if unknown := functions.keys() - set(HOOKS):
            raise ValueError(f"hook {sorted(unknown)[0]!r}: one of {', '.join(HOOKS)} is wanted")
        self.raised: BaseException | None = None
        self.struct = _c.HooksInfo()
        self._error, self._running = error, running
        self._kept: list[Any] = []
        for name, function in functions.items():
            made = self._of_access(function) if name in ("access", "atomic") else self._of_wave(function)
            self._kept.append(made)
            setattr(self.struct, name, made)

    def _answer(self, handle: c_void_p, call: Callable[[Wave], Any]) -> int:
        standing = [True]
        self._running.append(True)
        try:
            answer = call(Wave(handle, self._error, lambda: bool(standing)))
            return int(isinstance(answer, (bool, numpy.bool_)) and not answer)
        except BaseException as error:  # to be raised by the launch
            self.raised = self.raised or error
            return 1
        finally:
            self._running.pop()
            standing.clear()

    def _of_wave(self, function: Callable[[Wave], Any]) -> Any:
        return _c.WaveHook(lambda _, wave: self._answer(wave, function))

    def _of_access(self, function: Callable[[Wave, Access], Any]) -> Any:
        def call(_: Any, wave: Any, info: Any) -> int:
            a = info.contents
            access = Access(SPACES[a.space], ACCESSES[a.access], a.bytes, a.lane_mask,
                            numpy.ctypeslib.as_array(a.addresses, (64,)).copy())
            return self._answer(wave, lambda standing: function(standing, access))

        return _c.AccessHook(call)
