"""Looking at graphs: `ingot info`, `visualize`, `show --html` and `diff`, of documents, .pt2 files and assets."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import ingot as ingot_package
import pytest
import torch
from ingot import IR, OpNode, TensorMeta, _core
from ingot.extractor import pictures
from support import export, ingot, ingot_json, refused, run_ingot, save_pt2


class Block(torch.nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(width)
        self.up = torch.nn.Linear(width, 2 * width)
        self.down = torch.nn.Linear(2 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.nn.functional.gelu(self.up(self.norm(x))))


class Net(torch.nn.Module):
    def __init__(self, width: int = 8, activation: Any = torch.relu) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(width), Block(width)])
        self.register_buffer("scale", torch.ones(width))
        self.activation = activation

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return self.activation(x * self.scale)


PARAMETERS = 2 * (2 * 8 + 8 * 16 + 16 + 16 * 8 + 8)


def saved(folder: Path, name: str, width: int = 8, activation: Any = torch.relu) -> Path:
    return save_pt2(export(Net(width, activation).eval(), (torch.randn(3, width),)), folder / name)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("look")
    made = {"pt2": saved(folder, "net.pt2"), "tanh": saved(folder, "tanh.pt2", activation=torch.tanh)}
    made["wide"] = saved(folder, "wide.pt2", width=16)
    for name in ("pt2", "tanh"):
        made[name + "_asset"] = folder / f"{name}.ingot"
        ingot("convert", made[name], "-o", made[name + "_asset"])
    made["document"] = folder / "older.json"
    made["document"].write_text(json.dumps(OLDER))
    return made


OLDER = {
    "graph_inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
    "graph_outputs": [{"name": "relu", "shape": [2, 3], "dtype": "float32"}],
    "weights": [],
    "nodes": [
        {
            "name": "relu",
            "op_type": "aten.relu.default",
            "inputs": [{"name": "x", "shape": [2, 3], "dtype": "float32"}],
            "outputs": [{"name": "relu", "shape": [2, 3], "dtype": "float32"}],
            "attrs": {},
        }
    ],
}


def test_info_counts_what_is_there(files: dict[str, Path]) -> None:
    info = ingot_json("info", files["pt2"])
    assert info["model_name"] == "net"
    assert info["total_parameters"] == PARAMETERS
    assert info["total_buffers"] == 8
    assert info["input_shapes"] == info["output_shapes"] == [[3, 8]]
    assert info["op_distribution"]["aten.linear.default"] == 4
    assert info["num_nodes"] == sum(info["op_distribution"].values())
    text = ingot("info", files["pt2"])
    assert f"Total parameters: {PARAMETERS:,}" in text


def test_info_of_an_asset_and_of_two_files(files: dict[str, Path]) -> None:
    info = ingot_json("info", files["pt2_asset"])
    assert info["op_distribution"]["ingot.matmul"] == 4
    assert info["input_shapes"] == [[3, 8]]
    rows = ingot("info", files["pt2_asset"], files["tanh_asset"]).splitlines()
    assert any(row.startswith("* ingot.tanh") and row.endswith("+1") for row in rows)
    assert any(row.startswith("  ingot.matmul") and row.endswith(" 0") for row in rows)


def test_info_writes_where_it_is_told(files: dict[str, Path], tmp_path: Path) -> None:
    target = tmp_path / "new" / "info.json"
    assert ingot("info", files["document"], "--json", "-o", target) == ""
    assert json.loads(target.read_text())["num_nodes"] == 1


def test_visualize_mermaid(files: dict[str, Path]) -> None:
    lines = ingot("visualize", files["document"]).splitlines()
    assert lines == [
        "flowchart TD",
        '    input_x[/"Input: x<br/>2x3"/]',
        '    op_relu["relu<br/>2x3"]',
        '    input_x -->|"2x3"| op_relu',
        '    output_0[\\"Output<br/>2x3"/]',
        "    op_relu --> output_0",
    ]
    cut = ingot("visualize", files["pt2"], "--max-nodes", 2, "--no-weights")
    assert "more nodes ..." in cut
    assert "-.->" not in cut
    grouped = ingot("visualize", files["pt2"], "--group")
    assert 'subgraph m_blocks["blocks"]' in grouped
    assert 'subgraph m_blocks_1["1: Block"]' in grouped


def test_visualize_dot_and_pictures(files: dict[str, Path], tmp_path: Path) -> None:
    text = ingot("visualize", files["pt2_asset"], "--format", "dot", "--max-nodes", 0)
    assert text.startswith('digraph "pt2" {')
    assert "subgraph cluster_" in text
    picture = tmp_path / "deep" / "net.svg"
    if shutil.which("dot"):
        ingot("visualize", files["pt2"], "-o", picture)
        assert picture.read_text().count("<svg") == 1
    else:
        assert "requires Graphviz" in refused("visualize", files["pt2"], "-o", picture)
    assert not list(tmp_path.rglob("*~"))


def test_show_writes_a_page_of_every_kind_of_file(files: dict[str, Path], tmp_path: Path) -> None:
    for name in ("pt2", "document", "pt2_asset"):
        page = tmp_path / f"{name}.html"
        ingot("show", files[name], "--html", page)
        assert page.read_text().startswith("<!doctype html>")
        assert "://" not in page.read_text()


def test_show_of_a_document(files: dict[str, Path]) -> None:
    assert ingot_json("show", files["document"])["op_distribution"] == {"aten.relu.default": 1}
    assert "aten.relu.default  1" in ingot("show", files["document"])


class Counting(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count.add_(1)
        return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y * 2, (x * self.count,))


def test_assets_with_states_branches_and_several_entry_points(tmp_path: Path) -> None:
    converter = ingot_package.TorchConverter()
    for name in ("first", "second"):
        converter.add_exported_program(export(Counting(), (torch.randn(3, 2),)), entrypoint_name=name)
    asset = tmp_path / "two.ingot"
    converter.to_ingot().save_asset(asset)
    info = ingot_json("info", asset)
    assert info["num_inputs"] == 2
    assert info["total_buffers"] == 2
    assert info["op_distribution"]["ingot.if"] == 2
    assert info["op_distribution"]["ingot.mul"] == 4, "one of them in a branch"
    grouped = ingot("visualize", asset, "--group", "--max-nodes", 60)
    assert 'subgraph m_first["first"]' in grouped
    assert 'input_second_x[/"Input: second.x<br/>3x2"/]' in grouped
    assert run_ingot("diff", asset, asset).stdout == "identical\n"


def test_diff_of_the_same_and_of_different_graphs(files: dict[str, Path]) -> None:
    assert run_ingot("diff", files["pt2"], files["pt2"]).stdout == "identical\n"
    changed = run_ingot("diff", files["pt2"], files["tanh"], "--json")
    assert changed.returncode == 1
    report = json.loads(changed.stdout)
    assert [(each["kind"], each["after"]) for each in report["differences"]] == [("op_changed", "aten.tanh.default")]
    wide = run_ingot("diff", files["pt2"], files["wide"])
    assert wide.returncode == 1
    assert "node_added" not in wide.stdout
    assert "weight_changed" in wide.stdout


def test_diff_of_assets(files: dict[str, Path]) -> None:
    assert run_ingot("diff", files["pt2_asset"], files["pt2_asset"]).returncode == 0
    changed = run_ingot("diff", files["pt2_asset"], files["tanh_asset"])
    assert changed.returncode == 1
    assert "ingot.tanh" in changed.stdout


def test_files_that_are_not_there_or_no_graphs(files: dict[str, Path], tmp_path: Path) -> None:
    assert "file not found" in refused("info", tmp_path / "none.json")
    missing = run_ingot("diff", files["pt2"], tmp_path / "none.json")
    assert (missing.returncode, missing.stdout) == (2, "")
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    assert run_ingot("diff", broken, files["pt2"]).returncode == 2
    for command in ("info", "visualize"):
        refused(command, broken)
    refused("show", broken, "--html", tmp_path / "broken.html")
    assert not (tmp_path / "broken.html").exists()


class HandMade:
    def to_dict(self) -> dict[str, Any]:
        node = {**OLDER["nodes"][0], "attrs": {"dtype": torch.float16}}  # type: ignore[dict-item]
        return {**OLDER, "nodes": [node]}


def test_drawings_from_python() -> None:
    ir = HandMade()
    assert pictures.ir_to_mermaid(ir).startswith("flowchart TD\n")
    assert pictures.generate_op_distribution_pie(ir).endswith('    "relu" : 1')
    assert "input_0 -> n0" in pictures.ir_to_dot(ir)
    assert "torch.float16" in pictures.ir_to_html(ir)
    text = json.dumps(OLDER)
    assert json.loads(_core.document_info(text))["num_nodes"] == 1
    assert json.loads(_core.diff_documents(text, text))["same"] is True


def test_attributes_that_no_document_holds_are_not_drawn() -> None:
    x, y = TensorMeta("x", (2,), "float32"), TensorMeta("y", (2,), "float32")
    node = OpNode("y", "vendor.op", [TensorMeta("x", (2,), "float32", "x", 0)], [y], {"odd": object()})
    ir = IR([node], [x], [y], [])
    assert "vendor.op" in pictures.ir_to_mermaid(ir)
    assert "vendor.op" in pictures.ir_to_html(ir)
