"""Attention that a model spells out: products with a softmax between them become one kernel, with eager's numbers."""

from __future__ import annotations

import math
from typing import Any

import ingot
import pytest
import torch
from torch import nn


class Spelled(nn.Module):
    """softmax(q kᵀ / sqrt(d) + mask) v"""

    def __init__(self, *, windows: int = 0) -> None:
        super().__init__()
        self.windows = windows

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        if self.windows:
            batch, heads, rows, columns = scores.shape
            scores = scores.view(batch // self.windows, self.windows, heads, rows, columns) + mask
            scores = scores.view(batch, heads, rows, columns)
        else:
            scores = scores + mask
        return torch.softmax(scores, -1) @ v


def operands(batch: int, rows: int, columns: int) -> tuple[torch.Tensor, ...]:
    torch.manual_seed(0)
    return torch.randn(batch, 4, rows, 16), torch.randn(batch, 4, columns, 16), torch.randn(batch, 4, columns, 24)


def kernels_of(program: Any, tmp_path: Any) -> list[str]:
    path = tmp_path / "m.ingot"
    program.save_asset(path)
    ingot.load(path)  # compiles it
    plan = next(path.glob("cache/*/plan.json")).read_text()
    return [name for name in ("attention", "matmul", "softmax") if f'"kernel":"{name}"' in plan]


@pytest.mark.parametrize("rows", [3, 40])
@pytest.mark.parametrize("mask_shape", [(1, 1), (4, 1, 33), (1, 1, 1, 33)])
def test_masks_that_broadcast(rows: int, mask_shape: tuple[int, ...], tmp_path: Any) -> None:
    args = (*operands(2, rows, 33), torch.randn(mask_shape))
    program = ingot.convert(torch.export.export(Spelled(), args))
    torch.testing.assert_close(program(*args), Spelled()(*args))
    assert kernels_of(program, tmp_path) == ["attention"]


@pytest.mark.parametrize("rows", [3, 40])
def test_rows_that_see_nothing_are_nan(rows: int) -> None:
    mask = torch.zeros(rows, 33)
    mask[1] = -math.inf
    mask[2, 5:] = -math.inf
    args = (*operands(1, rows, 33), mask)
    result = ingot.convert(torch.export.export(Spelled(), args))(*args)
    assert torch.isnan(result[0, :, 1]).all()
    torch.testing.assert_close(result, Spelled()(*args), equal_nan=True)


@pytest.mark.parametrize("images", [1, 2])
def test_masks_of_windows(images: int, tmp_path: Any) -> None:
    model = Spelled(windows=3)
    mask = torch.where(torch.randn(1, 3, 1, 20, 20) > 0, 0.0, -100.0)
    args = (*operands(3 * images, 20, 20), mask)
    program = ingot.convert(torch.export.export(model, args))
    torch.testing.assert_close(program(*args), model(*args))
    assert kernels_of(program, tmp_path) == ["attention"]


def test_any_length() -> None:
    length = torch.export.Dim("length", min=2, max=64)
    args = (*operands(2, 30, 30), torch.randn(2, 1, 30, 30))
    shapes = ({2: length}, {2: length}, {2: length}, {2: length, 3: length})
    program = ingot.convert(torch.export.export(Spelled(), args, dynamic_shapes=shapes))
    for size in (2, 17, 64):
        args = (*operands(2, size, size), torch.randn(2, 1, size, size))
        torch.testing.assert_close(program(*args), Spelled()(*args))
