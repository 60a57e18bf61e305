"""Extracting: what a graph says of a model, on the meta device and off it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from extracting import Call, check, run, through_file
from ingot import IR, OpNode, TensorMeta
from support import assert_close


class Peak(torch.nn.Module):
    """The example of the format's description."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = torch.nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
        self.pick = torch.tensor([2, 0])

    def forward(self, sig: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        values, places = (sig * self.gain).max(1)
        return torch.cat([values, values + 0.5])[self.pick], places


def meta_linear() -> torch.nn.Module:
    with torch.device("meta"):
        return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())


def test_importing_ingot_does_not_import_torch() -> None:
    code = "import ingot, sys; assert 'torch' not in sys.modules; ingot.extract_ir; assert 'torch' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_document_of_the_example() -> None:
    ir = ingot.extract_ir(Peak(), (torch.randn(2, 3),), strict=False)
    assert repr(ir) == f"IR(model_name='Peak', nodes={len(ir.nodes)}, inputs=1, outputs=2, weights=2)"
    document = ir.to_dict()
    assert list(document)[:2] == ["format", "format_version"]
    assert document["graph_inputs"] == [{"name": "sig", "shape": [2, 3], "dtype": "float32"}]
    assert [tensor["name"] for tensor in document["graph_outputs"]] == ["index", "getitem_1"]
    assert document["weight_name_mapping"] == {"p_gain": "gain", "c_pick": "pick"}
    assert {weight["name"]: weight["kind"] for weight in document["weights"]} == {
        "gain": "parameter",
        "pick": "constant",
    }
    assert document["constants"]["pick"]["data"] == [2, 0]
    nodes = {node.name: node for node in ir.nodes}
    assert [node.op_type for node in ir.nodes][:3] == ["aten.mul.Tensor", "aten.max.dim", "<built-in function getitem>"]
    assert nodes["mul"].inputs == [
        TensorMeta("sig", (2, 3), "float32", "sig", 0),
        TensorMeta("p_gain", (3,), "float32"),
    ]
    assert nodes["max_1"].attrs == {"dim": 1}
    assert [output.name for output in nodes["max_1"].outputs] == ["max_1_0", "max_1_1"]
    assert nodes["getitem_1"].attrs == {"index": 1}
    assert nodes["add"].attrs == {"other": 0.5}
    assert nodes["cat"].attrs == {"_tensor_list_sizes": [2]}
    assert nodes["index"].attrs == {"_tensor_list_sizes": [1]}
    assert nodes["mul"].source is not None and nodes["mul"].source["file"].endswith("test_extract_graph.py")


def test_example_runs(tmp_path: Path) -> None:
    check(Peak(), torch.randn(2, 3), folder=tmp_path)


def test_meta_model_with_weights_later(tmp_path: Path) -> None:
    ir = ingot.extract_ir(meta_linear(), (torch.empty(2, 4, device="meta"),), model_name="toy")
    assert ir.model_name == "toy" and ir.constants == {}
    real = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU()).eval()
    x = torch.randn(2, 4)
    (y,) = run(through_file(ir, tmp_path), (x,), real.state_dict())
    assert_close(y, real(x), 1e-6)


def test_strict_asks_for_the_meta_device() -> None:
    with pytest.raises(ingot.ExportError, match="Model must be on meta device"):
        ingot.extract_ir(torch.nn.Linear(2, 2), (torch.empty(1, 2, device="meta"),))
    with pytest.raises(ingot.ExportError, match=r"Input 0 .*cpu"):
        ingot.extract_ir(meta_linear(), (torch.empty(1, 4),))


def test_strict_looks_into_nested_inputs() -> None:
    class Nested(torch.nn.Module):
        def forward(self, pair: Any) -> torch.Tensor:
            return pair["a"] + pair["b"][0]

    given = {"a": torch.empty(2, device="meta"), "b": [torch.empty(2)]}
    with pytest.raises(ingot.ExportError, match=r"Input 0\['b'\]\[0\] .*cpu"):
        ingot.extract_ir(Nested(), (given,))


def test_failing_exports_say_why() -> None:
    with pytest.raises(ingot.ExportError, match="Failed to export model") as caught:
        ingot.extract_ir(Call(lambda x: x if x.sum() > 0 else -x), (torch.randn(3),), strict=False)
    assert caught.value.__cause__ is not None


