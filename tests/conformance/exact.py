"""Results that differ from eager's because eager itself is rounded: they pass when they are as near to the exact ones.

Sums in another order, and 16-bit types rounded at other steps, differ by more than assert_close allows although neither
is wrong. The sample is then computed in float64, and the native result may be at most as far from it as twice eager's.
Where eager overflows or has NaN although the exact result is finite, the native one must be the exact one, rounded.
"""

from __future__ import annotations

import os
from typing import Any

import torch
from conformance.cases import Sample
from conformance.compare import difference
from conformance.exceptions import Kind, find
from torch.utils import _pytree as pytree

# Set by tests that must pass on every CPU: eager's kernels, and with them its last bits, depend on it.
ANY_CPU = bool(os.environ.get("INGOT_CONFORMANCE_ANY_CPU"))

WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}
# Operators that take integers as numbers, not as indices, compute with float32 by default.
WIDE_NUMBERS = WIDE | {dtype: torch.float64 for dtype in (torch.bool, torch.uint8, torch.int32, torch.int64)}


def widened(value: Any, wide: dict[torch.dtype, torch.dtype]) -> Any:
    return value.to(wide[value.dtype]) if isinstance(value, torch.Tensor) and value.dtype in wide else value


def exact_results(module: Sample, wide: dict[torch.dtype, torch.dtype]) -> list[Any]:
    filled = list(module.leaves)
    for place, value in zip(module.places, module.fresh_inputs(), strict=True):
        filled[place] = value
    leaves = [widened(leaf, wide) for leaf in filled]
    args, kwargs = pytree.tree_unflatten(leaves, module.spec)
    torch.manual_seed(0)
    return [leaf for leaf in pytree.tree_leaves(module.call(*args, **kwargs)) if leaf is not None]


def error(value: torch.Tensor, exact: torch.Tensor) -> float:
    """The largest distance; infinite where one is finite and the other is not."""
    finite = torch.isfinite(exact) & torch.isfinite(value)
    if not torch.equal(torch.isfinite(exact), torch.isfinite(value)):
        return float("inf")
    return (value.to(exact.dtype) - exact)[finite].abs().max().item() if finite.any() else 0.0


def is_as_exact(name: str, module: Sample, actual: list[Any], expected: list[Any]) -> bool:
    """Only for results of the right number, dtypes and shapes, all of them tensors."""
    if not ANY_CPU and not find(Kind.ROUNDING, name):
        return False
    return any(is_near_all(module, wide, actual, expected) for wide in (WIDE, WIDE_NUMBERS))


def is_near_all(module: Sample, wide: dict[torch.dtype, torch.dtype], actual: list[Any], expected: list[Any]) -> bool:
    try:
        exact = exact_results(module, wide)
    except Exception:  # not defined in float64
        return False
    if not len(actual) == len(expected) == len(exact):
        return False
    for ours, theirs, right in zip(actual, expected, exact, strict=True):
        if not all(isinstance(value, torch.Tensor) for value in (ours, theirs, right)):
            return False
        if ours.dtype != theirs.dtype or not ours.shape == theirs.shape == right.shape:
            return False
        if theirs.dtype not in WIDE:
            if not torch.equal(ours, theirs):
                return False
        elif right.dtype != WIDE[theirs.dtype] or not is_near(ours, theirs, right):
            return False
    return True


def is_near(ours: torch.Tensor, theirs: torch.Tensor, exact: torch.Tensor) -> bool:
    limit = error(theirs, exact)
    if limit == float("inf"):
        return not difference(ours, exact.to(ours.dtype), shape_only=False)
    return error(ours, exact) <= 2 * limit
