"""Runs one model with every runtime, each in a process and an environment of its own, in turn."""

from __future__ import annotations

import contextlib
import importlib
import json
import statistics
import subprocess
import sys
import time
import venv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ENVIRONMENTS = BENCH.parent / "build" / "peers"
TORCH = "torch==2.13.0"
PAUSE = 0.05
"""Seconds; libraries spin for some milliseconds after a call."""
TIMED = 3
SLOW_MS = 1000.0
"""A call that takes longer is made once a turn, without one before it that does not count."""
STARTS = 3
RUNTIMES = ("eager", "compile", "onnxruntime", "openvino", "executorch", "iree", "ingot")


class PeerError(Exception):
    """A runtime could not do what was asked; the text is what it said."""


def environment(name: str) -> Path:
    """The Python that has the runtime; made when it is first needed."""
    packages: Sequence[str] = importlib.import_module(f"peers.{name}").PACKAGES
    if not packages:
        return Path(sys.executable)
    folder = ENVIRONMENTS / name
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        print(f"installing {name} into {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
        for wanted in ([TORCH, "numpy"], [*packages, TORCH]):
            made = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], capture_output=True, text=True)
            if made.returncode != 0:
                raise PeerError(f"cannot be installed: {made.stderr.strip().splitlines()[-1]}")
        done.touch()
    return python


class Process:
    """A worker, see peers/worker.py."""

    def __init__(self, name: str) -> None:
        self.name = name
        command = [environment(name), "-m", "peers.worker", name]
        self.started = time.perf_counter()
        self.process = subprocess.Popen(
            command, cwd=BENCH, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def ask(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.write(json.dumps({"do": do, **arguments}) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            raise PeerError(f"its process ended with {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise PeerError(answer["error"].splitlines()[0])
        return answer

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()


@dataclass
class Entry:
    """What one runtime did with one model and one number of threads."""

    runtime: str
    error: str = ""
    convert_s: float = 0.0
    prepare_s: float = 0.0
    """The first load of an artifact on this machine, to its first result: what compiles, compiles here."""
    start_s: float = 0.0
    """From the start of a process to its first result; the artifact has been prepared for this machine. A median."""
    peak_mb: float = 0.0
    own_mb: float = 0.0
    """Of what is there after the calls: what is no page of a file."""
    samples_ms: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Task:
    inputs: Path
    folder: Path
    threads: int
    seconds: float


def convert(model: Path, folder: Path, runtime: str) -> tuple[Path, float]:
    """The artifact, and the seconds that it took; what has nothing to convert takes the model itself."""
    peer = importlib.import_module(f"peers.{runtime}")
    if not hasattr(peer, "convert"):
        return model, 0.0
    artifact = folder / f"{model.stem}.{runtime}{peer.SUFFIX}"
    with contextlib.closing(Process(runtime)) as process:
        return artifact, process.ask("convert", model=str(model), artifact=str(artifact))["seconds"]


@dataclass(frozen=True)
class Converted:
    """What the runtimes made of a model, the seconds that took them, and what those that failed said."""

    artifacts: dict[str, Path]
    seconds: dict[str, float]
    failures: dict[str, str]
    first_loads: dict[str, float] = field(default_factory=dict)
    """Seconds; later ones, with other numbers of threads, find what these have kept."""


def convert_all(model: Path, folder: Path, runtimes: Sequence[str]) -> Converted:
    made = Converted({}, {}, {})
    for name in runtimes:
        try:
            made.artifacts[name], made.seconds[name] = convert(model, folder, name)
        except PeerError as error:
            made.failures[name] = str(error)
    return made


@contextlib.contextmanager
def prepared(task: Task, converted: Converted, check: Any) -> Iterator[Any]:
    """Processes that have given right results, and the entries of all."""
    artifacts = converted.artifacts
    entries = {name: Entry(name) for name in artifacts}
    running: dict[str, Process] = {}
    try:
        for name in artifacts:
            try:
                starts = []
                # Once for what the runtime keeps beside the artifact, and then to see how it starts.
                for turn in range(1 + STARTS):
                    if name in running:
                        running.pop(name).close()
                    running[name] = process = Process(name)
                    load = {"artifact": str(artifacts[name]), "inputs": str(task.inputs), "threads": task.threads}
                    seconds = process.ask("load", **load)["seconds"]
                    if turn == 0:
                        entries[name].prepare_s = converted.first_loads.setdefault(name, seconds)
                    else:
                        starts.append(time.perf_counter() - process.started)
                entries[name].start_s = statistics.median(starts)
                outputs = task.folder / f"{name}.npz"
                process.ask("save", outputs=str(outputs))
                check(name, outputs)
            except (PeerError, AssertionError) as error:
                entries[name].error = str(error).strip().splitlines()[0]
                if name in running:
                    running.pop(name).close()
        yield running, entries
    finally:
        for process in running.values():
            process.close()


def sample(process: Process, before: Sequence[float]) -> list[float]:
    """Milliseconds of some calls, after one that warms the caches up."""
    last = before[-1] if before else process.ask("run", times=1)["ms"][0]
    milliseconds: list[float] = process.ask("run", times=1 if last > SLOW_MS else 1 + TIMED)["ms"]
    return milliseconds if last > SLOW_MS else milliseconds[1:]


def interleave(running: dict[str, Process], entries: dict[str, Entry], seconds: float) -> None:
    """Ingot after each of the others, so that noise hits all alike.

    A turn waits until the threads of the one before have gone to sleep.
    """
    end = time.perf_counter() + seconds
    others = [name for name in running if name != "ingot"] or list(running)
    rounds = 0
    while time.perf_counter() < end or rounds < 5:
        for name in others:
            for turn in dict.fromkeys((name, "ingot")):
                if turn in running:
                    time.sleep(PAUSE)
                    entries[turn].samples_ms += sample(running[turn], entries[turn].samples_ms)
        rounds += 1


def race(task: Task, converted: Converted, check: Any) -> list[Entry]:
    """`check(runtime, file of outputs)` raises where results are wrong."""
    with prepared(task, converted, check) as (running, entries):
        interleave(running, entries, task.seconds)
        for name, process in running.items():
            memory = process.ask("memory")
            entries[name].peak_mb, entries[name].own_mb = memory["peak_mb"], memory["own_mb"]
        for name, entry in entries.items():
            entry.convert_s = converted.seconds[name]
        return [*entries.values(), *(Entry(name, error=why) for name, why in converted.failures.items())]
