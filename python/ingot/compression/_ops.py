"""The ops as torch knows them: `torch.ops.coreai.*`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ingot.compression import _math

NAMESPACE = "coreai"
_OFFSETS = "Tensor? zero_point=None, Tensor? minval=None"
_TYPES = "ScalarType? input_dtype=None, ScalarType? output_dtype=None"
_SCHEMAS = {
    "lut_to_dense": "(Tensor indices, Tensor lut, int? axis=None) -> Tensor",
    "constexpr_blockwise_shift_scale": f"(Tensor input, Tensor scale, {_OFFSETS}, {_TYPES}) -> Tensor",
    "quantize": f"(Tensor input, Tensor scale, ScalarType output_dtype, {_OFFSETS}, int axis=0) -> Tensor",
    "dequantize": f"(Tensor input, Tensor scale, {_OFFSETS}, int axis=0, {_TYPES}) -> Tensor",
    "sparse_to_dense": "(Tensor nonzero_data, Tensor mask) -> Tensor",
}
# The mathematics of each op, by which it is converted.
REFERENCES: dict[str, Callable[..., Tensor]] = {
    "lut_to_dense": _math.lut_to_dense,
    "constexpr_blockwise_shift_scale": _math.blockwise_shift_scale,
    "quantize": _math.quantize,
    "dequantize": _math.dequantize,
    "sparse_to_dense": _math.sparse_to_dense,
}


def _lut_to_dense(indices: Tensor, lut: Tensor, axis: int | None = None) -> Tensor:
    if indices.numel() and not (int(indices.min()) >= 0 and int(indices.max()) <= 255):
        raise ValueError("indices must be in the range of uint8")
    _math.check_lut(indices, lut, axis)
    if indices.numel() and int(indices.max()) >= lut.shape[-2]:
        raise ValueError(f"indices must be less than {lut.shape[-2]}, the number of lut entries")
    return _math.lut_to_dense(indices, lut, axis)


def _sparse_to_dense(nonzero_data: Tensor, mask: Tensor) -> Tensor:
    _math.check_sparse(nonzero_data)
    if not bool(((mask == 0) | (mask == 1)).all()):
        raise ValueError("mask must hold zeros and ones only")
    ones = int((mask != 0).sum())
    if ones != nonzero_data.numel():
        raise ValueError(f"mask has {ones} ones, but nonzero_data has {nonzero_data.numel()} elements")
    return _math.sparse_to_dense(nonzero_data, mask)


_EAGER: dict[str, Callable[..., Tensor]] = REFERENCES | {
    "lut_to_dense": _lut_to_dense,
    "sparse_to_dense": _sparse_to_dense,
}

_library = torch.library.Library(NAMESPACE, "FRAGMENT")


def _define(name: str) -> Any:
    _library.define(name + _SCHEMAS[name])
    _library.impl(name, _EAGER[name], "CompositeExplicitAutograd")
    # The references look at shapes and types only, so they work on fake tensors as they are.
    torch.library.register_fake(f"{NAMESPACE}::{name}", REFERENCES[name], lib=_library)
    return getattr(getattr(torch.ops, NAMESPACE), name)


lut_to_dense = _define("lut_to_dense")
constexpr_blockwise_shift_scale = _define("constexpr_blockwise_shift_scale")
quantize = _define("quantize")
dequantize = _define("dequantize")
sparse_to_dense = _define("sparse_to_dense")
