"""Rotary position embedding."""

from __future__ import annotations

import torch

from ingot.composite_ops._common import CompositeVersion, require


class RoPE(torch.nn.Module):
    """The composite `rope`; attributes `scale`, `base`, `dims` and `interleaved`.

    The input is `[B, ..., T, E]` of rank 3 or more. Its first `dims` lanes (all of them by default) are turned by
    angles position * frequency * scale; the other lanes pass.
    """

    version = CompositeVersion.V1

    def __init__(
        self,
        scale: float = 1.0,
        base: float = 1e4,
        dims: int | None = None,
        interleaved: bool = False,
        _use_hf_impl: bool = False,
    ) -> None:
        super().__init__()
        self.scale = scale
        self.base = base
        self.dims = dims
        self.interleaved = interleaved
        self._use_hf_impl = _use_hf_impl

    def forward(
        self,
        input: torch.Tensor,
        cos: torch.Tensor | None = None,
        sin: torch.Tensor | None = None,
        position_ids: torch.Tensor | None = None,
        freqs: torch.Tensor | None = None,
        offset: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """`cos` and `sin` are used as they are; else `position_ids` `[B, T]`, or `offset` (`[B]` or one number)
        plus 0 … T-1, times `freqs` or base^(-i / half the rotated width)."""
        require(input.dim() >= 3, f"RoPE: the input must have rank 3 or more, not {input.dim()}")
        width = input.shape[-1]
        rotated = self.dims if self.dims is not None and self.dims < width else width
        require(rotated >= 2 and rotated % 2 == 0, f"RoPE: the rotated width must be even, not {rotated}")
        require((cos is None) == (sin is None), "RoPE: cos and sin must be given together")
        if cos is None or sin is None:
            angle = self._angles(input, rotated // 2, position_ids, freqs, offset)
            cos, sin = torch.cos(angle).to(input.dtype), torch.sin(angle).to(input.dtype)
        turned = self._rotate(input[..., :rotated], cos, sin)
        return turned if rotated == width else torch.cat((turned, input[..., rotated:]), dim=-1)

    def _angles(
        self,
        input: torch.Tensor,
        half: int,
        position_ids: torch.Tensor | None,
        freqs: torch.Tensor | None,
        offset: torch.Tensor | None,
    ) -> torch.Tensor:
        """`[B or 1, 1 ..., T, half]`, computed in f32 whatever the input is."""
        positions = _positions(input, position_ids, offset).to(torch.float32)
        if freqs is None:
            steps = torch.arange(half, dtype=torch.float32, device=input.device)
            freqs = torch.pow(self.base, -steps / half)
        require(freqs.dtype == torch.float32, f"RoPE: freqs must be float32, not {freqs.dtype}")
        if self._use_hf_impl:
            freqs = freqs.to(input.dtype).to(torch.float32)
        return positions.unsqueeze(-1) * (freqs * self.scale)

    def _rotate(self, x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
        if self.interleaved:
            even, odd = x[..., 0::2], x[..., 1::2]
            return torch.stack((cos * even - sin * odd, sin * even + cos * odd), dim=-1).flatten(-2)
        half = x.shape[-1] // 2
        first, second = x[..., :half], x[..., half:]
        return torch.cat((cos * first - sin * second, sin * first + cos * second), dim=-1)


def _positions(input: torch.Tensor, position_ids: torch.Tensor | None, offset: torch.Tensor | None) -> torch.Tensor:
    """Positions that broadcast against all axes of the input but the last."""
    between = [1] * (input.dim() - 3)
    if position_ids is not None:
        # One row for all of the batch may come without its batch axis.
        return position_ids.reshape(-1, *between, position_ids.shape[-1])
    steps = torch.arange(input.shape[-2], device=input.device)
    if offset is None:
        return steps
    if isinstance(offset, torch.Tensor) and offset.dim() > 0:
        offset = offset.reshape(-1, *between, 1)
    return steps + offset
