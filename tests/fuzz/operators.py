"""Programs of one operator each, and numbers that nobody would write for their sizes, steps, counts and axes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch.nn import functional as F

from fuzz.mutate import slots_of

Call = Callable[[torch.Tensor, torch.Tensor], Any]
HUGE = [-(2**63), -(2**40), -(2**31), -3, -1, 0, 1, 3, 7, 1000, 2**16, 2**24, 2**31, 2**33, 2**40, 2**62, 2**63 - 1]
FLOATS = ["NaN", "Infinity", "-Infinity", 0.0, -1.0, 1e-300, 1e30, 1e308]
NUMBERS = {"as_int", "as_ints", "as_sym_int", "as_sym_ints", "as_float", "as_floats"}

OPERATORS: dict[str, Call] = {
    "full": lambda x, i: x + torch.full((4, 6), 2.0),
    "arange": lambda x, i: x + torch.arange(0, 6, 1),
    "linspace": lambda x, i: x + torch.linspace(0, 1, 6),
    "logspace": lambda x, i: x + torch.logspace(0, 1, 6),
    "eye": lambda x, i: x + torch.eye(4, 6),
    "rand": lambda x, i: x + torch.rand(4, 6),
    "randint": lambda x, i: x + torch.randint(0, 9, (4, 6)),
    "randperm": lambda x, i: torch.randperm(5),
    "multinomial": lambda x, i: torch.multinomial(x.abs(), 3, True),
    "repeat": lambda x, i: x.repeat(2, 3),
    "expand": lambda x, i: x[:, :1].expand(4, 6),
    "repeat_interleave": lambda x, i: x.repeat_interleave(2, 1),
    "pad": lambda x, i: F.pad(x, (1, 2, 3, 0)),
    "pad_reflect": lambda x, i: F.pad(x, (1, 2), mode="reflect"),
    "pad_replicate": lambda x, i: F.pad(x, (1, 2), mode="replicate"),
    "nearest": lambda x, i: F.interpolate(x[None, None], size=(8, 8)),
    "bilinear": lambda x, i: F.interpolate(x[None, None], size=(8, 8), mode="bilinear"),
    "bicubic": lambda x, i: F.interpolate(x[None, None], scale_factor=2.0, mode="bicubic"),
    "one_hot": lambda x, i: F.one_hot(i, 7),
    "tril_indices": lambda x, i: torch.tril_indices(3, 4, 1),
    "tril": lambda x, i: x.tril(1),
    "diagonal": lambda x, i: x.diagonal(1, 0, 1),
    "diag_embed": lambda x, i: x.diag_embed(1),
    "unfold": lambda x, i: x.unfold(1, 2, 2),
    "im2col": lambda x, i: F.unfold(x[None, None], (2, 2), dilation=1, padding=1, stride=2),
    "fold": lambda x, i: F.fold(x[None, :, :4], (4, 4), (2, 2), stride=2),
    "conv": lambda x, i: F.conv2d(x[None, None], x[None, None, :3, :3], stride=1, padding=1, dilation=1),
    "conv_transposed": lambda x, i: F.conv_transpose2d(x[None, None], x[None, None, :3, :3], stride=2, padding=1),
    "max_pool": lambda x, i: F.max_pool2d(x[None], 2, 1, 1, 1),
    "avg_pool": lambda x, i: F.avg_pool2d(x[None], 2, 1, 1, divisor_override=3),
    "lp_pool": lambda x, i: F.lp_pool2d(x[None], 2, 2),
    "adaptive_pool": lambda x, i: F.adaptive_avg_pool2d(x[None], (2, 3)),
    "adaptive_max": lambda x, i: F.adaptive_max_pool2d(x[None], (2, 3)),
    "narrow": lambda x, i: x.narrow(1, 1, 3),
    "slice": lambda x, i: x[1:3, ::2],
    "slice_scatter": lambda x, i: torch.slice_scatter(x, x[:, :2], 1, 0, 4, 2),
    "select": lambda x, i: x.select(1, 2),
    "roll": lambda x, i: x.roll((1, 2), (0, 1)),
    "rot90": lambda x, i: x.rot90(1, (0, 1)),
    "topk": lambda x, i: tuple(x.topk(3, 1)),
    "kthvalue": lambda x, i: tuple(x.kthvalue(3, 1)),
    "sort": lambda x, i: tuple(x.sort(1)),
    "cumsum": lambda x, i: x.cumsum(1),
    "as_strided": lambda x, i: x.as_strided((2, 3), (3, 1), 1),
    "view": lambda x, i: x.view(2, 12),
    "split": lambda x, i: x.split((2, 4), 1),
    "chunk": lambda x, i: x.chunk(2, 1),
    "unflatten": lambda x, i: x.unflatten(1, (2, 3)),
    "permute": lambda x, i: x.permute(1, 0),
    "embedding": lambda x, i: F.embedding(i, x, 1),
    "gather": lambda x, i: x.gather(1, i),
    "scatter": lambda x, i: x.scatter(1, i, 2.0),
    "index_fill": lambda x, i: x.index_fill(1, i[0], 1.0),
    "histc": lambda x, i: torch.histc(x, 5, 0, 1),
    "bincount": lambda x, i: torch.bincount(i.flatten(), minlength=4),
    "fft": lambda x, i: torch.fft.rfft(x, 5),
    "stft": lambda x, i: torch.stft(x.flatten(), 8, 2, 8, torch.ones(8), return_complex=True),
    "window": lambda x, i: torch.hann_window(6) + x,
    "pixel_shuffle": lambda x, i: F.pixel_shuffle(x[:, None, None, :], 1),
    "channel_shuffle": lambda x, i: F.channel_shuffle(x[None, :, :, None], 2),
    "matrix_power": lambda x, i: torch.linalg.matrix_power(x[:, :4], 3),
    "polygamma": lambda x, i: torch.polygamma(2, x),
    "norm": lambda x, i: torch.linalg.vector_norm(x, 2.0, (0, 1)),
    "std": lambda x, i: x.std(1, correction=2),
    "layer_norm": lambda x, i: F.layer_norm(x, (6,)),
    "group_norm": lambda x, i: F.group_norm(x[None], 2),
    "shift": lambda x, i: i << 3,
    "pow": lambda x, i: i**3,
    "div": lambda x, i: (i // 3, i % 3, x.round(decimals=2)),
    "clamp": lambda x, i: x.clamp(-1.5, 2.5),
    "nan_to_num": lambda x, i: x.nan_to_num(1.0, 2.0, 3.0),
    "softmax": lambda x, i: x.softmax(1) + x.logsumexp(1, True),
    "attention": lambda x, i: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None], scale=0.5),
    "sum": lambda x, i: (x.sum((0, 1)), x.amax(1), x.argmax(1)),
    "cdist": lambda x, i: torch.cdist(x, x, 2.0),
    "nonzero": lambda x, i: torch.nonzero_static(i, size=5, fill_value=0),
    "unique": lambda x, i: i.masked_fill(i > 2, 7).flip((0, 1)),
}


class _Program(torch.nn.Module):
    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call

    def forward(self, x: torch.Tensor, i: torch.Tensor) -> Any:
        return self.call(x, i)


def export_operators(folder: Path) -> None:
    """A file for every operator."""
    folder.mkdir()
    x, i = torch.randn(4, 6), torch.randint(0, 4, (4, 6))
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        for name, call in OPERATORS.items():
            torch.export.save(torch.export.export(_Program(call), (x, i)), folder / f"{name}.pt2")


def change_argument(document: Any, random: Random) -> Any:
    """One or two numbers among the arguments; what the file says about results stays."""
    slots = [slot for slot in slots_of(document) if slot[1] == "arg" and isinstance(slot[0]["arg"], dict)]
    slots = [slot for slot in slots if NUMBERS & slot[0]["arg"].keys()]
    for container, key in random.choices(slots, k=random.choice((1, 1, 2))) if slots else []:
        ((kind, value),) = container[key].items()
        if isinstance(value, list) and value:
            value = list(value)
            at = random.randrange(len(value))
            value[at] = other_number(value[at], random)
            container[key] = {kind: value}
        elif not isinstance(value, list):
            container[key] = {kind: other_number(value, random)}
    return document


def other_number(value: Any, random: Random) -> Any:
    if isinstance(value, dict):  # {"as_int": 3}
        return {name: other_number(item, random) for name, item in value.items()}
    return random.choice(FLOATS if isinstance(value, float) else HUGE)
