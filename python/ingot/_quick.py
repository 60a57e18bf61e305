"""The short way of a call: plain arrays in, arrays out, hardly any structure. Everything else takes the long one."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ingot import _arrays

if TYPE_CHECKING:
    from ingot import _core
    from ingot._tree import Tree
    from ingot.program import EntryPoint, Port


class QuickCall:
    """For entry points whose arguments are tensors, one after the other."""

    def __init__(self, entry: EntryPoint, results: Tree | None) -> None:
        self._name = entry.name
        self._dtypes = [port.dtype for port in entry.inputs]
        self._outputs = [port.dtype for port in entry.outputs]
        self._results = None if results is None or results.is_leaf else results
        self._unnamed: list[None] = [None] * len(entry.inputs)
        self._numpy_dtypes: list[Any] = []
        self._array: Any = None
        self._torch: tuple[Any, ...] = ()

    @classmethod
    def of(cls, entry: EntryPoint, arguments: Tree | None, results: Tree | None) -> QuickCall | None:
        """None where an argument or a result is more than a tensor."""
        if not entry.inputs or not all(map(_is_plain, (*entry.inputs, *entry.outputs))):
            return None
        if arguments is not None:
            positional, keywords = arguments.children
            if keywords.children or not all(child.is_leaf for child in positional.children):
                return None
        return cls(entry, results)

    def run(self, core: _core.Program, args: tuple[Any, ...]) -> Any:
        """NotImplemented where an argument is not as plain as it could be."""
        if len(args) != len(self._dtypes):
            return NotImplemented
        tensor, strided, to_dlpack, from_dlpack = self._torch or self._find_torch()
        inputs, use_torch = [], False
        for value, dtype in zip(args, self._numpy_dtypes):  # noqa: B905  (their number was compared)
            if type(value) is tensor:
                if not value.is_cpu or value.requires_grad or value.layout is not strided:
                    return NotImplemented
                if value.is_neg() or value.is_conj():
                    return NotImplemented
                try:
                    value, use_torch = to_dlpack(value), True
                except (RuntimeError, BufferError):  # the long way says why
                    return NotImplemented
            # numpy has one object for each of its own types.
            elif not isinstance(value, self._array) or value.dtype is not dtype or not value.flags.c_contiguous:
                return NotImplemented
            inputs.append(value)
        raw = core.run(self._name, inputs, self._unnamed, not use_torch, {})
        if use_torch:
            outputs = [from_dlpack(array) for array in raw]
        else:
            outputs = [_arrays.to_numpy(array, dtype) for array, dtype in zip(raw, self._outputs, strict=True)]
        if self._results is not None:
            return self._results.unflatten(iter(outputs))
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _find_torch(self) -> tuple[Any, ...]:
        """What a call needs of PyTorch, kept once it has been imported; otherwise nothing is a tensor."""
        if not self._numpy_dtypes:
            self._make_numpy_dtypes()
        torch = sys.modules.get("torch")
        if torch is None or not hasattr(torch, "utils"):
            return None, None, None, None
        dlpack = torch.utils.dlpack
        self._torch = (torch.Tensor, torch.strided, dlpack.to_dlpack, dlpack.from_dlpack)
        return self._torch

    def _make_numpy_dtypes(self) -> None:
        import numpy as np

        self._array = np.ndarray
        self._numpy_dtypes = [np.dtype(dtype) for dtype in self._dtypes]


def _is_plain(port: Port) -> bool:
    has_dtype = _arrays.carrier(port.dtype) is None and port.dtype != "complex32"  # of numpy
    return has_dtype and not (port.is_literal or port.is_scalar or port.state)
