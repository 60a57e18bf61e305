"""torch.vmap inside a model: exported as calls of Python functions, converted as the operators it stands for."""

from __future__ import annotations

import ingot
import pytest
import torch
from support import assert_close


class Rows(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(4, 3))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return torch.vmap(lambda row: torch.softmax(self.weight @ row, 0))(x) * self.calls


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_mapped_function(dynamic: bool) -> None:
    model, x = Rows(), torch.randn(5, 3)
    shapes = ({0: torch.export.Dim("rows", min=2, max=32)},) if dynamic else None
    program = ingot.convert(model, (x,), dynamic_shapes=shapes)
    for step, rows in enumerate((5, 9) if dynamic else (5, 5), 1):
        y = torch.randn(rows, 3)
        expected = torch.softmax(y @ model.weight.T, 1) * step
        assert_close(program(y), expected)


def test_by_the_converter() -> None:
    model, x = Rows(), torch.randn(5, 3)
    exported = torch.export.export(model, (x,))
    before = exported.graph_module.code
    program = ingot.TorchConverter().add_exported_program(exported, state_names=["count"]).to_ingot()
    assert_close(program(x), torch.softmax(x @ model.weight.T, 1))
    assert exported.graph_module.code == before
    assert [state.name for state in program.entry_points[0].states] == ["count"]
