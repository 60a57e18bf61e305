"""Lowerings written in Python: called with FX nodes, checked against them, and clear when they fail."""

from __future__ import annotations

from typing import Any

import ingot
import numpy as np
import pytest
import torch
from ingot import ops
from ingot.ir import DYNAMIC, ElementType, TensorType
from ingot.lowering import (
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
    to_sizes,
    to_uint32_perm,
)
from support import assert_close, export


@torch.library.custom_op("lowering_tests::softclip", mutates_args=())
def softclip(x: torch.Tensor, limit: float) -> torch.Tensor:
    return limit * torch.tanh(x / limit)


softclip.register_fake(lambda x, limit: torch.empty_like(x))


@torch.library.custom_op("lowering_tests::halves", mutates_args=())
def halves(x: torch.Tensor, *, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    return x[: x.shape[0] // 2] * scale, x[x.shape[0] // 2 :] * scale


@halves.register_fake
def _(x: torch.Tensor, *, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
    half = x.shape[0] // 2
    return x.new_empty((half, *x.shape[1:])), x.new_empty((x.shape[0] - half, *x.shape[1:]))


@torch.library.custom_op("lowering_tests::count", mutates_args=())
def count(x: torch.Tensor) -> torch.Tensor:
    return torch.tensor(x.numel(), dtype=torch.int64)


count.register_fake(lambda x: x.new_empty((), dtype=torch.int64))


def lower_softclip(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
    x = get_operand(values_map, node, 0, loc)
    limit = ops.constant(node.args[1], dtype=x.type.element_type)
    return ops.mul(ops.tanh(ops.div(x, limit)), limit)


def convert_with(function: Any, name: str = "lowering_tests::softclip", **options: Any) -> ingot.Program:
    return ingot.convert(Clip(), (torch.randn(3, 4),), lowerings={name: function}, **options)


class Clip(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return softclip(x, 2.0) + 1


@pytest.mark.parametrize("name", ["lowering_tests::softclip", "lowering_tests::softclip.default"])
def test_custom_op(name: str) -> None:
    x = torch.randn(3, 4)
    program = ingot.convert(Clip(), (x,), lowerings={name: lower_softclip})
    assert_close(program(x), Clip()(x))


def test_values_map_names_nodes_and_node_is_of_the_program() -> None:
    seen: list[Any] = []

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        seen.append((set(values_map), node.name, node.args[1], str(loc)))
        return lower_softclip(values_map, node, loc)

    convert_with(lower)
    names, node, limit, location = seen[0]
    assert names == {"x"}
    assert (node, limit) == ("softclip", 2.0)
    assert "test_lowering.py:" in location


def test_two_results_and_keyword_argument() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            first, second = halves(x, scale=3.0)
            return softclip(second, 1.0), first

    maps: list[set[str]] = []

    def lower_halves(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> list[Any]:
        x = values_map["x"]
        scale = node.kwargs["scale"]
        return [ops.mul(ops.slice(x, 0, [0, 2]), scale), ops.mul(ops.slice(x, 0, [2, None]), scale)]

    def lower_clip(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        maps.append(set(values_map))
        return lower_softclip(values_map, node, loc)

    x = torch.randn(5, 4)
    lowerings = {"lowering_tests::halves": lower_halves, "lowering_tests::softclip": lower_clip}
    program = ingot.convert(Model(), (x,), lowerings=lowerings)
    for actual, expected in zip(program(x), Model()(x), strict=True):
        assert_close(actual, expected)
    assert maps == [{"getitem_1", "halves#1"}]


def test_override_of_an_aten_op() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(x) + torch.sigmoid(x)

    x = torch.randn(7)
    program = ingot.convert(Model(), (x,), lowerings={"aten::relu": lambda values, node, loc: ops.neg(values["x"])})
    assert_close(program(x), -x + torch.sigmoid(x))
    assert_close(ingot.convert(Model(), (x,))(x), Model()(x))


def test_dynamic_shapes() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            first, second = halves(x, scale=2.0)
            return torch.cat([second, first])

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> list[Any]:
        x = values_map["x"]
        assert x.type.shape[0] == DYNAMIC
        half = ops.size_floordiv(ops.dim(x, 0), 2)
        doubled = ops.add(x, x)
        return [ops.slice(doubled, 0, [0, half]), ops.slice(doubled, 0, [half, None])]

    rows = 2 * torch.export.Dim("half", min=1, max=32)
    program = ingot.convert(
        Model(), (torch.randn(6, 3),), dynamic_shapes=({0: rows},), lowerings={"lowering_tests::halves": lower}
    )
    for size in (2, 6, 8):
        x = torch.randn(size, 3)
        assert_close(program(x), Model()(x))


def test_symbolic_argument_becomes_a_vector() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.view(x.shape[0] * 2, 3)

    shapes: list[Any] = []

    def lower_view(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        shape = get_operand(values_map, node, 1)
        shapes.append(str(shape.type))
        x = get_operand(values_map, node, 0)
        assert to_sizes(shape)[0] is values_map[node.args[1][0].name]
        return ops.reshape(x, to_sizes(shape))

    rows = torch.export.Dim("rows", min=2, max=64)
    x = torch.randn(4, 6)
    program = ingot.convert(Model(), (x,), dynamic_shapes=({0: rows},), lowerings={"aten::view": lower_view})
    assert_close(program(x[:3]), Model()(x[:3]))
    assert shapes == ["tensor<2xi32>"]


def test_list_of_tensors_and_weights() -> None:
    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([self.linear(x), x], 1)

    def lower_cat(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        first, second = get_operand(values_map, node, 0)
        return ops.concat([second, first], node.args[1])

    def lower_linear(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        x, weight, bias = get_operands(values_map, node, [0, 1, 2])
        return ops.matmul(x, ops.permute(weight, [1, 0]), bias)

    x, model = torch.randn(3, 4), Model()
    program = ingot.convert(model, (x,), lowerings={"aten::cat": lower_cat, "aten::linear": lower_linear})
    assert_close(program(x), torch.cat([x, model.linear(x)], 1))


def test_nodes_of_regions_that_are_inlined() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                y = softclip(x, 0.5)
            return y + softclip(x, 2.0)

    limits: list[float] = []

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        limits.append(node.args[1])
        return lower_softclip(values_map, node, loc)

    x = torch.randn(4)
    exported = torch.export.export(Model(), (x,))
    assert_close(ingot.convert(exported, lowerings={"lowering_tests::softclip": lower})(x), Model()(x))
    assert sorted(limits) == [0.5, 2.0]


def test_inside_cond_with_the_same_node_names() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cond(x.sum() > 0, lambda y: softclip(y, 0.5), lambda y: softclip(y, 2.0) - 1, (x,))

    limits: list[float] = []

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        limits.append(node.args[1])
        return lower_softclip(values_map, node, loc)

    x = torch.rand(4) + 0.1
    program = ingot.convert(Model(), (x,), lowerings={"lowering_tests::softclip": lower})
    assert_close(program(x), Model()(x))
    assert_close(program(-x), Model()(-x))
    assert sorted(limits) == [0.5, 2.0]


def test_inside_while_loop() -> None:
    from torch._higher_order_ops.while_loop import while_loop

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> Any:
            return while_loop(lambda x, n: n > 0, lambda x, n: (softclip(x, 1.5), n - 1), (x, n))

    args = (torch.randn(4), torch.tensor(3))
    program = ingot.convert(Model(), args, lowerings={"lowering_tests::softclip": lower_softclip})
    for actual, expected in zip(program(*args), Model()(*args), strict=True):
        assert_close(actual, expected)


def test_narrow_results_are_widened() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return count(x), softclip(x, 2.0)

    def lower_count(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        return ops.constant(int(np.prod(values_map["x"].type.shape)))

    def lower_narrow(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        x = ops.cast(values_map["x"], "float32")
        return ops.mul(ops.tanh(ops.div(x, 2.0)), 2.0)

    x = torch.randn(3, 5, dtype=torch.float64)
    lowerings = {"lowering_tests::count": lower_count, "lowering_tests::softclip": lower_narrow}
    number, clipped = ingot.convert(Model(), (x,), lowerings=lowerings)(x)
    assert number.dtype == torch.int64
    assert number.item() == 15
    assert_close(clipped, Model()(x)[1])


WRONG = {
    "softclip[0]: rank 1 vs 2": lambda values, node, loc: ops.reshape(values["x"], [12]),
    "softclip[0]: dtype i32 vs f32": lambda values, node, loc: ops.cast(values["x"], torch.int32),
    "softclip[0]: dim[1] 2 vs 4": lambda values, node, loc: ops.slice(values["x"], 1, [0, 2]),
    "it gives 2 results, and the node has 1": lambda values, node, loc: (values["x"], values["x"]),
    "it gives no result number 0, which is used": lambda values, node, loc: [None],
    "a lowering returns a value or a list of them, not NoneType": lambda values, node, loc: None,
    "axis 7 is out of range for rank 2": lambda values, node, loc: ops.softmax(values["x"], 7),
    "operands (tensor<3x4xf32>, tensor<3xf32>) and attributes do not fit": lambda values, node, loc: ops.add(
        values["x"], [1.0, 2.0, 3.0]
    ),
    "0.5 is no int32": lambda values, node, loc: ops.add(ops.cast(values["x"], "int32"), 0.5),
}


@pytest.mark.parametrize("text", WRONG)
@pytest.mark.parametrize("fallback", [False, True])
def test_what_is_wrong_is_said(text: str, fallback: bool) -> None:
    with pytest.raises(ingot.LoweringError) as caught:
        convert_with(WRONG[text], fallback=fallback)
    message = str(caught.value)
    assert text in message
    assert "lowering_tests::softclip, 1 node, first 'softclip'" in message
    assert "test_lowering.py:" in message
    assert isinstance(caught.value, ValueError)


def test_exception_is_chained_and_names_node_and_lines() -> None:
    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        raise KeyError("no such thing")

    with pytest.raises(ingot.LoweringError, match="KeyError: 'no such thing'") as caught:
        convert_with(lower)
    assert isinstance(caught.value.__cause__, KeyError)
    assert str(caught.value).count("test_lowering.py:") == 2  # the lowering's line, and the model's


def test_all_problems_are_in_one_report() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return softclip(x, 1.0) + count(x)

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        raise ValueError("not this one")

    with pytest.raises(ingot.LoweringError, match="not this one") as caught:
        ingot.convert(Model(), (torch.randn(3),), lowerings={"lowering_tests::softclip": lower})
    assert "lowering_tests::count, 1 node" in str(caught.value)
    assert "register a lowering" in str(caught.value)


def test_interrupt_stops_the_conversion() -> None:
    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_with(lower)


def test_values_end_with_their_lowering() -> None:
    kept: list[Any] = []

    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        kept.append(values_map["x"])
        return lower_softclip(values_map, node, loc)

    convert_with(lower)
    assert "has ended" in repr(kept[0])
    with pytest.raises(ingot.UsageError, match="only inside a lowering"):
        ops.neg(kept[0])

    def use_old(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        return ops.neg(kept[0])

    with pytest.raises(ingot.LoweringError, match="belongs to another lowering"):
        convert_with(use_old)


@pytest.mark.parametrize("name", ["softclip", "::softclip", "a::", "a::b::c"])
def test_name_of_an_operator(name: str) -> None:
    with pytest.raises(ValueError, match="namespace::op_name"):
        convert_with(lower_softclip, name)


# Helpers.


@torch.library.custom_op("lowering_tests::many", mutates_args=())
def many(x: torch.Tensor, n: int, big: int, flag: bool, sizes: list[int], text: str, rate: float) -> torch.Tensor:
    return x.clone()


@many.register_fake
def _(x: torch.Tensor, n: int, big: int, flag: bool, sizes: list[int], text: str, rate: float) -> torch.Tensor:
    return torch.empty_like(x)


class Many(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return many(x, 3, 2**40, True, [4, 5], "word", 0.1)


@pytest.mark.parametrize(("dtype", "rate"), [("float16", "f16"), ("float32", "f32"), ("float64", "f64")])
def test_get_operand(dtype: str, rate: str) -> None:
    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        x, n, big, flag, sizes, number = get_operands(values_map, node, [0, 1, 2, 3, 4, 6], loc)
        assert x is values_map["x"]
        assert [str(value.type) for value in (n, big, flag, sizes)] == [
            "tensor<i32>",
            "tensor<i64>",
            "tensor<i1>",
            "tensor<2xi32>",
        ]
        assert big.constant_value == 2**40
        assert sizes.constant_value.tolist() == [4, 5]
        assert str(number.type) == f"tensor<{rate}>"
        with pytest.raises(ValueError, match="argument 5 of node 'many' is a str"):
            get_operand(values_map, node, 5)
        with pytest.raises(AssertionError):
            get_operand(values_map, node, 7)
        assert [str(entry) for entry in get_result_types(node)] == [str(x.type)]
        assert get_output_element_type_from_node(node) == ElementType(dtype)
        return x

    x = torch.ones(2, dtype=getattr(torch, dtype))
    assert_close(ingot.convert(Many(), (x,), lowerings={"lowering_tests::many": lower})(x), x)


def test_sizes_as_tensors() -> None:
    def lower(values_map: dict[str, Any], node: torch.fx.Node, loc: object) -> Any:
        x = values_map["x"]
        rows, columns = get_dim_size_int32(x, 0), get_dim_size_int32(x, 1)
        assert columns.constant_value.tolist() == [4]
        assert rows.constant_value is None
        assert to_sizes(columns) == [4]
        assert all(size.is_scalar for size in to_sizes(ops.cast(ops.concat([rows, rows], 0), "int64")))
        shape = build_shape_tensor(values_map, [to_rank1_int32(ops.dim(x, 0)), 7])
        assert [str(value.type) for value in (rows, columns, shape)] == ["tensor<1xi32>"] * 2 + ["tensor<2xi32>"]
        total = ops.mul(ops.cast(ops.reshape(ops.reduce(shape, "sum", 0), []), "float32"), 0)
        return ops.add(ops.add(x, total), ops.cast(rows, "float32"))

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return softclip(x, 1.0)

    rows = torch.export.Dim("rows", min=2, max=64)
    program = ingot.convert(
        Model(),
        (torch.zeros(3, 4),),
        dynamic_shapes=({0: rows},),
        lowerings={"lowering_tests::softclip": lower},
    )
    assert_close(program(torch.zeros(5, 4)), torch.full((5, 4), 5.0))


def test_helpers_without_a_builder(capsys: pytest.CaptureFixture[str]) -> None:
    assert get_promoted_type("int8", torch.float16) == ElementType("float16")
    assert get_promoted_type(ElementType("int32"), np.dtype("int64")) == ElementType("int64")
    assert get_tensor_type(torch.empty(2, 3, dtype=torch.int64)) == TensorType([2, 3], "int64")
    assert get_tensor_type(torch.empty(2), dtype="f16") == TensorType([2], torch.float16)
    assert to_uint32_perm([0, -1, 1], 3).tolist() == [0, 2, 1]
    with pytest.raises(ValueError, match="no permutation"):
        to_uint32_perm([0, 0], 2)
    print_graph(export(Clip(), (torch.randn(3, 4),)))
    printed = capsys.readouterr().out
    assert "softclip" in printed
    assert "float32[3, 4]" in printed
