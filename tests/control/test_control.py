"""Branches, loops and numbers read from tensors, against eager."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ingot
import pytest
import torch
from support import export
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops import map as map_over
from torch.export import Dim

X = torch.tensor([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]])


class Closure(torch.nn.Module):
    """A branch that closes over weights, with a branch inside."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        def inner(x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.max() > 3, lambda x: self.linear(x) * 2, lambda x: x.cos(), (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: x - 1, (x,)) + 1


class Powers(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: torch.Tensor) -> Any:
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2), (torch.tensor(0), x))


class Running(torch.nn.Module):
    def forward(self, start: torch.Tensor, xs: torch.Tensor) -> Any:
        return scan(lambda c, x: (c + x, c * x), start, xs, dim=1, reverse=True)


class Mapped(torch.nn.Module):
    def forward(self, xs: torch.Tensor, y: torch.Tensor) -> Any:
        return map_over(
            lambda x, y: torch.cond(x.sum() > 0, lambda x, y: x.sin() + y, lambda x, y: x - y, (x, y)), xs, y
        )


class Products(torch.nn.Module):
    def forward(self, xs: torch.Tensor) -> Any:
        return associative_scan(lambda a, b: a * b, xs, dim=0, combine_mode="generic")


class Counter(torch.nn.Module):
    """State that a function with a branch changes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)
        return torch.cond(self.calls > 1, lambda x: x * 2, lambda x: x.clone(), (x,))


class Steps(torch.nn.Module):
    """Numbers from tensors as values and as sizes."""

    def forward(self, x: torch.Tensor, n: torch.Tensor) -> Any:
        count = n.item()
        torch._check(count >= 0)
        torch._check(count <= 6)
        return torch.zeros(count) + x.sum(), x * count, torch.arange(count)


CASES: list[tuple[str, Callable[[], torch.nn.Module], tuple[Any, ...], list[tuple[Any, ...]]]] = [
    ("closure", Closure, (X,), [(X,), (-X,), (X * 0.5,)]),
    ("powers", Powers, (X, torch.tensor(3)), [(X, torch.tensor(0)), (X, torch.tensor(7))]),
    ("running", Running, (torch.randn(2), X), [(torch.randn(2), X)]),
    ("mapped", Mapped, (X, torch.randn(3)), [(X, torch.randn(3)), (-X, torch.randn(3))]),
    ("steps", Steps, (X, torch.tensor(4)), [(X, torch.tensor(n)) for n in (0, 1, 6)]),
]


def check(program: Any, module: torch.nn.Module, inputs: tuple[Any, ...]) -> None:
    with torch.no_grad():
        expected = module(*inputs)
    torch.testing.assert_close(program(*inputs), expected)


@pytest.mark.parametrize(("make", "example", "calls"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_like_eager(make: Callable[[], torch.nn.Module], example: Any, calls: Any, tmp_path: Any) -> None:
    torch.manual_seed(0)
    module = make().eval()
    program = ingot.convert(export(module, example))
    for inputs in [example, *calls]:
        check(program, module, inputs)
    program.save_asset(tmp_path / "model.ingot")
    check(ingot.load(tmp_path / "model.ingot"), module, example)


def test_associative_scan() -> None:
    xs = torch.rand(5, 3) + 0.5
    check(ingot.convert(export(Products(), (xs,)).run_decompositions({})), Products(), (xs,))


def test_dynamic_branch() -> None:
    module = Closure().eval()
    program = ingot.convert(export(module, (X,), dynamic_shapes={"x": {0: Dim.DYNAMIC}}))
    for rows in (1, 2, 7):
        for sign in (1, -1):
            check(program, module, (sign * torch.rand(rows, 3),))


def test_state_beside_a_branch() -> None:
    program = ingot.convert(export(Counter().eval(), (X,)))
    assert torch.equal(program(X), X)
    assert torch.equal(program(X), X * 2)


def test_assertions_about_content() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            count = n.item()
            torch._check(count < 3, lambda: "too many")
            torch._assert_async(x.sum() > 0, "sum must be positive")
            return x * count

    program = ingot.convert(export(Model(), (X, torch.tensor(2))))
    assert torch.equal(program(X, torch.tensor(1)), X)
    with pytest.raises(ingot.UsageError, match="u0 <= 2"):
        program(X, torch.tensor(3))
    with pytest.raises(ingot.UsageError, match="sum must be positive"):
        program(-X, torch.tensor(1))


def test_item_of_many_elements_is_refused() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * x.reshape(-1)[:1].item()

    program = ingot.convert(export(Model(), (X,)))
    assert torch.equal(program(X), X * X[0, 0])
