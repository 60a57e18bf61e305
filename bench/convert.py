#!/usr/bin/env python3
"""What converting in Python costs: seconds on one core, from ExportedProgram to Program, and private memory.

The first conversion of a process and the fastest of the next ones; importing the converter has loaded the compiler.
Memory is what the first adds to the process; weights, which stay where PyTorch has them, are no part of it.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from pathlib import Path

import torch
from ingot import TorchConverter

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from models import zoo  # noqa: E402
from support import export  # noqa: E402


def private_megabytes() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def seconds_of_conversion(program: torch.export.ExportedProgram) -> tuple[float, float]:
    """And the private memory that it added."""
    before, start = private_megabytes(), time.perf_counter()
    converted = TorchConverter(progress=False).add_exported_program(program).to_ingot()
    elapsed = time.perf_counter() - start
    added = private_megabytes() - before
    del converted
    return elapsed, added


def measure(name: str, repeat: int) -> str:
    model, args = zoo.FAMILIES[name](1, "full")
    start = time.perf_counter()
    program = export(model, args)
    export_s = time.perf_counter() - start
    megabytes = sum(tensor.nbytes for tensor in program.state_dict.values()) / 2**20
    first_s, added = seconds_of_conversion(program)
    best_s = min(seconds_of_conversion(program)[0] for _ in range(repeat))
    return f"{name:16} {megabytes:10.0f} {export_s:9.2f} {first_s:9.2f} {best_s:9.2f} {added:12.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", default=["gpt2"], help="of tests/models/zoo.py")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    logging.disable(logging.WARNING)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    print(f"{'model':16} {'weights MB':>10} {'export s':>9} {'first s':>9} {'next s':>9} {'private MB':>12}")
    for name in options.families:
        print(measure(name, options.repeat), flush=True)


if __name__ == "__main__":
    main()
