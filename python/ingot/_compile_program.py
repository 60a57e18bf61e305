"""A graph of Dynamo's as a native program that takes the graph's arguments."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Node

from ingot import _arrays
from ingot._compile_alias import Results, split_results
from ingot._compile_graph import GraphInfo, NotNative, Settings, export_graph, weight_name
from ingot.conversion import Part, convert_parts
from ingot.program import Port, Program

_log = logging.getLogger("ingot.compile")


def make_native(
    graph_module: torch.fx.GraphModule, info: GraphInfo, args: Sequence[Any], weights: list[int], settings: Settings
) -> NativeGraph:
    """Converts the graph; the arguments `weights`, except those that it writes to, become weights of the program."""
    exported = export_graph(graph_module, info, args, weights)
    results, outputs = split_results(exported)
    options = {"fallback": settings.fallback, "disable_passes": list(settings.disable_passes)}
    program = convert_parts([Part.entry(exported)], options)
    [entry] = program.entry_points
    arguments = {port.state for port in entry.inputs if port.state}
    if kept := {port.name for port in entry.states} - arguments:
        # They have to be written where the module has them.
        constant = [index for index in weights if weight_name(index) not in kept]
        if len(constant) != len(weights) - len(kept):
            raise NotNative(f"it writes to {', '.join(sorted(kept))}, which is no argument")
        return make_native(graph_module, info, args, constant, settings)
    _log_fallback(program)
    native = NativeGraph(program, info, weights, args)
    native.finish_with(exported, results, outputs, entry.outputs)
    return native


def _log_fallback(program: Program) -> None:
    for op in program.fallback_ops:
        _log.info("PyTorch runs %d nodes of %s: %s", op.count, op.name, op.reason)


class NativeGraph:
    """A loaded program, its arguments by position among the graph's, and its results."""

    def __init__(self, program: Program, info: GraphInfo, weights: list[int], args: Sequence[Any]) -> None:
        # The program itself is not kept: it holds on to the weights it was converted from, and is loaded now.
        self._core = program._core
        [entry] = program.entry_points
        self.weights = weights
        self._arguments = info.inputs(weights)
        ports = list(zip(self._arguments, entry.inputs, strict=True))
        given = [(index, port) for index, port in ports if not port.is_literal]
        self._entry = entry.name
        self._inputs = [(index, _converter(port)) for index, port in given if not port.state]
        self._dtypes: list[None] = [None] * len(self._inputs)
        self.states = [(index, port) for index, port in given if port.state]
        self.has_fixed_sizes = any(_has_fixed_size(info, index, port) for index, port in ports)
        if self.states:
            memory = {_memory(args[index]) for index, _ in self.states}
            if any(_memory(args[index]) in memory for index in weights):
                raise NotNative("it writes to memory that one of its weights has too")

    def finish_with(
        self, exported: ExportedProgram, results: Results, nodes: Sequence[Node], ports: Sequence[Port]
    ) -> None:
        """How results are made of outputs, which are those of `nodes`."""
        self._finish = [_finisher(port, node) for port, node in zip(ports, nodes, strict=True)]
        self._results = results
        self._has_views = results.make_views is not None
        self._sources = _placeholder_sources(exported, self._arguments, self.weights) if self._has_views else []
        self._is_plain = list(results.outputs) == list(range(len(nodes)))

    def run(self, args: Sequence[Any]) -> Any:
        inputs = [convert(args[index]) for index, convert in self._inputs]
        if self.states:
            outputs = self._run_with_states(inputs, args)
        else:
            outputs = self._core.run(self._entry, inputs, self._dtypes, False)
        arrays = iter(outputs)
        values = [finish(arrays) for finish in self._finish]
        return tuple(values) if self._is_plain else self._arrange(args, values)

    def _arrange(self, args: Sequence[Any], values: Sequence[Any]) -> tuple[Any, ...]:
        """The results, some of which are not outputs of the program."""
        outputs, literals, is_view, make_views = self._results
        views: Iterator[Any] = iter(())
        if make_views is not None:
            arguments = [args[source] if isinstance(source, int) else source for source in self._sources]
            views = iter(make_views(*arguments, *values))
        return tuple(
            next(views) if view else literal if output is None else values[output]
            for output, literal, view in zip(outputs, literals, is_view, strict=True)
        )

    def _run_with_states(self, inputs: list[Any], args: Sequence[Any]) -> list[Any]:
        others: list[_arrays.StateArray] = []
        states = {
            port.state: _arrays.StateArray(args[index], port.name, port.dtype, others) for index, port in self.states
        }
        arguments = {name: state.argument for name, state in states.items()}
        outputs = self._core.run(self._entry, inputs, self._dtypes, False, arguments)
        for state in states.values():
            state.finish()
        return outputs

    def overlaps(self, args: Sequence[Any]) -> bool:
        """Whether an argument that the graph writes to shares memory with another argument."""
        written = [_memory(args[index]) for index, _ in self.states]
        others = [_memory(args[index]) for index, _ in self._inputs if isinstance(args[index], torch.Tensor)]
        return len(set(written)) < len(written) or not set(written).isdisjoint(others)


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _has_fixed_size(info: GraphInfo, index: int, port: Port) -> bool:
    """Whether export could not let vary what Dynamo does."""
    if port.is_literal:
        return True
    return any(isinstance(port.shape[axis], int) for axis in info.axes(index))


def _converter(port: Port) -> Callable[[Any], Any]:
    """What makes an argument into an array that the program takes."""
    if port.is_scalar:
        dtype = getattr(torch, port.dtype)
        return lambda value: torch.tensor(value, dtype=dtype)
    if port.dtype.startswith("complex"):
        return lambda value: value.detach().resolve_conj().resolve_neg()
    return lambda value: value.detach()


def _finisher(port: Port, node: Node) -> Callable[[Any], Any]:
    """What makes the next array into an output like that of the node: a number, or a tensor with its order of dims."""
    if port.is_literal:
        return lambda arrays: port.literal
    if port.is_scalar:
        return lambda arrays: torch.from_dlpack(next(arrays)).item()
    order = _order(node.meta["val"])
    if order is None:
        return lambda arrays: torch.from_dlpack(next(arrays))
    back = [order.index(axis) for axis in range(len(order))]
    return lambda arrays: torch.from_dlpack(next(arrays)).permute(order).contiguous().permute(back)


def _order(value: torch.Tensor) -> list[int] | None:
    """The axes from the outermost to the innermost in memory; None: as they are numbered."""
    strides = [stride.node.hint if isinstance(stride, torch.SymInt) else stride for stride in value.stride()]
    if None in strides:
        return None
    order = sorted(range(value.dim()), key=lambda axis: -strides[axis])
    return None if order == list(range(value.dim())) else order


def _placeholder_sources(exported: ExportedProgram, inputs: Sequence[int], weights: Sequence[int]) -> list[Any]:
    """For each placeholder of the exported graph, the argument's position, or the constant that it is."""
    by_name = {weight_name(index): index for index in weights}
    user = iter(inputs)
    sources: list[Any] = []
    for spec in exported.graph_signature.input_specs:
        if spec.kind is InputKind.USER_INPUT:
            sources.append(next(user))
        elif spec.target in by_name:
            sources.append(by_name[spec.target])
        else:
            members = {**exported.state_dict, **exported.constants}
            sources.append(members.get(spec.target))
    return sources
