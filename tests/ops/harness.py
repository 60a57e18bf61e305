"""Operator cases: what they compute, what they are given, and how a bundle of them is compared with eager.

Converting costs more than running, so many cases are exported as one program with all their results. When a bundle
does not convert, its cases are tried one by one, so that the culprit is named.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import ingot
import torch
from support import export
from torch.utils import _pytree as pytree

TABLE = Path(__file__).parents[2] / "src" / "lower" / "aten_ops.inc"


@dataclass(frozen=True)
class Tolerance:
    """Floats: `ulp` units in the last place where given, else `rtol` of the value plus `atol` of the largest one."""

    ulp: float | None = None
    rtol: float = 2e-6
    atol: float = 1e-6

    def allowed(self, expected: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Allowed differences from finite values, given in float64."""
        eps = torch.finfo(dtype).eps
        if self.ulp is not None:
            # Small floats are computed in float32 and rounded once.
            units = self.ulp if eps < 1e-5 else min(self.ulp, 1.0)
            return units * torch.clamp(eps * expected.abs(), min=torch.finfo(dtype).smallest_normal * eps)
        # The limits are for float32; other types have their own precision.
        factor = max(eps / torch.finfo(torch.float32).eps, 1e-7)
        if eps > 1e-5:
            factor = eps / self.rtol
        largest = expected.abs().max().item() if expected.numel() else 0.0
        return factor * (self.rtol * expected.abs() + self.atol * largest)


@dataclass
class Case:
    """`run` takes `inputs` and `constants` in this order."""

    label: str
    run: Callable[..., Any]
    inputs: list[torch.Tensor]
    constants: list[torch.Tensor] = field(default_factory=list)
    # For each input the dimensions that are symbols.
    dynamic: list[tuple[int, ...]] = field(default_factory=list)
    tolerance: Tolerance = field(default_factory=Tolerance)


class Bundle(torch.nn.Module):
    """All cases as one module: takes all their inputs, gives a list of results for each."""

    def __init__(self, cases: Sequence[Case]) -> None:
        super().__init__()
        self.cases = list(cases)
        for number, case in enumerate(cases):
            for index, constant in enumerate(case.constants):
                self.register_buffer(f"constant_{number}_{index}", constant)

    def forward(self, *inputs: torch.Tensor) -> tuple[tuple[torch.Tensor, ...], ...]:
        results, position = [], 0
        for number, case in enumerate(self.cases):
            own = inputs[position : position + len(case.inputs)]
            position += len(case.inputs)
            constants = [getattr(self, f"constant_{number}_{index}") for index in range(len(case.constants))]
            results.append(tuple(tensors_of(case.run(*own, *constants))))
        return tuple(results)

    def example_inputs(self) -> tuple[torch.Tensor, ...]:
        return tuple(tensor for case in self.cases for tensor in case.inputs)

    def dynamic_shapes(self) -> dict[str, Any]:
        """Every dimension that a case calls a symbol is one of its own."""
        specs: list[dict[int, Any]] = []
        for case in self.cases:
            dynamic = case.dynamic or [()] * len(case.inputs)
            specs += [{dim: torch.export.Dim.DYNAMIC for dim in dims} for dims in dynamic]
        return {"inputs": tuple(specs)}


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def export_bundle(cases: Sequence[Case]) -> torch.export.ExportedProgram:
    bundle = Bundle(cases).eval()
    shapes = bundle.dynamic_shapes() if any(case.dynamic for case in cases) else None
    return export(bundle, bundle.example_inputs(), dynamic_shapes=shapes)


# ---------------------------------------------------------------------------------------------------------------------
# Comparing


