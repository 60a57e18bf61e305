"""What the ops compute, in plain torch, and the rules for their arguments. Nothing here looks at tensors' content."""

from __future__ import annotations

import re

import torch
from torch import Tensor

FP4 = torch.float4_e2m1fn_x2
_LUT_TYPES = (
    torch.uint8,
    torch.int8,
    torch.float8_e5m2,
    torch.float8_e4m3fn,
    torch.bfloat16,
    torch.float16,
    torch.float32,
    torch.float64,
)


def integer_range(dtype: torch.dtype) -> tuple[int, int]:
    """The smallest and largest value, also of types of less than 8 bits."""
    match = re.fullmatch(r"torch\.(u?)int(\d+)", str(dtype))
    if match is None:
        raise ValueError(f"{dtype} is no integer type")
    bits = int(match[2])
    return (0, 2**bits - 1) if match[1] else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def is_integer(dtype: torch.dtype) -> bool:
    return re.fullmatch(r"torch\.u?int\d+", str(dtype)) is not None


def container(dtype: torch.dtype) -> torch.dtype:
    """The type of whole bytes that holds an integer type."""
    low, high = integer_range(dtype)
    for candidate in (torch.uint8, torch.int8, torch.uint16, torch.int16, torch.uint32, torch.int32, torch.int64):
        smallest, largest = integer_range(candidate)
        if smallest <= low and high <= largest and (low < 0) == (smallest < 0):
            return candidate
    raise ValueError(f"{dtype} has no container")


# lut_to_dense


def check_lut(indices: Tensor, lut: Tensor, axis: int | None) -> int:
    """The axis, counted from the front."""
    if lut.dim() != indices.dim() + 2:
        raise ValueError(f"lut must have two dimensions more than indices ({indices.dim()}), not {lut.dim()}")
    if lut.dtype not in _LUT_TYPES:
        raise ValueError(f"lut has the unsupported element type {lut.dtype}")
    if not is_integer(indices.dtype):
        raise ValueError(f"indices must be integers, not {indices.dtype}")
    entries, width = lut.shape[-2:]
    if entries < 1 or entries & (entries - 1):
        raise ValueError(f"the number of lut entries must be a power of two, not {entries}")
    for dim, (size, groups) in enumerate(zip(indices.shape, lut.shape[:-2], strict=True)):
        if groups < 1 or size % groups:
            raise ValueError(f"{groups} lut groups do not divide dimension {dim} of indices, of size {size}")
    if width > 1 and axis is None:
        raise ValueError(f"lut entries are vectors of {width} elements: an axis is needed")
    axis = 0 if axis is None else axis
    if indices.dim() and not -indices.dim() <= axis < indices.dim():
        raise ValueError(f"axis {axis} is out of range for {indices.dim()} dimensions")
    return axis % max(indices.dim(), 1)


