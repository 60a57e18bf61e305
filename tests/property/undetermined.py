"""Lines whose results in eager follow from how its kernels are written: they are left out of cases."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

import torch
from property.case import read_names

Operands = Sequence[torch.Tensor]


def is_any_infinite(operands: Operands) -> bool:
    return any(bool(value.isinf().any()) for value in operands)


def has_other_channels(operands: Operands) -> bool:
    x, statistics = operands[:2]
    return x.numel() == 0 and x.shape[1] != statistics.numel()


def are_no_integers(operands: Operands) -> bool:
    return operands[0].numel() == 0 and not operands[0].is_floating_point()


def do_squares_overflow(operands: Operands) -> bool:
    """Whether the sum of the squares leaves the range of the type in which it is computed."""
    for value in operands:
        if value.numel() and (value.is_floating_point() or value.is_complex()):
            squares = value.abs().to(torch.float64).nan_to_num(0.0, 0.0).square().sum()
            if squares > torch.finfo(torch.promote_types(value.dtype, torch.float32)).max / 4:
                return True
    return False


RULES: tuple[tuple[str, Callable[[Operands], bool], str], ...] = (
    (r"F\.gelu", is_any_infinite, "what gelu of infinities is depends on the library that eager uses"),
    (r"F\.batch_norm", has_other_channels, "eager does not check the statistics of what it need not compute"),
    (r"median\(", are_no_integers, "the median of nothing is NaN, which as an integer is another on every CPU"),
    (r"_mean\(", is_any_infinite, "eager's mean beside a variance is NaN unless an infinity comes last"),
    (r"\b(var|std|var_mean|std_mean)\(", do_squares_overflow, "eager takes the sums of squares in float64"),
)


def reason_against(line: str, values: Mapping[str, torch.Tensor]) -> str:
    """Why a line is left out; empty where it is not."""
    for pattern, applies, reason in RULES:
        if re.search(pattern, line) and applies([values[name] for name in read_names(line)]):
            return reason
    return ""
