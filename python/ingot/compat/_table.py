"""Which modules the originals have, and where their names are found here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Names:
    """The attributes of one module, in the order in which they are looked for."""

    values: Mapping[str, Any] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)
    """By name: "module:attribute"."""
    not_yet: Sequence[str] = ()
    """Can be imported, and refuse to be used."""
    modules: Sequence[str] = ()
    """Modules all of whose attributes are there too."""
    needs: Sequence[str] = ()
    """Modules that importing this one imports."""


_CONVERTER = {
    "TorchConverter": "ingot.compat._converter:TorchConverter",
    "get_decomp_table": "ingot.decompositions:get_decomp_table",
}
_EXTERNALIZE = {
    name: f"ingot.externalize:{name}"
    for name in ("ExternalizeSpec", "_patch_model_for_externalization", "_subexport_and_restore")
}
_KERNELS = {name: f"ingot.kernels:{name}" for name in ("TorchMetalKernel", "MetalParameter")}
_COMPOSITE = {"generate_composite_decl": "ingot.composite:generate_composite_decl"}
_AUTHORING = {
    "AIProgram": "ingot.program:Program",
    "AIModelAsset": "ingot.asset:Asset",
    "Module": "ingot:Module",
    "TensorSpec": "ingot:TensorSpec",
    "Value": "ingot.ir:Value",
    "MetalParameter": "ingot.kernels:MetalParameter",
}
_RUNTIME = {"AIModel": "ingot.runtime:Model", "AIModelAsset": "ingot.asset:Asset"}
_DIALECT = Names(modules=["ingot.compat.coreai_dialect"])
_IR = Names(modules=["ingot.compat.mlir_names"])

_DEBUGGING = {
    "validator": ["Validator", "create_validator_for_exported_program", "create_validator_for_coreai_program"],
    "comparator": ["Comparator", "create_comparator_for_programs"],
    "inspector": ["Inspector", "TorchFXInspector", "CoreAIInspector", "CachingInspector"],
    "search_strategy": ["LevelOrderStrategy", "SearchStrategy", "top_down", "bottom_up", "bisection", "auto"],
    "graph_diff": [
        "GraphDiff",
        "WeightPolicy",
        "compute_coreai_program_diff",
        "compute_exported_program_diff",
        "compute_graph_diff",
        "compute_per_graph_diff",
        "format_multi_graph_diff",
        "write_diff",
    ],
    "graph_match": ["GraphMatch"],
    "benchmarker": ["BenchmarkResult", "benchmark_coreai_program"],
    "debug_info": ["DebugInfo", "DebugInfoRecord", "parse_debug_infos", "strip_debug_info"],
    "torch_utils": [
        "DebugTrace",
        "fetch_intermediate_values",
        "get_torch_to_coreai_output_mapping",
        "get_torch_to_ops_mapping",
        "load_intermediates",
        "save_intermediates",
    ],
}

TORCH_IR_VERSION = "0.0.0"
_EXTRACTOR = {
    "analyzer": ["GraphAnalyzer", "NodeInfo"],
    "converter": ["extract_ir"],
    "document": ["IR", "OpNode", "TensorMeta"],
    "executor": ["IRExecutor", "TensorRegistry", "execute_ir"],
    "exporter": [
        "export_model",
        "get_model_name",
        "is_meta_module",
        "is_meta_tensor",
        "validate_inputs_meta",
        "validate_meta_device",
    ],
    "registry": [
        "get_conversion_fn",
        "get_execution_fn",
        "list_registered_ops",
        "register_executor",
        "register_op",
        "register_group",
        "registered_ops",
        "unregister_executor",
        "unregister_group",
        "unregister_op",
    ],
    "serializer": ["deserialize_ir", "load_ir", "save_ir", "serialize_ir", "validate_ir"],
    "verifier": ["VerificationReport", "verify_ir", "verify_ir_with_state_dict"],
    "pictures": ["generate_op_distribution_pie", "ir_to_mermaid"],
    "weights": ["load_weights", "load_weights_pt", "load_weights_safetensors", "validate_weights_against_ir"],
}
_TORCH_IR = {name: f"ingot.extractor.{module}:{name}" for module, names in _EXTRACTOR.items() for name in names}
_TORCH_IR |= {
    name: f"ingot.errors:{name}"
    for name in ("ConversionError", "ExecutionError", "ExportError", "SerializationError", "WeightLoadError")
}
_TORCH_IR["convert_exported_program"] = "ingot.compat.torch_ir_names:convert_exported_program"
_TORCH_IR_MODULES = {
    "analyzer": ["ingot.extractor.analyzer"],
    "cli": ["ingot.compat.torch_ir_cli"],
    "converter": ["ingot.extractor.converter"],
    "executor": ["ingot.extractor.executor"],
    "exporter": ["ingot.extractor.exporter"],
    "ir": ["ingot.extractor.document"],
    "ops": ["ingot.extractor.registry"],
    "ops.registry": ["ingot.extractor.registry"],
    "serializer": ["ingot.extractor.serializer"],
    "verifier": ["ingot.extractor.verifier"],
    "visualize": ["ingot.extractor.pictures"],
    "weight_loader": ["ingot.extractor.weights"],
}
"""Every one of them also has the names of the package, wherever the original keeps them."""

MODULES: dict[str, Names] = {
    "coreai_torch": Names(
        values={"__version__": "0.4.2"},
        places={**_CONVERTER, **_EXTERNALIZE, **_KERNELS, **_COMPOSITE},
        needs=["ingot.compression"],  # it defines torch.ops.coreai
    ),
    "coreai_torch.converter": Names(places=_CONVERTER),
    "coreai_torch.composite_ops": Names(modules=["ingot.composite_ops"]),
    "coreai_torch.externalize": Names(places=_COMPOSITE, modules=["ingot.externalize"]),
    "coreai_torch._validate": Names(places=_CONVERTER, modules=["ingot._validate"]),
    "coreai_torch._utils": Names(places=_COMPOSITE, modules=["ingot.compat.utils", "ingot.composite"]),
    "coreai_torch._compression": Names(modules=["ingot.compression"]),
    "coreai_torch.debugging": Names(not_yet=[name for names in _DEBUGGING.values() for name in names]),
    **{f"coreai_torch.debugging.{module}": Names(not_yet=names) for module, names in _DEBUGGING.items()},
    "coreai": Names(values={"__version__": "1.0.0b2"}),
    "coreai.authoring": Names(
        places=_AUTHORING, not_yet=["ImageSpec", "CustomMetalKernel", "HardwareConstraints", "AllocationType"]
    ),
    "coreai.runtime": Names(places=_RUNTIME, modules=["ingot.runtime"]),
    "coreai.dialects": Names(),
    "coreai.dialects.coreai": _DIALECT,
    "coreai._compiler": Names(),
    "coreai._compiler.ir": _IR,
    "coreai._compiler.dialects": Names(),
    "coreai._compiler.dialects.coreai": _DIALECT,
    "torch_ir": Names(values={"__version__": TORCH_IR_VERSION}, places=_TORCH_IR),
    "torch_ir.__main__": Names(places={"main": "ingot.compat.torch_ir_cli:main"}),
    **{f"torch_ir.{name}": Names(places=_TORCH_IR, modules=found) for name, found in _TORCH_IR_MODULES.items()},
}

PACKAGES = tuple(dict.fromkeys(name.partition(".")[0] for name in MODULES))
