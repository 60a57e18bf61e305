"""The time of one decode step over a long KV cache, by position: only the new row is written.

python bench/decode.py --cache 4096 --positions 10,4000
"""

from __future__ import annotations

import argparse
import statistics
import time

import ingot
import torch


class Step(torch.nn.Module):
    """One attention layer that writes its key and value at `position` and attends over the whole cache."""

    def __init__(self, heads: int, cache: int, width: int) -> None:
        super().__init__()
        self.heads, self.width = heads, width
        self.project = torch.nn.Linear(heads * width, 3 * heads * width)
        self.register_buffer("keys", torch.zeros(1, heads, cache, width))
        self.register_buffer("values", torch.zeros(1, heads, cache, width))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        q, k, v = self.project(x).view(1, 1, 3, self.heads, self.width).permute(2, 0, 3, 1, 4).unbind(0)
        self.keys.index_copy_(2, position, k)
        self.values.index_copy_(2, position, v)
        mask = torch.arange(self.keys.shape[2]) <= position
        out = torch.nn.functional.scaled_dot_product_attention(q, self.keys, self.values, mask.view(1, 1, 1, -1))
        return out.transpose(1, 2).reshape(1, 1, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--cache", type=int, default=4096, help="positions in the cache")
    parser.add_argument("--positions", default="10,4000", help="where the steps are timed")
    parser.add_argument("--rounds", type=int, default=200)
    options = parser.parse_args()
    positions = [int(text) for text in options.positions.split(",")]
    model = Step(8, options.cache, 64).eval()
    x = torch.randn(1, 1, 512)
    program = ingot.convert(model, (x, torch.tensor([3])))
    times: dict[int, list[float]] = {position: [] for position in positions}
    for _ in range(options.rounds):  # interleaved, so that noise hits all
        for position in positions:
            index = torch.tensor([position])
            start = time.perf_counter()
            program(x, index)
            times[position].append(time.perf_counter() - start)
    for position, samples in times.items():
        print(f"position {position:>6}: {1e3 * statistics.median(samples):.3f} ms (median of {len(samples)})")


if __name__ == "__main__":
    main()
