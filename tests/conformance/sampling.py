"""Random operators: repeatable under a seed, different from call to call, and distributed as eager's draws are."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import ingot
import torch
from conformance.compare import difference

DRAWS = 150
SIGMAS = 6.5


def squashed(results: list[torch.Tensor]) -> torch.Tensor:
    """All elements in one row, in (-1, 1): heavy tails have no mean otherwise."""
    parts = []
    for tensor in results:
        wide = torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor
        wide = wide.to(torch.float64).flatten()
        parts.append(wide / (1 + wide.abs()))
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)


@contextlib.contextmanager
def other_seeds() -> Iterator[None]:
    """Samples that set a seed before they draw get another one each time."""
    original, seeds = torch.manual_seed, itertools.count(1)
    torch.manual_seed = lambda seed: original(seed + next(seeds))
    try:
        yield
    finally:
        torch.manual_seed = original


def moments(draw: Callable[[], list[torch.Tensor]]) -> tuple[torch.Tensor, torch.Tensor]:
    rows = torch.stack([squashed(draw()) for _ in range(DRAWS)])
    return rows.mean(0), rows.var(0)


def random_mismatch(run: Callable[[], list[Any]], eager: Callable[[], list[Any]]) -> str:
    """What is wrong; empty when nothing is."""
    expected = eager()
    ingot.manual_seed(11)
    first, second = run(), run()
    if len(first) != len(expected):
        return f"{len(first)} results instead of {len(expected)}"
    for index, (left, right) in enumerate(zip(first, expected, strict=True)):
        if text := difference(left, right, shape_only=True):
            return f"result {index}: {text}"
    ingot.manual_seed(11)
    if not torch.equal(squashed(run()), squashed(first)) or not torch.equal(squashed(run()), squashed(second)):
        return "a seed does not repeat its numbers"
    mean, variance = moments(run)
    with other_seeds():
        eager_mean, eager_variance = moments(eager)
    if torch.isnan(eager_mean).any():
        return "" if torch.equal(torch.isnan(mean), torch.isnan(eager_mean)) else "NaN in other places"
    room = SIGMAS * ((variance + eager_variance) / DRAWS).sqrt() + SIGMAS / DRAWS
    if ((mean - eager_mean).abs() > room).any():
        worst = int(((mean - eager_mean).abs() - room).argmax())
        return f"element {worst} has mean {mean[worst]:.4f} instead of {eager_mean[worst]:.4f} (x / (1 + |x|))"
    # Variances of numbers in (-1, 1) are at most 1 and scatter by less than that over the root of the draws.
    pooled, eager_pooled = variance.mean(), eager_variance.mean()
    if variance.numel() and (pooled - eager_pooled).abs() > SIGMAS * 0.5 / (DRAWS * variance.numel()) ** 0.5 + 1e-3:
        return f"variance {pooled:.4f} instead of {eager_pooled:.4f} (x / (1 + |x|))"
    return ""
