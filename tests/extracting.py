"""What the tests of the extractor share: extract, save, load, execute, compare with eager."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ingot
import torch
from support import assert_close, tensors_of


class Call(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: torch.Tensor) -> Any:
        return self.function(*args)


def through_file(ir: ingot.IR, folder: Path) -> ingot.IR:
    ingot.save_ir(ir, folder / "graph.json")
    return ingot.load_ir(folder / "graph.json")


def run(ir: ingot.IR, args: Any, weights: Any = None, **options: Any) -> tuple[torch.Tensor, ...]:
    """Executes natively: a graph that only PyTorch could run fails the test."""
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="PyTorch ran the graph")
        return ingot.execute_ir(ir, args, weights={} if weights is None else weights, **options)


def check(module: torch.nn.Module | Callable[..., Any], *args: Any, folder: Path, tolerance: float = 1e-5) -> ingot.IR:
    """The graph of a module or function, saved and loaded, gives what eager gives."""
    if not isinstance(module, torch.nn.Module):
        module = Call(module)
    ir = through_file(ingot.extract_ir(module, args, strict=False), folder)
    with torch.no_grad():
        expected = tensors_of(module(*[arg.clone() if isinstance(arg, torch.Tensor) else arg for arg in args]))
    actual = run(ir, args, module.state_dict())
    assert len(actual) == len(expected)
    for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
        assert_close(left, right, tolerance, f"output {index}")
    return ir
