"""Ops of the dialect: order.

Made by docs/ops_module.py from src/dialect/OrderOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import Type, Value


def sort(
    x: Operand,
    axis: int,
    descending: bool = False,
    stable: bool = True,
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """the elements along `axis` in order, and where they were; NaN is the largest.

    With `stable`, equal elements keep their order; else it is the one that PyTorch's CPU kernel gives them.
    """
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "descending": build.boolean(descending),
        "stable": build.boolean(stable),
    }
    return build.several("sort", [x], attributes, result_types=result_types)


def topk(
    x: Operand,
    k: Number | Sequence[Number],
    axis: int,
    largest: bool = True,
    sorted: bool = True,
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """the k largest (or smallest) elements along `axis`, and where they are.

    Which of equal elements are taken, and the order without `sorted`, are those of PyTorch's CPU kernel.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    k_text = build.entries(k, dynamic)
    attributes = {
        "k": k_text,
        "axis": build.axis(axis, x),
        "largest": build.boolean(largest),
        "sorted": build.boolean(sorted),
    }
    return build.several("topk", [x, dynamic], attributes, result_types=result_types)


def kth_value(
    x: Operand,
    k: Number | Sequence[Number],
    axis: int,
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """the k-th smallest element along `axis`, counted from 1, and where it is; the axis stays with size 1."""
    x = build.tensor(x)
    dynamic: list[Value] = []
    k_text = build.entries(k, dynamic)
    attributes = {
        "k": k_text,
        "axis": build.axis(axis, x),
    }
    return build.several("kth_value", [x, dynamic], attributes, result_types=result_types)


def median(
    x: Operand, axis: int, ignore_nan: bool, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """the lower median along `axis`, and where it is; the axis stays with size 1.

    NaN is the median of a line that has one, unless `ignore_nan`.
    """
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "ignore_nan": build.boolean(ignore_nan),
    }
    return build.several("median", [x], attributes, result_types=result_types)


def mode(x: Operand, axis: int, *, result_types: Sequence[Type] | None = None, loc: object = None) -> tuple[Value, ...]:
    """the most frequent element along `axis`, the smallest of several, and where one is; the axis stays with size 1."""
    x = build.tensor(x)
    return build.several("mode", [x], {"axis": build.axis(axis, x)}, result_types=result_types)


def cum_reduce(x: Operand, axis: int, kind: str, *, result_type: Type | None = None, loc: object = None) -> Value:
    """running product (`prod`) or running log(sum(exp(x))) (`logsumexp`) along `axis`."""
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "kind": build.string(kind),
    }
    return build.single("cum_reduce", [x], attributes, result_type=result_type)


def cum_extreme(
    x: Operand, axis: int, minimum: bool = False, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """running maximum (or minimum) along `axis`, and where its last occurrence is; NaN wins."""
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "minimum": build.boolean(minimum),
    }
    return build.several("cum_extreme", [x], attributes, result_types=result_types)


def search_sorted(
    sequence: Operand,
    values: Operand,
    sorter: Operand | None = None,
    *,
    right: bool,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """where values would be inserted into sorted rows, before equal elements or (`right`) after them.

    `sequence` is one row for all values, or has one for each of their rows. `sorter` gives the order of its
    elements.
    """
    sequence = build.tensor(sequence)
    values = build.tensor(values)
    sorter = build.optional(sorter)
    attributes = {
        "right": build.boolean(right),
    }
    return build.single("search_sorted", [sequence, values, sorter], attributes, result_type=result_type)


def segment_reduce(
    x: Operand,
    offsets: Operand,
    axis: int,
    kind: str,
    initial: float,
    has_initial: bool,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """sum, mean, max, min or prod of pieces of dimension `axis` that lie between consecutive offsets.

    The offsets have the dimensions of x up to `axis`, the last of them one longer than the number of pieces.
    Without
    `has_initial`, a piece without elements has the neutral element, and NaN as mean.
    """
    x = build.tensor(x)
    offsets = build.tensor(offsets)
    attributes = {
        "axis": build.axis(axis, x),
        "kind": build.string(kind),
        "initial": build.real(initial),
        "has_initial": build.boolean(has_initial),
    }
    return build.single("segment_reduce", [x, offsets], attributes, result_type=result_type)


def unique(
    x: Operand, axis: int, consecutive: bool, *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """distinct elements or slices, which one each was, and how often each is; how many depends on the data.

    `axis` is the dimension whose slices are compared, -1 for single elements of a one-dimensional tensor. With
    `consecutive`, only neighbours are compared; else the result is sorted.
    """
    x = build.tensor(x)
    attributes = {
        "axis": build.integer(axis),
        "consecutive": build.boolean(consecutive),
    }
    return build.several("unique", [x], attributes, result_types=result_types)


def bincount(
    x: Operand, weights: Operand | None = None, *, minlength: int, result_type: Type | None = None, loc: object = None
) -> Value:
    """how often (or with which weight) each number from 0 to the largest occurs."""
    x = build.tensor(x)
    weights = build.optional(weights)
    return build.single("bincount", [x, weights], {"minlength": build.integer(minlength)}, result_type=result_type)


def repeat_index(repeats: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """each position as often as `repeats` says there."""
    repeats = build.tensor(repeats)
    return build.single("repeat_index", [repeats], {}, result_type=result_type)
