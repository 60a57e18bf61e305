"""Every model through the native program: export, save, `ingot convert`, `ingot run`, compare with eager."""

from __future__ import annotations

import functools
import itertools
import re
import warnings
from pathlib import Path

import pytest
import torch
from models import zoo
from safetensors.torch import load_file, save_file
from support import assert_close, export, ingot, ingot_json, refused, save_pt2, tensors_of

# Members of EXTRA that use operators without a lowering: all of them must be in one report, with their Python lines.
UNSUPPORTED: dict[str, list[str]] = {}

PYTHON_LINE = re.compile(r"\.py:\d+")


@functools.lru_cache(maxsize=2)
def exported(name: str, batch: int, size: zoo.Size) -> tuple[torch.export.ExportedProgram, list[torch.Tensor]]:
    """The program and what eager gives. Forms of one model follow each other, so a small cache is enough."""
    module, args = (zoo.FAMILIES | zoo.EXTRA)[name](batch, size)
    with torch.no_grad():
        expected = tensors_of(module(*args))
    return export(module, args), expected


def decompose(program: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return program.run_decompositions()
        except ValueError as error:
            # The strides of PyTorch's decomposed attention do not fit the views that GPT-2 was exported with.
            assert "Cannot view a tensor" in str(error), error
            table = torch.export.default_decompositions()
            table.pop(torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default)
            return program.run_decompositions(table)


def convert(program: torch.export.ExportedProgram, folder: Path) -> Path:
    pt2 = save_pt2(program, folder / "model.pt2")
    ingot("convert", pt2, "-o", folder / "model.ingot")
    pt2.unlink()  # the asset must stand alone
    return folder / "model.ingot"


def run(asset: Path, args: tuple[torch.Tensor, ...], folder: Path) -> list[torch.Tensor]:
    entry = ingot_json("show", asset)["entry_points"][0]
    inputs, outputs = folder / "in.safetensors", folder / "out.safetensors"
    save_file({port["name"]: tensor for port, tensor in zip(entry["inputs"], args, strict=True)}, inputs)
    ingot("run", asset, "--inputs", inputs, "--outputs", outputs)
    results = load_file(outputs)
    return [results[port["name"]] for port in entry["outputs"]]


def check(name: str, batch: int, size: zoo.Size, decomposed: bool, folder: Path) -> None:
    program, expected = exported(name, batch, size)
    assert program.example_inputs is not None
    args = program.example_inputs[0]
    actual = run(convert(decompose(program) if decomposed else program, folder), args, folder)
    for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
        assert_close(left, right, what=f"{name} output {index}")


WAYS = list(itertools.product(zoo.FAMILIES, (1, 3), (False, True)))


@pytest.mark.parametrize(
    ("family", "batch", "decomposed"),
    WAYS,
    ids=[
        f"{family}-batch{batch}-{'decomposed' if decomposed else 'as_exported'}" for family, batch, decomposed in WAYS
    ],
)
def test_family(family: str, batch: int, decomposed: bool, full: bool, tmp_path: Path) -> None:
    check(family, batch, "full" if full else "small", decomposed, tmp_path)


@pytest.mark.parametrize("name", [name for name in zoo.EXTRA if name not in UNSUPPORTED])
def test_relative(name: str, tmp_path: Path) -> None:
    check(name, 1, "small", False, tmp_path)


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_operators_are_all_reported(name: str, tmp_path: Path) -> None:
    program, _ = exported(name, 1, "small")
    report = refused("convert", save_pt2(program, tmp_path / "model.pt2"), "-o", tmp_path / "model.ingot")
    for operator in UNSUPPORTED[name]:
        lines = [line for line in report.splitlines() if operator in line]
        assert lines, f"{operator} is not in the report:\n{report}"
        assert any(PYTHON_LINE.search(line) for line in report.splitlines()), f"no Python line:\n{report}"
    assert not (tmp_path / "model.ingot").exists()
