"""Replaces the ops in an exported program by what they compute, so that it converts like any other."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Iterator
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from ingot.compression._ops import NAMESPACE, REFERENCES


def has_compressed_ops(program: ExportedProgram, keep: Collection[str] = ()) -> bool:
    return any(True for graph in _graphs(program.graph_module) for _ in _compressed_nodes(graph, keep))


def inline_compressed_ops(program: ExportedProgram, keep: Collection[str] = ()) -> ExportedProgram:
    """A program without these ops; the same one if there are none. The caller's is not changed, weights are shared.

    `keep` names ops to leave alone, as "coreai::quantize.default". All other nodes keep their names.
    """
    if not has_compressed_ops(program, keep):
        return program
    module = _copy(program.graph_module)
    for graph in _graphs(module):
        for node in list(_compressed_nodes(graph, keep)):
            _inline(graph, node)
        graph.lint()
    for part in module.modules():
        if isinstance(part, GraphModule):
            part.recompile()
    return ExportedProgram(
        root=module,
        graph=module.graph,
        graph_signature=program.graph_signature,
        state_dict=program.state_dict,
        range_constraints=program.range_constraints,
        module_call_graph=program.module_call_graph,
        example_inputs=program.example_inputs,
        constants=program.constants,
        verifiers=program.verifiers,
    )


def _copy(original: GraphModule) -> GraphModule:
    """With the same names: copying a graph renames nodes that are called as Python's built-in functions."""
    module = copy.deepcopy(original)
    for graph, source in zip(_graphs(module), _graphs(original), strict=True):
        for node, named in zip(graph.nodes, source.nodes, strict=True):
            node.name = named.name
    return module


def _graphs(module: GraphModule) -> Iterator[Graph]:
    for part in module.modules():
        if isinstance(part, GraphModule):
            yield part.graph


def _compressed_nodes(graph: Graph, keep: Collection[str]) -> Iterator[Node]:
    for node in graph.nodes:
        target = node.target
        if not isinstance(target, torch._ops.OpOverload) or target.namespace != NAMESPACE:
            continue
        known = target._opname in REFERENCES
        if known and f"{NAMESPACE}::{target._opname}.{target._overloadname or 'default'}" not in keep:
            yield node


def _inline(graph: Graph, node: Node) -> None:
    leaves: list[Node] = list(dict.fromkeys(node.all_input_nodes))
    traced = _trace(REFERENCES[node.target._opname], node, leaves)  # type: ignore[union-attr]
    values = dict(zip((part for part in traced.graph.nodes if part.op == "placeholder"), leaves, strict=True))
    result: Any = None
    with graph.inserting_before(node):
        for part in traced.graph.nodes:
            if part.op == "output":
                result = values[part.args[0]]
            elif part.op == "call_function":
                values[part] = graph.node_copy(part, lambda inner: values[inner])
                values[part].meta = {
                    **{
                        key: node.meta[key]
                        for key in ("stack_trace", "nn_module_stack", "torch_fn")
                        if key in node.meta
                    },
                    "val": part.meta["val"],
                }
    name = node.name
    node.replace_all_uses_with(result)
    graph.erase_node(node)
    # Outputs are called by the name of the node that gives them.
    result.name = name


def _origin(node: Node) -> dict[str, Any]:
    """Where in the user's Python a node comes from."""
    return {key: node.meta[key] for key in ("stack_trace", "nn_module_stack", "torch_fn") if key in node.meta}


def _trace(function: Callable[..., Any], node: Node, leaves: list[Node]) -> GraphModule:
    def call(*values: Any) -> Any:
        given = dict(zip(leaves, values, strict=True))
        args = torch.fx.map_arg(node.args, lambda leaf: given[leaf])
        kwargs = torch.fx.map_arg(node.kwargs, lambda leaf: given[leaf])
        return function(*args, **kwargs)

    fakes = [leaf.meta["val"] for leaf in leaves]
    mode = next(fake.fake_mode for fake in fakes if hasattr(fake, "fake_mode"))
    with mode:
        return make_fx(call)(*fakes)
