"""Code written for torch_ir, as its documentation has it, runs over Ingot; so does its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import ingot
import ingot.compat
import pytest
import torch

PUBLIC = [
    "extract_ir",
    "verify_ir",
    "verify_ir_with_state_dict",
    "IR",
    "OpNode",
    "TensorMeta",
    "export_model",
    "ExportError",
    "convert_exported_program",
    "ConversionError",
    "serialize_ir",
    "deserialize_ir",
    "save_ir",
    "load_ir",
    "validate_ir",
    "SerializationError",
    "IRExecutor",
    "execute_ir",
    "ExecutionError",
    "load_weights",
    "load_weights_pt",
    "load_weights_safetensors",
    "WeightLoadError",
    "VerificationReport",
    "register_op",
    "register_executor",
    "ir_to_mermaid",
    "generate_op_distribution_pie",
    "__version__",
]


def test_public_names() -> None:
    import torch_ir

    for name in PUBLIC:
        assert getattr(torch_ir, name) is not None
    assert torch_ir.__version__ == "0.0.0"
    assert set(PUBLIC) - {"__version__"} <= set(torch_ir.__all__)
    for name in PUBLIC:
        if name.endswith("Error"):
            assert issubclass(getattr(torch_ir, name), Exception)


def test_names_in_modules() -> None:
    from torch_ir.analyzer import GraphAnalyzer, NodeInfo
    from torch_ir.converter import ConversionError
    from torch_ir.executor import ExecutionError, TensorRegistry
    from torch_ir.exporter import (
        ExportError,
        get_model_name,
        is_meta_module,
        is_meta_tensor,
        validate_inputs_meta,
        validate_meta_device,
    )
    from torch_ir.ir import IR
    from torch_ir.ops import get_conversion_fn, get_execution_fn, list_registered_ops, register_executor, register_op
    from torch_ir.ops.registry import get_conversion_fn as again
    from torch_ir.serializer import SerializationError
    from torch_ir.weight_loader import WeightLoadError, validate_weights_against_ir

    assert again is get_conversion_fn and IR is ingot.IR and NodeInfo is ingot.NodeInfo
    assert GraphAnalyzer and ConversionError and TensorRegistry and SerializationError and WeightLoadError
    assert ExecutionError and validate_weights_against_ir and register_op and register_executor
    assert get_execution_fn("<built-in function getitem>") is not None
    assert list_registered_ops()["execution"] == ["<built-in function getitem>"]
    model = torch.nn.Linear(2, 2)
    assert get_model_name(model) == "Linear" and not is_meta_module(model) and is_meta_module(model.to("meta"))
    assert is_meta_tensor(torch.empty(1, device="meta"))
    validate_meta_device(model)
    with pytest.raises(ExportError, match="cpu"):
        validate_inputs_meta((torch.empty(1),))


def test_the_flow_of_its_documentation(tmp_path: Path) -> None:
    from torch_ir import execute_ir, extract_ir, load_ir, save_ir

    with torch.device("meta"):
        net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU())
    ir = extract_ir(net, (torch.empty(2, 4, device="meta"),), model_name="toy")
    save_ir(ir, tmp_path / "out" / "toy.json")
    real = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.GELU()).eval()
    x = torch.randn(2, 4)
    (y,) = execute_ir(load_ir(tmp_path / "out" / "toy.json"), (x,), weights=real.state_dict())
    torch.testing.assert_close(y, real(x))


def test_node_info_as_documented() -> None:
    from torch_ir.analyzer import NodeInfo

    info = NodeInfo("n", "aten.relu.default", [], [], {"a": 1})
    assert (info.name, info.target, info.attrs, info.op, info.args, info.kwargs) == (
        "n",
        "aten.relu.default",
        {"a": 1},
        "call_function",
        (),
        {},
    )
    NodeInfo(name="n", op="call_function", target=1, args=(1,), kwargs={}, input_metas=[], output_metas=[], attrs={})


def test_sizes_that_vary_are_refused_as_there() -> None:
    import torch_ir

    exported = torch.export.export(
        torch.nn.ReLU(), (torch.randn(3),), dynamic_shapes=({0: torch.export.Dim("n", min=2, max=9)},)
    )
    with pytest.raises(torch_ir.ConversionError, match=r"Dynamic shape detected in node '\w+': shape="):
        torch_ir.convert_exported_program(exported)
    assert isinstance(ingot.convert_exported_program(exported).graph_inputs[0].shape[0], str)


@pytest.fixture
def document(tmp_path: Path) -> Path:
    model = torch.nn.Sequential(torch.nn.Linear(4, 300), torch.nn.ReLU(), torch.nn.ReLU())
    ingot.save_ir(ingot.extract_ir(model, (torch.randn(2, 4),), strict=False, model_name="Toy"), tmp_path / "toy.json")
    return tmp_path / "toy.json"


def tool(*arguments: object) -> tuple[int, str, str]:
    command = [str(Path(sys.executable).with_name("pytorch-ir")), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout, done.stderr


def test_info(document: Path, tmp_path: Path, capsys: Any) -> None:
    from torch_ir.cli import main

    assert main(["info", str(document), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found) == [
        "model_name",
        "num_nodes",
        "num_inputs",
        "num_outputs",
        "num_weights",
        "total_parameters",
        "input_shapes",
        "output_shapes",
        "op_distribution",
    ]
    assert (found["model_name"], found["num_nodes"], found["total_parameters"]) == ("Toy", 3, 1500)
    assert list(found["op_distribution"].items()) == [("aten.relu.default", 2), ("aten.linear.default", 1)]
    assert main(["info", str(document), "-o", str(tmp_path / "a" / "info.txt")]) == 0
    assert "1,500" in (tmp_path / "a" / "info.txt").read_text()


def test_command_line(document: Path, tmp_path: Path) -> None:
    assert tool("--version")[:2] == (0, "pytorch-ir 0.0.0\n")
    code, out, _ = tool()
    assert code == 2 and "usage: pytorch-ir" in out
    code, _, error = tool("info", tmp_path / "none.json")
    assert code == 1 and error.startswith("Error: file not found: ")
    (tmp_path / "bad.json").write_text("{}")
    code, _, error = tool("visualize", tmp_path / "bad.json")
    assert code == 1 and error.startswith("Error: invalid IR file: ")
    code, _, error = tool("visualize", document, "-o", tmp_path / "x.svg")
    assert code == 1 and "requires the 'mmdc' package" in error


def test_visualize(document: Path) -> None:
    code, out, _ = tool("visualize", document, "--max-nodes", 1, "--no-weights")
    assert code == 0 and out.startswith("flowchart TD\n") and "2 more nodes" in out and "p_0_weight" not in out


def test_module_runs_in_scripts_and_their_children(document: Path, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys, torch_ir\n"
        f"sys.exit(subprocess.run([sys.executable, '-m', 'torch_ir', 'info', {str(document)!r}]).returncode)\n"
    )
    for arguments in ([str(script)], ["-m", "torch_ir", "info", str(document)]):
        done = subprocess.run(
            [sys.executable, "-m", "ingot.compat", *arguments], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0 and "Model: Toy" in done.stdout, done.stderr


def test_mermaid_of_graphs_made_by_hand() -> None:
    from torch_ir import IR, OpNode, TensorMeta, generate_op_distribution_pie, ir_to_mermaid

    x = TensorMeta("x", (2, 3), "float32")
    used, made = TensorMeta("x", (2, 3), "float32", "x", 0), TensorMeta("relu", (2, 3), "float32")
    ir = IR([OpNode("relu", "aten.relu.default", [used], [made], {"odd": object()})], [x], [made], [])
    lines = ir_to_mermaid(ir).splitlines()
    assert lines[:4] == [
        "flowchart TD",
        '    input_x[/"Input: x<br/>2x3"/]',
        '    op_relu["relu<br/>2x3"]',
        '    input_x -->|"2x3"| op_relu',
    ]
    assert '"relu" : 1' in generate_op_distribution_pie(ir)
