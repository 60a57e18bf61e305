"""Whether results are eager's: torch.testing.assert_close with its defaults for the dtype, NaN equal to NaN."""

from __future__ import annotations

import math
import re
from typing import Any

import torch

# Operators whose values PyTorch does not define: only dtype and shape are compared. Each with its reason.
UNDEFINED_VALUES = {
    r"empty|empty_like|empty_strided|empty_permuted|new_empty|new_empty_strided": "memory without a defined content",
}

# Operators whose complex results PyTorch computes with errors of the largest value's rounding: the absolute tolerance
# is that many times the largest value. Each with its reason.
ROUNDED_BY_LARGEST = {
    r"nn_functional_conv_transpose[123]d|nn_functional_conv[123]d": (
        1e-6,
        "PyTorch makes a complex convolution of three real ones, whose sums cancel",
    ),
}


def absolute_tolerance(name: str, expected: torch.Tensor) -> dict[str, float]:
    """Arguments of assert_close in place of its defaults; none where they hold."""
    if not expected.is_complex() or not expected.numel():
        return {}
    for pattern, (factor, _) in ROUNDED_BY_LARGEST.items():
        if re.fullmatch(pattern, name):
            return {"rtol": 1.3e-6, "atol": max(1e-5, factor * expected.abs().max().item())}
    return {}


def undefined(name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in UNDEFINED_VALUES)


def mismatch(name: str, actual: list[Any], expected: list[Any]) -> str:
    """What is wrong; empty when nothing is."""
    if len(actual) != len(expected):
        return f"{len(actual)} results instead of {len(expected)}"
    for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
        if text := difference(left, right, undefined(name), name):
            return f"result {index}: {text}"
    return ""


def difference(actual: Any, expected: Any, shape_only: bool, name: str = "") -> str:
    if not isinstance(expected, torch.Tensor):
        return plain_difference(actual, expected)
    if not isinstance(actual, torch.Tensor):
        return f"a {type(actual).__name__} instead of a tensor"
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype} instead of {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {list(actual.shape)} instead of {list(expected.shape)}"
    if shape_only:
        return ""
    try:
        torch.testing.assert_close(actual, expected.detach(), equal_nan=True, **absolute_tolerance(name, expected))
    except AssertionError as error:
        return str(error)
    return ""


def plain_difference(actual: Any, expected: Any) -> str:
    if isinstance(actual, torch.Tensor) and actual.numel() == 1:
        actual = actual.item()
    if isinstance(expected, (float, complex)):
        left, right = complex(actual), complex(expected)
        same = left == right or abs(left - right) <= 1.3e-6 * abs(right) + 1e-5
        if same or (math.isnan(abs(left)) and math.isnan(abs(right))):
            return ""
    return "" if actual == expected else f"{actual!r} instead of {expected!r}"
