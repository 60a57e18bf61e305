"""Compares the exported scalar functions with PyTorch's own, op by op and type by type.

Usage: scalar_against_eager.py [LIBRARY]. Without a library (ScalarExports.cpp as a shared object) it compiles one.
"""

from __future__ import annotations

import ctypes
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

HERE = Path(__file__).resolve().parent
TYPES = {
    "f32": (torch.float32, ctypes.c_float),
    "f64": (torch.float64, ctypes.c_double),
    "i64": (torch.int64, ctypes.c_int64),
    "i32": (torch.int32, ctypes.c_int32),
    "i8": (torch.int8, ctypes.c_int8),
    "u8": (torch.uint8, ctypes.c_uint8),
    "b": (torch.bool, ctypes.c_uint8),
}
FLOATS, INTEGERS = ("f32", "f64"), ("i64", "i32", "i8", "u8")
KINDS = {
    "FLOATS": FLOATS,
    "INTEGERS": (*INTEGERS, "b"),
    "NUMBERS": (*FLOATS, *INTEGERS),
    "ALL": (*FLOATS, *INTEGERS, "b"),
}
EAGER = {
    "silu": torch.nn.functional.silu,
    "gelu": torch.nn.functional.gelu,
    "gelu_tanh": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
    "hard_swish": torch.nn.functional.hardswish,
    "hard_sigmoid": torch.nn.functional.hardsigmoid,
    "mish": torch.nn.functional.mish,
    "div_trunc": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "div_floor": lambda a, b: torch.div(a, b, rounding_mode="floor"),
}
# Where eager's vectorised code gives NaN although the limit exists.
EAGER_NAN = {"gelu": (math.inf,)}
ROW = re.compile(r"^SCALAR_(UNARY|ABS|TEST|BINARY|COMPARE)(?:_AS)?\((\w+), (\w+)[,)]", re.M)


def samples(name: str) -> list[float]:
    if name == "b":
        return [0, 1]
    if name in INTEGERS:
        info = torch.iinfo(TYPES[name][0])
        return [
            v for v in (info.min, -128, -7, -3, -2, -1, 0, 1, 2, 3, 5, 64, 127, info.max) if info.min <= v <= info.max
        ]
    small = [
        s * v
        for v in (0.0, 1e-30, 1e-8, 0.001, 0.3, 0.5, 0.9, 1.0, 1.5, 2.0, 2.5, 3.0, 7.3, 20.0, 88.0, 1e3, 1e6)
        for s in (1, -1)
    ]
    return [*small, math.inf, -math.inf, math.nan]


def differs(op: str, got: float, want: float, name: str) -> bool:
    if got == want or (got != got and want != want):
        return False
    if name not in FLOATS or not (math.isfinite(got) and math.isfinite(want)):
        return True
    relative, absolute = (2e-6, 2e-7) if name == "f32" else (1e-12, 1e-15)
    if op == "gelu" and name == "f32":
        absolute = 1e-6  # eager's own erf is that far off for negative numbers
    return abs(got - want) > max(relative * abs(want), absolute)


def check(library: ctypes.CDLL, op: str, name: str, arity: int, is_test: bool) -> tuple[int, list[str]]:
    dtype, ctype = TYPES[name]
    function = getattr(library, f"ingot_s_{op}_{name}")
    function.restype = ctypes.c_uint8 if is_test else ctype
    function.argtypes = [ctype] * arity
    cases = [(x,) for x in samples(name)]
    if arity == 2:
        cases = [(x, y) for x in samples(name) for y in samples(name)]
        if name not in FLOATS and op in ("div_trunc", "div_floor", "remainder", "fmod"):
            # Eager refuses zero and may trap where the quotient does not fit.
            cases = [(x, y) for x, y in cases if y not in (0, -1)]
    columns = [torch.tensor(list(column), dtype=dtype) for column in zip(*cases, strict=True)]
    try:
        wanted = EAGER.get(op, getattr(torch, op, None))(*columns)
    except (RuntimeError, NotImplementedError, TypeError):
        return 0, []  # eager does not have it for this type
    if not is_test and wanted.dtype != dtype:
        return 0, []
    problems = []
    for case, want in zip(cases, wanted.tolist(), strict=True):
        got = function(*case)
        if differs(op, got, want, name) and case[0] not in EAGER_NAN.get(op, ()):
            problems.append(f"{op} {name} {case}: {got}, eager gives {want}")
    return len(cases), problems


def build(folder: Path) -> Path:
    source = HERE.parents[1] / "elementwise" / "ScalarExports.cpp"
    library = folder / "scalar.so"
    command = [
        "clang++-19",
        "-std=c++20",
        "-O2",
        "-shared",
        "-fPIC",
        f"-I{HERE.parents[3]}",
        str(source),
        "-o",
        str(library),
    ]
    subprocess.run(command, check=True)
    return library


def main() -> int:
    rows = ROW.findall((HERE.parent / "scalar_ops.inc").read_text())
    with tempfile.TemporaryDirectory() as folder:
        library = ctypes.CDLL(str(sys.argv[1] if len(sys.argv) > 1 else build(Path(folder))))
        count, problems = 0, []
        for shape, op, kinds in rows:
            for name in KINDS[kinds.removesuffix("_C")]:
                done, found = check(
                    library, op, name, 2 if shape in ("BINARY", "COMPARE") else 1, shape in ("TEST", "COMPARE")
                )
                count += done
                problems += found
    print("\n".join(problems))
    print(f"{len(rows)} ops, {count} comparisons, {len(problems)} differences")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
