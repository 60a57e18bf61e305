"""What the composite modules share."""

from __future__ import annotations

from enum import IntEnum

import torch


class CompositeVersion(IntEnum):
    """The version of a composite's meaning; a declaration carries it."""

    V1 = 1


def require(condition: bool | torch.SymBool, message: str) -> None:
    """Fails with the message, when the program runs if only then sizes are known.

    The message is made up front: a tracer takes no function that looks at tensors.
    """
    torch._check(condition, lambda: message)


def repeat_heads(x: torch.Tensor, heads: int) -> torch.Tensor:
    """Each head of `[B, N, T, D]` as many times in a row as gives `heads` of them."""
    batch, own, length, width = x.shape
    if own == heads:
        return x
    # repeat_interleave would need a size that is known when a length varies.
    return x.unsqueeze(2).expand(batch, own, heads // own, length, width).reshape(batch, heads, length, width)
