"""Conformance with dynamic sizes: dynamic_cases.txt has a line for each operator of the core ATen set."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

FILE = Path(__file__).with_name("dynamic_cases.txt")
# What each letter is in turn. Sizes 0 and 1 are specialised by torch.export, so that none is below 2.
SIZES = {"a": (3, 5, 2), "b": (4, 2, 7), "c": (5, 3, 6), "d": (6, 4, 3), "e": (6, 9, 5), "f": (8, 5, 7)}
DTYPES = {"f32": torch.float32, "i64": torch.int64, "b": torch.bool, "c64": torch.complex64}
INPUT = re.compile(r"(\w+)=(\w+)\[([\w,]*)\](?::(\w+)(?:\((\w+)\))?)?")
# Core operators that a line cannot have, and why.
WITHOUT_CASE = {
    "aten::atan2.out": "writes to an argument; a program has aten::atan2 instead",
    "aten::resize_": "changes the size of its operand, which no value can",
    "aten::sym_is_contiguous": "is answered while the program is exported",
}


def core_operators() -> list[str]:
    """ "aten::add.Tensor", as torch.Tag.core marks them."""
    found = []
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::"):
            continue
        packet, _, overload = name.removeprefix("aten::").partition(".")
        try:
            operator = getattr(getattr(torch.ops.aten, packet), overload or "default")
        except AttributeError:
            continue
        if torch.Tag.core in operator.tags:
            found.append(name)
    return sorted(found)


class Expression(torch.nn.Module):
    def __init__(self, text: str, names: list[str]) -> None:
        super().__init__()
        self.code, self.names = compile(text, text, "eval"), names

    def forward(self, *tensors: torch.Tensor) -> Any:
        names = {"torch": torch, "aten": torch.ops.aten, **dict(zip(self.names, tensors, strict=True))}
        result = eval(self.code, names)
        return tuple(result) if isinstance(result, (tuple, list)) else result


@dataclass(frozen=True)
class DynamicCase:
    """What one worker does at a time: a line, at every size."""

    line: str
    dtype = "dynamic"

    def job(self, first: int, limit: int) -> dict[str, Any]:
        return {"dynamic": self.line}

    @property
    def expression(self) -> str:
        return self.line.partition(" | ")[0]

    @property
    def specs(self) -> list[tuple[str, str, str, str, str]]:
        return INPUT.findall(self.line.partition(" | ")[2])

    @property
    def name(self) -> str:
        """The last operator of the line, which is the one it is for: others only use what it gives."""
        return "aten::" + re.findall(r"aten\.(\w+(?:\.\w+)?)(?=\()", self.expression)[-1]

    def module(self) -> Expression:
        return Expression(self.expression, [name for name, *_ in self.specs])

    def inputs(self, turn: int) -> tuple[torch.Tensor, ...]:
        generator = torch.Generator().manual_seed(turn)
        return tuple(tensor(dtype, sizes, fill, bound, turn, generator) for _, dtype, sizes, fill, bound in self.specs)

    def dynamic_shapes(self) -> Any:
        dims = [
            {place: torch.export.Dim.DYNAMIC for place, size in enumerate(sizes.split(",")) if size in SIZES}
            for _, _, sizes, _, _ in self.specs
        ]
        return (tuple(dims),)


def size_of(text: str, turn: int) -> int:
    return SIZES[text][turn] if text in SIZES else int(text)


def tensor(dtype: str, sizes: str, fill: str, bound: str, turn: int, generator: torch.Generator) -> torch.Tensor:
    shape = [size_of(size, turn) for size in sizes.split(",") if size]
    if dtype == "b":
        return torch.rand(shape, generator=generator) < 0.5
    if dtype == "i64":
        return torch.randint(0, size_of(bound, turn) if fill == "index" else 10, shape, generator=generator)
    if fill in ("pos", "unit"):
        low, high = (1.05, 4.0) if fill == "pos" else (-0.95, 0.95)
        return torch.rand(shape, generator=generator, dtype=DTYPES[dtype]) * (high - low) + low
    return torch.randn(shape, generator=generator, dtype=DTYPES[dtype]) * 2


def dynamic_cases() -> list[DynamicCase]:
    lines = (line.strip() for line in FILE.read_text().splitlines())
    return [DynamicCase(line) for line in lines if line and not line.startswith("#")]
