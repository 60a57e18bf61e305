"""Runs graphs with weights that are supplied later."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils import _pytree as pytree

from ingot.errors import ExecutionError, IngotError
from ingot.extractor import _python_ops
from ingot.extractor._arguments import find_operator
from ingot.extractor._interpreter import TensorRegistry, interpret, node_failure
from ingot.extractor._native import NativeProgram, python_calls
from ingot.extractor._values import dtype_name
from ingot.extractor.document import IR, OpNode, TensorMeta
from ingot.extractor.registry import generation, get_execution_fn
from ingot.extractor.weights import _mismatches, fitted_to, load_weights

__all__ = ["IRExecutor", "TensorRegistry", "execute_ir"]

Tensors = Mapping[str, torch.Tensor]


class IRExecutor:
    """A graph and its weights, ready to run. The graph is compiled for the first call; don't edit it afterwards.

    Every call starts with the values of the weights as they were given: buffers that the graph updates do not keep
    their new values, and neither the weights nor the inputs are ever written.
    """

    def __init__(
        self,
        ir: IR,
        weights: Mapping[str, torch.Tensor] | None = None,
        constants: Mapping[str, torch.Tensor] | None = None,
    ) -> None:
        self.ir = ir
        self.weights: dict[str, torch.Tensor] | None = None if weights is None else dict(weights)
        self.constants: dict[str, torch.Tensor] = dict(constants or {})
        self._prepared: _Prepared | None = None

    def load_weights(self, path: str | os.PathLike[str], *, dtype: torch.dtype | None = None) -> None:
        """From a checkpoint, as `ingot.load_weights` reads it. A prefix of all names is added or removed as needed."""
        self.weights = load_weights(path, dtype=dtype)

    def load_weights_from_state_dict(self, state_dict: Mapping[str, torch.Tensor]) -> None:
        self.weights = dict(state_dict)

    def execute(self, inputs: Any, kwargs: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
        """The graph's outputs, in order, for tensors in the order of the model's arguments (nested as they were)."""
        if self.weights is None:
            raise ExecutionError("Weights not loaded. Call load_weights() or load_weights_from_state_dict() first.")
        given = self._inputs(inputs, kwargs)
        state = self._state()
        if self._prepared is None or self._prepared.state != state:
            self._prepared = self._prepare(state)
        prepared = self._prepared
        if isinstance(prepared.program, NativeProgram):
            return self._run(prepared.program, prepared.tensors, given)
        try:
            outputs = interpret(self.ir, prepared.tensors, given)
        except ExecutionError as error:
            raise ExecutionError(f"{error}\nIngot did not compile the graph: {prepared.program}") from error
        _warn(prepared.program)
        return outputs

    def _run(self, program: NativeProgram, tensors: Tensors, given: Tensors) -> tuple[Any, ...]:
        _python_ops.take_failure()
        try:
            return tuple(value for value in program.run(given) if isinstance(value, torch.Tensor))
        except IngotError as error:
            failure = _python_ops.take_failure()
            if failure and not (self._is_by_hand() and isinstance(failure[1], _python_ops.UnexpectedResultError)):
                raise node_failure(*failure) from failure[1]
            outputs = interpret(self.ir, tensors, given)  # says which node it is, where it fails there too
            if not self._is_by_hand():
                raise ExecutionError(str(error)) from error
            _warn(error)
            return outputs

    def _is_by_hand(self) -> bool:
        """Graphs that Ingot did not extract may be wrong about shapes and dtypes, which PyTorch does not need."""
        return not self.ir.format_version

    def _inputs(self, inputs: Any, kwargs: Mapping[str, Any] | None) -> dict[str, torch.Tensor]:
        metas = self.ir.graph_inputs
        leaves = pytree.tree_leaves((inputs, dict(kwargs or {})))
        leaves = [torch.from_numpy(leaf) if isinstance(leaf, np.ndarray) else leaf for leaf in leaves]
        values = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        if len(values) != len(metas):
            raise ExecutionError(f"Expected {len(metas)} inputs, got {len(values)}")
        sizes: dict[str, int] = {}
        for meta, value in zip(metas, values, strict=True):
            _check_input(meta, value, self.ir.symbols, sizes)
        return {meta.name: value.detach() for meta, value in zip(metas, values, strict=True)}

    def _tensors(self) -> dict[str, torch.Tensor]:
        """Weights and constants by key, checked."""
        assert self.weights is not None
        constants = {**self.ir.constants, **self.constants}
        names = {weight.name for weight in self.ir.weights}
        by_placeholder = {key: name for name, key in self.ir.weight_name_mapping.items()}
        tensors = {**constants, **fitted_to(self.weights, self.ir)}
        for name in names:
            if name not in tensors and by_placeholder.get(name) in constants:
                tensors[name] = constants[by_placeholder[name]]
        problems = [
            text for weight in self.ir.weights if weight.name in tensors for text in _weight_problems(weight, tensors)
        ]
        if problems:
            raise ExecutionError("The weights do not fit the graph: " + "; ".join(problems))
        return tensors

    def _state(self) -> Any:
        """Changes when the program is to be made again: other weights or values of them, other executors."""
        given = [*(self.weights or {}).items(), *self.constants.items()]
        versions = [(name, id(value), 0 if value.is_inference() else value._version) for name, value in given]
        return id(self.ir), generation(), versions

    def _prepare(self, state: Any) -> _Prepared:
        tensors = self._tensors()
        _check_graph(self.ir, tensors)
        try:
            program: NativeProgram | Exception = NativeProgram(self.ir, tensors, python_calls(self.ir))
        except (IngotError, ValueError) as error:
            program = error
        return _Prepared(state, tensors, program)


@dataclass
class _Prepared:
    """What further calls use again."""

    state: Any
    tensors: Tensors
    """Held, so that their identities stay theirs."""
    program: NativeProgram | Exception
    """Or why there is none."""


def _warn(reason: Exception) -> None:
    text = f"PyTorch ran the graph node by node, since Ingot could not compile it: {reason}"
    warnings.warn(text, stacklevel=3)


def _fingerprint(ir: IR) -> Any:
    """Another one where somebody has changed what is computed: nodes may be edited between calls."""
    nodes = [
        (node.name, node.op_type, repr(node.attrs), repr(node.args), [repr(tensor) for tensor in node.inputs])
        for node in ir.nodes
    ]
    return id(ir), nodes, [tensor.name for tensor in ir.graph_outputs], dict(ir.weight_name_mapping)


def execute_ir(
    ir: IR,
    inputs: Any,
    weights: Mapping[str, torch.Tensor] | None = None,
    weights_path: str | os.PathLike[str] | None = None,
    constants: Mapping[str, torch.Tensor] | None = None,
    *,
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[Any, ...]:
    """Runs a graph once. If both are given, `weights_path` counts and not `weights`."""
    if weights is None and weights_path is None:
        raise ValueError("Either weights or weights_path must be provided")
    executor = IRExecutor(ir, weights, constants)
    if weights_path is not None:
        executor.load_weights(weights_path)
    return executor.execute(inputs, kwargs)


def _weight_problems(weight: TensorMeta, tensors: Mapping[str, torch.Tensor]) -> list[str]:
    tensor = tensors[weight.name]
    if tensor.device.type == "meta":
        return [f"'{weight.name}' is on the meta device and has no values"]
    problems = _mismatches(weight, tensor)
    if any(problem.startswith("Dtype") for problem in problems):
        problems.append(f"load_weights(path, dtype=torch.{weight.dtype}) converts it")
    return problems


def _check_input(meta: TensorMeta, value: torch.Tensor, symbols: Mapping[str, Any], sizes: dict[str, int]) -> None:
    """Shape, dtype and device; sizes that vary by their range, and equal where they have one name."""
    shape = tuple(value.shape)
    what = f"Input '{meta.name}': expected shape {tuple(meta.shape)}, got {shape}"
    if value.device.type == "meta":
        raise ExecutionError(f"Input '{meta.name}' is on the meta device and has no values")
    if len(shape) != len(meta.shape):
        raise ExecutionError(what)
    for wanted, size in zip(meta.shape, shape, strict=True):
        if not isinstance(wanted, str):
            if wanted != size:
                raise ExecutionError(what)
        elif wanted in symbols:
            smallest, largest = symbols[wanted].get("min"), symbols[wanted].get("max")
            too_small = smallest is not None and size < smallest
            if too_small or (largest is not None and size > largest):
                raise ExecutionError(f"{what}; '{wanted}' is between {smallest} and {largest}")
            if sizes.setdefault(wanted, size) != size:
                raise ExecutionError(f"{what}; '{wanted}' is {sizes[wanted]} elsewhere")
    if dtype_name(value.dtype) != meta.dtype:
        raise ExecutionError(f"Input '{meta.name}': expected dtype {meta.dtype}, got {dtype_name(value.dtype)}")


def _check_graph(ir: IR, tensors: Mapping[str, Any]) -> None:
    """Every input of a node is there before it, every output of the graph is made, every operator can be run."""
    results = {meta.name: 1 for meta in ir.graph_inputs}
    named = set(results) | set(tensors)
    named |= {name for name, key in ir.weight_name_mapping.items() if key in tensors}
    for node in ir.nodes:
        for tensor in node.inputs:
            if problem := _reference_problem(tensor, results, named):
                raise node_failure(node, problem)
        if not _can_run(node):
            raise node_failure(node, f"No execution function registered for op_type: {node.op_type}")
        results[node.name] = len(node.outputs)
        named |= {output.name for output in node.outputs}
    for output in ir.graph_outputs:
        if output.name not in named:
            raise ExecutionError(f"Graph output '{output.name}' not found")


def _reference_problem(tensor: TensorMeta, results: Mapping[str, int], named: set[str]) -> str:
    producer, index = tensor.producer_node, tensor.producer_output_idx
    if producer is None:
        return "" if tensor.name in named else f"Weight/input '{tensor.name}' not found; is it in the weights?"
    if producer not in results:
        return f"Producer node '{producer}' not found for input '{tensor.name}'; check node ordering"
    if not 0 <= index < results[producer]:
        return f"Producer '{producer}' has {results[producer]} outputs, but index {index} requested"
    return ""


def _can_run(node: OpNode) -> bool:
    if get_execution_fn(node.op_type) is not None:
        return True
    if find_operator(node.op_type) is not None:
        return True
    # Control flow and Python's functions on sizes have no schema; the compiler knows those that it can run.
    return "." not in node.op_type or node.op_type.startswith(("<", "torch.", "math."))
