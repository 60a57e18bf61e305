"""Small models and what Ingot makes of them: where fuzzing starts."""

from __future__ import annotations

import shutil
import subprocess
import warnings
from pathlib import Path
from typing import Any

import torch
from support import INGOT
from torch import nn
from torch.nn import functional as F

from fuzz.operators import export_operators

ROOT = Path(__file__).parents[2]


class Vision(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.out = nn.Linear(4 * 2 * 2, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        x = F.interpolate(F.adaptive_avg_pool2d(x, 2), scale_factor=2.0, mode="bilinear")
        return F.softmax(self.out(F.avg_pool2d(x, 2).flatten(1)), -1)


class Mobile(nn.Module):
    """An inverted residual with squeeze-and-excite, some of whose steps are joined."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Conv2d(4, 16, 1)
        self.each = nn.Conv2d(16, 16, 3, padding=1, groups=16)
        self.factors = nn.Conv2d(16, 16, 1)
        self.narrow = nn.Conv2d(16, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = F.silu(self.each(F.silu(self.wide(x))))
        return x + self.narrow(y * torch.sigmoid(self.factors(F.adaptive_avg_pool2d(y, 1))))


class Text(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.norm = nn.LayerNorm(8)
        self.mix = nn.Linear(8, 24)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.table(ids))
        q, k, v = self.mix(x).reshape(x.shape[0], x.shape[1], 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        x = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return torch.where(mask.unsqueeze(-1), F.gelu(x), x.new_zeros(())) @ self.table.weight.t()


class Order(nn.Module):
    def forward(self, x: torch.Tensor, index: torch.Tensor) -> Any:
        values, places = x.topk(2, -1)
        picked = x.gather(1, index).cumsum(1)
        spread = torch.zeros_like(x).scatter_add(1, index, picked)
        halves = torch.cat([spread.sort(-1, descending=True).values, x.roll(1, 0)], 1).split(3, 1)
        return values, places.argmax(-1), [half.std(0) for half in halves], x.index_select(0, index[:, 0])


class Signal(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        wave = torch.fft.rfft(x * torch.hann_window(8), dim=-1)
        frames = F.pad(x, (2, 2), mode="reflect").unfold(-1, 4, 2)
        matrix = x[:3, :3] @ x[:3, :3].t() + 5 * torch.eye(3)
        return wave.abs(), frames.amax(-1), torch.linalg.cholesky(matrix), torch.linalg.inv(matrix)


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTM(4, 3, batch_first=True, bidirectional=True)

    def forward(self, x: torch.Tensor) -> Any:
        return self.cell(x)


class Loop(nn.Module):
    def forward(self, n: torch.Tensor, x: torch.Tensor) -> Any:
        return torch._higher_order_ops.while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, x * 0.5 + n), (n, x))


class Counted(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("memory", torch.zeros(2, 5, 4))

    def forward(self, x: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
        self.memory.index_copy_(1, position, x)
        found = (self.memory.sum(-1) > 0).nonzero()
        return self.memory[:, :, ::2].cumsum(1) + found.shape[0]


def models() -> dict[str, tuple[nn.Module, tuple[Any, ...], Any]]:
    rows, length = torch.export.Dim("rows", max=32), torch.export.Dim("length", min=2, max=64)
    ids = torch.randint(0, 11, (2, 6))
    return {
        "vision": (Vision(), (torch.randn(2, 3, 8, 8),), None),
        "mobile": (Mobile(), (torch.randn(2, 4, 8, 8),), None),
        "text": (Text(), (ids, ids > 3), ({0: rows, 1: length}, {0: rows, 1: length})),
        "order": (Order(), (torch.randn(4, 6), torch.randint(0, 4, (4, 6))), None),
        "signal": (Signal(), (torch.randn(4, 8),), None),
        "recurrent": (Recurrent(), (torch.randn(2, 5, 4),), None),
        "loop": (Loop(), (torch.tensor(3), torch.randn(3)), None),
        "counted": (Counted(), (torch.randn(2, 1, 4), torch.tensor([2])), None),
    }


def export_models(folder: Path) -> None:
    torch.manual_seed(0)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        for name, (model, args, dynamic) in models().items():
            program = torch.export.export(model.eval(), args, dynamic_shapes=dynamic)
            torch.export.save(program, folder / f"{name}.pt2")


def make_seeds(folder: Path) -> None:
    """Fills `folder` with pt2, operators, assets and documents; nothing happens if it is there already."""
    if folder.is_dir():
        return
    making = folder.with_name(folder.name + ".making")
    shutil.rmtree(making, ignore_errors=True)
    (making / "pt2").mkdir(parents=True)
    (making / "assets").mkdir()
    (making / "documents").mkdir()
    export_models(making / "pt2")
    export_operators(making / "operators")
    for fixture in sorted((ROOT / "src/pt2/test/data").glob("*.pt2")):
        shutil.copy(fixture, making / "pt2")
    for fixture in sorted((ROOT / "tests/compat").glob("*/fixture.ingot")):
        shutil.copytree(fixture, making / "assets" / f"{fixture.parent.name}.ingot")
    for program in sorted((making / "pt2").glob("*.pt2")):
        asset = making / "assets" / f"{program.stem}.ingot"
        # A file of several programs is refused; it is still a seed of convert.
        subprocess.run([INGOT, "convert", program, "-o", asset], capture_output=True, check=False)
        document = making / "documents" / f"{program.stem}.json"
        subprocess.run([INGOT, "extract", program, "-o", document], capture_output=True, check=False)
        if not asset.is_dir():
            continue
        if program.stem in ("vision", "mobile", "text", "counted", "order", "loop", "recurrent"):
            ready = shutil.copytree(asset, making / "assets" / f"{program.stem}_ready.ingot")
            subprocess.run([INGOT, "specialise", ready], capture_output=True, check=True)
    making.rename(folder)
