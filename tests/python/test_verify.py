"""Verification node by node: what departs is found and named, and what does not is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ingot
import ingot.ops as ops
import pytest
import torch
from safetensors.torch import save_file
from support import export, run_ingot, save_pt2
from torch.nn import functional as F

ROOT = Path(__file__).parents[2]


class Block(torch.nn.Module):
    def __init__(self, size: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(size)
        self.qkv = torch.nn.Linear(size, 3 * size)
        self.out = torch.nn.Linear(size, size)
        self.up = torch.nn.Linear(size, 2 * size)
        self.down = torch.nn.Linear(2 * size, size)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = self.qkv(self.norm(x)).chunk(3, -1)
        q, k, v = (part.unflatten(-1, (2, -1)).transpose(1, 2) for part in parts)
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.down(F.gelu(self.up(x)))


class Transformer(torch.nn.Module):
    def __init__(self, layers: int = 12, size: int = 16) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(20, size)
        self.layers = torch.nn.ModuleList(Block(size) for _ in range(layers))
        self.head = torch.nn.Linear(size, 20)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x).log_softmax(-1)


@pytest.fixture(scope="module")
def transformer() -> torch.export.ExportedProgram:
    torch.manual_seed(0)
    return export(Transformer().eval(), (torch.randint(0, 20, (2, 5)),))


def gelu_that_is_wrong_in(layer: int) -> Any:
    """As torch has it, except in one layer."""

    def lower(values: dict[str, Any], node: Any, loc: Any) -> Any:
        x = values[node.args[0].name]
        stack = str(list(node.meta["nn_module_stack"].values()))
        return ops.silu(x) if f"layers.{layer}'" in stack or f"layers.{layer}." in stack else ops.gelu(x)

    return lower


@pytest.mark.parametrize("bisect", [False, True])
def test_a_wrong_lowering_in_one_layer_of_twelve(transformer: torch.export.ExportedProgram, bisect: bool) -> None:
    converter = ingot.TorchConverter()
    converter.add_exported_program(transformer)
    converter.register_torch_lowering("aten::gelu", allow_override=True)(gelu_that_is_wrong_in(7))
    report = ingot.verify(converter.to_ingot(), bisect=bisect)
    assert not report
    assert report.verdict == "lowering"
    found = report.departure
    assert found is not None
    assert (found.node, found.op, found.module) == ("gelu_7", "aten.gelu.default", "layers.7")
    assert Path(found.file).name == "test_verify.py"
    assert "self.down(F.gelu(self.up(x)))" in found.code
    assert report.also_departing == []
    assert found.eager["min"] > found.ingot["min"]
    assert "departs at node 'gelu_7', aten.gelu.default" in str(report)
    assert found.call == f't["{found.operands[0]["name"]}"]'.join(("torch.ops.aten.gelu.default(", ")"))


@pytest.mark.parametrize("bisect", [False, True])
def test_a_clean_transformer(transformer: torch.export.ExportedProgram, bisect: bool) -> None:
    report = ingot.verify(ingot.convert(transformer), bisect=bisect)
    assert report, str(report)
    assert report.departure is None
    assert report.compared == (0 if bisect else report.nodes)
    json.dumps(report.to_dict())


PLUGIN = r"""
#include "ingot/plugin.h"

static int32_t lower(const ingot_builder_api *api, ingot_builder *builder, void *user) {
  (void)user;
  ingot_value x = api->argument_value(builder, api->argument(builder, "self")), made[1];
  ingot_op op = {0};
  op.name = "silu";
  op.operands = &x;
  op.operand_count = 1;
  op.attributes = "";
  op.dtype = INGOT_NO_DTYPE;
  if (api->create(builder, &op, made, 1, NULL) != INGOT_PLUGIN_OK)
    return INGOT_PLUGIN_FAILED;
  return api->set_results(builder, made, 1);
}

