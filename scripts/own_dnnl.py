#!/usr/bin/env python3
"""A copy of oneDNN that runs on Ingot's threads (src/threads) instead of libgomp's.

own_dnnl.py libdnnl.so.3 libingdnn.so

Its OpenMP calls, the library they are in, and its own name get other names of the same length; nothing else changes. So
it does not meet the OpenMP library of another package in the process (PyTorch's, say), nor wait for it.
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

CALLS = ("barrier", "loop_end_nowait", "loop_static_next", "loop_static_start", "parallel_end", "parallel_start")
QUESTIONS = ("get_max_threads", "get_num_threads", "get_thread_num", "in_parallel")
NAMES = {
    "libgomp.so.1": "libingomp.so",
    "libdnnl.so.3": "libingdnn.so",
    **{f"GOMP_{name}": f"INGO_{name}" for name in CALLS},
    **{f"omp_{name}": f"ing_{name}" for name in QUESTIONS},
}
STRTAB = 3


def string_table(library: bytes) -> tuple[int, int]:
    """Where the names of a 64-bit ELF library for little-endian machines are: section .dynstr."""
    if library[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("own_dnnl: this is no 64-bit library")
    (sections,) = struct.unpack_from("<Q", library, 0x28)
    size, count, names = struct.unpack_from("<HHH", library, 0x3A)

    def section(index: int) -> tuple[int, int, int, int]:
        name, kind = struct.unpack_from("<II", library, sections + index * size)
        offset, length = struct.unpack_from("<QQ", library, sections + index * size + 0x18)
        return name, kind, offset, length

    heads = section(names)[2]
    for index in range(count):
        name, kind, offset, length = section(index)
        if kind == STRTAB and library[heads + name :].startswith(b".dynstr\0"):
            return offset, length
    raise SystemExit("own_dnnl: the library has no names")


def renamed(library: bytes) -> bytes:
    offset, length = string_table(library)
    table = library[offset : offset + length]
    for old, new in NAMES.items():
        wanted = b"\0" + old.encode() + b"\0"
        if table.count(wanted) != 1 or len(old) != len(new):
            raise SystemExit(f"own_dnnl: '{old}' is not there once: this is another oneDNN than the one expected")
        table = table.replace(wanted, b"\0" + new.encode() + b"\0")
    return library[:offset] + table + library[offset + length :]


def main() -> None:
    source, target = map(Path, sys.argv[1:])
    made = renamed(source.read_bytes())
    if not target.exists() or target.read_bytes() != made:
        target.write_bytes(made)


if __name__ == "__main__":
    main()
