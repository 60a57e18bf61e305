"""Graphs written by hand, op by op, instead of exported from PyTorch.

module = Module.create()
with module:

    @ops.graph
    def scale(v: Annotated[Value, TensorSpec([None, 4], np.float32)]) -> Annotated[
        Value, TensorSpec([None, 4], np.float32, name="w")
    ]:
        return ops.mul(v, 0.5)

program = module.program()
"""

from __future__ import annotations

import inspect
import threading
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from ingot import _build, _core
from ingot.errors import UsageError
from ingot.ir import (
    DYNAMIC,
    DTypeLike,
    ElementType,
    TensorType,
    Value,
    building,
    current_builder,
    has_builder,
    type_to_tuple,
)

if TYPE_CHECKING:
    import os

    from ingot.asset import Asset
    from ingot.composite import CompositeDecl
    from ingot.program import Program

__all__ = ["Graph", "Module", "TensorSpec", "graph"]


@dataclass(frozen=True, init=False)
class TensorSpec:
    """Sizes, element type and name of an input or output of a graph.

    A size is a number, None where it is only known when the graph runs, or a name: inputs that share it have one size.
    """

    shape: tuple[int | str | None, ...]
    dtype: ElementType
    name: str | None

    def __init__(self, shape: Sequence[int | str | None], dtype: DTypeLike, name: str | None = None) -> None:
        object.__setattr__(self, "shape", tuple(shape))
        object.__setattr__(self, "dtype", ElementType.of(dtype))
        object.__setattr__(self, "name", name)

    @property
    def type(self) -> TensorType:
        return TensorType([size if isinstance(size, int) else DYNAMIC for size in self.shape], self.dtype)

    def _port(self, name: str) -> tuple[str, Any, list[str]]:
        sizes = enumerate(self.shape)
        dims = [f"{name}_{i}" if size is None or size == DYNAMIC else str(size) for i, size in sizes]
        return name, type_to_tuple(self.type), dims


class _Entered(threading.local):
    def __init__(self) -> None:
        self.modules: list[Module] = []


_entered = _Entered()


class Module:
    """Graphs by name. Inside `with module:`, `@ops.graph` adds to it."""

    def __init__(self) -> None:
        self._core = _core.Module()
        self.graphs: dict[str, Graph] = {}

    @classmethod
    def create(cls) -> Module:
        return cls()

    def __enter__(self) -> Module:
        _entered.modules.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        _entered.modules.pop()

    def verify(self) -> None:
        """Raises a UsageError where the module is not well formed."""
        self._core.verify()

    def as_string(self) -> str:
        """The module in MLIR's text form."""
        return self._core.print()

    def dump(self) -> None:
        print(self.as_string())

    def bytecode(self) -> bytes:
        """The module as MLIR's bytecode."""
        return self._core.bytecode()

    def save_asset(self, path: str | os.PathLike[str], overwrite: bool = False) -> Asset:
        """Optimises a copy of the module and saves it. Replaces an existing asset only if told to."""
        return self.program().save_asset(path, overwrite)

    def program(self) -> Program:
        """The module as a program that can be called; every graph that is not private is an entry point."""
        from ingot.program import Program

        return Program(self)

    def __str__(self) -> str:
        return self.as_string()


