"""Files that are truncated, damaged, foreign or missing: one clear error, nothing written, never a crash."""

from __future__ import annotations

import io
import json
import os
import shutil
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from support import export, ingot, refused, run_ingot, save_pt2


class Small(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.linear = torch.nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


@pytest.fixture(scope="module")
def pt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_pt2(export(Small(), (torch.randn(2, 4),)), tmp_path_factory.mktemp("pt2") / "small.pt2")


@pytest.fixture(scope="module")
def whole_asset(pt2: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    asset = tmp_path_factory.mktemp("asset") / "small.ingot"
    ingot("convert", pt2, "-o", asset)
    return asset


@pytest.fixture
def asset(whole_asset: Path, tmp_path: Path) -> Path:
    return shutil.copytree(whole_asset, tmp_path / "small.ingot")


def convert_refused(path: Path, folder: Path) -> str:
    message = refused("convert", path, "-o", folder / "out.ingot")
    assert not list(folder.glob("*out.ingot*")) and not list(folder.glob(".*out.ingot*")), "something was written"
    return message


FOREIGN = {
    "empty": b"",
    "text": b"hello world\n",
    "zeros": bytes(4096),
    "elf": b"\x7fELF" + bytes(200),
    "pickle": b"\x80\x02}q\x00.",
    "zip_magic_only": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.pt2"
    path.write_bytes(FOREIGN[name])
    assert name in convert_refused(path, tmp_path)
    refused("show", path)
    refused("validate", path)


def test_foreign_archives(tmp_path: Path) -> None:
    other = tmp_path / "other.pt2"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("readme.txt", "nothing to see")
    convert_refused(other, tmp_path)
    weights = tmp_path / "weights.pt2"
    buffer = io.BytesIO()
    torch.save({"a": torch.ones(3)}, buffer)
    weights.write_bytes(buffer.getvalue())
    convert_refused(weights, tmp_path)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    assert "nothing.pt2" in convert_refused(tmp_path / "nothing.pt2", tmp_path)
    convert_refused(tmp_path, tmp_path)
    refused("show", tmp_path / "nothing")
    refused("run", tmp_path / "nothing.ingot", "--random-seed", "1")


@pytest.mark.parametrize("name", ["pipe.pt2", "pipe.json", "pipe.ingot"])
def test_pipes_are_not_waited_for(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / name)
    for command in ("info", "validate", "show"):
        refused(command, tmp_path / name)
    convert_refused(tmp_path / name, tmp_path)


def test_truncated_pt2(pt2: Path, tmp_path: Path) -> None:
    whole = pt2.read_bytes()
    path = tmp_path / "short.pt2"
    for numerator in range(0, 20):
        path.write_bytes(whole[: len(whole) * numerator // 20])
        convert_refused(path, tmp_path)


def test_damaged_program_json(pt2: Path, tmp_path: Path) -> None:
    """The JSON is covered by the archive's own checksum, so every flipped byte must be noticed."""
    whole = pt2.read_bytes()
    start = whole.index(b'{"graph_module"') if b'{"graph_module"' in whole else whole.index(b"graph_module")
    path = tmp_path / "flipped.pt2"
    for offset in range(0, 2000, 97):
        damaged = bytearray(whole)
        damaged[start + offset] ^= 0x15
        path.write_bytes(damaged)
        convert_refused(path, tmp_path)


def with_json(pt2: Path, path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy with a changed program."""
    with zipfile.ZipFile(pt2) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("models/model.json"):
                document = json.loads(data)
                change(document["graph_module"]["graph"])
                data = json.dumps(document).encode()
            target.writestr(name, data)
    return path


def test_more_dimensions_than_a_tensor_has(pt2: Path, tmp_path: Path) -> None:
    def change(graph: dict[str, Any]) -> None:
        for meta in graph["tensor_values"].values():
            if len(meta["sizes"]) == 2 and meta["sizes"][1] == {"as_int": 3}:
                meta["sizes"] = meta["strides"] = [{"as_int": 1}] * 65

    assert "65 dimensions" in convert_refused(with_json(pt2, tmp_path / "x.pt2", change), tmp_path)


def test_missing_weight(pt2: Path, tmp_path: Path) -> None:
    """A program whose weights table lacks an entry: the archive is written anew without it."""
    path = tmp_path / "lacking.pt2"
    with zipfile.ZipFile(pt2) as source, zipfile.ZipFile(path, "w") as target:
        for name in source.namelist():
            data = source.read(name)
            if name.endswith("weights_config.json"):
                table = json.loads(data)
                del table["config"]["linear.weight"]
                data = json.dumps(table).encode()
            target.writestr(name, data)
    assert "linear.weight" in convert_refused(path, tmp_path)


def test_asset_parts_missing(asset: Path) -> None:
    for name in ("manifest.json", "program.mlirbc", "weights.safetensors"):
        hidden = asset.parent / "hidden"
        (asset / name).rename(hidden)
        assert name in refused("run", asset, "--random-seed", "1")
        refused("show", asset)
        refused("validate", asset)
        hidden.rename(asset / name)
    ingot("validate", asset)


@pytest.mark.parametrize("name", ["manifest.json", "program.mlirbc", "weights.safetensors"])
def test_asset_damaged(asset: Path, name: str) -> None:
    file = asset / name
    whole = file.read_bytes()
    for numerator in range(1, 12):
        position = len(whole) * numerator // 12
        damaged = bytearray(whole)
        damaged[position] ^= 0x41
        file.write_bytes(damaged)
        done = run_ingot("validate", asset)
        assert done.returncode == 1, f"byte {position} of {name}"
        file.write_bytes(whole[:position])
        assert run_ingot("run", asset, "--random-seed", "1").returncode == 1, f"{position} bytes of {name}"
    file.write_bytes(whole)
    ingot("run", asset, "--random-seed", "1")


def test_asset_of_a_newer_format(asset: Path) -> None:
    manifest = json.loads((asset / "manifest.json").read_text())
    manifest["version"] = [99, 0]
    (asset / "manifest.json").write_text(json.dumps(manifest))
    message = refused("run", asset, "--random-seed", "1")
    assert "99.0" in message and "update" in message


def test_weights_link_out_of_the_asset(asset: Path, tmp_path: Path) -> None:
    (asset / "weights.safetensors").rename(tmp_path / "elsewhere")
    (asset / "weights.safetensors").symlink_to(tmp_path / "elsewhere")
    assert "link" in refused("run", asset, "--random-seed", "1")


def test_damaged_cache_is_made_anew(asset: Path) -> None:
    ingot("run", asset, "--random-seed", "1")
    for file in (asset / "cache").rglob("*"):
        if file.is_file():
            whole = file.read_bytes()
            file.write_bytes(whole[: len(whole) // 2])
            ingot("run", asset, "--random-seed", "1")


def test_damaged_input_file(asset: Path, tmp_path: Path) -> None:
    bad = tmp_path / "in.safetensors"
    for content in (b"", b"{}", struct.pack("<Q", 2**60) + b"{}", struct.pack("<Q", 5) + b"{nono"):
        bad.write_bytes(content)
        refused("run", asset, "--inputs", bad)
    (tmp_path / "x.npy").write_bytes(b"\x93NUMPY")
    refused("run", asset, "--input", f"x={tmp_path / 'x.npy'}")


def test_names_cannot_drive_a_terminal(pt2: Path, tmp_path: Path) -> None:
    document = json.loads(ingot("extract", pt2))
    document["model_name"] = document["nodes"][0]["op_type"] = "a\x1b[31m\x00\x9b\u202eb"
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(document))
    for arguments in (("info", path), ("show", path), ("diff", path, pt2), ("visualize", path)):
        shown = run_ingot(*arguments).stdout
        assert shown and not any(character in shown for character in "\x1b\x00\x9b\u202e"), shown


def test_json_errors(tmp_path: Path) -> None:
    done = run_ingot("show", tmp_path / "nothing", "--json")
    assert done.returncode == 1
    error = json.loads(done.stdout)["error"]
    assert error["kind"] == "io" and "nothing" in error["message"]


def test_bad_flags_have_their_own_code(tmp_path: Path) -> None:
    for arguments in ([], ["nonsense"], ["show"], ["convert", "--nonsense"], ["run", "x", "--threads", "-3"]):
        assert run_ingot(*arguments).returncode == 2, arguments
    for arguments in (["--help"], ["--version"], ["convert", "--help"]):
        assert run_ingot(*arguments).returncode == 0, arguments
