"""Operators of packages that are not installed here, each with a plain reference; and shapes PyTorch does not know.

Importing this module registers them, so that programs with them can be exported.
"""

from __future__ import annotations

import torch
import torch.ao.quantization.fx._decomposed  # registers quantized_decomposed
from torch import Tensor

vision = torch.library.Library("torchvision", "FRAGMENT")
ao = torch.library.Library("torchao", "FRAGMENT")


def define(library: torch.library.Library, schema: str, run: object, fake: object) -> None:
    name = schema.partition("(")[0]
    if hasattr(getattr(torch.ops, library.ns), name):
        return
    library.define(schema)
    library.impl(name, run, "CPU")
    torch.library.register_fake(f"{library.ns}::{name}", fake, lib=library)


def bilinear(image: Tensor, y: float, x: float) -> Tensor:
    """`image` [C, H, W] between its pixels; zero outside."""
    height, width = image.shape[1:]
    top, left = int(y // 1), int(x // 1)
    total = image.new_zeros(image.shape[0])
    for row, part in ((top, 1 - (y - top)), (top + 1, y - top)):
        for column, share in ((left, 1 - (x - left)), (left + 1, x - left)):
            if 0 <= row < height and 0 <= column < width:
                total = total + image[:, row, column] * (part * share)
    return total


def roi_side(low: float, high: float, scale: float, parts: int, samples: int, aligned: bool) -> list[list[float]]:
    """The positions of the samples of each part."""
    shift = 0.5 if aligned else 0.0
    start, length = low * scale - shift, (high - low) * scale
    if not aligned:
        length = max(length, 1.0)
    step = length / parts
    count = samples if samples > 0 else -int(-step // 1)
    return [[start + part * step + (i + 0.5) * step / count for i in range(count)] for part in range(parts)]


def roi_align(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
              sampling_ratio: int, aligned: bool) -> Tensor:  # fmt: skip
    result = input.new_zeros(len(rois), input.shape[1], pooled_height, pooled_width)
    height, width = input.shape[2:]
    for k, (image, x0, y0, x1, y1) in enumerate(rois.tolist()):
        rows = roi_side(y0, y1, spatial_scale, pooled_height, sampling_ratio, aligned)
        columns = roi_side(x0, x1, spatial_scale, pooled_width, sampling_ratio, aligned)
        for i, ys in enumerate(rows):
            for j, xs in enumerate(columns):
                inside = [(y, x) for y in ys for x in xs if -1 <= y <= height and -1 <= x <= width]
                near = [(min(max(y, 0.0), height - 1.0), min(max(x, 0.0), width - 1.0)) for y, x in inside]
                total = sum((bilinear(input[int(image)], y, x) for y, x in near), input.new_zeros(input.shape[1]))
                result[k, :, i, j] = total / max(len(ys) * len(xs), 1)
    return result


def roi_align_fake(input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
                   sampling_ratio: int, aligned: bool) -> Tensor:  # fmt: skip
    return input.new_empty(rois.shape[0], input.shape[1], pooled_height, pooled_width)


define(
    vision,
    "roi_align(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt pooled_width, "
    "int sampling_ratio, bool aligned) -> Tensor",
    roi_align,
    roi_align_fake,
)


def deform_conv2d(input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor, stride_h: int,
                  stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int, groups: int,
                  offset_groups: int, use_mask: bool) -> Tensor:  # fmt: skip
    batch, channels = input.shape[:2]
    kernel_h, kernel_w = weight.shape[2:]
    height, width = offset.shape[2:]
    columns = input.new_zeros(batch, channels, kernel_h * kernel_w, height, width)
    per_group = channels // offset_groups
    for n in range(batch):
        for group in range(offset_groups):
            image = input[n, group * per_group : (group + 1) * per_group]
            for k in range(kernel_h * kernel_w):
                place = (group * kernel_h * kernel_w + k) * 2
                for i in range(height):
                    for j in range(width):
                        y = i * stride_h - pad_h + k // kernel_w * dilation_h + offset[n, place, i, j].item()
                        x = j * stride_w - pad_w + k % kernel_w * dilation_w + offset[n, place + 1, i, j].item()
                        value = bilinear(image, y, x)
                        if use_mask:
                            value = value * mask[n, place // 2, i, j]
                        columns[n, group * per_group : (group + 1) * per_group, k, i, j] = value
    flat = columns.reshape(batch, groups, channels // groups * kernel_h * kernel_w, height * width)
    matrix = weight.reshape(groups, weight.shape[0] // groups, -1)
    result = (matrix @ flat).reshape(batch, weight.shape[0], height, width)
    return result + bias.reshape(-1, 1, 1)


def deform_conv2d_fake(input: Tensor, weight: Tensor, offset: Tensor, *rest: object) -> Tensor:
    return input.new_empty(input.shape[0], weight.shape[0], offset.shape[2], offset.shape[3])


define(
    vision,
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor",
    deform_conv2d,
    deform_conv2d_fake,
)


def nms(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    areas = (dets[:, 2] - dets[:, 0]) * (dets[:, 3] - dets[:, 1])
    left = torch.argsort(scores, stable=True, descending=True).tolist()
    kept = []
    while left:
        best, *left = left
        kept.append(best)
        low = torch.maximum(dets[best, :2], dets[left, :2])
        sides = (torch.minimum(dets[best, 2:], dets[left, 2:]) - low).clamp(min=0)
        common = sides.prod(1)
        far = common / (areas[best] + areas[left] - common) <= iou_threshold
        left = [box for box, stays in zip(left, far.tolist(), strict=True) if stays]
    return torch.tensor(kept, dtype=torch.int64)


def nms_fake(dets: Tensor, scores: Tensor, iou_threshold: float) -> Tensor:
    return dets.new_empty(torch.library.get_ctx().new_dynamic_size(), dtype=torch.int64)


define(vision, "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor", nms, nms_fake)


def blocks(x: Tensor, block_size: list[int]) -> tuple[list[int], list[int], list[int]]:
    """Every dimension as its blocks and what is inside one; the same for scales; the dimensions inside."""
    counts = [size // block for size, block in zip(x.shape, block_size, strict=True)]
    shape = [number for pair in zip(counts, block_size, strict=True) for number in pair]
    scale = [number for count in counts for number in (count, 1)]
    return shape, scale, list(range(1, 2 * x.dim(), 2))


def quantize_affine(input: Tensor, block_size: list[int], scale: Tensor, zero_point: Tensor | None,
                    output_dtype: torch.dtype, quant_min: float | None = None, quant_max: float | None = None,
                    zero_point_domain: str = "INT") -> Tensor:  # fmt: skip
    shape, scale_shape, _ = blocks(input, block_size)
    low = torch.iinfo(output_dtype).min if quant_min is None else quant_min
    high = torch.iinfo(output_dtype).max if quant_max is None else quant_max
    steps = torch.round(input.reshape(shape) * (1.0 / scale.reshape(scale_shape)))
    if zero_point is not None:
        steps = steps + zero_point.reshape(scale_shape)
    return torch.clamp(steps, low, high).reshape(input.shape).to(output_dtype)


def dequantize_affine(input: Tensor, block_size: list[int], scale: Tensor, zero_point: Tensor | None,
                      input_dtype: torch.dtype, quant_min: float | None = None, quant_max: float | None = None,
                      zero_point_domain: str = "INT",
                      output_dtype: torch.dtype = torch.float32) -> Tensor:  # fmt: skip
    shape, scale_shape, _ = blocks(input, block_size)
    steps = input.reshape(shape).to(torch.int32)
    if zero_point is not None:
        steps = steps - zero_point.reshape(scale_shape).to(torch.int32)
    return (steps.to(output_dtype) * scale.reshape(scale_shape)).reshape(input.shape).to(output_dtype)


def choose_qparams_affine(input: Tensor, mapping_type: str, block_size: list[int], target_dtype: torch.dtype,
                          quant_min: float | None = None, quant_max: float | None = None,
                          eps: float | None = None, scale_dtype: torch.dtype | None = None,
                          zero_point_dtype: torch.dtype | None = None,
                          keepdim: bool = False) -> tuple[Tensor, Tensor]:  # fmt: skip
    shape, _, inside = blocks(input, block_size)
    low = torch.iinfo(target_dtype).min if quant_min is None else quant_min
    high = torch.iinfo(target_dtype).max if quant_max is None else quant_max
    least = input.reshape(shape).amin(inside, keepdim=True).clamp(max=0)
    most = input.reshape(shape).amax(inside, keepdim=True).clamp(min=0)
    smallest = torch.finfo(torch.float32).eps if eps is None else eps
    if mapping_type == "SYMMETRIC":
        scale = (torch.maximum(-least, most) / ((high - low) / 2)).clamp(min=smallest)
        zero_point = torch.full_like(scale, (high + low + 1) // 2)
    else:
        scale = ((most - least) / (high - low)).clamp(min=smallest)
        zero_point = torch.clamp(low - torch.round(least / scale), low, high)
    counts = [size // block for size, block in zip(input.shape, block_size, strict=True)]
    kept = [count for count, block in zip(counts, block_size, strict=True) if keepdim or count != 1 or block == 1]
    scale, zero_point = scale.reshape(kept), zero_point.reshape(kept)
    return scale.to(scale_dtype or input.dtype), zero_point.to(zero_point_dtype or torch.int32)


define(
    ao,
    "quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype, "
    'Scalar? quant_min=None, Scalar? quant_max=None, str zero_point_domain="INT") -> Tensor',
    quantize_affine,
    quantize_affine,
)
define(
    ao,
    "dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType input_dtype, "
    'Scalar? quant_min=None, Scalar? quant_max=None, str zero_point_domain="INT", ScalarType output_dtype=6) '
    "-> Tensor",
    dequantize_affine,
    dequantize_affine,
)
define(
    ao,
    "choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, "
    "Scalar? quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, "
    "ScalarType? zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)",
    choose_qparams_affine,
    choose_qparams_affine,
)


@torch.library.register_fake("aten::_ctc_loss")
def ctc_loss_fake(log_probs: Tensor, targets: Tensor, input_lengths: list[int], target_lengths: list[int],
                  blank: int = 0, zero_infinity: bool = False) -> tuple[Tensor, Tensor]:  # fmt: skip
    batch = log_probs.shape[1] if log_probs.dim() == 3 else 1
    longest = max(target_lengths, default=0)
    return log_probs.new_empty(batch), log_probs.new_empty(batch, log_probs.shape[0], 2 * longest + 1)


@torch.library.register_fake("aten::_ctc_loss.Tensor")
def ctc_loss_tensor_fake(log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor,
                         blank: int = 0, zero_infinity: bool = False) -> tuple[Tensor, Tensor]:  # fmt: skip
    batch = log_probs.shape[1] if log_probs.dim() == 3 else 1
    return log_probs.new_empty(batch), log_probs.new_empty(batch, log_probs.shape[0], 2 * targets.shape[-1] + 1)
