"""A model with operators that Ingot does not know: all of them in one report, with the user's lines."""

from __future__ import annotations

from pathlib import Path

import ingot
import pytest
import torch
from support import export, refused, save_pt2


def _define(name: str) -> None:
    @torch.library.custom_op(f"ingot_tests::{name}", mutates_args=())
    def operator(x: torch.Tensor) -> torch.Tensor:
        return x.clone()

    operator.register_fake(torch.empty_like)


NAMES = ("mystery_one", "mystery_two", "mystery_three")
for _name in NAMES:
    _define(_name)


class Mysterious(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.ops.ingot_tests.mystery_one(x) + 1  # line of one
        x = torch.ops.ingot_tests.mystery_two(x) * 2  # line of two
        x = torch.ops.ingot_tests.mystery_one(x)
        return torch.ops.ingot_tests.mystery_three(x)  # line of three


def line_of(text: str) -> int:
    source = Path(__file__).read_text().splitlines()
    return next(number for number, line in enumerate(source, 1) if line.endswith(f"# line of {text}"))


def check_report(message: str) -> None:
    for name in NAMES:
        assert f"ingot_tests::{name}" in message, message
    for text in ("one", "two", "three"):
        assert f"{Path(__file__).name}:{line_of(text)}" in message, message


def test_all_in_one_report(tmp_path: Path) -> None:
    pt2 = save_pt2(export(Mysterious(), (torch.randn(3),)), tmp_path / "m.pt2")
    check_report(refused("convert", pt2, "-o", tmp_path / "m.ingot"))
    assert [item.name for item in tmp_path.iterdir()] == ["m.pt2"], "nothing is written"


def test_python_exception_says_the_same() -> None:
    with pytest.raises(ingot.UnsupportedError) as caught:
        ingot.convert(Mysterious(), (torch.randn(3),))
    check_report(str(caught.value))


class SharedBuffers(torch.nn.Module):
    """Two buffers that are views of one memory."""

    def __init__(self) -> None:
        super().__init__()
        table = torch.zeros(2, 3)
        self.register_buffer("table", table)
        self.register_buffer("row", table[1])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.row.add_(x)
        return self.table.sum(0)


class ReadSharedBuffers(SharedBuffers):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table.sum(0) + self.row + x


def test_buffers_that_share_memory_are_not_written() -> None:
    with pytest.raises(ingot.UnsupportedError, match="'row' and 'table' share memory, and `main` writes to 'row'"):
        ingot.convert(torch.export.export(SharedBuffers(), (torch.ones(3),)))
    program = ingot.convert(torch.export.export(ReadSharedBuffers(), (torch.ones(3),)))
    torch.testing.assert_close(program(torch.ones(3)), torch.ones(3))


class Gradient(torch.nn.Module):
    """torch.export keeps a tensor of the tracer as a constant."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(lambda value: (value**3).sum())(x)


def test_constants_without_data() -> None:
    with pytest.raises(ingot.UnsupportedError, match="has no data: it was made while the model was traced"):
        ingot.convert(Gradient(), (torch.rand(4),))
