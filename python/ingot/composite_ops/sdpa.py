"""Scaled dot product attention."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch.fx.experimental.symbolic_shapes import statically_known_true

from ingot.composite_ops._common import CompositeVersion, repeat_heads, require


class SDPA(torch.nn.Module):
    """The composite `scaled_dot_product_attention`; attributes `scale`, `is_causal` and `window_size`.

    Query `[B, Nq, Tq, D]`, key `[B, Nk, Tk, D]`, value `[B, Nv, Tk, Dv]`; fewer heads of key and value are repeated.
    With `is_causal` the last query sees all keys, however many came before. With `window_size` w a query sees the
    keys less than w away. An explicit mask replaces both: boolean (true: attend) or a float that is added. A query
    that sees no key gives zeros.
    """

    version = CompositeVersion.V1

    def __init__(
        self, scale: float | None = None, is_causal: bool = False, window_size: int = 0, _use_hf_impl: bool = False
    ) -> None:
        super().__init__()
        self.scale = scale
        self.is_causal = is_causal
        self.window_size = window_size
        self._use_hf_impl = _use_hf_impl

    def forward(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attn_mask: torch.Tensor | None = None,
        sinks: torch.Tensor | None = None,
    ) -> torch.Tensor:
        heads = query.shape[1] if query.dim() == 4 else 0
        for name, x in (("query", query), ("key", key), ("value", value)):
            require(x.dim() == 4, f"SDPA: {name} must have rank 4, not {x.dim()}")
            require(heads % x.shape[1] == 0, f"SDPA: the heads of query must be a multiple of those of {name}")
        key, value = repeat_heads(key, heads), repeat_heads(value, heads)
        scale = query.shape[-1] ** -0.5 if self.scale is None else self.scale
        if sinks is None:
            return self._attend(query, key, value, attn_mask, scale)
        if self._use_hf_impl:
            raise NotImplementedError("SDPA: sinks are not implemented with _use_hf_impl")
        require(sinks.dim() == 1 and sinks.shape[0] == heads, "SDPA: sinks must hold one number for each head of query")
        return self._attend_with_sinks(query, key, value, attn_mask, sinks, scale)

    def _attend(
        self, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, scale: float
    ) -> torch.Tensor:
        # Torch aligns its own causal mask with the first key. Where lengths are equal that is the same one, and
        # kernels skip what it hides.
        square = statically_known_true(query.shape[2] == key.shape[2])
        if mask is None and self.is_causal and self.window_size == 0 and square:
            return F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=scale)
        mask = self._mask(query, key, mask)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask, scale=scale)

    def _attend_with_sinks(
        self,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        mask: torch.Tensor | None,
        sinks: torch.Tensor,
        scale: float,
    ) -> torch.Tensor:
        scores = torch.matmul(query * scale, key.transpose(-1, -2))
        mask = self._mask(query, key, mask)
        if mask is not None and mask.dtype == torch.bool:
            scores = scores.masked_fill(~mask, -torch.inf)
        elif mask is not None:
            scores = scores + mask
        # The sink takes its part of each row's weight and gives nothing, so that no row is without a finite score.
        batch, heads, length, _ = scores.shape
        extra = sinks.to(scores.dtype).reshape(1, heads, 1, 1).expand(batch, heads, length, 1)
        weights = torch.softmax(torch.cat((scores, extra), dim=-1), dim=-1)[..., :-1]
        return torch.matmul(weights, value)

    def _mask(self, query: torch.Tensor, key: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor | None:
        """The caller's mask, boolean or of the query's type, or the one that the attributes describe."""
        if mask is not None:
            if mask.dtype.is_floating_point:
                return mask.to(query.dtype)
            return mask if mask.dtype == torch.bool else mask != 0
        if not self.is_causal and self.window_size == 0:
            return None
        queries, keys = query.shape[2], key.shape[2]
        if self.is_causal:
            require(keys >= queries, "SDPA: causal attention needs as many keys as queries or more")
        rows = torch.arange(queries, device=query.device).unsqueeze(1) + (keys - queries)
        distance = rows - torch.arange(keys, device=query.device).unsqueeze(0)
        if not self.is_causal:
            return distance.abs() < self.window_size
        return distance >= 0 if self.window_size == 0 else (distance >= 0) & (distance < self.window_size)
