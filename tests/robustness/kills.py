"""Kills `ingot` while it writes, at every change of a file and at random moments: files stay old or new, and whole.

python -m robustness.kills --count 500
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from conformance.pool import Progress
from support import INGOT, export, ingot, save_pt2

FOLDER = Path(__file__).parent


class Scaled(torch.nn.Module):
    """Large enough for a save to take some milliseconds; its loop is compiled and its matrix packed on first use."""

    def __init__(self, value: float, size: int = 1 << 18) -> None:
        super().__init__()
        self.register_buffer("weight", torch.full((size,), value))
        self.register_buffer("matrix", torch.full((512, 640), value))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scaled = torch.relu(x * self.weight + 1)
        return scaled + (scaled[:4096].reshape(8, 512) @ self.matrix).sum()


def build_killer(folder: Path) -> Path:
    library = folder / "killer.so"
    compiler = shutil.which("clang-19") or shutil.which("clang") or shutil.which("cc")
    assert compiler, "a C compiler is needed"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, FOLDER / "killer.c", "-ldl"], check=True)
    return library


@dataclass(frozen=True)
class Scene:
    """A command that writes, what it works on, and whether what is there afterwards is whole."""

    name: str
    command: list[str]
    prepare: Callable[[], None]
    check: Callable[[], str]
    """What is wrong; empty when nothing is."""


class Stage:
    """Programs, assets and documents to write over each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.killer = build_killer(folder)
        self.programs = [save_pt2(export(Scaled(v), (torch.ones(1),)), folder / f"{v}.pt2") for v in (1.0, 2.0)]
        self.asset, self.document = folder / "target" / "m.ingot", folder / "target" / "m.json"
        self.asset.parent.mkdir()
        self.assets, self.documents = [], []
        for program in self.programs:
            self.assets.append(folder / f"{program.stem}.ingot")
            ingot("convert", program, "-o", self.assets[-1])
            self.documents.append(folder / f"{program.stem}.json")
            ingot("extract", program, "-o", self.documents[-1])
        self.manifests = {(asset / "manifest.json").read_bytes() for asset in self.assets}
        self.specialised = folder / "specialised.ingot"
        shutil.copytree(self.assets[0], self.specialised)
        ingot("run", self.specialised, "--random-seed", 0)
        self.packed = [file.relative_to(self.specialised) for file in self.specialised.glob("cache/*/packed.bin")]
        assert self.packed, "nothing was packed"

    def reset(self, with_cache: bool = False) -> None:
        for item in self.asset.parent.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        shutil.copytree(self.specialised if with_cache else self.assets[0], self.asset)
        shutil.copy(self.documents[0], self.document)

    def reset_without_panels(self) -> None:
        self.reset(with_cache=True)
        for file in self.packed:
            (self.asset / file).unlink()

    def scenes(self) -> list[Scene]:
        program = str(self.programs[1])
        overwrite = ["convert", program, "-o", str(self.asset), "--overwrite"]
        first = ["convert", program, "-o", str(self.asset.parent / "new.ingot")]
        return [
            Scene("save over an asset", overwrite, self.reset, self.check_asset),
            Scene("save over one with a cache", overwrite, lambda: self.reset(True), self.check_asset),
            Scene("first save", first, self.reset, self.check_new),
            Scene("write the cache", ["specialise", str(self.asset)], self.reset, self.check_asset),
            Scene(
                "keep packed weights",
                ["run", str(self.asset), "--random-seed", "0"],
                self.reset_without_panels,
                self.check_asset,
            ),
            Scene("extract", ["extract", program, "-o", str(self.document)], self.reset, self.check_document),
        ]

    def check_asset(self) -> str:
        if (self.asset / "manifest.json").read_bytes() not in self.manifests:
            return "the manifest is neither the old nor the new one"
        return problem("validate", self.asset) or problem("run", self.asset, "--random-seed", 0) or self.leftovers()

    def check_new(self) -> str:
        new = self.asset.parent / "new.ingot"
        return problem("validate", new) if new.exists() else self.check_asset()

    def check_document(self) -> str:
        texts = [document.read_bytes() for document in self.documents]
        return "" if self.document.read_bytes() in texts else "the document is neither the old nor the new one"

    def leftovers(self) -> str:
        """What the next save leaves behind of one that died."""
        ingot("convert", self.programs[0], "-o", self.asset, "--overwrite")
        names = sorted(item.name for item in self.asset.parent.iterdir() if self.asset.name in item.name)
        return "" if names == [self.asset.name] else f"the next save leaves {names}"


def problem(*arguments: object) -> str:
    """What is wrong with a command. One that hangs is no finding before it does so twice: machines may be busy."""
    command = [str(INGOT), *(str(argument) for argument in arguments)]
    for _ in range(2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
            break
        print(f"ingot {arguments[0]} has not ended in time", flush=True)
    else:
        return f"ingot {arguments[0]} hangs"
    return "" if done.returncode == 0 else f"ingot {arguments[0]}: {done.returncode}: {done.stderr}{done.stdout}"


class Kills:
    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.random = random.Random(0)
        self.killed = 0

    def run(self, scene: Scene, at: int | None = None, after: float | None = None) -> str:
        """Kills the command at a change of files, or after some seconds; what is wrong then."""
        scene.prepare()
        environment = dict(os.environ, LD_PRELOAD=str(self.stage.killer), INGOT_KILL_AT=str(at or 0))
        pipes = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen([str(INGOT), *scene.command], env=environment, **pipes)
        if after is not None:
            time.sleep(after)
            process.kill()
        self.killed += process.wait() < 0
        found = scene.check()
        moment = f"change {at}" if at else f"{after} s"
        return f"{scene.name}, killed at {moment}: {found}" if found else ""

    def changes(self, scene: Scene) -> tuple[int, float]:
        """How many changes of files the command makes, and how long it takes."""
        scene.prepare()
        counter = self.stage.folder / "count"
        environment = dict(os.environ, LD_PRELOAD=str(self.stage.killer), INGOT_KILL_COUNT=str(counter))
        start = time.perf_counter()
        subprocess.run([str(INGOT), *scene.command], env=environment, capture_output=True, check=True)
        return int(counter.read_text()), time.perf_counter() - start


def run(count: int, folder: Path) -> tuple[int, list[str]]:
    """So many kills over all scenes: first at each change of files, then at random moments."""
    kills = Kills(Stage(folder))
    scenes = kills.stage.scenes()
    known = [kills.changes(scene) for scene in scenes]
    points = [(scene, at) for scene, (changes, _) in zip(scenes, known, strict=True) for at in range(1, changes + 1)]
    if len(points) > count:
        points = kills.random.sample(points, count)
    progress, found = Progress(count), []
    for scene, at in points:
        found.append(kills.run(scene, at=at))
        progress.step(scene.name)
    # A command that ends before it is killed does not count.
    while kills.killed < count:
        number = kills.random.randrange(len(scenes))
        found.append(kills.run(scenes[number], after=known[number][1] * kills.random.uniform(0.02, 0.95)))
        progress.step(scenes[number].name)
    progress.end()
    return kills.killed, [text for text in found if text]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m robustness.kills", description=__doc__)
    parser.add_argument("--count", type=int, default=500, help="how many kills")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ingot-kills-") as folder:
        killed, found = run(given.count, Path(folder))
    print("\n".join(found))
    print(f"{killed} kills, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
