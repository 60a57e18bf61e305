"""Buffers and arguments that a program changes: in place, against eager, without copying what does not change."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import ingot
import numpy as np
import pytest
import torch
from ingot import _core
from safetensors.numpy import load_file, save_file
from support import assert_close, export, ingot_json, save_pt2
from support import ingot as ingot_tool

HEADS, WIDTH = 8, 16

Write = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _static(cache: torch.Tensor, row: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    cache[:, :, 5] = row[:, :, 0]
    return cache


def _slice(cache: torch.Tensor, row: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    cache[:, :, 5:6] = row
    return cache


def _index_put(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    cache[:, :, position] = row
    return cache


def _index_copy(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    return cache.index_copy_(2, position, row)


def _index_add(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    return cache.index_add_(2, position, row)


def _scatter(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    return cache.scatter_(2, position.reshape(1, 1, 1, 1).expand_as(row), row)


def _inner_slice(cache: torch.Tensor, row: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
    cache[0, :, 5] = row[0, :, 0]
    return cache


def _inner_index(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    cache[0].index_copy_(1, position, row[0])
    return cache


def _read_first(cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
    row = row + cache[:, :, :2].clone().sum(2, keepdim=True)
    return cache.index_copy_(2, position, row)


WRITES = [_static, _slice, _index_put, _index_copy, _index_add, _scatter, _inner_slice, _inner_index, _read_first]
FEW_ROWS = 4 * HEADS * WIDTH * 4
"""Bytes: the new row, and what steps around it may copy."""


def attend(query: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.scaled_dot_product_attention(query, cache, cache)


def average(query: torch.Tensor, cache: torch.Tensor) -> torch.Tensor:
    """Instead of attention, which decomposed programs copy transposed keys for."""
    return query + cache.mean(2, keepdim=True)


class BufferCache(torch.nn.Module):
    def __init__(self, write: Write, length: int) -> None:
        super().__init__()
        self.write = write
        self.register_buffer("cache", torch.arange(HEADS * length * WIDTH).reshape(1, HEADS, length, WIDTH) % 7 / 7)

    def forward(self, query: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        return attend(query, self.write(self.cache, row, position))


class ArgumentCache(torch.nn.Module):
    def __init__(self, write: Write, read: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.write, self.read = write, read

    def forward(
        self, query: torch.Tensor, cache: torch.Tensor, row: torch.Tensor, position: torch.Tensor
    ) -> torch.Tensor:
        return self.read(query, self.write(cache, row, position))


def step_inputs(position: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    torch.manual_seed(position)
    return torch.randn(1, HEADS, 1, WIDTH), torch.randn(1, HEADS, 1, WIDTH), torch.tensor([position])


def copied(program: ingot.Program, *args: torch.Tensor) -> int:
    """Bytes that a call moves."""
    before = _core.copied_bytes()
    program(*args)
    return _core.copied_bytes() - before


def exported(module: torch.nn.Module, args: tuple[torch.Tensor, ...], decompose: bool) -> torch.export.ExportedProgram:
    program = torch.export.export(module, args)
    return program.run_decompositions() if decompose else program


@pytest.mark.parametrize("write", WRITES, ids=lambda write: write.__name__.strip("_"))
def test_a_step_writes_only_its_row(write: Write) -> None:
    moved = []
    for length in (64, 4096):
        module = BufferCache(write, length)
        program = ingot.convert(module, step_inputs(0))
        for position in (5, 60, 7):
            assert_close(program(*step_inputs(position)), module(*step_inputs(position)))
        assert_close(program.read_state("cache"), module.cache)
        moved.append(copied(program, *step_inputs(9)))
    assert moved[0] == moved[1] <= FEW_ROWS


@pytest.mark.parametrize(
    ("write", "decompose"),
    [
        (_index_copy, False),
        (_static, False),
        (_inner_index, False),
        (_static, True),
        (_slice, True),
        (_index_put, True),
        (_inner_slice, True),
        (_read_first, True),
    ],
)
def test_a_written_argument_is_changed_where_it_is(write: Write, decompose: bool) -> None:
    moved = []
    for length in (64, 1024):
        module = ArgumentCache(write, average if decompose else attend)
        cache = torch.rand(1, HEADS, length, WIDTH)
        query, row, position = step_inputs(0)
        program = ingot.convert(exported(module, (query, cache.clone(), row, position), decompose))
        mine, address = cache.clone(), None
        for at in (5, 60, 7):
            query, row, position = step_inputs(at)
            address = address or mine.data_ptr()
            assert_close(program(query, mine, row, position), module(query, cache, row, position))
            assert mine.data_ptr() == address
            assert_close(mine, cache)
        moved.append(copied(program, query, mine, row, position))
    assert moved[0] == moved[1] <= FEW_ROWS


class Stacked(torch.nn.Module):
    """The caches of all layers in one tensor, as `cache[layer, :, :, position]`."""

    def __init__(self, layers: int, length: int) -> None:
        super().__init__()
        self.layers = layers
        self.register_buffer("keys", torch.zeros(layers, 1, HEADS, length, WIDTH))

    def forward(self, query: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        for layer in range(self.layers):
            if layer % 2:
                self.keys[layer].index_copy_(2, position, row)
            else:
                self.keys[layer, :, :, 5] = row[:, :, 0]
            query = query + attend(query, self.keys[layer])
        return query


def test_layers_of_one_cache_are_written_where_they_are() -> None:
    moved = []
    for length in (64, 1024):
        module = Stacked(3, length)
        program = ingot.convert(module, step_inputs(0))
        for position in (0, 1, 5):
            assert_close(program(*step_inputs(position)), module(*step_inputs(position)))
        assert_close(program.read_state("keys"), module.keys)
        moved.append(copied(program, *step_inputs(9)))
    assert moved[0] == moved[1]


class Branching(torch.nn.Module):
    """A function that runs step by step, because it branches on data and has results of unknown size."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, HEADS, length, WIDTH))

    def forward(self, query: torch.Tensor, row: torch.Tensor, position: torch.Tensor) -> tuple[torch.Tensor, ...]:
        row = torch.cond(row.sum() > 0, lambda x: x * 2, lambda x: x - 1, (row,))
        self.cache.index_copy_(2, position, row)
        return attend(query, self.cache), torch.nonzero(query.flatten() > 0)


