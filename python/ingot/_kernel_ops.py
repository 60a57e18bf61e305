"""Operators of torch that stand for kernels: eager and traced, they do what the kernel's reference does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Reference = Callable[..., Sequence[torch.Tensor]]

_defined: dict[str, tuple[torch.library.Library, str]] = {}
"""By qualified name: what holds the operator, and its schema."""
_references: dict[str, Reference] = {}


def define(qualified: str, schema: str, reference: Reference) -> Any:
    """The operator; one of the same name runs the later reference from now on."""
    _references[qualified] = reference
    namespace, name = qualified.split("::")
    if qualified in _defined and _defined[qualified][1] != schema:
        _defined.pop(qualified)[0]._destroy()  # type: ignore[no-untyped-call]
    if qualified not in _defined:
        library = declare(qualified, schema)
        library.impl(name, lambda *args: _run(qualified, args), "CompositeExplicitAutograd")
        torch.library.register_fake(qualified, lambda *args: _run_fake(qualified, args), lib=library)
        _defined[qualified] = (library, schema)
    return getattr(getattr(torch.ops, namespace), name).default


def declare(qualified: str, schema: str) -> torch.library.Library:
    """An operator that programs can hold and nothing runs; it lives as long as the library."""
    namespace, name = qualified.split("::")
    library = torch.library.Library(namespace, "FRAGMENT")
    library.define(name + schema, tags=(torch.Tag.pt2_compliant_tag,))
    return library


def _run(qualified: str, args: Sequence[Any]) -> Any:
    # Operators promise fresh results, and kernels row-major ones.
    results = [result.clone(memory_format=torch.contiguous_format) for result in _references[qualified](*args)]
    return results[0] if len(results) == 1 else tuple(results)


def _run_fake(qualified: str, args: Sequence[Any]) -> Any:
    results = [
        torch.empty(result.shape, dtype=result.dtype, device=result.device) for result in _references[qualified](*args)
    ]
    return results[0] if len(results) == 1 else tuple(results)
