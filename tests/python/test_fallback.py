"""Operators without a native form, run with PyTorch: only where it is allowed, and always said."""

from __future__ import annotations

import gc
import json
import os
import threading
from pathlib import Path

import ingot
import numpy as np
import pytest
import torch
from support import assert_close, export, ingot_json, refused, run_ingot, save_pt2, tensors_of
from support import ingot as run_tool

LIBRARY = torch.library.Library("ingot_fallback", "DEF")
LIBRARY.define("double(Tensor x) -> Tensor")
LIBRARY.define("halves(Tensor x, int parts) -> Tensor[]")
LIBRARY.define("scale_(Tensor(a!) x, float by=2.0) -> Tensor(a!)")
LIBRARY.define("count_(Tensor(a!) total, Tensor x) -> ()")
LIBRARY.define("nonempty(Tensor x, Tensor? y=None, str mode='sum') -> (Tensor, Tensor)")
LIBRARY.define("picky(Tensor x) -> Tensor")


def _picky(x: torch.Tensor) -> torch.Tensor:
    if (x < 0).any():
        raise ValueError("negative values are not welcome")
    return x.sqrt()


def _scale(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x.mul_(by)


def _count(total: torch.Tensor, x: torch.Tensor) -> None:
    total += x.sum()


def _nonempty(x: torch.Tensor, y: torch.Tensor | None = None, mode: str = "sum") -> tuple[torch.Tensor, torch.Tensor]:
    return (x.sum() if mode == "sum" else x.mean()), (x if y is None else x + y)


IMPLEMENTATIONS = {
    "double": lambda x: x * 2,
    "halves": lambda x, parts: [piece.clone() for piece in x.chunk(parts)],
    "scale_": _scale,
    "count_": _count,
    "nonempty": _nonempty,
    "picky": _picky,
}
for _name, _function in IMPLEMENTATIONS.items():
    LIBRARY.impl(_name, _function, "CPU")
OPS = torch.ops.ingot_fallback


@torch.library.register_fake("ingot_fallback::double")
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("ingot_fallback::picky")
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.register_fake("ingot_fallback::halves")
def _(x: torch.Tensor, parts: int) -> list[torch.Tensor]:
    return [torch.empty_like(piece) for piece in x.chunk(parts)]


@torch.library.register_fake("ingot_fallback::scale_")
def _(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:
    return x


@torch.library.register_fake("ingot_fallback::count_")
def _(total: torch.Tensor, x: torch.Tensor) -> None:
    return None


@torch.library.register_fake("ingot_fallback::nonempty")
def _(x: torch.Tensor, y: torch.Tensor | None = None, mode: str = "sum") -> tuple[torch.Tensor, torch.Tensor]:
    return x.new_empty(()), torch.empty_like(x)


class Call(torch.nn.Module):
    def __init__(self, function: object) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> object:
        return self.function(*args)


def check(function: object, *args: torch.Tensor, names: tuple[str, ...] = ()) -> ingot.Program:
    """Converts with fallback, compares with eager, and checks which operators PyTorch runs."""
    program = ingot.convert(Call(function), args, fallback=True)
    expected = Call(function)(*[arg.clone() for arg in args])
    given = [arg.clone() for arg in args]
    actual = program(*given)
    for left, right in zip(tensors_of(actual), tensors_of(expected), strict=True):
        assert_close(left, right, tolerance=1e-6)
    if names:
        assert tuple(op.name for op in program.fallback_ops) == names
    return program


def test_native_programs_stay_native() -> None:
    program = ingot.convert(Call(torch.relu), (torch.randn(3),), fallback=True)
    assert program.fallback_ops == ()


def test_custom_operator_between_native_ones() -> None:
    program = check(lambda x: OPS.double(x + 1).relu() * 3, torch.randn(4, 5), names=("ingot_fallback::double",))
    assert program.fallback_ops[0].count == 1
    assert Path(__file__).name in program.fallback_ops[0].sources[0]


def test_refused_by_default() -> None:
    with pytest.raises(ingot.UnsupportedError, match="fallback=True"):
        ingot.convert(Call(OPS.double), (torch.randn(3),))


def test_list_results() -> None:
    check(lambda x: [piece + 1 for piece in OPS.halves(x, 3)], torch.randn(7, 2))


def test_optional_tensors_strings_and_several_results() -> None:
    check(lambda x: OPS.nonempty(x, mode="mean"), torch.randn(6))
    check(lambda x, y: OPS.nonempty(x * 2, y)[1].exp(), torch.randn(6), torch.randn(6))


def test_results_that_nobody_uses() -> None:
    check(lambda x: OPS.nonempty(x)[1], torch.randn(6))
    check(lambda x: OPS.halves(x, 3)[1] * 2, torch.randn(7))


def test_unlowered_aten_operator() -> None:
    # An operator that no inference program has, so that it stays without a native form.
    program = check(lambda x: torch.ops.aten._test_optional_intlist(x.int(), [1, 2]), torch.randn(2))
    assert [op.name for op in program.fallback_ops] == ["aten::_test_optional_intlist"]


def test_never_writes_the_callers_tensors() -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = x + 0
            OPS.scale_(y, 3.0)
            return y + x

    x = torch.randn(5)
    before = x.clone()
    program = ingot.convert(Scaled(), (x,), fallback=True)
    assert torch.equal(program(x), before * 3 + before)
    assert torch.equal(x, before)


def test_writes_reach_views_and_inputs() -> None:
    def through_view(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        OPS.scale_(y[1], 4.0)
        return y

    check(through_view, torch.randn(3, 2))

    x = torch.randn(4)
    program = ingot.convert(Call(lambda x: OPS.scale_(x) + 1), (x.clone(),), fallback=True)
    given = x.clone()
    assert torch.equal(program(given), x * 2 + 1)
    assert torch.equal(given, x * 2)


def test_writes_through_views_that_have_no_inverse() -> None:
    def diagonals(x: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        torch.linalg.diagonal(y).mul_(10)
        return y

    program = check(diagonals, torch.randn(3, 3))
    assert program.fallback_ops
    with pytest.raises(ingot.UnsupportedError, match="diagonal"):
        ingot.convert(Call(diagonals), (torch.randn(3, 3),))


def test_lists_that_are_written() -> None:
    def scale(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        pieces = [x.clone(), y.clone()]
        torch._foreach_mul_(pieces, 3.0)
        return pieces[0] + 1, pieces[1]

    check(scale, torch.randn(3), torch.randn(2, 2))


def test_resizing() -> None:
    check(lambda x: x.clone().resize_(2, 2) + 1, torch.randn(6))


def test_statistics_of_training() -> None:
    class Norm(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norm = torch.nn.BatchNorm1d(3)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.norm(x)

    module = Norm().train()
    exported = export(module, (torch.randn(4, 3),))
    program = ingot.convert(exported, fallback=True)
    for _ in range(3):
        x = torch.randn(4, 3)
        assert_close(program(x), module(x), tolerance=1e-5)


def test_written_buffers_are_states() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(()))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            OPS.count_(self.total, x)
            return self.total + 0

    program = ingot.convert(Counter(), (torch.ones(2),), fallback=True)
    assert [program(torch.ones(2)).item() for _ in range(3)] == [2, 4, 6]


def test_dynamic_sizes() -> None:
    exported = export(
        Call(lambda x: OPS.double(x).sum(0)), (torch.randn(4, 3),), dynamic_shapes=(({0: torch.export.Dim.DYNAMIC},),)
    )
    program = ingot.convert(exported, fallback=True)
    for size in (2, 5, 9):
        x = torch.randn(size, 3)
        assert_close(program(x), (x * 2).sum(0))


def test_errors_of_operators_become_ours() -> None:
    program = ingot.convert(Call(OPS.picky), (torch.ones(2),), fallback=True)
    with pytest.raises(ingot.UsageError, match="ValueError: negative values are not welcome") as caught:
        program(torch.tensor([1.0, -1.0]))
    assert "ingot_fallback::picky" in str(caught.value)
    assert_close(program(torch.tensor([4.0, 9.0])), torch.tensor([2.0, 3.0]))


def test_results_outlive_the_program() -> None:
    program = ingot.convert(Call(lambda x: OPS.halves(x, 2)), (torch.randn(8),), fallback=True)
    x = torch.randn(8)
    first, second = program(x)
    del program
    gc.collect()
    assert torch.equal(torch.cat([first, second]), x)


def test_many_threads() -> None:
    program = ingot.convert(Call(lambda x: OPS.double(x) + 1), (torch.randn(64),), fallback=True)
    wrong: list[int] = []

    def work(seed: int) -> None:
        x = torch.full((64,), float(seed))
        for _ in range(20):
            if not torch.equal(program(x), x * 2 + 1):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_assets_say_what_they_need(tmp_path: Path) -> None:
    x = torch.randn(3)
    path = tmp_path / "m.ingot"
    ingot.convert(Call(lambda x: OPS.double(x) - 1), (x,), fallback=True).save_asset(path)
    manifest = json.loads((path / "manifest.json").read_text())
    assert manifest["requirements"] == ["libtorch"]
    assert [op["name"] for op in manifest["fallback"]["ops"]] == ["ingot_fallback::double"]
    with pytest.raises(ingot.UnsupportedError, match=r"ingot_fallback::double with PyTorch.*off by default"):
        ingot.load(path)
    program = ingot.load(path, fallback=True)
    assert_close(program(x), x * 2 - 1)
    assert isinstance(program(x.numpy()), np.ndarray)


@pytest.fixture
def exotic(tmp_path: Path) -> tuple[Path, torch.Tensor]:
    """A file with an operator of PyTorch's own that has no native form."""
    x = torch.arange(2, dtype=torch.int32)
    call = Call(lambda x: torch.ops.aten._test_optional_intlist(x, [5, 6]) + 1)
    return save_pt2(export(call, (x,)), tmp_path / "m.pt2"), x


def test_command_line(exotic: tuple[Path, torch.Tensor], tmp_path: Path) -> None:
    pt2, x = exotic
    asset, given = tmp_path / "m.ingot", tmp_path / "x.npy"
    assert "--fallback" in refused("convert", pt2, "-o", asset)
    report = run_tool("convert", pt2, "-o", asset, "--fallback")
    assert "1 node runs with PyTorch" in report
    assert "aten::_test_optional_intlist" in report
    assert ingot_json("show", asset)["fallback"][0]["name"] == "aten::_test_optional_intlist"
    assert "run with PyTorch" in run_tool("show", asset)
    np.save(given, x.numpy())
    name = ingot_json("show", asset)["entry_points"][0]["inputs"][0]["name"]
    assert "off by default" in refused("run", asset, "--input", f"{name}={given}")
    outputs = ingot_json("run", asset, "--input", f"{name}={given}", "--fallback")["outputs"]
    assert (outputs[0]["min"], outputs[0]["max"]) == (6, 8)


def test_says_when_the_plugin_is_missing(exotic: tuple[Path, torch.Tensor], tmp_path: Path) -> None:
    pt2, _ = exotic
    asset = tmp_path / "m.ingot"
    run_tool("convert", pt2, "-o", asset, "--fallback")
    os.environ["INGOT_FALLBACK_LIBRARY"] = str(tmp_path / "nothing.so")
    try:
        done = run_ingot("run", asset, "--random-seed", "0", "--fallback")
    finally:
        del os.environ["INGOT_FALLBACK_LIBRARY"]
    assert done.returncode == 1
    assert "libtorch plugin" in done.stderr
    assert "pip install" in done.stderr
