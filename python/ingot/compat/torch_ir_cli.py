"""The command line `pytorch-ir`: looks at graph documents."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ingot.compat._table import TORCH_IR_VERSION


def main(argv: Sequence[str] | None = None) -> int:
    parser = _parser()
    arguments = parser.parse_args(argv)
    if arguments.command is None:
        parser.print_help()
        return 2
    path = Path(arguments.file)
    if not path.is_file():
        return _refuse(f"file not found: {path}")
    from ingot.errors import SerializationError
    from ingot.extractor.serializer import load_ir

    try:
        ir = load_ir(path)
    except SerializationError as error:
        return _refuse(f"invalid IR file: {error}")
    return _info(ir, arguments) if arguments.command == "info" else _visualize(ir, arguments)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pytorch-ir", description="Looks at graphs of PyTorch models.")
    parser.add_argument("--version", action="version", version=f"pytorch-ir {TORCH_IR_VERSION}")
    commands = parser.add_subparsers(dest="command")
    info = commands.add_parser("info", help="what the graph has")
    info.add_argument("--json", action="store_true", help="as JSON")
    visualize = commands.add_parser("visualize", help="the graph as Mermaid text, .png or .svg")
    visualize.add_argument("--max-nodes", type=int, default=30, help="how many nodes are drawn (default: 30)")
    visualize.add_argument("--no-weights", action="store_true", help="leave the weights out")
    for command in (info, visualize):
        command.add_argument("file", help="a graph document")
        command.add_argument("-o", "--output", help="a file instead of the standard output")
    return parser


def _refuse(message: str) -> int:
    print(f"Error: {message}", file=sys.stderr)
    return 1


def _write(text: str, output: str | None) -> int:
    if output is None:
        print(text)
        return 0
    Path(output).parent.mkdir(parents=True, exist_ok=True)
    Path(output).write_text(text if text.endswith("\n") else text + "\n", encoding="utf-8")
    return 0


def summary(ir: Any) -> dict[str, Any]:
    """Counts, shapes, and how often each operator is used."""

    def described(tensors: Sequence[Any]) -> list[dict[str, Any]]:
        return [{"name": tensor.name, "shape": list(tensor.shape), "dtype": tensor.dtype} for tensor in tensors]

    return {
        "model_name": ir.model_name,
        "num_nodes": len(ir.nodes),
        "num_inputs": len(ir.graph_inputs),
        "num_outputs": len(ir.graph_outputs),
        "num_weights": len(ir.weights),
        "total_parameters": ir.num_parameters(),
        "input_shapes": described(ir.graph_inputs),
        "output_shapes": described(ir.graph_outputs),
        "op_distribution": dict(Counter(node.op_type for node in ir.nodes).most_common()),
    }


def _info(ir: Any, arguments: argparse.Namespace) -> int:
    found = summary(ir)
    if arguments.json:
        return _write(json.dumps(found, indent=2), arguments.output)
    lines = [
        f"Model: {found['model_name']}",
        f"Nodes: {found['num_nodes']:,}",
        f"Inputs: {found['num_inputs']:,}",
        f"Outputs: {found['num_outputs']:,}",
        f"Weights: {found['num_weights']:,}",
        f"Total parameters: {found['total_parameters']:,}",
    ]
    for title, key in (("Input shapes", "input_shapes"), ("Output shapes", "output_shapes")):
        lines.append(f"\n{title}:")
        lines += [f"  {tensor['name']}: {tensor['shape']} ({tensor['dtype']})" for tensor in found[key]]
    lines.append("\nOp distribution:")
    lines += [f"  {name}: {count:,}" for name, count in found["op_distribution"].items()]
    return _write("\n".join(lines), arguments.output)


def _visualize(ir: Any, arguments: argparse.Namespace) -> int:
    from ingot.extractor.pictures import ir_to_mermaid

    text = ir_to_mermaid(ir, max_nodes=arguments.max_nodes, include_weights=not arguments.no_weights)
    suffix = Path(arguments.output).suffix if arguments.output else ""
    if suffix not in (".png", ".svg"):
        return _write(text, arguments.output)
    try:
        from mmdc import MermaidConverter
    except ImportError:
        return _refuse(f"writing {suffix} requires the 'mmdc' package: pip install mmdc")
    Path(arguments.output).parent.mkdir(parents=True, exist_ok=True)
    converter = MermaidConverter()
    render = converter.to_png if suffix == ".png" else converter.to_svg
    render(text, output_file=arguments.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