def test_functions_that_run_step_by_step_change_states_in_place() -> None:
    moved = []
    for length in (64, 1024):
        module = Branching(length)
        program = ingot.convert(module, step_inputs(0))
        for position in (0, 1, 5, 2):
            for got, want in zip(program(*step_inputs(position)), module(*step_inputs(position)), strict=True):
                assert_close(got, want)
        assert_close(program.read_state("cache"), module.cache)
        moved.append(copied(program, *step_inputs(9)))
    assert moved[0] == moved[1]


class Conditional(torch.nn.Module):
    """The cache itself goes through a branch, and through a loop."""

    def __init__(self, length: int) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(1, HEADS, length, WIDTH))

    def forward(self, row: torch.Tensor, position: torch.Tensor, times: torch.Tensor) -> torch.Tensor:
        cache = torch.cond(
            row.sum() > 0,
            lambda cache, row, position: cache.index_copy(2, position, row),
            lambda cache, row, position: cache.clone(),
            (self.cache, row, position),
        )
        _, cache = torch.ops.higher_order.while_loop(
            lambda i, cache, row, times: i < times,
            lambda i, cache, row, times: (i + 1, cache.index_add(2, i.reshape(1), row)),
            (torch.zeros((), dtype=torch.int64), cache),
            (row, times),
        )
        self.cache.copy_(cache)
        return self.cache.sum()


def test_a_state_goes_through_branches_and_loops_in_place() -> None:
    moved = []
    for length in (64, 1024):
        module = Conditional(length)
        program = ingot.convert(module, (step_inputs(0)[1], torch.tensor([0]), torch.tensor(3)))
        for position in (0, 1, 5, 2):
            args = (step_inputs(position)[1], torch.tensor([position]), torch.tensor(position % 4))
            assert_close(program(*args), module(*args))
            assert_close(program.read_state("cache"), module.cache)
        moved.append([copied(program, *args), copied(program, -args[0].abs(), *args[1:])])
    assert moved[0] == moved[1]


