"""What the builders of the `coreai` dialect share: values from anything, sizes, and symbolic numbers.

A vector of sizes is a list here. Its elements are Python's integers where they are known, else symbolic numbers (values
of type i64). The dialect passes such vectors as tensors; `sizes_of_vector` goes back from a tensor to the list, by what
is known about it if it was made here, else by reading its elements when the program runs.
"""

from __future__ import annotations

import functools
import inspect
import operator
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from ingot import ops
from ingot.errors import UnsupportedError, UsageError
from ingot.ir import DYNAMIC, ElementType, Value

Size = int | Value
INT32_MAX = 2**31 - 1

# The symbolic sizes of a value, so that equal ones are one and the same, and what vectors made here hold.
_dims: weakref.WeakKeyDictionary[Value, dict[int, Value]] = weakref.WeakKeyDictionary()
_vectors: weakref.WeakKeyDictionary[Value, list[Size]] = weakref.WeakKeyDictionary()
_Builder = TypeVar("_Builder", bound=Callable[..., Any])


def builder(*names: str, **spellings: str) -> Callable[[_Builder], _Builder]:
    """Marks a function as a builder: it also takes `loc` and `ip`, which the current position decides here.

    `names` are other names of the builder; `spellings` are other names of its parameters.
    """

    def decorate(function: _Builder) -> _Builder:
        @functools.wraps(function)
        def build(*args: Any, loc: Any = None, ip: Any = None, **kwargs: Any) -> Any:
            return function(*args, **{spellings.get(name, name): value for name, value in kwargs.items()})

        build.__signature__ = inspect.signature(function)  # type: ignore[attr-defined]
        build.names = (function.__name__, *names)  # type: ignore[attr-defined]
        return build  # type: ignore[return-value]

    return decorate


def builders_in(namespace: dict[str, Any]) -> dict[str, Any]:
    """The builders of a module by all their names."""
    return {name: value for value in list(namespace.values()) for name in getattr(value, "names", ())}


# Element types


def type_name(value: Value) -> str:
    """The element type by its name in torch."""
    return value.type.element_type.name


def name_of(dtype: Any) -> str:
    """The name of an element type given in any form."""
    return ElementType.of(dtype).name


def is_floating(name: str) -> bool:
    return name.startswith(("float", "bfloat"))


def is_integer(name: str) -> bool:
    return name.startswith(("int", "uint"))


def promoted(first: str, second: str) -> str:
    if first == second:
        return first
    import torch

    return str(torch.promote_types(getattr(torch, first), getattr(torch, second))).removeprefix("torch.")


# Values


def constant(value: Any, dtype: Any = None) -> Value:
    """As ops.constant, but numbers that have to be converted to an integer type are cut off as a cast does."""
    if dtype is not None and not isinstance(value, Value) and isinstance(value, list | tuple | float):
        value = np.asarray(value)
    return ops.constant(value, None if dtype is None else name_of(dtype))


def value_of(value: Any, dtype: str | None = None) -> Value:
    """A value as it is; anything else as a constant."""
    if isinstance(value, Value):
        return tensor_of(value)
    if isinstance(value, list | tuple) and any(isinstance(item, Value) for item in value):
        return vector([size_of_item(item) for item in value], dtype or "int32")
    return constant(value, dtype)


def tensor_of(value: Value) -> Value:
    """A symbolic number as a zero-dimensional tensor; tensors as they are."""
    return ops.from_scalar(value) if is_number(value) else value


def cast(value: Value, name: str) -> Value:
    if type_name(value) == name:
        return value
    known = value.constant_value
    if known is not None and known.size <= 64 and not name.startswith(("bfloat", "float8")):
        return ops.constant(known.astype(name), name)
    result = ops.cast(value, name)
    if value in _vectors and is_integer(name):
        _vectors[result] = _vectors[value]
    return result


def is_number(value: Any) -> bool:
    return isinstance(value, Value) and value.is_scalar


def shape_of(value: Value) -> list[int]:
    return list(value.type.shape)


def rank_of(value: Value) -> int:
    return len(value.type.shape)


def static_shape(value: Value, what: str) -> list[int]:
    shape = shape_of(value)
    if DYNAMIC in shape:
        raise UnsupportedError(f"{what} needs a known shape, not {value.type}")
    return shape


# Known attributes


def known(value: Any, what: str) -> np.ndarray[Any, Any]:
    """The content of an operand that must be a constant."""
    if isinstance(value, Value):
        content = value.constant_value
        if content is None:
            sizes = _vectors.get(value)
            if sizes is None or not all(isinstance(size, int) for size in sizes):
                raise UnsupportedError(f"{what} must be a constant")
            content = np.asarray(sizes)
        return content
    return np.asarray(value)


def known_ints(value: Any, what: str) -> list[int]:
    return [int(item) for item in known(value, what).reshape(-1)]


def known_int(value: Any, what: str) -> int:
    return known_ints(value, what)[0]


def known_text(value: Any) -> str:
    """An option such as a mode, of text, an enumeration or an attribute."""
    text = str(getattr(value, "value", value)).strip('"').rsplit(".", 1)[-1].lower()
    return text.rsplit("<", 1)[-1].rstrip(">")


