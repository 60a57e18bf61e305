"""Modules that hold compressed tensors as buffers and give the dense ones."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from ingot.compression import _ops


class _Holder(nn.Module):
    def _hold(self, **tensors: Tensor | None) -> None:
        for name, tensor in tensors.items():
            self.register_buffer(name, tensor)


class PalettizeModule(_Holder):
    """A weight as positions in tables."""

    def __init__(self, indices: Tensor, lut: Tensor, vector_axis: int | None = None) -> None:
        super().__init__()
        self._hold(indices=indices, lut=lut)
        self.vector_axis = vector_axis

    def forward(self) -> Tensor:
        return _ops.lut_to_dense(self.indices, self.lut, self.vector_axis)


class ScaledPalettizeModule(_Holder):
    """A weight as positions in tables of quantized values."""

    def __init__(
        self,
        indices: Tensor,
        lut: Tensor,
        scale: Tensor,
        vector_axis: int | None = None,
        zero_point: Tensor | None = None,
        minval: Tensor | None = None,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._hold(indices=indices, lut=lut, scale=scale, zero_point=zero_point, minval=minval)
        self.vector_axis = vector_axis
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self) -> Tensor:
        dense = _ops.lut_to_dense(self.indices, self.lut, self.vector_axis)
        return _ops.constexpr_blockwise_shift_scale(
            dense, self.scale, self.zero_point, self.minval, self.input_dtype, self.output_dtype
        )


class WeightDequantizeModule(_Holder):
    """A weight as quantized blocks."""

    def __init__(
        self,
        quantized_data: Tensor,
        scale: Tensor,
        zero_point: Tensor | None = None,
        minval: Tensor | None = None,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._hold(quantized_data=quantized_data, scale=scale, zero_point=zero_point, minval=minval)
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self) -> Tensor:
        return _ops.constexpr_blockwise_shift_scale(
            self.quantized_data, self.scale, self.zero_point, self.minval, self.input_dtype, self.output_dtype
        )


class ActivationQuantizeModule(_Holder):
    """Quantizes what passes through."""

    def __init__(
        self,
        scale: Tensor,
        output_dtype: torch.dtype,
        zero_point: Tensor | None = None,
        minval: Tensor | None = None,
        axis: int = 0,
    ) -> None:
        super().__init__()
        self._hold(scale=scale, zero_point=zero_point, minval=minval)
        self.output_dtype = output_dtype
        self.axis = axis

    def forward(self, input: Tensor) -> Tensor:
        return _ops.quantize(input, self.scale, self.output_dtype, self.zero_point, self.minval, self.axis)


class ActivationDequantizeModule(_Holder):
    """The inverse of `ActivationQuantizeModule`."""

    def __init__(
        self,
        scale: Tensor,
        zero_point: Tensor | None = None,
        minval: Tensor | None = None,
        axis: int = 0,
        input_dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self._hold(scale=scale, zero_point=zero_point, minval=minval)
        self.axis = axis
        self.input_dtype = input_dtype
        self.output_dtype = output_dtype

    def forward(self, input: Tensor) -> Tensor:
        return _ops.dequantize(
            input, self.scale, self.zero_point, self.minval, self.axis, self.input_dtype, self.output_dtype
        )


class SparseModule(_Holder):
    """A weight as its elements that are not zero, and where they are."""

    def __init__(self, nonzero_data: Tensor, mask: Tensor) -> None:
        super().__init__()
        self._hold(nonzero_data=nonzero_data, mask=mask)

    def forward(self) -> Tensor:
        return _ops.sparse_to_dense(self.nonzero_data, self.mask)


def wrap_for_parametrization(cls: type[nn.Module]) -> type[nn.Module]:
    """A subclass for `torch.nn.utils.parametrize`: its forward takes the weight and does not use it."""

    class Wrapped(cls):  # type: ignore[misc, valid-type]
        def forward(self, _weight: Tensor, *args: Any) -> Tensor:
            return super().forward(*args)

    Wrapped.__name__ = Wrapped.__qualname__ = f"Parametrized{cls.__name__}"
    return Wrapped
