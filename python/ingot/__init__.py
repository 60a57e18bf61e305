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
    CancelledError,
    ConversionError,
    CorruptFileError,
    ExecutionError,
    ExportError,
    IngotError,
    InternalError,
    LoweringError,
    SerializationError,
    UnsupportedError,
    UsageError,
    WeightLoadError,
)
from ingot.ir import Value
from ingot.module import Module, TensorSpec
from ingot.program import EntryPoint, FallbackOp, Graph, Port, Program, load
from ingot.session import Session

__version__: str = _version()

__all__ = [
    "IR",
    "Argument",
    "AssetIOError",
    "CancelledError",
    "ConversionError",
    "CorruptFileError",
    "Departure",
    "EntryPoint",
    "ExecutionError",
    "ExportError",
    "ExternalizeSpec",
    "FallbackOp",
    "Graph",
    "GraphAnalyzer",
    "IRExecutor",
    "IngotError",
    "InternalError",
    "LoweringError",
    "MetalParameter",
    "Module",
    "NodeInfo",
    "OpNode",
    "Port",
    "Program",
    "SerializationError",
    "Session",
    "TensorMeta",
    "TensorRegistry",
    "TensorSpec",
    "TorchConverter",
    "TorchKernel",
    "TorchMetalKernel",
    "UnsupportedError",
    "UsageError",
    "Value",
    "Verification",
    "VerificationReport",
    "WeightLoadError",
    "convert",
    "convert_exported_program",
    "deserialize_ir",
    "execute_ir",
    "export_model",
    "extract_ir",
    "generate_composite_decl",
    "generate_op_distribution_pie",
    "get_conversion_fn",
    "get_decomp_table",
    "get_execution_fn",
    "get_num_threads",
    "ir_to_dot",
    "ir_to_html",
    "ir_to_mermaid",
    "list_registered_ops",
    "load",
    "load_ir",
    "load_weights",
    "load_weights_pt",
    "load_weights_safetensors",
    "manual_seed",
    "register_executor",
    "register_group",
    "register_op",
    "registered_ops",
    "save_ir",
    "serialize_ir",
    "set_num_threads",
    "unregister_executor",
    "unregister_group",
    "unregister_op",
    "validate_ir",
    "validate_weights_against_ir",
    "verify",
    "verify_ir",
    "verify_ir_with_state_dict",
]


_EXTRACTOR = (
    "IR",
    "Argument",
    "GraphAnalyzer",
    "IRExecutor",
    "NodeInfo",
    "OpNode",
    "TensorMeta",
    "TensorRegistry",
    "VerificationReport",
    "convert_exported_program",
    "deserialize_ir",
    "execute_ir",
    "export_model",
    "extract_ir",
    "generate_op_distribution_pie",
    "get_conversion_fn",
    "get_execution_fn",
    "ir_to_dot",
    "ir_to_html",
    "ir_to_mermaid",
    "list_registered_ops",
    "load_ir",
    "load_weights",
    "load_weights_pt",
    "load_weights_safetensors",
    "register_executor",
    "register_group",
    "register_op",
    "registered_ops",
    "save_ir",
    "serialize_ir",
    "unregister_executor",
    "unregister_group",
    "unregister_op",
    "validate_ir",
    "validate_weights_against_ir",
    "verify_ir",
    "verify_ir_with_state_dict",
)
_LAZY = {
    **dict.fromkeys(_EXTRACTOR, "ingot.extractor"),
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
