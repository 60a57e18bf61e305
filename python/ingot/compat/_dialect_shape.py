"""Builders of the `coreai` dialect that move data: shapes, slices, indices."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from ingot import ops
from ingot.compat import _emit as emit
from ingot.compat._emit import INT32_MAX, Size, builder
from ingot.errors import UnsupportedError, UsageError
from ingot.ir import DYNAMIC, Value

# The builder of that name hides it.
range_ = builtins.range

_PAD_MODES = {
    "constant": "constant",
    "reflect": "reflect",
    "reflection": "reflect",
    "replicate": "replicate",
    "replication": "replicate",
    "edge": "replicate",
    "circular": "circular",
}
_COMBINATIONS = {
    "update": "none",
    "none": "none",
    "set": "none",
    "replace": "none",
    "add": "add",
    "sum": "add",
    "mul": "prod",
    "multiply": "prod",
    "product": "prod",
    "prod": "prod",
    "max": "amax",
    "maximum": "amax",
    "min": "amin",
    "minimum": "amin",
}


@builder()
def get_shape(x: Any) -> Value:
    """The sizes of a tensor, as uint32."""
    return emit.vector(emit.sizes_of(emit.value_of(x)), "uint32")


@builder()
def reshape(x: Any, shape: Any) -> Value:
    """The same elements in another shape; one size may be -1."""
    value = emit.value_of(x)
    sizes = emit.sizes_of_vector(shape)
    if sum(size == -1 for size in sizes if isinstance(size, int)) > 1:
        raise UsageError("only one size of a shape may be -1")
    if -1 not in [size for size in sizes if isinstance(size, int)]:
        return emit.reshape(value, sizes)
    return emit.reshape(value, _with_rest(value, sizes))


def _with_rest(value: Value, sizes: list[Size]) -> list[Size]:
    """The shape with the size that -1 stands for."""
    at = next(i for i, size in enumerate(sizes) if isinstance(size, int) and size == -1)
    others = [size for i, size in enumerate(sizes) if i != at]
    have = emit.sizes_of(value)
    # What both have need not be multiplied; symbolic numbers are equal if they are one and the same size.
    for size in [size for size in others if not isinstance(size, int) and size in have]:
        have.remove(size)
        others.remove(size)
    if all(isinstance(size, int) for size in (*have, *others)):
        total, part = int(np.prod(have, dtype=np.int64)), int(np.prod(others, dtype=np.int64))  # type: ignore[arg-type]
        if part == 0 or total % part:
            raise UsageError(f"{value.type} cannot be reshaped: {total} elements are no multiple of {part}")
        rest: Size = total // part
    else:
        rest = emit.arithmetic("floordiv", _product(have), _product(others))
    return [rest if i == at else size for i, size in enumerate(sizes)]


def _product(sizes: list[Size]) -> Size:
    result: Size = int(np.prod([size for size in sizes if isinstance(size, int)], dtype=np.int64))
    for size in sizes:
        if not isinstance(size, int):
            result = size if isinstance(result, int) and result == 1 else emit.arithmetic("mul", result, size)
    return result


@builder("permute", permutation="perm", axes="perm", dims="perm")
def transpose(x: Any, perm: Any = None) -> Value:
    """Dimension i of the result is dimension perm[i]; without `perm` their order is reversed."""
    value = emit.value_of(x)
    rank = emit.rank_of(value)
    dims = list(range_(rank))[::-1] if perm is None else emit.axes_of(perm, rank)
    if sorted(dims) != list(range_(rank)):
        raise UsageError(f"{dims} is no permutation of {rank} dimensions")
    return emit.permute(value, dims)


@builder(axis="axes", dims="axes")
def expand_dims(x: Any, axes: Any) -> Value:
    """Adds dimensions of size 1, which are the given ones of the result."""
    value = emit.value_of(x)
    rank = emit.rank_of(value) + len(emit.known_ints(axes, "axes"))
    added = set(emit.axes_of(axes, rank))
    old = iter(emit.sizes_of(value))
    return emit.reshape(value, [1 if axis in added else next(old) for axis in range_(rank)])


@builder("squeeze", axis="axes", dims="axes")
def shrink_dims(x: Any, axes: Any = None) -> Value:
    """Removes dimensions of size 1; without `axes`, all of them."""
    value = emit.value_of(x)
    shape = emit.shape_of(value)
    gone = [i for i, size in enumerate(shape) if size == 1] if axes is None else emit.axes_of(axes, len(shape))
    for axis in gone:
        if shape[axis] not in (1, DYNAMIC):
            raise UsageError(f"dimension {axis} of {value.type} has not the size 1")
    return emit.reshape(value, [size for i, size in enumerate(emit.sizes_of(value)) if i not in gone])


@builder("expand", sizes="shape")
def broadcast_to(x: Any, shape: Any) -> Value:
    """Repeats dimensions of size 1, and adds leading ones; -1 keeps a size."""
    value = emit.value_of(x)
    sizes = emit.sizes_of_vector(shape)
    have = emit.sizes_of(value)
    added = len(sizes) - len(have)
    kept = [
        have[i - added] if isinstance(size, int) and size == -1 and i >= added else size for i, size in enumerate(sizes)
    ]
    return emit.expand(value, kept)


@builder(dims="axes", shape="sizes")
def broadcast_in_dims(x: Any, sizes: Any, axes: Any) -> Value:
    """Repeats the given dimensions, of size 1, to the given sizes."""
    value = emit.value_of(x)
    target = emit.sizes_of(value)
    wanted = emit.sizes_of_vector(sizes)
    places = emit.axes_of(axes, len(target))
    if len(wanted) != len(places):
        raise UsageError(f"{len(wanted)} sizes are given for {len(places)} axes")
    for axis, size in zip(places, wanted, strict=True):
        target[axis] = size
    return emit.expand(value, target)


@builder(lhs="a", rhs="b")
def broadcast_shapes(a: Any, b: Any) -> Value:
    """The shape, as uint32, to which two shapes broadcast."""
    first, second = emit.sizes_of_vector(a), emit.sizes_of_vector(b)
    rank = max(len(first), len(second))
    first, second = [1] * (rank - len(first)) + first, [1] * (rank - len(second)) + second
    return emit.vector([_broadcast_size(x, y) for x, y in zip(first, second, strict=True)], "uint32")


def _broadcast_size(a: Size, b: Size) -> Size:
    if isinstance(a, int) and (a == 1 or not isinstance(b, int)):
        return b if a == 1 else a
    if isinstance(b, int):
        if b not in (1, a) and isinstance(a, int):
            raise UsageError(f"the sizes {a} and {b} do not broadcast")
        return a if b == 1 else b
    return a if a is b else emit.arithmetic("max", a, b)


# Slices


def _bound(at: Size, size: Size) -> Size:
    """A position within a dimension: negative ones count from its end, others are clamped to it."""
    if isinstance(at, int):
        if at == 0 or at >= INT32_MAX:
            return 0 if at == 0 else size
        place = emit.arithmetic("add", at, size) if at < 0 else at
        return emit.arithmetic("min", emit.arithmetic("max", place, 0), size)
    zero, limit = emit.constant(0, "int64"), emit.value_of(size, "int64")
    position = ops.from_scalar(at)
    wrapped = ops.select(ops.lt(position, zero), ops.add(position, limit), position)
    return ops.item(ops.minimum(ops.maximum(wrapped, zero), limit))


def _ranges(value: Value, start: Any, end: Any, stride: Any) -> list[tuple[int, Size, Size, int]]:
    """The axis, bounds and step of each dimension that is not taken whole."""
    rank = emit.rank_of(value)
    starts, ends = emit.sizes_of_vector(start), emit.sizes_of_vector(end)
    steps = [1] * rank if stride is None else emit.known_ints(stride, "stride")
    if not len(starts) == len(ends) == len(steps) == rank:
        raise UsageError(f"start, end and stride need {rank} elements each, one for each dimension")
    found = []
    for axis, step in enumerate(steps):
        if step < 1:
            raise UnsupportedError(f"a slice's stride must be positive, not {step}; use reverse")
        first, last = starts[axis], ends[axis]
        is_whole = isinstance(first, int) and first == 0 and isinstance(last, int) and last >= INT32_MAX
        if is_whole and step == 1:
            continue
        size = emit.size_at(value, axis)
        low, high = _bound(first, size), _bound(last, size)
        if isinstance(low, int) and isinstance(high, int):
            high = max(low, high)
            if (low, high, step) == (0, size, 1):
                continue
        found.append((axis, low, high, step))
    return found


@builder(begin="start", starts="start", ends="end", strides="stride", step="stride")
def slice(x: Any, start: Any, end: Any, stride: Any = None) -> Value:
    """Elements from start to before end in each dimension; ends are clamped, negative positions count from the end."""
    value = emit.value_of(x)
    vector = emit.known_vector(value) if emit.rank_of(value) == 1 else None
    ranges = _ranges(value, start, end, stride)
    fixed = all(isinstance(low, int) and isinstance(high, int) for _, low, high, _ in ranges)
    if vector is not None and fixed and ranges:
        _, low, high, step = ranges[0]
        return emit.vector(vector[low:high:step], emit.type_name(value))  # type: ignore[misc]
    for axis, low, high, step in ranges:
        value = emit.slice_axis(value, axis, low, high, step)
    return value


@builder(begin="start", starts="start", ends="end", strides="stride", step="stride", updates="update", source="update")
def slice_update(x: Any, update: Any, start: Any, end: Any, stride: Any = None) -> Value:
    """The tensor with a slice replaced."""
    value = emit.value_of(x)
    source = emit.cast(emit.value_of(update, emit.type_name(value)), emit.type_name(value))
    ranges = _ranges(value, start, end, stride)
    # Nested dimensions are inserted from the inside: each step needs what the next outer slice held before.
    wholes = [value]
    for axis, low, high, step in ranges[:-1]:
        wholes.append(emit.slice_axis(wholes[-1], axis, low, high, step))
    if not ranges:
        return emit.expand(source, emit.sizes_of(value))
    inner = emit.slice_axis(wholes[-1], *ranges[-1])
    source = emit.expand(source, emit.sizes_of(inner))
    for whole, (axis, low, high, step) in zip(reversed(wholes), reversed(ranges), strict=True):
        source = emit.insert_axis(whole, source, axis, low, high, step)
    return source


@builder("concatenate", values="inputs", dim="axis")
def concat(*operands: Any, axis: Any = None, inputs: Any = None) -> Value:
    """Tensors one after another along an axis: concat(axis, [a, b]), concat(axis, a, b) or concat([a, b], axis)."""
    given = list(operands)
    listed = next((given.pop(i) for i, operand in enumerate(given) if isinstance(operand, list | tuple)), inputs)
    if axis is None and given:
        axis = given.pop(0)
    values = given if listed is None else listed
    # A symbolic size is a vector of one element in the original.
    tensors = [emit.vector([value]) if emit.is_number(value) else emit.value_of(value) for value in values]
    if not tensors or axis is None:
        raise UsageError("concat needs an axis and a tensor")
    name = emit.type_name(tensors[0])
    for tensor in tensors[1:]:
        name = emit.promoted(name, emit.type_name(tensor))
    vectors = [emit.known_vector(tensor) for tensor in tensors]
    if all(vector is not None and emit.rank_of(t) == 1 for vector, t in zip(vectors, tensors, strict=True)):
        return emit.vector([size for vector in vectors for size in vector or ()], name)
    at = emit.axis_of(axis, emit.rank_of(tensors[0]))
    return ops.concat([emit.cast(tensor, name) for tensor in tensors], axis=at)


@builder(split_sizes="sizes", dim="axis")
def split(x: Any, sizes: Any, axis: Any = 0) -> list[Value]:
    """Consecutive pieces of given sizes along an axis."""
    value = emit.value_of(x)
    at = emit.axis_of(axis, emit.rank_of(value))
    pieces, start = [], 0
    for size in emit.known_ints(sizes, "sizes"):
        pieces.append(emit.slice_axis(value, at, start, start + size))
        start += size
    have = emit.shape_of(value)[at]
    if have not in (DYNAMIC, start):
        raise UsageError(f"the sizes of the pieces add up to {start}, but dimension {at} has the size {have}")
    return pieces


@builder(repeats="reps", multiples="reps")
def tile(x: Any, reps: Any) -> Value:
    """The tensor repeated along each dimension."""
    value = emit.value_of(x)
    counts = emit.known_ints(reps, "reps")
    if len(counts) < emit.rank_of(value):
        raise UsageError(f"tile needs a count for each of {emit.rank_of(value)} dimensions")
    added = len(counts) - emit.rank_of(value)
    value = emit.reshape(value, [1] * added + emit.sizes_of(value))
    for axis, count in enumerate(counts):
        if count == 1:
            continue
        sizes = emit.sizes_of(value)
        spread = emit.expand(
            emit.reshape(value, [*sizes[:axis], 1, *sizes[axis:]]), [*sizes[:axis], count, *sizes[axis:]]
        )
        total = _product([count, sizes[axis]])
        value = emit.reshape(spread, [*sizes[:axis], total, *sizes[axis + 1 :]])
    return value


@builder("flip", axis="axes", dims="axes")
def reverse(x: Any, axes: Any) -> Value:
    """The elements along dimensions in opposite order."""
    value = emit.value_of(x)
    return ops.flip(value, dims=emit.axes_of(axes, emit.rank_of(value)))


@builder(padding="pads", pad_value="value", constant_value="value")
def pad(x: Any, pads: Any, value: Any = 0, mode: Any = "constant") -> Value:
    """Adds elements before and after each dimension: `pads` is [before, after] for each, in one list."""
    tensor = emit.value_of(x)
    amounts = emit.known_ints(pads, "pads")
    if len(amounts) != 2 * emit.rank_of(tensor):
        raise UsageError(f"pads needs {2 * emit.rank_of(tensor)} elements: before and after each dimension")
    kind = emit.known_text(mode)
    if kind not in _PAD_MODES:
        raise UsageError(f"there is no pad mode '{kind}'")
    fill = float(emit.known(value, "the value of pad").reshape(-1)[0])
    return ops.pad(tensor, low=amounts[::2], high=amounts[1::2], mode=_PAD_MODES[kind], value=fill)


@builder("arange")
def range(start: Any, end: Any = None, step: Any = 1) -> Value:
    """Numbers from start to before end, in the operands' element type."""
    if end is None:
        start, end = 0, start
    parts = [emit.value_of(part) for part in (start, end, step)]
    name = emit.type_name(parts[0])
    for part in parts[1:]:
        name = emit.promoted(name, emit.type_name(part))
    known = [part.constant_value for part in parts]
    if not any(part is None for part in known):
        return emit.constant(np.arange(*(part.reshape(-1)[0].item() for part in known)), name)  # type: ignore[union-attr]
    if emit.is_floating(name):
        raise UnsupportedError("a range of floating-point numbers needs known bounds")
    by = emit.known_int(step, "step")
    if by < 1:
        raise UnsupportedError("a range that is not known needs a positive step")
    first, last = emit.size_of_item(start), emit.size_of_item(end)
    distance = emit.arithmetic("max", emit.arithmetic("sub", last, first), 0)
    count = distance if by == 1 else emit.arithmetic("floordiv", emit.arithmetic("add", distance, by - 1), by)
    return ops.iota(first, by, count, dtype=name)


