"""Numbers that no C field holds, hooks that answer nothing, and captures' options: ranges_test.py CODE_OBJECT"""
import os
import sys
import tempfile

import numpy
import wavejit

from raising import raises

gpu = wavejit.Context(memory="checked", threads=1)
kernel = gpu.load(sys.argv[1])["parse_frame"]
message, table, out = gpu.zeros(64, numpy.uint8), gpu.zeros(256, numpy.uint32), gpu.zeros(1, numpy.uint32)
message.write(numpy.frombuffer(b"FRAM..".ljust(64, b"\0"), numpy.uint8))
arguments = [message, 6, table, out]

for options, text in (({"threads": -1}, "threads is -1: a number from 0 to 4294967295"),
                      ({"compute_units": 1 << 32}, "compute_units is 4294967296"),
                      ({"window_bytes": -1, "memory": "window"}, "window_bytes is -1"),
                      ({"memory": "checkd"}, "memory 'checkd': one of identity, checked, window")):
    with raises(ValueError, text):
        wavejit.Context(**options)
with raises(TypeError, "threads is '2': an integer is wanted"):
    wavejit.Context(threads="2")

for options, text in (({"seed": -1}, "seed is -1: a number from 0 to 18446744073709551615"),
                      ({"seed": 1 << 64}, "seed is 18446744073709551616"),
                      ({"instruction_limit": -5}, "instruction_limit is -5"),
                      ({"dynamic_lds": 1 << 32}, "dynamic_lds is 4294967296"),
                      ({"timeout": -1.0}, "timeout is -1.0: seconds"),
                      ({"timeout": float("nan")}, "timeout is nan")):
    with raises(ValueError, text):
        kernel.launch(1, 1, arguments, **options)
with raises(ValueError, "grid is -1"):
    kernel.launch(-1, 1, arguments)
with raises(ValueError, "block is 4294967296"):
    kernel.launch(1, (1, 1 << 32), arguments)
for number in (-(1 << 31) - 1, 1 << 32):
    with raises(ValueError, f"argument 'bytes' of parse_frame is {number}"):
        kernel.launch(1, 1, [message, number, table, out])
with raises(TypeError, "argument 'bytes' of parse_frame is None: an integer is wanted"):
    kernel.launch(1, 1, [message, None, table, out])

for offset in (-4, 1 << 64):
    with raises(ValueError, f"offset is {offset}"):
        kernel.patch(offset, bytes(4))
with raises(ValueError, "nbytes is -4096"):
    gpu.protect(table.address, "r", -4096)
with raises(ValueError, "address is -4096"):
    gpu.hook(-4096, 4096, load=lambda address, size: 0)
with raises(ValueError, "size is -4"):
    wavejit.DeviceArray(gpu, -1, numpy.uint32)

# What a hook answers is a number of the access's size, of either sign.
device, answers = 0x5000_0000_0000, []
gpu.hook(device, 4096, load=lambda address, size: answers.pop(0))
for answer, kind, text in ((None, TypeError, "returned for 1 bytes at 0x500000000000 is None: an integer is wanted"),
                           (256, ValueError, "is 256: a number from -128 to 255"), (-129, ValueError, "is -129")):
    answers[:] = [answer]
    try:
        kernel.launch(1, 1, [device, 6, table, out])
        raise AssertionError("no fault")
    except wavejit.Fault as fault:
        with raises(kind, text):
            raise fault.__cause__
answers[:] = [-1] + [0] * 8
kernel.launch(1, 1, [device, 6, table, out])

# Within a hook the context does nothing else.
def within(function):
    with raises(wavejit.WavejitError, "cannot be called within a hook"):
        kernel.launch(1, 1, arguments, hooks={"block": lambda wave: function()})

within(lambda: gpu.zeros(4))
within(lambda: gpu.unhook(device))
within(lambda: kernel.launch(1, 1, arguments))
with raises(RuntimeError, "a context cannot be closed within its hooks"):
    kernel.launch(1, 1, arguments, hooks={"block": lambda wave: gpu.close()})
prepared = kernel.prepare(1, 1, arguments)
with raises(RuntimeError, "a prepared launch cannot be released within its hooks"):
    kernel.launch(1, 1, arguments, hooks={"block": lambda wave: prepared.release()})
prepared()
gpu.unhook(device)


def registers(wave):
    wave.write("v", 0, -1)
    assert (wave.v(0) == 0xffffffff).all()
    for values in (1 << 32, [0, -(1 << 31) - 1], [1 << 70]):
        with raises(ValueError, "a register's value is"):
            wave.write("s", 0, values)
    with raises(ValueError, "pc is -4"):
        wave.pc = -4
    with raises(ValueError, "exec is 18446744073709551616"):
        wave.exec = 1 << 64
    with raises(ValueError, "registers 'x': one of s, v, a, pc"):
        wave.read("x")
    with raises(ValueError, "first is -1"):
        wave.read("s", -1)
    with raises(ValueError, "count is -1"):
        wave.read("s", 0, -1)
    with raises(ValueError, "lane is -1"):
        wave.read_private(-1, 0, 0)
    return False


with raises(wavejit.Fault, "hook"):
    kernel.launch(1, 1, arguments, hooks={"instruction": registers})

# A captured launch has the options that another one has.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "frame.wjcapture")
    kernel.capture(path, 1, 1, arguments)
    captured = wavejit.Captured(path, deterministic=True, weak_memory=True, checks=("race", "barrier"))
    assert captured.launch(seed=7).work_groups == 1
    with raises(ValueError, "seed is -1"):
        captured.launch(seed=-1)
    captured.context.close()
    with raises(wavejit.WavejitError, "deterministic"):
        wavejit.Captured(path, weak_memory=True)
    with raises(ValueError, "check 'rice'"):
        wavejit.Captured(path, checks=("rice",))
    plain = wavejit.Captured(path)
    with raises(wavejit.WavejitError, "deterministic"):
        plain.launch(seed=7)
    plain.context.close()
# What has no bytes to copy.
for make in (lambda: gpu.array([{}]), lambda: gpu.zeros(3, object), lambda: gpu.array(["text"]), lambda: out.write([None])):
    with raises(TypeError, "numbers or bytes are wanted"):
        make()

# What belongs to a context goes with it.
prepared, snapshot = kernel.prepare(1, 1, arguments), gpu.snapshot()
released = kernel.prepare(1, 1, arguments)
released.release()
with raises(RuntimeError, "has been released"):
    released()
gpu.close()
for use in (lambda: kernel.launch(1, 1, arguments), lambda: kernel.patch(0, bytes(4)), lambda: kernel.prepare(1, 1, arguments),
            lambda: kernel.capture("nowhere", 1, 1, arguments), lambda: kernel._module.variable("v"), lambda: gpu.load(sys.argv[1]),
            lambda: out.numpy(), lambda: out.write([1]), out.free, snapshot.restore, snapshot.release, prepared, released,
            captured.launch, plain.launch, gpu.clone, gpu.snapshot, lambda: gpu.info):
    with raises(RuntimeError, "the context is closed"):
        use()
print("ranges in Python: ok")
