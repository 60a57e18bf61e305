"""Ops of the dialect: control.

Made by docs/ops_module.py from src/dialect/ControlOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from ingot import _build as build
from ingot._build import Operand
from ingot.ir import Type, Value


def item(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the only element of a tensor, as a number."""
    x = build.tensor(x)
    return build.single("item", [x], {}, result_type=result_type)


def check(condition: Operand, message: str, *, result_type: Type | None = None, loc: object = None) -> Value:
    """fails with `message` unless the condition holds; the result is true."""
    condition = build.any_value(condition)
    return build.single("check", [condition], {"message": build.string(message)}, result_type=result_type)
