"""A process that converts and runs models with one runtime: one JSON command a line in, one JSON answer a line out.

python -m peers.worker onnxruntime
{"do": "convert", "model": "m.pt2", "artifact": "m.onnx"}         → {"seconds": 6.1}
{"do": "load", "artifact": "m.onnx", "inputs": "m.npz", "threads": 2}  → {"seconds": 0.4}
{"do": "save", "outputs": "out.npz"}                                 → {}
{"do": "run", "times": 3}                                            → {"ms": [41.2, 40.8, 40.9]}
{"do": "memory"}                                                     → {"peak_mb": 512.0, "own_mb": 80.0}

An answer with "error" says what went wrong; the process goes on.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

Arrays = Sequence["np.ndarray[Any, Any]"]


class Runtime(Protocol):
    """What a module of this package has as functions."""

    def convert(self, model: Path, artifact: Path) -> None:
        """From a .pt2 file to what `load` takes. Runtimes that have nothing to convert leave the function out."""

    def load(self, artifact: Path, threads: int) -> Any:
        """A function from arrays to a list of arrays. Its first call may still compile."""


class Worker:
    def __init__(self, runtime: Any) -> None:
        self.runtime = runtime
        self.call: Any = None
        self.inputs: list[np.ndarray[Any, Any]] = []

    def convert(self, model: str, artifact: str) -> dict[str, Any]:
        start = time.perf_counter()
        if hasattr(self.runtime, "convert"):
            self.runtime.convert(Path(model), Path(artifact))
        return {"seconds": time.perf_counter() - start}

    def load(self, artifact: str, inputs: str, threads: int) -> dict[str, Any]:
        """The time until the first result is there."""
        with np.load(inputs) as file:
            self.inputs = [file[key] for key in sorted(file.files)]
        start = time.perf_counter()
        self.call = self.runtime.load(Path(artifact), threads)
        self.call(self.inputs)
        return {"seconds": time.perf_counter() - start}

    def save(self, outputs: str) -> dict[str, Any]:
        results = self.call(self.inputs)
        np.savez(outputs, **{f"{i:03}": np.asarray(array) for i, array in enumerate(results)})
        return {}

    def run(self, times: int = 1) -> dict[str, Any]:
        taken = []
        for _ in range(times):
            start = time.perf_counter()
            self.call(self.inputs)
            taken.append(1e3 * (time.perf_counter() - start))
        return {"ms": taken}

    def memory(self) -> dict[str, Any]:
        """The most that was there at once, and what there is now that is no page of a file, which processes share."""
        # Not getrusage, which counts the process that this one was forked from.
        lines = Path("/proc/self/status").read_text().splitlines()
        kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in lines if line.endswith(" kB")}
        return {"peak_mb": kilobytes["VmHWM"] / 1024, "own_mb": kilobytes["RssAnon"] / 1024}


def serve(runtime: Any, commands: TextIO, answers: TextIO) -> None:
    worker = Worker(runtime)
    for line in commands:
        command = json.loads(line)
        try:
            answer = getattr(worker, command.pop("do"))(**command)
        except Exception as error:  # whatever a runtime raises is its result
            answer = {"error": f"{type(error).__name__}: {error}"[:2000]}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def main() -> None:
    # What libraries print must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(importlib.import_module(f"peers.{sys.argv[1]}"), sys.stdin, answers)


if __name__ == "__main__":
    main()
