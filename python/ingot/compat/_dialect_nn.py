"""Builders of the `coreai` dialect for convolutions, windows over images, and compressed weights."""

from __future__ import annotations

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ingot import ops
from ingot.compat import _emit as emit
from ingot.compat._dialect_math import pair
from ingot.compat._emit import builder
from ingot.errors import UnsupportedError, UsageError
from ingot.ir import Value

_STRIDES = {"stride": "strides", "dilations": "dilation"}
_POOL = {**_STRIDES, "kernel": "kernel_size", "window": "kernel_size"}


def _spatial(x: Value, count: int, what: str) -> None:
    if emit.rank_of(x) != count + 2:
        raise UsageError(f"{what} needs {count + 2} dimensions (batch, channels, {count} more), not {x.type}")


def _conv(x: Any, weight: Any, count: int, options: dict[str, Any]) -> Value:
    value, kernel = pair(x, weight)
    _spatial(value, count, "a convolution's input")
    return ops.conv(value, kernel, **options)


def _plain_conv(x: Any, weight: Any, count: int, strides: Any, dilation: Any, groups: Any) -> Value:
    options = {
        "strides": emit.window(strides, count, "strides"),
        "dilations": emit.window(dilation, count, "dilation"),
        "groups": emit.known_int(groups, "groups"),
    }
    return _conv(x, weight, count, options)


@builder(**_STRIDES, w="weight", weights="weight", filter="weight")
def conv1d(x: Any, weight: Any, strides: Any = None, dilation: Any = None, groups: Any = 1) -> Value:
    """Convolution of [N, C, W] with [O, C/groups, w], without padding."""
    return _plain_conv(x, weight, 1, strides, dilation, groups)


@builder(**_STRIDES, w="weight", weights="weight", filter="weight")
def conv2d(x: Any, weight: Any, strides: Any = None, dilation: Any = None, groups: Any = 1) -> Value:
    """Convolution of [N, C, H, W] with [O, C/groups, h, w], without padding."""
    return _plain_conv(x, weight, 2, strides, dilation, groups)


@builder(**_STRIDES, w="weight", weights="weight", filter="weight")
def conv3d(x: Any, weight: Any, strides: Any = None, dilation: Any = None, groups: Any = 1) -> Value:
    """Convolution of [N, C, D, H, W] with [O, C/groups, d, h, w], without padding."""
    return _plain_conv(x, weight, 3, strides, dilation, groups)


@builder("conv2d_transpose", **_STRIDES, w="weight", weights="weight", filter="weight", output_padding="output_pad")
def conv_transpose2d(
    x: Any,
    weight: Any,
    strides: Any = None,
    dilation: Any = None,
    groups: Any = 1,
    padding: Any = None,
    output_pad: Any = None,
) -> Value:
    """Transposed convolution of [N, C, H, W] with [C, O/groups, h, w]; `padding` is cut off the result."""
    low, high = _pads(padding, 2)
    options = {
        "strides": emit.window(strides, 2, "strides"),
        "dilations": emit.window(dilation, 2, "dilation"),
        "groups": emit.known_int(groups, "groups"),
        "pad_low": low,
        "pad_high": high,
        "output_padding": emit.window(output_pad, 2, "output_pad", 0),
        "transposed": True,
    }
    return _conv(x, weight, 2, options)


def _pads(padding: Any, count: int) -> tuple[list[int], list[int]]:
    """One number, one for each dimension, or before and after each."""
    numbers = [0] if padding is None else emit.known_ints(padding, "padding")
    if len(numbers) == 2 * count:
        return numbers[::2], numbers[1::2]
    same = emit.window(numbers, count, "padding")
    return same, same


# Pools


@builder("maxpool2d", "max_pool2d", "maxpool_2d", **_POOL)
def max_pool_2d(x: Any, kernel_size: Any, strides: Any = None, dilation: Any = None) -> Value:
    """The largest element of each window of [N, C, H, W]."""
    value = emit.value_of(x)
    _spatial(value, 2, "max_pool_2d")
    kernel = emit.window(kernel_size, 2, "kernel_size")
    steps = kernel if strides is None else emit.window(strides, 2, "strides")
    return ops.max_pool(value, kernel, steps, dilations=emit.window(dilation, 2, "dilation"))[0]


def _sum_pool(x: Any, kernel_size: Any, strides: Any, dilation: Any, count: int) -> Value:
    value = emit.value_of(x)
    _spatial(value, count, "a sum over windows")
    kernel = emit.window(kernel_size, count, "kernel_size")
    steps = kernel if strides is None else emit.window(strides, count, "strides")
    apart = emit.window(dilation, count, "dilation")
    if apart == [1] * count and emit.is_floating(emit.type_name(value)):
        return ops.avg_pool(value, kernel, steps, divisor=1)
    sizes = emit.static_shape(value, "a sum over windows of integers, or with dilation,")[2:]
    counts = [
        (size - gap * (width - 1) - 1) // step + 1
        for size, width, step, gap in zip(sizes, kernel, steps, apart, strict=True)
    ]
    total: Value | None = None
    for place in product(*(range(width) for width in kernel)):
        part = value
        for i, at in enumerate(place):
            start = at * apart[i]
            part = emit.slice_axis(part, 2 + i, start, start + (counts[i] - 1) * steps[i] + 1, steps[i])
        total = part if total is None else ops.add(total, part)
    if total is None:
        raise UsageError("a window needs elements")
    return total


