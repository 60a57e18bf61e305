"""Graphs as Mermaid text."""

from __future__ import annotations

import json
from typing import Any

from ingot import _core
from ingot.extractor.document import IR


def ir_to_mermaid(ir: IR, max_nodes: int = 30, include_weights: bool = True) -> str:
    """A flow chart of the first nodes, with shapes."""
    return _core.mermaid(_text(ir), max_nodes, include_weights)


def generate_op_distribution_pie(ir: IR, top_n: int = 10) -> str:
    """A pie chart of the operators by how often they are used."""
    return _core.op_pie(_text(ir), top_n)


def _text(ir: IR) -> str:
    """What is drawn: attributes are not, except for which result is picked, and may be anything."""
    bare = IR(**{**vars(ir), "constants": {}, "nodes": []}).to_dict()
    return json.dumps({**bare, "nodes": [_drawn(node) for node in ir.nodes]})


def _drawn(node: Any) -> dict[str, Any]:
    made = {
        "name": node.name,
        "op_type": node.op_type,
        "inputs": [tensor.to_dict() for tensor in node.inputs],
        "outputs": [tensor.to_dict() for tensor in node.outputs],
        "attrs": {key: value for key, value in node.attrs.items() if key == "index"},
    }
    return {**made, "module": node.module, "module_type": node.module_type} if node.module else made
