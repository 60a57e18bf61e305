"""ATen operators that are composites: what their declarations say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from ingot.aten_composites import aten_composite
from ingot.composite import parse_composite_decl

IMAGE = torch.rand(2, 4, 6, 6)
POOL = ["input", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad", "divisor_override"]
NORM = ["input", "gamma", "beta"]
aten = torch.ops.aten

CASES: list[tuple[Callable[[torch.Tensor], Any], str, list[str], dict[str, Any]]] = [
    (
        lambda x: aten._native_batch_norm_legit_no_training(x, None, None, torch.zeros(4), torch.ones(4), 0.1, 1e-3)[0],
        "batch_norm",
        [*NORM, "mean", "variance"],
        {"eps": 1e-3},
    ),
    (
        lambda x: aten.native_group_norm(x, torch.ones(4), None, 2, 4, 36, 2, 1e-5)[0],
        "group_norm",
        ["input", "weight", "bias"],
        {"num_groups": 2, "num_channels": 4, "eps": 1e-5},
    ),
    (lambda x: F.layer_norm(x, (6, 6), eps=1e-6), "layer_norm", NORM, {"eps": 1e-6, "axes": [2, 3]}),
    (
        lambda x: aten.native_layer_norm(x, [6], torch.ones(6), None, 1e-5)[0],
        "layer_norm",
        NORM,
        {"eps": 1e-5, "axes": [3]},
    ),
    (lambda x: F.instance_norm(x, eps=1e-4), "instance_norm", NORM, {"eps": 1e-4}),
    (F.hardsigmoid, "hard_sigmoid", ["input"], {}),
    (lambda x: aten._log_softmax(x, -1, False), "log_softmax", ["input"], {"axis": 3}),
    (lambda x: F.pixel_shuffle(x, 2), "pixel_shuffle", ["input"], {"upscale_factor": 2}),
    (
        lambda x: torch.linalg.vector_norm(x, 3, (-1, 0), keepdim=True),
        "linalg_vector_norm",
        ["input"],
        {"ord": 3.0, "keep_dim": True, "axes": [3, 0]},
    ),
    (
        lambda x: torch.linalg.vector_norm(x),
        "linalg_vector_norm",
        ["input"],
        {"ord": 2.0, "keep_dim": False, "axes": [0, 1, 2, 3]},
    ),
    (lambda x: F.avg_pool2d(x, 2, ceil_mode=True), "avg_pool_2d", POOL, {}),
    (lambda x: F.avg_pool3d(x, 2), "avg_pool_3d", POOL, {}),
    (
        lambda x: F.scaled_dot_product_attention(x, x, x),
        "scaled_dot_product_attention",
        ["query", "key", "value"],
        {"is_causal": False, "window_size": 0},
    ),
    (
        lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True, scale=0.0),
        "scaled_dot_product_attention",
        ["query", "key", "value", "attn_mask"],
        {"is_causal": False, "window_size": 0, "scale": 0.0},
    ),
]


class Lambda(torch.nn.Module):
    def __init__(self, run: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self.run = run

    def forward(self, x: torch.Tensor) -> Any:
        return self.run(x)


def composites(run: Callable[[torch.Tensor], Any]) -> list[Any]:
    program = torch.export.export(Lambda(run), (IMAGE,))
    return [found for node in program.graph.nodes if (found := aten_composite(node)) is not None]


@pytest.mark.parametrize(("run", "name", "inputs", "attributes"), CASES)
def test_declarations(run: Callable[..., Any], name: str, inputs: list[str], attributes: dict[str, Any]) -> None:
    (found,) = composites(run)
    assert parse_composite_decl(str(found.declaration)) == (
        name,
        {"input_names": inputs, "op_attrs": attributes | {"version": 1}, "output_names": ["output"]},
    )
    assert list(found.arguments) == inputs


def test_arguments_are_named_as_the_operator_names_them() -> None:
    (found,) = composites(lambda x: F.instance_norm(x))
    assert found.arguments == {"input": "input", "gamma": "weight", "beta": "bias"}


def test_what_is_no_composite() -> None:
    mean, variance = torch.zeros(4), torch.ones(4)
    assert composites(lambda x: F.instance_norm(x, mean, variance, use_input_stats=False)) == []
    assert composites(lambda x: x + x.shape[0]) == []