def test_half_with_float_weights_fails_as_eager_does() -> None:
    class Half(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.linear(x.half())

    with pytest.raises(RuntimeError, match="dtype"):
        Half()(torch.randn(1, 3))
    ir = ingot.extract_ir(Half().to("meta"), (torch.empty(1, 3, device="meta"),))  # torch's meta kernels don't mind
    with pytest.raises(ingot.ExecutionError, match=r"Failed to execute node 'linear'.*dtype"):
        run(ir, (torch.randn(1, 3),), Half().state_dict())


class TensorInForward(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x) * torch.tensor([1.0, 2.0, 3.0])


@pytest.mark.parametrize("default_device", ["cpu", "meta"])
def test_tensors_made_in_forward_keep_their_values_on_meta(default_device: str, tmp_path: Path) -> None:
    with torch.device("meta"):
        model = TensorInForward()
    with torch.device(default_device):
        ir = ingot.extract_ir(model, (torch.empty(2, 3, device="meta"),))
    assert model.linear.weight.device.type == "meta"
    assert [value.tolist() for value in ir.constants.values()] == [[1, 2, 3]]
    real = TensorInForward().eval()
    x = torch.randn(2, 3)
    assert_close(run(through_file(ir, tmp_path), (x,), real.state_dict())[0], real(x), 1e-6)


def test_recurrent_layers_as_if_on_the_cpu() -> None:
    class Recurrent(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(3, 4)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.lstm(x * torch.tensor(2.0))[0]

    with torch.device("meta"):
        model = Recurrent()
    ir = ingot.extract_ir(model, (torch.empty(2, 1, 3, device="meta"),))
    real, x = Recurrent(), torch.randn(2, 1, 3)
    assert_close(run(ir, (x,), real.state_dict())[0], real(x).detach(), 1e-5)


class Attribute(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.arange(3.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.scale


def test_meta_constants_are_warned_of_and_passed_later(tmp_path: Path) -> None:
    with torch.device("meta"):
        model = Attribute()
    with pytest.warns(UserWarning, match=r"Skipping 1 meta-device constant\(s\).*scale"):
        ir = ingot.extract_ir(model, (torch.empty(2, 3, device="meta"),))
    x = torch.randn(2, 3)
    assert_close(run(ir, (x,), constants={"scale": torch.arange(3.0)})[0], x * torch.arange(3.0))
    with pytest.raises(ingot.ExecutionError, match=r"Weight/input 'c_scale' not found"):
        run(ir, (x,))
    assert ingot.verify_ir_with_state_dict(ir, {}, Attribute(), (x,))[0]


def test_keyword_inputs(tmp_path: Path) -> None:
    class Keywords(torch.nn.Module):
        def forward(self, x: torch.Tensor, *, scale: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
            return x * scale if bias is None else x * scale + bias

    x, scale = torch.randn(2), torch.randn(2)
    ir = through_file(ingot.extract_ir(Keywords(), (x,), kwargs={"scale": scale}, strict=False), tmp_path)
    assert [tensor.name for tensor in ir.graph_inputs] == ["x", "scale"]
    assert torch.equal(run(ir, (x,), kwargs={"scale": scale})[0], x * scale)
    assert ingot.verify_ir_with_state_dict(ir, {}, Keywords(), (x,), kwargs={"scale": scale})[0]


def test_dynamic_shapes_are_kept(tmp_path: Path) -> None:
    batch = torch.export.Dim("batch", min=2, max=8)
    model = torch.nn.Linear(4, 3)
    ir = ingot.extract_ir(model, (torch.randn(3, 4),), dynamic_shapes=({0: batch},), strict=False)
    ir = through_file(ir, tmp_path)
    assert ir.graph_inputs[0].shape == ("batch", 4)
    assert ir.symbols["batch"]["min"] == 2 and ir.symbols["batch"]["max"] == 8
    for size in (2, 5, 8):
        x = torch.randn(size, 4)
        assert_close(run(ir, (x,), model.state_dict())[0], model(x), 1e-6)
    with pytest.raises(ingot.ExecutionError, match=r"Input 'input'.*'batch' is between 2 and 8"):
        run(ir, (torch.randn(9, 4),), model.state_dict())


def test_decompositions() -> None:
    model, args = torch.nn.Linear(4, 3), (torch.randn(2, 4),)
    assert [node.op_type for node in ingot.extract_ir(model, args, strict=False).nodes] == ["aten.linear.default"]
    core = ingot.extract_ir(model, args, strict=False, decompositions="default")
    assert "aten.addmm.default" in [node.op_type for node in core.nodes]
    assert ingot.verify_ir_with_state_dict(core, model.state_dict(), model, args)[0]


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(10, 4)
        self.head = torch.nn.Linear(4, 10, bias=False)
        self.head.weight = self.embedding.weight
        self.register_buffer("scale", torch.ones(4))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embedding(ids) * self.scale)


@pytest.mark.parametrize("device", ["meta", "cpu"])
def test_tied_weights_count_once(device: str) -> None:
    model = Tied().to(device)
    model.head.weight = model.embedding.weight
    ir = ingot.extract_ir(model, (torch.zeros(3, dtype=torch.int64, device=device),), strict=device == "meta")
    ties = {weight.name: weight.same_as for weight in ir.weights}
    assert ties == {"embedding.weight": None, "head.weight": "embedding.weight", "scale": None}
    assert ir.num_parameters() == 40
    real = Tied()
    once = {name: tensor for name, tensor in real.state_dict().items() if name != "head.weight"}
    ids = torch.randint(0, 10, (3,))
    assert_close(run(ir, (ids,), once)[0], real(ids), 1e-6)


def test_nodes_know_their_module_and_line() -> None:
    ir = ingot.extract_ir(meta_linear(), (torch.empty(2, 4, device="meta"),))
    assert [(node.module, node.module_type.rpartition(".")[2]) for node in ir.nodes] == [("0", "Linear"), ("1", "GELU")]


def test_graph_analyzer() -> None:
    model = torch.nn.Linear(4, 3)
    analyzer = ingot.GraphAnalyzer(ingot.export_model(model, (torch.randn(2, 4),), strict=False))
    (info,) = analyzer.get_call_function_nodes()
    assert isinstance(info, ingot.NodeInfo)
    assert (info.name, info.op, info.target) == ("linear", "call_function", torch.ops.aten.linear.default)
    assert [str(argument) for argument in info.args] == ["input", "p_weight", "p_bias"] and info.kwargs == {}
    assert [meta.name for meta in info.input_metas] == ["input", "p_weight", "p_bias"]
    assert [meta.name for meta in info.output_metas] == ["linear"]
    assert [meta.name for meta in analyzer.get_weights()] == ["weight", "bias"]


def llama(layers: int) -> tuple[float, float]:
    """Seconds and megabytes that extracting a Llama of 70B's width takes, in a process of its own."""
    code = f"""
import resource, time, torch, transformers, ingot, warnings
warnings.simplefilter("ignore")
config = transformers.LlamaConfig(hidden_size=8192, intermediate_size=28672, num_hidden_layers={layers},
    num_attention_heads=64, num_key_value_heads=8, vocab_size=128256, use_cache=False)
with torch.device("meta"):
    model = transformers.LlamaForCausalLM(config).eval()
class Logits(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.model = model
    def forward(self, ids):
        return self.model(ids, use_cache=False).logits
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.process_time()
ir = ingot.extract_ir(Logits(), (torch.zeros(1, 128, dtype=torch.int64, device="meta"),))
seconds = time.process_time() - started
memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
print(seconds, memory, ir.num_parameters(), len(ir.nodes))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=900)
    seconds, memory, *_ = map(float, done.stdout.split())
    return seconds, memory


@pytest.mark.slow
def test_a_layer_of_a_70b_model_costs_little() -> None:
    """80 of them, all of Llama 70B, take some 35 s of one core and 233 MB; most of both is torch.export's."""
    few, more = llama(2), llama(6)
    assert (more[0] - few[0]) / 4 < 1, "seconds for a layer"
    assert (more[1] - few[1]) / 4 < 8, "megabytes for a layer"


def test_plain_dataclasses() -> None:
    meta = TensorMeta("x", (1, 2), "float32")
    assert (meta.producer_node, meta.producer_output_idx) == (None, 0)
    assert meta.to_dict() == {"name": "x", "shape": [1, 2], "dtype": "float32"}
    node = OpNode("relu", "aten.relu.default", [meta], [meta])
    assert node.attrs == {} and node.to_dict()["attrs"] == {}
    ir = IR([node], [meta], [meta], [])
    assert "constants" not in ir.to_dict() and "format" not in ir.to_dict()
    assert IR.from_dict(ir.to_dict()) == ir