def window(value: Any, count: int, what: str, default: int = 1) -> list[int]:
    """One number for each spatial dimension; a single one stands for all."""
    if value is None:
        return [default] * count
    numbers = known_ints(value, what)
    if len(numbers) not in (1, count):
        raise UsageError(f"{what} must have {count} elements, not {len(numbers)}")
    return numbers * count if len(numbers) == 1 and count > 1 else numbers


def axis_of(axis: Any, rank: int, what: str = "axis") -> int:
    number = known_int(axis, what)
    if not -max(rank, 1) <= number < max(rank, 1):
        raise UsageError(f"{what} {number} is out of range for {rank} dimensions")
    return number % max(rank, 1)


def axes_of(axes: Any, rank: int) -> list[int]:
    """Counted from the front; all of them for None."""
    if axes is None:
        return list(range(rank))
    return [axis_of(axis, rank, "axes") for axis in known_ints(axes, "axes")]


# Sizes


def size_at(value: Value, axis: int) -> Size:
    size = value.type.shape[axis]
    if size != DYNAMIC:
        return int(size)
    known = _dims.setdefault(value, {})
    if axis not in known:
        known[axis] = ops.dim(value, axis)
    return known[axis]


def sizes_of(value: Value) -> list[Size]:
    return [size_at(value, axis) for axis in range(rank_of(value))]


def vector(sizes: Sequence[Size], dtype: str = "int32") -> Value:
    """A tensor of one dimension that holds sizes."""
    if all(isinstance(size, int) for size in sizes):
        return constant(np.asarray(sizes, dtype=np.int64), dtype)
    parts = [
        constant([size], "int64") if isinstance(size, int) else reshape(ops.from_scalar(size), [1]) for size in sizes
    ]
    whole = cast(parts[0] if len(parts) == 1 else ops.concat(parts, axis=0), dtype)
    _vectors[whole] = list(sizes)
    return whole


def size_of_item(item: Any) -> Size:
    """A size from an integer, a symbolic number, or a tensor of one element."""
    if not isinstance(item, Value):
        return int(np.asarray(item).reshape(()))
    if is_number(item):
        return item
    (size,) = sizes_of_vector(item)
    return size


def sizes_of_vector(value: Any) -> list[Size]:
    """The elements of a vector of sizes, whatever form it has."""
    if isinstance(value, list | tuple):
        return [size_of_item(item) for item in value]
    if not isinstance(value, Value):
        return [int(item) for item in np.asarray(value).reshape(-1)]
    if is_number(value):
        return [value]
    content = value.constant_value
    if content is not None:
        return [int(item) for item in content.reshape(-1)]
    if value in _vectors:
        return list(_vectors[value])
    count = int(np.prod(static_shape(value, "a vector of sizes"), dtype=np.int64))
    flat = cast(reshape(value, [count]), "int64")
    return [number_at(flat, index) for index in range(count)]


def number_at(vector: Value, index: int) -> Value:
    """An element of a vector as a symbolic number, read when the program runs."""
    return ops.item(reshape(slice_axis(vector, 0, index, index + 1), []))


_ARITHMETIC: dict[str, tuple[Callable[[int, int], int], Callable[[Size, Size], Value]]] = {
    "add": (operator.add, ops.size_add),
    "sub": (operator.sub, ops.size_sub),
    "mul": (operator.mul, ops.size_mul),
    "max": (max, ops.size_max),
    "min": (min, ops.size_min),
    "floordiv": (operator.floordiv, ops.size_floordiv),
}


def arithmetic(name: str, a: Size, b: Size) -> Size:
    """add, sub, mul, max, min or floordiv on sizes, at once where both are known."""
    known, computed = _ARITHMETIC[name]
    return known(a, b) if isinstance(a, int) and isinstance(b, int) else computed(a, b)


def remember_vector(value: Value, sizes: Sequence[Size]) -> Value:
    _vectors[value] = list(sizes)
    return value


def known_vector(value: Any) -> list[Size] | None:
    """What is known about a vector without reading it when the program runs."""
    if not isinstance(value, Value) or is_number(value):
        return None
    content = value.constant_value
    if content is not None and content.ndim <= 1 and content.dtype.kind in "iu":
        return [int(item) for item in content.reshape(-1)]
    return _vectors.get(value)


# Moving data, with sizes as lists


def reshape(value: Value, sizes: Sequence[Size]) -> Value:
    if list(sizes) == shape_of(value):
        return value
    result = ops.reshape(value, list(sizes))
    return remember_vector(result, _vectors[value]) if value in _vectors and len(sizes) <= 1 else result


def expand(value: Value, sizes: Sequence[Size]) -> Value:
    return value if list(sizes) == shape_of(value) else ops.expand(value, list(sizes))


def slice_axis(value: Value, axis: int, start: Size, end: Size, step: int = 1) -> Value:
    """Elements from `start` to before `end`, which must lie within the dimension."""
    return ops.slice(value, axis, [start, end], step)


def insert_axis(value: Value, source: Value, axis: int, start: Size, end: Size, step: int = 1) -> Value:
    return ops.insert_slice(value, source, axis, [start, end], step)


def permute(value: Value, dims: Sequence[int]) -> Value:
    return value if list(dims) == list(range(len(dims))) else ops.permute(value, dims=list(dims))
