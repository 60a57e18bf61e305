"""What is written survives kills, interrupts, full disks, read-only folders, rivals. More: make kill COUNT=500."""

from __future__ import annotations

import os
import random
import resource
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest
import torch
from robustness.kills import Scaled, Stage, problem, run
from support import INGOT, export, ingot, save_pt2


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


def interruptible(command: list[str]) -> subprocess.Popen[bytes]:
    """Jobs in the background ignore SIGINT, and what they start inherits that; not here."""
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def test_kills_leave_the_old_or_the_new(tmp_path: Path) -> None:
    killed, found = run(20, tmp_path)
    assert killed == 20
    assert not found, "\n".join(found)


@pytest.mark.parametrize("command", ["convert", "specialise", "extract"])
def test_interrupt_leaves_nothing_half_written(command: str, stage: Stage) -> None:
    scenes = {scene.command[0]: scene for scene in stage.scenes()[3:]} | {"convert": stage.scenes()[0]}
    scene, generator = scenes[command], random.Random(1)
    for _ in range(4):
        scene.prepare()
        process = interruptible([str(INGOT), *scene.command])
        time.sleep(generator.uniform(0.01, 0.15))
        process.send_signal(signal.SIGINT)
        assert process.wait(10) in (0, -signal.SIGINT, 128 + signal.SIGINT)
        assert not scene.check()


@pytest.mark.parametrize("command", ["run", "bench"])
def test_interrupt_ends_a_long_command(command: str, stage: Stage) -> None:
    stage.reset(with_cache=True)
    options = ["--seconds", "30"] if command == "bench" else []
    arguments = [str(INGOT), command, str(stage.asset), "--random-seed", "0", *options]
    process = interruptible(arguments)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    assert process.wait(10) in (0, -signal.SIGINT, 128 + signal.SIGINT)
    assert not stage.check_asset()


# ---------------------------------------------------------------------------------------------------------------------
# Disks


def limited(limit: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs `ingot` where no file can grow beyond `limit` bytes, as on a disk that is full."""

    def set_limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    command = [str(INGOT), *(str(argument) for argument in arguments)]
    options = {"capture_output": True, "text": True, "timeout": 120, "check": False}
    return subprocess.run(command, preexec_fn=set_limit, restore_signals=False, **options)


@pytest.mark.parametrize("limit", [0, 100, 5000, 500_000])
def test_full_disk_keeps_the_old(limit: int, stage: Stage) -> None:
    stage.reset()
    before = (stage.asset / "manifest.json").read_bytes()
    done = limited(limit, "convert", stage.programs[1], "-o", stage.asset, "--overwrite")
    assert done.returncode == 1 and "error: " in done.stderr, done.stderr
    assert (stage.asset / "manifest.json").read_bytes() == before
    assert not problem("validate", stage.asset)
    assert sorted(item.name for item in stage.asset.parent.iterdir()) == ["m.ingot", "m.json"]


def test_full_disk_at_the_cache_and_at_extraction(stage: Stage) -> None:
    stage.reset()
    done = limited(100, "specialise", stage.asset)
    assert done.returncode == 1 and "error: " in done.stderr, done.stderr
    assert not stage.check_asset()
    stage.reset()
    done = limited(100, "extract", stage.programs[1], "-o", stage.document)
    assert done.returncode == 1 and "error: " in done.stderr, done.stderr
    assert stage.document.read_bytes() == stage.documents[0].read_bytes()


def in_namespace(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    """A shell script that may mount things, of which nobody else sees anything."""
    unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-rm"]
    command = [*unshare, "sh", "-ec", script, "sh", *(str(argument) for argument in arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture
def _mounts(tmp_path: Path) -> None:
    if not shutil.which("unshare") or in_namespace('mount -t tmpfs -o size=64k none "$1"', tmp_path).returncode:
        pytest.skip("mounting is not allowed here")


@pytest.mark.usefixtures("_mounts")
def test_real_full_disk(stage: Stage, tmp_path: Path) -> None:
    """A disk of 256 KB: the asset of 1 MB does not fit, and leaves no trace."""
    script = 'mount -t tmpfs -o size=256k none "$1"; "$2" convert "$3" -o "$1/m.ingot" || echo "code $?"; ls -A "$1"'
    done = in_namespace(script, tmp_path, INGOT, stage.programs[0])
    assert done.stdout == "code 1\n", done.stdout + done.stderr
    assert "No space left" in done.stderr


@pytest.mark.usefixtures("_mounts")
def test_read_only_folder(stage: Stage, tmp_path: Path) -> None:
    """Saving says so; running uses the user's cache, and does without where there is none."""
    stage.reset()
    read_only = 'mount --bind "$1" "$1"; mount -o remount,ro,bind "$1"; '
    done = in_namespace(read_only + '"$2" convert "$3" -o "$1/n.ingot"', stage.asset.parent, INGOT, stage.programs[0])
    assert done.returncode == 1 and "Read-only" in done.stderr, done.stderr
    run_it = 'XDG_CACHE_HOME="$3" "$2" run "$1/m.ingot" --random-seed 0'
    done = in_namespace(read_only + run_it, stage.asset.parent, INGOT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert list((tmp_path / "ingot").iterdir())
    assert not (stage.asset / "cache").exists()


def test_unreadable_user_cache_is_an_error(stage: Stage, tmp_path: Path) -> None:
    """A file where the cache should be a folder, on both sides."""
    stage.reset()
    (stage.asset / "cache").write_text("")
    (tmp_path / "ingot").write_text("")
    environment = dict(os.environ, XDG_CACHE_HOME=str(tmp_path))
    command = [str(INGOT), "run", str(stage.asset), "--random-seed", "0"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "XDG_CACHE_HOME" in done.stderr, done.stderr


# ---------------------------------------------------------------------------------------------------------------------
# Rivals


def test_several_processes_specialise_one_asset(stage: Stage) -> None:
    stage.reset()
    command = [str(INGOT), "run", str(stage.asset), "--random-seed", "0"]
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    rivals = [subprocess.Popen(command, **options) for _ in range(6)]
    texts = [rival.communicate(timeout=120)[0] for rival in rivals]
    assert all(rival.returncode == 0 for rival in rivals), texts
    assert len({text.splitlines()[0] for text in texts}) == 1, texts  # the next line is the time that it took
    entries = [item.name for item in (stage.asset / "cache").iterdir()]
    assert len(entries) == 1, entries
    assert not problem("validate", stage.asset)


def test_rivals_overwrite_one_asset(tmp_path: Path) -> None:
    programs = [save_pt2(export(Scaled(v), (torch.ones(1),)), tmp_path / f"{v}.pt2") for v in (1.0, 2.0)]
    asset = tmp_path / "m.ingot"
    ingot("convert", programs[0], "-o", asset)
    for _ in range(3):
        commands = [[str(INGOT), "convert", str(p), "-o", str(asset), "--overwrite"] for p in programs * 2]
        rivals = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) for command in commands]
        texts = [rival.communicate(timeout=120)[0] for rival in rivals]
        assert all(rival.returncode == 0 for rival in rivals), texts
        assert not problem("validate", asset)
    names = {item.name for item in tmp_path.iterdir() if "ingot" in item.name}
    assert names == {"m.ingot"}
