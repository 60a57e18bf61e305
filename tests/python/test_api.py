"""The Python door: convert, call, save, load."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import namedtuple
from pathlib import Path

import ingot
import numpy as np
import pytest
import torch
from support import assert_close, export


class Affine(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.linear(x))


@pytest.fixture(scope="module")
def affine() -> tuple[Affine, ingot.Program]:
    module = Affine()
    return module, ingot.convert(module, (torch.randn(2, 4),))


def test_runs_like_the_module(affine: tuple[Affine, ingot.Program]) -> None:
    module, program = affine
    x = torch.randn(2, 4)
    assert_close(program(x), module(x))
    assert_close(program.run(x), module(x))
    assert_close(program.run(x=x), module(x))


def test_takes_and_gives_numpy(affine: tuple[Affine, ingot.Program]) -> None:
    module, program = affine
    x = np.random.default_rng(0).standard_normal((2, 4), dtype=np.float32)
    y = program(x)
    assert isinstance(y, np.ndarray)
    assert_close(torch.from_numpy(y.copy()), module(torch.from_numpy(x)))


def test_any_strides(affine: tuple[Affine, ingot.Program]) -> None:
    module, program = affine
    x = torch.randn(4, 2).t()
    assert_close(program(x), module(x))
    sliced = torch.randn(2, 8)[:, ::2]
    assert_close(program(sliced), module(sliced))
    assert_close(torch.from_numpy(program(sliced.numpy()).copy()), module(sliced))


def test_inputs_that_require_grad(affine: tuple[Affine, ingot.Program]) -> None:
    module, program = affine
    x = torch.randn(2, 4, requires_grad=True)
    assert_close(program(x), module(x).detach())


def test_outputs_outlive_the_program() -> None:
    module = Affine()
    program = ingot.convert(module, (torch.ones(2, 4),))
    y = program(torch.ones(2, 4))
    del program
    assert_close(y, module(torch.ones(2, 4)).detach())


def test_the_module_is_left_alone() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4)).train()
    module[1].requires_grad_(False)
    before = {name: value.clone() for name, value in module.state_dict().items()}
    ingot.convert(module.eval(), (torch.randn(3, 4),))
    module.train()
    assert all(torch.equal(before[name], value) for name, value in module.state_dict().items())
    assert module[0].weight.requires_grad
    assert not module[1].weight.requires_grad


def test_exported_programs_are_taken(affine: tuple[Affine, ingot.Program]) -> None:
    module, _ = affine
    x = torch.randn(2, 4)
    assert_close(ingot.convert(export(module, (x,)))(x), module(x))
    with pytest.raises(ingot.UsageError):
        ingot.convert(export(module, (x,)), (x,))
    with pytest.raises(ingot.UsageError):
        ingot.convert(lambda x: x, (x,))


def test_save_and_load(affine: tuple[Affine, ingot.Program], tmp_path: Path) -> None:
    module, program = affine
    path = tmp_path / "m.ingot"
    program.save_asset(path)
    x = torch.randn(2, 4)
    assert_close(ingot.load(path)(x), module(x))
    with pytest.raises(ingot.UsageError, match="overwrite"):
        program.save_asset(path)
    program.save_asset(path, overwrite=True)
    assert_close(ingot.load(str(path))(x), module(x))
    assert [item.name for item in tmp_path.iterdir()] == ["m.ingot"]


def test_load_needs_no_torch(affine: tuple[Affine, ingot.Program], tmp_path: Path) -> None:
    module, program = affine
    program.save_asset(tmp_path / "m.ingot")
    code = """