def lut_to_dense(indices: Tensor, lut: Tensor, axis: int | None = None) -> Tensor:
    axis = check_lut(indices, lut, axis)
    if lut.dtype == torch.float64:
        lut = lut.to(torch.float32)
    dtype = lut.dtype
    groups, (entries, width) = lut.shape[:-2], lut.shape[-2:]
    # Tables of one-byte floating-point numbers are looked up as bytes: few kernels know their types.
    table = (lut.view(torch.uint8) if dtype.itemsize == 1 else lut).reshape(-1, width)
    first = torch.arange(table.shape[0] // entries, dtype=torch.int64) * entries
    rows = _spread(first.reshape(groups), indices.shape) + indices.to(torch.int64)
    dense = table[rows]
    sizes = list(indices.shape)
    if sizes:
        dense = dense.movedim(-1, axis + 1)
        sizes[axis] *= width
    return dense.reshape(sizes).view(dtype) if dtype.itemsize == 1 else dense.reshape(sizes)


def _spread(blocks: Tensor, shape: torch.Size) -> Tensor:
    """Each element repeated over its block of `shape`."""
    pairs = [(groups, size // groups) for groups, size in zip(blocks.shape, shape, strict=True)]
    narrow = [size for groups, _ in pairs for size in (groups, 1)]
    wide = [size for pair in pairs for size in pair]
    return blocks.reshape(narrow).expand(wide).reshape(shape)


# constexpr_blockwise_shift_scale


def check_offsets(
    dtype: torch.dtype, scale: Tensor, zero_point: Tensor | None, minval: Tensor | None, named: torch.dtype | None
) -> None:
    """Rules for the two ways to shift: `dtype` is the quantized side's, `named` what the caller says it stands for."""
    if zero_point is not None and minval is not None:
        raise ValueError("zero_point and minval exclude each other")
    if not is_integer(dtype) or named == FP4:
        if zero_point is not None or minval is not None:
            raise ValueError("floating-point values have neither zero_point nor minval")
        return
    if zero_point is not None:
        if zero_point.dtype != dtype:
            raise ValueError(f"zero_point must have the element type {dtype}, not {zero_point.dtype}")
        if zero_point.shape != scale.shape:
            raise ValueError(f"zero_point must have the shape of scale, {list(scale.shape)}")
    if minval is not None:
        if minval.dtype != scale.dtype:
            raise ValueError(f"minval must have the element type of scale, {scale.dtype}, not {minval.dtype}")
        if minval.shape != scale.shape:
            raise ValueError(f"minval must have the shape of scale, {list(scale.shape)}")
        if named is None:
            raise ValueError("minval needs input_dtype, whose smallest value it stands for")


def is_fp4(input: Tensor, input_dtype: torch.dtype | None) -> bool:
    return FP4 in (input.dtype, input_dtype)


def result_dtype(
    input: Tensor, scale: Tensor, input_dtype: torch.dtype | None, output_dtype: torch.dtype | None
) -> torch.dtype:
    """The element type of what is dequantized."""
    if is_integer(input.dtype) and not is_fp4(input, input_dtype):
        return scale.dtype
    if output_dtype is None and scale.dtype == torch.float8_e8m0fnu:
        raise ValueError("output_dtype is needed where scale is float8_e8m0fnu")
    return output_dtype or scale.dtype


def blockwise_shape(input: Tensor, scale: Tensor, input_dtype: torch.dtype | None) -> list[int]:
    """The shape of the result, whose blocks scale must divide."""
    shape = list(input.shape)
    if is_fp4(input, input_dtype):
        if not shape:
            raise ValueError("packed fp4 needs a dimension")
        shape[-1] *= 2
    if scale.dim() != len(shape):
        raise ValueError(f"scale must have {len(shape)} dimensions as the input, not {scale.dim()}")
    for dim, (size, groups) in enumerate(zip(shape, scale.shape, strict=True)):
        if groups < 1 or size % groups:
            raise ValueError(f"{groups} scales do not divide dimension {dim} of the input, of size {size}")
    return shape


def blockwise_shift_scale(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    minval: Tensor | None = None,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> Tensor:
    check_offsets(input.dtype, scale, zero_point, minval, input_dtype)
    dtype = result_dtype(input, scale, input_dtype, output_dtype)
    shape = torch.Size(blockwise_shape(input, scale, input_dtype))
    values = _unpack_fp4(input) if is_fp4(input, input_dtype) else input
    offsets = [None if offset is None else _spread(offset, shape) for offset in (zero_point, minval)]
    return _dequantize(values, _spread(scale, shape), *offsets, input_dtype, dtype)


def _dequantize(
    values: Tensor,
    scale: Tensor,
    zero_point: Tensor | None,
    minval: Tensor | None,
    named: torch.dtype | None,
    dtype: torch.dtype,
) -> Tensor:
    """scale * (x - offset) + minval, in float32 or better, since differences of integers overflow their own type."""
    wide = torch.float64 if torch.float64 in (scale.dtype, dtype) else torch.float32
    result = values.to(wide)
    if zero_point is not None:
        result = result - zero_point.to(wide)
    if minval is not None:
        result = result - float(integer_range(named or values.dtype)[0])
    result = result * scale.to(wide)
    if minval is not None:
        result = result + minval.to(wide)
    return result.to(dtype)


def _unpack_fp4(packed: Tensor) -> Tensor:
    codes = (packed.view(torch.uint8) if packed.dtype == FP4 else packed).to(torch.int64)
    both = torch.stack([codes % 16, codes // 16 % 16], -1).reshape([*codes.shape[:-1], codes.shape[-1] * 2])
    # A bit of sign, two of exponent, one of mantissa: 0, 0.5, 1, 1.5, 2, 3, 4, 6. The powers 1, 2, 4 without a table.
    mantissa, exponent = both % 2, both // 2 % 4
    power = (exponent * exponent - exponent + 2) // 2
    magnitude = torch.where(exponent == 0, mantissa, (2 + mantissa) * power) * 0.5
    return torch.where(both >= 8, -magnitude, magnitude)


# quantize and dequantize


def channel_shape(input: Tensor, values: Tensor, axis: int, what: str) -> list[int]:
    """The shape in which scales or offsets broadcast against the input."""
    rank = input.dim()
    if rank and not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of range for {rank} dimensions")
    if values.dim() not in (0, 1, rank):
        raise ValueError(f"{what} must have 0, 1 or {rank} dimensions, not {values.dim()}")
    shape = [1] * rank
    if values.numel() == 1:
        return shape
    size = input.shape[axis] if rank else 1
    if values.numel() != size:
        raise ValueError(f"{what} must have one element, or {size} as axis {axis} has, not {values.numel()}")
    if values.dim() == rank and rank > 1 and values.shape[axis] != size:
        raise ValueError(f"{what} must have its elements along axis {axis}")
    shape[axis] = size
    return shape


def _per_channel(input: Tensor, values: Tensor | None, axis: int, what: str) -> Tensor | None:
    return None if values is None else values.reshape(channel_shape(input, values, axis, what))


def check_quantize(
    input: Tensor, scale: Tensor, output_dtype: torch.dtype, zero_point: Tensor | None, minval: Tensor | None, axis: int
) -> None:
    if output_dtype == FP4:
        raise ValueError("activations cannot be quantized to fp4")
    if not input.dtype.is_floating_point:
        raise ValueError(f"only floating-point values can be quantized, not {input.dtype}")
    side = container(output_dtype) if is_integer(output_dtype) else output_dtype
    check_offsets(side, scale, zero_point, minval, output_dtype)
    for values, what in ((scale, "scale"), (zero_point, "zero_point"), (minval, "minval")):
        _per_channel(input, values, axis, what)


def quantize(
    input: Tensor,
    scale: Tensor,
    output_dtype: torch.dtype,
    zero_point: Tensor | None = None,
    minval: Tensor | None = None,
    axis: int = 0,
) -> Tensor:
    check_quantize(input, scale, output_dtype, zero_point, minval, axis)
    wide = torch.float64 if input.dtype == torch.float64 else torch.float32
    steps = _per_channel(input, scale, axis, "scale").to(wide)  # type: ignore[union-attr]
    values = input.to(wide)
    if not is_integer(output_dtype):
        limit = torch.finfo(output_dtype).max
        return (values / steps).clamp(-limit, limit).to(output_dtype)
    low, high = integer_range(output_dtype)
    if minval is not None:
        values = ((values - _per_channel(input, minval, axis, "minval").to(wide)) / steps).round() + low  # type: ignore[union-attr]
    else:
        values = (values / steps).round()
        if zero_point is not None:
            values = values + _per_channel(input, zero_point, axis, "zero_point").to(wide)  # type: ignore[union-attr]
    return values.clamp(low, high).to(container(output_dtype))


def dequantize(
    input: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    minval: Tensor | None = None,
    axis: int = 0,
    input_dtype: torch.dtype | None = None,
    output_dtype: torch.dtype | None = None,
) -> Tensor:
    if is_fp4(input, input_dtype):
        raise ValueError("activations cannot be quantized to fp4")
    check_offsets(input.dtype, scale, zero_point, minval, input_dtype)
    parts = [
        _per_channel(input, values, axis, what)
        for values, what in ((scale, "scale"), (zero_point, "zero_point"), (minval, "minval"))
    ]
    return _dequantize(input, *parts, input_dtype, result_dtype(input, scale, input_dtype, output_dtype))  # type: ignore[arg-type]


# sparse_to_dense


def check_sparse(nonzero_data: Tensor) -> None:
    if nonzero_data.dim() != 1:
        raise ValueError(f"nonzero_data must have one dimension, not {nonzero_data.dim()}")


def sparse_to_dense(nonzero_data: Tensor, mask: Tensor) -> Tensor:
    check_sparse(nonzero_data)
    zeros = torch.zeros(mask.shape, dtype=nonzero_data.dtype)
    return zeros.masked_scatter(mask != 0, nonzero_data)
