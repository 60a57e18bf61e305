"""`freqop` and `graphdiff`: counting and comparing what assets hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ingot
import pytest
import torch
from ingot.compat import tools


class Net(torch.nn.Module):
    def __init__(self, width: int = 4, order: str = "ab", renamed: bool = False) -> None:
        super().__init__()
        names = ("other", "thing") if renamed else ("a", "b")
        self.names, self.order = names, order
        for name in names:
            setattr(self, name, torch.nn.Linear(4, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        values: dict[str, Any] = {}
        for letter in self.order:  # the order in which the two branches are written
            values[letter] = getattr(self, self.names["ab".index(letter)])(x)
        return values["a"].tanh() - values["b"]


class Rewired(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = (getattr(self, name)(x) for name in self.names)
        return a.tanh() - a + b


class Longer(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        a, b = (getattr(self, name)(x) for name in self.names)
        return a.tanh() - b.exp()


def saved(model: torch.nn.Module, path: Path, **options: Any) -> str:
    exported = torch.export.export(model.eval(), (torch.randn(2, 4),))
    ingot.TorchConverter(**options).add_exported_program(exported).to_ingot().save_asset(path)
    return str(path)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> str:
    return saved(Net(), tmp_path_factory.mktemp("tools") / "base.ingot")


@pytest.mark.parametrize(
    ("model", "code"),
    [(Net(), 0), (Net(renamed=True), 0), (Net(order="ba"), 0), (Net(width=5), 1), (Rewired(), 1)],
    ids=["identical", "renamed", "reordered", "resized", "rewired"],
)
def test_graphdiff(base: str, model: torch.nn.Module, code: int, tmp_path: Path) -> None:
    other = saved(model, tmp_path / "other.ingot")
    assert tools.graphdiff([base, other, "--output", str(tmp_path / "diff.html")]) == code
    assert "<pre>" in (tmp_path / "diff.html").read_text()


def test_graphdiff_without_a_file(base: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert tools.graphdiff([base, "nowhere.ingot"]) == 2
    assert "file not found: nowhere.ingot" in capsys.readouterr().err


def test_freqop_of_one_and_two(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tools.freqop([base]) == 0
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["ingot.matmul"] == ["2"]
    assert tools.freqop([base, saved(Longer(), tmp_path / "more.ingot")]) == 0
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["ingot.matmul"] == ["2", "2", "+0"]
    assert lines["ingot.exp"] == ["0", "1", "+1", "*"]


def test_freqop_collapses_composites(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = torch.nn.Sequential(torch.nn.LayerNorm(4), torch.nn.LayerNorm(4))
    path = saved(model, tmp_path / "norms.ingot", composites=True)
    assert tools.freqop([path, "--collapse-composites", "--plot"]) == 0
    shown = capsys.readouterr().out
    assert "composite.layer_norm" in shown
    assert "ingot.layer_norm" not in shown
