"""Casts exported PyTorch programs into small, fast, portable native ones.

program = ingot.convert(model, (x,))
y = program(x)
program.save_asset("model.ingot")
y = ingot.load("model.ingot")(x)
"""

from __future__ import annotations

from ingot._core import get_num_threads, manual_seed, set_num_threads
from ingot._core import version as _version
from ingot.errors import (
    AssetIOError,
    CorruptFileError,
    IngotError,
    InternalError,
    LoweringError,
    UnsupportedError,
    UsageError,
)
from ingot.ir import Value
from ingot.module import Module, TensorSpec
from ingot.program import EntryPoint, FallbackOp, Port, Program, convert, load

__version__: str = _version()

__all__ = [
    "AssetIOError",
    "CorruptFileError",
    "EntryPoint",
    "FallbackOp",
    "IngotError",
    "InternalError",
    "LoweringError",
    "Module",
    "Port",
    "Program",
    "TensorSpec",
    "UnsupportedError",
    "UsageError",
    "Value",
    "convert",
    "get_num_threads",
    "load",
    "manual_seed",
    "set_num_threads",
]
