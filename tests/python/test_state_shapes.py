"""Buffers and arguments that a program gives another shape in place."""

from __future__ import annotations

import ingot
import torch
from support import assert_close, export


class Squeezed(torch.nn.Module):
    """Writes to what it has given another shape in place."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("rows", torch.arange(6.0).reshape(2, 1, 3))
        self.register_buffer("square", torch.arange(9.0).reshape(3, 3))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        self.rows.view(2, 1, 3).squeeze_().add_(1)
        self.square.t_()
        self.square.mul_(2)
        x.squeeze_().sub_(1)
        return self.rows + 0, self.square + 0, x + 1


def test_writes_after_a_change_of_shape_in_place() -> None:
    program, eager = ingot.convert(export(Squeezed(), (torch.ones(4, 1, 2),))), Squeezed()
    for number in range(3):
        mine, theirs = torch.full((4, 1, 2), float(number)), torch.full((4, 1, 2), float(number))
        for got, wanted in zip(program(mine), eager(theirs), strict=True):
            assert_close(got, wanted)
        assert mine.shape == (4, 1, 2)  # and not (4, 2), which it has in PyTorch
        assert torch.equal(mine.squeeze(), theirs)
