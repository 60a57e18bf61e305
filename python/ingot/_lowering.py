"""Lowerings that are Python functions: finds the FX node of what is lowered, calls the function, takes its results."""

from __future__ import annotations

import contextlib
import os
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from ingot.errors import LoweringError, UnsupportedError, UsageError
from ingot.ir import Value, building

if TYPE_CHECKING:
    import torch
    from torch.export import ExportedProgram

    from ingot._core import Builder

LoweringFunction: TypeAlias = Callable[[dict[str, Value], Any, Any], "Value | Sequence[Value | None] | None"]


# How the report marks what came out of a lowering of the caller's.
_FAILED = "its registered lowering failed: "


class Location:
    """Where the node comes from: what a lowering gets as `loc`."""

    def __init__(self, node: str, file: str, line: int) -> None:
        self.node, self.file, self.line = node, file, line

    def __str__(self) -> str:
        return f"node '{self.node}'" + (f" ({self.file}:{self.line})" if self.file else "")


def check_name(qualified_name: str) -> str:
    """`namespace::name.overload`; without an overload the default one is meant, which is how it is given back."""
    space, colons, rest = qualified_name.partition("::")
    if not (space and colons and rest) or "::" in rest:
        raise ValueError(f"an operator is called namespace::op_name.overload, not '{qualified_name}'")
    return qualified_name if "." in rest else qualified_name + ".default"


class Lowerings:
    """Functions by operator for one conversion, as `_core.Converted.convert` takes them.

    `failure` is the first exception that a function raised; the error of the conversion is raised from it.
    """

    def __init__(self, functions: Mapping[str, LoweringFunction], programs: Mapping[str, ExportedProgram]) -> None:
        """`programs` by the names of the functions they become."""
        self._functions = {check_name(name): function for name, function in functions.items()}
        self._programs = programs
        self._indices: dict[str, NodeIndex] = {}
        self.failure: BaseException | None = None

    def rows(self) -> list[tuple[str, Callable[[Builder], str | None]]]:
        return [(name, self._caller(function)) for name, function in self._functions.items()]

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Around the conversion: what went wrong in a function becomes a LoweringError, caused by its exception."""
        try:
            yield
        except UnsupportedError as error:
            if self.failure is not None and not isinstance(self.failure, Exception):
                raise self.failure from None  # the user wants to stop
            if _FAILED not in str(error):
                raise
            raise LoweringError(str(error)) from self.failure

    def _caller(self, function: LoweringFunction) -> Callable[[Builder], str | None]:
        def call(builder: Builder) -> str | None:
            try:
                with building(builder):
                    self._lower(function, builder)
            except BaseException as error:
                # The conversion goes on to find every problem; the first exception is what the user wants to see.
                self.failure = self.failure or error
                return _describe(error)
            return None

        return call

    def _lower(self, function: LoweringFunction, builder: Builder) -> None:
        node = self._index(builder.function).find(builder)
        location = Location(builder.name, builder.file, builder.line)
        returned = function(values_of(builder, node), node, location)
        if isinstance(returned, Value):
            returned = [returned]
        if not isinstance(returned, list | tuple):
            raise UsageError(f"a lowering returns a value or a list of them, not {type(returned).__name__}")
        from ingot import _build

        handles = [0 if entry is None else _build.any_value(entry)._handle for entry in returned]
        builder.set_results(handles)

    def _index(self, function: str) -> NodeIndex:
        if function not in self._indices:
            self._indices[function] = NodeIndex(self._programs[function].graph_module)
        return self._indices[function]


def _describe(error: BaseException) -> str:
    """The exception, and the line of the lowering that raised it."""
    try:
        said = str(error).encode(errors="replace").decode()
    except Exception:  # its __str__ is the user's as well
        said = ""
    text = f"{type(error).__name__}: {said}" if said else type(error).__name__
    inner = os.path.dirname(os.path.abspath(__file__))
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(inner)]
    return f"{text} ({frames[-1].filename}:{frames[-1].lineno})" if frames else text


class NodeIndex:
    """The nodes of a program and of its sub-graphs, by name."""

    def __init__(self, module: torch.fx.GraphModule) -> None:
        import torch

        self._root = module
        self._members: dict[torch.fx.GraphModule, dict[str, torch.fx.Node]] = {}
        self._by_name: dict[str, list[torch.fx.Node]] = {}
        for part in module.modules():
            for node in part.graph.nodes if isinstance(part, torch.fx.GraphModule) else ():
                self._by_name.setdefault(node.name, []).append(node)

    def find(self, builder: Builder) -> torch.fx.Node | None:
        """The node that is lowered; None where it is none of this program's."""
        module = self._descend(builder.path)
        here = None if module is None else self._nodes(module).get(builder.name)
        if here is not None and _target_name(here) == builder.target:
            return here
        # Regions that only switch a mode are inlined: their nodes lie elsewhere than they did, and what took their
        # result out may have their name.
        candidates = [node for node in self._by_name.get(builder.name, []) if _target_name(node)]
        same = [node for node in candidates if _target_name(node) == builder.target]
        fitting = [node for node in same if _fits(node, builder)]
        return next(iter([*fitting, *same, *([here] if here is not None else []), *candidates]), None)

    def _nodes(self, module: torch.fx.GraphModule) -> dict[str, torch.fx.Node]:
        if module not in self._members:
            self._members[module] = {node.name: node for node in module.graph.nodes}
        return self._members[module]

    def _descend(self, path: str) -> torch.fx.GraphModule | None:
        """The graph that a path like "cond:1/while_loop:0" leads to."""
        module: Any = self._root
        for step in path.split("/") if path else ():
            name, _, number = step.rpartition(":")
            owner = self._nodes(module).get(name)
            graphs = list(_sub_graphs(owner, module)) if owner is not None else []
            if int(number) >= len(graphs):
                return None
            module = graphs[int(number)]
        return module


