"""`ingot tune`: which implementation is the fastest here, measured and remembered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ingot as package
import pytest
import torch
from fuzz.seal import checksum
from support import export, ingot, ingot_json, refused, save_pt2


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = torch.nn.Conv2d(3, 64, 3, padding=1)
        self.second = torch.nn.Conv2d(64, 64, 3, padding=1)
        self.last = torch.nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.relu(self.second(torch.relu(self.first(x)))).mean((2, 3)))


@pytest.fixture
def example(tmp_path: Path) -> tuple[torch.nn.Module, torch.Tensor, Path]:
    torch.manual_seed(0)
    module, x = Net().eval(), torch.randn(1, 3, 16, 16)
    pt2 = save_pt2(export(module, (x,)), tmp_path / "net.pt2")
    ingot("convert", pt2, "-o", tmp_path / "net.ingot")
    return module, x, tmp_path / "net.ingot"


def methods_used(asset: Path, tmp_path: Path) -> set[str]:
    ingot("profile", asset, "--calls", 1, "--threads", 1, "--trace", tmp_path / "trace.json")
    events: list[dict[str, Any]] = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    return {event["args"]["method"] for event in events if event["name"] in ("conv", "matmul")}


def remember(asset: Path, problems: list[str], method: str) -> None:
    """As if `method` had been measured to be faster everywhere."""
    (folder,) = asset.glob("cache/*")
    plan = checksum((folder / "plan.json").read_bytes())
    program = f"{json.loads((asset / 'manifest.json').read_text())['checksum'].split(':')[-1]} {plan}"
    document = {"format": 1, "program": program, "methods": dict.fromkeys(problems, method)}
    (folder / "methods.json").write_text(json.dumps(document))


def test_what_it_says(example: tuple[torch.nn.Module, torch.Tensor, Path]) -> None:
    _, _, asset = example
    found = ingot_json("tune", asset, "--seconds", 0, "--threads", 1)
    assert found["threads"] == 1
    assert len(found["problems"]) == 3
    assert all("onednn" in times and len(times) > 1 for times in found["problems"].values())
    for choice in found["faster"]:
        assert choice["chosen"] != choice["usual"]
        assert choice["chosen_ms"] < choice["usual_ms"]
    assert not found["kept"] or found["tuned_ms"] < found["usual_ms"]
    assert "steps that can be computed in several ways" in ingot("tune", asset, "--seconds", 0)
    assert "3 steps" in ingot("tune", asset, "--forget")


def test_what_is_kept_is_used(example: tuple[torch.nn.Module, torch.Tensor, Path], tmp_path: Path) -> None:
    module, x, asset = example
    usual = methods_used(asset, tmp_path)
    problems = list(ingot_json("tune", asset, "--seconds", 0, "--threads", 1)["problems"])
    for method in ("onednn", "panels", "winograd"):
        remember(asset, problems, method)
        used = methods_used(asset, tmp_path)
        assert method in used
        package.set_num_threads(1)
        try:
            torch.testing.assert_close(package.load(asset)(x), module(x), rtol=1e-4, atol=1e-5)
        finally:
            package.set_num_threads(0)
    ingot("tune", asset, "--forget", "--threads", 1)
    assert methods_used(asset, tmp_path) == usual


def test_a_table_of_nonsense_is_ignored(example: tuple[torch.nn.Module, torch.Tensor, Path], tmp_path: Path) -> None:
    module, x, asset = example
    usual = methods_used(asset, tmp_path)
    (folder,) = asset.glob("cache/*")
    for text in ("", "{", '{"format": 1}', "\0" * 100):
        (folder / "methods.json").write_text(text)
        assert methods_used(asset, tmp_path) == usual
        torch.testing.assert_close(package.load(asset)(x), module(x), rtol=1e-4, atol=1e-5)


def test_what_is_no_asset(tmp_path: Path) -> None:
    assert "nowhere.ingot" in refused("tune", tmp_path / "nowhere.ingot")
