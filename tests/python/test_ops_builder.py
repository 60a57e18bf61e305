"""The functions of `ingot.ops`: what they take, the types they find, and that they compute what they say."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import ingot
import numpy as np
import pytest
import torch
from ingot import ops
from ingot.ir import ElementType, TensorType, Value
from support import assert_close


@torch.library.custom_op("builder_tests::identity", mutates_args=())
def identity(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


identity.register_fake(lambda x: torch.empty_like(x))


class Identity(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return identity(x)


def build(x: torch.Tensor, work: Callable[[Value], Any]) -> None:
    """Calls `work` with a value like x while a program is built."""

    def lower(values_map: dict[str, Value], node: torch.fx.Node, loc: object) -> Value:
        work(values_map["x"])
        return values_map["x"]

    ingot.convert(Identity(), (x,), lowerings={"builder_tests::identity": lower})


X = torch.zeros(2, 3, 8, 8)
TYPES: dict[str, Callable[[Value], Any]] = {
    "tensor<2x3x8x8xf32>": lambda x: ops.tanh(x),
    "tensor<2x3x8x8xi1>": lambda x: ops.gt(x, 1),
    "tensor<2x3x8x8xi64>": lambda x: ops.cast(x, torch.int64),
    "tensor<6x64xf32>": lambda x: ops.reshape(x, [6, 64]),
    "tensor<6x8x8xf32>": lambda x: ops.reshape(x, [-1, 8, 8]),
    "tensor<3x8x8x2xf32>": lambda x: ops.permute(x, [1, 2, 3, 0]),
    "tensor<5x2x3x8x8xf32>": lambda x: ops.expand(x, [5, 2, 3, 8, 8]),
    "tensor<2x3x8x3xf32>": lambda x: ops.slice(x, -1, [1, -1], 2),
    "tensor<2x6x8x8xf32>": lambda x: ops.concat([x, x], 1),
    "tensor<2x3x9x10xf32>": lambda x: ops.pad(x, [0, 0, 1, 2], [0, 0, 0, 0]),
    "tensor<2x3x8x1xf32>": lambda x: ops.reduce(x, "sum", -1),
    "tensor<2x1x8x8xi1>": lambda x: ops.reduce(ops.isnan(x), "any", [1]),
    "tensor<2x3x1x8xi64>": lambda x: ops.arg_reduce(x, 2),
    "tensor<2x3x8x4xf32>": lambda x: ops.matmul(x, np.zeros((8, 4), np.float32)),
    "tensor<2x5x6x6xf32>": lambda x: ops.conv(x, np.zeros((5, 3, 3, 3), np.float32)),
    "tensor<2x5x4x4xf32>": lambda x: ops.conv(x, np.zeros((5, 3, 3, 3), np.float32), strides=2, pad_low=1),
    "tensor<2x3x4x4xf32>": lambda x: ops.avg_pool(x, [2, 2]),
    "tensor<2x3x1x1xf32>": lambda x: ops.adaptive_avg_pool(x, [1, 1]),
    "tensor<2x3x16x4xf32>": lambda x: ops.resize(x, "nearest", sizes=[16, 4]),
    "tensor<2x3x8x8xcomplex<f32>>": lambda x: ops.complex(x, x),
    "tensor<2x3x8x32xui8>": lambda x: ops.bitcast(x, "uint8"),
    "tensor<?x4xi64>": lambda x: ops.nonzero(x),
    "tensor<2x2x8x8xf32>": lambda x: ops.index_select(x, [0, 2], 1),
    "tensor<4xf32>": lambda x: ops.iota(0, 1, 4, "float32"),
    "i64": lambda x: ops.dim(x, 1),
    "f64": lambda x: ops.item(ops.constant(2.0)),
    "tensor<i64>": lambda x: ops.from_scalar(ops.dim(x, 1)),
}


@pytest.mark.parametrize("wanted", TYPES)
def test_result_types(wanted: str) -> None:
    def work(x: Value) -> None:
        assert str(TYPES[wanted](x).type) == wanted

    build(X, work)


def test_ops_with_several_results() -> None:
    def work(x: Value) -> None:
        values, indices = ops.max_pool(x, [2, 2])
        assert [str(each.type) for each in (values, indices)] == ["tensor<2x3x4x4xf32>", "tensor<2x3x4x4xi64>"]
        values, indices = ops.topk(x, 3, -1)
        assert [str(each.type) for each in (values, indices)] == ["tensor<2x3x8x3xf32>", "tensor<2x3x8x3xi64>"]

    build(X, work)


COMPUTED: dict[str, tuple[Callable[[Value], Value], Callable[[torch.Tensor], torch.Tensor]]] = {
    "numbers take the tensor's type": (
        lambda x: ops.select(ops.gt(x, 0), ops.mul(x, 2), -1.5),
        lambda x: torch.where(x > 0, x * 2, -1.5),
    ),
    "softmax": (lambda x: ops.softmax(x, -1), lambda x: torch.softmax(x, -1)),
    "layer_norm": (
        lambda x: ops.layer_norm(x, np.full(6, 2, np.float32), rank=1),
        lambda x: torch.nn.functional.layer_norm(x, [6], torch.full([6], 2.0)),
    ),
    "matmul with bias": (
        lambda x: ops.matmul(x, np.eye(6, dtype=np.float32), np.ones(6, np.float32), activation="relu"),
        lambda x: torch.relu(x + 1),
    ),
    "scatter": (
        lambda x: ops.scatter(x, np.array([[0, 1]]), np.ones((1, 2), np.float32), 0, "add"),
        lambda x: x.scatter_add(0, torch.tensor([[0, 1]]), torch.ones(1, 2)),
    ),
    "bfloat16 constant": (
        lambda x: ops.cast(ops.mul(ops.cast(x, "bfloat16"), 0.1), "float32"),
        lambda x: (x.bfloat16() * torch.tensor(0.1).bfloat16()).float(),
    ),
    "float8 constant": (
        lambda x: ops.add(x, ops.cast(ops.constant([0.3], "float8_e4m3fn"), "float32")),
        lambda x: x + torch.tensor([0.3]).to(torch.float8_e4m3fn).float(),
    ),
    "insert_slice": (
        lambda x: ops.insert_slice(x, np.zeros((4, 2), np.float32), 1, [2, 4]),
        lambda x: x.slice_scatter(torch.zeros(4, 2), 1, 2, 4),
    ),
    "-1 of a reshape": (
        lambda x: ops.reshape(ops.reshape(x, [ops.dim(x, 1), -1]), [4, 6]),
        lambda x: x,
    ),
    "torch tensor": (lambda x: ops.add(x, torch.arange(6.0)), lambda x: x + torch.arange(6.0)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_computes(name: str) -> None:
    work, reference = COMPUTED[name]
    x = torch.randn(4, 6)
    lowering = {"builder_tests::identity": lambda values, node, loc: work(values["x"])}
    assert_close(
        ingot.convert(Identity(), (x,), lowerings=lowering)(x), reference(x), 1e-2 if "float" in name else 1e-4
    )


WRONG: dict[str, Callable[[Value], Any]] = {
    "result_type": lambda x: ops.fft(x, 8, 1, True, 1.0),
    "reduce is one of|kind is one of sum": lambda x: ops.reduce(x, "average", 0),
    "cannot make 5 elements of 384": lambda x: ops.reshape(x, [5]),
    "only one of the sizes": lambda x: ops.reshape(x, [-1, -1]),
    "cannot be divided by sizes of 5": lambda x: ops.reshape(x, [-1, 5]),
    "is a tensor where a number is needed": lambda x: ops.reshape(x, [x, 2]),
    "300 does not fit int8": lambda x: ops.constant([300], "int8"),
    "is no number of a constant": lambda x: ops.constant(["a"]),
    "there is no element type 'float7'": lambda x: ops.cast(x, "float7"),
    "different element types": lambda x: ops.add(x, np.zeros(8, np.float64)),
}


@pytest.mark.parametrize("text", WRONG)
def test_mistakes_are_messages(text: str) -> None:
    def work(x: Value) -> None:
        with pytest.raises(ValueError, match=text):
            WRONG[text](x)

    build(X, work)


def test_unknown_ops_and_attributes_have_suggestions() -> None:
    def work(x: Value) -> None:
        create = x._builder.create
        for arguments, text in [
            (("tanhh", [x._handle], None, "", None, None), "there is no op 'ingot.tanhh'; did you mean 'ingot.tanh'?"),
            (("func.return", [], None, "", None, None), "there is no op 'func.return'"),
            (("yield", [], None, "", None, None), "cannot be built by name"),
            (("softmax", [x._handle], None, "{axis = 1}", None, None), "needs the attribute 'log'"),
            (("softmax", [x._handle], None, "{axis = }", None, None), "do not parse"),
            (("neg", [x._handle], None, "{axis = 1}", None, None), "has no attribute 'axis'; it has none"),
            (("dim", [x._handle], None, "{axis = true}", None, None), "64-bit signless integer"),
            (("neg", [], None, "", None, None), "operand number 0 is missing"),
            (("neg", [x._handle, x._handle], None, "", None, None), "requires a single operand"),
            (("neg", [0], None, "", None, None), "an operand is no value"),
            (("matmul", [x._handle, x._handle], None, "{activation = 0 : i32}", None, None), "optional operands"),
        ]:
            with pytest.raises(ValueError) as caught:
                create(*arguments)
            assert text in str(caught.value)

    build(X, work)


def test_constants_can_be_read() -> None:
    def work(x: Value) -> None:
        for value in ([True, False], [1, 2], [0.5, 0.25], [[1 + 2j]], 3, []):
            constant = ops.constant(value)
            assert np.array_equal(constant.constant_value, np.array(value))
        assert ops.constant([1.5], "bfloat16").constant_value.tolist() == [1.5]
        assert ops.neg(x).constant_value is None
        assert np.array_equal(ops.constant(np.full((2, 2), 7)).constant_value, np.full((2, 2), 7))

    build(X, work)


def test_no_builder_is_an_error() -> None:
    with pytest.raises(ValueError, match="only inside a lowering"):
        ops.constant(1)


def test_every_function_is_documented() -> None:
    for name in ops.__all__:
        function = getattr(ops, name)
        assert function.__doc__, name
        assert "return" in inspect.get_annotations(function), name


def test_types() -> None:
    assert str(TensorType([2, None], np.float32)) == "tensor<2x?xf32>"
    assert TensorType([2], "f32") == TensorType([2], torch.float32)
    assert {ElementType.of(np.int64), ElementType.of("int64"), ElementType.of("si64"), ElementType.of(torch.int64)} == {
        ElementType("int64")
    }
    assert ElementType("bfloat16").numpy is None
    assert ElementType("bfloat16").torch is torch.bfloat16
