"""Saving: refusals to overwrite, and a process that is killed half-way."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

import pytest
import torch
from support import INGOT, export, ingot, ingot_json, refused, save_pt2


class Scaled(torch.nn.Module):
    """Large enough for a save to take some milliseconds."""

    def __init__(self, value: float, size: int = 1 << 20) -> None:
        super().__init__()
        self.register_buffer("weight", torch.full((size,), value))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * self.weight


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("programs")
    return [
        save_pt2(export(Scaled(value), (torch.ones(1),)), folder / f"{name}.pt2")
        for name, value in (("one", 1.0), ("two", 2.0))
    ]


def mean(asset: Path) -> float:
    """What the asset computes for ones: tells which of the two it is."""
    import numpy as np

    np.save(asset.parent / "x.npy", np.ones(1, np.float32))
    return ingot_json("run", asset, "--input", f"x={asset.parent / 'x.npy'}")["outputs"][0]["mean"]


def test_refuses_to_overwrite(programs: list[Path], tmp_path: Path) -> None:
    asset = tmp_path / "m.ingot"
    ingot("convert", programs[0], "-o", asset)
    assert "--overwrite" in refused("convert", programs[1], "-o", asset)
    assert mean(asset) == 1
    ingot("convert", programs[1], "-o", asset, "--overwrite")
    assert mean(asset) == 2


def test_never_replaces_other_things(programs: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter1.txt").write_text("precious")
    refused("convert", programs[0], "-o", folder, "--overwrite")
    assert (folder / "chapter1.txt").read_text() == "precious"


def test_failed_conversion_keeps_the_old_asset(programs: list[Path], tmp_path: Path) -> None:
    asset = tmp_path / "m.ingot"
    ingot("convert", programs[0], "-o", asset)
    (tmp_path / "bad.pt2").write_bytes(programs[1].read_bytes()[:-100])
    refused("convert", tmp_path / "bad.pt2", "-o", asset, "--overwrite")
    assert mean(asset) == 1


def test_kill_during_save(programs: list[Path], tmp_path: Path) -> None:
    asset = tmp_path / "m.ingot"
    ingot("convert", programs[0], "-o", asset)
    start = time.perf_counter()
    ingot("convert", programs[1], "-o", asset, "--overwrite")
    duration = time.perf_counter() - start
    generator = random.Random(0)
    for attempt in range(12):
        command = [INGOT, "convert", programs[attempt % 2], "-o", asset, "--overwrite"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(duration * generator.uniform(0.3, 1.1))
        process.kill()
        process.wait()
        ingot("validate", asset)
        assert mean(asset) in (1, 2)
    ingot("convert", programs[0], "-o", asset, "--overwrite")
    assert not [item for item in tmp_path.iterdir() if ".tmp-" in item.name], "leftovers are cleaned up"
