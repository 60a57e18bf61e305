"""Root mean square normalisation."""

from __future__ import annotations

import torch

from ingot.composite_ops._common import CompositeVersion


class RMSNormImpl(torch.nn.Module):
    """The composite `rms_norm` over the last axis; attributes `axes` and `eps`."""

    version = CompositeVersion.V1
    axes = -1

    def __init__(self, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps

    def forward(self, input: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
        square = input.to(torch.float32).pow(2)
        normalized = input * torch.rsqrt(square.mean(self.axes, keepdim=True) + self.eps)
        if scale.dtype == torch.float32 and input.dtype != torch.float32:
            # A scale of higher precision takes part before rounding.
            return (normalized * scale).to(input.dtype)
        return normalized.to(input.dtype) * scale


class RMSNorm(torch.nn.Module):
    """`RMSNormImpl` with a weight of its own, for each head its own where `n_heads` is given.

    An `ExternalizeSpec` names `RMSNormImpl`: there the weight is an argument.
    """

    version = CompositeVersion.V1

    def __init__(self, dim: int, eps: float = 1e-5, n_heads: int | None = None) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones((dim,) if n_heads is None else (n_heads, 1, dim)))
        self.rms_norm = RMSNormImpl(eps)

    @property
    def eps(self) -> float:
        return self.rms_norm.eps

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return self.rms_norm(input, self.weight)
