"""Inputs for packet_fuzzer: one file for each, of packets as programs write them. packet_seeds.py FOLDER"""
import pathlib
import struct
import sys

BARRIER_BIT = 1 << 8
VENDOR, INVALID, DISPATCH, BARRIER_AND, BARRIER_OR = 0, 1, 2, 3, 5
# What packet_fuzzer.cpp makes signals of.
NONE, COMPLETION, ZERO, ONE = range(4)


def dispatch(kernel, grid=(64, 1, 1), group=(64, 1, 1), lds=0, private=0, header=DISPATCH, dimensions=1):
    return struct.pack("<HH3HHIII II QQQQ", header, dimensions, *group, 0, *grid, private, lds, kernel, 0, 0, COMPLETION)


def barrier(kind, *signals):
    return struct.pack("<HHI5QQQ", kind | BARRIER_BIT, 0, 0, *signals, *[NONE] * (5 - len(signals)), 0, COMPLETION)


def barrier_value(signal, value, condition):
    return struct.pack("<HBBIQqqIIQQQ", VENDOR, 2, 0, 0, signal, value, -1, condition, 0, 0, 0, COMPLETION)


SEEDS = {
    "copy": dispatch(0),
    "lds": dispatch(1, lds=1024),
    "private": dispatch(2, private=256),
    "three_dimensions": dispatch(3, (32, 8, 2), (8, 4, 2), dimensions=3),
    "and": barrier(BARRIER_AND, ZERO) + dispatch(0, header=DISPATCH | BARRIER_BIT),
    "or": barrier(BARRIER_OR, ONE, ZERO) + dispatch(0),
    "waits": barrier(BARRIER_AND, ONE) + dispatch(0),
    "value": barrier_value(ONE, 1, 0) + barrier_value(ZERO, 5, 2) + dispatch(0),
    "many": dispatch(0) * 8 + barrier(BARRIER_AND) + dispatch(1, lds=64) * 7,
    "no_kernel": dispatch(1 << 56 | 64 << 8),
    "no_packet": bytes([7]) + dispatch(0)[1:],
    "invalid": dispatch(0, header=INVALID) + dispatch(0),
}

for name, seed in SEEDS.items():
    assert len(seed) % 64 == 0, (name, len(seed))
    (pathlib.Path(sys.argv[1]) / name).write_bytes(seed)
