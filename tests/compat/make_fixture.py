"""Writes tests/compat/vN for the current format. Run once for each version that stores something new, then never again.

.venv/bin/python tests/compat/make_fixture.py 1
git add -f tests/compat/v1

With "torch" it writes what this torch exports, and the graph document of it, into tests/compat/torch-VERSION.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import ingot
import torch
from safetensors.torch import save_file

FOLDER = Path(__file__).parent
INGOT = Path(sys.executable).with_name("ingot")


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


class Written(torch.nn.Module):
    """An argument that the program changes, beside a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.ones(4))

    def forward(self, x: torch.Tensor, seen: torch.Tensor) -> dict[str, torch.Tensor]:
        self.total.add_(x.sum(0))
        seen[:, 1] = x[:, 2]
        seen.mul_(2)
        return {"y": seen + self.total}


def make(target: Path, module: type[torch.nn.Module], inputs: dict[str, torch.Tensor], dynamic: list[str]) -> None:
    target.mkdir()
    batch = torch.export.Dim("batch", min=1, max=64)
    shapes = {name: {0: batch} if name in dynamic else None for name in inputs}
    example = {name: value.clone() for name, value in inputs.items()}
    program = ingot.convert(module().eval().requires_grad_(False), (), example, dynamic_shapes=shapes)
    program.save_asset(target / "fixture.ingot")
    # What was compiled for this machine is no part of the promise.
    shutil.rmtree(target / "fixture.ingot" / "cache", ignore_errors=True)
    save_file(inputs, target / "inputs.safetensors")
    changed = {name: value.clone() for name, value in inputs.items()}
    expected = {name: value.detach().contiguous() for name, value in module().eval()(**changed).items()}
    expected |= {f"changed.{name}": value for name, value in changed.items() if not torch.equal(value, inputs[name])}
    save_file(expected, target / "outputs.safetensors")


def make_torch() -> None:
    """A .pt2 file, its graph document and weights, and what the model gives."""
    target = FOLDER / f"torch-{torch.__version__.split('+')[0]}"
    target.mkdir()
    inputs = {"ids": torch.arange(12).reshape(3, 4) % 11, "scale": torch.tensor(0.5)}
    module = Fixture().eval().requires_grad_(False)
    shapes = {"ids": {0: torch.export.Dim("batch", min=1, max=64)}, "scale": None}
    example = {name: value.clone() for name, value in inputs.items()}
    program = torch.export.export(module, (), example, dynamic_shapes=shapes, strict=False)
    for node in program.graph.nodes:  # where the fixture was made is nobody's business
        node.meta["stack_trace"] = str(node.meta.get("stack_trace", "")).replace(f"{FOLDER.parents[1]}/", "")
    torch.export.save(program, target / "model.pt2")
    subprocess.run([INGOT, "extract", target / "model.pt2", "-o", target / "graph.json"], check=True)
    # Tied weights are there once, under the name that the document has.
    state = {name: value.clone() for name, value in module.state_dict().items()}
    save_file(state, target / "weights.safetensors")
    save_file(inputs, target / "inputs.safetensors")
    outputs = {name: value.contiguous().clone() for name, value in Fixture().eval()(**inputs).items()}
    save_file({name: value.detach() for name, value in outputs.items()}, target / "outputs.safetensors")


def main(version: str) -> None:
    if version == "torch":
        return make_torch()
    target = FOLDER / f"v{version}"
    if "." in version:
        torch.manual_seed(0)
        make(target, Written, {"x": torch.randn(3, 4), "seen": torch.randn(3, 4)}, ["x", "seen"])
    else:
        ids = torch.arange(12).reshape(3, 4) % 11
        make(target, Fixture, {"ids": ids, "scale": torch.tensor(0.5)}, ["ids"])


if __name__ == "__main__":
    main(sys.argv[1])
