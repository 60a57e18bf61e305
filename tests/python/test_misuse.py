"""Wrong use: every call ends with a result, or with an error that says what is wrong and what to do."""

from __future__ import annotations

import copy
import os
import pickle
import sys
from pathlib import Path
from typing import Any

import ingot
import numpy as np
import pytest
import torch
from ingot.asset import Asset
from support import export


class Plain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x) + 1


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total.clone()


class Times(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> torch.Tensor:
        return x * n


@pytest.fixture(scope="module")
def program() -> ingot.Program:
    return ingot.convert(Plain(), (torch.ones(2, 3),))


@pytest.fixture(scope="module")
def asset(program: ingot.Program, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("misuse") / "plain.ingot"
    program.save_asset(path)
    return path


X = torch.ones(2, 3)


def wrapped() -> torch.Tensor:
    return torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: torch.quantize_per_tensor(X, 0.1, 0, torch.quint8), "dequantize"),
        (wrapped, "nested"),
        (lambda: X.to_sparse(), "dense"),
        (lambda: X.to("meta"), "CPU"),
        (lambda: X.double(), "float32"),
        (lambda: 1j, "cannot be the number 1j"),
        (lambda: np.ones((2, 3), np.longdouble), "does not know"),
        (lambda: torch.Tensor, "plain tensor"),
        (lambda: None, "NoneType"),
        (lambda: [1.0], "list"),
    ],
)
@pytest.mark.parametrize("by_name", [False, True])
def test_wrong_inputs(program: ingot.Program, value: Any, words: str, by_name: bool) -> None:
    with pytest.raises(ingot.UsageError, match=words):
        program(x=value()) if by_name else program(value())


def test_wrong_numbers_of_inputs(program: ingot.Program) -> None:
    for args, kwargs in (((X, X), {}), ((), {"y": X}), ((X,), {"x": X}), ((), {})):
        with pytest.raises(ingot.UsageError, match="'main' takes x"):
            program(*args, **kwargs)


def test_tensors_inside_transformations(program: ingot.Program) -> None:
    with pytest.raises(ingot.UsageError, match="plain tensor"):
        torch.func.vmap(program)(torch.ones(4, 2, 3))


@pytest.mark.parametrize("value", [4, "3", None, 2.5, [3], np.int64(4), torch.tensor(4), object()])
def test_numbers_that_were_fixed_by_the_export_cannot_be_others(value: Any) -> None:
    times = ingot.convert(Times(), (X, 3))
    assert torch.equal(times(X, np.int64(3)), X * 3)
    with pytest.raises(ingot.UsageError, match="was exported as 3"):
        times(X, value)


def test_numbers_that_an_integer_cannot_have() -> None:
    shapes = {"x": None, "n": torch.export.Dim.DYNAMIC}
    exported = export(Times(), (torch.ones(2, dtype=torch.int64), 3), dynamic_shapes=shapes)
    times = ingot.convert(exported)
    x = torch.ones(2, dtype=torch.int64)
    assert times(x, 5).tolist() == [5, 5]
    for number in (2**70, 2.5, float("nan"), 1j):
        with pytest.raises(ingot.UsageError, match="cannot be the number"):
            times(x, number)


def test_states_by_wrong_names() -> None:
    counter = ingot.convert(Counter(), (torch.ones(3),))
    for value in (torch.ones(3), 3.0):
        with pytest.raises(ingot.UsageError, match="no state"):
            counter.write_state("totl", value)


def test_programs_are_neither_copied_nor_pickled(program: ingot.Program) -> None:
    for thing in (program, program.session()):
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="cannot be copied or pickled"):
                way(thing)


@pytest.mark.parametrize("limit", [-1, 1.5, "1", None, True, float("inf")])
def test_memory_limits_that_are_none(asset: Path, limit: Any) -> None:
    with pytest.raises(ingot.UsageError, match="number of bytes"):
        ingot.load(asset, memory_limit=limit)


def test_huge_memory_limit(asset: Path) -> None:
    assert ingot.load(asset, memory_limit=2**63)(X).shape == (2, 3)


def test_seeds_and_threads_of_any_size() -> None:
    before = ingot.get_num_threads()
    for seed in (-1, -(2**63), 2**63, 2**64 - 1, 0):
        ingot.manual_seed(seed)
    for seed in (2**64, -(2**63) - 1):
        with pytest.raises(ingot.UsageError, match="seed"):
            ingot.manual_seed(seed)
    for count in (2**70, 2**31, -(2**70)):
        ingot.set_num_threads(count)
        assert ingot.get_num_threads() >= 1
    ingot.set_num_threads(before)


@pytest.mark.parametrize("metadata", [{"a": 1}, {1: "a"}, {"a": b"x"}, {"a": "\ud800"}, "text"])
def test_metadata_that_is_no_text(program: ingot.Program, tmp_path: Path, metadata: Any) -> None:
    with pytest.raises(ingot.UsageError, match="metadata"):
        program.save_asset(tmp_path / "m.ingot", metadata=metadata)
    assert not list(tmp_path.iterdir())


def test_arguments_of_convert() -> None:
    with pytest.raises(ingot.UsageError, match="args are"):
        ingot.convert(Plain(), 5)
    with pytest.raises(ingot.UsageError, match="kwargs are"):
        ingot.convert(Plain(), (X,), 5)


# ---------------------------------------------------------------------------------------------------------------------
# Paths


def test_paths_that_are_no_text(program: ingot.Program, tmp_path: Path) -> None:
    """As bytes, and as the text that Python makes of them."""
    as_bytes = os.fsencode(tmp_path) + b"/\xff\xfe name.ingot"
    program.save_asset(as_bytes)
    as_text = os.fsdecode(as_bytes)
    for path in (as_bytes, as_text, Path(as_text)):
        assert torch.equal(ingot.load(path)(X), X + 1)
        assert Asset(path).is_valid
    with pytest.raises(ingot.UsageError, match="already exists"):
        program.save_asset(as_text)


def test_long_paths(program: ingot.Program, tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(12):
        folder = folder / ("d" * 200)
        folder.mkdir()
    program.save_asset(folder / "with spaces and 'quotes'.ingot")
    assert torch.equal(ingot.load(folder / "with spaces and 'quotes'.ingot")(X), X + 1)
    with pytest.raises(ingot.AssetIOError, match="too long"):
        program.save_asset(folder / ("n" * 300))


@pytest.mark.parametrize(("path", "words"), [("", "empty"), ("a\0b", "zero byte"), ("\ud800", "name of a file")])
def test_paths_that_are_none(program: ingot.Program, path: str, words: str) -> None:
    for use in (ingot.load, program.save_asset, Asset, lambda text: ingot.convert(text)):
        with pytest.raises(ingot.UsageError, match=words):
            use(path)


def test_things_that_are_no_paths(program: ingot.Program) -> None:
    for use in (ingot.load, program.save_asset):
        for thing in (None, 5):
            with pytest.raises(TypeError, match="PathLike"):
                use(thing)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_errors_leave_nothing_open(asset: Path) -> None:
    program = ingot.load(asset)

    def fail() -> None:
        for action in (
            lambda: program(X.double()),
            lambda: ingot.load(asset, memory_limit=1),
            lambda: ingot.load("no"),
        ):
            with pytest.raises(ingot.IngotError):
                action()

    fail()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(50):
        fail()
    assert len(os.listdir("/proc/self/fd")) == before
