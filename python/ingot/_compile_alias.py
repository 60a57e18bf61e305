"""Results of a graph that share memory with its arguments or with each other.

A native program gives memory of its own. What eager PyTorch would give as views is made of views here too, by PyTorch,
after the program has run: of the arguments, or of a result that the program gives for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.fx import Node
from torch.utils import _pytree as pytree

from ingot._compile_graph import NotNative


class Results(NamedTuple):
    """How the results of a graph come of a program's outputs and arguments."""

    outputs: Sequence[int | None]
    """By result: the program's output that it is, or None."""
    literals: Sequence[Any]
    """By result: its value, if it is neither an output nor a view."""
    views: Sequence[bool]
    """By result: whether it is a view."""
    make_views: Callable[..., Sequence[Any]] | None
    """Those that are views, of the values of all placeholders and then of all outputs."""


def split_results(program: ExportedProgram) -> tuple[Results, list[Node]]:
    """Takes views out of the program's outputs; the nodes that are its outputs then."""
    bases = _bases(program)
    results = list(program.graph.output_node().args[0])
    views = _views(results, bases)
    kept: dict[Node, int] = {}
    outputs: list[int | None] = []
    for result in results:
        needed = bases[result] if result in views else result
        if isinstance(needed, Node) and needed.op != "placeholder":
            kept.setdefault(needed, len(kept))
        outputs.append(kept[result] if isinstance(result, Node) and result not in views else None)
    literals = [None if isinstance(result, Node) else result for result in results]
    make_views = None
    if views:
        leaves = [*program.graph.find_nodes(op="placeholder"), *kept]
        make_views = _Replay(leaves, bases).build([result for result in results if result in views])
    if list(kept) != results:
        _set_outputs(program, list(kept))
    return Results(outputs, literals, [result in views for result in results], make_views), list(kept)


def _bases(program: ExportedProgram) -> dict[Any, Node]:
    """For each tensor, the first node that has its memory."""
    first: dict[int, Node] = {}
    bases: dict[Any, Node] = {}
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and node.op != "output":
            bases[node] = first.setdefault(value.untyped_storage()._cdata, node)
    return bases


def _views(results: Sequence[Any], bases: dict[Any, Node]) -> set[Any]:
    """The results that have memory of an argument, or memory that several have."""
    tensors = [result for result in results if isinstance(result, Node) and result in bases]
    count = Counter(bases[tensor] for tensor in tensors)
    return {tensor for tensor in tensors if bases[tensor].op == "placeholder" or count[bases[tensor]] > 1}


class _Replay:
    """A graph of the views alone."""

    def __init__(self, leaves: Sequence[Node], bases: dict[Any, Node]) -> None:
        self._bases = bases
        self._graph = torch.fx.Graph()
        self._values = {node: self._graph.placeholder(node.name) for node in leaves}

    def build(self, results: Sequence[Node]) -> Callable[..., Sequence[Any]]:
        self._graph.output(tuple(self._value(result) for result in results))
        return torch.fx.GraphModule(torch.nn.Module(), self._graph).forward

    def _value(self, node: Node) -> Node:
        if node not in self._values:
            self._values[node] = self._copy(node)
        return self._values[node]

    def _copy(self, node: Node) -> Node:
        recorded = node.meta.get("val")
        is_number = isinstance(recorded, torch.SymInt | torch.SymBool | int)
        if node.op != "call_function" or not (node in self._bases or is_number or isinstance(recorded, tuple | list)):
            raise NotNative(f"a result shares memory in a way that is not understood ({node})")
        written = _written(node)
        if written is not None:
            return self._value(written)  # the program has done it already, and the result is what was written to
        if node in self._bases and self._bases[node] is node:
            raise NotNative(f"a result shares memory in a way that is not understood ({node})")
        copy = self._graph.node_copy(node, self._value)
        copy.meta.clear()  # which has the traced program's tensors
        return copy


def _written(node: Node) -> Node | None:
    """The argument that a node writes to."""
    if not isinstance(node.target, torch._ops.OpOverload):
        return None
    for argument, value in zip(node.target._schema.arguments, node.args, strict=False):
        if argument.alias_info is not None and argument.alias_info.is_write and isinstance(value, Node):
            return value
    return None


def _set_outputs(program: ExportedProgram, nodes: Sequence[Node]) -> None:
    program.graph.output_node().args = (tuple(nodes),)
    specs = {node.name: OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in nodes}
    specs |= {spec.arg.name: spec for spec in program.graph_signature.output_specs}
    program.graph_signature.output_specs[:] = [specs[node.name] for node in nodes]
    signature = program.module_call_graph[0].signature
    assert signature is not None
    signature.outputs = [specs[node.name].arg for node in nodes]
    signature.out_spec = pytree.tree_flatten(tuple(nodes))[1]
    program.graph_module.recompile()
