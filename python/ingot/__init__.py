"""Casts exported PyTorch programs into small, fast, portable native ones.

program = ingot.convert(model, (x,))
y = program(x)
program.save_asset("model.ingot")
y = ingot.load("model.ingot")(x)
"""

from __future__ import annotations

import importlib

from ingot._core import get_num_threads, manual_seed, set_num_threads
from ingot._core import version as _version
from ingot.conversion import convert
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
from ingot.program import EntryPoint, FallbackOp, Graph, Port, Program, load
from ingot.session import Session

__version__: str = _version()

__all__ = [
    "AssetIOError",
    "CorruptFileError",
    "Departure",
    "EntryPoint",
    "ExternalizeSpec",
    "FallbackOp",
    "Graph",
    "IngotError",
    "InternalError",
    "LoweringError",
    "MetalParameter",
    "Module",
    "Port",
    "Program",
    "Session",
    "TensorSpec",
    "TorchConverter",
    "TorchKernel",
    "TorchMetalKernel",
    "UnsupportedError",
    "UsageError",
    "Value",
    "Verification",
    "convert",
    "generate_composite_decl",
    "get_decomp_table",
    "get_num_threads",
    "load",
    "manual_seed",
    "set_num_threads",
    "verify",
]


_LAZY = {
    "ExternalizeSpec": "ingot.externalize",
    "MetalParameter": "ingot.kernels",
    "TorchConverter": "ingot.converter",
    "TorchKernel": "ingot.kernels",
    "TorchMetalKernel": "ingot.kernels",
    "generate_composite_decl": "ingot.composite",
    "get_decomp_table": "ingot.decompositions",
    "Departure": "ingot.verification",
    "Verification": "ingot.verification",
    "verify": "ingot.verification",
}
"""Names whose modules import torch, which running a program does not need."""


def __getattr__(name: str) -> object:
    if name not in _LAZY:
        raise AttributeError(f"module 'ingot' has no attribute '{name}'")
    return getattr(importlib.import_module(_LAZY[name]), name)
