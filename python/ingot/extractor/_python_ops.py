"""Operators that call the user's Python functions, so that the rest of a graph runs natively around them."""

from __future__ import annotations

import functools
import itertools
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ingot.extractor._values import dtype_name
from ingot.extractor.document import OpNode

NAMESPACE = "ingot_extractor"
_library = torch.library.Library(NAMESPACE, "DEF")
_keys = itertools.count()
_calls: weakref.WeakValueDictionary[str, PythonCall] = weakref.WeakValueDictionary()
_failed = threading.local()


class UnexpectedResultError(ValueError):
    """A function gave another shape or dtype than the graph says."""


class PythonCall:
    """A node and the function that runs it. It can be called while the object lives."""

    def __init__(self, node: OpNode, function: Callable[..., Any]) -> None:
        self.node = node
        self.function = function
        self.key = f"{next(_keys)}:{node.name}"
        _calls[self.key] = self

    @property
    def op_type(self) -> str:
        return _operator(len(self.node.outputs))

    def __call__(self, inputs: Sequence[torch.Tensor]) -> list[torch.Tensor]:
        # Copies: a function may write to what it is given, and must not reach weights or the caller's tensors.
        given = [tensor.clone() for tensor in inputs]
        results = self.function(given, dict(self.node.attrs))
        results = [results] if isinstance(results, torch.Tensor) else list(results)
        if len(results) < len(self.node.outputs):
            raise ValueError(f"the executor gave {len(results)} tensors instead of {len(self.node.outputs)}")
        for meta, tensor in zip(self.node.outputs, results, strict=False):
            _check(meta.name, meta.shape, meta.dtype, tensor)
        return [tensor.detach().contiguous() for tensor in results[: len(self.node.outputs)]]


def _check(name: str, shape: Sequence[Any], dtype: str, tensor: torch.Tensor) -> None:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"the executor gave a {type(tensor).__name__} for '{name}', which is a tensor")
    sizes = list(tensor.shape)
    fits = len(sizes) == len(shape) and all(
        isinstance(wanted, str) or wanted == size for wanted, size in zip(shape, sizes, strict=True)
    )
    if not fits or dtype_name(tensor.dtype) != dtype:
        raise UnexpectedResultError(
            f"the executor gave {dtype_name(tensor.dtype)} {tuple(sizes)} for '{name}', which is {dtype} {tuple(shape)}"
        )


def take_failure() -> tuple[OpNode, Exception] | None:
    """What the last call in this thread raised, and the node that it was for."""
    failure = getattr(_failed, "last", None)
    _failed.last = None
    return failure


@functools.cache
def _operator(outputs: int) -> str:
    """The op type of an operator with that many results. Their number is part of an operator's schema."""
    result = "Tensor" if outputs == 1 else f"({', '.join(['Tensor'] * outputs)})"
    _library.define(f"call_{outputs}(Tensor[] inputs, str key) -> {result}")

    def run(inputs: list[torch.Tensor], key: str) -> Any:
        call = _calls[key]
        try:
            made = call(inputs)
        except Exception as error:
            _failed.last = (call.node, error)
            raise
        return made[0] if outputs == 1 else tuple(made) if outputs else None

    _library.impl(f"call_{outputs}", run, "CompositeExplicitAutograd")
    return f"{NAMESPACE}.call_{outputs}.default"