# Indices


def _indices(indices: Any) -> Value:
    return emit.cast(emit.value_of(indices), "int64")


def _columns(indices: Value) -> list[Value]:
    """The last dimension's elements as separate tensors."""
    shape = emit.shape_of(indices)
    if not shape or shape[-1] == DYNAMIC:
        raise UnsupportedError(f"the last dimension of indices must be known, not {indices.type}")
    last = len(shape) - 1
    sizes = emit.sizes_of(indices)[:-1]
    return [emit.reshape(emit.slice_axis(indices, last, i, i + 1), sizes) for i in range_(shape[-1])]


@builder()
def gather_nd(x: Any, indices: Any) -> Value:
    """x[i0, i1, …], where the indices' last dimension holds i0, i1, …"""
    value, columns = emit.value_of(x), _columns(_indices(indices))
    return ops.index(value, columns, axes=list(range_(len(columns)))) if columns else value


@builder(reduction="mode", combiner="mode")
def scatter_nd(x: Any, indices: Any, updates: Any, mode: Any = "update") -> Value:
    """x with x[i0, i1, …] replaced by, or combined with, updates."""
    value, columns = emit.value_of(x), _columns(_indices(indices))
    source = emit.cast(emit.value_of(updates, emit.type_name(value)), emit.type_name(value))
    reduce = _combination(mode)
    return ops.index_put(value, source, columns, axes=list(range_(len(columns))), reduce=reduce, include_self=True)


