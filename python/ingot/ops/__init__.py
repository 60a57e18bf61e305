"""One function for each op of the dialect, for lowerings and graphs written in Python.

Operands are values, or what becomes a constant: numbers, lists, arrays. A Python number beside a tensor takes its
element type. Sizes may be numbers that the program computes (`ops.dim`). Result types are found from the operands; the
few ops whose types cannot be found need `result_type=` (or `result_types=`).

    y = ops.mul(ops.tanh(ops.div(x, limit)), limit)
    flat = ops.reshape(x, [ops.dim(x, 0), 12])
"""

from __future__ import annotations

from ingot import _build as build
from ingot._build import Number, constant, if_, while_
from ingot.ir import Value
from ingot.module import graph
from ingot.ops import _all
from ingot.ops._all import *  # noqa: F403

__all__ = [
    *_all.__all__,
    "constant",
    "graph",
    "if_",
    "size_add",
    "size_floordiv",
    "size_max",
    "size_min",
    "size_mul",
    "size_sub",
    "while_",
]


def size_add(a: Number, b: Number) -> Value:
    """a + b of two sizes."""
    return build.arith("arith.addi", a, b)


def size_sub(a: Number, b: Number) -> Value:
    """a - b of two sizes."""
    return build.arith("arith.subi", a, b)


def size_mul(a: Number, b: Number) -> Value:
    """a * b of two sizes."""
    return build.arith("arith.muli", a, b)


def size_floordiv(a: Number, b: Number) -> Value:
    """a // b of two sizes."""
    return build.arith("arith.floordivsi", a, b)


def size_max(a: Number, b: Number) -> Value:
    """The larger of two sizes."""
    return build.arith("arith.maxsi", a, b)


def size_min(a: Number, b: Number) -> Value:
    """The smaller of two sizes."""
    return build.arith("arith.minsi", a, b)
