"""Ops of the dialect: window.

Made by docs/ops_module.py from src/dialect/WindowOps.td. Do not edit; run `make docs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from ingot import _build as build
from ingot._build import Number, Operand
from ingot.ir import Type, Value


def adaptive_max_pool(
    x: Operand, output: Sequence[Number], *, result_types: Sequence[Type] | None = None, loc: object = None
) -> tuple[Value, ...]:
    """largest element, and its flat position, of the windows that divide the spatial dimensions into `output`
    parts.

    The windows are those of `adaptive_avg_pool`; kDynamic entries of `output` take the next operand. NaN wins.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    output_text = build.entries(output, dynamic)
    return build.several("adaptive_max_pool", [x, dynamic], {"output": output_text}, result_types=result_types)


def fractional_max_pool(
    x: Operand,
    samples: Operand,
    kernel: Sequence[int],
    output: Sequence[int],
    *,
    result_types: Sequence[Type] | None = None,
    loc: object = None,
) -> tuple[Value, ...]:
    """max pooling with windows of size `kernel` whose places come from random samples in [0, 1).

    `samples` is [N, C, D] with a number for every one of the D spatial dimensions, the last dimension's first.
    """
    x = build.tensor(x)
    samples = build.tensor(samples)
    attributes = {
        "kernel": build.integers(kernel),
        "output": build.integers(output),
    }
    return build.several("fractional_max_pool", [x, samples], attributes, result_types=result_types)


def plane_scatter(
    values: Operand,
    indices: Operand,
    size: Number | Sequence[Number],
    accumulate: bool,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """zeros [P, size] with values [P, K] written, or added, at positions of their plane: the inverse of pooling.

    Of several writes to one place the last counts. `size` is kDynamic where it is the operand. Positions
    outside are run-time errors.
    """
    values = build.tensor(values)
    indices = build.tensor(indices)
    dynamic: list[Value] = []
    size_text = build.entry(size, dynamic)
    attributes = {
        "size": size_text,
        "accumulate": build.boolean(accumulate),
    }
    return build.single("plane_scatter", [values, indices, dynamic], attributes, result_type=result_type)


def fold(
    x: Operand,
    output: Sequence[Number],
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """torch.col2im: patches [N, C * kernel, places] added up to images [N, C, H, W].

    kDynamic entries of `output` take the next operand.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    output_text = build.entries(output, dynamic)
    attributes = {
        "output": output_text,
        "kernel": build.integers(kernel),
        "strides": build.integers(strides),
        "padding": build.integers(padding),
        "dilations": build.integers(dilations),
    }
    return build.single("fold", [x, dynamic], attributes, result_type=result_type)


def grid_sample(
    x: Operand,
    grid: Operand,
    mode: str,
    padding: str,
    align_corners: bool = False,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """x at the places of a grid of coordinates in [-1, 1], as torch.grid_sampler.

    x is [N, C, H, W] or [N, C, D, H, W]; the grid [N, H', W', 2] or [N, D', H', W', 3] lists the last
    dimension's coordinate first.
    `mode` is bilinear, nearest or bicubic; `padding` zeros, border or reflection.
    """
    x = build.tensor(x)
    grid = build.tensor(grid)
    attributes = {
        "mode": build.string(mode),
        "padding": build.string(padding),
        "align_corners": build.boolean(align_corners),
    }
    return build.single("grid_sample", [x, grid], attributes, result_type=result_type)


def resize_filtered(
    x: Operand,
    mode: str,
    antialias: bool,
    align_corners: bool = False,
    scales: float | Sequence[float] | None = None,
    *,
    sizes: Sequence[Number],
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """interpolation of [N, C, H, W], one dimension after the other, with a filter that widens when the image
    shrinks.

    Without `antialias` the filter keeps its width: so PyTorch resizes images of bytes. `mode` is linear or
    cubic, `scales` are the factors
    the user gave, 0 where sizes decide.
    """
    x = build.tensor(x)
    dynamic: list[Value] = []
    sizes_text = build.entries(sizes, dynamic)
    attributes = {
        "mode": build.string(mode),
        "antialias": build.boolean(antialias),
        "align_corners": build.boolean(align_corners),
        "scales": build.reals([0.0] * (x.type.rank - 2) if scales is None else list(scales)),
        "sizes": sizes_text,
    }
    return build.single("resize_filtered", [x, dynamic], attributes, result_type=result_type)


def roi_align(
    x: Operand,
    boxes: Operand,
    scale: float,
    output: Sequence[int],
    samples: int,
    aligned: bool,
    *,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """mean of bilinear samples in each of `output` parts of boxes, as torchvision.ops.roi_align.

    `boxes` is [K, 5]: the image's number, then the corners (x, y), (x, y). `samples` 0 takes as many samples as
    a part is large.
    """
    x = build.tensor(x)
    boxes = build.tensor(boxes)
    attributes = {
        "scale": build.real(scale),
        "output": build.integers(output),
        "samples": build.integer(samples),
        "aligned": build.boolean(aligned),
    }
    return build.single("roi_align", [x, boxes], attributes, result_type=result_type)


def deform_columns(
    x: Operand,
    offset: Operand,
    mask: Operand | None = None,
    *,
    kernel: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    groups: int = 1,
    result_type: Type | None = None,
    loc: object = None,
) -> Value:
    """the patches [N, C * kernel, places] of a convolution whose window positions are shifted by offsets, as
    torchvision.ops.deform_conv2d.

    `offset` is [N, 2 * groups * kernel, H', W'], `mask` [N, groups * kernel, H', W'].
    """
    x = build.tensor(x)
    offset = build.tensor(offset)
    mask = build.optional(mask)
    attributes = {
        "kernel": build.integers(kernel),
        "strides": build.integers(strides),
        "padding": build.integers(padding),
        "dilations": build.integers(dilations),
        "groups": build.integer(groups),
    }
    return build.single("deform_columns", [x, offset, mask], attributes, result_type=result_type)


def nms(
    boxes: Operand, scores: Operand, threshold: float, *, result_type: Type | None = None, loc: object = None
) -> Value:
    """numbers of the boxes that stay when those that overlap a better one are left out, best first.

    `boxes` is [N, 4] with corners (x, y), (x, y). The number of results depends on the data.
    """
    boxes = build.tensor(boxes)
    scores = build.tensor(scores)
    return build.single("nms", [boxes, scores], {"threshold": build.real(threshold)}, result_type=result_type)