@builder("sumpool2d", "sum_pool2d", "sumpool_2d", **_POOL)
def sum_pool_2d(x: Any, kernel_size: Any, strides: Any = None, dilation: Any = None) -> Value:
    """The sum of each window of [N, C, H, W]."""
    return _sum_pool(x, kernel_size, strides, dilation, 2)


@builder("sumpool3d", "sum_pool3d", "sumpool_3d", **_POOL)
def sum_pool_3d(x: Any, kernel_size: Any, strides: Any = None, dilation: Any = None) -> Value:
    """The sum of each window of [N, C, D, H, W]."""
    return _sum_pool(x, kernel_size, strides, dilation, 3)


_RESIZE_MODES = {"linear": "linear", "bilinear": "linear", "nearest_neighbor": "nearest", "nearest": "nearest"}


@builder(sizes="shape", scales="scale", offsets="offset")
def interpolate(x: Any, shape: Any, scale: Any = None, offset: Any = None, mode: Any = "linear") -> Value:
    """[N, C, H, W] resized to `shape` (its last two sizes, or all four).

    `scale` is out / in for half-pixel centres, with offset 0; (out - 1) / (in - 1) with offset (1 - scale) / 2 for
    aligned corners. Other combinations are refused.
    """
    value = emit.value_of(x)
    _spatial(value, 2, "interpolate")
    sizes = emit.sizes_of_vector(shape)[-2:]
    kind = emit.known_text(mode)
    if kind not in _RESIZE_MODES:
        raise UsageError(f"interpolate knows linear and nearest_neighbor, not '{kind}'")
    aligned, factors = _sampling(value, sizes, scale, offset)
    return ops.resize(value, _RESIZE_MODES[kind], aligned, factors, sizes=sizes)


def _sampling(value: Value, sizes: list[Any], scale: Any, offset: Any) -> tuple[bool, list[float]]:
    """Whether corners are aligned, and the factors where they are not those of the sizes (else 0)."""
    offsets = [0.0, 0.0] if offset is None else [float(x) for x in emit.known(offset, "offset").reshape(-1)][-2:]
    if scale is None:
        if offsets != [0.0, 0.0]:
            raise UnsupportedError("interpolate with an offset needs its scale")
        return False, [0.0, 0.0]
    scales = [float(x) for x in emit.known(scale, "scale").reshape(-1)][-2:]
    if np.allclose(offsets, 0):
        have = emit.shape_of(value)[2:]
        by_sizes = all(
            isinstance(n, int) and m > 0 and np.isclose(s, n / m) for n, m, s in zip(sizes, have, scales, strict=True)
        )
        return False, [0.0, 0.0] if by_sizes else scales
    if np.allclose(offsets, [0.5 * (1 - factor) for factor in scales]):
        return True, [0.0, 0.0]
    raise UnsupportedError(f"interpolate with scale {scales} and offset {offsets} is neither half-pixel nor aligned")


# Compression


