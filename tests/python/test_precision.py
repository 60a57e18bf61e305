"""bfloat16 on request, and in models of bfloat16."""

from __future__ import annotations

from pathlib import Path

import ingot
import pytest
import torch
from safetensors.numpy import load_file, save_file
from support import assert_close, export
from support import ingot as ingot_tool


class Model(torch.nn.Module):
    """A convolution in each form, and products with an odd depth."""

    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(16, 64, 3, 2, 1)
        self.second = torch.nn.Conv2d(64, 48, 1)
        self.third = torch.nn.Linear(48, 65)
        self.last = torch.nn.Linear(65, 33, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.second(torch.relu(self.first(x))))
        return self.last(torch.nn.functional.gelu(self.third(x.flatten(2).mT)))


def has_bfloat16() -> bool:
    return "avx512_bf16" in Path("/proc/cpuinfo").read_text().split()


def test_medium_precision_rounds_operands_only(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(2, 16, 12, 10)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    wanted = model(x)
    highest = torch.as_tensor(ingot.load(path)(x))
    medium = torch.as_tensor(ingot.load(path, matmul_precision="medium")(x))
    assert_close(highest, wanted)
    error = ((medium - wanted).norm() / wanted.norm()).item()
    # Eight bits of each operand: 2^-9 for each of two, through four layers.
    assert error < 2e-2
    assert (error > 1e-5) == has_bfloat16()
    # Another program with the same weights, and the one before, are as they were.
    assert torch.equal(torch.as_tensor(ingot.load(path)(x)), highest)


def test_the_command_line_has_it(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model, x = Model().eval(), torch.randn(1, 16, 12, 10)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    save_file({"x": x.numpy()}, tmp_path / "x.safetensors")
    results = []
    for precision in ("highest", "medium"):
        out = tmp_path / f"{precision}.safetensors"
        ingot_tool(
            "run", path, "--inputs", tmp_path / "x.safetensors", "--outputs", out, "--matmul-precision", precision
        )
        (result,) = load_file(out).values()
        results.append(torch.as_tensor(result))
    assert_close(results[0], model(x))
    assert_close(results[1], results[0], tolerance=2e-2)


def test_other_words_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ingot"
    ingot.convert(export(torch.nn.Linear(3, 2), (torch.ones(1, 3),))).save_asset(path)
    with pytest.raises(ingot.UsageError, match="matmul_precision is 'highest' or 'medium'"):
        ingot.load(path, matmul_precision="low")


@pytest.mark.parametrize("rows", [1, 3, 40])
def test_models_of_bfloat16(rows: int) -> None:
    torch.manual_seed(2)
    model = torch.nn.Sequential(torch.nn.Linear(37, 70), torch.nn.ReLU(), torch.nn.Linear(70, 5)).bfloat16()
    x = torch.randn(rows, 37, dtype=torch.bfloat16)
    got = ingot.convert(export(model, (x,)))(x)
    exact = model.float()(x.float())
    model.bfloat16()
    mine, theirs = (got.float() - exact).abs().max(), (model(x).float() - exact).abs().max()
    assert got.dtype == torch.bfloat16 and mine <= 2 * theirs + 1e-3
