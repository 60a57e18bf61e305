"""Every model family: extracted on the meta device, saved, loaded, run with weights from safetensors, compared."""

from __future__ import annotations

import copy
import warnings
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from models import zoo
from safetensors.torch import save_file


def extract(module: torch.nn.Module, args: tuple[torch.Tensor, ...], dynamic: bool) -> ingot.IR:
    shapes = [{0: torch.export.Dim.AUTO} for _ in args] if dynamic else None
    wrapped: Any = tuple(shapes) if shapes is not None else None
    on_meta = copy.deepcopy(module).to("meta")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # constants without values: the model has them
        return ingot.extract_ir(on_meta, tuple(arg.to("meta") for arg in args), dynamic_shapes=wrapped)


def other_batch(name: str, batch: int) -> tuple[torch.Tensor, ...]:
    return zoo.FAMILIES[name](batch)[1]


@pytest.mark.parametrize("dynamic", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", zoo.FAMILIES)
def test_family(name: str, dynamic: bool, tmp_path: Path) -> None:
    module, args = zoo.FAMILIES[name](2)
    ingot.save_ir(extract(module, args, dynamic), tmp_path / "graph.json")
    ir = ingot.load_ir(tmp_path / "graph.json")
    state = {key: tensor.clone() for key, tensor in module.state_dict().items()}
    save_file(state, tmp_path / "w.safetensors")
    for given in (args, other_batch(name, 3)) if dynamic else (args,):
        with warnings.catch_warnings():
            warnings.filterwarnings("error", message="PyTorch ran the graph")
            is_valid, report = ingot.verify_ir(ir, tmp_path / "w.safetensors", module, given, rtol=1e-4, atol=1e-4)
        assert is_valid, str(report)
