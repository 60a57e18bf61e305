"""A random graph as text: inputs, constants and lines of Python, which are its module, its script and its file.

Names v0, v1, ... are values, w0, w1, ... are buffers of the module. A line assigns a value or changes one in place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.nn.functional as F

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
    "u8": torch.uint8,
    "b1": torch.bool,
    "c64": torch.complex64,
    "c128": torch.complex128,
}
# What floats are in the reference run.
WIDE_DTYPES = {**DTYPES, "f32": torch.float64, "f16": torch.float64, "bf16": torch.float64, "c64": torch.complex128}

NAME = re.compile(r"\b[vw]\d+\b")


@dataclass(frozen=True)
class Input:
    """An input (v...) or a buffer (w...). Its values follow from the shape, the kind and the seed."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    kind: str = "small"
    seed: int = 0
    dynamic: tuple[int, ...] = ()
    layout: str = ""

    def make(self, shape: Sequence[int] | None = None) -> torch.Tensor:
        shape = self.shape if shape is None else tuple(shape)
        values = VALUES[self.kind](shape, DTYPES[self.dtype], torch.Generator().manual_seed(self.seed))
        return LAYOUTS[self.layout](values)


@dataclass(frozen=True)
class Case:
    inputs: tuple[Input, ...]
    lines: tuple[str, ...]
    outputs: tuple[str, ...]
    constants: tuple[Input, ...] = ()
    label: str = field(default="", compare=False)

    def script(self) -> str:
        """The text of a file of `regressions`."""
        parts = {"inputs": self.inputs, "constants": self.constants, "lines": self.lines, "outputs": self.outputs}
        body = "".join(
            f"    {name}=(\n" + "".join(f"        {value!r},\n" for value in values) + "    ),\n"
            for name, values in parts.items()
            if values
        )
        return f"from property.case import Case, Input\n\nCASE = Case(\n{body})\n"


# ---------------------------------------------------------------------------------------------------------------------
# Values


def small(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Few and short numbers: sums and products of them are exact in every order, and there are ties."""
    numbers = torch.randint(-8, 9, shape, generator=generator)
    if dtype.is_floating_point:
        return (numbers / 4).to(dtype)
    if dtype.is_complex:
        return torch.complex(numbers / 4, torch.randint(-8, 9, shape, generator=generator) / 4).to(dtype)
    if dtype == torch.bool:
        return numbers > 0
    return (numbers.abs() if dtype == torch.uint8 else numbers).to(dtype)


def normal(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator, dtype=torch.complex64 if dtype.is_complex else None).to(dtype)
    if dtype == torch.bool:
        return torch.rand(shape, generator=generator) < 0.5
    low = 0 if dtype == torch.uint8 else -100
    return torch.randint(low, 101, shape, generator=generator).to(dtype)


def edges(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Short numbers with NaN, infinities, zeros of both signs and extremes between them."""
    values = small(shape, dtype, generator)
    if dtype == torch.bool:
        return values
    if dtype.is_complex:
        # Not infinities: what products of them are, eager itself computes in different ways.
        special = torch.tensor([complex(0.0, -0.0), complex(float("nan"), 1.0)])
    elif dtype.is_floating_point:
        # The largest number is not among them: whether products overflow on the way is a matter of their order.
        rare = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, torch.finfo(dtype).tiny]
        special = torch.tensor(rare, dtype=torch.float64)
    else:
        special = torch.tensor([torch.iinfo(dtype).min, torch.iinfo(dtype).max])
    chosen = special[torch.randint(0, len(special), shape, generator=generator)].to(dtype)
    return torch.where(torch.rand(shape, generator=generator) < 0.2, chosen, values)


def indices(shape: tuple[int, ...], dtype: torch.dtype, generator: torch.Generator) -> torch.Tensor:
    """Small and not negative."""
    return torch.randint(0, 2, shape, generator=generator).to(dtype)


VALUES: Mapping[str, Callable[..., torch.Tensor]] = {
    "small": small,
    "normal": normal,
    "edges": edges,
    "indices": indices,
}


def spread(values: torch.Tensor) -> torch.Tensor:
    """Every second element of a larger tensor."""
    wide = values.new_zeros((*values.shape[:-1], 2 * values.shape[-1] + 1) if values.dim() else (3,))
    view = wide[..., 1::2] if values.dim() else wide[1]
    return view.copy_(values)


def upside_down(values: torch.Tensor) -> torch.Tensor:
    """The first dimension is the innermost one."""
    dims = tuple(reversed(range(values.dim())))
    return values.permute(dims).contiguous().permute(dims)


# How the elements of an input lie in memory.
LAYOUTS: Mapping[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "": lambda values: values,
    "reversed": upside_down,
    "spread": spread,
}

# ---------------------------------------------------------------------------------------------------------------------
# What lines may call


def to_int(x: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Numbers that do not fit become something else on every CPU, so they are brought into range first."""
    low = 0.0 if dtype == torch.uint8 else -100.0
    return x.nan_to_num(0.0, 100.0, low).clamp(low, 100.0).to(dtype)


def cond(condition: torch.Tensor, then: Any, otherwise: Any, *operands: torch.Tensor) -> torch.Tensor:
    """`torch.cond` compiles in eager, which is slow and no better."""
    if torch.compiler.is_exporting():
        return torch.cond(condition, then, otherwise, operands)
    return (then if bool(condition) else otherwise)(*operands)


def namespace(dtypes: Mapping[str, torch.dtype] = DTYPES) -> dict[str, Any]:
    return {"torch": torch, "F": F, "to_int": to_int, "cond": cond, **dtypes}


# ---------------------------------------------------------------------------------------------------------------------
# Modules


def build(case: Case) -> torch.nn.Module:
    """The case as a module with fresh buffers."""
    body = [f"{constant.name} = self.{constant.name}" for constant in case.constants]
    body += [*case.lines, f"return ({', '.join(case.outputs)},)"]
    arguments = "".join(f", {given.name}" for given in case.inputs)
    source = f"def forward(self{arguments}):\n" + "".join(f"    {line}\n" for line in body)
    scope = namespace()
    exec(compile(source, "<graph>", "exec"), scope)
    module = type("Graph", (torch.nn.Module,), {"forward": scope["forward"]})().eval()
    for constant in case.constants:
        module.register_buffer(constant.name, constant.make())
    return module


def read_names(line: str) -> list[str]:
    """The values that a line reads or changes."""
    _, expression = split(line)
    return list(dict.fromkeys(NAME.findall(expression)))


def split(line: str) -> tuple[str, str]:
    """The name that a line defines (empty: it changes something in place), and the rest."""
    found = re.match(r"([vw]\d+) = (.*)$", line)
    return (found[1], found[2]) if found else ("", line)


def target(line: str) -> str:
    """The value that a line defines or changes."""
    found = NAME.search(line)
    assert found
    return found[0]