def _sub_graphs(node: torch.fx.Node, module: torch.fx.GraphModule) -> Iterator[torch.fx.GraphModule]:
    import torch

    for argument in node.all_input_nodes:
        if argument.op == "get_attr":
            attribute = module.get_submodule(str(argument.target)) if _has_module(module, argument) else None
            if isinstance(attribute, torch.fx.GraphModule):
                yield attribute


def _has_module(module: torch.fx.GraphModule, node: torch.fx.Node) -> bool:
    return str(node.target) in dict(module.named_modules())


def _target_name(node: torch.fx.Node) -> str:
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return ""
    return f"{schema.name}.{schema.overload_name}" if schema.overload_name else schema.name


def _fits(node: torch.fx.Node, builder: Builder) -> bool:
    """Whether literals among the arguments are the same."""
    given = dict(builder.arguments())
    return all(
        given[name] == value
        for name, value in arguments_of(node).items()
        if name in given and isinstance(value, bool | int | float | str)
    )


def arguments_of(node: torch.fx.Node) -> dict[str, Any]:
    """A node's arguments by the names that the schema gives them; by position where there is no schema."""
    schema = getattr(node.target, "_schema", None)
    if schema is None:
        return {f"arg{i}": value for i, value in enumerate(node.args)} | dict(node.kwargs)
    names = [argument.name for argument in schema.arguments]
    return dict(zip(names, node.args, strict=False)) | dict(node.kwargs)


def values_of(builder: Builder, node: torch.fx.Node | None) -> dict[str, Value]:
    """The values among a node's arguments by the names of the nodes that made them.

    The second result of `split` is there as `getitem_1` and as `split#1`. Without a node, arguments go by their own
    names.
    """
    values: dict[str, Value] = {}
    handles: dict[int, Value] = {}

    def value(handle: int, name: str) -> Value:
        return handles.setdefault(handle, Value(builder, handle, name))

    def pair(argument: Any, given: Any, place: str) -> None:
        if isinstance(given, tuple) and given[0] == "value":
            for name in _names(argument) or [place]:
                values[name] = value(given[1], name)
        elif isinstance(given, list):
            items = argument if isinstance(argument, list | tuple) else [argument] * len(given)
            for i, (inner, entry) in enumerate(zip(items, given, strict=False)):
                pair(inner, entry, f"{place}#{i}")

    given = list(builder.arguments())
    known = {} if node is None else arguments_of(node)
    if node is not None and not known.keys() & dict(given).keys():
        known = {name: argument for (name, _), argument in zip(given, node.args, strict=False)}
    for name, content in given:
        pair(known.get(name), content, name)
    return values


def _names(argument: Any) -> list[str]:
    """How the value of an argument that is a node may be called."""
    import operator

    if not hasattr(argument, "op") or not hasattr(argument, "name"):
        return []
    names = [argument.name]
    if argument.op == "call_function" and argument.target is operator.getitem:
        names.append(f"{argument.args[0].name}#{argument.args[1]}")
    return names
