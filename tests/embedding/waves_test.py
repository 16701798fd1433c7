"""Waves in hooks and of faults, where the tutorial does not go: waves_test.py CODE_OBJECT PRIVATE"""
import gc
import os
import sys
import tempfile

import numpy
import wavejit

from raising import raises

gpu = wavejit.Context(memory="checked", threads=1)
kernel = gpu.load(sys.argv[1])["parse_frame"]
message, table, out = gpu.zeros(64, numpy.uint8), gpu.zeros(256, numpy.uint32), gpu.zeros(1, numpy.uint32)
message.write(numpy.frombuffer(b"FRAME\xff".ljust(64, b"\0"), numpy.uint8))
arguments = [message, 6, table, out]

prepared = kernel.prepare(1, 1, arguments)
numbers = set()
for _ in range(2):
    try:
        prepared()
        raise AssertionError("no fault")
    except wavejit.Fault as fault:
        assert fault.addresses[0] == table.address + 255 * 4 * 4
        numbers.add(fault.number)
        assert fault.stack[-1].function == "parse_frame" and fault.stack[-1].line and not fault.stack[-1].incomplete
        assert str(fault.stack[-1]).startswith("parse_frame at ")
assert len(numbers) == 1

with raises(ZeroDivisionError):  # from the hook
    kernel.launch(1, 1, arguments, hooks={"block": lambda wave: 1 // 0})
with raises(ValueError, "'blocks'"):
    kernel.launch(1, 1, arguments, hooks={"blocks": print})
with raises(ValueError, "'all'"):
    kernel.launch(1, 1, arguments, keep_waves="all")
kept = []
kernel.launch(1, 1, [message, 1, table, out], hooks={"block": kept.append})
with raises(RuntimeError, "has gone"):
    kept[0].pc

try:
    kernel.launch(1, 1, arguments, keep_waves="exact")
    raise AssertionError("no fault")
except wavejit.Fault as fault:
    wave, = fault.waves
    assert wave.stack == fault.stack and wave.stack[0].pc == wave.pc
gc.collect()
assert wave.state == "stopped" and wave.read_lds().size == 0
wave.write("v", 0, 7)
assert (wave.v(0) == 7).all()
wave.write("v", 1, [range(64), range(64, 128)])
assert wave.read("v", 1, 2).tolist() == [list(range(64)), list(range(64, 128))]
wave.write("s", 3, [1, 2])
assert list(wave.read("s", 3, 2)) == [1, 2] and wave.s(4) == 2
wave.exec = 1 << 40 | 3
assert wave.exec == 1 << 40 | 3
with raises(wavejit.WavejitError, "1 of the VGPRs from 999 on"):
    wave.read("v", 999)

# Private memory, at the offset of the access that a hook is told of.
private = gpu.load(sys.argv[2])["one_of_four"]
four = gpu.zeros(4, numpy.uint32)

def load_of_private(wave, access):
    return not (access.space == "private" and access.access == "read")

def where_it_is(wave, access):
    if access.space == "private" and access.access == "read":
        offsets.append(int(access.addresses[1]))
        assert list(wave.read_private(1, offsets[0], 4).view(numpy.uint32)) == [202]
        wave.write_private(1, offsets[0], numpy.uint32(4711))
        with raises(wavejit.WavejitError, "private"):
            wave.write_private(1, 1 << 30, numpy.uint32(1))
        with raises(TypeError, "numbers or bytes are wanted"):
            wave.write_private(1, offsets[0], None)

offsets = []
private.launch(4, 4, [four, 2], hooks={"access": where_it_is})
assert four.numpy().tolist() == [102, 4711, 302, 402] and len(offsets) == 1
try:
    private.launch(4, 4, [four, 3], hooks={"access": load_of_private}, keep_waves="exact")
    raise AssertionError("no stop")
except wavejit.Fault as fault:
    stopped = fault.dispatch
stopped.waves[0].write_private(2, offsets[0] + 4, numpy.uint32(9))
stopped.resume()
assert four.numpy().tolist() == [103, 203, 9, 403]

# A captured launch has hooks and waves as well.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "private.wjcapture")
    private.capture(path, 4, 4, [four, 1])
    captured = wavejit.Captured(path)
    accesses = []
    captured.launch(hooks={"access": lambda wave, access: accesses.append(access.space)}, keep_waves="engine")
    assert accesses.count("private") >= 2 and accesses[-1] == "global"
    try:
        captured.launch(hooks={"access": load_of_private}, keep_waves="exact")
        raise AssertionError("no stop")
    except wavejit.Fault as fault:
        assert fault.waves[0].exact and fault.dispatch.resume().waves == 1
    captured.launch()  # neither of them is kept
    captured.context.close()

# Launches that stop and go on.
with raises(wavejit.WavejitError, "cannot go on: it was stopped by a"):
    try:
        kernel.launch(1, 1, arguments, keep_waves="exact")
    except wavejit.Fault as fault:
        fault.dispatch.resume()
message.write(numpy.frombuffer(b"FRAM\0\0".ljust(64, b"\0"), numpy.uint8))
try:
    kernel.launch(1, 1, arguments, instruction_limit=10, keep_waves="engine")
    raise AssertionError("no limit")
except wavejit.Fault as fault:
    dispatch, earlier = fault.dispatch, fault.waves[0]
assert earlier.state == "running"
told = []
try:
    dispatch.resume(hooks={"instruction": lambda w: told.append(w.pc) or len(told) < 3}, keep_waves="exact")
    raise AssertionError("no stop")
except wavejit.Fault as fault:
    assert fault.dispatch is dispatch and fault.waves[0].pc == told[2]
with raises(RuntimeError, "has gone"):
    earlier.pc
with raises(ZeroDivisionError):
    dispatch.resume(hooks={"block": lambda w: 1 // 0}, keep_waves="exact")
there = gpu.snapshot(dispatch=dispatch)
for _ in range(3):
    assert dispatch.resume().waves == 1 and out.numpy()[0] == 4
    assert not dispatch.waves
    with raises(wavejit.WavejitError, "it has ended"):
        dispatch.resume()
    there.restore()
    assert out.numpy()[0] != 4 and len(dispatch.waves) == 1
with raises(ValueError, "'all'"):
    dispatch.resume(keep_waves="all")

gpu.close()
with raises(RuntimeError, "has gone"):
    wave.pc
with raises(RuntimeError, "has ended"):
    dispatch.resume()
print("waves in Python: ok")
