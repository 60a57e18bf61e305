"""Runs a case line by line, and says whether its results are determined well enough to be compared.

Beside the values run two shadows, in which the operands and results of every line that rounds are off by about what
rounding may be. Where a shadow leaves the tolerance of a comparison, nobody can say what is right: a tie in a sort of
computed numbers, a difference of nearly equal ones. Such lines are left out of cases, so that no tolerance is widened.
A line rounds unless float64 gives exactly the same.
"""

from __future__ import annotations

import contextlib
import copy
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from property.case import WIDE_DTYPES, Case, namespace, read_names, split, target
from property.undetermined import reason_against

SHADOWS = 2
# So many must agree with eager before a result that differs from it counts as wrong.
MANY_SHADOWS = 64
# Units in the last place by which operands and results of a line that rounds are moved.
OPERAND_UNITS = {torch.float16: 0.5, torch.bfloat16: 0.5}
RESULT_UNITS = {torch.float16: 0.5, torch.bfloat16: 0.5}
LARGEST = 2000
SUMS = re.compile(r"matmul|linear|conv|mm\(|@|dot|sum|mean|norm|var|std|pool|softmax|attention|interpolate|einsum")
SCOPE, WIDE_SCOPE = namespace(), namespace(WIDE_DTYPES)


class UndeterminedError(Exception):
    """The results depend on how numbers are rounded, or eager has none."""