def difference(actual: torch.Tensor, expected: torch.Tensor, tolerance: Tolerance) -> str:
    """What is wrong; empty when nothing is."""
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} instead of {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if expected.is_complex():
        return difference(torch.view_as_real(actual), torch.view_as_real(expected.resolve_conj()), tolerance)
    if not expected.is_floating_point():
        return "" if torch.equal(actual, expected) else worst(actual, expected, actual != expected)
    left, right = actual.to(torch.float64), expected.to(torch.float64)
    same = (left == right) | (left.isnan() & right.isnan())
    finite = torch.isfinite(left) & torch.isfinite(right)
    room = tolerance.allowed(torch.where(torch.isfinite(right), right, 0.0), expected.dtype)
    wrong = ~(same | (finite & ((left - right).abs() <= room)))
    return worst(actual, expected, wrong) if wrong.any() else ""


def worst(actual: torch.Tensor, expected: torch.Tensor, wrong: torch.Tensor) -> str:
    gap = (actual.to(torch.float64) - expected.to(torch.float64)).abs().nan_to_num(math.inf, math.inf)
    where = int(torch.where(wrong, gap, -1.0).flatten().argmax())
    pair = f"{actual.flatten()[where].item()!r} instead of {expected.flatten()[where].item()!r}"
    return f"{int(wrong.sum())} of {wrong.numel()} values differ: {pair} at {where}"


def compare(case: Case, actual: Sequence[torch.Tensor], expected: Sequence[torch.Tensor]) -> list[str]:
    if len(actual) != len(expected):
        return [f"{case.label}: {len(actual)} results instead of {len(expected)}"]
    found = (difference(left, right, case.tolerance) for left, right in zip(actual, expected, strict=True))
    return [f"{case.label}: result {index}: {text}" for index, text in enumerate(found) if text]


# ---------------------------------------------------------------------------------------------------------------------
# Running


def grown(case: Case, step: int) -> list[torch.Tensor]:
    """The inputs with every symbolic dimension larger by `step`."""
    result = []
    for tensor, dims in zip(case.inputs, case.dynamic, strict=True):
        shape = [size + step if dim in dims else size for dim, size in enumerate(tensor.shape)]
        numbers = torch.arange(math.prod(shape)) % max(tensor.numel(), 1)
        result.append(tensor.flatten()[numbers].reshape(shape))
    return result


def run_bundle(cases: Sequence[Case], exported: torch.export.ExportedProgram) -> list[str]:
    """Converts and runs the cases as one program: everything that differs from eager. Raises what conversion raises."""
    program = ingot.convert(exported)
    steps = (0, 2) if any(case.dynamic for case in cases) else (0,)
    found = []
    for step in steps:
        inputs = [grown(case, step) if case.dynamic else case.inputs for case in cases]
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = [tensors_of(case.run(*own, *case.constants)) for case, own in zip(cases, inputs, strict=True)]
        results = program(*(tensor.clone() for own in inputs for tensor in own))
        for case, actual, wanted in zip(cases, results, expected, strict=True):
            found += compare(case, list(actual), wanted)
    return found


def failures(cases: Sequence[Case], exported: torch.export.ExportedProgram | None = None) -> list[str]:
    """Everything that is wrong with the cases; `exported` is their bundle, where it is there already."""
    try:
        return run_bundle(cases, exported or export_bundle(cases))
    except Exception as error:
        if len(cases) == 1:
            return [f"{cases[0].label}: {type(error).__name__}: {error}"]
        alone = [failure for case in cases for failure in failures([case])]
        return alone or [f"only all together: {type(error).__name__}: {error}"]


# ---------------------------------------------------------------------------------------------------------------------
# The table of lowerings


def table_rows() -> set[str]:
    """The schema names of aten_ops.inc: aten::add.Tensor."""
    names = set()
    for line in TABLE.read_text().splitlines():
        if line.startswith("ATEN") and '("' in line:
            names.add(line.split('"')[1])
    return names


def operators(programs: Iterable[torch.export.ExportedProgram]) -> set[str]:
    """The operators of exported graphs, named as in the table."""
    names = set()
    for program in programs:
        for module in program.graph_module.modules():
            if isinstance(module, torch.fx.GraphModule):
                names |= {target_name(node.target) for node in module.graph.nodes if node.op == "call_function"}
    return names


def target_name(target: Any) -> str:
    if isinstance(target, torch._ops.OpOverload):
        overload = target._schema.overload_name
        return target._schema.name + (f".{overload}" if overload else "")
    return f"{target.__module__}::{target.__name__}"
