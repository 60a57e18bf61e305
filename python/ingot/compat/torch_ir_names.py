"""Where `torch_ir` behaves differently from `ingot.extractor`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ingot.errors import ConversionError
from ingot.extractor import converter

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from ingot.extractor import IR


def convert_exported_program(exported: ExportedProgram, model_name: str = "", strict: bool = False) -> IR:
    """Refuses sizes that vary, which readers of the original's format do not expect."""
    import torch

    for node in exported.graph.nodes:
        value = node.meta.get("val")
        for tensor in value if isinstance(value, list | tuple) else [value]:
            if isinstance(tensor, torch.Tensor) and any(not isinstance(size, int) for size in tensor.shape):
                raise ConversionError(
                    f"Dynamic shape detected in node '{node.name}': shape={tuple(tensor.shape)}. Export the model "
                    "without dynamic_shapes, or use ingot.convert_exported_program, which keeps them"
                )
    return converter.convert_exported_program(exported, model_name, strict)
