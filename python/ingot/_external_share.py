"""Modules that differ in nothing but the values of their weights need to be exported once."""

from __future__ import annotations

import copy
import enum
from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_OWN_STATE = frozenset(torch.nn.Module().__dict__)
"""What every module has: its tensors and parts, which are compared one by one, and its hooks."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), enum.Enum, torch.dtype, torch.device, torch.Size)


class _Unknown(Exception):  # noqa: N818 - it never leaves this file
    """Something that may make two modules differ."""


def fingerprint(module: torch.nn.Module, ignored: frozenset[str]) -> Hashable | None:
    """Equal for modules that one graph serves; None where that cannot be told.

    `ignored` are attributes that marking has put on the module; a marked part has calls of its own.
    """
    try:
        return tuple(_parts(module, ignored))
    except _Unknown:
        return None


def _parts(module: torch.nn.Module, ignored: frozenset[str]) -> Iterator[Hashable]:
    order: dict[int, int] = {}
    for path, part in module.named_modules(remove_duplicate=False):
        allowed = ignored if part is module else frozenset()
        if part is not module and (part._forward_hooks or part._forward_pre_hooks):
            raise _Unknown
        own = {name: value for name, value in part.__dict__.items() if name not in _OWN_STATE and name not in allowed}
        yield path, type(part), part.training, tuple((name, _frozen(own[name])) for name in sorted(own))
        for name, tensor in (*part._parameters.items(), *part._buffers.items()):
            yield name, _described(tensor, order), name in part._non_persistent_buffers_set


def _described(tensor: torch.Tensor | None, order: dict[int, int]) -> Hashable:
    if tensor is None:
        return None
    # Tied weights are tied in the same way.
    number = order.setdefault(id(tensor), len(order))
    layout = tuple(tensor.shape), tensor.stride() if tensor.layout is torch.strided else str(tensor.layout)
    return type(tensor), number, tensor.dtype, str(tensor.device), layout, tensor.requires_grad


def _frozen(value: Any) -> Hashable:
    if isinstance(value, _PLAIN) and isinstance(value, Hashable):
        return type(value), value
    if isinstance(value, list | tuple):
        return type(value), tuple(_frozen(item) for item in value)
    if isinstance(value, dict):
        return type(value), tuple((_frozen(key), _frozen(item)) for key, item in value.items())
    raise _Unknown


def with_weights_of(module: torch.nn.Module, program: ExportedProgram) -> ExportedProgram:
    """The same graph with the weights of another module."""
    tensors = dict(module.named_parameters(remove_duplicate=False)) | dict(module.named_buffers(remove_duplicate=False))
    if not tensors:
        return program
    other = copy.copy(program)
    other._state_dict = {name: tensors.get(name, value) for name, value in program.state_dict.items()}
    other._constants = {name: tensors.get(name, value) for name, value in program.constants.items()}
    return other
