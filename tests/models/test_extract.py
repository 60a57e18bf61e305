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


class FromIds(torch.nn.Module):
    """Makes its causal mask itself, with torch.vmap, and has a buffer that no checkpoint holds."""

    def __init__(self) -> None:
        super().__init__()
        self.model = zoo.hf.LlamaForCausalLM(zoo.hf.LlamaConfig(vocab_size=100, use_cache=False, **zoo.narrow()))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.model(ids, use_cache=False).logits


def test_decoder_from_ids_only() -> None:
    with torch.device("meta"):
        on_meta = FromIds().eval()
    with pytest.warns(UserWarning, match=r"Skipping 1 meta-device constant.*inv_freq"):
        ir = ingot.extract_ir(on_meta, (torch.zeros(1, 8, dtype=torch.int64, device="meta"),))
    real, ids = FromIds().eval(), torch.randint(0, 100, (1, 8))
    is_valid, report = ingot.verify_ir_with_state_dict(ir, real.state_dict(), real, (ids,))
    assert is_valid, str(report)