def _spread(blocks: Value, shape: list[int]) -> Value:
    """Each element repeated over its block of `shape`."""
    groups = emit.static_shape(blocks, "a table of blocks")
    if len(groups) != len(shape) or any(group < 1 or size % group for group, size in zip(groups, shape, strict=True)):
        raise UsageError(f"blocks of {groups} do not divide {shape}")
    pairs = list(zip(groups, shape, strict=True))
    narrow = [size for group, _ in pairs for size in (group, 1)]
    wide = [size for group, whole in pairs for size in (group, whole // group)]
    return emit.reshape(emit.expand(emit.reshape(blocks, narrow), wide), shape)


@builder()
def lut_to_dense(indices: Any, lut: Any, axis: Any = 0) -> Value:
    """Entries of tables at the given positions; blocks of the indices have tables of their own."""
    places, table = emit.value_of(indices), emit.value_of(lut)
    shape, sizes = emit.static_shape(places, "indices"), emit.static_shape(table, "a table")
    if len(sizes) != len(shape) + 2:
        raise UsageError(f"lut must have two dimensions more than indices ({len(shape)}), not {len(sizes)}")
    groups, entries, width = sizes[:-2], sizes[-2], sizes[-1]
    count = int(np.prod(groups, dtype=np.int64))
    first = emit.constant((np.arange(count) * entries).reshape(groups), "int64")
    rows = ops.add(_spread(first, shape), emit.cast(places, "int64"))
    dense = ops.index_select(emit.reshape(table, [count * entries, width]), rows, 0)
    at = emit.axis_of(axis, len(shape))
    order = [*range(at + 1), len(shape), *range(at + 1, len(shape))]
    shape[at] *= width
    return emit.reshape(emit.permute(dense, order), shape)


def _shifted(x: Value, scale: Value, offset1: Value, offset2: Value) -> Value:
    """scale * (x - offset1) + offset2 in 32 bits or more, in scale's element type."""
    name = emit.type_name(scale)
    wide = "float64" if name == "float64" else "float32"
    values = [emit.cast(value, wide) for value in (x, offset1, scale, offset2)]
    return emit.cast(ops.add(ops.mul(ops.sub(values[0], values[1]), values[2]), values[3]), name)


@builder(data="input", x="input")
def blockwise_shift_scale(input: Any, scale: Any, offset1: Any = 0, offset2: Any = 0) -> Value:
    """scale * (x - offset1) + offset2, where blocks of x share a scale and offsets."""
    value, factors = emit.value_of(input), emit.value_of(scale)
    shape = emit.static_shape(value, "blockwise_shift_scale")

    def whole(block: Any, like: Value) -> Value:
        part = emit.value_of(block, emit.type_name(like))
        return part if emit.rank_of(part) == 0 else _spread(part, shape)

    return _shifted(value, whole(factors, factors), whole(offset1, value), whole(offset2, factors))


def _along(x: Value, values: Any, axis: int, name: str) -> Value:
    """Numbers for the whole tensor, or for each position of an axis, in a shape that broadcasts."""
    part = emit.value_of(values, name)
    count = int(np.prod(emit.static_shape(part, "scales and offsets"), dtype=np.int64))
    rank = emit.rank_of(x)
    return emit.reshape(part, [count if i == axis else 1 for i in range(rank)] if count > 1 else [1] * rank)


@builder(input="x")
def quantize(x: Any, scale: Any, offset1: Any = 0, offset2: Any = 0, axis: Any = 0, dtype: Any = None) -> Value:
    """round((x - offset2) / scale) + offset1, clamped to the element type of `dtype` or of offset1."""
    value = emit.value_of(x)
    name = emit.type_name(value)
    if dtype is None and not isinstance(offset1, Value | np.ndarray | np.generic):
        raise UsageError("quantize needs dtype, or an offset1 with the result's element type")
    target = emit.name_of(dtype) if dtype is not None else emit.type_name(emit.value_of(offset1))
    at = emit.axis_of(axis, emit.rank_of(value))
    steps, zero, least = (_along(value, part, at, name) for part in (scale, offset1, offset2))
    wide = "float64" if name == "float64" else "float32"
    value, steps, zero, least = (emit.cast(part, wide) for part in (value, steps, zero, least))
    scaled = ops.div(ops.sub(value, least), steps)
    if emit.is_integer(target):
        bounds = np.iinfo(target)
        scaled = ops.add(ops.round(scaled), zero)
        low, high = float(bounds.min), float(bounds.max)
    else:
        import torch

        high = torch.finfo(getattr(torch, target)).max
        low = -high
    clamped = ops.minimum(ops.maximum(scaled, emit.constant(low, wide)), emit.constant(high, wide))
    return emit.cast(clamped, target)


@builder(input="x")
def dequantize(x: Any, scale: Any, offset1: Any = 0, offset2: Any = 0, axis: Any = 0) -> Value:
    """scale * (x - offset1) + offset2, for the whole tensor or each position of an axis."""
    value = emit.value_of(x)
    at = emit.axis_of(axis, emit.rank_of(value))
    factors = emit.value_of(scale)
    kind = emit.type_name(factors)
    parts = (_along(value, factors, at, kind), _along(value, offset1, at, "int32"), _along(value, offset2, at, kind))
    return _shifted(value, *parts)


class Sparse(NamedTuple):
    """Elements that are not zero, and a mask of where they are."""

    data: Value
    mask: Value


@builder(nonzero_data="data")
def build_sparse_with_bitmask(data: Any, mask: Any) -> Sparse:
    """A sparse tensor from its elements that are not zero and a mask."""
    return Sparse(emit.value_of(data), emit.value_of(mask))


@builder()
def sparse_with_bitmask_to_dense(sparse: Any) -> Value:
    """The dense tensor of what build_sparse_with_bitmask gave."""
    if not isinstance(sparse, Sparse):
        raise UsageError("sparse_with_bitmask_to_dense takes what build_sparse_with_bitmask gave")
    shape = emit.static_shape(sparse.mask, "a mask")
    count = int(np.prod(shape, dtype=np.int64))
    flat = emit.cast(emit.reshape(sparse.mask, [count]), "int64")
    zero = emit.constant(0, "int64")
    place = ops.maximum(ops.sub(ops.cumsum(flat, 0), emit.constant(1, "int64")), zero)
    picked = ops.index_select(sparse.data, place, 0)
    nothing = emit.constant(0, emit.type_name(sparse.data))
    return emit.reshape(ops.select(ops.ne(flat, zero), picked, nothing), shape)


BUILDERS = emit.builders_in(globals())
