"""Sizes of a kernel's results, computed by the program from the sizes and numbers that the kernel is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import sympy
import torch

from ingot import _build
from ingot.errors import UsageError
from ingot.ir import Value

Number = int | Value

_ARITH: Mapping[str, tuple[str, Callable[[int, int], int]]] = {
    "Add": ("arith.addi", lambda a, b: a + b),
    "Mul": ("arith.muli", lambda a, b: a * b),
    "FloorDiv": ("arith.floordivsi", lambda a, b: a // b),
    "CleanDiv": ("arith.floordivsi", lambda a, b: a // b),
    "CeilDiv": ("arith.ceildivsi", lambda a, b: -(-a // b)),
    "Mod": ("arith.remsi", lambda a, b: a % b),
    "PythonMod": ("arith.remsi", lambda a, b: a % b),
    "Max": ("arith.maxsi", max),
    "Min": ("arith.minsi", min),
}
"""By the name of the class in sympy, or in torch's additions to it. Sizes are never negative, so remainders agree."""


class KnownSizes:
    """Sizes of the tensors, and numbers, that one call is given."""

    def __init__(self) -> None:
        self._known: dict[sympy.Expr, Callable[[], Number]] = {}

    def add_tensor(self, value: Value, example: torch.Tensor) -> None:
        for axis, size in enumerate(example.shape):
            if isinstance(size, torch.SymInt):
                self._known.setdefault(size.node.expr, lambda axis=axis: _build.dim(value, axis))  # type: ignore[misc]

    def add_number(self, value: Value, example: Any) -> None:
        if isinstance(example, torch.SymInt):
            self._known.setdefault(example.node.expr, lambda: value)

    def number(self, size: int | torch.SymInt) -> Number:
        if not isinstance(size, torch.SymInt):
            return int(size)
        try:
            return self._compute(size.node.expr)
        except LookupError as error:
            raise UsageError(
                f"the size {size.node.expr} of a result cannot be computed from the kernel's inputs ({error}); "
                "pass a number or a tensor that it depends on"
            ) from None

    def _compute(self, expression: sympy.Expr) -> Number:
        if expression in self._known:
            return self._known[expression]()
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol:
            return self._solve(expression)
        kind = type(expression).__name__
        if kind in ("Pow", "PowByNatural") and expression.args[1].is_Integer and 0 < int(expression.args[1]) <= 16:
            return reduce(_multiply, [self._compute(expression.args[0])] * int(expression.args[1]))
        if kind not in _ARITH:
            raise LookupError(f"{kind} is not supported there")
        op, known = _ARITH[kind]
        return reduce(lambda a, b: _arith(op, known, a, b), [self._compute(each) for each in expression.args])

    def _solve(self, symbol: sympy.Symbol) -> Number:
        """A symbol that is no size itself: s from a size of 2 * s + 1."""
        for expression, number in self._known.items():
            if expression.free_symbols != {symbol} or not expression.is_polynomial(symbol):
                continue
            polynomial = sympy.Poly(expression, symbol)
            if polynomial.degree() == 1 and all(value.is_Integer for value in polynomial.all_coeffs()):
                factor, offset = (int(value) for value in polynomial.all_coeffs())
                rest = _arith("arith.subi", lambda a, b: a - b, number(), offset)
                return _arith(*_ARITH["FloorDiv"], rest, factor)
        raise LookupError(f"no size tells {symbol}")


def _multiply(a: Number, b: Number) -> Number:
    return _arith(*_ARITH["Mul"], a, b)


def _arith(op: str, known: Callable[[int, int], int], a: Number, b: Number) -> Number:
    if isinstance(a, Value) or isinstance(b, Value):
        return _build.arith(op, a, b)
    return known(a, b)
