"""From exported programs to graphs, with the converters that are registered."""

from __future__ import annotations

import copy
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram

from ingot.errors import ConversionError, ExportError
from ingot.extractor.analyzer import GraphAnalyzer, NodeInfo, node_info
from ingot.extractor.document import IR, OpNode, TensorMeta
from ingot.extractor.exporter import export_model, get_model_name
from ingot.extractor.registry import get_conversion_fn, matches, registered_groups


def extract_ir(
    model: torch.nn.Module,
    example_inputs: tuple[Any, ...],
    *,
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
    decompositions: Any = None,
    model_name: str | None = None,
    strict: bool = True,
) -> IR:
    """The graph of a model without its weights.

    `strict` demands that the model and its inputs are on the meta device, and nothing else. `decompositions` is a table
    for `ExportedProgram.run_decompositions`, or "default" for torch's; without it, operators are as
    torch.export records them. The model is taken as it is: call `eval()` before, unless you want its training form.
    """
    exported = export_model(model, example_inputs, kwargs=kwargs, dynamic_shapes=dynamic_shapes, strict=strict)
    if decompositions is not None:
        exported = _decomposed(exported, decompositions)
    name = get_model_name(model) if model_name is None else model_name
    analyzer = GraphAnalyzer(exported, name, dynamic_shapes)
    if unknown := analyzer.unknown_constants():
        warnings.warn(
            f"Skipping {len(unknown)} meta-device constant(s), whose values are not known: {unknown}. Pass them as "
            "constants={name: tensor} when the graph is run, or make them buffers with register_buffer",
            stacklevel=2,
        )
    return _convert(analyzer, strict=False)


def convert_exported_program(exported: ExportedProgram, model_name: str = "", strict: bool = False) -> IR:
    """The graph of an exported program. With `strict`, a converter that fails is an error; else a warning."""
    return _convert(GraphAnalyzer(exported, model_name), strict)


def _decomposed(exported: ExportedProgram, decompositions: Any) -> ExportedProgram:
    if isinstance(decompositions, str) and decompositions != "default":
        raise ValueError(f'decompositions is a table or "default", not {decompositions!r}')
    try:
        with torch.no_grad():
            return exported.run_decompositions(None if decompositions == "default" else dict(decompositions))
    except Exception as error:
        raise ExportError(f"Failed to decompose model: {error}") from error


def _convert(analyzer: GraphAnalyzer, strict: bool) -> IR:
    try:
        ir = copy.copy(analyzer.ir)
    except Exception as error:
        raise ConversionError(f"Failed to convert the exported program: {error}") from error
    if not ir.pytorch_version:
        ir.pytorch_version = torch.__version__
    _Rewriter(ir, analyzer.fx_nodes(), strict).run()
    return ir


Place = tuple[str, int]
"""A node, and which of its results."""