INGOT_PLUGIN_EXPORT int32_t ingot_plugin_register(const ingot_plugin_api *api) {
  ingot_lowering lowering = {"aten::gelu", lower, NULL};
  return api->add_lowering(api->registry, &lowering);
}
"""


@pytest.fixture(scope="module")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plugin")
    (folder / "gelu.c").write_text(PLUGIN)
    command = ["cc", "-shared", "-fPIC", f"-I{ROOT / 'include'}", folder / "gelu.c", "-o", folder / "gelu.so"]
    subprocess.run(command, check=True)
    return folder / "gelu.so"


@pytest.fixture(scope="module")
def pt2(transformer: torch.export.ExportedProgram, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pt2(transformer, tmp_path_factory.mktemp("verify") / "transformer.pt2")


def test_the_command_line(pt2: Path, plugin: Path, tmp_path: Path) -> None:
    done = run_ingot("verify", pt2, "--plugin", plugin, "--save-inputs", tmp_path / "found")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("departs at node 'gelu', aten.gelu.default")
    assert "its lowering is wrong" in done.stdout
    assert "11 more: gelu_1, gelu_2" in done.stdout
    assert "the inputs are random (seed 0" in done.stdout
    again = subprocess.run([sys.executable, tmp_path / "found" / "gelu.py"], capture_output=True, text=True, check=True)
    lines = again.stdout.split("eager then:")
    assert lines[0].removeprefix("eager now:").split() == lines[1].split("ingot:")[0].split()


def test_the_command_line_bisects_to_the_same_node(pt2: Path, plugin: Path) -> None:
    done = run_ingot("verify", pt2, "--plugin", plugin, "--bisect", "--json")
    assert done.returncode == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["departure"]["node"] == "gelu"
    assert report["verdict"] == "lowering"


def test_the_command_line_without_departure(pt2: Path) -> None:
    done = run_ingot("verify", pt2, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads(done.stdout)
    assert report["equal"]
    assert report["compared"] == report["nodes"]


def test_exit_codes_of_mistakes(pt2: Path, tmp_path: Path) -> None:
    assert run_ingot("verify", tmp_path / "none.pt2").returncode == 2
    assert run_ingot("verify", pt2, "--no-such-flag").returncode == 2
    (tmp_path / "x.safetensors").write_bytes(b"nothing")
    assert run_ingot("verify", pt2, "--inputs", tmp_path / "x.safetensors").returncode == 2


def test_graphs_without_weights(plugin: Path, tmp_path: Path) -> None:
    model, ids = Transformer(layers=2).eval(), torch.randint(0, 20, (2, 5))
    with torch.device("meta"):
        bare = Transformer(layers=2).eval()
    ir = ingot.extract_ir(bare, (ids.to("meta"),))
    for bisect in (False, True):
        report = ingot.verify(ir, model, (ids,), bisect=bisect)
        assert report, str(report)
        report = ingot.verify(ir, weights=model.state_dict(), inputs=(ids,), plugins=[plugin], bisect=bisect)
        assert report.departure is not None
        assert (report.departure.node, report.departure.module) == ("gelu", "layers.0")
        assert Path(report.departure.file).name == "test_verify.py"
    with torch.no_grad():
        model.head.bias += 1
    other = ingot.verify(ir, model, (ids,), per_node=False)
    assert other, str(other)
    model.layers[0].norm.eps = 10.0
    assert ingot.verify(ir, model, (ids,), per_node=False).verdict == "export"
    ingot.save_ir(ir, tmp_path / "graph.json")
    save_file(model.state_dict(), tmp_path / "weights.safetensors")
    done = run_ingot("verify", tmp_path / "graph.json", "--weights", tmp_path / "weights.safetensors")
    assert done.returncode == 0, done.stdout + done.stderr
    flags = ["--weights", tmp_path / "weights.safetensors", "--plugin", plugin]
    done = run_ingot("verify", tmp_path / "graph.json", *flags)
    assert done.returncode == 1, done.stderr
    assert "departs at node 'gelu', aten.gelu.default" in done.stdout
    assert "test_verify.py:" in done.stdout


class InPlace(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(4))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        y = x + 1
        y.mul_(2)
        self.total.add_(y.sum(0))
        z = y * 3  # sees what mul_ wrote
        z[0].relu_()
        return z, self.total * 1


class Branch(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = torch.cond(x.sum() > 0, lambda a: a.sin() + 1, lambda a: a.cos() - 1, (x,))
        return y * 2


class Several(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> dict[str, Any]:
        values, places = x.topk(2, -1)
        left, right = x.split([1, x.shape[1] - 1], 1)
        return {"top": (values, places), "sides": [left.exp(), right.bool()], "none": None}


class Chance(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        noisy = F.dropout(x, 0.5, training=True) + torch.randn_like(x)
        fresh = torch.empty_like(x)
        fresh.normal_()
        return (noisy + fresh).relu() * 3


class Recurrent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(4, 6, batch_first=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.lstm(x.unsqueeze(0))


def convolutional() -> torch.nn.Module:
    torch.manual_seed(0)
    layers = [
        torch.nn.Conv2d(3, 8, 3),
        torch.nn.BatchNorm2d(8),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.LazyLinear(5),
    ]
    model = torch.nn.Sequential(*layers)
    model(torch.randn(1, 3, 8, 8))
    return model.eval()


CLEAN = {
    "in_place": (InPlace(), (torch.randn(3, 4),)),
    "branch": (Branch(), (torch.randn(3),)),
    "several": (Several(), (torch.randn(3, 4),)),
    "chance": (Chance(), (torch.randn(3, 4),)),
    "recurrent": (Recurrent(), (torch.randn(3, 4),)),
    "convolutional": (convolutional(), (torch.randn(2, 3, 8, 8),)),
    "half": (torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Softmax(-1)).half(), (torch.randn(3, 8).half(),)),
    "bfloat16": (
        torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU()).bfloat16(),
        (torch.randn(3, 8).bfloat16(),),
    ),
}


@pytest.mark.parametrize("bisect", [False, True])
@pytest.mark.parametrize("name", CLEAN)
def test_clean_models(name: str, bisect: bool) -> None:
    model, inputs = CLEAN[name]
    report = ingot.verify(model, model if name != "chance" else None, inputs, bisect=bisect)
    assert report, str(report)


@pytest.mark.parametrize("name", ["in_place", "branch", "several", "chance", "recurrent"])
def test_clean_models_by_libtorch(name: str, tmp_path: Path) -> None:
    pt2 = save_pt2(export(*CLEAN[name]), tmp_path / "model.pt2")
    for flags in ([], ["--bisect"]):
        done = run_ingot("verify", pt2, *flags)
        assert done.returncode == 0, done.stdout + done.stderr


def test_chance_is_left_out_and_said() -> None:
    report = ingot.verify(Chance(), inputs=(torch.randn(3, 4),))
    why = {entry["op"]: entry["why"] for entry in report.left_out}
    assert why["aten.dropout.default"] == why["aten.normal_.default"] == "its values are random"
    assert why["aten.empty_like.default"] == "its values are undefined"
    assert "left out" in str(report)


@pytest.mark.parametrize("bisect", [False, True])
def test_behind_chance_nodes_are_still_compared(bisect: bool) -> None:
    wrong = {"aten::relu": lambda values, node, loc: values[node.args[0].name]}
    report = ingot.verify(Chance(), inputs=(torch.randn(3, 4),), lowerings=wrong, bisect=bisect)
    assert report.departure is not None
    assert report.departure.op == "aten.relu.default"


@pytest.mark.parametrize("bisect", [False, True])
def test_contents_after_in_place_nodes(bisect: bool) -> None:
    wrong = {"aten::relu": lambda values, node, loc: ops.neg(next(iter(values.values())))}
    report = ingot.verify(InPlace(), inputs=(torch.randn(3, 4),), lowerings=wrong, bisect=bisect)
    assert report.departure is not None
    assert report.departure.op == "aten.relu_.default"


@pytest.mark.parametrize("bisect", [False, True])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_node_inside_of_a_branch_is_named(bisect: bool, sign: int) -> None:
    lower = {"aten::sin": ops.cos, "aten::cos": ops.sin}
    wrong = {
        name: lambda values, node, loc, build=build: build(next(iter(values.values()))) for name, build in lower.items()
    }
    report = ingot.verify(Branch(), inputs=(sign * torch.rand(3),), lowerings=wrong, bisect=bisect)
    assert report.departure is not None
    assert report.departure.node == ("cond/sin" if sign > 0 else "cond/cos")
    assert report.verdict == "lowering"
    assert Path(report.departure.file).name == "test_verify.py"


def test_dynamic_sizes() -> None:
    rows = torch.export.Dim("rows", min=2, max=64)

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.reshape(x.shape[0] * 2, -1).relu() + torch.arange(x.shape[0] * 2)[:, None]

    program = ingot.convert(Model(), (torch.randn(3, 4),), dynamic_shapes=({0: rows},))
    for size in (2, 7):
        report = ingot.verify(program, inputs=(torch.randn(size, 4),))
        assert report, str(report)
        assert report.compared > 3
    wrong = {"aten::relu": lambda values, node, loc: values[node.args[0].name]}
    program = ingot.convert(Model(), (torch.randn(3, 4),), dynamic_shapes=({0: rows},), lowerings=wrong)
    for bisect in (False, True):
        report = ingot.verify(program, inputs=(torch.randn(7, 4),), bisect=bisect)
        assert report.departure is not None
        assert report.departure.node == "relu"
        assert report.departure.type == "float32 [14, 2]"


def test_a_node_that_is_wrong_in_company_only() -> None:
    before: list[str] = []

    def negated(values: dict[str, Any], node: Any, loc: Any) -> Any:
        before.append("neg")
        return ops.neg(values[node.args[0].name])

    def relu(values: dict[str, Any], node: Any, loc: Any) -> Any:
        is_alone = before[-1:] != ["neg"]
        before.append("relu")
        x = values[node.args[0].name]
        return ops.relu(x) if is_alone else x

    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(-x) * 2

    wrong = {"aten::neg": negated, "aten::relu": relu}
    report = ingot.verify(Model(), inputs=(torch.randn(8),), lowerings=wrong, bisect=True)
    assert report.verdict == "company", str(report)
    assert report.departure is not None
    assert report.departure.node == "relu"


def test_rounding_that_adds_up_is_no_wrong_lowering() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            for _ in range(12):
                x = torch.sin(x * 7).exp()
            return x

    report = ingot.verify(Model(), inputs=(torch.randn(256),))
    assert report.verdict in ("equal", "adds_up"), str(report)
    assert report.compared == report.nodes


def test_outputs_alone(transformer: torch.export.ExportedProgram) -> None:
    program = ingot.convert(transformer, lowerings={"aten::gelu": gelu_that_is_wrong_in(7)})
    report = ingot.verify(program, per_node=False)
    assert report.verdict == "outputs"
    assert report.compared == 0
    assert ingot.verify(ingot.convert(transformer), per_node=False)


def test_tolerances_of_the_caller() -> None:
    wrong = {"aten::relu": lambda values, node, loc: ops.mul(ops.relu(values[node.args[0].name]), 1.001)}
    inputs = (torch.rand(4) + 0.5,)
    assert not ingot.verify(torch.nn.ReLU(), inputs=inputs, lowerings=wrong)
    assert ingot.verify(torch.nn.ReLU(), inputs=inputs, lowerings=wrong, rtol=0.01, atol=0.0)


def test_the_model_may_depart_from_its_export() -> None:
    class Model(torch.nn.Module):
        factor = 2.0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * self.factor

    model, x = Model(), torch.randn(3)
    program = ingot.convert(model, (x,))
    assert ingot.verify(program, model, (x,))
    model.factor = 3.0
    report = ingot.verify(program, model, (x,))
    assert report.verdict == "export"
    assert not report


def test_nothing_of_the_callers_is_changed() -> None:
    model, x = InPlace(), torch.randn(3, 4)
    before = x.clone()
    assert ingot.verify(model, model, (x,))
    assert torch.equal(x, before)
    assert torch.equal(model.total, torch.zeros(4))


def test_progress() -> None:
    said: list[tuple[str, int, int]] = []
    ingot.verify(torch.nn.ReLU(), inputs=(torch.randn(3),), progress=lambda *what: said.append(what))
    assert said
    assert all(isinstance(what, str) and done <= total for what, done, total in said)


def test_mistakes(tmp_path: Path) -> None:
    program = ingot.convert(torch.nn.ReLU(), (torch.randn(3),))
    program.save_asset(tmp_path / "relu.ingot")
    with pytest.raises(ingot.UsageError, match="does not say what it was converted from"):
        ingot.verify(ingot.load(tmp_path / "relu.ingot"), inputs=(torch.randn(3),))
    with pytest.raises(ingot.UsageError, match="needs inputs"):
        ingot.verify(torch.nn.ReLU())
    with pytest.raises(ingot.UsageError, match="there is no entry point 'other'"):
        ingot.verify(program, inputs=(torch.randn(3),), entry="other")


class Half(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 0.5


def test_entry_points_and_externalized_modules() -> None:
    model, x = torch.nn.Sequential(Half(), torch.nn.ReLU()), torch.randn(3)
    converter = ingot.TorchConverter()
    converter.add_exported_program(export(model, (x,)), entrypoint_name="plain")
    converter.add_pytorch_module(
        model, export_fn=lambda module: export(module, (x,)), externalize_modules=[Half], entrypoint_name="whole"
    )
    program = converter.to_ingot()
    assert ingot.verify(program, model, (x,), entry="plain")
    with pytest.raises(ingot.UsageError, match="several entry points"):
        ingot.verify(program, model, (x,))
    with pytest.raises(ingot.UnsupportedError, match="without externalizing"):
        ingot.verify(program, model, (x,), entry="whole")
