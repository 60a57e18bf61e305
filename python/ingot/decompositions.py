"""Which operators torch takes apart before Ingot sees a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

PRESERVED_OPS: tuple[str, ...] = (
    "hardsigmoid",
    "hardswish",
    "instance_norm",
    "pixel_shuffle",
    "reflection_pad1d",
    "reflection_pad2d",
    "reflection_pad3d",
    "replication_pad1d",
    "replication_pad2d",
    "replication_pad3d",
    "scaled_dot_product_attention",
    "silu",
)
"""ATen operators, all `.default`, that stay whole: each has a kernel that its parts would not find again."""


def preserved_overloads() -> tuple[Any, ...]:
    """`PRESERVED_OPS` as torch's own objects."""
    return tuple(getattr(torch.ops.aten, name).default for name in PRESERVED_OPS)


def get_decomp_table() -> dict[Any, Callable[..., Any]]:
    """A table for `ExportedProgram.run_decompositions`: torch's default one without `PRESERVED_OPS`.

    The dict is the caller's own: entries may be deleted or added.
    """
    table = torch.export.default_decompositions().materialize()
    for overload in preserved_overloads():
        table.pop(overload, None)
    return table
