"""The exceptions to `assert_close` with its defaults: one table, each row with its reason."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

import torch

Results = list[torch.Tensor]

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


# ---------------------------------------------------------------------------------------------------------------------


class Kind(Enum):
    UNDEFINED = "only dtype and shape are compared"
    RANDOM = "compared by distribution (sampling.py), since the generators differ"
    SOMETIMES_RANDOM = "the same, where eager differs from call to call"
    GAUGE = "a function of the results is compared"
    ROUNDING = "results must be as exact as eager's (exact.py)"


@dataclass(frozen=True)
class Row:
    kind: Kind
    operators: str
    """A regular expression over whole names."""
    reason: str
    gauge: Callable[[Results], Results] | None = None


TABLE = (
    Row(
        Kind.UNDEFINED,
        r"empty|empty_like|empty_strided|empty_permuted|new_empty|new_empty_strided",
        "memory without a defined content",
    ),
    Row(Kind.RANDOM, r"rand|rand_like|randn|randn_like|randint|randint_like|randperm", "they draw numbers"),
    Row(
        Kind.RANDOM,
        r"normal.*|uniform|exponential|geometric|cauchy|log_normal|bernoulli|multinomial|poisson|binomial",
        "they draw numbers",
    ),
    Row(
        Kind.RANDOM,
        r"nn_functional_((feature_)?alpha_)?dropout.*|nn_functional_feature_alpha_dropout.*|nn_functional_rrelu",
        "they draw numbers",
    ),
    Row(
        Kind.SOMETIMES_RANDOM,
        r"nn_functional_(scaled_dot_product_attention|multi_head_attention_forward)|nn_functional_fractional_max_pool[23]d",
        "they draw numbers with some arguments",
    ),
    Row(Kind.SOMETIMES_RANDOM, r"svd_lowrank|pca_lowrank", "they project on random vectors; exact for low ranks only"),
    Row(Kind.GAUGE, r"linalg_eigvals", "LAPACK's order is that of its iteration", eigenvalue_set),
    Row(Kind.GAUGE, r"linalg_eig", "vectors up to a phase", eigen_product),
    Row(Kind.GAUGE, r"linalg_eigh", "vectors up to a phase", hermitian_product),
    Row(Kind.GAUGE, r"linalg_svd", "vectors up to a phase", singular_product),
    Row(Kind.GAUGE, r"svd|svd_lowrank|pca_lowrank", "vectors up to a phase", singular_product_of_v),
    Row(Kind.ROUNDING, r"nn_functional_conv.*|conv.*", "long sums, added in an order that depends on library and CPU"),
    Row(
        Kind.ROUNDING,
        r".*matmul.*|b?mm|baddbmm|add(mm.*|bmm|mv)|mv|inner|tensordot|einsum|nn_functional_(bi)?linear",
        "products of matrices add in an order that depends on the library and the CPU",
    ),
    Row(
        Kind.ROUNDING,
        r"nn_functional_(layer|group|instance|batch|rms)_norm|native_.*norm|_native_batch_norm_legit|_batch_norm.*",
        "eager rounds 16-bit statistics on the way",
    ),
    Row(
        Kind.ROUNDING,
        r"grid_sampler_[23]d|nn_functional_grid_sample",
        "eager computes weights and sums in the 16-bit type itself",
    ),
    Row(
        Kind.ROUNDING,
        r"nn_functional_(adaptive_avg_pool3d|interpolate_area)",
        "eager adds 16-bit numbers in the 16-bit type",
    ),
    Row(
        Kind.ROUNDING,
        r"nn_functional_interpolate_(linear|bilinear|bicubic|trilinear)|nn_functional_upsample_bilinear",
        "eager rounds the weights of neighbours to 16 bits, and sums on the way",
    ),
    Row(
        Kind.ROUNDING, r"(masked_)?log_softmax.*", "eager rounds 16-bit sums on the way for all but the last dimension"
    ),
    Row(
        Kind.ROUNDING,
        r"index_reduce_(mean|prod)|_segment_reduce_.*|nn_functional_(embedding_bag|nll_loss|kl_div)|linalg_vecdot",
        "eager adds (or multiplies) 16-bit numbers in the 16-bit type",
    ),
    Row(Kind.ROUNDING, r"masked_logsumexp", "eager rounds 16-bit exponentials before it adds them"),
    Row(Kind.ROUNDING, r"nn_functional_linear_cross_entropy.*", "a product of matrices, rounded to 16 bits in eager"),
    Row(Kind.ROUNDING, r"nn_functional_hinge_embedding_loss", "eager rounds a 16-bit margin and mean on the way"),
    Row(
        Kind.ROUNDING,
        r".*scaled_dot_product_attention|nn_functional_multi_head.*",
        "attention rounds 16-bit scores on the way in eager",
    ),
    Row(
        Kind.ROUNDING,
        r"add|sub",
        "with alpha, eager rounds the 16-bit product for strided tensors and not for contiguous ones",
    ),
    Row(
        Kind.ROUNDING,
        r"matrix_exp",
        "squares rounding errors as often as the matrix was halved; NaN for 16-bit floats",
    ),
    Row(Kind.ROUNDING, r"linalg_ldl_factor(_ex)?", "divides by small pivots"),
    Row(Kind.ROUNDING, r"fft_.*", "sums that cancel, added in another order"),
    Row(Kind.ROUNDING, r"linalg_cond", "divides by the smallest singular value"),
)


def find(kind: Kind, name: str) -> Row | None:
    return next((row for row in TABLE if row.kind is kind and re.fullmatch(row.operators, name)), None)
