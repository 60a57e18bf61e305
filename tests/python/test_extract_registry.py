"""Functions of the user's for operators: converters, executors, groups, scopes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ingot
import pytest
import torch
from extracting import Call, run, through_file
from ingot import NodeInfo, OpNode, TensorMeta
from support import assert_close


@pytest.fixture(autouse=True)
def scope() -> Iterator[None]:
    with ingot.registered_ops():
        yield


def extract(function: Any, *args: torch.Tensor) -> ingot.IR:
    return ingot.extract_ir(Call(function), args, strict=False)


def named(name: str) -> Any:
    return lambda info: OpNode(info.name, name, info.input_metas, info.output_metas, info.attrs)


def ops(ir: ingot.IR) -> list[str]:
    return [node.op_type for node in ir.nodes]


def test_convert_and_execute(tmp_path: Any) -> None:
    @ingot.register_op("aten.gelu")
    def convert(info: NodeInfo) -> OpNode:
        assert info.fx_node is not None and info.fx_node.target is info.target
        attrs = {"tanh": info.attrs.get("approximate") == "tanh"}
        return OpNode(info.name, "vendor.gelu", info.input_metas, info.output_metas, attrs)

    @ingot.register_executor("vendor.gelu")
    def execute(inputs: list[torch.Tensor], attrs: dict[str, Any]) -> list[torch.Tensor]:
        seen.append(attrs)
        return [torch.nn.functional.gelu(inputs[0], approximate="tanh" if attrs["tanh"] else "none")]

    seen: list[dict[str, Any]] = []
    x = torch.randn(3, 4)
    gelu = torch.nn.functional.gelu
    ir = through_file(extract(lambda x: gelu(x + 1, approximate="tanh") * 2, x), tmp_path)
    assert ops(ir) == ["aten.add.Tensor", "vendor.gelu", "aten.mul.Tensor"]
    assert ir.nodes[1].source is not None
    assert_close(run(ir, (x,))[0], gelu(x + 1, approximate="tanh") * 2, 1e-6)
    assert seen == [{"tanh": True}]


def test_exact_patterns_match_one_overload() -> None:
    ingot.register_op("aten.add.Tensor")(named("one"))
    assert ingot.get_conversion_fn("aten.add.Scalar") is None
    assert ingot.get_conversion_fn("aten.add_.Tensor") is None
    assert ingot.get_conversion_fn("aten.add") is None
    ingot.register_op("aten.add")(named("every"))
    assert ops(extract(lambda x: x + x, torch.randn(2))) == ["one"]
    assert ingot.get_conversion_fn("aten.add.Scalar") is not ingot.get_conversion_fn("aten.add.Tensor")
    ingot.register_op("mylib.op")(named("other"))
    assert ingot.get_conversion_fn("mylib.op.default") is not None
    assert ingot.get_conversion_fn("mylib.op.default.more") is None
    assert ingot.get_conversion_fn("torch.ops.aten.add.Tensor") is ingot.get_conversion_fn("aten::add.Tensor")


def test_listing_and_removing() -> None:
    function = ingot.register_op("aten.relu")(named("r"))
    ingot.register_executor("vendor.x")(lambda inputs, attrs: inputs)
    listed = ingot.list_registered_ops()
    assert listed == {"conversion": ["aten.relu"], "execution": ["<built-in function getitem>", "vendor.x"]}
    assert ingot.get_conversion_fn("aten.relu.default") is function
    ingot.unregister_op("aten.relu")
    ingot.unregister_executor("vendor.x")
    assert ingot.list_registered_ops() == {"conversion": [], "execution": ["<built-in function getitem>"]}
    with pytest.raises(KeyError, match=r"aten\.relu"):
        ingot.unregister_op("aten.relu")


def test_scopes() -> None:
    ingot.register_op("aten.relu")(named("outer"))
    with ingot.registered_ops({"aten.relu": named("inner")}, {"v.x": lambda inputs, attrs: inputs}):
        ingot.register_op("aten.exp")(named("exp"))
        assert ops(extract(lambda x: x.relu().exp(), torch.randn(2))) == ["inner", "exp"]
        assert ingot.get_execution_fn("v.x") is not None
    assert ops(extract(lambda x: x.relu().exp(), torch.randn(2))) == ["outer", "aten.exp.default"]
    assert ingot.get_execution_fn("v.x") is None


def test_dropping_a_node(tmp_path: Any) -> None:
    ingot.register_op("aten.relu")(lambda info: None)
    x = torch.randn(3)
    ir = through_file(extract(lambda x: (x.exp().relu() + 1, x.exp().relu()), x), tmp_path)
    assert "aten.relu.default" not in ops(ir)
    first, second = run(ir, (x,))
    assert_close(first, x.exp() + 1, 1e-6)
    assert_close(second, x.exp(), 1e-6)


def test_splitting_a_node(tmp_path: Any) -> None:
    def split(info: NodeInfo) -> list[OpNode]:
        (x,), (y,) = info.input_metas, info.output_metas
        middle = TensorMeta("middle", y.shape, y.dtype)
        first = OpNode("middle", "aten.neg.default", [x], [middle])
        used = TensorMeta("middle", y.shape, y.dtype, "middle")
        last = OpNode("last", "aten.exp.default", [used], [TensorMeta("last", y.shape, y.dtype)])
        return [first, last]

    ingot.register_op("aten.sigmoid")(split)
    x = torch.randn(3)
    ir = through_file(extract(lambda x: x.sigmoid() * 2, x), tmp_path)
    assert ops(ir) == ["aten.neg.default", "aten.exp.default", "aten.mul.Tensor"]
    assert_close(run(ir, (x,))[0], (-x).exp() * 2, 1e-6)


def test_groups() -> None:
    @ingot.register_group(["aten.linear", "aten.relu"])
    def fuse(infos: list[NodeInfo]) -> OpNode:
        linear, relu = infos
        return OpNode(relu.name, "vendor.linear_relu", linear.input_metas, relu.output_metas)

    @ingot.register_executor("vendor.linear_relu")
    def execute(inputs: list[torch.Tensor], attrs: dict[str, Any]) -> list[torch.Tensor]:
        return [torch.nn.functional.linear(*inputs).relu()]

    class Both(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            y = self.b(self.a(x).relu())
            return y.relu(), y  # the second one is used twice, and so is no chain

    model, x = Both(), torch.randn(2, 3)
    ir = ingot.extract_ir(model, (x,), strict=False)
    assert ops(ir) == ["vendor.linear_relu", "aten.linear.default", "aten.relu.default"]
    for left, right in zip(run(ir, (x,), model.state_dict()), model(x), strict=True):
        assert_close(left, right, 1e-5)
    ingot.unregister_group(["aten.linear", "aten.relu"])
    assert len(ingot.extract_ir(model, (x,), strict=False).nodes) == 4


def test_failing_converters_are_never_silent() -> None:
    @ingot.register_op("aten.relu")
    def broken(info: NodeInfo) -> OpNode:
        raise ValueError("no way")

    with pytest.warns(UserWarning, match=r"Failed to convert node 'relu' with op 'aten\.relu\.default': no way"):
        ir = extract(torch.relu, torch.randn(2))
    assert ops(ir) == ["aten.relu.default"]
    exported = ingot.export_model(Call(torch.relu), (torch.randn(2),), strict=False)
    with pytest.raises(ingot.ConversionError, match="Failed to convert node 'relu'"):
        ingot.convert_exported_program(exported, strict=True)


def test_executors_of_aten_ops_and_their_errors() -> None:
    x = torch.randn(3)
    ir = extract(lambda x: x.relu() + 1, x)
    before = x.clone()

    @ingot.register_executor("aten.relu.default")
    def execute(inputs: list[torch.Tensor], attrs: dict[str, Any]) -> list[torch.Tensor]:
        return [inputs[0].mul_(5)]

    assert_close(run(ir, (x,))[0], before * 5 + 1, 1e-6)
    assert torch.equal(x, before), "executors get copies"

    @ingot.register_executor("aten.relu.default")
    def fail(inputs: list[torch.Tensor], attrs: dict[str, Any]) -> list[torch.Tensor]:
        raise ValueError("broken on purpose")

    with pytest.raises(
        ingot.ExecutionError, match=r"Failed to execute node 'relu' \(op: aten\.relu\.default\).*purpose"
    ):
        run(ir, (x,))
    ingot.register_executor("aten.relu.default")(lambda inputs, attrs: [inputs[0][:1]])
    with pytest.raises(ingot.ExecutionError, match=r"'relu'.*\(1,\)"):
        run(ir, (x,))


def test_executors_with_several_results() -> None:
    x = torch.randn(4, 3)
    ir = extract(lambda x: x.max(1), x)
    ingot.register_executor("aten.max.dim")(lambda inputs, attrs: list(inputs[0].min(attrs["dim"])))
    values, places = run(ir, (x,))
    assert torch.equal(values, x.min(1).values) and torch.equal(places, x.min(1).indices)
