#!/usr/bin/env python3
"""Writes a part of rocBLAS's test data, because its test program reads all of it (933 MB in rocBLAS 6.4) once for
each group of tests, in pieces of 8 KB, which takes longer than most tests.

    rocblas_sample.py DATA OUTPUT [--category quick] [--every N] [--function gemm,trsm]

The file is a signature, which ends with ROCblas and a zero, and records of one size: the Arguments of the test program. A record
begins with three strings of 64 bytes: the function, the file that names it, and the category.
"""
import argparse
import sys

STRING = 64
SIGNATURE_END = b"ROCblas\0"


def text(field):
    return field.split(b"\0")[0].decode(errors="replace")


def record_size(data, begin):
    """From one record's file name to the next one's with the same function: the first records are all of one function."""
    head = data[begin:begin + 2 * STRING]
    return data.index(head, begin + 1) - begin


def main():
    p = argparse.ArgumentParser()
    p.add_argument("data")
    p.add_argument("output")
    p.add_argument("--category", default="quick")
    p.add_argument("--every", type=int, default=1, help="of the records of a function, each n-th")
    p.add_argument("--function", default="", help="functions, with commas between them (default: all)")
    a = p.parse_args()
    wanted = set(a.function.split(",")) - {""}
    with open(a.data, "rb") as data:
        head = data.read(1 << 16)
        begin = head.find(SIGNATURE_END) + len(SIGNATURE_END)
        if not head.startswith(b"rocBLAS\0") or begin < len(SIGNATURE_END):
            sys.exit(f"{a.data} is not test data of rocBLAS")
        size = record_size(head, begin)
        data.seek(begin)
        seen, kept = {}, 0
        with open(a.output, "wb") as out:
            out.write(head[:begin])
            while len(record := data.read(size)) == size:
                function, category = text(record[:STRING]), text(record[2 * STRING:3 * STRING])
                if category != a.category or (wanted and function not in wanted):
                    continue
                seen[function] = seen.get(function, 0) + 1
                if (seen[function] - 1) % a.every == 0:
                    out.write(record)
                    kept += 1
        if record:
            sys.exit(f"{a.data}: {len(record)} bytes are left behind the last record of {size}")
    print(f"{kept} of {sum(seen.values())} records of {len(seen)} functions")


if __name__ == "__main__":
    main()
