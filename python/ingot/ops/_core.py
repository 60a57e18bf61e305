"""Ops of the dialect: core.

Made by docs/ops_module.py from src/dialect/Ops.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import DTypeLike, Type, Value


def iota(
    start: Number,
    step: Number,
    count: Number,
    dtype: DTypeLike | None = None,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """start, start + step, … along the only dimension.

    The scalars are computed in their own type and then converted.
    """
    size = count
    start = build.number(start)
    step = build.number(step)
    count = build.number(count)
    result_type = result_type or build.iota_type(size, dtype, start)
    return build.single("iota", [start, step, count], {}, result_type=result_type)


def dim(x: Operand, axis: int, *, result_type: Type | None = None, loc: object = None) -> Value:
    """size of dimension `axis`."""
    x = build.tensor(x)
    return build.single("dim", [x], {"axis": build.axis(axis, x)}, result_type=result_type)


def from_scalar(x: Number, *, result_type: Type | None = None, loc: object = None) -> Value:
    """a zero-dimensional tensor of a symbolic number."""
    x = build.number(x)
    return build.single("from_scalar", [x], {}, result_type=result_type)


def reshape(x: Operand, sizes: Sequence[Number], *, result_type: Type | None = None, loc: object = None) -> Value:
    """the same elements in row-major order with other sizes."""
    x = build.tensor(x)
    dynamic: list[Value] = []
    sizes_text = build.entries(build.reshaped(sizes, x), dynamic)
    return build.single("reshape", [x, dynamic], {"sizes": sizes_text}, result_type=result_type)


def expand(x: Operand, sizes: Sequence[Number], *, result_type: Type | None = None, loc: object = None) -> Value:
    """repeats dimensions of size 1, and adds leading ones."""
    x = build.tensor(x)
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    return build.single("expand", [x, dynamic], {"sizes": sizes_text}, result_type=result_type)


def permute(x: Operand, dims: int | Sequence[int], *, result_type: Type | None = None, loc: object = None) -> Value:
    """dimension i of the result is dimension dims[i] of x."""
    x = build.tensor(x)
    return build.single("permute", [x], {"dims": build.axes(dims, x)}, result_type=result_type)


def slice(
    x: Operand,
    axis: int,
    bounds: Sequence[Number | None],
    step: int = 1,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """elements start, start + step, … below end, of one dimension.

    `bounds` holds start and end, already clamped to the dimension's size; kDynamic takes the next operand.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    bounds_text = build.bounds(bounds, x, axis, dynamic)
    attributes = {
        "axis": build.axis(axis, x),
        "bounds": bounds_text,
        "step": build.integer(step),
    }
    return build.single("slice", [x, dynamic], attributes, result_type=result_type)


