"""What the functions of `ingot.ops` share: Python's values as operands, and attributes as the IR writes them."""

from __future__ import annotations

import math
import operator
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ingot.errors import UsageError
from ingot.ir import (
    DYNAMIC,
    DTypeLike,
    ElementType,
    ScalarType,
    TensorType,
    Type,
    Value,
    current_builder,
    type_to_tuple,
)

Operand: TypeAlias = "Value | bool | int | float | complex | Sequence[Any] | np.ndarray[Any, Any] | Any"
"""A value, or what becomes a constant: a number, a list, an array of numpy, a tensor of torch."""
Number: TypeAlias = "Value | bool | int | float"
"""A number that the program computes (`ops.dim`), or one that is known."""

_INT32 = range(-(2**31), 2**31)


# Constants.


def _numbers(value: Any) -> list[Any]:
    """The entries of nested lists."""
    if isinstance(value, list | tuple):
        return [entry for item in value for entry in _numbers(item)]
    return [value]


def _default_dtype(entries: Sequence[Any]) -> ElementType:
    """Of Python's numbers: integers are int32 unless one does not fit."""
    if any(isinstance(entry, complex) for entry in entries):
        return ElementType("complex64")
    if any(isinstance(entry, float | np.floating) for entry in entries) or not entries:
        return ElementType("float32")
    if all(isinstance(entry, bool | np.bool_) for entry in entries):
        return ElementType("bool")
    return ElementType("int32" if all(int(entry) in _INT32 for entry in entries) else "int64")


def _check_fits(entries: Sequence[Any], dtype: ElementType) -> None:
    for entry in entries:
        if dtype.is_integer or dtype.name == "bool":
            if isinstance(entry, float | complex) and entry != int(entry.real):
                raise UsageError(f"{entry} is no {dtype.name}; give another dtype, or cast the tensor first")
            bounds = np.iinfo(dtype.numpy) if dtype.is_integer else None
            if bounds is not None and not bounds.min <= int(entry.real) <= bounds.max:
                raise UsageError(f"{entry} does not fit {dtype.name}")


def _array_of(value: Any, dtype: ElementType | None) -> tuple[np.ndarray[Any, Any], ElementType]:
    """The elements, in a type that numpy has, and the element type that is wanted."""
    if type(value).__module__.partition(".")[0] == "torch" and hasattr(value, "detach"):
        tensor, own = value.detach().cpu().contiguous(), ElementType.of(value.dtype)
        if own.numpy is None:
            import torch

            tensor = tensor.to(torch.complex64 if own.is_complex else torch.float32)
        return tensor.numpy(), dtype or own
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        return array, dtype or ElementType.of(array.dtype)
    entries = _numbers(value)
    for entry in entries:
        if not isinstance(entry, bool | int | float | complex | np.generic):
            raise UsageError(f"a {type(entry).__name__} is no number of a constant")
    wanted = dtype or _default_dtype(entries)
    _check_fits(entries, wanted)
    held = wanted.numpy or np.dtype("complex64" if wanted.is_complex else "float32")
    try:
        return np.array(value, dtype=held), wanted
    except (ValueError, TypeError) as error:
        raise UsageError(f"{value!r} is no constant: {error}") from None


def _bfloat16_bytes(array: np.ndarray[Any, Any]) -> bytes:
    """Rounded to nearest, ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(array, np.float32).view(np.uint32)
    rounded = (bits + (((bits >> 16) & 1) + 0x7FFF).astype(np.uint32)) >> 16
    return np.where(np.isnan(array), 0x7FC0, rounded).astype(np.uint16).tobytes()


def constant(value: Operand, dtype: DTypeLike | None = None) -> Value:
    """A tensor that is written in the program."""
    builder = current_builder()
    array, wanted = _array_of(value, None if dtype is None else ElementType.of(dtype))
    shape = list(array.shape)
    if wanted.name == "bfloat16":
        return Value(builder, builder.constant((False, "bfloat16", shape), _bfloat16_bytes(array)))
    if wanted.numpy is None:  # what numpy cannot hold is converted by the program
        held = constant(array, "complex64" if wanted.is_complex else "float32")
        return single("cast", [held], {}, dtype=wanted)
    data = np.ascontiguousarray(array.astype(wanted.numpy)).tobytes()
    return Value(builder, builder.constant((False, wanted.name, shape), data))


# Operands.


def _owned(value: Value) -> Value:
    if value._builder is not current_builder():
        raise UsageError(f"{value!r} belongs to another lowering or graph")
    return value


def tensor(value: Operand, like: ElementType | None = None) -> Value:
    """The operand as a tensor. Python's numbers and lists take the element type `like` where it is given."""
    if isinstance(value, Value):
        return single("from_scalar", [_owned(value)], {}) if value.is_scalar else _owned(value)
    is_untyped = isinstance(value, bool | int | float | complex | list | tuple)
    return constant(value, like if is_untyped else None)


