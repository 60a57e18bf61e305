"""Assets of earlier versions run as they did. The folders v1, v1.1, ... are never changed, only added to."""

from __future__ import annotations

import shutil
from pathlib import Path

import ingot
import pytest
from safetensors.torch import load_file
from support import assert_close

VERSIONS = sorted(path for path in Path(__file__).parent.glob("v*") if path.is_dir())


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda folder: folder.name)
def test_frozen_asset_runs(folder: Path, tmp_path: Path) -> None:
    # A copy: running adds a cache, and the fixture must stay as it is.
    asset = shutil.copytree(folder / "fixture.ingot", tmp_path / "fixture.ingot")
    inputs = load_file(folder / "inputs.safetensors")
    result = ingot.load(asset)(**inputs)
    # An argument that the program changes is there under this name.
    result |= {f"changed.{name}": value for name, value in inputs.items()}
    for name, expected in load_file(folder / "outputs.safetensors").items():
        assert_close(result[name], expected, what=f"{folder.name} {name}")
