"""What an export took for granted about sizes is checked in every call, as PyTorch checks it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from torch.export import Dim

SHAPES = ((4, 16), (20, 6), (5, 5), (3, 17), (8, 16))


class Branch(torch.nn.Module):
    """One of two results, by the sizes."""

    def __init__(self, condition: Callable[[int, int], bool]) -> None:
        super().__init__()
        self.condition = condition

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 if self.condition(x.shape[0], x.shape[1]) else x * 3


class Inside(Branch):
    """The tensor is inside of something else."""

    def forward(self, given: Any) -> torch.Tensor:  # type: ignore[override]
        return super().forward(given[0] if isinstance(given, list) else given["x"])


CONDITIONS: tuple[Callable[[int, int], bool], ...] = (
    lambda n, m: n < m,
    lambda n, m: n >= m,
    lambda n, m: n != m,
    lambda n, m: n != 5,
    lambda n, m: n * m <= 100,
    lambda n, m: n / m <= 0.5,
    lambda n, m: 0.3 * n > 1.0,
    lambda n, m: max(n, m) == m,
    lambda n, m: m & (m - 1) == 0,
    lambda n, m: math.ceil(m / 3) == 6,
    lambda n, m: int(n * 0.5) == 2,
    lambda n, m: m % 2 == 0,
    lambda n, m: m % 5 != 0,
    lambda n, m: n % 4 > 0,
    lambda n, m: m - n > 0,
    lambda n, m: m - n != 0,
    lambda n, m: m - n >= 1,
    lambda n, m: n // 4 != 1,
)


def outcome(call: Callable[[], torch.Tensor]) -> torch.Tensor | None:
    try:
        return call()
    except (AssertionError, ingot.UsageError):
        return None


def check(module: Branch, wrap: Callable[[torch.Tensor], Any], dims: Any, strict: bool, folder: Path) -> None:
    example = wrap(torch.randn(SHAPES[0]))
    file = str(folder / "branch.pt2")
    torch.export.save(torch.export.export(module, (example,), dynamic_shapes=(dims,), strict=strict), file)
    program, judge = ingot.convert(file), torch.export.load(file).module()
    refused = 0
    for shape in SHAPES:
        given = wrap(torch.randn(shape))
        expected, actual = outcome(lambda: judge(given)), outcome(lambda: program(given))  # noqa: B023
        assert (expected is None) == (actual is None), shape
        if expected is None:
            refused += 1
        else:
            torch.testing.assert_close(actual, expected)
            torch.testing.assert_close(actual, module(given))
    assert refused > 0


@pytest.mark.parametrize("number", range(len(CONDITIONS)))
def test_branches(number: int, tmp_path: Path) -> None:
    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    check(Branch(CONDITIONS[number]), lambda x: x, dims, strict=False, folder=tmp_path)


def test_branches_of_a_strict_export(tmp_path: Path) -> None:
    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    check(Branch(lambda n, m: n < m), lambda x: x, dims, strict=True, folder=tmp_path)


@pytest.mark.parametrize("kind", ["list", "dict"])
def test_branches_inside_of_containers(kind: str, tmp_path: Path) -> None:
    dims: Any = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    module = Inside(lambda n, m: m % 2 == 0)
    if kind == "list":
        check(module, lambda x: [x], [dims], strict=False, folder=tmp_path)
    else:
        check(module, lambda x: {"x": x}, {"x": dims}, strict=False, folder=tmp_path)


def test_the_condition_is_named(tmp_path: Path) -> None:
    file = str(tmp_path / "branch.pt2")
    dims = {0: Dim.DYNAMIC, 1: Dim.DYNAMIC}
    branch = Branch(lambda n, m: n < m)
    torch.export.save(torch.export.export(branch, (torch.ones(4, 16),), dynamic_shapes=(dims,)), file)
    with pytest.raises(ingot.UsageError, match=r"was exported for sizes with \(s\d+\) < \(s\d+\), which is not so"):
        ingot.convert(file)(torch.ones(20, 6))


def test_pooling_of_a_decomposed_program_with_a_dynamic_batch() -> None:
    """PyTorch writes it as `as_strided` of a mean."""

    class Pool(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nn.functional.adaptive_avg_pool2d(x.permute(0, 3, 1, 2), 1)

    exported = torch.export.export(Pool(), (torch.ones(2, 4, 4, 8),), dynamic_shapes=({0: Dim.AUTO},))
    program = ingot.convert(exported.run_decompositions())
    for batch in (1, 2, 5):
        x = torch.randn(batch, 4, 4, 8)
        torch.testing.assert_close(program(x), Pool()(x))


def test_ranges_of_integers_between_real_numbers() -> None:
    class Range(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.arange(x[0].item(), x[1].item(), -2, dtype=torch.int64).sum() + x.sum()

    program = ingot.convert(torch.export.export(Range(), (torch.tensor([9.9, 1.5]),)))
    for x in (torch.tensor([9.9, 1.5]), torch.tensor([4.2, -3.9]), torch.tensor([1.5, 1.2])):
        torch.testing.assert_close(program(x), Range()(x))


class Named(torch.nn.Module):
    """Inputs whose names PyTorch changes in the graph."""

    def forward(self, X: torch.Tensor, x: torch.Tensor, d: Any, *rest: torch.Tensor, kw: Any) -> torch.Tensor:  # noqa: N803
        inner = d["X-1"][0]
        total = X.sum() + (x * 2 if x.shape[0] % 2 == 0 else x * 3).sum()
        total = total + (inner * 5 if inner.shape[0] % 3 == 0 else inner * 7).sum()
        total = total + (rest[1] * 11 if rest[1].shape[0] % 5 == 0 else rest[1] * 13).sum()
        return total + (kw[0] * 17 if kw[0].shape[0] % 7 == 0 else kw[0] * 19).sum()


def test_conditions_are_about_the_inputs_that_they_name() -> None:
    def arguments(*sizes: int) -> tuple[tuple[Any, ...], dict[str, Any]]:
        upper, lower, inner, first, second, keyword = (torch.ones(size) for size in sizes)
        return (upper, lower, {"X-1": [inner]}, first, second), {"kw": (keyword,)}

    auto = {0: Dim.AUTO}
    args, kwargs = arguments(7, 4, 3, 3, 5, 7)
    shapes = {"X": auto, "x": auto, "d": {"X-1": [auto]}, "rest": (auto, auto), "kw": (auto,)}
    program = ingot.convert(torch.export.export(Named(), args, kwargs, dynamic_shapes=shapes))
    for sizes in ((7, 4, 3, 3, 5, 7), (3, 6, 9, 4, 10, 14)):
        args, kwargs = arguments(*sizes)
        assert program(*args, **kwargs) == Named()(*args, **kwargs)
    for sizes in ((8, 5, 3, 3, 5, 7), (7, 4, 4, 3, 5, 7), (7, 4, 3, 5, 6, 7), (7, 4, 3, 3, 5, 8)):
        args, kwargs = arguments(*sizes)
        with pytest.raises(ingot.UsageError, match="exported for sizes"):
            program(*args, **kwargs)


class ByNumber(torch.nn.Module):
    def __init__(self, condition: Callable[[int, int], bool]) -> None:
        super().__init__()
        self.condition = condition

    def forward(self, x: torch.Tensor, count: int) -> torch.Tensor:
        return x * 2 if self.condition(count, x.shape[0]) else x * 3


@pytest.mark.parametrize(
    "condition",
    [
        lambda count, size: count > 3,
        lambda count, size: count > size,
        lambda count, size: count == size,
        lambda count, size: count % 2 == 0,
        lambda count, size: 2 * count < size,
        lambda count, size: count != 9,
    ],
    ids=range(6),
)
def test_conditions_on_numbers(condition: Callable[[int, int], bool], tmp_path: Path) -> None:
    module = ByNumber(condition)
    example = (torch.ones(6), 6)
    exported = torch.export.export(module, example, dynamic_shapes=({0: Dim.AUTO}, Dim.DYNAMIC))
    path = tmp_path / "a.ingot"
    ingot.convert(exported).save_asset(path)
    program = ingot.load(path)
    refused = 0
    for size, count in ((6, 6), (4, 6), (6, 4), (7, 7), (20, 3), (5, 9), (5, -4)):
        x = torch.ones(size)
        wanted = outcome(lambda x=x, count=count: exported.module()(x, count))  # type: ignore[misc]
        got = outcome(lambda x=x, count=count: program(x, count))  # type: ignore[misc]
        refused += got is None
        if wanted is not None:
            assert got is not None and torch.equal(torch.as_tensor(got), wanted)
        if got is not None:
            assert torch.equal(torch.as_tensor(got), module(x, count))
    assert refused
