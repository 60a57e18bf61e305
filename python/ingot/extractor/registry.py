"""Functions of the user's for operators: how their nodes are converted, and how they run."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

    from ingot.extractor.analyzer import NodeInfo
    from ingot.extractor.document import OpNode

    Converted = OpNode | None | Sequence[OpNode]
    Converter = Callable[[NodeInfo], Converted]
    GroupConverter = Callable[[list[NodeInfo]], Converted]
    Executor = Callable[[list[torch.Tensor], dict[str, Any]], list[torch.Tensor]]

GETITEM = "<built-in function getitem>"

_lock = threading.RLock()
_converters: dict[str, Converter] = {}
_executors: dict[str, Executor] = {}
_groups: dict[tuple[str, ...], GroupConverter] = {}
_changes = itertools.count(1)
_generation = 0


def generation() -> int:
    """Another number after every change of a registry."""
    return _generation


def _changed() -> None:
    global _generation
    _generation = next(_changes)


def op_type_of(target: Any) -> str:
    """The op type of an FX target, or of a name in one of torch's spellings: "aten.add.Tensor"."""
    name = str(target)
    for prefix in ("torch.ops.aten.", "aten::"):
        if name.startswith(prefix):
            return "aten." + name[len(prefix) :]
    return name.removeprefix("torch.ops.")


def matches(pattern: str, op_type: str) -> bool:
    """Whether a pattern is the op type, or the operator of which it is an overload."""
    return pattern == op_type or pattern == _whole_op(op_type)


def _whole_op(op_type: str) -> str:
    parts = op_type.split(".")
    return ".".join(parts[:2]) if len(parts) == 3 else op_type


def register_op(pattern: str) -> Callable[[Converter], Converter]:
    """Decorates a function that makes a graph's node of a `NodeInfo`.

    "aten.add.Tensor" is that overload only, "aten.add" every overload; the exact one is preferred. The function gives
    an `OpNode`; a list of them, which run one after the other in the node's place; or None, which drops the node: what
    uses its result takes its first input instead. Registering again replaces.
    """
    return _registering(_converters, op_type_of(pattern))


def register_executor(pattern: str) -> Callable[[Executor], Executor]:
    """Decorates a function of (input tensors, attributes) that runs nodes, and gives a list of tensors."""
    return _registering(_executors, op_type_of(pattern))


def register_group(patterns: Sequence[str]) -> Callable[[GroupConverter], GroupConverter]:
    """Decorates a function that converts a chain of nodes: each uses the one before it, which nothing else uses.

    It is given a list of `NodeInfo` and gives what a converter gives. Chains go before converters of single nodes.
    """
    if isinstance(patterns, str) or not patterns:
        raise ValueError("a group is a list of op types")
    return _registering(_groups, tuple(op_type_of(pattern) for pattern in patterns))


def _registering(table: dict[Any, Any], key: Any) -> Callable[[Any], Any]:
    def register(function: Any) -> Any:
        if not callable(function):
            raise TypeError(f"a function is needed for '{key}', not {type(function).__name__}")
        with _lock:
            table[key] = function
            _changed()
        return function

    return register


def unregister_op(pattern: str) -> None:
    _unregister(_converters, op_type_of(pattern), "converter")


def unregister_executor(pattern: str) -> None:
    _unregister(_executors, op_type_of(pattern), "executor")


def unregister_group(patterns: Sequence[str]) -> None:
    _unregister(_groups, tuple(op_type_of(pattern) for pattern in patterns), "group")


def _unregister(table: dict[Any, Any], key: Any, what: str) -> None:
    with _lock:
        if key not in table:
            raise KeyError(f"no {what} is registered for {key!r}")
        del table[key]
        _changed()


def list_registered_ops() -> dict[str, list[str]]:
    """The patterns with a converter and those with an executor, in the order of registration."""
    with _lock:
        return {"conversion": list(_converters), "execution": list(_executors)}


@contextlib.contextmanager
def registered_ops(
    converters: Mapping[str, Converter] | None = None, executors: Mapping[str, Executor] | None = None
) -> Iterator[None]:
    """Registers functions for a `with` block. What is registered or removed inside it is undone at its end, too."""
    tables: tuple[dict[Any, Any], ...] = (_converters, _executors, _groups)
    with _lock:
        before = [dict(table) for table in tables]
        _converters.update({op_type_of(pattern): function for pattern, function in (converters or {}).items()})
        _executors.update({op_type_of(pattern): function for pattern, function in (executors or {}).items()})
        _changed()
    try:
        yield
    finally:
        with _lock:
            for table, old in zip(tables, before, strict=True):
                table.clear()
                table.update(old)
            _changed()


def get_conversion_fn(op_type: str) -> Converter | None:
    """The converter for nodes of an op type."""
    return _find(_converters, op_type_of(op_type))


def get_execution_fn(op_type: str) -> Executor | None:
    """The executor for nodes of an op type."""
    return _find(_executors, op_type_of(op_type))


def registered_groups() -> dict[tuple[str, ...], GroupConverter]:
    with _lock:
        return dict(_groups)


def _find(table: dict[str, Any], op_type: str) -> Any:
    with _lock:
        return table.get(op_type) or table.get(_whole_op(op_type))


@register_executor(GETITEM)
def pick_output(inputs: list[torch.Tensor], attrs: dict[str, Any]) -> list[torch.Tensor]:
    """One of the results of a node that has several."""
    return [inputs[attrs.get("index", 0)]]