def optional(value: Operand | None) -> Value | None:
    return None if value is None else tensor(value)


def tensors(values: Sequence[Operand]) -> list[Value]:
    first = next((value.type.element_type for value in values if isinstance(value, Value)), None)
    return [tensor(value, first) for value in values]


def number(value: Number) -> Value:
    """The operand as a number of the program."""
    if isinstance(value, Value):
        if not value.is_scalar:
            raise UsageError(f"{value!r} is a tensor where a number is needed; ops.item gives its only element")
        return _owned(value)
    if isinstance(value, np.generic):
        value = value.item()
    builder = current_builder()
    return Value(builder, builder.number(value))


def any_value(value: Operand) -> Value:
    return _owned(value) if isinstance(value, Value) else tensor(value)


# Attributes.


def boolean(value: bool) -> str:
    return "true" if value else "false"


def integer(value: int) -> str:
    return str(operator.index(value))


def real(value: float) -> str:
    value = float(value)
    if math.isfinite(value):
        return f"{value:.17e}"
    return f"0x{struct.pack('>d', value).hex().upper()} : f64"


def string(value: str) -> str:
    plain = (chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in value.encode())
    return '"' + "".join(plain) + '"'


def integers(values: Sequence[int]) -> str:
    return "array<i64: " + ", ".join(str(operator.index(value)) for value in values) + ">" if values else "array<i64>"


def reals(values: Sequence[float]) -> str:
    return "array<f64: " + ", ".join(real(value) for value in values) + ">" if values else "array<f64>"


def choice(value: str | int, names: Sequence[str], what: str) -> str:
    """An entry of an enumeration, by name or number."""
    if value in names:
        return f"{names.index(value)} : i32"
    if isinstance(value, int) and 0 <= value < len(names):
        return f"{value} : i32"
    raise UsageError(f"{what} is one of {', '.join(names)}, not {value!r}")


def _axis(value: int, rank: int) -> int:
    value = operator.index(value)
    return value + rank if value < 0 else value


def axis(value: int, x: Value) -> str:
    """A dimension of `x`, counted from the end when negative."""
    return str(_axis(value, x.type.rank))


def axes(values: int | Sequence[int], x: Value) -> str:
    listed = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    return integers([_axis(value, x.type.rank) for value in listed])


def spatial(value: int | Sequence[int] | None, count: int, default: int | Sequence[int]) -> str:
    """A list with an entry for each of `count` dimensions; one number stands for all of them."""
    chosen = default if value is None else value
    return integers([chosen] * count if isinstance(chosen, int) else list(chosen))


def entries(values: Number | Sequence[Number], dynamic: list[Value]) -> str:
    """A list of sizes: those that the program computes are moved to the dynamic operands."""
    known = []
    for value in list(values) if isinstance(values, Sequence | np.ndarray) else [values]:
        if isinstance(value, Value):
            dynamic.append(number(value))
            known.append(DYNAMIC)
        else:
            known.append(operator.index(value))
    return integers(known)


def reshaped(values: Number | Sequence[Number], x: Value) -> list[Number]:
    """The sizes of a reshape; one of them may be -1, which is what the others leave."""
    sizes = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    open_at = [i for i, size in enumerate(sizes) if not isinstance(size, Value) and size == -1]
    if not open_at:
        return sizes
    if len(open_at) > 1:
        raise UsageError(f"only one of the sizes {sizes} may be -1")
    others = [size for i, size in enumerate(sizes) if i != open_at[0]]
    sizes[open_at[0]] = _quotient(_product([dim(x, i) for i in range(x.type.rank)]), _product(others))
    return sizes


def dim(x: Value, along: int) -> Number:
    """The size of a dimension, as a number where it is known."""
    size = x.type.shape[along]
    return single("dim", [x], {"axis": axis(along, x)}) if size == DYNAMIC else size


def _product(sizes: Sequence[Number]) -> Number:
    known, total = 1, None
    for size in sizes:
        if isinstance(size, Value):
            total = size if total is None else arith("arith.muli", total, size)
        else:
            known *= operator.index(size)
    if total is None:
        return known
    return total if known == 1 else arith("arith.muli", total, known)


def _quotient(total: Number, part: Number) -> Number:
    if isinstance(total, Value) or isinstance(part, Value):
        return arith("arith.floordivsi", total, part)
    if part == 0 or total % part != 0:
        raise UsageError(f"{total} elements cannot be divided by sizes of {part} elements")
    return total // part


def entry(value: Number, dynamic: list[Value]) -> str:
    """One size, which the program may compute."""
    if isinstance(value, Value):
        dynamic.append(number(value))
        return str(DYNAMIC)
    return integer(value)


