"""An exported program as a graph document, and its nodes as converters see them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.export import ExportedProgram

from ingot import _core
from ingot._names import dimension_names, rename_symbols
from ingot._serialize import _json_of, custom_schemas, without_transforms
from ingot.extractor.document import IR, OpNode, TensorMeta
from ingot.extractor.registry import op_type_of


@dataclass
class NodeInfo:
    """What a converter is given: a node of the graph, and the FX node that it comes from."""

    name: str
    target: Any
    """As FX has it: `torch.ops.aten.add.Tensor`."""
    input_metas: list[TensorMeta] = field(default_factory=list)
    output_metas: list[TensorMeta] = field(default_factory=list)
    attrs: dict[str, Any] = field(default_factory=dict)
    op: str = "call_function"
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    fx_node: torch.fx.Node | None = field(default=None, repr=False, compare=False)
    node: OpNode | None = field(default=None, repr=False, compare=False)
    """What the node becomes without a converter."""

    @property
    def op_type(self) -> str:
        return op_type_of(self.target)


class GraphAnalyzer:
    """Inputs, outputs, weights and nodes of an exported program."""

    def __init__(self, exported_program: ExportedProgram, model_name: str = "", dynamic_shapes: Any = None) -> None:
        self.exported_program = without_transforms(exported_program)
        self.model_name = model_name
        self._dimensions = dimension_names(self.exported_program, dynamic_shapes)
        self._ir: IR | None = None

    @property
    def ir(self) -> IR:
        """The graph as it is without registered converters. Constants have their values, unless they have none."""
        if self._ir is None:
            program = self.exported_program
            serialized = rename_symbols(_json_of(program), self._dimensions)
            schemas = custom_schemas(program)
            self._ir = IR.from_dict(json.loads(_core.extract_document(serialized, self.model_name, schemas)))
            _mark_ties(self._ir, program)
            values = {name: value for name, value in program.constants.items() if isinstance(value, torch.Tensor)}
            self._ir.constants = {name: value.detach() for name, value in values.items() if not _is_unknown(value)}
        return self._ir

    def analyze(self) -> list[NodeInfo]:
        return self.get_call_function_nodes()

    def get_graph_inputs(self) -> list[TensorMeta]:
        return list(self.ir.graph_inputs)

    def get_graph_outputs(self) -> list[TensorMeta]:
        return list(self.ir.graph_outputs)

    def get_weights(self) -> list[TensorMeta]:
        return list(self.ir.weights)

    def get_weight_name_mapping(self) -> dict[str, str]:
        return dict(self.ir.weight_name_mapping)

    def get_call_function_nodes(self) -> list[NodeInfo]:
        nodes = self.fx_nodes()
        return [node_info(node, nodes.get(node.name)) for node in self.ir.nodes]

    def fx_nodes(self) -> dict[str, torch.fx.Node]:
        return {node.name: node for node in self.exported_program.graph.nodes if node.op == "call_function"}

    def unknown_constants(self) -> list[str]:
        """Constants whose values are not known, since they are on the meta device."""
        constants = self.exported_program.constants
        return [name for name, value in constants.items() if isinstance(value, torch.Tensor) and _is_unknown(value)]


def node_info(node: OpNode, fx_node: torch.fx.Node | None) -> NodeInfo:
    return NodeInfo(
        name=node.name,
        target=node.op_type if fx_node is None else fx_node.target,
        input_metas=list(node.inputs),
        output_metas=list(node.outputs),
        attrs=dict(node.attrs),
        args=() if fx_node is None else tuple(fx_node.args),
        kwargs={} if fx_node is None else dict(fx_node.kwargs),
        fx_node=fx_node,
        node=node,
    )


def _is_unknown(tensor: torch.Tensor) -> bool:
    from torch._subclasses.fake_tensor import FakeTensor

    return isinstance(tensor, FakeTensor) or tensor.device.type == "meta"


def _mark_ties(ir: IR, program: ExportedProgram) -> None:
    """Weights that are one tensor under several names: all but the first say so."""
    first: dict[Any, str] = {}
    tensors = {**program.constants, **program.state_dict}
    for weight in ir.weights:
        tensor = tensors.get(weight.name)
        if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided:
            continue
        # The storage's own identity: on the meta device, addresses are all zero.
        place = (tensor.untyped_storage()._cdata, tensor.storage_offset(), tuple(tensor.shape), tensor.stride())
        if tensor.numel() and first.setdefault((place, tensor.dtype), weight.name) != weight.name:
            weight.same_as = first[(place, tensor.dtype)]
