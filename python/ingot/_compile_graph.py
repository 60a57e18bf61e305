"""What Dynamo says of a graph, and its export."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch.export import Dim, ExportedProgram
from torch.fx import Node
from torch.utils._python_dispatch import is_traceable_wrapper_subclass


class NotNative(Exception):  # noqa: N818 - no error: the graph stays in eager
    """Why a graph stays in eager PyTorch."""


class Settings(NamedTuple):
    """The options of the backend."""

    fallback: bool = True
    disable_passes: Sequence[str] = ()


class _SizeOf(NamedTuple):
    """An argument that is a size of another one."""

    index: int
    axis: int


class GraphInfo:
    """The arguments of a graph: which are weights, which sizes vary. Read at once, because Dynamo deletes it later."""

    def __init__(self, graph_module: torch.fx.GraphModule) -> None:
        self._placeholders = graph_module.graph.find_nodes(op="placeholder")
        values = [node.meta.get("example_value") for node in self._placeholders]
        self.weights = [index for index, node in enumerate(self._placeholders) if _is_static(node)]
        self._axes = [_dynamic_axes(value) for value in values]
        self._derived = [_size_source(value, values) for value in values]
        _check_tensors(value for value in values if isinstance(value, torch.Tensor))
        _check_grad(graph_module, self._placeholders)

    def inputs(self, weights: Sequence[int]) -> list[int]:
        """The arguments that a program takes: neither weights nor sizes of others."""
        return [i for i, source in enumerate(self._derived) if source is None and i not in set(weights)]

    def sizes(self, args: Sequence[Any]) -> tuple[Any, ...]:
        """The values of everything that varies."""
        return tuple(
            arg if isinstance(arg, int | float) else tuple(arg.shape[axis] for axis in axes)
            for arg, axes in zip(args, self._axes, strict=True)
            if axes or isinstance(arg, int | float)
        )

    def dynamic_shapes(self, indices: Sequence[int], args: Sequence[Any]) -> tuple[Any, ...]:
        """As torch.export takes it, for these arguments."""
        return tuple(
            {axis: Dim.AUTO for axis in self._axes[index]} if isinstance(args[index], torch.Tensor) else Dim.AUTO
            for index in indices
        )

    def axes(self, index: int) -> Sequence[int]:
        """Those of an argument that vary."""
        return self._axes[index]

    def arguments(self, given: dict[int, Any]) -> list[Any]:
        """All arguments, of weights and inputs by position."""
        return [
            given[index] if source is None else given[source.index].shape[source.axis]
            for index, source in enumerate(self._derived)
        ]


def _is_static(node: Node) -> bool:
    """Parameters and buffers of modules: Dynamo expects them to stay where they are."""
    return (node.meta.get("tensor_dict") or {}).get("_dynamo_static_input_type") is not None


def _dynamic_axes(value: Any) -> list[int]:
    if not isinstance(value, torch.Tensor):
        return []
    return [axis for axis, size in enumerate(value.shape) if _is_symbolic(size)]


def _is_symbolic(size: Any) -> bool:
    return isinstance(size, torch.SymInt) and size.node.maybe_as_int() is None


def _size_source(value: Any, values: Sequence[Any]) -> _SizeOf | None:
    if not _is_symbolic(value):
        return None
    for index, other in enumerate(values):
        for axis in _dynamic_axes(other):
            if other.shape[axis].node.expr == value.node.expr:
                return _SizeOf(index, axis)
    return None


def _check_tensors(values: Iterator[torch.Tensor]) -> None:
    for value in values:
        if value.device.type != "cpu":
            raise NotNative(f"it has tensors on {value.device}, and Ingot runs on the CPU")
        if value.layout is not torch.strided:
            raise NotNative(f"it has a tensor of layout {value.layout}")
        if is_traceable_wrapper_subclass(value):
            raise NotNative(f"it has a {type(value).__name__}, which is no plain tensor")


def _check_grad(graph_module: torch.fx.GraphModule, placeholders: Sequence[Node]) -> None:
    """Whether eager results would take part in autograd, by what Dynamo recorded of them."""
    outputs = [_recorded(node) for node in graph_module.graph.output_node().all_input_nodes]
    # A leaf that requires grad was given so; a tensor that was written to has a function.
    written = [_recorded(node) for node in placeholders if not _is_static(node)]
    needs_grad = any(value.requires_grad for value in outputs if value is not None) or any(
        value.requires_grad and value.grad_fn is not None and value._version > 0
        for value in written
        if value is not None
    )
    if needs_grad:
        raise NotNative(
            "its results need gradients, and Ingot is for inference; call the model under torch.no_grad(), or use "
            "model.requires_grad_(False)"
        )


def _recorded(node: Node) -> torch.Tensor | None:
    value = node.meta.get("example_value")
    return value if isinstance(value, torch.Tensor) else None


_NO_OPS = {
    torch._C._set_grad_enabled,
    torch.autograd.grad_mode._enter_inference_mode,
    torch.autograd.grad_mode._exit_inference_mode,
}
"""They change what autograd records, but no value."""


def _without_grad_modes(graph_module: torch.fx.GraphModule) -> torch.fx.GraphModule:
    graph = torch.fx.Graph()
    values: dict[Node, Any] = {}
    for node in graph_module.graph.nodes:
        if node.target not in _NO_OPS:
            values[node] = graph.node_copy(node, lambda old: values[old])
    return torch.fx.GraphModule(graph_module, graph)


class _Exportable(torch.nn.Module):
    """The graph with its weights as members, and without the arguments that are sizes of others."""

    def __init__(
        self,
        graph_module: torch.fx.GraphModule,
        info: GraphInfo,
        inputs: Sequence[int],
        weights: dict[int, torch.Tensor],
    ) -> None:
        super().__init__()
        self.graph = _without_grad_modes(graph_module)
        self._info = info
        self._inputs = inputs
        self._weights = {index: weight_name(index) for index in weights}
        for index, weight in weights.items():
            if isinstance(weight, torch.nn.Parameter):
                self.register_parameter(weight_name(index), weight)
            else:
                self.register_buffer(weight_name(index), weight)

    def forward(self, *args: Any) -> Any:
        given = dict(zip(self._inputs, args, strict=True))
        given |= {index: getattr(self, name) for index, name in self._weights.items()}
        # The interpreter passes on where in the user's Python each node comes from.
        with torch.fx.traceback.preserve_node_meta():
            return torch.fx.Interpreter(self.graph).run(*self._info.arguments(given))


def weight_name(index: int) -> str:
    """The name of an argument of the graph, as a member of the exported module."""
    return f"argument_{index}"


def export_graph(
    graph_module: torch.fx.GraphModule, info: GraphInfo, args: Sequence[Any], weights: Sequence[int]
) -> ExportedProgram:
    """The graph as torch.export has it; its inputs are `info.inputs(weights)`."""
    inputs = info.inputs(weights)
    if any(args[index].is_inference() for index in weights):
        raise NotNative(
            "its weights are inference tensors, of which PyTorch does not count changes; make the model outside of "
            "torch.inference_mode()"
        )
    module = _Exportable(graph_module, info, inputs, {index: args[index] for index in weights})
    given = tuple(args[index] for index in inputs)
    with torch.inference_mode(False), torch.no_grad(), _exporting_is_of_this_thread():
        program = torch.export.export(
            module, given, dynamic_shapes=(info.dynamic_shapes(inputs, args),) if given else None, strict=False
        )
    check_deterministic(program)
    return program


@contextmanager
def _exporting_is_of_this_thread() -> Iterator[None]:
    """PyTorch's flag is the process's: threads that call what is compiled would annotate nodes of this export.

    The caller holds Dynamo's lock, so that nothing else is traced meanwhile.
    """
    is_exporting, this_thread = torch.compiler.is_exporting, threading.get_ident()
    torch.compiler.is_exporting = lambda: is_exporting() and threading.get_ident() == this_thread
    try:
        yield
    finally:
        torch.compiler.is_exporting = is_exporting


def check_deterministic(program: ExportedProgram) -> None:
    """Random numbers of eager PyTorch come from its own generators."""
    for node in program.graph.nodes:
        if isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags:
            arguments = node.target._schema.arguments
            values = {argument.name: argument.default_value for argument in arguments}
            values |= dict(zip((argument.name for argument in arguments), node.args, strict=False)) | node.kwargs
            is_off = any(values.get(name) is False for name in ("train", "training"))
            if not is_off and values.get("dropout_p", values.get("p")) != 0:
                raise NotNative(f"it draws random numbers ({node.target}), which must come from PyTorch's generators")
