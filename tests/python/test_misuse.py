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


@pytest.mark.parametrize("value", [4, "3", None, 2.5, [3], np.int64(4), torch.tensor(4), object(), np.ones(2)])
def test_numbers_that_were_fixed_by_the_export_cannot_be_others(value: Any) -> None:
    times = ingot.convert(Times(), (X, 3))
    assert torch.equal(times(X, np.int64(3)), X * 3)
    with pytest.raises(ingot.UsageError, match="was exported as 3"):
        times(X, value)


@pytest.mark.parametrize("number", [float("inf"), float("-inf"), float("nan")])
def test_numbers_that_are_not_finite(number: float) -> None:
    class Adds(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: float) -> tuple[torch.Tensor, float, str]:
            return x + n, float("-inf"), "Infinity"

    program = ingot.convert(Adds(), (X, number))
    result, *rest = program(X, number)
    assert torch.equal(result.nan_to_num(1, 2, 3), (X + number).nan_to_num(1, 2, 3))
    assert rest == [float("-inf"), "Infinity"]
    with pytest.raises(ingot.UsageError, match="was exported as"):
        program(X, 1.0)


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


class Both(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.add_(1)
        y.mul_(2)
        return x + y


def test_arguments_that_are_changed_in_one_memory() -> None:
    program = ingot.convert(Both(), (torch.ones(2), torch.ones(2)))
    memory = torch.ones(4)
    for x, y in ((memory[:2], memory[:2]), (memory[:2], memory[1:3]), (memory[::2], memory[::3])):
        with pytest.raises(ingot.UsageError, match="'x' and 'y' lie in the same memory"):
            program(x, y)
        with pytest.raises(ingot.UsageError, match="'x' and 'y' lie in the same memory"):
            program(x.numpy(), y.numpy())
    assert torch.equal(memory, torch.ones(4))
    # Elements beside each other are no problem.
    assert torch.equal(program(memory[::2], memory[1::2]), torch.full((2,), 4.0))
    assert torch.equal(memory, torch.full((4,), 2.0))


def test_an_argument_that_is_changed_through_a_copy_and_read() -> None:
    class Reads(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            x.add_(1)
            return x + y

    program = ingot.convert(Reads(), (torch.ones(2, 3).t(), torch.ones(3, 2)))
    memory = torch.ones(3, 3)
    with pytest.raises(ingot.UsageError, match="same memory"):
        program(memory.t()[:, :2], memory[:, :2])


def test_states_are_those_of_the_conversion() -> None:
    model = Counter()
    program = ingot.convert(model, (torch.ones(3),))
    model(torch.ones(3))
    assert torch.equal(program(torch.ones(3)), torch.ones(3))
    program.reset_states()
    assert torch.equal(program.read_state("total"), torch.zeros(3))


def test_weights_that_change_before_the_first_call(tmp_path: Path) -> None:
    model = torch.nn.Linear(2, 2)
    program, called = (ingot.convert(model, (torch.ones(1, 2),)) for _ in range(2))
    expected = called(torch.ones(1, 2))
    with torch.no_grad():
        model.weight.zero_()
    assert torch.equal(called(torch.ones(1, 2)), expected)
    called.save_asset(tmp_path / "x.ingot")
    for use in (lambda: program(torch.ones(1, 2)), lambda: program.save_asset(tmp_path / "y.ingot")):
        with pytest.raises(ingot.UsageError, match="weight 'weight' was changed after the conversion"):
            use()


def test_an_asset_that_another_was_saved_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ingot.convert(Times(), (torch.ones(2), 3)).save_asset("a.ingot")
    old = ingot.load("a.ingot")
    ingot.convert(Plain(), (torch.ones(2),)).save_asset("a.ingot", overwrite=True)
    assert torch.equal(old(torch.ones(2), 3), torch.full((2,), 3.0))
    for use in (lambda: old.save_asset("b.ingot"), lambda: str(old)):
        with pytest.raises(ingot.UsageError, match="was replaced or deleted"):
            use()
    new = ingot.load("a.ingot")
    monkeypatch.chdir("/")
    new.save_asset(tmp_path / "a.ingot", overwrite=True)
    new.save_asset(tmp_path / "c.ingot")
    assert torch.equal(ingot.load(tmp_path / "c.ingot")(torch.ones(2)), torch.full((2,), 2.0))


def test_a_file_comes_without_arguments(tmp_path: Path) -> None:
    path = tmp_path / "x.pt2"
    torch.export.save(export(Plain(), (torch.ones(2),)), path)
    with pytest.raises(ingot.UsageError, match="has its arguments already"):
        ingot.convert(path, (torch.ones(2),))


def test_results_of_numpy_may_be_changed(program: ingot.Program) -> None:
    result = program(np.ones((2, 3), np.float32))
    result += 1
    assert (result == 3).all()


@pytest.mark.parametrize("name", ["__metadata__", "__padding__.0"])
def test_names_that_files_keep_for_themselves(name: str) -> None:
    class Named(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            if "." in name:
                self.add_module("__padding__", torch.nn.ParameterList([torch.ones(2)]))
            else:
                self.register_parameter(name, torch.nn.Parameter(torch.ones(2)))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + next(iter(self.parameters()))

    with pytest.raises(ingot.UnsupportedError, match="keep for themselves"):
        ingot.convert(Named(), (torch.ones(2),))(torch.ones(2))


NEGATIVE = {
    "embedding": lambda x, i: torch.nn.functional.embedding(i, x[:, None]),
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i),
    "scatter": lambda x, i: x.scatter(0, i, 1.0),
    "scatter_add": lambda x, i: x.scatter_add(0, i, x[:1]),
    "index_add": lambda x, i: x.index_add(0, i, x[:1]),
    "index_copy": lambda x, i: x.index_copy(0, i, x[:1]),
    "cross_entropy": lambda x, i: torch.nn.functional.cross_entropy(x[None], i),
    "index": lambda x, i: x[i],
    "index_put": lambda x, i: x.index_put((i,), x[:1]),
    "index_fill": lambda x, i: x.index_fill(0, i, 7.0),
    "take": torch.take,
    "take_along_dim": lambda x, i: torch.take_along_dim(x, i, 0),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_negative_positions_are_taken_where_eager_takes_them(name: str) -> None:
    class Picks(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
            return NEGATIVE[name](x, i)

    x, i = torch.arange(3.0), torch.tensor([-1])
    program = ingot.convert(Picks(), (x, torch.tensor([0])))
    try:
        expected = Picks()(x, i)
    except (IndexError, RuntimeError):
        with pytest.raises(ingot.UsageError, match="index -1 at position 0 is out of range"):
            program(x, i)
    else:
        assert torch.equal(program(x, i), expected)
