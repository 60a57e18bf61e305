"""Builders of the `coreai` dialect that compute element by element, reduce, or multiply."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ingot import ops
from ingot.compat import _emit as emit
from ingot.compat._emit import builder
from ingot.errors import UnsupportedError, UsageError
from ingot.ir import Value

# Constants up to this size are computed with at once, so that sizes stay known.
_FOLD_LIMIT = 64


@builder()
def constant(value: Any, dtype: Any = None) -> Value:
    """A tensor of numbers; Python's numbers are float32 or int32 unless `dtype` says otherwise."""
    return emit.constant(value, dtype)


@builder()
def cast(x: Any, dtype: Any) -> Value:
    """The elements in another type."""
    if not isinstance(x, Value):
        return emit.constant(x, dtype)
    return emit.cast(emit.tensor_of(x), emit.name_of(dtype))


# One operand


def _unary(name: str, op: str, what: str, *names: str) -> Callable[..., Value]:
    def build(x: Any) -> Value:
        return getattr(ops, op)(emit.value_of(x))

    build.__name__ = name
    build.__doc__ = what
    return builder(*names)(build)


_UNARY = [
    *((name, name, f"{name} of each element.") for name in ("abs", "exp", "log", "sqrt", "rsqrt", "erf", "round")),
    *((name, name, f"{name} of each element.") for name in ("sin", "cos", "tan", "asin", "acos", "atan")),
    *((name, name, f"{name} of each element.") for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh")),
    *((name, name, f"{name} of each element.") for name in ("sigmoid", "relu", "silu")),
    # These are not the original's, which spells them with others.
    *((name, name, f"{name} of each element.") for name in ("neg", "floor", "ceil", "trunc", "sign", "reciprocal")),
    *((name, name, f"{name} of each element.") for name in ("exp2", "expm1", "log2", "log10", "log1p")),
    ("is_nan", "isnan", "Whether each element is NaN."),
    ("is_inf", "isinf", "Whether each element is infinite."),
]
UNARY = {name: _unary(name, op, what) for name, op, what in _UNARY}


@builder("not", "logical_not")
def not_(x: Any) -> Value:
    """Whether each element is zero or false."""
    return ops.logical_not(emit.value_of(x))


@builder()
def bitwise_not(x: Any) -> Value:
    """The complement of every bit."""
    return ops.bitwise_not(emit.value_of(x))


@builder()
def gelu(x: Any, approximate: Any = "none") -> Value:
    """x * Phi(x), or its approximation by tanh."""
    kind = emit.known_text(approximate)
    if kind not in ("none", "tanh"):
        raise UsageError(f"gelu's approximation is 'none' or 'tanh', not '{kind}'")
    return ops.gelu(emit.value_of(x)) if kind == "none" else ops.gelu_tanh(emit.value_of(x))


@builder(dim="axis")
def softmax(x: Any, axis: Any = -1) -> Value:
    """exp(x) divided by its sum along an axis."""
    x = emit.value_of(x)
    return ops.softmax(x, axis=emit.axis_of(axis, emit.rank_of(x)), log=False)


# Two operands, which broadcast


def pair(a: Any, b: Any) -> tuple[Value, Value]:
    """Two operands of one element type: numbers take the other's, two values are promoted as torch promotes them."""
    if not isinstance(a, Value) and isinstance(b, Value):
        second, first = pair(b, a)
        return first, second
    first = emit.value_of(a)
    if isinstance(b, Value):
        second = emit.tensor_of(b)
    else:
        name = emit.type_name(first)
        keeps = emit.is_floating(name) or name.startswith("complex") or np.asarray(b).dtype.kind in "iub"
        second = emit.value_of(b, name if keeps and name != "bool" else None)
    name = emit.promoted(emit.type_name(first), emit.type_name(second))
    return emit.cast(first, name), emit.cast(second, name)


def _fold(function: Callable[..., Any] | None, a: Value, b: Value) -> Value | None:
    if function is None:
        return None
    left, right = a.constant_value, b.constant_value
    if left is None or right is None or max(left.size, right.size) > _FOLD_LIMIT or left.dtype.kind not in "iu":
        return None
    if function in (np.floor_divide, np.fmod) and not right.all():
        return None
    result = np.asarray(function(left, right))
    return emit.constant(result, result.dtype)


_ON_SIZES = {"add": "add", "sub": "sub", "mul": "mul", "floor_divide": "floordiv", "maximum": "max", "minimum": "min"}


def _of_sizes(name: str, a: Value, b: Value) -> Value | None:
    """Arithmetic on vectors of sizes stays symbolic, so that shapes made of the result need not be read from it."""
    first, second = emit.known_vector(a), emit.known_vector(b)
    if name not in _ON_SIZES or first is None or second is None:
        return None
    count = max(len(first), len(second))
    if {len(first), len(second)} - {1, count}:
        return None
    first, second = first * (count // len(first)), second * (count // len(second))
    sizes = [emit.arithmetic(_ON_SIZES[name], x, y) for x, y in zip(first, second, strict=True)]
    result = emit.vector(sizes, emit.type_name(a))
    return result if emit.rank_of(a) or emit.rank_of(b) else emit.reshape(result, [])


def _binary(name: str, op: str, what: str, fold: Callable[..., Any] | None = None) -> Callable[..., Value]:
    def build(a: Any, b: Any) -> Value:
        first, second = pair(a, b)
        folded = _fold(fold, first, second)
        folded = _of_sizes(name, first, second) if folded is None else folded
        return getattr(ops, op)(first, second) if folded is None else folded

    build.__name__ = name
    build.__doc__ = what
    return builder(f"broadcasting_{name}", lhs="a", rhs="b", x="a", y="b")(build)


_BINARY = [
    ("add", "add", "The sum.", np.add),
    ("sub", "sub", "The difference.", np.subtract),
    ("mul", "mul", "The product.", np.multiply),
    ("floor_divide", "div_floor", "The quotient rounded down.", np.floor_divide),
    ("modulo", "fmod", "The remainder, with the dividend's sign.", np.fmod),
    ("pow", "pow", "a to the power of b.", None),
    ("maximum", "maximum", "The larger; NaN wins.", np.maximum),
    ("minimum", "minimum", "The smaller; NaN wins.", np.minimum),
    ("equal", "eq", "Whether a equals b.", None),
    ("not_equal", "ne", "Whether a differs from b.", None),
    ("greater", "gt", "Whether a is greater.", None),
    ("bitwise_and", "bitwise_and", "And of every bit.", None),
    ("bitwise_or", "bitwise_or", "Or of every bit.", None),
    ("bitwise_xor", "bitwise_xor", "Exclusive or of every bit.", None),
    # These are not the original's, which spells them with others.
    ("greater_equal", "ge", "Whether a is at least b.", None),
    ("less", "lt", "Whether a is less.", None),
    ("less_equal", "le", "Whether a is at most b.", None),
    ("remainder", "remainder", "The remainder, with the divisor's sign.", None),
    ("atan2", "atan2", "The angle of the point (b, a).", None),
]
BINARY = {name: _binary(name, op, what, fold) for name, op, what, fold in _BINARY}


@builder("broadcasting_divide", "div", "broadcasting_div", lhs="a", rhs="b", x="a", y="b")
def divide(a: Any, b: Any) -> Value:
    """The quotient; of integers, rounded towards zero."""
    first, second = pair(a, b)
    return ops.div_trunc(first, second) if emit.is_integer(emit.type_name(first)) else ops.div(first, second)


def _truth(x: Any) -> Value:
    value = emit.value_of(x)
    return value if emit.type_name(value) == "bool" else ops.ne(value, emit.constant(0, emit.type_name(value)))


def _logical(name: str, what: str) -> Callable[..., Value]:
    def build(a: Any, b: Any) -> Value:
        return getattr(ops, f"bitwise_{name}")(_truth(a), _truth(b))

    build.__name__ = name if name == "xor" else f"{name}_"
    build.__doc__ = what
    other = (f"broadcasting_{name}", f"broadcasting_{name}_", f"logical_{name}", name)
    return builder(*other, lhs="a", rhs="b", x="a", y="b")(build)


LOGICAL = {
    name: _logical(name, what)
    for name, what in (("and", "Whether both hold."), ("or", "Whether one holds."), ("xor", "Whether just one holds."))
}


@builder("broadcasting_where", "select", cond="condition", x="a", y="b")
def where(condition: Any, a: Any, b: Any) -> Value:
    """a where the condition holds, else b."""
    first, second = pair(a, b)
    return ops.select(_truth(condition), first, second)


@builder("broadcasting_batch_matmul", "matmul", lhs="a", rhs="b", x="a", y="b")
def batch_matmul(a: Any, b: Any) -> Value:
    """The product of matrices; leading dimensions broadcast."""
    first, second = pair(a, b)
    return ops.matmul(first, second)


# Complex numbers


@builder(real="re", imag="im", real_part="re", imaginary_part="im")
def create_complex(re: Any, im: Any) -> Value:
    """Complex numbers from their two parts."""
    first, second = pair(re, im)
    return ops.complex(first, second)


@builder()
def real_part(x: Any) -> Value:
    """The real part of complex numbers."""
    return ops.real(emit.value_of(x))


@builder()
def imaginary_part(x: Any) -> Value:
    """The imaginary part of complex numbers."""
    return ops.imag(emit.value_of(x))


# Reductions, whose dimensions stay with size 1


def _reduction(name: str, kind: str, what: str) -> Callable[..., Value]:
    def build(x: Any, axes: Any = None) -> Value:
        value = emit.value_of(x)
        return ops.reduce(value, kind=kind, dims=emit.axes_of(axes, emit.rank_of(value)))

    build.__name__ = name
    build.__doc__ = what
    return builder(axis="axes", dims="axes")(build)


REDUCTIONS = {
    "reduce_sum": _reduction("reduce_sum", "sum", "The sum over dimensions."),
    "reduce_product": _reduction("reduce_product", "prod", "The product over dimensions."),
    "reduce_max": _reduction("reduce_max", "max", "The largest element over dimensions."),
    "reduce_min": _reduction("reduce_min", "min", "The smallest element over dimensions."),
}


@builder(axis="axes", dims="axes")
def reduce_mean(x: Any, axes: Any = None) -> Value:
    """The mean over dimensions; 16-bit numbers are added up in 32 bits."""
    value = emit.value_of(x)
    name = emit.type_name(value)
    dims = emit.axes_of(axes, emit.rank_of(value))
    wide = "float32" if name in ("float16", "bfloat16") else name
    total = ops.reduce(emit.cast(value, wide), kind="sum", dims=dims)
    count = emit.constant(1, wide)
    for size in (emit.size_at(value, axis) for axis in dims):
        factor = emit.constant(size, wide) if isinstance(size, int) else emit.cast(ops.from_scalar(size), wide)
        count = ops.mul(count, factor)
    return emit.cast(divide(total, count), name)


@builder("reduce_any", axis="axes", dims="axes")
def any(x: Any, axes: Any = None) -> Value:
    """Whether an element over the dimensions is true."""
    value = _truth(x)
    return ops.reduce(value, kind="any", dims=emit.axes_of(axes, emit.rank_of(value)))


def _extreme(x: Any, axis: Any, minimum: bool) -> Value:
    value = emit.value_of(x)
    found = ops.arg_reduce(value, axis=emit.axis_of(axis, emit.rank_of(value)), minimum=minimum)
    return emit.cast(found, "uint32")


@builder(dim="axis")
def argmax(x: Any, axis: Any = -1) -> Value:
    """Where the first largest element along an axis is, as uint32."""
    return _extreme(x, axis, minimum=False)


@builder(dim="axis")
def argmin(x: Any, axis: Any = -1) -> Value:
    """Where the first smallest element along an axis is, as uint32."""
    return _extreme(x, axis, minimum=True)


@builder(dim="axis", mode="combiner")
def scan(x: Any, axis: Any = -1, reverse: Any = False, combiner: Any = "sum") -> Value:
    """Running sums (or products, maxima, minima) along an axis, from its end if reversed."""
    value = emit.value_of(x)
    at = emit.axis_of(axis, emit.rank_of(value))
    backwards = bool(emit.known(reverse, "reverse").reshape(())[()])
    value = ops.flip(value, dims=[at]) if backwards else value
    kind = emit.known_text(combiner)
    if kind in ("sum", "add"):
        result = ops.cumsum(value, axis=at)
    elif kind in ("product", "prod", "mul"):
        result = ops.cum_reduce(value, axis=at, kind="prod")
    elif kind in ("max", "maximum", "min", "minimum"):
        result = ops.cum_extreme(value, axis=at, minimum=kind.startswith("min"))[0]
    else:
        raise UnsupportedError(f"scan knows sum, product, max and min, not '{kind}'")
    return ops.flip(result, dims=[at]) if backwards else result


def _sort(x: Any, axis: Any, descending: Any, stable: Any) -> Any:
    value = emit.value_of(x)
    return ops.sort(
        value,
        axis=emit.axis_of(axis, emit.rank_of(value)),
        descending=bool(emit.known(descending, "descending").reshape(())[()]),
        stable=bool(emit.known(stable, "stable").reshape(())[()]),
    )


@builder(dim="axis")
def sort(x: Any, axis: Any = -1, descending: Any = False, stable: Any = False) -> Value:
    """The elements along an axis in order; NaN is the largest."""
    return _sort(x, axis, descending, stable)[0]


@builder(dim="axis")
def argsort(x: Any, axis: Any = -1, descending: Any = False, stable: Any = False) -> Value:
    """Where the elements along an axis come from when they are sorted, as int32."""
    return emit.cast(_sort(x, axis, descending, stable)[1], "int32")


BUILDERS = {
    name: function
    for table in (UNARY, BINARY, LOGICAL, REDUCTIONS, globals())
    for name, function in emit.builders_in(dict(table)).items()
}
