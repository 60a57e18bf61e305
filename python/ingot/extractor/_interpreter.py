"""A graph run by PyTorch, node by node: names the node that fails, and runs what cannot be compiled."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch

from ingot.errors import ExecutionError
from ingot.extractor._arguments import arguments_of, find_operator
from ingot.extractor._values import Symbol
from ingot.extractor.document import IR, Argument, OpNode
from ingot.extractor.registry import GETITEM, get_execution_fn


class TensorRegistry:
    """Tensors by name, and the results of nodes by position."""

    def __init__(self) -> None:
        self._tensors: dict[str, Any] = {}
        self._results: dict[str, list[Any]] = {}

    def register(self, name: str, tensor: Any) -> None:
        self._tensors[name] = tensor

    def get(self, name: str) -> Any:
        if name not in self._tensors:
            raise KeyError(f"Tensor '{name}' not found")
        return self._tensors[name]

    def has(self, name: str) -> bool:
        return name in self._tensors

    def register_results(self, node: OpNode, results: list[Any]) -> None:
        """Those that are no tensors have no output, but keep their place in the names of the others."""
        tensors = [result for result in results if _is_tensor(result)]
        self._results[node.name] = tensors
        for output, result in zip(node.outputs, tensors, strict=False):
            self._tensors[output.name] = result
        for scalar, result in zip(node.scalars, (item for item in results if not _is_tensor(item)), strict=False):
            self._tensors[scalar["name"]] = result

    def results_of(self, node: str) -> list[Any] | None:
        return self._results.get(node)

    def clear(self) -> None:
        self._tensors.clear()
        self._results.clear()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __getitem__(self, name: str) -> Any:
        return self.get(name)

    def __setitem__(self, name: str, tensor: Any) -> None:
        self.register(name, tensor)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def node_failure(node: OpNode, error: object) -> ExecutionError:
    return ExecutionError(f"Failed to execute node '{node.name}' (op: {node.op_type}): {error}")


def interpret(ir: IR, tensors: Mapping[str, torch.Tensor], inputs: Mapping[str, torch.Tensor]) -> tuple[Any, ...]:
    """The outputs. Works on copies of the inputs and of written weights."""
    table = TensorRegistry()
    weights = {**{key: key for key in tensors}, **ir.weight_name_mapping}
    copies = {key: tensor.clone() for key, tensor in tensors.items()} if _writes(ir) else dict(tensors)
    for name, key in weights.items():
        if key in copies:
            table.register(name, copies[key])
    for meta in ir.graph_inputs:
        table.register(meta.name, inputs[meta.name].clone())
        table.register_results(OpNode(meta.name, "input", [], [meta]), [table.get(meta.name)])
    with torch.no_grad():
        for node in ir.nodes:
            try:
                table.register_results(node, _run_node(node, table))
            except Exception as error:
                raise node_failure(node, error) from error
    return tuple(table.get(output.name) for output in ir.graph_outputs)


def _writes(ir: IR) -> bool:
    operators = (find_operator(name) for name in {node.op_type for node in ir.nodes})
    return any(found is not None and found._schema.is_mutable for found in operators)


def _run_node(node: OpNode, table: TensorRegistry) -> list[Any]:
    inputs = [_input_of(tensor, table) for tensor in node.inputs]
    if node.op_type == GETITEM and node.inputs:
        picked = f"{node.inputs[0].producer_node}_{node.attrs.get('index', 0)}"
        if picked in table:
            return [table.get(picked)]
    function = get_execution_fn(node.op_type)
    if function is not None:
        results = function([tensor.clone() for tensor in inputs], dict(node.attrs))
        return [results] if isinstance(results, torch.Tensor) else list(results)
    operator = find_operator(node.op_type)
    if operator is None:
        raise ExecutionError(f"No execution function registered for op_type: {node.op_type}")
    positional: list[Any] = []
    named: dict[str, Any] = {}
    parameters = {parameter.name: parameter for parameter in operator._schema.arguments}
    for argument in arguments_of(node) or ():
        if argument.kind == "default":
            continue
        # By keyword from the first parameter on that was left out: positions would be wrong.
        parameter = parameters.get(argument.name)
        by_keyword = parameter is not None and (
            parameter.kwarg_only or len(positional) < list(parameters).index(argument.name)
        )
        if by_keyword:
            named[argument.name] = _value(argument, table)
        else:
            positional.append(_value(argument, table))
    result = operator(*positional, **named)
    if isinstance(result, tuple | list):
        return list(result)
    return [] if result is None else [result]


def _input_of(tensor: Any, table: TensorRegistry) -> Any:
    if tensor.producer_node is None:
        return table.get(tensor.name)
    results = table.results_of(tensor.producer_node)
    return table.get(tensor.name) if results is None else results[tensor.producer_output_idx]


def _value(argument: Argument, table: TensorRegistry) -> Any:
    if argument.kind in ("tensor", "tensors"):
        return _looked_up(argument.value, table)
    if argument.kind == "symbol":
        return table.get(argument.value)
    if argument.kind == "graph":
        raise ExecutionError("control flow runs compiled only")
    return _without_symbols(argument.value, table)


def _looked_up(value: Any, table: TensorRegistry) -> Any:
    if isinstance(value, list):
        return [_looked_up(item, table) for item in value]
    return None if value is None else table.get(value)


def _without_symbols(value: Any, table: TensorRegistry) -> Any:
    if isinstance(value, list):
        return [_without_symbols(item, table) for item in value]
    if isinstance(value, Symbol):
        return table.get(value.name)
    return torch.device("cpu") if isinstance(value, torch.device) and value.type == "meta" else value
