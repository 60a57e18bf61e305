"""Whole programs as they are written for the original: convert, save, load, run, with state and custom lowerings."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import ingot.compat  # noqa: F401 (makes the names below importable)
import numpy as np
import pytest
import torch
from coreai import authoring
from coreai._compiler.dialects import coreai
from coreai._compiler.ir import Value
from coreai.authoring import AIModelAsset, AIProgram
from coreai.runtime import AIModel, NDArray
from coreai_torch import TorchConverter, get_decomp_table
from coreai_torch._utils import get_operand
from torch import Tensor


class Tiny(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.proj = torch.nn.Linear(6, 2)

    def forward(self, feats: Tensor) -> Tensor:
        return torch.tanh(self.proj(feats))


def export(model: torch.nn.Module, *args: Any, **options: Any) -> torch.export.ExportedProgram:
    return torch.export.export(model.eval(), args, **options).run_decompositions(get_decomp_table())


def run(asset: AIModelAsset, inputs: dict[str, Any], state: dict[str, Any] | None = None, name: str = "main") -> Any:
    async def main() -> dict[str, Any]:
        async with asset.executable() as model:
            function = model.load_function(name)
            out = await function(inputs, state) if state else await function(inputs)
            return {key: value.numpy().copy() for key, value in out.items()}

    return asyncio.run(main())


def test_names_by_position(tmp_path: Path) -> None:
    model = Tiny()
    converter = TorchConverter().add_exported_program(export(model, torch.zeros(3, 6)), ["a"], ["b"])
    program = converter.to_coreai()
    program.optimize()
    assert "@main" in str(program)
    asset = program.save_asset(Path(tmp_path / "x.aimodel"))
    assert isinstance(asset, AIModelAsset)
    x = torch.randn(3, 6)
    out = run(AIModelAsset.load(tmp_path / "x.aimodel"), {"a": NDArray(x)})
    assert list(out) == ["b"]
    np.testing.assert_allclose(out["b"], model(x).detach(), atol=1e-6)


@pytest.mark.parametrize("optimize", [True, False])
def test_default_names_and_widening(tmp_path: Path, optimize: bool) -> None:
    class Ids(torch.nn.Module):
        def forward(self, ids: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            return ids + 1, x * 2

    program = export(Ids(), torch.zeros(2, dtype=torch.int64), torch.zeros(2, dtype=torch.float64))
    names = [node.name for node in program.graph.output_node().args[0]]
    converted = TorchConverter().add_exported_program(program).to_coreai()
    if optimize:
        converted.optimize()
    asset = converted.save_asset(tmp_path / "x.aimodel")
    out = run(asset, {"ids": NDArray(np.array([1, 2], np.int32)), "x": NDArray(np.array([1, 2], np.float32))})
    assert list(out) == names
    np.testing.assert_array_equal(out[names[0]], [2, 3])
    np.testing.assert_array_equal(out[names[1]], [2, 4])


class KvCache(torch.nn.Module):
    """Two written buffers and one written argument."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(2, 4))
        self.register_buffer("index", torch.zeros(1, dtype=torch.int64))

    def forward(self, q: Tensor, c: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
        self.cache.index_copy_(0, self.index, q)
        self.index.add_(1)
        y.mul_(2)
        return q @ self.cache.t() + c, y * 3


def test_kv_cache_with_all_names(tmp_path: Path) -> None:
    program = export(KvCache(), torch.zeros(1, 4), torch.zeros(1, 2), torch.zeros(3))
    converter = TorchConverter().add_exported_program(
        program,
        input_names=["query", "context"],
        output_names=["attn_out", "scaled"],
        state_names=["kv_cache", "pos_idx", "y_state"],
    )
    asset = converter.to_coreai().save_asset(tmp_path / "x.aimodel")
    cache, position = np.zeros((2, 4), np.float32), np.zeros(1, np.int32)
    y = torch.ones(3)
    eager, eager_y = KvCache(), torch.ones(3)

    async def steps() -> None:
        async with asset.executable() as model:
            function = model.load_function("main")
            assert function.desc.input_names == ["query", "context"]
            assert function.desc.output_names == ["attn_out", "scaled"]
            assert function.desc.state_names == ["kv_cache", "pos_idx", "y_state"]
            for _ in range(2):
                q, c = torch.randn(1, 4), torch.randn(1, 2)
                state = {"kv_cache": NDArray(cache), "pos_idx": NDArray(position), "y_state": NDArray(y)}
                out = await function(inputs={"query": NDArray(q), "context": NDArray(c)}, state=state)
                attention, scaled = eager(q, c, eager_y)
                np.testing.assert_allclose(out["attn_out"].numpy(), attention, atol=1e-5)
                np.testing.assert_allclose(out["scaled"].numpy(), scaled)

    asyncio.run(steps())
    np.testing.assert_allclose(cache, eager.cache)
    assert position.tolist() == [2] and torch.equal(y, eager_y)


def test_a_lowering_of_the_users(tmp_path: Path) -> None:
    converter = TorchConverter()

    @converter.register_torch_lowering("aten::tanh.default", allow_override=True)
    def lower(values_map: dict[str, Any], node: Any, loc: Any) -> Any:
        x = get_operand(values_map, node, 0, loc)
        return coreai.broadcasting_mul(coreai.tanh(x), coreai.constant(2.0, dtype=x.type.element_type), loc=loc)

    assert callable(lower)
    model = Tiny()
    converter.add_exported_program(export(model, torch.zeros(3, 6)), output_names=["y"])
    x = torch.randn(3, 6)
    out = run(converter.to_coreai().save_asset(tmp_path / "x.aimodel"), {"feats": x})
    np.testing.assert_allclose(out["y"], 2 * model(x).detach(), atol=1e-6)


@pytest.mark.parametrize("name", ["aten::add.Tensor", "higher_order::cond", "coreai::quantize", "coreaix::quantize"])
def test_reserved_names(name: str) -> None:
    converter = TorchConverter()
    with pytest.raises(ValueError, match="already registered"):
        converter.register_torch_lowering(name)
    converter.register_torch_lowering(name, allow_override=True)(lambda values_map, node, loc: None)


def test_compressed_weights_convert(tmp_path: Path) -> None:
    from coreai_torch._compression import WeightDequantizeModule

    class Compressed(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            data = torch.randint(-8, 8, (6, 2)).to(torch.int8)
            self.weight = WeightDequantizeModule(data, torch.rand(3, 1) + 0.5, torch.ones(3, 1, dtype=torch.int8))

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.weight()

    model = Compressed()
    x = torch.randn(3, 6)
    converter = TorchConverter().add_exported_program(export(model, x), ["x"], ["y"])
    out = run(converter.to_coreai().save_asset(tmp_path / "x.aimodel"), {"x": x})
    np.testing.assert_allclose(out["y"], model(x), atol=1e-5)


def test_a_model_that_stays_open(tmp_path: Path) -> None:
    model = Tiny()
    program = TorchConverter().add_exported_program(export(model, torch.zeros(3, 6)), ["a"], ["b"]).to_coreai()
    program.save_asset(tmp_path / "x.aimodel")
    with pytest.raises(Exception, match="exist"):
        program.save_asset(tmp_path / "x.aimodel")

    async def main() -> Any:
        opened = await AIModel.load(tmp_path / "x.aimodel")
        return (await opened.load_function("main")({"a": torch.ones(3, 6)}))["b"].numpy()

    np.testing.assert_allclose(asyncio.run(main()), model(torch.ones(3, 6)).detach(), atol=1e-6)
    assert str(AIModelAsset.load(tmp_path / "x.aimodel").program)


def test_authoring(tmp_path: Path) -> None:
    module = authoring.Module.create()
    with module:

        @coreai.graph
        def scale(
            v: Annotated[Value, authoring.TensorSpec(shape=[None, 4], dtype=np.float32)],
        ) -> Annotated[Value, authoring.TensorSpec(shape=[None, 4], dtype=np.float32, name="w")]:
            return coreai.broadcasting_mul(v, coreai.constant(0.5))

    module.verify()
    asset = AIProgram(module).save_asset(tmp_path / "scale.aimodel")
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    out = run(asset, {"v": NDArray(x)}, name="scale")
    np.testing.assert_allclose(out["w"], x / 2)
