"""Reads the case files: <Family>.txt, one case a line.

    EXPRESSION | NAME=TYPE[SHAPE]FLAGS:FILL … | TOLERANCE

- The expression may use torch, F, aten (torch.ops.aten), ops (torch.ops), math, inf, nan and the inputs. A line that
  ends in `|` has no inputs.
- Types: f64 f32 f16 bf16 i64 i32 i16 i8 u8 b c64 c128. A size with a star is a symbol: x=f32[3*,4]. The case then
  also runs with larger sizes.
- Flag `!`: not an input but a weight of the program.
- Fills: none (normal, or small integers), pos, unit (-1 to 1), big (±100), nonzero, int(LOW,HIGH), distinct, ties,
  special (NaN, infinities, zeros of both signs, denormals, extremes; for integers the extremes).
- Tolerance: `ulp=4`, `rtol=1e-5` or `atol=1e-5`. A line `%ulp=4` sets the file's default.
- Lines that start with # are comments.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from ops import registered  # noqa: F401
from ops.harness import Case, Tolerance

FOLDER = Path(__file__).parent
DTYPES = {
    "f64": torch.float64,
    "f32": torch.float32,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i64": torch.int64,
    "i32": torch.int32,
    "i16": torch.int16,
    "i8": torch.int8,
    "u8": torch.uint8,
    "b": torch.bool,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
LINE = re.compile(r"^(?P<expression>.*?)\s\|(?:\s+(?P<inputs>\w+=\w+\[.*?))?(?:\s+\|\s+(?P<tolerance>[\w=. e-]+))?$")
INPUT = re.compile(
    r"(?P<name>\w+)=(?P<dtype>\w+)\[(?P<shape>[\d,*]*)\](?P<weight>!?)(?::(?P<fill>\w+(?:\([-\d,]+\))?))?"
)
NAMES = {
    "torch": torch,
    "F": torch.nn.functional,
    "aten": torch.ops.aten,
    "ops": torch.ops,
    "math": math,
    "inf": math.inf,
    "nan": math.nan,
}
SPECIAL = [0.0, -0.0, 1.0, -1.0, math.inf, -math.inf, math.nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, -1e-40, 3e38, -3e38]


def tensor(dtype: torch.dtype, shape: list[int], fill: str, generator: torch.Generator) -> torch.Tensor:
    count = math.prod(shape)
    if dtype.is_complex:
        return torch.complex(*(tensor(dtype.to_real(), shape, fill, generator) for _ in range(2)))
    if fill.startswith("int("):
        low, high = (int(number) for number in fill[4:-1].split(","))
        return torch.randint(low, high, shape, generator=generator).to(dtype)
    if fill == "distinct":
        return torch.randperm(count, generator=generator).reshape(shape).to(dtype)
    if fill == "ties":
        return torch.randint(0, 3, shape, generator=generator).to(dtype)
    if fill == "special":
        return special(dtype, count).reshape(shape)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    if not dtype.is_floating_point:
        low = 0 if dtype == torch.uint8 or fill == "pos" else -9
        values = torch.randint(low, 10, shape, generator=generator)
        return torch.where(values == 0, 3, values).to(dtype) if fill in ("nonzero", "pos") else values.to(dtype)
    return floats(fill, shape, generator).to(dtype)


def floats(fill: str, shape: list[int], generator: torch.Generator) -> torch.Tensor:
    uniform = torch.rand(shape, generator=generator, dtype=torch.float64)
    if fill == "pos":
        return uniform * 3.9 + 0.1
    if fill == "unit":
        return uniform * 2 - 1
    if fill == "big":
        return uniform * 200 - 100
    if fill == "nonzero":
        return (uniform + 0.3) * torch.where(torch.rand(shape, generator=generator) < 0.5, -1, 1)
    assert fill == "", f"unknown fill {fill}"
    return torch.randn(shape, generator=generator, dtype=torch.float64) * 2


def special(dtype: torch.dtype, count: int) -> torch.Tensor:
    if dtype.is_floating_point:
        values = torch.tensor(SPECIAL, dtype=torch.float64).to(dtype)
    elif dtype == torch.bool:
        values = torch.tensor([True, False])
    else:
        limits = torch.iinfo(dtype)
        values = torch.tensor([limits.min, limits.max, 0, 1, limits.max - 1, 7, limits.min + 1, 100], dtype=dtype)
    return values[torch.arange(count) % len(values)]


def parse_tolerance(text: str, default: Tolerance) -> Tolerance:
    values: dict[str, float] = {}
    for part in text.split():
        key, _, value = part.partition("=")
        values[key] = float(value)
    if not values:
        return default
    return Tolerance(**({} if "ulp" in values else {"rtol": default.rtol, "atol": default.atol}) | values)


def parse_line(line: str, default: Tolerance) -> Case:
    match = LINE.match(line)
    assert match is not None, f"not a case: {line}"
    inputs, constants, dynamic = [], [], []
    names: list[str] = []
    weights: list[str] = []
    for spec in INPUT.finditer(match["inputs"] or ""):
        generator = torch.Generator().manual_seed(zlib.crc32(f"{line}{spec['name']}".encode()))
        sizes = [size for size in spec["shape"].split(",") if size]
        shape = [int(size.rstrip("*")) for size in sizes]
        value = tensor(DTYPES[spec["dtype"]], shape, spec["fill"] or "", generator)
        if spec["weight"]:
            constants.append(value)
            weights.append(spec["name"])
        else:
            inputs.append(value)
            names.append(spec["name"])
            dynamic.append(tuple(dim for dim, size in enumerate(sizes) if size.endswith("*")))
    run = function(match["expression"], [*names, *weights])
    tolerance = parse_tolerance(match["tolerance"] or "", default)
    return Case(line, run, inputs, constants, dynamic if any(dynamic) else [], tolerance)


def function(expression: str, names: list[str]) -> Callable[..., Any]:
    code = compile(expression, "<case>", "eval")

    def run(*tensors: torch.Tensor) -> Any:
        # One namespace, so that comprehensions and := inside the expression see the inputs.
        return eval(code, {**NAMES, **dict(zip(names, tensors, strict=True))})

    return run


def read(family: str) -> list[Case]:
    cases, default = [], Tolerance()
    for line in (FOLDER / f"{family}.txt").read_text().splitlines():
        line = line.strip()
        if line.startswith("%"):
            default = parse_tolerance(line[1:], Tolerance())
        elif line and not line.startswith("#"):
            cases.append(parse_line(line, default))
    return cases


def families() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.txt"))
