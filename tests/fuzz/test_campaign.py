"""A few hundred mutated files, and every file that was a finding once: only clean errors."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import ingot, refused, run_ingot

from fuzz.campaign import Campaign, run_command
from fuzz.mutate import mutate_bytes, mutate_document
from fuzz.seal import checksum, seal_asset
from fuzz.seeds import make_seeds

REGRESSIONS = Path(__file__).with_name("regressions") / "campaign"
COUNT = 80


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "seeds"
    make_seeds(folder)
    return folder


def test_mutated_files_give_clean_errors(seeds: Path, tmp_path: Path) -> None:
    campaign = Campaign(seeds, tmp_path / "found", seed=8)
    for number in range(COUNT):
        campaign.case(number)
    assert not campaign.findings, "\n".join(map(str, campaign.findings))
    # Were all files refused at the door, nothing would have been tested.
    assert campaign.codes["accepted"] > COUNT // 10 and campaign.codes["refused"] > COUNT // 4, campaign.codes


@pytest.mark.parametrize("path", sorted(REGRESSIONS.glob("*")), ids=lambda path: path.name)
def test_findings_stay_mended(path: Path, tmp_path: Path) -> None:
    target = tmp_path / path.name
    if path.is_dir():
        shutil.copytree(path, target)
        commands = [("run", target, "--random-seed", "1"), ("info", target), ("show", target)]
    else:
        shutil.copy(path, target)
        commands = [("convert", target, "-o", tmp_path / "out.ingot"), ("info", target)]
    for command in commands:
        outcome = run_command(*command)
        assert not outcome.problem(), f"{command[0]}: {outcome.problem()}\n{outcome.errors}"


def test_sealing_is_what_ingot_does(seeds: Path, tmp_path: Path) -> None:
    """Else mutated assets would all be refused for their checksums."""
    asset = shutil.copytree(seeds / "assets/linear.ingot", tmp_path / "a.ingot")
    before = (asset / "manifest.json").read_bytes()
    weights = asset / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert "checksum" in refused("validate", asset)
    seal_asset(asset)
    assert (asset / "manifest.json").read_bytes() != before
    ingot("validate", asset)
    assert checksum(b"") == "99aa06d3014798d86001c324468d497f"


def test_manifest_with_more_outputs_than_the_program(seeds: Path, tmp_path: Path) -> None:
    asset = shutil.copytree(seeds / "assets/linear.ingot", tmp_path / "a.ingot")
    path = asset / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["entry_points"][0]["outputs"] *= 2
    path.write_text(json.dumps(manifest))
    seal_asset(asset)
    assert "more outputs than the program returns" in refused("run", asset, "--random-seed", "1")


@pytest.mark.parametrize("change", [{"files": {"weights.safetensors": 3}}, {"entry_points": [7]}, {"metadata": [1]}])
def test_manifests_in_python(seeds: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    from ingot.asset import Asset
    from ingot.errors import CorruptFileError

    asset = shutil.copytree(seeds / "assets/linear.ingot", tmp_path / "a.ingot")
    whole = Asset(asset)
    assert whole.is_valid
    path = asset / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    seal_asset(asset)
    assert not whole.is_valid
    with pytest.raises(CorruptFileError):
        Asset(asset)


def test_mutations_repeat() -> None:
    from random import Random

    data = bytes(range(200))
    assert mutate_bytes(data, Random(3)) == mutate_bytes(data, Random(3))
    document = {"a": [1, 2, {"b": "c"}]}
    assert mutate_document(document, Random(3)) == mutate_document(document, Random(3))
    assert document == {"a": [1, 2, {"b": "c"}]}


def test_memory_limit(seeds: Path) -> None:
    asset = seeds / "assets/vision.ingot"
    assert "the limit is 1024" in refused("run", asset, "--random-seed", "1", "--memory-limit", "1KiB")
    ingot("run", asset, "--random-seed", "1", "--memory-limit", "1GiB")
    assert run_ingot("run", asset, "--random-seed", "1", "--memory-limit", "much").returncode == 2


def test_memory_limit_in_python(seeds: Path) -> None:
    import ingot as package

    asset = seeds / "assets/vision.ingot"
    with pytest.raises(package.errors.UnsupportedError, match="the limit is 1000"):
        package.load(asset, memory_limit=1000)
    package.load(asset, memory_limit=1 << 30)