@builder(dim="axis")
def gather_along_axis(x: Any, indices: Any, axis: Any = 0) -> Value:
    """Elements along an axis at the positions that the indices give, as torch.gather."""
    value = emit.value_of(x)
    return ops.gather(value, _indices(indices), axis=emit.axis_of(axis, emit.rank_of(value)))


@builder(dim="axis", reduction="mode", combiner="mode")
def scatter_along_axis(x: Any, indices: Any, updates: Any, axis: Any = 0, mode: Any = "update") -> Value:
    """x with elements along an axis replaced by, or combined with, updates, as torch.scatter."""
    value = emit.value_of(x)
    source = emit.cast(emit.value_of(updates, emit.type_name(value)), emit.type_name(value))
    at = emit.axis_of(axis, emit.rank_of(value))
    return ops.scatter(value, _indices(indices), source, axis=at, reduce=_combination(mode), include_self=True)


def _combination(mode: Any) -> str:
    kind = emit.known_text(mode)
    if kind not in _COMBINATIONS:
        raise UsageError(f"there is no scatter mode '{kind}'; there are {', '.join(sorted(_COMBINATIONS))}")
    return _COMBINATIONS[kind]


@builder("nonzero")
def non_zero(x: Any) -> Value:
    """The positions of elements that are not zero, one row each, as int32."""
    return emit.cast(ops.nonzero(emit.value_of(x)), "int32")


BUILDERS = emit.builders_in(globals())
