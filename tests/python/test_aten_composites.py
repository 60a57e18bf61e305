"""ATen operators that are composites by themselves: functions with declarations, where they are asked for."""

from __future__ import annotations

import re
from typing import Any

import ingot
import pytest
import torch
from ingot.composite import parse_composite_decl
from torch import Tensor
from torch.nn import functional


class Call(torch.nn.Module):
    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function

    def forward(self, *tensors: Tensor) -> Any:
        return self.function(*tensors)


def converted(model: torch.nn.Module, *args: Tensor, decompositions: Any = None) -> Any:
    program = torch.export.export(model.eval(), args)
    if decompositions is not None:
        program = program.run_decompositions(decompositions)
    return ingot.TorchConverter(composites=True).add_exported_program(program).to_ingot()


def declarations(program: Any) -> dict[str, dict[str, Any]]:
    """By name, of every function that declares a composite."""
    found = re.findall(r"composite_decl = \{(\w+) = (\{.*?op_attrs = \{.*?\}.*?\})\}", str(program))
    return {
        name: parse_composite_decl(f'#ingot.composite_declaration<"{name}" = {fields}>')[1] for name, fields in found
    }


def image(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


CASES = {
    "layer_norm": (
        lambda x: functional.layer_norm(x, (3, 4), eps=1e-3),
        (image(2, 3, 4),),
        {"eps": 1e-3, "axes": [1, 2]},
    ),
    "group_norm": (lambda x: functional.group_norm(x, 2), (image(2, 4, 5),), {"num_groups": 2, "eps": 1e-5}),
    "instance_norm": (functional.instance_norm, (image(2, 4, 5),), {"eps": 1e-5}),
    "hard_sigmoid": (functional.hardsigmoid, (image(5),), {}),
    "log_softmax": (lambda x: x.log_softmax(-1), (image(2, 5),), {"axis": 1}),
    "pixel_shuffle": (lambda x: functional.pixel_shuffle(x, 2), (image(1, 8, 3, 3),), {"upscale_factor": 2}),
    "linalg_vector_norm": (
        lambda x: torch.linalg.vector_norm(x, 3, dim=-1, keepdim=True),
        (image(2, 5),),
        {"ord": 3.0, "keep_dim": True, "axes": [1]},
    ),
    "avg_pool_2d": (
        lambda x: functional.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False),
        (image(1, 2, 8, 8),),
        {"kernel_size": [3, 3], "ceil_mode": True, "count_include_pad": False},
    ),
    "scaled_dot_product_attention": (
        lambda q, k: functional.scaled_dot_product_attention(q, k, k, is_causal=True, scale=0.5),
        (image(1, 2, 4, 8), image(1, 2, 4, 8)),
        {"is_causal": True, "scale": 0.5},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_declared_and_right(name: str) -> None:
    function, args, attributes = CASES[name]
    model = Call(function)
    program = converted(model, *args)
    declared = declarations(program)[name]
    found = declared["op_attrs"]
    assert found["version"] == 1
    for key, value in attributes.items():
        assert found[key] == pytest.approx(value), key
    torch.testing.assert_close(program(*args), model(*args))


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 4, 3)
        self.norm = torch.nn.BatchNorm2d(4)
        torch.nn.init.uniform_(self.norm.running_mean)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x)).relu()


def test_a_batch_norm_is_declared_and_still_folded() -> None:
    model, x = Block(), image(1, 3, 8, 8)
    program = converted(model, x, decompositions={})
    declared = declarations(program)["batch_norm"]
    assert declared["input_names"] == ["input", "gamma", "beta", "mean", "variance"]
    torch.testing.assert_close(program(x), model(x), rtol=1e-5, atol=1e-5)


def test_equal_operators_are_one_function() -> None:
    x = image(2, 8)
    program = converted(Call(lambda x: functional.layer_norm(functional.layer_norm(x, (8,)), (8,))), x)
    assert str(program).count("composite_decl") == 1
    assert len(re.findall(r"call @layer_norm", str(program))) == 2


def test_only_where_asked_for() -> None:
    program = torch.export.export(Call(functional.hardsigmoid), (image(3),))
    assert "composite_decl" not in str(ingot.TorchConverter().add_exported_program(program).to_ingot())
    assert "composite_decl" not in str(ingot.convert(program))