def bounds(values: Sequence[Number | None], x: Value, along: int, dynamic: list[Value]) -> str:
    """Start and end of a slice. None is the whole; negative or large positions are brought into a known size."""
    start, end = values
    size = x.type.shape[_axis(along, x.type.rank)]
    if size != DYNAMIC:
        clamp = [None if isinstance(value, Value) else value for value in (start, end)]
        first, last, _ = slice(*clamp).indices(size)
        start = start if isinstance(start, Value) else first
        end = end if isinstance(end, Value) else max(first, last) if not isinstance(start, Value) else last
    elif end is None:
        end = dim(x, _axis(along, x.type.rank))
    return entries([0 if start is None else start, end], dynamic)


# Ops.


def _build(
    name: str,
    operands: Sequence[Value | Sequence[Value] | None],
    attributes: Mapping[str, str],
    grouped: bool,
    dtype: DTypeLike | None,
    types: Sequence[Type] | None,
) -> list[Value]:
    builder = current_builder()
    flat: list[int] = []
    groups: list[int] = []
    for operand in operands:
        group = [] if operand is None else [operand] if isinstance(operand, Value) else list(operand)
        flat += [_owned(value)._handle for value in group]
        groups.append(len(group))
    text = "{" + ", ".join(f"{key} = {value}" for key, value in attributes.items()) + "}"
    given = None if types is None else [type_to_tuple(entry) for entry in types]
    wanted = None if dtype is None else ElementType.of(dtype).name
    made = builder.create(name, flat, groups if grouped else None, text, wanted, given)
    return [Value(builder, handle) for handle in made]


def single(
    name: str,
    operands: Sequence[Value | Sequence[Value] | None],
    attributes: Mapping[str, str],
    *,
    grouped: bool = False,
    dtype: DTypeLike | None = None,
    result_type: Type | None = None,
) -> Value:
    """An op with one result."""
    return _build(name, operands, attributes, grouped, dtype, None if result_type is None else [result_type])[0]


def several(
    name: str,
    operands: Sequence[Value | Sequence[Value] | None],
    attributes: Mapping[str, str],
    *,
    grouped: bool = False,
    result_types: Sequence[Type] | None = None,
) -> tuple[Value, ...]:
    return tuple(_build(name, operands, attributes, grouped, None, result_types))


def elementwise(name: str, operands: Sequence[Operand], result_type: Type | None, skip: int = 0) -> Value:
    """Operands broadcast; Python's numbers take the element type of the others. The first `skip` have their own."""
    like = None
    for operand in operands[skip:]:
        if not isinstance(operand, bool | int | float | complex | list | tuple) and like is None:
            like = ElementType.of(operand.type.element_type if isinstance(operand, Value) else operand.dtype)
    values = [tensor(operand, None if i < skip else like) for i, operand in enumerate(operands)]
    return single(name, values, {}, result_type=result_type)


def iota_type(count: Number, dtype: DTypeLike | None, start: Value) -> TensorType:
    size = DYNAMIC if isinstance(count, Value) else operator.index(count)
    return TensorType([size], start.type.element_type if dtype is None else dtype)


def arith(name: str, a: Number, b: Number) -> Value:
    """Arithmetic on sizes, folded where both are known when the program runs."""
    left, right = number(a), number(b)
    if left.type != right.type or left.type != ScalarType(ElementType("int64")):
        raise UsageError(f"{name} needs two whole numbers, not {left.type} and {right.type}")
    return single(name, [left, right], {})


# Bodies.


def body(function: Callable[..., Any], types: Sequence[Type] = ()) -> int:
    """What the function builds from values of these types, as a handle for the op that gets it."""
    builder = current_builder()
    handles = builder.begin_body([type_to_tuple(entry) for entry in types])
    try:
        made = function(*(Value(builder, handle) for handle in handles))
        results = [any_value(value) for value in (made if isinstance(made, list | tuple) else [made])]
    except BaseException:
        builder.drop_body()
        raise
    return builder.end_body([value._handle for value in results])


def _unpacked(handles: Sequence[int]) -> Any:
    values = tuple(Value(current_builder(), handle) for handle in handles)
    return values[0] if len(values) == 1 else values


def if_(condition: Operand, then: Callable[[], Any], otherwise: Callable[[], Any]) -> Any:
    """What `then()` builds if the condition (one boolean) holds when the program runs, else what `otherwise()` builds.

    Both give one value, or equally many of the same types. They may use values from around them.
    """
    chosen = any_value(condition)
    return _unpacked(current_builder().create_if(chosen._handle, body(then), body(otherwise)))


def while_(test: Callable[..., Any], step: Callable[..., Any], *carried: Operand) -> Any:
    """The carried values after `step(*carried)` has replaced them as long as `test(*carried)` holds.

    Their types stay. Both functions may use values from around them.
    """
    values = [any_value(value) for value in carried]
    types = [value.type for value in values]
    handles = body(test, types), body(step, types)
    return _unpacked(current_builder().create_while(*handles, [value._handle for value in values]))
