"""Files of earlier versions, of Ingot and of torch, run as they did; newer ones are refused with what to do.

The folders v1, v1.1, torch-2.13.0, ... are never changed, only added to.
"""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from pathlib import Path

import ingot
import pytest
from safetensors.torch import load_file
from support import assert_close, refused
from support import ingot as run

FOLDER = Path(__file__).parent
VERSIONS = sorted(path for path in Path(__file__).parent.glob("v*") if path.is_dir())


TORCH = sorted(path for path in FOLDER.glob("torch-*") if path.is_dir())


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


def check_asset(asset: Path, folder: Path) -> None:
    result = ingot.load(asset)(**load_file(folder / "inputs.safetensors"))
    for name, expected in load_file(folder / "outputs.safetensors").items():
        assert_close(result[name], expected, what=f"{folder.name} {name}")


@pytest.mark.parametrize("folder", TORCH, ids=lambda folder: folder.name)
def test_frozen_pt2_converts_and_runs(folder: Path, tmp_path: Path) -> None:
    run("convert", folder / "model.pt2", "-o", tmp_path / "m.ingot")
    check_asset(tmp_path / "m.ingot", folder)


@pytest.mark.parametrize("folder", TORCH, ids=lambda folder: folder.name)
def test_frozen_graph_document_runs(folder: Path, tmp_path: Path) -> None:
    run("validate", folder / "graph.json")
    weights = ("--weights", folder / "weights.safetensors")
    run("convert", folder / "graph.json", *weights, "-o", tmp_path / "m.ingot")
    check_asset(tmp_path / "m.ingot", folder)


def test_newer_asset_is_refused(tmp_path: Path) -> None:
    asset = shutil.copytree(VERSIONS[0] / "fixture.ingot", tmp_path / "m.ingot")
    manifest = json.loads((asset / "manifest.json").read_text())
    manifest["version"] = [99, 0]
    (asset / "manifest.json").write_text(json.dumps(manifest))
    said = refused("run", asset)
    assert "format version 99.0" in said and "reads up to" in said


def test_newer_graph_document_is_refused(tmp_path: Path) -> None:
    document = json.loads((TORCH[0] / "graph.json").read_text()) | {"format_version": "99.0"}
    (tmp_path / "g.json").write_text(json.dumps(document))
    assert "a newer Ingot can read it" in refused("show", tmp_path / "g.json")


@pytest.mark.parametrize("major", [7, 99])
def test_other_export_schema_is_refused(major: int, tmp_path: Path) -> None:
    """Older ones are to be exported anew; newer ones need a newer Ingot."""
    changed = io.BytesIO()
    with zipfile.ZipFile(TORCH[0] / "model.pt2") as source, zipfile.ZipFile(changed, "w") as target:
        for member in source.infolist():
            data = source.read(member)
            if member.filename.endswith("models/model.json"):
                program = json.loads(data)
                program["schema_version"] = {"major": major, "minor": 0}
                data = json.dumps(program).encode()
            target.writestr(member.filename, data)
    (tmp_path / "m.pt2").write_bytes(changed.getvalue())
    said = refused("convert", tmp_path / "m.pt2", "-o", tmp_path / "m.ingot")
    assert f"export schema {major}.0" in said
    assert ("newer Ingot" if major > 8 else "torch 2.9 or newer") in said
    assert not (tmp_path / "m.ingot").exists()


def test_newer_archive_is_refused(tmp_path: Path) -> None:
    changed = io.BytesIO()
    with zipfile.ZipFile(TORCH[0] / "model.pt2") as source, zipfile.ZipFile(changed, "w") as target:
        for member in source.infolist():
            is_version = member.filename.endswith("archive_version")
            target.writestr(member.filename, b"7" if is_version else source.read(member))
    (tmp_path / "m.pt2").write_bytes(changed.getvalue())
    assert "archive has version '7'" in refused("convert", tmp_path / "m.pt2", "-o", tmp_path / "m.ingot")