class Graph:
    """A graph of a module, or one that a lowering made. Calling it inside another graph emits a call."""

    def __init__(self, module: Module | None, name: str, inputs: list[str], outputs: list[str]) -> None:
        self.module, self.name, self.inputs, self.outputs = module, name, tuple(inputs), tuple(outputs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = dict(zip(self.inputs, args, strict=False)) | kwargs
        if len(args) + len(kwargs) != len(self.inputs) or given.keys() != set(self.inputs):
            raise UsageError(f"graph '{self.name}' takes {', '.join(self.inputs) or 'nothing'}")
        builder = current_builder()
        operands = [_build.any_value(given[name])._handle for name in self.inputs]
        if self.module is None:
            made = builder.call_function(self.name, operands)
        else:
            made = self.module._core.call(builder, self.name, operands, len(self.outputs))
        values = tuple(Value(builder, handle, name) for handle, name in zip(made, self.outputs, strict=True))
        return values[0] if len(values) == 1 else values


def _spec(annotation: Any, what: str) -> TensorSpec:
    if typing.get_origin(annotation) is Annotated:
        for entry in annotation.__metadata__:
            if isinstance(entry, TensorSpec):
                return entry
    raise UsageError(f"{what} needs an annotation Annotated[Value, TensorSpec(shape, dtype)]")


def _input_specs(function: Callable[..., Any], hints: dict[str, Any]) -> dict[str, TensorSpec]:
    """By parameter, in their order."""
    return {
        name: _spec(hints.get(name), f"parameter '{name}' of '{function.__name__}'")
        for name in inspect.signature(function).parameters
    }


def _output_specs(function: Callable[..., Any], hints: dict[str, Any]) -> list[TensorSpec]:
    annotation = hints.get("return")
    parts = typing.get_args(annotation) if typing.get_origin(annotation) is tuple else (annotation,)
    return [_spec(part, f"what '{function.__name__}' returns") for part in parts]


def _results(returned: Any, name: str) -> list[Value]:
    values = list(returned) if isinstance(returned, list | tuple) else [returned]
    for value in values:
        if value is None:
            raise UsageError(f"graph '{name}' returns None where a value is declared")
    return [_build.any_value(value) for value in values]


class _Ports(typing.NamedTuple):
    """What a function says about its inputs (by parameter) and outputs, and how they are called."""

    inputs: dict[str, TensorSpec]
    outputs: list[TensorSpec]
    input_names: list[str]
    output_names: list[str]

    @staticmethod
    def of(function: Callable[..., Any]) -> _Ports:
        hints = typing.get_type_hints(function, include_extras=True)
        inputs, outputs = _input_specs(function, hints), _output_specs(function, hints)
        single = "output" if len(outputs) == 1 else None
        return _Ports(
            inputs,
            outputs,
            [spec.name or parameter for parameter, spec in inputs.items()],
            [spec.name or single or f"output_{i}" for i, spec in enumerate(outputs)],
        )


def _local_graph(function: Callable[..., Any], name: str, composite_decl: str) -> Graph:
    """A private function beside the program whose node is lowered."""
    builder, ports = current_builder(), _Ports.of(function)

    def body(*arguments: Value) -> list[Value]:
        results = _results(function(**dict(zip(ports.inputs, arguments, strict=True))), name)
        if [value.type for value in results] != [spec.type for spec in ports.outputs]:
            given, declared = [str(value.type) for value in results], [str(spec.type) for spec in ports.outputs]
            raise UsageError(f"graph '{name}' gives {given} and declares {declared}")
        return results

    handle = _build.body(body, [spec.type for spec in ports.inputs.values()])
    return Graph(None, builder.define_function(name, composite_decl, handle), ports.input_names, ports.output_names)


def _build_graph(function: Callable[..., Any], name: str, private: bool, no_inline: bool, composite_decl: str) -> Graph:
    if not _entered.modules:
        if has_builder():
            return _local_graph(function, name, composite_decl)
        raise UsageError("a graph belongs to a module: write it inside `with module:`")
    module = _entered.modules[-1]
    inputs, outputs, names, output_names = _Ports.of(function)
    builder = module._core.begin_graph(
        name,
        [spec._port(label) for spec, label in zip(inputs.values(), names, strict=True)],
        [spec._port(label) for spec, label in zip(outputs, output_names, strict=True)],
        private,
        no_inline,
        composite_decl,
    )
    try:
        handles = module._core.arguments(builder, len(names))
        arguments = [Value(builder, handle, label) for handle, label in zip(handles, names, strict=True)]
        with building(builder):
            results = _results(function(**dict(zip(inputs, arguments, strict=True))), name)
        module._core.end_graph(builder, [value._handle for value in results])
    except BaseException:
        module._core.drop_graph(builder)  # half a graph is none
        raise
    module.graphs[name] = Graph(module, name, names, output_names)
    return module.graphs[name]


def graph(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    private: bool = False,
    no_inline: bool = False,
    composite_decl: str | CompositeDecl = "",
) -> Any:
    """Makes the function a graph of the module whose `with` block this is; its body is built at once.

    Inside a lowering it becomes a private function of the program that is converted.

    `private` graphs are only called by others. `no_inline` ones stay functions of their own, and `composite_decl` says
    what the function is, so that a tuned form can stand for its body.
    """

    def decorate(given: Callable[..., Any]) -> Graph:
        declaration = composite_decl if isinstance(composite_decl, str) else composite_decl.as_dictionary()
        return _build_graph(given, name or given.__name__, private, no_inline, declaration)

    return decorate if function is None else decorate(function)