def is_inexact(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def is_sum_in_float64(line: str, result: torch.Tensor) -> bool:
    """Whether numbers are added up that have no wider type to show how they round."""
    return result.dtype in (torch.float64, torch.complex128) and bool(SUMS.search(line))


def has_another_constant(line: str) -> bool:
    """Whether a number in the line follows from the type, so that float64 does not show how it rounds."""
    return "rms_norm(" in line  # its smallest denominator


def widen(value: torch.Tensor) -> torch.Tensor:
    if value.is_complex():
        return value.to(torch.complex128, copy=True)
    return value.to(torch.float64, copy=True) if value.is_floating_point() else value.clone()


@contextlib.contextmanager
def quiet(dtype: torch.dtype = torch.float32) -> Iterator[None]:
    """Without warnings and gradients, and with this as the type of numbers that come from integers.

    Also without PyTorch's oneDNN, whose 16-bit products end the process on some virtual CPUs.
    """
    torch.set_default_dtype(dtype)
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with torch.backends.mkldnn.flags(enabled=False):
                yield
    finally:
        torch.set_default_dtype(torch.float32)


def execute(line: str, values: dict[str, Any], scope: Mapping[str, Any]) -> None:
    name, expression = split(line)
    if name:
        values[name] = eval(expression, dict(scope), values)
    else:
        exec(line, dict(scope), values)


class Evaluation:
    """The values of a case after some of its lines."""

    def __init__(self, shadows: int = SHADOWS) -> None:
        self.values: dict[str, torch.Tensor] = {}
        self.shadows: list[dict[str, torch.Tensor]] = [{} for _ in range(shadows)]

    def define(self, name: str, value: torch.Tensor) -> None:
        self.values[name] = value
        for shadow in self.shadows:
            shadow[name] = copy.deepcopy(value)  # with its strides, on which it depends what is a view

    def step(self, line: str) -> None:
        """Runs a line; raises UndeterminedError, or what eager raises. After that the evaluation is of no use."""
        if reason := reason_against(line, self.values):
            raise UndeterminedError(reason)
        exact = self.exact_result(line)
        if exact is not None and exact.numel() > LARGEST:
            raise UndeterminedError("too large")
        with quiet():
            execute(line, self.values, SCOPE)
            result = self.values[target(line)]
            if not isinstance(result, torch.Tensor):
                raise UndeterminedError("not a tensor")
            if exact is not None and not is_close(exact.to(result.dtype), result, 1.0):
                raise UndeterminedError("eager is far from float64: it overflows on the way, or rounds a lot")
            rounds = exact is None or not same(widen(result), exact)
            rounds = rounds or is_sum_in_float64(line, result) or has_another_constant(line)
            for number, shadow in enumerate(self.shadows):
                self.step_shadow(line, shadow, rounds, number)
        self.check(target(line))

    def exact_result(self, line: str) -> torch.Tensor | None:
        """In float64; none where eager has none, which the line itself may still have."""
        local = {name: widen(self.values[name]) for name in read_names(line)}
        try:
            with quiet(torch.float64):
                execute(line, local, WIDE_SCOPE)
        except RuntimeError:
            return None
        return local[target(line)]

    def step_shadow(self, line: str, shadow: dict[str, torch.Tensor], rounds: bool, number: int) -> None:
        if not rounds:
            execute(line, shadow, SCOPE)
            return
        generator = torch.Generator().manual_seed(len(self.values) * len(self.shadows) + number)
        name, _ = split(line)
        # In place, the target must stay where it is, since others may be views of it.
        local = {
            read: shadow[read] if not name and read == target(line) else moved(shadow[read], OPERAND_UNITS, generator)
            for read in read_names(line)
        }
        execute(line, local, SCOPE)
        result = local[target(line)]
        if name:
            shadow[name] = moved(result, RESULT_UNITS, generator)
        else:
            result.copy_(moved(result, RESULT_UNITS, generator))

    def check(self, name: str) -> None:
        result = self.values[name]
        if result.numel() > LARGEST:
            raise UndeterminedError("too large")
        if result.dtype == torch.complex32:
            raise UndeterminedError("a type that Ingot does not have")
        for shadow in self.shadows:
            if not is_close(shadow[name], result):
                raise UndeterminedError(f"{name} depends on rounding")


def moved(value: Any, units: Mapping[torch.dtype, float], generator: torch.Generator) -> Any:
    if not isinstance(value, torch.Tensor) or not is_inexact(value):
        return value
    width = torch.finfo(value.dtype).eps * units.get(value.dtype, 2.0)
    factor = 1 + width * (2 * torch.rand(value.shape, generator=generator, dtype=torch.float64) - 1)
    return (widen(value) * factor).to(value.dtype)


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    if left.shape != right.shape or left.dtype != right.dtype:
        return False
    equal = left == right
    return bool((equal | (left.isnan() & right.isnan())).all()) if is_inexact(left) else bool(equal.all())


def is_close(other: torch.Tensor, value: torch.Tensor, part: float = 0.5) -> bool:
    """Within a part of what a comparison allows."""
    if not is_inexact(value) or other.shape != value.shape:
        return torch.equal(other, value)
    relative, absolute = (part * limit for limit in torch.testing._comparison.default_tolerances(value))
    return torch.allclose(widen(other), widen(value), rtol=relative, atol=absolute, equal_nan=True)


def start(case: Case, shapes: Mapping[str, tuple[int, ...]] | None = None, shadows: int = SHADOWS) -> Evaluation:
    evaluation = Evaluation(shadows)
    for given in (*case.inputs, *case.constants):
        evaluation.define(given.name, given.make((shapes or {}).get(given.name)))
    return evaluation


def check_determined(case: Case, shapes: Mapping[str, tuple[int, ...]], calls: int, shadows: int = SHADOWS) -> None:
    """Raises UndeterminedError unless every line of so many calls has results to compare."""
    evaluation = start(case, shapes, shadows)
    for call in range(calls):
        if call:
            for given in case.inputs:
                evaluation.define(given.name, given.make(shapes.get(given.name)))
        try:
            for line in case.lines:
                evaluation.step(line)
        except UndeterminedError:
            raise
        except Exception as error:
            raise UndeterminedError(f"eager: {error}") from error


def wide_outputs(case: Case, shapes: Mapping[str, tuple[int, ...]]) -> list[torch.Tensor] | None:
    """The results of a first call in float64."""
    values = {given.name: widen(given.make(shapes.get(given.name))) for given in (*case.inputs, *case.constants)}
    try:
        with quiet(torch.float64):
            for line in case.lines:
                execute(line, values, WIDE_SCOPE)
    except RuntimeError:
        return None
    return [values[name] for name in case.outputs]