class Everything(torch.nn.Module):
    """Two buffers and an argument, each changed in another way."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(2, 3))
        self.register_buffer("last", torch.full((2, 3), 7.0))

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        before = self.last.clone()
        self.total.add_(x)
        self.total[0, 1:] = x[1, 1:]
        self.last.copy_(x * 2)
        seen.mul_(2).add_(self.total)
        return before + seen, self.last


@pytest.mark.parametrize("decompose", [False, True], ids=["exported", "decomposed"])
def test_buffers_and_an_argument_together(decompose: bool) -> None:
    module = Everything()
    program = ingot.convert(exported(module, (torch.rand(2, 3), torch.rand(2, 3)), decompose))
    (entry,) = program.entry_points
    assert [state.name for state in entry.states] == ["total", "last", "seen"]
    assert [port.state for port in entry.inputs] == ["", "seen"]
    module, seen = Everything(), torch.rand(2, 3)
    mine = seen.numpy().copy()
    for step in range(4):
        x = torch.rand(2, 3) + step
        expected = module(x, seen)
        for got, want in zip(program(x.numpy(), mine), expected, strict=True):
            assert_close(torch.tensor(got), want)
        assert_close(torch.from_numpy(mine), seen)
        assert_close(program.read_state("total"), module.total)
        assert_close(program.read_state("last"), module.last)


class Exchange(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3))
        self.register_buffer("b", torch.ones(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(a + x)
        return a


def test_states_that_change_places() -> None:
    module, program = Exchange(), ingot.convert(Exchange(), (torch.ones(3),))
    mine = {"a": np.zeros(3, np.float32), "b": np.ones(3, np.float32)}
    for _ in range(4):
        x = torch.rand(3)
        expected = module(x)
        assert_close(program(x), expected)
        program._core.run("main", [x], [None], True, mine)
        for name, array in mine.items():
            assert_close(program.read_state(name), getattr(module, name))
            assert_close(torch.from_numpy(array), getattr(module, name))


class Roll(torch.nn.Module):
    """The source of the write overlaps its target."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("line", torch.arange(6.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.line[:-1] = self.line[1:].clone()
        self.line[-1:] = x
        return self.line * 2


def test_a_window_that_moves() -> None:
    module, program = Roll(), ingot.convert(Roll(), (torch.ones(1),))
    for step in range(8):
        x = torch.tensor([10.0 + step])
        assert_close(program(x), module(x))


