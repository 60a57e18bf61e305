"""Drawings of graphs: Mermaid, DOT, and a page for browsers. They take an IR, or anything with `to_dict()`."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Protocol

from ingot import _core
from ingot.errors import SerializationError
from ingot.extractor.document import IR, OpNode


class Drawable(Protocol):
    def to_dict(self) -> dict[str, Any]: ...


def ir_to_mermaid(ir: Drawable, max_nodes: int = 30, include_weights: bool = True, *, by_module: bool = False) -> str:
    """A flow chart of the first nodes. With `by_module`, modules are frames, or boxes where it is too much."""
    return _core.mermaid(_text(ir), max_nodes, include_weights, by_module)


def generate_op_distribution_pie(ir: Drawable, top_n: int = 10) -> str:
    """A pie of the operators by how often they occur."""
    return _core.op_pie(_text(ir), top_n)


def ir_to_dot(ir: Drawable, include_weights: bool = True) -> str:
    """The whole graph for Graphviz, framed by module, with shapes on the edges."""
    return _core.dot(_text(ir), include_weights)


def ir_to_html(ir: Drawable) -> str:
    """A page with the graph, weights and operators. It needs no other file and no network."""
    return _core.html(_text(ir))


def _text(ir: Any) -> str:
    try:
        return json.dumps(ir.to_dict(), default=str)
    except (TypeError, SerializationError):
        if not isinstance(ir, IR):
            raise
        # Somebody put into attributes what no document can hold; of those, only which result is picked is drawn.
        bare = IR(**{**vars(ir), "constants": {}, "nodes": []}).to_dict()
        return json.dumps({**bare, "nodes": [_without_attributes(node) for node in ir.nodes]})


def _without_attributes(node: OpNode) -> dict[str, Any]:
    kept = {key: value for key, value in node.attrs.items() if key == "index"}
    return replace(node, attrs=kept, args=None).to_dict()
