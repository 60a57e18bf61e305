"""Regions under torch.autocast: the conversions that autocast does on the way."""

from __future__ import annotations

import ingot
import torch
from support import export


class Mixed(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.conv = torch.nn.Conv1d(2, 3, 2)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = self.linear(x)
            product = torch.matmul(torch.softmax(y, -1), x.transpose(-1, -2))
            with torch.autocast("cpu", enabled=False):
                full = self.linear(x)
            loss = torch.nn.functional.mse_loss(y, x)
            return product + 1, self.conv(x), torch.cat([y, x]), full, loss


def test_autocast() -> None:
    torch.manual_seed(0)
    module, x = Mixed().eval(), torch.randn(2, 4)
    with torch.no_grad():
        expected = module(x)
    for actual, wanted in zip(ingot.convert(export(module, (x,)))(x), expected, strict=True):
        torch.testing.assert_close(actual, wanted)