class AddTo(torch.nn.Module):
    def forward(self, x: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        target.add_(x)
        return target * 2


@pytest.fixture(scope="module")
def add_to() -> ingot.Program:
    rows = torch.export.Dim("rows", min=1, max=64)
    shapes = {"x": {0: rows}, "target": {0: rows}}
    return ingot.convert(AddTo(), (torch.zeros(2, 3), torch.zeros(2, 3)), dynamic_shapes=shapes)


def test_arguments_that_are_not_contiguous_are_written_back(add_to: ingot.Program) -> None:
    x = torch.rand(4, 3)
    for target in (torch.zeros(3, 4).T, torch.zeros(4, 6)[:, ::2], torch.zeros(8, 3)[::2]):
        assert_close(add_to(x, target), x * 2)
        assert_close(target, x)
    array = np.zeros((3, 4), np.float32).T
    add_to(x.numpy(), array)
    assert_close(torch.from_numpy(array), x)
    swapped = np.zeros((4, 3), np.dtype(">f4"))
    add_to(x.numpy(), swapped)
    assert (swapped == x.numpy()).all()


def test_an_argument_given_twice_is_read_before_it_changes(add_to: ingot.Program) -> None:
    x = torch.ones(2, 3)
    assert_close(add_to(x, x), torch.full((2, 3), 4.0))
    assert_close(x, torch.full((2, 3), 2.0))


class ReadsLate(torch.nn.Module):
    def forward(self, target: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        target.mul_(2)
        return x.sum()


def test_what_is_read_after_a_change_is_not_what_was_changed() -> None:
    program = ingot.convert(torch.export.export(ReadsLate(), (torch.ones(4), torch.ones(4))))
    x = torch.ones(6)
    for pair in ((x, x), (x[:4], x[2:])):
        with pytest.raises(ingot.UsageError, match="reads `x` after it has changed `target`: pass a copy of one"):
            program(pair[0][:4], pair[1][:4])
    assert_close(x, torch.ones(6))
    assert_close(program(x[:3].clone().repeat(2)[:4], x[:4]), torch.tensor(4.0))


def test_autograd_sees_the_change(add_to: ingot.Program) -> None:
    target = torch.zeros(2, 3)
    version = target._version
    add_to(torch.ones(2, 3), target)
    assert target._version > version


def test_read_only_arguments_are_refused(add_to: ingot.Program) -> None:
    array = np.zeros((2, 3), np.float32)
    array.setflags(write=False)
    with pytest.raises(ingot.UsageError, match="'target' is read-only"):
        add_to(np.ones((2, 3), np.float32), array)


def test_wrong_states_are_usage_errors(add_to: ingot.Program) -> None:
    core, x, good = add_to._core, np.ones((2, 3), np.float32), np.zeros((2, 3), np.float32)
    read_only = good.copy()
    read_only.setflags(write=False)

    def run(states: dict[str, object]) -> None:
        core.run("main", [x], [None], True, states)

    run({"target": good})
    assert (good == 1).all()
    for states, message in [
        ({}, "changes its argument `target`"),
        ({"target": good, "targt": x}, "no state `targt`; did you mean `target`"),
        ({"target": good.astype(np.float64)}, "`target`.*float32.*float64"),
        ({"target": np.zeros((3, 3), np.float32)}, "`target`"),
        ({"target": np.zeros((2, 3, 1), np.float32)}, "`target`"),
        ({"target": np.zeros((3, 2), np.float32).T}, "`target`: the array is not contiguous"),
        ({"target": read_only}, "'target' is a read-only array"),
        ({"target": "text"}, "'target' is a str"),
    ]:
        with pytest.raises(ingot.UsageError, match=message):
            run(states)
    with pytest.raises(ingot.UsageError, match="takes 1 inputs"):
        core.run("main", [x, x], [None, None], True, {"target": good})


def test_two_states_in_one_memory_are_refused() -> None:
    core, array = ingot.convert(Exchange(), (torch.ones(3),))._core, np.zeros(4, np.float32)
    with pytest.raises(ingot.UsageError, match="`a` and `b` are given the same memory"):
        core.run("main", [torch.ones(3)], [None], True, {"a": array[:3], "b": array[1:]})


def test_states_in_the_callers_memory_leave_the_programs_alone() -> None:
    program = ingot.convert(BufferCache(_index_copy, 64), step_inputs(0))
    initial = program.read_state("cache")
    mine, module = torch.zeros(1, HEADS, 64, WIDTH), BufferCache(_index_copy, 64)
    module.cache.zero_()
    for position in (3, 9):
        module(*step_inputs(position))
        program._core.run("main", list(step_inputs(position)), [None] * 3, False, {"cache": mine})
    assert_close(mine, module.cache)
    assert torch.equal(program.read_state("cache"), initial)


def test_reading_writing_and_resetting_states(tmp_path: Path) -> None:
    program = ingot.convert(Exchange(), (torch.ones(3),))
    program(torch.ones(3))
    assert program.read_state("a").tolist() == [1, 1, 1]
    program.write_state("a", torch.tensor([1.0, 2, 3, 4, 5, 6])[::2])
    assert program(torch.zeros(3)).tolist() == [1, 3, 5]
    program.reset_states()
    assert program.read_state("a").tolist() == [0, 0, 0]
    with pytest.raises(ingot.UsageError, match="no state `c`"):
        program.read_state("c")
    with pytest.raises(ingot.UsageError, match="`a`"):
        program.write_state("a", torch.zeros(4))
    program.save_asset(tmp_path / "exchange.ingot")
    loaded = ingot.load(tmp_path / "exchange.ingot")
    loaded.write_state("b", np.full(3, 4, np.float32))
    assert isinstance(loaded.read_state("b"), np.ndarray)
    assert loaded.read_state("b").tolist() == [4, 4, 4]


def test_sessions_have_states_of_their_own() -> None:
    program = ingot.convert(BufferCache(_index_add, 64), step_inputs(0))
    sessions = [program.session() for _ in range(3)]
    references = [BufferCache(_index_add, 64) for _ in sessions]
    problems: list[BaseException] = []

    def decode(session: ingot.Session, module: BufferCache, seed: int) -> None:
        try:
            for step in range(20):
                query, row, position = step_inputs(seed * 20 + step)
                assert_close(session(query, row, position % 64), module(query, row, position % 64))
        except BaseException as problem:
            problems.append(problem)

    threads = [
        threading.Thread(target=decode, args=(session, module, seed))
        for seed, (session, module) in enumerate(zip(sessions, references, strict=True))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems, problems[0]
    for session, module in zip(sessions, references, strict=True):
        assert_close(session.read_state("cache"), module.cache)
    assert torch.equal(program.read_state("cache"), BufferCache(_index_add, 64).cache)
    sessions[0].reset_states()
    assert torch.equal(sessions[0].read_state("cache"), program.read_state("cache"))
    sessions[0].write_state("cache", torch.zeros(1, HEADS, 64, WIDTH))
    assert not sessions[0].read_state("cache").any()
    assert sessions[1].read_state("cache").any()


def test_the_command_line_gives_written_arguments_as_outputs(tmp_path: Path) -> None:
    pt2 = save_pt2(export(AddTo(), (torch.zeros(2, 3), torch.zeros(2, 3))), tmp_path / "add.pt2")
    ingot_tool("convert", pt2, "-o", tmp_path / "add.ingot")
    save_file({"x": np.ones((2, 3), np.float32), "target": np.full((2, 3), 4, np.float32)}, tmp_path / "in.safetensors")
    arguments = ("run", tmp_path / "add.ingot", "--inputs", tmp_path / "in.safetensors")
    described = ingot_json(*arguments, "--outputs", tmp_path / "out.safetensors")
    assert [output["mean"] for output in described["outputs"]] == [10, 5]
    outputs = load_file(tmp_path / "out.safetensors")
    assert (outputs["target"] == 5).all()
    assert (load_file(tmp_path / "in.safetensors")["target"] == 4).all()
    assert "changed in place" in ingot_tool("show", tmp_path / "add.ingot")


class Reader(torch.nn.Module):
    """Reads the buffer of another module, which that one writes."""

    def __init__(self, writer: torch.nn.Module) -> None:
        super().__init__()
        self.writer = writer

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.writer.total * 2 + x * 0


class Writer(torch.nn.Module):
    def __init__(self, total: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("total", total)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        return self.total.clone()


@pytest.mark.parametrize("order", [("write", "read"), ("read", "write")], ids=" ".join)
@pytest.mark.parametrize("decomposes", [False, True])
def test_an_entry_point_reads_what_another_writes(order: tuple[str, str], decomposes: bool, tmp_path: Path) -> None:
    writer, x = Writer(torch.zeros(2)), torch.ones(2)
    modules = {"write": writer, "read": Reader(writer)}
    converter = ingot.TorchConverter()
    for name in order:
        exported = export(modules[name], (x,))
        exported = exported.run_decompositions() if decomposes else exported
        converter.add_exported_program(exported, entrypoint_name=name)
    program = converter.to_ingot()
    program.save_asset(tmp_path / "x.ingot")
    for each in (program, ingot.load(tmp_path / "x.ingot")):
        for count in (1, 2):
            each.run_entry("write", x)
            assert torch.equal(each.run_entry("read", x), torch.full((2,), 2.0 * count))
        assert torch.equal(each.session().run_entry("read", x), torch.zeros(2))
        each.reset_states()
        assert torch.equal(each.run_entry("read", x), torch.zeros(2))


def test_an_entry_point_reads_a_view_of_what_another_writes() -> None:
    memory, x = torch.zeros(4), torch.ones(2)
    writer = Writer(memory[:2])
    reader = Reader(Writer(memory[1:3]))
    converter = ingot.TorchConverter()
    converter.add_exported_program(export(writer, (x,)), entrypoint_name="write")
    converter.add_exported_program(export(reader, (x,)), entrypoint_name="read")
    with pytest.raises(ingot.UnsupportedError, match="share memory"):
        converter.to_ingot()


class SameName(torch.nn.Module):
    """Argument and buffer are called alike."""

    def __init__(self, writes_argument: bool) -> None:
        super().__init__()
        self.register_buffer("x", torch.zeros(2))
        self.writes_argument = writes_argument

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.writes_argument:
            x.add_(1)
        self.x.add_(x)
        return self.x * 2


@pytest.mark.parametrize("writes_argument", [False, True])
def test_an_argument_is_called_as_a_buffer_is(writes_argument: bool) -> None:
    exported = torch.export.export(SameName(writes_argument), (torch.ones(2),))
    program, eager = ingot.convert(exported), SameName(writes_argument)
    for _ in range(3):
        mine, theirs = torch.ones(2), torch.ones(2)
        assert_close(program(mine), eager(theirs))
        assert_close(mine, theirs)
    assert {state.name for state in program.entry_points[0].states} >= {"b_x"}
    ingot.TorchConverter().add_exported_program(exported).to_ingot()
