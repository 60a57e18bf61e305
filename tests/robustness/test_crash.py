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
from typing import Any

import pytest
import torch
from robustness.kills import Scaled, Stage, problem, run
from support import INGOT, export, ingot, save_pt2


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


def interruptible(command: list[str], **options: Any) -> subprocess.Popen[bytes]:
    """Jobs in the background ignore SIGINT, and what they start inherits that; not here."""
    return subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **options,
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("command", ["run", "verify", "extract"])
def test_interrupt_leaves_no_files_and_no_processes(
    command: str, number: int, stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody goes on compiling, and nothing stays in the folder for temporary files."""
    temporary, generator = tmp_path / "tmp", random.Random(2)
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    given = {
        "run": ["run", str(stage.asset), "--random-seed", "0"],
        "verify": ["verify", str(stage.programs[0])],
        "extract": ["extract", str(stage.programs[0]), "-o", str(tmp_path / "new.json")],
    }[command]
    for _ in range(4):
        stage.reset()
        process = interruptible([str(INGOT), *given], start_new_session=True)
        time.sleep(generator.uniform(0.01, 0.1 if command == "extract" else 0.5))
        process.send_signal(number)
        assert process.wait(10) in (0, -number)
        assert not list(temporary.iterdir())
        assert {item.name for item in tmp_path.iterdir()} <= {"tmp", "new.json"}
        deadline = time.monotonic() + 10
        while group_is_alive(process.pid) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not group_is_alive(process.pid)


def group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.parametrize("arguments", ["--help", "info {}", "extract {}", "show {}", "info {} --json"])
def test_output_that_cannot_be_written(arguments: str, stage: Stage) -> None:
    command = [str(INGOT), *arguments.format(stage.programs[0]).split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "error: cannot write to standard output: No space left on device\n"


def test_closed_streams(stage: Stage, tmp_path: Path) -> None:
    """Nothing that would have been printed gets into a file that has the stream's number."""
    command = f'"{INGOT}" convert "{stage.programs[0]}" -o "{tmp_path}/m.ingot" --specialise --time-passes <&- >&- 2>&-'
    done = subprocess.run(["sh", "-c", command], check=False)
    assert done.returncode == 1
    assert not problem("validate", tmp_path / "m.ingot")


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("setpriv"), reason="becomes another user, and back")
def test_no_threads_to_be_had(stage: Stage) -> None:
    """A user who may start no thread runs what is compiled, and is told why nothing can be compiled."""
    stage.reset(with_cache=True)
    for item in (stage.folder, *stage.folder.parents[:3]):
        item.chmod(0o755)
    become = 'ulimit -u 0; exec setpriv --reuid 54321 --clear-groups "$0" run "$1" --random-seed 0'
    environment = dict(os.environ, XDG_CACHE_HOME="/nonexistent")
    command = ["bash", "-c", become, str(INGOT), str(stage.asset)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1) and "bug" not in done.stderr, done.stderr
    if done.returncode:
        assert "cannot start a process" in done.stderr, done.stderr


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
    stage.reset_without_panels()
    done = limited(500_000, "run", stage.asset, "--random-seed", 0)  # packed weights are kept only where there is room
    assert done.returncode == 0, done.stderr
    assert not list(stage.asset.glob("cache/*/packed.bin"))
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
