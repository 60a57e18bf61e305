"""The time of each composite operator, by the native kernel behind its declaration, beside eager PyTorch.

python bench/composites.py
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import ingot
import torch
from ingot.composite_ops import SDPA, GatedDeltaUpdate, GatherMM, RMSNorm, RMSNormImpl, RoPE


class Model(torch.nn.Module):
    def __init__(self, inner: torch.nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        return self.inner(*values)


class ByPositions(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rope = RoPE()

    def forward(self, x: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
        return self.rope(x, position_ids=positions)


class Experts(torch.nn.Module):
    """A token's row times the matrices of the experts chosen for it."""

    def __init__(self, experts: int, width: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(experts, width, width) / width**0.5)
        self.product = GatherMM()

    def forward(self, x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
        return self.product(x, self.weight, rhs_indices=chosen)


SPECS = {
    RMSNormImpl: ("rms_norm", ["axes", "eps"]),
    RoPE: ("rope", ["scale", "base", "dims", "interleaved"]),
    SDPA: ("scaled_dot_product_attention", ["scale", "is_causal", "window_size"]),
    GatherMM: ("gather_mm", ["num_batch_axes"]),
    GatedDeltaUpdate: ("gated_delta_update", ["use_qk_l2_norm"]),
}


def cases() -> dict[str, tuple[torch.nn.Module, tuple[torch.Tensor, ...], type]]:
    torch.manual_seed(0)
    heads = torch.randn(1, 16, 256, 64)
    state = torch.zeros(1, 8, 64, 64)
    gates = (-torch.rand(1, 8, 256), torch.rand(1, 8, 256))
    delta = tuple(torch.randn(1, 8, 256, 64) for _ in range(3))
    positions = torch.arange(256)[None]
    return {
        "rms_norm 256x1024": (RMSNorm(1024), (torch.randn(1, 256, 1024),), RMSNormImpl),
        "rope 16x256x64": (ByPositions(), (heads, positions), RoPE),
        "sdpa 16x256x64": (Model(SDPA(is_causal=True)), (heads, heads, heads), SDPA),
        "gather_mm 8 of 32 x 512x512": (Experts(32, 512), (torch.randn(8, 1, 512), torch.arange(0, 32, 4)), GatherMM),
        "gated_delta 8x256x64": (Model(GatedDeltaUpdate()), (*delta, *gates, state), GatedDeltaUpdate),
        "gated_delta 8x1x64": (
            Model(GatedDeltaUpdate()),
            (*(x[:, :, :1].contiguous() for x in (*delta, *gates)), state),
            GatedDeltaUpdate,
        ),
    }


def timed(run: Callable[..., object], inputs: tuple[torch.Tensor, ...]) -> float:
    start = time.perf_counter()
    run(*inputs)
    return time.perf_counter() - start


def convert(model: torch.nn.Module, inputs: tuple[torch.Tensor, ...], target: type) -> ingot.Program:
    converter = ingot.TorchConverter(progress=False)
    converter.add_pytorch_module(
        model.eval(),
        export_fn=lambda module: torch.export.export(module, inputs),
        externalize_modules=[ingot.ExternalizeSpec(target, *SPECS[target])],
    )
    return converter.to_ingot()


@torch.no_grad()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=30)
    options = parser.parse_args()
    print(f"{'composite':<32}{'eager ms':>12}{'Ingot ms':>12}{'ratio':>8}")
    for name, (model, inputs, target) in cases().items():
        program = convert(model, inputs, target)
        torch.testing.assert_close(program(*inputs), model(*inputs), rtol=1e-4, atol=1e-4)
        times = [(timed(model, inputs), timed(program, inputs)) for _ in range(options.rounds)]
        eager, ours = (1e3 * statistics.median(column) for column in zip(*times, strict=True))
        print(f"{name:<32}{eager:>12.3f}{ours:>12.3f}{eager / ours:>8.2f}")


if __name__ == "__main__":
    main()
