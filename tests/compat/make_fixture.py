"""Writes tests/compat/vN for the current format. Run once for each new major version, then never again.

.venv/bin/python tests/compat/make_fixture.py 1
git add -f tests/compat/v1
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import ingot
import torch
from safetensors.torch import save_file

FOLDER = Path(__file__).parent


class Fixture(torch.nn.Module):
    """A bit of everything that the format describes: tied weights, a state, a dynamic size, several types."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.embedding = torch.nn.Embedding(11, 8)
        self.head = torch.nn.Linear(8, 11, bias=False)
        self.head.weight = self.embedding.weight
        self.norm = torch.nn.LayerNorm(8)
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, ids: torch.Tensor, scale: torch.Tensor) -> dict[str, torch.Tensor]:
        self.calls.add_(1)
        logits = self.head(torch.nn.functional.gelu(self.norm(self.embedding(ids)))) * scale
        return {"logits": logits, "best": logits.argmax(-1), "calls": self.calls.clone()}


def main(version: str) -> None:
    target = FOLDER / f"v{version}"
    target.mkdir()
    module = Fixture().eval().requires_grad_(False)
    inputs = (torch.arange(12).reshape(3, 4) % 11, torch.tensor(0.5))
    batch = torch.export.Dim("batch", min=1, max=64)
    program = ingot.convert(module, inputs, dynamic_shapes={"ids": {0: batch}, "scale": None})
    program.save_asset(target / "fixture.ingot")
    # What was compiled for this machine is no part of the promise.
    shutil.rmtree(target / "fixture.ingot" / "cache", ignore_errors=True)
    expected = Fixture().eval()(*inputs)
    names = [port.name for port in program.entry_points[0].inputs]
    save_file(dict(zip(names, inputs, strict=True)), target / "inputs.safetensors")
    save_file({name: value.detach().contiguous() for name, value in expected.items()}, target / "outputs.safetensors")


if __name__ == "__main__":
    main(sys.argv[1])