def insert_slice(
    x: Operand,
    source: Operand,
    axis: int,
    bounds: Sequence[Number | None],
    step: int = 1,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """x with `source` written over the slice; the inverse of slice."""
    x = build.tensor(x)
    source = build.tensor(source)
    dynamic: list[Value] = []
    bounds_text = build.bounds(bounds, x, axis, dynamic)
    attributes = {
        "axis": build.axis(axis, x),
        "bounds": bounds_text,
        "step": build.integer(step),
    }
    return build.single("insert_slice", [x, source, dynamic], attributes, result_type=result_type)


def as_strided(
    x: Operand,
    sizes: Sequence[int],
    strides: Sequence[int],
    offset: int,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """a view of x's row-major memory with given sizes, strides and offset."""
    x = build.tensor(x)
    attributes = {
        "sizes": build.integers(sizes),
        "strides": build.integers(strides),
        "offset": build.integer(offset),
    }
    return build.single("as_strided", [x], attributes, result_type=result_type)


def concat(values: Sequence[Operand], axis: int, *, result_type: Type | None = None, loc: object = None) -> Value:
    """tensors one after another along `axis`."""
    values = build.tensors(values)
    return build.single("concat", [values], {"axis": build.axis(axis, values[0])}, result_type=result_type)


def pad(
    x: Operand,
    low: Sequence[int],
    high: Sequence[int],
    mode: str = "constant",
    value: float = 0.0,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """adds (or, where negative, removes) elements at the ends of dimensions.

    `low` and `high` have one entry a dimension. `value` is used by the constant mode.
    """
    x = build.tensor(x)
    attributes = {
        "low": build.integers(low),
        "high": build.integers(high),
        "mode": build.choice(mode, ("constant", "reflect", "replicate", "circular"), "mode"),
        "value": build.real(value),
    }
    return build.single("pad", [x], attributes, result_type=result_type)


def flip(x: Operand, dims: int | Sequence[int], *, result_type: Type | None = None, loc: object = None) -> Value:
    """reverses dimensions."""
    x = build.tensor(x)
    return build.single("flip", [x], {"dims": build.axes(dims, x)}, result_type=result_type)


def index_select(
    x: Operand, index: Operand, axis: int, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """slices of dimension `axis` at given positions; `index` may have any rank and takes the axis' place."""
    x = build.tensor(x)
    index = build.tensor(index)
    return build.single("index_select", [x, index], {"axis": build.axis(axis, x)}, result_type=result_type)


def gather(x: Operand, index: Operand, axis: int, *, result_type: Type | None = None, loc: object = None) -> Value:
    """torch.gather: result[i][j] = x[index[i][j]][j] for axis 0."""
    x = build.tensor(x)
    index = build.tensor(index)
    return build.single("gather", [x, index], {"axis": build.axis(axis, x)}, result_type=result_type)


def index(
    x: Operand,
    indices: Sequence[Operand],
    axes: int | Sequence[int],
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """x[..., i0, i1, ...]: the indexed dimensions are `axes`, consecutive; the indices broadcast together."""
    x = build.tensor(x)
    indices = build.tensors(indices)
    return build.single("index", [x, indices], {"axes": build.axes(axes, x)}, result_type=result_type)


def reduce(
    x: Operand, kind: str, dims: int | Sequence[int], *, result_type: Type | None = None, loc: object = None
) -> Value:
    """sum, product, maximum, minimum, any or all over dimensions, which stay with size 1."""
    x = build.tensor(x)
    attributes = {
        "kind": build.choice(kind, ("sum", "prod", "max", "min", "any", "all"), "kind"),
        "dims": build.axes(dims, x),
    }
    return build.single("reduce", [x], attributes, result_type=result_type)


def arg_reduce(
    x: Operand, axis: int, minimum: bool = False, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """position of the first maximum (or minimum) along `axis`, which stays with size 1; NaN counts as extreme."""
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "minimum": build.boolean(minimum),
    }
    return build.single("arg_reduce", [x], attributes, result_type=result_type)


def cumsum(x: Operand, axis: int, *, result_type: Type | None = None, loc: object = None) -> Value:
    """running sum along `axis`."""
    x = build.tensor(x)
    return build.single("cumsum", [x], {"axis": build.axis(axis, x)}, result_type=result_type)


def softmax(x: Operand, axis: int, log: bool = False, *, result_type: Type | None = None, loc: object = None) -> Value:
    """exp(x) / sum(exp(x)) along `axis`, or its logarithm."""
    x = build.tensor(x)
    attributes = {
        "axis": build.axis(axis, x),
        "log": build.boolean(log),
    }
    return build.single("softmax", [x], attributes, result_type=result_type)


def layer_norm(
    x: Operand,
    weight: Operand | None = None,
    bias: Operand | None = None,
    *,
    rank: int,
    eps: float = 1e-5,
    rms: bool = False,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """(x - mean) / sqrt(var + eps) * weight + bias over the last `rank` dimensions.

    With `rms`, the mean is not subtracted: x / sqrt(mean(x²) + eps).
    """
    x = build.tensor(x)
    weight = build.optional(weight)
    bias = build.optional(bias)
    attributes = {
        "rank": build.integer(rank),
        "eps": build.real(eps),
        "rms": build.boolean(rms),
    }
    return build.single("layer_norm", [x, weight, bias], attributes, grouped=True, result_type=result_type)


def group_norm(
    x: Operand,
    weight: Operand | None = None,
    bias: Operand | None = None,
    *,
    groups: int,
    eps: float = 1e-5,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """layer norm over groups of channels (dimension 1) and all later dimensions; weight and bias per channel."""
    x = build.tensor(x)
    weight = build.optional(weight)
    bias = build.optional(bias)
    attributes = {
        "groups": build.integer(groups),
        "eps": build.real(eps),
    }
    return build.single("group_norm", [x, weight, bias], attributes, grouped=True, result_type=result_type)


def matmul(
    a: Operand,
    b: Operand,
    bias: Operand | None = None,
    residual: Operand | None = None,
    activation: str = "none",
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """batched matrix product [..., M, K] x [..., K, N], then bias and activation.

    Both have rank 2 or more; leading dimensions broadcast. `bias` broadcasts to the result; `residual` has the
    result's shape and is added after the activation.
    """
    a = build.tensor(a)
    b = build.tensor(b)
    bias = build.optional(bias)
    residual = build.optional(residual)
    attributes = {
        "activation": build.choice(
            activation,
            ("none", "relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"),
            "activation",
        ),
    }
    return build.single("matmul", [a, b, bias, residual], attributes, grouped=True, result_type=result_type)


def gather_matmul(
    a: Operand, table: Operand, indices: Operand, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """batched matrix product with the matrices of a table that indices name: matmul(a, table[indices]).

    a is [..., M, K] and the table [R, K, N], both of type f32; the indices' shape broadcasts against the
    leading dimensions of a. No
    matrix is copied, so experts chosen for a token cost what reading them costs.
    """
    a = build.tensor(a)
    table = build.tensor(table)
    indices = build.tensor(indices)
    return build.single("gather_matmul", [a, table, indices], {}, result_type=result_type)


def conv(
    x: Operand,
    weight: Operand,
    bias: Operand | None = None,
    residual: Operand | None = None,
    strides: int | Sequence[int] | None = None,
    pad_low: int | Sequence[int] | None = None,
    pad_high: int | Sequence[int] | None = None,
    dilations: int | Sequence[int] | None = None,
    output_padding: int | Sequence[int] | None = None,
    groups: int = 1,
    transposed: bool = False,
    activation: str = "none",
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """convolution over 1 to 3 spatial dimensions, then bias and activation.

    x is [N, C, ...]; weight [O, C/groups, ...], or [C, O/groups, ...] when `transposed`. `pad_low` and
    `pad_high` are zeros
    before and after each spatial dimension. `residual` has the result's shape and is added before the
    activation.
    """
    x = build.tensor(x)
    weight = build.tensor(weight)
    bias = build.optional(bias)
    residual = build.optional(residual)
    attributes = {
        "strides": build.spatial(strides, weight.type.rank - 2, 1),
        "pad_low": build.spatial(pad_low, weight.type.rank - 2, 0),
        "pad_high": build.spatial(pad_high, weight.type.rank - 2, 0 if pad_low is None else pad_low),
        "dilations": build.spatial(dilations, weight.type.rank - 2, 1),
        "output_padding": build.spatial(output_padding, weight.type.rank - 2, 0),
        "groups": build.integer(groups),
        "transposed": build.boolean(transposed),
        "activation": build.choice(
            activation,
            ("none", "relu", "relu6", "gelu", "gelu_tanh", "silu", "sigmoid", "tanh", "hard_swish", "hard_sigmoid"),
            "activation",
        ),
    }
    return build.single("conv", [x, weight, bias, residual], attributes, grouped=True, result_type=result_type)


def attention(
    q: Operand,
    k: Operand,
    v: Operand,
    mask: Operand | None = None,
    *,
    scale: float,
    causal: bool = False,
    nan_rows: bool = False,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """softmax(q kᵀ * scale + mask) v.

    q is [..., H, L, E], k [..., G, S, E], v [..., G, S, F]; H is a multiple of G (grouped heads). The mask
    broadcasts to
    [..., H, L, S]; a boolean one keeps where true. `causal` keeps s <= l. A row with nothing kept gives zeros,
    as in PyTorch; with
    `nan_rows` NaN, as softmax does.
    """
    q = build.tensor(q)
    k = build.tensor(k)
    v = build.tensor(v)
    mask = build.optional(mask)
    attributes = {
        "scale": build.real(scale),
        "causal": build.boolean(causal),
        "nan_rows": build.boolean(nan_rows),
    }
    return build.single("attention", [q, k, v, mask], attributes, result_type=result_type)


def max_pool(
    x: Operand,
    kernel: Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | None = None,
    dilations: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """largest element of each window, and its flat position in the spatial dimensions; NaN wins."""
    x = build.tensor(x)
    kernel = list(kernel)
    attributes = {
        "kernel": build.integers(kernel),
        "strides": build.spatial(strides, len(kernel), kernel),
        "padding": build.spatial(padding, len(kernel), 0),
        "dilations": build.spatial(dilations, len(kernel), 1),
        "ceil_mode": build.boolean(ceil_mode),
    }
    return build.several("max_pool", [x], attributes, result_types=result_types)


def avg_pool(
    x: Operand,
    kernel: Sequence[int],
    strides: int | Sequence[int] | None = None,
    padding: int | Sequence[int] | None = None,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor: int = 0,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """mean of each window; `divisor` 0 means the window's size."""
    x = build.tensor(x)
    kernel = list(kernel)
    attributes = {
        "kernel": build.integers(kernel),
        "strides": build.spatial(strides, len(kernel), kernel),
        "padding": build.spatial(padding, len(kernel), 0),
        "ceil_mode": build.boolean(ceil_mode),
        "count_include_pad": build.boolean(count_include_pad),
        "divisor": build.integer(divisor),
    }
    return build.single("avg_pool", [x], attributes, result_type=result_type)


def adaptive_avg_pool(
    x: Operand, output: Sequence[int], *, result_type: Type | None = None, loc: object = None
) -> Value:
    """mean over windows that divide the spatial dimensions into `output` parts, as PyTorch divides them."""
    x = build.tensor(x)
    return build.single("adaptive_avg_pool", [x], {"output": build.integers(output)}, result_type=result_type)


def resize(
    x: Operand,
    mode: str,
    align_corners: bool = False,
    scales: float | Sequence[float] | None = None,
    *,
    sizes: Sequence[Number],
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """interpolation of the spatial dimensions (all but the first two) to the result's sizes.

    `scales` are the factors the user gave, 0 where sizes decide, as in PyTorch.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    attributes = {
        "mode": build.choice(mode, ("nearest", "nearest_exact", "linear", "cubic"), "mode"),
        "align_corners": build.boolean(align_corners),
        "scales": build.reals([0.0] * (x.type.rank - 2) if scales is None else list(scales)),
        "sizes": sizes_text,
    }
    return build.single("resize", [x, dynamic], attributes, result_type=result_type)
