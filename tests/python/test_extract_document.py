"""Documents: whatever is in a graph is saved and comes back, whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import ingot
import pytest
import torch
from extracting import check, through_file
from ingot import IR, OpNode, TensorMeta


def relu(**attrs: object) -> IR:
    x, y = TensorMeta("x", (2,), "float32"), TensorMeta("relu", (2,), "float32")
    node = OpNode("relu", "aten.relu.default", [TensorMeta("x", (2,), "float32", "x")], [y], attrs)
    return IR([node], [x], [y], [])


ATTRIBUTES = {
    "dtype": torch.float16,
    "device": torch.device("cpu"),
    "layout": torch.strided,
    "memory_format": torch.channels_last,
    "number": 1.5,
    "none": None,
    "nan": float("inf"),
    "complex": 1 + 2j,
    "sizes": [1, 2],
    "text": "mean",
    "nested": {"a": [torch.int8]},
    "operator": torch.ops.aten.add.Tensor,
}


def test_attributes_of_every_kind(tmp_path: Path) -> None:
    loaded = through_file(relu(**ATTRIBUTES), tmp_path)
    assert loaded.nodes[0].attrs == ATTRIBUTES
    odd = {"a": {"$object": ["obj_lifted_0", "a.Class"]}}
    document = relu().to_dict()
    document["nodes"][0]["attrs"] = {"dict": {"$dict": odd}}
    assert ingot.deserialize_ir(json.dumps(document)).to_dict() == document
    raw = json.loads((tmp_path / "graph.json").read_text())["nodes"][0]["attrs"]
    assert raw["dtype"] == {"$dtype": "float16"} and raw["nan"] == {"$float": "inf"}


DTYPES = [torch.bfloat16, torch.float16, torch.uint8, torch.int16, torch.bool, torch.int64, torch.float64]
DTYPES += [torch.complex64, torch.float8_e4m3fn]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("count", [0, 3, 2000])
def test_constants_in_every_dtype(dtype: torch.dtype, count: int, tmp_path: Path) -> None:
    values = torch.arange(count) % 3
    constant = values.to(dtype) if dtype != torch.complex64 else torch.complex(values.float(), -values.float())
    ir = relu()
    ir.constants["c"] = constant
    for loaded in (through_file(ir, tmp_path), ingot.deserialize_ir(ingot.serialize_ir(ir))):
        found = loaded.constants["c"]
        assert found.dtype == dtype and found.shape == constant.shape
        assert torch.equal(found.view(torch.uint8), constant.view(torch.uint8)) if count else True
    assert (tmp_path / "graph.json.constants.safetensors").exists() == (count > 1024)


def test_large_constants_of_models(tmp_path: Path) -> None:
    class Large(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.randn(40, 40)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x @ self.table

    check(Large(), torch.randn(2, 40), folder=tmp_path)
    side = tmp_path / "graph.json.constants.safetensors"
    side.unlink()
    with pytest.raises(ingot.SerializationError, match=side.name):
        ingot.load_ir(tmp_path / "graph.json")


def test_special_and_exact_constants(tmp_path: Path) -> None:
    ir = relu()
    ir.constants["f"] = torch.tensor([float("nan"), float("inf"), float("-inf"), 0.1])
    ir.constants["i"] = torch.tensor(2**62 + 1)
    loaded = through_file(ir, tmp_path)
    torch.testing.assert_close(loaded.constants["f"], ir.constants["f"], rtol=0, atol=0, equal_nan=True)
    assert loaded.constants["i"].item() == 2**62 + 1 and loaded.constants["i"].shape == ()


def test_documents_of_the_original_are_read() -> None:
    document = relu().to_dict() | {"constants": {"c": {"data": [1, 2], "dtype": "int8"}}}
    for key in ("model_name", "pytorch_version", "weight_name_mapping"):
        del document[key]
    del document["nodes"][0]["attrs"]
    ir = ingot.deserialize_ir(json.dumps(document | {"unknown": 1}))
    assert ir.nodes[0].attrs == {} and ir.constants["c"].dtype == torch.int8


def test_saving_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    relu().save(path)
    before = path.read_text()
    for save in (lambda ir: ir.save(path), lambda ir: ingot.save_ir(ir, path)):
        with pytest.raises(ingot.SerializationError, match=r"attribute 'bad' of node 'relu'.*object"):
            save(relu(bad=object()))
    assert path.read_text() == before and [file.name for file in tmp_path.iterdir()] == ["graph.json"]


def test_errors_of_reading(tmp_path: Path) -> None:
    with pytest.raises(ingot.SerializationError, match="Invalid JSON"):
        ingot.deserialize_ir("{")
    for text in ("[]", "{}", '{"nodes": 3, "graph_inputs": [], "graph_outputs": [], "weights": []}'):
        with pytest.raises(ingot.SerializationError, match="Invalid IR format"):
            ingot.deserialize_ir(text)
    for broken in ({"nodes": [{"name": "a"}]}, {"graph_inputs": [{"name": "x"}]}):
        with pytest.raises(ingot.SerializationError, match="Invalid IR format"):
            ingot.deserialize_ir(json.dumps(relu().to_dict() | broken))
    with pytest.raises(FileNotFoundError):
        ingot.load_ir(tmp_path / "none.json")
    with pytest.raises(ingot.SerializationError, match="Invalid JSON"):
        ingot.deserialize_ir("[" * 100_000)
    with pytest.raises(ingot.SerializationError, match="no plain file"):
        ingot.load_ir(tmp_path)


def test_side_files_lie_beside_the_document(tmp_path: Path) -> None:
    document = relu().to_dict()
    document["constants"] = {"c": {"dtype": "float32", "shape": [1], "file": "../secret.safetensors", "key": "c"}}
    (tmp_path / "graph.json").write_text(json.dumps(document))
    with pytest.raises(ingot.SerializationError, match="not beside the document"):
        ingot.load_ir(tmp_path / "graph.json")


def test_parents_are_made(tmp_path: Path) -> None:
    ingot.save_ir(relu(), tmp_path / "a" / "b.json")
    assert ingot.load_ir(str(tmp_path / "a" / "b.json")) == relu()
    with pytest.raises(FileNotFoundError):
        relu().save(tmp_path / "c" / "b.json")


def test_validation_reports_everything() -> None:
    assert ingot.validate_ir(relu()) is True
    ir = relu()
    ir.nodes += [OpNode("relu", "", [], []), OpNode("", "aten.relu.default", [], [])]
    ir.weights.append(TensorMeta("w", None, ""))  # type: ignore[arg-type]
    with pytest.raises(ingot.SerializationError, match="IR validation failed with 5 errors:") as caught:
        ingot.validate_ir(ir)
    assert len(str(caught.value).splitlines()) == 6


def test_references_are_validated(tmp_path: Path) -> None:
    ir = ingot.extract_ir(torch.nn.Linear(2, 2), (torch.randn(1, 2),), strict=False)
    assert ingot.validate_ir(ir)
    ir.nodes[0].inputs[0].producer_node = "nobody"
    ir.graph_outputs[0].name = "nothing"
    with pytest.raises(ingot.SerializationError) as caught:
        ingot.validate_ir(ir)
    assert "nobody" in str(caught.value) and "nothing" in str(caught.value)
    ingot.save_ir(ir, tmp_path / "graph.json")
    with pytest.raises(ingot.SerializationError, match="nobody"):
        ingot.load_ir(tmp_path / "graph.json")


def test_newer_major_versions_are_refused() -> None:
    ir = ingot.extract_ir(torch.nn.ReLU(), (torch.randn(2),), strict=False)
    ir.format_version = "2.0"
    with pytest.raises(ingot.SerializationError, match=r"2\.0"):
        ingot.deserialize_ir(ingot.serialize_ir(ir))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.to(torch.float16),
        lambda x: torch.arange(3, dtype=torch.float64) + x.shape[0],
        lambda x: torch.zeros(2, dtype=torch.int32) + torch.full((2,), 3),
        lambda x: x[None, None].contiguous(memory_format=torch.channels_last) * 2,
    ],
    ids=["to", "arange", "full", "channels_last"],
)
def test_graphs_with_dtypes_and_formats(function: object, tmp_path: Path) -> None:
    check(function, torch.randn(3, 4), folder=tmp_path)  # type: ignore[arg-type]
