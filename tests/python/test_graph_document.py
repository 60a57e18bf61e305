"""Graph documents: what they say about a program, and that they run as eager does once they have weights."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema
import pytest
import torch
from ingot import _core
from ingot._serialize import _json_of, _tensors, serialize, weight_ref
from safetensors.torch import load_file, save_file
from support import assert_close, export, ingot, ingot_json, refused, run_ingot, save_pt2, tensors_of
from torch.export import Dim

SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schema/graph.schema.json").read_text())


class Case(NamedTuple):
    module: torch.nn.Module
    args: tuple[Any, ...]
    options: dict[str, Any] | None = None
    decomposed: bool = False


class Peak(torch.nn.Module):
    """The example of the format: several results, a scalar operand, lists, a constant."""

    def __init__(self) -> None:
        super().__init__()
        self.gain = torch.nn.Parameter(torch.rand(3))
        self.pick = torch.tensor([2, 0])

    def forward(self, sig: torch.Tensor) -> tuple[torch.Tensor, ...]:
        values, indices = (sig * self.gain).max(1)
        first, _, last = sig.split(1, 1)
        return torch.cat([values, values + 0.5])[self.pick], indices, first.to(torch.float16), last


class Dynamic(torch.nn.Module):
    def forward(self, x: torch.Tensor, n: int) -> dict[str, torch.Tensor]:
        return {"twice": torch.cat([x, x]), "zeros": torch.zeros(x.shape[0] * 2 + n), "flat": x.reshape(-1)}


class Branches(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda x: x * 2 + 1, lambda x: x.relu() - 3, (x,))


class Keywords(torch.nn.Module):
    """Tensors that are passed by keyword or behind an optional one; dtypes behind a default."""

    def forward(self, x: torch.Tensor, order: torch.Tensor, bound: torch.Tensor) -> tuple[torch.Tensor, ...]:
        bias = torch.nn.functional.layer_norm(x, (4,), bias=bound)
        found = torch.searchsorted(x, bound.expand(3, 4).contiguous(), sorter=order)
        return bias, found, x.clamp(max=bound), x.sum(1, dtype=torch.float64), x[:, [0, 2]]


class Tied(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = torch.nn.Embedding(7, 4)
        self.head = torch.nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.head(self.embed(ids).tanh())


class Counter(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1))
        self.register_buffer("scale", torch.full((2,), 3.0), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return x * self.count * self.scale


class Constants(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.half = torch.tensor([0.1, float("inf"), -2.5], dtype=torch.bfloat16)
        self.wave = torch.tensor([1 + 2j, float("nan") + 0j])
        self.large = torch.arange(2000).reshape(40, 50)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x.bfloat16() * self.half, torch.view_as_real(self.wave * 2), self.large.t() + 1


class Loop(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        doubled = torch.cond(x.shape[0] > 4, lambda x: (x * 2, x.sum()), lambda x: (x - 1, x.mean()), (x,))
        rows = x.nonzero()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = x @ x.t()
        return *doubled, rows, product


class Backwards(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 2 - x


def _peak() -> Case:
    return Case(Peak(), (torch.rand(2, 3),))


def _dynamic() -> Case:
    return Case(Dynamic(), (torch.rand(3, 2), 4), {"dynamic_shapes": ({0: Dim("batch", min=2, max=64)}, None)})


def _keywords() -> Case:
    x = torch.rand(3, 4)
    return Case(Keywords(), (x, x.argsort(1), torch.rand(4)))


def _conv() -> Case:
    net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.GELU("tanh"))
    return Case(net.eval(), (torch.rand(1, 3, 6, 6),))


CASES: dict[str, Callable[[], Case]] = {
    "peak": _peak,
    "dynamic": _dynamic,
    "branches": lambda: Case(Branches(), (torch.rand(3, 2),)),
    "keywords": _keywords,
    "loop": lambda: Case(Loop(), (torch.rand(5, 3),), {"dynamic_shapes": ({0: Dim("rows", min=2)},)}),
    "tied": lambda: Case(Tied(), (torch.tensor([1, 5, 2]),)),
    "counter": lambda: Case(Counter(), (torch.rand(2),)),
    "constants": lambda: Case(Constants(), (torch.rand(3),)),
    "lstm": lambda: Case(torch.nn.LSTM(3, 4, batch_first=True), (torch.rand(2, 5, 3),)),
    "conv": _conv,
    "decomposed": lambda: Case(_conv().module, _conv().args, decomposed=True),
    "backwards": lambda: Case(Backwards(), (torch.rand(3),), decomposed=True),
}


def exported(case: Case) -> torch.export.ExportedProgram:
    program = export(case.module, case.args, **(case.options or {}))
    return program.run_decompositions() if case.decomposed else program


def document_of(program: torch.export.ExportedProgram, name: str = "Model") -> dict[str, Any]:
    text = _core.extract_document(_json_of(program), name)
    assert _core.validate_document(text) == []
    return json.loads(text)


@pytest.fixture(params=CASES)
def case(request: pytest.FixtureRequest) -> Case:
    torch.manual_seed(0)
    return CASES[request.param]()


def test_documents_satisfy_the_schema(case: Case) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(document_of(exported(case)))


def test_the_schema_itself_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_names_and_order_are_those_of_fx(case: Case) -> None:
    program = exported(case)
    nodes = [node for node in program.graph.nodes if node.op == "call_function"]
    document = document_of(program)
    assert [node["name"] for node in document["nodes"]] == [node.name for node in nodes]
    assert [node["op_type"] for node in document["nodes"]] == [str(node.target) for node in nodes]
    mapping = document["weight_name_mapping"]
    assert [node.name for node in program.graph.nodes if node.op == "placeholder" and node.name in mapping] == [
        *mapping
    ]


def test_text_is_deterministic_and_indented(case: Case) -> None:
    program = exported(case)
    text = _core.extract_document(_json_of(program), "Model")
    assert text == _core.extract_document(_json_of(program), "Model")
    assert text.startswith('{\n  "format": "ingot.graph",\n  "format_version": "1.0",\n  "model_name": "Model",\n')


def checkpoint(module: torch.nn.Module, path: Path) -> Path:
    save_file({name: tensor.detach().clone().contiguous() for name, tensor in module.state_dict().items()}, path)
    return path


def run_document(document: Path, weights: Path, case: Case, folder: Path) -> list[torch.Tensor]:
    names = [entry["name"] for entry in json.loads(document.read_text())["graph_inputs"]]
    save_file(dict(zip(names, tensors_of(case.args), strict=True)), folder / "in.safetensors")
    out = folder / "out.safetensors"
    ingot("run", document, "--weights", weights, "--inputs", folder / "in.safetensors", "--outputs", out)
    results = load_file(out)
    return list(results.values())


def match(actual: list[torch.Tensor], expected: list[torch.Tensor]) -> None:
    """Files sort their tensors by name, so each result is looked for."""
    left = list(actual)
    for want in expected:
        for i, have in enumerate(left):
            try:
                assert_close(have, want)
            except AssertionError:
                continue
            del left[i]
            break
        else:
            raise AssertionError(f"no result is {want}; there are {left}")


def test_extracted_without_pytorch_and_run_as_eager(case: Case, tmp_path: Path) -> None:
    weights = checkpoint(case.module, tmp_path / "w.safetensors")
    pt2 = save_pt2(exported(case), tmp_path / "model.pt2")
    expected = tensors_of(case.module(*case.args))
    document = tmp_path / "new" / "graph.json"
    said = ingot_json("extract", pt2, "-o", document, "--model-name", "Mine")
    assert said["document"] == str(document)
    assert said["model_name"] == "Mine"
    assert ingot_json("validate", document)["kind"] == "graph"
    match(run_document(document, weights, case, tmp_path), expected)


def test_documents_compile_to_what_their_programs_do(case: Case) -> None:
    """The same operations, and the same places in the source."""
    program = exported(case)
    serialized = serialize(program)
    document = _core.extract_document(serialized.json, "Model").encode()
    direct, extracted = (
        _core.Converted.convert([(text, serialized.weights, '{"entry": "main"}')], "{}")
        for text in (serialized.json, document)
    )
    assert extracted.text(with_locations=True) == direct.text(with_locations=True)


def test_constants_are_taken_along() -> None:
    torch.manual_seed(0)
    module = Constants()
    program = exported(Case(module, (torch.rand(3),)))
    tensors = [(name, tensor) for name, tensor, is_constant in _tensors(program) if is_constant]
    constants = [weight_ref(name, tensor, True, False) for name, tensor in tensors]
    document = json.loads(_core.extract_document(_json_of(program), "M", constants=constants))
    assert document["constants"]["half"] == {"dtype": "bfloat16", "shape": [3], "data": [0.10009765625, "inf", -2.5]}
    assert document["constants"]["wave"]["data"] == [[1.0, 2.0], ["nan", 0.0]]
    assert "large" not in document["constants"]
    assert "large" in [weight["name"] for weight in document["weights"]]


def as_older(value: Any) -> Any:
    """Tagged values as other tools write them."""
    if isinstance(value, dict) and len(value) == 1:
        ((tag, text),) = value.items()
        return f"torch.{text}" if tag in ("$dtype", "$layout", "$memory_format") else text
    return value


def older(document: dict[str, Any]) -> dict[str, Any]:
    """The same document in the older format, which says less."""
    keys = ("model_name", "pytorch_version", "graph_inputs", "graph_outputs", "weights", "weight_name_mapping")
    plain = {key: document[key] for key in (*keys, "constants") if key in document}
    plain["nodes"] = [
        {
            **{key: node[key] for key in ("name", "op_type", "inputs", "outputs")},
            "attrs": {key: as_older(value) for key, value in node["attrs"].items()},
        }
        for node in document["nodes"]
    ]
    return plain


@pytest.mark.parametrize("name", ["peak", "tied", "lstm", "conv", "decomposed", "backwards"])
def test_older_documents_run_as_well(name: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    case = CASES[name]()
    weights = checkpoint(case.module, tmp_path / "w.safetensors")
    pt2 = save_pt2(exported(case), tmp_path / "model.pt2")
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(older(json.loads(ingot("extract", pt2)))))
    ingot("validate", path)
    match(run_document(path, weights, case, tmp_path), tensors_of(case.module(*case.args)))


def test_arguments_are_recorded_one_by_one() -> None:
    torch.manual_seed(0)
    nodes = {node["op_type"]: node for node in document_of(exported(_keywords()))["nodes"]}
    norm = {record["name"]: record for record in nodes["aten.layer_norm.default"]["args"]}
    assert norm["weight"] == {"name": "weight", "kind": "value", "value": None}
    assert norm["bias"]["kind"] == "tensor"
    assert norm["eps"]["kind"] in ("value", "default")
    total = {record["name"]: record for record in nodes["aten.sum.dim_IntList"]["args"]}
    assert total["keepdim"] == {"name": "keepdim", "kind": "default", "value": False}
    assert total["dtype"] == {"name": "dtype", "kind": "value", "value": {"$dtype": "float64"}, "keyword": True}
    assert nodes["aten.sum.dim_IntList"]["attrs"] == {"dim": [1], "dtype": {"$dtype": "float64"}}
    assert nodes["aten.index.Tensor"]["attrs"]["_tensor_list_none_masks"] == [[True, False]]
    sorter = nodes["aten.searchsorted.Tensor"]["inputs"][-1]["name"]
    assert sorter == "order"


def test_results_of_several_are_picked() -> None:
    nodes = {node["name"]: node for node in document_of(exported(_peak()))["nodes"]}
    assert [output["name"] for output in nodes["max_1"]["outputs"]] == ["max_1_0", "max_1_1"]
    assert nodes["getitem_1"]["attrs"] == {"index": 1}
    assert [(i["producer_node"], i["producer_output_idx"]) for i in nodes["getitem_1"]["inputs"]] == [
        ("max_1", 0),
        ("max_1", 1),
    ]
    assert nodes["add"]["attrs"] == {"other": 0.5}
    assert nodes["cat"]["attrs"] == {"_tensor_list_sizes": [2]}
    assert nodes["mul"]["source"]["function"] == "forward"


def test_sizes_that_vary() -> None:
    document = document_of(exported(_dynamic()))
    (symbol,) = document["symbols"]
    assert document["graph_inputs"][0]["shape"] == [symbol, 2]
    assert {key: document["symbols"][symbol][key] for key in ("min", "max")} == {"min": 2, "max": 64}
    assert document["graph_outputs"][0]["shape"] == [f"2*{symbol}", 2]
    assert f"2*{symbol}" in document["expressions"]


def test_branches_and_state() -> None:
    document = document_of(exported(CASES["branches"]()))
    (cond,) = [node for node in document["nodes"] if node["op_type"] == "cond"]
    bodies = [record["value"] for record in cond["args"] if record["kind"] == "graph"]
    assert sorted(bodies) == sorted(document["subgraphs"])
    counter = document_of(exported(CASES["counter"]()))
    assert [node["mutates"] for node in counter["nodes"] if node["op_type"] == "aten.add_.Tensor"] == [["b_count"]]
    assert [weight.get("persistent", True) for weight in counter["weights"]] == [True, False]


def test_tied_weights_are_told_and_needed_once(tmp_path: Path) -> None:
    case = CASES["tied"]()
    document = tmp_path / "g.json"
    ingot("extract", save_pt2(exported(case), tmp_path / "model.pt2"), "-o", document)
    weights = json.loads(document.read_text())["weights"]
    assert [(weight["name"], weight.get("same_as")) for weight in weights] == [
        ("embed.weight", None),
        ("head.weight", "embed.weight"),
    ]
    expected = [case.module(*case.args)]
    for name in ("embed.weight", "head.weight"):
        save_file({name: case.module.state_dict()[name].clone()}, tmp_path / "w.safetensors")
        match(run_document(document, tmp_path / "w.safetensors", case, tmp_path), expected)


class Positions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x + torch.arange(4, device=x.device)).to(torch.float64)


def test_a_program_on_the_meta_device(tmp_path: Path) -> None:
    with torch.device("meta"):
        program = export(Positions(), (torch.empty(2, 4),))
    document = document_of(program, "toy")
    weight = {"name": "linear.weight", "shape": [3, 4], "dtype": "float32", "kind": "parameter"}
    assert document["weights"][0] == weight
    saved = json.loads(ingot("extract", save_pt2(program, tmp_path / "toy.pt2"), "--model-name", "toy"))
    assert saved == document
    path = tmp_path / "toy.json"
    path.write_text(json.dumps(document))
    case = Case(Positions(), (torch.rand(2, 4),))
    weights = checkpoint(case.module, tmp_path / "w.safetensors")
    match(run_document(path, weights, case, tmp_path), [case.module(*case.args)])


def test_sharded_checkpoints(tmp_path: Path) -> None:
    case = _conv()
    pt2 = save_pt2(exported(case), tmp_path / "model.pt2")
    ingot("extract", pt2, "-o", tmp_path / "g.json")
    shards: dict[str, dict[str, torch.Tensor]] = {"a.safetensors": {}, "b.safetensors": {}}
    for i, (name, tensor) in enumerate(case.module.state_dict().items()):
        shards[sorted(shards)[i % 2]][name] = tensor.clone()
    index = {name: file for file, tensors in shards.items() for name in tensors}
    for file, tensors in shards.items():
        save_file(tensors, tmp_path / file)
    (tmp_path / "m.index.json").write_text(json.dumps({"weight_map": index}))
    match(
        run_document(tmp_path / "g.json", tmp_path / "m.index.json", case, tmp_path),
        tensors_of(case.module(*case.args)),
    )
    ingot("convert", tmp_path / "g.json", "--weights", tmp_path / "m.index.json", "-o", tmp_path / "m.ingot")
    ingot("validate", tmp_path / "m.ingot")


def test_every_wrong_weight_is_named(tmp_path: Path) -> None:
    case = _conv()
    ingot("extract", save_pt2(exported(case), tmp_path / "model.pt2"), "-o", tmp_path / "g.json")
    state = {name: tensor.clone() for name, tensor in case.module.state_dict().items()}
    del state["0.weight"]
    state["0.bias"] = torch.zeros(5)
    state["1.weight"] = state["1.weight"].double()
    state["other"] = torch.zeros(1)
    save_file(state, tmp_path / "w.safetensors")
    done = run_ingot(
        "convert", tmp_path / "g.json", "--weights", tmp_path / "w.safetensors", "-o", tmp_path / "m.ingot"
    )
    assert done.returncode == 1
    for part in (
        "weight '0.weight' is missing",
        "weight '0.bias' has the shape [5], the graph needs [4]",
        "weight '1.weight' is float64, the graph needs float32",
        "the graph doesn't use 1 of the weights: other",
    ):
        assert part in done.stderr, done.stderr
    assert not (tmp_path / "m.ingot").exists()


def test_every_problem_of_a_document_is_told(tmp_path: Path) -> None:
    document = document_of(exported(_peak()))
    document["nodes"][1]["inputs"][0]["producer_node"] = "nobody"
    document["nodes"][2]["inputs"][0]["producer_output_idx"] = 7
    document["graph_outputs"][0]["dtype"] = "float99"
    path = tmp_path / "g.json"
    path.write_text(json.dumps(document))
    said = refused("validate", path)
    for part in ("nodes[1].inputs[0]", "'nobody' does not exist", "nodes[2].inputs[0]", "float99"):
        assert part in said, said
    assert len(_core.validate_document(path.read_text())) >= 3
    failed = run_ingot("validate", path, "--json")
    assert len(json.loads(failed.stdout)["error"]["notes"]) >= 3
    assert _core.validate_document("{") != []


def test_newer_versions_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "g.json"
    path.write_text('{"format": "ingot.graph", "format_version": "2.0", "nodes": []}')
    assert "2.0" in refused("validate", path)
    assert "error" in refused("convert", path, "-o", tmp_path / "x.ingot")
