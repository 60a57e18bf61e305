"""Branches, loops and private graphs that lowerings and hand-written graphs build."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import ingot
import numpy as np
import pytest
import torch
from ingot import ops
from ingot.composite import generate_composite_decl
from ingot.ir import Value
from support import assert_close


@torch.library.custom_op("bodies::unary", mutates_args=())
def unary(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


unary.register_fake(torch.empty_like)


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return unary(x) + 1


X = torch.tensor([[1.0, 2.0], [3.0, -1.0]])


def convert(lower: Callable[[Value], Any]) -> ingot.Program:
    """A model whose only custom node is what `lower` makes of its operand."""
    return ingot.convert(Model(), (X,), lowerings={"bodies::unary": lambda values, node, loc: lower(values["x"])})


def total(x: Value) -> Value:
    return ops.reduce(x, "sum", [0, 1])


def test_a_branch_is_taken_when_the_program_runs() -> None:
    def lower(x: Value) -> Value:
        positive = ops.reshape(ops.gt(total(x), 0.0), [])
        return ops.if_(positive, lambda: ops.mul(x, 2.0), lambda: ops.neg(x))

    program = convert(lower)
    assert_close(program(X), X * 2 + 1)
    assert_close(program(-X), X + 1)


def test_a_loop_carries_values_and_sees_those_around_it() -> None:
    def lower(x: Value) -> Value:
        limit = ops.constant(100.0)
        _, grown = ops.while_(
            lambda count, value: ops.reshape(ops.lt(total(value), limit), []),
            lambda count, value: (ops.add(count, 1), ops.add(value, ops.abs(x))),
            ops.constant(0, dtype="int64"),
            x,
        )
        return grown

    expected = X.clone()
    while expected.sum() < 100:
        expected = expected + X.abs()
    assert_close(convert(lower)(X), expected + 1)


def test_bodies_are_nested() -> None:
    def lower(x: Value) -> Value:
        def step(value: Value) -> Any:
            large = ops.reshape(ops.gt(total(value), 50.0), [])
            return ops.if_(large, lambda: ops.mul(value, 3.0), lambda: ops.add(value, x))

        return ops.while_(lambda value: ops.reshape(ops.lt(total(value), 200.0), []), step, x)

    expected = X.clone()
    while expected.sum() < 200:
        expected = expected * 3 if expected.sum() > 50 else expected + X
    assert_close(convert(lower)(X), expected + 1)


def test_a_private_graph_with_a_declaration() -> None:
    def lower(x: Value) -> Value:
        declaration = generate_composite_decl(None, "twice", ["input"], ["output"], {"factor": 2})

        @ops.graph(private=True, composite_decl=declaration)
        def twice(
            v: Annotated[Value, ingot.TensorSpec([2, 2], np.float32)],
        ) -> Annotated[Value, ingot.TensorSpec([2, 2], np.float32)]:
            return ops.mul(v, 2.0)

        return twice(twice(x))

    program = convert(lower)
    text = str(program)
    assert "func.func private @twice" in text
    assert "factor = 2 : si64" in text
    assert text.count("call @twice") == 2
    assert_close(program(X), X * 4 + 1)


def test_a_graph_that_reaches_out_is_refused() -> None:
    def lower(x: Value) -> Value:
        @ops.graph(private=True)
        def plus(
            v: Annotated[Value, ingot.TensorSpec([2, 2], np.float32)],
        ) -> Annotated[Value, ingot.TensorSpec([2, 2], np.float32)]:
            return ops.add(v, x)

        return plus(x)

    with pytest.raises(ingot.LoweringError, match="uses values from around it"):
        convert(lower)


@pytest.mark.parametrize(
    ("lower", "message"),
    [
        (lambda x: ops.if_(ops.reshape(ops.gt(total(x), 0.0), []), lambda: x, lambda: total(x)), "ingot.if"),
        (lambda x: ops.if_(total(x), lambda: x, lambda: x), "boolean"),
        (lambda x: ops.while_(lambda v: v, lambda v: v, x), "boolean"),
        (lambda x: ops.while_(lambda v: ops.reshape(ops.gt(total(v), 0.0), []), total, x), "ingot.while"),
        (lambda x: ops.if_(ops.constant(True), lambda: x / 0, lambda: x), "unsupported operand"),
    ],
    ids=["types", "condition", "test", "step", "exception"],
)
def test_what_does_not_fit_is_said(lower: Callable[[Value], Any], message: str) -> None:
    with pytest.raises(ingot.LoweringError, match=message):
        convert(lower)


def test_after_a_failed_body_the_lowering_goes_on() -> None:
    def lower(x: Value) -> Value:
        with pytest.raises(ingot.UsageError):
            ops.if_(total(x), lambda: x, lambda: x)
        with pytest.raises(ZeroDivisionError):
            ops.if_(ops.constant(True), lambda: 1 / 0, lambda: x)
        return ops.neg(x)

    assert_close(convert(lower)(X), -X + 1)


def test_in_a_graph_written_by_hand() -> None:
    module = ingot.Module.create()
    with module:

        @ops.graph
        def main(
            x: Annotated[Value, ingot.TensorSpec([3], np.float32)],
        ) -> Annotated[Value, ingot.TensorSpec([3], np.float32)]:
            positive = ops.reshape(ops.gt(ops.reduce(x, "sum", [0]), 0.0), [])
            return ops.if_(positive, lambda: x, lambda: ops.neg(x))

    program = module.program()
    x = np.array([1, -5, 2], np.float32)
    np.testing.assert_array_equal(program(x), -x)
    np.testing.assert_array_equal(program(-x), -x)
