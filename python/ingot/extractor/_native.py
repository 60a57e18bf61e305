"""Graphs run by Ingot: the document goes to the compiler, weights by address."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ingot import _core
from ingot._serialize import KeptWeights, _plain, weight_ref
from ingot.extractor._arguments import arguments_of, find_operator
from ingot.extractor._python_ops import PythonCall
from ingot.extractor._values import dtype_name
from ingot.extractor.document import IR, Argument, OpNode, TensorMeta
from ingot.extractor.registry import GETITEM, get_execution_fn
from ingot.program import Program

_TREES = ("in_spec", "out_spec", "forward_arg_names", "named_tuple_fields")
_ROLE = {"entry": "main", "input_names": [], "output_names": [], "state_names": [], "placeholder_names": False}


def python_calls(ir: IR) -> list[PythonCall]:
    """The nodes that a registered function runs. Picking a result is known without one."""
    made = []
    for node in ir.nodes:
        function = None if node.op_type == GETITEM else get_execution_fn(node.op_type)
        if function is not None:
            made.append(PythonCall(node, function))
    return made


class NativeProgram:
    """A compiled graph with its weights."""

    def __init__(self, ir: IR, tensors: Mapping[str, torch.Tensor], calls: Sequence[PythonCall]) -> None:
        """`tensors` are weights and constants by key; `calls` the nodes that Python runs."""
        part, options, kept = stage(ir, tensors, calls)
        converted = _core.Converted.convert([part], options)
        self._calls = list(calls)
        self._program = Program(converted, fallback=True, _returns_torch=True, _kept=[kept])
        self._ports = self._program.entry_points[0]

    def run(self, inputs: Mapping[str, torch.Tensor]) -> list[Any]:
        """The outputs in order. Every run starts with the weights' own values, and nothing that it is given changes."""
        written = {port.name for port in self._ports.inputs if port.state}
        given = {name: tensor.clone() if name in written else tensor for name, tensor in inputs.items()}
        runner = self._program.session() if self._ports.states else self._program
        result = runner.run(**given)
        return list(result) if isinstance(result, tuple | list) else [result]


def stage(
    ir: IR, tensors: Mapping[str, torch.Tensor], calls: Sequence[PythonCall]
) -> tuple[tuple[bytes, list[_core.WeightRef], str], str, KeptWeights]:
    """The graph and its weights as the compiler takes them, its options, and what the weights lie in."""
    document = _document(ir, tensors, {call.node.name: call for call in calls})
    kinds = {weight["name"]: weight.get("kind") or "parameter" for weight in document["weights"]}
    plain = {name: _plain(name, tensors[name]) for name in kinds if name in tensors}
    weights = [
        weight_ref(name, tensor, kinds[name] == "constant", kinds[name] == "parameter")
        for name, tensor in plain.items()
    ]
    options = {"fallback": True, "schemas": _schemas(document["nodes"])}
    part = (json.dumps(document).encode(), weights, json.dumps(_ROLE))
    kept = KeptWeights()
    for name, tensor in plain.items():
        kept.add(name, tensor)
    return part, json.dumps(options), kept


def _document(ir: IR, tensors: Mapping[str, torch.Tensor], calls: Mapping[str, PythonCall]) -> dict[str, Any]:
    """The graph as the compiler takes it: arguments are complete, constants are weights, trees are left out."""
    bare = IR(**{**vars(ir), "constants": {}, "nodes": []})
    document = bare.to_dict()
    document["nodes"] = [
        _python_node(node, calls[node.name]) if node.name in calls else _complete_node(node) for node in ir.nodes
    ]
    _complete_weights(document, ir, tensors)
    if ir.signature is not None:
        document["signature"] = {key: value for key, value in ir.signature.items() if key not in _TREES}
    return document


def _complete_node(node: OpNode) -> dict[str, Any]:
    args = [_on_cpu(argument) for argument in arguments_of(node) or ()]
    document = node.to_dict()
    return {**document, "args": [argument.to_dict() for argument in args]} if args else document


def _on_cpu(argument: Argument) -> Argument:
    """Graphs that were taken on the meta device run on the CPU."""
    if isinstance(argument.value, torch.device) and argument.value.type == "meta":
        return Argument(argument.name, argument.kind, torch.device("cpu"), argument.keyword)
    return argument


def _python_node(node: OpNode, call: PythonCall) -> dict[str, Any]:
    names = [tensor.name for tensor in node.inputs]
    args = [Argument("inputs", "tensors", names), Argument("key", "value", call.key)]
    made = OpNode(node.name, call.op_type, node.inputs, node.outputs, {"key": call.key}, args)
    made.module, made.module_type, made.source = node.module, node.module_type, node.source
    return made.to_dict()


def _complete_weights(document: dict[str, Any], ir: IR, tensors: Mapping[str, torch.Tensor]) -> None:
    """Graphs made by hand may use weights by their keys, and leave out constants."""
    known = {tensor.name for tensor in ir.graph_inputs} | set(ir.weight_name_mapping)
    known |= {output.name for node in ir.nodes for output in node.outputs}
    listed = {weight.name for weight in ir.weights}
    for node in ir.nodes:
        for tensor in node.inputs:
            if tensor.producer_node is None and tensor.name not in known and tensor.name in tensors:
                document["weight_name_mapping"][tensor.name] = tensor.name
    for key in dict.fromkeys(document["weight_name_mapping"].values()):
        if key not in listed and key in tensors:
            value = tensors[key]
            meta = TensorMeta(key, tuple(value.shape), dtype_name(value.dtype), kind="constant")
            document["weights"].append(meta.to_dict())


def _schemas(nodes: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of operators that are not PyTorch's own."""
    operators = (find_operator(name) for name in dict.fromkeys(node["op_type"] for node in nodes))
    return [str(found._schema) for found in operators if found and found.namespace not in ("aten", "prims")]
