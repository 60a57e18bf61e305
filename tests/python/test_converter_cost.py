"""What a conversion in Python costs: no copies of weights. (Times are printed by bench/convert.py.)"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import ingot
import pytest
import torch
from ingot._serialize import serialize
from support import export
from torch._export.serde.serialize import serialize as torch_serialize

BENCH = Path(__file__).parents[2] / "bench" / "convert.py"
MOST_MEGABYTES = 50


class Varied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor, scale: int, rest: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        self.total.add_(self.linear(x).sum(0))
        positive = torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))
        return {"y": positive * scale + torch.tensor([1.0, 2, 3, 4]), **rest}


def test_programs_are_written_as_torch_does() -> None:
    rows = torch.export.Dim("rows", min=2, max=64)
    program = export(
        Varied(),
        (torch.randn(3, 4), 2, {"z": torch.ones(3)}),
        dynamic_shapes={"x": {0: rows}, "scale": None, "rest": {"z": {0: rows}}},
    )
    for form in (program, program.run_decompositions()):
        expected = torch_serialize(form, serialize_state_dict=False, serialize_constants=False)
        assert serialize(form).json == expected.exported_program


def private_megabytes() -> float:
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps_rollup"), reason="needs Linux's accounts of memory")
def test_weights_are_not_copied() -> None:
    model = torch.nn.Sequential(*(torch.nn.Linear(2048, 2048) for _ in range(8))).eval()  # 128 MiB
    program = export(model, (torch.randn(1, 2048),))
    small = export(torch.nn.Linear(4, 4), (torch.randn(1, 4),))
    ingot.TorchConverter(progress=False).add_exported_program(small).to_ingot()  # loads the compiler
    before = private_megabytes()
    converted = ingot.TorchConverter(progress=False).add_exported_program(program).to_ingot()
    assert private_megabytes() - before < 20
    assert converted.entry_points


@pytest.mark.slow
def test_gpt2() -> None:
    done = subprocess.run([sys.executable, BENCH, "gpt2"], capture_output=True, text=True, check=True)
    row = next(line.split() for line in done.stdout.splitlines() if line.startswith("gpt2"))
    assert float(row[-1]) < MOST_MEGABYTES, done.stdout
