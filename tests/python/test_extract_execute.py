"""Executing graphs: every argument in its place, checks with names, and nothing that the caller owns is written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from extracting import Call, check, run
from ingot import IR, IRExecutor, OpNode, TensorMeta
from support import assert_close

F = torch.nn.functional
SORTED = torch.tensor([1.0, 3.0, 5.0])
CASES: dict[str, tuple[Callable[..., Any], list[torch.Tensor]]] = {
    "sum_keeps_its_dtype": (lambda x: x.sum(1, dtype=torch.float64), [torch.randn(2, 3)]),
    "layer_norm_with_bias_only": (lambda x, b: F.layer_norm(x, (3,), None, b), [torch.randn(2, 3), torch.randn(3)]),
    "layer_norm_with_weight_only": (lambda x, w: F.layer_norm(x, (3,), w), [torch.randn(2, 3), torch.randn(3)]),
    "clamp_max": (lambda x, m: torch.clamp(x, max=m), [torch.randn(2, 3), torch.zeros(3)]),
    "searchsorted_sorter": (
        lambda s, x, o: torch.searchsorted(s, x, sorter=o),
        [SORTED.flip(0), torch.tensor([2.0, 4.0]), torch.tensor([2, 1, 0])],
    ),
    "scalar_before_tensor": (lambda x: torch.ops.aten.sub.Tensor(2, x), [torch.randn(3)]),
    "rsub": (lambda x: 2 - x, [torch.randn(3)]),
    "two_tensor_lists": (
        lambda x, i: x[:, None][i, :, None, i],
        [torch.randn(4, 4), torch.tensor([1, 3])],
    ),
    "index_put_with_none": (
        lambda x, i: torch.ops.aten.index_put(x, [None, i], torch.zeros(())),
        [torch.randn(2, 4), torch.tensor([1, 3])],
    ),
    "keyword_tensors": (lambda x, y: torch.add(input=x, other=y, alpha=2), [torch.randn(3), torch.randn(3)]),
    "several_results": (lambda x: torch.topk(x, 2), [torch.randn(2, 5)]),
    "one_of_several_results": (lambda x: x.sort(descending=True)[1] + 1, [torch.randn(6)]),
    "twice_the_same_output": (lambda x: (lambda y: (y, y))(x + 1), [torch.randn(3)]),
    "input_as_output": (lambda x: (x, x * 2), [torch.randn(3)]),
    "dict_outputs": (lambda x: {"a": x + 1, "b": [x, None, 3]}, [torch.randn(3)]),
    "to_half_and_back": (lambda x: x.to(torch.float16).float() * 2, [torch.randn(3)]),
    "assertion_nodes": (lambda x: x.to(torch.int32) // 2, [torch.randn(3) * 10]),
    "complex": (lambda x: torch.fft.fft(x).abs(), [torch.randn(8)]),
    "cond": (
        lambda x: torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,)),
        [torch.ones(3)],
    ),
    "cond_other_branch": (
        lambda x: torch.cond(x.sum() > 0, lambda x: x.sin() + 1, lambda x: x.cos() - 1, (x,)),
        [-torch.ones(3)],
    ),
    "in_place": (lambda x: x.clone().add_(1).mul_(x), [torch.randn(3)]),
    "written_input": (lambda x: x.add_(1) * 2, [torch.randn(3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_every_argument_is_in_its_place(name: str, tmp_path: Path) -> None:
    function, args = CASES[name]
    before = [arg.clone() for arg in args]
    check(function, *args, folder=tmp_path)
    for arg, old in zip(args, before, strict=True):
        assert torch.equal(arg, old), "the caller's tensors are not written"


def test_lstm(tmp_path: Path) -> None:
    check(torch.nn.LSTM(4, 5, num_layers=2, batch_first=True).eval(), torch.randn(2, 3, 4), folder=tmp_path)


def test_nested_inputs(tmp_path: Path) -> None:
    class Nested(torch.nn.Module):
        def forward(self, pair: dict[str, Any], factor: int) -> torch.Tensor:
            return pair["a"] * factor + pair["b"][0]

    given = ({"a": torch.randn(2), "b": [torch.randn(2)]}, 3)
    ir = ingot.extract_ir(Nested(), given, strict=False)
    assert torch.equal(run(ir, given)[0], Nested()(*given))
    assert torch.equal(run(ir, (given[0]["a"], given[0]["b"][0]))[0], Nested()(*given))


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2))
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total += x
        return self.total * self.weight


def test_state_dicts_are_never_written(tmp_path: Path) -> None:
    model = Counter()
    ir = ingot.extract_ir(model, (torch.ones(2),), strict=False)
    state = {name: tensor.clone() for name, tensor in Counter().state_dict().items()}
    executor = IRExecutor(ir, state)
    for _ in range(2):
        assert executor.execute((torch.ones(2),))[0].tolist() == [1, 1], "every call starts with the weights as given"
    assert state["total"].tolist() == [0, 0]
    assert ingot.verify_ir_with_state_dict(ir, model.state_dict(), model, (torch.ones(2),))[0]
    assert model.total.tolist() == [0, 0]


def test_meta_devices_in_attributes_become_cpu() -> None:
    class Positions(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + torch.arange(3, device=x.device)

    ir = ingot.extract_ir(Positions(), (torch.empty(3, device="meta"),))
    assert torch.equal(run(ir, (torch.ones(3),))[0], torch.ones(3) + torch.arange(3))


def test_new_values_of_weights_are_seen() -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(1, 3)
    executor = IRExecutor(ingot.extract_ir(model, (x,), strict=False), model.state_dict())
    assert_close(executor.execute((x,))[0], model(x), 1e-6)
    prepared = executor._prepared
    executor.execute((x,))
    assert executor._prepared is prepared, "compiled once"
    with torch.no_grad():
        model.weight.zero_()
    assert_close(executor.execute((x,))[0], model(x), 1e-6)


def linear() -> tuple[IR, dict[str, torch.Tensor]]:
    model = torch.nn.Linear(3, 2)
    return ingot.extract_ir(model, (torch.randn(1, 3),), strict=False), model.state_dict()


def test_weights_and_inputs_are_checked() -> None:
    ir, state = linear()
    with pytest.raises(ingot.ExecutionError, match="Weights not loaded"):
        IRExecutor(ir).execute((torch.randn(1, 3),))
    with pytest.raises(ValueError, match="weights"):
        ingot.execute_ir(ir, (torch.randn(1, 3),))
    with pytest.raises(ingot.ExecutionError, match="Expected 1 inputs, got 2"):
        run(ir, (torch.randn(1, 3), torch.randn(1)), state)
    with pytest.raises(ingot.ExecutionError, match=r"Input 'input': expected shape \(1, 3\), got \(7, 3\)"):
        run(ir, (torch.randn(7, 3),), state)
    with pytest.raises(ingot.ExecutionError, match="Input 'input': expected dtype float32, got float64"):
        run(ir, (torch.randn(1, 3).double(),), state)
    with pytest.raises(ingot.ExecutionError, match=r"'weight': expected \(2, 3\), got \(3, 2\)"):
        run(ir, (torch.randn(1, 3),), state | {"weight": torch.randn(3, 2)})
    with pytest.raises(ingot.ExecutionError, match=r"Dtype mismatch for 'bias'.*load_weights"):
        run(ir, (torch.randn(1, 3),), state | {"bias": torch.zeros(2).half()})
    with pytest.raises(ingot.ExecutionError, match="Weight/input 'p_bias' not found"):
        run(ir, (torch.randn(1, 3),), {"weight": state["weight"]})


X = TensorMeta("x", (2, 3), "float32")


def by_hand(*nodes: OpNode, outputs: list[TensorMeta] | None = None, **parts: Any) -> IR:
    return IR(
        list(nodes), [X], outputs if outputs is not None else nodes[-1].outputs, parts.pop("weights", []), **parts
    )


def use(name: str, producer: str | None = None, index: int = 0, shape: tuple[int, ...] = (2, 3)) -> TensorMeta:
    return TensorMeta(name, shape, "float32", producer, index)


def test_graphs_made_by_hand() -> None:
    relu = OpNode("r", "aten.relu.default", [use("x", "x")], [use("r")])
    scale = OpNode("s", "aten.mul.Tensor", [use("r", "r")], [use("s")], {"other": 3})
    weigh = OpNode("w", "aten.add.Tensor", [use("s", "s"), use("bias", None, 0, (3,))], [use("w")], {"alpha": 2})
    x, bias = torch.randn(2, 3), torch.randn(3)
    ir = by_hand(relu, scale, weigh, weights=[TensorMeta("bias", (3,), "float32")])
    assert_close(run(ir, (x,), {"bias": bias})[0], x.relu() * 3 + 2 * bias, 1e-6)
    weigh.inputs[1] = use("p_bias", None, 0, (3,))
    ir.weight_name_mapping = {"p_bias": "bias"}
    assert_close(run(ir, (x,), {"bias": bias})[0], x.relu() * 3 + 2 * bias, 1e-6)


def test_optional_tensors_are_placed_by_name_where_records_are_missing() -> None:
    inputs = [use("x", "x"), use("p_norm_bias", None, 0, (3,))]
    norm = OpNode("n", "aten.layer_norm.default", inputs, [use("n")], {"normalized_shape": [3]})
    meta = TensorMeta("norm.bias", (3,), "float32")
    ir = by_hand(norm, weights=[meta], weight_name_mapping={"p_norm_bias": "norm.bias"})
    x, bias = torch.randn(2, 3), torch.randn(3)
    assert_close(run(ir, (x,), {"norm.bias": bias})[0], F.layer_norm(x, (3,), None, bias), 1e-6)


def test_required_optional_arguments_and_inputs_without_a_place() -> None:
    image = TensorMeta("x", (1, 1, 3, 3), "float32")
    inputs = [TensorMeta("x", (1, 1, 3, 3), "float32", "x"), TensorMeta("w", (1, 1, 2, 2), "float32")]
    attrs = {"stride": [1, 1], "padding": [0, 0], "dilation": [1, 1], "transposed": False}
    attrs |= {"output_padding": [0, 0], "groups": 1}
    conv = OpNode("c", "aten.convolution.default", inputs, [TensorMeta("c", (1, 1, 2, 2), "float32")], attrs)
    x, w = torch.randn(1, 1, 3, 3), torch.randn(1, 1, 2, 2)
    ir = IR([conv], [image], conv.outputs, [TensorMeta("w", (1, 1, 2, 2), "float32")])
    assert_close(run(ir, (x,), {"w": w})[0], F.conv2d(x, w), 1e-5)
    many = OpNode("r", "aten.relu.default", [use("x", "x"), use("x", "x")], [use("r")])
    with pytest.raises(ingot.ExecutionError, match="'x' has no place"):
        run(by_hand(many), (torch.randn(2, 3),))


def test_changed_attributes_and_inputs_count() -> None:
    ir = ingot.extract_ir(Call(lambda x, y: x.softmax(0) - y), (torch.randn(2, 3), torch.randn(2, 3)), strict=False)
    ir.nodes[0].attrs["dim"] = 1
    ir.nodes[1].inputs.reverse()
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    assert_close(run(ir, (x, y))[0], y - x.softmax(1), 1e-6)


def test_broken_graphs_are_named() -> None:
    x = torch.randn(2, 3)

    def fails(match: str, *nodes: OpNode, outputs: list[TensorMeta] | None = None) -> None:
        with pytest.raises(ingot.ExecutionError, match=match):
            run(by_hand(*nodes, outputs=outputs), (x,))

    relu = OpNode("r", "aten.relu.default", [use("x", "x")], [use("r")])
    fails(
        r"Failed to execute node 'v' \(op: vendor\.op\): No execution function registered for op_type",
        OpNode("v", "vendor.op", [use("x", "x")], [use("v")]),
    )
    fails(
        "Producer node 'later' not found .*check node ordering",
        OpNode("a", "aten.exp.default", [use("b", "later")], [use("a")]),
    )
    fails(
        "Producer 'r' has 1 outputs, but index 3 requested",
        relu,
        OpNode("a", "aten.exp.default", [use("r", "r", 3)], [use("a")]),
    )
    fails("Weight/input 'w' not found", OpNode("a", "aten.exp.default", [use("w")], [use("a")]))
    fails("Graph output 'z' not found", relu, outputs=[use("z")])
    wrong = OpNode("m", "aten.mm.default", [use("x", "x"), use("x", "x")], [use("m", None, 0, (2, 2))])
    fails(r"Failed to execute node 'm' \(op: aten\.mm\.default\)", wrong)


def test_graphs_that_are_wrong_about_shapes_are_run_by_torch_and_said() -> None:
    wrong = OpNode("r", "aten.reshape.default", [use("x", "x")], [use("r", None, 0, (7, 7))], {"shape": [3, 2]})
    picked = OpNode("m", "aten.max.dim", [use("r", "r")], [use("m_0"), use("m_1")], {"dim": 1})
    place = OpNode("g", "<built-in function getitem>", [use("m_0", "m"), use("m_1", "m", 1)], [use("g")], {"index": 1})
    x = torch.randn(2, 3)
    with pytest.warns(UserWarning, match="PyTorch ran the graph node by node"):
        outputs = ingot.execute_ir(by_hand(wrong, picked, place, outputs=[use("r"), use("g")]), (x,), weights={})
    assert torch.equal(outputs[0], x.reshape(3, 2)) and torch.equal(outputs[1], x.reshape(3, 2).max(1).indices)
    extracted = ingot.extract_ir(Call(lambda x: x.reshape(3, 2)), (x,), strict=False)
    extracted.nodes[0].outputs[0].shape = (7, 7)
    with pytest.raises(ingot.ExecutionError, match=r"7, 7"):
        run(extracted, (x,))


def test_dtypes_as_text_of_other_tools() -> None:
    cast = OpNode(
        "c", "aten.to.dtype", [use("x", "x")], [TensorMeta("c", (2, 3), "float16")], {"dtype": "torch.float16"}
    )
    x = torch.randn(2, 3)
    assert torch.equal(run(by_hand(cast), (x,))[0], x.half())


def test_results_have_no_gradients() -> None:
    model, x = torch.nn.Linear(3, 2), torch.randn(1, 3, requires_grad=True)
    ir = ingot.extract_ir(model, (x,), strict=False)
    (y,) = run(ir, (x,), dict(model.named_parameters()))
    assert not y.requires_grad


def test_arrays_of_numpy_are_inputs_too() -> None:
    ir, x = ingot.extract_ir(Call(lambda x: x + 1), (torch.zeros(2, 3),), strict=False), torch.randn(2, 3)
    assert torch.equal(ingot.execute_ir(ir, (x.numpy(),), weights={})[0], x + 1)


def test_parts_of_a_document_that_are_something_else() -> None:
    ir, x = ingot.extract_ir(Call(lambda x: x.exp() + 1), (torch.zeros(2, 3),), strict=False), torch.randn(2, 3)
    document = ir.to_dict()
    document["nodes"][1]["inputs"][0]["producer_output_idx"] = None
    assert_close(run(IR.from_dict(document), (x,))[0], x.exp() + 1)
    with pytest.raises(ingot.SerializationError, match="signature"):
        IR.from_dict({**document, "signature": [[]]})
