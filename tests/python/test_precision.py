"""bfloat16 and int8 on request, and models of bfloat16."""

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


def cpu_has(flag: str) -> bool:
    return flag in Path("/proc/cpuinfo").read_text().split()


# Eight bits of each operand of bfloat16: 2^-9 for each of two, through four layers. Of integers, half a step of 127 of
# the largest element, which is about three times as large as the usual one.
@pytest.mark.parametrize(
    ("precision", "flag", "most"), [("medium", "avx512_bf16", 2e-2), ("int8", "avx512_vnni", 4e-2)]
)
def test_operands_are_rounded_on_request_only(tmp_path: Path, precision: str, flag: str, most: float) -> None:
    torch.manual_seed(0)
    model, x = Model().eval(), torch.randn(2, 16, 12, 10)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    wanted = model(x)
    highest = torch.as_tensor(ingot.load(path)(x))
    rounded = torch.as_tensor(ingot.load(path, matmul_precision=precision)(x))
    assert_close(highest, wanted)
    error = ((rounded - wanted).norm() / wanted.norm()).item()
    assert error < most
    assert (error > 1e-5) == cpu_has(flag)
    # Another program with the same weights, and the one before, are as they were.
    assert torch.equal(torch.as_tensor(ingot.load(path)(x)), highest)


def test_the_command_line_has_it(tmp_path: Path) -> None:
    torch.manual_seed(1)
    model, x = Model().eval(), torch.randn(1, 16, 12, 10)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    save_file({"x": x.numpy()}, tmp_path / "x.safetensors")
    results = []
    for precision in ("highest", "medium", "int8"):
        out = tmp_path / f"{precision}.safetensors"
        ingot_tool(
            "run", path, "--inputs", tmp_path / "x.safetensors", "--outputs", out, "--matmul-precision", precision
        )
        (result,) = load_file(out).values()
        results.append(torch.as_tensor(result))
    assert_close(results[0], model(x))
    assert_close(results[1], results[0], tolerance=2e-2)
    assert_close(results[2], results[0], tolerance=4e-2)


def test_integers_of_an_image_do_not_depend_on_others(tmp_path: Path) -> None:
    torch.manual_seed(3)
    model, x = Model().eval(), torch.randn(2, 16, 12, 10)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,), dynamic_shapes={"x": {0: torch.export.Dim("n", max=8)}})).save_asset(path)
    program = ingot.load(path, matmul_precision="int8")
    alone = torch.as_tensor(program(x[:1].contiguous()))
    beside = torch.as_tensor(program(torch.cat([x[:1], 1000 * x[1:]])))
    assert torch.equal(beside[:1], alone)


def test_other_words_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.ingot"
    ingot.convert(export(torch.nn.Linear(3, 2), (torch.ones(1, 3),))).save_asset(path)
    with pytest.raises(ingot.UsageError, match="matmul_precision is 'highest', 'medium' or 'int8'"):
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


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_only_products_of_float32_are_rounded(tmp_path: Path, dtype: torch.dtype) -> None:
    torch.manual_seed(4)
    model = torch.nn.Sequential(torch.nn.Linear(64, 48), torch.nn.GELU(), torch.nn.Linear(48, 33)).to(dtype)
    x = torch.randn(5, 64, dtype=dtype)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    highest = torch.as_tensor(ingot.load(path)(x))
    for precision in ("medium", "int8"):
        assert torch.equal(torch.as_tensor(ingot.load(path, matmul_precision=precision)(x)), highest)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_convolutions_of_half_types(tmp_path: Path, dtype: torch.dtype) -> None:
    """They are computed in float32, and count as such."""
    torch.manual_seed(5)
    model, x = Model().to(dtype).eval(), torch.randn(1, 16, 12, 10, dtype=dtype)
    path = tmp_path / "a.ingot"
    ingot.convert(export(model, (x,))).save_asset(path)
    wanted = model(x).float()
    for precision, most in (("highest", 2e-2), ("medium", 2e-2), ("int8", 4e-2)):
        result = torch.as_tensor(ingot.load(path, matmul_precision=precision)(x)).float()
        assert (result - wanted).norm() / wanted.norm() < most
