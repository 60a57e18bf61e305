"""What tests of several folders share: the `ingot` program, and comparing with eager."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

INGOT = Path(os.environ.get("INGOT_PROGRAM") or Path(sys.executable).with_name("ingot"))
TOLERANCE = 1e-4


def run_ingot(*arguments: object, timeout: float = 600) -> subprocess.CompletedProcess[str]:
    command = [str(INGOT), *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)


def ingot(*arguments: object) -> str:
    """Runs the program, which must succeed; what it printed."""
    done = run_ingot(*arguments)
    assert done.returncode == 0, f"ingot {' '.join(map(str, arguments))}\n{done.stdout}{done.stderr}"
    return done.stdout


def ingot_json(*arguments: object) -> dict[str, Any]:
    return json.loads(ingot(*arguments, "--json"))


def refused(*arguments: object) -> str:
    """Runs the program, which must fail properly: code 1 and one error on stderr. What it said."""
    done = run_ingot(*arguments)
    assert done.returncode == 1, f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    assert done.stderr.startswith("error: "), done.stderr
    assert done.stderr.count("error:") == 1, done.stderr
    return done.stderr


def export(module: torch.nn.Module, args: tuple[Any, ...], **options: Any) -> torch.export.ExportedProgram:
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.export.export(module, args, **options)


def save_pt2(program: torch.export.ExportedProgram, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.export.save(program, path)
    return path


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def assert_close(actual: torch.Tensor, expected: torch.Tensor, tolerance: float = TOLERANCE, what: str = "") -> None:
    """Equal to `tolerance` of the largest value; integers and bools exactly; NaN and infinities in the same places."""
    assert actual.dtype == expected.dtype, f"{what}: {actual.dtype} instead of {expected.dtype}"
    assert actual.shape == expected.shape, f"{what}: {tuple(actual.shape)} instead of {tuple(expected.shape)}"
    if not (expected.is_floating_point() or expected.is_complex()):
        assert torch.equal(actual, expected), f"{what}: values differ"
        return
    wide = torch.complex128 if expected.is_complex() else torch.float64
    left, right = actual.detach().to(wide), expected.detach().to(wide)
    finite = torch.isfinite(right)
    assert torch.equal(torch.isfinite(left), finite), f"{what}: NaN or infinity in other places"
    if not expected.is_complex():
        assert torch.equal(left[~finite].nan_to_num(), right[~finite].nan_to_num()), f"{what}: other infinities"
    if not finite.any():
        return
    left, right = left[finite], right[finite]
    largest = right.abs().max().item()
    difference = (left - right).abs().max().item()
    assert difference <= tolerance * max(largest, 1e-12), f"{what}: off by {difference:.3g} of {largest:.3g}"