import sys
sys.modules["torch"] = None  # importing it fails
import ingot, numpy
print(ingot.load(sys.argv[1])(numpy.ones((2, 4), numpy.float32)).tolist())
"""
    command = [sys.executable, "-c", code, str(tmp_path / "m.ingot")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert_close(torch.tensor(eval(done.stdout)), module(torch.ones(2, 4)).detach())


def test_entry_points(affine: tuple[Affine, ingot.Program]) -> None:
    _, program = affine
    (entry,) = program.entry_points
    assert [(port.name, port.dtype, port.shape) for port in entry.inputs] == [("x", "float32", (2, 4))]
    assert [(port.dtype, port.shape) for port in entry.outputs] == [("float32", (2, 3))]
    assert entry.states == ()
    assert "x" in repr(program)


Pair = namedtuple("Pair", ["first", "second"])


class Nested(torch.nn.Module):
    def forward(self, pair, options, *, scale=None):
        first, second = pair
        total = first + options["bias"]
        return {"sum": total, "both": [second * scale, (total, first)]}


def test_structure_of_the_call_is_kept(tmp_path: Path) -> None:
    one, two = torch.randn(3), torch.randn(2)
    args, kwargs = ((one, two), {"bias": torch.ones(3)}), {"scale": torch.tensor(2.0)}
    program = ingot.convert(Nested(), args, kwargs)
    program.save_asset(tmp_path / "m.ingot")
    for candidate in (program, ingot.load(tmp_path / "m.ingot")):
        result = candidate(*args, **kwargs)
        expected = Nested()(*args, **kwargs)
        assert list(result) == ["sum", "both"]
        assert isinstance(result["both"], list)
        assert isinstance(result["both"][1], tuple)
        assert_close(result["sum"], expected["sum"])
        assert_close(result["both"][0], expected["both"][0])


def test_literal_arguments(tmp_path: Path) -> None:
    class Scaled(torch.nn.Module):
        def forward(self, x, times: int, flag: bool = True):
            return x * times if flag else x

    x = torch.randn(3)
    program = ingot.convert(Scaled(), (x, 3))
    assert_close(program(x, 3), x * 3)
    with pytest.raises(ingot.UsageError, match="times"):
        program(x, 4)


def test_several_outputs_of_several_types() -> None:
    class Many(torch.nn.Module):
        def forward(self, x):
            return x > 0, x.long(), x.double(), x.half()

    x = torch.randn(2, 3)
    for actual, expected in zip(ingot.convert(Many(), (x,))(x), Many()(x), strict=True):
        assert_close(actual, expected)


def test_dynamic_shapes() -> None:
    module = Affine()
    batch = torch.export.Dim("batch", min=1, max=16)
    program = ingot.convert(module, (torch.randn(2, 4),), dynamic_shapes={"x": {0: batch}})
    for size in (1, 2, 5, 16):
        x = torch.randn(size, 4)
        assert_close(program(x), module(x))
    with pytest.raises(ingot.UsageError, match="x"):
        program(torch.randn(17, 4))


def test_state_is_kept_between_calls() -> None:
    class Counter(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(3))

        def forward(self, x):
            self.total.add_(x)
            return self.total * 2

    program = ingot.convert(Counter(), (torch.ones(3),))
    assert [state.name for state in program.entry_points[0].states] == ["total"]
    assert program(torch.ones(3)).tolist() == [2, 2, 2]
    assert program(torch.ones(3)).tolist() == [4, 4, 4]


def test_mutated_inputs_are_written_back() -> None:
    class InPlace(torch.nn.Module):
        def forward(self, x):
            x.add_(1)
            return x * 2

    program = ingot.convert(InPlace(), (torch.zeros(2),))
    x = torch.zeros(2)
    assert program(x).tolist() == [2, 2]
    assert x.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((torch.randn(2, 5),), "x"),
        ((torch.randn(3, 4),), "x"),
        ((torch.randn(2, 4).double(),), "float64"),
        ((np.zeros((2, 4), np.int32),), "int32"),
        (("text",), "x"),
        ((), ""),
        ((torch.randn(2, 4), torch.randn(2, 4)), ""),
    ],
)
def test_wrong_inputs_are_usage_errors(affine: tuple[Affine, ingot.Program], arguments: tuple, message: str) -> None:
    _, program = affine
    with pytest.raises(ingot.UsageError, match=message):
        program(*arguments)
    with pytest.raises(ValueError):
        program(*arguments)


def test_unknown_keyword(affine: tuple[Affine, ingot.Program]) -> None:
    _, program = affine
    with pytest.raises(ingot.UsageError):
        program(nothing=torch.randn(2, 4))


def test_missing_and_foreign_files(tmp_path: Path) -> None:
    with pytest.raises(ingot.AssetIOError):
        ingot.load(tmp_path / "nothing.ingot")
    with pytest.raises(OSError):
        ingot.load(tmp_path / "nothing.ingot")
    (tmp_path / "file.ingot").write_text("hello")
    with pytest.raises(ingot.CorruptFileError):
        ingot.load(tmp_path / "file.ingot")
    assert issubclass(ingot.CorruptFileError, ingot.IngotError)


def test_threads_may_call_at_once(affine: tuple[Affine, ingot.Program]) -> None:
    module, program = affine
    inputs = [torch.randn(2, 4) for _ in range(64)]
    outputs: dict[int, torch.Tensor] = {}

    def work(first: int) -> None:
        for index in range(first, len(inputs), 8):
            outputs[index] = program(inputs[index])

    threads = [threading.Thread(target=work, args=(first,)) for first in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for index, x in enumerate(inputs):
        assert_close(outputs[index], module(x))


def test_number_of_threads() -> None:
    before = ingot.get_num_threads()
    try:
        ingot.set_num_threads(1)
        assert ingot.get_num_threads() == 1
    finally:
        ingot.set_num_threads(before)
    code = "import ingot; print(ingot.get_num_threads())"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"INGOT_NUM_THREADS": "1"}
    )
    assert done.stdout.strip() == "1"


def test_temporary_files_go_with_the_program() -> None:
    program = ingot.convert(Affine(), (torch.randn(2, 4),))
    program(torch.randn(2, 4))
    folder = Path(program._path).parent
    assert folder.is_dir()
    del program
    assert not folder.exists()


def test_named_results_of_torch_are_tuples() -> None:
    class Best(torch.nn.Module):
        def forward(self, x):
            return {"top": torch.topk(x, 2), "all": x.sort(-1)}

    x = torch.randn(3, 5)
    exported = torch.export.export(Best(), (x,))
    result, expected = ingot.convert(exported)(x), Best()(x)
    for name, values in expected.items():
        assert isinstance(result[name], tuple)
        torch.testing.assert_close(result[name], tuple(values))
    assert isinstance(exported.module()(x)["top"], torch.return_types.topk)


def test_bfloat16_in_numpy() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")

    class Twice(torch.nn.Module):
        def forward(self, x):
            return x + x

    program = ingot.convert(Twice(), (torch.ones(3, dtype=torch.bfloat16),))
    y = program(np.ones(3, ml_dtypes.bfloat16))
    assert y.dtype == ml_dtypes.bfloat16
    assert y.astype(np.float32).tolist() == [2, 2, 2]


def test_dimensions_have_the_users_names() -> None:
    class Model(torch.nn.Module):
        def forward(self, ids: torch.Tensor, more: torch.Tensor) -> torch.Tensor:
            return ids * 2 + more[1:]

    seq = torch.export.Dim("seq", min=1, max=512)
    shapes = {"ids": {0: seq}, "more": {0: seq + 1}}
    program = ingot.convert(Model(), (torch.ones(4), torch.ones(5)), dynamic_shapes=shapes)
    assert program.entry_points[0].inputs[1].shape == ("seq + 1",)
    assert program(torch.ones(1), torch.ones(2)).shape == (1,)
    with pytest.raises(ingot.UsageError, match="dim `seq` of input `ids` is 700, allowed 1 to 512"):
        program(torch.ones(700), torch.ones(701))


def test_integers_that_vary() -> None:
    class Head(torch.nn.Module):
        def forward(self, x: torch.Tensor, count: int) -> tuple[torch.Tensor, int]:
            return x[:count] * count, count + x.shape[0]

    auto = torch.export.Dim.AUTO
    program = ingot.convert(Head(), (torch.randn(6, 2), 4), dynamic_shapes={"x": {0: auto}, "count": auto})
    for rows, count in ((6, 4), (9, 3)):
        x = torch.randn(rows, 2)
        values, total = program(x, count)
        assert_close(values, x[:count] * count)
        assert total == count + rows
