"""Whether results are eager's: torch.testing.assert_close with its defaults for the dtype, NaN equal to NaN.

The exceptions are in exceptions.py.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from conformance.exceptions import Kind, find


def without_gauge(name: str, results: list[Any]) -> list[Any]:
    row = find(Kind.GAUGE, name)
    return row.gauge(results) if row and row.gauge else results


def mismatch(name: str, actual: list[Any], expected: list[Any]) -> str:
    """What is wrong; empty when nothing is."""
    if len(actual) != len(expected):
        return f"{len(actual)} results instead of {len(expected)}"
    if find(Kind.GAUGE, name):
        for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
            if text := difference(left, right, shape_only=True):
                return f"result {index}: {text}"
        actual, expected = without_gauge(name, actual), without_gauge(name, expected)
    is_undefined = find(Kind.UNDEFINED, name) is not None
    for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
        if text := difference(left, right, is_undefined):
            return f"result {index}: {text}"
    return ""


def difference(actual: Any, expected: Any, shape_only: bool) -> str:
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
        torch.testing.assert_close(actual, expected.detach(), equal_nan=True)
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
