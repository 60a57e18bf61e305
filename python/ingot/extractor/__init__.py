"""Graphs of models without their weights: extracted, saved, run with weights that come later, compared with the model.

docs/extractor.md is the guide, docs/graph_format.md the format.
"""

from __future__ import annotations

from ingot.errors import ConversionError, ExecutionError, ExportError, SerializationError, WeightLoadError
from ingot.extractor.analyzer import GraphAnalyzer, NodeInfo
from ingot.extractor.converter import convert_exported_program, extract_ir
from ingot.extractor.document import IR, Argument, OpNode, TensorMeta
from ingot.extractor.executor import IRExecutor, TensorRegistry, execute_ir
from ingot.extractor.exporter import export_model
from ingot.extractor.pictures import generate_op_distribution_pie, ir_to_dot, ir_to_html, ir_to_mermaid
from ingot.extractor.registry import (
    get_conversion_fn,
    get_execution_fn,
    list_registered_ops,
    register_executor,
    register_group,
    register_op,
    registered_ops,
    unregister_executor,
    unregister_group,
    unregister_op,
)
from ingot.extractor.serializer import deserialize_ir, load_ir, save_ir, serialize_ir, validate_ir
from ingot.extractor.verifier import VerificationReport, verify_ir, verify_ir_with_state_dict
from ingot.extractor.weights import load_weights, load_weights_pt, load_weights_safetensors, validate_weights_against_ir

__all__ = [
    "IR",
    "Argument",
    "ConversionError",
    "ExecutionError",
    "ExportError",
    "GraphAnalyzer",
    "IRExecutor",
    "NodeInfo",
    "OpNode",
    "SerializationError",
    "TensorMeta",
    "TensorRegistry",
    "VerificationReport",
    "WeightLoadError",
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
]
