"""Lowerings as they are written for the original, over its helpers and builders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ingot.compat
import numpy as np
import pytest
import torch
from coreai._compiler.dialects import coreai
from coreai_torch._utils import (
    build_shape_tensor,
    get_dim_size_int32,
    get_operand,
    get_operands,
    get_output_element_type_from_node,
    get_promoted_type,
    get_result_types,
    get_tensor_type,
    print_graph,
    to_rank1_int32,
    to_uint32_perm,
)
from support import export
from torch import Tensor

library = torch.library.Library("compat_lowering", "FRAGMENT")


def define(schema: str, function: Any) -> Any:
    name = schema.partition("(")[0]
    library.define(schema)
    library.impl(name, function, "CompositeExplicitAutograd")
    torch.library.register_fake(f"compat_lowering::{name}", function, lib=library)
    return getattr(torch.ops.compat_lowering, name)


softclip = define("softclip(Tensor x, float limit) -> Tensor", lambda x, limit: limit * torch.tanh(x / limit))
fold = define("fold(Tensor x, SymInt[] shape) -> Tensor", lambda x, shape: x.reshape(shape).clone())
grow = define("grow(Tensor x, SymInt n) -> Tensor", lambda x, n: x.expand(n, *x.shape).clone())
both = define("both(Tensor x, Tensor y) -> (Tensor, Tensor)", lambda x, y: (x + y, x - y))
pooled = define("pooled(Tensor x) -> Tensor", lambda x: torch.nn.functional.avg_pool2d(x, 2))


def lower_softclip(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
    x = get_operand(values_map, node, 0, loc)
    limit = coreai.constant(node.args[1], dtype=x.type.element_type)
    scaled = coreai.broadcasting_divide(x, limit, loc=loc)
    return coreai.broadcasting_mul(coreai.tanh(scaled, loc=loc), limit, loc=loc)


def lower_fold(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
    x, shape = get_operands(values_map, node, [0, 1], loc)
    assert str(shape.type) == "tensor<2xi32>"
    return coreai.reshape(x, shape)


def lower_grow(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
    x, count = get_operands(values_map, node, [0, 1])
    assert count.type.shape == [1]
    shape = coreai.concat(0, [to_rank1_int32(count), get_dim_size_int32(x, 0), get_dim_size_int32(x, -1)])
    return coreai.broadcast_to(coreai.expand_dims(x, [0]), shape)


def lower_both(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
    x, y = get_operands(values_map, node, [0, 1], loc)
    assert get_output_element_type_from_node(node, 0) == x.type.element_type
    assert [str(kind) for kind in get_result_types(node)] == [str(x.type)] * 2
    return coreai.broadcasting_add(x, y), coreai.broadcasting_sub(x, y)


def lower_pooled(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
    x = get_operand(values_map, node, 0, loc)
    assert x.type.shape[2] == 6
    window = np.array([2, 2], dtype=np.uint32)
    ones = coreai.constant([1, 1], dtype=np.uint32)
    total = coreai.sumpool2d(x, kernel_size=window, strides=window, dilation=ones)
    return coreai.broadcasting_divide(total, coreai.cast(4.0, x.type.element_type))


LOWERINGS = {
    "compat_lowering::softclip.default": lower_softclip,
    "compat_lowering::fold": lower_fold,
    "compat_lowering::grow": lower_grow,
    "compat_lowering::both": lower_both,
    "compat_lowering::pooled": lower_pooled,
}


class Calls(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: Tensor) -> Any:
        return self.function(x)


MODELS = {
    "softclip": lambda x: softclip(x, 1.5) * 2,
    "fold": lambda x: fold(x, [x.shape[0] // 2, 8]),
    "grow": lambda x: grow(x, x.shape[0] + 1),
    "both": lambda x: both(x, x * 2),
}


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_lowerings_with_dynamic_sizes(name: str, dtype: torch.dtype) -> None:
    model = Calls(MODELS[name])
    rows = 2 * torch.export.Dim("half", min=2, max=20)
    given = torch.randn(6, 4).to(dtype)
    program = ingot.convert(export(model, (given,), dynamic_shapes=({0: rows},)), lowerings=LOWERINGS)
    for count in (6, 10):
        x = torch.randn(count, 4).to(dtype)
        torch.testing.assert_close(program(x), model(x))


def test_windows() -> None:
    x = torch.randn(1, 3, 6, 8)
    torch.testing.assert_close(ingot.convert(Calls(pooled), (x,), lowerings=LOWERINGS)(x), pooled(x))


@pytest.mark.parametrize("is_known", [True, False])
def test_sizes_are_not_read_from_tensors(tmp_path: Path, is_known: bool) -> None:
    """Shapes that come from sizes stay symbolic; others have to wait for data."""

    def lower(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
        x = get_operand(values_map, node, 0)
        shape = build_shape_tensor(values_map, node.args[1])
        halves = coreai.slice(coreai.cast(shape, np.int32), [0], [1], [1])
        halves = coreai.broadcasting_sub(coreai.broadcasting_mul(halves, 2), halves)
        if not is_known:
            halves = coreai.cast(coreai.abs(coreai.cast(halves, np.float32)), np.int32)
        return coreai.reshape(x, coreai.concat(0, [halves, coreai.constant([8])]))

    rows = 2 * torch.export.Dim("half", min=2, max=20)
    program = export(Calls(MODELS["fold"]), (torch.randn(6, 4),), dynamic_shapes=({0: rows},))
    x = torch.randn(8, 4)
    converted = ingot.convert(program, lowerings={"compat_lowering::fold": lower})
    torch.testing.assert_close(converted(x), x.reshape(4, 8))
    converted.save_asset(tmp_path / "m.aimodel")
    used = json.loads((tmp_path / "m.aimodel" / "manifest.json").read_text())["ops"]
    assert ("item" in used) is not is_known


def test_plain_helpers(capsys: pytest.CaptureFixture[str]) -> None:
    assert get_promoted_type("int32", "float16").name == "float16"
    assert str(get_tensor_type(torch.zeros(2, 3))) == "tensor<2x3xf32>"
    assert to_uint32_perm([0, -1, 1], 3).tolist() == [0, 2, 1]
    print_graph(export(Calls(torch.relu), (torch.zeros(2, 3),)))
    assert "relu" in capsys.readouterr().out
