"""Lines whose results in eager follow from how its kernels are written: they are left out of cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import torch
from property.case import read_names

Operands = Sequence[torch.Tensor]


def is_any(operands: Operands) -> bool:
    return operands[0].numel() > 0


def is_nothing(operands: Operands) -> bool:
    return not is_any(operands)


def is_any_infinite(operands: Operands) -> bool:
    return any(bool(value.isinf().any()) for value in operands)


def has_other_channels(operands: Operands) -> bool:
    x, statistics = operands[:2]
    return x.numel() == 0 and x.shape[1] != statistics.numel()


def are_no_integers(operands: Operands) -> bool:
    return operands[0].numel() == 0 and not operands[0].is_floating_point()


def is_any_nan(operands: Operands) -> bool:
    return any(bool(value.isnan().any()) for value in operands)


def is_any_infinite_or_nan(operands: Operands) -> bool:
    return is_any_infinite(operands) or is_any_nan(operands)


def has_a_mask_of_nothing(operands: Operands) -> bool:
    if len(operands) < 4 or operands[0].numel() > 0:
        return False
    query, key, _, mask = operands[:4]
    try:
        torch.broadcast_shapes(mask.shape, (*query.shape[:-1], key.shape[-2]))
    except RuntimeError:
        return True
    return False


def are_remainders_lost(operands: Operands) -> bool:
    """Whether a difference in the last bit of a dividend is one of the remainder's size."""
    x = operands[0]
    if x.dtype not in (torch.float32, torch.float64) or x.numel() == 0:
        return False
    return bool(x.abs().nan_to_num(0.0, 0.0).max() * torch.finfo(x.dtype).eps > 0.01)


def are_not_round(operands: Operands) -> bool:
    """Numbers such as 0.1, which somebody has computed: two that should be equal may differ in the last bit."""
    x = torch.view_as_real(operands[0].resolve_conj()) if operands[0].is_complex() else operands[0]
    x = x.nan_to_num(0.0, 0.0, 0.0) * 4 if x.is_floating_point() else torch.zeros(0)
    return bool((x != x.round()).any())


def do_squares_overflow(operands: Operands) -> bool:
    """Whether the sum of the squares leaves the range of the type in which it is computed."""
    for value in operands:
        if value.numel() and (value.is_floating_point() or value.is_complex()):
            squares = value.abs().to(torch.float64).nan_to_num(0.0, 0.0).square().sum()
            if squares > torch.finfo(torch.promote_types(value.dtype, torch.float32)).max / 4:
                return True
    return False


def do_products_overflow(operands: Operands) -> bool:
    """Whether sums of products of two matrices may leave the range of their type."""
    left, right = operands[0], operands[:2][-1]  # the same one where a matrix is multiplied by itself
    if not all(value.is_floating_point() and value.numel() for value in (left, right)):
        return False
    largest = [value.abs().to(torch.float64).nan_to_num(0.0, 0.0).max() for value in (left, right)]
    return bool(largest[0] * largest[1] * left.shape[-1] > torch.finfo(left.dtype).max / 64)


def are_subnormal(operands: Operands) -> bool:
    """Whether there are numbers that products give as 0 here."""
    return any(
        bool(((value != 0) & (value.abs() < torch.finfo(value.dtype).tiny)).any())
        for value in operands
        if value.dtype == torch.float32
    )


def are_on_a_branch_cut(operands: Operands) -> bool:
    """Whether there are complex numbers with an imaginary part of 0: roots depend on the sign of that zero."""
    return any(bool((value.imag == 0).any()) for value in operands if value.is_complex())


def are_complex_and_not_round(operands: Operands) -> bool:
    return any(value.is_complex() for value in operands) and any(are_not_round([value]) for value in operands)


RULES: tuple[tuple[str, Callable[[Operands], bool], str], ...] = (
    (r"F\.gelu", is_any_infinite, "what gelu of infinities is depends on the library that eager uses"),
    (r"F\.batch_norm", has_other_channels, "eager does not check the statistics of what it need not compute"),
    (
        r"\b(all|any|logical_\w+|nonzero|count_nonzero|sign|sgn|bool)\(|argwhere\(|b1\)| [<>=!]=? ",
        are_subnormal,
        "products give 0 for subnormal numbers",
    ),
    (
        r"\*\* 0\.|sqrt",
        are_on_a_branch_cut,
        "eager's negation of complex numbers gives zeros another sign in whole registers than one by one",
    ),
    (r"pixel_unshuffle", is_nothing, "eager keeps the sizes of what has no elements, against its own formula"),
    (r"median\(", are_no_integers, "the median of nothing is NaN, which as an integer is another on every CPU"),
    (r"unique\(", are_not_round, "which computed numbers are equal follows from how they are rounded"),
    (
        r"\b(eq|ne)\(| [!=]= ",
        are_complex_and_not_round,
        "eager's products of complex numbers are rounded in another way in whole registers than one by one",
    ),
    (r"nonzero\(|argwhere\(", are_not_round, "whether a computed number is 0 follows from how it is rounded"),
    (r"\.view\([a-z]+\d+\)", is_any_nan, "NaN has the bits that the last instruction gave it"),
    (r"\.view\([a-z]+\d+\)", are_not_round, "the last bits of computed numbers follow from how they are rounded"),
    (r"copysign|signbit", is_any_nan, "NaN has the sign that the last instruction gave it"),
    (
        r"scaled_dot_product_attention",
        has_a_mask_of_nothing,
        "eager does not check the mask of what it need not compute",
    ),
    (
        r"scaled_dot_product_attention.*is_causal=True",
        is_any_infinite_or_nan,
        "how many of the keys that a query must not see are multiplied by 0 follows from the size of eager's blocks",
    ),
    (r"\b(v\d+)\b.*\.(addmm|addmv|addr|addbmm|baddbmm)_\(.*\b\1\b", is_any, "it is written to while it is read"),
    (r"%|fmod\(|remainder\(", are_remainders_lost, "the last bit of a large dividend decides"),
    (r"v\d+ @ .* [*/] ", do_products_overflow, "what a scale keeps in range depends on whether it comes first"),
    (r"layer_norm\(\w+, \(1,\)", is_any, "a number less itself is what rounding leaves of it, or nothing"),
    (r"_mean\(", is_any_infinite, "eager's mean beside a variance is NaN unless an infinity comes last"),
    (r"\b(var|std|var_mean|std_mean)\(", do_squares_overflow, "eager takes the sums of squares in float64"),
)


def reason_against(line: str, values: Mapping[str, torch.Tensor]) -> str:
    """Why a line is left out; empty where it is not."""
    for pattern, applies, reason in RULES:
        if re.search(pattern, line) and applies([values[name] for name in read_names(line)]):
            return reason
    return ""
