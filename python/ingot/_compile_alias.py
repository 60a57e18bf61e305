"""Results of a graph that share memory with its arguments or with each other.

A native program gives memory of its own. What eager PyTorch would give as views is made of views here too, by PyTorch,
after the program has run: of the arguments, or of a result that the program gives for all of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.fx import Node
from torch.utils import _pytree as pytree

from ingot._compile_graph import NotNative, is_getitem


class Results:
    """How the results of a graph come of a program's arguments and outputs."""

    def __init__(self, program: ExportedProgram) -> None:
        """Changes the program's outputs to those that are needed."""
        self._bases = _bases(program)
        outputs = list(program.graph.output_node().args[0])
        shared = self._shared(outputs)
        self._placeholders = program.graph.find_nodes(op="placeholder")
        kept = [self._bases[node] if node in shared else node for node in outputs]
        kept = list(dict.fromkeys(node for node in kept if not _is_placeholder(node)))
        self.direct: list[int | None] = [None if node in shared else kept.index(node) for node in outputs]
        """By result: the program's output that it is; None for views."""
        self.kept = kept
        self._replay: Callable[..., Any] | None = None
        if shared:
            self._replay = self._build([node for node in outputs if node in shared])
        if kept != outputs:
            _set_outputs(program, kept)

    def _shared(self, outputs: Sequence[Any]) -> set[Node]:
        """The results that are views of an argument, or of memory that several have."""
        nodes = [node for node in outputs if isinstance(node, Node)]
        count = Counter(self._bases[node] for node in nodes if node in self._bases)
        return {
            node
            for node in nodes
            if node in self._bases and (_is_placeholder(self._bases[node]) or count[self._bases[node]] > 1)
        }

    def views(self, arguments: Sequence[Any], outputs: Sequence[Any]) -> Sequence[Any]:
        """The results that are views, of the values of the placeholders and of the program's outputs."""
        assert self._replay is not None
        return self._replay(*arguments, *outputs)

    @property
    def has_views(self) -> bool:
        return self._replay is not None

    def _build(self, outputs: Sequence[Node]) -> Callable[..., Any]:
        graph = torch.fx.Graph()
        values: dict[Node, Node] = {}
        for node in [*self._placeholders, *self.kept]:
            values[node] = graph.placeholder(node.name)

        def replayed(node: Node) -> Node:
            if node not in values:
                values[node] = self._replay_node(graph, node, replayed)
            return values[node]

        graph.output(tuple(replayed(node) for node in outputs))
        return torch.fx.GraphModule(torch.nn.Module(), graph).forward

    def _replay_node(self, graph: torch.fx.Graph, node: Node, replayed: Callable[[Node], Node]) -> Node:
        target = node.target
        is_view = node in self._bases or isinstance(node.meta.get("val"), tuple | list) or is_getitem(node)
        is_number = isinstance(node.meta.get("val"), torch.SymInt | torch.SymBool | int)
        if node.op != "call_function" or not (is_view or is_number):
            raise NotNative(f"a result shares memory in a way that is not understood ({node})")
        if isinstance(target, torch._ops.OpOverload):
            written = [
                node.args[index]
                for index, argument in enumerate(target._schema.arguments)
                if argument.alias_info is not None and argument.alias_info.is_write and index < len(node.args)
            ]
            if written:  # the program has done it already, and the result is what was written to
                if not isinstance(written[0], Node):
                    raise NotNative(f"a result shares memory in a way that is not understood ({node})")
                return replayed(written[0])
        return graph.node_copy(node, replayed)


def _is_placeholder(node: Any) -> bool:
    return isinstance(node, Node) and node.op == "placeholder"


def _bases(program: ExportedProgram) -> dict[Node, Node]:
    """For each tensor, the first node that has its memory."""
    first: dict[int, Node] = {}
    bases: dict[Node, Node] = {}
    for node in program.graph.nodes:
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and node.op != "output":
            bases[node] = first.setdefault(value.untyped_storage()._cdata, node)
    return bases


def _set_outputs(program: ExportedProgram, nodes: Sequence[Node]) -> None:
    program.graph.output_node().args = (tuple(nodes),)
    specs = {spec.arg.name: spec for spec in program.graph_signature.output_specs}
    added = {node.name: OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in nodes}
    program.graph_signature.output_specs[:] = [(added | specs)[node.name] for node in nodes]
    signature = program.module_call_graph[0].signature
    assert signature is not None
    signature.outputs = [spec.arg for spec in program.graph_signature.output_specs]
    signature.out_spec = pytree.tree_flatten(tuple(nodes))[1]
    program.graph_module.recompile()
