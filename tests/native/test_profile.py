"""`ingot bench` and `ingot profile`: how long calls take, and where the time goes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from support import export, ingot, ingot_json, refused, save_pt2


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(32, 64), torch.nn.Linear(64, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.second(torch.relu(self.first(x))), -1)


@pytest.fixture(scope="module")
def asset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("profile")
    batch = torch.export.Dim("batch", min=1, max=64)
    pt2 = save_pt2(export(Net(), (torch.randn(4, 32),), dynamic_shapes=({0: batch},)), folder / "net.pt2")
    ingot("convert", pt2, "-o", folder / "net.ingot")
    return folder / "net.ingot"


def test_bench(asset: Path) -> None:
    found = ingot_json("bench", asset, "--seconds", 0.05, "--threads", 1)
    assert found["calls"] >= 5
    assert found["threads"] == 1
    assert 0 < found["min_ms"] <= found["median_ms"] <= found["p90_ms"] <= found["p99_ms"] <= found["max_ms"]
    assert "median" in ingot("bench", asset, "--seconds", 0.05)


def test_profile(asset: Path, tmp_path: Path) -> None:
    symbol = ingot_json("show", asset)["entry_points"][0]["symbols"]
    name = next(iter(symbol)) if isinstance(symbol, dict) else symbol[0]["name"]
    trace, page = tmp_path / "trace.json", tmp_path / "page.html"
    found = ingot_json(
        "profile", asset, "--calls", 4, "--dim", f"{name}=16", "--threads", 1, "--trace", trace, "--html", page
    )
    kernels = {row["name"]: row for row in found["by_kernel"]}
    assert kernels["matmul"]["times"] == 2
    assert kernels["matmul"]["gflops"] > 0
    assert found["machine"]["gflops"] > 1
    # Every node has its line of Python.
    assert any("test_profile.py:" in row["name"] and "linear" in row["name"] for row in found["by_place"])
    events = json.loads(trace.read_text())["traceEvents"]
    assert sum(event["name"] == "matmul" for event in events) == 2
    assert {event["args"]["flop"] for event in events if event["name"] == "matmul"} == {
        2 * 16 * 32 * 64,
        2 * 16 * 64 * 8,
    }
    assert "matmul" in page.read_text()
    assert "GFLOP/s" in ingot("profile", asset, "--calls", 2)


def test_what_is_no_asset(tmp_path: Path) -> None:
    for command in ("bench", "profile"):
        assert "nowhere.ingot" in refused(command, tmp_path / "nowhere.ingot")
