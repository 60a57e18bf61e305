"""Wrong inputs to `ingot run`: the message names the input and what it should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from support import export, ingot, ingot_json, refused, save_pt2


class Sum(torch.nn.Module):
    def forward(self, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
        return left + right.to(torch.float32)


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    rows = torch.export.Dim("rows", min=2, max=8)
    program = export(
        Sum(),
        (torch.randn(4, 3), torch.ones(4, 3, dtype=torch.long)),
        dynamic_shapes={"left": {0: rows}, "right": {0: rows}},
    )
    ingot("convert", save_pt2(program, folder / "sum.pt2"), "-o", folder / "sum.ingot")
    return folder / "sum.ingot"


def run_with(asset: Path, folder: Path, **tensors: torch.Tensor) -> str:
    save_file(tensors, folder / "in.safetensors")
    outputs = folder / "out.safetensors"
    message = refused("run", asset, "--inputs", folder / "in.safetensors", "--outputs", outputs)
    assert not outputs.exists()
    return message


LEFT, RIGHT = torch.ones(4, 3), torch.ones(4, 3, dtype=torch.long)


def test_right_inputs(asset: Path, tmp_path: Path) -> None:
    save_file({"left": LEFT, "right": RIGHT}, tmp_path / "in.safetensors")
    report = ingot_json("run", asset, "--inputs", tmp_path / "in.safetensors")
    (output,) = report["outputs"]
    assert (output["shape"], output["dtype"]) == ([4, 3], "float32")
    assert (output["min"], output["max"], output["mean"]) == (2, 2, 2)


def test_missing_input(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=LEFT)
    assert "right" in message and "missing" in message


def test_unknown_input(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=LEFT, right=RIGHT, extra=LEFT.clone())
    assert "extra" in message and "left, right" in message


def test_every_wrong_name_is_reported(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, a=LEFT, b=LEFT.clone())
    assert all(f"'{name}'" in message for name in ("left", "right", "a", "b"))


def test_wrong_dtype(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=LEFT.double(), right=RIGHT)
    assert "left" in message and "float64" in message and "float32" in message


def test_wrong_rank(asset: Path, tmp_path: Path) -> None:
    assert "left" in run_with(asset, tmp_path, left=torch.ones(4), right=RIGHT)


def test_wrong_static_size(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=torch.ones(4, 5), right=RIGHT)
    assert "left" in message and "5" in message and "3" in message


def test_size_out_of_range(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=torch.ones(9, 3), right=torch.ones(9, 3, dtype=torch.long))
    assert "9" in message and "8" in message


def test_sizes_that_must_agree(asset: Path, tmp_path: Path) -> None:
    message = run_with(asset, tmp_path, left=torch.ones(4, 3), right=torch.ones(5, 3, dtype=torch.long))
    assert "right" in message or "left" in message


def test_npy_inputs(asset: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "left.npy", np.asfortranarray(LEFT.numpy()))
    np.save(tmp_path / "right.npy", RIGHT.numpy())
    inputs = [f"--input=left={tmp_path / 'left.npy'}", f"--input=right={tmp_path / 'right.npy'}"]
    assert ingot_json("run", asset, *inputs)["outputs"][0]["mean"] == 2
    assert "NAME=FILE" in refused("run", asset, "--input", "left")
    assert "twice" in refused("run", asset, *inputs, inputs[0])


def test_random_inputs_are_the_same_for_a_seed(asset: Path, tmp_path: Path) -> None:
    def run(seed: int) -> bytes:
        ingot("run", asset, "--random-seed", seed, "--outputs", tmp_path / f"{seed}.safetensors")
        return (tmp_path / f"{seed}.safetensors").read_bytes()

    assert run(1) == run(1)
    assert run(1) != run(2)


def test_unknown_entry_point(asset: Path) -> None:
    assert "nothing" in refused("run", asset, "--random-seed", "1", "--entry", "nothing")


class OneHot(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.one_hot(x, 3)


@pytest.mark.parametrize(("wrong", "message"), [(3, "smaller than num_classes"), (-1, "not be negative")])
def test_classes_that_one_hot_does_not_have(wrong: int, message: str, tmp_path: Path) -> None:
    program = save_pt2(export(OneHot(), (torch.tensor([0, 2]),)), tmp_path / "m.pt2")
    ingot("convert", program, "-o", tmp_path / "m.ingot")
    assert message in run_with(tmp_path / "m.ingot", tmp_path, x=torch.tensor([0, wrong]))