class _Rewriter:
    """Applies converters to the nodes of a graph, and leads what they replaced to what they gave."""

    def __init__(self, ir: IR, fx_nodes: Mapping[str, torch.fx.Node], strict: bool) -> None:
        self._ir = ir
        self._fx_nodes = fx_nodes
        self._strict = strict
        self._moved: dict[Place, TensorMeta] = {}
        self._renamed: dict[str, str] = {}

    def run(self) -> None:
        made: list[OpNode] = []
        chains = self._chains()
        inside = {node.name for chain, _ in chains.values() for node in chain[:-1]}
        for node in self._ir.nodes:
            if node.name not in inside:
                chain, function = chains.get(node.name, ([node], None))
                made += self._converted(chain, function or get_conversion_fn(node.op_type), group=function is not None)
        self._check_names(made)
        self._ir.nodes = made
        self._ir.graph_outputs = [self._redirected(tensor) for tensor in self._ir.graph_outputs]
        if self._renamed and self._ir.signature is not None:
            self._ir.signature = copy.deepcopy(self._ir.signature)
            for output in self._ir.signature.get("outputs", ()):
                if output.get("name") in self._renamed:
                    output["name"] = self._renamed[output["name"]]

    def _chains(self) -> dict[str, tuple[list[OpNode], Any]]:
        """Chains of nodes that a group matches, by the name of their last node; no node is in two."""
        groups = registered_groups()
        if not groups:
            return {}
        consumers: dict[str, list[OpNode]] = {}
        for node in self._ir.nodes:
            for producer in {tensor.producer_node for tensor in node.inputs if tensor.producer_node}:
                consumers.setdefault(producer, []).append(node)
        returned = Counter(name for tensor in self._ir.graph_outputs for name in (tensor.name, tensor.producer_node))
        found: dict[str, tuple[list[OpNode], Any]] = {}
        taken: set[str] = set()
        for start in self._ir.nodes:
            for patterns, function in groups.items():
                chain = _chain_from(start, patterns, consumers, returned)
                if chain and not taken & {node.name for node in chain}:
                    taken |= {node.name for node in chain}
                    found[chain[-1].name] = (chain, function)
        return found

    def _converted(self, chain: list[OpNode], function: Any, group: bool) -> list[OpNode]:
        nodes = [self._with_moved_inputs(node) for node in chain]
        if function is None:
            return nodes
        infos = [node_info(node, self._fx_nodes.get(node.name)) for node in nodes]
        try:
            return self._replace(nodes, function(infos if group else infos[0]))
        except Exception as error:
            last = nodes[-1]
            text = f"Failed to convert node '{last.name}' with op '{last.op_type}': {error}"
            if self._strict:
                raise ConversionError(text) from error
            warnings.warn(f"{text}; it stays as it is", stacklevel=2)
            return nodes

    def _replace(self, nodes: list[OpNode], result: Any) -> list[OpNode]:
        """What a converter gave, checked, with the outputs of the last of `nodes` led to it."""
        outputs = nodes[-1].outputs
        if result is None:
            self._drop(nodes)
            return []
        made = [result] if isinstance(result, OpNode) else list(result)
        if not made or not all(isinstance(node, OpNode) for node in made):
            raise TypeError("a converter gives an OpNode, a list of OpNodes, or None")
        places = {tensor.name: (node, index) for node in made for index, tensor in enumerate(node.outputs)}
        led: dict[Place, TensorMeta] = {}
        for index, output in enumerate(outputs):
            node, position = places.get(output.name, (made[-1], index))
            if position >= len(node.outputs):
                raise ValueError(
                    f"the result '{output.name}' is used, and the new node '{node.name}' has no such output"
                )
            led[(nodes[-1].name, index)] = _reference(node.outputs[position], node.name, position)
        self._lead(outputs, nodes[-1].name, led)
        if len(made) == 1 and len(nodes) == 1:
            _keep_origin(made[0], nodes[0])
        return made

    def _drop(self, nodes: list[OpNode]) -> None:
        if nodes[-1].outputs and not nodes[0].inputs:
            raise ValueError("it has no input that could take its place")
        stand_in = nodes[0].inputs[0] if nodes[0].inputs else None
        outputs = nodes[-1].outputs
        if stand_in is not None:
            self._lead(outputs, nodes[-1].name, {(nodes[-1].name, index): stand_in for index in range(len(outputs))})

    def _lead(self, outputs: list[TensorMeta], node: str, led: Mapping[Place, TensorMeta]) -> None:
        for index, output in enumerate(outputs):
            target = led[(node, index)]
            if (target.name, target.producer_node, target.producer_output_idx) != (output.name, node, index):
                self._moved[(node, index)] = target
                self._renamed[output.name] = target.name

    def _redirected(self, tensor: TensorMeta) -> TensorMeta:
        moved = copy.copy(tensor)
        if tensor.producer_node is None:  # an output of the graph, or a weight
            moved.name = self._renamed.get(tensor.name, tensor.name)
        elif target := self._moved.get((tensor.producer_node, tensor.producer_output_idx)):
            moved.name = target.name
            moved.producer_node, moved.producer_output_idx = target.producer_node, target.producer_output_idx
        return moved

    def _with_moved_inputs(self, node: OpNode) -> OpNode:
        if not any((tensor.producer_node, tensor.producer_output_idx) in self._moved for tensor in node.inputs):
            return node
        moved = copy.copy(node)
        moved.inputs = [self._redirected(tensor) for tensor in node.inputs]
        if node.args is not None:
            moved.args = copy.deepcopy(node.args)
            for argument in moved.args:
                if argument.kind in ("tensor", "tensors"):
                    argument.value = _renamed(argument.value, self._renamed)
        moved.mutates = [self._renamed.get(name, name) for name in node.mutates]
        return moved

    def _check_names(self, nodes: Sequence[OpNode]) -> None:
        twice = [name for name, count in Counter(node.name for node in nodes).items() if count > 1]
        if twice:
            raise ConversionError(f"converters made several nodes called {', '.join(map(repr, twice))}")


def _chain_from(
    start: OpNode, patterns: Sequence[str], consumers: Mapping[str, list[OpNode]], returned: Counter[Any]
) -> list[OpNode]:
    chain = [start]
    if not matches(patterns[0], start.op_type):
        return []
    for pattern in patterns[1:]:
        users = consumers.get(chain[-1].name, [])
        is_returned = any(returned[name] for name in [chain[-1].name, *(out.name for out in chain[-1].outputs)])
        if is_returned or len(users) != 1 or not matches(pattern, users[0].op_type):
            return []
        chain.append(users[0])
    return chain


def _reference(output: TensorMeta, node: str, index: int) -> TensorMeta:
    made = copy.copy(output)
    made.producer_node, made.producer_output_idx = node, index
    return made


def _renamed(value: Any, names: Mapping[str, str]) -> Any:
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return names.get(value, value)


def _keep_origin(new: OpNode, old: OpNode) -> None:
    """Where a node comes from does not change by converting it."""
    new.module = new.module or old.module
    new.module_type = new.module_type or old.module_type
    new.source = new.source or old.source
    same_call = new.op_type == old.op_type and new.attrs == old.attrs
    if new.args is None and same_call and [t.name for t in new.inputs] == [t.name for t in old.inputs]:
        new.args, new.scalars, new.mutates = old.args, old.scalars, old.mutates


__all__ = ["NodeInfo", "convert_exported_program", "extract_ir"]
