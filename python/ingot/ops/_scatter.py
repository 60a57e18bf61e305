"""Ops of the dialect: scatter.

Made by docs/ops_module.py from src/dialect/ScatterOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import DTypeLike, Type, Value


def scatter(
    x: Operand,
    index: Operand,
    source: Operand,
    axis: int,
    reduce: str = "none",
    include_self: bool = True,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """torch.scatter_reduce: result[index[i][j]][j] is combined with source[i][j] for axis 0.

    `reduce` is `none` (the last one written stays), `add`, `prod`, `mean`, `amax` or `amin`. Without
    `include_self` the
    elements of x that are written to do not take part. The source may be larger than the index.
    """
    x = build.tensor(x)
    index = build.tensor(index)
    source = build.tensor(source)
    attributes = {
        "axis": build.axis(axis, x),
        "reduce": build.string(reduce),
        "include_self": build.boolean(include_self),
    }
    return build.single("scatter", [x, index, source], attributes, result_type=result_type)


def index_put(
    x: Operand,
    source: Operand,
    indices: Sequence[Operand],
    axes: int | Sequence[int],
    reduce: str = "none",
    include_self: bool = True,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """x with `source` combined into x[..., i0, i1, ...]; the inverse of index.

    The indexed dimensions are `axes`, consecutive; the indices broadcast together. `source` has the sizes that
    index
    would give. `reduce` and `include_self` are those of scatter.
    """
    x = build.tensor(x)
    source = build.tensor(source)
    indices = build.tensors(indices)
    attributes = {
        "axes": build.axes(axes, x),
        "reduce": build.string(reduce),
        "include_self": build.boolean(include_self),
    }
    return build.single("index_put", [x, source, indices], attributes, result_type=result_type)


def nonzero(x: Operand, *, result_type: Type | None = None, loc: object = None) -> Value:
    """positions of the elements that are not zero, one row each; how many there are depends on the data."""
    x = build.tensor(x)
    return build.single("nonzero", [x], {}, result_type=result_type)


def nonzero_static(
    x: Operand, rows: Number | Sequence[Number], fill: int, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """the first positions of elements that are not zero; rows that are left hold `fill`."""
    x = build.tensor(x)
    dynamic: list[Value] = []
    rows_text = build.entries(rows, dynamic)
    attributes = {
        "rows": rows_text,
        "fill": build.integer(fill),
    }
    return build.single("nonzero_static", [x, dynamic], attributes, result_type=result_type)


def bitcast(x: Operand, dtype: DTypeLike, *, result_type: Type | None = None, loc: object = None) -> Value:
    """the same bytes as elements of another type; the last dimension grows or shrinks with their width."""
    x = build.tensor(x)
    return build.single("bitcast", [x], {}, dtype=dtype, result_type=result_type)
