"""Whether results are eager's: torch.testing.assert_close with its defaults for the dtype, NaN equal to NaN."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch

# Operators whose values PyTorch does not define: only dtype and shape are compared. Each with its reason.
UNDEFINED_VALUES = {
    r"empty|empty_like|empty_strided|empty_permuted|new_empty|new_empty_strided": "memory without a defined content",
}

# Operators that draw random numbers: compared by distribution (sampling.py), since the generators differ.
RANDOM = (
    r"rand|rand_like|randn|randn_like|randint|randint_like|randperm",
    r"normal.*|uniform|exponential|geometric|cauchy|log_normal|bernoulli|multinomial|poisson|binomial",
    r"nn_functional_((feature_)?alpha_)?dropout.*|nn_functional_feature_alpha_dropout.*|nn_functional_rrelu",
)

# Operators that do so with some arguments: compared by distribution where eager differs from call to call.
SOMETIMES_RANDOM = (
    r"nn_functional_(scaled_dot_product_attention|multi_head_attention_forward)",
    r"nn_functional_fractional_max_pool[23]d",
)

# Where eager's own rounding exceeds the tolerance, results must be at least as near to those of the doubled precision.
ROUNDING = {
    r"matrix_exp": "squares rounding errors as often as the matrix was halved; NaN for 16-bit floats",
    r"linalg_ldl_factor(_ex)?": "divides by small pivots",
    r"linalg_cond": "divides by the smallest singular value",
}


def matches(table: Iterable[str], name: str) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in table)


def undefined(name: str) -> bool:
    return matches(UNDEFINED_VALUES, name)


# ---------------------------------------------------------------------------------------------------------------------
# Factors that are defined up to signs, phases or an order: what they make together is compared instead.


def eigenvalue_set(results: list[torch.Tensor]) -> list[torch.Tensor]:
    """LAPACK gives them in the order in which its iteration finds them."""
    values = results[0].to(torch.complex128)
    keys = torch.round(values.real * 1e4) * 1e8 + torch.round(values.imag * 1e4)
    return [torch.gather(values, -1, keys.argsort(-1)).to(results[0].dtype)]


def eigen_product(results: list[torch.Tensor]) -> list[torch.Tensor]:
    """V diag(w) V⁻¹, and lengths of 1."""
    values, vectors = results
    wide, scale = vectors.to(torch.complex128), values.to(torch.complex128).unsqueeze(-2)
    product = torch.linalg.solve(wide, wide * scale, left=False) if wide.numel() else wide
    return [product.to(values.dtype), torch.linalg.vector_norm(vectors, dim=-2), *eigenvalue_set([values])]


def hermitian_product(results: list[torch.Tensor]) -> list[torch.Tensor]:
    values, vectors = results
    return [values, (vectors * values.unsqueeze(-2)) @ vectors.mH, vectors.mH @ vectors]


def singular_product(results: list[torch.Tensor]) -> list[torch.Tensor]:
    """U diag(s) Vᴴ, and unit vectors; without vectors, the values only."""
    u, s, v = results
    if u.ndim < 2 or v.ndim < 2:
        return results
    count = s.shape[-1]
    return [s, (u[..., :count] * s.unsqueeze(-2)) @ v[..., :count, :], u.mH @ u, v @ v.mH]


def singular_product_of_v(results: list[torch.Tensor]) -> list[torch.Tensor]:
    return singular_product([results[0], results[1], results[2].mH])


GAUGE: dict[str, Callable[[list[torch.Tensor]], list[torch.Tensor]]] = {
    r"linalg_eigvals": eigenvalue_set,
    r"linalg_eig": eigen_product,
    r"linalg_eigh": hermitian_product,
    r"linalg_svd": singular_product,
    r"svd|svd_lowrank|pca_lowrank": singular_product_of_v,
}


def without_gauge(name: str, results: list[torch.Tensor]) -> list[torch.Tensor]:
    for pattern, function in GAUGE.items():
        if re.fullmatch(pattern, name):
            return function(results)
    return results


# ---------------------------------------------------------------------------------------------------------------------


def mismatch(name: str, actual: list[Any], expected: list[Any]) -> str:
    """What is wrong; empty when nothing is."""
    if len(actual) != len(expected):
        return f"{len(actual)} results instead of {len(expected)}"
    if matches(GAUGE, name):
        for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
            if text := difference(left, right, shape_only=True):
                return f"result {index}: {text}"
        actual, expected = without_gauge(name, actual), without_gauge(name, expected)
    for index, (left, right) in enumerate(zip(actual, expected, strict=True)):
        if text := difference(left, right, undefined(name)):
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


def is_nearer(actual: list[torch.Tensor], expected: list[torch.Tensor], wide: list[torch.Tensor]) -> bool:
    """Whether the results are as near to those of the doubled precision as eager's, or nearer where eager has none."""
    for left, right, exact in zip(actual, expected, wide, strict=True):
        if right.isnan().any() and not exact.isnan().any():
            if difference(left, exact.to(left.dtype), shape_only=False):
                return False
            continue
        ours, eager = ((value.to(exact.dtype) - exact).abs() for value in (left, right))
        limit = eager.amax() if eager.numel() else torch.tensor(0.0)
        if not bool((ours <= limit).all()):
            return False
    return True


def plain_difference(actual: Any, expected: Any) -> str:
    if isinstance(actual, torch.Tensor) and actual.numel() == 1:
        actual = actual.item()
    if isinstance(expected, (float, complex)):
        left, right = complex(actual), complex(expected)
        same = left == right or abs(left - right) <= 1.3e-6 * abs(right) + 1e-5
        if same or (math.isnan(abs(left)) and math.isnan(abs(right))):
            return ""
    return "" if actual == expected else f"{actual!r} instead of {expected!r}"
