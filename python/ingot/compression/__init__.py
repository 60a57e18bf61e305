"""Compressed weights and quantized activations: torch ops of the namespace `coreai`, and modules that hold tensors.

Each op has eager mathematics, a fake implementation for export, and a reference in plain torch by which it converts.
Weights stay in their containers of whole bytes: values of less than 8 bits are not packed.
"""

from __future__ import annotations

from ingot.compression._inline import has_compressed_ops, inline_compressed_ops
from ingot.compression._modules import (
    ActivationDequantizeModule,
    ActivationQuantizeModule,
    PalettizeModule,
    ScaledPalettizeModule,
    SparseModule,
    WeightDequantizeModule,
    wrap_for_parametrization,
)
from ingot.compression._ops import (
    constexpr_blockwise_shift_scale,
    dequantize,
    lut_to_dense,
    quantize,
    sparse_to_dense,
)

__all__ = [
    "ActivationDequantizeModule",
    "ActivationQuantizeModule",
    "PalettizeModule",
    "ScaledPalettizeModule",
    "SparseModule",
    "WeightDequantizeModule",
    "constexpr_blockwise_shift_scale",
    "dequantize",
    "has_compressed_ops",
    "inline_compressed_ops",
    "lut_to_dense",
    "quantize",
    "sparse_to_dense",
    "wrap_for_parametrization",
]
